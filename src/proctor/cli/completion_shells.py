"""Shell quirks of completion that click's scripts lose: ``--tasks=NAME`` and ``group::member``.

bash breaks words at ``=`` and ``:`` and replaces what stands behind the last break; zsh and fish replace the whole
word, the name of the option included. Importing this module tells click about the three.
"""

from __future__ import annotations

import os
from typing import Any

from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
    split_arg_string,
)


@add_completion_class
class WholeWordsInBash(BashComplete):
    """Completion in bash, of words as they were typed."""

    source_template = BashComplete.source_template.replace(
        "COMP_CWORD=$COMP_CWORD",
        'COMP_CWORD=$COMP_CWORD COMP_LINE="${COMP_LINE:0:COMP_POINT}" COMP_WORDBREAKS="$COMP_WORDBREAKS"',
    )
    _kept = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is being typed, and that one."""
        line = os.environ.get("COMP_LINE")
        if line is None:
            return super().get_completion_args()
        words = split_arg_string(line)
        if line[-1:].isspace():
            words.append("")
        incomplete = words[-1] if words[1:] else ""
        value = incomplete.partition("=")[2] if incomplete.startswith("--") else incomplete
        last_break = max(value.rfind(each) for each in os.environ.get("COMP_WORDBREAKS") or " ")
        self._kept = value[: last_break + 1]
        return words[1:-1], incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return a completion without what bash leaves as it is."""
        return f"{item.type},{str(item.value).removeprefix(self._kept)}"


class _WithOption:
    """Completions that begin with the name of their option, where that is part of the word."""

    _option = ""

    def get_completion_args(self) -> tuple[list[str], str]:
        """Return the words before the one that is being typed, and that one."""
        arguments, incomplete = super().get_completion_args()  # type: ignore[misc]
        name, equals, _ = incomplete.partition("=")
        self._option = name + equals if equals and name.startswith("--") else ""
        return arguments, incomplete

    def format_completion(self, item: CompletionItem[Any]) -> str:
        """Return a completion of the whole word."""
        if item.type == "plain":
            item = CompletionItem(self._option + str(item.value), item.type, item.help)
        return str(super().format_completion(item))  # type: ignore[misc]


@add_completion_class
class WholeWordsInZsh(_WithOption, ZshComplete):
    """Completion in zsh, of words as they were typed."""


@add_completion_class
class WholeWordsInFish(_WithOption, FishComplete):
    """Completion in fish, of words as they were typed; lists of exams and sentences have commas of their own."""

    source_template = FishComplete.source_template.replace("string split", "string split --max 1")
