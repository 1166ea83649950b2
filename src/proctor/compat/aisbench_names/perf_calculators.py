"""AISBench's calculators of performance figures (``ais_bench.benchmark.calculators``).

They sum up requests that somebody timed. What Proctor times itself is in :mod:`proctor.running.latency`, by the same
formulas; nothing here puts a server under load.
"""

from __future__ import annotations

import csv
import io
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.registries import PERF_METRIC_CALCULATORS
from proctor.results.latency_tables import COMMON_UNITS, STATISTICS, UNITS
from proctor.safe_files import write_text

DEFAULT_STATS = list(STATISTICS)
MAX_STATS_LEN = 8
"""Upstream's limit of statistics in a table."""
PERCENTAGE_PATTERN = r"^P(0*[1-9]\d{0,1})$"
SECOND_TO_MILLISECOND = 1000
_PLAIN = ("Average", "Min", "Max", "Median")
_DECIMALS = 4
_SHOWN_UNITS = {"ms": " ms", "token/s": " token/s", "req/s": " req/s"}  # of counts none is shown
_MEASURES: Mapping[str, str] = {
    "latency": "E2EL", "ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "input_tokens": "InputTokens",
    "output_tokens": "OutputTokens", "generate_tokens_speed": "OutputTokenThroughput",
}  # fmt: skip
"""What columns of timed requests are called in tables."""
_OF_REQUESTS = ("id", "start_time", "end_time", "success")
_BATCH_SIZES = ("PrefillBatchsize", "DecoderBatchsize")
_COMMON = (
    "Benchmark Duration", "Total Requests", "Failed Requests", "Success Requests", "Concurrency", "Max Concurrency",
    "Request Throughput", "Total Input Tokens", "Prefill Token Throughput", "Total Generated Tokens",
    "Input Token Throughput", "Output Token Throughput", "Total Token Throughput",
)  # fmt: skip
Stages = dict[str, dict[str, Any]]


def is_legal_percentage_str(stat: str) -> re.Match[str] | None:
    """Return whether a statistic is a percentile from P1 to P99, as a match or ``None``."""
    return re.match(PERCENTAGE_PATTERN, stat)


class BasePerfMetricCalculator(ABC):
    """Sums up timed requests, stage by stage; a stage is a choice of requests.

    Args:
        stats_list: The statistics of a table: ``Average``, ``Min``, ``Max``, ``Median``, ``P1`` … ``P99``.

    Attributes:
        metrics: Of each measure and stage the statistics, and their number ``N``.
        common_metrics: Of each figure and stage one number.
    """

    stage_dict: Mapping[str, Any]
    result: Mapping[str, Mapping[str, Any]]
    infer_time: Mapping[str, float]
    data_count: Mapping[str, int]
    success_count: Mapping[str, int]
    decode_latencies: Mapping[str, Sequence[Any]]
    max_concurrency: int

    def __init__(self, stats_list: Sequence[str] = DEFAULT_STATS) -> None:
        self.logger = AISLogger()
        self.stats_list = self._validate_stats_list(stats_list or DEFAULT_STATS)
        self.logger.debug("statistics: %s", ", ".join(self.stats_list))
        self.metrics: Stages = {}
        self.common_metrics: Stages = {}

    @abstractmethod
    def _init_datas(self, perf_details: dict[str, Any], max_concurrency: int) -> None:
        """Take the requests, and find the stages."""

    def _validate_stats_list(self, stats_list: Sequence[str]) -> list[str]:
        if len(stats_list) > MAX_STATS_LEN:
            self.logger.warning("of %d statistics the first %d are kept", len(stats_list), MAX_STATS_LEN)
        kept = []
        for stat in stats_list[:MAX_STATS_LEN]:
            if stat in _PLAIN or is_legal_percentage_str(stat):
                kept.append(stat)
            else:
                self.logger.warning("%r is no statistic, and is left out; there are %s", stat, DEFAULT_STATS)
        if not kept:
            self.logger.warning("no statistic is left: the average is taken")
        return kept or ["Average"]

    def _calculate_statistics(self, data: Sequence[Any], stats_list: Sequence[str] | None = None) -> dict[str, Any]:
        """Return statistics of numbers, or of arrays of numbers; zeros where there are none."""
        wanted = stats_list or self.stats_list
        if not data:
            self.logger.warning("nothing was measured: statistics are 0")
            return dict.fromkeys(wanted, 0)
        values = np.concatenate(data) if isinstance(data[0], np.ndarray) else np.array(data)
        return {stat: round(float(_statistic(values, stat)), _DECIMALS) for stat in wanted}

    def _process_batch_sizes(self, batch_sizes: Sequence[int]) -> list[int]:
        """Return the batches of requests that each name the size of their batch."""
        found: list[int] = []
        missing: dict[int, int] = {}
        for size in batch_sizes:
            if not missing.get(size):
                found.append(size)
                missing[size] = size
            missing[size] -= 1
        if open_batches := {size: count for size, count in missing.items() if count}:
            self.logger.warning("batches miss requests (missing, by size): %s", open_batches)
        return found

    def _add_units_to_metrics(self, metrics: Stages) -> Stages:
        """Write units behind the statistics, in place; seconds become milliseconds. ``N`` is a count."""
        for name, stages in metrics.items():
            unit = _SHOWN_UNITS.get(UNITS.get(name, ""))
            for values in stages.values() if unit else ():
                for key in values.keys() - {"N"}:
                    values[key] = f"{_in_unit(values[key], str(unit))}{unit}"
        return metrics

    def _add_units_to_common_metrics(self, common_metrics: Stages) -> Stages:
        """Write units behind the figures, in place."""
        for name, stages in common_metrics.items():
            if unit := _SHOWN_UNITS.get(COMMON_UNITS.get(name, "")):
                stages.update({stage: f"{value}{unit}" for stage, value in stages.items()})
        return common_metrics

    def _export_to_csv(self, metrics: Stages, output_path: str | Path) -> None:
        """Write the statistics as a table.

        Raises:
            AISBenchMetricError: There are none.
            AISBenchDumpError: The file cannot be written.
        """
        stages = next(iter(metrics.values()), None)
        if not stages:
            what = f"there are no statistics of requests to write to {output_path}"
            raise failure("AISBenchMetricError", "CALC_CODES", "INVALID_METRIC_DATA", what)
        columns = list(next(iter(stages.values())))
        rows = [
            [name, stage, *(values[stage].get(key, "") for key in columns)]
            for name, values in metrics.items()
            for stage in stages
        ]
        table = io.StringIO(newline="")
        csv.writer(table).writerows([["Performance Parameters", "Stage", *columns], *rows])
        try:
            write_text(Path(output_path), table.getvalue())
        except OSError as error:
            what = f"the statistics of requests cannot be written to {output_path}: {error}"
            raise failure("AISBenchDumpError", "CALC_CODES", "DUMPING_RESULT_FAILED", what) from error

    def convert_result(self, result: dict[str, Any]) -> dict[str, list[Any]]:
        """Return the columns of timed requests by the names of tables; lists in a column are joined.

        Answers that did not come in pieces have no times between them, and lack these columns.
        """
        for key in _OF_REQUESTS:
            result.pop(key, None)
        found: dict[str, list[Any]] = {}
        for key, name in _MEASURES.items():
            if key not in result:
                self.logger.warning("requests have no %s", key)
            found[name] = _joined(result.get(key, ()))
        gaps = found["ITL"]
        if not gaps or (isinstance(gaps[0], np.ndarray) and not gaps[0].any()):
            del found["ITL"]
        for name in ("TTFT", "TPOT"):
            if math.isclose(sum(found[name]), 0):
                del found[name]
        return found

    def _calc_metrics(self) -> None:
        for stage in self.stage_dict:
            for name, values in self.result[stage].items():
                listed = self._process_batch_sizes(values) if name in _BATCH_SIZES else values
                made = self._calculate_statistics(listed) if listed else dict.fromkeys(self.stats_list, 0)
                self.metrics.setdefault(name, {})[stage] = made
            decoded = sum(bool(np.array(each).any()) for each in self.decode_latencies[stage])
            for name, stages in self.metrics.items():
                stages[stage]["N"] = decoded if name in ("TPOT", "ITL") else self.success_count[stage]

    def _calc_common_metrics(self) -> None:
        for name in _COMMON:
            self.common_metrics.setdefault(name, {})
        for stage in self.stage_dict:
            if self.success_count[stage] < self.data_count[stage]:
                self.logger.warning("%d requests failed", self.data_count[stage] - self.success_count[stage])
            for name, value in self._figures(stage).items():
                self.common_metrics.setdefault(name, {})[stage] = value
            if (
                "Prefill Token Throughput" in self.common_metrics
                and not self.common_metrics["Prefill Token Throughput"]
            ):
                del self.common_metrics["Prefill Token Throughput"]

    def _figures(self, stage: str) -> dict[str, Any]:
        seconds, done, columns = self.infer_time[stage], self.success_count[stage], self.result[stage]
        read, written = sum(columns["InputTokens"]), sum(columns["OutputTokens"])
        found = {
            "Benchmark Duration": round(seconds * SECOND_TO_MILLISECOND, _DECIMALS),
            "Total Requests": self.data_count[stage],
            "Failed Requests": self.data_count[stage] - done,
            "Success Requests": done,
            "Concurrency": self._calculate_concurrency(stage),
            "Max Concurrency": self.max_concurrency,
            "Request Throughput": _rate(done, seconds) if seconds else 0,
            "Total Input Tokens": read,
            "Total Generated Tokens": written,
        }
        if read and columns.get("TTFT") is not None:
            found["Prefill Token Throughput"] = _rate(read, sum(columns["TTFT"]))
        if seconds > 0:
            counted = {"Input": read, "Output": written, "Total": read + written}
            found |= {f"{name} Token Throughput": _rate(count, seconds) for name, count in counted.items()}
        return found

    def _calculate_concurrency(self, stage_name: str) -> float:
        """Return how many requests were under way on average."""
        return _rate(sum(self.result[stage_name]["E2EL"]), self.infer_time[stage_name])

    def calculate(self) -> None:
        """Make statistics and figures of all stages, with units."""
        self.logger.info("Starting metrics calculation...")
        self._calc_metrics()
        self.logger.info("Starting common metrics calculation...")
        self._calc_common_metrics()
        self.logger.info("Adding units to metrics...")
        self.add_units()
        self.logger.info("Performance data calculation completed!")

    def add_units(self) -> None:
        """Write units behind everything that has one."""
        self.metrics = self._add_units_to_metrics(self.metrics)
        self.common_metrics = self._add_units_to_common_metrics(self.common_metrics)

    def get_common_res(self) -> Stages:
        """Return the figures that there are."""
        return {name: each for name, each in self.common_metrics.items() if each is not None}

    def save_performance(self, out_path: str | Path) -> None:
        """Write the statistics as CSV."""
        self._export_to_csv(self.metrics, out_path)
        self.logger.debug("the statistics of requests are in %s", out_path)


def _statistic(values: Any, stat: str) -> Any:
    plain = {"Average": values.mean, "Min": values.min, "Max": values.max}
    return plain[stat]() if stat in plain else np.percentile(values, 50 if stat == "Median" else int(stat[1:]))


def _in_unit(value: Any, unit: str) -> Any:
    return round(value * SECOND_TO_MILLISECOND, _DECIMALS) if unit == " ms" else value


def _joined(values: Sequence[Any]) -> list[Any]:
    return [each for value in values for each in (value if isinstance(value, list) else [value])]


def _rate(count: float, seconds: float) -> float:
    return round(count / seconds, _DECIMALS)


def all_failed() -> Exception:
    """Return the error of requests of which none succeeded."""
    what = "no request succeeded, so that nothing can be summed up; what servers said is in the files of details"
    return failure("AISBenchDataContentError", "CALC_CODES", "ALL_REQUEST_DATAS_INVALID", what)


@PERF_METRIC_CALCULATORS.register_module()
class DefaultPerfMetricCalculator(BasePerfMetricCalculator):
    """Sums up all requests, as one stage ``total``; arguments as of :class:`BasePerfMetricCalculator`."""

    def _init_datas(self, perf_details: dict[str, Any], max_concurrency: int) -> None:
        if not sum(perf_details["success"]):
            raise all_failed()
        self.max_concurrency = max_concurrency
        self.stage_dict = {"total": self._get_requests_id(perf_details)}
        self.data_count, self.success_count, self.infer_time = {}, {}, {}
        self.decode_latencies, self.result, self.metrics, self.common_metrics = {}, {}, {}, {}
        for stage in self.stage_dict:
            self._process_result(perf_details, stage)

    def _get_requests_id(self, perf_details: Mapping[str, Sequence[Any]]) -> list[int]:
        return list(range(len(perf_details["id"])))

    def _process_result(self, full_result: Mapping[str, Any], stage_name: str) -> None:
        chosen = chosen_requests(full_result, self.stage_dict[stage_name])
        seconds = max(chosen["end_time"]) - min(chosen["start_time"])
        take_stage(self, stage_name, chosen, full_result["success"], seconds)


def chosen_requests(full_result: Mapping[str, Any], places: Sequence[int]) -> dict[str, list[Any]]:
    """Return the columns of some requests; columns that are ``None`` are left out."""
    return {key: [values[place] for place in places] for key, values in full_result.items() if values is not None}


def take_stage(
    calculator: Any, stage: str, chosen: dict[str, list[Any]], success: Sequence[bool], seconds: float
) -> None:
    """Give a calculator the requests of a stage.

    Args:
        calculator: What sums up.
        stage: The stage's name.
        chosen: The columns of its requests.
        success: Whether each request that is counted succeeded.
        seconds: How long the stage lasted.
    """
    calculator.data_count[stage] = len(success)
    calculator.success_count[stage] = sum(success)
    calculator.decode_latencies[stage] = chosen["itl"]
    calculator.infer_time[stage] = seconds
    calculator.result[stage] = calculator.convert_result(chosen)
