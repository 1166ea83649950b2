"""Where Proctor has the names that programs import from OpenCompass, AISBench and mmengine."""

from __future__ import annotations

from proctor.compat.aliases import Alias

_GUESTS = "proctor.guests.opencompass"
_CLASSES = "proctor.dialects.aisbench.classes"
_CONFIG = "a config names it, and proctor run CONFIG.py does its work"
_NO_RUNNERS = "proctor run CONFIG.py asks, scores and sums up in one process"
_MODEL = "Proctor's own engines hold models: proctor run CONFIG.py --model hf, or openai"
_JUDGE = "a config names it, and proctor run CONFIG.py asks the judge"
_UNBUILT = {
    **dict.fromkeys(
        (
            *("GenInferencer", "PPLInferencer", "MultiTurnGenInferencer", "CLPInferencer", "LLInferencer"),
            *("ChatInferencer", "LMMGenInferencer", "PPLOnlyInferencer", "BaseInferencer"),
        ),
        _CONFIG,
    ),
    **dict.fromkeys(
        (
            *("LocalRunner", "SlurmRunner", "SlurmSequentialRunner", "DLCRunner", "VOLCRunner"),
            *("OpenICLInferTask", "OpenICLEvalTask", "SubjectiveEvalTask", "NaivePartitioner", "SizePartitioner"),
            *("NumWorkerPartitioner", "SubjectiveNaivePartitioner", "SubjectiveSizePartitioner"),
            *("SubjectiveNumWorkerPartitioner", "DefaultSummarizer", "SubjectiveSummarizer"),
        ),
        _NO_RUNNERS,
    ),
    **dict.fromkeys(
        (
            *("HuggingFace", "HuggingFaceCausalLM", "HuggingFaceBaseModel", "HuggingFacewithChatTemplate"),
            *("HuggingFaceChatGLM3", "OpenAI", "OpenAISDK", "LLaDAModel", "QwenLM", "VLLM", "VLLMwithChatTemplate"),
            *("TurboMindModel", "TurboMindModelwithChatTemplate", "LmdeployPytorchModel", "VLLMCustomAPI"),
            *("VLLMCustomAPIChat", "VLLMCustomAPIStream", "VLLMCustomAPIChatStream"),
        ),
        _MODEL,
    ),
    **dict.fromkeys(("GenericLLMEvaluator", "CascadeEvaluator", "LMEvaluator", "generic_llmjudge_postprocess"), _JUDGE),
    "HuggingfaceEvaluator": "derive from BaseEvaluator, and compute the metric in score()",
}
"""Names that code imports at its top, and what does their work here: only using one of them is refused."""


def _in(home: str, *names: str) -> dict[str, str]:
    return {name: f"{home}:{name}" for name in names}


_TEMPLATES = _in(
    "proctor.templates", "PromptTemplate", "MultiTurnPromptTemplate", "MMPromptTemplate", "BasePromptTemplate"
)
_RAW = _in("proctor.templates", "RawPromptTemplate")
_PARSERS = _in(f"{_GUESTS}.template_parsers", "LMTemplateParser", "APITemplateParser")
_MODELS = {**_PARSERS, **_in(f"{_GUESTS}.models", "BaseModel", "BaseAPIModel")}
_HASH = _in(f"{_CLASSES}.functions", "get_prompt_hash")
_PROMPT = {**_in("proctor.templates", "PromptList", "safe_format"), **_HASH}
_PARTS = {
    **_in(
        "proctor.templates.multimodal",
        *("AIS_TEXT_START", "AIS_IMAGE_START", "AIS_VIDEO_START", "AIS_AUDIO_START", "AIS_CONTENT_TAG"),
    ),
    **_in(f"{_GUESTS}.template_parsers", "get_round_index", "is_mm_prompt"),
}
_BASE = _in(f"{_CLASSES}.base_datasets", "BaseDataset")
_READER = _in(f"{_CLASSES}.base_datasets", "DatasetReader", "load_partial_dataset")
_EVALUATOR = _in(f"{_CLASSES}.evaluators", "BaseEvaluator")
_KINDS = (
    *("TEXT_POSTPROCESSORS", "ICL_EVALUATORS", "LOAD_DATASET", "ICL_PROMPT_TEMPLATES", "DATASETS", "EVALUATORS"),
    *("DICT_POSTPROCESSORS", "ICL_DATASET_READERS", "ICL_INFERENCERS", "ICL_RETRIEVERS", "METRICS", "MODELS"),
    *("PARTITIONERS", "RUNNERS", "TASKS", "TOT_WRAPPER", "build_from_cfg"),
)
_REGISTRY = _in(f"{_GUESTS}.registries", "Registry", *_KINDS)
_AIS_REGISTRY = {**_REGISTRY, **{name: f"{_GUESTS}.registries:AIS_{name}" for name in _KINDS}}
_LOGGER = _in(f"{_GUESTS}.helpers", "get_logger")
_PATH = _in(f"{_GUESTS}.helpers", "get_data_path")
_FILES = {
    "base": "Base", "bm25": "BM25", "dpp": "DPP", "fix_k": "FixK", "mdl": "MDL", "random": "Random",
    "sliding_k": "SlidingWindow", "topk": "Topk", "votek": "Votek", "zero": "Zero",
}  # fmt: skip
_RETRIEVERS = {
    **_in(f"{_GUESTS}.retrievers", *(f"{name}Retriever" for name in _FILES.values())),
    "BaseRetriever": f"{_GUESTS}.retrievers:OpenCompassRetriever",
}
_AIS_RETRIEVERS = {
    f"{name}Retriever": f"{_GUESTS}.retrievers:Ais{'' if name == 'Base' else name}Retriever"
    for name in ("Base", "Zero", "FixK", "Random")
}


def _openicl(package: str, retrievers: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the modules of ``openicl`` of a package."""
    return {
        f"{package}.openicl": {**_TEMPLATES, **_RAW, **retrievers, **_READER, **_EVALUATOR},
        f"{package}.openicl.icl_prompt_template": _TEMPLATES,
        f"{package}.openicl.icl_raw_prompt_template": _RAW,
        f"{package}.openicl.icl_retriever": retrievers,
        f"{package}.openicl.icl_dataset_reader": _READER,
        f"{package}.openicl.icl_evaluator": _EVALUATOR,
        f"{package}.openicl.icl_inferencer": {},
    }


OPENCOMPASS = Alias(
    "opencompass",
    {
        **_openicl("opencompass", _RETRIEVERS),
        "opencompass.utils": {**_PROMPT, **_LOGGER, **_PATH},
        "opencompass.utils.prompt": _PROMPT,
        "opencompass.utils.logging": _LOGGER,
        "opencompass.utils.text_postprocessors": {},
        "opencompass.models": _MODELS,
        "opencompass.registry": _REGISTRY,
        "opencompass.datasets": {
            **_BASE,
            "normalize_final_answer": "proctor.scoring.text.postprocessors.mathematics:normalized",
        },
        "opencompass.evaluator": {},
        "opencompass.tasks": {},
        "opencompass.runners": {},
        "opencompass.partitioners": {},
        "opencompass.summarizers": {},
    },
    artifacts=False,
    finder=f"{_CLASSES}.names",
    unbuilt=_UNBUILT,
    shared=True,
    spread=frozenset(
        f"opencompass.{name}"
        for name in (
            *("datasets", "models", "openicl.icl_evaluator", "openicl.icl_inferencer", "openicl.icl_retriever"),
            *("tasks", "runners", "partitioners", "summarizers", "evaluator", "openicl.icl_prompt_template"),
        )
    ),
)
"""The alias of OpenCompass 0.5."""

_AIS = "ais_bench.benchmark"
AIS_BENCH = Alias(
    "ais_bench",
    {
        **_openicl(_AIS, _AIS_RETRIEVERS),
        f"{_AIS}.utils.prompt": {**_PROMPT, **_PARTS},
        f"{_AIS}.utils.prompt.prompt": {**_PROMPT, **_PARTS},
        f"{_AIS}.utils.postprocess": {},
        f"{_AIS}.utils.model_postprocessors": {},
        f"{_AIS}.utils.datasets": _PATH,
        f"{_AIS}.models": _MODELS,
        f"{_AIS}.registry": _AIS_REGISTRY,
        f"{_AIS}.datasets": {
            "BaseDataset": f"{_CLASSES}.base_datasets:AisDataset",
        },
    },
    artifacts=False,
    finder=f"{_CLASSES}.names",
    unbuilt=_UNBUILT,
    shared=True,
    spread=frozenset(
        f"{_AIS}.{name}"
        for name in (
            *("datasets", "models", "openicl.icl_evaluator", "openicl.icl_inferencer", "openicl.icl_retriever"),
            *("openicl.icl_prompt_template", "utils.postprocess"),
        )
    ),
)
"""The alias of AISBench 3.1."""

_CONFIGS = {**_in(f"{_CLASSES}.configs", "Config", "ConfigDict"), "read_base": "contextlib:nullcontext"}
MMENGINE = Alias(
    "mmengine",
    {"mmengine": _CONFIGS, "mmengine.config": _CONFIGS},
    artifacts=False,
    gaps_only=True,
)
"""The configs of mmengine, which programs for AISBench and OpenCompass hold, where it is not installed."""
