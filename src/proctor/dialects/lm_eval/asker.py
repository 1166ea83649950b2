"""Puts documents in words: from a document and its demos to a question. Each demo is put in words once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from proctor.dialects.lm_eval.generation import decoding_of
from proctor.dialects.lm_eval.jinja import is_template
from proctor.dialects.lm_eval.media import media_of
from proctor.dialects.lm_eval.prepared import Document, DocumentView, PreparedTask
from proctor.dialects.lm_eval.prompts import (
    Demo,
    Pieces,
    PromptMaker,
    continuation_delimiter,
    joined,
    make_demo,
    turn_pieces,
)
from proctor.dialects.lm_eval.task_fields import checked_choices, placed
from proctor.errors import ProctorError, TemplateError
from proctor.ir import Choose, Exchange, Generate, Likelihood, Media, Pair, Prompt, Request, Rolling, Span, Turn
from proctor.ir.question import Ask, Question
from proctor.recipes.exam_parts import Context, Demos, Kind
from proctor.recipes.selection import Opened

DEMOS_KEPT = 10_000
"""Demos that stay in words: more than any pool of the tasks there are, and a few megabytes where the pool is a large
training split."""

KINDS: Mapping[str, Kind] = {
    "multiple_choice": "choose",
    "generate_until": "generate",
    "loglikelihood": "likelihood",
    "loglikelihood_rolling": "rolling",
}
"""What a task of each ``output_type`` asks of a model."""

Asked = tuple[Request, tuple[str, ...], int | None]
"""A request, the continuations it compares, and the position of the right one."""


class TaskAsker:
    """Makes the questions of a task.

    Args:
        task: The task.
    """

    def __init__(self, task: PreparedTask) -> None:
        self._task = task

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of requests."""
        return frozenset({KINDS[self._task.config.output_type]})

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Mapping[str, Any], Demos], Question]:
        """Return a function from a document and the places of its demos in the pool to a question."""
        del context
        return _Asking(self._task, opened.pool).question


class _Asking:
    """One pass over the documents of a task."""

    def __init__(self, task: PreparedTask, pool: Sequence[Document]) -> None:
        self.config = task.config
        self.fields = task.fields
        self._task = task
        self._maker = PromptMaker(task.chat)
        self._demo = lru_cache(maxsize=DEMOS_KEPT)(lambda place: self._made_demo(pool[place]))
        self._system = self._system_text()
        self._request = self._request_maker()
        self._decoding = decoding_of(self.config.generation_kwargs or {})
        self._repeats = self.config.repeats if self.config.output_type == "generate_until" else 1

    def _system_text(self) -> Callable[[Document], str]:
        delimiter, instruction = self.config.fewshot_delimiter, self._task.options.system_prompt
        describe, spec = self.fields.description, self.config.description
        if describe is None:
            constant = instruction or ""
            return lambda doc: constant
        if isinstance(spec, str) and not is_template(spec) and spec not in self._task.documents.columns():
            text = joined(instruction, spec, delimiter)
            return lambda doc: text
        return lambda doc: joined(instruction, str(describe(doc)), delimiter)

    # -- documents --------------------------------------------------------------------------------------------

    def question(self, ask: Ask, doc: Document, demos: Demos) -> Question:
        """Return the question about a document."""
        try:
            return self._question(ask.listed, doc, demos)
        except ProctorError as error:
            raise placed(error, self.config, f"split '{self._task.documents.eval_split}'") from None
        except _UNFIT as error:
            raise placed(unfit(error, doc), self.config, f"split '{self._task.documents.eval_split}'") from None

    def _question(self, number: int, doc: Document, places: Demos) -> Question:
        view = self._task.view(doc)
        demos = [self._demo(place) for place in places]
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

    def _made_demo(self, doc: Document) -> Demo:
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

    def _request_maker(self) -> Callable[..., Asked]:
        return {
            "multiple_choice": self._choose,
            "generate_until": self._generate,
            "loglikelihood": self._likelihood,
            "loglikelihood_rolling": self._rolling,
        }[self.config.output_type]

    def _prompt(self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None) -> Prompt:
        if self.fields.messages is not None:
            if demos:
                raise TemplateError("messages of lmms-eval's tasks show no demos", hint="leave out --num-fewshot")
            instruction = self._task.options.system_prompt
            before = [{"role": "system", "content": instruction}] if instruction else []
            return Prompt([*before, *self.fields.messages(view.doc)])
        pieces = turn_pieces(view.text, None, view.choices, prefix, (self.config.target_delimiter, ""))
        return self._maker.make(system, demos, pieces, self._media(view.doc))

    def _media(self, doc: Document) -> Sequence[Media]:
        fields = self.fields
        if fields.image is None and fields.audio is None:
            return ()
        images = media_of("image", fields.image(doc)) if fields.image is not None else []
        return [*images, *(media_of("audio", fields.audio(doc)) if fields.audio is not None else [])]

    def _choose(self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None) -> Asked:
        choices = checked_choices(view.choices)
        delimiter = continuation_delimiter(self.config, is_chat=self._maker.chat is not None)
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

    @property
    def _wants_unconditional(self) -> bool:
        return any(each.get("metric") == "acc_mutual_info" for each in self.config.metric_list or ())

    def _generate(self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None) -> Asked:
        return Generate(self._prompt(view, system, demos, prefix), self._decoding), (), None

    def _likelihood(self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None) -> Asked:
        if not isinstance(view.target, str):
            raise TemplateError(f"doc_to_target gives {view.target!r}, not text", hint="loglikelihood scores a text")
        return Likelihood(self._prompt(view, system, demos, prefix), view.target), (), None

    def _rolling(self, view: DocumentView, system: str, demos: Sequence[Demo], prefix: str | None) -> Asked:
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


_UNFIT = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What Python raises where a value is not what a field needs."""


def unfit(error: Exception, doc: Document) -> TemplateError:
    """Return what a document has wrong where Python says it, not a field."""
    return TemplateError(
        "the document cannot be put in words",
        why=f"{type(error).__name__}: {error}; the columns are {', '.join(map(str, doc))}",
    )
