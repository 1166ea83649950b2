"""Requests for a row of a dataset: one kind for each inferencer, with the demos that its prompt shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.datasets.reader import OPTIONAL, columns_of
from proctor.dialects.aisbench.function_calls import asked_in_words, asked_with_tools
from proctor.dialects.aisbench.inferencers import CALL, CHAT, CLP, GENERATE, LL, PPL, ROUNDS, TEXT_PPL
from proctor.dialects.aisbench.olympiad_prompts import is_olympiad, olympiad_row
from proctor.dialects.aisbench.options import DatasetOptions, changed_inference, decoding_of
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.dialects.aisbench.values import short_name
from proctor.errors import DataError, MissingFieldError
from proctor.ir import Choose, Converse, Exchange, Generate, Likelihood, Message, Pair, Prompt, Request, Rolling, turn
from proctor.ir.question import Ask, Question
from proctor.logs import get_logger
from proctor.recipes.exam_parts import Context, Demos, Kind
from proctor.recipes.selection import Opened

Row = Mapping[str, Any]
"""Whether a prompt is short enough for the model."""


class Prompts:
    """The prompt builder of a dataset, shared by the draw of demos and the asker.

    Args:
        config: The dataset.
        options: What the run changes.
    """

    def __init__(self, config: DatasetConfig, options: DatasetOptions) -> None:
        self._config, self._options = config, options
        self._known: tuple[Sequence[Any], PromptBuilder] | None = None

    def over(self, pool: Sequence[Any]) -> PromptBuilder:
        """Return what makes prompts with demos from a pool; compiled once.

        Raises:
            ProctorError: A template or a retriever cannot be built, or they do not fit together.
        """
        if self._known is None or self._known[0] is not pool:
            builder = PromptBuilder(
                changed_inference(self._config.inference, self._options),
                self._config.reader,
                pool,
                meta_template=self._options.meta_template,
                as_messages=self._options.as_messages,
            )
            self._known = pool, builder
        return self._known[1]


class RetrieverDraw:
    """The demos that a dataset's retriever chooses: for all rows at once, copies included, before any limit.

    Args:
        prompts: What makes the prompts; some retrievers try them out.
        times: How often each row is asked with the same demos: where a model or a run says it, not the dataset.
    """

    def __init__(self, prompts: Prompts, times: int = 1) -> None:
        self._prompts, self._times = prompts, times
        self._known: tuple[Opened, int | None, Sequence[Sequence[int]]] | None = None

    def bind(self, opened: Opened, seed: int | None) -> Callable[[Ask, Row], Demos]:
        """Return a function from a row to its demos.

        Args:
            opened: All rows and the pool.
            seed: Seed of what is drawn; ``None`` for the retriever's own.

        Raises:
            DemosError: The retriever cannot choose.
        """
        builder = self._prompts.over(opened.pool)
        if builder.shows_same:
            same = tuple(builder.retrieve([{}], seed)[0])
            return lambda ask, row: same
        if self._known is None or self._known[0] is not opened or self._known[1] != seed:
            rows = opened.rows if isinstance(opened.rows, Sequence) else list(opened.rows)
            self._known = opened, seed, builder.retrieve(rows[:: self._times], seed)
        chosen, times = self._known[2], self._times
        return lambda ask, row: tuple(chosen[ask.place // times])


@dataclass(frozen=True, slots=True)
class ConfigAsker:
    """Asks as the dataset's inferencer does.

    Attributes:
        config: The dataset.
        options: What the run changes.
        prompts: What makes the prompts.
    """

    config: DatasetConfig
    options: DatasetOptions
    prompts: Prompts

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of requests."""
        own = self.config.inferencer
        if own.kind == PPL:
            losses: Kind = "rolling_chat" if self.options.as_messages else "rolling"
            return frozenset({losses if own.normalizing is None else "likelihood"})
        if own.kind == CHAT:
            return frozenset({"converse"} if own.mode == "every" else {"converse", "generate"})
        return frozenset({_KINDS[own.kind]})

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return a function from a row and its demos to a question.

        Raises:
            ProctorError: A template or a retriever cannot be built, or the prompts cannot be asked so.
        """
        asking = RowAsker(self.config, self.options, self.prompts.over(opened.pool), context)

        def ask(each: Ask, row: Row, demos: Demos) -> Question:
            return asking.ask(row, demos, each)

        return ask


_KINDS: Mapping[str, Kind] = {
    GENERATE: "generate",
    LL: "likelihood",
    CLP: "choose",
    TEXT_PPL: "rolling",
    CALL: "generate",
    ROUNDS: "converse",
}


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


class RowAsker:
    """Turns rows into questions.

    Args:
        config: The dataset.
        options: What the run changes.
        builder: Makes the prompts.
        context: What is known of who is asked. Where it says that a prompt is too long, its last examples are dropped
            until it fits, as upstream does it.
    """

    def __init__(
        self, config: DatasetConfig, options: DatasetOptions, builder: PromptBuilder, context: Context | None = None
    ) -> None:
        self._context = context or Context()
        self._fits = self._context.fits
        self._inferencer = config.inferencer
        self._builder = builder
        self._output: str | None = config.reader.get("output_column")
        self._decoding = decoding_of(config, options)
        self._has_limits = "max_out_len" in columns_of(config.reader)[0]  # a row's limit counts where it is named
        self._is_given_tools = options.returns_tool_calls
        self._is_olympiad = is_olympiad(config.values.get("infer_cfg") or {})
        self._abbr = config.abbr
        shown = _shown_columns(config)
        is_own = short_name(config.values.get("type")) in ("CustomDataset", "CircularCustomDataset")
        self._shown: Sequence[str] = shown if is_own else ()
        self._watched: Sequence[str] = () if is_own else shown
        self._ask = {
            GENERATE: self._generate,
            PPL: self._ppl,
            LL: self._ll,
            CLP: self._clp,
            CHAT: self._chat,
            TEXT_PPL: self._text,
            CALL: self._call,
            ROUNDS: self._rounds,
        }[config.inferencer.kind]

    @property
    def labels(self) -> tuple[Any, ...]:
        """The labels that are compared, for perplexities and likelihoods."""
        return self._inferencer.labels or tuple(self._builder.labels)

    def ask(self, row: Row, demos: Sequence[int], ask: Ask) -> Question:
        """Return what is asked about a row that is shown the examples at ``demos``.

        Raises:
            ProctorError: The row cannot be asked about.
        """
        if missing := [name for name in self._shown if row.get(name) is None]:
            raise MissingFieldError(
                f"the row has no column {', '.join(map(repr, missing))}, which the prompt shows",
                why=f"its columns are {', '.join(map(repr, row))}",
            )
        for name in [name for name in self._watched if row.get(name) is None]:
            self._watched = tuple(each for each in self._watched if each != name)  # once for each column
            text = "%s: row %d and perhaps others have no '%s', which the prompt shows: it says what upstream's says"
            get_logger().warning(text, self._abbr, ask.number, name)
        asked = self._ask(row, demos)
        requests = asked.requests
        if ask.repeat:
            requests = tuple(each if self._context.gives_seed(each) else _again(each, ask.repeat) for each in requests)
        exchange = Exchange(
            question=(turn("user", asked.text),),
            references=reference_texts(asked.gold),
            choices=tuple(str(label) for label in asked.labels),
            gold=asked.labels.index(asked.gold) if asked.gold in asked.labels else None,
        )
        return Question(ask.listed, row, exchange, requests, labels=asked.labels)

    def _gold(self, row: Row) -> Any:
        return None if self._output is None else row.get(self._output)

    def _generate(self, row: Row, demos: Sequence[int]) -> AskedRow:
        prompt = self._prompt(row, demos)
        limit = row.get("max_out_len") if self._has_limits else None
        decoding = self._decoding(limit if isinstance(limit, int) else None)
        return AskedRow(prompt.text, (Generate(prompt, decoding),), self._gold(row))

    def _prompt(self, row: Row, demos: Sequence[int]) -> Prompt:
        row = olympiad_row(row) if self._is_olympiad else row
        if self._fits is None:
            return self._builder.generate(row, demos)
        return self._builder.shorten(row, demos, self._fits)

    def _call(self, row: Row, demos: Sequence[int]) -> AskedRow:
        del demos  # the functions are shown, and no solved questions
        decoding = self._decoding(None)
        if self._is_given_tools:
            messages, tools = asked_with_tools(row)
            decoding = structs.replace(decoding, extra={**decoding.extra, "tools": tools})
        else:
            messages = asked_in_words(row)
        text = "\n".join(str(message.get("content")) for message in messages)
        return AskedRow(text, (Generate(Prompt(messages), decoding),), self._gold(row))

    def _ppl(self, row: Row, demos: Sequence[int]) -> AskedRow:
        normalizing = self._inferencer.normalizing
        requests: list[Request] = []
        for label in self.labels:
            if normalizing is None:
                prompt = self._shortened(row, demos, label)
                messages = tuple(prompt.messages) if prompt.is_chat else ()
                requests.append(Rolling(prompt.text, from_start=False, messages=messages))
                continue
            context, answer = self._builder.split(row, demos, label)
            requests += [Likelihood(Prompt(context), answer), Likelihood(Prompt(normalizing), answer)]
        return AskedRow(_first_text(requests), tuple(requests), self._gold(row), self.labels)

    def _text(self, row: Row, demos: Sequence[int]) -> AskedRow:
        prompt = self._prompt(row, demos)
        if prompt.is_chat:
            raise DataError("losses are of texts, not of chat messages", hint="leave --apply-chat-template out")
        return AskedRow(prompt.text, (Rolling(prompt.text, from_start=False),), self._gold(row))

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

    def _shortened(self, row: Row, demos: Sequence[int], label: Any) -> Prompt:
        prompt = self._builder.labelled(row, demos, label)
        while demos and self._fits is not None and not self._fits(prompt):
            demos = demos[:-1]
            prompt = self._builder.labelled(row, demos, label)
        return prompt

    def _labelled(self, row: Row, demos: Sequence[int], label: Any) -> Prompt:
        prompt = self._shortened(row, demos, label)
        if prompt.is_chat:
            raise DataError(
                "likelihoods of a continuation are of texts, not of chat messages",
                hint="ask a model that takes text, or choose the config that lets the model write (…_gen)",
            )
        return prompt

    def _clp(self, row: Row, demos: Sequence[int]) -> AskedRow:
        choices = row.get("choices")
        if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
            raise MissingFieldError("probabilities are of the column 'choices'", why=f"the row has {', '.join(row)}")
        prompt = self._prompt(row, demos)
        labels = tuple(str(choice) for choice in choices)
        return AskedRow(prompt.text, (Choose(tuple(Pair(prompt, label) for label in labels)),), self._gold(row), labels)

    def _rounds(self, row: Row, demos: Sequence[int]) -> AskedRow:
        """Ask for each turn that the prompt leaves open (``multiround``), with what the model said before it."""
        prompt = self._builder.generate(row, demos)
        if not prompt.is_chat:
            raise DataError(
                "turns of a conversation are asked for in messages, and the prompt is a text",
                hint="RawPromptTemplate with messages; --apply-chat-template makes messages of a dialogue",
            )
        messages = prompt.messages
        turns = [each if each["role"] != "assistant" or each.get("content") else None for each in messages]
        if None not in turns:
            raise DataError("the conversation leaves no turn open", why="every 'assistant' in it has words")
        last = max(place for place, each in enumerate(turns) if each is None)
        text = "\n".join(str(each.get("content")) for each in messages[:last])
        return AskedRow(text, (Converse(tuple(turns[: last + 1]), self._decoding(None)),), self._gold(row))

    def _chat(self, row: Row, demos: Sequence[int]) -> AskedRow:
        del demos  # a conversation has none
        talk = self._builder.conversation(row)
        if not talk.turns:
            raise DataError("the conversation has no turn for the model", why=f"its roles are {_roles(talk.messages)}")
        decoding, golds = self._decoding(None), [talk.messages[place].get("content") for place in talk.turns]
        text = "\n".join(str(message.get("content")) for message in talk.last)
        if self._inferencer.mode == "every":
            return AskedRow(text, (Converse(talk.with_own_answers, decoding),), golds)
        asked = talk.with_right_answers if self._inferencer.mode == "every_with_gt" else [talk.last]
        requests = tuple(Generate(Prompt(each), decoding) for each in asked)
        return AskedRow(text, requests, golds[-len(asked) :])


def _shown_columns(config: DatasetConfig) -> tuple[str, ...]:
    """Return the columns that the prompt shows; a row without one is asked with "None".

    Of a user's own file it is a failure. Rows of upstream's datasets are asked as upstream asks them, gaps included.
    """
    inputs, _ = columns_of(config.reader)
    words = str([config.inference.get(part) for part in ("prompt_template", "ice_template")])
    return tuple(name for name in inputs if f"{{{name}}}" in words and name not in OPTIONAL)


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


def reference_texts(gold: object) -> tuple[str, ...]:
    """Return the acceptable answers of a row as texts."""
    if isinstance(gold, str):
        return (gold,)
    if gold is None:
        return ()
    return tuple(map(str, gold)) if isinstance(gold, Sequence) else (str(gold),)
