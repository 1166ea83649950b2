"""Where bars, whiskers and dots of pictures stand, and what is said of them to who does not see."""

import math
import re

import pytest

from proctor.results.summary import ScoreRow
from proctor.runs.score_bins import ScoreBin
from proctor.web.charts import (
    bar_of,
    choice_bar,
    difference_bar,
    histogram,
    interval_bar,
    scale_of,
    share_of,
    small_bar,
)


def row(value, low=None, high=None, unit="share"):
    return ScoreRow("exam", "acc", value, low, high, unit, 10, 10, 0, {}, {})


@pytest.mark.parametrize(
    "rows, scale",
    [
        ([], (0.0, 1.0)),
        ([row(None)], (0.0, 1.0)),
        ([row(0.0), row(1.0)], (0.0, 1.0)),
        ([row(0.5, 0.2, 1.1)], (0.0, 100.0)),
        ([row(1.1)], (0.0, 100.0)),
        ([row(0.5, unit="percent")], (0.0, 100.0)),
        ([row(0.5, unit="percent"), row(0.5)], (0.0, 1.0)),
        ([row(100.0, unit="raw")], (0.0, 100.0)),
        ([row(101.0, unit="percent")], (0.0, 101.0)),
        ([row(-2.0, unit="raw"), row(-1.0)], (-2.0, 0.0)),
        ([row(-0.5, -1.0, 0.5)], (-1.0, 0.5)),
    ],
)
def test_axes_fit_all_scores(rows, scale):
    assert scale_of(rows) == scale


def shapes(made):
    bars = [
        (float(x), float(width)) for x, width in re.findall(r'class="bar" x="([\d.]+)" y="5" width="([\d.]+)"', made)
    ]
    whiskers = [tuple(map(float, each)) for each in re.findall(r"M([\d.]+) 3V15M([\d.]+) 3V15", made)]
    return bars, whiskers, re.findall(r'aria-label="([^"]*)"', made)


@pytest.mark.parametrize(
    "score, low, high, scale, bar, whisker",
    [
        (0.5, 0.25, 0.75, (0.0, 1.0), (0, 100), (50, 150)),
        (0.5, 0.0, None, (0.0, 1.0), (0, 100), None),
        (0.5, None, 1.0, (0.0, 1.0), (0, 100), None),
        (50.0, None, None, (0.0, 100.0), (0, 100), None),
        (-1.0, -2.0, 1.0, (-2.0, 2.0), (50, 50), (0, 150)),
        (3.0, -1.0, 9.0, (0.0, 1.0), (0, 200), (0, 200)),
        (0.0, 0.0, 0.0, (0.0, 0.0), (0, 0), (0, 0)),
    ],
)
def test_a_bar_goes_from_zero_to_the_score_with_its_interval(score, low, high, scale, bar, whisker):
    bars, whiskers, _ = shapes(bar_of(score, low, high, "x", scale))
    assert (bars, whiskers) == ([bar], [] if whisker is None else [whisker])


def test_bars_of_scores_say_what_they_show():
    assert bar_of(None, 0.0, 1.0, "x", (0.0, 1.0)) == ""
    made = interval_bar(row(0.5, 0.25, 0.75), (0.0, 1.0))
    assert shapes(made)[2] == ["acc 0.5000, 95% interval 0.2500 to 0.7500"]
    assert 'width="200" height="18"' in made
    small = small_bar(row(0.5, 0.25, 0.75), (0.0, 1.0))
    assert shapes(small)[:2] == ([(0, 48)], [(24, 72)])
    assert 'viewBox="0 0 96 18" width="96"' in small
    assert "&lt;b&gt;" in bar_of(0.5, None, None, "<b>", (0.0, 1.0))


def test_columns_of_a_histogram_are_as_tall_as_they_have_instances():
    made = histogram([ScoreBin(0.0, 0.5, 4), ScoreBin(0.5, 1.0, 1), ScoreBin(1.0, 1.0, 0)], ["/a?b=1&c=2", "/d", "/e"])
    bars = re.findall(r'class="bar" x="(\d+)" width="22" y="([\d.]+)" height="([\d.]+)"', made)
    assert [tuple(map(float, each)) for each in bars] == [(0, 0, 44), (24, 33, 11), (48, 44, 0)]
    assert re.findall(r'<a href="([^"]*)"', made) == ["/a?b=1&amp;c=2", "/d", "/e"]
    assert re.findall(r"<title>[^<]*: ([\d,]+)</title>", made) == ["4", "1", "0"]
    assert 'width="72" height="44"' in made
    assert 'height="0' in histogram([ScoreBin(0.0, 1.0, 0)], ["/"])
    assert histogram([], [])


@pytest.mark.parametrize(
    "value, others, share",
    [(0.0, [0.0, 0.0], 0.5), (-1000.0, [-1000.0], 1.0), (math.log(3), [math.log(3), 0.0], 0.75), (-math.inf, [0.0, -math.inf], 0.0),
     (-math.inf, [-math.inf], 0.0), (math.nan, [math.nan], 0.0)],
)  # fmt: skip
def test_shares_of_the_likelihood(value, others, share):
    assert share_of(value, others) == pytest.approx(share)
    assert f'y="5" width="{round(share * 200, 2)}' in choice_bar(value, others)
    assert f"{share:.1%} of the likelihood of all choices" in choice_bar(value, others)


@pytest.mark.parametrize(
    "difference, low, high, reach, dot, whisker",
    [(0.0, -0.5, 0.5, 1.0, 100, (50, 150)), (0.25, None, 0.5, 0.5, 150, None), (0.25, 0.1, None, 0.5, 150, None),
     (-3.0, -9.0, 9.0, 1.0, 0, (0, 200)), (0.0, 0.0, 0.0, 0.0, 100, (100, 100))],
)  # fmt: skip
def test_differences_stand_on_an_axis_around_zero(difference, low, high, reach, dot, whisker):
    made = difference_bar(difference, low, high, reach)
    assert [float(each) for each in re.findall(r'cx="([\d.]+)"', made)] == [dot]
    assert shapes(made)[1] == ([] if whisker is None else [whisker])
    assert "M100.0 1V17" in made
