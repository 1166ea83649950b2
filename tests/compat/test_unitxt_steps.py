"""Steps, catalogs, requirements and retries by Unitxt's names; what is computed is compared in ``conformance``."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

from proctor.compat import install, uninstall
from proctor.engines.scripted import ScriptedEngine


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    install()
    yield
    uninstall()


def _lost() -> None:
    raise ConnectionError("first")


def _row(**fields: Any) -> dict[str, Any]:
    return {
        "input_fields": {"q": "x"},
        "reference_fields": {"a": "y"},
        "data_classification_policy": ["public"],
        "recipe_metadata": {"num_demos": 1, "demos_pool_size": 2, "template": "templates.empty"},
        "source": [{"role": "user", "content": "x"}],
        "target": "y",
        "references": ["y"],
        "metrics": ["metrics.accuracy"],
        "postprocessors": [],
        **fields,
    }


def test_rows_of_a_dataset_have_their_task_data_as_text() -> None:
    from unitxt.schema import FinalizeDataset
    from unitxt.stream import MultiStream

    demo = {name: _row()[name] for name in ("input_fields", "reference_fields", "data_classification_policy")}
    streams = MultiStream({"test": [_row(demos=[demo], extra=1)]})
    (row,) = FinalizeDataset(group_by=["q", ["q", "num_demos"]])(streams)["test"]
    data = json.loads(row["task_data"])
    assert data["metadata"]["num_demos"] == 1
    assert data["metadata"]["template"] == "templates.empty"
    assert data["demos"][0]["a"] == "y"
    assert row["groups"] == ['{"q": "x"}', '{"q": "x", "num_demos": 1}']
    assert json.loads(row["source"]) == [{"role": "user", "content": "x"}]
    assert "extra" not in row
    kept = FinalizeDataset(group_by=[], remove_unnecessary_fields=False)(streams)
    assert next(iter(kept["test"]))["extra"] == 1


def test_rows_that_are_asked_about_have_no_references_in_their_task_data() -> None:
    from unitxt.schema import FinalizeDataset
    from unitxt.stream import MultiStream

    from proctor.data.streams import INFERENCE_STREAM

    (row,) = FinalizeDataset(group_by=[])(MultiStream({INFERENCE_STREAM: [_row()]}))[INFERENCE_STREAM]
    assert "a" not in json.loads(row["task_data"])


def test_a_list_is_written_as_one_text() -> None:
    from unitxt.normalizers import NormalizeListFields
    from unitxt.stream import MultiStream

    step = NormalizeListFields(fields=["a", "b", "c"], key_prefix="p_", empty_value="none", separator="; ")
    (row,) = step(MultiStream({"test": [{"a": [], "b": ["x"], "c": ["x", "y"]}]}))["test"]
    assert (row["p_a"], row["p_b"], row["p_c"]) == ("none", "x", "x; y")
    with pytest.raises(ValueError, match="'a' is not a list"):
        list(step(MultiStream({"test": [{"a": "x", "b": [], "c": []}]}))["test"])


def test_requirements_say_what_is_missing_and_what_to_do() -> None:
    from unitxt.operator import MissingRequirementsError, PackageRequirementsMixin

    class Needing(PackageRequirementsMixin):
        pass

    needing = Needing()
    needing.check_missing_requirements()
    needing._requirements_list = {"nonexistent_package": "ask around", "pydantic>=500": "wait"}
    with pytest.raises(MissingRequirementsError) as caught:
        needing.check_missing_requirements()
    assert caught.value.missing_packages == ["nonexistent_package"]
    assert "pydantic>=500" in caught.value.version_mismatched_packages[0]
    assert caught.value.installation_instructions == ["ask around", "wait"]


def test_tables_are_told_by_name() -> None:
    from unitxt.text2sql_utils import InMemoryDatabaseConnector

    tables = {"users": {"columns": ["id"], "rows": [[1]]}, "orders": {"columns": ["o"], "rows": []}}
    connector = InMemoryDatabaseConnector({"db_type": "in_memory", "db_id": None, "dbms": None, "data": tables})
    assert connector.get_table_schema(select_tables=["orders"]) == "CREATE TABLE `orders` (`o` TEXT);"
    assert connector.get_table_schema().count("CREATE TABLE") == 2


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


def test_catalogs_tell_what_they_have(tmp_path: Path) -> None:
    from unitxt.catalog import add_to_catalog, count_tags, get_local_catalogs_paths, ls, summary
    from unitxt.dataset_utils import fetch
    from unitxt.operators import Set
    from unitxt.test_utils.catalog import temp_catalog

    with temp_catalog() as folder:
        add_to_catalog(Set(fields={"a": 1}), "own_things.set", catalog_path=folder)
        assert folder in get_local_catalogs_paths()
        assert "own_things.set" in ls(str(tmp_path / "names.txt"))
        assert "own_things.set" in (tmp_path / "names.txt").read_text().splitlines()
        assert summary()["own_things"] == 1
        assert fetch("own_things.set").fields == {"a": 1}
        assert fetch("own_things.nothing") is None
        assert isinstance(count_tags(), dict)


def test_options_are_selected_for_instances() -> None:
    from unitxt.api import select

    from proctor.tasks.card import TaskCard
    from proctor.tasks.task import Task
    from proctor.templates import MultipleChoiceTemplate

    class Choosing(ScriptedEngine):
        def select(self, dataset: Any) -> list[str]:
            return [json.loads(row["task_data"])["options"][-1] for row in dataset]

    task = Task(
        input_fields={"q": str, "choices": list[str]}, reference_fields={"a": int}, prediction_type=str, metrics=[]
    )
    template = MultipleChoiceTemplate(input_format="{q} {choices}", target_field="a")
    asked = [{"q": "which", "choices": ["x", "y"], "a": 0}]
    more = {"card": TaskCard(task=task), "template": template}
    assert select(asked, Choosing(answer="x"), **more) == ["B"]
    with pytest.raises(ValueError, match="earlier chats"):
        select(asked, Choosing(answer="x"), previous_messages=[], **more)


def test_artifacts_are_saved_and_loaded_as_they_are() -> None:
    from unitxt.operators import Set
    from unitxt.task import Task
    from unitxt.test_utils.artifact import test_artfifact_saving_and_loading as comes_back
    from unitxt.test_utils.card import test_adding_to_catalog, test_loading_from_catalog, test_metrics_exist

    from proctor.tasks.card import TaskCard

    comes_back(Set(fields={"a": [1]}))
    tester = MagicMock(unsafe=True)  # whose names start with assert
    comes_back(Set(fields={"a": [1]}), tester)
    tester.assertDictEqual.assert_called_once()
    task = Task(input_fields={"q": str}, reference_fields={"a": str}, prediction_type=str, metrics=["metrics.accuracy"])
    for check in (test_adding_to_catalog, test_loading_from_catalog, test_metrics_exist):
        check(TaskCard(task=task))
    task.metrics = ["metrics.nothing"]
    with pytest.raises(ValueError, match="nothing"):
        test_metrics_exist(TaskCard(task=task))


def test_requirements_of_a_class_count_when_it_is_built() -> None:
    from unitxt.operator import InstanceOperator, MissingRequirementsError, PackageRequirementsMixin

    class Demanding(PackageRequirementsMixin, InstanceOperator):
        _requirements_list = ["nonexistent_package"]

        def process(self, instance: dict[str, Any], stream_name: str | None = None) -> dict[str, Any]:
            return instance

    with pytest.raises(MissingRequirementsError, match="nonexistent_package"):
        Demanding()
