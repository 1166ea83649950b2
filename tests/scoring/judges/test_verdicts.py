"""Which option a judge chose, and what is not a verdict."""

from __future__ import annotations

import pytest

from proctor.ir import Failure
from proctor.scoring.judges.prompts import strict
from proctor.scoring.judges.verdicts import chosen_option
from proctor.scoring.text.number_processors import (
    ExtractArenaHardNumericalJudgment,
    ExtractHarmRatingJudgement,
    ExtractMtBenchLabelJudgment,
)

YES_NO = ("Yes", "No")
RATES = ("Excellent", "Very Good", "Good", "Poor")
MEETS = ("Acceptable", "Unacceptable")
TWO = ("Answer 1", "Answer 2")
POINTS = tuple(map(str, range(1, 11)))
CHINESE = ("好", "不好")

READ = [
    (
        YES_NO,
        "Yes",
        ["yes", "**Yes**", '"Yes"', "Yes.", "Yes, it is not polite at all", "My verdict: Yes", "It is: yes."],
    ),
    (YES_NO, "No", ["no", "No, because of it", "The answer is no.", "Verdict: **No**"]),
    (RATES, "Very Good", ["very good", "I would say Very Good overall", "Very  Good".replace("  ", " "), "Very Goood"]),
    (RATES, "Poor", ["It is not good, it is poor", "poor.", "Pooor"]),
    (MEETS, "Unacceptable", ["unacceptable", "It is unacceptable.", "Unacceptible"]),
    (TWO, "Answer 1", ["Answer 1", "answer 1 is better", "Answer 1 wins, for it is short", "Answr 1"]),
    (POINTS, "10", ["10", "10.", "Score: 10"]),
    (POINTS, "1", ["1", "Score: 1"]),
    (CHINESE, "不好", ["不好", "我认为不好。"]),
    (CHINESE, "好", ["好", "很好"]),
]

UNREAD = [
    (
        YES_NO,
        ["I cannot tell", "unknown", "I do not know", "none", "not sure", "maybe", "yes and no", "", "nope maybe"],
    ),
    (YES_NO, ["There is no way to tell"]),
    (RATES, ["not good", "not very good", "isn't good", "never a good one", "Good or Poor", "bad"]),
    (MEETS, ["not acceptable", "accept", "Acceptable or unacceptable?"]),
    (TWO, ["Answer 3", "Answer B", "Answer", "no answer", "Both answers", "Neither answer", "tie", "Answer 12"]),
    (TWO, ["Answer 1 and Answer 2 are equal", "neither Answer 1 nor Answer 2"]),
    (("Answer gpt-a", "Answer gpt-b"), ["Answer gpt-c"]),
    (POINTS, ["11", "15", "1.5 points", "7 out of 10", "0", "100"]),
]


@pytest.mark.parametrize("options, option, answer", [(o, n, a) for o, n, answers in READ for a in answers])
def test_what_names_an_option_is_read(options: tuple[str, ...], option: str, answer: str) -> None:
    assert chosen_option(answer, options) == option
    assert chosen_option(answer, options[::-1]) == option


@pytest.mark.parametrize("options, answer", [(o, a) for o, answers in UNREAD for a in answers])
def test_what_names_none_or_several_is_a_failure_in_both_orders(options: tuple[str, ...], answer: str) -> None:
    for each in (options, options[::-1]):
        found = chosen_option(answer, each)
        assert isinstance(found, Failure), found
        assert found.kind == "unreadable"


@pytest.mark.parametrize(
    "reader, said, read",
    [
        (ExtractMtBenchLabelJudgment(), "winner [[B]]", "B"),
        (ExtractArenaHardNumericalJudgment(), "[[A=B]]", 0),
        (ExtractArenaHardNumericalJudgment(), "[[B>>A]]", -3),
        (ExtractHarmRatingJudgement(), "[[5]]", 1.0),
    ],
)
def test_readers_of_judges_do_not_read_what_is_no_verdict(reader, said, read):
    judge = strict(reader)
    assert judge.process_value(said) == read
    assert isinstance(judge.process_value("I cannot tell."), Failure)
    if not isinstance(reader, ExtractMtBenchLabelJudgment):  # whose labels may be any
        assert isinstance(judge.process_value("[[neither of them]]"), Failure)
