"""Several metrics on one exam, and an ensemble of them, weighted."""

from __future__ import annotations

from proctor import evaluate, load_dataset
from proctor.scoring import MetricsEnsemble

both = MetricsEnsemble(metrics=["metrics.accuracy", "metrics.string_containment"], weights=[0.75, 0.25])
exam = load_dataset(
    "samples.arithmetic",
    metrics=["metrics.accuracy", "metrics.string_containment", both],
    postprocessors=["processors.to_string_stripped"],
    max_test_instances=10,
    split="test",
)
predictions = [target if number % 2 else f"The answer is {target}." for number, target in enumerate(exam["target"])]
scores = evaluate(predictions=predictions, data=exam).global_scores
for name in ("accuracy", "string_containment", "ensemble_score"):
    print(f"{name:20} {scores[name]:.3f}")
