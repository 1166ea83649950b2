"""Questions about pictures: how answers are read, and what counts as right (conformance compares AISBench's classes)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import ScoringError
from proctor.scoring.evaluators import pictures
from proctor.scoring.evaluators.boxes import overlap, pixels, smart_size
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.judged_answers import calibrated, calibration_error
from proctor.scoring.evaluators.judgement_readers import REPORTS

OPTIONS = {"A": "red", "B": "blue sky", "C": 12}


@pytest.mark.parametrize(
    "said, meant",
    [
        ("A", "A"), ("The answer is (B).", "B"), ("it is the blue sky", "B"), ("12", "C"), ("A or B", ""), ("", ""),
        ("Cannot determine the answer", "Z"), ("Z", "Z"), ("B is not what I would say in this long sentence", ""),
        ("Failed to obtain answer via API: red", ""),
    ],
)  # fmt: skip
def test_an_option_is_meant_by_its_letter_or_its_words(said, meant):
    assert pictures.inferred_option(said, OPTIONS) == meant


@given(st.text(max_size=60))
def test_any_answer_means_one_option_or_none(said):
    assert pictures.inferred_option(said, OPTIONS) in ("", "Z", *OPTIONS)


def test_categories_have_scores_of_their_own_and_the_whole_is_the_main_one():
    golds = [
        {"choices": json.dumps(OPTIONS), "answer": each, "category": kind} for each, kind in (("A", "x"), ("B", "y"))
    ]
    found = pictures.mmstar(Cases(["A", "A"], golds))
    assert found.scores == {"Overall": 50.0, "x": 100.0, "y": 0.0}
    assert (found.main, found.correct) == ("Overall", [True, False])


def test_people_who_agree_make_an_answer_right():
    people = [{"answer": word, "answer_id": n} for n, word in enumerate(["red", "red", "red", "red", "blue"])]
    assert pictures.textvqa(Cases(["The Red!"], [people])).scores["accuracy"] == pytest.approx(100 * (3 + 1 + 1) / 5)
    box = Cases(["x <|begin_of_box|>Red<|end_of_box|>"], [people])
    assert pictures.textvqa_glm4v(box).scores == pictures.textvqa(Cases(["red"], [people])).scores


def test_documents_are_read_as_nearly_right():
    assert pictures.anls(Cases(["blue sky"], ["['Blue sky', 'x']"])).scores["ANLS Acc"] == 100
    assert 0 < pictures.anls(Cases(["blue sk"], [["blue sky"]])).scores["ANLS Acc"] < 100
    assert pictures.anls(Cases(["green"], [["blue sky"]])).scores["ANLS Acc"] == 0


def test_boxes_that_cannot_be_read_are_wrong_and_arguments_that_mean_nothing_are_refused():
    gold = json.dumps({"bbox": [0, 0, 50, 50], "image_width": 100, "image_height": 100})
    given_boxes = [[0, 0, 500, 500], [1, 2], [500, 0, 0, 500]]
    assert pictures.boxes(Cases(given_boxes, [gold] * 3)).correct == [True, False, False]
    with pytest.raises(ScoringError, match="no 'factr'"):
        pictures.boxes(Cases(given_boxes, [gold] * 3), smart_resize_cfg={"factr": 28})
    assert pictures.box_of("at [1, 2.5, -3, 4] it is") == [1.0, 2.5, -3.0, 4.0]
    assert pictures.box_of("nowhere") == [0.0] * 4


@given(st.lists(st.integers(0, 1000), min_size=4, max_size=4), st.integers(1, 900), st.integers(1, 900))
def test_a_box_lies_over_itself_and_within_its_picture(box, width, height):
    try:
        found = pixels(box, (width, height), 1000)
    except ValueError:
        return
    assert overlap(found, found) == pytest.approx(1.0)
    assert 0 <= found[0] < found[2] <= width


def test_pictures_are_resized_to_multiples_between_bounds():
    tall, wide = smart_size(1000, 30)
    assert tall % 32 == wide % 32 == 0
    with pytest.raises(ValueError, match="differ"):
        smart_size(1000, 1)


def test_judges_that_are_sure_and_wrong_are_badly_calibrated():
    said = [json.dumps({"correct": "no", "confidence": 90})] * 3 + ["no json"]
    found = calibrated(Cases(said, ["x"] * 4))
    assert found.scores == {"accuracy": 0.0, "calibration_error": 90.0}
    assert calibration_error([]) == 0.0
    assert calibration_error([(1.0, True)] * 100 + [(0.0, False)] * 100) == 0.0


def test_readers_of_judgements_group_by_columns():
    rows = [{"subject_name": "a"}, {"subject_name": "b"}]
    found = REPORTS["medmcqa_llmjudge_postprocess"](["A", "B"], rows, ["x", "x"])
    assert found.scores["accuracy"] == 50
    assert (found.scores["medmcqa-a"], found.scores["medmcqa-b"]) == (100, 0)
    assert REPORTS["simpleqa_postprocess"](["A", "C"], rows, ["x", "x"]).scores["accuracy_given_attempted"] == 100
