"""A written-out exam as a task of lm-eval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from proctor.dialects.conversion.converted import Loss
from proctor.dialects.conversion.gradings import Graded, Named, Reading
from proctor.dialects.conversion.sharing import name_strange, own_metric, plain, put_positions
from proctor.dialects.conversion.written import CHOICES, Written
from proctor.dialects.lm_eval.exam import task_of
from proctor.dialects.lm_eval.gradings import TaskGrader
from proctor.dialects.lm_eval.metrics import DEFAULT_METRICS
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.scoring.metric_table import metric_table
from proctor.scoring.named_table import LM_EVAL, named
from proctor.scoring.text.text_functions import text_function_table

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


# -- what grades an exam ----------------------------------------------------------------------------------------------


def graded(exam: Exam, first: Question) -> Graded | None:
    """Return what grades an exam of this dialect; its first question's processors stand for all."""
    del first
    if (task := task_of(exam)) is None:
        return None
    made = Graded()
    config = task.config
    if config.process_results is not None:
        made.lost.append(Loss("scores", "process_results: code of the task"))
    else:
        entries = config.metric_list
        if entries is None:
            entries = [{"metric": name} for name in DEFAULT_METRICS[config.output_type]]
        made.metrics = list(_metrics_of_task(made, entries))
    pipelines = config.filter_list if isinstance(config.filter_list, list) else []
    if config.output_type == "multiple_choice" and pipelines:
        made.lost.append(Loss("scores", "filter_list: the other form has no filters of likelihoods"))
    elif pipelines:
        made.readings = [Reading(str(each["name"]), list(_filters(made, each["filter"]))) for each in pipelines]
    if isinstance(exam.grader, TaskGrader):
        scorer = exam.grader.pipelines[0].scorer
        made.target = lambda question: scorer.gold_text(question.instance)
    return made


def _metrics_of_task(made: Graded, entries: Sequence[Mapping[str, Any]]) -> Iterator[Named]:
    for entry in entries:
        name, how = entry["metric"], entry.get("aggregation")
        if not isinstance(name, str) or not (how is None or isinstance(how, str)):
            made.lost.append(Loss("scores", f"metric {getattr(name, 'name', name)}: the other form cannot name it"))
            continue
        own = metric_table().find(named(name)[0], LM_EVAL)
        arguments = {key: value for key, value in entry.items() if key not in _NOT_ARGUMENTS}
        if own is not None and own.system == LM_EVAL and how not in (None, own.aggregation):
            arguments["aggregation"] = how
        yield Named(own.key if own is not None and ":" not in name and "[" not in name else name, arguments)


_NOT_ARGUMENTS = frozenset({"metric", "aggregation", "higher_is_better", "hf_evaluate"})


def _filters(made: Graded, steps: Sequence[Mapping[str, Any]]) -> Iterator[Named]:
    for step in steps:
        name = step["function"]
        if not isinstance(name, str) or "filter_fn" in step:
            made.lost.append(Loss("scores", f"filter {name}: it is code of the task"))
            continue
        entry = text_function_table().find(named(name)[0], LM_EVAL)
        whole = entry.key if entry is not None and ":" not in name and "[" not in name else name
        yield Named(whole, {key: value for key, value in step.items() if key != "function"})
