"""Processors from text to text: blanks and punctuation, parts of a text."""

from __future__ import annotations

import re
import string
from functools import cached_property
from typing import Any, ClassVar

from proctor.data.operator import FieldOperator
from proctor.errors import ValidationError
from proctor.regexes import BoundedPattern, bounded
from proctor.scoring.text.how_read import taken


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

    _is_now: ClassVar[str] = "Lower"


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


class TakeFirstNonEmptyLine(FieldOperator):
    """The first line of the stripped text, stripped."""

    def process_value(self, value: Any) -> Any:
        """Return the line."""
        return (taken(str(value).strip().split("\n"), "the first line") or "").strip()


class TakeLastNonEmptyLine(FieldOperator):
    """The last line of the stripped text, stripped."""

    def process_value(self, value: Any) -> Any:
        """Return the line."""
        return (taken(str(value).strip().split("\n"), "the last line", -1) or "").strip()


class TakeFirstWord(FieldOperator):
    """The first word or number; ``""`` where there is none."""

    def process_value(self, value: Any) -> Any:
        """Return the word."""
        found = re.finditer(r"(?:(?<!-)-++)?[0-9]+(?:\.[0-9]+)*|\w+", value)  # each run of dashes is looked at once
        return taken((match.group() for match in found), "the first word") or ""


class FirstCharacter(FieldOperator):
    """The first letter, digit or underscore; ``""`` where there is none."""

    def process_value(self, value: Any) -> Any:
        """Return the character."""
        return taken((match.group() for match in re.finditer(r"\w", value)), "the first character") or ""


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
        number = taken(found, f"the {self.which} number", 0 if self.which == "first" else -1)
        return self.failure_default if number is None else number.replace(",", "")


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
    def _pattern(self) -> BoundedPattern:
        return bounded(self.regex)

    def process_value(self, value: Any) -> Any:
        """Return the matches."""
        if self.termination_regex is not None and bounded(self.termination_regex).spans(value, "fullmatch"):
            return []
        return self._pattern.findall(value)


class ExtractWithRegex(RegexParser):
    """The first match of a regular expression; ``""`` where there is none."""

    def process_value(self, value: Any) -> Any:
        """Return the match."""
        found = taken(super().process_value(value), f"the pattern {self.regex}")
        return "" if found is None else found


class GroupDictWithRegex(FieldOperator):
    """The named groups of a regular expression at the start of the text, as a dict; ``{}`` where it does not match."""

    pattern: str
    flags: int = 0

    def process_value(self, value: Any) -> Any:
        """Return the groups."""
        return bounded(self.pattern, self.flags).groupdict(value) or {}


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
