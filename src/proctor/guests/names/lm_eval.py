"""Names of lm-evaluation-harness 0.4.13, and where Proctor has them."""

from __future__ import annotations

from proctor.engines.lm_eval_models import NOTHING_HERE
from proctor.guests.table import Table

_HERE = "proctor.guests.lm_eval"
_CLASSES = "proctor.dialects.lm_eval.classes"
_NAMES = "proctor.compat.lm_eval_names"
_TEMPLATES = {"proctor.dialects.lm_eval.template": "*", "proctor.dialects.lm_eval.factory": "*"}
_CONFIG = {"proctor.dialects.lm_eval.config": "*"}
_GROUP = {f"{_HERE}.group": "*"}
_FILTERS = {f"{_HERE}.filters": "*"}

_MODELS = {
    "anthropic_llms": ("AnthropicChat",),
    "dummy": ("DummyLM",),
    "gguf": ("GGUFLM",),
    "hf_vlms": ("HFMultimodalLM",),
    "ibm_watsonx_ai": ("WatsonxLLM",),
    "mamba_lm": ("MambaLMWrapper",),
    "mistral3": ("Mistral3LM",),
    "optimum_lm": ("OptimumLM",),
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

_NO_PARSERS = "HarnessCLI or lm_eval.__main__.setup_parser makes a parser, to which a program adds its own arguments"
_COMMANDS = ("run", "ls", "validate", "subcommand")
"""Modules of lm-eval's parsers."""

_WITHOUT = {
    "lm_eval.caching": _NO_REQUESTS,
    "lm_eval.caching.cache": _NO_REQUESTS,
    "lm_eval.loggers.wandb_logger": "proctor export RUN --to wandb sends a run",
    "lm_eval.loggers.trackio_logger": "proctor export RUN --to trackio sends a run",
    "lm_eval.prompts": "a task file names a prompt of the library by use_prompt",
    "lm_eval.decontamination.janitor": _NO_JANITOR,
    "lm_eval.decontamination.archiver": _NO_JANITOR,
    "lm_eval.tasks._factory": "TaskManager().load makes tasks",
    **dict.fromkeys((f"lm_eval._cli.{each}" for each in _COMMANDS), _NO_PARSERS),
}
"""Modules whose names are not here, and what does their work."""

_INSTEAD = {
    **_WITHOUT,
    **{f"lm_eval.models.{module}": "its engines are named by --model" for module in _MODELS_ELSEWHERE},
    "RemoteTokenizer": "a server's likelihoods are asked by local-completions, which needs no tokenizer of its own",
    "check_remote_tokenizer_support": "a server's likelihoods are asked by local-completions, which needs no tokenizer",
    **dict.fromkeys(("CachingLM", "hash_args"), "use_cache names the response log, which keeps answers"),
    "TaskIndex": "TaskManager().task_index says what there is",
    **dict.fromkeys(("Run", "List", "Validate", "SubCommand"), _NO_PARSERS),
    "check_argument_types": "lm-eval looks at its own parser with it: leave it out",
    "WandbLogger": "proctor export RUN --to wandb sends a run",
    "TrackioLogger": "proctor export RUN --to trackio sends a run",
    "PromptString": "a task file names a prompt of the library by use_prompt",
    "get_prompt": "a task file names a prompt of the library by use_prompt",
    **{
        kind: NOTHING_HERE[name]
        for kinds in _MODELS_ELSEWHERE.values()
        for kind, name in kinds.items()
        if name in NOTHING_HERE
    },
    **dict.fromkeys(("BalancedSampler", "ManualSampler"), "lm-eval has their names, and never wrote them"),
    **dict.fromkeys(("Janitor", "word_ngrams", "Archive", "Reader", "TextArchive", "TextReader"), _NO_JANITOR),
    **dict.fromkeys(("combined_sample_stderr", "aggregate_groups"), "simple_evaluate puts scores together"),
    "print_writeout": "proctor show TASK prints prompts",
    "run_task_tests": "proctor validate reads every task",
    **dict.fromkeys(("delete_cache", "load_from_cache", "save_to_cache"), _NO_REQUESTS),
}
"""Names that code imports at its top, and what does their work: only using one of them is refused."""

_TASKS_TODAY = "lm_eval.tasks.TaskManager(include_path=…), which has all_tasks, match_tasks and load"
_OLDER = {
    "lm_eval.base": (
        "a model derives from lm_eval.models.huggingface.HFLM (BaseLM: _model_call, tok_encode) or "
        "lm_eval.api.model.LM, a task from lm_eval.api.task.Task; rf.loglikelihood(…) is Instance('loglikelihood', …)"
    ),
    "*.greedy_until": "generate_until",
    "lm_eval.metrics": "lm_eval.api.metrics",
    "lm_eval.decontamination.decontaminate": _NO_JANITOR,
    **dict.fromkeys(("lm_eval.models.gpt2", "*.AutoCausalLM", "*.AutoSeq2SeqLM"), "lm_eval.models.huggingface.HFLM"),
    "lm_eval.models.gpt3": "lm_eval.models.openai_completions",
    **dict.fromkeys((f"*.{each}" for each in ("ALL_TASKS", "TASK_REGISTRY", "GROUP_REGISTRY")), _TASKS_TODAY),
    **dict.fromkeys((f"*.{each}" for each in ("include_path", "include_task_folder", "get_task")), _TASKS_TODAY),
    "*.initialize_tasks": "leave it out: lm_eval.tasks.TaskManager finds tasks when they are used",
    "*.hendrycks_test": "the group mmlu",
    "*.MultiChoice": "lm_eval.tasks.TaskManager().match_tasks",
    "lm_eval.logger": "lm_eval.utils.eval_logger",
    "simple_evaluate(no_cache)": "leave it out; use_cache names a cache",
    "simple_evaluate(output_base_path)": "evaluation_tracker=EvaluationTracker(output_path=…)",
    "simple_evaluate(description_dict)": "description of a task file",
    "simple_evaluate(decontamination_ngrams_path)": _NO_JANITOR,
}
"""Names and arguments of releases before 0.4.2, and what is written today."""

_EVALUATION = {f"{_NAMES}.evaluation": "simple_evaluate evaluate"}
_TASKS = "TaskManager get_task_dict get_task_name_from_config get_task_name_from_object"

LM_EVAL = Table(
    "lm_eval",
    {
        "lm_eval": {
            **_EVALUATION,
            f"{_NAMES}.command_line": "main=cli_evaluate",
            "proctor.dialects.lm_eval.results_file": "__version__=FORM",
        },
        "lm_eval.__main__": {f"{_NAMES}.command_line": "cli_evaluate main=cli_evaluate setup_parser parse_eval_args"},
        "lm_eval._cli": {f"{_NAMES}.command_line": "HarnessCLI"},
        "lm_eval._cli.harness": {f"{_NAMES}.command_line": "HarnessCLI"},
        "lm_eval._cli.utils": {f"{_NAMES}.command_line": "MergeDictAction request_caching_arg_to_dict"},
        "lm_eval.api.filter": _FILTERS,
        "lm_eval.api.group": _GROUP,
        "lm_eval.api.instance": {f"{_HERE}.instance": "*"},
        "lm_eval.api.metrics": {
            f"{_HERE}.metrics": "*",
            "proctor.dialects.lm_eval.groups": "pooled_sample_stderr=pooled_error",
            f"{_NAMES}.evaluation": "aggregate_subtask_metrics",
        },
        "lm_eval.api.model": {f"{_HERE}.model": "*"},
        "lm_eval.api.registry": {
            f"{_NAMES}.models": "get_model model_registry MODEL_REGISTRY",
            "proctor.dialects.lm_eval.metrics": "DEFAULT_METRIC_REGISTRY=DEFAULT_METRICS",
            f"{_HERE}.registry": "*",
        },
        "lm_eval.api.samplers": {f"{_CLASSES}.samplers": "*"},
        "lm_eval.api.task": {
            **dict.fromkeys((f"{_CLASSES}.{each}" for each in ("task", "configurable_task", "older_tasks")), "*"),
            f"{_HERE}.instance": "*",
            f"{_HERE}.utils": "eval_logger",
            **_CONFIG,
        },
        "lm_eval.api.template": _TEMPLATES,
        "lm_eval.api.utils": {f"{_HERE}.messages": "*"},
        "lm_eval.config": {f"{_NAMES}.evaluator_config": "EvaluatorConfig", **_GROUP, **_CONFIG},
        "lm_eval.config.evaluate_config": {f"{_NAMES}.evaluator_config": "EvaluatorConfig"},
        "lm_eval.config.group": _GROUP,
        "lm_eval.config.task": _CONFIG,
        "lm_eval.config.template": _TEMPLATES,
        "lm_eval.evaluator": {
            **_EVALUATION,
            f"{_NAMES}.tasks": "get_task_dict",
            f"{_NAMES}.command_line": "request_caching_arg_to_dict",
        },
        "lm_eval.evaluator_utils": {f"{_NAMES}.tasks": "get_sample_size"},
        **{
            f"lm_eval.filters{end}": _FILTERS
            for end in ("", ".custom", ".decontamination", ".extraction", ".selection", ".transformation")
        },
        "lm_eval.loggers": {f"{_NAMES}.tracking": "EvaluationTracker"},
        "lm_eval.loggers.evaluation_tracker": {f"{_NAMES}.tracking": "EvaluationTracker GeneralConfigTracker"},
        "lm_eval.models": {},
        "lm_eval.models.api_models": {f"{_HERE}.api_model": "TemplateAPI JsonChatStr LogLikelihoodInputs"},
        "lm_eval.models.huggingface": {f"{_NAMES}.hf_model": "HFLM"},
        "lm_eval.models.utils": {f"{_HERE}.model_utils": "*", f"{_HERE}.utils": "*"},
        "lm_eval.models.utils_hf": {f"{_HERE}.torch_utils": "*"},
        **{f"lm_eval.models.{module}": {f"{_NAMES}.models": " ".join(names)} for module, names in _MODELS.items()},
        "lm_eval.models.openai_completions": {
            f"{_NAMES}.openai_models": (
                "LocalCompletionsAPI LocalChatCompletion OpenAICompletionsAPI OpenAIChatCompletion"
            ),
            f"{_NAMES}.models": "AzureOpenaiChatCompletionsLM",
        },
        "lm_eval.tasks": {f"{_NAMES}.tasks": _TASKS},
        "lm_eval.tasks._index": {f"{_NAMES}.tasks": "Entry Kind"},
        "lm_eval.tasks._yaml_loader": {f"{_NAMES}.tasks": "load_yaml"},
        "lm_eval.tasks.manager": {f"{_NAMES}.tasks": "TaskManager"},
        "lm_eval.utils": {
            "proctor.dialects.lm_eval.jinja": "apply_template",
            f"{_HERE}.model_utils": "Reorderer",
            f"{_HERE}.utils": "*",
        },
    },
    files={"lm_eval.tasks": "proctor.dialects.lm_eval.functions:module_of_tasks"},
    instead=_INSTEAD,
    older=_OLDER,
)
