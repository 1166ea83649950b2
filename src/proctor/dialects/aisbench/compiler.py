"""From a template to compiled prompts, for the columns that rows have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.dialects.aisbench.examples import Kind
from proctor.dialects.aisbench.prompt_frames import (
    ChatFrame,
    TextFrame,
    Token,
    in_place_of,
    is_literal,
    only_slots,
    tokens_of,
)
from proctor.errors import Location, TemplateError
from proctor.formats.dialogue_layout import HOLE, DialogueLayout, Hole, Mode, Said, joined, merged
from proctor.formats.meta_template import chat_role
from proctor.templates.prompt_list import PromptList
from proctor.templates.prompt_template import Examples as InWords
from proctor.templates.prompt_template import PromptTemplate

Columns = Mapping[str, str | None]
"""The columns of rows; a text instead of ``None`` is what a column is masked with."""


@dataclass(frozen=True, slots=True)
class Compiler:
    """Compiles one template.

    Attributes:
        template: The template that asks.
        layout: The model's meta template.
        place: Where the config is, for errors.
    """

    template: PromptTemplate
    layout: DialogueLayout | None
    place: Location | None = None

    def part(self, mode: Mode, label: object) -> Any:
        """Return the part of the template that a prompt is made of."""
        return self.template.for_generation() if mode == "gen" else self.template.for_label(label)

    def text(self, columns: Columns, kind: Kind, mode: Mode, label: object) -> TextFrame:
        """Return a prompt that is one text, with holes for its examples."""
        part = self.part(mode, label)
        if isinstance(part, str):
            return TextFrame(self._tokens(part, columns, kind), columns)
        items, texts = self._pattern(part, columns, kind)
        if self.layout is not None:
            return TextFrame(in_place_of(self.layout.text(items, mode), texts), columns)
        may_be_empty = [column for tokens in texts for column in only_slots(tokens)]
        return TextFrame(in_place_of(joined(items), texts), columns, may_be_empty)

    def chat(
        self, layout: DialogueLayout, columns: Columns, kind: Kind, examples: InWords, mode: Mode, label: object
    ) -> ChatFrame:
        """Return a prompt of messages, its examples among them.

        Raises:
            TemplateError: The examples have no place among messages.
        """
        part = self.part(mode, label)
        if isinstance(part, str):
            return ChatFrame([("user", _with(examples, self._tokens(part, columns, kind)))], columns)
        items, texts = self._pattern(part, columns, kind)
        if any(isinstance(item, str) and _has_hole(tokens) for item, tokens in zip(items, texts, strict=True)):
            self._refuse_text(kind, examples)
        said: list[Said] = []
        for message in layout.messages(items, mode):
            if message.role is None and isinstance(examples, PromptList):
                laid_out = layout.messages(examples, mode, whole=False)
                said += [Said(each.role, [(piece, -1) for piece, _ in each.pieces]) for each in laid_out]
            else:
                said.append(message)
        messages = [(chat_role(str(each.role)), in_place_of(each.pieces, texts)) for each in merged(said)]
        return ChatFrame([(role, _with(examples, tokens)) for role, tokens in messages], columns)

    def _refuse_text(self, kind: Kind, examples: InWords) -> None:
        if kind == "text" and str(examples).strip():
            raise TemplateError(
                "the examples are a text between messages, which a chat has no place for",
                location=self.place,
                path="$.infer_cfg.ice_template",
                hint="write the ice_template as a dialogue with 'round'",
            )

    def _tokens(self, text: str, columns: Columns, kind: Kind) -> list[Token]:
        token = self.template.ice_token
        if token and kind == "none":
            text = text.replace(token, "")
        if token and kind == "dialogue" and token in text:
            raise TemplateError(
                "the examples are messages, but the prompt is a text",
                location=self.place,
                path="$.infer_cfg.prompt_template.template",
                hint="let ice_template and prompt_template be of one kind",
            )
        return tokens_of(text, columns, token)

    def _pattern(self, part: Any, columns: Columns, kind: Kind) -> tuple[PromptList, list[list[Token]]]:
        """Return a dialogue that is laid out as all others will be, and the tokens of each of its items."""
        items = PromptList(self.template.encode(part, ice=False))
        if self.template.ice_token and kind == "dialogue":
            items = items.replace(self.template.ice_token, PromptList([HOLE]))
        texts: list[list[Token]] = []
        for place, item in enumerate(items):
            words = item if isinstance(item, str) else item.get("prompt", "")
            tokens: list[Token] = [item] if isinstance(item, Hole) else self._tokens(words, columns, kind)
            texts.append(tokens)
            if words and is_literal(tokens):  # which shows whether it is empty
                literal = "".join(tokens)
                items[place] = literal if isinstance(item, str) else {**item, "prompt": literal}
        return items, texts


def _has_hole(tokens: Iterable[Token]) -> bool:
    return any(isinstance(token, Hole) for token in tokens)


def _with(examples: InWords, tokens: Sequence[Token]) -> list[Token]:
    """Return tokens with examples that are a text in their place."""
    return [str(examples) if isinstance(token, Hole) else token for token in tokens]
