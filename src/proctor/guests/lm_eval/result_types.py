"""``lm_eval.result_schema``: the types of what ``simple_evaluate`` returns, for programs that annotate with them."""

from __future__ import annotations

from typing import Any


class EvalResults(dict[str, Any]):
    """What ``simple_evaluate`` returns; programs annotate with it, and subscript its parts."""


TaskMetrics = SampleResult = _TaskMetrics = _EvalConfig = EvalResults
