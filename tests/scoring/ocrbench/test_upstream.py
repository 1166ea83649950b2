"""Scores that AISBench's own rules gave (``python -m conformance.aisbench.ocrbench --count 10 --record …``)."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.ocrbench.questions import data_of, ocrbench, question_score
from proctor.scoring.packages import is_here

for _package in ("nltk", "lxml", "jieba"):
    pytest.importorskip(_package)
_LINES = gzip.decompress(Path(__file__).with_name("upstream.jsonl.gz").read_bytes()).decode().splitlines()
*CASES, WHOLE = map(json.loads, _LINES)
KINDS = sorted({case["reference"]["category"] for case in CASES})
NEAR = 1e-9
"""Costs of trees are summed in another order."""


def _without_wordnet() -> bool:
    return not is_here("corpora/wordnet")


def test_every_type_is_recorded() -> None:
    assert len(KINDS) > 20
    assert len(CASES) > 150


@pytest.mark.parametrize("kind", KINDS)
def test_single_answers(kind: str) -> None:
    cases = [case for case in CASES if case["reference"]["category"] == kind]
    if data_of(cases[0]["reference"]) and _without_wordnet():
        pytest.skip("needs WordNet (NLTK_DATA)")
    for case in cases:
        assert question_score(case["said"], case["reference"]) == pytest.approx(case["score"], abs=NEAR), case


def test_whole_evaluations() -> None:
    if _without_wordnet():
        pytest.skip("needs WordNet (NLTK_DATA)")
    chinese = [case for case in CASES if case["reference"]["category"].endswith("cn")]
    parts: list[list[dict[str, Any]]] = [CASES, CASES[::3], chinese]
    for part, wanted in zip(parts, WHOLE["whole"], strict=True):
        found = ocrbench(Cases([case["said"] for case in part], [case["reference"] for case in part])).scores
        assert found == pytest.approx(wanted, abs=NEAR)
