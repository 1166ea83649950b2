"""Lays a dialogue out by a meta template, as one text or as messages.

A dialogue is a list of texts, messages (``role``, ``prompt``, perhaps ``fallback_role``) and section markers. What is
laid out keeps, for every piece, the place of the item it came from; -1 stands for what the meta template adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from proctor.errors import TemplateError, did_you_mean
from proctor.logs import get_logger

Mode = Literal["gen", "ppl"]
"""Whether an answer is to follow (``gen``) or is part of the prompt (``ppl``)."""

LAYOUT = -1  # instead of a place: the words come from the layout itself, not from an item
Piece = tuple[Any, int]
"""A text (or the parts of a multimodal message) and the place of the item it came from."""


@dataclass(slots=True)
class Said:
    """One message and what it is made of. A message with a ``None`` role holds a place for others."""

    role: str | None
    pieces: list[Piece] = field(default_factory=list)

    @property
    def content(self) -> Any:
        """The words, or the parts of a message that does not only hold words."""
        return content_of([piece for piece, _ in self.pieces])


def content_of(contents: Sequence[Any]) -> Any:
    """Return texts joined, or, where some are lists of parts, one list of parts."""
    if all(isinstance(each, str) for each in contents):
        return "".join(contents)
    parts: list[Any] = []
    for each in contents:
        if not isinstance(each, str):
            parts.extend(each)
        elif each:
            parts.append({"type": "text", "text": each})
    return parts


class Hole(str):
    """Holds a place in a dialogue for examples that are laid out by themselves."""

    __slots__ = ()


HOLE = Hole("")


class DialogueLayout:
    """A compiled meta template.

    Args:
        round: What one round looks like: texts and roles.
        reserved: Roles that are not part of a round.
        begin: What every prompt begins with.
        end: What every prompt ends with that no answer follows.
    """

    def __init__(
        self,
        round: Sequence[Any],  # noqa: A002 - the name in every config
        reserved: Sequence[Any] = (),
        begin: Any = "",
        end: Any = "",
    ) -> None:
        self._round = list(round)
        self._roles = {item["role"]: dict(item) for item in [*round, *reserved] if isinstance(item, dict)}
        self._place = {item["role"]: place for place, item in enumerate(round) if isinstance(item, dict)}
        self._begin, self._end = begin, end

    # -- one text ---------------------------------------------------------------------------------------------

    def text(self, items: Sequence[Any], mode: Mode, *, whole: bool = True) -> list[Piece]:
        """Return the pieces of a prompt that is one text; without its frame where it is not the ``whole``."""
        pieces: list[Piece] = []
        if whole and self._begin:
            pieces.append((self._plain(self._begin, "begin"), LAYOUT))
        goes_on = True
        for section, content in _sections(items):
            if section in ("round", "ice"):
                goes_on = self._rounds(content, pieces, stops=mode == "gen" and section == "round")
            else:
                pieces += self._outside(content)
            if not goes_on:
                break
        if whole and goes_on and self._end:
            pieces.append((self._plain(self._end, "end"), LAYOUT))
        return pieces

    def _outside(self, content: Sequence[tuple[int, Any]]) -> Iterator[Piece]:
        for place, item in content:
            if isinstance(item, str):
                yield item, place
            else:
                yield from self._say({**self._role_of(item), **item}, place)

    def _rounds(self, content: Sequence[tuple[int, Any]], pieces: list[Piece], *, stops: bool) -> bool:
        """Add rounds; return whether anything may follow."""
        rounds = self._cut(content)
        for number, said in enumerate(rounds):
            last = number == len(rounds) - 1
            for role, spoken, place in self._render(said, last=last):
                if role is None:
                    pieces.append((spoken, place))
                    continue
                if stops and last and role.get("generate"):
                    pieces.append((role.get("begin", ""), LAYOUT))
                    return False
                pieces += self._say(role, place)
        return True

    @staticmethod
    def _say(role: Mapping[str, Any], place: int) -> Iterator[Piece]:
        for key in ("begin", "prompt", "end"):
            if value := role.get(key):
                yield value, place if key == "prompt" else LAYOUT

    @staticmethod
    def _plain(value: Any, name: str) -> str:
        if isinstance(value, str):
            return value
        raise TemplateError(
            f"'{name}' of a meta template for texts has to be a text", path=f"$.{name}", why=f"it is {value!r}"[:200]
        )

    # -- messages ---------------------------------------------------------------------------------------------

    def messages(self, items: Sequence[Any], mode: Mode, *, whole: bool = True) -> list[Said]:
        """Return the messages of a prompt, not merged; a hole in the dialogue becomes a message without role."""
        made: list[Said] = []
        if whole and self._begin:
            made.append(self._opening_message())
        for section, content in _sections(items):
            if section not in ("round", "ice"):
                made += self._messages_outside(content)
            elif not self._message_rounds(content, made, stops=mode == "gen" and section == "round"):
                break
        return made

    def _opening_message(self) -> Said:
        begin = self._begin
        if not isinstance(begin, Mapping) or "role" not in begin:
            raise TemplateError(
                "'begin' of a meta template for chats has to be a message",
                path="$.begin",
                why=f"it is {begin!r}"[:200],
                hint="write {'role': 'SYSTEM', 'prompt': …}",
            )
        role = {**self._roles.get(begin["role"], {}), **begin}
        return Said(role.get("api_role", begin["role"]), [(role.get("prompt", ""), LAYOUT)])

    def _messages_outside(self, content: Sequence[tuple[int, Any]]) -> Iterator[Said]:
        for place, item in content:
            if isinstance(item, Hole):
                yield Said(None)
            elif isinstance(item, str):
                _warn_of_lost_text(item)
            else:
                yield self._message({**self._role_of(item), **item}, place)

    def _message_rounds(self, content: Sequence[tuple[int, Any]], made: list[Said], *, stops: bool) -> bool:
        rounds = self._cut(content)
        for number, said in enumerate(rounds):
            last = number == len(rounds) - 1
            for role, spoken, place in self._render(said, last=last):
                if role is None:
                    _warn_of_lost_text(spoken)
                elif stops and last and role.get("generate"):
                    return False
                elif "prompt" in role:
                    made.append(self._message(role, place))
        return True

    def _message(self, role: Mapping[str, Any], place: int) -> Said:
        known = self._roles.get(role["role"]) or self._roles.get(role.get("fallback_role") or "") or role
        is_text = isinstance(role.get("prompt", ""), str)  # media are sent as they are
        pieces = list(self._say(role, place)) if is_text else [(role["prompt"], place)]
        return Said(role.get("api_role") or known.get("api_role") or known["role"], pieces)

    # -- rounds and roles -------------------------------------------------------------------------------------

    def _role_of(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """Return the meta template's role for a message: its own, or its fallback.

        Raises:
            TemplateError: There is neither.
        """
        name, fallback = item["role"], item.get("fallback_role")
        found = self._roles.get(name) or self._roles.get(fallback or "")
        if found is None:
            raise TemplateError(
                f"the meta template has no role '{name}'" + (f" and no role '{fallback}'" if fallback else ""),
                why=f"its roles are {', '.join(self._roles)}",
                hint=did_you_mean(name, self._roles)
                or "add the role to 'reserved_roles', or give the message a fallback_role",
            )
        return found

    def _place_in_round(self, item: Mapping[str, Any], following: Any) -> int | None:
        """Return which part of the round a message speaks; ``None`` for one that stands by itself.

        A role that the meta template lacks speaks for its fallback, unless that is the next to speak.
        """
        self._role_of(item)
        name, fallback = item["role"], item.get("fallback_role")
        if name in self._roles:
            return self._place.get(name)
        return None if following is not None and following["role"] == fallback else self._place.get(fallback or "")

    def _cut(self, content: Sequence[tuple[int, Any]]) -> list[list[tuple[int, Any, int | None]]]:
        """Cut a dialogue into rounds: one begins where a role comes again, or one that speaks before the last."""
        rounds: list[list[tuple[int, Any, int | None]]] = [[]]
        latest = -1
        following = [item for _, item in content[1:]] + [None]
        for (place, item), after in zip(content, following, strict=True):
            where = self._place_in_round(item, after)
            if where is not None:
                if where <= latest:
                    rounds.append([])
                latest = where
            elif latest >= 0:  # who stands alone speaks between rounds
                rounds.append([])
                latest = -1
            rounds[-1].append((place, item, where))
        return rounds

    def _render(
        self, said: Sequence[tuple[int, Any, int | None]], *, last: bool
    ) -> Iterator[tuple[dict[str, Any] | None, str, int]]:
        """Yield what a round says: roles with what they say, and texts of the meta template (role ``None``)."""
        spoken: dict[int, tuple[int, Any]] = {}
        for place, item, where in said:
            if where is not None:
                spoken[where] = place, item
            else:
                yield {**self._role_of(item), **item}, "", place
        if said and not spoken and not last:
            return
        for where, pattern in enumerate(self._round):
            if isinstance(pattern, str):
                yield None, pattern, LAYOUT
            elif where in spoken:
                place, item = spoken[where]
                yield {**pattern, **item}, "", place
            else:
                yield dict(pattern), "", LAYOUT


def _sections(items: Sequence[Any]) -> Iterator[tuple[str, list[tuple[int, Any]]]]:
    """Yield the sections of a dialogue: ``round`` and ``ice`` whole, everything else, and all texts, item by item."""
    stack: list[str] = []
    content: list[tuple[int, Any]] = []
    for place, item in enumerate(items):
        if isinstance(item, str):
            yield "", [(place, item)]
        elif "section" not in item:
            if not stack:
                raise TemplateError("a message of a prompt stands outside all sections", path=f"$[{place}]")
            if stack[-1] in _WHOLE:
                content.append((place, item))
            else:
                yield stack[-1], [(place, item)]
        elif item["pos"] == "begin":
            if stack and stack[-1] in _WHOLE:
                raise TemplateError(
                    f"the section '{item['section']}' begins inside '{stack[-1]}'",
                    path=f"$[{place}]",
                    hint="put the ice token into 'begin', not into 'round'",
                )
            stack.append(item["section"])
            content = []
        elif not stack or stack.pop() != item["section"]:
            raise TemplateError(
                f"the section '{item['section']}' of a prompt ends, but did not begin", path=f"$[{place}]"
            )
        elif item["section"] in _WHOLE:
            yield item["section"], content


_WHOLE = ("round", "ice")  # sections that are laid out as a whole


def joined(items: Sequence[Any]) -> list[Piece]:
    """Return the pieces of a prompt without meta template: what is not empty, on lines of its own."""
    pieces: list[Piece] = []
    break_line = False
    for place, item in enumerate(items):
        if isinstance(item, dict) and set(item) == {"section", "pos"}:
            continue
        words = item if isinstance(item, str) else item.get("prompt", "")
        if words or isinstance(item, Hole):
            if break_line and isinstance(words, str):
                pieces.append(("\n", LAYOUT))
            pieces.append((words, place))
        break_line = True
    return pieces


def merged(messages: Sequence[Said]) -> list[Said]:
    """Return messages in which neighbours of one role are one, on lines of their own."""
    made: list[Said] = []
    for message in messages:
        if made and made[-1].role == message.role:
            last = made[-1]
            words = isinstance(last.content, str) and isinstance(message.content, str)
            made[-1] = Said(last.role, [*last.pieces, *([("\n", LAYOUT)] if words else []), *message.pieces])
        else:
            made.append(message)
    return made


@lru_cache(maxsize=256)  # once for each text
def _warn_of_lost_text(text: str) -> None:
    if text.strip():
        get_logger().warning("a text without a role has no place in a chat and is left out: %r", text[:80])
