"""Where Proctor has what Unitxt programs import.

Artifact classes need no entry: they are found by name in every module. The table holds functions and other names.
"""

from __future__ import annotations

from proctor.compat.aliases import Alias

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
    "register_local_catalog": "proctor.artifacts:register_local_catalog",
    "register_catalog": "proctor.artifacts:register_local_catalog",
    "get_logger": "proctor.logs:get_logger",
    "settings": "proctor.settings:settings",
    "get_settings": "proctor.settings:get_settings",
    "fetch_artifact": "proctor.compat.unitxt_functions:fetch_artifact",
}
_CATALOG = {
    **{name: _TOP[name] for name in ("add_to_catalog", "add_link_to_catalog", "get_from_catalog")},
    "LocalCatalog": "proctor.artifacts:LocalCatalog",
    "EnvironmentLocalCatalog": "proctor.artifacts:LocalCatalog",
    "Catalog": "proctor.artifacts:Catalog",
}
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
_FIELDS = {
    name: f"proctor.compat.unitxt_functions:{name}"
    for name in ("Field", "OptionalField", "NonPositionalField", "RequiredField", "InternalField", "AbstractField")
}
_FIELD_PATHS = {
    name: f"proctor.compat.unitxt_functions:{name}" for name in ("dict_get", "dict_set", "dict_delete", "is_subpath")
}
_TYPES.update(
    {
        name: f"proctor.artifacts.field_types:{name}"
        for name in ("JsonSchema", "TextTurn", "ToolCallTurn", "ToolOutputTurn")
    }
)
_TYPES["Turn"] = "proctor.artifacts.field_types:TextTurn"
_SCORES = ("GlobalScores", "SubsetsScores", "GroupsScores", "InstanceScores")
_PRINTING = {
    name: f"proctor.compat.unitxt_functions:{name}"
    for name in ("print_dict", "print_dict_as_yaml", "print_dict_as_python", "to_pretty_string", "split_words")
}

_FUNCTIONS: dict[str, dict[str, str]] = {
    "": _TOP,
    "api": _TOP,
    "artifact": {
        "Artifact": "proctor.artifacts:Artifact",
        "Artifactory": "proctor.artifacts:Catalog",
        "fetch_artifact": _TOP["fetch_artifact"],
        "reset_artifacts_json_cache": "proctor.compat.unitxt_functions:reset_artifacts_json_cache",
    },
    "blocks": {"Artifact": "proctor.artifacts:Artifact", "add_to_catalog": _TOP["add_to_catalog"]},
    "catalog": _CATALOG,
    "dataclass": _FIELDS,
    "dict_utils": _FIELD_PATHS,
    "error_utils": {
        "UnitxtError": "proctor.errors:ProctorError",
        "UnitxtWarning": "proctor.compat.unitxt_functions:warn",
        "Documentation": "proctor.compat.unitxt_functions:Documentation",
    },
    "eval_utils": {
        "evaluate": "proctor.compat.unitxt_functions:evaluate_by_metrics",
        "metrics_df": "proctor.compat.unitxt_functions:metrics_df",
    },
    "hf_utils": {},
    "image_operators": {"image_to_data_url": "proctor.data.images:image_to_data_url"},
    "inference": {
        "TextGenerationInferenceOutput": "proctor.engines.inference:TextGenerationInferenceOutput",
        "ListWithMetadata": "proctor.engines.inference:Predictions",
        "OptionSelectingByLogProbsInferenceEngine": (
            "proctor.compat.unitxt_engines.providers:OptionSelectingByLogProbsInferenceEngine"
        ),
        "PackageRequirementsMixin": "proctor.artifacts:Artifact",
    },
    "llm_as_judge_constants": {},
    "logging_utils": {
        "get_logger": _TOP["get_logger"],
        "set_verbosity": "proctor.compat.unitxt_functions:set_verbosity",
    },
    "metric_utils": {
        "EvaluationResults": "proctor.results.evaluate:EvaluationResults",
        **{name: f"proctor.results.scores:{name}" for name in _SCORES},
    },
    "operator": {"PackageRequirementsMixin": "proctor.artifacts:Artifact"},
    "parsing_utils": {"parse_key_equals_value_string_to_dict": "proctor.artifacts.query:parse_assignments"},
    "random_utils": {
        "new_random_generator": "proctor.randomness:random_stream",
        "get_seed": "proctor.compat.unitxt_functions:get_seed",
    },
    "register": {"register_local_catalog": _TOP["register_local_catalog"]},
    "settings_utils": {
        "settings": _TOP["settings"],
        "get_settings": _TOP["get_settings"],
        "get_constants": "proctor.compat.unitxt_functions:get_constants",
    },
    "stream": _STREAMS,
    "test_utils.card": {"test_card": "proctor.testing.cards:test_card"},
    "test_utils.catalog": {"temp_catalog": "proctor.testing.cards:temporary_catalog"},
    "test_utils.metrics": {
        "test_metric": "proctor.testing.metrics:test_metric",
        "apply_metric": "proctor.testing.metrics:apply_metric",
    },
    "test_utils.operators": {
        "check_operator": "proctor.testing.operators:check_operator",
        "check_operator_exception": "proctor.testing.operators:check_operator_exception",
        "apply_operator": "proctor.testing.operators:apply_operator",
    },
    "text_utils": _PRINTING,
    "type_utils": {
        "register_type": "proctor.artifacts.types:register_type",
        "isoftype": "proctor.artifacts.types:is_of_type",
        "parse_type_string": "proctor.artifacts.types:parse_type_string",
        "to_type_string": "proctor.artifacts.types:to_type_string",
    },
    "types": _TYPES,
    "utils": {
        "recursive_copy": "copy:deepcopy",
        "recursive_deep_copy": "copy:deepcopy",
        "deep_copy": "copy:deepcopy",
        "shallow_copy": "copy:copy",
        "is_package_installed": "proctor.compat.unitxt_functions:is_package_installed",
        "is_module_available": "proctor.compat.unitxt_functions:is_package_installed",
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
        **{f"unitxt.{name}": {} for name in _ARTIFACT_MODULES},
        **{f"unitxt.{name}" if name else "unitxt": names for name, names in _FUNCTIONS.items()},
    },
    instead={
        "select": "use engine.select(dataset) on what produce() returns",
        "GithubCatalog": "use proctor.artifacts.register_git_catalog(url, revision, folder)",
        "ExecuteQuery": "use ExecuteExpression; it runs an allow-list of expressions",
        "safe_eval": "use ExecuteExpression, or proctor.safe_python",
    },
)
"""The alias of Unitxt 1.26."""
