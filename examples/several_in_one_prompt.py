"""Five questions in one prompt, answered as a numbered list that a parser of your own reads."""

from __future__ import annotations

import re
from typing import Any, NewType

from proctor import InputOutputTemplate, Task, evaluate, fetch_artifact, load_dataset
from proctor.artifacts import register_type
from proctor.data import CollateInstances, FieldOperator, Rename, Set
from proctor.engines import ScriptedEngine
from proctor.scoring import PostProcess
from proctor.tasks import MultiTypeSerializer, SingleTypeSerializer

Numbered = NewType("Numbered", list[str])
register_type(Numbered)


class NumberedSerializer(SingleTypeSerializer):
    """A numbered list, one entry a line."""

    serialized_type = Numbered

    def serialize(self, value: Any, instance: dict[str, Any]) -> str:
        """Return the list in words."""
        return "\n".join(f"{number}. {each}" for number, each in enumerate(value, start=1))


class ParseNumbered(FieldOperator):
    """Reads a numbered list."""

    def process_value(self, value: Any) -> Any:
        """Return pairs of number and entry."""
        return re.findall(r"(\d+)\.\s*(.*)", value)


card = fetch_artifact("samples.cards.sentiment")
card.preprocess_steps = [
    *(card.preprocess_steps or ()),
    CollateInstances(batch_size=5),
    Rename(field_to_field={"text": "texts", "label": "labels"}),
    Set(fields={"classes": ["positive", "negative"]}),
]
card.task = Task(
    input_fields={"texts": Numbered, "classes": Numbered},
    reference_fields={"labels": Numbered},
    prediction_type=list[tuple[str, str]],
    metrics=["metrics.ner"],
)
exam = load_dataset(
    card=card,
    template=InputOutputTemplate(
        input_format="Give each text one of these classes:\n{classes}\nTexts:\n{texts}",
        output_format="{labels}",
        postprocessors=["processors.lower_case", PostProcess(ParseNumbered())],
        serializer=MultiTypeSerializer(serializers=[NumberedSerializer()]),
    ),
    max_test_instances=4,
    split="test",
)
model = ScriptedEngine(answer="\n".join(f"{number}. positive" for number in range(1, 6)))
results = evaluate(predictions=model(exam), data=exam)
print(exam[0]["source"])
print(f"{results.global_scores.score_name} {results.global_scores.score:.2f} on {len(exam)} prompts")
