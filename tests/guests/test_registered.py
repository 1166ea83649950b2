"""What code registers is found from the command line, from files of exams, and from Python."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import tests_warm
from tests_commands import proctor

HELPERS = """
from lm_eval.api.filter import Filter
from lm_eval.api.model import LM
from lm_eval.api.registry import register_aggregation, register_filter, register_metric, register_model
from lm_eval.api.samplers import SAMPLER_REGISTRY, ContextSampler


@register_model("mine")
class Mine(LM):
    def __init__(self, word="two"):
        super().__init__()
        self.word = word

    @classmethod
    def create_from_arg_string(cls, arg_string, additional_config=None):
        return cls(**dict(each.split("=") for each in arg_string.split(",") if each))

    def generate_until(self, requests):
        return [self.word + (" again" if "3+3?FOUR" in each.args[0] else "") for each in requests]

    loglikelihood = loglikelihood_rolling = None


Mine.__abstractmethods__ = frozenset()


@register_aggregation("least")
def least(items):
    return min(items)


@register_metric(metric="holds", higher_is_better=True, output_type="generate_until", aggregation="least")
def holds(predictions, references, **kwargs):
    return float(references[0] in predictions[0])


@register_filter("shout")
class Shout(Filter):
    def apply(self, resps, docs):
        return [[each.upper() for each in some] for some in resps]


class Last(ContextSampler):
    def sample(self, n, eval_doc=None, df=None):
        return self.df[-n:]


SAMPLER_REGISTRY["from_the_end"] = Last


def prompt(doc):
    return doc["q"]
"""
TASK = """task: t
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl, train: train.jsonl}}
test_split: test
fewshot_split: train
num_fewshot: 1
target_delimiter: ""
fewshot_config: {sampler: from_the_end}
output_type: generate_until
doc_to_text: !function helpers.prompt
doc_to_target: "{{a}}"
metric_list: [{metric: holds}]
filter_list: [{name: loud, filter: [{function: shout}, {function: take_first}]}]
"""
PROGRAM = """
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
manager = TaskManager(include_path=".", include_defaults=False)
task = manager.load(["t"])["tasks"]["t"]
made = simple_evaluate(model="mine", model_args="word=four", tasks=["t"], task_manager=manager)
print(made["results"]["t"]["holds,loud"], made["samples"]["t"][0]["filtered_resps"])
"""

MODULE = """
import json

from datasets import Dataset
from opencompass.datasets.base import BaseDataset
from opencompass.models.base import BaseModel
from opencompass.openicl.icl_evaluator import BaseEvaluator
from opencompass.registry import ICL_EVALUATORS, LOAD_DATASET, MODELS, TEXT_POSTPROCESSORS


@MODELS.register_module()
class OwnModel(BaseModel):
    def __init__(self, path, max_seq_len=10, tokenizer_only=False, meta_template=None, word="4"):
        super().__init__(path, max_seq_len, tokenizer_only, meta_template)
        self.word = word

    def generate(self, inputs, max_out_len):
        return [f"so {self.word}"] * len(inputs)


@LOAD_DATASET.register_module(name="own_rows")
class OwnRows(BaseDataset):
    @staticmethod
    def load(path):
        return Dataset.from_list([json.loads(line) for line in open(path)])


@ICL_EVALUATORS.register_module(["own_share", "own_part"])
class OwnShare(BaseEvaluator):
    def score(self, predictions, references):
        return {"share": 100 * sum(map(str.__eq__, predictions, references)) / len(references)}


@TEXT_POSTPROCESSORS.register_module("own_last")
def own_last(text):
    return text[-1:]
"""
CONFIG = """
IMPORTS
datasets = [dict(
    abbr="x", type="own_rows", path="rows.jsonl", reader_cfg=dict(input_columns=["q"], output_column="a"),
    infer_cfg=dict(prompt_template=dict(type="PromptTemplate", template="{q}"), retriever=dict(type="ZeroRetriever"),
                   inferencer=dict(type="GenInferencer")),
    eval_cfg=dict(evaluator=dict(type="own_part"), pred_postprocessor=dict(type="own_last")))]
models = [dict(type="OwnModel", abbr="m", path="-", max_out_len=5, batch_size=2)]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "own.py").write_text(MODULE)
    (tmp_path / "t.yaml").write_text(TASK)
    (tmp_path / "train.jsonl").write_text('{"q": "9+9?", "a": "TWO"}\n{"q": "3+3?", "a": "FOUR"}\n')
    return tmp_path


def rows(folder: Path, *answers: str) -> None:
    lines = [{"q": f"{number}?", "a": answer} for number, answer in enumerate(answers)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))


def run(folder: Path, *arguments: str) -> dict[str, dict[str, object]]:
    made = tests_warm.python("-m", "proctor", "run", *arguments, "--trust-code", "-o", "out", cwd=folder)
    assert made.returncode == 0, made.stderr
    results: dict[str, dict[str, object]] = json.loads((folder / "out" / "results.json").read_text())["results"]
    return results


def test_a_task_and_the_command_line_find_what_its_helpers_register(folder):
    rows(folder, "FOUR AGAIN", "FOUR")
    assert run(folder, "t.yaml", "--model", "mine", "--model-args", "word=four")["t"]["score"] == 1.0


def test_the_command_line_finds_a_metric_that_helpers_register(folder):
    rows(folder, "four again", "two")
    scores = run(folder, "t.yaml", "--model", "mine", "--model-args", "word=four", "--metric", "holds")["t"]
    assert (scores["holds"], scores["n"]) == (0.0, 2)


def test_a_program_finds_what_helpers_register(folder):
    rows(folder, "FOUR AGAIN", "FOUR")
    (folder / "program.py").write_text(PROGRAM)
    made = tests_warm.python("-m", "proctor.compat", "program.py", cwd=folder, env={"PROCTOR_TRUST_CODE": "1"})
    assert made.stdout.strip() == "1.0 ['FOUR AGAIN']", made.stderr


@pytest.mark.parametrize("imports", ["import own", "from own import OwnRows", "custom_imports = dict(imports=['own'])"])
def test_a_config_finds_what_modules_beside_it_register(folder, imports):
    rows(folder, "4", "5")
    (folder / "config.py").write_text(CONFIG.replace("IMPORTS", imports))
    assert run(folder, "config.py")["x"]["share"] == 50.0


def test_what_is_registered_and_not_trusted_is_said_to_be_code(folder):
    rows(folder, "4", "5")
    (folder / "config.py").write_text(CONFIG.replace("IMPORTS", "import own"))
    done = proctor("run", "config.py", "--model", "scripted", "--model-args", "answer=4", cwd=folder)
    assert done.returncode == 2
    assert "OwnShare" in done.stderr
    assert "--trust-code" in done.stderr


def test_a_retriever_of_a_config_is_refused_with_what_may_be_its_own(folder):
    rows(folder, "4", "5")
    text = CONFIG.replace("IMPORTS", "from own import OwnRetriever").replace('"ZeroRetriever"', "OwnRetriever")
    (folder / "config.py").write_text(text)
    done = proctor("run", "config.py", "--trust-code", cwd=folder)
    assert done.returncode == 2
    assert "a retriever is not run" in " ".join(done.stderr.split())


def test_a_sampler_that_fails_is_not_proctors_fault(folder):
    rows(folder, "4")
    (folder / "helpers.py").write_text(
        HELPERS.replace("self.df[-n:]", "self.docs[-n:]").replace('("mine")', '("mine too")')
    )
    done = proctor("run", "t.yaml", "--model", "scripted", "--model-args", "answer=4", "--trust-code", cwd=folder)
    assert "the sampler Last fails" in " ".join(done.stderr.split())
    assert "a fault of Proctor" not in done.stderr
