"""Where Proctor has what Unitxt programs import.

Artifact classes need no entry: they are found by name in every module. The table holds functions and other names.
"""

from __future__ import annotations

from proctor.compat.aliases import Alias
from proctor.compat.unitxt_names.table import NAMES, REFUSED_MODULES, WHOLE_MODULES

_PARAMETERS_OF = "proctor.compat.unitxt_names.parameters"
_TOP = {
    "load_dataset": "proctor.recipes:load_dataset",
    "load_recipe": "proctor.recipes:load_recipe",
    "create_dataset": "proctor.recipes:create_dataset",
    "produce": "proctor.recipes:produce",
    "evaluate": "proctor.running.evaluate:evaluate",
    "post_process": "proctor.results.evaluate:post_process",
    "infer": "proctor.running.infer:infer",
    "add_to_catalog": "proctor.artifacts:add_to_catalog",
    "add_link_to_catalog": "proctor.artifacts:add_link_to_catalog",
    "get_from_catalog": "proctor.artifacts:get_from_catalog",
    "register_local_catalog": f"{_PARAMETERS_OF}:register_local_catalog",
    "register_catalog": f"{_PARAMETERS_OF}:register_local_catalog",
    "get_logger": f"{_PARAMETERS_OF}:get_logger",
    "settings": "proctor.compat.unitxt_names.own_settings:settings",
    "get_settings": "proctor.compat.unitxt_names.own_settings:get_settings",
    "fetch_artifact": "proctor.compat.unitxt_functions:fetch_artifact",
    "get_constants": "proctor.compat.unitxt_functions:get_constants",
}
_FILES = {
    "dataset_file": "proctor.compat.hugging_face:DATASET_FILE",
    "metric_file": "proctor.compat.hugging_face:METRIC_FILE",
    "local_catalog_path": "proctor.compat.unitxt_functions:CATALOG_FOLDER",
}
_HELPERS = "proctor.compat.unitxt_helpers"
_TESTING = "proctor.testing.unitxt_checks"
_JUDGING = "proctor.compat.unitxt_judging"
_ERRORS = "proctor.errors"


def _of(place: str, *names: str) -> dict[str, str]:
    return {name: f"{place}:{name}" for name in names}


_CATALOG = {
    **{name: _TOP[name] for name in ("add_to_catalog", "add_link_to_catalog", "get_from_catalog")},
    "LocalCatalog": "proctor.artifacts:LocalCatalog",
    "EnvironmentLocalCatalog": "proctor.artifacts:LocalCatalog",
    "Catalog": "proctor.artifacts:Catalog",
}
_PARAMETERS = {f"{name}InferenceEngineParams": "builtins:dict" for name in ("OpenAi", "WML")}
"""What engines take as ``parameters``: they check the names themselves."""
_STREAMS = {
    name: f"proctor.data.streams:{name}"
    for name in ("Stream", "MultiStream", "ListStream", "GeneratorStream", "DynamicStream")
}
_TYPES = {
    name: f"proctor.artifacts.field_types:{name}"
    for name in (
        "Text", "Number", "Dialog", "Image", "Audio", "Video", "Conversation", "Document", "MultiDocument",
        "RagResponse", "Table", "SQLDatabase", "Tool", "ToolCall",
    )
}  # fmt: skip
_FIELD_PATHS = {
    **{name: f"proctor.compat.unitxt_functions:{name}" for name in ("dict_get", "dict_set", "dict_delete")},
    "is_subpath": f"{_PARAMETERS_OF}:is_subpath",
}
_TYPES.update(
    {
        name: f"proctor.artifacts.field_types:{name}"
        for name in ("JsonSchema", "TextTurn", "ToolCallTurn", "ToolOutputTurn")
    }
)
_TYPES["Turn"] = "proctor.artifacts.field_types:TextTurn"
_SCORES = ("GlobalScores", "SubsetsScores", "GroupsScores", "InstanceScores")
_PRINTING = {name: f"proctor.compat.unitxt_functions:{name}" for name in ("print_dict", "to_pretty_string")}

_JUDGES = _of(
    _JUDGING,
    *("OptionSelectionStrategyEnum", "EvaluatorTypeEnum", "EvaluatorNameEnum", "ModelProviderEnum"),
    *("EVALUATOR_TO_MODEL_ID", "EvaluatorMetadata", "EVALUATORS_METADATA", "get_yes_no_criteria"),
    *("get_likert_scale_criteria", "DirectCriteriaCatalogEnum", "PairwiseCriteriaCatalogEnum"),
    *("DIRECT_CRITERIA", "PAIRWISE_CRITERIA"),
)
_TOP_OF_ALL = {
    **{name: "proctor.compat.unitxt_functions:" + name for name in ("constants",)},
    "settings": _TOP["settings"],
    "logger": "proctor.compat.unitxt_functions:logger",
}
"""What nearly every module there has at its top, and programs take from any of them."""

_FUNCTIONS: dict[str, dict[str, str]] = {
    "": {**_TOP, **_FILES},
    "api": _TOP,
    "artifact": {
        "Artifact": "proctor.artifacts:Artifact",
        "Artifactory": "proctor.artifacts:Catalog",
        "fetch_artifact": _TOP["fetch_artifact"],
        "reset_artifacts_json_cache": "proctor.compat.unitxt_functions:reset_artifacts_json_cache",
        "AbstractCatalog": "proctor.artifacts:Catalog",
        "UnrecognizedArtifactTypeError": f"{_ERRORS}:UnknownTypeError",
        "MissingArtifactTypeError": f"{_ERRORS}:ArtifactError",
        "UnitxtArtifactNotFoundError": f"{_ERRORS}:UnknownArtifactError",
        **_of(
            _HELPERS,
            *("register_all_artifacts", "get_artifacts_data_classification", "is_name_legal_for_catalog"),
            "verbosed_fetch_artifact",
        ),
    },
    "blocks": {"Artifact": "proctor.artifacts:Artifact", "add_to_catalog": _TOP["add_to_catalog"]},
    "catalog": _CATALOG,
    "dataclass": {
        **dict.fromkeys(
            (
                *("MissingDefaultError", "FinalFieldError", "RequiredFieldError", "AbstractFieldError"),
                *("TypeMismatchError", "UnexpectedArgumentError"),
            ),
            f"{_ERRORS}:ValidationError",
        ),
    },
    "dataset_utils": _of(_HELPERS, "get_dataset_artifact"),
    "file_utils": {},
    "generator_utils": _of(_HELPERS, "ReusableGenerator", "CopyingReusableGenerator"),
    "dict_utils": _FIELD_PATHS,
    "error_utils": {
        "UnitxtError": "proctor.errors:ProctorError",
        "UnitxtWarning": "proctor.compat.unitxt_functions:UnitxtWarning",
        "Documentation": "proctor.compat.unitxt_functions:Documentation",
    },
    "eval_utils": {
        "evaluate": "proctor.compat.unitxt_functions:evaluate_by_metrics",
        "as_remote_metric": "proctor.compat.unitxt_functions:as_remote_metric",
        "metrics_df": "proctor.compat.unitxt_functions:metrics_df",
    },
    "formats": {"apply_capital_new_line_notation": "proctor.formats.newline:apply_newline_notation"},
    "hf_utils": {"UnitxtVersionsConflictError": f"{_ERRORS}:PluginError"},
    "image_operators": {"image_to_data_url": f"{_PARAMETERS_OF}:image_to_data_url"},
    "inference": {
        **_PARAMETERS,
        "TextGenerationInferenceOutput": "proctor.engines.inference:TextGenerationInferenceOutput",
        "ListWithMetadata": "proctor.engines.inference:Predictions",
        "OptionSelectingByLogProbsInferenceEngine": (
            "proctor.compat.unitxt_engines.providers:OptionSelectingByLogProbsInferenceEngine"
        ),
        "mock_logprobs_default_value_factory": "proctor.compat.unitxt_functions:mock_logprobs_default_value_factory",
    },
    "llm_as_judge": _JUDGES,
    "llm_as_judge_constants": _JUDGES,
    "llm_as_judge_utils": _of(_JUDGING, "get_evaluator_metadata"),
    "loaders": {
        "UnitxtUnverifiedCodeError": f"{_ERRORS}:TrustError",
        "MissingKaggleCredentialsError": f"{_ERRORS}:DataError",
    },
    "logging_utils": {
        "get_logger": _TOP["get_logger"],
        "set_verbosity": "proctor.compat.unitxt_functions:set_verbosity",
    },
    "metric_utils": {
        "EvaluationResults": "proctor.results.evaluate:EvaluationResults",
        **{name: f"proctor.results.scores:{name}" for name in _SCORES},
    },
    "metrics": {
        **_of(
            "proctor.scoring.metrics.robustness",
            *("performance_drop_rate", "interpret_effect_size", "normalized_cohens_h", "normalized_hedges_g"),
            "mean_subgroup_score",
        ),
        **_of("proctor.scoring.judges.guardian", "RiskType", "RISK_TYPE_TO_CLASS"),
        "normalize_answer": f"{_PARAMETERS_OF}:normalize_answer",
        "nan_mean": f"{_PARAMETERS_OF}:nan_mean",
        "nan_max": f"{_PARAMETERS_OF}:nan_max",
        "EvaluationInput": "proctor.scoring.map_reduce:EvaluationInput",
    },
    "operator": {
        "MissingRequirementsError": f"{_ERRORS}:MissingExtraError",
        "OperatorError": f"{_ERRORS}:DataError",
    },
    "operators": {
        "DownloadError": f"{_ERRORS}:DatasetNotFoundError",
        "UnexpectedHttpCodeError": f"{_ERRORS}:DatasetNotFoundError",
    },
    "parsing_utils": {
        "parse_key_equals_value_string_to_dict": f"{_PARAMETERS_OF}:parse_key_equals_value_string_to_dict"
    },
    "random_utils": {
        "new_random_generator": f"{_HELPERS}:new_random_generator",
        "get_seed": "proctor.compat.unitxt_functions:get_seed",
    },
    "register": {
        "register_local_catalog": _TOP["register_local_catalog"],
        "unregister_local_catalog": "proctor.compat.unitxt_functions:unregister_local_catalog",
        "is_local_catalog_registered": "proctor.compat.unitxt_functions:is_local_catalog_registered",
        "register_all_artifacts": f"{_HELPERS}:register_all_artifacts",
    },
    "splitters": _of(_HELPERS, "get_random_generator_based_on_instance"),
    "split_utils": {"parse_random_mix_string": f"{_PARAMETERS_OF}:parse_random_mix_string"},
    "settings_utils": {
        "settings": _TOP["settings"],
        "get_settings": _TOP["get_settings"],
        "get_constants": "proctor.compat.unitxt_functions:get_constants",
    },
    "stream": {
        **_STREAMS,
        **dict.fromkeys(("FaultyStreamError", "MissingStreamError", "EmptyStreamError"), f"{_ERRORS}:DataError"),
    },
    "struct_data_operators": _of("proctor.data.table_operators", "shuffle_columns", "shuffle_rows"),
    "templates": {
        "TemplateFormatKeyError": f"{_ERRORS}:TemplateError",
        "escape_chars": f"{_HELPERS}:escape_chars",
    },
    "test_utils.card": {"test_card": "proctor.testing.cards:test_card"},
    "test_utils.catalog": _of(_TESTING, "temp_catalog", "register_local_catalog_for_tests"),
    "test_utils.metrics": _of(
        _TESTING, "test_metric", "apply_metric", "check_scores", "round_floats", "dict_equal", "test_evaluate"
    ),
    "test_utils.storage": _of(_TESTING, "get_directory_size"),
    "test_utils.operators": {
        "check_operator": "proctor.testing.operators:check_operator",
        "check_operator_exception": "proctor.testing.operators:check_operator_exception",
        "apply_operator": "proctor.testing.operators:apply_operator",
    },
    "text_utils": {
        **_PRINTING,
        **_of(
            _HELPERS,
            *("split_words", "is_camel_case", "is_snake_case", "camel_to_snake_case", "nested_tuple_to_string"),
            "is_made_of_sub_strings",
        ),
    },
    "text2sql_utils": {
        **_of(
            "proctor.compat.unitxt_sql",
            *("sqlglot_optimized_equivalence", "sqlglot_parsed_queries_equivalent", "extract_sql_from_text"),
            *("replace_select_clause", "compare_dfs_ignore_colnames_ordered_rows", "compare_dfs_bird_eval_logic"),
            *("compare_dfs_ignore_colnames_unordered_rows", "compare_dfs_ignore_colnames_subset", "compare_result_dfs"),
            *("get_db_connector", "ALL_DIALECTS", "LocalSQLiteConnector", "InMemoryDatabaseConnector"),
            "RemoteDatabaseConnector",
        ),
        **_of(
            _PARAMETERS_OF,
            *("is_sqlglot_parsable", "is_sqlparse_parsable", "sql_exact_match", "sqlparse_queries_equivalent"),
        ),
    },
    "type_utils": {
        "register_type": "proctor.artifacts.types:register_type",
        "isoftype": f"{_PARAMETERS_OF}:isoftype",
    },
    "types": _TYPES,
    "utils": {
        "is_package_installed": f"{_PARAMETERS_OF}:is_package_installed",
        "is_module_available": f"{_PARAMETERS_OF}:is_module_available",
        **_of(
            _HELPERS,
            *("flatten_dict", "load_json", "json_dump", "save_to_file", "Singleton", "LRUCache"),
            *("lru_cache_decorator", "LongString"),
        ),
    },
    "version": {"version": "proctor:__version__"},
}

_ARTIFACT_MODULES = (
    "augmentors", "base_metric", "benchmark", "card", "collections", "collections_operators", "dialog_operators",
    "formats", "fusion", "inference", "instructions", "llm_as_judge", "llm_as_judge_chat_templates",
    "llm_as_judge_from_template", "llm_as_judge_operators", "llm_as_judge_utils", "loaders", "metric", "metrics",
    "normalizers", "operator", "operators", "processors", "recipe", "schema", "serializers",
    "span_lableing_operators", "split_utils", "splitters", "standard", "stream_operators", "string_operators",
    "struct_data_operators", "system_prompts", "task", "templates", "text2sql_utils",
)  # fmt: skip

UNITXT = Alias(
    "unitxt",
    {
        **{f"unitxt.{name}": _TOP_OF_ALL for name in _ARTIFACT_MODULES},
        **{
            f"unitxt.{name}" if name else "unitxt": {**_TOP_OF_ALL, **_FUNCTIONS.get(name, {}), **NAMES.get(name, {})}
            for name in (*_FUNCTIONS, *NAMES)
        },
    },
    instead={
        "ExecuteQuery": "use ExecuteExpression; it runs an allow-list of expressions",
    },
    unbuilt={
        **dict.fromkeys(
            ("ReflectionToolCallingMetric", "ReflectionToolCallingMetricSyntactic", "ReflectionToolCallingMixin"),
            "it runs the package llmevalkit, which is not public; ToolCallingMetric checks calls against schemas",
        ),
        "GithubCatalog": "use proctor.artifacts.register_git_catalog(url, revision, folder)",
    },
    refused=REFUSED_MODULES,
    same={f"unitxt.{name}": f"proctor.compat.unitxt_names.{place}" for name, place in WHOLE_MODULES.items()},
)
"""The alias of Unitxt 1.26."""
