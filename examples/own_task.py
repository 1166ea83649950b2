"""An exam of your own: rows, a task, a template, an engine, scores."""

from __future__ import annotations

from proctor import InputOutputTemplate, Task, create_dataset, evaluate
from proctor.engines import ScriptedEngine

task = Task(
    input_fields={"country": str},
    reference_fields={"capital": str},
    prediction_type=str,
    metrics=["metrics.accuracy"],
)
template = InputOutputTemplate(
    instruction="Name the capital of each country.", input_format="{country}:", output_format="{capital}"
)
exam = create_dataset(
    task=task,
    template=template,
    test_set=[
        {"country": "France", "capital": "Paris"},
        {"country": "Japan", "capital": "Tokyo"},
        {"country": "Peru", "capital": "Lima"},
    ],
    split="test",
)

# Any engine takes its place: make_engine("smollm2"), make_engine("openai", {"model": …}).
model = ScriptedEngine(answers={"France": "Paris", "Japan": "Kyoto", "Peru": "Lima"})
results = evaluate(predictions=model.infer(exam), data=exam)
print(results.global_scores.summary)
