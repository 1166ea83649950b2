"""Types of questions count in groups, and groups in languages."""

from __future__ import annotations

import pytest

from proctor.scoring.evaluators.ocrbench.questions import overall_scores


def test_groups_weigh_alike_however_many_questions_they_have() -> None:
    scored = [("text recognition en", 1.0), ("full-page OCR en", 0.5), ("text recognition en", 0.0), ("math QA en", 1)]
    assert overall_scores(scored) == {"English Overall Score": 75.0}


def test_languages_have_their_own_score() -> None:
    scored = [("full-page OCR cn", 0.25), ("full-page OCR en", 1.0)]
    assert overall_scores(scored) == {"English Overall Score": 100.0, "Chinese Overall Score": 25.0}


def test_an_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match="'text spotting cn'"):
        overall_scores([("text spotting cn", 1.0)])
