"""Tables for the goldens, and the cases that ask them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.own import made_up
from conformance.own.cases import LOST, Case

Rows = Sequence[Mapping[str, Any]]


def _some(*names: str, **named: str) -> Rows:
    """Return the made-up rows with some of their columns, those in ``named`` under other names."""
    chosen = {**dict(zip(names, names, strict=True)), **named}
    return [{name: row[column] for name, column in chosen.items()} for row in made_up.asked()]


def write(folder: Path) -> None:
    """Write the tables."""
    _write_csv(folder / "plain.csv", _some("question", answer="number"), ",")
    _write_csv(folder / "semicolons.csv", _some("question", answer="number"), ";")
    _write_csv(folder / "tabs.tsv", _some("question", answer="word"), "\t")
    _write_csv(folder / "letters.csv", _some("question", "A", "B", "C", "D", "answer"), ",")
    _write_csv(folder / "texts.csv", _some("question", "A", "B", "C", "D", answer="word"), ",")
    _write_csv(folder / "own_names.csv", _some("text", "topic", "label"), ",")
    _write_lines(folder / "rows.jsonl", _some("question", answer="number"))
    _write_lines(folder / "choices.jsonl", _some("question", choices="options", answer="gold"))
    _write_lines(folder / "many.jsonl", _some("question", answer="references"))
    (folder / "list.json").write_text(json.dumps(_some("question", answer="label")), encoding="utf-8")


def _write_csv(path: Path, rows: Rows, separator: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)


def _write_lines(path: Path, rows: Rows) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


_TEXTS = ("plain.csv", "semicolons.csv", "tabs.tsv", "rows.jsonl", "many.jsonl", "list.json")
_CHOICES = ("letters.csv", "texts.csv", "choices.jsonl")
_NAMED = "own_names.csv[input_column=text,answer_column=label]"


def cases() -> Iterator[Case]:
    """Yield the cases of this dialect."""
    everything = (*_TEXTS, *_CHOICES, _NAMED)
    yield Case("plain", everything)
    yield Case(
        "said", everything, engine={"answers": ["**{number}**.", "{number}", "{word}", "yes!", "A", "", "{words}"]}
    )
    yield Case("limit-1", everything, {"limit": 1})
    yield Case("limit-half", everything, {"limit": 0.5})
    yield Case("demos-2", everything, {"num_demos": 2})
    yield Case("seed-7", everything, {"num_demos": 2, "seed": 7})
    yield Case("lost", everything, engine={"lost": list(LOST), "ties": True})
    yield Case("as-text", _CHOICES, engine={"scores": False})
    yield Case("messages", everything, {"apply_chat_template": True, "system_prompt": "Be brief.", "limit": 5})
    yield Case("chats", everything, {"limit": 5}, {"scores": False, "chats": True})
    yield Case("prompt", ("own_names.csv",), {"prompt": "On {topic}: {text}", "answer_column": "label"})
    yield Case("decoding", _TEXTS, {"decoding": {"max_tokens": 5, "temperature": 0.7}, "limit": 6})
    yield Case("repeats", _TEXTS, {"repeats": 3, "limit": 6})
    yield Case("reduced", _TEXTS, {"repeats": 3, "reduce": ("mean", "pass@2"), "limit": 6})
    yield Case("grouped", (_NAMED,), {"group_by": ("topic",)})
    yield Case("clusters", (_NAMED,), {"clusters": "topic"})
    yield Case("predict-only", everything, {"predict_only": True, "limit": 4})
