"""Meta templates of OpenCompass and AISBench as parsers: they lay dialogues out as one text, or as messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import TemplateError
from proctor.formats.dialogue_layout import Mode
from proctor.formats.meta_template import MetaTemplate, without_meta_template
from proctor.templates import PromptList

MODES: Mapping[str, Mode] = {"gen": "gen", "ppl": "ppl"}


class _TemplateParser:
    """A meta template, or none."""

    def __init__(self, meta_template: Any = None) -> None:
        self.meta_template = meta_template
        is_dialogue = isinstance(meta_template, Mapping) and meta_template
        self._layout = MetaTemplate.from_config(meta_template) if is_dialogue else None

    @property
    def roles(self) -> dict[str, dict[str, Any]]:
        """The roles of the meta template by name."""
        if self._layout is None:
            return {}
        items = [*self._layout.round, *self._layout.reserved_roles]
        return {item["role"]: dict(item) for item in items if isinstance(item, dict)}

    @staticmethod
    def _checked(mode: str) -> Mode:
        if mode in MODES:
            return MODES[mode]
        raise TemplateError(f"there is no mode '{mode}'", hint="choose gen or ppl")


class LMTemplateParser(_TemplateParser):
    """Makes texts of dialogues."""

    def parse_template(self, prompt_template: Any, mode: str) -> Any:
        """Return a dialogue as one text; a list or tuple of prompts one by one."""
        if isinstance(prompt_template, (list, tuple)) and not isinstance(prompt_template, PromptList):
            return [self.parse_template(each, mode) for each in prompt_template]
        checked = self._checked(mode)
        if self._layout is None:
            return without_meta_template(_with_media(prompt_template))
        return self._layout.to_text(_with_media(prompt_template), checked)


class APITemplateParser(_TemplateParser):
    """Makes messages of dialogues: dicts with ``role`` and ``prompt``."""

    def parse_template(self, prompt_template: Any, mode: str) -> Any:
        """Return a dialogue as messages; chat messages as they are; a list or tuple of prompts one by one."""
        if isinstance(prompt_template, list) and prompt_template and all(map(_is_chat_message, prompt_template)):
            lead = self.meta_template if isinstance(self.meta_template, list) else []
            return led_by(lead, [dict(each) for each in prompt_template])
        if isinstance(prompt_template, (list, tuple)) and not isinstance(prompt_template, PromptList):
            return [self.parse_template(each, mode) for each in prompt_template]
        checked = self._checked(mode)
        if isinstance(prompt_template, str):
            return prompt_template
        dialogue = _with_media(prompt_template)
        if self._layout is None:
            return without_meta_template(dialogue)
        messages = self._layout.to_messages(dialogue, checked)
        return PromptList({"role": each["role"], "prompt": each["content"]} for each in messages)


def _is_chat_message(item: Any) -> bool:
    return isinstance(item, Mapping) and "role" in item and "content" in item


def _with_media(dialogue: Any) -> Any:
    """Return a dialogue whose media stand under ``prompt``, where we have them."""
    if isinstance(dialogue, str):
        return dialogue
    return PromptList(
        {**{key: value for key, value in item.items() if key != "prompt_mm"}, "prompt": item["prompt_mm"]}
        if isinstance(item, Mapping) and "prompt_mm" in item
        else item
        for item in dialogue
    )


def led_by(lead: Sequence[Mapping[str, Any]], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages with others put before those of their role, or, where there are none, in between."""
    made: list[dict[str, Any]] = []
    rest = list(messages)
    for each in lead:
        while rest and rest[0]["role"] != each["role"] and any(later["role"] == each["role"] for later in rest):
            made.append(rest.pop(0))
        if rest and rest[0]["role"] == each["role"]:
            first = rest.pop(0)
            made.append({**first, "content": each["content"] + first["content"]})
        else:
            made.append(dict(each))
    return [*made, *rest]
