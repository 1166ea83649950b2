"""Tests of a config as rows: variables in every combination, and what is asserted of the answer to each."""

from __future__ import annotations

import base64
import json
import mimetypes
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Final

from proctor.data.files import opened
from proctor.data.streams import MultiStream
from proctor.dialects.promptfoo.prompts import filled
from proctor.dialects.promptfoo.reader import MODULES, Config
from proctor.dialects.tables.reader import decoded, read_table
from proctor.errors import Location, UsageError
from proctor.logs import say_once
from proctor.recipes.held_code import code_of_file
from proctor.recipes.selection import Opened, Row, Selection
from proctor.scoring.assertion_metrics import TRANSFORM
from proctor.scoring.assertions import JAVASCRIPT, PYTHON
from proctor.scoring.javascript import body_of

ASSERTED: Final = "__expected"
_TRANSFORMS: Final = ("transform", "postprocess")
"""What the code is called that answers pass first, and was called."""
_TEST: Final = {"description", "vars", "assert", "threshold", "options", "metadata", "__data"}
_OPTIONS: Final = {"prefix", "suffix", "provider", "disableVarExpansion", *_TRANSFORMS}
_TABLES: Final = (".csv", ".tsv", ".xlsx")
_COLUMN: Final = re.compile(r"expected\d*|prefix|suffix|description|threshold|metadata:.+|metric")
_HOLDS: Final = re.compile(r"(not-)?(equals|i?contains(-any|-all)?|starts-with|regex|is-json|contains-json|factuality)")
"""Assertions that hold or do not."""
_EXPORTED: Final = re.compile(r"^export\s+default\b", re.MULTILINE)
_IN_A_CELL: Final = re.compile(r"\s*(not-)?(?:(python)|javascript|fn|eval)\s*:(.*)", re.DOTALL)
MOST_ROWS: Final = 100_000  # of one test: more come from lists that nobody meant to be combined
_OF_ASSERTIONS: Final = {"type", "value", "threshold", "weight", "metric", "provider", "assert", "config", "transform"}
_PICTURES: Final = (".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".svg", ".tif", ".tiff", ".ico", ".avif")
_DEEPEST = 3  # variables in variables: more is a circle


@dataclass
class Tests:
    """The tests of a config.

    Attributes:
        config: The config.
        rows: One for each test and each combination of its variables.
        judges: The providers that tests name as judges.
        paths: Where the test of each row stands.
    """

    config: Config
    rows: list[Row] = field(default_factory=list)
    judges: list[Any] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)

    def read(self) -> Tests:
        """Read them.

        Raises:
            ProctorError: A test has what is not obeyed, or names a file that there is not.
        """
        said = self.config.loaded(self.config.values.get("defaultTest") or {}, "$.defaultTest")
        default = self._checked(said, "$.defaultTest")
        for path, test in self._listed(self.config.values.get("tests"), "$.tests"):
            self._add(default, {}, test, path)
        for number, scenario in enumerate(self.config.list_of("scenarios")):
            self._scenario(default, scenario, f"$.scenarios[{number}]")
        if not self.rows:
            self._add(default, {}, {}, "$.defaultTest")
        return self

    def _add(self, *parts: Any) -> None:
        made = list(self._rows(*parts))
        self.rows += made
        self.paths += [parts[-1]] * len(made)

    def _scenario(self, default: Mapping[str, Any], scenario: Any, path: str) -> None:
        scenario = self.config.loaded(scenario, path)
        self.config.check(scenario, {"description", "config", "tests"}, path)
        tests = list(self._listed(scenario.get("tests"), f"{path}.tests")) or [(path, {})]
        for place, of_all in self._listed(scenario.get("config"), f"{path}.config"):
            for own, test in tests:
                self._add(default, of_all, test, f"{own} with {place}")

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
                there = replace(self.config, file=file)  # paths to variables start at the file of the test
                for line, test in enumerate(found if isinstance(found, list) else [found]):
                    place = f"{file.name}[{line}]"
                    own = self._checked(test, place)
                    yield place, {**own, "vars": self._of_files(own.get("vars"), place, there)}

    def _of_table(self, file: Path) -> list[dict[str, Any]]:
        """Return the rows of a table as tests; columns of promptfoo begin with ``__``."""
        found = []
        for row in read_table(str(file)):
            own = {name[2:]: value for name, value in row.items() if name.startswith("__")}
            if unread := [name for name in own if not _COLUMN.fullmatch(name)]:
                where = Location(str(file))
                raise UsageError(f"the column '__{unread[0]}' is not obeyed", location=where, hint="leave it out")
            if own.get("metric"):
                self._tell_of_metrics()
            test: dict[str, Any] = {"vars": {name: each for name, each in row.items() if not name.startswith("__")}}
            test["assert"] = [each for name, each in own.items() if name.startswith("expected") and each]
            test["options"] = {name: own[name] for name in ("prefix", "suffix") if own.get(name)}
            test["metadata"] = {name[9:]: each for name, each in own.items() if name.startswith("metadata:")}
            found.append({**test, **{name: own.get(name) for name in ("description", "threshold")}, "__data": True})
        return found

    def _checked(self, test: Any, path: str) -> dict[str, Any]:
        """Return a test whose keys are all obeyed, its judge noted.

        Raises:
            ProctorError: It has others.
        """
        self.config.check(test, _TEST, path)
        options = test.get("options") or {}
        self.config.check(options, _OPTIONS, f"{path}.options")
        if not isinstance(test.get("assert") or [], list):
            raise self.config.refuse("'assert' is a list of assertions", path)
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
        variables, options, said = dict[str, Any](), dict[str, Any](), dict[str, Any]()
        asserted: list[Any] = []
        for part in (default, of_all, test):
            variables |= self._variables(part.get("vars"), path)
            options |= part.get("options") or {}
            asserted += [self._assertion(each, f"{path}.assert") for each in part.get("assert") or ()]
            named = {key: part.get(key) for key in ("description", "threshold", "metadata")}
            said |= {f"__{key}": value for key, value in named.items() if value not in (None, {}, "")}
        said |= {f"__{key}": str(options[key]) for key in ("prefix", "suffix") if options.get(key)}
        if (code := next((options[each] for each in _TRANSFORMS if options.get(each)), None)) is not None:
            said[TRANSFORM] = self._transform(code, f"{path}.options.transform")
        listed = not options.get("disableVarExpansion")
        lists = [listed and isinstance(each, list) and isinstance((*each, None)[0], str) for each in variables.values()]
        values = [each if is_list else [each] for each, is_list in zip(variables.values(), lists, strict=True)]
        if (count := prod(map(len, values))) > MOST_ROWS:
            raise self.config.refuse(f"the variables make {count:,} tests", path, why=f"{MOST_ROWS:,} at most are made")
        for chosen in product(*values):
            own = dict(zip(variables, chosen, strict=True))
            own = own if test.get("__data") else _within(own)
            yield {**own, **said, ASSERTED: [filled(each, own) for each in asserted]}

    def _variables(self, given: Any, path: str) -> dict[str, Any]:
        if not isinstance(given := self._of_files(given, path, self.config) or {}, Mapping):
            raise self.config.refuse("'vars' is a mapping of variables, or names files that hold one", f"{path}.vars")
        return {str(name): self._value(value, f"{path}.vars.{name}") for name, value in given.items()}

    @staticmethod
    def _of_files(given: Any, path: str, config: Config) -> Any:
        """Return variables, or those of all files that they name: a path, or several."""
        named = [given] if isinstance(given, str) else given
        if not (isinstance(named, list) and all(isinstance(each, str) for each in named)):
            return given
        said = [config.content(file) for each in named for file in config.files(each, f"{path}.vars")]
        merged: dict[str, Any] = {}
        for each in said:
            if not isinstance(each, Mapping):
                return each
            merged |= each
        return merged

    def _value(self, value: Any, path: str) -> Any:
        if isinstance(value, list):
            return [self._value(each, path) for each in value]
        if isinstance(value, str) and value.startswith("file://") and value.lower().endswith(_PICTURES):
            [file] = self.config.files(value, path)
            kind = mimetypes.guess_type(file.name)[0] or "image/jpeg"
            with opened(str(file)) as picture:
                return f"data:{kind};base64,{base64.b64encode(picture.read()).decode()}"
        found = self.config.loaded(value, path)
        return found.strip() if found is not value and isinstance(found, str) else found

    def _assertion(self, entry: Any, path: str) -> Any:
        """Return an assertion without what is not a part of it: a judge, the name of a score; files are read."""
        if isinstance(entry, str) and (code := _IN_A_CELL.fullmatch(entry)):
            entry = {"type": f"{code[1] or ''}{code[2] or JAVASCRIPT}", "value": code[3].strip()}
        if not isinstance(entry, Mapping):
            return entry
        if isinstance(entry.get("type"), str):  # what is none is said by who reads it
            self.config.check(entry, _OF_ASSERTIONS, path)
        made = {key: each for key, each in entry.items() if key in _OF_ASSERTIONS}
        if made.pop("metric", None):
            self._tell_of_metrics()
        if _HOLDS.fullmatch(str(made.get("type"))) and made.pop("threshold", None) is not None:
            say_once(f"{self.config.file}: 'threshold' of '{made['type']}' has no effect: promptfoo reads none there")
        if (judge := made.pop("provider", None)) is not None:
            self._judge(judge)
        if isinstance(made.get("assert"), list):
            made["assert"] = [self._assertion(each, path) for each in made["assert"]]
        if made.get("transform") is not None:
            code = self._transform(made["transform"], f"{path}.transform")
            made["transform"] = _as_it_stands(code) if isinstance(code, str) else code
        return self._with_value(made, f"{path}.value")

    def _with_value(self, made: dict[str, Any], path: str) -> dict[str, Any]:
        """Return an assertion with its code, or with what the file says that its value names."""
        arguments, kind = made.pop("config", None), str(made.get("type")).removeprefix("not-")
        if kind == JAVASCRIPT:
            made["value"] = self._code(str(made.get("value") or ""), arguments, path)
        elif kind == PYTHON and made.get("value"):
            value = str(made["value"])
            code = self._python(value, "get_assert", path) if value.startswith("file://") else {"code": value}
            made["value"] = code if arguments is None else {**code, "config": arguments}
        elif arguments:
            raise self.config.refuse("'config' of an assertion is for code", path, hint="leave it out")
        elif "value" in made:
            made["value"] = self.config.loaded(made["value"], path)
        return made

    def _tell_of_metrics(self) -> None:
        say_once(f"{self.config.file}: 'metric' has no effect here: samples list each assertion")

    def _code(self, value: str, arguments: Any, path: str) -> str:
        """Return the body of an assertion in JavaScript; of a module's, what calls what it exports."""
        code = value
        if value.startswith("file://"):
            place, _, name = value.removeprefix("file://").partition(":")
            [file] = self.config.files(place, path, programs=MODULES)
            chosen = f".{name}" if name else ".default ?? module.exports"
            code = (
                "const module = {exports: {}}; const exports = module.exports;\n"
                f"{_EXPORTED.sub('module.exports =', decoded(str(file)))}\n"
                f"return (module.exports{chosen})(output, context);"
            )
            code = _as_it_stands(code)
        return f"context.config = {json.dumps(arguments)};\n{body_of(code)}" if arguments is not None else code

    def _transform(self, code: Any, path: str) -> Any:
        """Return the code of a transform: JavaScript, or a function in Python beside the config."""
        if not isinstance(code, str):
            raise self.config.refuse("a transform is a text", path)
        if not code.startswith("file://"):
            return code
        if ".py" in code:
            return self._python(code, "get_transform", path)
        return self._code(code, None, path).removeprefix(_RAW).removesuffix(_END_OF_RAW)

    def _python(self, value: str, function: str, path: str) -> dict[str, Any]:
        """Return where a function in Python is, with the digests of its file and of what it imports from beside it."""
        place, _, name = value.removeprefix("file://").partition(":")
        [file] = self.config.files(place, path, programs=(".py",))
        return {"file": place, "function": name or function, "digests": code_of_file(file, Path.cwd())}


_RAW, _END_OF_RAW = "{% raw %}", "{% endraw %}"


def _as_it_stands(code: str) -> str:
    """Return code as a template in which nothing is filled."""
    return f"{_RAW}{code}{_END_OF_RAW}"


def _within(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return variables of a config, those filled in that stand in others."""
    found = dict(variables)
    for _ in range(_DEEPEST):
        done = {name: filled(each, found) if isinstance(each, str) else each for name, each in found.items()}
        if done == found:
            break
        found = done
    return found


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
