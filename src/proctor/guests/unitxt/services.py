"""``unitxt.metric_utils``: metrics that another machine computes: which, where, and the messages of such a service.

``unitxt.eval_utils.evaluate`` asks it (:class:`~proctor.scoring.metrics.remote.RemoteMetric`); recipes do not, as
Unitxt's do not.
"""

from __future__ import annotations

import json
import os

from proctor.errors import SettingsError
from proctor.settings import settings

UNITXT_REMOTE_METRICS = "UNITXT_REMOTE_METRICS"
"""The variable with the names of metrics, as a JSON list."""
UNITXT_REMOTE_METRICS_ENDPOINT = "UNITXT_REMOTE_METRICS_ENDPOINT"
"""The variable with the address of their service."""


class RemoteMetricsError(SettingsError, RuntimeError):
    """Settings of remote metrics that say nothing or nonsense; programs catch a ``RuntimeError``."""


def get_remote_metrics_names() -> list[str]:
    """Return the metrics that a user wants computed elsewhere.

    Raises:
        RuntimeError: The setting is not a JSON list of names.
    """
    text = settings.remote_metrics
    try:
        names = json.loads(text) if isinstance(text, str) and text else text or []
    except json.JSONDecodeError as error:
        raise RemoteMetricsError(f"{UNITXT_REMOTE_METRICS} is not JSON", why=str(error)) from None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise RemoteMetricsError(
            f"{UNITXT_REMOTE_METRICS} is {names!r}", why="it is a JSON list", hint='["metrics.rouge", "metrics.wer"]'
        )
    return names


def get_remote_metrics_endpoint() -> str:
    """Return the address of the service.

    Raises:
        RuntimeError: Nobody has set it.
    """
    if address := os.environ.get(UNITXT_REMOTE_METRICS_ENDPOINT):
        return address
    raise RemoteMetricsError(f"{UNITXT_REMOTE_METRICS_ENDPOINT} is not set", hint="http://127.0.0.1:8000/compute")
