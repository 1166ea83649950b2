"""Rows whose questions are put into words by a file beside them."""

from __future__ import annotations

from proctor.data.fields import Row
from proctor.dialects.aisbench.datasets.files import local_path
from proctor.dialects.aisbench.datasets.generators import Source
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts


def alignbench(source: Source) -> list[Row]:
    """AlignBench: questions for a judge; with a configuration also the judge's prompt, by the question's category."""
    made = []
    prompt = _AlignBench(source) if source.arguments.get("alignment_bench_config_path") else None
    for row in source.document(f"{source.arguments['path']}/{source.arguments['name']}.json"):
        new = {name: row[name] for name in ("question", "capability", "others")}
        new["judge"] = {"capability": row["capability"], "question": row["question"], "others": row["others"]}
        if prompt is not None:
            new["critiquellm_prefix"] = prompt.of(row)
        made.append({**new, "ref": row["others"]["reference"]})
    return made


class _AlignBench:
    """Which dimensions an answer is judged in, by the subcategory of its question."""

    def __init__(self, source: Source) -> None:
        folder = local_path(source.arguments["alignment_bench_config_path"])
        paths = source.document(f"{folder}/{source.arguments['alignment_bench_config_name']}.json")["Paths"]
        self._dimensions = source.document(f"{folder}/{paths['dimension_set_filepath']}")
        self._definitions = source.document(f"{folder}/{paths['dimension_def_filepath']}")
        self._types = source.document(f"{folder}/{paths['subcategory_mapping']}")

    def of(self, row: Row) -> str:
        """Return the judge's prompt, up to the answer."""
        names = self._dimensions.get(self._types.get(row["others"]["subcategory"]))
        listed = "".join(f"{i}. {name}: {self._definitions.get(name)}\n" for i, name in enumerate(names, 1))
        template: str = prompt_texts("alignbench")
        return template.format(
            category=row["capability"],
            dimensions=listed,
            question=row["question"],
            reference=row["others"]["reference"],
        )


def flames(source: Source) -> list[Row]:
    """Flames: prompts after the words of a text file."""
    path, name = source.arguments["path"], source.arguments["name"]
    words = source.text(f"{path}/{name}_config.txt")
    return [
        {
            **row,
            "instruction": f"{words}{row['prompt']}\n回答: ",
            "judge": {"dimension": row["dimension"], "subcomponent": row["subcomponent"]},
        }
        for row in source.document(f"{path}/{name}.json")
    ]
