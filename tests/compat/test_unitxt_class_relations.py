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


def test_fields_are_read_on_the_class():
    from unitxt.llm_as_judge import LLMJudgeDirect
    from unitxt.metrics import Accuracy

    assert LLMJudgeDirect.check_positional_bias is True
    assert (LLMJudgeDirect.criteria, Accuracy.main_score) == (None, "accuracy")
    with pytest.raises(AttributeError):
        _ = LLMJudgeDirect.inference_engine


def test_what_each_provider_calls_a_model_can_be_asked_by_the_class_that_asks_it():
    from unitxt.inference import CrossProviderInferenceEngine as Cross

    for provider, models in Cross.provider_model_map.items():
        own, crossed = Cross._provider_to_base_class[provider], Cross(model="llama-3-8b-instruct", provider=provider)
        for name in models.keys() & {"llama-3-8b-instruct"}:
            told = "model_name" if provider in {"watsonx-sdk", "hf-local"} else "model"
            assert own(**{told: models[name]}).get_engine_id().split("_")[0] == crossed.get_engine_id().split("_")[0]
    assert Cross.provider_model_map["aws"]["llama-3-8b-instruct"] == "bedrock/meta.llama3-8b-instruct-v1:0"
    assert list(Cross._provider_to_base_class) == list(Cross.provider_model_map)
