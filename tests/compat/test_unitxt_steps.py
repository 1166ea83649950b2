"""Steps, catalogs, requirements and retries by Unitxt's names; what is computed is compared in ``conformance``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from proctor.compat import install, uninstall


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    install()
    yield
    uninstall()


def test_a_list_is_written_as_one_text() -> None:
    from unitxt.normalizers import NormalizeListFields
    from unitxt.stream import MultiStream

    step = NormalizeListFields(fields=["a", "b", "c"], key_prefix="p_", empty_value="none", separator="; ")
    (row,) = step(MultiStream({"test": [{"a": [], "b": ["x"], "c": ["x", "y"]}]}))["test"]
    assert (row["p_a"], row["p_b"], row["p_c"]) == ("none", "x", "x; y")
    with pytest.raises(ValueError, match="'a' is not a list"):
        list(step(MultiStream({"test": [{"a": "x", "b": [], "c": []}]}))["test"])


def test_streams_keep_their_rows_where_somebody_says_so() -> None:
    from unitxt.stream import GeneratorStream

    numbers = iter(range(9))

    def rows() -> Iterator[dict[str, Any]]:
        yield {"n": next(numbers), "l": [1]}

    fresh = GeneratorStream(generator=rows)
    assert next(iter(fresh))["n"] != next(iter(fresh))["n"]
    kept = GeneratorStream(generator=rows, caching=True, copying=True)
    first = next(iter(kept))
    first["l"].append(2)
    assert next(iter(kept)) == {"n": first["n"], "l": [1]}


def test_links_lead_to_what_they_name_and_artifacts_are_overwritten() -> None:
    from unitxt.artifact import Artifact, ArtifactLink, fetch_artifact
    from unitxt.catalog import add_to_catalog
    from unitxt.operators import Set
    from unitxt.test_utils.catalog import temp_catalog

    with temp_catalog() as folder:
        add_to_catalog(Set(fields={"a": 1}), "some.set", catalog_path=folder)
        found, _ = fetch_artifact(ArtifactLink(to="some.set"))
        assert found.fields == {"a": 1}
        changed, _ = fetch_artifact(found, {"fields": {"b": 2}})
        assert (changed.fields, found.fields) == ({"b": 2}, {"a": 1})
    made = Artifact.from_dict({"__type__": "set", "fields": {}}, overwrite_args={"fields": {"c": 3}})
    assert made.to_dict() == {"__type__": "set", "fields": {"c": 3}}


def test_requirements_of_a_class_count_when_it_is_built() -> None:
    from unitxt.operator import InstanceOperator, MissingRequirementsError, PackageRequirementsMixin

    class Demanding(PackageRequirementsMixin, InstanceOperator):
        _requirements_list = ["nonexistent_package"]

        def process(self, instance: dict[str, Any], stream_name: str | None = None) -> dict[str, Any]:
            return instance

    with pytest.raises(MissingRequirementsError, match="nonexistent_package"):
        Demanding()
