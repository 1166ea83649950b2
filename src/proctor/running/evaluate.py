"""``evaluate`` as users call it: what judges said is kept in the response log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proctor.errors import UsageError
from proctor.ir import Failure, Generate, Response
from proctor.ir.question import Answered, AnsweredBlocks, Question
from proctor.logs import say_once

if TYPE_CHECKING:
    from proctor.recipes.exam import Exam
    from proctor.recipes.options import ExamOptions
    from proctor.results.evaluate import EvaluationResults
    from proctor.running.anew import Anew, Grading
    from proctor.running.log import ResponseLog
    from proctor.running.run import RunResult


def evaluate(
    predictions: Sequence[Any] | None,
    dataset: object = None,
    data: object = None,
    calc_confidence_intervals: bool = True,
    *,
    log: ResponseLog | str | Path | None = None,
    options: ExamOptions | None = None,
    anew: Anew | None = None,
) -> EvaluationResults:
    """Score predictions on a dataset that a recipe made.

    Judges ask through the response log: what one said about a prediction before, in whatever process, is taken from
    there, and its engine is asked nothing. ``metadata["judges"]`` of the results counts what was asked. How far judges
    are is logged every ten seconds.

    Args:
        predictions: One for each instance, in order: what a model wrote, or a whole :class:`~proctor.ir.Response`, or a
            :class:`~proctor.ir.Failure` where there is none. ``None`` for metrics that need no predictions.
        dataset: One split: a Hugging Face dataset or a list of rows.
        data: An old name of ``dataset``.
        calc_confidence_intervals: Whether to compute confidence intervals.
        log: The response log or its file; by default the one in the cache folder. Without judges it is not touched.
        options: ``answers`` and ``truncated`` say what of a text is graded: by default what stands behind the thoughts,
            cut off or not.
        anew: Ask judges again although the log has what they said: all (``everything``), or those whose ``verdicts``
            could not be read. What they said is set aside in the log.

    Raises:
        ScoringError: The lengths differ, or there is nothing to score.
        PolicyError: A judge's engine may not see the data. Nothing of it was sent.
        ProctorError: A metric cannot be had, or a package is missing.
    """
    from proctor.results import evaluate as scores  # on first use: the name is imported by programs that only ask
    from proctor.running.judging import judges_through
    from proctor.running.progress import JudgeLog

    def kinds(positions: Sequence[int] | None) -> Mapping[int, str]:
        given, rows = (
            each if positions is None or each is None else [each[position] for position in positions]  # type: ignore[index]
            for each in (predictions, dataset if dataset is not None else data)
        )
        found = scores.evaluate(given, rows, calc_confidence_intervals=False, options=options)  # type: ignore[arg-type]
        return {position: failure["kind"] for position, failure in found.failures.items()}

    _set_aside(anew, log, kinds)
    with judges_through(log, watch=JudgeLog()) as judging:
        results = scores.evaluate(predictions, dataset, data, calc_confidence_intervals, options=options)
    if judged := judging.summary():
        results.metadata["judges"] = judged
    return results


def _set_aside(anew: Anew | None, log: ResponseLog | str | Path | None, grading: Grading) -> None:
    if anew is None:
        return
    from proctor.running.anew import set_aside
    from proctor.running.log import ResponseLog

    with nullcontext(log) if isinstance(log, ResponseLog) else ResponseLog(log) as opened:
        set_aside(anew, opened, [grading])


def evaluate_exam(
    exam: Exam, predictions: Sequence[Any], *, log: ResponseLog | str | Path | None = None, anew: Anew | None = None
) -> RunResult:
    """Score predictions for the questions of an exam of any dialect, as a run that got these answers would.

    Args:
        exam: Who is asked for text, or can be (choices as text); the questions are those that its options leave.
        predictions: One for each question, in order: what a model wrote, or a whole :class:`~proctor.ir.Response`, or a
            :class:`~proctor.ir.Failure` where there is none.
        log: The response log for judges.
        anew: As of :func:`evaluate`.

    Raises:
        UsageError: The numbers of predictions and questions differ, or a question is not answered by one text.
        ProctorError: The exam cannot be read, or not be graded.
    """
    from proctor.engines.scripted import ScriptedEngine
    from proctor.running.accounts import Tally
    from proctor.running.anew import kinds_of
    from proctor.running.drawn_questions import part_of
    from proctor.running.entries import entry_of
    from proctor.running.judging import judges_through
    from proctor.running.listening import listening
    from proctor.running.progress import JudgeLog
    from proctor.running.run import RunResult

    writes = ScriptedEngine(answer="")
    exam = exam.suited_to(writes)  # choices as text
    if problems := exam.problems():
        raise UsageError(problems)
    _check_count(exam, len(predictions))
    hear = listening(writes, exam)

    def answered(question: Question, prediction: Any) -> Answered:
        responses = [hear(request, _response(prediction)) for request in question.requests]
        return Answered(question, responses)

    def kinds(positions: Sequence[int] | None) -> Mapping[int, str]:
        every = [answered(*each) for each in zip(exam.questions(), predictions, strict=True)]
        chosen = every if positions is None else [every[position] for position in positions]
        part = exam if positions is None else part_of(exam, [each.question for each in chosen])
        return kinds_of(part.grade(AnsweredBlocks([chosen])))

    _set_aside(anew, log, kinds)
    tally = Tally([answered(*each)] for each in zip(exam.questions(), predictions, strict=True))
    with judges_through(log, watch=JudgeLog()) as judging:
        grade = exam.grade(AnsweredBlocks(tally.blocks()))
    entry = entry_of(grade, tally.count, tally.endings.as_data())
    if exam.variant:
        say_once(f"{exam.name}: {exam.variant}")
        entry["variant"] = exam.variant
    judged = judging.summary()
    return RunResult({exam.name: entry}, {"judges": judged} if judged else {}, {exam.name: grade})


def _check_count(exam: Exam, given: int) -> None:
    count = 0
    for question in exam.questions():
        count += 1
        if question.failure is None and [type(each) for each in question.requests] != [Generate]:
            raise UsageError(
                f"texts cannot be scored for '{exam.name}'",
                why=f"question {question.number} is not answered by one text: it compares likelihoods, or converses",
                hint="proctor run --model replay --model-args path=SAMPLES.jsonl repeats what an earlier run got",
            )
    if count != given:
        raise UsageError(
            f"{given} predictions are given for {count} questions of '{exam.name}'",
            why="an exam with repeats has each question several times" if exam.options.repeats else "",
            hint="one for each question, in order",
        )


def _response(prediction: Any) -> Response:
    if isinstance(prediction, Response):
        return prediction
    if isinstance(prediction, Failure):
        return Response(failure=prediction)
    if isinstance(prediction, str):
        return Response(texts=(prediction,))
    kind, message = "wrong_type", f"the prediction is of type {type(prediction).__name__}, and has to be a text"
    if prediction is None:
        kind, message = "no_prediction", "there is no prediction (None)"
    return Response(failure=Failure(kind, message, retryable=False))
