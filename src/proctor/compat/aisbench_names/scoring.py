"""Evaluators and post-processors of AISBench and OpenCompass as programs call them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from proctor.compat.aisbench_names import hf_evaluators
from proctor.compat.aisbench_names.evaluator_base import BaseEvaluator
from proctor.compat.aisbench_names.evaluator_details import PARTS
from proctor.compat.aisbench_names.row_classes import dataset_class
from proctor.dialects.aisbench.datasets.dataset_specs import spec_names, spec_of
from proctor.dialects.aisbench.evaluators import evaluator_names, is_known
from proctor.dialects.aisbench.postprocessors import postprocessor, postprocessor_names
from proctor.dialects.aisbench.prompt_version import prompt_digest
from proctor.dialects.aisbench.signatures import signature
from proctor.dialects.aisbench.values import Reference
from proctor.errors import UsageError
from proctor.scoring.evaluators.runs import g_pass_at_k
from proctor.scoring.repeats import at_least_one_as_product

_OWN = {
    "IFEvaluator": "proctor.compat.aisbench_names.ifeval_evaluation",
    **dict.fromkeys(
        ("Gsm8kEvaluator", "VideoBenchEvaluator", "VideoBenchEvaluatorForVita", "VocalSoundEvaluator"),
        "proctor.compat.aisbench_names.choice_evaluators",
    ),
    "OptionSimAccEvaluator": "proctor.compat.aisbench_names.option_evaluator",
    "MATHEvaluator": "proctor.compat.aisbench_names.math_evaluator",
}
"""Evaluators of AISBench whose parts programs call, and where those are."""
_ICL, _ICL_TOP = "icl.", "ais_bench.benchmark.openicl.icl_evaluator"
"""What begins the names of evaluators that differ from those of datasets of the same name."""
_TOPS = {"aisbench": "ais_bench.benchmark.datasets", "opencompass": "opencompass.datasets"}


@cache
def evaluator_class(name: str, project: str) -> type[BaseEvaluator] | None:
    """Return the class of an evaluator by its name; ``None`` where there is none."""
    is_icl = name.startswith(_ICL)
    name = name.removeprefix(_ICL)
    kind = Reference(f"{_ICL_TOP if is_icl else _TOPS[project]}.{name}")
    if not is_known({"type": kind}):
        return None
    if project == "aisbench" and not is_icl and (home := _OWN.get(name)) is not None:
        own: type[BaseEvaluator] = getattr(import_module(home), name)
        own.kind = kind
        return own
    family = hf_evaluators.BASES.get(name, BaseEvaluator)
    part = PARTS.get(name) if project == "aisbench" else None
    bases = (family,) if part is None else (part, family)
    return type(name, bases, {"kind": kind, "__doc__": f"``{name}``, as Proctor computes it."})


def text_postprocessor(name: str, project: str = "aisbench") -> Callable[..., Any] | None:
    """Return a post-processor as a function of a text and its arguments; ``None`` where there is none."""
    return _text_function(_function_of(name, project), project) if name in postprocessor_names() else None


@cache
def _text_function(name: str, project: str) -> Callable[..., Any]:
    taken = signature(project, "postprocessors", name)
    order = [] if taken is None else [*taken.needed, *taken.defaults]

    def process(text: Any, *listed: Any, **named: Any) -> Any:
        if len(listed) > len(order):
            raise TypeError(f"{name} takes a text and {len(order)} arguments at most, and {len(listed)} are given")
        arguments = {**dict(zip(order, listed, strict=False)), **named}
        return postprocessor({"type": name, **arguments}, project)(text, {})

    process.__name__, process.__doc__ = name, f"``{name}``, as Proctor has it."
    return process


def _function_of(name: str, project: str) -> str:
    """Return upstream's function that a registry has under a name: the one that is computed and called the same."""
    table = _postprocessors()
    if name not in table or name.endswith("postprocess"):
        return name
    same = [
        each
        for each in table
        if each.endswith("postprocess") and table[each] == table[name]
        if signature(project, "postprocessors", each) == signature(project, "postprocessors", name)
    ]
    own = [each for each in same if each.startswith(name.replace("-", "_"))] or same
    return own[0] if len(own) == 1 else name


@cache
def _postprocessors() -> Mapping[str, Any]:
    found: Mapping[str, Any] = json.loads(
        files("proctor.scoring.postprocessors").joinpath("postprocessors.json").read_bytes()
    )
    return found


def compute_pass_at_k(n: int, c: int, k: int) -> float:
    """Return the chance that one of ``k`` answers is right, where ``c`` of ``n`` are."""
    return at_least_one_as_product(n, c, k)


def compute_g_pass_at_k(n: int, c: int, k: int, t: float) -> float:
    """Return the chance that at least the share ``t`` of ``k`` answers is right, where ``c`` of ``n`` are."""
    return g_pass_at_k(n, c, k, t)


def get_prompt_hash(dataset_cfg: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    """Return the digest of a dataset's prompt, whose first six digits tables show; of several datasets that of all."""
    return prompt_digest(dataset_cfg)


class _Named:
    """A class that configs name; what it does is done by running them."""

    def __init__(self, *_: Any, **__: Any) -> None:
        name = type(self).__name__
        raise UsageError(
            f"'{name}' is not made by a program here", why="a config names it", hint="proctor run CONFIG.py --model …"
        )


INFERENCERS = (
    "GenInferencer",
    "PPLInferencer",
    "MultiTurnGenInferencer",
    "CLPInferencer",
    "LLInferencer",
    "ChatInferencer",
    "LMMGenInferencer",
)
"""Inferencers that configs name; a program may put them in a config, but runs it with ``proctor run``."""
_DRIVEN = ("GenInferencer", "LMMGenInferencer", "MultiTurnGenInferencer", "PPLInferencer")
"""Those of AISBench's that programs drive themselves."""


def evaluators() -> list[str]:
    """Return the names of evaluators that are classes upstream."""
    return [name for name in evaluator_names() if "evaluator" in name.lower()]


def datasets(project: str) -> list[str]:
    """Return the names of a project's dataset classes."""
    return [name for name in spec_names() if "." not in name and spec_of(name, project) is not None]


def text_functions() -> list[str]:
    """Return the names of post-processors that are functions upstream."""
    return [name for name in _postprocessors() if name.isidentifier()]


def __getattr__(name: str) -> Any:
    return _found(name, "aisbench")


def _found(name: str, project: str) -> Any:
    if project == "aisbench" and name in _DRIVEN:
        return getattr(import_module("proctor.compat.aisbench_names.inferencers"), name)
    if name in INFERENCERS:
        return type(name, (_Named,), {"__module__": f"{_TOPS[project].rpartition('.')[0]}.openicl.icl_inferencer"})
    found = evaluator_class(name, project) or text_postprocessor(name, project) or dataset_class(name, project)
    if found is None:
        raise AttributeError(name)
    return found
