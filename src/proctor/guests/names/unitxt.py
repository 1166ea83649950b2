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
    "unitxt.evaluate_cli": {
        "proctor.guests.unitxt.evaluate_cli": "*",
    },
    "unitxt": {
        "proctor.recipes": "load_dataset load_recipe create_dataset produce",
        "proctor.running.evaluate": "evaluate",
        "proctor.results.evaluate": "post_process",
        "proctor.running.infer": "infer",
        "proctor.artifacts": "add_to_catalog add_link_to_catalog get_from_catalog",
        "proctor.guests.unitxt.parameters": (
            "register_local_catalog register_catalog=register_local_catalog get_logger"
        ),
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
        "proctor.guests.unitxt.parameters": (
            "register_local_catalog register_catalog=register_local_catalog get_logger"
        ),
        "proctor.guests.unitxt.own_settings": "get_settings",
        "proctor.guests.unitxt.functions": "fetch_artifact get_constants",
        "proctor.guests.unitxt.asking": "select",
    },
    "unitxt.artifact": {
        "proctor.artifacts": "Artifact Artifactory=Catalog AbstractCatalog=Catalog",
        "proctor.guests.unitxt.functions": "fetch_artifact reset_artifacts_json_cache",
        "proctor.errors": (
            "UnrecognizedArtifactTypeError=UnknownTypeError MissingArtifactTypeError=ArtifactError "
            "UnitxtArtifactNotFoundError=UnknownArtifactError"
        ),
        "proctor.guests.unitxt.helpers": "register_all_artifacts",
    },
    "unitxt.base_metric": {
        "proctor.guests.unitxt.parameters": "parse_string_types_instead_of_actual_objects",
    },
    "unitxt.blocks": {
        "proctor.artifacts": "Artifact add_to_catalog",
    },
    "unitxt.catalog": {
        "proctor.artifacts": (
            "add_to_catalog add_link_to_catalog get_from_catalog LocalCatalog EnvironmentLocalCatalog=LocalCatalog "
            "Catalog"
        ),
        "proctor.guests.unitxt.catalogs": "get_local_catalogs_paths local_catalog_summary summary count_tags ls",
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
            "NonPositionalField InternalField fields fields_names is_dataclass asdict"
        ),
    },
    "unitxt.dataset": {
        "proctor.guests.unitxt.helpers": "get_dataset_artifact",
    },
    "unitxt.dataset_utils": {
        "proctor.guests.unitxt.helpers": "get_dataset_artifact",
        "proctor.guests.unitxt.catalogs": "fetch",
    },
    "unitxt.dict_utils": {
        "proctor.guests.unitxt.functions": "dict_get dict_set dict_delete",
        "proctor.guests.unitxt.parameters": "is_subpath",
        "proctor.guests.unitxt.paths": (
            "indx name is_index is_name is_wildcard validate_query_and_break_to_components"
        ),
    },
    "unitxt.error_utils": {
        "proctor.errors": "UnitxtError=ProctorError",
    },
    "unitxt.eval_utils": {
        "proctor.guests.unitxt.functions": "evaluate=evaluate_by_metrics as_remote_metric metrics_df",
    },
    "unitxt.formats": {
        "proctor.formats.newline": "apply_capital_new_line_notation=apply_newline_notation",
        "proctor.guests.unitxt.chats": "TextContent ImageUrlContent ImageFileContent Content Message",
        "proctor.formats.format": "BaseFormat=Format",
    },
    "unitxt.hf_utils": {
        "proctor.errors": "UnitxtVersionsConflictError=PluginError",
    },
    "unitxt.image_operators": {
        "proctor.guests.unitxt.parameters": "image_to_data_url",
        "proctor.guests.unitxt.packages": "PillowMixin",
    },
    "unitxt.inference": {
        "builtins": "OpenAiInferenceEngineParams=dict WMLInferenceEngineParams=dict",
        "proctor.engines.inference": "TextGenerationInferenceOutput ListWithMetadata=Predictions",
        "proctor.guests.unitxt.engines.providers": "OptionSelectingByLogProbsInferenceEngine",
        "proctor.guests.unitxt.packages": "PackageRequirementsMixin",
        "proctor.guests.unitxt.engine_fields": (
            "CredentialsWML StandardAPIParamsMixin OpenAiInferenceEngineParamsMixin "
            "TogetherAiInferenceEngineParamsMixin WMLGenerationParamsMixin WMLInferenceEngineParamsMixin "
            "WMLChatParamsMixin VLLMParamsMixin HFGenerationParamsMixin LazyLoadMixin MockModeMixin TorchDeviceMixin "
            "HFInferenceEngineBase LMMSEvalBaseInferenceEngine"
        ),
    },
    "unitxt.instructions": {
        "proctor.guests.unitxt.bases": "TextualInstruction",
    },
    "unitxt.llm_as_judge": {
        "proctor.guests.unitxt.judging": (
            "OptionSelectionStrategyEnum EvaluatorTypeEnum EvaluatorNameEnum ModelProviderEnum EVALUATOR_TO_MODEL_ID "
            "EvaluatorMetadata EVALUATORS_METADATA get_yes_no_criteria get_likert_scale_criteria "
            "DirectCriteriaCatalogEnum PairwiseCriteriaCatalogEnum DIRECT_CRITERIA PAIRWISE_CRITERIA"
        ),
    },
    "unitxt.llm_as_judge_constants": {
        "proctor.guests.unitxt.judging": (
            "OptionSelectionStrategyEnum EvaluatorTypeEnum EvaluatorNameEnum ModelProviderEnum EVALUATOR_TO_MODEL_ID "
            "EvaluatorMetadata EVALUATORS_METADATA get_yes_no_criteria get_likert_scale_criteria "
            "DirectCriteriaCatalogEnum PairwiseCriteriaCatalogEnum DIRECT_CRITERIA PAIRWISE_CRITERIA"
        ),
    },
    "unitxt.llm_as_judge_from_template": {},
    "unitxt.llm_as_judge_utils": {
        "proctor.guests.unitxt.judging": "get_evaluator_metadata",
    },
    "unitxt.loaders": {
        "proctor.errors": "UnitxtUnverifiedCodeError=TrustError MissingKaggleCredentialsError=DataError",
        "proctor.data.files": "LoadWithPandas=FileLoader",
    },
    "unitxt.logging_utils": {
        "proctor.guests.unitxt.parameters": "get_logger",
        "proctor.guests.unitxt.functions": "set_verbosity",
    },
    "unitxt.metric_utils": {
        "proctor.results.evaluate": "EvaluationResults",
        "proctor.results.scores": "GlobalScores SubsetsScores GroupsScores InstanceScores",
        "proctor.guests.unitxt.services": (
            "UNITXT_REMOTE_METRICS UNITXT_REMOTE_METRICS_ENDPOINT get_remote_metrics_names get_remote_metrics_endpoint"
        ),
        "proctor.guests.unitxt.parameters": "nan_mean",
    },
    "unitxt.metrics": {
        "proctor.scoring.metrics.robustness": (
            "performance_drop_rate interpret_effect_size normalized_cohens_h normalized_hedges_g mean_subgroup_score"
        ),
        "proctor.scoring.judges.guardian": "RiskType RISK_TYPE_TO_CLASS",
        "proctor.guests.unitxt.parameters": (
            "normalize_answer nan_mean nan_max parse_string_types_instead_of_actual_objects"
        ),
        "proctor.scoring.map_reduce": "EvaluationInput",
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
    },
    "unitxt.operators": {
        "proctor.errors": "DownloadError=DatasetNotFoundError UnexpectedHttpCodeError=DatasetNotFoundError",
        "proctor.data.computed_fields": "ComputeExpressionMixin=ExpressionMixin",
        "proctor.guests.unitxt.bases": "ArtifactFetcherMixin",
    },
    "unitxt.parsing_utils": {
        "proctor.guests.unitxt.parameters": "parse_key_equals_value_string_to_dict",
    },
    "unitxt.random_utils": {
        "proctor.guests.unitxt.helpers": "new_random_generator",
    },
    "unitxt.recipe": {
        "proctor.guests.unitxt.bases": "SequentialRecipe",
    },
    "unitxt.register": {
        "proctor.guests.unitxt.parameters": "register_local_catalog",
        "proctor.guests.unitxt.functions": "unregister_local_catalog",
        "proctor.guests.unitxt.helpers": "register_all_artifacts",
    },
    "unitxt.schema": {},
    "unitxt.settings_utils": {
        "proctor.guests.unitxt.own_settings": "get_settings cast_to_type Settings",
        "proctor.guests.unitxt.functions": "get_constants",
    },
    "unitxt.split_utils": {
        "proctor.guests.unitxt.parameters": "parse_random_mix_string parse_slices_string",
    },
    "unitxt.splitters": {},
    "unitxt.stream": {
        "proctor.data.streams": "Stream MultiStream ListStream GeneratorStream DynamicStream",
        "proctor.errors": "FaultyStreamError=DataError MissingStreamError=DataError EmptyStreamError=DataError",
    },
    "unitxt.struct_data_operators": {
        "proctor.data.table_operators": "shuffle_columns shuffle_rows",
    },
    "unitxt.task": {
        "proctor.guests.unitxt.parameters": "parse_string_types_instead_of_actual_objects",
    },
    "unitxt.templates": {
        "proctor.errors": "TemplateFormatKeyError=TemplateError",
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
        "proctor.testing.unitxt_checks": (
            "test_metric apply_metric check_scores round_floats dict_equal test_evaluate"
        ),
    },
    "unitxt.test_utils.operators": {
        "proctor.testing.operators": "check_operator check_operator_exception apply_operator",
    },
    "unitxt.test_utils.storage": {
        "proctor.testing.unitxt_checks": "get_directory_size",
    },
    "unitxt.text2sql_utils": {
        "proctor.guests.unitxt.sql": (
            "DatabaseConnector get_db_connector LocalSQLiteConnector InMemoryDatabaseConnector RemoteDatabaseConnector"
        ),
    },
    "unitxt.text_utils": {
        "proctor.guests.unitxt.functions": "print_dict to_pretty_string",
    },
    "unitxt.type_utils": {
        "proctor.artifacts.types": "register_type",
        "proctor.guests.unitxt.parameters": "isoftype",
        "proctor.guests.unitxt.type_names": (
            "Type UnsupportedTypeError is_type parse_type_string to_type_string strtype"
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
        "proctor.guests.unitxt.helpers": "flatten_dict load_json",
        "proctor.guests.unitxt.packages": "DistributionNotFound VersionConflict require import_module_from_file",
        "proctor.guests.unitxt.catalogs": "artifacts_json_cache",
    },
    "unitxt.version": {
        "proctor": "version=__version__",
    },
}

UNITXT = Table("unitxt", _NAMES, finder="proctor.guests.unitxt.artifact_names", instead=_INSTEAD)
