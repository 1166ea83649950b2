"""What programs of Unitxt ask of classes: pydantic models of EvalAssist, for one, have fields of `InferenceEngine`."""

import pydantic
import pytest

pytestmark = pytest.mark.usefixtures("installed")


def test_every_engine_is_an_inference_engine():
    from unitxt import inference
    from unitxt.inference import (
        HFAutoModelInferenceEngine,
        InferenceEngine,
        LogProbInferenceEngine,
        MockInferenceEngine,
    )

    class Own(InferenceEngine):
        def _infer(self, dataset, return_meta_data=False):
            return ["x"] * len(dataset)

    class Judge(pydantic.BaseModel):
        engine: InferenceEngine

    mock = MockInferenceEngine(model_name="m")
    for name in ("CrossProvider", "HFAutoModel", "OpenAi", "WML", "LiteLLM", "HFPipelineBased", "VLLM", "Ollama"):
        assert issubclass(getattr(inference, f"{name}InferenceEngine"), InferenceEngine)
    assert isinstance(mock, InferenceEngine)
    assert isinstance(Own(), InferenceEngine)
    assert not isinstance(mock, Own)
    assert Judge(engine=mock).engine is mock
    assert not isinstance("m", InferenceEngine)
    assert issubclass(HFAutoModelInferenceEngine, LogProbInferenceEngine)
    assert not isinstance(Own(), LogProbInferenceEngine)
    with pytest.raises(pydantic.ValidationError):
        Judge(engine="m")


def test_lists_of_metrics_are_collections():
    from unitxt.collections import Collection, ListCollection
    from unitxt.metrics import MetricsList

    assert issubclass(MetricsList, ListCollection)
    assert issubclass(ListCollection, Collection)


def test_a_judge_of_ones_own_has_more_fields():
    from unitxt.llm_as_judge_constants import EvaluatorMetadata, EvaluatorNameEnum, ModelProviderEnum

    class Mine(EvaluatorMetadata):
        def __init__(self, name, providers, custom=None):
            super().__init__(name, providers)
            self.custom = custom

    made = Mine(EvaluatorNameEnum.LLAMA3_3_70B, [ModelProviderEnum.RITS], "x")
    assert (made.name, made.providers, made.custom) == (EvaluatorNameEnum.LLAMA3_3_70B, [ModelProviderEnum.RITS], "x")
