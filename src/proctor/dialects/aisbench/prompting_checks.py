"""Templates and retriever of a dataset, checked together before anybody is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from proctor.dialects.aisbench.components import build_retriever, build_template
from proctor.dialects.aisbench.template_keys import template_problems
from proctor.dialects.aisbench.values import it_is, location_of, short_name
from proctor.errors import Diagnostic, problems_of


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
