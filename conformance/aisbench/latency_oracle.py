"""AISBench's own calculator on points in time; runs in AISBench's environment. Usage: ``latency_oracle.py IN OUT``."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from ais_bench.benchmark.calculators.default_perf_metric_calculator import DefaultPerfMetricCalculator


def main() -> None:
    """Write the figures of each set of requests."""
    found = []
    for requests in json.loads(Path(sys.argv[1]).read_text()):
        columns = defaultdict(list)
        for number, each in enumerate(requests):
            # as DefaultPerfSummarizer._calc_perf_data makes rows of points
            points = [each["started"], *[each["started"] + seconds for seconds in each["pieces"]]]
            written, latency, first = each["written"], points[-1] - points[0], points[1] - points[0]
            row = {
                "id": number, "success": True, "input_tokens": each["read"], "output_tokens": written,
                "start_time": points[0], "end_time": points[-1], "latency": latency, "ttft": first,
                "tpot": (latency - first) / (written - 1) if written > 1 else 0,
                "itl": np.diff(points[1:]) if len(points) > 2 else [], "generate_tokens_speed": written / latency,
            }  # fmt: skip
            for key, value in row.items():
                columns[key].append(value)
        calculator = DefaultPerfMetricCalculator()
        # ruff: noqa: SLF001 - what its summarizer calls, without its files
        calculator._init_datas(dict(columns), 4)
        calculator._calc_metrics()
        calculator._calc_common_metrics()
        found.append({"metrics": calculator.metrics, "common": calculator.common_metrics})
    Path(sys.argv[2]).write_text(json.dumps(found, default=float))


if __name__ == "__main__":
    main()
