"""Where the names of this package stand in Unitxt's modules."""

from __future__ import annotations

_HERE = "proctor.compat.unitxt_names"


def _of(module: str, text: str, room: str = _HERE) -> dict[str, str]:
    """Return the names in a text, each in one of our modules; ``theirs=ours`` where they differ."""
    pairs = (name.partition("=")[::2] for name in text.split())
    return {theirs: f"{room}.{module}:{ours or theirs}" for theirs, ours in pairs}


_TYPE_TEXT = {"parse_string_types_instead_of_actual_objects": f"{_HERE}.type_names:parse_type_string"}

_TESTED = _of(
    "unitxt_artifacts",
    "TEMP_NAME test_artfifact_saving_and_loading test_adding_to_catalog test_metrics_exist test_loading_from_catalog",
    "proctor.testing",
)

WHOLE_MODULES = {"deprecation_utils": "deprecations", "evaluate_cli": "evaluate_cli"}
"""Modules in which programs replace names for what is in them: each is one of ours, whole."""

_SERVICE = "metrics run here, in this process; a judge is asked through its inference_engine"
_PAGES = "`proctor view` shows runs, exams and prompts in a browser"
REFUSED_MODULES = {
    "unitxt.dataset": 'it is a script that `datasets` runs; datasets.load_dataset("unitxt/data", recipe) and '
    "unitxt.load_dataset(recipe) do it here",
    "unitxt.validate": "rows are checked against the fields of their task: unitxt.task.Task",
    "unitxt.service.metrics.main": _SERVICE,
    "unitxt.service.metrics.tokens": _SERVICE,
    "unitxt.ui.run": _PAGES,
    "unitxt.ui.ui_utils": _PAGES,
    "unitxt.assistant.app": "it is a program of its own, which asks a model about Unitxt's documents",
}
"""Modules without a name of theirs here, and what does it instead."""

NAMES: dict[str, dict[str, str]] = {
    **{module.partition(".")[2]: {} for module in REFUSED_MODULES},
    "": {
        "register_all_artifacts": "proctor.compat.unitxt_helpers:register_all_artifacts",
        "dataset_url": "proctor.compat.unitxt_functions:DATASET_URL",
        "metric_url": "proctor.compat.unitxt_functions:METRIC_URL",
    },
    "api": {
        **_of("texts", "short_hex_hash object_to_str_without_addresses fill_metadata"),
        "select": "proctor.compat.unitxt_names.asking:select",
    },
    "artifact": _of(
        "catalogs",
        "Catalogs ArtifactList verify_legal_catalog_name dict_diff_string get_closest_artifact_type get_raw "
        "get_catalog_name_and_args maybe_recover_artifact maybe_recover_artifacts_structure",
    ),
    "base_metric": _TYPE_TEXT,
    "catalog": _of(
        "catalogs", "get_local_catalogs_paths count_files_recursively local_catalog_summary summary count_tags ls"
    ),
    "collections": _of("collections_of_artifacts", "Collection ListCollection DictCollection ItemPicker RandomPicker"),
    "collections_operators": {"flatten": f"{_HERE}.parameters:flatten"},
    "dataclass": _of(
        "data_classes",
        "Dataclass DataclassMeta Undefined Field FinalField RequiredField OptionalField AbstractField "
        "NonPositionalField InternalField fields fields_names external_fields_names class_fields final_fields "
        "required_fields abstract_fields "
        "is_abstract_field is_final_field get_field_default get_fields is_dataclass is_class_method "
        "is_possible_field "
        "standard_variables asdict to_dict",
    ),
    "dataset": {"get_dataset_artifact": "proctor.compat.unitxt_helpers:get_dataset_artifact"},
    "dataset_utils": {**_of("catalogs", "fetch"), **_of("texts", "parse")},
    "dict_utils": _of("paths", "indx name is_index is_name is_wildcard validate_query_and_break_to_components"),
    "error_utils": _of("contexts", "additional_info context_block_title error_context"),
    "file_utils": _of("contexts", "get_all_files_in_dir"),
    "formats": {
        **_of("chats", "TextContent ImageUrlContent ImageFileContent Content Message"),
        "BaseFormat": "proctor.formats.format:Format",
    },
    "hf_utils": _of(
        "packages", "get_installed_version verify_versions_compatibility get_internal_imports get_missing_imports"
    ),
    "image_operators": {
        **_of("chats", "ImageDataString data_url_to_image extract_images"),
        **_of("packages", "PillowMixin"),
    },
    "inference": {
        **_of("packages", "PackageRequirementsMixin"),
        **_of("coroutines", "run_coroutine_synchronously"),
        **_of(
            "engine_fields",
            "T CredentialsOpenAi CredentialsWML StandardAPIParamsMixin OpenAiInferenceEngineParamsMixin "
            "TogetherAiInferenceEngineParamsMixin WMLGenerationParamsMixin WMLInferenceEngineParamsMixin "
            "WMLChatParamsMixin VLLMParamsMixin HFGenerationParamsMixin LazyLoadMixin MockModeMixin TorchDeviceMixin "
            "HFInferenceEngineBase LMMSEvalBaseInferenceEngine run_with_imap AsyncTokenBucket",
        ),
        **_of("texts", "batched get_model_and_label_id"),
        **_of("chats", "get_images_without_text get_text_without_images"),
    },
    "llm_as_judge_from_template": _of("chats", "get_task_data_dict"),
    "llm_as_judge_utils": _of("texts", "get_parsed_context rank_indexes"),
    "loaders": {
        **_of("contexts", "read_file"),
        **_of("packages", "hf_get_dataset_splits"),
        "LoadWithPandas": "proctor.data.files:FileLoader",
    },
    "logging_utils": _of("contexts", "log_levels SizeLimitedFormatter enable_explicit_format"),
    "metric_utils": {
        **_of(
            "score_streams",
            "DEFAULT_STREAM_NAME DEFAULT_STREAM_SUBSET_SEPARATOR EmptyPrediction empty_predictions_generator group_str "
            "group_str_to_key_value stream_name_to_origin_subset_group SplitSubsetsAndGroups JoinSubsetsAndGroups",
        ),
        **_of("steps", "FromPredictionsAndOriginalData"),
        **_of("evaluation_steps", "DeleteTargetPrefix PostProcessRecipe MetricRecipe"),
        **_of("features", "get_schema UNITXT_METRIC_SCHEMA"),
        **_of(
            "services",
            "UNITXT_REMOTE_METRICS UNITXT_REMOTE_METRICS_ENDPOINT get_remote_metrics_names get_remote_metrics_endpoint "
            "InstanceInput MetricRequest MetricResponse",
        ),
        **_of("evaluation_steps", "_compute=computed _inference_post_process=processed"),
        "nan_mean": f"{_HERE}.parameters:nan_mean",
    },
    "metrics": {
        **_TYPE_TEXT,
        **_of("services", "InstanceInput MetricRequest MetricResponse"),
        **_of(
            "numbers",
            "UpdateStream abstract_factory abstract_field nan_std is_original_key get_index_or_default "
            "validate_subgroup_types Statistic",
        ),
        **_of("packages", "NLTKMixin"),
        "hf_evaluate_load": "proctor.dialects.lm_eval.evaluate_package:load",
        "new_random_generator": "proctor.compat.unitxt_helpers:new_random_generator",
        "MetricWithConfidenceInterval": "proctor.scoring.metric:Metric",
        "IntermediateType": "typing:Any",
        "PredictionType": "typing:Any",
    },
    "instructions": _of("bases", "TextualInstruction"),
    "recipe": _of("bases", "SequentialRecipe"),
    "operator": {
        "SingleStreamOperator": "proctor.data.operator:StreamOperator",
        **_of("packages", "PackageRequirementsMixin"),
        **_of("rows", "instance_generator stream_single instance_result"),
    },
    "operators": {
        "ComputeExpressionMixin": "proctor.data.computed_fields:ExpressionMixin",
        **_of(
            "bases", "ArtifactFetcherMixin DefaultPlaceHolder default_place_holder update_scores_of_stream_instances"
        ),
        **_of("steps", "ApplyMetric"),
        **_of("rows", "recursive_key_value_replace"),
    },
    "parsing_utils": _of(
        "texts",
        "consume_name_val consume_name consume_query consume_term consume_assignment consume_overwrites "
        "separate_inside_and_outside_square_brackets",
    ),
    "register": {
        **_of("catalogs", "_reset_env_local_catalogs"),
        "ProjectArtifactRegisterer": "proctor.compat.unitxt_helpers:ProjectArtifactRegisterer",
    },
    "schema": {
        **_of("chats", "load_chat_source loads_batch loads_instance"),
        **_of("features", "UNITXT_DATASET_SCHEMA UNITXT_INFERENCE_SCHEMA get_schema"),
    },
    "settings_utils": {**_of("own_settings", "cast_to_type Settings get_settings"), **_of("contexts", "Constants")},
    "split_utils": {
        **_of(
            "splits",
            "slice_stream slice_streams build_stream_routing rename_split random_mix_generator random_mix_streams",
        ),
        "parse_slices_string": f"{_HERE}.parameters:parse_slices_string",
    },
    "struct_data_operators": _of("texts", "truncate_cell extract_possible_json_str"),
    "task": _TYPE_TEXT,
    "test_utils.artifact": _TESTED,
    "test_utils.card": {
        **_TESTED,
        **_of(
            "unitxt_cards",
            "load_examples_from_dataset_recipe print_recipe_output print_predictions test_correct_predictions "
            "test_wrong_predictions",
            "proctor.testing",
        ),
    },
    "text2sql_utils": {
        **_of(
            "sql_results",
            "SQLExecutionResult SQLNonExecutionMetricResult run_query get_sql_execution_results strip_alias "
            "extract_select_columns collect_clause extract_select_info",
        ),
        **_of("kept_results", "Cache get_cache CACHE_LOCATION MAX_CACHE_SIZE"),
        **_of("texts", "generate_cache_key"),
        **_of("unitxt_sql", "DatabaseConnector execute_query_local", "proctor.compat"),
    },
    "text_utils": _of(
        "texts",
        "construct_dict_as_yaml_lines construct_dict_as_python_lines print_dict_as_yaml print_dict_as_python "
        "lines_defining_obj_in_card",
    ),
    "type_utils": _of(
        "type_names",
        "Type GenericTypedDict UnsupportedTypeError is_new_type is_typed_dict is_type is_type_dict convert_union_type "
        "format_type_string parse_type_string replace_class_names to_type_string to_type_dict parse_type_dict "
        "infer_type "
        "infer_type_string strtype BUILTINS_MAPPING STATIC_SUBTYPE_MAPPING optional_all optional_any get_origin "
        "get_args eval_forward_ref issubtype to_float_or_default verify_required_schema",
    ),
    "types": {"ToolCallContext": "proctor.artifacts.field_types:ToolCallContext"},
    "utils": {
        **_of("copies", "recursive_copy recursive_deep_copy recursive_shallow_copy deep_copy shallow_copy"),
        **_of("retries", "retry_connection_with_exponential_backoff"),
        **_of("packages", "DistributionNotFound VersionConflict DistStub require import_module_from_file"),
        **_of("texts", "remove_numerics_and_quoted_texts safe_eval"),
        **_of("catalogs", "artifacts_json_cache"),
    },
}
"""By module of Unitxt's: its names, with where they are."""
