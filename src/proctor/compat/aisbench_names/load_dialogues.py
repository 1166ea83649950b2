"""Dialogues that AISBench puts to a server (``ais_bench.benchmark.datasets.sharegpt``): programs look at the rows."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.base_datasets import BaseDataset
from proctor.compat.aisbench_names.dataset_helpers import get_data_path
from proctor.compat.aisbench_names.evaluator_base import BaseEvaluator
from proctor.compat.aisbench_names.small_names import load_tokenizer
from proctor.foreign_text import parse_json

MIN_PROMPT_LEN = 4
MIN_OUTPUT_LEN = 4
_TURNS = 2  # a question and its answer
_SOUNDS: Mapping[str, str] = {
    "A": "laughter",
    "B": "sigh",
    "C": "cough",
    "D": "throatclearing",
    "E": "sneeze",
    "F": "sniff",
}


class ShareGPTDataset(BaseDataset):
    """Dialogues: their questions and answers, and how many tokens the last answer has."""

    @staticmethod
    def load(  # type: ignore[override]
        path: str, disable_shuffle: bool, **kwargs: Any
    ) -> Any:
        """Return the dialogues in which a human begins and every question has an answer.

        Args:
            path: A JSON file.
            disable_shuffle: Whether they stay in their order.
            **kwargs: ``model_path``: the folder of the tokenizer; ``trust_remote_code``.
        """
        from datasets import Dataset

        trusted = kwargs.get("trust_remote_code", False)
        tokenizer = load_tokenizer(kwargs.get("model_path"), trust_remote_code=trusted)  # type: ignore[arg-type]
        with open(get_data_path(path, local_mode=True), encoding="utf-8") as file:  # noqa: PTH123 - programs replace it
            dialogues = parse_json(file.read())
        rows = [_row(each, tokenizer) for each in dialogues if _is_whole(each["conversations"])]
        if not disable_shuffle:
            random.shuffle(rows)
        return Dataset.from_list(rows)


def _is_whole(turns: Sequence[Mapping[str, Any]]) -> bool:
    return len(turns) >= _TURNS and len(turns) % _TURNS == 0 and turns[0]["from"] == "human"


def _row(dialogue: Mapping[str, Any], tokenizer: Any) -> dict[str, Any]:
    texts = [each["value"] for each in dialogue["conversations"]]
    questions, answers = texts[::2], texts[1::2]
    length = None
    for answer in answers:  # all are counted, and the last one stands, as upstream
        try:
            length = len(tokenizer.encode(answer))
        except Exception:  # noqa: BLE001 - whatever a tokenizer stumbles over: the answer may have any length
            length = None
    return {"question": questions, "answer": answers, "max_out_len": length, "id": dialogue["id"]}


class ShareGPTEvaluator(BaseEvaluator):
    """How many answers name the sound: by its name, or by its letter."""

    def find_choice(self, result: str) -> str:
        """Return the sound of a letter; nothing where it has none."""
        return _SOUNDS.get(result, "")

    def score(
        self, predictions: Sequence[Any], references: Sequence[Any], test_set: Any = None, **columns: Any
    ) -> dict[str, Any]:
        """Return the share of right answers in percent, and each of them."""
        del test_set, columns
        if len(predictions) != len(references):
            return {"error": "predictions and references have different length"}
        details: list[dict[str, Any]] = []
        for answer, wanted in zip(predictions, references, strict=True):
            read = self.find_choice(answer[0]) if len(answer) > 1 else answer
            details.append({"pred": answer, "answer": wanted, "correct": read == wanted})
        return {"accuracy": 100 * sum(bool(each["correct"]) for each in details) / len(details), "details": details}
