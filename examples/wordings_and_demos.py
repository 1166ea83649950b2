"""One call, several templates and numbers of demos: groups say which combination a score belongs to."""

from __future__ import annotations

from proctor import InputOutputTemplate, evaluate, load_dataset

exam = load_dataset(
    card="samples.cards.sentiment",
    template=[
        InputOutputTemplate(input_format="{text}\nIs this positive or negative?", output_format="{label}"),
        InputOutputTemplate(input_format="Review: {text}\nSentiment:", output_format="{label}"),
    ],
    num_demos=[0, 2],
    demos_pool_size=10,
    group_by=["num_demos", ["template", "num_demos"]],
    max_test_instances=20,
    split="test",
)
results = evaluate(predictions=["positive"] * len(exam), data=exam)
print(results.groups_scores.summary)
