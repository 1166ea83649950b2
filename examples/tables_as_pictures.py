"""A table in the prompt, as text or drawn as a picture: the exam stays, a serializer changes."""

from __future__ import annotations

from proctor import InputOutputTemplate, Task, create_dataset
from proctor.artifacts import Table
from proctor.tasks import SerializeTableAsImage, SerializeTableAsMarkdown

table = {"header": ["city", "people"], "rows": [["Lima", "10 million"], ["Cusco", "0.4 million"]]}
for serializer in (SerializeTableAsMarkdown(), SerializeTableAsImage()):
    exam = create_dataset(
        task=Task(
            input_fields={"table": Table, "question": str},
            reference_fields={"answer": str},
            prediction_type=str,
            metrics=["metrics.accuracy"],
        ),
        template=InputOutputTemplate(input_format="{table}\n{question}", output_format="{answer}"),
        test_set=[{"table": table, "question": "Which is larger?", "answer": "Lima"}],
        serializer=serializer,
        split="test",
    )
    print(type(serializer).__name__, "-", len(exam[0]["media"]["images"]), "picture(s)")
    print(exam[0]["source"])
