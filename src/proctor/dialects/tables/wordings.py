"""Several prompts of one table: each makes an exam of its own, so that they are compared on the same rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from proctor.dialects.tables.reader import decoded
from proctor.errors import Location, UsageError
from proctor.prompts.chat_text import chat_in

_BETWEEN: Final = re.compile(r"^-{3,}[ \t]*$", re.MULTILINE)
"""What stands between the prompts of a file, in a line of its own."""
_DOUBLE: Final = re.compile(r"\{\{\s*([^{}]+?)\s*\}\}")


@dataclass(frozen=True, slots=True)
class Wording:
    """A way to ask the rows of a table.

    Attributes:
        name: What tells its exam from those of the other wordings; empty where it is the only one.
        prompt: How to ask; ``None`` where a column says it. Of a chat, the words of all messages.
        chat: The roles and the words of its messages, where it is a chat.
    """

    name: str
    prompt: str | None
    chat: tuple[tuple[str, str], ...] = ()


def wordings_of(given: Mapping[str, Any], columns: Sequence[str]) -> list[Wording]:
    """Return the ways to ask that a user names: ``prompt``, several times, and ``prompts``, files of them.

    Args:
        given: What the user says of the table.
        columns: The columns of the table; in files they may stand in double braces, too.

    Raises:
        UsageError: A file is not there, or is empty.
    """
    typed = given.get("prompt") or ()
    found = [Wording("", each) for each in ((typed,) if isinstance(typed, str) else typed)]
    files = given.get("prompts") or ()
    for file in (files,) if isinstance(files, str) else files:
        found += _of_file(file, columns)
    if len(found) <= 1:
        return [replace(found[0], name="")] if found else [Wording("", None)]
    return list(_named(found))


def texts_of(file: str) -> Iterator[tuple[str, str]]:
    """Yield the texts of a file, which have a line of ``---`` between them, each with a name.

    Raises:
        UsageError: The file is not there, or is empty.
    """
    if not Path(file).is_file():
        raise UsageError(f"there is no file of prompts {file}", hint="--prompt takes the words themselves")
    texts = [each.strip("\r\n") for each in _BETWEEN.split(decoded(file).replace("\r\n", "\n"))]
    texts = [each for each in texts if each.strip()]
    if not texts:
        raise UsageError("the file has no prompt", location=Location(file))
    for number, text in enumerate(texts, 1):
        yield Path(file).stem + (f"-{number}" if len(texts) > 1 else ""), text


def _of_file(file: str, columns: Sequence[str]) -> Iterator[Wording]:
    for name, text in texts_of(file):
        if isinstance(chat := chat_in(text, "role|content"), str):
            yield Wording(name, _single(text, columns))
            continue
        if any(not isinstance(each["content"], str) for each in chat):
            raise UsageError(
                f"a message of the prompt '{name}' is not text", location=Location(file), hint="name columns in braces"
            )
        said = tuple((str(each["role"]), _single(each["content"], columns)) for each in chat)
        yield Wording(name, "\n".join(words for _, words in said), said)


def _single(text: str, columns: Sequence[str]) -> str:
    return _DOUBLE.sub(lambda each: _column(each, columns), text)


def _column(found: re.Match[str], columns: Sequence[str]) -> str:
    return f"{{{found[1]}}}" if found[1] in columns else found[0]


def _named(wordings: Sequence[Wording]) -> Iterator[Wording]:
    """Yield wordings with names that tell them apart; those without a name are counted."""
    seen: Counter[str] = Counter()
    for number, each in enumerate(wordings, 1):
        name = each.name or str(number)
        seen[name] += 1
        yield replace(each, name=name if seen[name] == 1 else f"{name}-{seen[name]}")
