"""``unitxt.llm_as_judge_constants``: names of judges, and criteria by name.

The criteria themselves are artifacts of the catalogs (``metrics.llm_as_judge.direct.criteria.*``): ours are few, those
of an installed or fetched Unitxt are found as soon as its catalog is registered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple

from proctor.artifacts import catalogs, fetch_artifact
from proctor.errors import UsageError, did_you_mean
from proctor.scoring.judges.criteria import Criteria

DIRECT = "metrics.llm_as_judge.direct.criteria."
PAIRWISE = "metrics.llm_as_judge.pairwise.criteria."


class OptionSelectionStrategyEnum(StrEnum):
    """How a judge says which option it takes."""

    PARSE_OUTPUT_TEXT = "PARSE_OUTPUT_TEXT"
    PARSE_OPTION_LOGPROB = "PARSE_OPTION_LOGPROB"


class EvaluatorTypeEnum(StrEnum):
    """What a judge does."""

    PAIRWISE = "pairwise"
    DIRECT = "direct"


class ModelProviderEnum(StrEnum):
    """Who serves a judge's model."""

    WATSONX = "watsonx"
    OPENAI = "open-ai"
    RITS = "rits"
    AZURE = "azure"
    TOGETHER_AI = "together-ai"
    AWS = "aws"
    VERTEX_AI = "vertex-ai"
    OLLAMA = "ollama"
    REPLICATE = "replicate"


class EvaluatorNameEnum(StrEnum):
    """Judges that Unitxt names."""

    MIXTRAL8_7b = "Mixtral8-7b"
    MIXTRAL_LARGE = "Mixtral Large"
    LLAMA3_8B = "Llama3-8b"
    LLAMA3_1_405B = "Llama3.1-405b"
    LLAMA3_1_8B = "Llama3.1-8b"
    LLAMA3_1_70B = "Llama3.1-70b"
    LLAMA3_2_3B = "Llama3.2-3b"
    LLAMA3_3_70B = "Llama3.3-70b"
    LLAMA3_4_MAVERICK = "Llama4-Maverick"
    LLAMA3_4_SCOUT = "Llama4-Scout"
    PROMETHEUS = "Prometheus"
    GPT4o = "GPT-4o"
    GPT4_1 = "GPT-4.1"
    GPT4_1_NANO = "GPT-4.1-nano"
    GPT4_1_MINI = "GPT-4.1-mini"
    O1_PREVIEW = "o1-Preview"
    O1_MINI = "o1-Mini"
    GRANITE_13B = "Granite-13b"
    GRANITE3_2B = "Granite3.0-2b"
    GRANITE3_8B = "Granite3.0-8b"
    GRANITE3_1_2B = "Granite3.1-2b"
    GRANITE3_1_8B = "Granite3.1-8b"
    GRANITE3_2_8B = "Granite3.2-8b"
    GRANITE3_3_8B = "Granite3.3-8b"
    DEEPSEEK_V3 = "DeepSeek V3"
    GEMMA_2_5_PRO = "Gemmini 2.5 Pro"
    GEMINI_2_5_FLASH = "Gemini 2.5 Flash"


@dataclass
class EvaluatorMetadata:
    """A judge, and who serves its model."""

    name: EvaluatorNameEnum
    providers: list[ModelProviderEnum]


_P, _N = ModelProviderEnum, EvaluatorNameEnum
_SERVED: dict[EvaluatorNameEnum, tuple[str, tuple[ModelProviderEnum, ...]]] = {
    _N.MIXTRAL8_7b: ("mixtral-8x7b-instruct-v01", (_P.RITS, _P.WATSONX)),
    _N.MIXTRAL_LARGE: ("mistral-large-instruct", (_P.RITS, _P.WATSONX, _P.AWS)),
    _N.GRANITE3_2B: ("granite-3-2b-instruct", ()),
    _N.GRANITE3_8B: ("granite-3-8b-instruct", (_P.WATSONX, _P.RITS)),
    _N.GRANITE3_1_2B: ("granite-3-1-2b-instruct", ()),
    _N.GRANITE3_1_8B: ("granite-3-1-8b-instruct", (_P.RITS,)),
    _N.GRANITE3_2_8B: ("granite-3-2-8b-instruct", (_P.WATSONX, _P.RITS)),
    _N.GRANITE3_3_8B: ("granite-3-3-8b-instruct", (_P.WATSONX, _P.RITS, _P.OLLAMA)),
    _N.GPT4o: ("gpt-4o-2024-08-06", (_P.OPENAI, _P.AZURE)),
    _N.O1_MINI: ("o1-mini", (_P.OPENAI, _P.AZURE)),
    _N.O1_PREVIEW: ("o1-preview", (_P.OPENAI, _P.AZURE)),
    _N.GPT4_1: ("gpt-4-1", (_P.OPENAI, _P.AZURE, _P.REPLICATE)),
    _N.GPT4_1_NANO: ("gpt-4-1-nano", (_P.OPENAI, _P.AZURE)),
    _N.GPT4_1_MINI: ("gpt-4-1-mini", (_P.OPENAI, _P.AZURE)),
    _N.LLAMA3_1_70B: ("llama-3-1-70b-instruct", (_P.WATSONX, _P.TOGETHER_AI, _P.OLLAMA)),
    _N.LLAMA3_1_8B: ("llama-3-1-8b-instruct", (_P.WATSONX, _P.TOGETHER_AI, _P.RITS, _P.OLLAMA)),
    _N.LLAMA3_1_405B: ("llama-3-1-405b-instruct", (_P.WATSONX, _P.TOGETHER_AI, _P.RITS, _P.AWS, _P.OLLAMA)),
    _N.LLAMA3_3_70B: ("llama-3-3-70b-instruct", (_P.WATSONX, _P.TOGETHER_AI, _P.RITS, _P.AWS, _P.OLLAMA, _P.AZURE)),
    _N.LLAMA3_4_SCOUT: ("llama-4-scout", (_P.AZURE, _P.TOGETHER_AI, _P.AWS, _P.REPLICATE, _P.RITS)),
    _N.LLAMA3_4_MAVERICK: ("llama-4-maverick", (_P.AZURE, _P.TOGETHER_AI, _P.AWS, _P.REPLICATE, _P.RITS)),
    _N.DEEPSEEK_V3: ("deepseek-v3", (_P.RITS, _P.TOGETHER_AI, _P.AWS)),
    _N.GEMMA_2_5_PRO: ("gemma-2-5-pro", (_P.VERTEX_AI,)),
    _N.GEMINI_2_5_FLASH: ("gemini-2-5-flash", (_P.VERTEX_AI,)),
}
EVALUATOR_TO_MODEL_ID = {name: model for name, (model, _) in _SERVED.items()}
"""The model of each judge."""
EVALUATORS_METADATA = [EvaluatorMetadata(name, list(served)) for name, (_, served) in _SERVED.items() if served]
"""The judges that somebody serves."""


def get_evaluator_metadata(name: EvaluatorNameEnum) -> EvaluatorMetadata:
    """Return who serves a judge.

    Raises:
        AssertionError: Nobody does.
    """
    found = [each for each in EVALUATORS_METADATA if each.name == name]
    if not found:
        raise AssertionError(f"nobody serves the judge {name}")
    return found[0]


# -- criteria -------------------------------------------------------------------------------------------------


class _Member(NamedTuple):
    """A member of the enumerations below."""

    name: str
    value: Criteria


class _CriteriaOfCatalogs:
    """Criteria of all registered catalogs by name, in capitals, like an enumeration: ``X.TEMPERATURE.value``."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def _names(self) -> dict[str, str]:
        known = (name for catalog in catalogs() for name in catalog.names() if name.startswith(self._prefix))
        return {name.removeprefix(self._prefix).replace(".", "_").upper(): name for name in sorted(known)}

    def __getattr__(self, name: str) -> _Member:
        if name.startswith("_"):
            raise AttributeError(name)
        names = self._names()
        if name not in names:
            hint = did_you_mean(name, names) or "register a catalog that has it (proctor get unitxt)"
            raise AttributeError(f"no catalog has the criteria '{name}'; {hint}")
        return _Member(name, _criteria(names[name]))

    def __getitem__(self, name: str) -> _Member:
        try:
            return self.__getattr__(name)
        except AttributeError as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[_Member]:
        return (_Member(name, _criteria(place)) for name, place in self._names().items())

    def __len__(self) -> int:
        return len(self._names())


def _criteria(name: str) -> Criteria:
    found = fetch_artifact(name)
    if not isinstance(found, Criteria):
        raise UsageError(f"{name} is a {type(found).__name__}, and no criteria")
    return found


DirectCriteriaCatalogEnum: Any = _CriteriaOfCatalogs(DIRECT)
PairwiseCriteriaCatalogEnum: Any = _CriteriaOfCatalogs(PAIRWISE)


def __getattr__(name: str) -> list[Criteria]:
    wanted = {"DIRECT_CRITERIA": DirectCriteriaCatalogEnum, "PAIRWISE_CRITERIA": PairwiseCriteriaCatalogEnum}
    if name not in wanted:
        raise AttributeError(name)
    return [each.value for each in wanted[name]]
