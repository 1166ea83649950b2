"""Templates for questions with pictures, sounds and films.

A row holds its content as one text with tags::

    <AIS_TEXT_START>What is this?<AIS_CONTENT_TAG><AIS_IMAGE_START>cat.jpg<AIS_CONTENT_TAG>

The template says what becomes of each kind of content, in ``prompt_mm``.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping
from typing import Any

from proctor.data.media_types import USUAL, media_type
from proctor.errors import Diagnostic, TemplateError, did_you_mean
from proctor.templates.prompt_list import PromptList, fill
from proctor.templates.prompt_template import BasePromptTemplate, Examples, Intermediate, masked, replaced

AIS_TEXT_START = "<AIS_TEXT_START>"
AIS_IMAGE_START = "<AIS_IMAGE_START>"
AIS_VIDEO_START = "<AIS_VIDEO_START>"
AIS_AUDIO_START = "<AIS_AUDIO_START>"
AIS_CONTENT_TAG = "<AIS_CONTENT_TAG>"

STARTS: Mapping[str, str] = {
    "text": AIS_TEXT_START,
    "image": AIS_IMAGE_START,
    "video": AIS_VIDEO_START,
    "audio": AIS_AUDIO_START,
}
COLUMNS = ("content", "question")
"""Where rows keep content with tags."""

_IMAGE_SUBTYPES = frozenset({"jpeg", "jpg", "png", "gif", "webp", "bmp", "tiff", "svg+xml"})
_URL = re.compile(r"data:|[a-zA-Z][a-zA-Z0-9+.-]*://")
_BASE64_PREFIX = re.compile(r"data:([^;,]*);base64,")


class MMPromptTemplate(BasePromptTemplate):
    """A dialogue whose messages hold text, pictures, sounds and films.

    The content comes from the row's column ``question`` or ``content``, the one that has tags. Content that is a URL
    stays as it is; a path goes into a ``file://`` prefix only where it is absolute (others make no URL); base64 goes
    into the template's data URL.
    """

    def generate_item(
        self,
        entry: Mapping[str, Any],
        output_field: str | None = None,
        output_field_replace_token: str = "",
        ice_field_replace_token: Examples = "",
    ) -> Intermediate:
        """Return the dialogue with typed parts under ``prompt``.

        Raises:
            TemplateError: The row has no content with tags, a tag is not closed, or the template lacks a kind.
        """
        prompt = self.encode(self.template, ice=False)
        if isinstance(prompt, str):
            raise TemplateError("a multimodal template is a dialogue with 'prompt_mm'", path="$.template")
        if self.ice_token is not None:
            prompt = replaced(prompt, self.ice_token, ice_field_replace_token)
        column, fields = content_column(entry), masked(entry, output_field, output_field_replace_token)
        contents = list(contents_of(str(entry[column]), column))
        made = PromptList()
        for item in prompt:
            if isinstance(item, dict) and "prompt_mm" in item:
                rest = {key: value for key, value in item.items() if key != "prompt_mm"}
                made.append({**rest, "prompt": _parts(item["prompt_mm"], contents, fields)})
            else:
                made.extend(PromptList([item]).format(**fields))
        return made


def content_column(entry: Mapping[str, Any]) -> str:
    """Return the column that holds content with tags.

    Raises:
        TemplateError: No column does.
    """
    for name in COLUMNS:
        if any(start in str(entry.get(name, "")) for start in STARTS.values()):
            return name
    raise TemplateError(
        f"a multimodal row needs content with tags such as {AIS_TEXT_START}…{AIS_CONTENT_TAG}",
        path="$.question",
        why=f"the row has {', '.join(entry) or 'no columns'}; neither 'question' nor 'content' has a tag",
    )


def contents_of(text: str, column: str = "question") -> Iterator[tuple[str, str]]:
    """Yield kind and content of every tagged part, in order.

    Raises:
        TemplateError: A tag is not closed, or there are words outside of tags.
    """
    parts = text.split(AIS_CONTENT_TAG)
    for number, part in enumerate(map(str.lstrip, parts)):
        kind = next((name for name, start in STARTS.items() if part.startswith(start)), None)
        if number == len(parts) - 1 and kind is not None:
            raise TemplateError(
                f"the tag {STARTS[kind]} is not closed",
                path=f"$.{column}",
                why=f"after it come {part[len(STARTS[kind]) :][:60]!r}, and no {AIS_CONTENT_TAG}",
                hint=f"end each content with {AIS_CONTENT_TAG}",
            )
        if kind is not None:
            content = part[len(STARTS[kind]) :]
            nested = next((start for start in STARTS.values() if start in content), None)
            if nested is not None:
                raise TemplateError(
                    f"the tag {STARTS[kind]} is not closed before {nested}",
                    path=f"$.{column}",
                    hint=f"end each content with {AIS_CONTENT_TAG}",
                )
            yield kind, content
        elif part:
            raise TemplateError(
                "there are words outside of the content tags",
                path=f"$.{column}",
                why=f"they are {part[:60]!r}",
                hint=f"put them between {AIS_TEXT_START} and {AIS_CONTENT_TAG}",
            )


def _parts(shape: Any, contents: list[tuple[str, str]], fields: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not isinstance(shape, Mapping):
        raise TemplateError("'prompt_mm' has to be a dict", path="$.template.round", why=f"it is {shape!r}"[:200])
    parts = []
    for kind, content in contents:
        if kind not in shape:
            raise TemplateError(
                f"the template says nothing about content of the kind '{kind}'",
                path="$.template.round.prompt_mm",
                why=f"it has {', '.join(map(str, shape))}",
                hint=did_you_mean(kind, map(str, shape)),
            )
        parts.append(_part(kind, shape[kind], content, fields))
    return parts


def _part(kind: str, shape: Mapping[str, Any], content: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    key = "text" if kind == "text" else f"{kind}_url"
    own = "question" if kind == "text" else kind
    pattern = shape.get(key)
    inner = pattern.get("url") if isinstance(pattern, Mapping) else pattern
    if not isinstance(inner, str):
        raise TemplateError(
            f"the template of '{kind}' needs '{key}'",
            path="$.template.round.prompt_mm",
            why=f"it is {dict(shape)!r}"[:200],
        )
    others = {name: value for name, value in fields.items() if name != own}
    words = fill(inner, others)
    words = words.replace("{question}", content) if kind == "text" else _location(kind, words, content)
    return {**shape, key: {**pattern, "url": words} if isinstance(pattern, Mapping) else words}


def _location(kind: str, pattern: str, content: str) -> str:
    """Return where the content is found; see :class:`MMPromptTemplate`."""
    slot = f"{{{kind}}}"
    head, found, tail = pattern.partition(slot)
    if not found:
        return pattern
    if _URL.match(content) and _URL.match(head):
        return content
    if head == "file://" and not content.startswith("/"):
        return content + tail
    if (match := _BASE64_PREFIX.fullmatch(head)) is not None:
        head = f"data:{_media_type(kind, match[1], content)};base64,"
    return f"{head}{content}{tail}"


def _media_type(kind: str, given: str, content: str) -> str:
    """Return the template's media type where it is one of this kind; else that of the bytes, else the customary one."""
    top, _, subtype = given.partition("/")
    if top == kind and (kind == "image" or subtype not in _IMAGE_SUBTYPES):
        return given
    return media_type(kind, content)


def check_base64(prompt: PromptList) -> None:
    """Check that every data URL of a dialogue decodes.

    Raises:
        TemplateError: One or more do not; every one is named.
    """
    problems = []
    for place, item in enumerate(prompt):
        content = item.get("prompt") if isinstance(item, dict) else None
        for number, part in enumerate(content if isinstance(content, list) else ()):
            for kind in USUAL:
                source = part.get(f"{kind}_url")
                url = str(source.get("url") if isinstance(source, Mapping) else source)
                match = _BASE64_PREFIX.match(url)
                if match and (why := _undecodable(url[match.end() :])):
                    what = f"the base64 data of '{kind}' does not decode"
                    problems.append(Diagnostic(what, path=f"$[{place}].prompt[{number}]", why=why))
    if problems:
        raise TemplateError(problems)


def _undecodable(data: str) -> str:
    try:
        base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        return f"{error}; it starts with {data[:40]!r}"
    return ""
