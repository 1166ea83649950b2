"""What a dataset of a config is made of, by value."""

from __future__ import annotations

from typing import Any

from proctor.dialects.aisbench.config import DatasetConfig
from proctor.dialects.aisbench.options import DatasetOptions
from proctor.dialects.aisbench.values import as_data
from proctor.recipes.fingerprint import Definition
from proctor.scoring.versions import with_versions

_OF_ANSWERS = ("pred_postprocessor", "dataset_postprocessor", "pred_role")
"""Keys of an ``eval_cfg`` that say how answers are read; all others say what scores them."""


def definition_of(config: DatasetConfig, options: DatasetOptions) -> Definition:
    """Return how a dataset's answers are read and scored."""
    evaluation: dict[str, Any] = as_data(config.evaluation)
    runs = {name: config.values[name] for name in ("k", "n") if name in config.values}
    return Definition(
        extraction={
            "kind": config.inferencer.kind,
            "answers": {name: evaluation[name] for name in _OF_ANSWERS if name in evaluation},
            "model": as_data(options.postprocessor_of(config.abbr)),
        },
        metrics=with_versions(
            [{name: each for name, each in evaluation.items() if name not in _OF_ANSWERS}, as_data(runs)]
        ),
    )
