"""Post-processors and other functions of OpenCompass and AISBench as code calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from proctor.dialects.aisbench.postprocessors import postprocessor, postprocessor_names
from proctor.dialects.aisbench.prompt_version import prompt_digest
from proctor.dialects.aisbench.signatures import signature


def text_postprocessor(name: str, project: str = "opencompass") -> Callable[..., Any] | None:
    """Return a post-processor as a function of a text and its arguments; ``None`` where there is none.

    Args:
        name: Its name, or that of upstream's function.
        project: ``opencompass`` or ``aisbench``.
    """
    return _text_function(name, project) if name in postprocessor_names() else None


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


def get_prompt_hash(dataset_cfg: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> str:
    """Return the digest of a dataset's prompt, whose first six digits tables show; of several datasets that of all."""
    return prompt_digest(dataset_cfg)
