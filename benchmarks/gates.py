"""Are gates right, and how many questions do they ask? Simulated: ``python benchmarks/gates.py [--gates 10000]``.

Exams of 100, 1,319 (GSM8K) and 14,042 (MMLU) questions; models of which 2, 6, 12 and 30% of the answers differ from the
baseline's. "equal" models must pass, models that are worse by a question more than the margin ("null"), by twice the
margin and by 40 points must fail. What is counted is wrong verdicts, at whatever time they come, and the questions
until there is one. Ends with 1 where more than 5% of the verdicts are wrong, or more questions are asked than in the
simulation of the issue (GSM8K: 26% at 6%, 45% at 12%, 17 questions for a broken model; MMLU: 11%).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from proctor.statistics.betting import Bets
from proctor.statistics.gates import _TIE, _not_above, _not_below, capital_for

MARGINS = {100: 0.03, 1_319: 0.03, 14_042: 0.02}
DISCORDANT = (0.02, 0.06, 0.12, 0.30)
MOST_QUESTIONS = {
    (1_319, "equal", 0.06): 0.26,
    (1_319, "equal", 0.12): 0.45,
    (1_319, "broken", 0.44): 17 / 1_319,
    (14_042, "equal", 0.06): 0.11,
}
ERROR = 0.05


def simulated_stops(
    differences: Iterable[NDArray[np.float64]], total: int, margin: float, alpha: float = ERROR
) -> tuple[NDArray[np.intp], NDArray[np.int8]]:
    """Return after how many questions each of many gates stops, and how: 1 passed, -1 failed."""
    threshold, enough = (1.0 - margin) / 2.0, capital_for(alpha)
    above = Bets(total, threshold, _not_below(margin / 2))
    below = Bets(total, 1.0 - threshold, _not_above(margin / 2))
    stops, verdicts, sums = (np.zeros(0, np.intp), np.zeros(0, np.int8), np.zeros(0))
    for number, difference in enumerate(differences, 1):
        if number == 1:
            stops, verdicts = (np.full(difference.shape, total, np.intp), np.zeros(difference.shape, np.int8))
            sums = np.zeros(difference.shape)
        sums = sums + difference
        scores = (difference + 1.0) / 2.0
        for logs, value in ((above.add(scores), 1), (below.add(1.0 - scores), -1)):
            new = (verdicts == 0) & (logs >= enough)
            verdicts[new], stops[new] = (value, number)
        if verdicts.all():
            break
    left = verdicts == 0
    verdicts[left] = np.where(sums >= -margin * total - _TIE * total, 1, -1)[left]
    return (stops, verdicts)


class Case(NamedTuple):
    """One kind of model."""

    total: int
    kind: str
    discordant: float
    difference: float

    def counts(self) -> tuple[int, int]:
        """Return how many questions the model gained and lost."""
        net = round(self.difference * self.total)
        differing = max(round(self.discordant * self.total), abs(net))
        won = (differing + net) // 2
        return won, won - net

    def columns(self, gates: int, stream: np.random.Generator) -> Iterator[NDArray[np.float64]]:
        """Yield the difference of each question in a random order, for many gates."""
        won, lost = (np.full(gates, float(count)) for count in self.counts())
        for left in range(self.total, 0, -1):
            place = stream.random(gates) * left
            difference = np.where(place < won, 1.0, np.where(place < won + lost, -1.0, 0.0))
            won -= difference > 0
            lost -= difference < 0
            yield difference


def cases() -> Iterator[Case]:
    """Yield the kinds of models."""
    for total, margin in MARGINS.items():
        for share in DISCORDANT:
            yield Case(total, "equal", share, 0.0)
            yield Case(total, "null", share, -(np.floor(margin * total) + 1) / total)
            yield Case(total, "worse", share, -2 * margin)
        yield Case(total, "broken", 0.44, -0.40)


def main() -> int:
    """Simulate, print a table, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--gates", type=int, default=10_000)
    parser.add_argument("--total", type=int, choices=list(MARGINS))
    given = parser.parse_args()
    is_bad = False
    print("questions  kind    discordant  wrong   median  share   p90    seconds")
    for number, case in enumerate(cases()):
        if given.total not in (None, case.total):
            continue
        began = time.perf_counter()
        stream = np.random.default_rng([2026, number])
        stops, verdicts = simulated_stops(case.columns(given.gates, stream), case.total, MARGINS[case.total])
        wrong = float((verdicts != (1 if case.kind == "equal" else -1)).mean())
        median, late = np.median(stops), np.quantile(stops, 0.9)
        most = MOST_QUESTIONS.get((case.total, case.kind, case.discordant), 1.0)
        ok = wrong <= ERROR and median <= most * case.total + 1e-9
        is_bad |= not ok
        said = f"{case.total:>9,}  {case.kind:<7}{case.discordant:>10.0%}{wrong:>9.2%}{median:>9,.0f}"
        print(
            f"{said}{median / case.total:>8.1%}{late / case.total:>7.0%}{time.perf_counter() - began:>9.1f}"
            f"{'' if ok else '  <-- too many'}",
            flush=True,
        )
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
