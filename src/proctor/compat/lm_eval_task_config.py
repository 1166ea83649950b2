"""An installed lm-eval's own ``TaskConfig``, given the templates that its documents describe and no release has.

``TaskConfig(…, template=…)`` wraps ``doc_to_text``, ``doc_to_choice`` and ``doc_to_target`` when it is made; everything
in lm-eval that takes such a config then runs as it always did.

This is the one place that changes somebody else's package, and only in a program that asked for it
(``proctor.compat.install()``; ``uninstall()`` takes it back). It cannot be had from outside: lm-eval makes configs by
the name ``TaskConfig`` in its own modules, and a dataclass refuses a field that it does not know. So the finder of
aliases puts a subclass under that name when lm-eval is imported; the class itself stays as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from types import ModuleType
from typing import Any

from proctor.dialects.lm_eval.config import FewshotConfig, TaskConfig

_CHANGED = (
    "doc_to_text",
    "doc_to_choice",
    "doc_to_target",
    "output_type",
    "metric_list",
    "filter_list",
    "generation_kwargs",
    "fewshot_delimiter",
)
_OF_DEMOS = ("doc_to_text", "doc_to_choice", "doc_to_target")


def config_with_templates(module: ModuleType) -> dict[str, Any]:
    """Return what a module of lm-eval that has ``TaskConfig`` gets in its place."""
    real = getattr(module, "TaskConfig", None)
    return {} if real is None else {"TaskConfig": extended(getattr(real, "extends", real))}


@lru_cache(maxsize=4)
def extended(real: type[Any]) -> type[Any]:
    """Return lm-eval's ``TaskConfig`` with a field ``template``."""

    @dataclass
    class WithTemplate(real):  # type: ignore[misc]
        template: Any = None

        template_config = None
        originals = None
        extends = real

        def __post_init__(self) -> None:
            if self.template is not None:
                _wrap(self, real)
            super().__post_init__()

    WithTemplate.__name__ = WithTemplate.__qualname__ = real.__name__
    WithTemplate.__module__ = real.__module__
    return WithTemplate


def _wrap(config: Any, real: type[Any]) -> None:
    """Let a template wrap the fields of a config of lm-eval's, as it wraps those of our own."""
    known = {each.name for each in fields(TaskConfig)} & {each.name for each in fields(real)}
    ours = TaskConfig(**{name: getattr(config, name) for name in known}, template=config.template)
    given = config.fewshot_config
    for name in _CHANGED:
        setattr(config, name, getattr(ours, name))
    if isinstance(given, dict):
        made: FewshotConfig = ours.fewshot
        config.fewshot_config = {**given, **{name: getattr(made, name) for name in _OF_DEMOS if name in given}}
    config.template_config, config.originals = ours.template_config, ours.originals
