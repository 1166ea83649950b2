"""What NeedleBench has beside its loaders (``ais_bench.benchmark.datasets.needlebench_v2``)."""

from __future__ import annotations

import json
import random
from enum import Enum
from typing import Any

from proctor.dialects.aisbench.datasets.generators.ancestors import told
from proctor.dialects.aisbench.datasets.generators.needles import ELDEST
from proctor.dialects.aisbench.datasets.upstream_texts import constants
from proctor.errors import DataError
from proctor.scoring.postprocessors.texts import plain_name

_ENDS = {"Chinese": "zh_CN", "English": "en"}


class QuestionType(Enum):
    """What is asked about a family: the oldest ancestor, the n-th ancestor or descendant, how far two are apart."""

    ELDEST_ANCESTOR = 0
    NTH_ANCESTOR = 1
    NTH_DESCENDANT = 2
    RELATIONSHIP_DISTANCE = 3


def _lines(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 - programs replace it
        return list(file)


def clean_atc_answer(text: str) -> str:
    """Return a name without LaTeX, quotes and extra space; ``None`` (a word) where there is none."""
    return plain_name(text)


def get_random_needles(counter: int, file_path: str, num_needles: int, language: str) -> dict[str, Any]:
    """Return a shuffled chain of relatives: ``needles``, ``answer``, ``retrieval_question`` and ``last_person``.

    Args:
        counter: The seed.
        file_path: A JSON file of names by language.
        num_needles: How many people.
        language: ``Chinese`` or ``English``.

    Raises:
        DataError: There is no such language.
        DatasetNotFoundError: Upstream's sentences are not there.
    """
    with open(file_path, encoding="utf-8") as file:  # noqa: PTH123 - programs replace it
        people: list[str] = json.loads(file.read())[language].split(",")
    if language not in _ENDS:
        raise DataError(f"there is no language '{language}'", hint="choose Chinese or English")
    texts, end = constants("datasets.needlebench_v2.atc"), _ENDS[language]
    stream = random.Random(counter)
    names = stream.sample(people, num_needles)
    sentences, _ = told(names, texts[f"relationship_templates_{end}"], texts[f"relationship_terms_{end}"], stream)
    stream.shuffle(sentences)
    asked = ELDEST[language].format(last=names[-1])
    return {"needles": sentences, "answer": names[0], "retrieval_question": asked, "last_person": names[-1]}


def get_random_line_by_language(counter: int, file_path: str, language: str) -> dict[str, Any] | None:
    """Return one needle of a file of JSON lines, its question and its keyword; ``None`` where there is none.

    Args:
        counter: The seed.
        file_path: The file.
        language: That of the needle.
    """
    rows = [row for row in map(json.loads, _lines(file_path)) if row["language"] == language]
    if not rows:
        return None
    row = random.Random(counter).choice(rows)
    return {"needle": row["needle"], "retrieval_question": row["retrieval_question"], "keyword": row["arg2"]}


def get_unique_entries(
    file_path: str,
    n: int,
    language: str,
    unique_arg1: bool = False,
    unique_arg2: bool = False,
    unique_combination: bool = False,
) -> list[dict[str, Any]]:
    """Return needles of a file of JSON lines in any order, drawn without a seed; lines that are not JSON are left out.

    Args:
        file_path: The file.
        n: How many at most.
        language: That of the needles.
        unique_arg1: Whether all have different first words.
        unique_arg2: Whether all have different second words.
        unique_combination: Whether all have different pairs of those words that must be unique.
    """
    lines = _lines(file_path)
    random.shuffle(lines)
    seen: tuple[set[Any], set[Any], set[Any]] = (set(), set(), set())
    found: list[dict[str, Any]] = []
    for line in lines:
        try:
            entry = json.loads(line.strip())
        except json.JSONDecodeError:
            continue
        if entry.get("language") != language:
            continue
        first = entry.get("arg1", "") if unique_arg1 else ""
        second = entry.get("arg2", "") if unique_arg2 else ""
        asked = ((unique_arg1, first), (unique_arg2, second), (unique_combination, (first, second)))
        if not any(is_asked and key in keys for (is_asked, key), keys in zip(asked, seen, strict=True)):
            for (_, key), keys in zip(asked, seen, strict=True):
                keys.add(key)
            found.append(entry)
        if len(found) == n:
            break
    return found
