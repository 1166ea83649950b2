"""Tests of a config as rows: variables in every combination, and what is asserted of the answer to each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, Final

from proctor.data.streams import MultiStream
from proctor.dialects.promptfoo.prompts import filled
from proctor.dialects.promptfoo.reader import Config
from proctor.dialects.tables.reader import read_table
from proctor.errors import Location, ProctorError, UsageError
from proctor.logs import get_logger
from proctor.recipes.selection import Opened, Row, Selection

ASSERTED: Final = "__expected"
_TEST: Final = {"description", "vars", "assert", "threshold", "options", "metadata", "__data"}
_OPTIONS: Final = {"prefix", "suffix", "provider", "disableVarExpansion"}
_TABLES: Final = (".csv", ".tsv", ".xlsx")
_DEEPEST = 3  # variables in variables: more is a circle


@dataclass
class Tests:
    """The tests of a config.

    Attributes:
        config: The config.
        rows: One for each test and each combination of its variables.
        judges: The providers that tests name as judges.
    """

    config: Config
    rows: list[Row] = field(default_factory=list)
    judges: list[Any] = field(default_factory=list)
    _is_told: bool = False

    def read(self) -> Tests:
        """Read them.

        Raises:
            ProctorError: A test has what is not obeyed, or names a file that there is not.
        """
        default = self._checked(
            self.config.loaded(self.config.values.get("defaultTest") or {}, "$.defaultTest"), "$.defaultTest"
        )
        for path, test in self._listed(self.config.values.get("tests"), "$.tests"):
            self.rows += self._rows(default, {}, test, path)
        for number, scenario in enumerate(self.config.list_of("scenarios")):
            self._scenario(default, scenario, f"$.scenarios[{number}]")
        if not self.rows:
            self.rows += self._rows(default, {}, {}, "$.defaultTest")
        return self

    def _scenario(self, default: Mapping[str, Any], scenario: Any, path: str) -> None:
        scenario = self.config.loaded(scenario, path)
        self.config.check(scenario, {"description", "config", "tests"}, path)
        tests = list(self._listed(scenario.get("tests"), f"{path}.tests")) or [(path, {})]
        for place, of_all in self._listed(scenario.get("config"), f"{path}.config"):
            for own, test in tests:
                self.rows += self._rows(default, of_all, test, f"{own} with {place}")

    def _listed(self, value: Any, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield tests and where they stand: listed, or in files."""
        if value is None:
            return
        for number, entry in enumerate(value if isinstance(value, list) else [value]):
            place = f"{path}[{number}]"
            if not isinstance(entry, str):
                yield place, self._checked(entry, place)
                continue
            if entry.startswith(("http://", "https://", "huggingface://")):
                raise self.config.refuse(f"tests at {entry} are not fetched", place, hint="save them beside the config")
            for file in self.config.files(entry, place):
                found = self._of_table(file) if file.suffix in _TABLES else self.config.content(file)
                for line, test in enumerate(found if isinstance(found, list) else [found]):
                    yield f"{file.name}[{line}]", self._checked(test, f"{file.name}[{line}]")

    def _of_table(self, file: Path) -> list[dict[str, Any]]:
        """Return the rows of a table as tests; columns of promptfoo begin with ``__``."""
        found = []
        for row in read_table(str(file)):
            own = {name: value for name, value in row.items() if name.startswith("__")}
            asserted = [value for name, value in own.items() if re.fullmatch(ASSERTED + r"\d*", name) and value]
            options = {name: own[f"__{name}"] for name in ("prefix", "suffix") if own.get(f"__{name}")}
            said = {name.partition(":")[2]: value for name, value in own.items() if name.startswith("__metadata:")}
            known = {"__prefix", "__suffix", "__description", "__threshold", "__metric"}
            if unread := [name for name in own if name not in known and not name.startswith((ASSERTED, "__metadata:"))]:
                raise UsageError(
                    f"the column '{unread[0]}' is not obeyed", location=Location(str(file)), hint="leave it out"
                )
            test = {"vars": {name: value for name, value in row.items() if name not in own}, "assert": asserted}
            extra = {"options": options, "metadata": said, "description": own.get("__description")}
            found.append({**test, **extra, "threshold": own.get("__threshold") or None, "__data": True})
        return found

    def _checked(self, test: Any, path: str) -> dict[str, Any]:
        """Return a test whose keys are all obeyed, its judge noted.

        Raises:
            ProctorError: It has others.
        """
        self.config.check(test, _TEST, path)
        options = test.get("options") or {}
        self.config.check(options, _OPTIONS, f"{path}.options")
        if options.get("provider"):
            self._judge(options["provider"])
        return dict(test)

    def _judge(self, provider: Any) -> None:
        provider = provider.get("text", provider) if isinstance(provider, Mapping) else provider
        if provider not in self.judges:
            self.judges.append(provider)

    def _rows(
        self, default: Mapping[str, Any], of_all: Mapping[str, Any], test: Mapping[str, Any], path: str
    ) -> Iterator[Row]:
        parts = [default, of_all, test]
        variables: dict[str, Any] = {}
        options: dict[str, Any] = {}
        asserted: list[Any] = []
        said: dict[str, Any] = {}
        for part in parts:
            variables |= self._variables(part.get("vars"), path)
            options |= part.get("options") or {}
            asserted += [self._assertion(each, f"{path}.assert") for each in part.get("assert") or ()]
            said |= {
                f"__{key}": part[key]
                for key in ("description", "threshold", "metadata")
                if part.get(key) not in (None, {}, "")
            }
        said |= {f"__{key}": str(options[key]) for key in ("prefix", "suffix") if options.get(key)}
        for chosen in [variables] if options.get("disableVarExpansion") else _combined(variables):
            own = chosen if test.get("__data") else _within(chosen)
            yield {**own, **said, ASSERTED: [_with(each, own, path) for each in asserted]}

    def _variables(self, given: Any, path: str) -> dict[str, Any]:
        given = self.config.loaded(given, f"{path}.vars")
        if not isinstance(given or {}, Mapping):
            raise self.config.refuse("'vars' is a mapping of variables", f"{path}.vars")
        return {str(name): self._value(value, f"{path}.vars.{name}") for name, value in (given or {}).items()}

    def _value(self, value: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self._value(each, path) for each in value]
        found = self.config.loaded(value, path)
        return found.strip() if found is not value and isinstance(found, str) else found

    def _assertion(self, entry: Any, path: str) -> Any:
        """Return an assertion without what is no part of it: a judge, the name of a score; files are read."""
        if not isinstance(entry, Mapping):
            return entry
        made = dict(entry)
        if made.pop("metric", None) and not self._is_told:
            self._is_told = True
            get_logger().warning(
                "%s: 'metric' of assertions has no effect here: samples list each assertion", self.config.file
            )
        if (judge := made.pop("provider", None)) is not None:
            self._judge(judge)
        if isinstance(made.get("assert"), list):
            made["assert"] = [self._assertion(each, path) for each in made["assert"]]
        if "value" in made:
            made["value"] = self.config.loaded(made["value"], f"{path}.value")
        return made


def _combined(variables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield variables in every combination of the values that lists give them."""
    values = [each if isinstance(each, list) else [each] for each in variables.values()]
    for chosen in product(*values):
        yield dict(zip(variables, chosen, strict=True))


def _within(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables of a config, those filled in that stand in others."""
    found = dict(variables)
    for _ in range(_DEEPEST):
        done = {name: filled(each, found) if isinstance(each, str) else each for name, each in found.items()}
        if done == found:
            break
        found = done
    return found


def _with(entry: Any, variables: Mapping[str, Any], path: str) -> Any:
    """Return an assertion with variables filled into its texts.

    Raises:
        ProctorError: It names one that there is not.
    """
    if isinstance(entry, Mapping):
        return {key: _with(each, variables, path) for key, each in entry.items()}
    if isinstance(entry, list):
        return [_with(each, variables, path) for each in entry]
    try:
        return filled(entry, variables) if isinstance(entry, str) else entry
    except ProctorError as error:
        raise error.within(path) from None


class TestRows:
    """The rows of tests, as an exam opens them."""

    __test__ = False

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def open(self, selection: Selection) -> Opened:
        """Return the rows."""
        del selection
        return Opened(self._rows, partial(len, self._rows))

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the rows."""
        yield "tests are read, variables combined", MultiStream.from_generators({"test": lambda: map(dict, self._rows)})
