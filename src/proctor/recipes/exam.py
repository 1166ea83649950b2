"""A compiled exam: what ``running`` executes, whichever dialect it was written in.

There is one class, :class:`Exam`; every front end builds it and nobody derives from it. A dialect brings four things:
how a file becomes :class:`Rows`, which demos an instance is shown (:class:`DemoDraw`), how a row with its demos becomes
a question (:class:`Asker`), and how answers become scores (:class:`Grader`). Everything else is decided here, once:
which instances are asked about, the seed, failures of rows, the variant that suits an engine, what is checked before
anybody is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from msgspec import structs

from proctor.effects import Author, Effect
from proctor.effects import refusals as effects_refused
from proctor.errors import DataError, Diagnostic, ProctorError
from proctor.ir import Exchange, Failure, KnownAnswerer, Prompt
from proctor.ir.question import Answered, Ask, Question
from proctor.recipes.answer_seeds import with_seeds
from proctor.recipes.exam_parts import NEED_SCORES, Asker, Context, DemoDraw, Grader, NoDemos, Rows, ScoredGroup
from proctor.recipes.fingerprint import Definition, RowsDigest, instance_digest
from proctor.recipes.graded_answers import Wanted, looks_for_thoughts
from proctor.recipes.honours import Honours, refusals
from proctor.recipes.options import ExamOptions
from proctor.recipes.row_changes import RowParts, changes_of
from proctor.recipes.selection import Opened, Row, Selection, chosen
from proctor.scoring.grades import Grade
from proctor.scoring.grading.groups import GroupBy, values_of
from proctor.scoring.scores import Score

if TYPE_CHECKING:
    from proctor.data.streams import MultiStream
    from proctor.engines.engine import Engine

__all__ = ["Answered", "Exam", "Question", "add_groups", "limited", "suited"]

LOOKED_AT = 10
"""Rows that are put in words before anybody is asked: where none of them can be used, the exam is refused. A wrong
column fails every row, a damaged file only some; ten tell them apart and cost no time."""


HELD = "artifacts"
"""Where the specification of an exam holds by value what it names."""

_BEGUN = "_begun"
"""Where an exam keeps a pass that :meth:`Exam.begin` began: reading its data once more costs as much as asking."""


@dataclass(frozen=True, kw_only=True)
class Exam:
    """One exam, ready to run. Later changes to the artifacts that it came from do not reach it.

    Attributes:
        name: The name under which results are filed.
        description: One line on what the exam is.
        dialect: Who wrote it: ``unitxt``, ``lm_eval``, ``aisbench``.
        source: What it was made of, as JSON-like data: for ``run.yaml``.
        rows: Where its instances come from.
        draw: Which demos an instance is shown.
        asker: How a row becomes a question.
        grader: How answers become scores.
        options: What the run changes; the core applies selection and seed.
        honours: Which options it honours; all others are refused.
        ceiling: Most instances, whatever the limit.
        longest: Most tokens of a prompt, where the exam or the model says so.
        variants: Other forms of the exam: ``text`` (choices as text), ``messages`` (prompts as chat messages),
            ``chat`` (in the chat template of a model that has one).
        variant: How it differs from what its file says, in a few words.
        groups: The groups that it was chosen with, outermost first; their scores are made of their members' scores.
        context: What is known of who is asked.
        effects: What it does besides being an exam, where strangers wrote it; computed when somebody wants to know.
        author: The file that it was written in; ``None`` where a program built it.
        own_seed: Seed of its draws where the run gives none; ``None`` where it draws nothing, or each part has its own.
        clusters: The field whose values say which questions belong together, where the exam says so.
        joint: What its system puts between thoughts that a server gave apart from the text and the text, where thoughts
            are graded, too; ``None`` where it never looks at them.
        own: The dialect's own object behind the exam, for converters of the same dialect.
        define: Returns what it is made of by value, beside its questions; called when a run needs it. Where a dialect
            gives none, what its parts show is taken.
        parts: What the fields of its rows are, for options that change rows; ``None`` where that is not known.
    """

    name: str
    description: str
    dialect: str
    source: Mapping[str, Any]
    rows: Rows
    asker: Asker
    grader: Grader
    draw: DemoDraw = field(default_factory=NoDemos)
    options: ExamOptions = field(default_factory=ExamOptions)
    honours: Honours = field(default_factory=dict)
    ceiling: int | None = None
    longest: int | None = None
    variants: Mapping[str, Callable[[], Exam]] = field(default_factory=dict)
    variant: str = ""
    groups: tuple[ScoredGroup, ...] = ()
    context: Context = field(default_factory=Context)
    effects: Callable[[], Sequence[Effect]] = tuple
    author: Author | None = None
    own_seed: int | None = None
    clusters: str | None = None
    joint: str | None = None
    own: object = None
    define: Callable[[], Definition] = Definition
    parts: RowParts | None = None

    # -- what is asked ----------------------------------------------------------------------------------------

    @property
    def selection(self) -> Selection:
        """The instances to evaluate."""
        return Selection(self.options.limit, self.options.places_of(self.name), self.ceiling)

    @property
    def seed(self) -> int | None:
        """The seed of what it draws: the run's, else its own."""
        return self.own_seed if self.options.seed is None else self.options.seed

    @cached_property
    def opened(self) -> Opened:
        """The rows, opened on first use."""
        return self.rows.open(self.selection)

    def begin(self) -> None:
        """Put the first instance in words, so that what is wrong is said now; the next pass goes on from there.

        Raises:
            ProctorError: As :meth:`questions`.
        """
        self.resume(self.questions())

    def resume(self, questions: Iterator[Question]) -> None:
        """Let the next pass be one that somebody began: what he has read of it, then the rest."""
        self.__dict__[_BEGUN] = questions

    def questions(self) -> Iterator[Question]:
        """Yield the questions lazily; every call yields equal ones in the same order.

        A row that cannot be used is a question with a failure.

        Raises:
            DataError: There is no instance.
            ProctorError: None of the first rows can be used; it says why the first cannot.
        """
        begun: Iterator[Question] | None = self.__dict__.pop(_BEGUN, None)
        return self.afresh() if begun is None else begun

    def afresh(self) -> Iterator[Question]:
        """Yield the questions from the first one, whatever pass has begun."""
        questions = self._asked()
        first: list[Question] = []
        errors: list[ProctorError] = []
        for question, error in questions:
            first.append(question)
            if error is None:
                break
            errors.append(error)
            if len(errors) == LOOKED_AT:
                break
        if not first:
            raise self._empty()
        if len(errors) == len(first):
            raise errors[0]
        return chain(first, map(itemgetter(0), questions))

    def _asked(self) -> Iterator[tuple[Question, ProctorError | None]]:
        opened = self.opened
        demos_of = self.draw.bind(opened, self.options.seed)
        seed = self.options.seed
        ask = self.asker.compile(opened, replace(self.context, reseeds=seed is not None))
        change = changes_of(self.parts or RowParts(), self.options.choice_order, self.options.perturb)
        grouped_by = [name for names in GroupBy.of(self.options.group_by).asked for name in names]
        grouped_by += filter(None, [self.options.clusters or self.clusters])
        for each, row in chosen(opened, self.selection, self.name):
            if isinstance(row, Failure):
                yield self._unusable(each, _NO_ROW, row), DataError(row.message)
                continue
            try:
                digest = self._digest(row, each)  # before asking: templates may change fields
                asked = row if change is None else change(row)  # and graded
                question = ask(each, asked, demos_of(each, asked))
                if grouped_by:
                    values_of(question.instance, grouped_by)
                if seed is not None:
                    question = self._seeded(question, seed, each.repeat)
                structs.force_setattr(question, "digest", digest)  # it was made a moment ago, and nobody else has it
                yield question, None
            except ProctorError as error:
                placed = error.within(f"{self.name}[{each.number}]")
                yield self._unusable(each, row, Failure("row", str(placed), retryable=False)), placed

    def _seeded(self, question: Question, seed: int, repeat: int) -> Question:
        """Return a question whose answers are drawn with the run's seed: another seed asks anew."""
        requests = with_seeds(question.requests, seed, repeat, draws=self.context.draws)
        return question if requests == question.requests else structs.replace(question, requests=requests)

    def _empty(self) -> DataError:
        return DataError(
            f"the exam '{self.name}' has no instance",
            why="its split is empty, or its steps and the demo pool leave nothing of it",
            hint=f"proctor show '{self.name}' --steps counts the rows after each step",
        )

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the rows after each step from loading to asking, with a word on what the step did."""
        return self.rows.stages()

    # -- before anybody is asked ------------------------------------------------------------------------------

    @property
    def declared_main(self) -> Score | None:
        """The main score without its value; ``None`` where its unit is known only when answers have been scored."""
        try:
            found: Score | None = getattr(self.grader, "declared_main", None)
        except ProctorError:  # which `problems` tells
            return None
        return None if self.options.predict_only else found

    def refused(self) -> list[Diagnostic]:
        """Return the given options that the exam cannot honour, with the reasons."""
        return list(refusals(self.name, self.honours, self.options))

    def problems(self, engine: Engine | None = None) -> list[Diagnostic]:
        """Return the problems known before anybody is asked: options, metrics, permissions, the engine."""
        of_groups = [problem for each in self.groups if hasattr(each, "check") for problem in each.check()]
        found = [*self.refused(), *self.grader.check(), *of_groups]
        found += effects_refused(self.effects(), self.author, self.name)
        return found if engine is None else [*found, *_lacking(self, engine)]

    def suited_to(self, engine: Engine) -> Exam:
        """Return the exam as an engine can sit it: as text without log-probabilities, as messages where it only chats.

        Where prompts have a longest length, the engine's tokens are counted and demos dropped until they fit.
        """
        exam = self
        if "text" in exam.variants and NEED_SCORES & exam.asker.kinds and not engine.can_score:
            exam = replace(exam.variants["text"](), groups=exam.groups, ceiling=exam.ceiling)
        if "chat" in exam.variants and engine.has_chat_template:
            exam = replace(exam.variants["chat"](), groups=exam.groups, ceiling=exam.ceiling)
        if "messages" in exam.variants and engine.only_chats:
            exam = replace(exam.variants["messages"](), groups=exam.groups, ceiling=exam.ceiling)
        told = {"max_tokens", "max_new_tokens"} & engine.model_fields_set
        context = Context(draws=bool(engine.decoding_defaults().get("temperature")), limits=bool(told))
        if exam.longest is not None:
            context = replace(context, fits=_counting(engine, exam.longest))
        return exam if context == exam.context else replace(exam, context=context)

    # -- answers ----------------------------------------------------------------------------------------------

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores, of what the options want heard; reads ``answered`` once."""
        marked = self.options.answers is None and looks_for_thoughts(self.source)
        heard = Wanted(self.options, marked).of(answered)
        by = self.options.clusters or self.clusters
        if by is None:
            return self.grader.grade(heard)
        from proctor.recipes.clusters import graded_in_clusters

        return graded_in_clusters(self.grader.grade, heard, by)

    @cached_property
    def definition(self) -> Definition:
        """The exam's extraction, metrics and named artifacts, by value."""
        found = self.define() if self.define is not Definition else self._own_definition()
        if judged := _judged(found):
            found = replace(found, metrics=[found.metrics, judged])
        said = {"truncated": self.options.truncated == "fail", "answers": self.options.answers == "raw"}
        if not any(said.values()):
            return found
        return replace(found, extraction=[found.extraction, [name for name, is_said in said.items() if is_said]])

    @cached_property
    def judged(self) -> list[dict[str, Any]]:
        """What the judges of the exam are asked with: whose words, their digest; nothing where no judge scores."""
        return _judged(self.definition)

    @property
    def criteria(self) -> dict[str, dict[str, str]]:
        """What judges decide of, by score, as results have it; nothing where the scores' names say it."""
        from proctor.scoring.judges.judged import criteria_of

        return criteria_of(self.definition.scorers)

    def judges(self) -> list[KnownAnswerer]:
        """Return who is asked to judge its answers; nobody where nothing is scored."""
        from proctor.scoring.judges.judged import judges_of

        return [] if self.options.predict_only else judges_of(self.definition.scorers)

    def _own_definition(self) -> Definition:
        from proctor.recipes.own_definition import own_definition

        return own_definition(self)

    def specification(self) -> dict[str, Any]:
        """Return JSON-like data that describes the exam fully, for ``run.yaml``: what it names is held by value."""
        names = ("truncated", "answers", "choice_order", "perturb")
        said = {"seed": self.seed, **{name: getattr(self.options, name) for name in names}}
        found = {**self.source, **{name: value for name, value in said.items() if value is not None}}
        held = self.definition.held
        return {**found, HELD: held} if held else found

    def rows_digest(self) -> RowsDigest:
        """Read the rows that are asked about, put nothing in words, and return their digests."""
        found = RowsDigest()
        for each, row in chosen(self.opened, self.selection, self.name):
            found.add("" if isinstance(row, Failure) else self._digest(row, each))
        return found

    def _digest(self, row: Row, ask: Ask) -> str:
        if known := getattr(self.rows, "digests", None):  # of questions that were put in words before, and changed
            return str(known[ask.place])
        return instance_digest(row if self._opened_row is None else self._opened_row(row))

    @cached_property
    def _opened_row(self) -> Callable[[Row], Row] | None:
        from proctor.scoring.judges.judged import by_row

        return by_row(self.definition.scorers) if self.definition.scorers else None

    def _unusable(self, ask: Ask, row: Row, failure: Failure) -> Question:
        digest = self._digest(row, ask) if row is not _NO_ROW else ""
        return Question(ask.listed, row, Exchange(()), (), failure=failure, digest=digest)


def _judged(definition: Definition) -> list[dict[str, Any]]:
    from proctor.scoring.judges.judged import judged_by

    return judged_by(definition.scorers) if definition.scorers else []


_NO_ROW: Row = {}


def _counting(engine: Engine, longest: int) -> Callable[[Prompt], bool]:
    return lambda prompt: (engine.count_tokens(prompt) or 0) <= longest


def _lacking(exam: Exam, engine: Engine) -> Iterator[Diagnostic]:
    """Yield what an exam needs of an engine and does not get."""
    if "rolling_chat" in exam.asker.kinds and not engine.scores_chats:
        yield Diagnostic(
            f"'{engine.label}' cannot sit '{exam.name}'",
            why="the exam compares losses of chat messages, and this engine gives none",
            hint="ask a model that takes text (a base model, or a server's completions), a vLLM server with "
            "scoring=prompt_logprobs, or the generate form of the exam (…_gen)",
        )
    elif NEED_SCORES & exam.asker.kinds and not engine.can_score:
        yield Diagnostic(
            f"'{engine.label}' cannot sit '{exam.name}'",
            why="the exam compares log-probabilities, and this engine gives none for text it did not write",
            hint="use hf, smollm2, vllm, or openai with endpoint=completions on a server that echoes (vLLM, SGLang); "
            "or the generate form of the exam, where it has one",
        )
    if "converse" in exam.asker.kinds and not engine.takes_chats:
        yield Diagnostic(
            f"'{engine.label}' cannot sit '{exam.name}'",
            why="the exam is a conversation in chat messages, and this engine takes one string",
            hint="ask the chat endpoint of the server (openai without endpoint=completions, a config of a chat model)",
        )
    if not exam.asker.kinds <= NEED_SCORES and not engine.can_generate:
        yield Diagnostic(f"'{engine.label}' cannot sit '{exam.name}'", why="this engine writes no text")


def limited(exam: Exam, limit: int | None) -> Exam:
    """Return an exam of which at most ``limit`` instances are asked about, whatever its own limit."""
    if limit is None:
        return exam
    return replace(exam, ceiling=limit if exam.ceiling is None else min(exam.ceiling, limit))


def suited(exams: Iterable[Exam], engine: Engine) -> list[Exam]:
    """Return the exams as an engine can sit them; most are returned as they are. Doing it twice changes nothing."""
    return [exam.suited_to(engine) for exam in exams]


def add_groups(exam: Exam, groups: Sequence[ScoredGroup]) -> Exam:
    """Return an exam that belongs to more groups; those that it belongs to by name stay as they are."""
    names = {group.name for group in exam.groups}
    new = tuple(group for group in groups if group.name not in names)
    return replace(exam, groups=(*exam.groups, *new)) if new else exam
