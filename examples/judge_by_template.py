"""A judge that is a template: it asks for a rating, and the template's processors read it."""

from __future__ import annotations

from proctor import InputOutputTemplate, Task, create_dataset, evaluate
from proctor.engines import ScriptedEngine
from proctor.scoring.judges import LLMAsJudge

judge = LLMAsJudge(
    inference_model=ScriptedEngine(rules=[(r".*Answer: Austin.*", "Right. [[10]]")], answer="Wrong. [[0]]"),
    template=InputOutputTemplate(
        instruction="Rate the answer: [[10]] where it is right, [[0]] where it is wrong.\n",
        input_format="Question: {question}\nAnswer: {answer}\n",
        output_format="[[{rating}]]",
        postprocessors=["processors.extract_mt_bench_rating_judgment"],
    ),
    task="rating.single_turn",
    main_score="rating",
)
exam = create_dataset(
    task=Task(input_fields={"query": str}, reference_fields={"reference": str}, prediction_type=str, metrics=[judge]),
    template=InputOutputTemplate(input_format="{query}", output_format="{reference}"),
    test_set=[
        {"query": "What is the capital of Texas?", "reference": "Austin"},
        {"query": "What is the capital of Peru?", "reference": "Lima"},
    ],
    split="test",
)
results = evaluate(predictions=["Austin", "Cusco"], data=exam)
print(results.global_scores.summary)
print(results[0]["score"]["instance"]["rating_judge_raw_input"])
