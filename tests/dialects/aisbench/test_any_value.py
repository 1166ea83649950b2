"""Whatever stands at a place of a config: it is taken, or refused with its place; nothing is a fault of Proctor."""

from __future__ import annotations

import copy

import pytest

from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.file_keys import file_problems
from proctor.dialects.aisbench.models import model_config
from proctor.dialects.aisbench.run_sections import idle_sections
from proctor.dialects.aisbench.values import ConfigDict, Reference
from proctor.errors import ProctorError

ODD = (5, "x", [], None, ["a", 3], {"a": 1})
MODEL = {
    "type": "VLLMCustomAPIChat", "abbr": "m", "path": "", "model": "m", "host_ip": "localhost", "host_port": 8080,
    "max_out_len": 512, "batch_size": 1, "retry": 2, "request_rate": 0, "stream": False, "attr": "service",
    "generation_kwargs": {"temperature": 0.5, "num_return_sequences": 2, "stop": ["x"]},
    "traffic_cfg": {"burstiness": 0, "ramp_up_strategy": "linear"},
    "meta_template": {"round": [{"role": "HUMAN", "api_role": "HUMAN"}, {"role": "BOT", "generate": True}]},
}  # fmt: skip
TEMPLATE = {"type": "PromptTemplate", "template": {"round": [{"role": "HUMAN", "prompt": "{question} {model_answer}"}]}}
DATASET = {
    "type": Reference("ais_bench.benchmark.datasets.Aime2025Dataset"), "abbr": "d", "path": "p", "n": 1, "k": 1,
    "reader_cfg": {"input_columns": ["question"], "output_column": "answer", "test_range": "[0:3]"},
    "infer_cfg": {
        "ice_template": {"type": "PromptTemplate", "template": "Q: {question}\nA: {answer}"},
        "prompt_template": {"type": "PromptTemplate", "template": "</E>{question}", "ice_token": "</E>"},
        "retriever": {"type": "FixKRetriever", "fix_id_list": [0, 1]},
        "inferencer": {"type": "GenInferencer", "max_out_len": 10, "stopping_criteria": ["x"]},
    },
    "judge_infer_cfg": {
        "judge_reader_cfg": {"input_columns": ["question", "model_answer"], "output_column": "model_pred_uuid"},
        "judge_model": MODEL,
        "judge_dataset_type": "LLMJudgeDataset",
        "prompt_template": TEMPLATE,
        "retriever": {"type": "ZeroRetriever"},
        "inferencer": {"type": "GenInferencer"},
    },
    "eval_cfg": {
        "evaluator": {"type": "AccEvaluator"},
        "pred_postprocessor": {"type": "first_option_postprocess", "options": "ABCD"},
    },
}  # fmt: skip
READ = {"type": "generic_llmjudge_postprocess"}
JUDGE = {"type": "GenericLLMEvaluator", "prompt_template": TEMPLATE, "judge_cfg": MODEL, "dict_postprocessor": READ}
CASCADE = {"type": "CascadeEvaluator", "rule_evaluator": {"type": "AccEvaluator"}, "llm_evaluator": JUDGE}
ASKED = {name: each for name, each in DATASET.items() if name != "judge_infer_cfg"}
FILE = {
    "datasets": [{"abbr": "d"}, {"path": "rows.jsonl", "data_type": "qa", "infer_method": "gen"}],
    "models": [{"abbr": "m"}],
    "summarizer": {
        "attr": "accuracy",
        "dataset_abbrs": ["d", ["d", "accuracy"]],
        "summary_groups": [{"name": "g", "subsets": ["d", ["d", "accuracy"]], "weights": {"d": 1}}],
    },
    "infer": {"partitioner": {"type": "NaivePartitioner", "n": 1}, "runner": {"type": "LocalRunner"}},
    "work_dir": "out",
}


def places(value, at=()):
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*at, key)
        yield from places(each, (*at, key))


def with_locations(value):
    if isinstance(value, dict):
        return ConfigDict({key: with_locations(each) for key, each in value.items()})
    return [with_locations(each) for each in value] if isinstance(value, list) else value


def changed(values, place, odd):
    made = copy.deepcopy(values)
    around = made
    for key in place[:-1]:
        around = around[key]
    around[place[-1]] = odd
    return with_locations(made)


def check(call, values):
    try:
        call(values)
    except ProctorError as error:
        assert error.diagnostics


@pytest.mark.parametrize(
    "values, call",
    [
        (DATASET, lambda values: dataset_config(values).without_effect),
        ({**ASKED, "eval_cfg": {"evaluator": CASCADE}}, dataset_config),
        (MODEL, model_config),
        (FILE, lambda values: list(file_problems(values))),
        (FILE, idle_sections),
    ],
    ids=["dataset", "cascade", "model", "file", "sections"],
)
def test_odd_values_are_taken_or_refused(values, call):
    check(call, with_locations(values))
    for place in places(values):
        for odd in ODD:
            check(call, changed(values, place, odd))
