"""Keys, types and names in the wrong place: each is named before anybody is asked, and none is dropped."""

from __future__ import annotations

import json

import pytest

from proctor.data import hub
from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.models import model_config
from proctor.dialects.aisbench.template_keys import template_problems
from proctor.dialects.aisbench.validate import validate
from proctor.dialects.aisbench.values import ConfigDict, Reference
from proctor.errors import DataError, ProctorError
from proctor.formats.meta_template import MetaTemplate

OPENCOMPASS = "opencompass.datasets"


def dataset(kind="HFDataset", infer=None, **more):
    parts = {
        "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
        "retriever": {"type": "ZeroRetriever"},
        "inferencer": {"type": "GenInferencer"},
        **(infer or {}),
    }
    return ConfigDict(
        {
            "abbr": "set",
            "type": Reference(f"{OPENCOMPASS}.{kind}"),
            "path": "x",
            "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
            "infer_cfg": parts,
            "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
            **more,
        }
    )


@pytest.mark.parametrize(
    "key, value, owner",
    [
        ("test_range", "[0:2]", "reader_cfg"),
        ("retriever", {"type": "ZeroRetriever"}, "infer_cfg"),
        ("max_out_len", 5, "infer_cfg.inferencer"),
        ("temperature", 0.5, "infer_cfg.inferencer"),
        ("pred_postprocessor", {"type": "general"}, "eval_cfg"),
        ("pred_role", "BOT", "eval_cfg"),
        ("num_return_sequences", 2, "models.generation_kwargs"),
    ],
)
def test_a_key_of_another_part_is_no_argument_of_a_class_that_takes_any(key, value, owner):
    with pytest.raises(ProctorError, match=f"'{key}' is a key of {owner}, not of the dataset"):
        dataset_config(dataset(**{key: value}))


@pytest.mark.parametrize("key", ["pth", "naem", "data_flies", "splitt_", "abr"])
def test_a_misspelt_argument_of_a_class_that_takes_any(key):
    known = {"pth": "path", "naem": "name", "data_flies": "data_files", "splitt_": None, "abr": "abbr"}[key]
    if known is None:  # not nearly a name of ours: the library says what it does not take
        assert dataset_config(dataset(**{key: "x"}))
        return
    with pytest.raises(ProctorError, match=f"knows no '{key}'.*\n(.*\n)*.*'{known}'"):
        dataset_config(dataset(**{key: "x"}))


@pytest.mark.parametrize("size", [0, 0.0, -2])
def test_a_range_of_no_row_is_refused(size):
    reader = {"input_columns": ["question"], "output_column": "answer", "test_range": size}
    with pytest.raises(ProctorError, match="a count from 1 on"):
        dataset_config(dataset(reader_cfg=reader))


def test_what_a_class_takes_itself_is_not_misplaced():
    assert dataset_config(dataset(split="test", data_files={"test": "rows.jsonl"})).abbr == "set"


@pytest.mark.parametrize(
    "runs", [{"k": []}, {"k": 0}, {"n": 3, "k": [0, 1]}, {"n": True}, {"n": 3, "k": True}, {"n": 0}]
)
def test_runs_are_whole_numbers_from_one_on(runs):
    with pytest.raises(ProctorError, match="whole numbers from 1 on"):
        dataset_config(dataset(**runs))


@pytest.mark.parametrize("part", ["ice_template", "inferencer", "prompt_template"])
@pytest.mark.parametrize("wrong", [5, "x", ["x"], True])
def test_a_part_that_is_no_dictionary_is_named_whatever_the_retriever_is(part, wrong):
    retriever = {"type": "FixKRetriever", "fix_id_list": [0]}
    with pytest.raises(ProctorError, match=part):
        dataset_config(dataset(infer={"retriever": retriever, part: wrong}))


def test_an_argument_of_another_type_than_the_class_has_without_it():
    with pytest.raises(ProctorError, match="'split' of InverseIFEvalDataset is a str"):
        dataset_config(dataset("InverseIFEvalDataset", split=3))


def test_the_library_names_an_argument_that_it_does_not_take(tmp_path):
    (tmp_path / "rows.jsonl").write_text(json.dumps({"a": 1}) + "\n")
    given = hub.Dataset("json", data_files={"train": str(tmp_path / "rows.jsonl")}, extra={"lines_of": 3})
    with pytest.raises(DataError, match="takes no argument 'lines_of'"):
        list(hub.rows(given, "train"))


@pytest.mark.parametrize(
    "part, name",
    [("prompt_template", "PromptTemplate"), ("retriever", "ZeroRetriever"), ("inferencer", "GenInferencer")],
)
def test_a_class_of_the_configs_own_is_not_upstreams_of_the_same_name(part, name):
    own = {"type": Reference(f"mine.own.{name}")} | ({"template": "{question}"} if part == "prompt_template" else {})
    with pytest.raises(ProctorError, match=f"no .* 'mine.own.{name}'"):
        dataset_config(dataset(infer={part: own}))


# -- models ------------------------------------------------------------------------------------------------------------

CHAT = "ais_bench.benchmark.models.VLLMCustomAPIChat"


def model(kind=CHAT, **more):
    own = {"abbr": "m", "path": "org/m"} | ({"model": "m"} if kind == CHAT else {})
    return ConfigDict({"type": Reference(kind), **own, **more})


@pytest.mark.parametrize(
    "key, owner", [("retry", "the model"), ("batch_size", "the model"), ("test_range", "the dataset")]
)
def test_what_belongs_elsewhere_is_not_told_to_who_generates(key, owner):
    with pytest.raises(ProctorError, match=f"'{key}' is a key of {owner}, not of generation_kwargs"):
        model_config(model(generation_kwargs={key: 2}))


@pytest.mark.parametrize(
    "key, value", [("stop_words", 5), ("stop_words", ["a", 2]), ("end_str", 3), ("tokenizer_path", 5)]
)
def test_texts_of_models_are_texts(key, value):
    with pytest.raises(ProctorError, match=key):
        model_config(model("opencompass.models.HuggingFaceCausalLM", **{key: value}))


def test_a_model_of_the_configs_own_is_not_upstreams_of_the_same_name():
    with pytest.raises(ProctorError, match=r"the model's type mine\.own\.VLLMCustomAPIChat is code"):
        model_config(model("mine.own.VLLMCustomAPIChat"))


ROUND = [{"role": "HUMAN", "begin": "<h>"}, {"role": "BOT", "begin": "<b>", "generate": True}]


@pytest.mark.parametrize("role", ["HMUAN", "human", "HUMN"])
def test_a_misspelt_role_of_a_meta_template_is_named(role):
    template = {"round": [{**ROUND[0], "role": role}, ROUND[1]]}
    with pytest.raises(ProctorError, match=f"no role '{role}'"):
        model_config(model("opencompass.models.HuggingFaceCausalLM", meta_template=template))


def test_roles_of_a_models_own_stay():
    template = {"round": [*ROUND], "reserved_roles": [{"role": "OBSERVER", "begin": ""}]}
    made = model_config(model("opencompass.models.HuggingFaceCausalLM", meta_template=template))
    assert made.meta_template == template


@pytest.mark.parametrize("value", ["False", 1, [True], None])
def test_whether_a_role_generates_is_true_or_false(value):
    with pytest.raises(ProctorError, match="'generate' of a role is True or False"):
        MetaTemplate(round=[ROUND[0], {**ROUND[1], "generate": value}])


def problems(turn):
    part = {"type": "PromptTemplate", "template": {"begin": [turn], "round": [{"role": "HUMAN", "prompt": "x"}]}}
    return [each.what for each in template_problems(part, "$", [])]


def test_a_misspelt_role_that_another_would_speak_for_is_named():
    assert problems({"role": "SYSTM", "fallback_role": "HUMAN", "prompt": "p"}) == ["there is no role 'SYSTM'"]
    assert problems({"role": "OBSERVER", "fallback_role": "HUMAN", "prompt": "p"}) == []
    assert problems({"role": "SYSTEM", "fallback_role": "HUMEN", "prompt": "p"}) == ["there is no role 'HUMEN'"]


@pytest.mark.parametrize("key", ["role", "fallback_role"])
def test_a_role_is_a_name(key):
    assert problems({"role": "SYSTEM", "prompt": "p", key: 5}) == [f"'{key}' of a turn is the name of a role"]


CONFIG = """
from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.utils.postprocess.model_postprocessors import extract_non_reasoning_content

models = [dict(attr="service", type=VLLMCustomAPIChat, abbr="m", path="", model="m", pred_postprocessor=READS)]
"""


@pytest.mark.parametrize(
    "reads, message",
    [
        ("dict(type=extract_non_reasoning_content)", ""),
        ("dict(type=extract_non_reasoning_content, think_start_tokn='<t>')", "does not take these arguments"),
        ("dict(type='extract_non_reasoning_contnt')", "extract_non_reasoning_contnt"),
        ("dict(type=5)", "post-processor"),
        ("{'sums*': dict(type='genral')}", "genral"),
    ],
)
def test_what_reads_a_models_answers_is_checked_with_the_file(reads, message, tmp_path):
    (tmp_path / "config.py").write_text(CONFIG.replace("READS", reads))
    found = [f"{each.path} {each.what}" for each in validate(tmp_path / "config.py")[1]]
    assert len(found) == bool(message), found
    assert all(message in each and each.startswith("$.pred_postprocessor") for each in found), found


@pytest.mark.parametrize(
    "kind, key, value, hint",
    [
        ("TEXTVQADataset", "image_type", "image_bas64", "did you mean 'image_base64'"),
        ("TEXTVQADataset", "image_type", "base64", "image_base64"),
        ("RefCOCODataset", "image_type", "image_path", "path"),
        ("RealworldQADataset", "image_type", "file", "image_path or image_base64"),
        ("VideoBenchDataset", "video_type", "path", "video_path"),
        ("VocalSoundDataset", "audio_type", "audio", "audio_path"),
    ],
)
def test_a_way_to_send_pictures_that_there_is_not(kind, key, value, hint):
    values = ConfigDict({**dataset(), "type": Reference(f"ais_bench.benchmark.datasets.{kind}"), key: value})
    with pytest.raises(ProctorError, match=f"there is no {key} '{value}'") as caught:
        dataset_config(values)
    assert hint in str(caught.value)
