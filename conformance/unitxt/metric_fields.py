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
_OWN = {
    "metrics.accuracy": ("reduction={__type__=max_reduction}", "reduction={__type__=root_mean_reduction}"),
    "metrics.token_overlap": (),
    "metrics.f1_micro": ("averages=[macro,micro]", "ignore_punc=True", "ignore_case=True"),
    "metrics.anls": ("threshold=0.8",),
    "metrics.ner": ("zero_division=1.0", "report_per_group_scores=False"),
    "metrics.fuzzyner": ("min_score_for_match=0.99", "min_score_for_match=20", "zero_division=1.0"),
    "metrics.kpa": ("zero_division=1.0",),
    "metrics.retrieval_at_k": ("k_list=[2,7]",),
    "metrics.rerank_recall": ("at_k=[1,3]",),
    "metrics.accuracy_binary": (),
    "metrics.f1_binary": (),
    "metrics.spearman": (),
    "metrics.jaccard_index": ("reduction={__type__=max_reduction}",),
    "metrics.multi_turn.sequential_success_accuracy": (),
    "metrics.robustness.fixed_group_mean_accuracy": (),
    "metrics.normalized_sacrebleu": (
        *("lowercase=True", "tokenize=char", "smooth_method=floor", "use_effective_order=False", "max_ngram_order=2"),
        *("force=True", "language_to_tokenizer=None"),
    ),
}


def cases() -> Iterator[dict[str, Any]]:
    """Yield a batch for each field of each metric."""
    for base, own in _OWN.items():
        metric: Any = fetch_artifact(base)
        known = type(metric).model_fields
        batch = metrics_cases.batches(base, sum(metrics_cases.BATCH_SIZES[: PLACE + 1]))[PLACE]
        for field in (*_COMMON, *own):
            if field.partition("=")[0] in known:
                name = f"{base}[{field.format(main=metric.main_score) if '{main}' in field else field}]"
                yield {"kind": "metric", "metric": name, "batch": batch}
