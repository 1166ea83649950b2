"""Small functions that Unitxt programs call, written in terms of Proctor's own."""

from __future__ import annotations

import logging
import platform
from collections.abc import Iterable, Sequence
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from proctor.artifacts import Artifact, ArtifactLink, Catalog, LocalCatalog, catalogs, unregister_catalog
from proctor.artifacts import fetch_artifact as fetch
from proctor.data.fields import MISSING, deleter, finder, missing_field, setter
from proctor.errors import DataError, ValidationError
from proctor.logs import get_logger
from proctor.results.unitxt_print import pretty_text
from proctor.settings import settings

if TYPE_CHECKING:
    import pandas as pd

    from proctor.scoring.composed import MetricPipeline

CATALOG_FOLDER = str(files("proctor") / "catalog")
"""Where the artifacts of this package lie."""

DATASET_URL, METRIC_URL = "unitxt/data", "unitxt/metric"
"""What Hugging Face's functions call Unitxt; both names are answered here."""


def fetch_artifact(artifact_rep: Any, overwrite_kwargs: dict[str, Any] | None = None) -> tuple[Artifact, None]:
    """Return an artifact and, in the place of its catalog, nothing; of a link what it leads to."""
    if isinstance(artifact_rep, ArtifactLink):
        artifact_rep = artifact_rep.to
    return fetch(artifact_rep, overwrite_kwargs), None


def unregister_local_catalog(catalog_path: str) -> None:
    """Forget the catalog of a folder, where it is registered."""
    if (found := _registered(catalog_path)) is not None:
        unregister_catalog(found)


def _registered(folder: str) -> Catalog | None:
    wanted = Path(folder).resolve()
    found = (each for each in catalogs() if isinstance(each, LocalCatalog) and each.folder.resolve() == wanted)
    return next(found, None)


def reset_artifacts_json_cache() -> None:
    """Forget what :func:`~proctor.guests.unitxt.catalogs.artifacts_json_cache` has read; nothing else is kept."""
    from proctor.guests.unitxt.catalogs import artifacts_json_cache

    artifacts_json_cache.cache_clear()


# -- nested fields --------------------------------------------------------------------------------------------


def dict_get(
    dic: Any, query: str, not_exist_ok: bool = False, default: Any = None, allow_int_index: bool = True
) -> Any:
    """Return a nested field; without ``allow_int_index``, numbers in the path are names.

    Raises:
        ValueError: It is missing, and ``not_exist_ok`` is off.
    """
    value = finder(query, use_index=allow_int_index)(dic)
    if value is not MISSING:
        return value
    if not_exist_ok:
        return default
    raise ValueError(str(missing_field(query, dic)))


def dict_set(
    dic: Any,
    query: str,
    value: Any,
    not_exist_ok: bool = True,
    set_multiple: bool = False,
    allow_int_index: bool = True,
) -> None:
    """Write a nested field; with ``set_multiple``, one member of the value to each match of ``*``.

    Raises:
        ValueError: The place cannot be written.
    """
    try:
        setter(query, create=not_exist_ok, each=set_multiple, use_index=allow_int_index)(dic, value)
    except DataError as error:
        raise ValueError(str(error)) from None


def dict_delete(
    dic: Any,
    query: str,
    not_exist_ok: bool = False,
    remove_empty_ancestors: bool = False,
    allow_int_index: bool = True,
) -> None:
    """Remove a nested field, and with ``remove_empty_ancestors`` what held nothing else.

    Raises:
        ValueError: It is missing, and ``not_exist_ok`` is off.
    """
    try:
        deleter(query, missing_ok=not_exist_ok, prune=remove_empty_ancestors, use_index=allow_int_index)(dic)
    except DataError as error:
        raise ValueError(str(error)) from None


# -- printing -------------------------------------------------------------------------------------------------


def to_pretty_string(
    value: Any,
    indent: int = 0,
    indent_delta: int = 4,
    max_chars: int | None = None,
    keys: Sequence[str] | None = None,
    item_label: str | None = None,  # noqa: ARG001 - upstream passes it to itself only
    float_format: str | None = None,
) -> str:
    """Return a nested value as indented lines: names, types and values; see ``proctor.results.unitxt_print``."""
    return pretty_text(
        value, indent=indent, step=indent_delta, width=max_chars, keys=keys, float_format=float_format or ""
    )


def print_dict(
    d: dict[str, Any],
    indent: int = 0,
    indent_delta: int = 4,
    max_chars: int | None = None,
    keys_to_print: Sequence[str] | None = None,
    log_level: str = "info",
) -> None:
    """Log a nested dict as indented lines."""
    getattr(get_logger(), log_level)("\n%s", to_pretty_string(d, indent, indent_delta, max_chars, keys_to_print))


# -- settings and logging -------------------------------------------------------------------------------------


def set_verbosity(level: str | int) -> None:
    """Set the level of the logger."""
    settings.default_verbosity = logging.getLevelName(level).lower() if isinstance(level, int) else level
    get_logger()


def get_constants() -> SimpleNamespace:
    """Return names that Unitxt keeps in one place."""
    import proctor
    from proctor.data.streams import INFERENCE_STREAM, INSTANCE_STREAM
    from proctor.guests.hugging_face import DATASET_FILE, METRIC_FILE

    return SimpleNamespace(
        version=proctor.__version__,
        python=platform.python_version(),
        codebase_url="https://github.com/IBM/unitxt",
        website_url="https://www.unitxt.org",
        dataset_file=DATASET_FILE,
        metric_file=METRIC_FILE,
        local_catalog_path=CATALOG_FOLDER,
        package_dir=str(files("proctor")),
        catalog_dir=CATALOG_FOLDER,
        default_catalog_path=CATALOG_FOLDER,
        dataset_url=DATASET_URL,
        metric_url=METRIC_URL,
        env_local_catalogs_paths_sep=":",
        catalog_hierarchy_sep=".",
        instance_stream=INSTANCE_STREAM,
        inference_stream=INFERENCE_STREAM,
        instruction_field="instruction",
        system_prompt_field="system_prompt",
        demos_field="demos",
        demos_pool_field="_demos_pool_",
        image_tag="unitxt-img",
    )


logger = get_logger()
constants = get_constants()


def is_package_installed(name: str) -> bool:
    """Whether a package can be imported."""
    return find_spec(name) is not None


# -- metrics on data frames -----------------------------------------------------------------------------------


def evaluate_by_metrics(
    dataset: pd.DataFrame | list[dict[str, Any]],
    metric_names: Sequence[str],
    compute_conf_intervals: bool | None = None,
) -> Any:
    """Return rows with a column for each metric, and the global scores; see ``proctor.results.row_scoring``.

    Metrics that ``UNITXT_REMOTE_METRICS`` names are computed by the service at ``UNITXT_REMOTE_METRICS_ENDPOINT``.
    """
    from proctor.guests.unitxt.services import get_remote_metrics_names
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
    from proctor.guests.unitxt.services import get_remote_metrics_endpoint
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


def metrics_df(names: Iterable[str] = ("",)) -> pd.DataFrame:
    """Return the catalog's metrics with their main scores."""
    import pandas as pd

    wanted = tuple(names)
    found = sorted({name for catalog in catalogs() for name in catalog.names() if name.startswith("metrics.")})
    return pd.DataFrame({"metric": [name for name in found if any(part in name for part in wanted)]})
