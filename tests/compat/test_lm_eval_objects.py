"""Objects of lm-eval's classes of tasks, given to ``simple_evaluate`` and ``evaluate``.

Numbers and digests were compared with lm-eval 0.4.13's, for the same program.
"""

import tests_warm

START = """
from proctor.compat import install

install()
import json
from pathlib import Path

import lm_eval
from lm_eval.api.model import LM
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks import TaskManager

rows = [{"q": "2+2?", "a": "4"}, {"q": "Capital of France?", "a": "Paris"}, {"q": "3*3?", "a": "9"}]
Path("rows.jsonl").write_text("".join(json.dumps(each) + "\\n" for each in rows))
files = {"test": "rows.jsonl", "train": "rows.jsonl"}
CONFIG = {
    "task": "made", "dataset_path": "json", "dataset_kwargs": {"data_files": files}, "test_split": "test",
    "fewshot_split": "train", "output_type": "generate_until", "doc_to_text": "Q: {{q}}\\nA:", "doc_to_target": "a",
    "generation_kwargs": {"until": ["\\n"], "max_gen_toks": 12},
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    "metadata": {"version": 2.0},
}
seen = []


class Model(LM):
    def loglikelihood(self, requests):
        return []

    loglikelihood_rolling = loglikelihood

    def generate_until(self, requests):
        seen.extend(each.args for each in requests)
        return ["9" for _ in requests]


class Shouting(ConfigurableTask):
    def doc_to_text(self, doc, doc_to_text=None):
        return doc["q"].upper()

    def process_results(self, doc, results):
        return {"length": len(results[0]) + len(doc["q"])}

    def aggregation(self):
        return {"length": sum}

    def higher_is_better(self):
        return {"length": True}


def made(kind=ConfigurableTask, **more):
    return kind(config={**CONFIG, **more})


def sat(tasks, **more):
    seen.clear()
    return lm_eval.simple_evaluate(Model(), tasks=tasks, bootstrap_iters=0, **more)
"""


def _run(folder, program: str) -> str:
    (folder / "program.py").write_text(START + program)
    done = tests_warm.python("program.py", cwd=folder)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stderr


def test_a_made_task_is_evaluated_as_its_file_would_be(tmp_path):
    _run(tmp_path, """
found = sat([made()])
assert found["results"]["made"] == {
    "name": "made", "alias": "made", "sample_len": 3, "exact_match,none": 1 / 3, "exact_match_stderr,none": "N/A",
}
assert found["versions"] == {"made": 2.0} and found["n-shot"] == {"made": 0}
assert [each[0] for each in seen] == [f"Q: {each['q']}\\nA:" for each in rows]
assert seen[0][1] == {"until": ["\\n"], "max_gen_toks": 12}
assert sat([made()], num_fewshot=1)["n-shot"] == {"made": 1} and all(each[0].count("Q: ") == 2 for each in seen)
assert sat([made(num_fewshot=0)], num_fewshot=1)["n-shot"] == {"made": 0}
sat([made()], gen_kwargs={"temperature": 0.3, "do_sample": True})
assert seen[0][1] == {"until": ["\\n"], "max_gen_toks": 12, "temperature": 0.3, "do_sample": True}
sampled = {"temperature": 0.5, "do_sample": True, "until": ["\\n"]}
sat([made(generation_kwargs=sampled, repeats=3)], fewshot_random_seed=7)
assert len(seen) == 9 and all(each[1] == sampled for each in seen)  # no seeds, no limit: nobody gave them
changed = made()
changed.set_config("doc_to_text", "X {{q}}")
sat([changed], samples={"made": [1]})
assert [each[0] for each in seen] == ["X Capital of France?"]
""")  # fmt: skip


def test_what_a_program_changes_of_a_made_task_counts(tmp_path):
    _run(tmp_path, """
task = made()
task.dataset = {"test": [{"q": "other?", "a": "9"}], "train": rows}
found = sat([task])
assert found["results"]["made"]["exact_match,none"] == 1.0 and [each[0] for each in seen] == ["Q: other?\\nA:"]
task = made()
task.doc_to_text = lambda doc, *more: "Z" + doc["q"]
sat([task])
assert [each[0] for each in seen] == ["Z" + each["q"] for each in rows]
""")  # fmt: skip


def test_an_object_of_a_class_of_ones_own(tmp_path):
    _run(tmp_path, """
found = sat([made(Shouting)], gen_kwargs="temperature=0.2")
assert found["results"]["made"]["length,none"] == 4 + 18 + 4 + 3 and found["higher_is_better"] == {
    "made": {"length": True}
}
assert found["versions"] == {"made": 2.0} and found["configs"]["made"]["output_type"] == "generate_until"
assert seen[0] == ("2+2?", {"until": ["\\n"], "max_gen_toks": 12, "temperature": 0.2, "do_sample": True})
sample = sat([made(Shouting)], samples={"made": [1]})["samples"]["made"]
assert [(each["doc_id"], each["target"], each["resps"], each["length"]) for each in sample] == [
    (1, "Paris", [["9"]], 19)
]
assert sat([made(Shouting)], limit=2)["n-samples"] == {"made": {"original": 3, "effective": 2}}
assert sat([made(Shouting)], predict_only=True)["results"]["made"]["bypass,none"] == 999
""")  # fmt: skip


def test_seeds_that_a_program_sets_reach_evaluate(tmp_path):
    _run(tmp_path, """
def drawn(seed):
    task = made(num_fewshot=2)
    task.set_fewshot_seed(seed)
    seen.clear()
    lm_eval.evaluate(Model(), {"made": task}, bootstrap_iters=0)
    return [each[0] for each in seen]


assert drawn(5) == drawn(5) != drawn(6)
""")  # fmt: skip


def test_members_of_groups_are_what_the_group_says_of_them(tmp_path):
    _run(tmp_path, """
import yaml

Path("tasks").mkdir()
for name in ("a", "b"):
    Path(f"tasks/{name}.yaml").write_text(yaml.safe_dump({**CONFIG, "task": name, "num_fewshot": 0}))
Path("tasks/g.yaml").write_text("group: g\\ntask: [a, {task: b, num_fewshot: 2}]\\n")
Path("tasks/h.yaml").write_text("group: h\\nnum_fewshot: 1\\ntask: [a, b]\\n")
manager = TaskManager(include_path="tasks", include_defaults=False)


def shots(tasks):
    return lm_eval.evaluate(Model(), tasks, bootstrap_iters=0)["n-shot"]


loaded = manager.load(["g"])
assert [loaded["tasks"][name].config.num_fewshot for name in "ab"] == [0, 2]
assert {name: shots(loaded)[name] for name in "ab"} == {"a": 0, "b": 2}
assert shots({"b": loaded["tasks"]["b"]}) == {"b": 2} and shots(manager.load(["b"])) == {"b": 0}
assert shots({"a": manager.load(["h"])["tasks"]["a"]}) == {"a": 1}
changed = manager.load([{"group": "g", "num_fewshot": 1}])
assert [each.config.num_fewshot for each in changed["tasks"].values()] == [1, 1]
assert shots({"b": changed["tasks"]["b"]}) == {"b": 1}
for call in (lambda: shots(changed), lambda: sat([{"group": "g", "num_fewshot": 1}], task_manager=manager)):
    try:
        call()
    except ValueError as error:
        assert "group" in str(error)
    else:
        raise AssertionError
""")  # fmt: skip


def test_unknown_tasks_are_key_errors_and_other_things_type_errors(tmp_path):
    _run(tmp_path, """
manager = TaskManager(include_defaults=False)
for call in (
    lambda: sat(["nothing_of_this_name"], task_manager=manager),
    lambda: manager.load(["nothing_of_this_name"]),
    lambda: lm_eval.tasks.get_task_dict(["nothing_of_this_name"], manager),
):
    try:
        call()
    except KeyError as error:
        assert "nothing_of_this_name" in str(error) and "\\\\n" not in str(error)
    else:
        raise AssertionError
for call, kind in ((lambda: sat([3]), TypeError), (lambda: sat([made(), made()]), ValueError)):
    try:
        call()
    except kind:
        pass
    else:
        raise AssertionError
""")  # fmt: skip
