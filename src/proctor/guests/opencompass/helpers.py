"""Helpers that own classes beside configs call: paths of data, loggers."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from proctor.errors import DatasetNotFoundError
from proctor.logs import get_logger as own_logger

_CACHES = ("COMPASS_DATA_CACHE", "AIS_BENCH_DATASETS_CACHE")


class MissingDataError(DatasetNotFoundError, FileNotFoundError):
    """Data that is not there; also a ``FileNotFoundError``."""


def get_logger(log_level: str = "INFO", filter_duplicate_level: object = None) -> logging.Logger:
    """Return Proctor's logger, which leaves out secrets; its level is that of ``settings.default_verbosity``."""
    del log_level, filter_duplicate_level
    return own_logger()


def get_data_path(dataset_id: str, local_mode: bool = False) -> str:
    """Return the path of data: an absolute path as it is, others in the folder of data or the current one.

    Args:
        dataset_id: The path, below ``COMPASS_DATA_CACHE`` or ``AIS_BENCH_DATASETS_CACHE`` where these are set.
        local_mode: Whether it has to be on this machine; otherwise a name that is not is one of the hub.

    Raises:
        MissingDataError: There is nothing at this path.
    """
    folders = [os.environ[name] for name in _CACHES if os.environ.get(name)]
    found = next((each for each in (*(Path(f, dataset_id) for f in folders), Path(dataset_id)) if each.exists()), None)
    if found is not None:
        return str(found)
    if local_mode or Path(dataset_id).is_absolute():
        hint = f"put it there, or set {' or '.join(_CACHES)} to the folder that holds it"
        raise MissingDataError(f"there is no data at '{dataset_id}'", hint=hint)
    return dataset_id
