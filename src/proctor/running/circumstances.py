"""Circumstances in which equal runs may differ: time, machine, versions, tokens and cost."""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from proctor.ir import Usage
from proctor.recipes.metric_code import installed_version
from proctor.running.accounts import Sent, cost_of
from proctor.running.budget import price_table
from proctor.running.machine import platform_name
from proctor.running.session import Session
from proctor.wall import standing

_VERSIONED = ("proctor", "numpy", "transformers", "torch", "datasets")
"""Packages whose versions can change scores: random numbers, models, rows."""


def circumstances(session: Session, usage: Mapping[str, Usage], sent: Sent, began: float) -> dict[str, Any]:
    """Return the circumstances of a run: time, machine, versions, and the usage of each exam's answers.

    Args:
        session: Who asked.
        usage: The tokens of each exam's requests.
        sent: Those of all requests.
        began: When the run began, in Unix seconds.
    """
    progress = session.progress
    return {
        "started": datetime.fromtimestamp(began, UTC).isoformat(timespec="seconds"),
        "seconds": round(time.time() - began, 3),
        "engine": {"label": session.engine.label, "identity": session.engine.identity},
        "log": str(session.log.path),
        "requests": {
            "asked": progress.asked,
            "answered": progress.answered,
            "failed": progress.failed,
            "from_log": progress.cached,
            **({"damaged": damaged} if (damaged := session.log.damaged) else {}),
            **({"writers": others} if (others := session.log.writers.others()) else {}),
        },
        "usage": {name: each.as_data() for name, each in usage.items()},
        **_cost(session, sent),
        "wall": str(standing() or "none"),
        "machine": {"platform": platform_name(), "python": platform.python_version()},
        "versions": {name: found for name in _VERSIONED if (found := version_of(name)) is not None},
    }


def _cost(session: Session, sent: Sent) -> dict[str, Any]:
    """Return what all answers cost at list prices, whenever they were given.

    Where no price is known, that is said of engines that probably cost something, and nothing of others.
    """
    table, price = session.prices or price_table(), session.price
    if price is None:
        why = f"no price is known for '{session.engine.price_name}'; name a table of your own with --prices"
        return {"cost": {"usd": None, "why": why, "prices_of": table.date}} if session.engine.is_billed else {}
    return {"cost": cost_of(price, table, sent, Sent.in_run(session.progress))}


def version_of(package: str) -> str | None:
    """Return the version of a package; ``None`` where it is not loaded, and so changed no score."""
    return installed_version(package) if package in sys.modules else None
