"""Several judges together: two that must agree on the topic, and one that says who did not know the answer."""

from __future__ import annotations

from proctor import InputOutputTemplate, Task, create_dataset, evaluate
from proctor.engines import ScriptedEngine
from proctor.scoring import MetricsEnsemble
from proctor.scoring.judges import CriteriaOption, CriteriaWithOptions, LLMJudgeDirect


def judge(name: str, question: str, model: ScriptedEngine) -> LLMJudgeDirect:
    criteria = CriteriaWithOptions(
        name=name,
        description=question,
        options=[CriteriaOption(name="Yes"), CriteriaOption(name="No")],
        option_map={"Yes": 1.0, "No": 0.0},
    )
    return LLMJudgeDirect(
        inference_engine=model, criteria=criteria, context_fields=["question"], check_positional_bias=False
    )


strict = ScriptedEngine(rules=[(r".*Answer:\nThanks.*Now decide.*", "No")], answer="Yes", model="strict")
mild = ScriptedEngine(answer="Yes", model="mild")
unsure = ScriptedEngine(rules=[(r".*I do not know.*", "Yes")], answer="No", model="unsure")
topic = "Is the answer about what was asked?"
exam = create_dataset(
    task=Task(
        input_fields={"question": str},
        reference_fields={},
        prediction_type=str,
        metrics=[
            MetricsEnsemble(metrics=[judge("topic", topic, strict), judge("topic", topic, mild)], weights=[0.7, 0.3]),
            judge("did not know", "Does the answer say that it does not know?", unsure),
        ],
    ),
    template=InputOutputTemplate(input_format="{question}", output_format=""),
    test_set=[{"question": "Where is the station?"}] * 3,
    split="test",
)
results = evaluate(predictions=["Over there.", "Thanks for asking!", "I do not know."], data=exam)
for row in results:
    scores = row["score"]["instance"]
    print(f"{row['prediction']:20} topic {scores['ensemble_score']:.1f}  did not know {scores['did_not_know']:.0f}")
