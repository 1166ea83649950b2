"""Constants of AISBench's modules: short ones as they are, long texts as the package itself has them.

A text of several pages (prompts, lists of words) is read from the files of the package, installed or fetched
(``proctor get ais-bench``), and the package is neither imported nor run.
"""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Mapping
from typing import Any

from proctor.compat.aisbench_names.logger import AISLogger
from proctor.dialects.aisbench.datasets.upstream_texts import constants_of_file
from proctor.packages import package_folder
from proctor.templates import PromptList
from proctor.templates.multimodal import AIS_AUDIO_START, AIS_IMAGE_START, AIS_VIDEO_START

_TOP = "ais_bench.benchmark."
_DOCUMENTS = {"IMAGE_MAP_LEN": 64, "ANLS_THRESHOLD": 0.5}
_PICTURES = {"IMAGE_MAP_LEN": 64}
_PREDICTED = {"KEY_INSTANCE_ID": "instance_id", "KEY_MODEL": "model_name_or_path"}
_PROMPT = PromptList | str
_MESSAGE = PromptList | str | dict[str, Any]
_LOGGED = {"logger": AISLogger()}

VALUES: Mapping[str, Mapping[str, Any]] = {
    "datasets.bfcl.bfcl": {"VERSION_PREFIX": "BFCL_v3"},
    "datasets.bfcl.bfcl_dependency": {"BFCL_INSTALLED": True},
    "datasets.docvqa": _DOCUMENTS,
    "datasets.drop_simple_eval": {"ANSWER_PATTERN": r"(?i)Answer\s*:\s*([^\n]+)"},
    "datasets.g_edit": {"GEDIT_COUNT": 1212},
    "datasets.humanevalx.humaneval_x_eval": {
        "LANGUAGE_NAME": {"cpp": "CPP", "go": "Go", "java": "Java", "js": "JavaScript", "python": "Python"},
        "COMPLETION_ID_KEY": "completion_id",
        "TEST_CODE_KEY": "test_code",
        "TASK_ID_KEY": "task_id",
    },
    "datasets.infovqa": _DOCUMENTS,
    "datasets.math": {"ANSWER_PATTERN": r"(?i)ANSWER\s*:\s*([^\n]+)"},
    "datasets.mathvision": {
        "SPECIAL_CHARACTERS": ["<|im_end|>"],
        "MCQ_ANSWER_PATTERN": re.compile(r"(?im)^ANSWER\s*:\s*([A-Z])\b"),
    },
    "datasets.mm_custom": {
        "DATA_TYPE_TAG_DICT": {"image": AIS_IMAGE_START, "video": AIS_VIDEO_START, "audio": AIS_AUDIO_START}
    },
    "datasets.mmlu_pro": {"CHOICES": list("ABCDEFGHIJKLMNOP")},
    "datasets.mmmu": {**_PICTURES, "MMMU_MULTI_CHOICE_TYPE": "multiple-choice", "MMMU_OPEN_TYPE": "open"},
    "datasets.mmmu_pro": {**_PICTURES, "ANSWER_STR_LEN": len("Answer:")},
    "datasets.mmstar": _PICTURES,
    "datasets.ocrbench_v2": _DOCUMENTS,
    "datasets.refcoco.refcoco": {
        "IMAGE_PATH_TYPE": "path",
        "IMAGE_BASE64_TYPE": "base64",
        "TEMP_IMAGE_STORE_DIR": "temp_save_images",
    },
    "datasets.sharegpt": {"MIN_PROMPT_LEN": 4, "MIN_OUTPUT_LEN": 4},
    "datasets.videobench": {
        "TEXT_MAP": dict(enumerate(("two", "three", "four", "five", "six"), 2)),
        "DEFAULT_NUM_FRAMES": 5,
    },
    "datasets.videomme": _PICTURES,
    "models.api_models.vita_generate_api": {"PromptType": _PROMPT},
    "models.local_models.base": {"PromptType": _MESSAGE},
    "models.local_models.huggingface": {"PromptType": _MESSAGE},
    "models.local_models.huggingface_vl": {"PromptType": _MESSAGE},
    "models.local_models.vllm_offline_vl": {"PromptType": _PROMPT, "VLLM_MAX_IMAGE_INPUT_NUM": 24},
    "models.local_models.qwen_image_edit_mindie_sd": {"PromptType": _PROMPT},
    "openicl.icl_evaluator.icl_leval_evaluator": _LOGGED,
    "openicl.icl_inferencer.icl_bfcl_v3_inferencer": {
        "PromptType": _PROMPT,
        "MESSAGE_ROLE_MAP": {"user": "HUMAN", "assistant": "BOT", "tool": "TOOL", "system": "SYSTEM"},
    },
    "openicl.icl_prompt_template.icl_prompt_template": {"PromptType": _MESSAGE},
    "openicl.icl_prompt_template.icl_prompt_template_base": {"PromptType": _MESSAGE},
    "tasks.custom_tasks.harbor_task": {"DEFAULT_FAKE_API_KEY": "fake_api_key"},
    "tasks.custom_tasks.tau2_bench_task": {"DEFAULT_FAKE_API_KEY": "fake_api_key"},
    "tasks.swebench.swebench_eval": {
        **_PREDICTED,
        "KEY_PREDICTION": "model_patch",
        "LOG_REPORT": "report.json",
        "LOG_TEST_OUTPUT": "test_output.txt",
    },
    "tasks.swebench_pro.swebench_pro_eval": _PREDICTED,
    "tasks.utils": _LOGGED,
    "utils.config.range": {"PRESSURE_TIME_MIN": 1, "PRESSURE_TIME_MAX": 24 * 60 * 60, "CONNECTION_ADD_RATE_MIN": 0.1},
    "utils.model_postprocessors": _LOGGED,
    "utils.postprocess.model_postprocessors": _LOGGED,
    "utils.postprocess.text_postprocessors": _LOGGED,
    "utils.visualization.rps_distribution_plot": _LOGGED,
    "utils.visualization.summarize_plot": {"MAX_POINTS_PER_TRACE": 10_000, "TIMELINE_POINTS_PER_REQUEST": 3},
}
"""Short constants by module."""


def places() -> dict[str, dict[str, str]]:
    """Return where the names of :data:`VALUES` are, by module."""
    return {
        f"{_TOP}{module}": {name: f"{__name__}:{module}/{name}" for name in names} for module, names in VALUES.items()
    }


def __getattr__(place: str) -> Any:
    module, _, name = place.partition("/")
    if name not in VALUES.get(module, {}):
        raise AttributeError(place)
    return VALUES[module][name]


def packaged(module: str, name: str) -> Any:
    """Return a constant as AISBench's package has it, or a class of constants.

    Args:
        module: Its module, in full.
        name: Its name.

    Raises:
        LookupError: The package is not there, or has no such constant; it says what to do.
    """
    folder = package_folder("ais_bench")
    if folder is None:
        raise LookupError("its texts are in the package of ais_bench: `proctor get ais-bench` fetches it to be read")
    stem = os.path.join(*module.split(".")[1:]) if "." in module else ""  # noqa: PTH118 - a path below the package
    found = next((each for each in (folder / f"{stem}.py", folder / stem / "__init__.py") if each.is_file()), None)
    texts = constants_of_file(found) if found is not None else {}
    if name in texts:
        return copy.deepcopy(texts[name])
    if own := {key.partition(".")[2]: value for key, value in texts.items() if key.startswith(f"{name}.")}:
        return type(name, (), {**copy.deepcopy(own), "__doc__": f"The texts of ``{name}`` of ais_bench."})
    raise LookupError
