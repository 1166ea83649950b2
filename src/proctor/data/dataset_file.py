"""One file of a dataset: of the mapped folder, else of the hub's cache, else of the hub."""

from __future__ import annotations

from pathlib import Path

from proctor.data import hub
from proctor.data.hub_access import hub_answers, is_offline
from proctor.errors import DatasetNotFoundError, UsageError


def dataset_file(dataset: str, name: str, revision: str | None = None) -> Path:
    """Return a file of a dataset.

    Raises:
        UsageError: A revision is named, and the folder is mapped.
        DatasetNotFoundError: There is no such file.
    """
    folder = hub.local_folder(dataset)
    if folder is None:
        return _downloaded(dataset, name, revision)
    if revision is not None:
        raise UsageError(f"the folder of '{dataset}' is mapped, and has one revision", hint=f"leave @{revision} out")
    if (folder / name).is_file():
        return folder / name
    raise DatasetNotFoundError(f"the dataset '{dataset}' has no {name}", why=f"looked in {folder}")


def _downloaded(dataset: str, name: str, revision: str | None) -> Path:
    from huggingface_hub import hf_hub_download

    local = is_offline() or not hub_answers()
    try:
        found = hf_hub_download(dataset, name, repo_type="dataset", revision=revision, local_files_only=local)
    except (OSError, ValueError) as error:
        raise DatasetNotFoundError(
            f"the {name} of the dataset '{dataset}' cannot be had",
            why=(str(error).strip().splitlines() or [""])[0],
            hint=f"put it in <folder>/{dataset}/ and set PROCTOR_HUB_DIR=<folder>",
        ) from None
    return Path(found)
