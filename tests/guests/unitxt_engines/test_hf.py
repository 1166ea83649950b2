from __future__ import annotations

import pytest

from proctor.artifacts import fetch_artifact
from proctor.engines.hf.hf_engine import HFEngine
from proctor.errors import EngineError, UnsupportedRequestError, ValidationError
from proctor.guests.unitxt.engines.hf import (
    HFAutoModelInferenceEngine,
    HFLlavaInferenceEngine,
    HFOptionSelectingInferenceEngine,
    HFPeftInferenceEngine,
    HFPipelineBasedInferenceEngine,
)
from proctor.ir import Decoding, Generate, Prompt
from proctor.settings import settings

ROWS = [{"source": "the cat sat"}, {"source": [{"role": "user", "content": "why"}]}]


@pytest.fixture(autouse=True)
def _every_engine_may_see_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.engines.inference.check_policies", lambda *_: None)


@pytest.mark.parametrize("cls", [HFPipelineBasedInferenceEngine, HFAutoModelInferenceEngine])
def test_predictions_are_those_of_the_plain_engine(cls, tiny_llama):
    engine = cls(model_name=str(tiny_llama), max_new_tokens=5, use_fp16=False)
    plain = HFEngine(tiny_llama, max_new_tokens=5)
    expected = dict(plain.generate([Generate(Prompt(row["source"])) for row in ROWS]))
    assert engine(ROWS) == [expected[0].text, expected[1].text]


def test_half_precision_is_the_default(tiny_llama):
    import torch

    assert HFPipelineBasedInferenceEngine(str(tiny_llama)).loaded.model.dtype == torch.bfloat16
    assert HFPipelineBasedInferenceEngine(str(tiny_llama), use_fp16=False).loaded.model.dtype == torch.float32


def test_sequence_to_sequence_models_are_recognised(tiny_t5):
    engine = HFPipelineBasedInferenceEngine(model_name=str(tiny_t5), max_new_tokens=4, use_fp16=False)
    assert isinstance(engine(ROWS[:1])[0], str)
    assert engine.loaded.family == "seq2seq"


def test_temperature_without_sampling_does_nothing():
    engine = HFAutoModelInferenceEngine("m", temperature=0.7)
    assert engine.decoding_defaults()["temperature"] is None
    assert HFAutoModelInferenceEngine("m", do_sample=True).decoding_defaults()["temperature"] == 1.0
    assert HFAutoModelInferenceEngine("m", do_sample=True, temperature=0.7).decoding_defaults()["temperature"] == 0.7


def test_generation_fields_reach_the_model(tiny_llama):
    free = HFAutoModelInferenceEngine(str(tiny_llama), max_new_tokens=8, use_fp16=False)
    bound = HFAutoModelInferenceEngine(str(tiny_llama), max_new_tokens=8, use_fp16=False, repetition_penalty=50.0)
    assert free(ROWS[:1]) != bound(ROWS[:1])


def test_log_probabilities(tiny_llama):
    engine = HFAutoModelInferenceEngine(str(tiny_llama), max_new_tokens=3, use_fp16=False, n_top_tokens=2)
    (tokens,) = engine.infer_log_probs(ROWS[:1])
    assert [len(token["top_tokens"]) for token in tokens] == [2, 2, 2]
    assert all(token["logprob"] <= 0 for token in tokens)


def test_details(tiny_llama):
    engine = HFAutoModelInferenceEngine(str(tiny_llama), max_new_tokens=3, use_fp16=False)
    (details,) = engine.infer(ROWS[:1], return_meta_data=True)
    assert details.inference_type == "hf_auto_model"
    assert details.model_name == str(tiny_llama)
    assert details.output_tokens == 3


def test_options_are_chosen_by_likelihood(tiny_llama):
    engine = HFOptionSelectingInferenceEngine(model_name=str(tiny_llama), batch_size=2)
    row = {"source": "the cat", "task_data": {"options": [" sat", " moon", " stars"]}}
    (chosen,) = engine([row])
    assert chosen == HFEngine(tiny_llama).select([row])[0]["prediction"]
    with pytest.raises(UnsupportedRequestError, match="writes nothing"):
        engine.generate([Generate(Prompt("x"), Decoding())])


def test_saved_engines_load(tmp_path):
    engine = fetch_artifact(
        {
            "__type__": "hf_pipeline_based_inference_engine",
            "model_name": "google/flan-t5-small",
            "max_new_tokens": 32,
            "label": "mine",
            "lazy_load": True,
        }
    )
    assert isinstance(engine, HFPipelineBasedInferenceEngine)
    assert (engine.model_name, engine.max_new_tokens, engine.inference_label) == ("google/flan-t5-small", 32, "mine")
    assert type(engine).from_dict(engine.to_dict()) == engine
    assert engine.get_engine_id() == "flan_t5_small_hf_pipeline"  # whatever the label is, as there


def test_the_name_that_the_documents_use():
    assert HFPipelineBasedInferenceEngine(model_name="m", max_generated_tokens=256).max_new_tokens == 256


def test_device_and_device_map_exclude_each_other():
    with pytest.raises(ValidationError, match="device_map"):
        HFPipelineBasedInferenceEngine("m", device="cpu", device_map="auto")


def test_a_task_that_writes_no_text():
    with pytest.raises(EngineError, match="fill-mask"):
        HFPipelineBasedInferenceEngine("m", task="fill-mask").source()


def test_code_of_a_model_runs_only_where_it_is_trusted():
    engine = HFAutoModelInferenceEngine("m")
    assert not engine.source().trust_remote_code
    with settings.context(trust_code=True):
        assert engine.source().trust_remote_code


def test_llava_reads_pictures(tiny_llava):
    from PIL import Image

    content = [{"type": "image", "image": Image.new("RGB", (16, 16))}, {"type": "text", "text": "why"}]
    engine = HFLlavaInferenceEngine(model_name=str(tiny_llava), max_new_tokens=3, torch_dtype="torch.float32")
    (text,) = engine([{"source": [{"role": "user", "content": content}]}])
    assert isinstance(text, str)


def test_adapters_name_their_model(tiny_llama, tmp_path):
    peft = pytest.importorskip("peft")
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(tiny_llama)
    config = peft.LoraConfig(target_modules=["q_proj"], r=2, init_lora_weights=False)
    peft.get_peft_model(base, config).save_pretrained(tmp_path)
    engine = HFPeftInferenceEngine(model_name=str(tmp_path), max_new_tokens=6, torch_dtype="torch.float32")
    plain = HFAutoModelInferenceEngine(model_name=str(tiny_llama), max_new_tokens=6, use_fp16=False)
    assert engine(ROWS[:1]) != plain(ROWS[:1])


def test_what_is_no_adapter_is_said(tiny_llama):
    with pytest.raises(EngineError, match="not an adapter"):
        HFPeftInferenceEngine(model_name=str(tiny_llama)).source()
