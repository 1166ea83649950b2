"""Reads a config: its keys, each obeyed or refused by name, and the files that it names."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from os.path import normpath
from pathlib import Path
from typing import Any, Final

import yaml

from proctor.dialects.tables.reader import decoded
from proctor.effects import Author, author_of_file, reading, require
from proctor.errors import Diagnostic, Location, UsageError, ValidationError, did_you_mean, reason_of
from proctor.foreign_text import parse_json
from proctor.foreign_yaml import CoreLoader, parse_yaml
from proctor.logs import say_once

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
_CODE: Final = "it is code, and of code only assertions and transforms of answers are run"
_REFUSED: Final[Mapping[str, str]] = {
    **dict.fromkeys(("extensions", "nunjucksFilters", "transformVars"), _CODE),
    **dict.fromkeys(
        ("transform", "postprocess"), "it stands in 'options' of a test or of defaultTest, or in an assertion"
    ),
    **dict.fromkeys(("contextTransform", "assertScoringFunction", "function", "inputs"), _CODE),
    **dict.fromkeys(("providers", "prompts"), "every prompt and model sits every test; -m and CONFIG::PROMPT choose"),
    "env": "a config changes no environment variables: export them",
    "repeat": "--repeats N asks N times",
    "provider": "promptfoo would count another model's answer as this one's: such tests are a config of their own",
    "providerOutput": "answers that are there already are scored by proctor evaluate",
    "storeOutputAs": "tests are asked side by side, and none sees what became of another",
    "rubricPrompt": "judges are asked in Proctor's words; --judge says who they are",
    "factuality": "what each letter of a judge counts is fixed",
    "disableDefaultAsserts": "what is asserted of all tests is asserted of each",
}
"""Keys of promptfoo that would change what is asked or scored, with the reason why they do not."""
_OF_COMMANDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("prompts", "providers", "tests", "vars", "assertions"), "say it at the top of the config"),
    **dict.fromkeys(("filterPattern", "filterFirstN", "filterRange", "filterSample"), "--limit and --samples choose"),
    **dict.fromkeys(("filterProviders", "filterTargets", "filterPrompts"), "-m and CONFIG::PROMPT choose"),
    **dict.fromkeys(
        ("filterMetadata", "filterFailing", "filterFailingOnly", "filterErrorsOnly"), "all tests are asked"
    ),
    **dict.fromkeys(("promptPrefix", "promptSuffix"), "say it under defaultTest.options"),
    **dict.fromkeys(("var", "config", "extension", "modelOutputs"), "it belongs to one run of promptfoo"),
    "grader": "--judge says who judges",
    "repeat": _REFUSED["repeat"],
}
"""The same of options of its command line."""
_SCREEN: Final = "it is about promptfoo's screen"
_IDLE: Final[Mapping[str, str]] = {
    "redteam": "its questions are made by a service of promptfoo; those that stand here are asked",
    "derivedMetrics": "scores by formulas are not computed",
    "tracing": "it is about promptfoo's own work",
    "disableConversationVar": "no test sees the answers to others",
    "runSerially": "tests do not depend on each other",
    **dict.fromkeys(("verbose", "write", "table", "share", "noShare", "progressBar", "watch", "output"), _SCREEN),
    **dict.fromkeys(("tableCellMaxLength", "generateSuggestions", "suggestionsCount", "retryErrors"), _SCREEN),
}
"""Keys of promptfoo that change neither, with the reason."""
CODE: Final = (".js", ".cjs", ".mjs", ".ts", ".mts", ".cts", ".py", ".rb", ".sh", ".go", ".exe", ".bat")
"""Endings of programs."""
MODULES: Final = (".js", ".cjs", ".mjs")
"""Endings of programs that assertions in JavaScript may stand in."""


@dataclass(frozen=True)
class Config:
    """A config as it stands.

    Attributes:
        file: Where it was read.
        author: Who wrote it: what it may read depends on that.
        values: Its keys.
        told: Which keys without effect have been said, without the numbers of their places.
    """

    file: Path
    author: Author
    values: Mapping[str, Any]
    told: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """What its exam is called: as the file, or as the folder of a file with the usual name."""
        return self.file.stem if self.file.stem != "promptfooconfig" else self.file.parent.resolve().name

    def list_of(self, *keys: str) -> list[Any]:
        """Return what the first of some keys lists that the config has; a single entry is a list of one."""
        found: list[Any] = [self.values[key] for key in keys if self.values.get(key) is not None]
        value = found[0] if found else []
        return value if isinstance(value, list) else [value]

    def providers(self) -> list[tuple[Any, str]]:
        """Return the entries of its providers, also those that stand in files of data, and where each is."""
        found: list[tuple[Any, str]] = []
        for number, entry in enumerate(self.list_of("providers", "targets")):
            path = f"$.providers[{number}]"
            said = self.loaded(entry, path) if _is_data(entry) else entry
            found += [(each, path) for each in (said if isinstance(said, list) else [said])]
        return found

    def refuse(self, what: str, path: str = "", *, why: str = "", hint: str = "") -> UsageError:
        """Return the error about a place of the file."""
        return UsageError(what, location=Location(str(self.file)), path=path, why=why, hint=hint)

    def check(self, values: Any, known: Collection[str], path: str, refused: Mapping[str, str] = _REFUSED) -> None:
        """See to it that a mapping has no key of promptfoo's that is not obeyed; keys without effect are said.

        Raises:
            ValidationError: It has, or is not a mapping.
        """
        if not isinstance(values, Mapping):
            raise self.refuse(f"this is a mapping with {' and '.join(sorted(known)[:2])}", path)
        problems = []
        for key in map(str, values):
            if key in known or values.get(key) in (None, {}, []):
                continue
            why = refused.get(key, "")
            meant = "" if key in _IDLE else did_you_mean(key, set(known) - _ABOUT)
            if hint := "leave it out" if why else meant:
                where = Location(str(self.file))
                problems.append(Diagnostic(f"'{key}' is not obeyed", where, f"{path}.{key}", why, hint))
            else:
                reason, place = _IDLE.get(key, "promptfoo has no such key here"), f"{path}.{key}"
                if (kind := re.sub(r"\d+", "", place)) not in self.told:  # the first of hundreds says it
                    self.told.add(kind)
                    say_once(f"{self.file}: {place} has no effect: {reason}")
        if problems:
            raise ValidationError(problems)

    def files(self, named: str, path: str, programs: Collection[str] = ()) -> list[Path]:
        """Return the files that ``file://NAME`` or a path means, ``*`` standing for anything; they may be read.

        Raises:
            ProctorError: There is no such file, it is a program, or the config may not read it.
        """
        place = named.removeprefix("file://")
        if (ending := Path(place.partition(":")[0]).suffix) in CODE and ending not in programs:
            raise self.refuse(f"'{named}' is a program", path, why="configs are data here", hint="leave it out")
        folder = self.file.parent
        fixed = place.partition("*")[0].rpartition("/")[0] if "*" in place else place
        base, pattern = Path(normpath(folder / fixed)), place[len(fixed) :].lstrip("/")
        try:
            require(reading(base, self.author, path), self.author)
            found = sorted(base.glob(pattern)) if pattern and ".." not in pattern else [folder / place]
            for each in found if pattern else ():
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
                return parse_yaml(text, CoreLoader)
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


def _is_data(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("file://") and value.endswith((".yaml", ".yml", ".json"))


def read_config(file: Path) -> Config:
    """Return a config.

    Raises:
        ProctorError: It is not YAML, or has a key that is not obeyed.
    """
    author = author_of_file(file)
    values = Config(file, author, {}).content(file)
    config = Config(file, author, values if isinstance(values, Mapping) else {})
    config = Config(file, author, _with_references(config, config.values, "$"))
    config.check(values, {*_OBEYED, *_ABOUT, "evaluateOptions", "commandLineOptions"}, "$")
    if "outputPath" in config.values:
        say_once(f"{file}: outputPath has no effect here: --output names the run folder, proctor report writes tables")
    for section in ("evaluateOptions", "commandLineOptions"):
        said = config.values.get(section) or {}
        config.check(said, _OF_RUNS, f"$.{section}", _OF_COMMANDS)
        for key in sorted(_OF_RUNS.keys() & said):
            say_once(f"{file}: {section}.{key} has no effect here: {_OF_RUNS[key]}")
    return config


_DEEPEST: Final = 40  # levels of references in references: more is a circle


def _with_references(config: Config, value: Any, path: str, depth: int = 0) -> Any:
    """Return a value in which ``{$ref: '#/KEY/KEY'}`` is what stands at that place of the config."""
    if isinstance(value, list):
        return [_with_references(config, each, f"{path}[{number}]", depth) for number, each in enumerate(value)]
    if not isinstance(value, Mapping):
        return value
    reference = value.get("$ref")
    if not (isinstance(reference, str) and reference.startswith("#/")):
        return {key: _with_references(config, each, f"{path}.{key}", depth) for key, each in value.items()}
    found: Any = config.values
    for key in reference[2:].split("/"):
        found = found.get(key) if isinstance(found, Mapping) else None
    if found is None or depth > _DEEPEST:
        why = "it leads to itself" if found is not None else "nothing stands there"
        raise config.refuse(f"the reference '{reference}' cannot be followed", path, why=why)
    return _with_references(config, found, path, depth + 1)
