"""What is asked about a row: one request of a kind for each inferencer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from msgspec import structs

from proctor.dialects.aisbench.config import CHAT, CLP, GENERATE, LL, PPL, DatasetConfig
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.errors import DataError, MissingFieldError
from proctor.ir import Choose, Converse, Decoding, Generate, Likelihood, Message, Pair, Prompt, Request, Rolling
from proctor.recipes.options import ExamOptions

if TYPE_CHECKING:
    from proctor.dialects.aisbench.exam import DatasetOptions

Row = Mapping[str, Any]
Fits = Callable[[Prompt], bool]
"""Whether a prompt is short enough for the model."""
DEFAULT_MAX_TOKENS = 512
"""Tokens of an answer where neither dataset nor model says: what upstream's models have."""
_GENERATION_NAMES = {"max_new_tokens": "max_tokens", "max_out_len": "max_tokens"}


@dataclass(frozen=True, slots=True)
class AskedRow:
    """A row as requests.

    Attributes:
        text: The question in words, to read.
        requests: What is sent.
        gold: What the output column holds; a list of one per turn for conversations.
        labels: What is compared, in the order of the requests; empty for free answers.
    """

    text: str
    requests: tuple[Request, ...]
    gold: Any
    labels: tuple[Any, ...] = ()


class Questions:
    """Turns rows into requests.

    Args:
        config: The dataset.
        options: What the run changes.
        builder: Makes the prompts.
        fits: Whether a prompt is short enough; its last examples are dropped until it is, as upstream does it.
    """

    def __init__(
        self, config: DatasetConfig, options: DatasetOptions, builder: PromptBuilder, fits: Fits | None = None
    ) -> None:
        self._fits = fits
        self._inferencer = config.inferencer
        self._builder = builder
        self._output: str | None = config.reader.get("output_column")
        self._decoding = decoding_of(config, options)
        self._ask = {GENERATE: self._generate, PPL: self._ppl, LL: self._ll, CLP: self._clp, CHAT: self._chat}[
            config.inferencer.kind
        ]

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels that are compared, for perplexities and likelihoods."""
        return self._inferencer.labels or tuple(self._builder.labels)

    def ask(self, row: Row, demos: Sequence[int], run: int = 0) -> AskedRow:
        """Return what is asked about a row that is shown the examples at ``demos``, for the ``run``-th time."""
        question = self._ask(row, demos)
        return (
            question if not run else replace(question, requests=tuple(_again(each, run) for each in question.requests))
        )

    def _gold(self, row: Row) -> Any:
        return None if self._output is None else row.get(self._output)

    def _generate(self, row: Row, demos: Sequence[int]) -> AskedRow:
        prompt = self._prompt(row, demos)
        limit = row.get("max_out_len")  # a dataset may set it row by row
        decoding = self._decoding(limit if isinstance(limit, int) else None)
        return AskedRow(prompt.text, (Generate(prompt, decoding),), self._gold(row))

    def _prompt(self, row: Row, demos: Sequence[int]) -> Prompt:
        if self._fits is None:
            return self._builder.generate(row, demos)
        return self._builder.shorten(row, demos, self._fits)

    def _ppl(self, row: Row, demos: Sequence[int]) -> AskedRow:
        normalizing = self._inferencer.normalizing
        requests: list[Request] = []
        for label in self.labels:
            if normalizing is None:
                requests.append(Rolling(self._labelled(row, demos, label).text, from_start=False))
                continue
            context, answer = self._builder.split(row, demos, label)
            requests += [Likelihood(Prompt(context), answer), Likelihood(Prompt(normalizing), answer)]
        return AskedRow(_first_text(requests), tuple(requests), self._gold(row), self.labels)

    def _ll(self, row: Row, demos: Sequence[int]) -> AskedRow:
        continuation = row.get("cont")
        if not isinstance(continuation, str):
            raise MissingFieldError("likelihoods are of the column 'cont'", why=f"the row has {', '.join(row)}")
        requests = []
        for label in self.labels:
            prompt = self._labelled(row, demos, label)
            context = prompt.text.removesuffix(continuation)
            requests.append(Likelihood(Prompt(context), continuation))
        return AskedRow(_first_text(requests), tuple(requests), self._gold(row), self.labels)

    def _labelled(self, row: Row, demos: Sequence[int], label: Any) -> Prompt:
        prompt = self._builder.labelled(row, demos, label)
        while demos and self._fits is not None and not self._fits(prompt):
            demos = demos[:-1]
            prompt = self._builder.labelled(row, demos, label)
        if prompt.is_chat:
            raise DataError(
                "likelihoods are of texts, not of chat messages",
                hint="leave --apply-chat-template out, or choose the config that lets the model write (…_gen)",
            )
        return prompt

    def _clp(self, row: Row, demos: Sequence[int]) -> AskedRow:
        choices = row.get("choices")
        if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
            raise MissingFieldError("probabilities are of the column 'choices'", why=f"the row has {', '.join(row)}")
        prompt = self._prompt(row, demos)
        labels = tuple(str(choice) for choice in choices)
        return AskedRow(prompt.text, (Choose(tuple(Pair(prompt, label) for label in labels)),), self._gold(row), labels)

    def _chat(self, row: Row, demos: Sequence[int]) -> AskedRow:
        del demos  # a conversation has none
        messages = self._builder.conversation(row).messages
        turns = [place for place, message in enumerate(messages) if message["role"] == "assistant"]
        if not turns:
            raise DataError("the conversation has no turn for the model", why=f"its roles are {_roles(messages)}")
        decoding, golds = self._decoding(None), [messages[place].get("content") for place in turns]
        text = "\n".join(str(message.get("content")) for message in messages[: turns[-1]])
        if self._inferencer.mode == "every":
            open_turns = tuple(None if place in turns else message for place, message in enumerate(messages))
            return AskedRow(text, (Converse(open_turns[: turns[-1] + 1], decoding),), golds)
        asked = turns if self._inferencer.mode == "every_with_gt" else turns[-1:]
        requests = tuple(Generate(Prompt(messages[:place]), decoding) for place in asked)
        return AskedRow(text, requests, golds[-len(asked) :])


def _again(request: Request, run: int) -> Request:
    """Return a request that is asked once more: with a seed of its own, so that it is another request."""
    if not isinstance(request, Generate | Converse):
        return request
    seed = (request.decoding.seed or 0) + run
    return structs.replace(request, decoding=structs.replace(request.decoding, seed=seed))


def _roles(messages: Sequence[Message]) -> str:
    return ", ".join(dict.fromkeys(str(message["role"]) for message in messages))


def _first_text(requests: Sequence[Request]) -> str:
    first = requests[0]
    return first.text if isinstance(first, Rolling) else first.context.text if isinstance(first, Likelihood) else ""


def decoding_of(config: DatasetConfig, options: DatasetOptions) -> Callable[[int | None], Decoding]:
    """Return a function from a row's own limit of tokens to how the model is to write.

    The row's limit comes first, then the dataset's, then the model's; what the command line says replaces them all.
    """
    own = config.inferencer
    given = {_GENERATION_NAMES.get(key, key): value for key, value in options.decoding.items()}
    if given.pop("do_sample", None) is False:
        given["temperature"] = 0.0
    override = ExamOptions(decoding=given)
    known: dict[int | None, Decoding] = {}

    def decode(limit: int | None) -> Decoding:
        if limit not in known:
            tokens = limit or own.max_out_len or options.max_out_len or DEFAULT_MAX_TOKENS
            base = Decoding(max_tokens=tokens, stop=(*own.stop, *options.stop))
            known[limit] = override.decode(base)
        return known[limit]

    return decode
