"""Where Proctor has what programs import from OpenCompass and AISBench: prompts, scores, errors, registries."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.compat.aisbench_names import modules, registries, scoring
from proctor.compat.aisbench_names.borrowed_names import BORROWED
from proctor.compat.aisbench_names.loader_seams import SEAMS
from proctor.compat.aliases import Alias

_HOME = "proctor.compat.opencompass_names"
_TEMPLATES = {
    name: f"proctor.templates:{name}"
    for name in ("PromptTemplate", "MultiTurnPromptTemplate", "MMPromptTemplate", "BasePromptTemplate")
}
_RAW = {"RawPromptTemplate": "proctor.templates:RawPromptTemplate"}
_AIS = "proctor.compat.aisbench_names"
_AIS_TEMPLATES = {name: f"{_AIS}.templates:{name}" for name in _TEMPLATES}
_PROMPT = {
    "PromptList": "proctor.templates:PromptList",
    "safe_format": "proctor.templates:safe_format",
    **{
        name: f"proctor.templates.multimodal:{name}"
        for name in ("AIS_TEXT_START", "AIS_IMAGE_START", "AIS_VIDEO_START", "AIS_AUDIO_START", "AIS_CONTENT_TAG")
    },
    **{name: f"{_HOME}.prompting:{name}" for name in ("get_round_index", "is_mm_prompt")},
}
_AIS_PROMPT = {**_PROMPT, "PromptList": f"{_AIS}.prompt_lists:PromptList"}
_PARSERS = {name: f"{_HOME}.prompting:{name}" for name in ("LMTemplateParser", "APITemplateParser")}
_DATASETS = {name: f"{_HOME}.datasets:{name}" for name in ("DatasetReader", "BaseDataset")}
_READER = {
    "DatasetReader": _DATASETS["DatasetReader"],
    "load_partial_dataset": f"{_HOME}.datasets:load_partial_dataset",
}
_BASE = {"BaseDataset": _DATASETS["BaseDataset"]}

_AIS_RETRIEVERS = {
    name: f"{_AIS}.retrievers:{name}" for name in ("BaseRetriever", "ZeroRetriever", "FixKRetriever", "RandomRetriever")
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
    evaluators = {
        **_in(place, scoring.evaluators()),
        "BaseEvaluator": f"{_AIS}.scoring:BaseEvaluator",
        "HuggingfaceEvaluator": f"{_AIS}.hf_evaluators:HuggingfaceEvaluator",
    }
    project = "aisbench" if home == _AIS else "opencompass"
    return {
        "evaluators": evaluators,
        "functions": _in(place, scoring.text_functions()),
        "inferencers": _in(place, scoring.INFERENCERS),
        "datasets": _in(place, scoring.datasets(project)),
    }


_OC_SCORING, _AIS_SCORING = _scoring(_HOME), _scoring(_AIS)
_AIS_ICL = {**_AIS_SCORING["evaluators"], "MATHEvaluator": f"{_AIS}.scoring:icl.MATHEvaluator"}
"""Evaluators of ``icl_evaluator``; one of them is another class than that of datasets with its name."""
_OC_ALL = {**_OC_SCORING["evaluators"], **_OC_SCORING["functions"], **_OC_SCORING["datasets"]}
_AIS_ALL = {**_AIS_SCORING["evaluators"], **_AIS_SCORING["functions"], **_AIS_SCORING["datasets"]}
_IN_MODULES = {**SEAMS, **_AIS_ALL}
_RUNS = _in(f"{_AIS}.scoring", ("compute_pass_at_k", "compute_g_pass_at_k"))
_REGISTRIES = _in(f"{_AIS}.registries", registries.NAMES)
_HASH = {"get_prompt_hash": f"{_AIS}.scoring:get_prompt_hash"}
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
_AIS_PARSERS = {**_PARSERS, **_in(f"{_AIS}.template_parsing", ("APITemplateParser",))}
_LOGGER = _in(f"{_AIS}.logger", ("AISLogger",))
_MODELS = _in(
    f"{_AIS}.models",
    (
        "VLLMCustomAPI", "VLLMCustomAPIChat", "TGICustomAPI", "TritonCustomAPI", "MindieStreamApi",
        "VLLMCustomAPIStream", "VLLMCustomAPIChatStream", "VllmMultiturnAPIChatStream", "VLLMFunctionCallAPIChat",
        "TGICustomAPIStream", "TritonCustomAPIStream", "BaseModel", "BaseAPIModel",
    ),
)  # fmt: skip

_AIS_BASE = _in(f"{_AIS}.base_datasets", ("BaseDataset", "BaseJDGDataset"))
_AIS_MODULES: dict[str, dict[str, str]] = {
    _ICL: {**_AIS_TEMPLATES, **_AIS_RETRIEVERS, **_AIS_ICL, **_AIS_SCORING["inferencers"]},
    f"{_ICL}.icl_prompt_template": _AIS_TEMPLATES,
    f"{_ICL}.icl_prompt_template.icl_prompt_template": _one(_AIS_TEMPLATES, "PromptTemplate"),
    f"{_ICL}.icl_prompt_template.icl_prompt_template_base": _one(_AIS_TEMPLATES, "BasePromptTemplate"),
    f"{_ICL}.icl_prompt_template.icl_prompt_template_mm": _one(_AIS_TEMPLATES, "MMPromptTemplate"),
    f"{_ICL}.icl_prompt_template.icl_prompt_template_multiturn": _one(_AIS_TEMPLATES, "MultiTurnPromptTemplate"),
    f"{_ICL}.icl_retriever": _AIS_RETRIEVERS,
    **{
        f"{_ICL}.icl_retriever.icl_{file}_retriever": _one(_AIS_RETRIEVERS, f"{name}Retriever")
        for file, name in _OC_FILES.items()
        if f"{name}Retriever" in _AIS_RETRIEVERS
    },
    "ais_bench.benchmark.utils.prompt": {**_AIS_PROMPT, **_HASH},
    "ais_bench.benchmark.utils.prompt.prompt": {**_AIS_PROMPT, **_HASH},
    f"{_ICL}.icl_evaluator": _AIS_ICL,
    f"{_ICL}.icl_inferencer": _AIS_SCORING["inferencers"],
    "ais_bench.benchmark.utils.postprocess.text_postprocessors": _AIS_SCORING["functions"],
    "ais_bench.benchmark.utils.postprocess.model_postprocessors": _AIS_SCORING["functions"],
    "ais_bench.benchmark.utils.model_postprocessors": _AIS_SCORING["functions"],
    f"{_ICL}.icl_evaluator.icl_base_evaluator": {**_AIS_ICL, **_RUNS},
    "ais_bench.benchmark.utils.logging": _LOGGER,
    "ais_bench.benchmark.models": {
        **_AIS_PARSERS,
        **_MODELS,
        **_in(f"{_AIS}.models", ("BaseModel", "BaseAPIModel")),
    },
    "ais_bench.benchmark.models.local_models.base": {
        **_one(_PARSERS, "LMTemplateParser"),
        **_in(f"{_AIS}.models_base", ("BaseModel", "BaseLMModel")),
    },
    "ais_bench.benchmark": {"global_consts": f"{_AIS}.global_constants"},
    "ais_bench.benchmark.utils.file": _in(
        f"{_AIS}.config_files", ("write_status", "read_and_clear_statuses", "match_files", "match_cfg_file")
    ),
    "ais_bench.benchmark.datasets": {**_AIS_BASE, **_IN_MODULES},
    **modules.tables(_IN_MODULES),
}
_SPREAD = frozenset({"ais_bench.benchmark.datasets", f"{_ICL}.icl_evaluator", f"{_ICL}.icl_inferencer"})
AIS_BENCH = Alias(
    "ais_bench",
    modules.with_constants(_AIS_MODULES, _SPREAD),
    artifacts=False,
    plain=frozenset(SEAMS),
    spread=_SPREAD,
    same={
        "ais_bench.benchmark.registry": f"{_AIS}.registries",
        "ais_bench.benchmark.utils.logging.exceptions": f"{_AIS}.exceptions",
        "ais_bench.benchmark.utils.logging.error_codes": f"{_AIS}.error_codes",
        "ais_bench.benchmark.utils.logging.logger": f"{_AIS}.logger",
        "ais_bench.benchmark.utils.core.abbr": f"{_AIS}.naming",
        "ais_bench.benchmark.utils.core.types": f"{_AIS}.type_checks",
        "ais_bench.benchmark.utils.file.file": f"{_AIS}.config_files",
        "ais_bench.benchmark.models.output": f"{_AIS}.outputs",
        "ais_bench.benchmark.cli.utils": f"{_AIS}.cli_names",
        **modules.SAME,
    },
    homes=modules.HOMES,
    texts=f"{_AIS}.constants:packaged",
    borrowed=BORROWED,
)
"""The alias of AISBench 3.1."""

_CONFIGS = _in(f"{_AIS}.config_objects", ("Config", "ConfigDict"))
_FILES = _in(f"{_AIS}.mmengine_files", ("load", "dump", "mkdir_or_exist"))
MMENGINE = Alias(
    "mmengine",
    {
        "mmengine": {**_CONFIGS, **_FILES},
        "mmengine.config": _CONFIGS,
        "mmengine.fileio": _FILES,
        "mmengine.utils": _FILES,
        "mmengine.device": _in(f"{_AIS}.mmengine_files", ("is_npu_available",)),
        "mmengine.dist": _in(f"{_AIS}.mmengine_files", ("is_main_process",)),
    },
    artifacts=False,
    gaps_only=True,
    instead={"read_base": "configs that inherit are read, not run: Config.fromfile(path)"},
)
"""The configs of mmengine, which programs for AISBench and OpenCompass hold, where it is not installed."""
