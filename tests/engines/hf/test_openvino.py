"""OpenVINO's engine on a stand-in for optimum-intel, which runs the same weights in torch.

With the real packages (optimum-intel 2.2, OpenVINO 2026.4): log-likelihoods of SmolLM2 within 2e-5 of transformers, and
the same greedy texts.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import pytest

from proctor.engines import make_engine
from proctor.engines.hf import openvino
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.openvino import OpenVINOEngine
from proctor.errors import EngineError, MissingExtraError, TrustError, ValidationError
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Rolling

ASKED = [
    Choose(tuple(Pair(Prompt("the cat and a dog "), letter) for letter in ("A", "B", "big cat"))),
    *(Likelihood(Prompt(text), " cat") for text in ("the", "", "a big dog")),
    Rolling("the cat and a big dog"),
]


def answers(engine, requests, method="score"):
    found = dict(getattr(engine, method)(iter(requests)))
    return [found[place] for place in range(len(requests))]


class Model:
    """What optimum gives back: no module of torch, and a mask is wanted."""

    def __init__(self, inner):
        self._inner = inner
        self.config, self.generation_config, self.dtype = inner.config, inner.generation_config, inner.dtype
        constants = [SimpleNamespace(shape=tuple(each.shape)) for each in inner.parameters()]
        self.model = SimpleNamespace(get_ops=lambda: [operation("Parameter", None), *map(constant, constants)])

    def __call__(self, input_ids, attention_mask):
        return self._inner(input_ids=input_ids, attention_mask=attention_mask)

    def generate(self, **arguments):
        return self._inner.generate(**arguments)


def operation(kind, tensor):
    return SimpleNamespace(get_type_name=lambda: kind, get_output_tensor=lambda place: [tensor][place])


def constant(tensor):
    return operation("Constant", tensor)


@pytest.fixture
def told(monkeypatch):
    """What the model class is told, where optimum-intel and OpenVINO are installed."""
    found = {}

    class OVModelForCausalLM:
        @classmethod
        def from_pretrained(cls, place, **given):
            from transformers import AutoModelForCausalLM

            found.update(given, place=place)
            return Model(AutoModelForCausalLM.from_pretrained(place).eval())

    class Core:
        available_devices = ("CPU", "GPU.0", "GPU.1")

    modules = {
        "optimum": {},
        "optimum.intel": {"OVModelForCausalLM": OVModelForCausalLM},
        "optimum.intel.openvino": {},
        "openvino": {"Core": Core},
    }
    for name, values in modules.items():
        module = ModuleType(name)
        module.__spec__, module.__path__ = ModuleSpec(name, None), []
        module.__dict__.update(values)
        monkeypatch.setitem(sys.modules, name, module)
    return found


def test_answers_are_those_of_transformers(tiny_causal, told):
    ours, theirs = make_engine("openvino", {"pretrained": str(tiny_causal)}), HFEngine(tiny_causal, dtype="float32")
    assert isinstance(ours, OpenVINOEngine)
    for one, other in zip(answers(ours, ASKED), answers(theirs, ASKED), strict=True):
        assert [each.log_likelihood for each in one.scores] == pytest.approx(
            [each.log_likelihood for each in other.scores], abs=1e-4
        )
        assert [(each.is_greedy, each.token_count) for each in one.scores] == [
            (each.is_greedy, each.token_count) for each in other.scores
        ]
    prompts = [Generate(Prompt(text), Decoding(max_tokens=5)) for text in ("the cat", "a dog", "the")]
    written = [[each.texts for each in answers(engine, prompts, "generate")] for engine in (ours, theirs)]
    assert written[0] == written[1]
    facts, same = ours.facts(), theirs.facts()
    assert facts["max_length"] == same["max_length"]
    assert facts["model_dtype"] == "torch.float32"
    assert 0.9 < facts["model_num_parameters"] / same["model_num_parameters"] < 1.1


def test_what_is_said_reaches_openvino(tiny_llama, told):
    hints = {"INFERENCE_PRECISION_HINT": "f32"}
    OpenVINOEngine(tiny_llama, device="gpu.1", load_in_8bit=True, ov_config=hints).load_weights()
    assert told["export"] is True
    assert told["device"] == "GPU.1"
    assert told["load_in_8bit"] is True
    assert told["ov_config"] == {"CACHE_DIR": "", **hints}
    (tiny_llama / openvino.CONVERTED).write_text("")
    try:
        OpenVINOEngine(tiny_llama).load_weights()
    finally:
        (tiny_llama / openvino.CONVERTED).unlink()
    assert told["export"] is False
    assert told["device"] == "GPU.0"
    assert told["ov_config"] == {"CACHE_DIR": ""}


def test_precision_is_part_of_whose_answers_they_are_and_the_device_is_not(tiny_llama):
    plain = OpenVINOEngine(tiny_llama).identity
    assert OpenVINOEngine(tiny_llama, device="GPU").identity == plain
    assert OpenVINOEngine(tiny_llama, ov_config={"KV_CACHE_PRECISION": "u8"}).identity != plain
    assert OpenVINOEngine(tiny_llama, load_in_8bit=True).identity != plain
    assert HFEngine(tiny_llama).identity != plain


@pytest.mark.parametrize(
    "given",
    [
        {"dtype": "float16"},
        {"peft": "x"},
        {"device_map": "auto"},
        {"family": "seq2seq"},
        {"load_in_4bit": True},
        {"gguf_file": "x.gguf"},
        {"share_prefixes": True},
        {"reorder_weights": True},
    ],
)
def test_what_openvino_does_not_take_is_refused_and_says_what_does(tiny_llama, given):
    with pytest.raises(ValidationError, match=f"OpenVINO does not take '{next(iter(given))}'") as caught:
        OpenVINOEngine(tiny_llama, **given)
    assert caught.value.diagnostics[0].hint


def test_devices_that_are_not_here_and_code_of_strangers_are_refused(tiny_llama, told):
    with pytest.raises(EngineError, match="the device 'npu' is not here"):
        OpenVINOEngine(tiny_llama, device="npu").load_weights()
    with pytest.raises(TrustError, match="asks to run code of its own"):
        OpenVINOEngine(tiny_llama, trust_remote_code=True).load_weights()
    with pytest.raises(EngineError, match="there is no folder './nowhere'"):
        OpenVINOEngine("./nowhere").load_weights()


def test_without_the_packages_the_error_says_what_to_install(tiny_llama, monkeypatch):
    monkeypatch.setattr(openvino, "_is_installed", lambda module: False)
    with pytest.raises(MissingExtraError, match=r"proctor\[openvino\]"):
        OpenVINOEngine(tiny_llama).load_weights()
