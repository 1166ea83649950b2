"""Processors: operators that turn what a model wrote into a prediction.

Each is a :class:`~proctor.data.operator.FieldOperator`, so it works on any field of a row; :class:`PostProcess` puts
one to work on predictions, references or both. Names and rules are those of the Unitxt ecosystem
(``unitxt.processors``).
"""

from __future__ import annotations

import ast
import math
import re
import string
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from proctor.data.fields import Row
from proctor.data.operator import FieldOperator, InstanceFieldOperator, MultiStreamOperator, StreamOperator
from proctor.data.streams import MultiStream
from proctor.errors import MissingFieldError, ScoringError, ValidationError

Converter = Callable[[Any, Row], Any]
INFERENCE_STREAM = "__INFERENCE_STREAM__"


class PostProcess(MultiStreamOperator):
    """Applies an operator on single values to predictions, and to each reference.

    Attributes:
        operator: The operator; its ``field`` plays no part.
        process_prediction: Whether predictions are processed.
        process_references: Whether references are processed.
    """

    operator: InstanceFieldOperator
    process_prediction: bool = True
    process_references: bool = True

    def converter(self) -> Converter:
        """Return the operator as a function of a value and its row."""
        return self.operator._converter()  # noqa: SLF001 - the compiled form of the operator's one rule

    def process(self, multi_stream: MultiStream) -> MultiStream:
        """Return streams with processed ``prediction`` and ``references``."""
        steps: list[StreamOperator] = []
        if self.process_prediction:
            steps.append(self.operator.model_copy(update={"field": "prediction"}))
        if self.process_references:
            update = {
                "field": "references",
                "process_every_value": True,
                "dont_apply_to_streams": [INFERENCE_STREAM],
            }
            steps.append(self.operator.model_copy(update=update))
        for step in steps:
            multi_stream = step(multi_stream)
        return multi_stream


# -- text to text ---------------------------------------------------------------------------------------------


class ToString(FieldOperator):
    """The value as text."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return str(value)


class ToStringStripped(FieldOperator):
    """The value as text, without white space around it."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return str(value).strip()


class Lower(FieldOperator):
    """Text in lower case."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return value.lower()


class LowerCase(Lower):
    """An old name of :class:`Lower`."""


class Upper(FieldOperator):
    """Text in upper case."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return str(value).upper()


class Capitalize(FieldOperator):
    """Text with its first letter in upper case and the rest in lower case."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return value.capitalize()


class LowerCaseTillPunc(FieldOperator):
    """Lower-case text up to the first of ``. , ! ? ;``."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return re.split(r"[.,!?;]", value.lower(), maxsplit=1)[0]


class GetStringAfter(FieldOperator):
    """The text after the first occurrence of ``substring``, stripped; the whole text where there is none."""

    substring: str

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return value.split(self.substring, 1)[-1].strip()


class Substring(FieldOperator):
    """Characters ``begin`` to ``end``."""

    begin: int = 0
    end: int | None = None

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return value[self.begin : self.end]


class AddPrefix(FieldOperator):
    """Stripped text that starts with ``prefix``, which is added where it is missing."""

    prefix: str

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        stripped = value.strip()
        return stripped if stripped.startswith(self.prefix) else self.prefix + stripped


class RemoveArticles(FieldOperator):
    """Text with each English article replaced by a space."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return re.sub(r"\b(a|an|the)\b", " ", value)


class RemovePunctuations(FieldOperator):
    """Text without ASCII punctuation."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return value.translate(_NO_PUNCTUATION)


_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


class FixWhiteSpace(FieldOperator):
    """Text with single spaces between words."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        return " ".join(value.split())


# -- parts of a text ------------------------------------------------------------------------------------------


class TakeFirstNonEmptyLine(FieldOperator):
    """The first line of the stripped text, stripped."""

    def process_value(self, value: Any) -> Any:
        """Return the line."""
        return str(value).strip().split("\n")[0].strip()


class TakeLastNonEmptyLine(FieldOperator):
    """The last line of the stripped text, stripped."""

    def process_value(self, value: Any) -> Any:
        """Return the line."""
        return str(value).strip().split("\n")[-1].strip()


class TakeFirstWord(FieldOperator):
    """The first word or number; ``""`` where there is none."""

    def process_value(self, value: Any) -> Any:
        """Return the word."""
        match = re.search(r"-*[0-9]+(?:\.[0-9]+)*|\w+", value)
        return match.group() if match else ""


class FirstCharacter(FieldOperator):
    """The first letter, digit or underscore; ``""`` where there is none."""

    def process_value(self, value: Any) -> Any:
        """Return the character."""
        match = re.search(r"\w", value)
        return match.group() if match else ""


class ExtractNumber(FieldOperator):
    """A number in the text, as text without thousands separators.

    Attributes:
        which: ``first`` or ``last``.
        failure_default: What to return where there is no number.
    """

    which: str = "last"
    failure_default: Any = ""

    def verify(self) -> None:
        """Check ``which``."""
        super().verify()
        if self.which not in ("first", "last"):
            raise ValidationError(f"'which' is '{self.which}'", hint="use 'first' or 'last'")

    def process_value(self, value: Any) -> Any:
        """Return the number as text."""
        found = re.findall(r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?", str(value))
        if not found:
            return self.failure_default
        return found[0 if self.which == "first" else -1].replace(",", "")


class SplitStrip(FieldOperator):
    """Parts of a text between delimiters."""

    delimiter: str = " "
    strip_every_element: bool = False

    def process_value(self, value: Any) -> Any:
        """Return the parts."""
        parts = value.split(self.delimiter)
        return [part.strip() for part in parts] if self.strip_every_element else parts


class ToListByComma(SplitStrip):
    """Parts between commas, stripped."""

    delimiter: str = ","
    strip_every_element: bool = True


class ToListByCommaSpace(SplitStrip):
    """Parts between commas followed by a space, stripped."""

    delimiter: str = ", "
    strip_every_element: bool = True


class RegexParser(FieldOperator):
    """All matches of a regular expression (their groups, where it has some).

    Attributes:
        regex: The expression.
        termination_regex: A text that this matches as a whole gives no match.
    """

    regex: str
    termination_regex: str | None = None

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.regex)

    def process_value(self, value: Any) -> Any:
        """Return the matches."""
        if self.termination_regex is not None and re.fullmatch(self.termination_regex, value):
            return []
        return self._pattern.findall(value)


class ExtractWithRegex(RegexParser):
    """The first match of a regular expression; ``""`` where there is none."""

    def process_value(self, value: Any) -> Any:
        """Return the match."""
        return next(iter(super().process_value(value)), "")


class GroupDictWithRegex(FieldOperator):
    """The named groups of a regular expression at the start of the text, as a dict; ``{}`` where it does not match."""

    pattern: str
    flags: int = 0

    def process_value(self, value: Any) -> Any:
        """Return the groups."""
        match = re.match(self.pattern, value, flags=self.flags)
        return match.groupdict() if match else {}


class GetSQL(FieldOperator):
    """The last SQL query in a text: in a fenced block, else from the last SQL keyword, up to the first semicolon."""

    def process_value(self, value: Any) -> Any:
        """Return the query, or a sentence that says there is none."""
        if not isinstance(value, str):
            return "Input must be a string"
        query = self._candidate(value)
        if not query:
            return "No query found in generation"
        return query.split(";", 1)[0].strip().replace("```sql", "").replace("```", "").strip()

    def _candidate(self, text: str) -> str | None:
        if blocks := re.findall(r"```sql\s*(.*?)\s*```", text, re.DOTALL | re.IGNORECASE):
            return str(blocks[-1]).strip()
        blocks = re.findall(r"```\s*(.*?)\s*```", text, re.DOTALL)
        if blocks and re.match(rf"^{_SQL_KEYWORDS}\b", blocks[-1].strip(), re.IGNORECASE):
            return str(blocks[-1]).strip()
        starts = [match.start() for match in re.finditer(rf"\b{_SQL_KEYWORDS}\b", text, re.IGNORECASE)]
        return text[starts[-1] :].strip() if starts else None


_SQL_KEYWORDS = "(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|WITH|DROP|TRUNCATE)"


# -- words to labels ------------------------------------------------------------------------------------------


class ConvertToBoolean(FieldOperator):
    """``TRUE``, ``FALSE`` or ``OTHER``, by the words of a text; words of denial come first."""

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        text = str(value).strip().lower()
        if any(word in text for word in ("no", "not", "wrong", "false")):
            return "FALSE"
        if any(word in text for word in ("yes", "right", "correct", "true")):
            return "TRUE"
        return "OTHER"


class YesNoToInt(FieldOperator):
    """``yes`` as ``1`` and ``no`` as ``0``; other values stay."""

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        return {"yes": "1", "no": "0"}.get(value, value)


class YesToOneElseZero(FieldOperator):
    """``yes`` as ``1``, all else as ``0``."""

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        return "1" if value == "yes" else "0"


class ToYesOrNone(FieldOperator):
    """``yes``, or ``none`` for all else."""

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        return "yes" if value == "yes" else "none"


class StanceToProCon(FieldOperator):
    """``positive`` as ``PRO``, ``negative`` and ``suggestion`` as ``CON``, all else as ``none``."""

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        return {"positive": "PRO", "negative": "CON", "suggestion": "CON"}.get(value, "none")


class StringEquals(FieldOperator):
    """``string`` or ``not string`` in lower case where the text contains it; otherwise the text."""

    string: str

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        wanted, text = self.string.lower(), value.lower()
        if f"not {wanted}" in text:
            return f"not {wanted}"
        return wanted if wanted in text else value


class StringOrNotString(StringEquals):
    """An old name of :class:`StringEquals`."""


class MatchClosestOption(InstanceFieldOperator):
    """The option that looks most like the text (``difflib``).

    Attributes:
        options_field: Field of the task data with the options.
    """

    options_field: str = "options"

    def process_instance_value(self, value: Any, instance: Row) -> Any:
        """Return the option."""
        task_data = instance.get("task_data")
        options = task_data.get(self.options_field) if isinstance(task_data, Mapping) else None
        if not options:
            raise MissingFieldError(f"the task data has no options in '{self.options_field}'")
        return get_close_matches(value, options, n=1, cutoff=0.0)[0]


# -- text to numbers ------------------------------------------------------------------------------------------


class StrToFloatFormat(FieldOperator):
    """A number as Python writes a float (``5`` as ``5.0``); other text stays."""

    def process_value(self, value: Any) -> Any:
        """Return the text."""
        number = _number(value)
        return str(value) if number is None else str(number)


class ScaleNumberToZeroOneReturnZeroIfFails(FieldOperator):
    """A number between ``min_val`` and ``max_val``, scaled; 0 where the text is no number."""

    max_val: float = 10
    min_val: float = 0

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        number = _number(value)
        return 0 if number is None else (number - self.min_val) / self.max_val


class ExtractVerbalJudgment(FieldOperator):
    """The place of the class that the text starts with, from 0 (the first) to 1; 0 where it starts with none."""

    classes: list[str] = ["not", "somewhat", "mostly", "completely"]

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        text = value.strip().lower()
        for position, name in enumerate(self.classes):
            if text.startswith(name):
                return position / (len(self.classes) - 1)
        return 0


class ExtractVerbalJudgementBadGood(ExtractVerbalJudgment):
    """The same from ``very bad`` to ``very good``."""

    classes: list[str] = ["very bad", "bad", "mediocre", "good", "very good"]


class ExtractMtBenchRatingJudgment(FieldOperator):
    """The rating in ``[[7]]`` or ``[[7/10]]`` as a number from 0 to 1.

    Attributes:
        failure_default: What to return where there is no rating.
    """

    failure_default: Any = 0.0

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        match = re.search(r"\[\[([\s*\d]+\.?[\d]*\s*)(/\s*10)?\s*\]\]", value)
        number = _number(match.group(1)) if match else None
        return self.failure_default if number is None else number / 10


class ExtractHarmRatingJudgement(FieldOperator):
    """The rating from 1 to 5 in ``[[3]]`` as a number from 0 to 1; NaN where there is none."""

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        match = re.search(r"\[\[(\d+\.?\d*)\]\]", value)
        return float(match.group(1)) * 0.25 - 0.25 if match else math.nan


class ExtractMtBenchLabelJudgment(FieldOperator):
    """The label in ``[[A]]``; ``None`` as text where there is none."""

    def process_value(self, value: Any) -> Any:
        """Return the label."""
        match = re.search(r"\[\[([^\]]+)\]\]", value)
        return match.group(1) if match else "None"


class ExtractArenaHardNumericalJudgment(FieldOperator):
    """Which of two answers won, in ``[[A>>B]]`` and its kin: 3, 1, 0, -1, -3.

    Attributes:
        failure_default: What to return where there is no verdict.
    """

    failure_default: Any = 0

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        match = re.search(r"\[\[([^\]]+)\]\]", value)
        if match is None:
            return self.failure_default
        return {"A>B": 1, "A>>B": 3, "B>A": -1, "B>>A": -3}.get(match.group(1), 0)


class ExtractSafeUnsafeJudgment(FieldOperator):
    """1 where the first line is ``safe``, else 0."""

    def process_value(self, value: Any) -> Any:
        """Return the number."""
        return 1.0 if str(value).strip().split("\n")[0].lower() == "safe" else 0.0


class InferDictsToBinaryLogprobs(FieldOperator):
    """The share of the positive class in the probability of two classes, from an answer's first token that has one.

    Attributes:
        neg_class_name: Text of the negative class, in any case, with non-letters around it.
        pos_class_name: Text of the positive class.
        take_logprobs_from_end: Look from the last token backwards.
        num_logprobs_to_take: Tokens to look at.
        min_probability_mass: Least probability of both together that counts.
        failure_default: What to return where neither class is among the tokens.
    """

    neg_class_name: str
    pos_class_name: str
    take_logprobs_from_end: bool = False
    num_logprobs_to_take: int = 3
    min_probability_mass: float = 0.0001
    failure_default: Any = 0

    def verify(self) -> None:
        """Check that no class name is part of the other."""
        super().verify()
        negative, positive = self.neg_class_name.lower(), self.pos_class_name.lower()
        if negative in positive or positive in negative:
            raise ValidationError(f"the class names '{positive}' and '{negative}' overlap")

    def process_value(self, value: Any) -> Any:
        """Return the share."""
        count = min(self.num_logprobs_to_take, len(value))
        places = range(-1, -count - 1, -1) if self.take_logprobs_from_end else range(count)
        for place in places:
            tokens = value[place].get("top_tokens", ())
            positive, negative = (self._mass(tokens, name) for name in (self.pos_class_name, self.neg_class_name))
            if positive + negative > self.min_probability_mass:
                return positive / (positive + negative)
        return self.failure_default

    @staticmethod
    def _mass(tokens: Any, name: str) -> float:
        pattern = re.compile(rf"(\W|Ġ|_)*{re.escape(name)}(\W|Ġ|_)*", flags=re.IGNORECASE)
        return sum(math.exp(token["logprob"]) for token in tokens if pattern.fullmatch(token["text"]))


# -- text to structures ---------------------------------------------------------------------------------------


class LiteralEval(FieldOperator):
    """A Python literal (list, dict, number …) read from text; nothing is executed."""

    def process_value(self, value: Any) -> Any:
        """Return the value; ``None`` and ``""`` stay."""
        if value is None or value == "":
            return value
        if not isinstance(value, str):
            raise ScoringError(f"a literal is read from text, not from {type(value).__name__}")
        try:
            return ast.literal_eval(value.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise ScoringError("the text is no Python literal", why=f"{type(error).__name__}: {error}") from None


class ListToEmptyEntitiesTuples(FieldOperator):
    """Each member of a list as a pair with an empty label."""

    def process_value(self, value: Any) -> Any:
        """Return the pairs."""
        return [(str(item), "") for item in value]


class DictOfListsToPairs(FieldOperator):
    """Each text in the lists of a dict as a pair with its key; no pairs where the value has another shape."""

    position_key_before_value: bool = True

    def process_value(self, value: Any) -> Any:
        """Return the pairs."""
        if not isinstance(value, dict):
            return []
        pairs = []
        for key, values in value.items():
            if not isinstance(values, (list, tuple, str)) or not all(isinstance(each, str) for each in values):
                return []
            pairs += [(key, each) if self.position_key_before_value else (each, key) for each in values]
        return pairs


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
