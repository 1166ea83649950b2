"""Chat templates: whether a model has one, as the files beside its weights say, and what it takes about thinking."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from proctor.errors import UsageError
from proctor.settings import model_folder

_FILES = ("chat_template.jinja", "chat_template.json")
_CONFIG = "tokenizer_config.json"


def has_chat_template(model: str, revision: str | None = None) -> bool:
    """Return whether the folder of a model, or its files in the cache of the hub, have a chat template.

    Args:
        model: A folder, or an id of the hub.
        revision: Of the hub's model.
    """
    place = model_folder(model)
    if place is not None:
        folder = Path(place)
        return any((folder / each).is_file() for each in _FILES) or _says_one(folder / _CONFIG)
    from huggingface_hub import try_to_load_from_cache

    try:
        found = {name: try_to_load_from_cache(model, name, revision=revision) for name in (*_FILES, _CONFIG)}
    except ValueError:  # neither a folder nor an id: who loads it says so
        return False
    return any(isinstance(found[each], str) for each in _FILES) or (
        isinstance(found[_CONFIG], str) and _says_one(Path(found[_CONFIG]))
    )


def _says_one(config: Path) -> bool:
    try:
        return '"chat_template"' in config.read_text(encoding="utf-8", errors="replace")
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
