"""Where Proctor has what programs import from lm-evaluation-harness.

Where lm_eval is installed, only what no release of it has; where it is not, its functions, models and classes.
"""

from __future__ import annotations

from proctor.compat.aliases import Alias
from proctor.dialects.lm_eval.package.imports import MODULES
from proctor.engines.lm_eval_models import NOTHING_HERE

_TEMPLATE = "proctor.dialects.lm_eval.template"
_FACTORY = "proctor.dialects.lm_eval.factory"
_NAMES = "proctor.compat.lm_eval_names"
_EVALUATION = {
    "simple_evaluate": f"{_NAMES}.evaluation:simple_evaluate",
    "evaluate": f"{_NAMES}.evaluation:evaluate",
}
_TASKS = {
    name: f"{_NAMES}.tasks:{name}"
    for name in ("TaskManager", "get_task_dict", "get_task_name_from_config", "get_task_name_from_object")
}
_MODELS = {
    "anthropic_llms": ("AnthropicChat",),
    "dummy": ("DummyLM",),
    "gguf": ("GGUFLM",),
    "hf_vlms": ("HFMultimodalLM",),
    "ibm_watsonx_ai": ("WatsonxLLM",),
    "mamba_lm": ("MambaLMWrapper",),
    "mistral3": ("Mistral3LM",),
    "optimum_lm": ("OptimumLM",),
    "openai_completions": (
        *("LocalCompletionsAPI", "LocalChatCompletion", "OpenAICompletionsAPI", "OpenAIChatCompletion"),
        "AzureOpenaiChatCompletionsLM",
    ),
    "sglang_generate_API": ("SGLANGGENERATEAPI",),
    "vllm_causallms": ("VLLM",),
}
"""Modules of lm-eval's models, and their classes that have an engine here."""

_MODELS_ELSEWHERE = {
    "anthropic_llms": {"AnthropicLM": "anthropic-completions"},
    "hf_audiolm": {"HFAUDIOLMQWEN": "hf-audiolm-qwen"},
    "hf_steered": {"SteeredModel": "steered"},
    "litellm_llms": {"LiteLLMChatCompletion": "litellm"},
    "megatron_lm": {"MegatronLMEval": "megatron_lm"},
    "nemo_lm": {"NeMoLM": "nemo_lm"},
    "neuron_optimum": {"NeuronModelForCausalLM": "neuronx", "NEURON_HF": "neuronx"},
    "onnxruntime_genai": {"ONNXRuntimeGenAILM": "onnxruntime-genai"},
    "onnxruntime_ort": {"ONNXRuntimeLM": "onnxruntime"},
    "optimum_habana": {"HabanaLM": "habana"},
    "optimum_ipex": {"IPEXForCausalLM": "ipex", "IPEXLM": "ipex"},
    "sglang_causallms": {"SGLangLM": "sglang"},
    "textsynth": {"TextSynthLM": "textsynth"},
    "trtllm_causallms": {"TRTLLM": "trtllm"},
    "vllm_vlms": {"VLLM_VLM": "vllm-vlm"},
    "winml": {"WindowsML": "winml"},
}
"""Modules of lm-eval's models whose classes have no engine here, and names for ``--model`` that say what does it."""

_NO_REQUESTS = "requests are not kept, because they are built faster than they are read back; answers are (use_cache)"

_NO_JANITOR = "training data is not searched for the words of exams"

_REFUSED = {
    "lm_eval.caching": _NO_REQUESTS,
    "lm_eval.caching.cache": _NO_REQUESTS,
    "lm_eval.loggers.wandb_logger": "proctor export RUN --to wandb sends a run",
    "lm_eval.loggers.trackio_logger": "proctor export RUN --to trackio sends a run",
    "lm_eval.prompts": "a task file names a prompt of the library by use_prompt",
    "lm_eval.decontamination.janitor": _NO_JANITOR,
    "lm_eval.decontamination.archiver": _NO_JANITOR,
    "lm_eval.tasks._factory": "TaskManager().load makes tasks",
}
"""Modules whose names are not here, and what does it instead."""

_UNBUILT = {
    "RemoteTokenizer": "a server's likelihoods are asked by local-completions, which needs no tokenizer of its own",
    "check_remote_tokenizer_support": "a server's likelihoods are asked by local-completions, which needs no tokenizer",
    "WandbLogger": "proctor export RUN --to wandb sends a run",
    "TrackioLogger": "proctor export RUN --to trackio sends a run",
    "TaskFactory": "TaskManager().load makes tasks",
    "PromptString": "a task file names a prompt of the library by use_prompt",
    "get_prompt": "a task file names a prompt of the library by use_prompt",
    "_bootstrap_internal": "bootstrap_stderr resamples",
    "_bootstrap_internal_no_mp": "bootstrap_stderr resamples",
    **{
        kind: NOTHING_HERE[name]
        for kinds in _MODELS_ELSEWHERE.values()
        for kind, name in kinds.items()
        if name in NOTHING_HERE
    },
    **dict.fromkeys(("BalancedSampler", "ManualSampler"), "lm-eval has their names, and never wrote them"),
    **dict.fromkeys(("Janitor", "word_ngrams", "Archive", "Reader", "TextArchive", "TextReader"), _NO_JANITOR),
    "run_task_tests": "proctor validate reads every task",
    **dict.fromkeys(("delete_cache", "load_from_cache", "save_to_cache"), _NO_REQUESTS),
}
"""Names that programs import at their top, and what does it instead: only using one of them is refused."""

_COMMANDS = ("", ".harness", ".run", ".ls", ".validate", ".subcommand")
"""Modules of lm-eval's command line."""

LM_EVAL = Alias(
    "lm_eval",
    {
        "lm_eval.api.template": {
            "TemplateConfig": f"{_TEMPLATE}:TemplateConfig",
            "MCQTemplateConfig": f"{_TEMPLATE}:MCQTemplateConfig",
            "ClozeTemplateConfig": f"{_TEMPLATE}:ClozeTemplateConfig",
            "TemplateFactory": f"{_FACTORY}:TemplateFactory",
            "process_field": "proctor.dialects.lm_eval.template:process_field",
        },
        "lm_eval.api.task": {"TaskConfig": "proctor.dialects.lm_eval.config:TaskConfig"},
        "lm_eval.config.task": {"TaskConfig": "proctor.dialects.lm_eval.config:TaskConfig"},
        "lm_eval": _EVALUATION,
        "lm_eval.evaluator": {**_EVALUATION, "get_task_dict": _TASKS["get_task_dict"]},
        "lm_eval.tasks": _TASKS,
        "lm_eval.tasks.manager": {"TaskManager": _TASKS["TaskManager"]},
        "lm_eval.tasks._index": {name: f"{_NAMES}.task_index:{name}" for name in ("Entry", "Kind", "TaskIndex")},
        "lm_eval.tasks._yaml_loader": {"load_yaml": f"{_NAMES}.task_index:load_yaml"},
        "lm_eval.evaluator_utils": {"get_sample_size": f"{_NAMES}.tasks:get_sample_size"},
        "lm_eval.__main__": {"cli_evaluate": f"{_NAMES}.command_line:cli_evaluate"},
        "lm_eval.api.registry": {
            name: f"{_NAMES}.models:{name}" for name in ("get_model", "model_registry", "MODEL_REGISTRY")
        },
        "lm_eval.models.huggingface": {"HFLM": f"{_NAMES}.hf_model:HFLM"},
        "lm_eval.models.api_models": {name: f"{_NAMES}.api_model:{name}" for name in ("TemplateAPI", "JsonChatStr")},
        "lm_eval.loggers": {"EvaluationTracker": f"{_NAMES}.tracking:EvaluationTracker"},
        **{
            f"lm_eval.models.{module}": {name: f"{_NAMES}.models:{name}" for name in names}
            for module, names in _MODELS.items()
        },
    },
    homes={
        **MODULES,
        **{f"lm_eval._cli{end}": (f"{_NAMES}.commands",) for end in _COMMANDS},
        "lm_eval._cli.utils": (f"{_NAMES}.command_line",),
        "lm_eval.config.evaluate_config": (f"{_NAMES}.evaluator_config",),
        "lm_eval.evaluator_utils": (f"{_NAMES}.accumulating",),
        "lm_eval.loggers.evaluation_tracker": (f"{_NAMES}.tracking",),
        "lm_eval.loggers.utils": (f"{_NAMES}.tracking",),
        "lm_eval.result_schema": (f"{_NAMES}.result_types",),
        **dict.fromkeys(_REFUSED, ()),
        **{f"lm_eval.models.{module}": () for module in _MODELS_ELSEWHERE if module not in _MODELS},
    },
    refused=_REFUSED,
    unbuilt=_UNBUILT,
    files={"lm_eval.tasks": "proctor.dialects.lm_eval.functions:module_of_tasks"},
    artifacts=False,
    shared=True,
    gaps_only=True,
    extends=dict.fromkeys(
        ("lm_eval.config.task", "lm_eval.config", "lm_eval.api.task"),
        "proctor.compat.lm_eval_task_config:config_with_templates",
    ),
)
"""The alias of lm_eval: it fills gaps, and gives an installed lm_eval's ``TaskConfig`` the templates that it lacks."""
