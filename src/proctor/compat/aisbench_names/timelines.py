"""When requests were under way, as AISBench's charts need it (``…utils.visualization.summarize_plot``).

The figures are made; charts are not drawn: ``proctor view`` and ``proctor report`` show how long answers took.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from proctor.compat.aisbench_names.logger import AISLogger

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
    """Draw nothing, say so, and return ``False``: that no chart was written."""
    del multiturn_group_id_list, unit
    if validate_input_data(start_time_list, prefill_latency_list, end_time_list):
        logger.warning(
            "no chart is drawn to %s: `proctor report` and `proctor view` show times of requests", output_file
        )
    return False
