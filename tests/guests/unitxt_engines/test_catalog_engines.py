"""The engines that come with Proctor: each loads without a key, a network or a model."""

import pytest

from proctor.artifacts import builtin_catalog, fetch_artifact
from proctor.engines.engine import Engine
from proctor.engines.scripted import ScriptedEngine
from proctor.guests.unitxt.engines.lmms import LMMSEvalInferenceEngine
from proctor.settings import settings

NAMES = sorted(name for name in builtin_catalog().names() if name.startswith("engines."))


def test_there_are_some():
    assert "engines.model.flan.t5_small.hf" in NAMES
    assert "engines.classification.mixtral_8x7b_instruct_v01_wml" in NAMES


@pytest.mark.parametrize("name", NAMES)
def test_each_loads_and_may_be_stood_in_for(name):
    engine = fetch_artifact(name)
    assert isinstance(engine, Engine)
    assert engine.description
    with settings.context(engine_map="*=scripted[answer=here]"):
        assert engine([{"source": "x"}]) == ["here"]


def test_lmms_eval():
    engine = LMMSEvalInferenceEngine(
        model_type="llava", model_args={"pretrained": "liuhaotian/llava-v1.5-7b"}, max_new_tokens=2
    )
    assert engine.model == "liuhaotian/llava-v1.5-7b"
    assert engine.source().name == "llava-hf/llava-1.5-7b-hf"
    assert engine.decoding_defaults()["stop"] == ("\n\n",)
    with settings.context(engine_map="liuhaotian/llava-v1.5-7b=scripted[answer=a]"):
        assert isinstance(engine.answering()._answering, ScriptedEngine)
