"""Programs written for lm-eval, run without it."""

import json
import subprocess
import sys

import pytest
import tests_warm

ROWS = [{"q": f"1+{n}", "a": str(n + 1)} for n in range(1, 5)]

PROGRAM = """
import json
import lm_eval
from lm_eval import simple_evaluate, evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.tasks import TaskManager, get_task_dict
from lm_eval.utils import make_table
from lm_eval.config.template import TemplateConfig


@register_model("mine")
class Mine(LM):
    def __init__(self, bonus=0, batch_size=1):
        super().__init__()
        self.bonus, self.asked = int(bonus), 0

    def loglikelihood(self, requests):
        self.asked += len(requests)
        return [(-float(abs(eval(r.args[0].rstrip("=")) + self.bonus - int(r.args[1]))), True) for r in requests]

    def loglikelihood_rolling(self, requests):
        return [-float(len(r.args[0])) for r in requests]

    def generate_until(self, requests):
        assert all(r.args[1]["until"] == ["\\n"] for r in requests)
        return [str(eval(r.args[0].rstrip("=").split("\\n")[-1])) for r in requests]


manager = TaskManager(include_path=".", include_defaults=False)
lm = Mine()
first = simple_evaluate(model=lm, tasks=["sums", "picks", "whole"], task_manager=manager)
again = simple_evaluate(model=lm, tasks=["sums"], task_manager=manager, num_fewshot=1, limit=2)
named = simple_evaluate(model="mine", model_args="bonus=1", tasks=["picks"], task_manager=manager, batch_size=4)
other = evaluate(lm, get_task_dict(["sums"], manager), log_samples=False)
inline = simple_evaluate(model=lm, tasks=[{**json.load(open("sums.json")), "task": "inline"}])
told = simple_evaluate(
    model="mine", model_args="bonus=1", tasks=[{**json.load(open("sums.json")), "task": "inline"}], batch_size=4
)
print(json.dumps({
    "bonus": [told["configs"]["inline"]["metadata"].get("bonus"), named["configs"]["picks"]["metadata"].get("bonus")],
    "names": [manager.all_tasks, manager.match_tasks(["s*"])],
    "first": {name: row for name, row in first["results"].items()},
    "again": [again["samples"]["sums"][0]["arguments"][0][0], again["n-samples"], again["n-shot"]],
    "named": named["results"]["picks"]["acc,none"],
    "other": [other["results"]["sums"]["exact_match,none"], "samples" in other],
    "inline": inline["results"]["inline"]["exact_match,none"],
    "keys": sorted(first),
    "asked": lm.asked,
}))
print(make_table(first))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))
    data = {
        "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(tmp_path / "rows.jsonl")}},
        "test_split": "test", "doc_to_text": "{{q}}=", "doc_to_target": "{{a}}",
    }  # fmt: skip
    writing = {"generation_kwargs": {"until": ["\n"]}, "fewshot_delimiter": "\n", "target_delimiter": ""}
    picking = {"output_type": "multiple_choice", "doc_to_choice": ["0", "1", "2", "3", "4", "5"]}
    rolling = {"output_type": "loglikelihood_rolling", "doc_to_target": "{{q}}"}
    for name, more in {"sums": writing, "picks": picking, "whole": rolling}.items():
        text = json.dumps({**data, **more, "task": name})
        (tmp_path / f"{name}.yaml").write_text(text)
        (tmp_path / f"{name}.json").write_text(text)
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path


def test_a_program_with_a_model_of_its_own_runs_unchanged(folder):
    command = [sys.executable, "-m", "proctor.compat", "program.py"]  # a process from scratch, as a user's is
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    line, table = done.stdout.split("\n", 1)
    found = json.loads(line)
    assert found["names"] == [["picks", "sums", "whole"], ["sums"]]
    assert found["first"]["sums"]["exact_match,none"] == 1.0
    assert (found["first"]["picks"]["acc,none"], found["first"]["picks"]["sample_len"]) == (1.0, 4)
    assert found["first"]["whole"]["byte_perplexity,none"] == pytest.approx(2.718281828, rel=1e-6)
    prompt, counts, shots = found["again"]
    assert prompt.count("\n") == 1
    assert prompt.endswith("1+1=")
    assert (counts["sums"], shots["sums"]) == ({"original": 4, "effective": 2}, 1)
    assert found["named"] == 0.25, "the arguments reach the model, and its answers are not those of another"
    assert found["bonus"] == [1, None], "a task manager of the program's own has its own metadata"
    assert found["other"] == [1.0, False]
    assert found["inline"] == 1.0
    assert found["asked"] == 24, "every request is asked once, and nothing comes from an earlier run"
    assert {"results", "configs", "versions", "n-shot", "samples", "config", "n-samples"} <= set(found["keys"])
    assert "|picks" in table.replace(" ", "")


@pytest.mark.parametrize(
    "line, message",
    [
        ("simple_evaluate(model='dummy', tasks=[])", "no task is named"),
        ("simple_evaluate(model='dummy', tasks=['sums'], nonsense=3)", "there is no argument 'nonsense'"),
        ("simple_evaluate(model='no-such', tasks=['sums'])", "there is no engine 'no-such'"),
        (
            "simple_evaluate(model='dummy', tasks=['sums'], evaluation_tracker=object())",
            "the evaluation_tracker is a object",
        ),
        ("from lm_eval.__main__ import check_argument_types as c; c(0)", "lm-eval looks at its own parser with it"),
        ("from lm_eval.utils import no_such", "Proctor has no 'no_such' of 'lm_eval.utils'"),
        ("import lm_eval.nothing", "Proctor has no module 'lm_eval.nothing'"),
        (
            "from lm_eval.base import BaseLM",
            "earlier lm_eval. Today: a model derives from lm_eval.models.huggingface.HFLM",
        ),
        ("from lm_eval import base", "'lm_eval.base' is a name of an earlier lm_eval"),
        ("from lm_eval.api.registry import ALL_TASKS", "Today: lm_eval.tasks.TaskManager"),
        ("import lm_eval.tasks; lm_eval.tasks.initialize_tasks()", "Today: leave it out"),
        (
            "simple_evaluate(model='dummy', tasks=['sums'], no_cache=True)",
            "Today: leave it out; use_cache names a cache",
        ),
    ],
)
def test_what_cannot_be_honoured_is_refused(folder, line, message):
    (folder / "p.py").write_text(f"from lm_eval import simple_evaluate\n{line}\n")
    done = tests_warm.python("-m", "proctor.compat", "p.py", cwd=folder)
    assert done.returncode
    assert message in done.stderr
