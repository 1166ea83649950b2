"""``unitxt.test_utils``: whether artifacts are saved and loaded as they are."""

from __future__ import annotations

from typing import Any

from proctor.artifacts import Artifact, LocalCatalog, add_to_catalog, fetch_artifact
from proctor.testing.cards import temporary_catalog

TEMP_NAME = "tmp_name"


def _saved(artifact: Artifact, catalog: LocalCatalog) -> Artifact:
    add_to_catalog(artifact, TEMP_NAME, catalog_path=str(catalog.folder), overwrite=True, verbose=False)
    return fetch_artifact(TEMP_NAME)


def test_artfifact_saving_and_loading(artifact: Artifact, tester: Any = None) -> None:
    """Check that an artifact comes out of a catalog as it went in (the name is Unitxt's).

    Args:
        artifact: The artifact.
        tester: A test case whose ``assertDictEqual`` tells the difference.

    Raises:
        AssertionError: It does not.
    """
    with temporary_catalog() as catalog:
        found = _saved(artifact, catalog).to_dict()
    if tester is not None:
        tester.assertDictEqual(found, artifact.to_dict())  # noqa: PT009 - somebody's unittest tells the difference
    if found != artifact.to_dict():
        raise AssertionError(f"the artifact that was loaded differs: {found} is not {artifact.to_dict()}")


def test_loading_from_catalog(card: Artifact) -> None:
    """Check that a card comes out of a catalog as it went in.

    Raises:
        AssertionError: It does not.
    """
    test_artfifact_saving_and_loading(card)


def test_adding_to_catalog(card: Artifact) -> None:
    """Check that a card is a file once it is in a catalog.

    Raises:
        AssertionError: There is none.
    """
    with temporary_catalog() as catalog:
        _saved(card, catalog)
        if catalog.path_of(TEMP_NAME) is None:
            raise AssertionError(f"{card} is not in the catalog")


def test_metrics_exist(card: Any) -> None:
    """Check that the metrics of a card's task can be had.

    Raises:
        ArtifactError: One cannot.
    """
    for metric in card.task.metrics:
        fetch_artifact(metric)


_CHECKS = (
    test_artfifact_saving_and_loading, test_loading_from_catalog, test_adding_to_catalog, test_metrics_exist,
)  # fmt: skip
for _check in _CHECKS:
    vars(_check)["__test__"] = False  # pytest takes them for tests where they are imported
