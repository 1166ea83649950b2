"""From prompts to token ids: chat templates, and where a context ends and its continuation begins.

The boundary rules are those of lm-evaluation-harness 0.4.13 (``TemplateLM._encode_pair``, ``tok_encode``,
``get_rolling_token_windows``), so that log-likelihoods can be compared with published ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any

from proctor.errors import UsageError
from proctor.ir import Message, Prompt, message_text
from proctor.logs import get_logger

Ids = list[int]
_GAP = re.compile(r"(?<=[A-Za-z])(?= (?:[A-Za-z]|$))")
_PROBE = "A b one of\nthe next (one two) 3 more words\nUpper Case IS hereabouts don't stop: at\n\nB. all of it"
"""Words of several lengths and cases at the beginnings and ends of lines, behind digits and marks."""
_CUT = re.compile(r"\n[^\n]*?[A-Za-z](?= [A-Za-z])")
"""Where texts are cut: behind the first word of each line that another one follows, so that shared lines are shared."""


@dataclass(frozen=True, slots=True)
class Scorable:
    """Tokens to read, and the tokens that the last ``len(targets)`` positions should predict."""

    inputs: tuple[int, ...]
    targets: tuple[int, ...]


class RefusedError(Exception):
    """A request that this model cannot answer; becomes a :class:`~proctor.ir.Failure`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(slots=True)
class Encoder:
    """Turns text into ids for one model.

    Attributes:
        joined: Whether context and continuation are read as one text (causal models).
        add_bos: Whether special tokens are added; ``None`` leaves it to the tokenizer.
        prefix_token: What an empty context is replaced by; BOS, else EOS by default.
    """

    tokenizer: Any
    max_length: int
    joined: bool = True
    add_bos: bool | None = None
    prefix_token: int | None = None
    chat_template: str | None = None
    chat_options: Mapping[str, Any] = field(default_factory=dict)
    _has_seen_tools: bool = False
    _cuts: bool | None = None

    @property
    def prefix(self) -> int:
        """The id that stands for an empty context."""
        for token in (self.prefix_token, self.tokenizer.bos_token_id, self.tokenizer.eos_token_id):
            if token is not None:
                return int(token)
        return int(self.tokenizer.pad_token_id or 0)

    # -- text -------------------------------------------------------------------------------------------------

    def text_of(self, prompt: Prompt, tools: Sequence[Any] | None = None) -> str:
        """Return the string that the model reads: the payload, or its messages in the model's chat template.

        A conversation that ends with an assistant message is continued, not answered.

        Args:
            prompt: What is asked.
            tools: Descriptions of functions, for chat templates that show them.

        Raises:
            RefusedError: There is no chat template, or it does not take these messages.
        """
        if isinstance(prompt.payload, str):
            return prompt.payload
        return self.render_chat([_plain(message) for message in prompt.payload], tools=tools)

    def render_chat(self, messages: list[Message], processor: Any = None, tools: Sequence[Any] | None = None) -> str:
        """Return messages in the model's chat template; without the system message where it takes none."""
        from jinja2.exceptions import TemplateError

        renderer = processor or self.tokenizer
        if not (self.chat_template or renderer.chat_template):
            raise RefusedError("engine", "the prompt is chat messages, and this model has no chat template")
        try:
            return self._apply_template(renderer, messages, tools)
        except TemplateError as error:
            rest = [message for message in messages if message["role"] != "system"]
            if len(rest) == len(messages):
                raise RefusedError("engine", f"the chat template refuses the messages: {error}") from None
        try:
            return self._apply_template(renderer, rest, tools)
        except TemplateError as error:
            raise RefusedError("engine", f"the chat template refuses the messages: {error}") from None

    def _apply_template(self, renderer: Any, messages: list[Message], tools: Sequence[Any] | None) -> str:
        without = None
        if tools and not self._has_seen_tools:
            self._has_seen_tools = True
            without = self._apply_template(renderer, messages, None)
        continued = bool(messages) and messages[-1]["role"] == "assistant"
        options = {**self.chat_options, **({"tools": list(tools)} if tools else {})}
        if (template := self._template(renderer)) is not None:
            options["chat_template"] = template
        rendered = renderer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=not continued, continue_final_message=continued, **options
        )
        if rendered == without:
            get_logger().warning("the model's chat template shows no tools: it is asked without knowing them")
        return str(rendered)

    def _template(self, renderer: Any) -> str | None:
        """Return the chat template to use, or its name among the tokenizer's; ``None`` for the tokenizer's only one."""
        given, own = self.chat_template, renderer.chat_template
        if not given or "{" in given:
            return given or None
        named = own if isinstance(own, Mapping) else {}
        if given in named:
            return given
        if given == "default" and own and not named:
            return None
        known = (
            f"it has {', '.join(map(repr, named))}" if named else "it has one, without a name" if own else "it has none"
        )
        raise UsageError(f"the tokenizer has no chat template '{given}'", why=known)

    # -- ids --------------------------------------------------------------------------------------------------

    def encode_prompts(self, texts: Sequence[str]) -> list[Ids]:
        """Return the ids of prompts to answer; no special tokens where a text already starts with BOS."""
        return self._encode_unless(texts, self.tokenizer.bos_token)

    def encode_pairs(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[Ids, Ids]]:
        """Return the ids of (context, continuation) pairs.

        White space at the end of a context goes to the continuation. Causal models read both as one text, and
        the continuation is what follows the context's own tokens. An empty context is the prefix token.
        """
        moved = [_move_space(context, continuation) for context, continuation in pairs]
        contexts = dict.fromkeys(context for context, _ in moved if context)
        ids_of = dict(zip(contexts, self._encode_unless(list(contexts), self._prefix_text()), strict=True))
        tails = self._encode_tails(moved)
        return [self._split(ids_of.get(context, []), tail) for (context, _), tail in zip(moved, tails, strict=True)]

    def _encode_tails(self, pairs: Sequence[tuple[str, str]]) -> list[Ids]:
        if not self.joined:
            return self._encode([continuation for _, continuation in pairs], special=False)
        alone = [index for index, (context, _) in enumerate(pairs) if not context]
        behind = [index for index, (context, _) in enumerate(pairs) if context]
        tails: list[Ids] = [[] for _ in pairs]
        for index, ids in zip(alone, self._encode([pairs[i][1] for i in alone], special=False), strict=True):
            tails[index] = ids
        whole = self._encode_unless(["".join(pairs[i]) for i in behind], self._prefix_text())
        for index, ids in zip(behind, whole, strict=True):
            tails[index] = ids
        return tails

    def _split(self, context: Ids, tail: Ids) -> tuple[Ids, Ids]:
        if not context:
            return (tail[:1], tail[1:]) if tail[:1] == [self.prefix] else ([self.prefix], tail)
        return context, tail[len(context) :] if self.joined else tail

    def scorable(self, context: Ids, continuation: Ids) -> Scorable:
        """Return the input and the tokens to look up; a context that is too long loses its beginning.

        Raises:
            RefusedError: The continuation has no tokens, or does not fit by itself.
        """
        if not continuation:
            raise RefusedError("engine", "the continuation adds no tokens to its context")
        if (excess := len(continuation) - self.max_length) > 0:
            raise RefusedError(
                "context_too_long", f"the continuation is {excess} tokens longer than the model's {self.max_length}"
            )
        if not self.joined:
            return Scorable(tuple(context[-self.max_length :]), tuple(continuation))
        return Scorable(tuple((context + continuation)[-(self.max_length + 1) : -1]), tuple(continuation))

    def rolling(self, text: str) -> list[Scorable]:
        """Cut a text into windows that together predict every token once.

        The first window predicts from the prefix token; later ones from the token before them, and the last one,
        where it is shorter, from as many tokens as fit.

        Raises:
            RefusedError: The text has no tokens.
        """
        ids = self._tokens_of(text)
        size = self.max_length
        windows = [self._window([self.prefix], ids[:size])]
        for start in range(size, len(ids), size):
            end = min(start + size, len(ids))
            windows.append(self._window(ids[end - size - 1 : start], ids[start:end]))
        return windows

    def continued(self, text: str) -> list[Scorable]:
        """Return the prediction of every token of a text but the first from those before it.

        Raises:
            RefusedError: The text has fewer than two tokens, or more than the model reads at once.
        """
        ids = self._tokens_of(text)
        if not ids[1:]:
            raise RefusedError("engine", "the text has one token, and nothing comes before it")
        if (excess := len(ids) - 1 - self.max_length) > 0:
            raise RefusedError(
                "context_too_long", f"the text is {excess} tokens longer than the model's {self.max_length}"
            )
        return [self._window(ids[:1], ids[1:])]

    def _tokens_of(self, text: str) -> Ids:
        (ids,) = self._encode_unless([text], self._prefix_text())
        if not ids:
            raise RefusedError("engine", "the text has no tokens")
        return ids

    def _window(self, context: Ids, targets: Ids) -> Scorable:
        inputs = context + targets[:-1] if self.joined else context
        return Scorable(tuple(inputs), tuple(targets))

    def _prefix_text(self) -> str | None:
        return str(self.tokenizer.decode([self.prefix])) or None

    def _encode_unless(self, texts: Sequence[str], start: str | None) -> list[Ids]:
        """Encode with the default special tokens, and without them where a text begins with ``start``."""
        begun = [start is not None and text.startswith(start) for text in texts]
        if not any(begun):
            return self._encode(texts, self.add_bos)
        with_special = iter(self._encode([t for t, b in zip(texts, begun, strict=True) if not b], self.add_bos))
        without = iter(self._encode([t for t, b in zip(texts, begun, strict=True) if b], special=False))
        return [next(without) if b else next(with_special) for b in begun]

    def _encode(self, texts: Sequence[str], special: bool | None) -> list[Ids]:
        """Encode pieces of texts, each once; whole texts where that is not proven to give the same."""
        cut = [_CUT.sub("\\g<0>\0", text).split("\0") for text in texts]
        most = max(cut, key=len, default=[])
        if self._cuts is None and most[1:]:
            self._cuts = _keeps_words_apart(self.tokenizer)
        if not (self._cuts and most[1:]) or any("\0" in text for text in texts):
            return self._encode_whole(texts, special)
        distinct = list(dict.fromkeys(chain.from_iterable(cut)))
        ids = dict(zip(distinct, self._encode_whole(distinct, special=False), strict=True))
        bare = list(chain.from_iterable(map(ids.__getitem__, most)))
        [whole] = self._encode_whole(["".join(most)], special)
        start = next((place for place in range(len(whole)) if whole[place : place + len(bare)] == bare), None)
        if start is None:
            self._cuts = False
            return self._encode_whole(texts, special)
        begin, end = whole[:start], whole[start + len(bare) :]
        return [[*begin, *chain.from_iterable(map(ids.__getitem__, pieces)), *end] for pieces in cut]

    def _encode_whole(self, texts: Sequence[str], special: bool | None) -> list[Ids]:
        if not texts:
            return []
        options = {} if special is None else {"add_special_tokens": special}
        encoded = self.tokenizer(list(texts), return_attention_mask=False, verbose=False, **options)
        return [list(ids) for ids in encoded["input_ids"]]


def _keeps_words_apart(tokenizer: Any) -> bool:
    """Whether no token of a tokenizer reaches over a blank between two letters, and none depends on what lies there."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    splitter = getattr(backend, "pre_tokenizer", None)
    if backend is None or splitter is None or getattr(backend.model, "dropout", None):
        return False
    normal = backend.normalizer.normalize_str if backend.normalizer is not None else str
    for each in backend.get_added_tokens_decoder().values():
        ends_in_word = each.rstrip and each.content[-1:].isalpha()
        if ends_in_word or any(map(_GAP.search, (each.content, normal(each.content)))):
            return False
    pieces = [normal(piece) for piece in _GAP.split(_PROBE)]
    parted = {end for _, (_, end) in splitter.pre_tokenize_str("".join(pieces))}
    return normal(_PROBE) == "".join(pieces) and parted.issuperset(accumulate(map(len, pieces)))


def _move_space(context: str, continuation: str) -> tuple[str, str]:
    kept = context.rstrip()
    return kept, context[len(kept) :] + continuation


def _plain(message: Message) -> Message:
    """Return a message whose content is text (templates of text models take nothing else)."""
    content = message.get("content")
    if isinstance(content, list):
        if media := sorted(_media_types(content)):
            raise RefusedError("engine", f"the prompt holds {', '.join(media)}, and this model reads text only")
        return {**message, "content": message_text(message)}
    return message


def _media_types(content: Iterable[Any]) -> set[str]:
    return {str(part.get("type")) for part in content if isinstance(part, dict)} - {"text", "input_text"}
