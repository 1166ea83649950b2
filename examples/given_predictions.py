"""Predictions that you have already are scored on an exam of the catalog; no model is asked."""

from __future__ import annotations

from proctor import evaluate, load_dataset

exam = load_dataset("samples.sentiment", split="test").select(range(6))
predictions = ["positive", "Negative.", "positive", "no idea", "negative", "positive"]
results = evaluate(predictions=predictions, data=exam)

print(results.global_scores.summary)
print(results.instance_scores.to_df(columns=["prediction", "processed_prediction", "processed_references", "score"]))
