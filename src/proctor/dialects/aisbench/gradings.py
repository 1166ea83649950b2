"""How answers of a dataset become scores: what was answered, its post-processors, its evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.asking_checks import labels_of
from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.datasets.reader import kept_places
from proctor.dialects.aisbench.evaluators import (
    declared_main,
    evaluated,
    evaluation_problems,
    grading_problems,
    is_class,
    is_known,
    is_recorded_only,
    prediction_functions,
    processed,
    project_of_config,
    reads_rows,
    row_problems,
    unit_of,
)
from proctor.dialects.aisbench.inferencers import CHAT, PPL, TEXT_PPL
from proctor.dialects.aisbench.judge_inference import ANSWER, judge_of
from proctor.dialects.aisbench.judges import ASKING, judge_templates
from proctor.dialects.aisbench.options import DatasetOptions
from proctor.dialects.aisbench.readings import TURN, Reader
from proctor.dialects.aisbench.template_keys import template_problems
from proctor.dialects.aisbench.values import location_of, short_name, texts_in
from proctor.dialects.aisbench.word_checks import columns_of_reader
from proctor.errors import Diagnostic, ProctorError, ScoringError
from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.logs import get_logger
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.evaluation import Evaluation, mean_interval
from proctor.scoring.grade import Columns, Grade, Measured
from proctor.scoring.grader import ExamGrader
from proctor.scoring.grading import Grading, Need, Read, Scope, Step
from proctor.scoring.groupings import GroupBy
from proctor.scoring.score import Score
from proctor.templates.prompt_list import safe_format


class ConfigGrader:
    """Grades as the dataset's ``eval_cfg`` says.

    Args:
        config: The dataset.
        options: What the run changes.
        in_blocks: Whether the copies of all rows stand behind each other; asked when answers are scored.
        group_by: Columns by which rows are scored in groups, too.
        is_scored: Whether answers are scored, rather than only recorded.
        reader: How answers are read; by default as the dataset's inferencer records them.
        rows: Those that are asked about: some evaluators need packages and data for some rows only.
    """

    def __init__(
        self,
        config: DatasetConfig,
        options: DatasetOptions,
        in_blocks: Callable[[], bool],
        group_by: GroupBy | None = None,
        *,
        is_scored: bool = True,
        reader: Read | None = None,
        rows: Callable[[], Iterable[Row | Failure]] = tuple,
    ) -> None:
        self._config, self._options, self._rows = config, options, rows
        self._reader = reader
        self._in_blocks, self._group_by, self._is_scored = in_blocks, group_by or GroupBy(), is_scored

    def check(self) -> Iterator[Diagnostic]:
        """Yield what can be known before anybody is asked: evaluators and post-processors that there are not."""
        if self._is_scored:
            yield from grading_problems(self._config.evaluation, self._model_postprocessor)
            yield from _of_the_file(self._config)
            yield from row_problems(self._config.evaluation, self._references)
            if (judge := judge_of(self._config.values)) is not None:
                yield from judge.problems()
            yield from _judge_prompt_problems(self._config, self._first_row())
            self._say_strange_references()

    def _say_strange_references(self) -> None:
        """Say how many right answers are none of the labels that are compared: no answer can equal them."""
        evaluation, labels = self._config.evaluation, labels_of(self._config.inference)
        name = short_name((evaluation.get("evaluator") or {}).get("type", ""))
        if self._config.inferencer.kind != PPL or name not in _EQUALS or not labels or len(evaluation) > 1:
            return
        known = set(map(str, labels))
        counts = Counter(str(gold) for gold in self._references() if str(gold) not in known)
        if counts:
            text = (
                "%s: what is right in %s is none of the labels that are compared (%s), and any answer counts as wrong"
            )
            rows = "1 row" if counts.total() == 1 else f"{counts.total()} rows"
            get_logger().warning(text, self._config.abbr, rows, ", ".join(map(repr, list(counts)[:_SHOWN])))

    def _first_row(self) -> Row:
        """Return a row that can be asked about; an empty one where none can be read, which is said by itself."""
        with suppress(ProctorError):
            return next((row for row in self._rows() if not isinstance(row, Failure)), {})
        return {}

    def _references(self) -> Iterator[Any]:
        """Yield the right answers; none where the rows cannot be read, which is said by itself."""
        output = self._config.reader.get("output_column") or ""
        with suppress(ProctorError):
            yield from (row.get(output) for row in self._rows() if not isinstance(row, Failure))

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; what could not be answered is a failure, not a wrong answer."""
        grade = self.grader.grade(answered)
        grade.copies = self._config.count
        return grade

    @property
    def declared_main(self) -> Score | None:
        """The main score without its value, where its unit is known before anybody is asked."""
        return self.grader.declared_main

    @property
    def _model_postprocessor(self) -> Mapping[str, Any] | None:
        return self._options.postprocessor_of(self._config.abbr)

    @cached_property
    def grader(self) -> ExamGrader:
        """The grader of the core; made on first use, since its evaluator may be code."""
        config = self._config
        output = config.reader.get("output_column")
        compares = short_name((config.evaluation.get("evaluator") or {}).get("type", "")) == "LMEvaluator"
        in_rounds = compares and config.inferencer.mode == "every"
        read = self._reader or Reader(config.inferencer.kind, output, config.project, in_rounds=in_rounds)
        if not self._is_scored:
            return ExamGrader([Grading("", read, [_Golds(output)])])
        judge = judge_of(config.values)
        steps: list[Step] = [_Golds(output), *([judge] if judge is not None else [])]
        steps.append(PostProcessing(config.evaluation, self._model_postprocessor))
        runs = (config.values.get("k", 1), config.count)
        kind = config.inferencer.kind
        column = "ppl" if kind == TEXT_PPL else ""
        scorer = EvaluatorScorer(
            config.evaluation,
            runs,
            self._in_blocks,
            has_turns=kind == CHAT and not in_rounds,
            is_judged=judge is not None,
            column=column,
            compares=output is not None or kind in _OWN_REFERENCES or judge is not None,
        )
        return ExamGrader([Grading("", read, steps, [scorer])], group_by=self._group_by)


_EQUALS = ("AccEvaluator", "AccwithDetailsEvaluator")
"""Evaluators that compare the label that was chosen with the right answer."""
_SHOWN = 3
"""Right answers that a message names."""
_JUDGED = ("prediction", "prediction2", "obj_gold", "reference")
"""What judges see beside the columns of the row."""
_OWN_REFERENCES = (CHAT, TEXT_PPL)
"""What needs no output column: conversations bring what would have been said, and losses are compared with nothing."""
_NO_REFERENCES = "the evaluator compares answers with right ones, and reader_cfg names no output_column"


def scoring_problems(config: DatasetConfig) -> Iterator[Diagnostic]:
    """Yield what the file alone can tell about how answers are scored; a run finds the same before it asks."""
    if isinstance(config.values.get("eval_cfg"), Mapping) and "evaluator" not in config.values["eval_cfg"]:
        hint = "evaluator=dict(type=AccEvaluator); a dataset that is only asked has no eval_cfg"
        yield Diagnostic("the eval_cfg names no evaluator", config.location, "$.eval_cfg", hint=hint)
    yield from evaluation_problems(config.evaluation)
    yield from _of_the_file(config)


def _of_the_file(config: DatasetConfig) -> Iterator[Diagnostic]:
    yield from reference_problems(config)
    for path, template in judge_templates(config.evaluation.get("evaluator")):
        yield from template_problems(template, path, [*columns_of_reader(config.reader), *_JUDGED])


def _judge_prompt_problems(config: DatasetConfig, row: Row) -> Iterator[Diagnostic]:
    """Yield prompts of judges that do not show the answer; say which names in braces they keep as they stand."""
    judge, asked = config.evaluation.get("evaluator") or {}, judge_of(config.values)
    if not row:
        return
    if asked is not None:
        kept_places("the judge's prompt", asked.values.get("prompt_template"), {*row, ANSWER})
    for path, template in judge_templates(judge):
        kept_places("the judge's prompt", template, {*row, *_JUDGED})
        named = "\n".join(texts_in(template))
        fields = {str(name): value for name, value in row.items()}
        if not judge.get("multi_eval") and "{prediction" not in safe_format(named, **fields):
            what, hint = "the judge's prompt does not show the answer", "the answer is {prediction}"
            yield Diagnostic(what, location_of(template), path, hint=hint)


def reference_problems(config: DatasetConfig) -> Iterator[Diagnostic]:
    """Yield an evaluator that sees nothing but answers and references, where no column holds references."""
    judge = config.evaluation.get("evaluator") or {}
    if config.reader.get("output_column") is not None or config.inferencer.kind in _OWN_REFERENCES:
        return
    if not judge or judge_of(config.values) is not None or reads_rows(judge) or is_recorded_only(judge):
        return
    why = f"{short_name(judge['type'])} would find every answer wrong, or none"
    hint = "output_column='answer'; --predict-only records answers without scores"
    yield Diagnostic(_NO_REFERENCES, location_of(config.reader), "$.reader_cfg.output_column", why, hint)


class _NoReferences(Sequence[Any]):
    """References of a dataset that has none: an evaluator that looks at one ends with the reason."""

    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Any) -> Any:
        """Refuse.

        Raises:
            ScoringError: Always.
        """
        raise ScoringError(_NO_REFERENCES, hint="output_column='answer'")


# -- what becomes of answers --------------------------------------------------------------------------------------


class _Golds:
    """Puts the right answer beside answers that failed: nobody has read them."""

    name = "output_column"
    scope: Scope = "value"

    def __init__(self, output: str | None) -> None:
        self._output = output

    def process(self, columns: Columns) -> Columns:
        """Return columns with all references."""
        if not any(isinstance(each, Failure) for each in columns.predictions):
            return columns
        rows = zip(columns.predictions, columns.references, columns.all_fields(), strict=True)
        golds = [self._gold(row) if isinstance(value, Failure) else gold for value, gold, row in rows]
        return replace(columns, references=golds)

    def _gold(self, row: Mapping[str, Any]) -> Any:
        return row.get(self._output) if self._output else None


class PostProcessing:
    """The post-processors of the model, the dataset and the evaluator, one after the other.

    Args:
        evaluation: The ``eval_cfg``.
        model_postprocessor: ``pred_postprocessor`` of the model's config.
    """

    name = "pred_postprocessor"
    scope: Scope = "value"

    def __init__(self, evaluation: Mapping[str, Any], model_postprocessor: Mapping[str, Any] | None) -> None:
        self._evaluation, self._model = evaluation, model_postprocessor

    @cached_property
    def _functions(self) -> Sequence[Callable[[Any, Mapping[str, Any]], Any]]:
        return prediction_functions(self._evaluation, self._model)

    def process(self, columns: Columns) -> Columns:
        """Return columns whose predictions have been through all of them."""
        if not self._functions:
            return columns
        values: Sequence[Any] = columns.predictions
        rows = columns.all_fields()
        for function in self._functions:
            values = [processed(function, value, row) for value, row in zip(values, rows, strict=True)]
        return replace(columns, predictions=values)


@dataclass(frozen=True, slots=True)
class EvaluatorScorer:
    """The evaluator of a dataset, over all answers.

    Attributes:
        evaluation: The ``eval_cfg``.
        runs: ``k`` and ``n`` of the dataset.
        in_blocks: Whether the copies of all rows stand behind each other.
        has_turns: Whether several readings belong to one row: the turns of a conversation.
        is_judged: Whether a judge reads the rows first.
        column: Under which name evaluators find what was measured; empty where answers are predictions.
        compares: Whether there is something to compare answers with.
    """

    evaluation: Mapping[str, Any]
    runs: tuple[int | Sequence[int], int]
    in_blocks: Callable[[], bool]
    has_turns: bool = False
    is_judged: bool = False
    column: str = ""
    compares: bool = True

    @property
    def name(self) -> str:
        """The evaluator's type."""
        return str(self._evaluator.get("type", "evaluator"))

    @property
    def _evaluator(self) -> Mapping[str, Any]:
        return self.evaluation.get("evaluator") or {}

    @property
    def needs(self) -> frozenset[Need]:
        """Whole rows where the evaluator, a post-processor of references or several runs look at them."""
        rows = reads_rows(self._evaluator) or self.evaluation.get("dataset_postprocessor") or self.runs[1] > 1
        found: list[Need] = ["fields"] if rows or self.has_turns or self.is_judged else []
        return frozenset([*found, "prompts"] if is_class(self._evaluator) else found)

    @property
    def declared_main(self) -> Score | None:
        """The evaluator's main score without its value, where its unit is known."""
        return declared_main(self._evaluator)

    def check(self) -> Iterator[Diagnostic]:
        """Yield nothing; the ``eval_cfg`` is checked as a whole."""
        yield from ()

    def measure(self, columns: Columns, *, intervals: bool = True, instances: bool = True) -> Measured:
        """Return what the evaluator says.

        Raises:
            ProctorError: It cannot say anything.
        """
        if is_recorded_only(self._evaluator):
            return Measured()
        if all(isinstance(each, Failure) for each in columns.raw or columns.predictions):
            return Measured()
        if intervals and instances:  # the whole, and not a part of it
            self._say_gaps(columns)
        found = self._evaluated(columns)
        numbers = {name: value for name, value in found.scores.items() if isinstance(value, int | float)}
        of_rows = self._of_rows(found, columns)
        scores = [self._score(name, value, found, of_rows, intervals=intervals) for name, value in numbers.items()]
        return Measured(
            scores,
            found.main if found.main in numbers else next(iter(numbers), ""),
            {name: list(map(_number, column)) for name, column in found.instance_scores.items()} if instances else {},
            found.failures,
            parsed=found.predictions if len(found.predictions) == len(columns) else None,
        )

    def _evaluated(self, columns: Columns) -> Evaluation:
        rows: Sequence[Mapping[str, Any]] = columns.task_data
        if self.has_turns:
            rows = [{key: value for key, value in row.items() if key != TURN} for row in rows]
        project = project_of_config(self.evaluation)
        given = list(columns.predictions)
        references: Sequence[Any] = list(columns.references)
        if not self.compares and is_known(self._evaluator) and short_name(self._evaluator["type"]) not in ASKING:
            references = _NoReferences(len(references))
        more = {self.column: given} if self.column else {}
        cases = Cases(given, references, rows, columns.prompts, more, project)
        return evaluated(self.evaluation, cases, self.runs, in_blocks=self.in_blocks())

    def _say_gaps(self, columns: Columns) -> None:
        """Say how many rows have no right answer: no answer equals it, as upstream."""
        pairs = zip(columns.predictions, columns.references, strict=True)
        gaps = sum(gold is None for given, gold in pairs if not isinstance(given, Failure))
        if self.compares and gaps and not reads_rows(self._evaluator):
            text = "%d of %d rows have no right answer, and count as wrong: no answer equals None"
            get_logger().warning(text, gaps, len(columns))

    def _of_rows(self, found: Evaluation, columns: Columns) -> Mapping[str, Sequence[float | None]]:
        """Return the instance scores of rows; of several turns the mean."""
        if not self.has_turns:
            return found.instance_scores
        starts = [place for place, row in enumerate(columns.task_data) if not row.get(TURN)]
        ends = [*starts[1:], len(columns)]
        spans = [slice(*each) for each in zip(starts, ends, strict=True)]
        return {name: [_mean(column[span]) for span in spans] for name, column in found.instance_scores.items()}

    def _score(
        self,
        name: str,
        value: float,
        found: Evaluation,
        of_rows: Mapping[str, Sequence[float | None]],
        *,
        intervals: bool,
    ) -> Score:
        unit, higher = unit_of(self._evaluator, name)
        bounds = found.bounds.get(name) or mean_interval(name, float(value), of_rows, unit) if intervals else None
        low, high = bounds if bounds is not None else (None, None)
        return Score(name, value, low, high, unit=unit, higher_is_better=higher, metric=self.name)


def _number(value: float | None) -> float | None:
    return None if value is None else float(value)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None
