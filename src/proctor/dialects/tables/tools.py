"""Tools of a table: a column with the functions that a model may call, and answers that are calls of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from proctor.errors import DataError
from proctor.foreign_text import parse_json
from proctor.ir import Generate, Prompt
from proctor.ir.question import Ask, Question
from proctor.recipes.exam_parts import Asker, Context, Demos, Kind
from proctor.recipes.selection import Opened, Row


@dataclass(frozen=True)
class ToolsAsker:
    """An asker that offers each row's tools.

    Attributes:
        base: What asks.
        column: Where the tools are; a row without any is asked without.
    """

    base: Asker
    column: str

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of requests."""
        return self.base.kinds

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return a function from a row and its demos to a question."""
        make = self.base.compile(opened, context)

        def question(ask: Ask, row: Row, demos: Demos) -> Question:
            made, tools = make(ask, row, demos), tools_of(row.get(self.column), self.column)
            return structs.replace(made, requests=tuple(_offered(each, tools) for each in made.requests))

        return question


def _offered(request: Any, tools: list[Mapping[str, Any]]) -> Any:
    if not tools or not isinstance(request, Generate):
        return request
    decoding, prompt = request.decoding, request.prompt
    if not prompt.is_chat:  # only chats have a place for tools
        prompt = Prompt([{"role": "user", "content": prompt.text}])
    return structs.replace(
        request, prompt=prompt, decoding=structs.replace(decoding, extra={**decoding.extra, "tools": tools})
    )


def tools_of(cell: object, column: str) -> list[Mapping[str, Any]]:
    """Return the functions of a cell in OpenAI's form: a list, or JSON text of one, of functions or of tools.

    Raises:
        DataError: It is none.
    """
    if not cell or (isinstance(cell, str) and cell.strip() in ("", "[]")):
        return []
    try:
        value: Any = parse_json(cell) if isinstance(cell, str) else cell
    except ValueError:
        value = None
    entries = [each for each in value or () if isinstance(each, Mapping)] if isinstance(value, list | tuple) else []
    made = [{"type": "function", "function": each} if "name" in each else each for each in entries]
    if not made or len(made) < len(value) or not all("name" in (each.get("function") or ()) for each in made):
        raise DataError(
            f"the column '{column}' has no list of functions in this row",
            why=f"it has {str(cell)[:80]!r}",
            hint='write [{"name": …, "description": …, "parameters": {…}}], or rename the column',
        )
    return made
