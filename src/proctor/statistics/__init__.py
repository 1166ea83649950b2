"""Statistics of decisions: noise at two levels, bets against a null, gates, intervals of samples. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proctor.lazy import lazily

if TYPE_CHECKING:
    from proctor.statistics.betting import Bets, Strategy, log_capital
    from proctor.statistics.fixed_width import FixedWidthMean, units_needed
    from proctor.statistics.gates import GateTest, Verdict, simulated_stops
    from proctor.statistics.sequences import ConfidenceSequence, difference_interval, mean_interval
    from proctor.statistics.two_level import TwoLevel, clustered_error, two_level

_HOMES = {
    "betting": ("Bets", "Strategy", "log_capital"),
    "fixed_width": ("FixedWidthMean", "units_needed"),
    "gates": ("GateTest", "Verdict", "simulated_stops"),
    "sequences": ("ConfidenceSequence", "difference_interval", "mean_interval"),
    "two_level": ("TwoLevel", "clustered_error", "two_level"),
}

__all__ = [
    "Bets",
    "ConfidenceSequence",
    "FixedWidthMean",
    "GateTest",
    "Strategy",
    "TwoLevel",
    "Verdict",
    "clustered_error",
    "difference_interval",
    "log_capital",
    "mean_interval",
    "simulated_stops",
    "two_level",
    "units_needed",
]

if not TYPE_CHECKING:  # type checkers would take any name for one of the package
    __getattr__, __dir__ = lazily(__name__, _HOMES)
