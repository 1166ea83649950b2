"""Records what the package ``confseq`` (0.0.11, of the authors of arXiv 2010.09686) makes of draws without replacement.

Run it where ``confseq`` can be imported (its C++ part is not used: the folder ``src`` of its source release on the
path, with numpy, scipy, matplotlib and multiprocess, does), from the root of the repository::

    PYTHONPATH=confseq-0.0.11/src python conformance/confseq_golden.py > tests/statistics/confseq.json

``tests/statistics/test_confseq.py`` replays it.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np
from confseq import betting
from confseq.predmix import lambda_predmix_eb

VERSION = "0.0.11"
TRUNCATED = 0.5
"""Share of the capital that confseq lets a bet lose unless told otherwise."""


def sequences() -> list[tuple[str, np.ndarray, int]]:
    """Return scores in the order of their draws, and the size of their exam."""
    stream = np.random.default_rng(2026)
    right = stream.permutation(np.r_[np.ones(60), np.zeros(40)])
    return [
        ("right or wrong, everything", right, 100),
        ("right or wrong, some", right[:30], 100),
        ("shares", stream.random(80), 1_319),
        ("differences of two models", (stream.choice([-1.0, 0, 0, 0, 0, 0, 0, 1], 120) + 1) / 2, 14_042),
        ("all equal", np.full(25, 1.0), 50),
    ]


def record(name: str, scores: np.ndarray, total: int, null: float) -> dict[str, Any]:
    """Return prices, stakes and capital of bets that the mean is above, and below, a null."""
    prices = betting.mu_t(scores, null, total)
    wanted = lambda_predmix_eb(scores, alpha=0.05)
    above = betting.betting_mart(scores, null, N=total, theta=1, lambdas_fn_positive=lambda x, m: wanted)
    below = betting.betting_mart(scores, null, N=total, theta=0, lambdas_fn_negative=lambda x, m: wanted)
    low, high = betting.logical_cs(scores, total)
    return {
        "name": name,
        "total": total,
        "null": null,
        "scores": scores.tolist(),
        "prices": np.asarray(prices).tolist(),
        "stakes_above": np.minimum(wanted, TRUNCATED / prices).tolist(),
        "stakes_below": np.minimum(wanted, TRUNCATED / (1 - prices)).tolist(),
        "capital_above": np.asarray(above).tolist(),
        "capital_below": np.asarray(below).tolist(),
        "known_low": np.asarray(low).tolist(),
        "known_high": np.asarray(high).tolist(),
    }


def main() -> None:
    """Print everything as JSON."""
    cases = [record(*each, null) for each in sequences() for null in (0.35, 0.485, 0.62)]
    kept = [case for case in cases if all(0 < price < 1 for price in case["prices"])]
    made_by = "PYTHONPATH=confseq-0.0.11/src python conformance/confseq_golden.py"
    json.dump({"confseq": VERSION, "made_by": made_by, "cases": kept}, sys.stdout, indent=None)
    print()


if __name__ == "__main__":
    main()
