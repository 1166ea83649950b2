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
from argparse import Namespace
from lm_eval.api.metrics import aggregate_subtask_metrics, pooled_sample_stderr
from lm_eval.config.evaluate_config import EvaluatorConfig
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager, get_task_dict
from lm_eval.tasks._index import Kind
from lm_eval.tasks._yaml_loader import load_yaml
from lm_eval.utils import Reorderer, make_table


class Mine(LM):
    asked = 0

    def loglikelihood(self, requests):
        type(self).asked += len(requests)
        return [(-float(len(r.args[1])), False) for r in requests]

    loglikelihood_rolling = generate_until = None


Mine.__abstractmethods__ = frozenset()
manager = TaskManager(include_path=".", include_defaults=False)

# files, where lm-eval writes them
tracker = EvaluationTracker(output_path="out", token="t", hub_repo_name="")
results = simple_evaluate(model=Mine(), tasks=["both"], task_manager=manager, evaluation_tracker=tracker)
samples = results.pop("samples")
assert set(samples) == {"one", "two"} and not {"task_hashes", "model_source"} & results.keys()
tracker.save_results_aggregated(results=results, samples=samples)
for name in results["configs"]:
    tracker.save_results_samples(task_name=name, samples=samples[name])
assert not (tracker.push_results_to_hub or tracker.push_samples_to_hub)
files = sorted(Path("out").glob("*/*"))
assert [each.name.rpartition("_")[0] for each in files] == ["results", "samples_one", "samples_two"], files
filed = json.loads(files[0].read_text())
assert set(filed["task_hashes"]) == {"one", "two"} and filed["model_source"] == "CUSTOM", filed
assert float(filed["total_evaluation_time_seconds"]) > 0 and "start_time" not in filed, filed
assert filed["chat_template"] is None and filed["fewshot_as_multiturn"] is True
line = json.loads(files[1].read_text().splitlines()[0])
assert line["resps"] == [[["-2.0", "False"]], [["-2.0", "False"]]], line["resps"]
named = EvaluationTracker(output_path="named/run.json")
named.general_config_tracker.log_experiment_args("hf", "pretrained=a/b,x=1", "be", None, False)
named.save_results_aggregated({}, {})
(file,) = Path("named").iterdir()
filed = json.loads(file.read_text())
assert file.name.startswith("run_") and (filed["model_name"], filed["model_name_sanitized"]) == ("a/b", "a__b")
assert len(filed["system_instruction_sha"]) == 64

# what names mean, and what files say
index = manager.task_index
assert index["both"].kind is Kind.GROUP and index["both"].cfg["task"] == ["one", "two"]
assert index["some"].kind is Kind.TAG and index["some"].tags == {"two"} and index["some"].cfg is None
assert index["one"].kind is Kind.TASK and index["one"].yaml_path.name == "one.yaml" and index["one"]["type"] == "task"
assert load_yaml("one.yaml", resolve_func=False)["task"] == "one"

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
    (lambda: EvaluatorConfig(nonsense=1), ValueError),
    (lambda: EvaluatorConfig(tasks="none-such").process_tasks(), ValueError),
    (lambda: EvaluatorConfig.load_yaml_config("one.txt"), ValueError),
    (lambda: EvaluatorConfig(seed=[1, 2])._configure(), ValueError),
    (lambda: EvaluatorConfig(seed="x")._configure(), ValueError),
    (lambda: EvaluatorConfig(fewshot_as_multiturn=True)._configure(), ValueError),
    (lambda: EvaluatorConfig(samples={"one": [0]}, limit=1)._configure(), ValueError),
    (lambda: EvaluationTracker(output_path="out", push_results_to_hub=True, token="t"), ValueError),
    (lambda: EvaluationTracker(nonsense=1), TypeError),
    (lambda: load_yaml("one.yaml", recursive=False), ValueError),
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

# a configuration of a file
config = EvaluatorConfig.from_config("config.yaml")
assert config.seed == [7, 7, 7, 7] and config.model_args == {"pretrained": "x"} and config.metadata["pretrained"] == "x"
assert config.process_tasks() and config.tasks == ["one", "two"], config.tasks
assert EvaluatorConfig(tasks=["./on*.yaml"], include_path=".").process_tasks().all_groups == ["both"]
for given, seeds in (
    ([42], [42] * 4), ("42", [42] * 4), ([1, 2, 3], [1, 2, 3, 1234]), (None, None), ([0, None, 1, 2], [0, None, 1, 2]),
):
    assert EvaluatorConfig(seed=given)._configure().seed == seeds, given
config = EvaluatorConfig.from_cli(Namespace(config="config.yaml", tasks=["two"], limit=0, seed=None, func=print))
assert (config.tasks, config.limit, config.seed, config.model_args) == (["two"], 0, [7] * 4, {"pretrained": "x"})

# scores put together by hand, with the numbers of lm-eval 0.4.13
assert aggregate_subtask_metrics([0.2, 0.8], [30, 10]) == 0.35
assert aggregate_subtask_metrics([0.2, 0.8], [30, 10], False) == 0.5
assert abs(pooled_sample_stderr([0.1, 0.2], [30, 10]) - 0.08995612965861689) < 1e-12

# batches of a model of one's own
order = Reorderer([[3], [1], [3], [2]], lambda each: each[0])
assert order.get_reordered() == [[1], [2], [3], [3]] and order.get_original("badc") == ["d", "b", "c", "a"]
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
    config = {"tasks": "one,two", "include_path": ".", "model_args": "pretrained=x", "seed": 7}
    (tmp_path / "config.yaml").write_text(json.dumps(config))
    (tmp_path / "one.txt").write_text("[1]")
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
            "from lm_eval.models.api_models import TemplateAPI\n{}type('Mine', (TemplateAPI,), {{'get_batched_requests': 1}})",
            "get_batched_requests would never be called",
        ),
        (
            "from lm_eval.caching.cache import save_to_cache\n{}save_to_cache('name', [])",
            "faster than they are read back",
        ),
        ("from lm_eval.api.model import CachingLM\n{}CachingLM(None, 'x')", "use_cache names the response log"),
        ("from lm_eval._cli.run import Run\n{}Run()", "setup_parser makes a parser"),
        ("from lm_eval.tasks._index import TaskIndex\n{}TaskIndex()", "TaskManager().task_index says"),
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
