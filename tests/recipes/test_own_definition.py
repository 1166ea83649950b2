"""An exam whose dialect says nothing of what it is made of has a whole fingerprint all the same."""

import importlib
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from proctor.recipes.options import ExamOptions
from proctor.recipes.own_definition import own_definition
from proctor.scoring import ExamGrader, MetricNames, MetricScorers
from proctor.scoring.metrics.accuracy import Accuracy
from proctor.scoring.text.processor_steps import Processors
from proctor.scoring.text.text_processors import Lower

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


def layers(quiz, **changes):
    exam = exam_of(quiz)
    grading = replace(exam.grader.gradings[0], **changes)
    found = replace(exam, grader=ExamGrader([grading], MetricNames())).definition
    return found.extraction, found.metrics


def processors(*sources):
    return Processors(sources).steps


SET = {"__type__": "set", "fields": {"prediction": "x"}}


def test_steps_count_with_all_their_fields_and_leave_the_metrics_alone(quiz):
    others = [
        processors(),
        processors("processors.lower_case"),
        processors("processors.lower_case", "processors.lower_case"),
        processors("processors.upper_case"),
        processors(Lower(field="prediction")),
        processors(Lower(field="references")),
        processors(SET),
        processors({**SET, "fields": {"prediction": "y"}}),
        lambda question: (),
    ]
    found = [layers(quiz, extract=each) for each in others]
    assert len({repr(extraction) for extraction, _ in found}) == len(others)
    assert len({repr(metrics) for _, metrics in found}) == 1
    assert layers(quiz, extract=processors(SET)) == layers(quiz, extract=processors(dict(SET)))


def test_the_reading_the_name_and_what_describes_a_grading_count(quiz):
    def read(question, responses):
        raise NotImplementedError

    class Reading:
        def __call__(self, question, responses):
            raise NotImplementedError

    plain = layers(quiz)
    for changes in ({"read": read}, {"read": Reading()}, {"spec": {"a": 1}}, {"name": "strict"}):
        assert layers(quiz, **changes)[0] != plain[0], changes
    assert layers(quiz, read=read)[0] != layers(quiz, read=Reading())[0]
    assert layers(quiz, name="strict")[1] != plain[1]
    assert layers(quiz, spec={"a": 1})[1] == plain[1]


def test_metrics_count_with_all_their_fields(quiz):
    class Counted:
        name = "own"

        def measure(self, columns, **wanted):
            raise NotImplementedError

    class Other(Counted):
        pass

    others = [
        (), MetricScorers(["metrics.accuracy"]), MetricScorers(["metrics.f1_macro"]),
        MetricScorers(["metrics.accuracy", "metrics.f1_macro"]), [Accuracy()], [Accuracy(score_prefix="my_")], [Counted()], [Other()],
    ]  # fmt: skip
    found = [layers(quiz, scorers=each) for each in others]
    assert len({repr(metrics) for _, metrics in found}) == len(others)
    assert len({repr(extraction) for extraction, _ in found}) == 1


def test_a_grader_of_ones_own_is_known_by_its_class_and_the_exam(quiz):
    class Own:
        def check(self):
            return iter(())

    class Other(Own):
        pass

    exam = replace(exam_of(quiz), grader=Own())
    found = exam.definition
    assert found.extraction == [
        "quiz", dict(exam.source), "test_a_grader_of_ones_own_is_known_by_its_class_and_the_exam.<locals>.Own",
        found.extraction[3],
    ]  # fmt: skip
    assert replace(exam, grader=Other()).definition.extraction != found.extraction
    assert replace(exam, source={"x": 1}).definition.metrics != found.metrics
    assert "quiz_of_others" in found.held
