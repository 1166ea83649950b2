"""Latency of answers: time to first token, between tokens, of whole requests, and throughput, by exam.

Names and formulas are AISBench's (``ais_bench --mode perf``: ``summarizers/default_perf.py``, ``calculators/``), so
that numbers can be laid side by side. Of a streamed answer the points in time are when it was sent and when each event
came (the event with the role, and the one that counts tokens, are events):

* ``E2EL``: from sending to the last event; of an answer that was not streamed, to its end.
* ``TTFT``: to the first event that has words. ``TTFE``: to the first event, which may have the role alone (AISBench's
  TTFT). ``TPOT``: ``(E2EL - TTFT) / (tokens - 1)``, 0 for an answer of one token.
* ``ITL``: between one event and the next, from the first words on.
* ``OutputTokenThroughput``: tokens of an answer by its ``E2EL``.

Where several servers answer, each has the same figures; and a run of some length has them for parts of its time, so
that a server that becomes slower is seen.

Beside a percentile of requests stands its 95% interval, where there are enough of them for one. Times are milliseconds.
Nothing is put under load here: requests come as the run sends them.
"""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from proctor.ir import Converse, Request, Response
from proctor.lazy import np
from proctor.results.latency_tables import UNITS
from proctor.statistics.intervals import percentile_interval

_PERCENTS: Final = {"Median": 50.0, "P75": 75.0, "P90": 90.0, "P99": 99.0}
_MILLISECONDS, _MICROSECONDS = 1_000, 1_000_000
_DECIMALS = 4
_CLOCK = 1e-3
"""The time of the first words and that of their event are read one after the other."""
_PARTS = 10
_FEWEST_IN_PART = 5
"""Requests, on average: a run of fewer is told as a whole."""
_PAUSE_SECONDS = 10.0
"""Nobody under way for longer than this, and than the longest request: the answers are those of several runs."""


class Latency:
    """Gathers how long the answers of an exam took; memory grows by some bytes a request."""

    def __init__(self) -> None:
        self._columns: dict[str, array[float]] = {name: array("d") for name in UNITS if name != "ITL"}
        self._gaps: Counter[int] = Counter()
        self._started, self._ended = array("d"), array("d")
        self._decoding = 0
        self._servers: dict[str, Latency] = {}
        self.failed = 0
        self.untimed = 0

    def add(self, requests: Iterable[Request], responses: Iterable[Response]) -> None:
        """Take the answers to requests. Conversations, whose turns have one time together, are not measured."""
        for request, response in zip(requests, responses, strict=False):
            if response.failure is not None:
                self.failed += 1
            elif isinstance(request, Converse) or response.timing.seconds <= 0 or response.timing.started <= 0:
                self.untimed += 1
            else:
                self._add(response)
                if server := response.timing.server:
                    self._servers.setdefault(server, Latency())._add(response)  # noqa: SLF001 - the same class

    def _add(self, response: Response) -> None:
        timing, usage = response.timing, response.usage
        points = timing.piece_seconds
        whole = points[-1] if points else timing.seconds
        self._started.append(timing.started)
        self._ended.append(timing.started + whole)
        self._note("E2EL", whole * _MILLISECONDS)
        read, written = usage.of_answer
        if read:
            self._note("InputTokens", read)
        if written:
            self._note("OutputTokens", written)
            self._note("OutputTokenThroughput", written / whole if whole else 0.0)
        first = timing.first_token_seconds
        if points:
            self._note("TTFE", points[0] * _MILLISECONDS)
        if points and first is not None:
            first = min((point for point in points if point >= first - _CLOCK), default=first)
            self._note("TTFT", first * _MILLISECONDS)
            worded = [point for point in points if point >= first]
            gaps = [round((later - earlier) * _MICROSECONDS) for earlier, later in itertools.pairwise(worded)]
            self._gaps.update(gaps)
            self._decoding += any(gaps)
            if written:
                rest = (whole - first) / (written - 1) if written > 1 else 0.0
                self._note("TPOT", rest * _MILLISECONDS)

    def _note(self, name: str, value: float) -> None:
        self._columns[name].append(value)

    def summary(self, concurrency: int | None = None) -> dict[str, Any]:
        """Return the figures, as ``results.json`` has them under ``run.latency``; empty where nothing was timed.

        Args:
            concurrency: Most requests at once, where the engine says so.
        """
        if not self._started:
            return {}
        found: dict[str, Any] = {name: self._measured(name) for name in UNITS if self._count(name)}
        if self.untimed:
            found["not timed"] = self.untimed
        common = self._common(concurrency)
        parts = {"requests": found, "common": common}
        if "no duration" not in common and len(self._started) >= _PARTS * _FEWEST_IN_PART:
            parts["over time"] = self._over_time()
        if len(self._servers) > 1:
            parts["servers"] = {server: each.summary() for server, each in sorted(self._servers.items())}
        return parts

    def _over_time(self) -> dict[str, Any]:
        """Return the figures of equal parts of the duration, by the seconds at which they begin."""
        ended, took = np.asarray(self._ended), np.asarray(self._columns["E2EL"])
        began = min(self._started)
        seconds = (float(ended.max()) - began) / _PARTS
        places = (
            np.minimum(((ended - began) / seconds).astype(int), _PARTS - 1) if seconds else np.zeros(len(ended), int)
        )
        found = {}
        for place in range(_PARTS):
            there = took[places == place]
            figures: dict[str, Any] = {
                "Request Throughput": round(len(there) / seconds, _DECIMALS) if seconds else None
            }
            if len(there):
                figures |= {name: round(float(np.percentile(there, _PERCENTS[name])), _DECIMALS) for name in _PERCENTS}
            found[f"{place * seconds:.{1 if seconds >= 1 else 9}f}"] = figures
        return found

    def _count(self, name: str) -> int:
        return sum(self._gaps.values()) if name == "ITL" else len(self._columns[name])

    def _measured(self, name: str) -> dict[str, Any]:
        stated = _of_counts(self._gaps) if name == "ITL" else _of_values(self._columns[name])
        count = self._decoding if name in ("TPOT", "ITL") else self._count(name)
        rounded = {key: np.round(value, _DECIMALS).tolist() for key, value in stated.items()}
        return {**rounded, "N": count, "unit": UNITS[name]}

    def _common(self, concurrency: int | None) -> dict[str, Any]:
        done = len(self._started)
        read, written = (int(sum(self._columns[name])) for name in ("InputTokens", "OutputTokens"))
        counts = {"Total Requests": done + self.failed, "Failed Requests": self.failed, "Success Requests": done}
        found: dict[str, Any] = {**counts, "Total Input Tokens": read, "Total Generated Tokens": written}
        if concurrency:
            found["Max Concurrency"] = concurrency
        if read and (first := sum(self._columns["TTFT"])):
            found["Prefill Token Throughput"] = round(read / first * _MILLISECONDS, _DECIMALS)
        if pause := self._pause():
            why = f"no request was under way for {pause:.0f} s: these are answers of several runs"
            return {**found, "no duration": why}
        seconds = max(self._ended) - min(self._started)
        rates = {
            "Request Throughput": done,
            "Input Token Throughput": read,
            "Output Token Throughput": written,
            "Total Token Throughput": read + written,
        }
        whole = sum(self._columns["E2EL"]) / _MILLISECONDS
        return {
            "Benchmark Duration": round(seconds * _MILLISECONDS, _DECIMALS),
            **found,
            "Concurrency": round(whole / seconds, _DECIMALS),
            **{name: round(count / seconds, _DECIMALS) for name, count in rates.items()},
        }

    def _pause(self) -> float:
        """Return the longest time in which no request was under way; 0 where it is not longer than a run may wait."""
        started, ended = np.asarray(self._started), np.asarray(self._ended)
        order = np.argsort(started, kind="stable")
        until = np.maximum.accumulate(ended[order])
        longest = float(np.max(started[order][1:] - until[:-1], initial=0.0))
        return longest if longest > max(_PAUSE_SECONDS, float(np.max(ended - started))) else 0.0


def _of_values(values: array[float]) -> dict[str, Any]:
    known = np.sort(np.asarray(values))
    bounds: dict[str, Any] = {"Average": float(known.mean()), "Min": float(known[0]), "Max": float(known[-1])}
    bounds |= {name: float(np.percentile(known, percent)) for name, percent in _PERCENTS.items()}
    for name, percent in _PERCENTS.items():
        if (interval := percentile_interval(known, percent / 100)) is not None:
            bounds[f"{name} interval"] = interval
    return bounds


def _of_counts(counts: Counter[int]) -> dict[str, float]:
    """Return the statistics of microseconds that are counted, in milliseconds; percentiles between ranks as numpy's."""
    values = np.array(sorted(counts), dtype=float)
    upto = np.cumsum([counts[int(value)] for value in values])
    total = int(upto[-1])

    def at(percent: float) -> float:
        rank = (total - 1) * percent / 100
        low, high = (
            values[np.searchsorted(upto, int(place), side="right")] for place in (rank, min(rank + 1, total - 1))
        )
        return float(low + (high - low) * (rank - int(rank)))

    mean = sum(value * count for value, count in counts.items()) / total
    found = {"Average": mean, "Min": float(values[0]), "Max": float(values[-1])}
    found |= {name: at(percent) for name, percent in _PERCENTS.items()}
    return {name: value * _MILLISECONDS / _MICROSECONDS for name, value in found.items()}
