"""Where Proctor has what programs import from lm-evaluation-harness, as far as no release of it does."""

from __future__ import annotations

from proctor.compat.aliases import Alias

_TEMPLATE = "proctor.dialects.lm_eval.template"
_FACTORY = "proctor.dialects.lm_eval.factory"

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
    },
    artifacts=False,
    gaps_only=True,
    extends=dict.fromkeys(
        ("lm_eval.config.task", "lm_eval.config", "lm_eval.api.task"),
        "proctor.compat.lm_eval_task_config:config_with_templates",
    ),
)
"""The alias of lm_eval: it fills gaps, and gives an installed lm_eval's ``TaskConfig`` the templates that it lacks."""
