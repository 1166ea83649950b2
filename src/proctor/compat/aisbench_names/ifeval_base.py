"""What IFEval's instructions derive from (``ais_bench.benchmark.datasets.ifeval.instructions``)."""

from __future__ import annotations

from typing import Any


class Instruction:
    """Base of instructions.

    Args:
        instruction_id: What the program calls it.
    """

    def __init__(self, instruction_id: str) -> None:
        self.id = instruction_id

    def build_description(self, **kwargs: Any) -> str:
        """Set the arguments; return what a model is told."""
        raise NotImplementedError(f"{type(self).__name__} needs a method 'build_description' for {kwargs}")

    def get_instruction_args(self) -> dict[str, Any] | None:
        """Return the arguments that were set; ``None`` of an instruction without any."""
        raise NotImplementedError(f"{type(self).__name__} needs a method 'get_instruction_args'")

    def get_instruction_args_keys(self) -> list[str]:
        """Return the names of the arguments."""
        raise NotImplementedError(f"{type(self).__name__} needs a method 'get_instruction_args_keys'")

    def check_following(self, value: str) -> bool:
        """Return whether an answer follows it."""
        raise NotImplementedError(f"{type(self).__name__} needs a method 'check_following' for {value[:40]!r}")
