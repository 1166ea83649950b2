"""A benchmark is a named tree of recipes: every leaf has its scores, every branch the mean of what is below it."""

from __future__ import annotations

from proctor import Benchmark, DatasetRecipe, evaluate
from proctor.engines import ScriptedEngine

benchmark = Benchmark(
    subsets={
        "numbers": DatasetRecipe(card="samples.cards.arithmetic", template_card_index=0, max_test_instances=5),
        "words": Benchmark(
            subsets={
                "science": DatasetRecipe(card="samples.cards.science", template_card_index=0, max_test_instances=5),
                "sentiment": DatasetRecipe(card="samples.cards.sentiment", template_card_index=0, max_test_instances=5),
            }
        ),
    }
)
exam = benchmark()["test"].to_dataset()
results = evaluate(predictions=ScriptedEngine(answer="positive")(exam), data=exam)
print(results.subsets_scores.summary)
