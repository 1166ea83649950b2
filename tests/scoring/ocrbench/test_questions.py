"""Each type of question has its rule; types count in groups of languages."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.errors import ScoringError
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.ocrbench import reading
from proctor.scoring.evaluators.ocrbench.questions import ocrbench, question_score


def _asked(kind: str, answers: Any, question: Any = "What?", evals: Any = "without eval") -> dict[str, Any]:
    given = {"answer": repr(answers), "category": kind, "question": question, "evals": evals}
    return {**given, "bbox_raw": "without bbox", "content": "without content"}


@pytest.mark.parametrize(
    "said, reference, score",
    [
        ("so: Exit", _asked("text recognition en", ["exit"]), 1.0),
        ("(B).", _asked("science QA en", "B", evals="multiple choice"), 1.0),
        ("exit", _asked("math QA en", ["EXIT"], evals="case sensitive"), 0.0),
        ("北 京", _asked("cognition VQA cn", ["北京"]), 1.0),
        ("A、C", _asked("handwritten answer extraction cn", ["AC"], "选择题"), 1.0),
        ("8", _asked("text counting en", [10], evals="regression"), 0.8),
        ("[0,0,10,5]", _asked("text grounding en", [0, 0, 10, 10]), 0.5),
        ("[[0,0,10,10,'EXIT']]", _asked("text spotting en", ["EXIT"]), 0.0),
        ("", _asked("full-page OCR en", ["words"]), 0.0),
        ("words", _asked("text translation cn", [""]), None),
        ("| a |", _asked("table parsing en", ["| a |"], None), None),
    ],
)
def test_each_type_has_its_rule(said: str, reference: dict[str, Any], score: float | None) -> None:
    assert question_score(said, reference) == score


def test_long_texts_are_the_mean_of_four_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("nltk")
    monkeypatch.setattr(reading, "words_meteor", lambda given, wanted, **more: 0.5)
    score = question_score("the lamp is on", _asked("full-page OCR en", ["the lamp is on"]))
    assert score == pytest.approx((1 + 0.5 + 1 + 1) / 4)
    assert question_score("  ", _asked("full-page OCR cn", ["lamp"])) == pytest.approx(0.5 / 4)


def test_what_cannot_be_scored_is_a_failure_and_not_a_zero() -> None:
    rows = [
        _asked("text recognition en", ["exit"]),
        _asked("text spotting cn", ["x"]),
        _asked("science QA en", ["A", "B"], evals="multiple choice"),
        _asked("table parsing en", ["x"], "as a drawing"),
        {**_asked("math QA en", ["x"]), "answer": "not a literal"},
    ]
    verdict = ocrbench(Cases(["exit"] * 5, rows))
    assert verdict.scores == {"English Overall Score": 100.0}
    assert sorted(verdict.failures) == [1, 2, 3, 4]
    assert verdict.instances == {"score": [100.0, None, None, None, None]}
    with pytest.raises(ScoringError, match="no questions of the type"):
        ocrbench(Cases(["x"], rows[1:2]))


def test_languages_have_scores_of_their_own() -> None:
    rows = [_asked("text recognition en", ["a"]), _asked("math QA en", ["b"]), _asked("cognition VQA cn", ["甲"])]
    found = ocrbench(Cases(["a", "a", "甲"], rows))
    assert found.scores == {"English Overall Score": 50.0, "Chinese Overall Score": 100.0}
    assert found.main == "English Overall Score"


@pytest.mark.parametrize("reference", ["words", {"category": "text recognition en"}, None])
def test_a_reference_that_is_not_a_question_is_named(reference):
    with pytest.raises(ValueError, match="not a question of OCRBench v2"):
        question_score("words", reference)
