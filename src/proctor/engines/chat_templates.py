"""Chat templates: whether a model has one, as the files beside its weights say, and what it takes about thinking."""

from __future__ import annotations

import re
from typing import Any

from proctor.engines.model_files import TOKENIZER_CONFIG, model_file
from proctor.errors import UsageError

_FILES = ("chat_template.jinja", "chat_template.json")


def has_chat_template(model: str, revision: str | None = None) -> bool:
    """Return whether the folder of a model, or its files in the cache of the hub, have a chat template.

    Args:
        model: A folder, or an id of the hub.
        revision: Of the hub's model.
    """
    if any(model_file(model, each, revision) for each in _FILES):
        return True
    config = model_file(model, TOKENIZER_CONFIG, revision)
    try:
        return config is not None and '"chat_template"' in config.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


_SWITCHES = ("enable_thinking", "thinking")
"""Variables of chat templates that turn thinking on and off: Qwen, GLM, SmolLM3, Hunyuan; DeepSeek, Granite, Kimi."""
_EFFORT = "reasoning_effort"
"""The variable that says how hard to think: gpt-oss, and those who follow it."""


def template_options(template: object, level: str | None, label: str) -> dict[str, Any]:
    """Return the options of a chat template for a thinking effort.

    Args:
        template: Its text, or several by name; nothing where the model has none.
        level: How hard to think; ``None`` says nothing.
        label: What people call the model.

    Raises:
        UsageError: The template knows no variable for it.
    """
    if level is None:
        return {}
    text = "\n".join(map(str, template.values())) if isinstance(template, dict) else str(template or "")
    switch = next((name for name in _SWITCHES if re.search(rf"(?<![\w.'\"]){name}(?![\w'\"])", text)), None)
    has_effort = re.search(rf"\b{_EFFORT}\b", text) is not None
    switched: dict[str, Any] = {} if switch is None else {switch: level != "off"}
    if level in ("off", "on") and switched:
        return switched
    if level not in ("off", "on") and has_effort:
        return {**switched, _EFFORT: level}
    known = [*(("off", "on") if switch else ()), *(("low", "medium", "high") if has_effort else ())]
    raise UsageError(
        f"the chat template of '{label}' has no way to say thinking={level}",
        why=f"it knows {', '.join(known)}" if known else f"it names none of {', '.join((*_SWITCHES, _EFFORT))}",
        hint=f"--thinking {'|'.join(known)}" if known else "leave --thinking out; --thinking-tokens works alone",
    )
