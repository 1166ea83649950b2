"""A whole RAG system, from question to answer: what it retrieved and what it answered, in one exam."""

from __future__ import annotations

from proctor import create_dataset, evaluate

passages = ["Austin is the capital of Texas.", "Houston is the largest city in Texas."]
exam = create_dataset(
    task="tasks.rag.end_to_end",
    test_set=[
        {
            "question": "What is the capital of Texas?",
            "question_id": 0,
            "reference_answers": ["Austin"],
            "reference_contexts": [passages[0]],
            "reference_context_ids": [0],
            "is_answerable_label": True,
        },
        {
            "question": "Which is the largest city in Texas?",
            "question_id": 1,
            "reference_answers": ["Houston"],
            "reference_contexts": [passages[1]],
            "reference_context_ids": [1],
            "is_answerable_label": True,
        },
    ],
    metrics=[
        "metrics.rag.end_to_end.answer_correctness",
        "metrics.rag.end_to_end.context_correctness",
        "metrics.rag.end_to_end.answer_faithfulness",
    ],
    postprocessors=[],
    split="test",
)
predictions = [
    {"answer": "Houston", "contexts": [passages[1]], "context_ids": [1], "is_answerable": True},
    {"answer": "Houston", "contexts": passages, "context_ids": [1, 0], "is_answerable": True},
]
results = evaluate(predictions=predictions, data=exam)
print(results.global_scores.summary)
