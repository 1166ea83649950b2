"""What programs and code of tasks register is found by its name: models, samplers, metrics, filters."""

import json

import pytest
import tests_warm
import yaml

ROWS = [
    {"q": "a b", "a": "c", "c": ["a", "c"]},
    {"q": "hi user a", "a": "hi", "c": ["hi", "b a", "user"]},
    {"q": "c c b", "a": "b", "c": ["b", "user b"]},
]
TASK = {
    "task": "writes",
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "rows.jsonl", "train": "rows.jsonl"}},
    "test_split": "test",
    "fewshot_split": "train",
    "output_type": "generate_until",
    "doc_to_text": "{{q}}",
    "doc_to_target": "{{a}}",
    "generation_kwargs": {"until": ["\n"]},
}
CHOOSES = {**TASK, "task": "chooses", "output_type": "multiple_choice", "doc_to_choice": "{{c}}"}
del CHOOSES["generation_kwargs"]

MODEL = """
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


@register_model("mine", "also_mine")
class Mine(LM):
    def __init__(self, pretrained="", batch_size=None, **more):
        super().__init__()
        print("made of", pretrained, batch_size, more)

    def loglikelihood(self, requests):
        return [(-float(len(each.args[1])), False) for each in requests]

    def loglikelihood_rolling(self, requests):
        return [-1.0] * len(requests)

    def generate_until(self, requests):
        assert all(each.args[1] == {"until": ["\\n"]} for each in requests), requests[0].args
        return ["c"] * len(requests)
"""


def _folder(folder, *tasks):
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in ROWS))
    for each in tasks:
        text = yaml.safe_dump(each, sort_keys=False)
        (folder / f"{each['task']}.yaml").write_text(text.replace("'!function ", "!function ").replace(".doc'", ".doc"))


def _scores(folder):
    (found,) = folder.glob("runs/*/results.json")
    return {name: each["score"] for name, each in json.loads(found.read_text())["results"].items()}


def test_a_program_hands_its_model_to_the_command_line(tmp_path):
    _folder(tmp_path, TASK, CHOOSES)
    (tmp_path / "program.py").write_text(MODEL + "\n\nfrom lm_eval.__main__ import cli_evaluate\n\ncli_evaluate()\n")
    named = "--model also_mine --model_args pretrained=x,depth=2 --tasks writes,chooses --include_path . --batch_size 3"
    done = tests_warm.python("-m", "proctor.compat", "program.py", *named.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "made of x 3 {'depth': 2}" in done.stdout
    assert _scores(tmp_path) == {"writes": 1 / 3, "chooses": 2 / 3}


PARSERS = {
    "until lm-eval 0.4.9": """
from lm_eval.__main__ import cli_evaluate, parse_eval_args, setup_parser
parser = setup_parser()
parser.add_argument("--depth", type=int)
args = parse_eval_args(parser)
assert (args.tasks, args.limit, args.seed, args.batch_size) == ("writes,chooses", 2.0, [7] * 4, "3"), args
args.model_args += f",depth={args.depth}"
cli_evaluate(args)
""",
    "today": """
from lm_eval._cli import HarnessCLI
cli = HarnessCLI()
cli._subparsers.choices["run"].add_argument("--depth", type=int)
args = cli.parse_args()
assert (args.tasks, args.limit, args.seed, args.batch_size) == (["writes,chooses"], 2.0, [7] * 4, "3"), args
args.model_args["depth"] = args.depth
args.func(args)
""",
}


@pytest.mark.parametrize("program", PARSERS.values(), ids=PARSERS)
def test_a_program_adds_its_own_arguments_to_lm_evals(tmp_path, program):
    _folder(tmp_path, TASK, CHOOSES)
    (tmp_path / "program.py").write_text(MODEL + program)
    named = "--model mine --model_args pretrained=x --tasks writes,chooses --include_path . --batch_size 3 --limit 2"
    words = [*named.split(), "--seed", "7", "--depth", "2"]
    done = tests_warm.python("-m", "proctor.compat", "program.py", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "made of x 3 {'depth': 2}" in done.stdout
    assert _scores(tmp_path) == {"writes": 0.5, "chooses": 0.5}


def test_code_of_a_task_brings_the_model_that_sits_it(tmp_path):
    _folder(tmp_path, {**TASK, "doc_to_text": "!function helpers.doc"})
    (tmp_path / "helpers.py").write_text(MODEL + "\n\ndef doc(row):\n    return row['q']\n")
    run = ("-m", "proctor", "run", "writes.yaml", "--model", "mine")
    done = tests_warm.python(*run, "--trust-code", cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    assert _scores(tmp_path) == {"writes": 1 / 3}
    assert "there is no engine 'mine'" in tests_warm.python(*run, cwd=tmp_path).stderr


HELPERS = """
from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter, register_metric
from lm_eval.api.samplers import SAMPLER_REGISTRY, ContextSampler


class Last(ContextSampler):
    def sample(self, n, eval_doc=None, df=None):
        return list(self.df)[::-1][:n]


SAMPLER_REGISTRY["last"] = Last


@register_metric(metric="wer", higher_is_better=True, output_type="generate_until", aggregation="mean")
def wer(predictions, references, **more):
    return 0.25


@register_metric(metric="rouge", higher_is_better=True, output_type="generate_until", aggregation="mean")
def rouge(predictions, references, **more):
    return 0.75


@register_filter("lower_case")
class Own(Filter):
    def apply(self, resps, docs):
        return [["own"] for _ in resps]


def doc(row):
    return row["q"]
"""


def test_a_registered_name_means_what_was_registered_whoever_else_has_it(tmp_path):
    more = {
        "doc_to_text": "!function helpers.doc",
        "num_fewshot": 2,
        "fewshot_config": {"sampler": "last"},
        "metric_list": [{"metric": "wer"}, {"metric": "rouge"}],
        "filter_list": [{"name": "f", "filter": [{"function": "lower_case"}, {"function": "take_first"}]}],
    }
    _folder(tmp_path, {**TASK, **more})
    (tmp_path / "helpers.py").write_text(HELPERS)
    run = ("-m", "proctor", "run", "writes.yaml", "--model", "scripted", "--model-args", "answer=c", "--trust-code")
    done = tests_warm.python(*run, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    (results,) = tmp_path.glob("runs/*/results.json")
    found = json.loads(results.read_text())["results"]["writes"]
    assert {name: found[name] for name in ("wer,f", "rouge,f")} == {"wer,f": 0.25, "rouge,f": 0.75}
    shown = tests_warm.python("-m", "proctor", "show", "writes.yaml", "--trust-code", cwd=tmp_path).stdout
    assert shown.index("c c b") < shown.index("hi user a") < shown.index("a b")


def test_names_of_lm_evals_own_cannot_be_registered_again(tmp_path):
    _folder(tmp_path, {**TASK, "doc_to_text": "!function helpers.doc"})
    (tmp_path / "helpers.py").write_text(HELPERS.replace('"lower_case"', '"lowercase"'))
    run = ("-m", "proctor", "run", "writes.yaml", "--model", "dummy", "--trust-code")
    assert "a filter 'lowercase' is already registered" in tests_warm.python(*run, cwd=tmp_path).stderr


LAUNCHER = """
import json
import sys
from lm_eval import evaluator, utils
from lm_eval.__main__ import parse_eval_args, setup_parser
from lm_eval.api.registry import register_aggregation, register_metric
from lm_eval.api.task import ConfigurableTask
from lm_eval.evaluator import request_caching_arg_to_dict
from lm_eval.tasks import TaskManager
from lm_eval.utils import simple_parse_args_string

before = ConfigurableTask.process_results


def process_results(self, doc, results):
    found = before(self, doc, results)
    place = sorted((-score for score, _ in results)).index(-results[self.doc_to_choice(doc).index(doc["a"])][0])
    lacking = set(self._metric_fn_list) - set(found)
    return {**found, **{name: 1 / (place + 1) for name in lacking}}


ConfigurableTask.process_results = process_results


@register_aggregation("double")
def double(items):
    return 2 * sum(items) / len(items)


@register_metric(metric="rank", higher_is_better=True, output_type="multiple_choice")
def rank(items):
    return items


args = parse_eval_args(setup_parser())
utils.setup_logging(args.verbosity)
for texts in (args.hf_hub_log_args + ",x=1", args.wandb_args + "", args.wandb_config_args + "", utils.SPACING):
    assert isinstance(texts, str)
metadata = simple_parse_args_string(args.model_args) | (args.metadata or {})
results = evaluator.simple_evaluate(
    model=args.model, model_args=args.model_args, tasks=args.tasks.split(","), limit=args.limit, metadata=metadata,
    task_manager=TaskManager(include_path=args.include_path, include_defaults=False), bootstrap_iters=0,
    **request_caching_arg_to_dict(cache_requests=args.cache_requests),
)
print(json.dumps({name: value for name, value in results["results"]["chooses"].items() if ",none" in name and "_stderr" not in name}))
"""


def test_a_copy_of_lm_evals_main_scores_names_of_its_own(tmp_path):
    own = [{"metric": "acc"}, {"metric": "rank", "aggregation": "double"}]
    own += [{"metric": "rank_nowhere", "aggregation": "mean", "higher_is_better": True}]
    _folder(tmp_path, {**CHOOSES, "metric_list": own})
    (tmp_path / "program.py").write_text(MODEL + LAUNCHER)
    words = "--model mine --tasks chooses --include_path ."
    done = tests_warm.python("-m", "proctor.compat", "program.py", *words.split(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    scores = json.loads(done.stdout.splitlines()[-1])
    assert scores == pytest.approx({"acc,none": 2 / 3, "rank,none": 2.0, "rank_nowhere,none": 1.0})


def test_a_task_manager_that_looks_for_tasks_itself_is_refused(tmp_path):
    code = (
        "from lm_eval.tasks import TaskManager\nclass Own(TaskManager):\n    def initialize_tasks(self, *given): ...\n"
    )
    (tmp_path / "program.py").write_text(code)
    done = tests_warm.python("-m", "proctor.compat", "program.py", cwd=tmp_path)
    assert done.returncode
    assert "Own.initialize_tasks would never be called" in done.stderr
    assert "include_defaults=False" in done.stderr
