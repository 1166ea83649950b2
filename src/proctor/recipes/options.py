"""What a command line or a caller may change about any exam, whichever dialect it is written in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.ir import Decoding


@dataclass(frozen=True, slots=True)
class RecipeOptions:
    """Overrides; ``None`` leaves what the exam says.

    Attributes:
        num_demos: Demos (shots) in each prompt.
        limit: Most instances to ask: a count, or a fraction below 1 of each exam.
        seed: Seed from which every random stream derives.
        apply_chat_template: Lay prompts out as chat messages: for engines that take them as they are, or by the
            tokenizer of ``chat_template_model``.
        chat_template_model: Whose tokenizer's chat template to apply in text.
        meta_template: How the model wants dialogues laid out: the fields of a
            :class:`~proctor.formats.meta_template.MetaTemplate`.
        model_config: The config of the model (``FILE.py::ABBR``), whose limits and stop words hold for exams of the
            same dialect.
        demos_as_turns: With a chat template, show each demo as turns of its own.
        system_prompt: Text that opens every prompt.
        template: Which of an exam's templates to use.
        decoding: Fields of :class:`~proctor.ir.Decoding` to replace.
        include_paths: More folders with exams.
        dialect_options: Whatever only one dialect knows.
    """

    num_demos: int | None = None
    limit: float | None = None
    seed: int | None = None
    apply_chat_template: bool = False
    chat_template_model: str | None = None
    meta_template: Mapping[str, Any] | None = None
    model_config: str | None = None
    demos_as_turns: bool | None = None
    system_prompt: str | None = None
    template: str | None = None
    decoding: Mapping[str, Any] = field(default_factory=dict)
    include_paths: tuple[str, ...] = ()
    dialect_options: Mapping[str, Any] = field(default_factory=dict)

    def decode(self, base: Decoding) -> Decoding:
        """Return ``base`` with the overrides in :attr:`decoding`."""
        if not self.decoding:
            return base
        known = {name: getattr(base, name) for name in base.__struct_fields__}
        extra = {key: value for key, value in self.decoding.items() if key not in known}
        changed = {key: value for key, value in self.decoding.items() if key in known}
        return Decoding(**{**known, **changed, "extra": {**base.extra, **changed.get("extra", {}), **extra}})

    def count(self, total: int | None) -> int | None:
        """Return how many of ``total`` instances to ask, ``None`` for all; a fraction needs to know the total."""
        if self.limit is None:
            return None
        if self.limit >= 1 or total is None:
            return int(self.limit)
        return -int(-total * self.limit // 1)
