"""lm-eval's parsers and its index of tasks, for programs that build upon them; values are those of lm-eval 0.4.13."""

import json

import pytest
import tests_warm

TASK = """
task: t
tag: some
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: "{{q}}"
doc_to_target: a
metric_list: [{metric: exact_match}]
"""

START = """
import sys
from pathlib import Path

from proctor.compat import install

install()
from lm_eval._cli import HarnessCLI
from lm_eval._cli.run import Run
from lm_eval._cli.subcommand import SubCommand


def parsed(*words):
    sys.argv = ["lm-eval", *words]
    cli = HarnessCLI()
    return cli, cli.parse_args()
"""


@pytest.fixture
def run(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"q": "2+2?", "a": "4"}\n{"q": "3+3?", "a": "6"}\n')
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "t.yaml").write_text(TASK)

    def run(program):
        (tmp_path / "program.py").write_text(START + program)
        return tests_warm.python("program.py", cwd=tmp_path)

    return run


def test_what_the_parsers_read(run):
    done = run("""
_, args = parsed("--tasks", "a,b", "c", "--model_args", "pretrained=m,x=[1,2]", "y=z", "--seed", "0,None,5,6")
assert (args.command, args.tasks) == ("run", ["a", "b", "c"])
assert args.model_args == {"pretrained": "m", "x": [1, 2], "y": "z"} and args.seed == [0, None, 5, 6]
assert not hasattr(args, "num_fewshot") and args.metadata is None  # what is left out is the configuration's
_, args = parsed("--model", "hf", "--apply_chat_template", "--fewshot_as_multiturn", "no", "--batch_size", "auto:4")
assert (args.apply_chat_template, args.fewshot_as_multiturn, args.batch_size) == (True, False, "auto:4")
_, args = parsed("ls", "groups", "--include_path", "x")
assert (args.what, args.include_path) == ("groups", "x")
for wrong in (["ls", "recipes"], ["validate"], ["--metadata", "no-equals-sign"], ["run"]):
    try:
        parsed(*wrong)
    except SystemExit:
        continue
    raise AssertionError(wrong)
""")
    assert done.returncode == 0, done.stderr[-2000:]


def test_parsed_arguments_can_be_changed_and_executed(run, tmp_path):
    done = run("""
cli, args = parsed("--model", "dummy", "--tasks", "t", "--include_path", "tasks", "--output_path", "out", "--log_samples")
args.limit = 1
cli.execute(args)
""")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "gen_kwargs: ({}), limit: 1" in done.stdout
    assert "|exact_match|" in done.stdout
    (results,), (samples,) = (list((tmp_path / "out").rglob(each)) for each in ("results_*.json", "samples_t_*.jsonl"))
    assert json.loads(results.read_text())["n-samples"]["t"] == {"original": 2, "effective": 1}
    assert len(samples.read_text().splitlines()) == 1


def test_trackers_are_refused_by_name(run):
    done = run("""
cli, args = parsed("--model", "dummy", "--tasks", "t", "--include_path", "tasks", "--wandb_args", "project=x")
cli.execute(args)
""")
    assert done.returncode != 0
    assert "wandb_args cannot be honoured here" in done.stderr


def test_a_program_adds_a_command(run):
    done = run("""
class Count(SubCommand):
    def __init__(self, subparsers):
        self._parser = subparsers.add_parser("count")
        self._add_args()
        self._parser.set_defaults(func=lambda args: print("counted", args.n))

    def _add_args(self):
        self._parser.add_argument("n", type=int)


cli = HarnessCLI()
Count.create(cli._subparsers)
sys.argv = ["x", "count", "3"]
cli.execute(cli.parse_args())
""")
    assert done.stdout == "counted 3\n", done.stderr[-2000:]


@pytest.mark.parametrize("names, code", [("t", 0), ("t,u", 1)])
def test_validate(run, names, code):
    done = run(f"""
cli, args = parsed("validate", "--tasks", "{names}", "--include_path", "tasks")
cli.execute(args)
""")
    assert done.returncode == code
    assert ("All tasks found and valid" if code == 0 else "Tasks not found: u") in done.stdout


def test_the_index_of_a_folder(run, tmp_path):
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "a.yaml").write_text("group: g\ntask: [t]\n")
    (tmp_path / "more" / "b.yaml").write_text("task: t\ndataset_path: other\n")
    done = run("""
from lm_eval.tasks._index import Entry, Kind, TaskIndex

found = TaskIndex().build([Path("tasks")])
assert found["t"].kind is Kind.TASK and found["t"].cfg["doc_to_target"] == "a" and found["t"].tags == {"some"}
assert found["some"].kind is Kind.TAG and found["some"].tags == {"t"} and found["some"].cfg is None
both = TaskIndex.build([Path("tasks"), Path("more")])
assert both["t"].yaml_path.name == "b.yaml" and both["g"].cfg["task"] == ["t"]
assert TaskIndex.entry_from_config({"group": "x", "task": []}).kind is Kind.GROUP
assert TaskIndex.entry_from_path("more/b.yaml").name == "t" and TaskIndex.entry_from_path("more/none.yaml") is None
assert Entry("n", Kind.TASK, None, cfg={"task": "n"}, tags={"x"}).cfg == {"task": "n"}
""")
    assert done.returncode == 0, done.stderr[-2000:]
