"""Metric values of one document, from its filtered answers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.fields import as_function
from proctor.dialects.lm_eval.filters import FilterPipeline
from proctor.dialects.lm_eval.metric_list import Metric
from proctor.dialects.lm_eval.metrics import find_metric
from proctor.dialects.lm_eval.prepared import DocumentView
from proctor.errors import ScoringError
from proctor.scoring.aggregations import Aggregate
from proctor.scoring.answer_functions import called
from proctor.scoring.choice import CHOICE_SCORES, OUTSIDE, ChoiceAnswer, chosen, probabilities
from proctor.scoring.programs.code_eval import LookingAt
from proctor.scoring.repeats import score_of_repeats
from proctor.scoring.text.how_read import alone

View = Callable[[Mapping[str, Any]], DocumentView]
Values = dict[str, Any]
"""The metrics of one document, by name."""


class DocumentScorer:
    """Scores documents of a task, one by one.

    Attributes:
        aggregates: Aggregations by metric; metrics that come in several sizes (``pass@1``) appear while documents are
            scored.
        directions: Whether more is better, by metric.
        golds_outside: Documents so far whose gold answer is not one of their choices.

    Args:
        config: The task.
        view: What the task finds in a document.
        metrics: Its metrics of single documents.
        first: Its first filter pipeline, which metrics of repeats put each answer through.
    """

    def __init__(self, config: TaskConfig, view: View, metrics: Sequence[Metric], first: FilterPipeline) -> None:
        self.config = config
        self.view = view
        self.metrics = metrics
        self.aggregates: dict[str, Aggregate] = {each.name: each.aggregate for each in metrics}
        self.directions = {each.name: each.higher_is_better for each in metrics}
        self.golds_outside = 0
        self._first = first
        self._process = as_function(config.process_results, "process_results")

    def gold_text(self, doc: Mapping[str, Any]) -> Any:
        """Return the right answer as text: of several choices, the right one."""
        view = self.view(doc)
        target = view.target
        if self.config.output_type == "multiple_choice" and isinstance(view.text, int):
            target = view.text
        if view.choices is None or not isinstance(target, int) or not 0 <= target < len(view.choices):
            return target
        return view.choices[target]

    def shown(self, doc: Mapping[str, Any], filtered: Sequence[Any]) -> Any:
        """Return what is shown as the prediction: the likeliest choice, or what the filters left."""
        if self.config.output_type == "multiple_choice" and filtered:
            choices = self.view(doc).choices or []
            best = max(range(len(choices)), key=lambda place: filtered[place][0]) if choices else 0
            return choices[best] if choices else None
        return filtered[0] if len(filtered) == 1 else filtered

    def values(self, doc: Mapping[str, Any], results: Sequence[Any], answers: Sequence[Sequence[Any]] = ()) -> Values:
        """Return the metrics of one document.

        Args:
            doc: The document.
            results: What the filters left of the answer to each request.
            answers: All answers to each request, for metrics of repeats.
        """
        if self.config.is_of_lmms:  # which takes the space around answers away before anything is scored
            results = [each.strip() if isinstance(each, str) else each for each in results]
        if self._process is not None:
            found = self._process(doc, self._as_code_sees(results))
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

    def _as_code_sees(self, results: Sequence[Any]) -> list[Any]:
        """Return results as ``process_results`` of a task gets them: of whole texts bare likelihoods."""
        if self.config.output_type != "loglikelihood_rolling":
            return list(results)
        return [each[0] if isinstance(each, tuple) else each for each in results]

    def _choice_scores(self, doc: Mapping[str, Any], results: Sequence[Any]) -> Values:
        view = self.view(doc)
        choices = view.choices or []
        count = len(choices)
        likelihoods, greedy = [each[0] for each in results], [each[1] for each in results]
        gold = _gold_of(view.text if isinstance(view.text, int) else view.target, choices)
        self.golds_outside += OUTSIDE in (gold if isinstance(gold, list) else [gold])
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
        with LookingAt(doc):
            for each in self.metrics:
                value = self._text_score(each, gold, result, answers, several=several)
                if not isinstance(value, dict):
                    found[each.name] = value
                    continue
                for name, part in value.items():
                    found[name] = part
                    if name not in self.directions:
                        self.aggregates.setdefault(name, each.aggregate)
                        self.directions[name] = each.higher_is_better
        return found

    def _text_score(self, metric: Metric, gold: Any, result: Any, answers: Sequence[Any], *, several: bool) -> Any:
        if metric.function is None:
            return self._repeat_score(metric, gold, answers)
        if not several:
            return called(metric.function, gold, result, metric.arguments)
        values = []
        for option in gold:
            value = called(metric.function, option, result, metric.arguments)
            values.append(value.get(metric.name, 0.0) if isinstance(value, dict) else value)
        if values and all(isinstance(value, list | tuple) for value in values):
            return (list(gold), result)
        return max(values) if metric.name == "anls" else 1.0 if any(values) else 0.0

    def _repeat_score(self, metric: Metric, gold: Any, answers: Sequence[Any]) -> Any:
        """Return pass@k, avg@k or maj@k: scores of repeats, each answer filtered on its own."""
        arguments = dict(metric.arguments)
        sizes = arguments.pop("k", None) or [len(answers)]
        compare = find_metric({"metric": arguments.pop("of", "exact_match"), **arguments})
        pipeline = self._first
        with alone():
            texts = [pipeline.apply([[each]], [{}])[0] if not pipeline.only_takes_first else each for each in answers]
        golds = gold if isinstance(gold, list) else [gold]
        right = [any(_truth(called(compare[1], one, text, compare[2])) for one in golds) for text in texts]
        family = metric.name.partition("@")[0]
        return {
            f"{family}@{k}": score_of_repeats(family, right, texts, k)
            for k in (sizes if isinstance(sizes, list) else [sizes])
        }


def _truth(value: Any) -> bool:
    return bool(next(iter(value.values())) if isinstance(value, dict) else value)


def _gold_of(gold: Any, choices: Sequence[str]) -> int | list[int]:
    if isinstance(gold, list):
        return [_gold_of(each, choices) for each in gold]  # type: ignore[misc]
    if isinstance(gold, str):
        return list(choices).index(gold) if gold in choices else OUTSIDE
    position = int(gold)
    return position if position < len(choices) else OUTSIDE
