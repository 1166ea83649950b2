"""Results, samples, configurations and tasks as objects, as programs for lm-eval handle them, without lm_eval."""

import json

import pytest
import tests_warm

PROGRAM = """
import json
from pathlib import Path
from lm_eval import simple_evaluate, evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import Registry
from lm_eval.api.samplers import ContextSampler, get_sampler
from lm_eval.tasks import TaskManager, get_task_dict
from lm_eval.utils import make_table


class Mine(LM):
    asked = 0

    def loglikelihood(self, requests):
        type(self).asked += len(requests)
        return [(-float(len(r.args[1])), False) for r in requests]

    loglikelihood_rolling = generate_until = None


Mine.__abstractmethods__ = frozenset()
manager = TaskManager(include_path=".", include_defaults=False)

results = simple_evaluate(model=Mine(), tasks=["both"], task_manager=manager, evaluation_tracker=None)
assert set(results.pop("samples")) == {"one", "two"} and not {"task_hashes", "model_source"} & results.keys()

# tasks as objects: looked into, changed, evaluated
loaded = manager.load(["both"])
assert list(loaded["tasks"]) == ["one", "two"] and loaded["group_map"] == {"both": ["one", "two"]}
task = loaded["tasks"]["one"]
assert task.config.task == "one" and len(list(task.eval_docs)) == 3
task.build_all_requests(limit=2)
assert [each.args for each in task.instances][:2] == [("1:", " A"), ("1:", " B")], task.instances[0].args
assert evaluate(Mine(), loaded, log_samples=False)["groups"]["both"]["acc,none"] == results["groups"]["both"]["acc,none"]
nested = get_task_dict(["both"], manager)
assert [list(each) for each in nested.values()] == [["one", "two"]]
assert "both" in evaluate(Mine(), nested, log_samples=False)["groups"]
assert list(get_task_dict(["some"], manager)) == ["two"], "a tag is its tasks"
task.set_config("target_delimiter", "--")
changed = evaluate(Mine(), {"one": task})
assert changed["samples"]["one"][0]["arguments"][0] == ("1:", "--A")
try:
    evaluate(Mine(), loaded)
except ValueError as error:
    assert "was changed" in str(error)
else:
    raise SystemExit("a change was dropped")

for wrong, kind in (
    (lambda: get_sampler("nobody"), KeyError),
    (lambda: ContextSampler([1]).sample(2), AssertionError),
    (lambda: ContextSampler([1]).sample(-1), ValueError),
    (lambda: Registry("thing").get("x"), KeyError),
    (lambda: simple_evaluate(model=Mine(), tasks=["both"], evaluation_tracker=object()), ValueError),
):
    try:
        wrong()
    except kind:
        continue
    raise SystemExit(f"no {kind.__name__}")
things = Registry("thing")
things.register("join", target="os.path:join")
import os.path
assert things.get("join") is os.path.join and things.get("no", 3) == 3
try:
    things.register("join", target="os.path:split")
except ValueError:
    pass
else:
    raise SystemExit("a name was taken twice")

print("all of it")
"""


@pytest.fixture
def folder(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f"{json.dumps({'q': n, 'a': n % 2})}\n" for n in range(1, 4)))
    task = {
        "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(rows)}}, "test_split": "test",
        "doc_to_text": "{{q}}:", "doc_to_target": "a", "doc_to_choice": ["A", "B"], "output_type": "multiple_choice",
        "metric_list": [{"metric": "acc"}],
    }  # fmt: skip
    (tmp_path / "one.yaml").write_text(json.dumps({**task, "task": "one"}))
    (tmp_path / "two.yaml").write_text(json.dumps({**task, "task": "two", "tag": "some"}))
    group = {"group": "both", "task": ["one", "two"], "aggregate_metric_list": [{"metric": "acc"}]}
    (tmp_path / "both.yaml").write_text(json.dumps(group))
    return tmp_path


def test_programs_that_handle_results_and_tasks_run_unchanged(folder):
    (folder / "program.py").write_text(PROGRAM)
    done = ran(folder)
    assert done.stdout.strip() == "all of it", done.stderr


@pytest.mark.parametrize(
    "line, message",
    [
        ("from lm_eval.loggers import WandbLogger\n{}WandbLogger()", "proctor export RUN --to wandb"),
        (
            "from lm_eval.models.api_models import TemplateAPI\n{}type('Mine', (TemplateAPI,), {{'amodel_call': 1}})",
            "amodel_call would never be called",
        ),
        (
            "from lm_eval.caching.cache import save_to_cache\n{}save_to_cache('name', [])",
            "faster than they are read back",
        ),
        ("from lm_eval.loggers import EvaluationTracker\n{}EvaluationTracker()", "--output-format lm-eval"),
        (
            "from lm_eval.loggers.evaluation_tracker import GeneralConfigTracker\n{}GeneralConfigTracker()",
            "lm-eval write",
        ),
        ("from lm_eval.config.evaluate_config import EvaluatorConfig\n{}EvaluatorConfig()", "simple_evaluate has argu"),
        ("from lm_eval.api.model import CachingLM\n{}CachingLM(None, 'x')", "use_cache names the response log"),
        ("from lm_eval._cli.harness import HarnessCLI\n{}HarnessCLI()", "cli_evaluate reads a command line"),
        ("from lm_eval.tasks._yaml_loader import load_yaml\n{}load_yaml('x')", "TaskManager().load reads task files"),
        ("from lm_eval.tasks._factory import TaskFactory\n{}TaskFactory()", "makes tasks"),
        ("from lm_eval.utils import RemoteTokenizer\n{}RemoteTokenizer('http://x')", "needs no tokenizer"),
    ],
)
def test_what_is_not_here_can_be_imported_and_is_refused_when_it_is_used(tmp_path, line, message):
    (tmp_path / "program.py").write_text(line.format("if False: "))
    assert ran(tmp_path).returncode == 0
    (tmp_path / "program.py").write_text(line.format(""))
    done = ran(tmp_path)
    assert done.returncode
    assert message in done.stderr


def test_the_command_line_of_a_program_is_proctors(folder):
    (folder / "program.py").write_text("from lm_eval.__main__ import cli_evaluate\ncli_evaluate()\n")
    done = ran(folder, "ls", "tasks", "--include_path", ".")
    assert {"one", "two"} <= set(done.stdout.split()), done.stderr


def ran(folder, *words):
    return tests_warm.python("-m", "proctor.compat", "program.py", *words, cwd=folder)
