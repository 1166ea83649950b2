"""Named entities: the answer is parsed into pairs of text and type, and scored by type."""

from __future__ import annotations

from proctor import create_dataset, evaluate
from proctor.engines import ScriptedEngine

types = ["Person", "Location", "Organization"]
exam = create_dataset(
    task="tasks.ner.all_entity_types",
    test_set=[
        {
            "text": "John lives in Texas.",
            "entity_types": types,
            "spans_starts": [0, 14],
            "spans_ends": [4, 19],
            "labels": ["Person", "Location"],
        },
        {
            "text": "Phil works at Apple and eats an apple.",
            "entity_types": types,
            "spans_starts": [0, 14],
            "spans_ends": [4, 19],
            "labels": ["Person", "Organization"],
        },
    ],
    split="test",
)
model = ScriptedEngine(answers={"John": "John: Person, Texas: Location", "Phil": "Phil: Person, apple: Organization"})
results = evaluate(predictions=model(exam), data=exam)
for name in ("f1_Person", "f1_Location", "f1_Organization", "f1_micro"):
    print(f"{name:16} {results.global_scores[name]:.2f}")
