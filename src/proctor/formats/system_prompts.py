"""System prompts: task-independent text that opens every prompt."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Any

from proctor.artifacts import NON_POSITIONAL
from proctor.data.operator import InstanceOperator


class SystemPrompt(InstanceOperator):
    """Base of all system prompts; instances that bring one along keep it."""

    skip_rendered_instance: Annotated[bool, NON_POSITIONAL] = True

    @abstractmethod
    def get_system_prompt(self, instance: dict[str, Any]) -> str:
        """Return the text for an instance."""

    def process(self, instance: dict[str, Any], stream_name: str | None = None) -> dict[str, Any]:
        """Return the instance with ``system_prompt``."""
        del stream_name
        if self.skip_rendered_instance and "system_prompt" in instance:
            return instance
        return {**instance, "system_prompt": self.get_system_prompt(instance)}


class TextualSystemPrompt(SystemPrompt):
    """The same text for every instance."""

    text: str

    def get_system_prompt(self, instance: dict[str, Any]) -> str:
        """Return the text."""
        del instance
        return self.text


class EmptySystemPrompt(SystemPrompt):
    """No system prompt."""

    def get_system_prompt(self, instance: dict[str, Any]) -> str:
        """Return the empty string."""
        del instance
        return ""
