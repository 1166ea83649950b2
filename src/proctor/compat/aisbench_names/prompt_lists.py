"""AISBench's prompts between template and model (``ais_bench.benchmark.utils.prompt.prompt``), with its errors."""

from __future__ import annotations

import copy
import json
from typing import Any

from proctor.compat.aisbench_names.failures import failure
from proctor.errors import TemplateError
from proctor.templates import PromptList as CorePromptList
from proctor.templates.multimodal import AIS_CONTENT_TAG, STARTS
from proctor.templates.prompt_list import fill

_TEXT_FIELD = "question"
"""What stands for a text in ``prompt_mm``; pictures, films and sounds stand for themselves."""


class _AnyList(type):
    """Lists that the core makes are of the class, too."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, CorePromptList)


class PromptList(CorePromptList, metaclass=_AnyList):
    """A dialogue that is not laid out yet."""

    def format(self, /, **fields: Any) -> PromptList:
        """Return a list whose texts and prompts are filled."""
        return PromptList(super().format(**fields))

    def format_mm(self, /, **fields: Any) -> PromptList:
        """Return a list whose ``prompt_mm`` hold the parts of ``content``, in its order, and whose texts are filled.

        Raises:
            KeyError: There is no ``content``, or a message has no place for a kind of it.
        """
        made = PromptList()
        for item in self:
            if isinstance(item, str):
                made.append(fill(item, fields))
            elif "prompt_mm" in item:
                made.append({**copy.deepcopy(item), "prompt_mm": _parts(item["prompt_mm"], fields["content"])})
            else:
                made.append(copy.deepcopy(item))
        return made

    def replace(self, src: str, dst: str | list[Any]) -> PromptList:
        """Return a list in which ``src`` is replaced by a text, or, in items that are texts, by other items.

        Raises:
            AISBenchTypeError: ``src`` is inside a message, and is to be replaced by messages.
        """
        try:
            return PromptList(super().replace(src, dst))
        except TemplateError as error:
            raise failure("AISBenchTypeError", "UTILS_CODES", "INVALID_TYPE", str(error)) from error

    def __add__(self, other: Any) -> PromptList:
        """Return both; a text becomes one more item, nothing adds nothing."""
        return PromptList(super().__add__(other))

    def __radd__(self, other: Any) -> PromptList:
        """Return both, the other one first."""
        return PromptList(super().__radd__(other))

    def __str__(self) -> str:
        """Return all words in one text, prompts of messages as JSON: what upstream counts tokens of.

        Raises:
            AISBenchTypeError: An item is neither a text nor a message.
        """
        return "".join(map(_words, self))


def _words(item: Any) -> str:
    if isinstance(item, str):
        return item
    if isinstance(item, dict):
        return json.dumps(item["prompt"]) if "prompt" in item else ""
    what = f"a prompt holds texts and messages, not a {type(item).__name__}"
    raise failure("AISBenchTypeError", "UTILS_CODES", "INVALID_TYPE", what)


def _parts(wanted: Any, content: str) -> list[Any]:
    """Return the parts of a content with tags, each as a message wants its kind."""
    found = []
    for piece in content.split(AIS_CONTENT_TAG):
        kind = next((name for name, start in STARTS.items() if piece.startswith(start)), None)
        if kind is None:
            continue
        part, said = copy.deepcopy(wanted[kind]), piece.replace(STARTS[kind], "")
        field = {_TEXT_FIELD if kind == "text" else kind: said}
        holder, key = (part, "text") if kind == "text" else (part, f"{kind}_url")
        if isinstance(holder[key], dict):
            holder, key = holder[key], "url"
        holder[key] = fill(holder[key], field)
        found.append(part)
    return found
