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
    "augmentors benchmark card collections_operators dialog_operators fusion llm_as_judge_chat_templates "
    "llm_as_judge_from_template llm_as_judge_operators metric normalizers processors schema serializers "
    "span_lableing_operators splitters standard stream_operators string_operators system_prompts"
)
"""Modules that have artifact classes alone."""

_OURS = "proctor.guests.unitxt"
_ERRORS = "proctor.errors"
_API = {
    "proctor.recipes": "load_dataset load_recipe create_dataset produce",
    "proctor.running.evaluate": "evaluate",
    "proctor.results.evaluate": "post_process",
    "proctor.running.infer": "infer",
    "proctor.artifacts": "add_to_catalog add_link_to_catalog get_from_catalog",
    f"{_OURS}.parameters": "register_local_catalog register_catalog=register_local_catalog get_logger",
    f"{_OURS}.own_settings": "get_settings settings",
}
_CONSTANTS = (
    "constants logger register_all_artifacts local_catalog_path=CATALOG_FOLDER dataset_url=DATASET_URL "
    "metric_url=METRIC_URL"
)
_JUDGES = {
    f"{_OURS}.judging": (
        "OptionSelectionStrategyEnum EvaluatorTypeEnum EvaluatorNameEnum ModelProviderEnum EVALUATOR_TO_MODEL_ID "
        "EvaluatorMetadata EVALUATORS_METADATA "
        "DirectCriteriaCatalogEnum PairwiseCriteriaCatalogEnum DIRECT_CRITERIA PAIRWISE_CRITERIA"
    )
}
_CHECKS = "proctor.testing.unitxt_checks"

_NAMES = {
    **{f"unitxt.{module}": {} for module in _ARTIFACTS.split()},
    "unitxt.evaluate_cli": {f"{_OURS}.evaluate_cli": "*"},
    "unitxt": {
        **_API,
        f"{_OURS}.functions": f"fetch_artifact get_constants {_CONSTANTS}",
        "proctor.guests.hugging_face": "dataset_file=DATASET_FILE metric_file=METRIC_FILE",
    },
    "unitxt.api": {**_API, f"{_OURS}.functions": "fetch_artifact get_constants"},
    "unitxt.artifact": {
        "proctor.artifacts": "Artifact Artifactory=Catalog AbstractCatalog=Catalog",
        f"{_OURS}.functions": "fetch_artifact register_all_artifacts",
        _ERRORS: (
            "UnrecognizedArtifactTypeError=UnknownTypeError MissingArtifactTypeError=ArtifactError "
            "UnitxtArtifactNotFoundError=UnknownArtifactError"
        ),
    },
    "unitxt.base_metric": {},
    "unitxt.blocks": {"proctor.artifacts": "Artifact add_to_catalog"},
    "unitxt.catalog": {
        "proctor.artifacts": (
            "add_to_catalog add_link_to_catalog get_from_catalog LocalCatalog EnvironmentLocalCatalog=LocalCatalog "
            "Catalog"
        )
    },
    "unitxt.collections": {f"{_OURS}.collections_of_artifacts": "Collection ListCollection"},
    "unitxt.dataclass": {
        _ERRORS: (
            "MissingDefaultError=ValidationError FinalFieldError=ValidationError RequiredFieldError=ValidationError "
            "AbstractFieldError=ValidationError TypeMismatchError=ValidationError "
            "UnexpectedArgumentError=ValidationError"
        ),
        f"{_OURS}.data_classes": "Field RequiredField OptionalField NonPositionalField",
    },
    "unitxt.error_utils": {_ERRORS: "UnitxtError=ProctorError"},
    "unitxt.eval_utils": {f"{_OURS}.functions": "evaluate=evaluate_by_metrics as_remote_metric"},
    "unitxt.formats": {
        "proctor.formats.newline": "apply_capital_new_line_notation=apply_newline_notation",
        "proctor.formats.format": "BaseFormat=Format",
    },
    "unitxt.hf_utils": {_ERRORS: "UnitxtVersionsConflictError=PluginError"},
    "unitxt.image_operators": {f"{_OURS}.parameters": "image_to_data_url"},
    "unitxt.inference": {
        "builtins": "OpenAiInferenceEngineParams=dict WMLInferenceEngineParams=dict",
        "proctor.engines.inference": "TextGenerationInferenceOutput ListWithMetadata=Predictions",
        f"{_OURS}.packages": "PackageRequirementsMixin",
        f"{_OURS}.engines.words": "get_model_and_label_id=engine_id",
        f"{_OURS}.engine_fields": "StandardAPIParamsMixin TorchDeviceMixin",
    },
    "unitxt.instructions": {f"{_OURS}.bases": "TextualInstruction"},
    "unitxt.llm_as_judge": _JUDGES,
    "unitxt.llm_as_judge_constants": _JUDGES,
    "unitxt.llm_as_judge_utils": {f"{_OURS}.judging": "get_evaluator_metadata"},
    "unitxt.loaders": {
        _ERRORS: "UnitxtUnverifiedCodeError=TrustError MissingKaggleCredentialsError=DataError",
        "proctor.data.files": "LoadWithPandas=FileLoader",
    },
    "unitxt.logging_utils": {f"{_OURS}.parameters": "get_logger", f"{_OURS}.functions": "set_verbosity"},
    "unitxt.metric_utils": {
        "proctor.results.evaluate": "EvaluationResults",
        "proctor.results.scores": "GlobalScores SubsetsScores GroupsScores InstanceScores",
        f"{_OURS}.functions": (
            "UNITXT_REMOTE_METRICS UNITXT_REMOTE_METRICS_ENDPOINT get_remote_metrics_names get_remote_metrics_endpoint"
        ),
        f"{_OURS}.parameters": "nan_mean",
    },
    "unitxt.metrics": {
        "proctor.scoring.metrics.robustness": (
            "performance_drop_rate interpret_effect_size normalized_cohens_h normalized_hedges_g mean_subgroup_score"
        ),
        "proctor.scoring.judges.guardian": "RiskType RISK_TYPE_TO_CLASS",
        f"{_OURS}.parameters": "normalize_answer nan_mean nan_max",
        "proctor.scoring.map_reduce": "EvaluationInput",
        "proctor.guests.evaluate": "hf_evaluate_load=load",
        f"{_OURS}.functions": "new_random_generator",
        "proctor.scoring.metric": "MetricWithConfidenceInterval=Metric",
        "typing": "IntermediateType=Any PredictionType=Any",
    },
    "unitxt.operator": {
        _ERRORS: "MissingRequirementsError=MissingExtraError OperatorError=DataError",
        "proctor.data.operator": "SingleStreamOperator=StreamOperator",
        f"{_OURS}.packages": "PackageRequirementsMixin",
    },
    "unitxt.operators": {
        _ERRORS: "DownloadError=DatasetNotFoundError UnexpectedHttpCodeError=DatasetNotFoundError",
        "proctor.data.computed_fields": "ComputeExpressionMixin=ExpressionMixin",
    },
    "unitxt.random_utils": {f"{_OURS}.functions": "new_random_generator get_seed"},
    "unitxt.recipe": {f"{_OURS}.bases": "SequentialRecipe"},
    "unitxt.register": {
        f"{_OURS}.parameters": "register_local_catalog",
        f"{_OURS}.functions": "register_all_artifacts",
    },
    "unitxt.settings_utils": {f"{_OURS}.own_settings": "get_settings Settings", f"{_OURS}.functions": "get_constants"},
    "unitxt.stream": {
        "proctor.data.streams": "Stream MultiStream ListStream GeneratorStream DynamicStream",
        _ERRORS: "FaultyStreamError=DataError MissingStreamError=DataError EmptyStreamError=DataError",
    },
    "unitxt.struct_data_operators": {"proctor.data.table_operators": "shuffle_columns shuffle_rows"},
    "unitxt.task": {},
    "unitxt.templates": {_ERRORS: "TemplateFormatKeyError=TemplateError"},
    "unitxt.test_utils.card": {"proctor.testing.cards": "test_card"},
    "unitxt.test_utils.catalog": {_CHECKS: "temp_catalog"},
    "unitxt.test_utils.metrics": {_CHECKS: "test_metric apply_metric check_scores"},
    "unitxt.test_utils.operators": {"proctor.testing.operators": "check_operator apply_operator"},
    "unitxt.text_utils": {f"{_OURS}.functions": "print_dict"},
    "unitxt.type_utils": {
        "proctor.artifacts.types": "register_type to_type_string",
        f"{_OURS}.parameters": "isoftype",
    },
    "unitxt.types": {
        "proctor.artifacts.field_types": (
            "Text Number Dialog Image Audio Video Conversation Document MultiDocument RagResponse Table SQLDatabase "
            "Tool ToolCall JsonSchema TextTurn ToolCallTurn ToolOutputTurn Turn=TextTurn ToolCallContext"
        )
    },
    "unitxt.version": {"proctor": "version=__version__"},
}

UNITXT = Table("unitxt", _NAMES, finder="proctor.guests.unitxt.artifact_names", instead=_INSTEAD)
