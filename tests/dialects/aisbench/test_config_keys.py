"""No key of a config is dropped in silence: it is used, has no effect for a reason that is listed, or is refused."""

from __future__ import annotations

import pytest

from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.exam import dataset_exam
from proctor.dialects.aisbench.file_keys import file_problems
from proctor.dialects.aisbench.models import model_config
from proctor.dialects.aisbench.values import ConfigDict, Reference
from proctor.errors import Location, ValidationError


def dataset(**more):
    values = {
        "abbr": "sums",
        "type": Reference("opencompass.datasets.JsonlDataset"),
        "path": "sums.jsonl",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
            "retriever": {"type": "ZeroRetriever"},
            "inferencer": ConfigDict({"type": "GenInferencer"}, location=Location("c.py", 7, 5)),
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
    }
    return ConfigDict({**values, **more}, location=Location("c.py", 3, 1))


def problems(values):
    with pytest.raises(ValidationError) as caught:
        dataset_config(values)
    return caught.value.diagnostics


@pytest.mark.parametrize(
    "part, key, hint",
    [
        ("reader_cfg", "test_rnage", "did you mean 'test_range'"),
        ("infer_cfg", "retriver", "did you mean 'retriever'"),
        ("eval_cfg", "pred_postprocesor", "did you mean 'pred_postprocessor'"),
    ],
)
def test_a_misspelt_key_is_refused_with_the_closest_one(part, key, hint):
    values = dataset()
    values[part] = {**values[part], key: 1}
    (problem,) = problems(values)
    assert f"knows no '{key}'" in problem.what
    assert problem.path == f"$.{part}.{key}"
    assert hint in problem.hint


def test_a_misspelt_argument_of_the_dataset_and_of_the_inferencer_at_once():
    values = dataset(pth="x")
    values["infer_cfg"]["inferencer"]["max_out_length"] = 5
    argument, inferencer = problems(values)
    assert "the dataset type knows no 'pth'" in argument.what
    assert "did you mean 'path'" in argument.hint
    assert str(argument.location) == "c.py:3:1"
    assert "did you mean 'max_out_len'" in inferencer.hint
    assert str(inferencer.location) == "c.py:7:5"


def test_rounds_of_a_generation_are_a_conversation_that_is_sent_whole():
    values = dataset()
    values["infer_cfg"]["inferencer"] |= {"multiround": True, "max_seq_len": 9}
    found = dataset_config(values)
    assert found.inferencer.kind == "rounds"
    assert "sent whole" in found.without_effect["$.infer_cfg.inferencer.max_seq_len"]


def test_what_has_no_effect_is_listed_with_its_reason():
    values = dataset()
    values["infer_cfg"]["inferencer"]["batch_size"] = 4
    values["infer_cfg"]["retriever"]["index_split"] = "train"
    values["eval_cfg"]["pred_role"] = "BOT"
    found = dataset_exam(dataset_config(values)).specification()["without_effect"]
    assert set(found) == {
        "$.infer_cfg.inferencer.batch_size",
        "$.infer_cfg.retriever.index_split",
        "$.eval_cfg.pred_role",
    }
    assert all(found.values())


def test_arguments_of_types_that_functions_read_are_not_judged():
    assert dataset_config(dataset(type=Reference("opencompass.datasets.HFDataset"), anything=1)).abbr == "sums"
    assert dataset_config(dataset(type=Reference("my.package.Dataset"), anything=1)).abbr == "sums"


class TestModels:
    def model(self, **more):
        return {"type": Reference("opencompass.models.HuggingFace"), "abbr": "m", "path": "x", **more}

    @pytest.mark.parametrize(
        "more, words",
        [
            ({"fastchat_template": "vicuna"}, "'fastchat_template' of HuggingFace cannot be honoured"),
            ({"lora_path": "y"}, "'lora_path' of HuggingFace cannot be honoured"),
            ({"type": "VLLM", "lora_path": "y"}, "'lora_path' of VLLM cannot be honoured"),
            ({"generation_kwargs": {"n": 4}}, "several answers to one row"),
            ({"generation_kwargs": {"num_beams": 4}}, "do not search with beams"),
            ({"max_sq_len": 4}, "did you mean 'max_seq_len'"),
        ],
    )
    def test_what_would_change_answers_is_refused(self, more, words):
        with pytest.raises(ValidationError, match=words):
            model_config(self.model(**more))

    def test_what_is_switched_off_is_taken(self):
        found = model_config(
            self.model(
                min_out_len=1, generation_kwargs={"num_beams": 1, "ignore_eos": False, "num_return_sequences": 1}
            )
        )
        assert found.decoding == {}

    def test_what_has_no_effect_is_said(self):
        (note,) = model_config(self.model(run_cfg={"num_gpus": 1})).notes
        assert "run_cfg (engines take what the machine has)" in note

    def test_further_arguments_of_servers_are_decoding(self):
        model = self.model(openai_extra_kwargs={"top_p": 0.5}) | {"type": "OpenAISDK"}
        assert model_config(model).decoding == {"top_p": 0.5}


@pytest.mark.parametrize(
    "name, is_slip",
    [("dataset", True), ("datsets", True), ("dataests", True), ("data_list", False), ("all_data", False)],
)
def test_lists_by_nearly_the_right_name_are_slips_and_lists_of_a_file_s_own_are_not(name, is_slip):
    values = {name: [ConfigDict({"abbr": "a"})], "own_datasets": [ConfigDict({"abbr": "b"})]}
    found = [each.what for each in file_problems(values) if "nothing reads" in each.what]
    assert bool(found) is is_slip


def test_words_that_a_dataset_type_takes_are_known_before_data_is_read():
    kind = Reference("opencompass.datasets.WildBenchDataset")
    assert dataset_config(dataset(type=kind, eval_mode="pair")).abbr == "sums"
    with pytest.raises(ValidationError, match=r"there is no eval_mode 'pairs'(.|\n)*did you mean 'pair'"):
        dataset_config(dataset(type=kind, eval_mode="pairs"))
