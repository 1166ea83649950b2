"""Runs inside lm-eval's own environment: lets its ``hf`` model answer the requests of tasks, and writes it all down.

Usage: ``python hf_oracle.py plan.json out.jsonl``. The plan holds ``model``, ``limit``, ``batch_size`` and ``tasks``:
name, file, dataset and shots. One line of output per task: requests grouped by document, answers, wall and CPU seconds.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false", TQDM_DISABLE="1")

from lm_eval.api.instance import Instance
from lm_eval.api.task import ConfigurableTask
from lm_eval.models.huggingface import HFLM
from lm_eval.tasks._yaml_loader import load_yaml


def requests_of(entry: dict[str, Any], limit: int) -> list[Instance]:
    """Return a task's requests in lm-eval's order."""
    config = load_yaml(entry["file"])
    for key in ("tag", "group", "task_list"):
        config.pop(key, None)
    config["dataset_path"] = entry["dataset"]
    task = ConfigurableTask(config=config)
    task.set_config("num_fewshot", entry["shots"])
    task.set_fewshot_seed(1234)
    task.build_all_requests(limit=limit)
    return task.instances


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
    with Path(sys.argv[2]).open("w") as out:
        for entry in plan["tasks"]:
            instances = requests_of(entry, plan["limit"])
            if entry.get("rolling"):
                instances = rolled(instances)
            wall, cpu = time.perf_counter(), time.process_time()
            answers = getattr(model, instances[0].request_type)(instances)
            times = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
            requests = [[each.doc_id, each.request_type, list(each.arguments)] for each in instances]
            out.write(json.dumps({"name": entry["name"], "requests": requests, "answers": answers, **times}) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
