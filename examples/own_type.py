"""A field of a type of your own, and how it is written into prompts."""

from __future__ import annotations

from typing import Any, Literal, NewType, TypedDict

from proctor import InputOutputTemplate, LoadFromDictionary, Task, TaskCard, load_dataset
from proctor.artifacts import register_type
from proctor.tasks import SingleTypeSerializer


class Remark(TypedDict):
    """Something that somebody says."""

    who: Literal["guest", "waiter"]
    words: str


Talk = NewType("Talk", list[Remark])
register_type(Remark)
register_type(Talk)


class TalkSerializer(SingleTypeSerializer):
    """A talk, one remark a line."""

    serialized_type = Talk

    def serialize(self, value: Any, instance: dict[str, Any]) -> str:
        """Return the talk in words."""
        return "\n".join(f"- {remark['who']}: {remark['words']}" for remark in value)


talk = [{"who": "guest", "words": "The bill, please."}, {"who": "waiter", "words": "At once."}]
exam = load_dataset(
    card=TaskCard(
        loader=LoadFromDictionary(data={"test": [{"talk": talk, "summary": "A guest wants to pay."}]}),
        task=Task(
            input_fields={"talk": Talk},
            reference_fields={"summary": str},
            prediction_type=str,
            metrics=["metrics.rouge"],
        ),
    ),
    template=InputOutputTemplate(input_format="Sum up:\n{talk}\nSummary:", output_format="{summary}"),
    serializer=TalkSerializer(),
    split="test",
)
print(exam[0]["source"])
