"""Pictures as SVG. Shapes and their classes come from here, colours from the style sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup, escape

from proctor.results.summary import ScoreRow, interval, shown
from proctor.runs.score_bins import ScoreBin

_WIDTH, _HEIGHT = 200, 18
_COLUMN, _TALL = 24, 44  # pixels of a histogram: wide enough for a finger, as tall as two lines
_SMALL = 96  # pixels: the width of a number with its unit beside it


def scale_of(rows: Sequence[ScoreRow]) -> tuple[float, float]:
    """Return the axis that fits all rows: 0 to 1 or 0 to 100 where that holds them, otherwise their own range."""
    values = [value for row in rows for value in (row.value, row.low, row.high) if value is not None]
    if not values:
        return 0.0, 1.0
    low, high = min(values), max(values)
    for top in (100.0,) if all(row.unit == "percent" for row in rows) else (1.0, 100.0):
        if low >= 0 and high <= top:
            return 0.0, top
    return min(low, 0.0), max(high, 0.0)


def interval_bar(row: ScoreRow, scale: tuple[float, float], width: int = _WIDTH) -> Markup:
    """Return a bar up to the score, with its interval as a whisker.

    Args:
        row: The score.
        scale: The axis: its ends.
        width: In pixels.
    """
    label = f"{row.metric} {shown(row.value)}, 95% interval {interval(row)}"
    return bar_of(row.value, row.low, row.high, label, scale, width)


def bar_of(
    score: float | None,
    least: float | None,
    most: float | None,
    label: str,
    scale: tuple[float, float],
    width: int = 200,
) -> Markup:
    """Return a bar up to a value with its interval from the least to the most, as :func:`interval_bar` does."""
    if score is None:
        return Markup("")
    low, high = scale
    span = (high - low) or 1.0

    def place(value: float) -> float:
        return round((min(max(value, low), high) - low) / span * width, 2)

    zero, end = place(0.0), place(score)
    shapes = [
        f'<rect class="track" x="0" y="5" width="{width}" height="8" rx="2"/>',
        f'<rect class="bar" x="{min(zero, end)}" y="5" width="{round(abs(end - zero), 2)}" height="8" rx="2"/>',
    ]
    if least is not None and most is not None:
        left, right = place(least), place(most)
        shapes.append(
            f'<path class="whisker" d="M{left} 3V15M{right} 3V15M{left} 9H{right}" fill="none" stroke-width="1.5"/>'
        )
    return _svg(shapes, label, width, _HEIGHT)


def small_bar(row: ScoreRow, scale: tuple[float, float]) -> Markup:
    """Return a score as a small bar with its interval as a whisker, for the cells of a table."""
    return interval_bar(row, scale, _SMALL)


def histogram(bins: Sequence[ScoreBin], links: Sequence[str]) -> Markup:
    """Return how many instances have which scores, each column a link to them.

    Args:
        bins: The ranges, ascending.
        links: Where each leads.
    """
    tallest = max((each.instances for each in bins), default=0) or 1
    shapes = []
    for place, (each, link) in enumerate(zip(bins, links, strict=True)):
        height = round(each.instances / tallest * _TALL, 2)
        what = f"{shown(each.low)} to {shown(each.high)}: {each.instances:,}"
        column = f'x="{place * _COLUMN}" width="{_COLUMN - 2}"'
        shapes.append(
            f'<a href="{escape(link)}" aria-label="{what} instances"><title>{what}</title>'
            f'<rect class="track" {column} y="0" height="{_TALL}"/>'
            f'<rect class="bar" {column} y="{_TALL - height}" height="{height}"/></a>'
        )
    width = len(bins) * _COLUMN
    return Markup(  # noqa: S704 - numbers, and links that are escaped
        f'<svg class="histogram" role="group" aria-label="Instances by score" width="{width}" height="{_TALL}" '
        f'viewBox="0 0 {width} {_TALL}">{"".join(shapes)}</svg>'
    )


def choice_bar(log_likelihood: float, others: Sequence[float]) -> Markup:
    """Return a bar for the share that a continuation has of the likelihood of all of them."""
    share = share_of(log_likelihood, others)
    shapes = [
        f'<rect class="track" x="0" y="5" width="{_WIDTH}" height="8" rx="2"/>',
        f'<rect class="bar" x="0" y="5" width="{round(share * _WIDTH, 2)}" height="8" rx="2"/>',
    ]
    return _svg(shapes, f"{share:.1%} of the likelihood of all choices", _WIDTH, _HEIGHT)


def share_of(log_likelihood: float, others: Sequence[float]) -> float:
    """Return exp(x) / Σ exp(others), computed without overflow; ``others`` includes the value itself."""
    top = max(others)
    if not math.isfinite(top) or not math.isfinite(log_likelihood):
        return 0.0
    return math.exp(log_likelihood - top) / sum(math.exp(each - top) for each in others)


def difference_bar(difference: float, low: float | None, high: float | None, reach: float) -> Markup:
    """Return a difference with its interval on an axis from ``-reach`` to ``reach``."""
    reach = reach or 1.0

    def place(value: float) -> float:
        return round((min(max(value / reach, -1.0), 1.0) + 1.0) / 2 * _WIDTH, 2)

    shapes = [
        f'<rect class="track" x="0" y="5" width="{_WIDTH}" height="8" rx="2"/>',
        f'<path class="axis" d="M{_WIDTH / 2} 1V17" fill="none" stroke-width="1"/>',
        f'<circle class="dot" cx="{place(difference)}" cy="9" r="4"/>',
    ]
    if low is not None and high is not None:
        shapes.append(
            f'<path class="whisker" d="M{place(low)} 3V15M{place(high)} 3V15M{place(low)} 9H{place(high)}" '
            'fill="none" stroke-width="1.5"/>'
        )
    return _svg(shapes, f"difference {shown(difference)}", _WIDTH, _HEIGHT)


def _svg(shapes: Sequence[str], label: str, width: int, height: int) -> Markup:
    return Markup(  # noqa: S704 - numbers and class names of ours; the label is escaped
        f'<svg class="chart" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(label)}">{"".join(shapes)}</svg>'
    )
