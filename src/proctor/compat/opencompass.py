"""Where Proctor has what programs import from OpenCompass and AISBench: prompts, scores, errors, registries."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.compat.aisbench_names import error_codes, registries, scoring
from proctor.compat.aliases import Alias

_HOME = "proctor.compat.opencompass_names"
_TEMPLATES = {
    name: f"proctor.templates:{name}"
    for name in ("PromptTemplate", "MultiTurnPromptTemplate", "MMPromptTemplate", "BasePromptTemplate")
}
_RAW = {"RawPromptTemplate": "proctor.templates:RawPromptTemplate"}
_PROMPT = {
    "PromptList": "proctor.templates:PromptList",
    "safe_format": "proctor.templates:safe_format",
    **{
        name: f"proctor.templates.multimodal:{name}"
        for name in ("AIS_TEXT_START", "AIS_IMAGE_START", "AIS_VIDEO_START", "AIS_AUDIO_START", "AIS_CONTENT_TAG")
    },
    **{name: f"{_HOME}.prompting:{name}" for name in ("get_round_index", "is_mm_prompt")},
}
_PARSERS = {name: f"{_HOME}.prompting:{name}" for name in ("LMTemplateParser", "APITemplateParser")}
_DATASETS = {name: f"{_HOME}.datasets:{name}" for name in ("DatasetReader", "BaseDataset")}
_READER = {
    "DatasetReader": _DATASETS["DatasetReader"],
    "load_partial_dataset": f"{_HOME}.datasets:load_partial_dataset",
}
_BASE = {"BaseDataset": _DATASETS["BaseDataset"]}

_AIS_RETRIEVERS = {
    "BaseRetriever": f"{_HOME}.prompting:AISBenchRetriever",
    **{f"{name}Retriever": f"{_HOME}.retrievers:AISBench{name}Retriever" for name in ("Zero", "FixK", "Random")},
}
_OC_RETRIEVERS = {
    "BaseRetriever": f"{_HOME}.prompting:OpenCompassRetriever",
    **{
        f"{name}Retriever": f"{_HOME}.retrievers:OpenCompass{name}Retriever"
        for name in ("Zero", "FixK", "Random", "SlidingWindow", "BM25", "Topk", "DPP", "MDL", "Votek")
    },
}
_OC_FILES = {
    "base": "Base", "bm25": "BM25", "dpp": "DPP", "fix_k": "FixK", "mdl": "MDL", "random": "Random",
    "sliding_k": "SlidingWindow", "topk": "Topk", "votek": "Votek", "zero": "Zero",
}  # fmt: skip


def _one(names: dict[str, str], name: str) -> dict[str, str]:
    return {name: names[name]}


def _in(home: str, names: Iterable[str]) -> dict[str, str]:
    return {name: f"{home}:{name}" for name in names}


def _scoring(home: str) -> dict[str, dict[str, str]]:
    """Return evaluators, post-processors and inferencers of a project by the parts of it that have them."""
    place = f"{home}.scoring"
    evaluators = {**_in(place, scoring.evaluators()), "BaseEvaluator": f"{_AIS}.scoring:BaseEvaluator"}
    return {
        "evaluators": evaluators,
        "functions": _in(place, scoring.text_functions()),
        "inferencers": _in(place, scoring.INFERENCERS),
    }


_AIS = "proctor.compat.aisbench_names"
_OC_SCORING, _AIS_SCORING = _scoring(_HOME), _scoring(_AIS)
_OC_ALL = {**_OC_SCORING["evaluators"], **_OC_SCORING["functions"]}
_AIS_ALL = {**_AIS_SCORING["evaluators"], **_AIS_SCORING["functions"]}
_REGISTRIES = _in(f"{_AIS}.registries", registries.NAMES)
_HASH = {"get_prompt_hash": f"{_AIS}.scoring:get_prompt_hash"}
_CODE_NAMES = (*error_codes.FAMILIES, "BaseErrorCode", "ErrorCodeManager", "ErrorModule", "ErrorType", "error_manager")
_CODES = _in(f"{_AIS}.error_codes", _CODE_NAMES)
_EXCEPTIONS = _in(
    f"{_AIS}.exceptions",
    (
        "AISBenchBaseException", "CommandError", "AISBenchConfigError", "AISBenchImportError", "AISBenchValueError",
        "AISBenchImplementationError", "FileMatchError", "FileOperationError", "ParameterValueError",
        "AISBenchMetricError", "AISBenchDumpError", "AISBenchDataContentError", "PerfResultCalcException",
        "AISBenchNotImplementedError", "AISBenchKeyError", "AISBenchTypeError", "AISBenchRuntimeError",
        "AISBenchModuleNotFoundError", "PredictionInvalidException", "AISBenchInvalidTypeException",
    ),
)  # fmt: skip

OPENCOMPASS = Alias(
    "opencompass",
    {
        "opencompass.openicl": {
            **_one(_TEMPLATES, "PromptTemplate"),
            **_RAW,
            **_OC_RETRIEVERS,
            **_READER,
            **_OC_SCORING["evaluators"],
            **_OC_SCORING["inferencers"],
        },
        "opencompass.openicl.icl_prompt_template": _one(_TEMPLATES, "PromptTemplate"),
        "opencompass.openicl.icl_raw_prompt_template": _RAW,
        "opencompass.openicl.icl_retriever": _OC_RETRIEVERS,
        **{
            f"opencompass.openicl.icl_retriever.icl_{file}_retriever": _one(_OC_RETRIEVERS, f"{name}Retriever")
            for file, name in _OC_FILES.items()
        },
        "opencompass.openicl.icl_dataset_reader": _READER,
        "opencompass.utils": {name: _PROMPT[name] for name in ("PromptList", "safe_format")},
        "opencompass.utils.prompt": {**{name: _PROMPT[name] for name in ("PromptList", "safe_format")}, **_HASH},
        "opencompass.models": _PARSERS,
        "opencompass.models.base": _one(_PARSERS, "LMTemplateParser"),
        "opencompass.models.base_api": _one(_PARSERS, "APITemplateParser"),
        "opencompass.openicl.icl_evaluator": _OC_SCORING["evaluators"],
        "opencompass.openicl.icl_inferencer": _OC_SCORING["inferencers"],
        "opencompass.utils.text_postprocessors": _OC_SCORING["functions"],
        "opencompass.registry": _REGISTRIES,
        "opencompass.datasets": {**_BASE, **_OC_ALL},
        "opencompass.datasets.base": _BASE,
    },
    artifacts=False,
    spread=frozenset(
        {"opencompass.datasets", "opencompass.openicl.icl_evaluator", "opencompass.openicl.icl_inferencer"}
    ),
)
"""The alias of OpenCompass 0.5."""

_ICL = "ais_bench.benchmark.openicl"

AIS_BENCH = Alias(
    "ais_bench",
    {
        _ICL: {**_TEMPLATES, **_AIS_RETRIEVERS, **_AIS_SCORING["evaluators"], **_AIS_SCORING["inferencers"]},
        f"{_ICL}.icl_prompt_template": _TEMPLATES,
        f"{_ICL}.icl_prompt_template.icl_prompt_template": _one(_TEMPLATES, "PromptTemplate"),
        f"{_ICL}.icl_prompt_template.icl_prompt_template_base": _one(_TEMPLATES, "BasePromptTemplate"),
        f"{_ICL}.icl_prompt_template.icl_prompt_template_mm": _one(_TEMPLATES, "MMPromptTemplate"),
        f"{_ICL}.icl_prompt_template.icl_prompt_template_multiturn": _one(_TEMPLATES, "MultiTurnPromptTemplate"),
        f"{_ICL}.icl_retriever": _AIS_RETRIEVERS,
        **{
            f"{_ICL}.icl_retriever.icl_{file}_retriever": _one(_AIS_RETRIEVERS, f"{name}Retriever")
            for file, name in _OC_FILES.items()
            if f"{name}Retriever" in _AIS_RETRIEVERS
        },
        f"{_ICL}.icl_dataset_reader": _READER,
        "ais_bench.benchmark.utils.prompt": {**_PROMPT, **_HASH},
        "ais_bench.benchmark.utils.prompt.prompt": {**_PROMPT, **_HASH},
        f"{_ICL}.icl_evaluator": _AIS_SCORING["evaluators"],
        f"{_ICL}.icl_inferencer": _AIS_SCORING["inferencers"],
        "ais_bench.benchmark.utils.postprocess.text_postprocessors": _AIS_SCORING["functions"],
        "ais_bench.benchmark.registry": _REGISTRIES,
        "ais_bench.benchmark.utils.logging.exceptions": _EXCEPTIONS,
        "ais_bench.benchmark.utils.logging.error_codes": _CODES,
        "ais_bench.benchmark.models": _PARSERS,
        "ais_bench.benchmark.models.local_models.base": _one(_PARSERS, "LMTemplateParser"),
        "ais_bench.benchmark.models.api_models.base_api": _one(_PARSERS, "APITemplateParser"),
        "ais_bench.benchmark.datasets": {**_BASE, **_AIS_ALL},
        "ais_bench.benchmark.datasets.base": _BASE,
    },
    artifacts=False,
    spread=frozenset({"ais_bench.benchmark.datasets", f"{_ICL}.icl_evaluator", f"{_ICL}.icl_inferencer"}),
)
"""The alias of AISBench 3.1."""
