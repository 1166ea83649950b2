"""A judge with a probability: how likely it was to say yes, from the log-probabilities of its first token."""

from __future__ import annotations

from proctor import LoadFromDictionary, TaskCard, evaluate, load_dataset, settings

metric = (
    "metrics.rag.answer_correctness.llama_3_1_70b_instruct_wml_q_a_gt_loose_logprobs"
    "[judge_to_generator_fields_mapping={ground_truths=reference_answers}]"
)
card = TaskCard(
    loader=LoadFromDictionary(
        data={
            "test": [
                {
                    "question": "Which models are there?",
                    "contexts": ["There are many models."],
                    "contexts_ids": [0],
                    "reference_answers": ["many"],
                }
            ]
        },
        data_classification_policy=["public"],
    ),
    task="tasks.rag.response_generation",
)
exam = load_dataset(
    card=card, template="templates.rag.response_generation.please_respond", metrics=[metric], split="test"
)
with settings.context(engine_map="*=scripted[answer=yes]"):  # instead of the model that the metric names
    results = evaluate(predictions=["Many."], data=exam)
scores = results.global_scores
print(f"{scores.score_name}: {scores.score:.2f}")
