"""``unitxt.evaluate_cli``: Unitxt's command, and modules run by ``python -m proctor.compat -m``."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
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


def parsed(*words: str) -> argparse.Namespace:
    return cli.setup_parser().parse_args(["--tasks", "recipes.echo", *words])


def test_options_of_recipes() -> None:
    given = parsed("--limit", "5", "--split", "train", "--num_fewshots", "2", "--apply_chat_template")
    assert cli._recipe_fields(given) == {
        "max_train_instances": 5,
        "num_demos": 2,
        "demos_taken_from": "train",
        "demos_pool_size": -1,
        "demos_removed_from_data": True,
        "format": "formats.chat_api",
    }


@pytest.mark.parametrize(
    "words, message",
    [
        (["--model_args", "device=cpu"], "'pretrained' is required"),
        (["--model", "cross_provider", "--model_args", "x=1"], "'model_name' is required"),
        (
            ["--model", "cross_provider", "--model_args", "model_name=m", "--chat_template_kwargs", "thinking=True"],
            "chat_template_kwargs",
        ),
    ],
)
def test_a_model_needs_its_name_and_what_it_takes(words: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cli._engine(parsed(*words))


def test_the_local_engine_gets_the_batch_size() -> None:
    args = parsed("--batch_size", "3", "--model_args", "pretrained=m,device=cpu")
    with patch.object(cli, "HFAutoModelInferenceEngine") as made:
        made.return_value.model_name = "m"
        cli._engine(args)
    made.assert_called_once_with(model_name="m", device="cpu", batch_size=3, chat_kwargs_dict={})
    assert args.model == "m"


def test_files_have_instances_by_subset_and_no_keys(tmp_path: Any) -> None:
    key = "sk-0123456789abcdef"
    words = ["--model_args", f"model_name=m,api_key={key}", "--log_samples", "--output_path", str(tmp_path)]
    rows = [{"subset": ["a"], "score": 1, "postprocessors": []}, {"subset": ["b"], "score": 0, "postprocessors": []}]
    scores = Scores({"score": 1.0})
    with patch.object(sys, "argv", ["unitxt-evaluate", *words]):
        cli.save_results(parsed(*words), Mock(instance_scores=rows, subsets_scores=scores))
    texts = {path.name.rpartition("_")[2]: path.read_text() for path in tmp_path.iterdir()}
    assert len(texts) == 2
    assert all('"model_name": "m"' in text and key not in text for text in texts.values())
    kept = json.loads(texts["samples.json"])["samples"]
    assert kept == {"a": [{"subset": ["a"], "score": 1}], "b": [{"subset": ["b"], "score": 0}]}


class Scores(dict[str, Any]):
    summary = "s"


def test_the_command_runs_an_exam(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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
    for name in ("HF_HOME", "HF_DATASETS_CACHE"):
        monkeypatch.setenv(name, "")
    words += ["--cache_dir", str(tmp_path / "cache"), "--disable_hf_cache", "--limit", "2"]
    try:
        with settings.context(mock_inference_mode=True):
            assert main(["-m", "unitxt.evaluate_cli", *words]) == 0
    finally:
        if isinstance(catalog, LocalCatalog):
            unregister_catalog(catalog)
    assert os.environ["HF_HOME"] == str(tmp_path / "cache")
    [path] = tmp_path.glob("*_evaluation_results.json")
    content = json.loads(path.read_text())
    assert content["results"]["recipes.echo"]["score"] == 0.5  # the engine that is tried out says the prompt
    assert content["environment_info"]["parsed_arguments"]["model"] == "none"
    [samples] = tmp_path.glob("*_samples.json")
    assert len(json.loads(samples.read_text())["samples"]["recipes.echo"]) == 2


def test_a_command_that_fails_exits_with_one() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["-m", "unitxt.evaluate_cli", "--tasks", "no.such_recipe", "--model_args", "pretrained=x"])
    assert ended.value.code == 1
