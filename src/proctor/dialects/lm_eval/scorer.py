"""From answers to scores: filters, metrics of each document, aggregates with their standard errors."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.fields import as_function
from proctor.dialects.lm_eval.filters import FilterPipeline, make_pipelines
from proctor.dialects.lm_eval.metrics import (
    DEFAULT_METRICS,
    CoreMetric,
    Seen,
    core_metric,
    find_aggregation,
    find_metric,
    is_core_metric,
)
from proctor.dialects.lm_eval.prepared import DocumentView
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.dialects.lm_eval.scores import Measure, Values, add_scores, name_main_score, score_key
from proctor.errors import Diagnostic, Location, ProctorError, ScoringError
from proctor.ir import Failure, Response
from proctor.logs import get_logger
from proctor.recipes.exam import Answered
from proctor.scoring.aggregations import Aggregate
from proctor.scoring.choice import CHOICE_SCORES, OUTSIDE, ChoiceAnswer, chosen, first_largest, probabilities
from proctor.scoring.grade import Grade
from proctor.scoring.metric_table import metric_table
from proctor.scoring.registry import LM_EVAL
from proctor.scoring.repeats import score_of_repeats
from proctor.scoring.row_metrics import TEXT_METRICS

View = Callable[[Mapping[str, Any]], DocumentView]


@dataclass(slots=True)
class Metric:
    """A metric of a task, ready to use."""

    name: str
    function: Callable[..., Any] | None
    arguments: dict[str, Any]
    aggregate: Aggregate
    higher_is_better: bool


@dataclass(slots=True)
class _Answer:
    """One document with what was answered, before filters: one entry per request, each a list of repeats."""

    doc: Mapping[str, Any]
    requests: list[list[Any]]
    failure: Failure | None = None
    responses: Sequence[Response] = ()
    filtered: dict[str, list[Any]] = field(default_factory=dict)
    problems: dict[str, Failure] = field(default_factory=dict)
    is_unusable: bool = False


def metrics_of(config: TaskConfig) -> list[Metric]:
    """Return the metrics of a task.

    Raises:
        ScoringError: There is no such metric or aggregation.
        TrustError: One is code, and code is not trusted.
    """
    if config.metric_list is None:
        given: list[dict[str, Any]] = [{"metric": name} for name in DEFAULT_METRICS[config.output_type]]
    else:
        given = config.metric_list
    return [_metric(config, entry, number) for number, entry in enumerate(given) if not _is_core(config, entry)]


def core_metrics_of(config: TaskConfig) -> list[CoreMetric]:
    """Return the metrics of a task that score all its answers at once: of catalogs, of OpenCompass, of plugins.

    Raises:
        ProctorError: One cannot be made.
    """
    found = []
    for number, entry in enumerate(config.metric_list or ()):
        try:
            metric = core_metric(entry) if _is_core(config, entry) else None
        except ProctorError as error:
            raise error.located(_place(config, number), f"$.metric_list[{number}]") from None
        found += [] if metric is None else [metric]
    return found


def _is_core(config: TaskConfig, entry: Mapping[str, Any]) -> bool:
    return config.process_results is None and is_core_metric(entry)


def _place(config: TaskConfig, number: int) -> Location | None:
    return config.source.location(f"metric_list[{number}]") if config.source is not None else None


def _metric(config: TaskConfig, entry: dict[str, Any], number: int) -> Metric:
    try:
        name, function, arguments = _named(config, entry)
        aggregate = find_aggregation(entry.get("aggregation"), name)
    except ProctorError as error:
        raise error.located(_place(config, number), f"$.metric_list[{number}]") from None
    known = metric_table().find(name, LM_EVAL, {LM_EVAL})
    default = True if known is None else known.higher_is_better
    return Metric(name, function, arguments, aggregate, bool(entry.get("higher_is_better", default)))


def _named(config: TaskConfig, entry: dict[str, Any]) -> tuple[str, Callable[..., Any] | None, dict[str, Any]]:
    spec = entry["metric"]
    if config.process_results is not None and not isinstance(spec, FunctionReference):
        return str(spec), None, {}
    arguments = {key: value for key, value in entry.items() if key not in {"metric", "aggregation", "higher_is_better"}}
    if spec in {"pass@k", "avg@k", "maj@k"}:
        return str(spec), None, arguments
    if config.output_type == "multiple_choice" and spec in CHOICE_SCORES:
        return str(spec), None, arguments
    if config.output_type.startswith("loglikelihood") and spec in TEXT_METRICS:
        return str(spec), None, arguments
    return find_metric(entry)


class TaskScorer:
    """Scores the answers of a task.

    Args:
        config: The task.
        view: What the task finds in a document.
        resamples: Bootstrap resamples behind a standard error.
    """

    def __init__(self, config: TaskConfig, view: View, resamples: int) -> None:
        self.config = config
        self.view = view
        self.metrics = metrics_of(config)
        self.core_metrics = core_metrics_of(config)
        self.pipelines = make_pipelines(config.filter_list)
        self._process = as_function(config.process_results, "process_results")
        self._resamples = resamples
        self._aggregates: dict[str, Aggregate] = {each.name: each.aggregate for each in self.metrics}
        self._golds_outside = 0

    @property
    def higher_is_better(self) -> dict[str, bool]:
        """Whether more is better, by metric."""
        own = {each.name: each.higher_is_better for each in self.metrics}
        return {**own, **{each.metric.main_score: each.higher_is_better for each in self.core_metrics}}

    def check(self) -> Iterator[Diagnostic]:
        """Yield what the metrics miss: packages, trust in code."""
        known = metric_table().of(LM_EVAL) if self._process is None else {}
        for metric in self.metrics:
            yield from known[metric.name].check() if metric.name in known else ()
        for each in self.core_metrics:
            yield from each.metric.check()

    # -- columns ----------------------------------------------------------------------------------------------

    def grade(self, answered: Iterable[Answered]) -> Grade:
        """Turn responses into predictions and scores."""
        answers = [self._answer(each) for each in answered]
        good = [each for each in answers if each.failure is None]
        scores: dict[str, Any] = {}
        columns: dict[str, Sequence[Any]] = {}
        failures = {place: each.failure for place, each in enumerate(answers) if each.failure is not None}
        broken: dict[str, Failure] = {}
        self._golds_outside = 0
        for pipeline in self.pipelines:
            self._filter(pipeline, good)
            found = [self._scored(place, each, pipeline.name, failures) for place, each in enumerate(answers)]
            broken.update(add_scores(scores, columns, pipeline.name, found, self._measure()))
            broken.update(self._add_core_scores(scores, columns, pipeline.name, answers, failures))
        self._warn_of_golds()
        name_main_score(scores)
        scores["num_of_instances"] = len(answers)
        last = self.pipelines[-1].name if self.pipelines else ""
        return Grade(
            scores=scores,
            instance_scores=columns,
            predictions=[self._raw(each) for each in answers],
            processed_predictions=[self._processed(each, last) for each in answers],
            processed_references=[self._gold(each) for each in answers],
            failures=failures,
            metric_failures=broken,
        )

    def _add_core_scores(
        self,
        scores: dict[str, Any],
        columns: dict[str, Sequence[Any]],
        pipeline: str,
        answers: Sequence[_Answer],
        failures: dict[int, Failure],
    ) -> dict[str, Failure]:
        if not self.core_metrics:
            return {}
        seen = Seen(len(answers), failures=failures)
        for place, each in enumerate(answers):
            if each.failure is None and pipeline not in each.problems:
                seen.add(place, self._processed(each, pipeline), self._gold_text(each.doc), each.doc)
        broken = {}
        for metric in self.core_metrics:
            try:
                metric.add_scores(scores, columns, pipeline, seen)
            except ProctorError as error:
                broken[score_key(metric.metric.name, pipeline)] = Failure("scoring", str(error), retryable=False)
        return broken

    def _gold_text(self, doc: Mapping[str, Any]) -> Any:
        """Return the right answer as text: of several choices, the right one."""
        view = self.view(doc)
        target = view.target
        if self.config.output_type == "multiple_choice" and isinstance(view.text, int):
            target = view.text
        if view.choices is None or not isinstance(target, int) or not 0 <= target < len(view.choices):
            return target
        return view.choices[target]

    def _measure(self) -> Measure:
        return Measure(self._aggregates, self._resamples)

    def _warn_of_golds(self) -> None:
        count = self._golds_outside // len(self.pipelines)
        if count:
            get_logger().warning(
                "%s: %d documents have a gold answer outside their choices; they count as wrong",
                self.config.task,
                count,
            )

    def _answer(self, answered: Answered) -> _Answer:
        doc = answered.question.instance
        requests: list[list[Any]] = []
        texts: list[str] = []
        if (failure := answered.failure) is not None:
            is_unusable = answered.question.failure is not None
            return _Answer(doc, [], failure, answered.responses, is_unusable=is_unusable)
        for response in answered.responses:
            if self.config.output_type == "generate_until":
                texts += list(response.texts) or [""]
            else:
                requests += [[(each.log_likelihood, each.is_greedy)] for each in response.scores]
        return _Answer(doc, [texts] if texts else requests, None, answered.responses)

    def _filter(self, pipeline: FilterPipeline, answers: Sequence[_Answer]) -> None:
        if pipeline.only_takes_first:
            for each in answers:
                each.filtered[pipeline.name] = [some[0] for some in each.requests]
            return
        try:
            self._apply(pipeline, answers)
        except ProctorError as error:
            problems = [self._filter_alone(pipeline, each) for each in answers]
            if all(problems):
                raise error from None

    @staticmethod
    def _apply(pipeline: FilterPipeline, answers: Sequence[_Answer]) -> None:
        flat = [some for each in answers for some in each.requests]
        docs = [each.doc for each in answers for _ in each.requests]
        filtered = iter(pipeline.apply(flat, docs) if flat else [])
        for each in answers:
            each.filtered[pipeline.name] = [next(filtered) for _ in each.requests]

    def _filter_alone(self, pipeline: FilterPipeline, answer: _Answer) -> bool:
        """Filter the answer to one document; return whether that fails, and keep the reason with the answer."""
        try:
            self._apply(pipeline, [answer])
        except ProctorError as error:
            answer.problems[pipeline.name] = Failure("scoring", str(error.diagnostics[0].what), retryable=False)
        return pipeline.name in answer.problems

    def _scored(self, place: int, answer: _Answer, name: str, failures: dict[int, Failure]) -> Values | None:
        if answer.failure is not None:
            return None
        if name in answer.problems:
            failures.setdefault(place, answer.problems[name])
            return None
        try:
            return self.document_scores(answer.doc, answer.filtered[name], answer.requests)
        except ProctorError as error:
            failures.setdefault(place, Failure("scoring", str(error.diagnostics[0].what), retryable=False))
        except (ArithmeticError, LookupError, TypeError, ValueError, AttributeError) as error:
            failures.setdefault(place, Failure("scoring", f"{type(error).__name__}: {error}", retryable=False))
        return None

    def _raw(self, answer: _Answer) -> Any:
        if answer.failure is not None:
            return answer.failure
        if self.config.output_type == "generate_until":
            return answer.requests[0][0] if len(answer.requests[0]) == 1 else answer.requests[0]
        return [some[0][0] for some in answer.requests]

    def _processed(self, answer: _Answer, name: str) -> Any:
        if answer.failure is not None:
            return answer.failure
        filtered = answer.filtered.get(name, [])
        if self.config.output_type == "multiple_choice" and filtered:
            view = self.view(answer.doc)
            choices = view.choices or []
            best = first_largest([each[0] for each in filtered[: len(choices)]]) if choices else 0
            return choices[best] if choices else None
        return filtered[0] if len(filtered) == 1 else filtered

    def _gold(self, answer: _Answer) -> Sequence[Any]:
        if answer.is_unusable:
            return ()
        target = self.view(answer.doc).target
        return target if isinstance(target, list) else [target]

    def document_rows(self, answered: Iterable[Answered]) -> dict[str, list[dict[str, Any]]]:
        """Return by filter pipeline what became of every document: answers, filtered answers, metrics, failure."""
        answers = [self._answer(each) for each in answered]
        good = [each for each in answers if each.failure is None]
        rows: dict[str, list[dict[str, Any]]] = {}
        for pipeline in self.pipelines:
            self._filter(pipeline, good)
            failures = {place: each.failure for place, each in enumerate(answers) if each.failure is not None}
            rows[pipeline.name] = [
                {
                    "metrics": self._scored(place, each, pipeline.name, failures),
                    "answers": each.requests,
                    "filtered": each.filtered.get(pipeline.name, []),
                    "failure": failures.get(place),
                }
                for place, each in enumerate(answers)
            ]
        return rows

    # -- one document -----------------------------------------------------------------------------------------

    def document_scores(
        self, doc: Mapping[str, Any], results: Sequence[Any], answers: Sequence[Sequence[Any]] = ()
    ) -> Values:
        """Return the metrics of one document.

        Args:
            doc: The document.
            results: What the filters left of the answer to each request.
            answers: All answers to each request, for metrics of repeats.
        """
        if self._process is not None:
            found = self._process(doc, list(results))
            if not isinstance(found, Mapping):
                raise ScoringError(f"process_results gives {type(found).__name__}, not a mapping of metrics to values")
            return dict(found)
        kind = self.config.output_type
        if kind == "multiple_choice":
            return self._choice_scores(doc, results)
        if kind == "loglikelihood":
            likelihood, greedy = results[0]
            values = {"perplexity": likelihood, "acc": int(greedy)}
            return {each.name: values[each.name] for each in self.metrics if each.name in values}
        if kind == "loglikelihood_rolling":
            return self._rolling_scores(doc, results)
        return self._text_scores(doc, results[0], answers[0] if answers else [results[0]])

    def _choice_scores(self, doc: Mapping[str, Any], results: Sequence[Any]) -> Values:
        view = self.view(doc)
        choices = view.choices or []
        count = len(choices)
        likelihoods, greedy = [each[0] for each in results], [each[1] for each in results]
        gold = _gold_of(view.text if isinstance(view.text, int) else view.target, choices)
        self._golds_outside += OUTSIDE in (gold if isinstance(gold, list) else [gold])
        answer = ChoiceAnswer(likelihoods[:count], greedy[:count], choices, gold, likelihoods[count:])
        found: Values = {}
        for each in self.metrics:
            if each.name in CHOICE_SCORES:
                found[each.name] = CHOICE_SCORES[each.name](answer)
            elif each.name in {"f1", "mcc"}:
                found[each.name] = (gold, chosen(answer))
            elif each.name == "brier_score":
                found[each.name] = (gold, probabilities(answer))
            elif each.name == "likelihood":
                found[each.name] = likelihoods[gold] if isinstance(gold, int) and gold != OUTSIDE else math.nan
        return found

    def _rolling_scores(self, doc: Mapping[str, Any], results: Sequence[Any]) -> Values:
        likelihood = results[0][0] if isinstance(results[0], tuple) else results[0]
        text = str(self.view(doc).target)
        words, size = len(re.split(r"\s+", text)), len(text.encode())
        lengths = {"word_perplexity": words, "byte_perplexity": size, "bits_per_byte": size}
        return {each.name: (likelihood, lengths[each.name]) for each in self.metrics if each.name in lengths}

    def _text_scores(self, doc: Mapping[str, Any], result: Any, answers: Sequence[Any]) -> Values:
        view = self.view(doc)
        gold, several = view.target, isinstance(view.target, list)
        if view.choices is not None:
            gold, several = view.choices[gold] if isinstance(gold, int) else gold, False
        elif several:
            gold = list(gold)
        elif not isinstance(result, list) and type(gold) is not type(result):
            gold = type(result)(gold)
        found: Values = {}
        for each in self.metrics:
            value = self._text_score(each, gold, result, answers, several=several)
            if not isinstance(value, dict):
                found[each.name] = value
                continue
            for name, part in value.items():
                found[name] = part
                self._aggregates.setdefault(name, each.aggregate)
        return found

    def _text_score(self, metric: Metric, gold: Any, result: Any, answers: Sequence[Any], *, several: bool) -> Any:
        if metric.function is None:
            return self._repeat_score(metric, gold, answers)
        if not several:
            return _called(metric.function, gold, result, metric.arguments)
        values = []
        for option in gold:
            value = _called(metric.function, option, result, metric.arguments)
            values.append(value.get(metric.name, 0.0) if isinstance(value, dict) else value)
        if all(isinstance(value, list | tuple) for value in values):
            return (list(gold), result)
        return 1.0 if any(values) else 0.0

    def _repeat_score(self, metric: Metric, gold: Any, answers: Sequence[Any]) -> Any:
        """Return pass@k, avg@k or maj@k: scores of repeats, each answer filtered on its own."""
        arguments = dict(metric.arguments)
        sizes = arguments.pop("k", None) or [len(answers)]
        compare = find_metric({"metric": arguments.pop("of", "exact_match"), **arguments})
        pipeline = self.pipelines[0]
        texts = [pipeline.apply([[each]], [{}])[0] if not pipeline.only_takes_first else each for each in answers]
        golds = gold if isinstance(gold, list) else [gold]
        right = [any(_truth(_called(compare[1], one, text, compare[2])) for one in golds) for text in texts]
        family = metric.name.partition("@")[0]
        return {
            f"{family}@{k}": score_of_repeats(family, right, texts, k)
            for k in (sizes if isinstance(sizes, list) else [sizes])
        }


def _truth(value: Any) -> bool:
    return bool(next(iter(value.values())) if isinstance(value, dict) else value)


def _called(function: Callable[..., Any], gold: Any, result: Any, arguments: Mapping[str, Any]) -> Any:
    """Call a metric by either of the two ways that metrics are written: with keywords, or with one pair."""
    if function in _PAIR_METRICS:
        return function([gold, result])
    try:
        return function(references=[gold], predictions=[result], **arguments)
    except (TypeError, ProctorError) as error:
        cause = error.__cause__ if isinstance(error, ProctorError) else error
        if not isinstance(cause, TypeError):
            raise
        return function([gold, result])


_PAIR_METRICS = {TEXT_METRICS["bleu"], TEXT_METRICS["bypass"]}


def _gold_of(gold: Any, choices: Sequence[str]) -> int | list[int]:
    if isinstance(gold, list):
        return [_gold_of(each, choices) for each in gold]  # type: ignore[misc]
    if isinstance(gold, str):
        return list(choices).index(gold) if gold in choices else OUTSIDE
    position = int(gold)
    return position if position < len(choices) else OUTSIDE
