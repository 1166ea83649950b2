"""Small functions that Unitxt programs call, written in terms of Proctor's own."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Sequence
from importlib.resources import files
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from proctor.artifacts import Artifact, ArtifactLink
from proctor.artifacts import fetch_artifact as fetch
from proctor.errors import SettingsError, ValidationError
from proctor.logs import get_logger
from proctor.randomness import random_stream
from proctor.results.unitxt_print import pretty_text
from proctor.settings import settings

if TYPE_CHECKING:
    import pandas as pd

    from proctor.scoring.composed import MetricPipeline


def new_random_generator(sub_seed: Any) -> Random:
    """Return a generator for some content, independent of all others; see :func:`proctor.randomness.random_stream`.

    Upstream takes the hash of whatever has one, which other processes compute otherwise (tuples of texts, NaN).
    Here only numbers, alone and in tuples, are taken by their hash.
    """
    is_numbers = isinstance(sub_seed, tuple) and all(isinstance(each, int) for each in sub_seed)
    return random_stream(str(hash(sub_seed)) if is_numbers else sub_seed)


def get_seed() -> int:
    """Return the seed that draws derive from."""
    return int(settings.seed)


def register_all_artifacts(path: str | None = None) -> None:
    """Nothing to do, whatever the folder: every class is known by its name from the start."""
    del path


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


CATALOG_FOLDER = str(files("proctor") / "catalog")
"""Where the artifacts of this package lie."""

DATASET_URL, METRIC_URL = "unitxt/data", "unitxt/metric"
"""What Hugging Face's functions call Unitxt; both names are answered here."""


def fetch_artifact(artifact_rep: Any, overwrite_kwargs: dict[str, Any] | None = None) -> tuple[Artifact, None]:
    """Return an artifact and, in the place of its catalog, nothing; of a link what it leads to."""
    if isinstance(artifact_rep, ArtifactLink):
        artifact_rep = artifact_rep.to
    return fetch(artifact_rep, overwrite_kwargs), None


def print_dict(
    d: dict[str, Any],
    indent: int = 0,
    indent_delta: int = 4,
    max_chars: int | None = None,
    keys_to_print: Sequence[str] | None = None,
    log_level: str = "info",
) -> None:
    """Log a nested dict as indented lines: names, types and values."""
    text = pretty_text(d, indent=indent, step=indent_delta, width=max_chars, keys=keys_to_print)
    getattr(get_logger(), log_level)("\n%s", text)


def set_verbosity(level: str | int) -> None:
    """Set the level of the logger."""
    settings.default_verbosity = logging.getLevelName(level).lower() if isinstance(level, int) else level
    get_logger()


def get_constants() -> SimpleNamespace:
    """Return names that Unitxt keeps in one place."""
    from proctor.data.streams import INFERENCE_STREAM, INSTANCE_STREAM
    from proctor.version import __version__

    folders = dict.fromkeys(("local_catalog_path", "catalog_dir", "default_catalog_path"), CATALOG_FOLDER)
    return SimpleNamespace(
        **folders,
        version=__version__,
        package_dir=str(files("proctor")),
        dataset_url=DATASET_URL,
        metric_url=METRIC_URL,
        env_local_catalogs_paths_sep=":",
        catalog_hierarchy_sep=".",
        instance_stream=INSTANCE_STREAM,
        inference_stream=INFERENCE_STREAM,
        demos_field="demos",
        instruction_field="instruction",
        system_prompt_field="system_prompt",
        image_tag="unitxt-img",
    )


logger = get_logger()
constants = get_constants()


def evaluate_by_metrics(
    dataset: pd.DataFrame | list[dict[str, Any]],
    metric_names: Sequence[str],
    compute_conf_intervals: bool | None = None,
) -> Any:
    """Return rows with a column for each metric, and the global scores; see ``proctor.results.row_scoring``.

    Metrics that ``UNITXT_REMOTE_METRICS`` names are computed by the service at ``UNITXT_REMOTE_METRICS_ENDPOINT``.
    """
    from proctor.results.row_scoring import evaluate_frame
    from proctor.running.judging import judges_through

    remote = get_remote_metrics_names()
    metrics = [as_remote_metric(fetch(name)) if name in remote else name for name in metric_names]
    with judges_through():
        return evaluate_frame(dataset, metrics, intervals=bool(compute_conf_intervals))


def as_remote_metric(metric: Artifact) -> MetricPipeline:
    """Return a pipeline whose metric the service at ``UNITXT_REMOTE_METRICS_ENDPOINT`` computes, under its name.

    Raises:
        ValueError: The metric is not a pipeline, or that of the pipeline has no name.
        RuntimeError: Nobody has set the address.
    """
    from proctor.scoring.composed import MetricPipeline
    from proctor.scoring.metrics.remote import RemoteMetric

    endpoint = get_remote_metrics_endpoint()
    if not isinstance(metric, MetricPipeline):
        raise ValidationError(
            f"'{metric.get_pretty_print_name()}' is a {type(metric).__name__}, which no service computes",
            hint="a MetricPipeline has steps that run here, and a metric that a service computes",
        )
    found = RemoteMetric.wrap_inner_metric_pipeline_metric(metric, endpoint)
    object.__setattr__(found, "_artifact_id", metric.artifact_id)  # rows and scores stand under its name
    return found
