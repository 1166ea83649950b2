"""Questions about pictures: the same exam as chat messages with the picture in them."""

from __future__ import annotations

from PIL import Image

from proctor import LoadFromDictionary, TaskCard, evaluate, load_dataset
from proctor.data import Set, ToImage
from proctor.engines import ScriptedEngine

rows = [
    {"question": "Which colour?", "picture": Image.new("RGB", (8, 8), (255, 0, 0)), "answers": ["red"]},
    {"question": "Which colour?", "picture": Image.new("RGB", (8, 8), (0, 0, 255)), "answers": ["blue"]},
]
card = TaskCard(
    loader=LoadFromDictionary(data={"test": rows}),
    preprocess_steps=[ToImage(field="picture", to_field="context"), Set(fields={"context_type": "image"})],
    task="tasks.qa.with_context",
)
exam = load_dataset(
    card=card,
    template="templates.qa.with_context.simple",
    format="formats.chat_api",
    metrics=["metrics.anls"],
    split="test",
)
results = evaluate(predictions=ScriptedEngine(answer="red")(exam), data=exam)
print(exam[0]["source"][:200], "…")
print(results.global_scores.summary)
