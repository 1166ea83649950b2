"""Metrics of the Hugging Face hub by name, computed by this package or by libraries; no script is downloaded."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.errors import MissingExtraError, MissingFieldError, ScoringError, ValidationError, did_you_mean
from proctor.scoring.global_metric import GlobalMetric
from proctor.scoring.instance_metric import BulkInstanceMetric, InstanceMetric
from proctor.scoring.metrics.hub_scripts import bertscore, squad_with_no_answers
from proctor.scoring.metrics.question_answering import Squad
from proctor.scoring.metrics.summaries import Rouge, meteor
from proctor.scoring.metrics.text_packages import sacrebleu_scorer
from proctor.scoring.metrics.translation import Bleu, Sacrebleu, Wer
from proctor.scoring.single_answers import exact_match

RUN_CODE = frozenset({"apps_metric", "xcode_eval"})
"""Metrics that run what a model wrote, and are not computed here."""

Computing = Callable[..., dict[str, Any]]


def _first(references: Sequence[Any]) -> list[Any]:
    return [each[0] if isinstance(each, (list, tuple)) else each for each in references]


def _lists(references: Sequence[Any]) -> list[list[Any]]:
    return [list(each) if isinstance(each, (list, tuple)) else [each] for each in references]


def _sklearn(name: str, score: str) -> Computing:
    def compute(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
        try:
            from sklearn import metrics
        except ImportError as error:
            raise MissingExtraError.of("scikit-learn", "classification", f"the metric {score}") from error
        found = getattr(metrics, name)(_first(references), predictions, **arguments)
        return {score: found.tolist() if getattr(found, "ndim", 0) else float(found)}

    return compute


def _bleu(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
    return Bleu(**arguments).compute(_lists(references), predictions, [{}] * len(predictions))


def _sacrebleu(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
    arguments["tokenize"] = arguments.get("tokenize") or None
    metric = Sacrebleu(**arguments)
    pairs = zip(predictions, _lists(references), strict=True)
    return metric.corpus_scores([metric.map(prediction, each, {}) for prediction, each in pairs])


def _wer(predictions: list[Any], references: list[Any]) -> dict[str, Any]:
    return Wer().compute([[each] for each in _first(references)], predictions, [{}] * len(predictions))


def _squad(predictions: list[Any], references: list[Any]) -> dict[str, Any]:
    found = Squad().compute(_lists(references), predictions, [{}] * len(predictions))
    return {name: 100.0 * value for name, value in found.items()}


def _rouge(
    predictions: list[Any], references: list[Any], use_aggregator: bool = True, **arguments: Any
) -> dict[str, Any]:
    metric = Rouge(sent_split_newline=False, **arguments)
    rows = [metric.compute(each, text, {}) for text, each in zip(predictions, _lists(references), strict=True)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return {name: sum(column) / len(column) for name, column in columns.items()} if use_aggregator else columns


def _meteor(
    predictions: list[Any], references: list[Any], alpha: float = 0.9, beta: float = 3, gamma: float = 0.5
) -> dict[str, Any]:
    pairs = zip(predictions, _lists(references), strict=True)
    scores = [meteor(text, each, alpha, beta, gamma) for text, each in pairs]
    return {"meteor": sum(scores) / len(scores)}


def _exact_match(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
    return dict(exact_match(_first(references), predictions, **arguments))


def _corpus(name: str, kept: Sequence[str]) -> Computing:
    def compute(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
        scorer = sacrebleu_scorer(name, f"the metric '{name}'", **arguments)
        columns = [list(column) for column in zip(*_lists(references), strict=True)]
        found = scorer.corpus_score(list(predictions), columns)
        return {each: getattr(found, each) for each in kept}

    return compute


def _correlation(function: str, name: str) -> Computing:
    def compute(predictions: list[Any], references: list[Any], return_pvalue: bool = False) -> dict[str, Any]:
        try:
            from scipy import stats
        except ImportError as error:
            raise MissingExtraError.of("scipy", "classification", f"the metric {name}") from error
        found = getattr(stats, function)(references, predictions)
        return {name: float(found[0]), **({"p-value": float(found[1])} if return_pvalue else {})}

    return compute


def _seqeval(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
    try:
        from seqeval.metrics import accuracy_score, classification_report
    except ImportError as error:
        raise MissingExtraError.of("seqeval", "classification", "the metric seqeval") from error
    gold = [each[0] if each and isinstance(each[0], list) else each for each in references]
    report = classification_report(gold, predictions, output_dict=True, zero_division=0, **arguments)
    overall = report["micro avg"]
    kinds = {name: value for name, value in report.items() if not name.endswith(" avg")}
    return {
        **kinds,
        "overall_precision": float(overall["precision"]),
        "overall_recall": float(overall["recall"]),
        "overall_f1": float(overall["f1-score"]),
        "overall_accuracy": float(accuracy_score(gold, predictions)),
    }


def _code_eval(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
    from proctor.scoring.programs.code_eval import code_eval  # most exams run no programs

    tests = ["\n".join(map(str, each)) if isinstance(each, list) else str(each) for each in references]
    shares, _ = code_eval(predictions, tests, **arguments)
    return shares


KNOWN: Mapping[str, Computing] = {
    "accuracy": _sklearn("accuracy_score", "accuracy"),
    "bertscore": bertscore,
    "bleu": _bleu,
    "chrf": _corpus("chrf", ("score", "char_order", "word_order", "beta")),
    "code_eval": _code_eval,
    "exact_match": _exact_match,
    "f1": _sklearn("f1_score", "f1"),
    "mae": _sklearn("mean_absolute_error", "mae"),
    "matthews_correlation": _sklearn("matthews_corrcoef", "matthews_correlation"),
    "meteor": _meteor,
    "mse": _sklearn("mean_squared_error", "mse"),
    "pearsonr": _correlation("pearsonr", "pearsonr"),
    "precision": _sklearn("precision_score", "precision"),
    "recall": _sklearn("recall_score", "recall"),
    "rouge": _rouge,
    "sacrebleu": _sacrebleu,
    "seqeval": _seqeval,
    "spearmanr": _correlation("spearmanr", "spearmanr"),
    "squad": _squad,
    "squad_v2": squad_with_no_answers,
    "ter": _corpus("ter", ("score", "num_edits", "ref_length")),
    "wer": _wer,
}
"""What each name of the hub computes; more can be added by :func:`register_hub_metric`."""

_added: dict[str, Computing] = {}


def register_hub_metric(name: str, compute: Computing) -> None:
    """Make a function ``compute(predictions=…, references=…, **arguments)`` known under a name of the hub."""
    _added[name] = compute


def hub_metric(name: str) -> Computing:
    """Return what a name of the hub computes.

    Raises:
        ScoringError: The name is not known here.
    """
    known = {**KNOWN, **_added}
    if name in RUN_CODE:
        raise ScoringError(
            f"the metric '{name}' runs code that a model wrote",
            why="its tests are not published in a form that is read here",
            hint="code_eval, and the evaluators of HumanEval, MBPP, APPS and LiveCodeBench run in a prison",
        )
    if name not in known:
        raise ScoringError(
            f"the hub metric '{name}' is not built in",
            why="scripts of the hub are code, and are never downloaded",
            hint=did_you_mean(name, known)
            or "register it with proctor.scoring.metrics.hugging_face.register_hub_metric",
        )
    return known[name]


class HuggingfaceMetric(GlobalMetric):
    """A metric of the hub by name.

    Attributes:
        hf_main_score: What the metric calls the main score, where that differs.
        scale: Divides the scores ``scaled_fields``.
        hf_compute_args: Arguments of the metric.
        hf_additional_input_fields: Fields of the task, passed as lists.
        hf_additional_input_fields_pass: The same, by the name that Unitxt's guide to metrics has for it.
        hf_additional_input_fields_pass_one_value: Fields of the task, passed as the one value that all instances have.
    """

    main_score: str = ""
    hf_metric_name: str
    hf_main_score: str | None = None
    scale: float = 1.0
    scaled_fields: list[str] | None = None
    hf_compute_args: dict[str, Any] = {}
    hf_additional_input_fields: list[str] = []
    hf_additional_input_fields_pass: list[str] = []
    hf_additional_input_fields_pass_one_value: list[str] = []

    def prepare(self) -> None:
        """Name the main score after the metric, where no name is given."""
        super().prepare()
        if not self.main_score:
            self.main_score = self.hf_metric_name

    def verify(self) -> None:
        """Check that the metric is known, and what to scale."""
        super().verify()
        hub_metric(self.hf_metric_name)
        if self.scale != 1.0 and not self.scaled_fields:
            raise ValidationError(f"{self.name} has a scale, but no scaled_fields")

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        listed = (*self.hf_additional_input_fields, *self.hf_additional_input_fields_pass)
        arguments = {name: self._values(name, task_data) for name in listed}
        for name in self.hf_additional_input_fields_pass_one_value:
            values = self._values(name, task_data)
            if any(value != values[0] for value in values):
                raise ScoringError(
                    f"the field '{name}' has several values", why="the metric takes one for all instances"
                )
            arguments[name] = values[0]
        found = hub_metric(self.hf_metric_name)(
            predictions=predictions, references=references, **arguments, **self.hf_compute_args
        )
        if self.hf_main_score:
            found[self.main_score] = float(found.pop(self.hf_main_score))
        for name in self.scaled_fields or () if self.scale != 1.0 else ():
            value = found[name]
            found[name] = [each / self.scale for each in value] if isinstance(value, list) else value / self.scale
        return found

    def _values(self, name: str, task_data: Sequence[Mapping[str, Any]]) -> list[Any]:
        if any(name not in fields for fields in task_data):
            raise MissingFieldError(f"the task data has no field '{name}', which {self.name} passes on")
        return [fields[name] for fields in task_data]


class HuggingfaceBulkMetric(BulkInstanceMetric):
    """A metric of the hub that scores each instance, on all at once."""

    hf_metric_name: str
    hf_metric_fields: list[str]
    hf_compute_args: dict[str, Any] = {}

    def compute(
        self, references: list[list[Any]], predictions: list[Any], task_data: list[dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the scores of each instance."""
        found = hub_metric(self.hf_metric_name)(predictions=predictions, references=references, **self.hf_compute_args)
        rows = zip(*(found[name] for name in self.hf_metric_fields), strict=True)
        return [dict(zip(self.hf_metric_fields, row, strict=True)) for row in rows]


class HuggingfaceInstanceMetric(InstanceMetric):
    """A metric of the hub, computed on each instance alone."""

    hf_metric_name: str
    hf_metric_fields: list[str]
    hf_compute_args: dict[str, Any] = {}

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of an instance."""
        found = hub_metric(self.hf_metric_name)(
            predictions=[prediction], references=[references], **self.hf_compute_args
        )
        return {name: found[name] for name in self.hf_metric_fields or found}
