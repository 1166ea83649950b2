"""Verdicts on answers, one score of all epochs, and what a sample is worth of which some answers cannot be scored."""

import pytest

from proctor.dialects.hub_yaml.config import FieldSpec, HubTask, Step
from proctor.dialects.hub_yaml.gradings import _grading_names, history_of
from proctor.dialects.hub_yaml.scorers import HubScorer, reduced, scorer_of
from proctor.errors import ProctorError
from proctor.ir import Converse, Decoding, Failure, Generate, Prompt
from proctor.scoring.columns import Columns


@pytest.mark.parametrize(
    "values, reducer, score",
    [
        ([], "mean", None),
        ([], "pass_at_1", None),
        (["C", "I", "I"], "mean", 1 / 3),
        (["C", "P"], "mean", 0.75),
        (["I", "C", "P"], "median", 0.5),
        (["I", "P"], "max", 0.5),
        (["P", "P", "C"], "mode", 0.5),
        ([2.0, 2.0, 1.0], "mode", 2.0),
        (["C", "C", "I", "I"], "pass_at_1", 0.5),
        (["C", "I", "I", "I"], "pass_at_2", 0.5),
        (["C", "I"], "pass_at_2", 1.0),
        (["C", "I"], "pass_at_3", None),
        ([1.0, 0.9], "pass_at_1", 0.5),
        (["C", "C", "I"], "at_least_2", 1.0),
        (["C", "P", "I"], "at_least_2", 0.0),
        ([1.0, 2.0, 0.5], "at_least_2", 1.0),
    ],
)
def test_one_score_of_several_verdicts(values, reducer, score):
    assert reduced(values, reducer) == (None if score is None else pytest.approx(score))


def task(*scorers, **more):
    return HubTask("d", "", FieldSpec(), (Step("generate"),), tuple(Step(each) for each in scorers), **more)


def measured(scorer, answers, targets, choices=()):
    rows = [{"target": each, "choices": choices, "metadata": {}, "input": "?"} for each in targets]
    return scorer.measure(Columns(answers, [[each] for each in targets], rows), intervals=False)


LOST = Failure("server_error", "away")


def test_an_answer_that_cannot_be_scored_is_left_out_and_a_sample_without_any_fails():
    scorer = scorer_of(task("choice", epochs=2), Step("choice"), [(0, False)])
    assert (scorer.name, scorer.metric, scorer.declared_main.unit) == ("choice", "accuracy", "share")
    found = measured(scorer, [[["ANSWER: A"], ["ANSWER: B"]], LOST, [["A"], ["ANSWER: A"]]], ["A", "A", "A"], "xy")
    assert found.instances["accuracy"] == [0.5, None, 0.5]
    (main,) = found.scores
    assert (main.value, main.n) == (0.5, 2)
    without = measured(scorer, [[["ANSWER: A"]], [["ANSWER: B"]]], ["A", "A"])
    assert {place: each.message for place, each in without.failures.items()} == dict.fromkeys(
        (0, 1), "the scorer choice needs choices, and the row has none"
    )


def test_how_answers_were_read_is_noted_at_their_samples():
    scorer = scorer_of(task("answer"), Step("answer", {"pattern": "letter"}), [])
    found = measured(scorer, [LOST, [["ANSWER: A"]], [["ANSWER: B"]]], ["A", "A", "A"])
    assert (found.parsed[1:], sorted(found.notes)) == (["A", "B"], [1, 2])


def test_too_few_answers_for_a_reducer_are_a_failure_of_the_sample():
    scorer = scorer_of(task("match", epochs=2, reducer="pass_at_2"), Step("match"), [])
    found = measured(scorer, [[["a"]], [["a"], ["b"]]], ["a", "a"])
    assert {place: each.message for place, each in found.failures.items()} == {0: "too few answers"}
    assert found.instances["accuracy"] == [None, 1.0]


def test_of_several_answers_with_letters_the_last_that_names_one_counts():
    scorer = scorer_of(task("choice"), Step("choice"), [(0, False), (1, False)])
    said = [["ANSWER: A", "ANSWER: B"], ["ANSWER: A", "fine"], ["none", "none"]]
    found = measured(scorer, [[each] for each in said], ["B", "A", "A"], "xy")
    assert found.instances["accuracy"] == [1.0, 1.0, 0.0]
    both = scorer_of(task("choice"), Step("choice"), [(0, True)])
    found = measured(both, [[["ANSWER: A,B"]], [["ANSWER: A"]]], [["A", "B"]] * 2, "xyz")
    assert found.instances["accuracy"] == [1.0, 0.0]


def test_a_metric_of_another_system_scores_completions_once():
    scorer = scorer_of(task("lm_eval:exact_match"), Step("lm_eval:exact_match"), [])
    assert not isinstance(scorer, HubScorer)
    found = measured(scorer, [[["no", "a"]], LOST, [["b"]]], ["a", "a", "a"])
    (main,) = found.scores
    assert (main.value, main.n) == (0.5, 2)
    assert list(found.instances) == [main.name]
    with pytest.raises(ProctorError, match="scores all samples together, and each is asked 2 times"):
        scorer_of(task("lm_eval:exact_match", epochs=2), Step("lm_eval:exact_match"), [])


@pytest.mark.parametrize(
    "scorers, names",
    [
        (["match"], [""]),
        (["match", "f1"], ["match", "f1"]),
        (["match", "match", "f1", "match"], ["match", "match_2", "f1", "match_3"]),
    ],
)
def test_scorers_have_names_of_their_own(scorers, names):
    assert _grading_names(scorers) == names


CHAT = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]


@pytest.mark.parametrize(
    "request_, texts, history",
    [
        (Generate(Prompt(CHAT)), ["A"], "Q\n\nAssistant: A"),
        (Generate(Prompt(CHAT)), [], "Q"),
        (Converse((*CHAT, None, {"role": "user", "content": "R"}, None), Decoding()), ["A", "B"],
         "Q\n\nAssistant: A\n\nUser: R\n\nAssistant: B"),
        (None, [], ""),
        (None, ["A"], "A"),
    ],
)  # fmt: skip
def test_a_judge_is_shown_the_conversation_without_what_the_system_says(request_, texts, history):
    assert history_of(request_, texts) == history
