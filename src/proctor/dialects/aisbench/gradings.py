"""Gradings of a dataset: its answers, post-processors and evaluator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from proctor.data.fields import Row
from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.evaluation import prediction_functions, processed
from proctor.dialects.aisbench.evaluation_checks import grading_problems, row_problems
from proctor.dialects.aisbench.evaluator_scorer import EvaluatorScorer
from proctor.dialects.aisbench.grading_checks import OWN_REFERENCES, file_problems, judge_prompt_problems
from proctor.dialects.aisbench.inference_checks import labels_of
from proctor.dialects.aisbench.inferencers import CHAT, PPL, TEXT_PPL
from proctor.dialects.aisbench.judged_names import judge_of
from proctor.dialects.aisbench.options import DatasetOptions
from proctor.dialects.aisbench.readings import Reader
from proctor.dialects.aisbench.values import short_name
from proctor.errors import Diagnostic, ProctorError
from proctor.ir import Failure
from proctor.ir.question import Answered
from proctor.logs import get_logger
from proctor.scoring.columns import Columns
from proctor.scoring.grades import Grade
from proctor.scoring.grading.grader import ExamGrader
from proctor.scoring.grading.groups import GroupBy
from proctor.scoring.grading.protocols import Grading, Read, Scope, Step
from proctor.scoring.scores import Score
from proctor.scoring.text.how_read import each_of


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
            yield from file_problems(self._config)
            yield from row_problems(self._config.evaluation, self._references)
            if (judge := judge_of(self._config.values)) is not None:
                yield from judge.problems()
            yield from judge_prompt_problems(self._config, self._first_row())
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
        evaluator = short_name((config.evaluation.get("evaluator") or {}).get("type", ""))
        in_rounds = evaluator in _OF_ROUNDS and config.inferencer.mode == "every"
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
            compares=output is not None or kind in OWN_REFERENCES or judge is not None,
        )
        return ExamGrader([Grading("", read, steps, [scorer])], group_by=self._group_by)


_OF_ROUNDS = ("LMEvaluator", "SciCodeEvaluator")
"""Evaluators that read a conversation as one answer."""
_EQUALS = ("AccEvaluator", "AccwithDetailsEvaluator")
"""Evaluators that compare the label that was chosen with the right answer."""
_SHOWN = 3  # right answers that a message names


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
            values = [processed(function, value, row) for value, row in zip(each_of(values), rows, strict=True)]
        return replace(columns, predictions=values)
