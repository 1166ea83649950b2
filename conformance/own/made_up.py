"""Made-up rows, all drawn from one seed: nobody's data."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

Row = dict[str, Any]

SEED = 20261122
ASKED, POOL = 13, 12
"""Rows that are asked and rows of the pool of demos: few, so that exams are cheap; odd, so that halves are rounded."""

_WORDS = (
    *("amber", "basalt", "cedar", "delta", "ember", "fjord", "grove", "heron"),
    *("inlet", "juniper", "kelp", "lagoon", "maple", "nectar", "onyx", "pebble"),
)
LABELS = ("yes", "no", "maybe")


def asked(*, shared: bool = True) -> list[Row]:
    """Return the rows that are asked: the tenth is the fifth again, with ``shared`` the seventh is one of the pool."""
    rows = [_row(f"t{place:02}", random.Random(f"{SEED}/asked/{place}"), place) for place in range(ASKED)]
    rows[9] = dict(rows[4])
    if shared:
        rows[6] = dict(pool()[3])
    return rows


def pool() -> list[Row]:
    """Return the rows that demos come from; the last two are equal."""
    rows = [_row(f"p{place:02}", random.Random(f"{SEED}/pool/{place}"), place) for place in range(POOL)]
    rows[-1] = dict(rows[-2])
    return rows


def many(letter: str, count: int) -> list[Row]:
    """Return this many rows whose marks begin with a letter."""
    return [
        _row(f"{letter}{place:02}", random.Random(f"{SEED}/many/{letter}/{place}"), place) for place in range(count)
    ]


def _row(mark: str, stream: random.Random, place: int) -> Row:
    options = stream.sample(_WORDS, 4)
    gold = stream.randrange(4)
    text = " ".join(stream.choice(_WORDS) for _ in range(stream.randint(3, 9)))
    label = stream.choice(LABELS)
    number = str(stream.randint(2, 12))
    return {
        "mark": mark,
        "question": f"Item {mark}: which word fits {text}?",
        "text": f"{mark} {text}",
        "options": options,
        **dict(zip("ABCD", options, strict=True)),
        "gold": gold,
        "answer": "ABCD"[gold],
        "word": options[gold],
        "label": label,
        "labels": stream.sample(LABELS, stream.randint(1, 2)),
        "is_so": int(label == "yes"),
        "number": number,
        "worked": f"some steps\n#### {number}",
        "reference": f"{text} {options[gold]}",
        "references": [text, f"{text} {options[gold]}"],
        "value": round(stream.random() * 5, 3),
        "topic": ("stones", "plants", "water")[place % 3],
        "group_id": place // 3,
        "variant_type": "original" if place % 3 == 0 else "paraphrase",
    }


def _circular(rows: list[Row]) -> list[Row]:
    """Return each row four times with its options moved on, as circular evaluation asks."""
    turned = []
    for turn in range(4):
        for place, row in enumerate(rows):
            options = [row["options"][(each + turn) % 4] for each in range(4)]
            letter = "ABCD"[options.index(row["word"])]
            pattern = "".join("ABCD"[(each + turn) % 4] for each in range(4))
            turned.append(
                {
                    **row,
                    **dict(zip("ABCD", options, strict=True)),
                    "answer": letter,
                    "named": f"{place}--{letter}--{pattern}",
                    "qid": place,
                    "circular_pattern": pattern,
                }
            )
    return turned


def _conversations(rows: list[Row]) -> list[Row]:
    """Return rows of three turns each."""
    trios = [rows[start : start + 3] for start in range(0, len(rows) - 2, 3)]
    return [
        {"question": [row["question"] for row in trio], "answer": [row["number"] for row in trio]} for trio in trios
    ]


def write(folder: Path) -> None:
    """Write the rows as the files that exams read."""
    tables = {
        "test": asked(),
        "train": pool(),
        "circular": _circular(asked()[:5]),
        "talk": _conversations(asked()),
        "both": [*pool(), *asked()],
    }
    for name, rows in tables.items():
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    for split, rows in (("dev", pool()), ("test", asked())):
        (folder / split).mkdir()
        with (folder / split / f"made_{split}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerows([row["question"], *row["options"], row["answer"]] for row in rows)


def write_continuations(folder: Path) -> None:
    """Write the rows as files with a continuation and choices, and as custom datasets of questions."""
    rows = asked()
    tables = {
        "cont": [{**row, "cont": row["D"], "choices": ["A", "B"]} for row in rows],
        "options": [
            {"question": row["question"], **{letter: row[letter] for letter in "ABCD"}, "answer": row["answer"]}
            for row in rows
        ],
        "open": [{"question": row["question"], "answer": row["number"]} for row in rows],
    }
    for name, table in tables.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table), encoding="utf-8")
    with (folder / "circular.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["question", *"ABCD", "answer"])
        writer.writeheader()
        writer.writerows({name: row[name] for name in ["question", *"ABCD", "answer"]} for row in rows)
