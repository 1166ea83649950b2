"""A written-out exam in the words of each dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from proctor.dialects.conversion.gradings import Named, Reading
from proctor.dialects.conversion.written import CHOICES, Written
from proctor.scoring.registry import LM_EVAL, OPENCOMPASS, UNITXT
from proctor.scoring.text_functions import text_function_table

ELSEWHERE = "Proctor computes it under this name, other programs that read the file do not"


_SAME: Mapping[str, Mapping[str, str]] = {
    LM_EVAL: {f"{OPENCOMPASS}:AccEvaluator": f"{LM_EVAL}:exact_match"},
    UNITXT: {f"{OPENCOMPASS}:AccEvaluator": "metrics.accuracy"},
    OPENCOMPASS: {},
}
"""Metrics that say the same of texts with one right answer: the other system's own name, which it finds itself."""

_REGEX_OF = {"first_capital_postprocess": "([A-Z])", "first-capital": "([A-Z])"}
"""Post-processors that lm-eval's ``regex`` does as well."""


def _own_metric(written: Written, system: str, each: Named) -> Named:
    """Return a metric under the other system's own name, where it has the same one."""
    same = _SAME[system].get(each.name)
    if same is None or each.arguments or written.compares:
        return each
    return Named(same) if all(isinstance(row[written.target], str) for row in written.rows) else each


def _strange(written: Written, system: str, each: Named) -> None:
    """Name what only Proctor finds under this name."""
    if each.system != ("" if system == UNITXT else system):
        written.losses.add("elsewhere", f"{each.name}: {ELSEWHERE}")


# -- lm-eval ------------------------------------------------------------------------------------------------------


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
        _by_position(written)
        values["doc_to_choice"] = CHOICES
    else:
        values["generation_kwargs"] = _generation(written)
    if written.repeats > 1:
        values["repeats"] = written.repeats
    values["metric_list"] = [_metric_entry(written, each) for each in written.graded.metrics] or [_BYPASS]
    if any(each.steps for each in written.graded.readings):
        values["filter_list"] = [_pipeline(written, each) for each in written.graded.readings]
    return str(yaml.safe_dump(_plain(values), sort_keys=False, allow_unicode=True, width=1_000))


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
    each = _own_metric(written, LM_EVAL, each)
    _strange(written, LM_EVAL, each)
    return {"metric": each.name.removeprefix(f"{LM_EVAL}:"), **each.arguments}


def _pipeline(written: Written, reading: Reading) -> dict[str, Any]:
    found = []
    for step in reading.steps:
        pattern = _REGEX_OF.get(step.name.rpartition(":")[2]) if not step.arguments else None
        each = step if pattern is None else Named(f"{LM_EVAL}:regex", {"regex_pattern": pattern, "fallback": ""})
        _strange(written, LM_EVAL, each)
        found.append({"function": each.name.removeprefix(f"{LM_EVAL}:"), **each.arguments})
    last = [] if found and found[-1]["function"] == "take_first" else [{"function": "take_first"}]
    return {"name": reading.name or "parsed", "filter": [*found, *last]}


def _by_position(written: Written) -> None:
    """Put positions in place of right choices."""
    for row in written.rows:
        right, choices = row[written.target], row[CHOICES]
        found = [choices.index(each) for each in (right if isinstance(right, list) else [right]) if each in choices]
        if not found:
            written.losses.add("scores", "references: a right answer that is none of the choices")
        row[written.target] = found if isinstance(right, list) else found[0] if found else len(choices)


# -- Unitxt -------------------------------------------------------------------------------------------------------


def to_unitxt(written: Written) -> str:
    """Return a Unitxt recipe; a benchmark of several, where answers are read in several ways."""
    if len(written.graded.readings) == 1:
        return _json(_recipe(written, written.graded.readings[0]))
    subsets = {each.name: _recipe(written, each) for each in written.graded.readings}
    return _json({"__type__": "benchmark", "subsets": subsets})


def _json(value: Any) -> str:
    return json.dumps(_plain(value), indent=4, ensure_ascii=False)


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
        _by_position(written)
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


_OF_POSITIONS = ("lm_eval:f1", "lm_eval:mcc")


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
    each = _own_metric(written, UNITXT, each)
    _strange(written, UNITXT, each)
    if not each.arguments:
        return each.name
    if not each.system:
        return {"__type__": each.name, **each.arguments}
    arguments = dict(each.arguments)
    how = arguments.pop("aggregation", None)
    made = {"__type__": "registered_metric", "metric": each.name, "arguments": arguments}
    return made if how is None else {**made, "aggregation": how}


def _processor(written: Written, each: Named) -> Any:
    _strange(written, UNITXT, each)
    if not each.system:
        operator: Any = each.name if not each.arguments else {"__type__": each.name, **each.arguments}
        return {"__type__": "post_process", "operator": operator, "process_references": False}
    operator = {"__type__": "registered_processor", "function": each.name, "arguments": dict(each.arguments)}
    return {"__type__": "post_process", "operator": operator, "process_references": False}


def _plain(value: Any) -> Any:
    """Return a value as what YAML and JSON have."""
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [_plain(each) for each in value]
    if isinstance(value, str):
        return str(value)
    return value


# -- OpenCompass --------------------------------------------------------------------------------------------------

PLACES = 2
"""Post-processors that a config has room for: the dataset's, and the evaluator's own after it."""


def to_config(written: Written) -> str:
    """Return a config of OpenCompass: a dataset for each metric, all of the same prompts; they are asked once."""
    if not written.graded.metrics:
        written.losses.add("scores", "metrics: AccEvaluator compares whole answers; choose another where it matters")
    if written.repeats > 1:
        written.losses.add("requests", f"repeats: {written.repeats}; n asks again under other seeds")
        written.losses.add("scores", "repeats: scores are of one answer")
    if written.compares:
        _whole_choices(written)
    metrics = [_own_metric(written, OPENCOMPASS, each) for each in written.graded.metrics]
    metrics = metrics or [Named(f"{OPENCOMPASS}:AccEvaluator")]
    arguments = {} if written.compares else _out(written)
    pairs = [(reading, metric) for reading in written.graded.readings for metric in metrics]
    names = _names(written, pairs)
    datasets = [_dataset(written, name, _evaluation(written, *pair)) for name, pair in zip(names, pairs, strict=True)]
    return _CONFIG.format(
        name=written.name,
        file=written.file,
        target=written.target,
        inferencer="CLPInferencer" if written.compares else "GenInferencer",
        arguments="".join(f", {key}={value!r}" for key, value in arguments.items()),
        columns=[written.prompt, *([CHOICES] if written.compares else [])],
        template=f"{{{written.prompt}}}",
        datasets="".join(datasets),
    )


def _names(written: Written, pairs: Sequence[tuple[Reading, Named]]) -> list[str]:
    """Return a name for each dataset: the exam's for the first, with the reading and the metric for the others."""
    found: list[str] = []
    for reading, metric in pairs:
        parts = (
            (written.name, reading.name, metric.name.rpartition(":")[2].partition("[")[0]) if found else (written.name,)
        )
        name = re.sub(r"\W+", "_", "_".join(each for each in parts if each))
        found.append(f"{name}_{len(found)}" if name in found else name)
    return found


def _whole_choices(written: Written) -> None:
    """Put what stands between prompt and choice into the choice."""
    for row in written.rows:
        right, between = row[written.target], written.delimiter
        row[CHOICES] = [between + each for each in row[CHOICES]]
        row[written.target] = (
            [between + str(each) for each in right] if isinstance(right, list) else f"{between}{right}"
        )
    for each in written.graded.metrics:
        if each.system == LM_EVAL and each.name != f"{LM_EVAL}:acc":
            written.losses.add("scores", f"{each.name}: a config gives metrics the likeliest choice, no likelihoods")
    kept = [each for each in written.graded.metrics if each.system != LM_EVAL or each.name == f"{LM_EVAL}:acc"]
    written.graded.metrics[:] = kept or [Named(f"{LM_EVAL}:acc")]


def _dataset(written: Written, name: str, evaluation: Mapping[str, Any]) -> str:
    return f"    dict(abbr={name!r}, **{written.name}, eval_cfg={_plain(evaluation)!r}),\n"


def _out(written: Written) -> dict[str, Any]:
    decoding = written.decoding
    if decoding.max_tokens is None:
        written.losses.add("requests", "max_tokens: a config always has one (512), the exam leaves it to the engine")
    for key in ("temperature", "top_p", "top_k", "seed"):
        if getattr(decoding, key):
            written.losses.add("requests", f"{key}: a config leaves it to the model's; --gen-kwargs says it")
    for key in decoding.extra:
        written.losses.add("requests", f"{key}: a config leaves it to the model's; --gen-kwargs says it")
    if decoding.count > 1:
        written.losses.add("requests", f"{decoding.count} answers to one request")
    found = {"max_out_len": decoding.max_tokens, "stopping_criteria": list(decoding.stop)}
    return {key: value for key, value in found.items() if value}


def _evaluation(written: Written, reading: Reading, metric: Named) -> dict[str, Any]:
    steps = [each for each in reading.steps if not _takes_first(each)]
    for each in (metric, *steps):
        _strange(written, OPENCOMPASS, each)
    found: dict[str, Any] = {"evaluator": _typed(metric)}
    if written.compares:
        found["pred_postprocessor"] = {"type": "likeliest_choice"}
        written.losses.add("elsewhere", f"likeliest_choice: {ELSEWHERE}")
    elif len(steps) > PLACES:
        found["pred_postprocessor"] = {"type": "one_after_another", "steps": [_typed(each) for each in steps]}
        written.losses.add("elsewhere", f"one_after_another: {ELSEWHERE}")
    else:
        for place, step in zip((found, found["evaluator"]), steps, strict=False):
            place["pred_postprocessor"] = _typed(step)
    return found


def _takes_first(each: Named) -> bool:
    return each.name == f"{LM_EVAL}:take_first"


def _typed(each: Named) -> dict[str, Any]:
    return {"type": each.name.removeprefix(f"{OPENCOMPASS}:"), **each.arguments}


_CONFIG = """from opencompass.datasets import CustomDataset
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import {inferencer}
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

{name} = dict(
    type=CustomDataset,
    path='{file}',
    reader_cfg=dict(input_columns={columns!r}, output_column='{target}'),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template={template!r}),
        retriever=dict(type=ZeroRetriever),
        inferencer=dict(type={inferencer}{arguments}),
    ),
)
{name}_datasets = [
{datasets}]
"""
