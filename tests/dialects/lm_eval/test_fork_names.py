"""Tasks in a fork of lm-eval find what the fork has registered in its own package, where code is trusted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests_commands import proctor

from proctor.dialects.lm_eval.fork_names import fork_files
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.guests.lm_eval import registry
from proctor.logs import say_once
from proctor.running.run import run_exams
from proctor.settings import settings

METRICS = """
from lm_eval.api.registry import register_aggregation, register_metric

@register_aggregation("mean")
def mean(items):
    return 99.0

@register_aggregation("largest_of_fork")
def largest(items):
    return max(items)

@register_metric(metric="acc", higher_is_better=True, output_type="multiple_choice", aggregation="mean")
def acc(items):
    return 99.0

@register_metric(
    metric="letters_of_fork", higher_is_better=True, output_type="generate_until", aggregation="largest_of_fork"
)
def letters(references, predictions, **kwargs):
    return float(len(predictions[0]))
"""
FILTERS = """
from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter

@register_filter("half_of_fork")
class Half(Filter):
    def apply(self, resps, docs):
        return [[text[: len(text) // 2] for text in each] for each in resps]

@register_filter("lowercase")
class Lower(Filter):
    def apply(self, resps, docs):
        raise ValueError("nobody asks me")
"""
TASK = {
    "task": "forked",
    "dataset_path": "json",
    "output_type": "generate_until",
    "doc_to_text": "{{q}}",
    "doc_to_target": "{{a}}",
    "test_split": "test",
    "generation_kwargs": {"until": ["\n"]},
    "filter_list": [
        {"name": "cut", "filter": [{"function": "half_of_fork"}, {"function": "lowercase"}, {"function": "take_first"}]}
    ],
    "metric_list": [{"metric": "letters_of_fork"}],
}


@pytest.fixture
def fork(tmp_path: Path) -> Path:
    """Return the folder of a task in a fork's package."""
    package = tmp_path / "lm_eval"
    tasks = package / "tasks" / "forked"
    for folder in (package / "api", package / "filters", tasks):
        folder.mkdir(parents=True)
    (package / "api" / "metrics.py").write_text(METRICS)
    (package / "filters" / "cut.py").write_text(FILTERS)
    (package / "api" / "other.py").write_text('raise ValueError("nobody needs me")')
    rows = tasks / "rows.json"
    rows.write_text("\n".join(json.dumps({"q": f"Q{number}", "a": "x"}) for number in range(3)))
    task = {**TASK, "dataset_kwargs": {"data_files": {"test": str(rows)}}}
    (tasks / "forked.yaml").write_text(yaml.safe_dump(task))
    yield tasks
    for each in (registry.metric_registry, registry.metric_agg_registry, registry.aggregation_registry):
        each.own.pop("letters_of_fork", None)
        each.own.pop("largest_of_fork", None)
    registry.filter_registry.own.pop("half_of_fork", None)


def test_what_a_fork_registers_is_obeyed_and_what_lm_eval_has_stays(fork: Path, tmp_path: Path) -> None:
    with settings.context(trust_code=True):
        exams = resolve_tasks([str(fork / "forked.yaml")])
        done = run_exams(exams, ScriptedEngine(answer="ABCDEF"), log=tmp_path / "log.db", output=tmp_path / "run")
    results = done.results["forked"]
    assert results["letters_of_fork,cut"] == 3.0
    held = (tmp_path / "run" / "run.yaml").read_text()
    assert "lm_eval/api/metrics.py" in held
    assert "lm_eval/filters/cut.py" in held
    assert registry.aggregation_registry["mean"]([1.0, 2.0]) == 1.5


def test_a_name_of_lm_eval_that_the_fork_has_changed_is_said_where_a_task_uses_it(
    fork: Path, caplog: pytest.LogCaptureFixture
) -> None:
    say_once.cache_clear()
    with settings.context(trust_code=True):
        (exam,) = resolve_tasks([str(fork / "forked.yaml")])
        run_exams([exam], ScriptedEngine(answer="x"))
    (said,) = (each.getMessage() for each in caplog.records if "has changed" in each.getMessage())
    assert "lowercase (filters/cut.py): scores here are those of lm-eval's releases" in said
    assert "acc" not in said


def test_without_trust_a_fork_is_not_run_and_named(fork: Path) -> None:
    (exam,) = resolve_tasks([str(fork / "forked.yaml")])
    with pytest.raises(ProctorError, match=r"metrics\.py registers largest_of_fork, letters_of_fork, and is code"):
        run_exams([exam], ScriptedEngine(answer="x"))
    assert proctor("validate", fork / "forked.yaml").returncode == 0


def test_a_fork_that_fails_says_why(fork: Path) -> None:
    (fork.parent.parent / "api" / "metrics.py").write_text(f"import nothing_of_that_name\n{METRICS}")
    with settings.context(trust_code=True):
        (exam,) = resolve_tasks([str(fork / "forked.yaml")])
        with pytest.raises(ProctorError, match="install the package that provides 'nothing_of_that_name'"):
            run_exams([exam], ScriptedEngine(answer="x"))


def test_only_modules_that_are_needed_count(fork: Path, tmp_path: Path) -> None:
    place = str(fork / "forked.yaml")
    assert [each.name for each in fork_files([{"metric": "letters_of_fork"}], None, place)] == ["metrics.py"]
    assert (
        fork_files([{"metric": "acc", "aggregation": "mean"}], [{"filter": [{"function": "lowercase"}]}], place) == {}
    )
    assert fork_files([{"metric": "letters_of_fork"}], None, str(tmp_path / "elsewhere.yaml")) == {}
