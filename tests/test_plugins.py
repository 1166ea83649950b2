"""Installed packages bring engines, metrics, dialects, exams and exporters; the sample plugin brings one of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import tests_warm

from proctor import plugins as module
from proctor.errors import PluginError
from proctor.plugins import Plugin, exam_folders, installed_entries, plugins

SAMPLE = Path(__file__).parents[1] / "examples" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder that the sample plugin is installed in, and a function that runs proctor with it."""
    target = tmp_path_factory.mktemp("plugin")
    copy = tmp_path_factory.mktemp("source") / "plugin"
    subprocess.run(["cp", "-r", str(SAMPLE), str(copy)], check=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, "--target", str(target), str(copy)], check=True, capture_output=True)

    def run(folder, *arguments):
        path = os.pathsep.join([str(target), os.environ.get("PYTHONPATH", "")])
        environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(folder / "cache"), "NO_COLOR": "1"}
        return tests_warm.python("-m", "proctor", *arguments, cwd=folder, env=environment)

    return run


def test_the_sample_plugin_sits_its_own_exam_with_its_own_engine_metric_and_exporter(installed, tmp_path):
    given = ["--model", "shouting", "--tasks", "shouting.greetings", "--output-format", "one-line", "--output", "out"]
    done = installed(tmp_path, "run", *given)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "out" / "results.json").read_text())["results"]["shouting.greetings"]
    assert (results["accuracy"], results["loudness"], results["n"]) == (1.0, 1.0, 2)
    assert (tmp_path / "out" / "scores.txt").read_text() == "shouting.greetings accuracy 1.0\n"


def test_its_dialect_asks_what_it_can_and_fails_what_it_cannot(installed, tmp_path):
    (tmp_path / "capitals.quiz").write_text("france = FRANCE\nno answer here\nitaly = ROME\n")
    done = installed(tmp_path, "run", "--model", "shouting", "--tasks", "capitals.quiz", "--output", "out")
    assert done.returncode == 1
    results = json.loads((tmp_path / "out" / "results.json").read_text())["results"]["capitals"]
    assert (results["accuracy"], results["n"], results["failures"]) == (0.5, 3, 1)
    assert results["failure_kinds"] == {"row": 1}
    done = installed(tmp_path, "show", "capitals.quiz", "--num-demos", "2")
    assert done.returncode == 2
    assert "'capitals' cannot honour --num-demos" in done.stderr
    assert "a quiz has no solved questions to show" in done.stderr


ROWS = [{"question": "hello?", "answer": "HELLO"}, {"question": "bye", "answer": "BYE"}]
YAML = """
task: loud
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
generation_kwargs: {until: []}
metric_list:
  - metric: METRIC
"""
CONFIG = """
from opencompass.datasets import JsonlDataset
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

loud_datasets = [
    dict(
        abbr="loud",
        type=JsonlDataset,
        path="rows.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="answer"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template="{question}"),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer),
        ),
        eval_cfg=dict(evaluator=dict(type="METRIC")),
    )
]
"""
RECIPE = {
    "__type__": "dataset_recipe",
    "card": {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"test": ROWS}},
        "task": {
            "__type__": "task",
            "input_fields": {"question": "str"},
            "reference_fields": {"answer": "str"},
            "prediction_type": "str",
            "metrics": ["METRIC"],
        },
    },
    "template": {
        "__type__": "input_output_template",
        "input_format": "{question}",
        "output_format": "{answer}",
        "postprocessors": [],
    },
}
EXAMS = {"loud.yaml": YAML, "loud.py": CONFIG, "loud.json": json.dumps(RECIPE)}


@pytest.mark.parametrize("metric", ["loudness", "metrics.loudness"])
@pytest.mark.parametrize("file", EXAMS)
def test_its_metric_has_a_name_in_every_dialect(installed, tmp_path, file, metric):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / file).write_text(EXAMS[file].replace("METRIC", metric))
    given = ["--model", "scripted", "--model-args", "answer=HEllo", "--tasks", file, "--output", "out"]
    done = installed(tmp_path, "run", *given)
    assert done.returncode == 0, done.stderr
    ((results),) = json.loads((tmp_path / "out" / "results.json").read_text())["results"].values()
    assert (results["score_name"], results["score"], results["n"]) == ("loudness", 0.4, 2)


@pytest.mark.parametrize("file", EXAMS)
def test_a_misspelt_name_of_its_metric_is_corrected_before_anybody_is_asked(installed, tmp_path, file):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (tmp_path / file).write_text(EXAMS[file].replace("METRIC", "loudnes"))
    done = installed(tmp_path, "run", "--model", "scripted", "--model-args", "answer=HEllo", "--tasks", file)
    assert done.returncode == 2
    assert "'loudness'" in done.stderr


def test_names_of_plugins_are_listed_and_misspelt_ones_are_corrected(installed, tmp_path):
    assert "shouting" in installed(tmp_path, "doctor").stdout
    assert "shouting.greetings" in installed(tmp_path, "ls").stdout
    done = installed(tmp_path, "run", "--model", "shoutng", "--tasks", "shouting.greetings")
    assert done.returncode == 2
    assert "did you mean 'shouting'" in done.stderr
    given = ["--model", "shouting", "--tasks", "shouting.greetings", "--output-format", "one-lin"]
    done = installed(tmp_path, "run", *given)
    assert done.returncode == 2
    assert "there is no output format 'one-lin'" in done.stderr
    assert "did you mean 'one-line'" in done.stderr


@pytest.fixture
def entries(monkeypatch):
    """A function that sets the entry points that seem to be installed."""

    def install(*found: tuple[str, str, str]) -> None:
        made = [EntryPoint(name, value, f"proctor.{group}") for group, name, value in found]
        monkeypatch.setattr(metadata, "entry_points", lambda: metadata.EntryPoints(made))
        forget()

    def forget() -> None:
        for cached in (installed_entries, plugins, exam_folders):
            cached.cache_clear()

    yield install
    forget()


def test_nothing_is_imported_before_it_is_used(entries):
    entries(("engines", "b", "no.such.module:B"), ("engines", "a", "json:loads"), ("metrics", "c", "json:dumps"))
    assert list(plugins("engines")) == ["a", "b"]
    assert plugins("engines")["a"].load() is json.loads
    with pytest.raises(PluginError, match="the plugin 'b' of an installed package cannot be loaded") as caught:
        plugins("engines")["b"].load()
    assert "no.such.module:B: ModuleNotFoundError" in caught.value.diagnostics[0].why


def test_two_packages_with_one_name_are_refused_unless_they_mean_the_same(entries):
    entries(("metrics", "a", "json:loads"), ("metrics", "a", "json:loads"))
    assert [each.place for each in plugins("metrics").values()] == ["json:loads"]
    entries(("metrics", "a", "json:loads"), ("metrics", "a", "json:dumps"))
    with pytest.raises(PluginError, match=r"two packages bring 'a' for proctor\.metrics"):
        plugins("metrics")


def test_exams_are_a_package_or_a_folder(entries, tmp_path, monkeypatch):
    entries(("exams", "mine", "proctor.catalog"))
    (folder,) = exam_folders()
    assert folder.name == "catalog"
    entries(("exams", "broken", "json:dumps"))
    with pytest.raises(PluginError, match="the plugin 'broken' of an installed package cannot be loaded"):
        exam_folders()
    monkeypatch.setattr(module, "nowhere", lambda: tmp_path / "gone", raising=False)
    entries(("exams", "gone", "proctor.plugins:nowhere"))
    with pytest.raises(PluginError, match="brings no folder of exams"):
        exam_folders()


def test_a_metric_that_is_not_a_class_is_refused(entries):
    from proctor.artifacts.registry import Registry

    entries(("metrics", "loads", "json:loads"), ("metrics", "decoder", "json:JSONDecoder"))
    registry = Registry({})
    assert "decoder" in registry
    assert registry.get("decoder") is json.JSONDecoder
    with pytest.raises(PluginError, match="is not a class"):
        registry.get("loads")


def test_a_plugin_knows_its_package():
    plugin = Plugin("x", "no.such:thing", "shouting 0.1", EntryPoint("x", "no.such:thing", "proctor.engines"))
    with pytest.raises(PluginError, match=r"of shouting 0\.1"):
        plugin.load()


def test_task_files_of_a_package_are_listed(entries, tmp_path, monkeypatch):
    from proctor.dialects.listing import everything

    (tmp_path / "brought.yaml").write_text(YAML.replace("task: loud", "task: brought_by_a_package"))
    monkeypatch.setattr(module, "folder", lambda: tmp_path, raising=False)
    entries(("exams", "mine", "proctor.plugins:folder"))
    assert [each.name for each in everything("brought_by*")] == ["brought_by_a_package"]


def test_the_code_of_a_packages_metric_counts(entries, tmp_path, monkeypatch):
    from proctor.recipes.metric_code import with_code

    monkeypatch.syspath_prepend(tmp_path)
    entries(("metrics", "lively", "brought_metrics:Lively"))
    made = []
    for body in ("1", "22"):
        (tmp_path / "brought_metrics.py").write_text(f"class Lively:\n    value = {body}\n")
        made.append(with_code([[{"metric": "metrics.lively"}]]))
        assert with_code([[{"metric": "accuracy"}]]).get("code") is None
    assert made[0] != made[1]
    assert list(made[0]["code"]) == ["lively"]
