"""Names of Unitxt 1.26, and where Proctor has them.

Artifact classes need no entry: they are found by name in every module.
"""

from __future__ import annotations

from proctor.guests.table import Table

_SERVICE = "metrics run here, in this process; a judge is asked through its inference_engine"
_PAGES = "`proctor view` shows runs, exams and prompts in a browser"
_REFLECTION = "it runs the package llmevalkit, which is not public; ToolCallingMetric checks calls against schemas"
_INSTEAD = {
    "ExecuteQuery": "use ExecuteExpression; it runs an allow-list of expressions",
    "GithubCatalog": "use proctor.artifacts.register_git_catalog(url, revision, folder)",
    "ReflectionToolCallingMetric": _REFLECTION,
    "ReflectionToolCallingMetricSyntactic": _REFLECTION,
    "ReflectionToolCallingMixin": _REFLECTION,
    "unitxt.dataset": 'it is a script that `datasets` runs; datasets.load_dataset("unitxt/data", recipe) and '
    "unitxt.load_dataset(recipe) do it here",
    "unitxt.validate": "rows are checked against the fields of their task: unitxt.task.Task",
    "unitxt.service.metrics.main": _SERVICE,
    "unitxt.service.metrics.tokens": _SERVICE,
    "unitxt.ui.run": _PAGES,
    "unitxt.ui.ui_utils": _PAGES,
    "unitxt.assistant.app": "it is a program of its own, which asks a model about Unitxt's documents",
}

_ARTIFACTS = (
    "augmentors benchmark card dialog_operators fusion llm_as_judge_chat_templates llm_as_judge_operators metric "
    "normalizers processors serializers span_lableing_operators standard stream_operators string_operators "
    "system_prompts"
)
"""Modules that have artifact classes alone."""

_NAMES = {
    **{f"unitxt.{module}": {} for module in _ARTIFACTS.split()},
    "unitxt.deprecation_utils": {"proctor.guests.unitxt.deprecations": "*"},
    "unitxt.evaluate_cli": {"proctor.guests.unitxt.evaluate_cli": "*"},
    "unitxt": {
        "proctor.recipes": "load_dataset load_recipe create_dataset produce",
        "proctor.running.evaluate": "evaluate",
        "proctor.results.evaluate": "post_process",
        "proctor.running.infer": "infer",
        "proctor.artifacts": "add_to_catalog add_link_to_catalog get_from_catalog",
        "proctor.guests.unitxt.parameters": "register_local_catalog register_catalog=register_local_catalog get_logger",
        "proctor.guests.unitxt.own_settings": "get_settings settings",
        "proctor.guests.unitxt.functions": (
            "constants logger fetch_artifact get_constants local_catalog_path=CATALOG_FOLDER dataset_url=DATASET_URL "
            "metric_url=METRIC_URL"
        ),
        "proctor.guests.hugging_face": "dataset_file=DATASET_FILE metric_file=METRIC_FILE",
        "proctor.guests.unitxt.helpers": "register_all_artifacts",
    },
    "unitxt.api": {
        "proctor.recipes": "load_dataset load_recipe create_dataset produce",
        "proctor.running.evaluate": "evaluate",
        "proctor.results.evaluate": "post_process",
        "proctor.running.infer": "infer",
        "proctor.artifacts": "add_to_catalog add_link_to_catalog get_from_catalog",
        "proctor.guests.unitxt.parameters": "register_local_catalog register_catalog=register_local_catalog get_logger",
        "proctor.guests.unitxt.own_settings": "get_settings",
        "proctor.guests.unitxt.functions": "fetch_artifact get_constants",
        "proctor.guests.unitxt.texts": "short_hex_hash object_to_str_without_addresses fill_metadata",
        "proctor.guests.unitxt.asking": "select",
    },
    "unitxt.artifact": {
        "proctor.artifacts": "Artifact Artifactory=Catalog AbstractCatalog=Catalog",
        "proctor.guests.unitxt.functions": "fetch_artifact reset_artifacts_json_cache",
        "proctor.errors": (
            "UnrecognizedArtifactTypeError=UnknownTypeError MissingArtifactTypeError=ArtifactError "
            "UnitxtArtifactNotFoundError=UnknownArtifactError"
        ),
        "proctor.guests.unitxt.helpers": (
            "register_all_artifacts get_artifacts_data_classification is_name_legal_for_catalog verbosed_fetch_artifact"
        ),
        "proctor.guests.unitxt.catalogs": (
            "Catalogs ArtifactList verify_legal_catalog_name dict_diff_string get_closest_artifact_type get_raw "
            "get_catalog_name_and_args maybe_recover_artifact maybe_recover_artifacts_structure"
        ),
    },
    "unitxt.base_metric": {
        "proctor.guests.unitxt.type_names": "parse_string_types_instead_of_actual_objects=parse_type_string",
    },
    "unitxt.blocks": {
        "proctor.artifacts": "Artifact add_to_catalog",
    },
    "unitxt.catalog": {
        "proctor.artifacts": (
            "add_to_catalog add_link_to_catalog get_from_catalog LocalCatalog EnvironmentLocalCatalog=LocalCatalog "
            "Catalog"
        ),
        "proctor.guests.unitxt.catalogs": (
            "get_local_catalogs_paths count_files_recursively local_catalog_summary summary count_tags ls"
        ),
    },
    "unitxt.collections": {
        "proctor.guests.unitxt.collections_of_artifacts": (
            "Collection ListCollection DictCollection ItemPicker RandomPicker"
        ),
    },
    "unitxt.collections_operators": {
        "proctor.guests.unitxt.parameters": "flatten",
    },
    "unitxt.dataclass": {
        "proctor.errors": (
            "MissingDefaultError=ValidationError FinalFieldError=ValidationError RequiredFieldError=ValidationError "
            "AbstractFieldError=ValidationError TypeMismatchError=ValidationError "
            "UnexpectedArgumentError=ValidationError"
        ),
        "proctor.guests.unitxt.data_classes": (
            "Dataclass DataclassMeta Undefined Field FinalField RequiredField OptionalField AbstractField "
            "NonPositionalField InternalField fields fields_names external_fields_names class_fields final_fields "
            "required_fields abstract_fields is_abstract_field is_final_field get_field_default get_fields "
            "is_dataclass is_class_method is_possible_field standard_variables asdict to_dict"
        ),
    },
    "unitxt.dataset": {
        "proctor.guests.unitxt.helpers": "get_dataset_artifact",
    },
    "unitxt.dataset_utils": {
        "proctor.guests.unitxt.helpers": "get_dataset_artifact",
        "proctor.guests.unitxt.catalogs": "fetch",
        "proctor.guests.unitxt.texts": "parse",
    },
    "unitxt.dict_utils": {
        "proctor.guests.unitxt.functions": "dict_get dict_set dict_delete",
        "proctor.guests.unitxt.parameters": "is_subpath",
        "proctor.guests.unitxt.paths": "indx name is_index is_name is_wildcard validate_query_and_break_to_components",
    },
    "unitxt.error_utils": {
        "proctor.errors": "UnitxtError=ProctorError",
        "proctor.guests.unitxt.functions": "UnitxtWarning Documentation",
        "proctor.guests.unitxt.contexts": "additional_info context_block_title error_context",
    },
    "unitxt.eval_utils": {
        "proctor.guests.unitxt.functions": "evaluate=evaluate_by_metrics as_remote_metric metrics_df",
    },
    "unitxt.file_utils": {
        "proctor.guests.unitxt.contexts": "get_all_files_in_dir",
    },
    "unitxt.formats": {
        "proctor.formats.newline": "apply_capital_new_line_notation=apply_newline_notation",
        "proctor.guests.unitxt.chats": "TextContent ImageUrlContent ImageFileContent Content Message",
        "proctor.formats.format": "BaseFormat=Format",
    },
    "unitxt.generator_utils": {
        "proctor.guests.unitxt.helpers": "ReusableGenerator CopyingReusableGenerator",
    },
    "unitxt.hf_utils": {
        "proctor.errors": "UnitxtVersionsConflictError=PluginError",
        "proctor.guests.unitxt.packages": (
            "get_installed_version verify_versions_compatibility get_internal_imports get_missing_imports"
        ),
    },
    "unitxt.image_operators": {
        "proctor.guests.unitxt.parameters": "image_to_data_url",
        "proctor.guests.unitxt.chats": "ImageDataString data_url_to_image extract_images",
        "proctor.guests.unitxt.packages": "PillowMixin",
    },
    "unitxt.inference": {
        "builtins": "OpenAiInferenceEngineParams=dict WMLInferenceEngineParams=dict",
        "proctor.engines.inference": "TextGenerationInferenceOutput ListWithMetadata=Predictions",
        "proctor.guests.unitxt.engines.providers": "OptionSelectingByLogProbsInferenceEngine",
        "proctor.guests.unitxt.functions": "mock_logprobs_default_value_factory",
        "proctor.guests.unitxt.packages": "PackageRequirementsMixin",
        "proctor.guests.unitxt.coroutines": "run_coroutine_synchronously",
        "proctor.guests.unitxt.engine_fields": (
            "T CredentialsOpenAi CredentialsWML StandardAPIParamsMixin OpenAiInferenceEngineParamsMixin "
            "TogetherAiInferenceEngineParamsMixin WMLGenerationParamsMixin WMLInferenceEngineParamsMixin "
            "WMLChatParamsMixin VLLMParamsMixin HFGenerationParamsMixin LazyLoadMixin MockModeMixin "
            "TorchDeviceMixin HFInferenceEngineBase LMMSEvalBaseInferenceEngine run_with_imap AsyncTokenBucket"
        ),
        "proctor.guests.unitxt.texts": "batched get_model_and_label_id",
        "proctor.guests.unitxt.chats": "get_images_without_text get_text_without_images",
    },
    "unitxt.instructions": {
        "proctor.guests.unitxt.bases": "TextualInstruction",
    },
    "unitxt.llm_as_judge": {
        "proctor.guests.unitxt.judging": (
            "OptionSelectionStrategyEnum EvaluatorTypeEnum EvaluatorNameEnum ModelProviderEnum "
            "EVALUATOR_TO_MODEL_ID EvaluatorMetadata EVALUATORS_METADATA get_yes_no_criteria "
            "get_likert_scale_criteria DirectCriteriaCatalogEnum PairwiseCriteriaCatalogEnum DIRECT_CRITERIA "
            "PAIRWISE_CRITERIA"
        ),
    },
    "unitxt.llm_as_judge_constants": {
        "proctor.guests.unitxt.judging": (
            "OptionSelectionStrategyEnum EvaluatorTypeEnum EvaluatorNameEnum ModelProviderEnum "
            "EVALUATOR_TO_MODEL_ID EvaluatorMetadata EVALUATORS_METADATA get_yes_no_criteria "
            "get_likert_scale_criteria DirectCriteriaCatalogEnum PairwiseCriteriaCatalogEnum DIRECT_CRITERIA "
            "PAIRWISE_CRITERIA"
        ),
    },
    "unitxt.llm_as_judge_from_template": {
        "proctor.guests.unitxt.chats": "get_task_data_dict",
    },
    "unitxt.llm_as_judge_utils": {
        "proctor.guests.unitxt.judging": "get_evaluator_metadata",
        "proctor.guests.unitxt.texts": "get_parsed_context rank_indexes",
    },
    "unitxt.loaders": {
        "proctor.errors": "UnitxtUnverifiedCodeError=TrustError MissingKaggleCredentialsError=DataError",
        "proctor.guests.unitxt.contexts": "read_file",
        "proctor.guests.unitxt.packages": "hf_get_dataset_splits",
        "proctor.data.files": "LoadWithPandas=FileLoader",
    },
    "unitxt.logging_utils": {
        "proctor.guests.unitxt.parameters": "get_logger",
        "proctor.guests.unitxt.functions": "set_verbosity",
        "proctor.guests.unitxt.contexts": "log_levels SizeLimitedFormatter enable_explicit_format",
    },
    "unitxt.metric_utils": {
        "proctor.results.evaluate": "EvaluationResults",
        "proctor.results.scores": "GlobalScores SubsetsScores GroupsScores InstanceScores",
        "proctor.guests.unitxt.score_streams": (
            "DEFAULT_STREAM_NAME DEFAULT_STREAM_SUBSET_SEPARATOR EmptyPrediction empty_predictions_generator "
            "group_str group_str_to_key_value stream_name_to_origin_subset_group SplitSubsetsAndGroups "
            "JoinSubsetsAndGroups"
        ),
        "proctor.guests.unitxt.steps": "FromPredictionsAndOriginalData",
        "proctor.guests.unitxt.evaluation_steps": (
            "DeleteTargetPrefix PostProcessRecipe MetricRecipe _compute=computed _inference_post_process=processed"
        ),
        "proctor.guests.unitxt.features": "get_schema UNITXT_METRIC_SCHEMA",
        "proctor.guests.unitxt.services": (
            "UNITXT_REMOTE_METRICS UNITXT_REMOTE_METRICS_ENDPOINT get_remote_metrics_names "
            "get_remote_metrics_endpoint InstanceInput MetricRequest MetricResponse"
        ),
        "proctor.guests.unitxt.parameters": "nan_mean",
    },
    "unitxt.metrics": {
        "proctor.scoring.metrics.robustness": (
            "performance_drop_rate interpret_effect_size normalized_cohens_h normalized_hedges_g mean_subgroup_score"
        ),
        "proctor.scoring.judges.guardian": "RiskType RISK_TYPE_TO_CLASS",
        "proctor.guests.unitxt.parameters": "normalize_answer nan_mean nan_max",
        "proctor.scoring.map_reduce": "EvaluationInput",
        "proctor.guests.unitxt.type_names": "parse_string_types_instead_of_actual_objects=parse_type_string",
        "proctor.guests.unitxt.services": "InstanceInput MetricRequest MetricResponse",
        "proctor.guests.unitxt.numbers": (
            "UpdateStream abstract_factory abstract_field nan_std is_original_key get_index_or_default "
            "validate_subgroup_types Statistic"
        ),
        "proctor.guests.unitxt.packages": "NLTKMixin",
        "proctor.guests.evaluate": "hf_evaluate_load=load",
        "proctor.guests.unitxt.helpers": "new_random_generator",
        "proctor.scoring.metric": "MetricWithConfidenceInterval=Metric",
        "typing": "IntermediateType=Any PredictionType=Any",
    },
    "unitxt.operator": {
        "proctor.errors": "MissingRequirementsError=MissingExtraError OperatorError=DataError",
        "proctor.data.operator": "SingleStreamOperator=StreamOperator",
        "proctor.guests.unitxt.packages": "PackageRequirementsMixin",
        "proctor.guests.unitxt.rows": "instance_generator stream_single instance_result",
    },
    "unitxt.operators": {
        "proctor.errors": "DownloadError=DatasetNotFoundError UnexpectedHttpCodeError=DatasetNotFoundError",
        "proctor.data.computed_fields": "ComputeExpressionMixin=ExpressionMixin",
        "proctor.guests.unitxt.bases": (
            "ArtifactFetcherMixin DefaultPlaceHolder default_place_holder update_scores_of_stream_instances"
        ),
        "proctor.guests.unitxt.steps": "ApplyMetric",
        "proctor.guests.unitxt.rows": "recursive_key_value_replace",
    },
    "unitxt.parsing_utils": {
        "proctor.guests.unitxt.parameters": "parse_key_equals_value_string_to_dict",
        "proctor.guests.unitxt.texts": (
            "consume_name_val consume_name consume_query consume_term consume_assignment consume_overwrites "
            "separate_inside_and_outside_square_brackets"
        ),
    },
    "unitxt.random_utils": {
        "proctor.guests.unitxt.helpers": "new_random_generator",
        "proctor.guests.unitxt.functions": "get_seed",
    },
    "unitxt.recipe": {
        "proctor.guests.unitxt.bases": "SequentialRecipe",
    },
    "unitxt.register": {
        "proctor.guests.unitxt.parameters": "register_local_catalog",
        "proctor.guests.unitxt.functions": "unregister_local_catalog is_local_catalog_registered",
        "proctor.guests.unitxt.helpers": "register_all_artifacts ProjectArtifactRegisterer",
        "proctor.guests.unitxt.catalogs": "_reset_env_local_catalogs",
    },
    "unitxt.schema": {
        "proctor.guests.unitxt.chats": "load_chat_source loads_batch loads_instance",
        "proctor.guests.unitxt.features": "UNITXT_DATASET_SCHEMA UNITXT_INFERENCE_SCHEMA get_schema",
    },
    "unitxt.settings_utils": {
        "proctor.guests.unitxt.own_settings": "get_settings cast_to_type Settings",
        "proctor.guests.unitxt.functions": "get_constants",
        "proctor.guests.unitxt.contexts": "Constants",
    },
    "unitxt.split_utils": {
        "proctor.guests.unitxt.parameters": "parse_random_mix_string parse_slices_string",
        "proctor.guests.unitxt.splits": (
            "slice_stream slice_streams build_stream_routing rename_split random_mix_generator random_mix_streams"
        ),
    },
    "unitxt.splitters": {
        "proctor.guests.unitxt.helpers": "get_random_generator_based_on_instance",
    },
    "unitxt.stream": {
        "proctor.data.streams": "Stream MultiStream ListStream GeneratorStream DynamicStream",
        "proctor.errors": "FaultyStreamError=DataError MissingStreamError=DataError EmptyStreamError=DataError",
    },
    "unitxt.struct_data_operators": {
        "proctor.data.table_operators": "shuffle_columns shuffle_rows",
        "proctor.guests.unitxt.texts": "truncate_cell extract_possible_json_str",
    },
    "unitxt.task": {
        "proctor.guests.unitxt.type_names": "parse_string_types_instead_of_actual_objects=parse_type_string",
    },
    "unitxt.templates": {
        "proctor.errors": "TemplateFormatKeyError=TemplateError",
        "proctor.guests.unitxt.helpers": "escape_chars",
    },
    "unitxt.test_utils.artifact": {
        "proctor.testing.unitxt_artifacts": (
            "TEMP_NAME test_artfifact_saving_and_loading test_adding_to_catalog test_metrics_exist "
            "test_loading_from_catalog"
        ),
    },
    "unitxt.test_utils.card": {
        "proctor.testing.cards": "test_card",
        "proctor.testing.unitxt_artifacts": (
            "TEMP_NAME test_artfifact_saving_and_loading test_adding_to_catalog test_metrics_exist "
            "test_loading_from_catalog"
        ),
        "proctor.testing.unitxt_cards": (
            "load_examples_from_dataset_recipe print_recipe_output print_predictions test_correct_predictions "
            "test_wrong_predictions"
        ),
    },
    "unitxt.test_utils.catalog": {
        "proctor.testing.unitxt_checks": "temp_catalog register_local_catalog_for_tests",
    },
    "unitxt.test_utils.metrics": {
        "proctor.testing.unitxt_checks": "test_metric apply_metric check_scores round_floats dict_equal test_evaluate",
    },
    "unitxt.test_utils.operators": {
        "proctor.testing.operators": "check_operator check_operator_exception apply_operator",
    },
    "unitxt.test_utils.storage": {
        "proctor.testing.unitxt_checks": "get_directory_size",
    },
    "unitxt.text2sql_utils": {
        "proctor.guests.unitxt.sql": (
            "DatabaseConnector execute_query_local sqlglot_optimized_equivalence "
            "sqlglot_parsed_queries_equivalent extract_sql_from_text replace_select_clause "
            "compare_dfs_ignore_colnames_ordered_rows compare_dfs_bird_eval_logic "
            "compare_dfs_ignore_colnames_unordered_rows compare_dfs_ignore_colnames_subset compare_result_dfs "
            "get_db_connector ALL_DIALECTS LocalSQLiteConnector InMemoryDatabaseConnector RemoteDatabaseConnector"
        ),
        "proctor.guests.unitxt.parameters": (
            "is_sqlglot_parsable is_sqlparse_parsable sql_exact_match sqlparse_queries_equivalent"
        ),
        "proctor.guests.unitxt.sql_results": (
            "SQLExecutionResult SQLNonExecutionMetricResult run_query get_sql_execution_results strip_alias "
            "extract_select_columns collect_clause extract_select_info"
        ),
        "proctor.guests.unitxt.kept_results": "Cache get_cache CACHE_LOCATION MAX_CACHE_SIZE",
        "proctor.guests.unitxt.texts": "generate_cache_key",
    },
    "unitxt.text_utils": {
        "proctor.guests.unitxt.functions": "print_dict to_pretty_string",
        "proctor.guests.unitxt.helpers": (
            "split_words is_camel_case is_snake_case camel_to_snake_case nested_tuple_to_string is_made_of_sub_strings"
        ),
        "proctor.guests.unitxt.texts": (
            "construct_dict_as_yaml_lines construct_dict_as_python_lines print_dict_as_yaml print_dict_as_python "
            "lines_defining_obj_in_card"
        ),
    },
    "unitxt.type_utils": {
        "proctor.artifacts.types": "register_type",
        "proctor.guests.unitxt.parameters": "isoftype",
        "proctor.guests.unitxt.type_names": (
            "Type GenericTypedDict UnsupportedTypeError is_new_type is_typed_dict is_type is_type_dict "
            "convert_union_type format_type_string parse_type_string replace_class_names to_type_string "
            "to_type_dict parse_type_dict infer_type infer_type_string strtype BUILTINS_MAPPING "
            "STATIC_SUBTYPE_MAPPING optional_all optional_any get_origin get_args eval_forward_ref issubtype "
            "to_float_or_default verify_required_schema"
        ),
    },
    "unitxt.types": {
        "proctor.artifacts.field_types": (
            "Text Number Dialog Image Audio Video Conversation Document MultiDocument RagResponse Table SQLDatabase "
            "Tool ToolCall JsonSchema TextTurn ToolCallTurn ToolOutputTurn Turn=TextTurn ToolCallContext"
        ),
    },
    "unitxt.utils": {
        "proctor.guests.unitxt.parameters": "is_package_installed is_module_available",
        "proctor.guests.unitxt.helpers": (
            "flatten_dict load_json json_dump save_to_file Singleton LRUCache lru_cache_decorator LongString"
        ),
        "proctor.guests.unitxt.copies": (
            "recursive_copy recursive_deep_copy recursive_shallow_copy deep_copy shallow_copy"
        ),
        "proctor.guests.unitxt.retries": "retry_connection_with_exponential_backoff",
        "proctor.guests.unitxt.packages": (
            "DistributionNotFound VersionConflict DistStub require import_module_from_file"
        ),
        "proctor.guests.unitxt.texts": "remove_numerics_and_quoted_texts safe_eval",
        "proctor.guests.unitxt.catalogs": "artifacts_json_cache",
    },
    "unitxt.version": {
        "proctor": "version=__version__",
    },
}

UNITXT = Table("unitxt", _NAMES, finder="proctor.guests.unitxt.artifact_names", instead=_INSTEAD)
