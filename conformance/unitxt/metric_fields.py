"""Metrics with fields that are not their defaults, on a batch each: the names that both systems understand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.unitxt import metrics_cases

from proctor.artifacts import fetch_artifact

PLACE = 2
"""The batch of each metric: three instances, because Unitxt's intervals take its time."""
_COMMON = (
    "n_resamples=30",
    "confidence_level=0.8",
    "ci_method=percentile",
    "ci_method=basic",
    "confidence_interval_calculation=False",
    "return_confidence_interval=False",
    "ci_paired=False",
    "score_prefix=p_",
    "ci_scores=[{main}]",
    "ci_score_names=[{main}]",
)
_REDUCTIONS = ("reduction={__type__=max_reduction}", "reduction={__type__=root_mean_reduction}")
_OWN = {
    "metrics.accuracy": _REDUCTIONS,
    "metrics.string_containment": _REDUCTIONS,
    "metrics.f1_micro": ("averages=[macro,micro]", "ignore_punc=True", "ignore_case=True"),
    "metrics.f1_macro": ("averages=[macro]", "averages=[macro,per_class]", "ignore_punc=False", "ignore_case=False"),
    "metrics.anls": ("threshold=0.8", "threshold=0.0", "threshold=1.0"),
    "metrics.ner": ("zero_division=1.0", "report_per_group_scores=False"),
    "metrics.fuzzyner": (
        *("min_score_for_match=0.99", "min_score_for_match=20", "zero_division=1.0", "report_per_group_scores=False"),
    ),
    "metrics.kpa": ("zero_division=1.0", "report_per_group_scores=False"),
    "metrics.retrieval_at_k": ("k_list=[2,7]",),
    "metrics.rerank_recall": ("at_k=[1,3]",),
    "metrics.jaccard_index": _REDUCTIONS,
    "metrics.jaccard_index_words": _REDUCTIONS,
    "metrics.rouge": ("rouge_types=[rouge1]", "rouge_types=[rouge2,rougeL]", "sent_split_newline=False"),
    "metrics.meteor": (*_REDUCTIONS, "alpha=0.5", "beta=1", "gamma=0.9"),
    "metrics.matthews_correlation": ("scale=100.0",),
    "metrics.wer": ("scale=100.0",),
    "metrics.normalized_sacrebleu": (
        *("lowercase=True", "tokenize=char", "smooth_method=floor", "use_effective_order=False", "max_ngram_order=2"),
        *("force=True", "language_to_tokenizer=None", "smooth_method=add-k,smooth_value=2"),
        "smooth_method=floor,smooth_value=0.5",
    ),
}
"""Fields that one metric has; what all have is tried of every metric."""


def cases() -> Iterator[dict[str, Any]]:
    """Yield a batch for each field of each metric."""
    for base in metrics_cases.METRICS:
        own = _OWN.get(base, ())
        metric: Any = fetch_artifact(base)
        known = type(metric).model_fields
        batch = metrics_cases.batches(base, sum(metrics_cases.BATCH_SIZES[: PLACE + 1]))[PLACE]
        for field in (*_COMMON, *own):
            if field.partition("=")[0] in known:
                name = f"{base}[{field.format(main=metric.main_score) if '{main}' in field else field}]"
                yield {"kind": "metric", "metric": name, "batch": batch}
