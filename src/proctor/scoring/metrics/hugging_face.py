"""Metrics of the Hugging Face hub by name, computed by this package or by libraries; no script is downloaded."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.errors import MissingFieldError, ScoringError, ValidationError, did_you_mean, needed
from proctor.scoring.distances import normalize_answer
from proctor.scoring.global_metric import GlobalMetric
from proctor.scoring.instance_metric import BulkInstanceMetric, InstanceMetric
from proctor.scoring.metrics.question_answering import Squad
from proctor.scoring.metrics.strings import token_overlap
from proctor.scoring.metrics.summaries import Rouge, meteor
from proctor.scoring.metrics.text_packages import sacrebleu_scorer
from proctor.scoring.metrics.translation import Bleu, Sacrebleu, Wer
from proctor.scoring.single_answers import exact_match

Rows = Mapping[str, tuple[float, float]]


def squad_with_no_answers(
    predictions: Sequence[Mapping[str, Any]], references: Sequence[Mapping[str, Any]], no_answer_threshold: float = 1.0
) -> dict[str, Any]:
    """Return exact match and F1 in percent: over all, over questions with and without answer, at the best threshold.

    Args:
        predictions: ``id``, ``prediction_text`` and ``no_answer_probability``.
        references: ``id`` and ``answers`` with ``text``.
        no_answer_threshold: A probability above which the prediction is that there is no answer.

    Raises:
        ScoringError: A question has no prediction.

    Source: Rajpurkar et al. 2018, "Know What You Don't Know", and the evaluation script of SQuAD 2.0.
    """
    answers = {each["id"]: list(each["answers"]["text"]) for each in references}
    texts = {each["id"]: str(each["prediction_text"]) for each in predictions}
    doubts = {each["id"]: float(each["no_answer_probability"]) for each in predictions}
    if missing := [key for key in answers if key not in texts]:
        raise ScoringError(f"{len(missing)} questions have no prediction", why=f"the first is {missing[0]!r}")
    rows = {key: _matched(texts[key], golds) for key, golds in answers.items()}
    held = {
        key: (float(not answers[key]),) * 2 if doubts[key] > no_answer_threshold else row for key, row in rows.items()
    }
    found = _shares(held, "")
    for prefix, is_answered in (("HasAns_", True), ("NoAns_", False)):
        if kept := {key: row for key, row in held.items() if bool(answers[key]) is is_answered}:
            found |= _shares(kept, prefix)
    for place, name in enumerate(("exact", "f1")):
        best, threshold = _best(answers, texts, doubts, {key: row[place] for key, row in rows.items()})
        found |= {f"best_{name}": best, f"best_{name}_thresh": threshold}
    return found


def _matched(prediction: str, golds: Sequence[str]) -> tuple[float, float]:
    """Return exact match and F1, the best over the answers; no answer equals no answer."""
    given = normalize_answer(prediction)
    wanted = [gold for gold in golds if normalize_answer(gold)] or [""]
    exact = max(float(given == normalize_answer(gold)) for gold in wanted)
    overlaps = [token_overlap(prediction, gold)[2] if given and gold else float(given == gold) for gold in wanted]
    return exact, max(overlaps)


def _shares(rows: Rows, prefix: str) -> dict[str, Any]:
    count = len(rows)
    exact, overlap = (100.0 * sum(row[place] for row in rows.values()) / count for place in (0, 1))
    return {f"{prefix}exact": exact, f"{prefix}f1": overlap, f"{prefix}total": count}


def _best(
    answers: Mapping[str, Sequence[str]],
    texts: Mapping[str, str],
    doubts: Mapping[str, float],
    scores: Mapping[str, float],
) -> tuple[float, float]:
    """Return the best score in percent and its threshold: predictions count as answers in the order of their doubt."""
    current = best = float(sum(not golds for golds in answers.values()))
    threshold = 0.0
    for key in sorted(answers, key=lambda each: doubts[each]):
        current += scores[key] if answers[key] else (-1.0 if texts[key] else 0.0)
        if current > best:
            best, threshold = current, doubts[key]
    return 100.0 * best / len(answers), threshold


def bertscore(
    predictions: Sequence[str],
    references: Sequence[Any],
    lang: str | None = None,
    model_type: str | None = None,
    num_layers: int | None = None,
    batch_size: int = 64,
) -> dict[str, Any]:
    """Return lists of precision, recall and F1 of BERTScore, the best over the references.

    Args:
        predictions: Texts.
        references: A text or a list of texts for each.
        lang: A language, whose usual model is taken.
        batch_size: Texts at once.

    Raises:
        MissingExtraError: ``bert-score`` is not installed.
        ScoringError: Neither a language nor a model is named.
    """
    from proctor.scoring.metrics.embeddings import bert_scorer

    if model_type is None and lang is None:
        raise ScoringError("bertscore needs lang or model_type", hint='lang="en" takes the usual model for English')
    scorer = bert_scorer(model_type or _model_of(str(lang)), num_layers, batch_size)
    listed = [[each] if isinstance(each, str) else list(each) for each in references]
    found = scorer.score(cands=list(predictions), refs=listed, batch_size=batch_size)
    return {name: part.tolist() for name, part in zip(("precision", "recall", "f1"), found, strict=True)}


def _model_of(language: str) -> str:
    with needed("bert-score", "embeddings", "BERTScore"):
        from bert_score.utils import lang2model
    return str(lang2model[language.lower()])


NEEDED: Mapping[str, Callable[[], object]] = {"bertscore": lambda: _model_of("en")}
"""Metrics that say at once what they miss, rather than after a model was asked."""


RUN_CODE = frozenset({"apps_metric", "xcode_eval"})
"""Metrics that run what a model wrote, and are not computed here."""

Computing = Callable[..., dict[str, Any]]


def _first(references: Sequence[Any]) -> list[Any]:
    return [each[0] if isinstance(each, (list, tuple)) else each for each in references]


def _lists(references: Sequence[Any]) -> list[list[Any]]:
    return [list(each) if isinstance(each, (list, tuple)) else [each] for each in references]


def _sklearn(name: str, score: str) -> Computing:
    def compute(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
        with needed("scikit-learn", "classification", f"the metric {score}"):
            from sklearn import metrics
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
        with needed("scipy", "classification", f"the metric {name}"):
            from scipy import stats
        found = getattr(stats, function)(references, predictions)
        return {name: float(found[0]), **({"p-value": float(found[1])} if return_pvalue else {})}

    return compute


def _seqeval(predictions: list[Any], references: list[Any], **arguments: Any) -> dict[str, Any]:
    with needed("seqeval", "classification", "the metric seqeval"):
        from seqeval.metrics import accuracy_score, classification_report
    gold = [each[0] if each and isinstance(each[0], list) else each for each in references]
    report = classification_report(gold, predictions, output_dict=True, zero_division=0, **arguments)
    overall = report["micro avg"]
    kinds = {name: value for name, value in report.items() if not name.endswith(" avg")}
    names = {"precision": "precision", "recall": "recall", "f1": "f1-score", "number": "support"}
    return {
        **{name: {own: value[each].item() for own, each in names.items()} for name, value in kinds.items()},
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
