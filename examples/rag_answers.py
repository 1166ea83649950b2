"""Answers from passages that were retrieved before: does the model use them, and is it right?"""

from __future__ import annotations

from proctor import LoadFromDictionary, MultiReferenceTemplate, TaskCard, evaluate, load_dataset
from proctor.data import Rename, Set, Wrap
from proctor.engines import ScriptedEngine

rows = [
    {"query": "Which city is the largest in Texas?", "passage": "Houston is the largest.", "expected": "Houston"},
    {"query": "Which city is the capital of Texas?", "passage": "Houston is the largest.", "expected": "Austin"},
]
card = TaskCard(
    loader=LoadFromDictionary(data={"test": rows}),
    preprocess_steps=[
        Rename(field_to_field={"query": "question"}),
        Wrap(field="passage", inside="list", to_field="contexts"),
        Wrap(field="expected", inside="list", to_field="reference_answers"),
        Set(fields={"contexts_ids": []}),
    ],
    task="tasks.rag.response_generation",
)
exam = load_dataset(
    card=card,
    template=MultiReferenceTemplate(
        instruction="Answer from the passage.\n\n",
        input_format="Passage: {contexts}\nQuestion: {question}\nAnswer:",
        references_field="reference_answers",
    ),
    metrics=[
        "metrics.rag.response_generation.correctness.token_overlap",
        "metrics.rag.response_generation.faithfullness.token_overlap",
    ],
    split="test",
)
results = evaluate(predictions=ScriptedEngine(answer="Houston")(exam), data=exam)
print(exam[0]["source"])
print(results.global_scores.summary)
