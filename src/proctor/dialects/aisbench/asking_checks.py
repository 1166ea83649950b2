"""What an inferencer asks that its template cannot be asked: labels without words, turns that nobody leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.dialects.aisbench.config_keys import LONGEST_SHOWN
from proctor.dialects.aisbench.values import location_of, short_name
from proctor.errors import Diagnostic, did_you_mean

_DIALOGUE = frozenset({"begin", "round", "end"})
_COMPARING = ("PPLInferencer", "LLInferencer")
_TALKING = "MultiTurnGenInferencer"


def asking_problems(inference: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield labels that the template has no words for, and dialogues without a turn for the model to speak.

    Args:
        inference: The ``infer_cfg``.
    """
    inferencer, own = (inference.get(key) for key in ("inferencer", "prompt_template"))
    template = own.get("template") if isinstance(own, Mapping) else None
    if not isinstance(inferencer, Mapping) or not isinstance(template, Mapping):
        return
    kind, labels = short_name(inferencer.get("type", "")), inferencer.get("labels")
    where, path = location_of(inferencer), "$.infer_cfg.inferencer"
    if kind in _COMPARING and isinstance(labels, list | tuple) and not template.keys() <= _DIALOGUE:
        for label in (each for each in labels if each not in template):
            hint = did_you_mean(str(label), map(str, template)) or f"it has {', '.join(map(str, template))}"
            what = f"the template has no words for the label {label!r}"
            yield Diagnostic(what[:LONGEST_SHOWN], where, f"{path}.labels", hint=hint[:LONGEST_SHOWN])
    if kind == _TALKING and template.keys() <= _DIALOGUE and not _speaks(template.get("round")):
        what = "no turn of the dialogue is the model's"
        yield Diagnostic(
            what, where, path, f"{_TALKING} asks for the turns of BOT", "dict(role='BOT', prompt='{answer}')"
        )


def _speaks(turns: Any) -> bool:
    listed = turns if isinstance(turns, list | tuple) else [turns]
    return any(isinstance(each, Mapping) and each.get("role") == "BOT" for each in listed)
