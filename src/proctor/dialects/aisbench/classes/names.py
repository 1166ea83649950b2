"""Names of the datasets, evaluators and post-processors of OpenCompass and AISBench, in whatever module they stand."""

from __future__ import annotations

from typing import Any

from proctor.dialects.aisbench.classes.datasets import dataset_class
from proctor.dialects.aisbench.classes.evaluators import evaluator_class
from proctor.dialects.aisbench.classes.functions import text_postprocessor
from proctor.dialects.aisbench.datasets.dataset_specs import spec_names, spec_of
from proctor.dialects.aisbench.evaluators import evaluator_names
from proctor.dialects.aisbench.postprocessors import postprocessor_names


def find(module: str, name: str) -> Any:
    """Return the class or function of a name in a module; ``None`` where Proctor has none."""
    project = _project(module)
    is_icl = ".icl_evaluator" in module
    is_evaluator = "evaluator" in name.lower()
    found = evaluator_class(name, project, is_icl=is_icl) if is_evaluator else None
    return found or text_postprocessor(name, project) or dataset_class(name, project)


def names(module: str) -> list[str]:
    """Return the names that :func:`find` knows."""
    project = _project(module)
    evaluators = [name for name in evaluator_names() if "evaluator" in name.lower()]
    functions = [name for name in postprocessor_names() if name.isidentifier()]
    datasets = [name for name in spec_names() if "." not in name and spec_of(name, project) is not None]
    return sorted({*evaluators, *functions, *datasets})


def _project(module: str) -> str:
    return "aisbench" if module.startswith("ais_bench") else "opencompass"
