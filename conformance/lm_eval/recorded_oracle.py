"""Runs inside lm-eval's own environment: answers the cases of ``conformance/recorded/lm_eval.py``.

Usage: ``python recorded_oracle.py CASES.json OUT.jsonl FOLDER``, where FOLDER has the rows. One line for each case.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

from lm_eval import evaluator_utils
from lm_eval.api import metrics, registry
from lm_eval.api.task import ConfigurableTask
from made_up_answers import likelihood_for, text_for

RESAMPLES = 40


def plain(value):
    """Return a value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value.item() if hasattr(value, "item") else value


def task_of(case, folder):
    """Return a task of lm-eval's."""
    values = json.loads(json.dumps(case["values"]))
    files = values.get("dataset_kwargs", {}).get("data_files", {})
    values["dataset_kwargs"] = {"data_files": {split: str(folder / name) for split, name in files.items()}}
    values.setdefault("metadata", {"version": 0})
    task = ConfigurableTask(config={"task": case["task"], **values})
    task._proctor_shots = task.config.num_fewshot  # noqa: SLF001
    return task


def sit(case, folder):
    """Return the requests of a task in a layout, and the scores of made-up answers."""
    task, layout = task_of(case, folder), case["layout"]
    model = SimpleNamespace(
        apply_chat_template=lambda history, add_generation_prompt=True: json.dumps([history, add_generation_prompt])
    )
    task.set_config("num_fewshot", layout["shots"] if task._proctor_shots != 0 else 0)  # noqa: SLF001
    task.set_fewshot_seed(layout.get("seed", 1234))
    chat = layout.get("chat")
    task.build_all_requests(
        limit=layout.get("limit"),
        samples=layout.get("samples"),
        apply_chat_template=chat is not None,
        fewshot_as_multiturn=chat == "multiturn",
        chat_template=model.apply_chat_template if chat else None,
        system_instruction=layout.get("system"),
    )
    found = {}
    places = {name: place for place, name in enumerate(dict.fromkeys(each.doc_id for each in task.instances))}
    for each in task.instances:
        found[f"{places[each.doc_id]} {each.idx}"] = requested(each)
    try:
        found.update(scores_of(task))
    except Exception as error:  # noqa: BLE001 - what cannot be scored is part of the comparison
        found["scores"] = {"error": f"{type(error).__name__}: {error}"[:300]}
    return found


def requested(request):
    """Return a request as data: the context and the continuation, or the context and how to generate."""
    context, *rest = request.arguments
    if request.request_type != "generate_until":
        return [context, *rest]
    arguments = dict(rest[0])
    until = arguments.get("until") or []
    temperature = float(arguments.get("temperature", 0.0)) if arguments.get("do_sample") is not False else 0.0
    return [context, {"until": [until] if isinstance(until, str) else until, "max": arguments.get("max_gen_toks", 256),
                      "temperature": repr(temperature), "repeats": request.repeats}]  # fmt: skip


def answered(request):
    """Return made-up answers to a request, one for each repeat."""
    context, *rest = request.arguments
    if request.request_type == "generate_until":
        return [text_for(context, time) for time in range(request.repeats)]
    if request.request_type == "loglikelihood":
        return [likelihood_for(context, rest[0])]
    return [likelihood_for("", context)[0]]


def scores_of(task):
    """Return the scores of made-up answers, with standard errors."""
    for each in task.instances:
        each.resps = answered(each)
    task.apply_filters()
    by_doc, raw = {}, {}
    for each in task.instances:
        by_doc.setdefault(each.doc_id, []).append(each)
    for key in task.instances[0].filtered_resps:
        for group in by_doc.values():
            group.sort(key=lambda each: each.idx)
            found = task.process_results(group[0].doc, [each.filtered_resps[key] for each in group])
            for metric, value in found.items():
                raw.setdefault((metric, key), []).append(value)
    scores, _ = evaluator_utils._compute_task_aggregations(task, raw, RESAMPLES)  # noqa: SLF001
    return {f"score {key}": plain(value) for key, value in scores.items()}


def filtered(case, folder):
    """Return what a filter leaves of answers."""
    del folder
    made = registry.get_filter(case["filter"])(**case["arguments"])
    return {
        "value": plain(
            [list(each) if not isinstance(each, str) else each for each in made.apply(case["answers"], case["docs"])]
        )
    }


def aggregated(case, folder):
    """Return an aggregate and its standard error."""
    del folder
    items = [tuple(each) if isinstance(each, list) else each for each in case["items"]]
    function = registry.get_aggregation(case["aggregation"])
    error = metrics.stderr_for_metric(function, case["resamples"])
    found = {"value": number(plain(function(items)))}
    found["error"] = number(plain(error(items))) if error else "N/A"
    return found


def number(value):
    """Return a number as a fraction."""
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def matched(case, folder):
    """Return whether answers match."""
    del folder
    found = metrics.exact_match_fn(
        predictions=[case["prediction"]], references=[case["reference"]], **case["arguments"]
    )
    return {"value": float(found["exact_match"])}


def grouped(case, folder):
    """Return a group's score and standard error."""
    del folder
    sizes, by_size = case["sizes"], case["by_size"]
    error = (
        metrics.pooled_sample_stderr(case["errors"], sizes)
        if by_size
        else metrics.unweighted_mean_stderr(case["errors"])
    )
    return {"value": float(metrics.aggregate_subtask_metrics(case["values"], sizes, by_size)), "error": float(error)}


KINDS = {"task": sit, "filter": filtered, "aggregation": aggregated, "match": matched, "group": grouped}


def main():
    """Answer every case; an error is an answer as well."""
    cases, out, folder = map(Path, sys.argv[1:])
    with out.open("w") as file:
        for case in json.loads(cases.read_text()):
            try:
                answer = KINDS[case["kind"]](case, folder)
            except Exception as error:  # noqa: BLE001 - what lm-eval refuses is part of the comparison
                answer = {"refused": {"error": f"{type(error).__name__}: {error}"[:300]}}
            file.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
