"""Prompts of a config: texts and chats, written in it or in files, filled with the variables of a test."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import convert

from proctor.dialects.lm_eval.jinja import field_names, is_template, rendering
from proctor.dialects.lm_eval.sandbox import TaskEnvironment
from proctor.dialects.lm_eval.template_filters import current_budget
from proctor.dialects.promptfoo.reader import CODE, Config
from proctor.dialects.tables.reader import decoded
from proctor.errors import ProctorError, TemplateError
from proctor.ir import Decoding, Message
from proctor.prompts.chat_text import chat_in, is_chat

_FILES: Final = (".txt", ".md", ".json", ".yaml", ".yml", ".j2", ".jsonl", *CODE)
_BETWEEN: Final = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
"""What stands between the prompts of a text file, in a line of its own."""
_LONGEST_NAME = 40  # characters: what a table of results has room for


_AS_USUAL: Final = Decoding()


@dataclass(frozen=True, slots=True)
class PromptText:
    """A prompt.

    Attributes:
        name: What tells its exam from those of the others; empty where it is the only one.
        content: The words; of a chat that is written as data, its messages.
        decoding: How the model writes, as far as the prompt says it; its provider's config comes after it.
    """

    name: str
    content: Any
    decoding: Decoding = _AS_USUAL

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
                if isinstance(found, str) and _MESSAGES.match(found):
                    raise TemplateError("a chat is not JSON once it is filled", hint="{{ name | dump }} writes quotes")
            elif any(around):
                raise TemplateError("a prefix or suffix stands around texts, and this prompt is a chat")
            if is_chat(found):
                return list(map(dict, found))
            return [{"role": "user", "content": found if isinstance(found, str) else _dumped(found)}]

        return ask


_MESSAGES: Final = re.compile(r'\s*\[\s*\{\s*"role"')


def seen(variables: Mapping[str, Any]) -> dict[str, Any]:
    """Return what templates see of variables: texts without the end of their last line."""
    return {name: each.removesuffix("\n") if isinstance(each, str) else each for name, each in variables.items()}


def _printed(value: Any) -> str:
    """Return a value as JavaScript makes a text of it, which Nunjucks prints."""
    if isinstance(value, Mapping):
        return "[object Object]"
    if isinstance(value, list | tuple):
        current_budget().hold(len(value))
        return ",".join(map(_printed, value))
    if value is None or isinstance(value, bool):
        return "" if value is None else str(value).lower()
    return _number(value) if isinstance(value, int | float) else str(value)


_MOST_WRITTEN_OUT: Final = 21
_MOST_ZEROS: Final = 6
"""Digits before the point, and zeros behind it, of a number that JavaScript writes without an exponent."""


def _number(value: float) -> str:
    if not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    before = len(digits) + int(exponent)
    if not value or -_MOST_ZEROS < before <= _MOST_WRITTEN_OUT:
        return f"{Decimal((sign * bool(value), digits, int(exponent))):f}"
    first, *rest = map(str, digits)
    return f"{'-' * sign}{first}{'.' * bool(rest)}{''.join(rest)}e{before - 1:+d}"


def _dumped(value: Any, spaces: int | None = None) -> str:
    """Return a value as JSON, whose numbers are written as JavaScript does: without ``.0``."""
    between = (",", ":" if spaces is None else ": ")
    return json.dumps(_whole(value), ensure_ascii=False, default=str, separators=between, indent=spaces)


def _whole(value: Any) -> Any:
    """Return a value whose whole numbers are written as JavaScript does: without ``.0``."""
    if isinstance(value, Mapping | list):
        return [*map(_whole, value)] if isinstance(value, list) else {key: _whole(each) for key, each in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def filled(value: Any, variables: Mapping[str, Any]) -> Any:
    """Return a value with variables in its texts.

    Raises:
        TemplateError: It names one that there is not, or cannot be read.
    """
    return _rendering(value)(seen(variables))


def _rounded(value: float, precision: int = 0, method: str = "round") -> float:
    """Return a number as JavaScript rounds it: halves go up."""
    factor = 10.0**precision
    way = {"ceil": math.ceil, "floor": math.floor}.get(method, lambda scaled: math.floor(scaled + 0.5))
    return float(way(value * factor) / factor)


class _Nunjucks(TaskEnvironment):
    """The sandbox, with what members of JavaScript's values are called."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return a member; ``length`` is that of texts and lists."""
        is_long = attribute == "length" and isinstance(obj, str | list | tuple)
        return len(obj) if is_long else super().getattr(obj, attribute)


@cache
def _nunjucks() -> TaskEnvironment:
    return _Nunjucks(
        _printed,
        {
            "dump": _dumped,
            "string": _printed,
            "round": _rounded,
            "safe": lambda value: value,
            "reverse": lambda value: value[::-1],
        },
    )


def _names(text: str) -> frozenset[str]:
    return field_names(text, _nunjucks)


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, Mapping | list):
        for each in content.values() if isinstance(content, Mapping) else content:
            yield from _texts(each)


def _rendering(content: Any) -> Callable[[Mapping[str, Any]], Any]:
    """Return the function that fills every text of a content."""
    if isinstance(content, str):
        return rendering(content, _nunjucks) if is_template(content) else lambda _: content
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
    found: list[PromptText] = []
    for number, entry in enumerate(config.list_of("prompts")):
        found += _entry(config, entry, f"$.prompts[{number}]")
    if not found:
        raise config.refuse("the config has no prompt", "$.prompts")
    for each in found:
        for text in _texts(each.content):
            try:
                _names(text)
            except ProctorError as error:
                raise error.within(str(config.file)) from None
    if len(found) == 1:
        return [replace(found[0], name="")]
    return list(_named(found))


def _entry(config: Config, entry: Any, path: str) -> Iterator[PromptText]:
    """Yield the prompts of an entry, by their labels, which may be empty."""
    if isinstance(entry, Mapping):
        config.check(entry, {"id", "label", "raw", "display", "config"}, path)
        label = str(entry.get("label") or entry.get("display") or "")
        text = entry.get("raw", entry.get("id"))
        found = list(_entry(config, text, path))
        decoding = _decoding(config, entry.get("config") or {}, f"{path}.config")
        for each in found:
            yield replace(each, name=label if label and len(found) == 1 else each.name, decoding=decoding)
        return
    if not isinstance(entry, str) or not entry.strip():
        raise config.refuse("a prompt is a text, or a mapping with 'raw' or 'id'", path)
    if entry.startswith(("exec:", "python:")):
        raise config.refuse(f"the prompt '{entry}' is a program", path, why="configs are data here")
    if not entry.startswith("file://") and ("\n" in entry or not entry.endswith(_FILES)):
        yield PromptText("", chat_in(entry))
        return
    for file in config.files(entry, path):
        yield from itertools.starmap(PromptText, _of_file(config, file))


_DECODING: Final = frozenset(("temperature", "max_tokens", "top_p", "stop", "seed"))
_PENALTIES: Final = frozenset(("frequency_penalty", "presence_penalty"))


def _decoding(config: Config, said: Mapping[str, Any], path: str) -> Decoding:
    """Return how a prompt says that it is answered.

    Raises:
        UsageError: It says more than that, or nothing that can be told from the provider's.
    """
    if not isinstance(said, Mapping) or said.keys() - _DECODING - _PENALTIES:
        why = f"of a prompt's config these are: {', '.join(sorted(_DECODING | _PENALTIES))}"
        other = next(iter(said.keys() - _DECODING - _PENALTIES), "") if isinstance(said, Mapping) else said
        raise config.refuse(f"'{other}' is not obeyed", path, why=why, hint="say it in the config of the provider")
    stop = said.get("stop") or ()
    fields = {
        **{name: said[name] for name in _DECODING & said.keys()},
        "stop": (stop,) if isinstance(stop, str) else stop,
    }
    try:
        zero = {"temperature"} if said.get("temperature") == 0 else set()  # said, and not what stands for nothing said
        return convert({**fields, "extra": {name: said[name] for name in (_PENALTIES | zero) & said.keys()}}, Decoding)
    except msgspec.ValidationError as error:
        raise config.refuse("the prompt's config cannot be read", path, why=str(error)) from None


def _of_file(config: Config, file: Path) -> Iterator[tuple[str, Any]]:
    if file.suffix == ".json" and "{%" in (text := decoded(str(file))):
        yield file.stem, chat_in(text)  # JSON once it is filled
    elif file.suffix in (".json", ".yaml", ".yml"):
        yield file.stem, config.content(file)
    elif file.suffix == ".jsonl":
        yield from ((f"{file.stem}-{number}", each) for number, each in enumerate(config.content(file), 1))
    else:
        text = decoded(str(file)).replace("\r\n", "\n")
        texts = [each.strip() for each in (_BETWEEN.split(text) if file.suffix == ".txt" else [text]) if each.strip()]
        for number, each in enumerate(texts, 1):
            yield file.stem + (f"-{number}" if len(texts) > 1 else ""), chat_in(each)


def _named(found: Sequence[PromptText]) -> Iterator[PromptText]:
    taken: set[str] = set()
    for number, each in enumerate(found, 1):
        name = re.sub(r"[^\w.-]+", "-", each.name).strip("-")[:_LONGEST_NAME] or str(number)
        name = name if name not in taken else f"{name}-{number}"
        taken.add(name)
        yield replace(each, name=name)
