"""Runs inside lm-eval's own environment: builds the requests of tasks, invents answers, scores them, writes it all down.

Usage: ``python oracle.py plan.json out.jsonl``. The plan says which task files, which dataset folders, how many
documents, and which layouts. One line of output per task.
"""

import hashlib
import json
import logging
import os
import sys
import traceback
from functools import lru_cache
from types import SimpleNamespace

os.environ.update(
    HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false", DISABLE_MULTIPROC="1", TQDM_DISABLE="1"
)
logging.disable(logging.WARNING)

import datasets  # noqa: E402

datasets.disable_progress_bars()
_load = datasets.load_dataset


@lru_cache(maxsize=512)
def _cached(path, name, rest):
    return _load(path, name, **json.loads(rest))


datasets.load_dataset = lambda path=None, name=None, **kwargs: _cached(path, name, json.dumps(kwargs, sort_keys=True))

from lm_eval import evaluator_utils  # noqa: E402
from lm_eval.api.task import ConfigurableTask  # noqa: E402
from lm_eval.models.huggingface import HFLM  # noqa: E402
from lm_eval.tasks._yaml_loader import load_yaml  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402


def digest(*parts):
    """Return a number that depends on the parts only."""
    return int.from_bytes(hashlib.sha256(json.dumps(parts, default=str).encode()).digest()[:8], "big")


def invented(task, request, doc):
    """Return an answer to a request: a likelihood, or a text that is sometimes right."""
    number = digest(request.arguments[0], str(request.arguments[1:2]))
    if request.request_type == "loglikelihood":
        return (-(number % 100_000) / 1000.0, bool(number >> 20 & 1))
    if request.request_type == "loglikelihood_rolling":
        return -(number % 100_000) / 100.0
    target = task.doc_to_target(doc)
    if isinstance(target, list):
        target = target[-1] if target else ""
    choice = number % 4
    return [str(target), f" {target}\n", f"The answer is ({'ABCD'[number >> 8 & 3]}). #### {number % 50}", ""][choice]


def describe(request):
    """Return a request as data."""
    return [list(request.arguments), request.request_type]


def build(task, plan, layout, tokenizer):
    """Return the task's requests in one layout."""
    task.set_config("num_fewshot", layout["shots"] if task._proctor_shots != 0 else 0)  # noqa: SLF001
    task.set_fewshot_seed(1234)
    model = SimpleNamespace(tokenizer=tokenizer, chat_template_args={})
    chat = layout["chat"]
    task.build_all_requests(
        limit=plan["limit"],
        apply_chat_template=chat is not None,
        fewshot_as_multiturn=chat == "multiturn",
        chat_template=(lambda history, **kwargs: HFLM.apply_chat_template(model, history, **kwargs)) if chat else None,
        system_instruction=layout.get("system"),
    )
    return task.instances


def score(task, instances, plan):
    """Return invented answers and the scores lm-eval makes of them."""
    for each in instances:
        each.resps = [invented(task, each, each.doc)]
    task.apply_filters()
    raw = {}
    by_doc = {}
    for each in instances:
        by_doc.setdefault(each.doc_id, []).append(each)
    documents = []
    for key in instances[0].filtered_resps:
        for group in by_doc.values():
            group.sort(key=lambda each: each.idx)
            found = task.process_results(group[0].doc, [each.filtered_resps[key] for each in group])
            documents.append([key, found])
            for metric, value in found.items():
                raw.setdefault((metric, key), []).append(value)
    scores, count = evaluator_utils._compute_task_aggregations(task, raw, plan["resamples"])  # noqa: SLF001
    return [each.resps[0] for each in instances], scores, count


def run(entry, plan, tokenizer):
    """Return everything about one task."""
    config = load_yaml(entry["file"])
    for key in ("tag", "group", "task_list"):
        config.pop(key, None)
    config["dataset_path"] = entry["dataset"]
    config.setdefault("metadata", {"version": 0})
    task = ConfigurableTask(config=config)
    task._proctor_shots = task.config.num_fewshot  # noqa: SLF001
    result = {"name": entry["name"], "layouts": {}}
    for layout in plan["layouts"]:
        try:
            instances = build(task, plan, layout, tokenizer)
        except Exception as error:  # noqa: BLE001 - what fails there is compared as a failure
            result["layouts"][layout["name"]] = {"error": f"{type(error).__name__}: {error}"[:300]}
            continue
        requests = [describe(each) for each in instances]
        result["layouts"][layout["name"]] = {"requests": requests}
        if layout.get("scored"):
            try:
                result["answers"], result["scores"], result["count"] = score(task, instances, plan)
            except Exception as error:  # noqa: BLE001
                result["scores_error"] = f"{type(error).__name__}: {error}"[:300]
    return result


def main():
    """Run the plan."""
    with open(sys.argv[1]) as file:
        plan = json.load(file)
    tokenizer = AutoTokenizer.from_pretrained(plan["tokenizer"])
    with open(sys.argv[2], "w") as out:
        for entry in plan["tasks"]:
            try:
                result = run(entry, plan, tokenizer)
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                trace = traceback.format_exc().splitlines()[-3:]
                result = {"name": entry["name"], "error": f"{type(error).__name__}: {error}"[:300], "trace": trace}
            out.write(json.dumps(result, default=lambda value: getattr(value, "item", lambda: str(value))()) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
