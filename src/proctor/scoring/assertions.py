"""Assertions about one answer in a word: ``contains:Paris``, ``not-regex:sorry``, ``number``, ``is-json``.

The words are promptfoo's where it has one, and mean what they mean there; what a model has to judge is in
:mod:`proctor.scoring.judges.assertions`. Without a value of its own an assertion is about the right answers of the row.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from yaml import YAMLError

from proctor.errors import ScoringError, did_you_mean, needed
from proctor.foreign_text import parse_json
from proctor.foreign_yaml import CoreLoader, parse_yaml
from proctor.regexes import bounded
from proctor.scoring import answer_checks
from proctor.scoring.call_checks import TOOL_CALLS, calls_check
from proctor.scoring.distances import bare

RUBRICS: Final = "rubrics"
"""The assertion whose criteria, with their points, stand in a column of the row, as HealthBench has them."""
HEALTHBENCH: Final = "healthbench"
"""The same, judged in the words of HealthBench's authors, where these are here."""
JUDGED: Final = ("judge", "llm-rubric", "g-eval", "factuality", RUBRICS, HEALTHBENCH)
"""Assertions that a model judges."""
ASSERTIONS: Final = "assertions"
"""The column of samples that lists what became of each assertion of a row."""
SET: Final = "assert-set"
"""Several assertions that count as one."""
EMBEDDED: Final = "similar"
"""The assertion that a model of embeddings decides."""
JAVASCRIPT: Final = "javascript"
"""The assertion that is code (:mod:`proctor.scoring.javascript`)."""
PYTHON: Final = "python"
"""The assertion that is code of the user's own, which a dialect runs."""
LATENCY: Final = "latency"
"""The assertion that an answer took no more milliseconds than its threshold."""
COST: Final = "cost"
"""The assertion that an answer cost no more US dollars than its threshold."""
OF_RESPONSES: Final = frozenset({LATENCY, COST})
"""Assertions of what is known beside an answer's words."""

_ELSEWHERE: Final = (*JUDGED, EMBEDDED, JAVASCRIPT, LATENCY, COST)
_CODE: Final = "it is code, and tables are data"
REFUSED: Final[Mapping[str, str]] = {
    **dict.fromkeys((PYTHON, "ruby", "webhook", "file"), _CODE),
    **dict.fromkeys(
        ("answer-relevance", "context-recall", "context-relevance", "context-faithfulness"), "tables have no contexts"
    ),
}
"""Words of promptfoo that are known and not obeyed, with the reason."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """One assertion of an answer.

    Attributes:
        kind: Its word, without ``not-``.
        value: What it is about; ``None`` for the right answers of the row.
        threshold: From which share on (of distances: up to which) it holds; its kind's own where ``None``.
        negated: Whether it must not hold.
        weight: What it counts among others.
        transform: The code whose output it is about, instead of the answer; ``None`` for the answer.
    """

    kind: str
    value: Any = None
    threshold: float | None = None
    negated: bool = False
    weight: float = 1.0
    transform: Any = None

    @property
    def word(self) -> str:
        """The word as it is typed."""
        return f"not-{self.kind}" if self.negated else self.kind

    @property
    def leaves(self) -> Sequence[Assertion]:
        """Itself; of a set, what is in it."""
        parts: Sequence[Assertion] = self.value if self.kind == SET else (self,)
        return parts

    @property
    def needs_answer(self) -> bool:
        """Whether it is about the right answers of the row."""
        return self.value is None and self.kind not in _WITHOUT_VALUE

    def __str__(self) -> str:
        if self.kind == SET:
            return " + ".join(map(str, self.leaves))
        threshold = "" if self.threshold is None else f"({self.threshold:g})"
        value = "" if self.value is None else f": {self.value if isinstance(self.value, str) else shown(self.value)}"
        return f"{self.word}{threshold}{value}"


def shown(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(value, ensure_ascii=False, default=str)


class Verdict(NamedTuple):
    """What became of one assertion of one answer.

    Attributes:
        value: What the answer gets, between 0 and 1.
        holds: Whether that is enough.
        reason: Why, in the words of a judge; empty where the assertion says it all.
        score: What counts where a row's assertions are weighed, if it is not :attr:`value`.
    """

    value: float
    holds: bool
    reason: str = ""
    score: float | None = None

    @property
    def weighed(self) -> float:
        """What it counts among the assertions of a row."""
        return self.value if self.score is None else self.score


Check = Callable[[str, Sequence[str]], float]
"""From an answer and what it is held against to what it gets, between 0 and 1."""


class Kind(NamedTuple):
    """An assertion that needs no model.

    Attributes:
        check: Makes the check of an assertion.
        is_list: Whether its value is a list, or a text with commas.
    """

    check: Callable[[Assertion], Check]
    is_list: bool = False


# -- reading them -----------------------------------------------------------------------------------------------------

_WORD: Final = re.compile(r"\s*(not-)?([a-z][a-z0-9-]*)\s*(?:\((\d+(?:\.\d+)?)\))?\s*(?::(.*))?", re.DOTALL)
_FOREIGN: Final = {"grade": "llm-rubric", "json": "is-json", "pattern": "regex", "fn": JAVASCRIPT, "eval": JAVASCRIPT}
"""Other spellings."""


def is_assertion(text: str) -> bool:
    """Return whether a text begins with the word of an assertion, whether or not it is one that is obeyed."""
    found = _WORD.fullmatch(text)
    return found is not None and _FOREIGN.get(found[2], found[2]) in {*KINDS, *_ELSEWHERE, *REFUSED}


def parse_assertion(text: str) -> Assertion:
    """Return the assertion that a text is: ``not-contains:sorry``, ``similar(0.8)``.

    Raises:
        ScoringError: There is no such word, or it says what its kind cannot mean.
    """
    found = _WORD.fullmatch(text)
    if found is None:
        raise ScoringError(f"'{text}' is not an assertion", hint=f"one of {', '.join(KINDS)}, as in contains:Paris")
    negated, word, threshold, value = found.groups()
    given = None if value is None else value.strip()
    return made(word, given or None, None if threshold is None else float(threshold), negated=bool(negated))


def made(
    word: str, value: Any = None, threshold: float | None = None, *, negated: bool = False, weight: float = 1.0
) -> Assertion:
    """Return an assertion, checked.

    Raises:
        ScoringError: There is no such word, or it says what its kind cannot mean.
        MissingExtraError: It needs a package that is not installed.
    """
    kind = _FOREIGN.get(word, word)
    if kind in REFUSED and not (kind == PYTHON and isinstance(value, Mapping)):
        raise ScoringError(f"the assertion '{word}' is not obeyed", why=REFUSED[kind], hint="leave it out")
    if kind not in KINDS and kind not in (*_ELSEWHERE, PYTHON):
        words = (*KINDS, *_ELSEWHERE)
        raise ScoringError(
            f"there is no assertion '{word}'", hint=did_you_mean(word, words) or f"there are {', '.join(words)}"
        )
    assertion = Assertion(kind, value, threshold, negated, weight)
    if threshold is not None and kind not in _WITH_THRESHOLD:
        raise ScoringError(f"'{word}' holds or does not: it takes no threshold", hint="leave it out")
    if threshold is None and kind in OF_RESPONSES:
        unit = "milliseconds" if kind == LATENCY else "US dollars"
        raise ScoringError(
            f"'{word}' needs a threshold in {unit}", hint=f"{word}(1000)" if unit[0] == "m" else f"{word}(0.01)"
        )
    if value is None and kind in _NEEDS_VALUE:
        raise ScoringError(f"'{word}' needs a value", hint=f"{word}:{_NEEDS_VALUE[kind]}")
    if kind in KINDS:
        check_of(assertion)
    return assertion


# -- checks -----------------------------------------------------------------------------------------------------------


def check_of(assertion: Assertion) -> Check:
    """Return the check of an assertion that needs no model, ``not-`` and threshold included.

    Raises:
        ScoringError: Its value cannot be meant.
    """
    check = KINDS[assertion.kind].check(assertion)
    given = assertion.value
    values = None if given is None else _listed(given) if KINDS[assertion.kind].is_list else [_text(given)]

    def held(answer: str, golds: Sequence[str]) -> float:
        return settled(check(answer, golds if values is None else values), assertion)

    return held


def settled(share: float, assertion: Assertion) -> float:
    """Return what an answer gets: its share, or whether it reaches the threshold; the rest of 1 of what must not be."""
    least = None if assertion.kind in _OWN_THRESHOLD else assertion.threshold
    if least is None and assertion.negated:
        least = THRESHOLDS.get(assertion.kind)
    value = share if least is None else float(share >= least)
    return 1.0 - value if assertion.negated else value


def holds(value: float, assertion: Assertion) -> bool:
    """Return whether what an answer gets is enough where only right and wrong count."""
    decided = assertion.negated or (assertion.threshold is not None and assertion.kind not in _OWN_THRESHOLD)
    return value >= (1.0 if decided else THRESHOLDS.get(assertion.kind, 1.0))


def filled(assertion: Assertion, row: Mapping[str, Any]) -> Assertion:
    """Return an assertion with the row's cells where its value names columns as ``{{name}}``."""
    value = assertion.value
    if assertion.kind == SET:
        return replace(assertion, value=tuple(filled(each, row) for each in assertion.leaves))
    if isinstance(value, str) and "{{" in value:
        return replace(assertion, value=_COLUMN.sub(lambda found: _cell(row, found[1]), value))
    if isinstance(value, list):
        return replace(assertion, value=[filled(Assertion("equals", each), row).value for each in value])
    return assertion


_COLUMN: Final = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")


def _cell(row: Mapping[str, Any], name: str) -> str:
    if name not in row:
        raise ScoringError(f"an assertion names the column '{name}', which this row does not have")
    return _text(row[name])


def _text(value: Any) -> str:
    return value if isinstance(value, str) else shown(value)


def _listed(value: Any) -> list[str]:
    """Return the texts of a list, or those between the commas of a text; quotes keep a comma in a text."""
    if isinstance(value, list | tuple):
        return [_text(each) for each in value]
    import csv

    return [each.strip() for each in next(csv.reader([str(value).replace("\n", " ")], skipinitialspace=True), [])]


def _any(holds: Callable[[str, str], bool]) -> Callable[[Assertion], Check]:
    return lambda _: lambda answer, wanted: float(any(holds(answer, each) for each in wanted))


def _all(holds: Callable[[str, str], bool]) -> Callable[[Assertion], Check]:
    return lambda _: lambda answer, wanted: float(all(holds(answer, each) for each in wanted))


def _contains(answer: str, wanted: str) -> bool:
    return wanted in answer


def _icontains(answer: str, wanted: str) -> bool:
    return wanted.casefold() in answer.casefold()


def _equals(assertion: Assertion) -> Check:
    """Compare to the letter; with an object or a list of a file, compare what the answer's JSON says."""
    if isinstance(assertion.value, dict | list):
        return _json_check(lambda found: bool(found == assertion.value))
    return lambda answer, wanted: float(answer in wanted)


_JOINED: Final = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Letters of scripts whose words stand beside each other without blanks, or with endings that belong to no word."""
_IN_WORD: Final = re.compile(rf"[^\W{_JOINED}]")


def _includes(answer: str, wanted: str) -> bool:
    """Whether an answer holds what is wanted as words, whatever the case: ``Oslo`` is not in ``Osloer``."""
    text, said = wanted.strip().casefold(), answer.casefold()
    begins, ends = (_IN_WORD.match(text[place : place + 1 or None]) for place in (0, -1))
    place = said.find(text) if text else -1
    while place >= 0:  # a pattern would be compiled for each text: two milliseconds
        end = place + len(text)
        if not (begins and place and _IN_WORD.match(said, place - 1)) and not (ends and _IN_WORD.match(said, end)):
            return True
        place = said.find(text, place + 1)
    return False


def _regex(assertion: Assertion) -> Check:
    compiled = bounded(_text(assertion.value))
    return lambda answer, _: float(compiled.groups(answer) is not None)


_NUMBER: Final = re.compile(r"(?<![\w.])[-+\u2212]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w])")


def numbers_in(text: str) -> list[float]:
    """Return the numbers of a text in order; commas between thousands and marks around them do not count.

    >>> numbers_in("**1,234.50** of 2 -3")
    [1234.5, 2.0, -3.0]
    """
    return [float(each[0].replace(",", "").replace("\u2212", "-")) for each in _NUMBER.finditer(text)]


def _number(_: Assertion) -> Check:
    """Compare the last number of an answer with that of a right one, to nine digits."""

    def check(answer: str, wanted: Sequence[str]) -> float:
        said = numbers_in(answer)
        meant = [numbers[-1] for each in wanted if (numbers := numbers_in(each))]
        if not meant:
            raise ScoringError(f"no right answer is a number: {', '.join(map(repr, wanted))}")
        return float(bool(said) and any(math.isclose(said[-1], each, rel_tol=1e-9, abs_tol=1e-12) for each in meant))

    return check


def _json(assertion: Assertion) -> Check:
    return _json_check(_schema(assertion.value))


def _json_check(holds: Callable[[Any], bool]) -> Check:
    def check(answer: str, _: Sequence[str]) -> float:
        try:
            return float(holds(parse_json(answer)))
        except ValueError:
            return 0.0

    return check


def _has_json(assertion: Assertion) -> Check:
    """Look for an object in an answer; lists alone are often no JSON: ``see [1]``."""
    holds = _schema(assertion.value)
    return lambda answer, _: float(any(holds(each) for each in json_in(answer) if isinstance(each, dict)))


def json_in(text: str) -> Iterable[Any]:
    """Yield the JSON objects and lists that stand in a text, the outer ones only."""
    decoder, place = json.JSONDecoder(), 0
    while (found := re.compile(r"[\[{]").search(text, place)) is not None:
        try:
            value, place = decoder.raw_decode(text, found.start())
        except (ValueError, RecursionError):
            place = found.end()
        else:
            yield value


def _forgiven_json(text: str) -> Any:
    """Return the value of JSON, or of YAML, which is JSON with a comma too many; not all JSON is YAML."""
    try:
        return parse_json(text)
    except ValueError:
        return parse_yaml(text, CoreLoader)


def _schema(value: Any) -> Callable[[Any], bool]:
    """Return whether JSON fits a schema; everything does where there is none."""
    if value is None:
        return lambda _: True
    try:
        schema = _forgiven_json(value) if isinstance(value, str) else value
    except YAMLError as error:
        raise ScoringError(f"the JSON schema {value!r} is not JSON", why=str(error)) from None
    if not isinstance(schema, dict | bool):
        raise ScoringError(f"a JSON schema is an object, and this is {shown(schema)}")
    with needed("jsonschema", "tools", "a JSON schema"):
        from jsonschema import Draft202012Validator, SchemaError
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ScoringError("this is not a JSON schema", why=error.message) from None
    validator = Draft202012Validator(schema)
    return lambda value: bool(validator.is_valid(value))


def _f1(_: Assertion) -> Check:
    check = answer_checks.f1()
    return lambda answer, wanted: check(answer, wanted).share


def _exact(answer: str, wanted: str) -> bool:
    return bare(answer) == bare(wanted)


def _distance(assertion: Assertion) -> Check:
    """Whether so many changes of letters (Levenshtein), five by default, make one of an answer."""
    most = 5.0 if assertion.threshold is None else assertion.threshold

    def check(answer: str, wanted: Sequence[str]) -> float:
        from proctor.scoring.distances import levenshtein

        return float(min((levenshtein(answer, each) for each in wanted), default=math.inf) <= most)

    return check


KINDS: Final[Mapping[str, Kind]] = {
    "exact": Kind(_any(_exact)),
    "one-of": Kind(_any(_exact), is_list=True),
    "includes": Kind(_any(_includes)),
    "equals": Kind(_equals),
    "contains": Kind(_any(_contains)),
    "icontains": Kind(_any(_icontains)),
    "contains-any": Kind(_any(_contains), is_list=True),
    "contains-all": Kind(_all(_contains), is_list=True),
    "icontains-any": Kind(_any(_icontains), is_list=True),
    "icontains-all": Kind(_all(_icontains), is_list=True),
    "starts-with": Kind(_any(str.startswith)),
    "ends-with": Kind(_any(str.endswith)),
    "regex": Kind(_regex),
    "number": Kind(_number),
    "is-json": Kind(_json),
    "contains-json": Kind(_has_json),
    TOOL_CALLS: Kind(lambda _: calls_check()),
    "f1": Kind(_f1),
    "levenshtein": Kind(_distance),
}
"""Assertions that need no model, by their words."""

_WITHOUT_VALUE: Final = frozenset({"is-json", "contains-json", "judge", RUBRICS, HEALTHBENCH, LATENCY, COST})
_NEEDS_VALUE: Final = {"regex": "PATTERN", "llm-rubric": "CRITERION", "g-eval": "CRITERION", JAVASCRIPT: "CODE"}
THRESHOLDS: Final[Mapping[str, float]] = {"similar": 0.75, "g-eval": 0.7}
"""From which share on an assertion holds that says no threshold; others hold wholly or not."""
_OWN_THRESHOLD: Final = frozenset({"levenshtein"})
_WITH_THRESHOLD: Final = frozenset(
    {"f1", "similar", "llm-rubric", "judge", "g-eval", "levenshtein", RUBRICS, HEALTHBENCH, JAVASCRIPT, PYTHON}
    | OF_RESPONSES
)
