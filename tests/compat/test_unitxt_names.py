"""Names that Unitxt's own programs and tests import, and what they do."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.artifacts import catalogs, unregister_catalog
from proctor.compat import install, uninstall
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import NotAllowedError
from proctor.settings import settings


@pytest.fixture(autouse=True)
def _names() -> Iterator[None]:
    install()
    yield
    uninstall()


def test_generators_take_content_by_name_and_numbers_as_their_text() -> None:
    from unitxt.random_utils import new_random_generator

    assert new_random_generator(sub_seed=50).random() == new_random_generator(sub_seed="50").random()
    assert new_random_generator({"a": 1}).random() == new_random_generator(sub_seed={"a": 1}).random()


def test_what_is_a_value_error_there_is_one_here() -> None:
    from unitxt.artifact import UnitxtArtifactNotFoundError, fetch_artifact
    from unitxt.dataclass import UnexpectedArgumentError
    from unitxt.metrics import Accuracy
    from unitxt.operators import FilterByCondition
    from unitxt.stream import MissingStreamError, MultiStream

    with pytest.raises(UnitxtArtifactNotFoundError):
        fetch_artifact("metrics.no_such_metric")
    with pytest.raises(UnexpectedArgumentError):
        Accuracy(no_such_field=1)
    with pytest.raises(ValueError, match="gte"):
        FilterByCondition(values={"a": 1}, condition="gte")
    with pytest.raises(MissingStreamError):
        MultiStream({"test": [{"a": 1}]})["train"]


def test_rows_in_lists_are_streams_and_artifacts_are_saved(tmp_path: Path) -> None:
    from unitxt.operators import Set
    from unitxt.stream import MultiStream

    streams = Set(fields={"b": 2})(MultiStream({"test": [{"a": 1}]}))
    assert list(streams["test"]) == [{"a": 1, "b": 2}]
    Set(fields={"b": 2}).save(tmp_path / "it.json")
    assert json.loads((tmp_path / "it.json").read_text()) == {"__type__": "set", "fields": {"b": 2}}


def test_temporary_catalogs_are_folders_and_metrics_are_tested() -> None:
    from unitxt.catalog import add_to_catalog, get_from_catalog
    from unitxt.metrics import Accuracy
    from unitxt.processors import StringEquals
    from unitxt.test_utils.catalog import temp_catalog
    from unitxt.test_utils.metrics import apply_metric, check_scores, test_metric

    with temp_catalog() as folder:
        assert isinstance(folder, str)
        add_to_catalog(StringEquals(string="yes", field="f"), "one.two", catalog_path=folder)
        assert get_from_catalog("one.two[string=no]", catalog_path=folder).string == "no"
    rows = apply_metric(Accuracy(), ["a", "b"], [["a"], ["a"]])
    assert rows[0]["score"]["global"]["score"] == 0.5
    with pytest.raises(AssertionError, match="global score"):
        test_metric(
            Accuracy(), ["a"], [["a"]], [{"accuracy": 1.0, "score": 1.0, "score_name": "accuracy"}], {"score": 0}
        )
    check_scores({"a": 0.33}, [], {"a": 1 / 3, "b": 1}, [], score_keys_to_ignore=["b"])


def test_intervals_are_switched_off() -> None:
    from unitxt.metrics import Accuracy, F1Binary
    from unitxt.test_utils.metrics import apply_metric

    for metric in (Accuracy(), F1Binary()):
        assert "score_ci_low" in apply_metric(metric, [1.0, 0.0, 1.0], [[1.0], [1.0], [0.0]])[0]["score"]["global"]
        metric.disable_confidence_interval_calculation()
        assert "score_ci_low" not in apply_metric(metric, [1.0, 0.0, 1.0], [[1.0], [1.0], [0.0]])[0]["score"]["global"]


def test_infer_takes_engine_and_recipe_in_both_orders() -> None:
    from unitxt import infer
    from unitxt.api import create_dataset

    assert create_dataset is not None
    query = "card=cards.wnli,template=templates.classification.multi_class.relation.default"
    del query
    from proctor.recipes import DatasetRecipe
    from proctor.tasks.card import TaskCard
    from proctor.tasks.task import Task
    from proctor.templates import InputOutputTemplate

    task = Task(input_fields={"q": str}, reference_fields={"a": str}, prediction_type=str, metrics=["metrics.accuracy"])
    template = InputOutputTemplate(input_format="{q}?", output_format="{a}")
    recipe = DatasetRecipe(card=TaskCard(task=task), template=template)
    engine, instances = ScriptedEngine(answer="yes"), [{"q": "is it", "a": "yes"}]
    assert infer(instances, engine, recipe) == infer(instances, recipe, engine) == ["yes"]
    with settings.context(mock_inference_mode=True):
        assert infer(instances, engine, recipe) == ["is it?"]


def test_the_package_has_a_place_with_a_catalog() -> None:
    import unitxt
    from unitxt.settings_utils import get_constants

    assert (Path(unitxt.__file__).parent / "catalog" / "metrics").is_dir()
    assert Path(get_constants().catalog_dir).is_dir()
    assert (unitxt.constants.system_prompt_field, unitxt.constants.instruction_field) == (
        "system_prompt",
        "instruction",
    )


def test_judges_and_criteria_have_names() -> None:
    from unitxt.llm_as_judge_constants import (
        EVALUATOR_TO_MODEL_ID,
        DirectCriteriaCatalogEnum,
        EvaluatorNameEnum,
    )

    assert EVALUATOR_TO_MODEL_ID[EvaluatorNameEnum.GPT4o].startswith("gpt-4o")
    for member in DirectCriteriaCatalogEnum:
        assert DirectCriteriaCatalogEnum[member.name].value == member.value
    with pytest.raises(AttributeError, match="no catalog has the criteria"):
        DirectCriteriaCatalogEnum.NO_SUCH_CRITERIA


def test_pairs_of_dicts_of_dicts() -> None:
    from unitxt.processors import DictOfListsToPairs

    assert DictOfListsToPairs(field="x").process_value({"PER": {"Ann": 1, "Bob": 2}, "LOC": ["Rome"]}) == [
        *(("PER", "Ann"), ("PER", "Bob"), ("LOC", "Rome"))
    ]


@pytest.mark.parametrize(
    "arguments, score",
    [
        ({}, 0.0),
        ({"ignore_case": True}, 0.5),
        ({"ignore_case": True, "ignore_punctuation": True, "ignore_numbers": True}, 1.0),
        ({"regexes_to_ignore": ["[^a-z]", "^y"]}, 0.5),
    ],
)
def test_arguments_of_hub_metrics_count(arguments: dict[str, Any], score: float) -> None:
    from unitxt.metrics import HuggingfaceMetric
    from unitxt.test_utils.metrics import apply_metric

    metric = HuggingfaceMetric(hf_metric_name="exact_match", hf_compute_args=arguments)
    metric.disable_confidence_interval_calculation()
    found = apply_metric(metric, ["Yes", "no 1!"], [["yes"], ["NO "]])
    assert found[0]["score"]["global"]["score"] == score


def test_metrics_that_are_not_here_can_be_imported_and_say_what_is() -> None:
    metric = importlib.import_module("unitxt.metrics").ReflectionToolCallingMetric
    with pytest.raises(NotAllowedError, match="ToolCallingMetric"):
        metric(model_name="mock")
    with pytest.raises(NotAllowedError, match="ToolCallingMetric"):
        type("Derived", (metric,), {})


def test_parameters_are_given_in_one_place() -> None:
    inference = importlib.import_module("unitxt.inference")
    parameters = inference.OpenAiInferenceEngineParams(max_tokens=5, temperature=0.5)
    engine = inference.OpenAiInferenceEngine(model_name="m", parameters=parameters, temperature=0.1)
    assert (engine.max_tokens, engine.temperature) == (5, 0.1)
    for wrong in ({"max_token": 5}, [("max_tokens", 5)]):
        with pytest.raises(ValueError, match="max_token|parameters"):
            inference.OpenAiInferenceEngine(model_name="m", parameters=wrong)


def test_functions_take_their_arguments_by_unitxts_names(tmp_path: Path) -> None:
    from unitxt.catalog import add_link_to_catalog, add_to_catalog, get_from_catalog
    from unitxt.logging_utils import get_logger
    from unitxt.metrics import nan_max, nan_mean, normalize_answer
    from unitxt.operators import Rename
    from unitxt.register import register_local_catalog
    from unitxt.type_utils import isoftype

    assert (nan_mean(x=[1.0, 3.0]), nan_max(x=[1.0, 3.0]), normalize_answer(s="The Cat.")) == (2.0, 3.0, "cat")
    assert isoftype(object=[1], typing_type=list[int])
    assert get_logger(name="mine").name == "mine"
    add_to_catalog(Rename(field="a", to_field="b"), "x.one", catalog_path=tmp_path, verbose=False)
    add_link_to_catalog("x.one", "x.two", catalog_path=tmp_path, verbose=False)
    register_local_catalog(catalog_path=str(tmp_path))
    assert get_from_catalog("x.two").to_field == "b"
    unregister_catalog(next(each for each in catalogs() if getattr(each, "folder", None) == tmp_path))


@pytest.mark.parametrize(
    "module, name",
    [
        *(("dataclass", "Dataclass"), ("collections", "ItemPicker"), ("inference", "VLLMParamsMixin")),
        *(("test_utils.metrics", "dict_equal"), ("formats", "TextContent"), ("catalog", "summary")),
    ],
)
def test_what_no_program_imports_is_refused_by_name(module: str, name: str) -> None:
    with pytest.raises(ImportError, match=f"Proctor has no '{name}' of 'unitxt.{module}'"):
        exec(f"from unitxt.{module} import {name}")
    for gone in ("dict_utils", "text2sql_utils", "utils"):
        with pytest.raises(ImportError, match=f"Proctor has no module 'unitxt.{gone}'"):
            importlib.import_module(f"unitxt.{gone}")
