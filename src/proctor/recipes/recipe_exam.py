"""A dataset recipe as an exam that can be run."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache
from itertools import islice
from typing import Any, overload

from proctor.artifacts import Artifact, fetch_artifact, to_data
from proctor.data.streams import MultiStream
from proctor.errors import DataError, TemplateError, did_you_mean
from proctor.ir import Choose, Decoding, Failure, Generate, Pair
from proctor.recipes.benchmark import Benchmark
from proctor.recipes.exam import Answered, Exam, Question
from proctor.recipes.group_scores import BenchmarkScores, Groupings, values_of, varied_of
from proctor.recipes.options import ExamOptions
from proctor.recipes.prompts import Rendered
from proctor.recipes.recipe import DatasetRecipe, Recipe
from proctor.recipes.rows import task_data_of
from proctor.scoring.grade import Columns, Grade
from proctor.scoring.judges.judge_client import remembering
from proctor.scoring.metrics_list import expand_metrics
from proctor.scoring.pipeline import grade_each

MOST_SHARED = 100_000
"""Distinct answers and references that are remembered while grading."""


class _TaskData(Sequence[dict[str, Any]]):
    """The task data of an exam's items, made again whenever somebody reads it: nothing is kept.

    Reading in order is cheap. Whoever jumps back causes one more pass, and the second time everything is kept.
    """

    def __init__(self, exam: RecipeExam, length: int) -> None:
        self._exam = exam
        self._length = length
        self._kept: list[dict[str, Any]] | None = None
        self._rows = self._fresh()
        self._position = 0
        self._jumps = 0

    def _fresh(self) -> Iterator[dict[str, Any]]:
        return map(task_data_of, islice(self._exam.rendered(), self._length))

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self._kept) if self._kept is not None else self._fresh()

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> Any:
        if isinstance(place, slice):
            return list(self)[place]
        wanted = place + self._length if place < 0 else place
        if self._kept is None and wanted < self._position:
            self._jumps += 1
            self._rows, self._position = self._fresh(), 0
            if self._jumps > 1:
                self._kept = list(self._rows)
        if self._kept is not None:
            return self._kept[wanted]
        for row in self._rows:
            self._position += 1
            if self._position > wanted:
                return row
        raise IndexError(place)


class RecipeExam:
    """A compiled dataset recipe, on one split.

    Attributes:
        groups: The benchmarks that it belongs to, outermost first; their scores are made of their members' scores.

    Args:
        name: The name under which results are filed.
        recipe: The recipe; it is compiled here, and later changes do not reach the exam.
        options: What the caller changes.
        limit: Most instances, where a benchmark sets one.
    """

    def __init__(
        self, name: str, recipe: DatasetRecipe, options: ExamOptions | None = None, limit: int | None = None
    ) -> None:
        self._options = options or ExamOptions()
        self.groups: tuple[BenchmarkScores, ...] = ()
        recipe = _with_options(recipe, self._options)
        self._name = name
        self._description = recipe.description or (recipe.card.description if recipe.card else None) or ""
        self._pipeline = recipe.compile()
        self._split = recipe.split
        self._request = recipe.request
        self._decoding = self._options.decode(_decoding_of(recipe))
        self._metrics = list(recipe.metrics if recipe.metrics is not None else recipe.used_task.metric_names)
        self._postprocessors = recipe.postprocessors
        self._checked = False
        self._known_processors: Sequence[Any] = ()
        self._prediction_type = recipe.used_task.prediction_type
        self._limit = limit
        self._group_by = [[each] if isinstance(each, str) else list(each) for each in recipe.group_by]
        self._varied = varied_of(recipe)
        self._specification = {"recipe": recipe.to_dict(), "split": self._split}

    @property
    def name(self) -> str:
        """The name under which results are filed."""
        return self._name

    @property
    def description(self) -> str:
        """One line on what the exam is."""
        return self._description

    def specification(self) -> dict[str, Any]:
        """Return the recipe and what the caller changed, as JSON-like data."""
        changed = {
            key: to_data(value) for key, value in asdict(self._options).items() if value not in (None, (), {}, False)
        }
        return {**self._specification, "options": changed}

    def questions(self) -> Iterator[Question]:
        """Yield the items lazily; every call yields equal items in the same order.

        Raises:
            ProctorError: A metric or processor does not exist; nobody is to be asked before that is known.
            DataError: There is no instance.
        """
        self._check_scoring()
        return self._some(map(self._item, range(self._count() or 2**62), self.rendered()))

    def _some(self, items: Iterator[Question]) -> Iterator[Question]:
        first = next(items, None)
        if first is None:
            raise DataError(
                f"the exam '{self._name}' has no instance",
                why=f"the split '{self._split}' is empty, or its steps and the demo pool leave nothing of it",
                hint=f"proctor show '{self._name}' --steps counts the rows after each step",
            )
        yield first
        yield from items

    def _check_scoring(self) -> None:
        """Look up what grades the answers, once."""
        if not self._checked:
            expand_metrics(self._metrics)
            for processor in self._postprocessors or ():
                fetch_artifact(processor)
            self._checked = True

    def _check_processors(self, processors: Sequence[Any]) -> None:
        """Look up the processors of a template when its first instance is asked about."""
        if self._postprocessors is None and processors is not self._known_processors:
            for processor in processors:
                fetch_artifact(processor)
            self._known_processors = processors

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the streams after each step from rows to prompts, with a word on what the step did."""
        return self._pipeline.stages()

    def rendered(self) -> Iterator[Rendered]:
        """Yield the instances with their prompts, without this run's limit."""
        renderers = self._pipeline.render_all()
        if self._split not in renderers:
            raise DataError(
                f"the exam '{self._name}' asks about the split '{self._split}', which its data does not have",
                why=f"the splits are {', '.join(renderers)}",
                hint=did_you_mean(self._split, renderers) or f"{self._name}[split={next(iter(renderers), 'test')}]",
            )
        return islice(renderers[self._split](), self._limit)

    def _count(self) -> int | None:
        limit = self._options.limit
        if limit is None or limit >= 1:
            return None if limit is None else int(limit)
        return math.ceil(sum(1 for _ in self.rendered()) * limit)

    def _item(self, doc_id: int, rendered: Rendered) -> Question:
        exchange = rendered.exchange()
        if self._request == "choose":
            if not exchange.choices:
                raise TemplateError(
                    f"the exam '{self._name}' compares choices, but its template {rendered.template} has none",
                    hint="use a template with choices, or request=generate",
                )
            before = _gap(rendered)
            pairs = tuple(Pair(rendered.prompt, before + choice) for choice in exchange.choices)
            request: Choose | Generate = Choose(pairs)
        else:
            request = Generate(rendered.prompt, self._decoding)
        data = task_data_of(rendered)
        if not doc_id:  # a field that is not there is named before anybody is asked
            values_of(data, (name for names in self._group_by for name in names))
        processors = rendered.instance["postprocessors"]
        self._check_processors(processors)
        return Question(doc_id, data, exchange, (request,), processors)

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; ``scores["groups"]`` lists the groups, where there are some."""
        groupings = Groupings(self._group_by, self._varied)
        predictions: list[str | Failure] = []
        references: list[Sequence[Any]] = []
        processors: list[Sequence[Any]] = []
        same: dict[Any, Any] = {}
        for each in answered:
            predictions.append(_shared(self._prediction(each), same))
            references.append(_shared(each.question.exchange.references, same))
            processors.append(self._postprocessors or each.question.processors)
            if groupings:
                groupings.add(each.question.instance)
        columns = Columns(predictions, references, _TaskData(self, len(predictions)))
        if not groupings:
            return grade_each(columns, self._metrics, processors)
        with remembering():  # groups ask a judge nothing new
            grade = grade_each(columns, self._metrics, processors)
            grade.scores["groups"] = groupings.scores(grade, columns.task_data, self._metrics)
        return grade

    def _prediction(self, answered: Answered) -> str | Failure:
        response = answered.responses[0]
        if response.failure is not None:
            return response.failure
        if self._request == "choose":
            likelihoods = [scored.log_likelihood for scored in response.scores]
            return answered.question.exchange.choices[likelihoods.index(max(likelihoods))]
        return strip_prefix(response.text, answered.question.exchange.answer_prefix)


def _shared(value: Any, seen: dict[Any, Any]) -> Any:
    """Return an equal value seen before, so that a million equal labels are kept once."""
    return seen.setdefault(value, value) if len(seen) < MOST_SHARED else seen.get(value, value)


def _gap(rendered: Rendered) -> str:
    """Return the space that separates a choice from the prompt, where the prompt ends in a word."""
    text = rendered.prompt.text
    return "" if rendered.prompt.is_chat or not text or text[-1].isspace() else " "


def strip_prefix(text: str, prefix: str) -> str:
    """Return an answer without the prefix that the prompt asked it to start with, should it repeat it."""
    return _prefix_pattern(prefix).sub("", text) if prefix else text


@lru_cache(maxsize=1024)
def _prefix_pattern(prefix: str) -> re.Pattern[str]:
    return re.compile(rf"^\s*{re.escape(prefix)}\s*")


def _decoding_of(recipe: DatasetRecipe) -> Decoding:
    return Decoding(max_tokens=recipe.max_tokens, temperature=recipe.temperature, stop=tuple(recipe.stop or ()))


def _with_options(recipe: DatasetRecipe, options: ExamOptions) -> DatasetRecipe:
    changes: dict[str, Any] = {}
    if options.num_demos is not None:
        changes["num_demos"] = options.num_demos
        if options.num_demos and recipe.demos_pool_size is None and not recipe.demos_pool:
            changes["demos_pool_size"] = max(100, options.num_demos + 1)
    if options.system_prompt is not None:
        changes["system_prompt"] = {"__type__": "textual_system_prompt", "text": options.system_prompt}
    if options.meta_template is not None:
        changes["format"] = {"__type__": "meta_template", **options.meta_template}
    elif options.apply_chat_template:
        changes["format"] = (
            {"__type__": "hf_system_format", "model_name": options.chat_template_model}
            if options.chat_template_model
            else {"__type__": "chat_api_format"}
        )
    if options.template is not None:
        changes["template"] = options.template
        changes["template_card_index"] = None
    if not changes:
        return recipe
    twin = recipe.model_copy()
    for name, value in changes.items():
        setattr(twin, name, value)
    twin.verify()
    return twin


def exams_of(name: str, recipe: Recipe | Artifact, options: ExamOptions | None = None) -> list[Exam]:
    """Return the exams that a recipe or benchmark consists of; members are named ``benchmark.path``."""
    if isinstance(recipe, DatasetRecipe):
        return [RecipeExam(name, recipe, options)]  # type: ignore[list-item]
    if isinstance(recipe, Benchmark):
        return _members_of(name, recipe, options)
    raise DataError(f"'{name}' is a {type(recipe).__name__}, which is no exam", hint="exams are recipes and benchmarks")


def _members_of(name: str, benchmark: Benchmark, options: ExamOptions | None) -> list[Exam]:
    """Return the exams of a benchmark; each knows the benchmarks that it belongs to."""
    exams: list[Exam] = []
    for path, leaf in benchmark.leaves():
        exam = RecipeExam(f"{name}.{path.replace('/', '.')}", leaf, options, benchmark.limit_of(leaf.split))
        exam.groups = tuple(_benchmarks_above(name, benchmark, path.split("/")))
        exams.append(exam)  # type: ignore[arg-type]
    return exams


def _benchmarks_above(name: str, benchmark: Benchmark, path: Sequence[str]) -> Iterator[BenchmarkScores]:
    yield scores_of_benchmark(name, benchmark)
    member = benchmark.members()[path[0]]
    if isinstance(member, Benchmark):
        yield from _benchmarks_above(f"{name}.{path[0]}", member, path[1:])


def scores_of_benchmark(name: str, benchmark: Benchmark) -> BenchmarkScores:
    """Return what makes the score of a benchmark of the scores of its members."""
    members = [
        scores_of_benchmark(f"{name}.{key}", member) if isinstance(member, Benchmark) else f"{name}.{key}"
        for key, member in benchmark.members().items()
    ]
    return BenchmarkScores(name, tuple(members))
