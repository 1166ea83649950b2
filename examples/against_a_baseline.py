"""Answers against those of a baseline: the judge sees each pair in a shuffled order and says by how much one wins."""

from __future__ import annotations

from proctor import Task, create_dataset, evaluate
from proctor.engines import ScriptedEngine
from proctor.scoring.judges import LLMAsJudge
from proctor.templates import InputOutputTemplate, PairwiseComparativeRatingTemplate

judge = LLMAsJudge(
    inference_model=ScriptedEngine(rules=[(r".*Start of A\]\nbaseline.*", "[[B>>A]]")], answer="[[A>B]]"),
    template=PairwiseComparativeRatingTemplate(
        choice_a_field="answer_a",
        choice_b_field="answer_b",
        answer_field="answer_a_preference",
        choice_a_id_field="model_a",
        choice_b_id_field="model_b",
        shuffle=True,
        input_format="[Question]\n{question}\n[Start of A]\n{answer_a}\n[Start of B]\n{answer_b}\n",
        postprocessors=["processors.extract_arena_hard_numerical_judgment"],
    ),
    task="pairwise_comparative_rating.single_turn",
    main_score="win_rate",
)
exam = create_dataset(
    task=Task(input_fields={"question": str}, reference_fields={"baseline": str}, prediction_type=str, metrics=[judge]),
    template=InputOutputTemplate(input_format="{question}", output_format="{baseline}"),
    test_set=[{"question": f"Question {number}?", "baseline": "baseline"} for number in range(8)],
    split="test",
)
results = evaluate(predictions=["mine"] * 8, data=exam)
print("how much A won, seen from our side:", [row["score"]["instance"]["win_rate"] for row in results])
print(f"weighted win rate {results.global_scores.score:.2f}")
