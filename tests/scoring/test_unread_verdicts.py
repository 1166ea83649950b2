"""A judge's reply that is no verdict is never a number without a word: it is a failure, or noted beside what it counts."""

from __future__ import annotations

import json

import pytest

from proctor.dialects.hub_yaml.judges import Grader
from proctor.dialects.hub_yaml.scorers import reduced
from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Failure
from proctor.scoring.assertions import parse_assertion
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.judged_answers import calibrated, compared
from proctor.scoring.evaluators.judgement_readers import REPORTS, Tagged
from proctor.scoring.evaluators.pair_readers import CANDIDATE, PAIR_READERS
from proctor.scoring.evaluators.subjective_readers import SUBJECTIVE_REPORTS
from proctor.scoring.judges.assertions import Hearing, judged
from proctor.scoring.judges.guardian import verdict
from proctor.scoring.judges.prompts import strict
from proctor.scoring.judges.verdicts import UNREAD
from proctor.scoring.metrics.models import IsCodeMixed
from proctor.scoring.text import number_processors
from proctor.scoring.text.how_read import hearing

NOTHING = "nobody knows"
ROW = {"capability": "x", "category": "x", "difficulty": "x", "primary_tag": "Math", "level": 1, "num_checklist": 1}
ALONE = {**REPORTS, **SUBJECTIVE_REPORTS, "generic_llmjudge_postprocess": Tagged()}
BEYOND = {"eese_score_postprocess_dict": "11", "chem_exam_score_llmjudge_postprocess": r"\boxed{7}"}
PAIRS = {
    "alpacaeval_postprocess": "m",
    "arenahard_postprocess": "[[A>B]]",
    "wildbench_postprocess": '"choice": "A+"',
    "compassarena_postprocess": "Choice: A",
    "compassarena_subjectiveeval_pairwise_postprocess": "[[A>B]]",
}


@pytest.mark.parametrize("name, said", [*((name, NOTHING) for name in ALONE), *BEYOND.items()])
def test_every_reader_of_judgements_says_what_it_could_not_read(name, said):
    with hearing() as heard:
        found = ALONE[name]([said], [ROW], [0 if name.startswith("numerical") else ROW])
    assert heard.unread == {0} or found.failures[0].kind in UNREAD


@pytest.mark.parametrize("name", PAIR_READERS)
def test_every_reader_of_pairs_says_what_it_could_not_read(name):
    cases = Cases(["a", "b", "c"], [ROW, ROW, ROW])
    silent = Failure("timeout", "no answer", retryable=True)
    asked = [(place, CANDIDATE) for place in range(3)]
    found = compared(cases, asked, [PAIRS[name], NOTHING, silent], PAIR_READERS[name])
    assert found.failures[1].kind in UNREAD
    assert found.failures[2] == silent
    assert 0 not in found.failures


@pytest.mark.parametrize(
    "said",
    [
        NOTHING,
        "{}",
        '{"correct": "unknown", "confidence": 3}',
        '{"correct": "maybe", "confidence": 3}',
        '{"correct": "yes", "confidence": "high"}',
    ],
)
def test_a_judgement_with_a_confidence_needs_both(said):
    with hearing() as heard:
        calibrated(Cases([said, '{"correct": "yes", "confidence": 90}'], ["", ""]))
    assert heard.unread == {0}


def heard_by(said: str) -> list:
    return judged(ScriptedEngine(answer=said), [Hearing(parse_assertion("judge"), "q", "a", ["b"])])


@pytest.mark.parametrize(
    "said",
    [
        {"pass": "perhaps"},
        {"pass": None},
        {"score": "high"},
        {"pass": True, "score": "high"},
        {"score": None},
        {"score": 7},
    ],
)
def test_a_verdict_in_json_that_decides_nothing_is_a_failure(said):
    [found] = heard_by(json.dumps(said))
    assert found.kind in UNREAD


@pytest.mark.parametrize(
    "said, wanted", [({"pass": False, "score": "?"}, "score that is a number"), ({"pass": 2}, "pass that is true")]
)
def test_a_verdict_that_cannot_be_read_says_what_it_lacks(said, wanted):
    [found] = heard_by(json.dumps(said))
    assert f"no {wanted}" in found.message


def test_a_judge_that_answers_in_words_is_said_to_have_been_asked_for_json():
    [found] = heard_by("It is quite right.")
    assert "no verdict in the judge's answer, which is to be one JSON object: 'It is quite right.'" in found.message


@pytest.mark.parametrize("name", [name for name in vars(number_processors) if name.startswith(("Extract", "Scale"))])
def test_ratings_of_a_judge_by_a_template_have_no_default(name):
    operator = getattr(number_processors, name)()
    assert not isinstance(operator.process_value(NOTHING), Failure)
    assert strict(operator).process_value(NOTHING).kind in UNREAD


def test_a_probability_of_a_risk_needs_one_of_both_words():
    tokens = [{"text": "Perhaps", "top_tokens": [{"text": "Perhaps", "logprob": -0.1}]}]
    assert verdict(tokens) == (None, None)
    tokens[0]["top_tokens"].append({"text": " yes", "logprob": -3.0})
    assert verdict(tokens) == (None, pytest.approx(1.0))


def test_a_text_whose_language_nobody_was_told_is_not_of_one_language():
    [found] = IsCodeMixed(inference_model=ScriptedEngine(rules=[("never", "x")])).compute([[]], ["hallo"], [{}])
    assert isinstance(found, Failure)


@pytest.mark.parametrize("grades, value", [(["C", "I"], 0.5), (["0.8", "yes"], 0.9), (["C", "banana"], None)])
def test_grades_of_several_judges_that_count_nothing_are_no_zeros(grades, value):
    found = Grader(template="", grade_pattern="(.*)", reducer="mean")._verdict(grades, "x", reduced)
    assert found.kind in UNREAD if value is None else found.value == pytest.approx(value)
