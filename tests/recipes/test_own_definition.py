"""An exam whose dialect says nothing of what it is made of has a whole fingerprint all the same."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.recipes.options import ExamOptions
from proctor.recipes.own_definition import own_definition
from proctor.scoring import ExamGrader, MetricNames, MetricScorers

QUIZ = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture
def quiz(tmp_path, monkeypatch):
    (source,) = [file for file in QUIZ.rglob("*.py") if "resolve_name" in file.read_text()]
    copy = tmp_path / "quiz_of_others.py"
    copy.write_text(source.read_text())
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("quiz_of_others")
    yield module, copy, tmp_path
    sys.modules.pop("quiz_of_others", None)


def exam_of(quiz, text="france = PARIS\n"):
    module, _, folder = quiz
    (folder / "capitals.quiz").write_text(text)
    (found,) = module.resolve_name(str(folder / "capitals.quiz"), ExamOptions())
    return found


def test_no_layer_is_empty(quiz):
    found = own_definition(exam_of(quiz))
    assert found == exam_of(quiz).definition
    assert found.extraction
    assert found.metrics
    assert list(found.held) == ["quiz_of_others"]


def test_rows_do_not_count_and_metrics_do(quiz):
    one, two = exam_of(quiz).definition, exam_of(quiz, "italy = ROME\n").definition
    assert one == two
    exam = exam_of(quiz)
    grading = exam.grader.gradings[0]
    other = replace(grading, scorers=MetricScorers(["metrics.f1_macro"]))
    changed = replace(exam, grader=ExamGrader([other], MetricNames())).definition
    assert (changed.extraction, changed.metrics == one.metrics) == (one.extraction, False)


def test_edited_code_of_a_plugin_counts(quiz):
    before = exam_of(quiz).definition
    _, file, _ = quiz
    file.write_text(file.read_text() + "\n# another rule\n")
    after = exam_of(quiz).definition
    assert after.held != before.held
    assert after.extraction != before.extraction


def test_a_grader_of_ones_own(quiz):
    class Own:
        def check(self):
            return iter(())

    exam = replace(exam_of(quiz), grader=Own())
    assert exam.definition.metrics["metrics"][:1] == ["quiz"]
