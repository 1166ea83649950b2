"""A written-out exam as a recipe of Unitxt."""

from __future__ import annotations

import json
from typing import Any

from proctor.artifacts import fetch_artifact
from proctor.dialects.conversion.gradings import Named, Reading
from proctor.dialects.conversion.sharing import name_strange, own_metric, plain, put_positions
from proctor.dialects.conversion.written import CHOICES, Written
from proctor.scoring.processors import PostProcess
from proctor.scoring.registry import LM_EVAL, UNITXT
from proctor.scoring.text_functions import text_function_table


def to_unitxt(written: Written) -> str:
    """Return a Unitxt recipe; a benchmark of several, where answers are read in several ways."""
    if len(written.graded.readings) == 1:
        return _json(_recipe(written, written.graded.readings[0]))
    subsets = {each.name: _recipe(written, each) for each in written.graded.readings}
    return _json({"__type__": "benchmark", "subsets": subsets})


def _json(value: Any) -> str:
    return json.dumps(plain(value), indent=4, ensure_ascii=False)


def _recipe(written: Written, reading: Reading) -> dict[str, Any]:
    recipe: dict[str, Any] = {
        "__type__": "dataset_recipe",
        "card": {
            "__type__": "task_card",
            "loader": {"__type__": "load_json_file", "files": {"test": written.file}, "lines": True},
            "task": _task(written),
            "templates": [],
        },
        "template": _template(written, reading),
        "format": {"__type__": "system_format", "model_input_format": "{source}"},
    }
    recipe |= {"request": "choose"} if written.compares else _decoding(written)
    if written.repeats > 1:
        written.losses.add("requests", f"repeats: a recipe asks once; --repeats {written.repeats} asks as often")
        written.losses.add("scores", "repeats: scores are of one answer")
    return recipe


def _task(written: Written) -> dict[str, Any]:
    inputs = {written.prompt: "str"}
    references = {written.target: "Any" if written.compares else "List[str]"}
    if written.compares:
        inputs[CHOICES] = references[CHOICES] = "List[str]"
    return {
        "__type__": "task",
        "input_fields": inputs | dict.fromkeys(written.columns, "Any"),
        "reference_fields": references,
        "prediction_type": "Any",
        "metrics": [_registered(written, each) for each in written.graded.metrics],
    }


def _template(written: Written, reading: Reading) -> dict[str, Any]:
    processors = [_processor(written, each) for each in _steps(written, reading)]
    if written.compares:
        put_positions(written)
        _check_gaps(written)
        _check_positions(written)
        return {
            "__type__": "multiple_choice_template",
            "input_format": f"{{{written.prompt}}}",
            "choices_field": CHOICES,
            "target_field": written.target,
            "source_choice_format": "{choice_text}",
            "target_choice_format": "{choice_text}",
            "postprocessors": processors,
        }
    for row in written.rows:
        row[written.target] = _texts(written, row[written.target])
    return {
        "__type__": "multi_reference_template",
        "input_format": f"{{{written.prompt}}}",
        "output_format": "",
        "references_field": written.target,
        "postprocessors": processors,
    }


def _steps(written: Written, reading: Reading) -> list[Named]:
    """Return the steps that a recipe can have; those that see the answers to all questions at once are named."""
    table = text_function_table()
    found = []
    for each in reading.steps:
        entry = table.find(each.name, UNITXT)
        if each.name == f"{LM_EVAL}:take_first":
            continue  # a recipe reads one answer at a time; with this step it would refuse --repeats and --reduce
        if entry is not None and entry.scope == "column":
            written.losses.add("scores", f"{each.name}: it sees all answers at once, a processor sees one")
        else:
            found.append(each)
    return found


def _texts(written: Written, target: Any) -> list[str]:
    values = target if isinstance(target, list) else [target]
    if not all(isinstance(each, str) for each in values):
        written.losses.add("scores", "references: a template shows texts, and these are numbers, lists or nothing")
    return [each if isinstance(each, str) else json.dumps(each, ensure_ascii=False, default=str) for each in values]


def _check_gaps(written: Written) -> None:
    """Name prompts after which a template would put a space, or none, where there is none or one."""
    ends = {bool(row[written.prompt]) and not row[written.prompt][-1].isspace() for row in written.rows}
    if ends != {written.delimiter == " "}:
        written.losses.add(
            "requests", "the space before a choice: a recipe puts one after words, and none after a space"
        )


def _check_positions(written: Written) -> None:
    for each in written.graded.metrics:
        if each.name in _OF_POSITIONS:
            written.losses.add("scores", f"{each.name}: a task gives it positions of choices, a recipe their texts")
    for row in written.rows:
        right = row[written.target]
        if isinstance(right, list):
            written.losses.add("scores", "references: several choices are right, and a template has one")
        places = [each for each in (right if isinstance(right, list) else [right]) if each < len(row[CHOICES])]
        row[written.target] = places[0] if places else 0


_OF_POSITIONS = ("lm_eval:f1", "lm_eval:mcc")  # they count positions of choices, while a card's predictions are texts


def _decoding(written: Written) -> dict[str, Any]:
    decoding = written.decoding
    for key in ("top_p", "top_k", "seed"):
        if getattr(decoding, key) is not None:
            written.losses.add("requests", f"{key}: a recipe does not say it; --gen-kwargs does")
    if decoding.count > 1:
        written.losses.add("requests", f"{decoding.count} answers to one request")
    for key in decoding.extra:
        written.losses.add("requests", f"{key}: a recipe does not say it; --gen-kwargs does")
    found = {"max_tokens": decoding.max_tokens, "stop": list(decoding.stop), "temperature": decoding.temperature}
    return {key: value for key, value in found.items() if value not in (None, [], 0.0)}


def _registered(written: Written, each: Named) -> Any:
    each = own_metric(written, UNITXT, each)
    name_strange(written, UNITXT, each)
    if not each.arguments:
        return each.name
    if not each.system:
        return {"__type__": each.name, **each.arguments}
    arguments = dict(each.arguments)
    how = arguments.pop("aggregation", None)
    made = {"__type__": "registered_metric", "metric": each.name, "arguments": arguments}
    return made if how is None else {**made, "aggregation": how}


def _processor(written: Written, each: Named) -> Any:
    name_strange(written, UNITXT, each)
    if not each.system:
        operator: Any = each.name if not each.arguments else {"__type__": each.name, **each.arguments}
        if not each.arguments and isinstance(found := fetch_artifact(each.name), PostProcess):
            operator = found.operator.to_dict()  # a post-processor of the catalog holds one, and is none
        return {"__type__": "post_process", "operator": operator, "process_references": False}
    operator = {"__type__": "registered_processor", "function": each.name, "arguments": dict(each.arguments)}
    return {"__type__": "post_process", "operator": operator, "process_references": False}
