"""Orders of questions, scores as shares, and rounds of questions that are drawn until an interval is narrow."""

import pytest

from proctor.errors import UsageError
from proctor.ir import Failure
from proctor.running.drawn_questions import in_drawn_order, shares_of
from proctor.running.draws import FIXED_WIDTH, SEQUENCE, UniformDraw
from proctor.running.gate_units import Units
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score

KEYS = [f"k{n * 7 % 10}" for n in range(10)]


def test_the_order_follows_seed_name_and_content_and_nothing_else():
    drawn = [KEYS[place] for place in in_drawn_order("exam", KEYS, 1)]
    assert sorted(drawn) == sorted(KEYS) != drawn
    assert [sorted(KEYS)[place] for place in in_drawn_order("exam", sorted(KEYS), 1)] == drawn
    assert in_drawn_order("exam", KEYS, None) == in_drawn_order("exam", KEYS, 42) != in_drawn_order("exam", KEYS, 0)
    assert [KEYS[place] for place in in_drawn_order("other", KEYS, 1)] != drawn


def grade(values, value, unit="share", failures=(), better=True, name="acc"):
    main = None if value is None else Score(name, value, unit=unit, higher_is_better=better)
    lost = {place: Failure("scoring", "no") for place in failures}
    return Grade({}, {"acc": values}, main=main, failures=lost)


@pytest.mark.parametrize(
    "given, metric, values, low_is_better",
    [
        (grade([1.0, 0.0, None], 0.5), "acc", [1.0, 0.0, None], False),
        (grade([1.0, 0.0], 50.0, "percent"), "acc", [1.0, 0.0], False),
        (grade([80.0, 20.0], 50.0, "percent"), "acc", [0.8, 0.2], False),
        (grade([1.0, 0.0], 0.5, failures=[0]), "acc", [None, 0.0], False),
        (grade([1.0, 0.0], 0.5, better=False), "acc", [1.0, 0.0], True),
        (grade([1.0, 0.0], 0.5, better=None), "acc", [1.0, 0.0], False),
    ],
)
def test_main_scores_are_shares_of_a_full_score(given, metric, values, low_is_better):
    found = shares_of("exam", given, len(values))
    assert (found.metric, found.values, found.low_is_better) == (metric, values, low_is_better)


@pytest.mark.parametrize(
    "given, told",
    [
        (grade([1.0, 0.0], 0.7), "'acc' is a score of all answers together"),
        (grade([1.0, 0.0], None), "'it' is a score of all answers together"),
        (grade([1.0, 9.0], 5.0, "raw"), "'acc' has no bounds"),
        (grade([-1.0, 1.0], 0.0), "'acc' has no bounds"),
        (grade([2.0, 0.0], 1.0), "'acc' has no bounds"),
        (Grade({}, {}), "its instances have no scores of their own"),
        (Grade({}, {}, failures={0: Failure("scoring", "no")}), "its instances have no scores of their own"),
    ],
)
def test_what_some_questions_cannot_decide_is_named(given, told):
    with pytest.raises(UsageError, match="'exam' cannot be decided on some of its questions") as raised:
        shares_of("exam", given, 2)
    assert told in str(raised.value)


def test_where_all_failed_there_is_nothing_and_instance_scores_do_where_that_is_said():
    lost = {place: Failure("scoring", "no") for place in (0, 1)}
    assert shares_of("exam", Grade({}, {}, failures=lost), 2).values == [None, None]
    assert shares_of("exam", grade([1.0, 0.0], 0.7, name="acc (corpus)"), 2, instance_scores=True).metric == "acc"


def draw_until(draw, score, width):
    """Draw rounds until the interval is so narrow; return how many questions were asked."""
    while draw.bounds[1] - draw.bounds[0] > width:
        places = draw.next()
        if not places:
            break
        draw.take([score(place) for place in places])
    return list(draw.places)


def test_questions_are_drawn_in_order_until_the_interval_is_narrow():
    units = Units(tuple(reversed(range(600))), (1,) * 600)
    draw = UniformDraw(units, 0.1)
    assert (draw.bounds, draw.estimate, draw.interval, list(draw.places)) == ((0.0, 1.0), None, FIXED_WIDTH, [])
    assert draw.said == "uniformly at random, without replacement"
    asked = draw_until(draw, lambda place: float(place % 4 != 0), 0.2)
    assert asked == list(reversed(range(600)))[: len(asked)]
    assert 50 < len(asked) < 600
    assert draw.bounds[0] < 0.75 < draw.bounds[1]
    narrow = draw.bounds
    draw.stop()
    assert draw.interval == SEQUENCE
    assert draw.bounds[0] < narrow[0]
    assert draw.bounds[1] > narrow[1]


def test_whole_clusters_are_drawn_and_parts_of_one_wait():
    units = Units(tuple(range(12)), (3, 4, 5), "page")
    draw = UniformDraw(units, 0.1)
    assert draw.said == "uniformly at random, without replacement, in whole clusters of 'page'"
    assert draw.next() == list(range(12))
    draw.take([1.0, 1.0])
    assert (list(draw.places), draw.next()[0]) == ([], 0)
    draw.take([1.0] * 5)
    assert (list(draw.places), draw.next()[0]) == ([0, 1, 2], 3)
    draw.take([1.0] * 9)
    assert list(draw.places) == list(range(12))
    assert draw.next() == []


@pytest.mark.parametrize(
    "asked, wanted, count", [(0, 1, 3), (0, 3, 3), (0, 4, 7), (3, 1, 4), (3, 5, 9), (0, 99, 12), (12, 1, 0)]
)
def test_questions_that_make_whole_units(asked, wanted, count):
    units = Units(tuple(range(12)), (3, 4, 5), "page")
    assert units.after(asked, wanted) == count
    assert (units.largest, units.ends(6), units.ends(7), units.ends(0), units.ends(99)) == (
        5,
        [3],
        [3, 7],
        [],
        [3, 7, 12],
    )
