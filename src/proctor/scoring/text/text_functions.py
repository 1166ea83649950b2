"""The table of text functions: what makes a prediction of an answer, by name, from every dialect.

=============================  =======================================================================
``processors.lower_case``      an artifact of a catalog (with ``[key=value]``, as everywhere)
``regex``, ``majority_vote``   a filter of lm-eval; ``lm_eval:regex`` where several systems have the name
``first_option_postprocess``   a post-processor of OpenCompass or AISBench
=============================  =======================================================================

In a recipe a name stands in ``postprocessors``, in a YAML task in ``filter_list``, in a config in
``pred_postprocessor``. Arguments come with it, as each dialect writes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from proctor.errors import ScoringError
from proctor.scoring.named_table import NOTHING, UNITXT, Entry, Own, Table, entries_of
from proctor.scoring.text.how_read import each_of

if TYPE_CHECKING:
    from proctor.scoring.grading.protocols import Scope

AISBENCH = "aisbench"
"""Post-processors that AISBench has changed; its others are those of OpenCompass."""

Values = Sequence[Any]
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TextFunctionEntry(Entry):
    """A text function by name.

    Attributes:
        scope: What it is called with.
        made: Whether the target makes the function of its arguments; else it is the function, and takes them itself.
    """

    scope: Scope = "value"
    made: bool = False


@dataclass(frozen=True, slots=True)
class TextFunction:
    """A text function, ready to use.

    Attributes:
        name: How messages call it.
        scope: What it is called with.
    """

    name: str
    scope: Scope
    function: Callable[..., Any]

    def apply(self, values: Values, rows: Rows) -> Sequence[Any]:
        """Return what becomes of answers, one for each; a list is that many answers to one request.

        An answer that the function cannot read becomes a :class:`~proctor.ir.Failure`.
        """
        if self.scope != "column":
            return [self._safely(value, row) for value, row in zip(each_of(values), rows, strict=True)]
        found = self.function([value if isinstance(value, list) else [value] for value in values], rows)
        return [_one_of(each, value) for each, value in zip(found, values, strict=True)]

    def _safely(self, value: Any, row: Mapping[str, Any]) -> Any:
        try:
            return self.of_answer(value, row)
        except Exception as error:  # noqa: BLE001 - the reason becomes a value: this answer fails, the rest count
            from proctor.scoring.metric import failure_of

            return failure_of(error, f"text function {self.name}")

    def filtered(self, answers: Values, rows: Rows) -> Sequence[Any]:
        """Return what a filter of lm-eval leaves of the answers to each request, of each of which there are several.

        A request of which one answer was taken has that answer in place of its list, as there.

        Args:
            answers: The answers to each request.
            rows: The row of each request.
        """
        if self.scope == "column":
            found: Sequence[Any] = self.function(answers, rows)
            return found
        if self.scope == "repeats":
            return [self.function(some) for some in answers]
        if self.scope == "row":
            return [
                [self.function(each, row) for each in some] for some, row in zip(each_of(answers), rows, strict=True)
            ]
        return [[self.function(each) for each in some] for some in each_of(answers)]

    def of_answer(self, answer: object, row: Mapping[str, Any] = NOTHING) -> Any:
        """Return what becomes of one answer; a list is that many answers to one request."""
        if self.scope == "column":
            return _one_of(self.function([answer if isinstance(answer, list) else [answer]], [row])[0], answer)
        if self.scope == "repeats":
            return _one_of(self.function(answer if isinstance(answer, list) else [answer]), None)
        if isinstance(answer, list):
            return [self._one(each, row) for each in answer]
        return self._one(answer, row)

    def _one(self, answer: Any, row: Mapping[str, Any]) -> Any:
        return self.function(answer, row) if self.scope == "row" else self.function(answer)


def _one_of(found: Any, answer: Any) -> Any:
    """Return the answer that is left, where one is; a list that stood for several answers stays one."""
    return found[0] if isinstance(found, list) and len(found) == 1 and not isinstance(answer, list) else found


@cache
def text_function_table() -> Table[TextFunctionEntry]:
    """Return the table of this process; plugins add theirs with ``register``."""
    return Table("text function", entries_of("text functions", TextFunctionEntry), catalog_prefix="processors.")


class UnsuitableArgumentsError(ScoringError, TypeError):
    """Arguments that a text function does not take: a ``TypeError`` too, for programs that call one."""


def text_function(name: str, own: Own = UNITXT, arguments: Mapping[str, Any] = NOTHING) -> TextFunction | None:
    """Return the text function that a name of the table means; ``None`` where the table has no such name.

    Raises:
        ScoringError: It does not take these arguments.
    """
    entry = text_function_table().find(name, own)
    return None if entry is None else made_of(entry, arguments)


def made_of(entry: TextFunctionEntry, arguments: Mapping[str, Any]) -> TextFunction:
    """Return the text function of an entry, with arguments.

    Raises:
        ScoringError: It does not take these arguments.
    """
    target = entry.load()
    given = {**entry.arguments, **arguments}
    try:
        if entry.made:
            function = target(**given)
        else:
            signature(target).bind("", **given)
            function = partial(target, **given) if given else target
    except TypeError as error:
        raise UnsuitableArgumentsError(f"'{entry.name}' does not take these arguments", why=str(error)) from None
    return TextFunction(entry.name, entry.scope, function)
