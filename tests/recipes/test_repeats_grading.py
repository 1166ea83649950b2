"""What several answers to each question come to, number by number: beside formulas, and with a grader made for it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import Diagnostic
from proctor.ir import Exchange, Failure, Generate, Prompt, Response
from proctor.ir.question import Answered, Question
from proctor.recipes.copies import CopiesGrader
from proctor.recipes.reduction import summary_of
from proctor.recipes.repeats import RepeatsGrader
from proctor.scoring.columns import ABSENT
from proctor.scoring.evaluators.runs import replica_positions
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score
from proctor.statistics.two_level import two_level

UNITS = {"share": 1.0, "percent": 100.0, "raw": 1.0}


@dataclass
class Marks:
    """Grades answers that are numbers: each is its own score, in the unit that is wanted."""

    unit: str = "share"
    higher_is_better: bool | None = None
    instances_in_percent: bool = False
    changed: Any = None
    graded: list[Grade] = field(default_factory=list)
    declared_main: Score = field(default_factory=lambda: Score("acc", math.nan, unit="share"))

    def check(self):
        yield Diagnostic("the base has something to say")

    def grade(self, answered):
        whole = UNITS[self.unit]
        scale = whole if self.instances_in_percent else 1.0
        values, failures, texts = [], {}, []
        for place, each in enumerate(answered):
            if each.failure is not None:
                failures[place] = each.failure
                values.append(None)
                texts.append(each.failure)
            else:
                values.append(float(each.responses[0].text.split("/")[0]) * scale)
                texts.append(each.responses[0].text)
        known = [value for value in values if value is not None]
        mean = sum(known) / len(known) * whole / scale if known else math.nan
        main = Score(
            "acc", mean, low=mean - 1, high=mean + 2, stderr=0.5, n=len(known), unit=self.unit,
            higher_is_better=self.higher_is_better,
        )  # fmt: skip
        flat = {"score": mean, "acc": mean, "score_name": "acc", "acc_ci_low": mean - 1, "acc_ci_high": mean + 2}
        flat |= {"acc_stderr": 0.5, "num_of_instances": len(known)}
        if failures:
            flat["num_of_failures"] = len(failures)
        made = Grade(flat, {"acc": values}, texts, texts, [["x"]] * len(texts), failures, table=[main], main=main)
        if self.changed is not None:
            made = self.changed(made, len(self.graded))
        self.graded.append(made)
        return made


def answers_of(table: Sequence[Sequence[Any]]) -> list[Answered]:
    """Return questions with an answer of each repeat; ``None`` is one that failed."""
    found = []
    for number, row in enumerate(table):
        requests = tuple(Generate(Prompt("?")) for _ in row)
        responses = tuple(
            Response(failure=Failure("timeout", "slow")) if each is None else Response(texts=(str(each),))
            for each in row
        )
        found.append(Answered(Question(number, {}, Exchange(()), requests), responses))
    return found


def graded(table, *names, **options) -> Grade:
    return RepeatsGrader(Marks(**options), len(table[0]), names).grade(iter(answers_of(table)))


tables = st.integers(2, 4).flatmap(
    lambda count: st.lists(st.lists(st.sampled_from([0, 1]), min_size=count, max_size=count), min_size=2, max_size=8)
)


def chance(count: int, hits: int, k: int, wanted: Any) -> float:
    """Return the share of all choices of ``k`` of the answers of which so many are right, by counting them."""
    from itertools import combinations

    choices = list(combinations([True] * hits + [False] * (count - hits), k))
    return sum(wanted(sum(choice)) for choice in choices) / len(choices)


@settings(max_examples=30)
@given(tables, st.sampled_from(["share", "percent"]), st.booleans())
def test_every_reducer_is_its_definition_in_the_unit_of_the_exam(table, unit, in_percent):
    whole, repeats = UNITS[unit], len(table[0])
    named = {
        "mean": lambda row: sum(row) / len(row),
        "best": max,
        "pass@2": lambda row: chance(repeats, sum(row), 2, lambda right: right >= 1),
        "pass^2": lambda row: chance(repeats, sum(row), 2, lambda right: right == 2),
        "g-pass@2": lambda row: chance(repeats, sum(row), 2, lambda right: right >= 1),
    }
    for first in named:
        found = graded(table, first, *named, unit=unit, instances_in_percent=in_percent)
        for name, of in named.items():
            values = [of(row) for row in table]
            score = next(each for each in found.table if each.name == ("acc" if name == "mean" else f"acc:{name}"))
            assert score.value == pytest.approx(whole * sum(values) / len(values))
            assert score.unit == unit
            assert score.n == len(table)
            level = two_level(table if name == "mean" else [[value] for value in values])
            low, high = level.interval()
            assert (score.low, score.high) == pytest.approx((whole * low, whole * high))
            assert score.stderr == pytest.approx(whole * level.error)
            assert found.scores[score.name] == score.value
            assert (found.scores[f"{score.name}_ci_low"], found.scores[f"{score.name}_ci_high"]) == (
                score.low, score.high,
            )  # fmt: skip
            if name != "mean":
                scale = whole if in_percent else 1.0
                assert found.instance_scores[score.name] == pytest.approx([scale * value for value in values])
        assert found.main is found.table[[each.name for each in found.table].index(found.scores["score_name"])]
        assert found.scores["score_name"] == ("acc" if first == "mean" else f"acc:{first}")
        assert found.scores["score"] == found.main.value
        assert (found.scores["score_ci_low"], found.scores["score_ci_high"]) == (found.main.low, found.main.high)
        assert list(found.scores)[:2] == ["score", "acc"]
        assert found.scores["repeats"]["stderr"] == pytest.approx(whole * two_level(table).error)


def test_standard_errors_are_listed_where_the_dialect_lists_them():
    found = graded([[0, 1], [1, 1], [0, 0]], "mean", "best")
    assert found.scores["acc_stderr"] == found.main.stderr != 0.5
    assert "acc:best_stderr" not in found.scores


@settings(max_examples=30)
@given(tables)
def test_two_levels_of_noise_add_up_and_say_what_would_halve_the_error(table):
    found = graded(table)
    summary, level = found.scores["repeats"], two_level(table)
    assert (summary["instances"], summary["repeats"]) == (len(table), len(table[0]))
    squares = summary["question_noise"] ** 2 + summary["answer_noise"] ** 2
    assert squares >= summary["stderr"] ** 2 - 1e-12
    if level.omega2 > 0:
        assert squares == pytest.approx(summary["stderr"] ** 2)
    assert ("halved_by" in summary) == (summary["stderr"] > 0)
    if summary["stderr"]:
        assert summary["halved_by"]["instances"] == 4 * len(table)
        more = summary["halved_by"]["repeats"]
        half = level.error / 2
        if more is not None:
            assert level.omega2 / level.n + level.sigma2 / (level.n * more) <= half**2 * (1 + 1e-9)
            assert more == 1 or level.omega2 / level.n + level.sigma2 / (level.n * (more - 1)) > half**2 * (1 - 1e-9)
        else:
            assert level.omega2 / level.n >= half**2 * (1 - 1e-9)


def test_the_noise_of_one_answer_each_cannot_be_told_apart():
    found = summary_of(two_level([[0.0], [1.0], [1.0]]), 100.0)
    assert (found["question_noise"], found["answer_noise"], found["repeats"]) == (None, None, 1)
    assert found["stderr"] == pytest.approx(100 / 3)
    scaled, plain = (
        summary_of(two_level([[0, 1], [1, 1], [0, 0]]), 100.0),
        summary_of(two_level([[0, 1], [1, 1], [0, 0]])),
    )
    for name in ("stderr", "question_noise", "answer_noise"):
        assert scaled[name] == pytest.approx(100 * plain[name])
    assert scaled["halved_by"] == plain["halved_by"]
    assert "halved_by" not in summary_of(two_level([[1, 1], [1, 1]]))


def test_one_question_has_a_score_without_an_interval():
    found = graded([[0, 1, 1]], "mean", "best")
    assert found.main.value == pytest.approx(2 / 3)
    assert (found.main.low, found.main.high, found.main.stderr) == (None, None, None)
    assert not [name for name in found.scores if name.startswith(("score_ci", "acc_ci"))]
    assert found.scores["acc_stderr"] is None
    assert math.isnan(found.scores["repeats"]["stderr"])


def test_a_question_of_which_an_answer_failed_counts_nowhere():
    table = [[1, 1], [1, None], [0, 1], [None, 0]]
    found, without = graded(table, "mean", "best"), graded([table[0], table[2]], "mean", "best")
    assert found.failures.keys() == {1, 3}
    assert found.main == without.main
    assert found.scores["acc:best"] == without.scores["acc:best"] == 1.0
    assert found.scores["repeats"] == without.scores["repeats"]
    assert found.instance_scores["acc"] == [1.0, None, 0.5, None]
    assert found.instance_scores["acc:best"] == [1.0, None, 1.0, None]
    assert (found.scores["num_of_instances"], found.scores["num_of_failures"]) == (2, 2)
    assert found.predictions[0] == ["1", "1"]
    assert isinstance(found.predictions[1], Failure)


def test_votes_are_of_predictions_and_the_first_of_equals_wins():
    found = graded([["1/a", "0/b", "0/b"], ["1/a", "0/b", "0/c"], ["0/x", "1/y", "1/y"]], "majority")
    assert found.instance_scores["acc:majority"] == [0.0, 1.0, 1.0]
    assert found.main.value == pytest.approx(2 / 3)
    assert found.main.name == found.scores["score_name"] == "acc:majority"
    assert found.scores["acc"] == pytest.approx((1 + 1 + 2) / 9), "the mean stays beside it"


def test_degrees_and_scores_of_which_less_is_better_are_not_right_or_wrong():
    degrees = graded([[0.5, 1], [0.25, 0]], "pass@2", "best")
    assert "right to some degree" in degrees.metric_failures["pass@2"].message
    assert not degrees.metric_failures["pass@2"].retryable
    assert degrees.main.name == "acc:best", "the first that there is"
    assert degrees.main.value == 0.625
    less = graded([[0, 1], [1, 1]], "best", "pass^2", higher_is_better=False)
    assert "less is better" in less.metric_failures["pass^2"].message
    assert less.main.value == 0.5
    assert graded([[0, 1], [1, 1]], "best", "pass^2", higher_is_better=None).main.value == 1.0


def test_nothing_is_reduced_where_no_question_has_all_its_answers():
    found = graded([[1, None], [None, 1]], "mean", "best")
    assert "repeats" not in found.scores
    assert found.failures.keys() == {0, 1}


def test_scores_beside_the_main_one_are_means_with_the_bounds_of_one_repeat():
    def changed(grade, number):
        values = [(0.25, 0.125, 0.5, 0.0625), (0.75, 0.375, 1.0, 0.1875)][number]
        other = Score("f1", values[0], low=values[1], high=values[2], stderr=values[3], unit="share")
        words = Score("words", ["a", "b"][number])
        scores = {
            **grade.scores, "f1": values[0], "f1_ci_low": values[1], "f1_ci_high": values[2],
            "whole": [1, 0.5][number], "other_whole": [0.5, 1][number], "words": ["a", "b"][number], "size": 7 + number,
            "groups": [{"group": "x", "f1": values[0], "f1_ci_low": 0.0, "f1_ci_high": 1.0, "size": 3, "by": "k"}],
        }  # fmt: skip
        return replace(grade, scores=scores, table=[*grade.table, other, words], members=[[]])

    found = graded([[1, 0], [1, 1]], changed=changed)
    f1 = next(each for each in found.table if each.name == "f1")
    assert (f1.value, f1.low, f1.high, f1.stderr) == (0.5, 0.25, 0.75, 0.125)
    assert (found.scores["f1"], found.scores["f1_ci_low"], found.scores["f1_ci_high"]) == (0.5, 0.25, 0.75)
    assert (found.scores["whole"], found.scores["other_whole"]) == (0.75, 0.75), "1 is a number like 1.0"
    assert (found.scores["words"], found.scores["size"]) == ("a", 7)
    assert found.scores["groups"] == [{"group": "x", "f1": 0.5, "size": 3, "by": "k"}]
    assert [each.name for each in found.table] == ["acc", "f1", "words"]
    assert found.table[2].value == "a"


def test_a_score_that_one_repeat_lacks_is_a_mean_of_the_others_and_no_other_is_lost():
    def changed(grade, number):
        names = ["ab", "bc"][number]
        extra = [Score(name, 0.25 + 0.5 * number, low=0.0, high=1.0) for name in names]
        columns = {name: [0.5 + 0.25 * number, None] for name in names}
        scores = {**grade.scores, **dict.fromkeys(names, 0.25 + 0.5 * number)}
        return replace(
            grade, scores=scores, table=[*grade.table, *extra], instance_scores={**grade.instance_scores, **columns}
        )

    found = graded([[0, 1], [0, 1]], changed=changed)
    assert found.main.value == found.scores["score"] == found.scores["acc"] == 0.5
    assert [(each.name, each.value) for each in found.table] == [("acc", 0.5), ("a", 0.25), ("b", 0.5), ("c", 0.75)]
    assert [found.scores[name] for name in "abc"] == [0.25, 0.5, 0.75]
    assert [found.instance_scores[name] for name in "abc"] == [[ABSENT, None], [0.625, None], [ABSENT, ABSENT]]


def test_what_one_repeat_does_not_know_is_not_known_of_all():
    def changed(grade, number):
        value = [0.5, math.nan][number]
        other = Score("f1", value, low=None if number else 0.25, high=None if number else 0.75, stderr=0.125)
        bounds = Score("bounds", 0.5, low=[0.25, None][number], high=[0.5, None][number])
        return replace(grade, scores={**grade.scores, "f1": value}, table=[*grade.table, other, bounds])

    found = graded([[1, 1], [0, 1]], changed=changed)
    f1, bounds = found.table[1:]
    assert math.isnan(f1.value)
    assert (f1.low, f1.high, f1.stderr) == (None, None, None)
    assert math.isnan(found.scores["f1"])
    assert (bounds.value, bounds.low, bounds.high) == (0.5, 0.25, 0.5)


def test_what_only_one_repeat_could_not_score_is_a_failure_of_the_question():
    def changed(grade, number):
        if not number:
            return grade
        columns = {"acc": [grade.instance_scores["acc"][0], None, grade.instance_scores["acc"][2]]}
        failures = {1: Failure("wrong_type", "not a number")}
        scores = {**grade.scores, "num_of_instances": 2, "num_of_failures": 1}
        main = replace(grade.main, value=(columns["acc"][0] + columns["acc"][2]) / 2)
        return replace(
            grade, scores=scores, instance_scores=columns, failures=failures, main=main, table=[main],
            metric_failures={"x": Failure("scoring", "why")},
        )  # fmt: skip

    found = graded([[1, 1], [1, 0], [0, 0]], changed=changed)
    assert found.failures[1].kind == "wrong_type"
    assert (found.scores["num_of_instances"], found.scores["num_of_failures"]) == (2, 1)
    assert found.instance_scores["acc"] == [1.0, None, 0.0]
    assert (found.main.value, found.main.n) == (0.5, 2)
    assert found.metric_failures["x"].message == "why"


def test_a_score_of_all_answers_together_is_a_mean_and_refuses_the_rest():
    def changed(grade, number):
        main = Score("corpus", 30.0 + number, low=20.0, high=40.0)
        return replace(grade, scores={"score": main.value, "corpus": main.value}, table=[main], main=main)

    found = graded([[1, 0], [1, 0]], "mean", "best", changed=changed)
    assert (found.main.value, found.scores["score"], found.main.low) == (30.5, 30.5, 20.0)
    assert found.metric_failures.keys() == {"best"}
    assert not found.metric_failures["best"].retryable
    assert "repeats" not in found.scores


def test_an_exam_without_a_main_score_has_none_afterwards():
    found = graded([[1, 0], [1, 0]], changed=lambda grade, number: replace(grade, main=None))
    assert found.main is None
    assert "repeats" not in found.scores
    empty = graded([[1, 0], [1, 0]], changed=lambda grade, number: replace(grade, instance_scores={}))
    assert (empty.main.value, "repeats" in empty.scores) == (0.5, False)


def test_what_can_be_known_before_asking_is_said_of_the_exam_and_of_the_reducers():
    base = Marks()
    for made in (
        RepeatsGrader(base, 2, ("pass@3", "mean")),
        CopiesGrader(base, 2, ("pass@3",), in_blocks=lambda: False),
    ):
        said = [each.what for each in made.check()]
        assert said[0] == "the base has something to say"
        assert len(said) == 2
        assert "pass@3" in said[1]
        assert made.declared_main is base.declared_main
    assert len(list(RepeatsGrader(base, 3, ("pass@3",)).check())) == 1


def copies(rows: Sequence[Sequence[Any]], *names: str, in_blocks: bool, **options) -> Grade:
    """Grade copies of rows, that lie as told."""
    count = len(rows[0])
    flat = [row[number] for number in range(count) for row in rows] if in_blocks else [v for row in rows for v in row]
    grader = CopiesGrader(Marks(**options), count, names, in_blocks=lambda: in_blocks)
    return grader.grade(iter(answers_of([[each] for each in flat])))


@settings(max_examples=30)
@given(tables, st.booleans())
def test_copies_of_rows_are_reduced_as_repeats_are_wherever_they_lie(table, in_blocks):
    found, repeats = (
        copies(table, "mean", "best", "pass^2", in_blocks=in_blocks),
        graded(table, "mean", "best", "pass^2"),
    )
    for name in ("acc", "acc:best", "acc:pass^2"):
        one, other = ([each for each in grade.table if each.name == name] for grade in (found, repeats))
        assert (one[0].value, one[0].low, one[0].high, one[0].stderr) == pytest.approx(
            (other[0].value, other[0].low, other[0].high, other[0].stderr)
        )
    assert found.scores["repeats"] == repeats.scores["repeats"]
    size, values = len(table), [max(row) for row in table]
    each_copy = values * len(table[0]) if in_blocks else [value for value in values for _ in table[0]]
    assert found.instance_scores["acc:best"] == each_copy, "instances are copies here"
    assert len(found.questions.places) == size


@pytest.mark.parametrize("in_blocks", [False, True])
def test_a_question_one_of_whose_copies_failed_has_failed(in_blocks):
    rows = [[1, 0, 0], [1, None, 1], [1, 1, 1], [None, None, 0]]
    found = copies(rows, "mean", "best", in_blocks=in_blocks)
    repeats = graded(rows, "mean", "best")
    assert found.main.value == repeats.main.value == pytest.approx((1 / 3 + 1) / 2)
    assert (found.main.low, found.main.n) == (repeats.main.low, 2)
    assert found.questions.failures.keys() == repeats.failures.keys() == {1, 3}
    assert (found.scores["num_of_instances"], found.scores["num_of_failures"]) == (2, 2)
    assert len(found.failures) == 3, "of copies, as the columns have them"


@pytest.mark.parametrize("in_blocks", [False, True])
def test_runs_that_failures_left_unequal_are_still_known_as_means(in_blocks):
    """A config's mean over runs counts every run alike; its own main score is that of the last run."""

    def last_run(grade, number):
        del number
        runs = replica_positions(len(grade.predictions), 3, in_blocks=in_blocks)
        kept = [[v for place in run if (v := grade.instance_scores["acc"][place]) is not None] for run in runs]
        means = [sum(each) / len(each) for each in kept]
        table = [Score("acc", means[-1], unit="share"), Score("acc (3 runs average)", sum(means) / 3, unit="share")]
        return replace(grade, main=table[0], table=table)

    found = copies([[1, 0, 0], [1, None, 1], [1, 1, 1], [0, 0, 0]], in_blocks=in_blocks, changed=last_run)
    assert (found.main.name, found.main.value) == ("acc (3 runs average)", pytest.approx(4 / 9))
    assert found.scores["score_name"] == "acc (3 runs average)"
    assert found.main.low is not None


def test_a_score_of_all_copies_together_is_the_mean_of_its_runs():
    def corpus(grade, number):
        del number
        table = [Score("bleu", 0.3, unit="share"), Score("bleu (2 runs average)", 0.2, unit="share")]
        flat = {**grade.scores, "score_ci_low": 0.1, "score_ci_high": 0.4}
        return replace(grade, main=table[0], table=table, instance_scores={}, scores=flat)

    found = copies([[1, 0], [1, 1]], in_blocks=True, changed=corpus)
    assert (found.main.name, found.scores["score"], found.scores["score_name"]) == (
        "bleu (2 runs average)", 0.2, "bleu (2 runs average)",
    )  # fmt: skip
    assert "score_ci_low" not in found.scores, "the interval was that of one run"


def _in_two_groups(members):
    def changed(grade, number):
        del number
        groups = [{"by": {"half": name}, "n": len(each), "score": 7.0, "score_name": "acc"} for name, each in members]
        return replace(grade, scores={**grade.scores, "groups": groups}, members=[each for _, each in members])

    return changed


def test_groups_are_reduced_like_the_whole():
    rows = [[1, 0], [0, 0], [1, 1], [0, 1]]
    found = graded(rows, "best", "mean", changed=_in_two_groups([("a", [0, 1]), ("b", [2, 3])]))
    assert found.main.value == 0.75
    groups = found.scores["groups"]
    assert [(each["score_name"], each["score"], each["acc"]) for each in groups] == [
        ("acc:best", 0.5, 0.25), ("acc:best", 1.0, 0.75),
    ]  # fmt: skip
    assert all(each["score_ci_low"] < each["score"] for each in groups)
    assert "repeats" not in groups[0]


def test_groups_of_copies_are_counted_and_reduced_by_question():
    rows = [[1, 0], [0, None], [1, 1], [0, 1]]
    members = [("a", [0, 1, 2, 3]), ("b", [4, 5, 6, 7])]
    found = copies(rows, "best", in_blocks=False, changed=_in_two_groups(members))
    groups = found.scores["groups"]
    assert [(each["n"], each["score"], each["score_name"]) for each in groups] == [
        (2, 1.0, "acc:best"), (2, 1.0, "acc:best"),
    ]  # fmt: skip
    assert found.members == [[0, 1], [2, 3]]


def test_votes_of_copies_are_of_the_copies_of_one_row():
    rows = [["1/a", "0/b", "0/b"], ["1/a", "0/b", "0/c"], ["0/x", "1/y", "1/y"]]
    for in_blocks in (False, True):
        assert copies(rows, "majority", in_blocks=in_blocks).main.value == pytest.approx(2 / 3)


def test_copies_that_do_not_come_out_even_are_not_reduced():
    grader = CopiesGrader(Marks(), 2, ("mean", "best"), in_blocks=lambda: False)
    found = grader.grade(iter(answers_of([[1], [0], [1]])))
    assert "repeats" not in found.scores
    assert found.metric_failures.keys() == {"best"}


def test_the_main_score_of_copies_is_that_which_is_a_mean_of_all():
    def last_run(grade, number):
        main = Score("acc of the last run", 0.9, unit="share")
        return replace(grade, main=main, table=[main, *grade.table])

    found = copies([[1, 0], [1, 1], [0, 0]], "mean", in_blocks=False, changed=last_run)
    assert (found.main.name, found.main.value) == ("acc", 0.5)
    assert found.table[0].value == 0.9
    nowhere = copies(
        [[1, 0], [1, 1]], "mean", "best", in_blocks=False,
        changed=lambda grade, number: replace(grade, main=Score("corpus", 0.1), table=[Score("corpus", 0.1)]),
    )  # fmt: skip
    assert nowhere.metric_failures.keys() == {"best"}


def test_a_column_that_ends_early_ends_early():
    def changed(grade, number):
        return replace(grade, instance_scores={**grade.instance_scores, "short": [0.5] * (3 - number)})

    found = graded([[1, 1], [0, 1], [0, 0]], changed=changed)
    assert found.instance_scores["short"] == [0.5, 0.5]
    assert found.instance_scores["acc"] == [1.0, 0.5, 0.0]
