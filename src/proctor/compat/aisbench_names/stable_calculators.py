"""AISBench's calculator of the stable stage: the time in which as many requests as allowed are under way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tqdm import tqdm  # type: ignore[import-untyped]

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.perf_calculators import (
    BasePerfMetricCalculator,
    all_failed,
    chosen_requests,
    take_stage,
)
from proctor.compat.aisbench_names.registries import PERF_METRIC_CALCULATORS

WAVE_OFFSET = 0.02
"""The share of requests that may be missing before the stage ends."""
INTERVAL_OFFSET = 0.001
"""Seconds in which a missing request may be replaced."""
_FIRST_COUNTED = 2
"""The stage begins with the second request that makes the number full; the first is not counted."""


class _Moment(NamedTuple):
    time: float
    request: int
    starts: bool


@PERF_METRIC_CALCULATORS.register_module()
class StablePerfMetricCalculator(BasePerfMetricCalculator):
    """Sums up the requests of the stable stage; arguments as of :class:`BasePerfMetricCalculator`.

    Attributes:
        stage_section: When the stage began and ended.
    """

    stage_section: list[float]

    def _init_datas(self, perf_details: dict[str, Any], max_concurrency: int) -> None:
        self.max_concurrency, self.stage_section = max_concurrency, [0, 0]
        if not sum(perf_details["success"]):
            raise all_failed()
        self.stage_dict = {"stable": self._get_requests_id(perf_details)}
        self.data_count, self.success_count, self.infer_time = {}, {}, {}
        self.decode_latencies, self.result, self.metrics, self.common_metrics = {}, {}, {}, {}
        for stage in self.stage_dict:
            self._process_result(perf_details, stage)

    def _get_requests_id(self, perf_details: Mapping[str, Sequence[Any]]) -> list[int]:
        """Return which requests belong to the stage.

        Raises:
            AISBenchDataContentError: There is no such stage.
        """
        moments = _moments(perf_details)
        progress = tqdm(total=len(moments), desc="Calculating stable stage", unit=" req")
        found = self._walk(moments, len(perf_details["id"]))[1:]
        progress.update(len(moments))
        progress.close()
        if not found:
            what = f"{self.max_concurrency} requests were never under way twice: there is no stable stage to sum up"
            raise failure("AISBenchDataContentError", "CALC_CODES", "CAN_NOT_FIND_STABLE_STAGE", what)
        begin = min(perf_details["start_time"])
        start, end = (moment - begin for moment in self.stage_section)
        self.logger.info("the stable stage lasts from %.6f s to %.6f s", start, end)
        return found

    def _walk(self, moments: Sequence[_Moment], total: int) -> list[int]:
        enough = int(self.max_concurrency * (1 - WAVE_OFFSET))
        under_way = started = 0
        found: list[int] = []
        for place, moment in enumerate(moments):
            under_way += 1 if moment.starts else -1
            started += moment.starts
            if moment.starts and under_way == self.max_concurrency:
                found.append(moment.request)
                if len(found) == _FIRST_COUNTED:
                    self.stage_section[0] = moment.time
            elif moment.starts and under_way >= enough and len(found) > _FIRST_COUNTED:
                found.append(moment.request)
            elif not moment.starts and (
                started == total
                or (len(found) > 1 and under_way < enough and not _recovers(moments, place, under_way, enough))
            ):
                self.stage_section[1] = moment.time
                break
        return found

    def _process_result(self, full_result: Mapping[str, Any], stage_name: str) -> None:
        chosen = chosen_requests(full_result, self.stage_dict[stage_name])
        seconds = self.stage_section[1] - self.stage_section[0]
        take_stage(self, stage_name, chosen, chosen["success"], seconds)

    def _calculate_concurrency(self, stage_name: str) -> float:
        """Return how many requests were under way on average: at most as many as are allowed."""
        return min(super()._calculate_concurrency(stage_name), self.max_concurrency)


def _moments(perf_details: Mapping[str, Sequence[Any]]) -> list[_Moment]:
    """Return the beginnings and ends of requests in the order of time; of one time in the order of requests."""
    found = []
    for request in range(len(perf_details["id"])):
        found.append(_Moment(perf_details["start_time"][request], request, starts=True))
        found.append(_Moment(perf_details["end_time"][request], request, starts=False))
    return sorted(found, key=lambda moment: moment.time)


def _recovers(moments: Sequence[_Moment], place: int, under_way: int, enough: int) -> bool:
    """Return whether enough requests are under way again at once."""
    for later in moments[place + 1 :]:
        if later.time - moments[place].time > INTERVAL_OFFSET:
            break
        under_way += 1 if later.starts else -1
        if later.starts and under_way >= enough:
            return True
    return False
