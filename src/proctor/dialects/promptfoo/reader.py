"""Reads a config: its keys, each obeyed or refused by name, and the files that it names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from proctor.dialects.tables.reader import decoded
from proctor.effects import Author, author_of_file, reading, require
from proctor.errors import Diagnostic, Location, UsageError, ValidationError, did_you_mean, reason_of
from proctor.foreign_text import parse_json
from proctor.foreign_yaml import parse_yaml
from proctor.logs import get_logger

_OBEYED: Final = frozenset({"description", "prompts", "providers", "targets", "tests", "defaultTest", "scenarios"})
_ABOUT: Final = frozenset({"$schema", "tags", "metadata", "outputPath", "sharing", "writeLatestResults"})
"""Keys about the file, and where promptfoo writes: they change no answer and no score."""
_OF_RUNS: Final[Mapping[str, str]] = {
    "maxConcurrency": "--max-concurrency sets it",
    "cache": "the response log keeps answers",
    "showProgressBar": "-q shows none",
    "delay": "the engine finds out how fast it may ask",
    "timeoutMs": "-a timeout=SECONDS sets it",
    "maxEvalTimeMs": "--budget-usd and --budget-tokens stop a run",
}
_REFUSED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("extensions", "nunjucksFilters", "transform", "postprocess"), "it is code, and configs are data"),
    "env": "a config changes no environment variables: export them",
    "redteam": "its questions are made by a service of promptfoo",
    "repeat": "--repeats N asks N times",
    "derivedMetrics": "its scores are computed by formulas of promptfoo",
}
CODE: Final = (".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".py", ".rb", ".sh", ".go", ".exe", ".bat")
"""Endings of programs."""


@dataclass(frozen=True)
class Config:
    """A config as it stands.

    Attributes:
        file: Where it was read.
        author: Who wrote it: what it may read depends on that.
        values: Its keys.
    """

    file: Path
    author: Author
    values: Mapping[str, Any]

    @property
    def name(self) -> str:
        """What its exam is called: as the file, or as the folder of a file with the usual name."""
        return self.file.stem if self.file.stem != "promptfooconfig" else self.file.parent.resolve().name

    def list_of(self, *keys: str) -> list[Any]:
        """Return what the first of some keys lists that the config has; a single entry is a list of one."""
        found: list[Any] = [self.values[key] for key in keys if self.values.get(key) is not None]
        value = found[0] if found else []
        return value if isinstance(value, list) else [value]

    def refuse(self, what: str, path: str = "", *, why: str = "", hint: str = "") -> UsageError:
        """Return the error about a place of the file."""
        return UsageError(what, location=Location(str(self.file)), path=path, why=why, hint=hint)

    def check(self, values: Any, known: Collection[str], path: str) -> None:
        """See to it that a mapping has no key that is not obeyed.

        Raises:
            ValidationError: It has, or is no mapping.
        """
        if not isinstance(values, Mapping):
            raise self.refuse(f"this is a mapping with {' and '.join(sorted(known)[:2])}", path)
        problems = []
        for key in values:
            if key not in known and values[key] not in (None, {}, []):
                why = _REFUSED.get(key, "")
                hint = "leave it out" if why else did_you_mean(key, known) or f"there are {', '.join(sorted(known))}"
                problems.append(
                    Diagnostic(f"'{key}' is not obeyed", Location(str(self.file)), f"{path}.{key}", why, hint)
                )
        if problems:
            raise ValidationError(problems)

    def files(self, named: str, path: str) -> list[Path]:
        """Return the files that ``file://NAME`` or a path means, ``*`` standing for anything; they may be read.

        Raises:
            ProctorError: There is no such file, it is a program, or the config may not read it.
        """
        place = named.removeprefix("file://")
        if Path(place.partition(":")[0]).suffix in CODE:
            raise self.refuse(f"'{named}' is a program", path, why="configs are data here", hint="leave it out")
        folder = self.file.parent
        is_pattern = "*" in place and not Path(place).is_absolute() and ".." not in place
        try:
            found = sorted(folder.glob(place)) if is_pattern else [folder / place]
            for each in found:
                require(reading(each, self.author, path), self.author)
            if found and all(each.is_file() for each in found):
                return found
        except (OSError, ValueError):
            pass  # what can be no name
        raise self.refuse(f"there is no file {place[:200]}", path, hint=f"paths start at {folder.resolve()}")

    def content(self, file: Path) -> Any:
        """Return what a file says: data of YAML and JSON, a list of JSON lines, else its text.

        Raises:
            UsageError: It cannot be read.
        """
        text = decoded(str(file))
        try:
            if file.suffix in (".yaml", ".yml"):
                return parse_yaml(text)
            if file.suffix == ".json":
                return parse_json(text)
            if file.suffix in (".jsonl", ".ndjson"):
                return [parse_json(line) for line in text.splitlines() if line.strip()]
        except (yaml.YAMLError, ValueError) as error:
            raise UsageError(f"{file} cannot be read", location=Location(str(file)), why=reason_of(error)) from None
        return text

    def loaded(self, value: Any, path: str) -> Any:
        """Return a value, or what the file says that it names as ``file://…``."""
        if not (isinstance(value, str) and value.startswith("file://")):
            return value
        found = [self.content(each) for each in self.files(value, path)]
        return found[0] if len(found) == 1 else found


def read_config(file: Path) -> Config:
    """Return a config.

    Raises:
        ProctorError: It is not YAML, or has a key that is not obeyed.
    """
    author = author_of_file(file)
    values = Config(file, author, {}).content(file)
    config = Config(file, author, values)
    config.check(values, {*_OBEYED, *_ABOUT, "evaluateOptions", "commandLineOptions"}, "$")
    for section in ("evaluateOptions", "commandLineOptions"):
        config.check(values.get(section) or {}, _OF_RUNS, f"$.{section}")
        for key in sorted(_OF_RUNS.keys() & (values.get(section) or {})):
            get_logger().warning("%s: %s.%s has no effect here: %s", file, section, key, _OF_RUNS[key])
    return config
