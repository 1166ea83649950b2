"""From responses to scores: predictions as upstream records them, evaluated, with intervals and failures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.dialects.aisbench.config import CHAT, CLP, GENERATE, LL, PPL, DatasetConfig
from proctor.dialects.aisbench.evaluators import evaluate, grading_problems
from proctor.dialects.aisbench.options import DatasetOptions
from proctor.errors import Diagnostic, ProctorError
from proctor.ir import Failure, Prompt, Request, Response, Rolling
from proctor.recipes.exam import Answered
from proctor.scoring.choice import first_largest, first_smallest
from proctor.scoring.evaluators.evaluation import Evaluation, mean_interval
from proctor.scoring.grade import Grade


@dataclass(slots=True)
class _Answers:
    """What the model said, one entry for each thing that is evaluated; conversations have one for each turn."""

    predictions: list[Any] = field(default_factory=list)
    references: list[Any] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[Any] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    raw: list[Any] = field(default_factory=list)
    golds: list[Any] = field(default_factory=list)
    failures: dict[int, Failure] = field(default_factory=dict)

    def add(self, prediction: Any, gold: Any, row: Mapping[str, Any], prompt: Any) -> None:
        """File one thing to evaluate, of the instance that was begun last."""
        self.predictions.append(prediction)
        self.references.append(gold)
        self.rows.append(dict(row))
        self.prompts.append(prompt)
        self.owners.append(len(self.raw) - 1)


@dataclass(frozen=True, slots=True)
class ConfigGrader:
    """Grades as the dataset's ``eval_cfg`` says.

    Attributes:
        config: The dataset.
        options: What the run changes.
        is_scored: Whether answers are scored, rather than only recorded.
    """

    config: DatasetConfig
    options: DatasetOptions
    is_scored: bool = True

    def check(self) -> Iterator[Diagnostic]:
        """Yield what can be known before anybody is asked: evaluators and post-processors that there are not."""
        if not self.is_scored:
            return
        yield from grading_problems(self.config.evaluation, self.options.model_postprocessor)

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores; what could not be answered is a failure, not a wrong answer."""
        return _grade(self, answered)


def _grade(exam: ConfigGrader, answered: Iterable[Answered]) -> Grade:
    answers = _collect(exam, answered)
    result = Grade(
        scores={},
        predictions=answers.raw,
        processed_predictions=list(answers.raw),
        processed_references=[_listed(gold) for gold in answers.golds],
        failures=answers.failures,
    )
    try:
        if exam.is_scored and len(answers.failures) < len(answers.raw):
            _file(result, _evaluated(exam, answers), answers)
    except ProctorError as error:
        name = str((exam.config.evaluation.get("evaluator") or {}).get("type", "evaluator"))
        result.metric_failures[name] = Failure("scoring", str(error), retryable=False)
    result.scores["num_of_instances"] = len(answers.raw) - len(result.failures)
    if result.failures:
        result.scores["num_of_failures"] = len(result.failures)
    return result


def _evaluated(exam: ConfigGrader, answers: _Answers) -> Evaluation:
    return evaluate(
        exam.config.evaluation,
        answers.predictions,
        answers.references,
        answers.rows,
        answers.prompts,
        exam.options.model_postprocessor,
        runs=(exam.config.values.get("k", 1), exam.config.count),
    )


def _collect(exam: ConfigGrader, answered: Iterable[Answered]) -> _Answers:
    found = _Answers()
    output = exam.config.reader.get("output_column")
    kind = exam.config.inferencer.kind
    for each in answered:
        found.raw.append(None)
        row = each.question.instance
        found.golds.append(row.get(output) if output else None)
        failure = each.failure
        if failure is not None:
            found.failures[len(found.raw) - 1] = failure
            found.raw[-1] = failure
            found.add(failure, found.golds[-1], row, each.question.exchange.source)
        elif kind == CHAT:
            _add_turns(found, each)
        else:
            prediction = _READ[kind](each, each.question.labels)
            found.raw[-1] = prediction
            found.add(prediction, found.golds[-1], row, _prompt_of(each.question.requests[0]))
    return found


def _add_turns(found: _Answers, each: Answered) -> None:
    texts = [text for response in each.responses for text in response.texts]
    golds = list(each.question.exchange.references)
    found.raw[-1] = texts if len(texts) > 1 else texts[0]
    found.golds[-1] = golds
    for text, gold in zip(texts, golds, strict=True):
        found.add(text, gold, each.question.instance, each.question.exchange.source)


def _generated(each: Answered, labels: Sequence[Any]) -> Any:
    del labels
    texts = each.responses[0].texts
    return list(texts) if len(texts) > 1 else texts[0] if texts else ""


def _least_perplexed(each: Answered, labels: Sequence[Any]) -> Any:
    """Return the label whose prompt has the least loss per token; of equals, the first."""
    if isinstance(each.question.requests[0], Rolling):
        losses = [_loss(response, first_token=1) for response in each.responses]
    else:
        pairs = zip(each.responses[::2], each.responses[1::2], strict=True)
        losses = [_loss(answer) - _loss(alone) for answer, alone in pairs]
    return labels[first_smallest(losses)]


def _loss(response: Response, first_token: int = 0) -> float:
    """Return the mean negative log-likelihood; upstream divides by all tokens, the unscored first one too."""
    scored = response.scores[0]
    return -scored.log_likelihood / (scored.token_count + first_token)


def _most_likely(each: Answered, labels: Sequence[Any]) -> Any:
    values = [response.scores[0].log_likelihood for response in each.responses]
    return labels[first_largest(values)]


def _probabilities(each: Answered, labels: Sequence[Any]) -> list[float]:
    del labels
    values = [scored.log_likelihood for scored in each.responses[0].scores]
    weights = [math.exp(value - max(values)) for value in values]
    return [weight / sum(weights) for weight in weights]


_READ = {GENERATE: _generated, PPL: _least_perplexed, LL: _most_likely, CLP: _probabilities}


def _prompt_of(request: Request) -> Any:
    prompt = getattr(request, "prompt", None)
    return prompt.payload if isinstance(prompt, Prompt) else getattr(request, "text", "")


def _listed(gold: Any) -> list[Any]:
    return [] if gold is None else list(gold) if isinstance(gold, list | tuple) else [gold]


def _file(result: Grade, evaluation: Evaluation, answers: _Answers) -> None:
    """Put an evaluation into a grade: scores with their intervals, columns with one entry for each instance."""
    total = len(answers.raw)
    columns: dict[str, Sequence[Any]] = {
        name: _per_instance(column, answers.owners, total) for name, column in evaluation.instance_scores.items()
    }
    result.instance_scores = columns
    for place, failure in evaluation.failures.items():
        result.failures.setdefault(answers.owners[place], failure)
    if len(evaluation.predictions) == len(answers.owners):
        processed = list(result.processed_predictions)
        for owner, prediction in zip(answers.owners, evaluation.predictions, strict=True):
            processed[owner] = prediction
        result.processed_predictions = processed
    scores = {name: value for name, value in evaluation.scores.items() if isinstance(value, int | float)}
    for name, value in scores.items():
        result.scores[name] = value
        if (bounds := evaluation.bounds.get(name) or mean_interval(name, float(value), columns)) is not None:
            result.scores[f"{name}_ci_low"], result.scores[f"{name}_ci_high"] = bounds
    main = evaluation.main if evaluation.main in scores else next(iter(scores), None)
    if main is not None:
        result.scores.update(score=scores[main], score_name=main)
        for end in ("_ci_low", "_ci_high"):
            if (bound := result.scores.get(f"{main}{end}")) is not None:
                result.scores[f"score{end}"] = bound


def _per_instance(column: Sequence[Any], owners: Sequence[int], total: int) -> list[float | None]:
    """Return the mean of each instance's entries; ``None`` where it has none."""
    sums: list[list[float]] = [[] for _ in range(total)]
    for owner, value in zip(owners, column, strict=True):
        if value is not None:
            sums[owner].append(float(value))
    return [sum(values) / len(values) if values else None for values in sums]
