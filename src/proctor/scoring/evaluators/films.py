"""Evaluators of questions about films and sounds, as AISBench has them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from proctor.scoring.evaluators.cases import Cases, Verdict, percent_of_sum, share
from proctor.scoring.evaluators.pictures import CHAT_END, NO_CHOICE, shares_by_group

_PREFIXES = (
    "The best answer is", "The correct answer is", "The answer is", "The answer", "The best option is",
    "The correct option is", "Best answer:", "Best option:", "Answer:", "Option:",
)  # fmt: skip


def videomme(cases: Cases) -> Verdict:
    """Share of right options, by duration, domain, category and task (``VideoMMEEvaluator``)."""
    marks, groups = [], []
    for given, gold in cases.pairs():
        marks.append((first_letter(given) or NO_CHOICE) == gold["answer"])
        kinds = ["[overall]", *(f"[{name}: {gold[name]}]" for name in ("domain", "sub_category", "task_type"))]
        groups.append([f"{span}{kind}" for span in (f"[duration: {gold['duration']}]", "[Overall]") for kind in kinds])
    return shares_by_group(marks, groups, "[Overall][overall]")


def first_letter(said: str) -> str:
    """Return the first of the letters A to D after the words that announce an answer, or ``""``."""
    text = said.strip()
    for prefix in _PREFIXES:
        text = text.replace(prefix, "")
    match = re.search("[ABCD]", text)
    return match[0] if match else ""


def videobench(cases: Cases) -> Verdict:
    """Share of answers in which the first letter of A to F is the right one (``VideoBenchEvaluator``)."""
    return share([first_of_six(given) == gold for given, gold in _videos(cases)], rule=percent_of_sum)


def first_of_six(said: Any) -> str:
    """Return the first of the letters A to F, in the alphabet's order, that an answer has; ``""`` without one."""
    return next((letter for letter in "ABCDEF" if letter in said), "")


def videobench_vita(cases: Cases) -> Verdict:
    """As :func:`videobench`, of a letter that stands alone behind VITA's mark (``VideoBenchEvaluatorForVita``)."""
    return share([letter_alone(given) == gold for given, gold in _videos(cases)], rule=percent_of_sum)


def letter_alone(said: str) -> str:
    """Return the first of the letters A to F that stands alone behind VITA's mark; ``""`` without one."""
    match = re.search(r"\b([A-F])\b", said.rpartition("☜")[2].replace(CHAT_END, "").strip())
    return match.group(1) if match else ""


def _videos(cases: Cases) -> Iterable[tuple[str, str]]:
    return ((given, gold["answer"] if isinstance(gold, Mapping) else gold) for given, gold in cases.pairs())


_SOUNDS = {"A": "laughter", "B": "sigh", "C": "cough", "D": "throatclearing", "E": "sneeze", "F": "sniff"}


def sound(letter: Any) -> str:
    """Return the sound that a letter of VocalSound means; ``""`` of another one."""
    return _SOUNDS.get(letter, "")


def vocalsound(cases: Cases) -> Verdict:
    """Share of answers whose first letter names the sound (``VocalSoundEvaluator``)."""
    marks = [(sound(given[0]) if given else given) == gold for given, gold in cases.pairs()]
    return share(marks, rule=percent_of_sum)
