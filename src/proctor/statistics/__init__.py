"""Numbers about numbers: intervals, noise at two levels, bets against a null, gates, item models. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.statistics.betting import Bets, Strategy, log_capital
    from proctor.statistics.fixed_width import FixedWidthMean, units_needed
    from proctor.statistics.gates import GateTest, Verdict, simulated_stops
    from proctor.statistics.intervals import Bootstrap, Interval, exact, score_interval, settled, student_t, wilson
    from proctor.statistics.sequences import ConfidenceSequence, mean_interval
    from proctor.statistics.two_level import TwoLevel, clustered_error, two_level

_HOMES = {
    "betting": ("Bets", "Strategy", "log_capital"),
    "fixed_width": ("FixedWidthMean", "units_needed"),
    "gates": ("GateTest", "Verdict", "simulated_stops"),
    "intervals": ("Bootstrap", "Interval", "exact", "score_interval", "settled", "student_t", "wilson"),
    "sequences": ("ConfidenceSequence", "mean_interval"),
    "two_level": ("TwoLevel", "clustered_error", "two_level"),
}

__all__ = [
    "Bets",
    "Bootstrap",
    "ConfidenceSequence",
    "FixedWidthMean",
    "GateTest",
    "Interval",
    "Strategy",
    "TwoLevel",
    "Verdict",
    "clustered_error",
    "exact",
    "log_capital",
    "mean_interval",
    "score_interval",
    "settled",
    "simulated_stops",
    "student_t",
    "two_level",
    "units_needed",
    "wilson",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
