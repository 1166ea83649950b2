"""From documents to requests. Everything is compiled once; each demo is put in words once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.fields import (
    value_of,
)
from proctor.dialects.lm_eval.jinja import is_template
from proctor.dialects.lm_eval.media import media_of
from proctor.dialects.lm_eval.prompts import Demo, Pieces, PromptMaker, joined, make_demo, turn_pieces
from proctor.dialects.lm_eval.samplers import make_sampler
from proctor.dialects.lm_eval.task_fields import (
    TaskFields,
    checked_choices,
    compiled_fields,
    placed,
)
from proctor.errors import ProctorError, TemplateError
from proctor.ir import (
    Choose,
    Decoding,
    Exchange,
    Generate,
    Likelihood,
    Media,
    Pair,
    Prompt,
    Request,
    Rolling,
    Span,
    Turn,
)
from proctor.recipes.exam import Question

if TYPE_CHECKING:
    from proctor.dialects.lm_eval.exam import TaskOptions

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentView:
    """What a task finds in one document.

    Attributes:
        text: The question, or the position of the right input where there are several.
        target: The answer: text, a position, or a list.
        choices: Texts of the choices, where the task has any.
    """

    doc: Document
    text: Any
    target: Any
    choices: list[str] | None


class RequestBuilder:
    """Makes the items of a task, in order; demos are drawn from one stream of random numbers over all of them.

    Args:
        config: The task.
        documents: Its documents.
        options: What the run changes.
        num_fewshot: Demos in each prompt.
        fields: The task's fields, where they are compiled already.
    """

    def __init__(
        self,
        config: TaskConfig,
        documents: TaskDocuments,
        options: TaskOptions,
        num_fewshot: int,
        fields: TaskFields | None = None,
    ) -> None:
        self.config = config
        self.fields = fields or compiled_fields(config, documents.columns())
        self._documents = documents
        self._num_fewshot = num_fewshot
        self._maker = PromptMaker(options.chat)
        self._options = options
        self._demos: dict[int, Demo] = {}
        self._system = self._system_text()
        self._request = self._request_maker()
        self._repeats = config.repeats if config.output_type == "generate_until" else 1
        if num_fewshot:
            self._open_pool()

    def _open_pool(self) -> None:
        config, fewshot = self.config, self.config.fewshot
        pool = self._documents.pool()
        if fewshot.fewshot_indices is not None:
            pool = [pool[place] for place in fewshot.fewshot_indices]
        self._pool = pool
        self._sampler = make_sampler(
            value_of(fewshot.sampler, "fewshot_config.sampler"),
            pool,
            self._options.fewshot_seed,
            own_split=fewshot.split == config.test_split,
            label=self.fields.demo.target,
        )

    def _system_text(self) -> Callable[[Document], str]:
        delimiter, instruction = self.config.fewshot_delimiter, self._options.system_instruction
        describe, spec = self.fields.description, self.config.description
        if describe is None:
            constant = instruction or ""
            return lambda doc: constant
        if isinstance(spec, str) and not is_template(spec) and spec not in self._documents.columns():
            text = joined(instruction, spec, delimiter)
            return lambda doc: text
        return lambda doc: joined(instruction, str(describe(doc)), delimiter)

    # -- documents --------------------------------------------------------------------------------------------

    def view(self, doc: Document) -> DocumentView:
        """Return what the task finds in a document."""
        fields = self.fields.asked
        choices = None if fields.choices is None else fields.choices(doc)
        return DocumentView(doc, fields.text(doc), fields.target(doc), choices)

    def item(self, number: int, doc: Document) -> Question:
        """Return the item of a document.

        Raises:
            ProctorError: With the task's name and the document's number.
        """
        try:
            return self._item(number, doc)
        except ProctorError as error:
            raise placed(error, self.config, number) from None

    def _item(self, number: int, doc: Document) -> Question:
        view = self.view(doc)
        demos = self._demos_of(doc) if self._num_fewshot else ()
        prefix = self.fields.asked.prefix(doc) if self.fields.asked.prefix is not None else None
        request, choices, gold = self._request(view, self._system(doc), demos, prefix)
        text = view.text if isinstance(view.text, str) else ""
        exchange = Exchange(
            (Turn("user", (Span(text),)),),
            answer_prefix=prefix or "",
            answer=_shown(view),
            references=_references(view),
            choices=choices,
            gold=gold,
        )
        return Question(number, doc, exchange, (request,) * self._repeats)

    def _demos_of(self, doc: Document) -> Sequence[Demo]:
        known = self._demos
        found = []
        for place in self._sampler.draw(self._num_fewshot, doc):
            demo = known.get(place)
            if demo is None:
                demo = known[place] = self._demo(self._pool[place])
            found.append(demo)
        return found

    def _demo(self, doc: Document) -> Demo:
        fields, fewshot = self.fields.demo, self.config.fewshot
        question: Any = fields.text(doc)
        choices = None if fields.choices is None else fields.choices(doc)
        if isinstance(question, int) and choices is not None:
            question, choices = choices[question], None
        between = fewshot.target_delimiter if fewshot.target_delimiter is not None else self.config.target_delimiter
        after = fewshot.fewshot_delimiter if fewshot.fewshot_delimiter is not None else self.config.fewshot_delimiter
        prefix = None if fields.prefix is None else fields.prefix(doc)
        return make_demo(turn_pieces(question, fields.target(doc), choices, prefix, (between, after), 0))

    # -- requests ---------------------------------------------------------------------------------------------

    def _request_maker(self) -> Callable[..., tuple[Request, tuple[str, ...], int | None]]:
        return {
            "multiple_choice": self._choose,
            "generate_until": self._generate,
            "loglikelihood": self._likelihood,
            "loglikelihood_rolling": self._rolling,
        }[self.config.output_type]

    def _prompt(self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None) -> Prompt:
        pieces = turn_pieces(view.text, None, view.choices, prefix, (self.config.target_delimiter, ""))
        return self._maker.make(system, demos, pieces, self._media(view.doc))

    def _media(self, doc: Document) -> Sequence[Media]:
        fields = self.fields
        if fields.image is None and fields.audio is None:
            return ()
        images = media_of("image", fields.image(doc)) if fields.image is not None else []
        return [*images, *(media_of("audio", fields.audio(doc)) if fields.audio is not None else [])]

    def _choose(
        self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None
    ) -> tuple[Request, tuple[str, ...], int | None]:
        choices = checked_choices(view.choices)
        delimiter = self._continuation_delimiter()
        if isinstance(view.text, int):
            continuation = f"{delimiter}{view.target}"
            contexts = [self._input_prompt(each, system, demos, prefix) for each in choices]
            pairs = [Pair(context, continuation) for context in contexts]
            gold: int | None = view.text
        else:
            prompt = self._prompt(view, system, demos, prefix)
            pairs = [Pair(prompt, f"{delimiter}{each}") for each in choices]
            gold = gold_position(view.target, choices)
        if self._wants_unconditional:
            empty = Prompt("")
            pairs += [Pair(empty, f"{delimiter}{each}") for each in choices]
        return Choose(tuple(pairs)), tuple([pair.continuation for pair in pairs[: len(choices)]]), gold

    def _input_prompt(self, text: str, system: str, demos: Sequence[Demo], prefix: str | None) -> Prompt:
        pieces: Pieces = turn_pieces(text, None, None, prefix, ("", ""))
        return self._maker.make(system, demos, pieces)

    def _continuation_delimiter(self) -> str:
        """Return what separates a choice from its context; in a chat nothing, unless an answer prefix needs it."""
        delimiter = self.config.target_delimiter
        if self._maker.chat is None:
            return delimiter
        prefix = self.config.gen_prefix
        return delimiter if isinstance(prefix, str) and prefix and not prefix[-1].isspace() else ""

    @property
    def _wants_unconditional(self) -> bool:
        return any(each.get("metric") == "acc_mutual_info" for each in self.config.metric_list or ())

    def _generate(
        self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None
    ) -> tuple[Request, tuple[str, ...], int | None]:
        if self._decoding is None:
            self._decoding = decoding_of(self.config.generation_kwargs or {})
        return Generate(self._prompt(view, system, demos, prefix), self._decoding), (), None

    _decoding: Decoding | None = None

    def _likelihood(
        self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None
    ) -> tuple[Request, tuple[str, ...], int | None]:
        if not isinstance(view.target, str):
            raise TemplateError(f"doc_to_target gives {view.target!r}, not text", hint="loglikelihood scores a text")
        return Likelihood(self._prompt(view, system, demos, prefix), view.target), (), None

    def _rolling(
        self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None
    ) -> tuple[Request, tuple[str, ...], int | None]:
        del system, demos, prefix
        return Rolling(str(view.target)), (), None


def gold_position(target: Any, choices: Sequence[str]) -> int | None:
    """Return the position of the right choice; ``None`` where it is none of them, or several are."""
    if isinstance(target, bool) or not isinstance(target, int | str):
        return int(target) if isinstance(target, bool) else None
    position = target if isinstance(target, int) else choices.index(target) if target in choices else -1
    return position if 0 <= position < len(choices) else None


def _shown(view: DocumentView) -> str | None:
    target = view.target
    if isinstance(target, int) and view.choices is not None and 0 <= target < len(view.choices):
        return str(view.choices[target])
    if isinstance(target, list):
        return str(target[0]) if target else None
    return None if target is None else str(target)


def _references(view: DocumentView) -> tuple[str, ...]:
    if isinstance(view.target, list):
        return tuple(str(each) for each in view.target)
    shown = _shown(view)
    return () if shown is None else (shown,)


_NAMED = {"until", "max_gen_toks", "max_new_tokens", "max_tokens", "temperature", "do_sample", "top_p", "top_k", "seed"}


def decoding_of(arguments: Mapping[str, Any]) -> Decoding:
    """Return how to generate: without ``do_sample``, or with it off, greedily, as lm-eval's local models do."""
    until = arguments.get("until") or []
    tokens = next(
        (arguments[key] for key in ("max_gen_toks", "max_new_tokens", "max_tokens") if key in arguments), None
    )
    samples = arguments.get("do_sample")
    temperature = float(arguments.get("temperature", 1.0 if samples else 0.0))
    return Decoding(
        max_tokens=256 if tokens is None else int(tokens),
        temperature=0.0 if samples is False else temperature,
        top_p=arguments.get("top_p"),
        top_k=arguments.get("top_k"),
        stop=tuple([until] if isinstance(until, str) else until),
        seed=arguments.get("seed"),
        extra={key: value for key, value in arguments.items() if key not in _NAMED},
    )
