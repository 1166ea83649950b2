"""Names of OpenCompass 0.5, AISBench 3.1 and mmengine, and where Proctor has them."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.guests.table import Table

_HERE = "proctor.guests.opencompass"
_CLASSES = "proctor.dialects.aisbench.classes"
_INSTEAD = {
    **dict.fromkeys(
        (
            *("GenInferencer", "PPLInferencer", "MultiTurnGenInferencer", "CLPInferencer", "LLInferencer"),
            *("ChatInferencer", "LMMGenInferencer", "PPLOnlyInferencer", "BaseInferencer", "BaseRetriever"),
            *("ZeroRetriever", "FixKRetriever", "RandomRetriever", "SlidingWindowRetriever", "BM25Retriever"),
            *("TopkRetriever", "DPPRetriever", "MDLRetriever", "VotekRetriever"),
        ),
        "a config names it, and proctor run CONFIG.py does its work",
    ),
    **dict.fromkeys(
        (
            *("LocalRunner", "SlurmRunner", "SlurmSequentialRunner", "DLCRunner", "VOLCRunner"),
            *("OpenICLInferTask", "OpenICLEvalTask", "SubjectiveEvalTask", "NaivePartitioner", "SizePartitioner"),
            *("NumWorkerPartitioner", "SubjectiveNaivePartitioner", "SubjectiveSizePartitioner"),
            *("SubjectiveNumWorkerPartitioner", "DefaultSummarizer", "SubjectiveSummarizer"),
        ),
        "proctor run CONFIG.py asks, scores and sums up in one process",
    ),
    **dict.fromkeys(
        (
            *("HuggingFace", "HuggingFaceCausalLM", "HuggingFaceBaseModel", "HuggingFacewithChatTemplate"),
            *("HuggingFaceChatGLM3", "OpenAI", "OpenAISDK", "LLaDAModel", "QwenLM", "VLLM", "VLLMwithChatTemplate"),
            *("TurboMindModel", "TurboMindModelwithChatTemplate", "LmdeployPytorchModel", "VLLMCustomAPI"),
            *("VLLMCustomAPIChat", "VLLMCustomAPIStream", "VLLMCustomAPIChatStream"),
        ),
        "Proctor's own engines hold models: proctor run CONFIG.py --model hf, or openai",
    ),
    **dict.fromkeys(
        ("GenericLLMEvaluator", "CascadeEvaluator", "LMEvaluator", "generic_llmjudge_postprocess"),
        "a config names it, and proctor run CONFIG.py asks the judge",
    ),
    "HuggingfaceEvaluator": "derive from BaseEvaluator, and compute the metric in score()",
}

_TEMPLATES = {"proctor.templates": "PromptTemplate MultiTurnPromptTemplate MMPromptTemplate BasePromptTemplate"}
_RAW = {"proctor.templates": "RawPromptTemplate"}
_PROMPT = {"proctor.templates": "PromptList safe_format", f"{_CLASSES}.functions": "get_prompt_hash"}
_MEDIA = "AIS_TEXT_START AIS_IMAGE_START AIS_VIDEO_START AIS_AUDIO_START AIS_CONTENT_TAG"
_AIS_PROMPT = {
    **_PROMPT,
    "proctor.templates.multimodal": _MEDIA,
}
_READER = {f"{_CLASSES}.base_datasets": "DatasetReader load_partial_dataset"}
_EVALUATOR = {f"{_CLASSES}.evaluators": "BaseEvaluator"}
_MODELS = {
    f"{_HERE}.template_parsers": "LMTemplateParser APITemplateParser",
    f"{_HERE}.models": "BaseModel BaseAPIModel",
}
_KINDS = (
    "TEXT_POSTPROCESSORS ICL_EVALUATORS LOAD_DATASET ICL_PROMPT_TEMPLATES DATASETS EVALUATORS DICT_POSTPROCESSORS "
    "ICL_DATASET_READERS ICL_INFERENCERS ICL_RETRIEVERS METRICS MODELS PARTITIONERS RUNNERS TASKS TOT_WRAPPER "
    "build_from_cfg"
)
_AIS_KINDS = " ".join(f"{name}=AIS_{name}" for name in _KINDS.split())
_BELOW = (
    *("datasets", "models", "openicl.icl_evaluator", "openicl.icl_inferencer", "openicl.icl_retriever", "evaluator"),
    *("openicl.icl_prompt_template", "tasks", "runners", "partitioners", "summarizers", "utils.postprocess"),
)


def _openicl(package: str) -> dict[str, Mapping[str, str]]:
    """Return the modules of ``openicl`` of a package, and the packages that have classes in many modules."""
    prompting = {"proctor.templates": f"{_TEMPLATES['proctor.templates']} RawPromptTemplate"}
    return {
        f"{package}.openicl": {**prompting, **_READER, **_EVALUATOR},
        f"{package}.openicl.icl_prompt_template": _TEMPLATES,
        f"{package}.openicl.icl_raw_prompt_template": _RAW,
        f"{package}.openicl.icl_retriever": {},
        f"{package}.openicl.icl_dataset_reader": _READER,
        f"{package}.openicl.icl_evaluator": _EVALUATOR,
        f"{package}.openicl.icl_inferencer": {},
        **{f"{package}.{name}": {} for name in ("evaluator", "tasks", "runners", "partitioners", "summarizers")},
        f"{package}.models": _MODELS,
    }


OPENCOMPASS = Table(
    "opencompass",
    {
        **_openicl("opencompass"),
        "opencompass.utils": {**_PROMPT, f"{_HERE}.models": "get_logger get_data_path"},
        "opencompass.utils.prompt": _PROMPT,
        "opencompass.utils.logging": {f"{_HERE}.models": "get_logger"},
        "opencompass.utils.text_postprocessors": {},
        "opencompass.registry": {f"{_HERE}.registries": f"Registry {_KINDS}"},
        "opencompass.datasets": {
            f"{_CLASSES}.base_datasets": "BaseDataset",
            "proctor.scoring.text.postprocessors.mathematics": "normalize_final_answer=normalized",
        },
    },
    below=tuple(f"opencompass.{name}" for name in _BELOW),
    finder=f"{_CLASSES}.names",
    instead=_INSTEAD,
)

_AIS = "ais_bench.benchmark"
AIS_BENCH = Table(
    "ais_bench",
    {
        **_openicl(_AIS),
        f"{_AIS}.utils": {f"{_HERE}.models": "get_logger get_data_path"},
        f"{_AIS}.utils.prompt": _AIS_PROMPT,
        f"{_AIS}.utils.prompt.prompt": _AIS_PROMPT,
        f"{_AIS}.utils.postprocess": {},
        f"{_AIS}.utils.model_postprocessors": {},
        f"{_AIS}.registry": {f"{_HERE}.registries": f"Registry {_AIS_KINDS}"},
        f"{_AIS}.datasets": {f"{_CLASSES}.base_datasets": "BaseDataset=AisDataset"},
    },
    below=tuple(f"{_AIS}.{name}" for name in _BELOW),
    finder=f"{_CLASSES}.names",
    instead=_INSTEAD,
)

_CONFIGS = {f"{_CLASSES}.configs": "Config ConfigDict", "contextlib": "read_base=nullcontext"}
MMENGINE = Table("mmengine", {"mmengine": _CONFIGS, "mmengine.config": _CONFIGS})
