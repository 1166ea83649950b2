"""Prompts of a config: texts and chats, written in it or in files, filled with the variables of a test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from proctor.dialects.lm_eval.jinja import compile_text, field_names, is_template
from proctor.dialects.promptfoo.reader import CODE, Config
from proctor.dialects.tables.reader import decoded
from proctor.errors import ProctorError, TemplateError
from proctor.ir import Message
from proctor.prompts.chat_text import chat_in, is_chat

_FILES: Final = (".txt", ".md", ".json", ".yaml", ".yml", ".j2", ".jsonl", *CODE)
_BETWEEN: Final = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
"""What stands between the prompts of a text file, in a line of its own."""
_PRINTED: Final = re.compile(r"\{\{(-?)\s*([A-Za-z_]\w*)\s*(\|\s*tojson\s*)?(-?)\}\}")
"""A variable that is printed as it is, or as JSON."""
_DUMP: Final = re.compile(r"\|\s*dump\b(?:\(\))?")
"""What is called ``tojson`` elsewhere."""
_SHOWN, _DUMPED = "shown__", "dumped__"
_LONGEST_NAME = 40  # characters: what a table of results has room for


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt.

    Attributes:
        name: What tells its exam from those of the others; empty where it is the only one.
        content: The words; of a chat that is written as data, its messages.
    """

    name: str
    content: Any

    def names(self) -> frozenset[str]:
        """Return the variables that it takes."""
        return frozenset().union(*map(_names, _texts(self.content)))

    def compiled(self) -> Callable[[Mapping[str, Any]], list[Message]]:
        """Return the function from variables to what is asked, as messages."""
        render = _rendering(self.content)

        def ask(variables: Mapping[str, Any]) -> list[Message]:
            try:
                found = render(seen(variables))
            except ProctorError as error:
                names = ", ".join(name for name in variables if not name.startswith("__"))
                raise TemplateError(error.diagnostics[0].what, why=f"variables are {names}") from None
            around = [str(variables.get(each, "")) for each in ("__prefix", "__suffix")]
            if isinstance(found, str):
                found = chat_in(found.join(around))
            elif any(around):
                raise TemplateError("a prefix or suffix stands around texts, and this prompt is a chat")
            if is_chat(found):
                return list(map(dict, found))
            return [{"role": "user", "content": found if isinstance(found, str) else _dumped(found)}]

        return ask


def seen(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return what templates see of variables: as they are, and each as it is printed and as JSON."""
    shown = {name: each if isinstance(each, str) else _dumped(each) for name, each in variables.items()}
    return {**variables, _SHOWN: shown, _DUMPED: {name: _dumped(each) for name, each in variables.items()}}


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def filled(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return a value with variables in its texts.

    Raises:
        TemplateError: It names one that there is not, or cannot be read.
    """
    return _rendering(value)(seen(variables))


def _ours(text: str) -> str:
    """Return a template that prints variables as promptfoo does: lists as JSON, ``true`` and no ``True``."""
    names = _names(text)

    def printed(found: re.Match[str]) -> str:
        opening, name, dumped, closing = found.groups()
        if name not in names:  # of a loop
            return found[0]
        return f"{{{{{opening} {_DUMPED if dumped else _SHOWN}.{name} {closing}}}}}"

    return _PRINTED.sub(printed, _DUMP.sub("| tojson", text))


def _names(text: str) -> frozenset[str]:
    return field_names(_DUMP.sub("| tojson", text))


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping | list):
        for each in content.values() if isinstance(content, Mapping) else content:
            yield from _texts(each)


def _rendering(content: Any) -> Callable[[Mapping[str, Any]], Any]:
    """Return the function that fills every text of a content."""
    if isinstance(content, str):
        return compile_text(_ours(content)) if is_template(content) else lambda _: content
    if isinstance(content, list):
        entries = [_rendering(each) for each in content]
        return lambda row: [each(row) for each in entries]
    if isinstance(content, Mapping):
        values = {key: _rendering(each) for key, each in content.items()}
        return lambda row: {key: each(row) for key, each in values.items()}
    return lambda _: content


# -- where they stand -------------------------------------------------------------------------------------------------


def prompts_of(config: Config) -> list[PromptText]:
    """Return the prompts of a config, each with a name of its own.

    Raises:
        ProctorError: There is none, or one cannot be read.
    """
    found: list[tuple[str, Any]] = []
    for number, entry in enumerate(config.list_of("prompts")):
        found += _entry(config, entry, f"$.prompts[{number}]")
    if not found:
        raise config.refuse("the config has no prompt", "$.prompts")
    for _, content in found:
        for text in _texts(content):
            try:
                _names(text)
            except ProctorError as error:
                raise error.within(str(config.file)) from None
    if len(found) == 1:
        return [PromptText("", found[0][1])]
    return list(_named(found))


def _entry(config: Config, entry: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield the label of each prompt of an entry, which may be empty, and its content."""
    if isinstance(entry, Mapping):
        config.check(entry, {"id", "label", "raw", "display"}, path)
        label = str(entry.get("label") or entry.get("display") or "")
        text = entry.get("raw", entry.get("id"))
        found = list(_entry(config, text, path))
        yield from ((label if label and len(found) == 1 else own, content) for own, content in found)
        return
    if not isinstance(entry, str) or not entry.strip():
        raise config.refuse("a prompt is a text, or a mapping with 'raw' or 'id'", path)
    if entry.startswith(("exec:", "python:")):
        raise config.refuse(f"the prompt '{entry}' is a program", path, why="configs are data here")
    if not entry.startswith("file://") and ("\n" in entry or not entry.endswith(_FILES)):
        yield "", chat_in(entry)
        return
    for file in config.files(entry, path):
        yield from _of_file(config, file)


def _of_file(config: Config, file: Path) -> Iterator[tuple[str, Any]]:
    if file.suffix in (".json", ".yaml", ".yml"):
        yield file.stem, config.content(file)
    elif file.suffix == ".jsonl":
        yield from ((f"{file.stem}-{number}", each) for number, each in enumerate(config.content(file), 1))
    else:
        text = decoded(str(file)).replace("\r\n", "\n")
        texts = [each.strip() for each in (_BETWEEN.split(text) if file.suffix == ".txt" else [text]) if each.strip()]
        for number, each in enumerate(texts, 1):
            yield file.stem + (f"-{number}" if len(texts) > 1 else ""), chat_in(each)


def _named(found: Sequence[tuple[str, Any]]) -> Iterator[PromptText]:
    taken: set[str] = set()
    for number, (label, content) in enumerate(found, 1):
        name = re.sub(r"[^\w.-]+", "-", label).strip("-")[:_LONGEST_NAME] or str(number)
        name = name if name not in taken else f"{name}-{number}"
        taken.add(name)
        yield PromptText(name, content)
