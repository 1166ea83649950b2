"""An inferencer and its template, checked together: labels without words, dialogues without a turn of the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from proctor.dialects.aisbench.components import build_retriever, build_template
from proctor.dialects.aisbench.template_keys import template_problems
from proctor.dialects.aisbench.values import LONGEST_SHOWN, it_is, location_of, short_name
from proctor.errors import Diagnostic, did_you_mean, problems_of


def columns_of_reader(reader: object) -> list[str]:
    """Return the columns that a ``reader_cfg`` names, the output column last; none where it is not a dictionary."""
    if not isinstance(reader, Mapping):
        return []
    columns = reader.get("input_columns") or ()
    if not isinstance(columns, str | Sequence):
        return []
    named = columns.split() if isinstance(columns, str) else [each for each in columns if isinstance(each, str)]
    output = reader.get("output_column")
    return [*named, output] if isinstance(output, str) else named


def prompting_problems(inference: Mapping[str, Any], columns: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield what is wrong with templates and retriever, and where they do not go together."""
    count = 0
    for name in ("ice_template", "prompt_template"):
        part = inference.get(name)
        if isinstance(part, Mapping):
            found = list(template_problems(part, f"$.infer_cfg.{name}", columns))
            if part.get("template") == "" and not _converses(inference):
                path = f"$.infer_cfg.{name}.template"
                what = "a template is empty, so that nothing is asked"
                found.append(Diagnostic(what, location_of(part), path, hint="'{question}'"))
            if not found:
                found = list(problems_of(partial(build_template, part, f"$.infer_cfg.{name}")))
            count += len(found)
            yield from found
    retriever = inference.get("retriever")
    if retriever is None and inference.get("ice_template"):
        hint = "retriever=dict(type=FixKRetriever, fix_id_list=[…]), or take the ice_template out"
        what = "infer_cfg has an ice_template and no retriever, so that no example is shown"
        yield Diagnostic(what, location_of(inference), "$.infer_cfg.retriever", hint=hint)
    if not isinstance(retriever, Mapping):
        return
    name = short_name(retriever.get("type", ""))
    found = list(problems_of(lambda: build_retriever(retriever)))
    ids = retriever.get("fix_id_list")
    if not found and isinstance(ids, list | tuple) and not all(isinstance(each, int) and each >= 0 for each in ids):
        path, why = "$.infer_cfg.retriever.fix_id_list", it_is(ids)
        found = [Diagnostic("fix_id_list has positions from 0 on", location_of(retriever), path, why)]
    yield from found
    parts = (inference.get(key) for key in ("ice_template", "prompt_template", "inferencer"))
    is_shaped = all(part is None or isinstance(part, Mapping) for part in parts)
    if not found and not count and name != "ZeroRetriever" and is_shaped:
        yield from problems_of(lambda: _build_prompts(inference))


def _converses(inference: Mapping[str, Any]) -> bool:
    """Whether the rows are conversations, which say everything themselves."""
    inferencer = inference.get("inferencer")
    return isinstance(inferencer, Mapping) and "Chat" in short_name(inferencer.get("type", ""))


def _build_prompts(inference: Mapping[str, Any]) -> None:
    """Build what a run would: errors say where templates and retriever do not go together."""
    from proctor.dialects.aisbench.prompts import PromptBuilder  # it is made of what is checked here

    PromptBuilder(inference, {"input_columns": []})


_DIALOGUE = frozenset({"begin", "round", "end"})
_COMPARING = ("PPLInferencer", "LLInferencer")
_WRITING = ("GenInferencer", "SCInferencer")
_TALKING = "MultiTurnGenInferencer"


def template_misfits(inference: Mapping[str, Any]) -> Iterator[Diagnostic]:
    """Yield labels that the template has no words for, and dialogues without a turn for the model to speak.

    Args:
        inference: The ``infer_cfg``.
    """
    inferencer, template = inference.get("inferencer"), _asked(inference)
    if not isinstance(inferencer, Mapping):
        return
    kind, labels = short_name(inferencer.get("type", "")), inferencer.get("labels")
    where, path = location_of(inferencer), "$.infer_cfg.inferencer"
    if kind in _COMPARING and (isinstance(template, str) or _is_dialogue(template)):
        what, why = (
            "every label has the same prompt",
            f"{kind} compares the prompts of labels, and the template has none",
        )
        yield Diagnostic(what, where, path, why, "template={'A': …, 'B': …}, or type=GenInferencer")
    if kind == _TALKING and isinstance(template, str):
        what, why = (
            "a text leaves no turn to the model, and shows the right answers",
            f"{kind} asks for the turns of BOT",
        )
        yield Diagnostic(what, where, path, why, "template=dict(round=[…, dict(role='BOT', prompt='{answer}')])")
    if not isinstance(template, Mapping):
        return
    if kind in _COMPARING and isinstance(labels, list | tuple) and not _is_dialogue(template):
        for label in (each for each in labels if each not in template):
            hint = did_you_mean(str(label), map(str, template)) or f"it has {', '.join(map(str, template))}"
            what = f"the template has no words for the label {label!r}"
            yield Diagnostic(what[:LONGEST_SHOWN], where, f"{path}.labels", hint=hint[:LONGEST_SHOWN])
    if kind == _TALKING and _is_dialogue(template) and not _speaks(template.get("round")):
        what = "no turn of the dialogue is the model's"
        yield Diagnostic(
            what, where, path, f"{_TALKING} asks for the turns of BOT", "dict(role='BOT', prompt='{answer}')"
        )


def labels_of(inference: Mapping[str, Any]) -> list[Any]:
    """Return the labels whose prompts an inferencer compares, as the config names them; none of other inferencers."""
    template, listed = _asked(inference), inference["inferencer"].get("labels")
    known = list(template) if isinstance(template, Mapping) and not _is_dialogue(template) else []
    return list(listed or known)


def idle_labels(inference: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels of a template that nobody is asked with: a model that writes is asked with the first one."""
    inferencer, template = inference.get("inferencer"), _asked(inference)
    if not isinstance(inferencer, Mapping) or not isinstance(template, Mapping) or _is_dialogue(template):
        return {}
    name, (first, *others) = short_name(inferencer.get("type", "")), template
    why = f"{name} asks with the words of the first label, {first!r}"
    part = "prompt_template" if inference.get("prompt_template") else "ice_template"
    return {f"$.infer_cfg.{part}.template.{each}": why for each in others} if name in _WRITING else {}


def _asked(inference: Mapping[str, Any]) -> Any:
    """Return the words that are asked: those of the ``prompt_template``, or of the examples where there is none."""
    own = inference.get("prompt_template") or inference.get("ice_template")
    return own.get("template") if isinstance(own, Mapping) else None


def _is_dialogue(template: Any) -> bool:
    return isinstance(template, Mapping) and template.keys() <= _DIALOGUE


def _speaks(turns: Any) -> bool:
    listed = turns if isinstance(turns, list | tuple) else [turns]
    return any(isinstance(each, Mapping) and each.get("role") == "BOT" for each in listed)
