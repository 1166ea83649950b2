"""Thinking effort in the words of chat templates."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.engines.chat_templates import template_options
from proctor.errors import UsageError

SWITCH = "{% if enable_thinking %}<think>{% endif %}"
EFFORT = "Reasoning: {{ reasoning_effort }}"


@pytest.mark.parametrize(
    "template, level, options",
    [
        (SWITCH, None, {}),
        (SWITCH, "off", {"enable_thinking": False}),
        (SWITCH, "on", {"enable_thinking": True}),
        ("{% if thinking %}", "off", {"thinking": False}),
        ({"default": "plain", "tools": SWITCH}, "on", {"enable_thinking": True}),
        (EFFORT, "high", {"reasoning_effort": "high"}),
        (SWITCH + EFFORT, "low", {"enable_thinking": True, "reasoning_effort": "low"}),
        (SWITCH + EFFORT, "off", {"enable_thinking": False}),
    ],
)
def test_a_level_is_said_as_the_template_knows_it(template: Any, level: str | None, options: dict[str, Any]) -> None:
    assert template_options(template, level, "m") == options


@pytest.mark.parametrize(
    "template, level, why",
    [
        (None, "on", "it names none of enable_thinking, thinking, reasoning_effort"),
        ("{{ message.thinking }} {{ 'thinking' }}", "off", "it names none of"),
        (SWITCH, "high", "it knows off, on"),
        (EFFORT, "off", "it knows low, medium, high"),
        (EFFORT, "on", "it knows low, medium, high"),
    ],
)
def test_a_level_that_the_template_cannot_say_is_refused_with_what_it_can(template: Any, level: str, why: str) -> None:
    with pytest.raises(UsageError, match=f"'m' has no way to say thinking={level}(.|\n)*{why}"):
        template_options(template, level, "m")
