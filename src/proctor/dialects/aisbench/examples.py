"""In-context examples in words: each is made once, and put together once for rows that are shown the same ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from proctor.demos.retrievers import Retriever
from proctor.dialects.aisbench import origins
from proctor.dialects.aisbench.components import AnyTemplate
from proctor.errors import DemosError, TemplateError
from proctor.formats.dialogue_layout import DialogueLayout, joined
from proctor.ir import Failure
from proctor.templates.prompt_list import PromptList
from proctor.templates.prompt_template import BasePromptTemplate
from proctor.templates.prompt_template import Examples as InWords

Row = Mapping[str, Any]
Chosen = tuple[int, ...]
"""Positions of examples in the index."""
Kind = Literal["none", "text", "dialogue", "messages"]

MOST_KEPT = 4096
"""Values that are kept of one kind; then all of them are made anew. Exams show few different sets of examples, or every
row its own, which are not needed twice."""

_T = TypeVar("_T")


def kept(memo: dict[Any, _T], key: object, make: Callable[[Any], _T]) -> _T:
    """Return the value of a key, made where it is new."""
    try:
        return memo[key]
    except KeyError:
        pass
    if len(memo) >= MOST_KEPT:
        memo.clear()
    value = memo[key] = make(key)
    return value


class Examples:
    """The examples of a dataset.

    Args:
        template: How an example is written.
        retriever: Who chooses them, and what stands between those that are texts.
        rows: The rows that they are made of.
        output_column: The column of the answer.
        layout: The model's meta template.
    """

    def __init__(
        self,
        template: AnyTemplate | None,
        retriever: Retriever,
        rows: Sequence[Row | Failure],
        output_column: str | None,
        layout: DialogueLayout | None,
    ) -> None:
        self.rows, self._template, self._column, self._layout = rows, template, output_column or "", layout
        is_dialogue = template is not None and template.prompt_type == "meta"
        self._separator, self._end = ("", "") if is_dialogue else (retriever.ice_separator, retriever.ice_eos_token)
        self._items: dict[int, Any] = {}
        self._item_texts: dict[int, str] = {}
        self._together: dict[Chosen, InWords] = {}
        self._texts: dict[Chosen, str | None] = {}

    def item(self, position: int) -> Any:
        """Return one example as its template writes it.

        Raises:
            TemplateError: There is no template for examples.
            DemosError: The index has no such row.
        """
        return kept(self._items, position, self._written)

    def _written(self, position: int) -> Any:
        if self._template is None:
            raise TemplateError(
                "there is no ice_template for the examples", path="$.infer_cfg", hint="give one, or use ZeroRetriever"
            )
        if not 0 <= position < len(self.rows):
            raise DemosError(f"there is no example {position}", why=f"the index has {len(self.rows)} rows")
        row = self.rows[position]
        if isinstance(row, Failure):
            raise DemosError(f"the example {position} cannot be used", why=row.message)
        return self._template.generate_ice_item(row, row.get(self._column))

    def together(self, chosen: Chosen) -> InWords:
        """Return examples put together, as the template that asks takes them in."""
        return kept(self._together, chosen, self._joined)

    def _joined(self, chosen: Chosen) -> InWords:
        items = [self.item(position) for position in chosen]
        if items and isinstance(items[0], PromptList):
            made = PromptList()
            for item in items:
                made += item
                made += self._separator
            made.append(self._end)
            return made
        if items and isinstance(items[0], list):
            return [message for item in items for message in item]
        return self._separator.join(items) + self._end

    def kind(self, chosen: Chosen) -> Kind:
        """Return what examples are, put together."""
        examples = self.together(chosen)
        if isinstance(examples, PromptList):
            return "dialogue"
        return "messages" if isinstance(examples, list) else "text" if examples else "none"

    def text(self, chosen: Chosen) -> str | None:
        """Return examples laid out, to be put into a text; ``None`` where they cannot be laid out by themselves."""
        return kept(self._texts, chosen, self._laid_out)

    def _laid_out(self, chosen: Chosen) -> str | None:
        examples = self.together(chosen)
        if isinstance(examples, str):
            return examples
        if not isinstance(examples, PromptList):
            return None
        if self._layout is None:
            starts_empty = examples[1].get("prompt", "") == ""  # then a line break comes first, or none
            return None if starts_empty else "".join(piece for piece, _ in joined(examples))
        texts = [kept(self._item_texts, position, self._item_text) for position in chosen]
        return self._separator.join(texts) + self._separator + self._end

    def _item_text(self, position: int) -> str:
        pieces = [] if self._layout is None else self._layout.text(self.item(position), "gen", whole=False)
        return "".join(piece for piece, _ in pieces)

    def labelled(self, chosen: Chosen) -> list[tuple[str, str]]:
        """Return examples that are texts in pieces, each with its origin."""
        made: list[tuple[str, str]] = []
        template = self._template
        for number, position in enumerate(chosen):
            row = self.rows[position]
            if isinstance(row, Failure):  # it was never shown
                continue
            if number:
                made.append((self._separator, "layout"))
            if isinstance(template, BasePromptTemplate):
                part = str(template.for_label(row.get(self._column)))
                part = part.replace(template.ice_token, "") if template.ice_token else part
                made += origins.example_spans(part, self._column or None, row, number)
        return [*made, (self._end, "layout")]
