"""When requests were under way, as AISBench's charts need it (``…utils.visualization.summarize_plot``).

The figures are made. Charts are drawn where plotly is installed; ``proctor view`` and ``proctor report`` show how long
answers took without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from proctor.compat.aisbench_names.logger import AISLogger
from proctor.errors import MissingExtraError

logger = AISLogger()
_SAME_SECONDS = 0.001
"""An answer whose end and first token are closer has one token: upstream's tolerance."""


def validate_input_data(
    start_time_list: Sequence[float], prefill_latency_list: Sequence[float], end_time_list: Sequence[float]
) -> bool:
    """Return whether there are requests, and all three times of each."""
    counts = {len(start_time_list), len(prefill_latency_list), len(end_time_list)}
    if counts == {0}:
        logger.warning("there are no requests to show")
    elif len(counts) > 1:
        logger.warning("requests lack times: there are %s", sorted(counts))
    return len(counts) == 1 and counts != {0}


def is_non_streaming_scenario(prefill_latency_list: Sequence[float]) -> bool:
    """Return whether no answer came in pieces: no time to a first token is known."""
    return all(seconds == 0.0 for seconds in prefill_latency_list)


def preprocess_data(start_times: Any, prefill_latencies: Any, end_times: Any) -> tuple[Any, Any, Any, bool]:
    """Return times since the first request began: of first tokens, beginnings and ends, and whether answers came whole.

    Args:
        start_times: When each request began.
        prefill_latencies: How long its first token took, 0 where the answer came whole.
        end_times: When it ended.
    """
    zero = np.min(start_times) if len(start_times) else 0.0
    if is_non_streaming_scenario(prefill_latencies):
        return None, start_times - zero, end_times - zero, True
    first_tokens = start_times + prefill_latencies
    ended = np.where(np.abs(end_times - first_tokens) < _SAME_SECONDS, first_tokens, end_times)
    return first_tokens - zero, start_times - zero, ended - zero, False


def plot_sorted_request_timelines(
    start_time_list: Any,
    end_time_list: Any,
    prefill_latency_list: Any,
    multiturn_group_id_list: Sequence[Any],
    output_file: str = "timeline.html",
    unit: str = "s",
) -> bool:
    """Write a page with a chart of requests, and one of how many were under way; return whether it was written.

    Where answers came whole there is only the second; where plotly is not installed, no page.
    """
    if not validate_input_data(start_time_list, prefill_latency_list, end_time_list):
        return False
    first_tokens, starts, ends, whole = preprocess_data(start_time_list, prefill_latency_list, end_time_list)
    try:
        requests = [] if whole else generate_timeline_traces(starts, ends, first_tokens, multiturn_group_id_list, unit)
        under_way = generate_concurrency_traces(starts, ends, unit)
        figure = _plotly("graph_objects", "Figure")() if whole else _two_charts()
    except MissingExtraError:
        logger.warning(
            "no chart is drawn to %s: `proctor report` and `proctor view` show times of requests", output_file
        )
        return False
    for row, traces in enumerate([under_way] if whole else [requests, under_way], 1):
        for trace in traces:
            figure.add_trace(trace, **({} if whole else {"row": row, "col": 1}))
    figure.update_layout(create_plot_layout(np.max(ends), unit, not whole))
    figure.write_html(output_file, include_plotlyjs="cdn", config=WEBGL_CONFIG, auto_open=False, full_html=True)
    logger.info("a chart of requests is in %s", output_file)
    return True


# -- charts ----------------------------------------------------------------------------------------------------------

WEBGL_CONFIG: Mapping[str, Any] = {
    "scrollZoom": True,
    "plotGlPixelRatio": 1,
    "showLink": False,
    "displaylogo": False,
    "queueLength": 10,
}
AXIS_CONFIG: Mapping[str, Any] = {
    "showline": True,
    "showgrid": True,
    "showticklabels": True,
    "gridwidth": 0.5,
    "gridcolor": "rgba(211,211,211,0.5)",
    "linecolor": "black",
}
MAX_POINTS_PER_TRACE = 10_000
TIMELINE_POINTS_PER_REQUEST = 3  # where a line begins, where it ends, and a gap
_LINE: Mapping[str, Any] = {"width": 1, "shape": "hv"}


def _plotly(module: str, name: str) -> Any:
    """Return a name of plotly's, or what a program has put in its place in this module.

    Raises:
        MissingExtraError: plotly is not installed.
    """
    if name in globals():
        return globals()[name]
    try:
        return getattr(import_module(f"plotly.{module}"), name)
    except ImportError:
        why = "charts are drawn by plotly, which is not installed"
        raise MissingExtraError("no chart is drawn", why=why, hint="`proctor report` shows times without it") from None


def _two_charts() -> Any:
    return _plotly("subplots", "make_subplots")(rows=2, cols=1, vertical_spacing=0.1, shared_xaxes=True)


def _pieces(count: int) -> Iterator[slice]:
    size = min(count, MAX_POINTS_PER_TRACE)
    return (slice(start, min(start + size, count)) for start in range(0, count, size or 1))


def generate_timeline_traces(
    adjusted_starts: Any,
    adjusted_ends: Any,
    adjusted_first_tokens: Any,
    multiturn_group_id_list: Sequence[Any],
    unit: str,
) -> list[Any]:
    """Return the lines of requests: red until the first token, blue from there on; a dialogue's lie at one height.

    Raises:
        MissingExtraError: plotly is not installed.
    """
    line = _plotly("graph_objects", "Scattergl")
    heights = _heights(np.argsort(adjusted_starts), multiturn_group_id_list)
    waiting, answering = (np.full((2, TIMELINE_POINTS_PER_REQUEST * len(heights)), np.nan, np.float32) for _ in "ab")
    told = np.full(TIMELINE_POINTS_PER_REQUEST * len(heights), None, dtype=object)
    for number, (request, height) in enumerate(heights):
        start, first, end = (times[request] for times in (adjusted_starts, adjusted_first_tokens, adjusted_ends))
        place = number * TIMELINE_POINTS_PER_REQUEST
        waiting[:, place : place + 2] = [[start, first], [height, height]]
        if end > first:
            answering[:, place : place + 2] = [[first, end], [height, height]]
        told[place] = _told(start, first, end, unit)
    traces = []
    for piece in _pieces(len(told)):
        for points, colour, shown in (
            (waiting, "red", {"hoverinfo": "text", "hovertext": told[piece]}),
            (answering, "blue", {"hoverinfo": "none"}),
        ):
            if not np.isnan(points[0, piece]).all():
                style = {"mode": "lines", "line": {"color": colour, **_LINE}, "showlegend": False, "connectgaps": False}
                traces.append(line(x=points[0, piece], y=points[1, piece], **style, **shown))
    return traces


def _heights(order: Any, groups: Sequence[Any]) -> list[tuple[int, int]]:
    """Return requests in the order of their beginnings, and how high each is drawn."""
    if len(set(groups)) == len(groups):
        return [(request, height) for height, request in enumerate(order, 1)]
    known: dict[Any, int] = {}
    return [(request, known.setdefault(groups[request], len(known) + 1)) for request in order]


def _told(start: float, first: float, end: float, unit: str) -> str:
    """Return what is shown of a request under the pointer."""

    def span(left: float, right: float) -> str:
        return f"{left:.2f}→{right:.2f}={right - left:.2f}"

    answering = span(first, end) if end > first else "NaN"
    return (
        f"<span style='color:red'>TTFT({unit}): {span(start, first)}</span><br>"
        f"<span style='color:blue'>Decode({unit}): {answering}</span><br>E2E({unit}): {span(start, end)}"
    )


def generate_concurrency_traces(adjusted_starts: Any, adjusted_ends: Any, unit: str) -> list[Any]:
    """Return the line of how many requests were under way.

    Raises:
        MissingExtraError: plotly is not installed.
    """
    line = _plotly("graph_objects", "Scattergl")
    lasting = adjusted_starts < adjusted_ends
    if not np.any(lasting):
        logger.warning("no request took any time: there is nothing to draw of how many were under way")
        return []
    begun, ended = (times[lasting].astype(np.float32) for times in (adjusted_starts, adjusted_ends))
    changes = np.repeat([1.0, -1.0], len(begun))
    times, places = np.unique(np.concatenate([begun, ended]), return_inverse=True)
    counts = np.cumsum(np.bincount(places, weights=changes))
    told = [f"Time: {time:.4f}{unit}<br>Concurrency: {count:.0f}" for time, count in zip(times, counts, strict=True)]
    style = {
        "mode": "lines",
        "line": {"color": "#4CAF50", **_LINE},
        "fill": "tozeroy",
        "fillcolor": "rgba(76,175,80,0.1)",
        "hoverinfo": "text",
        "showlegend": False,
        "connectgaps": True,
    }
    joined = (slice(max(piece.start - 1, 0), piece.stop) for piece in _pieces(len(times)))
    return [line(x=times[piece], y=counts[piece], hovertext=told[piece], **style) for piece in joined]


def create_plot_layout(max_time: float, unit: str, has_timeline: bool) -> dict[str, Any]:
    """Return the layout of one chart, or of two that share their times."""
    times = {
        **AXIS_CONFIG,
        "showspikes": True,
        "spikemode": "across",
        "spikesnap": "cursor",
        "spikethickness": 1,
        "spikecolor": "#666",
        "spikedash": "dot",
        "title": f"Relative Time ({unit})",
        "range": [0, max_time],
    }
    counts = {**AXIS_CONFIG, "rangemode": "nonnegative", "tickmode": "auto", "nticks": 10}
    under_way = {**counts, "title": "Request Concurrency Count"}
    axes = {"xaxis": times, "yaxis": under_way}
    if has_timeline:
        above = {"xaxis1": {**times, "matches": "x2"}, "yaxis1": {**counts, "title": "Request Index"}}
        axes = {**above, "xaxis2": times, "yaxis2": under_way}
    return {
        "height": 1200 if has_timeline else 600,
        "plot_bgcolor": "white",
        **axes,
        "hoverlabel": {"bgcolor": "rgba(255,255,255,0.9)", "font_size": 12, "align": "left"},
        "hovermode": "closest",
    }
