"""Exams whose answers are letters; what is right was compared with OpenCompass (``conformance/aisbench/breadth_scoring``)."""

from __future__ import annotations

import pytest

from proctor.errors import MissingFieldError
from proctor.scoring.evaluators import lettered
from proctor.scoring.evaluators.cases import Cases

OPTIONS = ["one cat", "two (dogs)", "3.5"]


def row(**more):
    return {"options": OPTIONS, "difficulty": "hard", "prompt_mode": "zero-shot", **more}


@pytest.mark.parametrize(
    "said, letter",
    [
        ("I think so.\nThe answer is $\\boxed{B}$.", "B"),
        ("ANSWER: c\nThe answer is A", "A"),  # the last line first
        ("(C)", "C"),
        ("The answer is two (dogs).", "B"),
        ("3.5", "C"),
        ("nothing of the kind", None),
    ],
)
def test_supergpqa_reads_letters_and_options(said, letter):
    verdict = lettered.supergpqa(Cases([said], ["B"], [row()]))
    assert verdict.parsed == [letter]
    assert verdict.scores["accuracy"] == float(letter == "B")
    assert verdict.scores["miss_rate"] == float(letter is None)
    assert verdict.scores["hard_accuracy"] == verdict.scores["accuracy"]


def test_supergpqa_with_examples_reads_what_stands_before_the_next_question():
    cases = Cases(["The answer is A.\nQuestion: x\nThe answer is B."], ["A"], [row(prompt_mode="five-shot")])
    assert lettered.supergpqa(cases).scores["accuracy"] == 1.0


def test_rows_without_options_are_named():
    with pytest.raises(MissingFieldError, match="'options'"):
        lettered.proteinlmbench(Cases(["A"], ["A"], [{}]))


def test_labels_of_the_row_are_what_counts():
    rows = [{"choices": {"label": ["1", "2"]}}] * 2
    assert lettered.sciknoweval(Cases(["A, so 2", "none"], ["2", "1"], rows)).correct == [True, False]


def test_bbeh_compares_words_with_commas_without_spaces():
    given = ["The answer is: a,b", "The final answer is **x**", "The answer is 'x'"]
    assert lettered.bbeh(Cases(given, ["a, b", "(x)", "y"])).correct == [True, True, False]
    assert lettered.bbeh_option(Cases(["The answer is (B)"], ["(B)"])).correct == [True]


@pytest.mark.parametrize("said", ["The answer is: (b)", "so **B**", "hm\n(B)\n", "it may be (A) or (B)"])
def test_letters_of_zebra_puzzles(said):
    assert lettered.zebra_option(Cases([said], ["b"])).correct == [True]


def test_letters_of_elbench_are_a_set_and_never_letters_of_words():
    given = ["答案：C, A", "ANSWER: B", "A, C", "A cat"]
    assert lettered.elbench_options(Cases(given, ["AC"] * 4)).correct == [True, False, True, False]


def test_winners_of_judgements():
    cases = Cases(['{"Choice": "Model A"}', '{"Choice": "Model B"}', ""], [{"winner": "A"}] * 3)
    assert lettered.winner(cases).correct == [True, False, False]
