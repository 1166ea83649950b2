"""From documents to requests. Everything is compiled once; each demo is put in words once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.dialects.lm_eval.checks import nowhere
from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.factory import template_choices
from proctor.dialects.lm_eval.fields import (
    Find,
    find_choices,
    find_literal,
    find_plain,
    find_target,
    find_text,
    value_of,
)
from proctor.dialects.lm_eval.jinja import is_template
from proctor.dialects.lm_eval.media import media_of
from proctor.dialects.lm_eval.prompts import Demo, Pieces, PromptMaker, joined, make_demo, turn_pieces
from proctor.dialects.lm_eval.prompts_library import named_prompt
from proctor.dialects.lm_eval.samplers import make_sampler
from proctor.dialects.lm_eval.wrapped import missing_column
from proctor.errors import Diagnostic, ProctorError, TemplateError
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
from proctor.recipes.exam import Item

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


@dataclass(frozen=True, slots=True)
class QuestionFields:
    """Functions from a document to question, answer, choices and answer prefix."""

    text: Find
    target: Find
    choices: Find | None
    prefix: Find | None


@dataclass(frozen=True, slots=True)
class TaskFields:
    """Everything that a task takes from its documents, compiled."""

    asked: QuestionFields
    demo: QuestionFields
    description: Find | None
    image: Find | None
    audio: Find | None


def compile_fields(config: TaskConfig, columns: Sequence[str]) -> TaskFields:
    """Return a task's fields as functions.

    Raises:
        TemplateError: A template does not parse.
        TrustError: A field is code, and code is not trusted.
    """
    names = frozenset(columns)
    fewshot = config.fewshot
    text, target = (
        named_prompt(config.use_prompt, config) if config.use_prompt else (config.doc_to_text, config.doc_to_target)
    )
    own = FewshotConfig(
        doc_to_text=text,
        doc_to_target=target,
        doc_to_choice=config.doc_to_choice,
        gen_prefix=config.gen_prefix,
    )
    shown = FewshotConfig(
        doc_to_text=text if config.use_prompt or fewshot.doc_to_text is None else fewshot.doc_to_text,
        doc_to_target=target if config.use_prompt or fewshot.doc_to_target is None else fewshot.doc_to_target,
        doc_to_choice=fewshot.doc_to_choice,
        gen_prefix=fewshot.gen_prefix,
    )
    return TaskFields(
        _question_fields(config, own, names, ""),
        _question_fields(config, shown, names, "fewshot_config."),
        find_plain(config.description, "description"),
        None if config.doc_to_image is None else find_literal(config.doc_to_image, names, "doc_to_image"),
        None if config.doc_to_audio is None else find_literal(config.doc_to_audio, names, "doc_to_audio"),
    )


def compiled_fields(config: TaskConfig, columns: Sequence[str]) -> TaskFields:
    """Return :func:`compile_fields`, whose errors say where in the file the field stands."""
    try:
        _refuse_unwrappable(config, columns)
        return compile_fields(config, columns)
    except ProctorError as error:
        raise placed(error, config) from None


def _refuse_unwrappable(config: TaskConfig, columns: Sequence[str]) -> None:
    """Refuse fields that a template is to wrap and that the task or its documents do not have, all of them at once.

    Raises:
        TemplateError: With every such field.
    """
    made = config.template_config
    if made is None or config.use_prompt:
        return
    locate = nowhere if config.source is None else config.source.location
    row = dict.fromkeys(columns)
    needed = ("doc_to_text", "doc_to_choice") if made.output_type == "multiple_choice" else ("doc_to_text",)
    problems: list[Diagnostic] = []
    for key in needed:
        if config.originals.get(key) is None:
            name = config.template_choice or next(iter(template_choices(config.template)))
            problems.append(
                Diagnostic(
                    f"the template '{name}' wraps {key}, and the task '{config.task}' has none",
                    locate("template"),
                    hint=_WRAPPED_EXAMPLES[key],
                )
            )
    for key in needed if columns else ():
        missing = missing_column(config.originals.get(key), key, row)
        problems += [each.at(locate(key)) for each in missing]
    if problems:
        raise TemplateError(problems)


_WRAPPED_EXAMPLES = {
    "doc_to_text": 'doc_to_text: "{{question}}"',
    "doc_to_choice": 'doc_to_choice: "{{choices}}", or the template generate::question, which needs none',
}


def _question_fields(config: TaskConfig, given: FewshotConfig, names: frozenset[str], where: str) -> QuestionFields:
    positions = config.doc_to_choice is not None
    choices = given.doc_to_choice
    text = given.doc_to_text if given.doc_to_text is not None else ""
    target = given.doc_to_target if given.doc_to_target is not None else ""
    return QuestionFields(
        find_text(text, names, f"{where}doc_to_text", positions=positions),
        find_target(target, names, f"{where}doc_to_target", positions=positions),
        None if choices is None else find_choices(choices, names, f"{where}doc_to_choice"),
        find_plain(given.gen_prefix, f"{where}gen_prefix"),
    )


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

    def item(self, number: int, doc: Document) -> Item:
        """Return the item of a document.

        Raises:
            ProctorError: With the task's name and the document's number.
        """
        try:
            return self._item(number, doc)
        except ProctorError as error:
            raise placed(error, self.config, number) from None

    def _item(self, number: int, doc: Document) -> Item:
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
        return Item(number, doc, exchange, (request,) * self._repeats)

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


_FIELDS = ("doc_to_text", "doc_to_target", "doc_to_choice", "description", "gen_prefix", "doc_to_image", "doc_to_audio")
_OTHER_STARTS = {"doc_to_target": "the answer "}
"""How messages about a field begin that do not name it."""


def placed(error: ProctorError, config: TaskConfig, number: int | None = None) -> ProctorError:
    """Return an error of a document (or of all) with task, document, field, and the field's place in the file."""
    first = error.diagnostics[0]
    given = {key: config.originals.get(key, getattr(config, key)) for key in _FIELDS}
    key = next(
        (key for key in _FIELDS if str(first.what).startswith((f"{key} ", _OTHER_STARTS.get(key, f"{key} ")))), None
    ) or next(
        (key for key, spec in given.items() if isinstance(spec, str) and spec and repr(spec) in str(first.why)), None
    )
    place = config.source.location(key) if key is not None and config.source is not None else None
    document = "" if number is None else f"[{number}]"
    return error.located(place, f"{config.task}{document}" + (f".{key}" if key is not None else ""))


def checked_choices(choices: Any) -> list[Any]:
    """Return the choices of a document.

    Raises:
        TemplateError: They are no list, or there are none.
    """
    if not isinstance(choices, list):
        raise TemplateError(
            f"doc_to_choice gives {type(choices).__name__} {choices!r}, not a list",
            hint="multiple choice needs a list of texts",
        )
    if not choices:
        raise TemplateError(
            "doc_to_choice gives an empty list",
            why="multiple choice compares at least one text",
            hint="leave such documents out (process_docs, --samples)",
        )
    return choices


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
