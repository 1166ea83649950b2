"""Arguments of ``simple_evaluate`` and ``evaluate``, and models of programs, beside what lm-eval 0.4.13 does with them.

``conformance/lm_eval/parameters.py`` compares many more calls with the real program.
"""

import json

import pytest
import tests_warm

KEY = "sk-lives-in-no-file-0123456789"

START = f"""
import json
from pathlib import Path
from lm_eval import evaluate, simple_evaluate
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model
from lm_eval.loggers import EvaluationTracker
from lm_eval.models.huggingface import HFLM
from lm_eval.models.openai_completions import LocalChatCompletion
from lm_eval.tasks import TaskManager

KEY = "{KEY}"


@register_model("mine")
class Mine(LM):
    def __init__(self, api_key=None, batch_size=1):
        super().__init__()
        self.asked = []

    def generate_until(self, requests):
        self.asked += [each.args for each in requests]
        return [f"4 {{KEY}}" for _ in requests]

    def loglikelihood(self, requests):
        return [(-1.5, False) for _ in requests]

    def loglikelihood_rolling(self, requests):
        return [-2.5 for _ in requests]

    def apply_chat_template(self, chat_history, add_generation_prompt=True):
        return json.dumps(chat_history)


manager = TaskManager(include_path=".", include_defaults=False)


def refused(call):
    try:
        call()
    except ValueError as error:
        return str(error)
    raise SystemExit("it was not refused")
"""

PROGRAMS = {
    "arguments of generation are the task's own, word for word": """
lm = Mine()
made = simple_evaluate(lm, tasks=["writes"], task_manager=manager)
assert [how for _, how in lm.asked] == [{"until": ["Q"], "do_sample": False}] * 3, lm.asked
assert made["samples"]["writes"][0]["arguments"] == [("1:", {"until": ["Q"], "do_sample": False})]
""",
    "a length that only one of two tasks says is refused": """
assert "leaves to the model" in refused(lambda: simple_evaluate(Mine(), tasks=["writes", "says"], task_manager=manager))
""",
    "samples are values": """
found = simple_evaluate(Mine(), tasks=["picks", "whole"], task_manager=manager)["samples"]
assert found["picks"][0]["resps"] == [[(-1.5, False)], [(-1.5, False)]], found["picks"][0]
assert found["picks"][0]["filtered_resps"] == [(-1.5, False), (-1.5, False)] and found["picks"][0]["target"] == 1
assert found["whole"][0]["resps"] == [[-2.5]] and found["whole"][0]["filtered_resps"] == [-2.5], found["whole"][0]
""",
    "nothing is scored, and samples are there": """
made = simple_evaluate(Mine(), tasks=["writes"], task_manager=manager, predict_only=True, log_samples=False)
assert len(made["samples"]["writes"]) == 3
""",
    "choices that are not scored have no documents": """
made = simple_evaluate(Mine(), tasks=["picks", "writes"], task_manager=manager, predict_only=True)
assert set(made["results"]["picks"]) == {"name", "alias", "sample_len"} and made["results"]["picks"]["sample_len"] == 0
assert made["n-samples"]["picks"]["effective"] == 0 and made["results"]["writes"]["bypass,none"] == 999
""",
    "results say what they say there": """
made = simple_evaluate(Mine(), tasks=["writes"], task_manager=manager, limit=2, log_samples=False)
assert made["config"]["limit"] == 2 and isinstance(made["config"]["limit"], int)
tracked = {"model_source", "model_name", "chat_template", "total_evaluation_time_seconds", "task_hashes"}
assert not tracked & set(made), set(made)
assert not {"config", "git_hash", "date", *tracked} & set(evaluate(Mine(), manager.load(["writes"])))
""",
    "registries know what is here, and what was registered": """
from lm_eval.api.registry import MODEL_REGISTRY, higher_is_better_registry, metric_agg_registry, model_registry
assert model_registry is MODEL_REGISTRY and {"hf", "dummy", "gguf", "mine"} <= set(model_registry)
assert model_registry["mine"] is Mine and model_registry["dummy"].__name__ == "DummyLM"
assert metric_agg_registry["acc"].__name__ == "mean" and higher_is_better_registry["brier_score"] is False
""",
    "demos are not counted below zero": """
assert "-1" in refused(lambda: simple_evaluate(Mine(), tasks=["writes"], task_manager=manager, num_fewshot=-1))
""",
    "metrics that a program registers are found": """
from lm_eval.api.registry import register_aggregation, register_metric

@register_aggregation("most")
def most(values):
    return max(values)

@register_metric(metric="length", higher_is_better=False, output_type="generate_until", aggregation="most")
def length(references, predictions, **more):
    return float(len(predictions[0]))

task = manager.load(["writes"])["tasks"]["writes"].config.to_dict()
for entry in ({"metric": "length"}, {"metric": "length", "aggregation": "most", "higher_is_better": False}):
    made = simple_evaluate(Mine(), tasks=[{**task, "task": "own", "metric_list": [entry]}])
    assert made["results"]["own"]["length,none"] == 2.0 + len(KEY), made["results"]
    assert made["higher_is_better"]["own"] == {"length": False}
""",
    "a task draws from the seed that it is given": """
asked, said = [], manager.load(["shots"])["tasks"]["shots"].config.to_dict()
for seed in (2, 3, 4, 5, 6, 2):
    task, lm = manager.load([{**said, "task": "own", "fewshot_config": {"sampler": "default"}}])["tasks"]["own"], Mine()
    task.set_fewshot_seed(seed)
    evaluate(lm, {"own": task})
    asked.append([text for text, _ in lm.asked])
    assert task.OUTPUT_TYPE == "generate_until"
    task.build_all_requests(rank=1, world_size=2, cache_requests=False)
    assert [each.doc_id for each in task.instances] == [1]
assert asked[0] == asked[-1] and len(set(map(tuple, asked))) > 1, asked
""",
    "documents are chosen in one way": """
assert "both" in refused(lambda: simple_evaluate(Mine(), tasks=["writes"], limit=1, samples={"writes": [0]}))
loaded = manager.load(["writes"])
assert "both" in refused(lambda: evaluate(Mine(), loaded, limit=1, samples={"writes": [0]}))
""",
    "no resamples, no standard errors": """
for none in (0, None):
    made = evaluate(Mine(), manager.load(["group"]), bootstrap_iters=none)["results"]
    assert {row[key] for row in made.values() for key in row if "_stderr" in key} == {"N/A"}, made
""",
    "demos are one turn unless evaluate is told otherwise": """
lm, task = Mine(), manager.load(["shots"])
evaluate(lm, task, apply_chat_template=True)
assert len(json.loads(lm.asked[0][0])) == 1, lm.asked[0]
lm = Mine()
made = evaluate(lm, task, apply_chat_template="named", fewshot_as_multiturn=True)
assert len(json.loads(lm.asked[0][0])) == 3
assert made["samples"]["shots"][0]["arguments"][0][0] in [asked for asked, _ in lm.asked]
""",
    "the configuration is what was given": """
config = simple_evaluate(
    "mine", {"api_key": KEY}, ["writes"], batch_size=4, task_manager=manager, gen_kwargs="top_p=0.5", torch_random_seed=9
)["config"]
assert [config[key] for key in ("model_args", "batch_size", "gen_kwargs", "torch_seed")] == [{}, 4, {"top_p": 0.5}, 9]
""",
    "a model without methods is refused": """
assert "HFLM" in refused(lambda: simple_evaluate(object(), tasks=["writes"], task_manager=manager))
""",
    "a class that changes what nothing calls is refused": """
def payload():
    class Other(LocalChatCompletion):
        def get_batched_requests(self, requests, **more):
            return []


def call():
    class Other(HFLM):
        def _get_accelerate_args(self):
            return {}


assert "get_batched_requests would never" in refused(payload) and "_get_accelerate_args would never" in refused(call)
""",
    "a class that answers itself is asked itself": """
from lm_eval.models.dummy import DummyLM


class Own(DummyLM):
    def generate_until(self, requests):
        return ["own"] * len(requests)


made = simple_evaluate(Own(), tasks=["writes"], task_manager=manager)
assert [each["resps"] for each in made["samples"]["writes"]] == [[["own"]]] * 3
""",
    "keys reach no file": """
for given in (f"api_key={KEY}", {"api_key": KEY}):
    tracker = EvaluationTracker(output_path="out")
    made = simple_evaluate(
        "mine", given, ["writes"], evaluation_tracker=tracker, use_cache="kept.db",
        task_manager=TaskManager(include_path=".", include_defaults=False, metadata={"api_key": KEY}),
    )
    assert KEY not in json.dumps({name: each for name, each in made.items() if name != "samples"}, default=str)
    samples = made.pop("samples")
    tracker.save_results_aggregated(results=made, samples=samples)
    tracker.save_results_samples(task_name="writes", samples=samples["writes"])
written = [file for file in Path().rglob("*") if file.is_file() and file.name != "program.py"]
assert {"kept.db", "out"} <= {part for file in written for part in file.parts}
leaked = [str(file) for file in written if KEY.encode() in file.read_bytes()]
assert not leaked, leaked
""",
    "arguments of a model that is made already are filed": """
tracker = EvaluationTracker(output_path="out")
made = simple_evaluate(
    Mine(), {"pretrained": "a/b", "api_key": KEY}, ["writes"], task_manager=manager, evaluation_tracker=tracker
)
assert made["config"]["model_args"] == {"pretrained": "a/b"}, made["config"]
assert tracker.general_config_tracker.model_name_sanitized == "a__b"
""",
    "helpers of tasks that are not here say what fetches them": """
try:
    import lm_eval.tasks.nobody.utils
except ModuleNotFoundError as error:
    assert "proctor get lm-eval" in str(error)
else:
    raise SystemExit("it was found")
""",
}


@pytest.fixture
def folder(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(f"{json.dumps({'q': n, 'a': n % 2})}\n" for n in range(1, 4)))
    data = {
        "dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(rows)}}, "test_split": "test",
        "doc_to_text": "{{q}}:", "doc_to_target": "a",
    }  # fmt: skip
    how = {"until": ["Q"], "do_sample": False}
    choice = {"output_type": "multiple_choice", "doc_to_choice": ["A", "B"], "metric_list": [{"metric": "acc"}]}
    for name, more in {
        "writes": {"generation_kwargs": how},
        "says": {"generation_kwargs": {**how, "max_gen_toks": 256}},
        "shots": {"doc_to_target": "{{a}}", "num_fewshot": 1, "fewshot_config": {"sampler": "first_n"}},
        "picks": choice,
        "whole": {"output_type": "loglikelihood_rolling", "doc_to_target": "{{q}}"},
    }.items():
        (tmp_path / f"{name}.yaml").write_text(json.dumps({**data, **more, "task": name}))
    group = {"group": "group", "task": ["picks"], "aggregate_metric_list": [{"metric": "acc"}]}
    (tmp_path / "group.yaml").write_text(json.dumps(group))
    return tmp_path


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_programs_say_is_done_or_refused(folder, what):
    (folder / "program.py").write_text(START + PROGRAMS[what])
    done = tests_warm.python("-m", "proctor.compat", "program.py", cwd=folder)
    assert not done.returncode, done.stderr


HELPER = "from lm_eval.tasks.mine.utils import double\nprint(double(4))\n"


def test_helpers_of_fetched_tasks_are_imported_by_programs_that_trust_them(tmp_path, monkeypatch):
    tasks = tmp_path / "fetched" / "tasks" / "mine"
    tasks.mkdir(parents=True)
    (tasks / "utils.py").write_text("from lm_eval.utils import hash_string\n\ndef double(x):\n    return 2 * x\n")
    program = f"""
import proctor.dialects.lm_eval.functions as functions
from pathlib import Path
functions._tasks_of_package = lambda: Path({str(tasks.parent)!r})
{HELPER}"""
    (tmp_path / "program.py").write_text(program)
    command = ["-m", "proctor.compat", "program.py"]
    monkeypatch.setenv("PROCTOR_TRUST_CODE", "1")
    done = tests_warm.python(*command, cwd=tmp_path)
    assert done.stdout.strip() == "8", done.stderr
    monkeypatch.delenv("PROCTOR_TRUST_CODE")
    done = tests_warm.python(*command, cwd=tmp_path)
    assert done.returncode
    assert "PROCTOR_TRUST_CODE=1" in done.stderr
