"""Which of AISBench's modules are answered by which of ours, beside those that hold classes of exams."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from proctor.compat.aisbench_names import constants
from proctor.compat.aisbench_names.refused import refused_modules

_HOME = "proctor.compat.aisbench_names"
_DATASETS = "ais_bench.benchmark.datasets"
_INFERENCER = "ais_bench.benchmark.openicl.icl_inferencer"

_API = "ais_bench.benchmark.models.api_models"
_CALCULATORS = "ais_bench.benchmark.calculators"

_METRICS = "ais_bench.benchmark.openicl.icl_evaluator.hf_metrics"

SAME: Mapping[str, str] = {
    **{f"{_METRICS}.{name}": f"{_HOME}.hf_metrics" for name in ("accuracy", "rouge", "sacrebleu", "squad")},
    f"{_API}.base_api": f"{_HOME}.models_base",
    f"{_API}.mindie_stream_api": f"{_HOME}.models_mindie",
    f"{_API}.tgi_api": f"{_HOME}.models_tgi",
    f"{_API}.triton_api": f"{_HOME}.models_triton",
    f"{_API}.vllm_custom_api": f"{_HOME}.models_vllm",
    f"{_API}.vllm_custom_api_chat": f"{_HOME}.models_vllm_chat",
    f"{_CALCULATORS}.base_perf_metric_calculator": f"{_HOME}.perf_calculators",
    f"{_CALCULATORS}.default_perf_metric_calculator": f"{_HOME}.perf_calculators",
    f"{_CALCULATORS}.stable_perf_metric_calculator": f"{_HOME}.stable_calculators",
    f"{_DATASETS}.base": f"{_HOME}.base_datasets",
    **{
        f"{_DATASETS}.agieval.{name}": f"{_HOME}.agieval_loading"
        for name in ("dataset_loader", "utils", "constructions")
    },
    f"{_DATASETS}.ifeval.instructions": f"{_HOME}.ifeval_instructions",
    f"{_DATASETS}.ifeval.instructions_util": f"{_HOME}.ifeval_words",
    f"{_DATASETS}.ifeval.instructions_registry": f"{_HOME}.ifeval_registry",
    f"{_DATASETS}.ifeval.evaluation_main": f"{_HOME}.ifeval_evaluation",
    f"{_DATASETS}.humanevalx.file_utils": f"{_HOME}.checked_files",
    f"{_DATASETS}.utils.video": f"{_HOME}.films",
    f"{_DATASETS}.utils.datasets": f"{_HOME}.dataset_helpers",
    f"{_DATASETS}.utils.llm_judge": f"{_HOME}.llm_judge",
    f"{_INFERENCER}.icl_base_inferencer": f"{_HOME}.inferencer_base",
    f"{_INFERENCER}.icl_base_api_inferencer": f"{_HOME}.inferencer_api",
    f"{_INFERENCER}.icl_base_local_inferencer": f"{_HOME}.inferencer_local",
    f"{_INFERENCER}.icl_gen_inferencer": f"{_HOME}.inferencer_gen",
    f"{_INFERENCER}.icl_lmm_gen_inferencer": f"{_HOME}.inferencer_lmm",
    f"{_INFERENCER}.icl_multiturn_inferencer": f"{_HOME}.inferencer_multiturn",
    f"{_INFERENCER}.ppl_inferencer": f"{_HOME}.inferencer_ppl",
    **{
        f"{_INFERENCER}.output_handler.{name}": f"{_HOME}.prediction_handlers"
        for name in (
            "gen_inferencer_output_handler",
            "ppl_inferencer_output_handler",
            "lmm_gen_inferencer_output_handler",
            "bfcl_v3_output_handler",
        )
    },
    "ais_bench.benchmark.utils.config.message_constants": f"{_HOME}.message_constants",
    f"{_INFERENCER}.output_handler.base_handler": f"{_HOME}.handlers",
    f"{_INFERENCER}.output_handler.db_utils": f"{_HOME}.array_store",
    "ais_bench.benchmark.openicl.icl_dataset_reader": f"{_HOME}.base_datasets",
    "ais_bench.benchmark.cli.config_manager": f"{_HOME}.config_managing",
    "ais_bench.benchmark.cli.argument_parser": f"{_HOME}.cli_names",
    "ais_bench.benchmark.cli.main": f"{_HOME}.task_managing",
    "ais_bench.benchmark.cli.task_manager": f"{_HOME}.task_managing",
    "ais_bench.benchmark.cli.workers": f"{_HOME}.workers",
    **{f"ais_bench.benchmark.partitioners.{name}": f"{_HOME}.partitioning" for name in ("base", "naive")},
    "ais_bench.benchmark.partitioners.sub_naive": f"{_HOME}.partitioning_judged",
    **{f"ais_bench.benchmark.partitioners.{name}": f"{_HOME}.partitioning_sizes" for name in ("size", "sub_size")},
    "ais_bench.benchmark.runners.base": f"{_HOME}.runners",
    "ais_bench.benchmark.runners.local": f"{_HOME}.runners",
    "ais_bench.benchmark.summarizers.default": f"{_HOME}.summarizing",
    "ais_bench.benchmark.summarizers.default_subjective": f"{_HOME}.summarizing_subjective",
    "ais_bench.benchmark.summarizers.default_perf": f"{_HOME}.perf_summarizing",
    "ais_bench.benchmark.tasks.base": f"{_HOME}.task_names",
    "ais_bench.benchmark.tasks.openicl_api_infer": f"{_HOME}.infer_tasks",
    "ais_bench.benchmark.tasks.openicl_eval": f"{_HOME}.eval_tasks",
    "ais_bench.benchmark.tasks.openicl_infer": f"{_HOME}.infer_tasks",
    "ais_bench.benchmark.utils.config.run": f"{_HOME}.custom_configs",
    "ais_bench.benchmark.utils.config.build": f"{_HOME}.builders",
    "ais_bench.benchmark.global_consts": f"{_HOME}.global_constants",
    "ais_bench.benchmark.utils.core.valid_global_consts": f"{_HOME}.small_names",
    "ais_bench.benchmark.utils.results.results": f"{_HOME}.result_files",
}
"""Modules that are one of ours, whole: what a test replaces in one is replaced for what is in it."""

HOMES: Mapping[str, tuple[str, ...]] = {
    _CALCULATORS: (f"{_HOME}.perf_calculators", f"{_HOME}.stable_calculators"),
    "ais_bench.benchmark.partitioners": (
        f"{_HOME}.partitioning",
        f"{_HOME}.partitioning_judged",
        f"{_HOME}.partitioning_sizes",
    ),
    "ais_bench.benchmark.runners": (f"{_HOME}.runners",),
    "ais_bench.benchmark.summarizers": (
        f"{_HOME}.summarizing",
        f"{_HOME}.perf_summarizing",
        f"{_HOME}.summarizing_subjective",
    ),
    "ais_bench.benchmark.tasks": (f"{_HOME}.task_names", f"{_HOME}.infer_tasks", f"{_HOME}.eval_tasks"),
    "ais_bench.benchmark.utils.visualization": (f"{_HOME}.timelines",),
    "ais_bench.benchmark.utils.visualization.summarize_plot": (f"{_HOME}.timelines",),
    "ais_bench.benchmark.utils.config": (f"{_HOME}.builders",),
    "ais_bench.benchmark.utils.results": (f"{_HOME}.result_files",),
    "ais_bench.benchmark.utils.file.load_tokenizer": (f"{_HOME}.small_names",),
    "ais_bench.benchmark.utils.image_process": (f"{_HOME}.small_names",),
}
"""Modules whose names are those of ours."""

_CHECKS = f"{_HOME}.code_checks"
_PICTURES = f"{_HOME}.picture_functions"
_NEEDLES = f"{_HOME}.needles"
_MATH, _AGIEVAL, _PLAIN = f"{_HOME}.math_names", f"{_HOME}.agieval_names", f"{_HOME}.dataset_functions"
_IN: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "math": {_MATH: ("last_boxed_only_string", "remove_boxed", "extract_boxed_answer", "normalize_final_answer",
                     "extract_answer")},
    "agieval.post_process": {_AGIEVAL: (
        "extract_last_line", "remove_few_shot_prefix", "try_parse_few_shot_qa_single_answer",
        "try_parse_few_shot_pattern", "parse_few_shot_qa_single_answer", "find_first_capital_letter",
        "extract_answer_in_bracket", "parse_math_answer", "parse_qa_multiple_answer", "post_process")},
    "agieval.evaluation": {_AGIEVAL: ("convert_to_set", "evaluate_single_sample")},
    "agieval.math_equivalence": {_AGIEVAL: ("is_equiv",)},
    "livecodebench.extract_utils": {_PLAIN: ("extract_code_generation", "extract_code_generation_v2",
                                             "extract_code_execution", "extract_test_output_code")},
    "livecodebench.pass_k_utils": {_PLAIN: ("compute_metrics_from_results", "extract_instance_results")},
    "livecodebench.evaluator": {_CHECKS: ("parse_assert_statement", "check_testcase_output")},
    "livecodebench.testing_util": {_CHECKS: (
        "truncatefn", "CODE_TYPE", "TimeoutException", "timeout_handler", "Capturing", "only_int_check",
        "string_int_check", "combined_int_check", "custom_compare_", "stripped_string_compare")},
    "livecodebench.livecodebench": {_CHECKS: ("Platform", "Difficulty", "TestType", "Test")},
    "textvqa": {_CHECKS: ("VQAEvalMethod", "MAX_TARGET_LENGTH")},
    "ifeval.ifeval": {f"{_HOME}.ifeval_evaluation": ("InputExample", "test_instruction_following_strict",
                                                     "test_instruction_following_loose")},
    "drop_simple_eval": {_PLAIN: ("normalize", "fuzzy_match")},
    "longbench.evaluators": {_PLAIN: ("normalize_zh_answer",)},
    "mmmu": {
        _PLAIN: ("can_infer_option", "can_infer_text", "can_infer"),
        _PICTURES: ("build_choices", "dump_image", "split_MMMU", "sort_key"),
    },
    "mmmu_pro": {_PLAIN: ("can_infer", "cot_postproc"), _PICTURES: ("build_choices", "dump_image", "split_MMMU")},
    "mmstar": {_PLAIN: ("can_infer",), _PICTURES: ("build_choices", "dump_image")},
    "videomme": {_PLAIN: ("extract_characters_regex",)},
    "hle": {_PLAIN: ("calib_err", "parse_hle_item"), f"{_HOME}.judged_datasets": ("HLEJGDataset",)},
    "aime2025": {f"{_HOME}.judged_datasets": ("Aime2025JDGDataset",)},
    "needlebench_v2.atc": {_NEEDLES: ("QuestionType",)},
    "needlebench_v2.atc_elder_only": {_NEEDLES: ("clean_atc_answer",)},
    "needlebench_v2.multi": {_NEEDLES: ("get_random_needles",)},
    "needlebench_v2.origin": {_NEEDLES: ("get_random_line_by_language",)},
    "needlebench_v2.parallel": {_NEEDLES: ("get_unique_entries",)},
    "dapo_math": {_MATH: ("extract_pred_by_minerva", "extract_pred_by_strict_box")},
    "mbpp": {_CHECKS: ("TimeOutException",)},
    "livecodebench.prompts": {_PLAIN: ("get_generic_question_template_test_completion",)},
    "custom": {
        f"{_HOME}.custom_names": ("stringfy_types", "make_mcq_gen_config", "make_qa_gen_config",
                                  "parse_example_dataset", "make_custom_dataset_config",
                                  "get_max_token_list_from_meta_json_file"),
        f"{_HOME}.type_checks": ("check_meta_json_dict", "check_output_config_from_meta_json"),
    },
}  # fmt: skip
_RENAMED: Mapping[str, Mapping[str, str]] = {
    **{
        f"needlebench_v2.{module}": {kind: f"{_HOME}.scoring:needlebench_v2.{module}.{kind}"}
        for module, kind in (
            ("atc", "NeedleBenchATCDataset"),
            ("atc_elder_only", "NeedleBenchATCDataset"),
            ("multi", "NeedleBenchMultiDataset"),
            ("origin", "NeedleBenchOriginDataset"),
            ("parallel", "NeedleBenchParallelDataset"),
        )
    },
    "dapo_math": {
        name: f"{_MATH}:dapo_{name}" for name in ("last_boxed_only_string", "remove_boxed", "normalize_final_answer")
    },
    "agieval.math_equivalence": {
        "_strip_string": f"{_AGIEVAL}:strip_string",
        "_fix_fracs": "proctor.scoring.postprocessors.mathematics:braced_fractions",
        "_fix_a_slash_b": f"{_HOME}.math_evaluator:fix_a_slash_b",
        "_fix_sqrt": "proctor.scoring.postprocessors.mathematics:braced_roots",
        "_remove_right_units": "proctor.scoring.postprocessors.mathematics:without_unit",
    },
    "livecodebench.pass_k_utils": {"estimate_pass_at_k": f"{_PLAIN}:percent_pass_at_k"},
    "humanevalx.humaneval_x_utils": {"estimate_pass_at_k": f"{_PLAIN}:pass_at_k_of_each"},
    "longbench.evaluators": {"normalize_answer": f"{_PLAIN}:normalize"},
}


def with_constants(listed: Mapping[str, Mapping[str, str]], packages: Collection[str]) -> dict[str, Mapping[str, str]]:
    """Return tables of modules, and in them the constants that modules have.

    Args:
        listed: Names by module, and where they are.
        packages: Those whose modules have all names of the package.
    """
    found = dict(listed)
    for module, names in constants.places().items():
        package = next((each for each in packages if module.startswith(f"{each}.")), "")
        found[module] = {**found.get(module, found.get(package, {})), **names}
    return found


def tables(classes: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return tables of modules: those of datasets that have functions, and those with names that refuse.

    Args:
        classes: Of datasets, which every module of datasets has.
    """
    found: dict[str, dict[str, str]] = {}
    for module in {**_IN, **_RENAMED}:
        listed = {name: f"{home}:{name}" for home, names in _IN.get(module, {}).items() for name in names}
        found[f"{_DATASETS}.{module}"] = {**classes, **listed, **_RENAMED.get(module, {})}
    for module, names in refused_modules().items():
        of_datasets = classes if module.startswith(f"{_DATASETS}.") else {}
        found[module] = {**of_datasets, **found.get(module, {}), **names}
    return found
