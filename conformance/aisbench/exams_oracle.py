"""AISBench's side of ``exams.py``: run in its own environment, on rows that are given."""

from __future__ import annotations

import json
import sys
from typing import Any

import ais_bench.benchmark.openicl.icl_prompt_template as templates
from ais_bench.benchmark.datasets.base import BaseDataset
from ais_bench.benchmark.models.api_models.base_api import APITemplateParser
from ais_bench.benchmark.models.local_models.base import LMTemplateParser
from ais_bench.benchmark.openicl import icl_retriever
from datasets import Dataset, DatasetDict
from mmengine.config import Config

ROLES = {"HUMAN": "user", "BOT": "assistant", "SYSTEM": "system"}
CHAT_META = {
    "round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "api_role": "BOT", "generate": True}],
    "reserved_roles": [{"role": "SYSTEM", "api_role": "SYSTEM"}],
}


class Given(BaseDataset):
    """A dataset of rows that somebody else loaded."""

    @staticmethod
    def load(test: Any, index: Any) -> DatasetDict:
        """Return the rows as the splits that readers look for."""
        return DatasetDict({"test": Dataset.from_list(test), "train": Dataset.from_list(index or test)})


def name_of(kind: Any) -> str:
    """Return the last part of a type's name."""
    dotted = getattr(kind, "_imported", None) or getattr(kind, "__name__", None) or str(kind)
    return str(dotted).strip("<>'").rpartition(".")[2]


def plain(value: Any) -> Any:
    """Return a part of a config as plain data, with template classes by name."""
    if isinstance(value, dict):
        return {key: (name_of(each) if key == "type" else plain(each)) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value


def retriever_of(values: dict[str, Any], entry: dict[str, Any]) -> Any:
    """Return AISBench's retriever over the given rows."""
    inference = values["infer_cfg"]
    reader = {key: each for key, each in values["reader_cfg"].items() if not key.endswith(("_split", "_range"))}
    dataset = Given(reader_cfg=reader, abbr=entry["abbr"], test=entry["rows"], index=entry["index"])
    arguments = dict(inference.get("retriever") or {"type": "ZeroRetriever"})
    kind = getattr(icl_retriever, arguments.pop("type"), None)
    if kind is None:
        from ais_bench.benchmark.openicl.icl_retriever.icl_random_retriever import RandomRetriever

        kind = RandomRetriever
    for key in ("ice_template", "prompt_template"):
        if inference.get(key) is not None:
            template = dict(inference[key])
            template["type"] = getattr(templates, template["type"], template["type"])
            arguments[key] = template
    return kind(dataset, **arguments)


def prompts(entry: dict[str, Any], values: dict[str, Any], parser: Any, as_messages: bool) -> Any:
    """Return the prompts of one layout: a list for each row, one for each label."""
    retriever = retriever_of(values, entry)
    found = []
    inferencer = values["infer_cfg"]["inferencer"]
    labels = inferencer.get("labels") or (sorted(retriever.get_labels(), key=str) if entry["kind"] == "ppl" else [])
    for place, chosen in enumerate(retriever.retrieve()):
        ice = retriever.generate_ice(chosen)
        if entry["kind"] == "ppl":
            each = [
                parser.parse_template(retriever.generate_label_prompt(place, ice, label), mode="ppl")
                for label in labels
            ]
        else:
            each = [parser.parse_template(retriever.generate_prompt_for_generate_task(place, ice), mode="gen")]
        found.append([messages(one) if as_messages else one for one in each])
    return found


def messages(prompt: Any) -> Any:
    """Return a prompt list as chat messages."""
    if isinstance(prompt, str):
        return [{"role": "user", "content": prompt}]
    return [{"role": ROLES.get(each["role"], each["role"]), "content": each["prompt"]} for each in prompt]


def read(entry: dict[str, Any], configs: dict[str, Any]) -> dict[str, Any]:
    """Return the dataset's config as mmengine reads it; what it cannot read alone, as it was given."""
    path = entry["config"]
    if path not in configs:
        try:
            loaded = Config.fromfile(path, lazy_import=True)._to_lazy_dict()  # noqa: SLF001 - keeps names
        except (RuntimeError, ImportError):
            return entry["values"]
        lists = [loaded[key] for key in loaded if key == "datasets" or key.endswith("_datasets")]
        configs[path] = {each.get("abbr", ""): each for found in lists for each in found}
    return configs[path][entry["abbr"]]


def main(plan_path: str, answer_path: str) -> None:
    """Answer a plan."""
    with open(plan_path, encoding="utf-8") as file:
        plan = json.load(file)
    configs: dict[str, Any] = {}
    answers = []
    for entry in plan["datasets"]:
        values = plain(read(entry, configs))
        layouts = {
            "plain": (LMTemplateParser(None), False),
            "meta": (LMTemplateParser(plan["meta"]), False),
            "chat": (APITemplateParser(CHAT_META), True),
        }
        answer: dict[str, Any] = {}
        for layout, (parser, as_messages) in layouts.items():
            try:
                answer[layout] = prompts(entry, values, parser, as_messages)
            except Exception as error:  # noqa: BLE001 - what upstream refuses is an answer, too
                answer[layout] = {"error": f"{type(error).__name__}: {error}"}
        answers.append(answer)
    with open(answer_path, "w", encoding="utf-8") as file:
        json.dump(answers, file, default=str)


if __name__ == "__main__":
    main(*sys.argv[1:3])
