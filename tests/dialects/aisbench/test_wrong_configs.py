"""Wrong configs: everything that the file alone can tell is found before anybody is asked, with the closest name."""

from __future__ import annotations

import pytest

from proctor.dialects.aisbench.models import find_models
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
    (
        "pred_postprocessor=dict(type=first_option",
        "sc_size=3, pred_postprocessor=dict(type=first_option",
        "sc_size votes among several answers",
    ),
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
    ('"[0:3]"', '"[3:0]"', "takes no row"),
    ('"[0:3]"', "-5", "test_range is -5"),
    ('"[0:3]"', "1.5", "a fraction between 0 and 1"),
    ("fix_id_list=[0]", 'fix_id_list=[0, "1"]', "fix_id_list has positions from 0 on"),
    ("type=JsonlDataset", "type=PromptTemplate", "'PromptTemplate' is not a dataset"),
    ("type=JsonlDataset", 'type=["JsonlDataset"]', "the type of a dataset is a class"),
    ('path="sums.jsonl"', "path=5", "'path' of a dataset is a text"),
    ('abbr="sums"', "abbr=5", "'abbr' of a dataset is a text"),
    ('input_columns=["question"]', 'input_columns=["question", 5]', "a column is a name"),
    ('output_column="answer"', 'output_column="answer", train_split=3', "'train_split' is the name of a split"),
    (
        'dict(role="HUMAN", prompt="{question}")',
        'dict(role="SYSTEM", fallback_role="HUMEN", prompt="{question}")',
        "did you mean 'HUMAN'",
    ),
    ('ice_token="</E>",', 'ice_token="</E>", sep_token=5,', "'sep_token' is a text"),
    ('template="{question}={answer}"', 'template=""', "a template is empty"),
    ("evaluator=dict(type=AccEvaluator)", "evaluator=dict(lower=True)", "the evaluator has no type"),
    ("evaluator=dict(type=AccEvaluator),", "", "eval_cfg has no evaluator"),
    ('dict(type=first_option_postprocess, options="ABCD")', "first_option_postprocess", "a post-processor is a dict"),
    ('dict(type=first_option_postprocess, options="ABCD")', '["x"]', "a post-processor is a dict"),
    ('dict(type=first_option_postprocess, options="ABCD")', 'dict(options="ABCD")', "a post-processor has no type"),
    ('options="ABCD"', "options=4", "'options' are letters"),
    ('options="ABCD"', 'options="ABCD", cushion="maybe"', "'cushion' of first_option_postprocess is a bool"),
    ('dataset_abbrs=["sums"]', 'dataset_abbrs="sums"', "'dataset_abbrs' is a list of names"),
    ('dataset_abbrs=["sums"]', 'dataset_abbrs=["smus"]', "did you mean 'sums'"),
    ('dataset_abbrs=["sums"]', "dataset_abbrs=[5]", "an entry of 'dataset_abbrs' is not a dataset"),
    ('dataset_abbrs=["sums"]', 'dataset_abbrs=[["sums", "acuracy"]]', "did you mean 'accuracy'"),
    ('dataset_abbrs=["sums"]', 'dataset_abbrs=[["sums"]]', "an entry of 'dataset_abbrs' is not a dataset"),
    ('subsets=["sums"]', 'subsets=["smus"]', "did you mean 'sums'"),
    ('subsets=["sums"]', 'subsets="sums"', "'subsets' is a list of names"),
    ('subsets=["sums"]', 'subsets=["sums"], weights=dict(smus=2)', "there is a weight for 'smus'"),
    ('subsets=["sums"]', 'subsets=["sums"], weights=[1]', "'weights' is a dictionary by datasets"),
    ('subsets=["sums"]', 'subsets=["sums"], weights=dict(sums="two")', "the weight of 'sums' is a number"),
    ('subsets=["sums"]', 'subsets=["sums"], weights=dict(sums=-1)', "the weight of 'sums' is a number"),
    ('subsets=["sums"]', 'subsets=["sums", ["sums", "accuracy"]]', "some datasets with a metric and some without"),
    ('subsets=["sums"]', 'subsets=["sums"], std=True, sum=True', "says in two ways what it is"),
    ('subsets=["sums"]', 'subsets=["sums"], harmonic_mean=True, weights=dict(sums=2)', "says in two ways what it is"),
    ('subsets=["sums"]', 'subsets=["sums"], std=True, metric="spread"', "says in two ways what it is"),
    ('subsets=["sums"]', 'subsets=["sums"], std="yes"', "'std' of a group is True or False"),
    ('subsets=["sums"]', 'subsets=["all"]', "is one of its own subsets"),
    ('[dict(name="all", subsets=["sums"])]', 'dict(name="all", subsets=["sums"])', "summary_groups is a list"),
    ('dict(name="all"', "dict(name=5", "the name of a group is a text"),
    ("summarizer = dict(", 'summarizer = dict(type="DefaultSumarizer", ', "did you mean 'DefaultSummarizer'"),
    ("datasets = [\n    dict(", 'datasets = [["x"],\n    dict(', "an entry of 'datasets' is not a dictionary"),
    ("type=JsonlDataset", "type=None", "the dataset 'sums' has no type"),
    ("(type=AccEvaluator)", "(type=5)", "the evaluator has no type"),
    ('output_column="answer"', 'output_column=""', "output_column is one name"),
    ('output_column="answer"', 'output_column="answer", test_split=["test"]', "'test_split' is the name of a split"),
    ('output_column="answer"', 'output_column="answer", test_split=""', "'test_split' is the name of a split"),
    ('input_columns=["question"]', 'input_columns=["question", ""]', "a column is a name"),
    ("retriever=dict(type=FixKRetriever, fix_id_list=[0]),", "", "an ice_template and no retriever"),
    ('dict(role="HUMAN", prompt', 'dict(role="", prompt', "'role' of a turn is the name of a role"),
    ("evaluator=dict(type=AccEvaluator)", "evaluator=None", "eval_cfg has no evaluator"),
    ("(type=AccEvaluator)", '(type=AccEvaluator, pred_postprocessor=dict(type="firstcapital"))', "firstcapital"),
    ('dict(type=first_option_postprocess, options="ABCD")', "{}", "a post-processor has no type"),
    ('options="ABCD"', 'options=""', "'options' are letters"),
    ('options="ABCD"', "options=None", "first_option_postprocess needs 'options'"),
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
    (HF, 'abbr="m"', "abbr=7", "'abbr' is a text"),
    (HF, "batch_size=4", 'batch_size=4, gen_config="greedy"', "'gen_config' is a dictionary"),
    (HF, "batch_size=4", 'batch_size=4, meta_template=dict(round=[dict(role="HUMAN"), dict(role="BOT")])', "generates"),
    (HF, "batch_size=4", "batch_size=4, run_cfg=5", "'run_cfg' is a dictionary"),
    (HF, "batch_size=4", "batch_size=4, meta_template=dict(rounds=[])", "'round'"),
    (HF, "batch_size=4", 'batch_size=4, meta_template="chatml"', "'meta_template' is a dictionary"),
    (HF, "batch_size=4", 'batch_size=4, meta_template=dict(round=[dict(begin="x")])', "needs a 'role'"),
    (
        HF,
        "batch_size=4",
        'batch_size=4, meta_template=dict(round=[dict(role="HUMAN", begn="x"), dict(role="BOT", generate=True)])',
        "did you mean 'begin'",
    ),
    (
        HF,
        "batch_size=4",
        'batch_size=4, meta_template=dict(round=[dict(role="USER"), dict(role="MODEL", generate=True)])',
        "'HUMAN' speaks in 'sums', and the model 'm' has no such role",
    ),
    (HF, "batch_size=4", 'batch_size=4, pred_postprocessor=dict(type="nope")', "there is no post-processor 'nope'"),
    (HF, "temperature=0.5", "temprature=0.5", "did you mean 'temperature'"),
    (SERVER, "temperature=0.5", "stop=5", "'stop' is a text or a list of texts"),
    (SERVER, "temperature=0.5", "max_tokens=0", "'max_tokens' is a number of tokens"),
    (SERVER, "temperature=0.5", 'ignore_eos="no"', "'ignore_eos' is True or False"),
    (SERVER, "temperature=0.5", "min_p=3", "'min_p' is a share of 1"),
    (SERVER, "host_port=8080", "host_port=8080, url=5", "'url' is an address"),
    (SERVER, "host_port=8080", "host_port=8080, api_key=5", "'api_key' is a text"),
    (SERVER, "host_port=8080", 'host_port=8080, attr="servce"', "did you mean 'service'"),
    (SERVER, "host_port=8080", "host_port=8080, request_rate=70000", "64,000 at most"),
    (SERVER, "host_port=8080", "host_port=8080, traffic_cfg=5", "'traffic_cfg' is a dictionary"),
    (SERVER, "host_port=8080", "host_port=8080, traffic_cfg=dict(burstines=1)", "did you mean 'burstiness'"),
    (SERVER, "host_port=8080", 'host_port=8080, traffic_cfg=dict(ramp_up_strategy="liner")', "did you mean 'linear'"),
    (SERVER, "host_port=8080", "host_port=8080, traffic_cfg=dict(burstiness=-1)", "'burstiness' is a number"),
    (SERVER, 'dict(role="HUMAN", prompt="{question}")', 'dict(role="ASK", prompt="{question}")', "'ASK' speaks in"),
    (SERVER, "temperature=0.5", "temperatur=0.5", "did you mean 'temperature'"),
    (SERVER, "temperature=0.5", "seeds=5", "did you mean 'seed'"),
    (SERVER, "temperature=0.5", "messages=[]", "'messages' of generation_kwargs cannot be honoured"),
    (SERVER, "temperature=0.5", "stream=True", "'stream' is a key of the model"),
    (SERVER, "temperature=0.5", 'model="other"', "'model' is a key of the model"),
    (SERVER, "host_port=8080", 'host_port=8080, meta_template=[dict(role="HUMAN")]', "a meta_template needs a 'round'"),
    (SERVER, "type=VLLMCustomAPIChat, ", "", "the model 'm' has no type"),
]
MEDIA = [
    ("txt=dict(text='{question}')", "did you mean 'text'"),
    ("image=dict(image_url=dict(ur='{image}'))", "the template of 'image' needs 'image_url'"),
    ("text=dict(type='text')", "the template of 'text' needs 'text'"),
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
        assert validate(written(tmp_path, names, "sums", "sums"))[1] == []


@pytest.mark.parametrize("old, new, words", DATASETS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_with_a_dataset_is_found(tmp_path, old, new, words):
    assert words in said(validate(written(tmp_path, HF, old, new))[1])


@pytest.mark.parametrize("names, old, new, words", MODELS, ids=lambda value: str(value)[:40])
def test_what_is_wrong_with_a_model_is_found(tmp_path, names, old, new, words):
    assert words in said(validate(written(tmp_path, names, old, new))[1])


@pytest.mark.parametrize("shape, words", MEDIA)
def test_what_is_wrong_with_the_parts_of_a_multimodal_turn_is_found(tmp_path, shape, words):
    turn = 'dict(role="HUMAN", prompt="{question}")'
    assert words in said(validate(written(tmp_path, SERVER, turn, f'dict(role="HUMAN", prompt_mm=dict({shape}))'))[1])


@pytest.mark.parametrize("old, new, words", DATASETS, ids=lambda value: str(value)[:40])
def test_nobody_is_asked_by_a_wrong_dataset(tmp_path, old, new, words):
    with pytest.raises(ProctorError) as caught:
        resolve_name(str(written(tmp_path, HF, old, new)), ExamOptions())
    assert words in str(caught.value)


RIGHT = [
    ('test_range="[0:3]"', "test_range=0.5"),
    ('test_range="[0:3]"', 'test_range="[-2:]"'),
    ('dataset_abbrs=["sums"]', 'dataset_abbrs=["sums_2", ["other", "rouge1"], "all"]'),
    (
        'dict(name="all", subsets=["sums"])',
        'dict(name="all", subsets=["sums"]), dict(name="sums", subsets=[["sums", "accuracy"]])',
    ),
    ('subsets=["sums"]', 'subsets=[["sums", "accuracy"]], weights={"sums@accuracy": 0.5}'),
    ("MORE", 'meta_template=dict(round=[dict(role="HUMAN", api_role="HUMAN"), dict(role="BOT", generate=True)])'),
    ("MORE", "generation_kwargs=dict(stop=['a'], min_p=0.1, own_key=3)"),
    ("MORE", 'host_ip="::1", traffic_cfg=dict(burstiness="", ramp_up_strategy="linear")'),
]


@pytest.mark.parametrize("old, new", RIGHT, ids=lambda value: str(value)[:40])
def test_what_is_right_is_not_refused(tmp_path, old, new):
    if old == "MORE":
        old = SERVER["MORE"]
    assert said(validate(written(tmp_path, SERVER, old, new))[1]) == ""


def test_all_problems_are_said_at_once_with_their_places(tmp_path):
    path = written(tmp_path, HF, "test_range=", "test_rnage=")
    path.write_text(path.read_text().replace("max_out_len=8", "max_out_lenn=8").replace("prompt=", "promt=", 1))
    problems = validate(path)[1]
    assert [each.path for each in problems] == [
        "$.infer_cfg.prompt_template.template.round[0].promt",
        "$.reader_cfg.test_rnage",
        "$.infer_cfg.inferencer.max_out_lenn",
    ]
    assert [each.location.line for each in problems] == [23, 15, 30]


# -- what a config says about judges, names and turns ------------------------------------------------------------------

JUDGE = """
judge = dict(
    judge_model=dict(type=VLLMCustomAPIChat, abbr="judge", host_port=8080),
    judge_dataset_type=LLMJudgeDataset,
    judge_reader_cfg=dict(input_columns=["question", "answer", "model_answer"], output_column="model_pred_uuid"),
    prompt_template=dict(
        type=PromptTemplate, template=dict(round=[dict(role="HUMAN", prompt="{question} {answer} {model_answer}")])
    ),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(type=GenInferencer),
)
datasets[0]["judge_infer_cfg"] = judge
"""
IMPORTS = "from ais_bench.benchmark.datasets.utils.llm_judge import LLMJudgeDataset\n"
JUDGES = [
    ("{model_answer}", "{model_anwser}", "did you mean 'model_answer'"),
    (" {model_answer}", "", "does not show the answer"),
    ("judge_dataset_type=LLMJudgeDataset,", "", "needs judge_dataset_type"),
    ("judge_reader_cfg=", "judge_readr_cfg=", "did you mean 'judge_reader_cfg'"),
    ("= judge\n", '= "judge"\n', "judge_infer_cfg is not a dictionary"),
    ("type=ZeroRetriever", "type=FixKRetriever, fix_id_list=[0]", "cannot be shown the examples of 'FixKRetriever'"),
    ('"model_pred_uuid"', '"model_pred_uuid", test_range="[0:1]"', "every answer is judged"),
    ("type=GenInferencer", "type=GenInferencer, multiround=True", "'multiround' of the judge's inferencer"),
]


def judged(folder, old="", new=""):
    path = written(folder, SERVER, "", "")
    path.write_text(IMPORTS + path.read_text() + JUDGE.replace(old, new, 1))
    return path


def test_what_has_no_effect_of_a_judge_is_named(tmp_path):
    asked = judged(tmp_path, "type=GenInferencer", "type=GenInferencer, max_out_len=5")
    (exam,) = resolve_name(str(asked), ExamOptions())
    assert "$.judge_infer_cfg.inferencer.max_out_len" in exam.source["without_effect"]


@pytest.mark.parametrize("old, new, words", JUDGES, ids=lambda value: str(value)[:40])
def test_judges_that_would_judge_something_else_are_found(tmp_path, old, new, words):
    assert said(validate(judged(tmp_path))[1]) == ""
    assert words in said(validate(judged(tmp_path, old, new))[1])


ENDS = [
    ('summarizer["attr"] = "acuracy"', "did you mean 'accuracy'"),
    ("models.append(dict(models[0], max_out_len=9))", "different models have the name 'm'"),
    ("datasets = []", "'datasets' is empty"),
    ('models[0]["host_ip"] = "999.1.1.1"', "'host_ip' is not an address"),
    (
        'datasets[0]["infer_cfg"]["prompt_template"] = dict(type=PromptTemplate, template=dict(round=[]))',
        "has no turns",
    ),
    (
        (
            'datasets[0]["infer_cfg"]["inferencer"] = dict(type="PPLInferencer", labels=["Z"])\n'
            'datasets[0]["infer_cfg"]["prompt_template"] = dict(type=PromptTemplate, template=dict(A="</E>a", B="</E>b"), '
            'ice_token="</E>")'
        ),
        "no words for the label 'Z'",
    ),
    (
        (
            'datasets[0]["infer_cfg"]["inferencer"] = dict(type="PPLInferencer")\n'
            'datasets[0]["infer_cfg"]["prompt_template"] = dict(type=PromptTemplate, template=dict(A="", B="</E>b"), '
            'ice_token="</E>")'
        ),
        "the words of a label are empty",
    ),
    (
        (
            'datasets[0]["infer_cfg"]["inferencer"] = dict(type="MultiTurnGenInferencer")\n'
            'datasets[0]["infer_cfg"]["prompt_template"]["template"]["round"].pop()'
        ),
        "no turn of the dialogue is the model's",
    ),
]


@pytest.mark.parametrize("line, words", ENDS, ids=lambda value: str(value)[:40])
def test_what_would_ask_nothing_or_for_nobody_is_found(tmp_path, line, words):
    path = written(tmp_path, SERVER, "", "")
    path.write_text(f"{path.read_text()}\n{line}\n")

    assert words in said(validate(path)[1])


def test_different_models_of_one_name_are_not_run_as_one(tmp_path):
    path = written(tmp_path, SERVER, "", "")
    path.write_text(f"{path.read_text()}\nmodels.append(dict(models[0], max_out_len=9))\n")

    with pytest.raises(ProctorError, match="different models have the name 'm'"):
        find_models(str(path))
    path.write_text(path.read_text().replace("max_out_len=9", ""))
    assert len(find_models(str(path))) == 1
