"""Where Proctor has what programs import from lm-evaluation-harness.

Where lm_eval is installed, only what no release of it has; where it is not, its functions, models and classes.
"""

from __future__ import annotations

from proctor.compat.aliases import Alias
from proctor.dialects.lm_eval.package.imports import MODULES

_TEMPLATE = "proctor.dialects.lm_eval.template"
_FACTORY = "proctor.dialects.lm_eval.factory"
_NAMES = "proctor.compat.lm_eval_names"
_EVALUATION = {
    "simple_evaluate": f"{_NAMES}.evaluation:simple_evaluate",
    "evaluate": f"{_NAMES}.evaluation:evaluate",
}
_TASKS = {"TaskManager": f"{_NAMES}.tasks:TaskManager", "get_task_dict": f"{_NAMES}.tasks:get_task_dict"}

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
        "lm_eval.models.huggingface": {"HFLM": f"{_NAMES}.models:HFLM"},
    },
    homes=MODULES,
    artifacts=False,
    gaps_only=True,
    extends=dict.fromkeys(
        ("lm_eval.config.task", "lm_eval.config", "lm_eval.api.task"),
        "proctor.compat.lm_eval_task_config:config_with_templates",
    ),
)
"""The alias of lm_eval: it fills gaps, and gives an installed lm_eval's ``TaskConfig`` the templates that it lacks."""
