"""Formats: prompts laid out for a model."""

from proctor.formats.chat import ChatAPIFormat
from proctor.formats.format import Demo, Format, Parts
from proctor.formats.meta_template import MetaTemplate
from proctor.formats.newline import apply_newline_notation
from proctor.formats.system import SystemFormat
from proctor.formats.system_prompts import EmptySystemPrompt, SystemPrompt, TextualSystemPrompt
from proctor.formats.tokenizer import GraniteDocumentsFormat, HFSystemFormat

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
