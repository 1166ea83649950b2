"""Runs inside lm-eval's own environment: lets its ``hf`` model answer the requests of tasks, and writes it all down.

Usage: ``python hf_oracle.py plan.json out.jsonl``. The plan holds ``model``, ``limit``, ``batch_size`` and ``tasks``:
name, file, dataset and shots. One line of output per task: requests grouped by document, answers, the scores that
lm-eval makes of them, wall and CPU seconds. Tasks that the output already holds are not asked again.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TQDM_DISABLE="1")

from lm_eval import evaluator_utils
from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks._yaml_loader import load_yaml


def task_of(entry: dict[str, Any], limit: int) -> ConfigurableTask:
    """Return a task with its requests built, in lm-eval's order."""
    config = load_yaml(entry["file"])
    for key in ("tag", "group", "task_list"):
        config.pop(key, None)
    config["dataset_path"] = entry["dataset"]
    config.setdefault("metadata", {"version": 0})
    task = ConfigurableTask(config=config)
    task.set_config("num_fewshot", entry["shots"])
    task.set_fewshot_seed(1234)
    task.build_all_requests(limit=limit)
    return task


def scores_of(task: ConfigurableTask, answers: list[Any]) -> dict[str, float]:
    """Return what lm-eval's filters, metrics and aggregations make of the answers."""
    by_document: dict[int, list[Instance]] = {}
    for instance, answer in zip(task.instances, answers, strict=True):
        instance.resps = [answer]
        by_document.setdefault(instance.doc_id, []).append(instance)
    task.apply_filters()
    raw: dict[tuple[str, str], list[Any]] = {}
    for key in task.instances[0].filtered_resps:
        for group in by_document.values():
            group.sort(key=lambda instance: instance.idx)
            found = task.process_results(group[0].doc, [instance.filtered_resps[key] for instance in group])
            for metric, value in found.items():
                raw.setdefault((metric, key), []).append(value)
    scores, _ = evaluator_utils._compute_task_aggregations(task, raw, 1000)  # noqa: SLF001 - there is no other way
    return {name: value for name, value in scores.items() if isinstance(value, int | float)}


def rolled(instances: list[Instance]) -> list[Instance]:
    """Return the contexts of a task as texts to roll over, which no mirrored task asks for."""
    return [
        Instance(
            "loglikelihood_rolling", each.doc, ("".join(each.arguments),), each.idx, (each.task_name, each.doc_id, 1)
        )
        for each in instances
    ]


def main() -> None:
    """Run the plan."""
    plan = json.loads(Path(sys.argv[1]).read_text())
    model = HFLM(
        plan["model"], dtype="float32", device="cpu", batch_size=plan["batch_size"], max_length=plan["max_length"]
    )
    kept = Path(sys.argv[2])
    done = {json.loads(line)["name"] for line in kept.read_text().splitlines()} if kept.exists() else set()
    with kept.open("a") as out:
        for entry in plan["tasks"]:
            if entry["name"] in done:
                continue
            task = task_of(entry, plan["limit"])
            instances = rolled(task.instances) if entry.get("rolling") else task.instances
            wall, cpu = time.perf_counter(), time.process_time()
            answers = getattr(model, instances[0].request_type)(instances)
            times = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            requests = [[each.doc_id, each.request_type, list(each.arguments)] for each in instances]
            scores = {} if entry.get("rolling") else scores_of(task, answers)
            record = {"name": entry["name"], "requests": requests, "answers": answers, "scores": scores, **times}
            out.write(json.dumps(record) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
