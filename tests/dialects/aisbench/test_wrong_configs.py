"""Wrong configs: everything that the file alone can tell is found before anybody is asked, with the closest name."""

from __future__ import annotations

import pytest

from proctor.dialects.aisbench.resolve import resolve_name
from proctor.dialects.aisbench.validate import validate
from proctor.errors import ProctorError
from proctor.recipes.options import ExamOptions

CONFIG = """
from PACKAGE.datasets import JsonlDataset
from PACKAGE.models import MODEL
from PACKAGE.openicl.icl_evaluator import AccEvaluator
from PACKAGE.openicl.icl_inferencer import GenInferencer, ChatInferencer
from PACKAGE.openicl.icl_prompt_template import PromptTemplate
from PACKAGE.openicl.icl_retriever import FixKRetriever, RandomRetriever, ZeroRetriever
from PACKAGE.utils.text_postprocessors import first_option_postprocess

datasets = [
    dict(
        abbr="sums",
        type=JsonlDataset,
        path="sums.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="answer", test_range="[0:3]"),
        infer_cfg=dict(
            ice_template=dict(type=PromptTemplate, template="{question}={answer}"),
            prompt_template=dict(
                type=PromptTemplate,
                template=dict(
                    begin=["</E>"],
                    round=[
                        dict(role="HUMAN", prompt="{question}"),
                        dict(role="BOT", prompt="{answer}"),
                    ],
                ),
                ice_token="</E>",
            ),
            retriever=dict(type=FixKRetriever, fix_id_list=[0]),
            inferencer=dict(type=GenInferencer, max_out_len=8),
        ),
        eval_cfg=dict(
            evaluator=dict(type=AccEvaluator),
            pred_postprocessor=dict(type=first_option_postprocess, options="ABCD"),
        ),
    )
]
models = [dict(type=MODEL, abbr="m", path="x", batch_size=4, max_out_len=10, MORE)]
summarizer = dict(dataset_abbrs=["sums"], summary_groups=[dict(name="all", subsets=["sums"])])
"""
HF = {"PACKAGE": "opencompass", "MODEL": "HuggingFace", "MORE": "generation_kwargs=dict(temperature=0.5)"}
SERVER = {
    "PACKAGE": "ais_bench.benchmark",
    "MODEL": "VLLMCustomAPIChat",
    "MORE": "host_port=8080, generation_kwargs=dict(temperature=0.5)",
}

DATASETS = [
    ('path="sums.jsonl"', 'pth="sums.jsonl"', "did you mean 'path'"),
    ('path="sums.jsonl",', "", "JsonlDataset needs 'path'"),
    ('abbr="sums"', 'abr="sums"', "did you mean 'abbr'"),
    ("reader_cfg=dict(", "reader_config=dict(", "did you mean 'reader_cfg'"),
    ("infer_cfg=dict(", "infer_cgf=dict(", "did you mean 'infer_cfg'"),
    ("eval_cfg=dict(", "evl_cfg=dict(", "did you mean 'eval_cfg'"),
    ("type=JsonlDataset", 'type="JsonlDatset"', "did you mean 'JsonlDataset'"),
    ('abbr="sums"', 'abbr="sums", n=0', "no k may be larger than n"),
    ('abbr="sums"', 'abbr="sums", n=2, k=4', "no k may be larger than n"),
    ('abbr="sums"', 'abbr="sums", n="2"', "n is '2'"),
    ("test_range=", "test_rnage=", "did you mean 'test_range'"),
    ('"[0:3]"', '"[0:three]"', "is not a range"),
    ('"[0:3]"', "[0, 3]", "test_range is [0, 3]"),
    ('"[0:3]"', '"0:3"', "is not a range"),
    ("output_column=", "output_colunm=", "did you mean 'output_column'"),
    ('output_column="answer"', 'output_column=["answer"]', "output_column is one name"),
    ('input_columns=["question"], ', "", "reader_cfg needs input_columns"),
    ('input_columns=["question"]', "input_columns=5", "reader_cfg needs input_columns"),
    ("ice_template=dict(", "ice_tmplate=dict(", "did you mean 'ice_template'"),
    ("prompt_template=dict(", "promt_template=dict(", "did you mean 'prompt_template'"),
    ("retriever=dict(type", "retriver=dict(type", "did you mean 'retriever'"),
    ("inferencer=dict(", "inferencr=dict(", "did you mean 'inferencer'"),
    (
        'dict(type=PromptTemplate, template="{question}={answer}")',
        'dict(type="PromtTemplate", template="x")',
        "PromtTemplate",
    ),
    ('template="{question}={answer}"', "template=5", "a template is a text or a dictionary"),
    ('template="{question}={answer}"', 'template=["{question}"]', "a template is a text or a dictionary"),
    ('template="{question}={answer}"', 'tmplate="{question}"', "did you mean 'template'"),
    ('template="{question}={answer}"', 'template="{qustion}={answer}"', "did you mean 'question'"),
    ("round=[", "ruond=[", "did you mean 'round'"),
    ("begin=[", "begn=[", "did you mean 'begin'"),
    ('dict(role="HUMAN", prompt="{question}")', 'dict(role="HUMAN", promt="{question}")', "did you mean 'prompt'"),
    ('dict(role="HUMAN", prompt="{question}")', 'dict(role="HUMAN")', "a turn has no prompt"),
    ('dict(role="HUMAN", prompt="{question}")', '"{question}"', "a turn of a round is a text"),
    ('dict(role="HUMAN", prompt="{question}")', "7", "an item of a dialogue is a text or a dict"),
    ('dict(role="HUMAN", prompt="{question}")', 'dict(role="HUMAN", prompt=7)', "'prompt' has to be a text"),
    ('dict(role="HUMAN"', 'dict(role="HUMEN"', "did you mean 'HUMAN'"),
    ('dict(role="HUMAN"', 'dict(rol="HUMAN"', "did you mean 'role'"),
    ('begin=["</E>"],', "", "the ice token '</E>' is missing"),
    ('ice_token="</E>",', "", "no ice_token"),
    ("type=FixKRetriever, fix_id_list=[0]", 'type="FixKRetreiver", fix_id_list=[0]', "did you mean 'FixKRetriever'"),
    ("fix_id_list=[0]", "fix_id_lst=[0]", "did you mean 'fix_id_list'"),
    ("fix_id_list=[0]", "fix_id_list=[-1]", "fix_id_list has positions from 0 on"),
    ("type=FixKRetriever, fix_id_list=[0]", "type=RandomRetriever, ice_num=-2", "greater than or equal to 0"),
    ("type=FixKRetriever, fix_id_list=[0]", 'type=RandomRetriever, ice_num="two"', "ice_num"),
    ("type=GenInferencer", 'type="GenInferencr"', "did you mean 'GenInferencer'"),
    ("max_out_len=8", "max_out_lenn=8", "did you mean 'max_out_len'"),
    ("max_out_len=8", 'max_out_len="8"', "max_out_len is a number of tokens"),
    ("max_out_len=8", "max_out_len=-8", "max_out_len is a number of tokens"),
    ("max_out_len=8", "stopping_criteria=5", "stopping_criteria is a list of texts"),
    ("type=GenInferencer, max_out_len=8", 'type=ChatInferencer, infer_mode="evry"', "did you mean 'every'"),
    ("evaluator=dict(type=AccEvaluator)", "evaluatr=dict(type=AccEvaluator)", "did you mean 'evaluator'"),
    ("type=AccEvaluator", 'type="AccEvalutor"', "did you mean 'AccEvaluator'"),
    ("type=AccEvaluator", "type=AccEvaluator, lower=True", "has no argument 'lower'"),
    ("evaluator=dict(type=AccEvaluator)", "evaluator=AccEvaluator", "the evaluator is not a dictionary"),
    ("pred_postprocessor=", "pred_postproccessor=", "did you mean 'pred_postprocessor'"),
    ("type=first_option_postprocess", 'type="first_option_postproces"', "did you mean 'first_option_postprocess'"),
    ('options="ABCD"', 'optoins="ABCD"', "optoins"),
    ("dataset_abbrs=", "dataset_abbr=", "did you mean 'dataset_abbrs'"),
    ("summary_groups=", "summery_groups=", "did you mean 'summary_groups'"),
    ('subsets=["sums"]', 'subset=["sums"]', "did you mean 'subsets'"),
    ("datasets = [\n    dict(", "dataset = [\n    dict(", "did you mean 'datasets'"),
    ("models = [", "model = [", "did you mean 'models'"),
]
MODELS = [
    (HF, 'path="x"', 'pth="x"', "did you mean 'path'"),
    (HF, "batch_size=4", "batch_sze=4", "did you mean 'batch_size'"),
    (HF, "batch_size=4", 'batch_size="4"', "'batch_size' is a whole number"),
    (HF, "max_out_len=10", "max_out_length=10", "did you mean 'max_out_len'"),
    (HF, "max_out_len=10", "max_out_len=0", "'max_out_len' is a number of tokens"),
    (HF, "generation_kwargs=", "generation_kwrgs=", "did you mean 'generation_kwargs'"),
    (HF, "temperature=0.5", 'temperature="hot"', "'temperature' is a number"),
    (HF, "type=HuggingFace,", 'type="HugingFace",', "HuggingFace"),
    (SERVER, "host_port=8080", 'host_port="8080"', "'host_port' is a port"),
    (SERVER, "host_port=8080", "host_prt=8080", "did you mean 'host_port'"),
    (SERVER, "host_port=8080", "query_per_second=2", "knows no 'query_per_second'"),
    (SERVER, "temperature=0.5", "num_return_sequences=0", "'num_return_sequences' is a whole number, 1 or more"),
    (SERVER, "temperature=0.5", "n=3", "several answers to one row"),
]


def written(tmp_path, names, old, new):
    text = CONFIG
    for mark, value in names.items():
        text = text.replace(mark, value)
    assert text.count(old) >= 1
    path = tmp_path / "config.py"
    path.write_text(text.replace(old, new, 1))
    return path


def said(problems):
    return "\n".join(str(each) for each in problems)


def test_the_config_is_right(tmp_path):
    for names in (HF, SERVER):
        assert validate(written(tmp_path, names, "sums", "sums")) == []


@pytest.mark.parametrize("old, new, words", DATASETS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_with_a_dataset_is_found(tmp_path, old, new, words):
    assert words in said(validate(written(tmp_path, HF, old, new)))


@pytest.mark.parametrize("names, old, new, words", MODELS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_with_a_model_is_found(tmp_path, names, old, new, words):
    assert words in said(validate(written(tmp_path, names, old, new)))


@pytest.mark.parametrize("old, new, words", DATASETS, ids=lambda value: str(value)[:40])
def test_nobody_is_asked_by_a_wrong_dataset(tmp_path, old, new, words):
    with pytest.raises(ProctorError) as caught:
        resolve_name(str(written(tmp_path, HF, old, new)), ExamOptions())
    assert words in str(caught.value)


def test_all_problems_are_said_at_once_with_their_places(tmp_path):
    path = written(tmp_path, HF, "test_range=", "test_rnage=")
    path.write_text(path.read_text().replace("max_out_len=8", "max_out_lenn=8").replace("prompt=", "promt=", 1))
    problems = validate(path)
    assert [each.path for each in problems] == [
        "$.infer_cfg.prompt_template.template.round[0].promt",
        "$.reader_cfg.test_rnage",
        "$.infer_cfg.inferencer.max_out_lenn",
    ]
    assert [each.location.line for each in problems] == [23, 15, 30]
