"""``unitxt.evaluate_cli``: Unitxt's command, and modules run by ``python -m proctor.compat -m``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import pytest

from proctor.compat import install, uninstall
from proctor.compat.__main__ import main
from proctor.guests.unitxt import evaluate_cli as cli
from proctor.settings import settings


@pytest.fixture(autouse=True)
def _installed() -> Iterator[None]:
    install()
    yield
    uninstall()


def test_an_evaluation_without_rows_ends_the_command() -> None:
    with patch.object(cli, "evaluate", return_value=["row"]), pytest.raises(RuntimeError, match="unexpected"):
        cli.run_evaluation(["a"], [{}])
    with patch.object(cli, "evaluate", return_value=[]), pytest.raises(RuntimeError, match="no results"):
        cli.run_evaluation(["a"], [{}])
    with patch.object(cli, "evaluate") as asked:
        assert cli.run_evaluation([], [{}]) == []
    asked.assert_not_called()


@pytest.mark.parametrize(
    "text, value",
    [
        ('{"a": "b", "n": 1}', {"a": "b", "n": 1}),
        ("a=b,n=1", {"a": "b", "n": 1}),
        ("plain words", "plain words"),
        (None, None),
    ],
)
def test_options_are_json_or_pairs(text: str | None, value: Any) -> None:
    assert cli.try_parse_json(text) == value


@pytest.mark.parametrize("text", ["[1, 2", '{a: "b"}'])
def test_what_begins_as_json_has_to_be_json(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="Invalid JSON"):
        cli.try_parse_json(text)


def test_options_of_recipes() -> None:
    given = argparse.Namespace(limit=5, split="train", num_fewshots=2, apply_chat_template=True)
    assert cli.extract_overwrite_args(given) == {
        "max_train_instances": 5,
        "num_demos": 2,
        "demos_taken_from": "train",
        "demos_pool_size": -1,
        "demos_removed_from_data": True,
        "format": "formats.chat_api",
    }


@pytest.mark.parametrize("model, missing", [("hf", "pretrained"), ("cross_provider", "model_name")])
def test_a_model_needs_its_name(model: str, missing: str) -> None:
    with pytest.raises(ValueError, match=f"'{missing}' is required"):
        cli.initialize_inference_engine(argparse.Namespace(model=model, batch_size=1), {"device": "cpu"}, None)


def test_a_provider_is_not_given_what_only_a_local_template_takes() -> None:
    with pytest.raises(ValueError, match="chat_template_kwargs"):
        cli.initialize_inference_engine(
            argparse.Namespace(model="cross_provider"), {"model_name": "m"}, {"thinking": True}
        )


def test_the_local_engine_gets_the_batch_size() -> None:
    args = argparse.Namespace(model="hf", batch_size=3)
    with patch.object(cli, "HFAutoModelInferenceEngine") as made:
        made.return_value.model_name = "m"
        cli.initialize_inference_engine(args, {"pretrained": "m", "device": "cpu"}, {})
    made.assert_called_once_with(model_name="m", device="cpu", batch_size=3, chat_kwargs_dict={})
    assert args.model == "m"


def test_a_wrong_number_of_predictions_is_logged() -> None:
    with patch.object(cli, "logger") as log:
        found = cli.run_inference(Mock(infer=Mock(return_value=["a"])), [{}, {}])
    assert found == ["a"]
    assert "unexpected number of predictions" in log.error.call_args[0][0]


def test_instances_are_written_by_subset_without_processors() -> None:
    rows = [{"subset": ["a"], "score": 1, "postprocessors": []}, {"subset": ["b"], "score": 0, "postprocessors": []}]
    results = SimpleNamespace(instance_scores=rows, subsets_scores=SimpleNamespace(summary="s"))
    with patch.object(cli, "_save_results_to_disk") as saved:
        cli.process_and_save_results(argparse.Namespace(), results, "r", "s")
    assert saved.call_args[0][2] == {"a": [{"subset": ["a"], "score": 1}], "b": [{"subset": ["b"], "score": 0}]}


def test_keys_among_the_arguments_are_not_written(tmp_path: Any) -> None:
    key = "sk-0123456789abcdef"
    words = ["--model_args", f"model_name=m,api_key={key}"]
    args = argparse.Namespace(
        model_args={"model_name": "m", "api_key": key, "credentials": {"token": key}}, log_samples=True
    )
    with patch.object(sys, "argv", ["unitxt-evaluate", *words]):
        cli._save_results_to_disk(args, {"score": 1.0}, {"a": []}, str(tmp_path / "r.json"), str(tmp_path / "s.json"))
    texts = [path.read_text() for path in tmp_path.iterdir()]
    assert len(texts) == 2
    assert all('"model_name": "m"' in text and key not in text for text in texts)


def test_the_command_runs_an_exam(tmp_path: Any) -> None:
    card = {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"test": [{"q": "x", "a": "x"}, {"q": "y", "a": "z"}]}},
        "task": {
            "__type__": "task",
            "input_fields": {"q": "str"},
            "reference_fields": {"a": "str"},
            "prediction_type": "str",
            "metrics": ["metrics.accuracy"],
        },
        "templates": {"__type__": "templates_list", "items": []},
    }
    template = {"__type__": "input_output_template", "input_format": "{q}", "output_format": "{a}"}
    recipe = {"__type__": "dataset_recipe", "card": card, "template": template, "format": "formats.empty"}
    from proctor.artifacts import LocalCatalog, add_to_catalog, build, register_local_catalog, unregister_catalog

    (tmp_path / "catalog").mkdir()
    catalog = register_local_catalog(str(tmp_path / "catalog"))
    add_to_catalog(build(recipe), "recipes.echo", catalog_path=str(tmp_path / "catalog"))
    words = ["--tasks", "recipes.echo", "--model_args", "pretrained=none", "-o", str(tmp_path), "--log_samples"]
    try:
        with settings.context(mock_inference_mode=True):
            assert main(["-m", "unitxt.evaluate_cli", *words]) == 0
    finally:
        if isinstance(catalog, LocalCatalog):
            unregister_catalog(catalog)
    [path] = tmp_path.glob("*_evaluation_results.json")
    content = json.loads(path.read_text())
    assert content["results"]["recipes.echo"]["score"] == 0.5  # the engine that is tried out says the prompt
    assert content["environment_info"]["parsed_arguments"]["model"] == "none"
    [samples] = tmp_path.glob("*_samples.json")
    assert len(json.loads(samples.read_text())["samples"]["recipes.echo"]) == 2
    assert cli.extract_scores(str(tmp_path))["Average"].tolist() == [0.5]


def test_a_command_that_fails_exits_with_one() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["-m", "unitxt.evaluate_cli", "--tasks", "no.such_recipe", "--model_args", "pretrained=x"])
    assert ended.value.code == 1
