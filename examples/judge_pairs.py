"""Several systems against each other: a judge compares them in pairs, in both orders; scores are win rates."""

from __future__ import annotations

from proctor import Task, create_dataset, evaluate
from proctor.engines import ScriptedEngine
from proctor.scoring.judges import Criteria, LLMJudgePairwise
from proctor.templates import NullTemplate

model = ScriptedEngine(
    rules=[
        (r".*Answer long.*Reply with.*", "Answer long"),
        (r".*Reply with .{0,2}Answer (\w+).*", r"Answer \1"),
    ],
    answer="The longer, the better.",
)
judge = LLMJudgePairwise(
    inference_engine=model,
    criteria=Criteria(name="detail", description="Which answer says more?"),
    context_fields=["question"],
)
exam = create_dataset(
    task=Task(
        input_fields={"question": str},
        reference_fields={},
        prediction_type=dict[str, str],
        metrics=[judge],
        default_template=NullTemplate(),
    ),
    test_set=[{"question": "How is the weather?"}],
    split="test",
)
answers = {"long": "Warm and humid, with showers at night.", "short": "Fine.", "other": "Humid."}
results = evaluate(predictions=[answers], data=exam)
instance = results[0]["score"]["instance"]
for name in answers:
    print(
        f"{name:6} wins {instance[f'{name}_winrate']:.2f}, rank {instance[f'{name}_ranking']}, "
        f"changed with the order: {instance[f'{name}_positional_bias']}"
    )
