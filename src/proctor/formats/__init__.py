"""Formats: prompts laid out for a model."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "chat": "ChatAPIFormat",
    "format": "EmptySystemPrompt SystemPrompt TextualSystemPrompt Demo Format Parts",
    "meta_template": "MetaTemplate",
    "newline": "apply_newline_notation",
    "system": "SystemFormat",
    "tokenizer": "GraniteDocumentsFormat HFSystemFormat",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
