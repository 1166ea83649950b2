"""Retrieval and answers in a table (a list of dicts, or a data frame), scored by the names of metrics."""

from __future__ import annotations

from proctor.results import evaluate_frame

rows = [
    {
        "question": "Who wrote Emma?",
        "answer": "Jane Austen wrote Emma.",
        "contexts": ["Jane Austen wrote Emma in 1815.", "Paris is in France."],
        "context_ids": ["a", "b"],
        "ground_truths": ["Jane Austen"],
        "ground_truths_context_ids": ["a"],
    },
    {
        "question": "Where is Paris?",
        "answer": "In France, I think.",
        "contexts": ["Rome is in Italy.", "Paris is the capital of France."],
        "context_ids": ["c", "b"],
        "ground_truths": ["France", "In France"],
        "ground_truths_context_ids": ["b"],
    },
]
metrics = [
    "metrics.rag.context_correctness.mrr",
    "metrics.rag.context_correctness.map",
    "metrics.rag.faithfulness.token_k_precision",
    "metrics.rag.answer_correctness.token_recall",
]
scored, overall = evaluate_frame(rows, metrics)
for name in metrics:
    print(f"{name:46} {[round(row[name], 2) for row in scored]}  {overall[name]['score']:.2f}")
