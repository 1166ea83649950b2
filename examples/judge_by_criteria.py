"""A judge that chooses among the options of a criterion, and what is kept of its reasons."""

from __future__ import annotations

from proctor import InputOutputTemplate, Task, create_dataset, evaluate
from proctor.engines import ScriptedEngine
from proctor.scoring.judges import CriteriaOption, CriteriaWithOptions, LLMJudgeDirect, judgements_of

both_scales = CriteriaWithOptions(
    name="both scales",
    description="Is the temperature given in Celsius and in Fahrenheit?",
    options=[
        CriteriaOption(name="Yes", description="in both"),
        CriteriaOption(name="Partly", description="in one of them"),
        CriteriaOption(name="No", description="there is no temperature"),
    ],
    option_map={"Yes": 1.0, "Partly": 0.5, "No": 0.0},
)
model = ScriptedEngine(
    rules=[(r".*°C.*°F.*Now decide.*", "Yes"), (r".*°C.*Now decide.*", "Partly"), (r".*Now decide.*", "No")],
    answer="I looked for both scales.",
)
exam = create_dataset(
    task=Task(
        input_fields={"question": str},
        reference_fields={},
        prediction_type=str,
        metrics=[LLMJudgeDirect(inference_engine=model, criteria=both_scales, context_fields=["question"])],
    ),
    template=InputOutputTemplate(input_format="{question}", output_format=""),
    test_set=[{"question": "How is the weather?"}] * 3,
    split="test",
)
results = evaluate(predictions=["31 °C, that is 88 °F.", "31 °C.", "Warm."], data=exam)
for row in results:
    [judgement] = judgements_of(row["score"]["instance"])
    print(f"{row['prediction']:24} {judgement.verdict:8} {judgement.score}  because: {judgement.reasoning}")
print(f"{results.global_scores.score_name}: {results.global_scores.score:.2f}")
