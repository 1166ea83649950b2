"""Every instance brings the question that the judge is to ask about its answer."""

from __future__ import annotations

from typing import Any

from proctor import LoadFromDictionary, Task, TaskCard, evaluate, load_dataset
from proctor.engines import ScriptedEngine
from proctor.scoring.judges import CreateYesNoCriteriaFromString, LLMJudgeDirect
from proctor.templates import NullTemplate

model = ScriptedEngine(
    rules=[(r".*Is it funny.*cat.*Now decide.*", "Yes"), (r".*Now decide.*", "No")], answer="Let me see."
)
card = TaskCard(
    loader=LoadFromDictionary(
        data={
            "test": [
                {"question": "Tell me a joke.", "judgement": "Is it funny?"},
                {"question": "How is the weather?", "judgement": "Is there a temperature?"},
            ]
        }
    ),
    preprocess_steps=[CreateYesNoCriteriaFromString(field="judgement", to_field="criteria")],
    task=Task(
        input_fields={"question": str},
        reference_fields={"criteria": Any},
        prediction_type=str,
        metrics=[LLMJudgeDirect(inference_engine=model, criteria_field="criteria", context_fields=["question"])],
        default_template=NullTemplate(),
    ),
)
exam = load_dataset(card=card, split="test")
results = evaluate(predictions=["A cat walks into a bar.", "Fine."], data=exam)
print([row["score"]["instance"]["score"] for row in results])
print(results.global_scores.summary)
