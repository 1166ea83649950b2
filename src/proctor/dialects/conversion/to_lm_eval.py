"""A written-out exam as a task of lm-eval."""

from __future__ import annotations

from typing import Any

import yaml

from proctor.dialects.conversion.gradings import Named, Reading
from proctor.dialects.conversion.sharing import name_strange, own_metric, plain, put_positions
from proctor.dialects.conversion.written import CHOICES, Written
from proctor.scoring.registry import LM_EVAL

_REGEX_OF = {"first_capital_postprocess": "([A-Z])", "first-capital": "([A-Z])"}
"""Post-processors that lm-eval's ``regex`` does as well."""


def to_lm_eval(written: Written) -> str:
    """Return an lm-eval task."""
    values: dict[str, Any] = {
        "task": written.name,
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": written.file}},
        "test_split": "test",
        "num_fewshot": 0,
        "output_type": "multiple_choice" if written.compares else "generate_until",
        "doc_to_text": written.prompt,
        "doc_to_target": written.target,
        "target_delimiter": written.delimiter,
    }
    if written.compares:
        put_positions(written)
        values["doc_to_choice"] = CHOICES
    else:
        values["generation_kwargs"] = _generation(written)
    if written.repeats > 1:
        values["repeats"] = written.repeats
    values["metric_list"] = [_metric_entry(written, each) for each in written.graded.metrics] or [_BYPASS]
    if any(each.steps for each in written.graded.readings):
        values["filter_list"] = [_pipeline(written, each) for each in written.graded.readings]
    return str(yaml.safe_dump(plain(values), sort_keys=False, allow_unicode=True, width=1_000))


_BYPASS = {"metric": "bypass"}
"""lm-eval's own word for answers that are not scored."""


def _generation(written: Written) -> dict[str, Any]:
    decoding = written.decoding
    found: dict[str, Any] = {"until": list(decoding.stop), "max_gen_toks": decoding.max_tokens}
    if decoding.max_tokens is None:
        written.losses.add("elsewhere", "max_gen_toks: null leaves it to the engine; lm-eval itself wants a number")
    found |= {"do_sample": True, "temperature": decoding.temperature} if decoding.temperature else {"do_sample": False}
    for key in ("top_p", "top_k", "seed"):
        if (value := getattr(decoding, key)) is not None:
            found[key] = value
    if decoding.count > 1:
        written.losses.add("requests", f"{decoding.count} answers to one request")
    return {**found, **decoding.extra}


def _metric_entry(written: Written, each: Named) -> dict[str, Any]:
    each = own_metric(written, LM_EVAL, each)
    name_strange(written, LM_EVAL, each)
    return {"metric": each.name.removeprefix(f"{LM_EVAL}:"), **each.arguments}


def _pipeline(written: Written, reading: Reading) -> dict[str, Any]:
    found = []
    for step in reading.steps:
        pattern = _REGEX_OF.get(step.name.rpartition(":")[2]) if not step.arguments else None
        each = step if pattern is None else Named(f"{LM_EVAL}:regex", {"regex_pattern": pattern, "fallback": ""})
        name_strange(written, LM_EVAL, each)
        found.append({"function": each.name.removeprefix(f"{LM_EVAL}:"), **each.arguments})
    last = [] if found and found[-1]["function"] == "take_first" else [{"function": "take_first"}]
    return {"name": reading.name or "parsed", "filter": [*found, *last]}
