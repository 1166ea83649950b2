"""Meta templates: how a model wants dialogues written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL
from proctor.errors import Diagnostic, Location, ProctorError, TemplateError, reason_of
from proctor.foreign_text import parse_json, read_source_text
from proctor.foreign_yaml import parse_yaml
from proctor.formats.dialogue_layout import DialogueLayout, Mode, Piece, Said, content_of, joined, merged
from proctor.formats.format import Format, LayOut, Parts
from proctor.ir import Message, Part, Prompt, Span, Turn, media_in, message_text


def parts_of(content: Any, origin: str) -> Iterator[Part]:
    """Yield the parts of a message: words as spans, pictures, sounds and films as media."""
    if isinstance(content, str):
        if content:
            yield Span(content, origin)
        return
    for part in content:
        if (media := media_in(part, origin)) is not None:
            yield media
        elif text := part.get("text", ""):
            yield Span(str(text), origin)


CHAT_ROLES: Mapping[str, str] = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
"""What the customary roles are called in chat APIs."""


class MetaTemplate(Format):
    r"""Lays a dialogue out by the roles of a model.

    ``MetaTemplate(round=[{"role": "HUMAN", "begin": "Q: "}, {"role": "BOT", "begin": "A: ", "generate": True}])``

    Attributes:
        round: What one round looks like: texts, and roles with ``begin`` and ``end`` (put around what the role says),
            ``prompt`` (said where the dialogue says nothing), ``generate`` (the model's role; a prompt that is to be
            answered stops after its ``begin``) and ``api_role`` (its name in chats).
        begin: What every prompt begins with: a text, or a message for chats.
        end: What every prompt ends with that no answer follows.
        reserved_roles: Roles that are not part of a round, such as ``SYSTEM``.
        eos_token_id: Accepted because configs have it; engines know where answers end.
    """

    has_own_turns: ClassVar[bool] = True

    round: list[str | dict[str, Any]]
    begin: str | dict[str, Any] | list[str] = ""
    end: str | list[str] = ""
    reserved_roles: list[str | dict[str, Any]] = Field(default_factory=list)
    eos_token_id: Annotated[int | list[int] | None, NON_POSITIONAL] = None

    def verify(self) -> None:
        """Check the roles.

        Raises:
            TemplateError: A role has no name, an unknown key or a value that is not text, or comes twice.
        """
        super().verify()
        problems: list[Diagnostic] = []
        seen: set[str] = set()
        for key, items in (("round", self.round), ("reserved_roles", self.reserved_roles)):
            for number, item in enumerate(items):
                if isinstance(item, dict):
                    problems += _check_role(item, f"$.{key}[{number}]", seen)
        if problems:
            raise TemplateError(problems)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Return the meta template that a dictionary of a config describes."""
        return cls(**config)

    @classmethod
    def from_file(cls, path: Path | str) -> Self:
        """Return the meta template of a JSON or YAML file: the dictionary itself, or under ``meta_template``.

        Raises:
            TemplateError: The file cannot be read, or holds something else.
        """
        data = _read(Path(path))
        data = data.get("meta_template", data) if isinstance(data, dict) else data
        if not isinstance(data, dict):
            raise TemplateError("a meta template is a dictionary with 'round'", location=Location(str(path)))
        try:
            return cls(**{key: value for key, value in data.items() if key != "__type__"})
        except ProctorError as error:
            raise error.located(Location(str(path))) from None

    # -- dialogues --------------------------------------------------------------------------------------------

    @property
    def is_chat(self) -> bool:
        """Whether every role of a round has a name for chats."""
        return all("api_role" in item for item in self.round if isinstance(item, dict))

    def compiled(self) -> DialogueLayout:
        """Compile the layout of dialogues; no later change to this artifact reaches it."""
        return DialogueLayout(
            [_plain_role(item) for item in self.round],
            [_plain_role(item) for item in self.reserved_roles],
            _text(self.begin),
            _text(self.end),
        )

    def to_text(self, dialogue: str | Sequence[Any], mode: Mode = "gen") -> str:
        """Return a dialogue as one text; a text is returned as it is."""
        if isinstance(dialogue, str):
            return dialogue
        return str(content_of([piece for piece, _ in self.compiled().text(dialogue, mode)]))

    def to_messages(self, dialogue: str | Sequence[Any], mode: Mode = "gen") -> list[Message]:
        """Return a dialogue as messages with the roles' ``api_role``; a text is one user message."""
        if isinstance(dialogue, str):
            return [{"role": "user", "content": dialogue}]
        said = merged(self.compiled().messages(dialogue, mode))
        return [{"role": str(each.role), "content": each.content} for each in said]

    def text_of(self, messages: Sequence[Message], *, generate: bool = True) -> str:
        """Return chat messages (``user``, ``assistant``, ``system``) as one text.

        Args:
            messages: What has been said.
            generate: Whether an answer is to follow: the text then ends where the model is to go on, which is in the
                middle of the last message where that is its own.
        """
        asks, answers = self._speakers()
        begun = ""
        said = list(messages)
        if generate and said and said[-1]["role"] == "assistant":
            begun = message_text(said.pop())
        names = {"user": asks, "assistant": answers, "system": "SYSTEM"}
        items = [
            {"role": names.get(each["role"], each["role"]), "fallback_role": asks, "prompt": message_text(each)}
            for each in said
        ]
        first = next((place for place, item in enumerate(items) if item["role"] != "SYSTEM"), len(items))
        if generate:
            items.append({"role": answers, "prompt": ""})
        dialogue = [*_section("begin", items[:first]), *_section("round", items[first:])]
        return self.to_text(dialogue, "gen" if generate else "ppl") + begun

    # -- prompts of recipes -----------------------------------------------------------------------------------

    def layout(self) -> LayOut:
        """Return the function that lays out prompts of recipes: messages where roles have names for chats."""
        return _RecipeLayout(self.compiled(), self.is_chat, self._speakers()).lay_out

    def _speakers(self) -> tuple[str, str]:
        """Return the roles that ask and that answer."""
        roles = [item for item in self.round if isinstance(item, dict)]
        names = [item["role"] for item in roles]
        answers = next((item["role"] for item in roles if item.get("generate")), "BOT")
        asks = "HUMAN" if "HUMAN" in names else next((name for name in names if name != answers), "HUMAN")
        return asks, answers


CHAT = DialogueLayout(
    [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
    [{"role": "SYSTEM", "api_role": "SYSTEM"}],
)
"""How chats are laid out where a model says nothing about it."""


def chat_role(role: str) -> str:
    """Return the name of a role in chat APIs."""
    return CHAT_ROLES.get(role, role)


class _RecipeLayout:
    """The prompts of a recipe by a compiled meta template."""

    def __init__(self, dialogue: DialogueLayout, is_chat: bool, speakers: tuple[str, str]) -> None:
        self._dialogue, self._is_chat = dialogue, is_chat
        self._asks, self._answers = speakers

    def lay_out(self, parts: Parts) -> Prompt:
        """Lay out one prompt."""
        items = [item for item, _ in self._items(parts)]
        if self._is_chat:
            said = merged(self._dialogue.messages(items, "gen"))
            return Prompt(
                [{"role": chat_role(str(each.role)), "content": each.content} for each in said],
                lambda: self._explain_messages(parts),
            )
        text = str(content_of([piece for piece, _ in self._dialogue.text(items, "gen")])) + parts.target_prefix
        return Prompt(text, lambda: self._explain_text(parts))

    def _items(self, parts: Parts) -> Iterator[tuple[Any, str]]:
        """Yield the items of the dialogue with their origin."""
        opening = "\n".join(text for text in (parts.system_prompt, parts.instruction) if text)
        if opening:
            yield {"section": "begin", "pos": "begin"}, ""
            message = {"role": "SYSTEM", "fallback_role": self._asks, "prompt": opening}
            yield message, "system" if parts.system_prompt else "instruction"
            yield {"section": "begin", "pos": "end"}, ""
        for number, demo in enumerate(parts.demos):
            yield {"section": "ice", "pos": "begin"}, ""
            yield from self._asked(demo.source, demo.turns, f"demo[{number}].question")
            answer = {"role": self._answers, "prompt": demo.target_prefix + demo.target}
            yield answer, f"demo[{number}].answer"
            yield {"section": "ice", "pos": "end"}, ""
        yield {"section": "round", "pos": "begin"}, ""
        yield from self._asked(parts.source, parts.turns, "question")
        yield {"role": self._answers, "prompt": ""}, "answer_prefix"
        yield {"section": "round", "pos": "end"}, ""

    def _asked(self, source: str, turns: Sequence[Mapping[str, Any]] | None, origin: str) -> Iterator[tuple[Any, str]]:
        if turns is None:
            yield {"role": self._asks, "prompt": source}, origin
            return
        names = {"user": self._asks, "assistant": self._answers, "system": "SYSTEM"}
        for turn in turns:
            role = names.get(str(turn["role"]), str(turn["role"]))
            content = turn.get("content")
            words = content if isinstance(content, (str, list)) else message_text(dict(turn))
            yield {"role": role, "fallback_role": self._asks, "prompt": words}, origin

    def _explain_text(self, parts: Parts) -> tuple[Turn, ...]:
        labelled = list(self._items(parts))
        pieces = self._dialogue.text([item for item, _ in labelled], "gen")
        spans = [*spans_of(pieces, [origin for _, origin in labelled]), Span(parts.target_prefix, "answer_prefix")]
        return (Turn("user", tuple(span for span in spans if span.text)),)

    def _explain_messages(self, parts: Parts) -> tuple[Turn, ...]:
        labelled = list(self._items(parts))
        said = merged(self._dialogue.messages([item for item, _ in labelled], "gen"))
        return turns_of(said, [origin for _, origin in labelled])


def _section(name: str, items: Sequence[Any]) -> list[Any]:
    return [{"section": name, "pos": "begin"}, *items, {"section": name, "pos": "end"}]


def spans_of(pieces: Sequence[Piece], origins: Sequence[str]) -> list[Span]:
    """Return pieces as labelled spans; what the meta template adds is ``layout``."""
    return [
        Span(text, origins[place] if place >= 0 else "layout")
        for text, place in pieces
        if isinstance(text, str) and text
    ]


def turns_of(messages: Sequence[Said], origins: Sequence[str]) -> tuple[Turn, ...]:
    """Return messages as labelled turns, media included."""
    made = []
    for message in messages:
        found = [
            part
            for content, place in message.pieces
            for part in parts_of(content, origins[place] if place >= 0 else "layout")
        ]
        made.append(Turn(chat_role(str(message.role)), tuple(found)))
    return tuple(made)


def without_meta_template(dialogue: str | Sequence[Any]) -> Any:
    """Return a dialogue for a model without meta template: a text, or the parts of what is not only text."""
    return dialogue if isinstance(dialogue, str) else content_of([piece for piece, _ in joined(dialogue)])


def _check_role(item: Mapping[str, Any], path: str, seen: set[str]) -> Iterator[Diagnostic]:
    name = item.get("role")
    if not isinstance(name, str):
        yield Diagnostic("a role of a meta template needs a 'role'", path=path, why=f"it is {dict(item)!r}"[:200])
        return
    if name in seen:
        yield Diagnostic(f"the role '{name}' comes twice", path=path, hint="every role has one place")
    seen.add(name)
    if not isinstance(item.get("generate", False), bool):
        why = f"it is {item['generate']!r}"[:200]
        yield Diagnostic("'generate' of a role is True or False", path=f"{path}.generate", why=why)
    for key in ("begin", "end"):
        value = item.get(key, "")
        if not isinstance(value, str) and not (
            isinstance(value, list) and all(isinstance(each, str) for each in value)
        ):
            yield Diagnostic(
                f"'{key}' of a role has to be a text",
                path=f"{path}.{key}",
                why=f"it is {value!r}; numbers of tokens mean nothing outside one tokenizer"[:200],
                hint="write the words of the tokens",
            )


def _plain_role(item: str | dict[str, Any]) -> str | dict[str, Any]:
    if isinstance(item, str):
        return item
    return {**item, **{key: _text(item[key]) for key in ("begin", "end") if key in item}}


def _text(value: Any) -> Any:
    return "".join(value) if isinstance(value, list) else value


def _read(path: Path) -> Any:
    import yaml

    place = Location(str(path))
    try:
        text = read_source_text(path)
        return parse_json(text) if path.suffix == ".json" else parse_yaml(text)
    except OSError as error:
        raise TemplateError("the meta template cannot be read", location=place, why=reason_of(error)) from None
    except ProctorError:
        raise
    except (ValueError, yaml.YAMLError) as error:
        raise TemplateError("the meta template is neither JSON nor YAML", location=place, why=str(error)) from None
