"""What pages are made of: rows that are wanted, bars and heat maps of sweeps, requests as people look at them."""

import re
from types import SimpleNamespace

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.errors import UsageError
from proctor.web import instances
from proctor.web.answers_beside import Row
from proctor.web.instances import find_instance
from proctor.web.prompt_view import request_view
from proctor.web.sample_pages import _bound
from proctor.web.sweep_pages import _bars, _heat


@pytest.mark.parametrize(
    "outcomes, noted, wanted",
    [
        (["right", "right"], False, {"all"}),
        (["right", "wrong"], False, {"all", "failed", "flips"}),
        (["wrong", "wrong"], True, {"all", "failed", "noted"}),
        (["failed"], False, {"all", "failed"}),
        (["right", ""], False, {"all", "failed", "flips"}),
    ],
)
def test_which_questions_are_wanted(outcomes, noted, wanted):
    answers = {str(place): SimpleNamespace(outcome=each, notes=["n"] * noted) for place, each in enumerate(outcomes)}
    row = Row("q", "r", answers)
    assert {which for which in ("all", "failed", "flips", "noted") if row.is_among(which)} == wanted


def test_bars_stand_on_one_axis_up_to_the_highest_end():
    made = _bars("T", [("a", 0.25, 0.0, 0.5), ("b", 0.5, None, None), ("c", 0.1, 0.1, None)])
    assert (made["title"], [(name, value) for name, _, value in made["bars"]]) == (
        "T",
        [("a", 0.25), ("b", 0.5), ("c", 0.1)],
    )
    assert [re.search(r'class="bar" x="0.0" y="5" width="([\d.]+)"', svg)[1] for _, svg, _ in made["bars"]] == [
        "100.0",
        "200.0",
        "40.0",
    ]
    assert _bars("T", [])["bars"] == []
    ((_, nothing, _),) = _bars("T", [("a", 0.0, 0.0, 0.0)])["bars"]
    assert 'width="0.0"' in nothing


def cell(score, **levels):
    return {"score": score, "levels": {name: str(value) for name, value in levels.items()}}


def test_a_heat_map_has_the_two_dimensions_with_most_levels_and_means_of_the_rest():
    cells = [cell(n / 10, a=n % 3, b=n % 2, c=n % 2 if n < 4 else 0, d=0) for n in range(6)]
    made = _heat([*cells, cell(None, a=0, b=0, c=0, d=0)])
    assert (made["down"], made["across"]) == ("a", "b")
    assert made["means"] == pytest.approx(
        {("0", "0"): 0.0, ("1", "1"): 0.1, ("2", "0"): 0.2, ("0", "1"): 0.3, ("1", "0"): 0.4, ("2", "1"): 0.5}
    )
    shades = made["shades"]
    assert (shades["0", "0"], shades["2", "1"]) == (0, max(shades.values()))
    assert sorted(shades, key=shades.get) == sorted(made["means"], key=made["means"].get)
    two = _heat([cell(0.2, a=0, b=0), cell(0.4, a=0, b=0), cell(0.3, a=1, b=1)])
    assert two["means"] == pytest.approx({("0", "0"): 0.3, ("1", "1"): 0.3})
    assert set(two["shades"].values()) == {0}


@pytest.mark.parametrize("cells", [[cell(0.5, a=0, b=0)], [cell(0.5, a=0, b=0), cell(0.6, a=1, b=0)]])
def test_without_two_dimensions_that_vary_there_is_no_heat_map(cells):
    assert _heat(cells) is None


def test_a_request_is_shown_with_all_that_is_asked():
    (exam,) = resolve_tasks(["samples.science"])
    question = next(iter(exam.questions()))
    made = request_view(question, question.requests[0])
    assert made["gold"] == question.exchange.gold
    assert made["characters"] > 0
    assert made["continuations"] == tuple(each.continuation for each in question.requests[0].pairs)
    assert (made["references"], made["target"]) == (list(question.exchange.references), question.exchange.answer)


def test_an_instance_is_the_first_that_is_meant_within_the_time_of_a_page(monkeypatch):
    exam = SimpleNamespace(name="e", questions=lambda: iter("abc"))
    assert find_instance(exam, lambda place, question: question == "b" or place == 2) == "b"
    assert find_instance(exam, lambda place, question: False) is None
    monkeypatch.setattr(instances, "MOST_SECONDS", -1.0)
    assert find_instance(exam, lambda place, question: place == 0) == "a"
    with pytest.raises(UsageError, match="only 1 instances of e have been looked at"):
        find_instance(exam, lambda place, question: place == 1)


@pytest.mark.parametrize("text, bound", [("", None), ("  ", None), ("0.5", 0.5), ("-1e3", -1000.0)])
def test_bounds_of_scores(text, bound):
    assert _bound(text, "lowest") == bound


@pytest.mark.parametrize("text", ["x", "1" * 400])
def test_what_is_no_bound(text):
    with pytest.raises(UsageError, match="the lowest score is"):
        _bound(text, "lowest")
