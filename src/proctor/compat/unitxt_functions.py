"""Small functions that Unitxt programs call, written in terms of Proctor's own."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from pydantic import Field as PydanticField

from proctor.artifacts import Artifact
from proctor.artifacts import fetch_artifact as fetch
from proctor.data.fields import MISSING, get_field, is_subpath, setter
from proctor.errors import MissingFieldError
from proctor.logs import get_logger
from proctor.results.unitxt_print import pretty_text
from proctor.settings import settings

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["is_subpath"]

Documentation = SimpleNamespace()
"""Unitxt points at pages of its documentation; here every message says what to do by itself."""


def fetch_artifact(artifact_rep: Any, overwrite_kwargs: dict[str, Any] | None = None) -> tuple[Artifact, None]:
    """Return an artifact and, in the place of its catalog, nothing."""
    return fetch(artifact_rep, overwrite_kwargs), None


def reset_artifacts_json_cache() -> None:
    """Nothing to do: a changed file is read again by itself."""


# -- fields of artifacts --------------------------------------------------------------------------------------


def Field(default: Any = ..., default_factory: Callable[[], Any] | None = None, **_: Any) -> Any:  # noqa: N802
    """Return a field declaration: a default, or a function that makes one."""
    if default_factory is not None:
        return PydanticField(default_factory=default_factory)
    return PydanticField(default=default)


OptionalField = NonPositionalField = InternalField = AbstractField = Field


def RequiredField(**_: Any) -> Any:  # noqa: N802 - the name that programs import
    """Return the declaration of a field that has to be given."""
    return PydanticField()


# -- nested fields --------------------------------------------------------------------------------------------


def dict_get(dic: Any, query: str, not_exist_ok: bool = False, default: Any = None, **_: Any) -> Any:
    """Return a nested field."""
    if not_exist_ok:
        return get_field(dic, query, default)
    try:
        return get_field(dic, query)
    except MissingFieldError as error:
        raise ValueError(str(error)) from None


def dict_set(dic: Any, query: str, value: Any, not_exist_ok: bool = True, **_: Any) -> None:
    """Write a nested field."""
    setter(query, create=not_exist_ok)(dic, value)


def dict_delete(dic: Any, query: str, not_exist_ok: bool = False, **_: Any) -> None:
    """Remove a nested field."""
    parent, _slash, name = query.rpartition("/")
    default: Any = {} if not_exist_ok else MISSING
    holder: Any = get_field(dic, parent, default) if parent else dic
    if isinstance(holder, dict):
        holder.pop(name, None)


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


def print_dict_as_yaml(d: dict[str, Any], indent_delta: int = 2) -> str:
    """Return a dict as YAML."""
    import yaml

    return yaml.safe_dump(d, sort_keys=False, indent=indent_delta, allow_unicode=True)


def print_dict_as_python(d: dict[str, Any], indent_delta: int = 4) -> str:
    """Return a dict as Python source."""
    from pprint import pformat

    return pformat(d, indent=indent_delta, sort_dicts=False)


def split_words(s: str) -> list[str]:
    """Cut CamelCase and snake_case into words."""
    from proctor.artifacts.names import snake_case

    return [word for word in snake_case(s).split("_") if word]


# -- settings and logging -------------------------------------------------------------------------------------


def set_verbosity(level: str | int) -> None:
    """Set the level of the logger."""
    settings.default_verbosity = logging.getLevelName(level).lower() if isinstance(level, int) else level
    get_logger()


def get_seed() -> int:
    """Return the seed."""
    return int(settings.seed)


def get_constants() -> SimpleNamespace:
    """Return names that Unitxt keeps in one place."""
    import proctor
    from proctor.data.streams import INFERENCE_STREAM

    return SimpleNamespace(
        version=proctor.__version__,
        inference_stream=INFERENCE_STREAM,
        instruction_field="instruction",
        system_prompt_field="system_prompt",
        demos_field="demos",
        demos_pool_field="_demos_pool_",
        image_tag="unitxt-img",
    )


def warn(message: str, *_: Any) -> None:
    """Log a warning."""
    get_logger().warning("%s", message)


def is_package_installed(name: str) -> bool:
    """Whether a package can be imported."""
    return find_spec(name) is not None


# -- metrics on data frames -----------------------------------------------------------------------------------


def evaluate_by_metrics(
    dataset: pd.DataFrame | list[dict[str, Any]],
    metric_names: Sequence[str],
    compute_conf_intervals: bool | None = None,
) -> Any:
    """Return rows with a column for each metric, and the global scores; see ``proctor.results.row_scoring``."""
    from proctor.results.row_scoring import evaluate_frame
    from proctor.running.judging import judges_through

    with judges_through():
        return evaluate_frame(dataset, metric_names, intervals=bool(compute_conf_intervals))


def metrics_df(names: Iterable[str] = ("",)) -> pd.DataFrame:
    """Return the catalog's metrics with their main scores."""
    import pandas as pd

    from proctor.artifacts import catalogs

    wanted = tuple(names)
    found = sorted({name for catalog in catalogs() for name in catalog.names() if name.startswith("metrics.")})
    return pd.DataFrame({"metric": [name for name in found if any(part in name for part in wanted)]})
