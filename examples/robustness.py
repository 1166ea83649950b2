"""How much of a score survives when the input is changed a little: the same exam with and without noise."""

from __future__ import annotations

from proctor import Benchmark, DatasetRecipe, evaluate, fetch_artifact
from proctor.engines import ScriptedEngine

card = fetch_artifact("samples.cards.sentiment")
card.task = fetch_artifact(card.task).model_copy(update={"augmentable_inputs": ["text"]})
subsets = {
    name: DatasetRecipe(card=card, template_card_index=0, augmentor=augmentor, max_test_instances=20)
    for name, augmentor in (("plain", None), ("blanks around", "augmentors.text.whitespace_prefix_suffix"))
}
exam = Benchmark(subsets=subsets)()["test"].to_dataset()
model = ScriptedEngine(rules=[(r".*Review: \S.*Sentiment:", "positive")], answer="")  # lost where a blank comes first
results = evaluate(predictions=model(exam), data=exam)
print(results.subsets_scores.summary)
