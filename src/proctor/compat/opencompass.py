"""Where Proctor has what programs import from OpenCompass and AISBench, as far as prompts are concerned."""

from __future__ import annotations

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


_INSTEAD = {
    "GenInferencer": "run the config: proctor run CONFIG.py --model …",
    "PPLInferencer": "run the config: proctor run CONFIG.py --model …",
    "MultiTurnGenInferencer": "run the config: proctor run CONFIG.py --model …",
}

OPENCOMPASS = Alias(
    "opencompass",
    {
        "opencompass.openicl": {**_one(_TEMPLATES, "PromptTemplate"), **_RAW, **_OC_RETRIEVERS, **_READER},
        "opencompass.openicl.icl_prompt_template": _one(_TEMPLATES, "PromptTemplate"),
        "opencompass.openicl.icl_raw_prompt_template": _RAW,
        "opencompass.openicl.icl_retriever": _OC_RETRIEVERS,
        **{
            f"opencompass.openicl.icl_retriever.icl_{file}_retriever": _one(_OC_RETRIEVERS, f"{name}Retriever")
            for file, name in _OC_FILES.items()
        },
        "opencompass.openicl.icl_dataset_reader": _READER,
        "opencompass.utils": {name: _PROMPT[name] for name in ("PromptList", "safe_format")},
        "opencompass.utils.prompt": {name: _PROMPT[name] for name in ("PromptList", "safe_format")},
        "opencompass.models": _PARSERS,
        "opencompass.models.base": _one(_PARSERS, "LMTemplateParser"),
        "opencompass.models.base_api": _one(_PARSERS, "APITemplateParser"),
        "opencompass.datasets": _BASE,
        "opencompass.datasets.base": _BASE,
    },
    artifacts=False,
    instead=_INSTEAD,
)
"""The alias of OpenCompass 0.5."""

_ICL = "ais_bench.benchmark.openicl"

AIS_BENCH = Alias(
    "ais_bench",
    {
        _ICL: {**_TEMPLATES, **_AIS_RETRIEVERS},
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
        "ais_bench.benchmark.utils.prompt": _PROMPT,
        "ais_bench.benchmark.utils.prompt.prompt": _PROMPT,
        "ais_bench.benchmark.models": _PARSERS,
        "ais_bench.benchmark.models.local_models.base": _one(_PARSERS, "LMTemplateParser"),
        "ais_bench.benchmark.models.api_models.base_api": _one(_PARSERS, "APITemplateParser"),
        "ais_bench.benchmark.datasets": _BASE,
        "ais_bench.benchmark.datasets.base": _BASE,
    },
    artifacts=False,
    instead=_INSTEAD,
)
"""The alias of AISBench 3.1."""
