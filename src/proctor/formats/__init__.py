"""Formats: prompts laid out for a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.formats.chat import ChatAPIFormat
    from proctor.formats.format import Demo, Format, Parts
    from proctor.formats.meta_template import MetaTemplate
    from proctor.formats.newline import apply_newline_notation
    from proctor.formats.system import SystemFormat
    from proctor.formats.system_prompts import EmptySystemPrompt, SystemPrompt, TextualSystemPrompt
    from proctor.formats.tokenizer import GraniteDocumentsFormat, HFSystemFormat

_HOMES = {
    "chat": ("ChatAPIFormat",),
    "format": (
        "Demo",
        "Format",
        "Parts",
    ),
    "meta_template": ("MetaTemplate",),
    "newline": ("apply_newline_notation",),
    "system": ("SystemFormat",),
    "system_prompts": (
        "EmptySystemPrompt",
        "SystemPrompt",
        "TextualSystemPrompt",
    ),
    "tokenizer": (
        "GraniteDocumentsFormat",
        "HFSystemFormat",
    ),
}

__all__ = [
    "ChatAPIFormat",
    "Demo",
    "EmptySystemPrompt",
    "Format",
    "GraniteDocumentsFormat",
    "HFSystemFormat",
    "MetaTemplate",
    "Parts",
    "SystemFormat",
    "SystemPrompt",
    "TextualSystemPrompt",
    "apply_newline_notation",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
