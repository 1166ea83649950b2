"""Runs inside lm-eval's own environment: makes up rows for tasks with helpers, asks, invents answers, scores.

Usage: ``python helper_oracle.py plan.json out.jsonl``. One line of output per task: where its rows are (parquet files),
the requests of each layout, the answers, what ``process_results`` makes of each document, scores and standard errors.
"""

import copy
import hashlib
import io
import json
import logging
import os
import random
import re
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from types import SimpleNamespace

os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_DATASETS_OFFLINE="1",
    TOKENIZERS_PARALLELISM="false",
    DISABLE_MULTIPROC="1",
    TQDM_DISABLE="1",
    HF_ALLOW_CODE_EVAL="1",
)
logging.disable(logging.CRITICAL)

import datasets  # noqa: E402
import evaluate  # noqa: E402, F401 - an import that the alarm cuts off is broken for good
import numpy as np  # noqa: E402
import sympy  # noqa: E402, F401
import torch._dynamo  # noqa: E402, F401

datasets.disable_progress_bars()
datasets.disable_caching()

from guessed_rows import Guess  # noqa: E402
from lm_eval import evaluator_utils  # noqa: E402
from lm_eval.api.task import ConfigurableTask  # noqa: E402
from lm_eval.models.huggingface import HFLM  # noqa: E402
from lm_eval.tasks._yaml_loader import load_yaml  # noqa: E402
from made_up_answers import SAID  # noqa: E402
from transformers import AutoTokenizer  # noqa: E402

ROWS = 7
TEXT_FIELDS = (
    "doc_to_text",
    "doc_to_target",
    "doc_to_choice",
    "doc_to_image",
    "doc_to_audio",
    "gen_prefix",
    "description",
)


class TooLongError(Exception):
    """A task took too long."""


def _alarm(*_):
    raise TooLongError


signal.signal(signal.SIGPROF, _alarm)


class Task(ConfigurableTask):
    """A task over rows at hand."""

    rows = None

    def download(self, dataset_kwargs=None, **kwargs):
        """Take the rows at hand, unless the task makes its own."""
        if callable(self.config.custom_dataset):
            super().download(dataset_kwargs, **kwargs)
        else:
            self.dataset = self.rows


def digest(*parts):
    """Return a number that depends on the parts only."""
    text = json.dumps(parts, default=str, ensure_ascii=False)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def invented(task, request, doc, time_asked):
    """Return an answer: a likelihood, or a text that is sometimes right."""
    number = digest(str(request.arguments[0]), str(request.arguments[1:2]), time_asked)
    if request.request_type == "loglikelihood":
        return [-(number % 100_000) / 1000.0, bool(number >> 20 & 1)]
    if request.request_type == "loglikelihood_rolling":
        return -(number % 100_000) / 100.0
    target = task.doc_to_target(doc)
    if isinstance(target, list):
        target = target[-1] if target else ""
    made = [str(target), f" {target}\n", f"The answer is ({'ABCD'[number >> 8 & 3]}). #### {number % 50}"]
    return (made + list(SAID))[number % 11 if number % 11 < 3 else number % (3 + len(SAID))]


def plain(value):
    """Return a value as JSON; pictures as a digest of their pixels."""
    if hasattr(value, "tobytes") and hasattr(value, "convert"):
        return "picture " + hashlib.sha256(value.convert("RGB").tobytes()).hexdigest()[:16]
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(map(str, value))
    return str(value)


def build(task, layout, tokenizer):
    """Return the requests in one layout."""
    own = task._proctor_shots  # noqa: SLF001
    task.set_config("num_fewshot", own if layout["shots"] is None or own == 0 else layout["shots"])
    task.set_fewshot_seed(1234)
    model = SimpleNamespace(tokenizer=tokenizer, chat_template_args={})
    chat = layout["chat"]
    task.build_all_requests(
        apply_chat_template=chat is not None,
        fewshot_as_multiturn=chat == "multiturn",
        chat_template=(lambda history, **kwargs: HFLM.apply_chat_template(model, history, **kwargs)) if chat else None,
        system_instruction=layout.get("system"),
    )
    return task.instances


def score(task, instances, plan):
    """Return invented answers, what becomes of each document, and the scores."""
    by_doc = {}
    for each in instances:
        each.resps = [invented(task, each, each.doc, time_asked) for time_asked in range(each.repeats or 1)]
        if each.request_type == "loglikelihood":
            each.resps = [tuple(answer) for answer in each.resps]
        by_doc.setdefault(each.doc_id, []).append(each)
    answers = [list(each.resps) for each in instances]
    task.apply_filters()
    raw, samples = {}, {}
    for key in instances[0].filtered_resps:
        for group in by_doc.values():
            group.sort(key=lambda each: each.idx)
            found = task.process_results(group[0].doc, [each.filtered_resps[key] for each in group])
            samples.setdefault(key, []).append(found)
            for metric, value in found.items():
                raw.setdefault((metric, key), []).append(value)
    scores, _ = evaluator_utils._compute_task_aggregations(task, raw, plan["resamples"])  # noqa: SLF001
    return answers, samples, scores


def attempt(config, rows, plan, tokenizer):
    """Return everything about a task over rows; raises where it stumbles."""
    Task.rows = rows
    random.seed(0)  # as simple_evaluate does, before it builds its tasks
    np.random.seed(1234)  # noqa: NPY002 - the generator that lm-eval seeds
    task = Task(config=copy.deepcopy(config))
    task._proctor_shots = task.config.num_fewshot  # noqa: SLF001
    result = {"layouts": {}}
    for layout in plan["layouts"]:
        try:
            instances = build(task, layout, tokenizer)
        except TooLongError:
            raise
        except Exception as error:
            if layout.get("scored"):
                raise
            result["layouts"][layout["name"]] = {"error": f"{type(error).__name__}: {error}"[:300]}
            continue
        requests = [[list(each.arguments), each.request_type] for each in instances]
        result["layouts"][layout["name"]] = {"requests": json.loads(json.dumps(requests, default=plain))}
        if layout.get("scored"):
            result["answers"], result["samples"], result["scores"] = score(task, instances, plan)
    return result


def splits_of(config):
    """Return the splits that a task names, and the usual ones."""
    found = [config.get(f"{name}_split") for name in ("test", "validation", "training", "fewshot")]
    fewshot = config.get("fewshot_config")
    found.append(fewshot.get("split") if isinstance(fewshot, dict) else None)
    return list(dict.fromkeys(each for each in [*found, "train", "validation", "test"] if isinstance(each, str)))


def templates_of(value):
    """Yield the texts in the fields of a task that are put in words."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from templates_of(each)
    elif isinstance(value, list):
        for each in value:
            yield from templates_of(each)


def guess_for(config, sources, seed, functions):
    """Return a first guess of a task's columns."""
    named = [config.get(name) for name in TEXT_FIELDS]
    fewshot = config.get("fewshot_config")
    named += [fewshot.get(name) for name in TEXT_FIELDS] if isinstance(fewshot, dict) else []
    return Guess(sources, [each for value in named for each in templates_of(value)], seed, functions)


def where(error):
    """Return the lines of the task's code that an error came from."""
    lines = []
    for frame in traceback.extract_tb(error.__traceback__):
        if "/tasks/" in frame.filename:
            text = Path(frame.filename).read_text().splitlines()
            lines = [*text[max(0, frame.lineno - 3) : frame.lineno + 1], *lines]
    return "\n".join(lines)


def search(entry, plan, tokenizer):
    """Try rows until the task takes them; return its result, or the last error."""
    config = load_yaml(entry["file"])
    for key in ("tag", "group", "task_list"):
        config.pop(key, None)
    config.setdefault("metadata", {"version": 0})
    sources = [Path(each).read_text() for each in entry["helpers"]]
    guess = guess_for(config, sources, digest(entry["name"]), frozenset(entry["functions"]))
    templates = "\n".join(map(str, (config.get(name) for name in TEXT_FIELDS)))
    began, tried, last = time.process_time(), 0, ""
    while time.process_time() - began < plan["seconds"] and tried < plan["trials"]:
        tried += 1
        try:
            signal.setitimer(signal.ITIMER_PROF, 15)
            rows = datasets.DatasetDict(
                {split: datasets.Dataset.from_list(guess.rows(ROWS, split)) for split in splits_of(config)}
            )
            attempt(config, rows, plan, tokenizer)
            signal.setitimer(signal.ITIMER_PROF, 0)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - code of tasks may even exit
            signal.setitimer(signal.ITIMER_PROF, 0)
            last = f"{type(error).__name__}: {error}"[:300]
            if isinstance(error, ImportError):
                break
            guess.learn(last, where(error) or templates)
            continue
        folder = Path(plan["rows"]) / re.sub(r"\W", "_", entry["name"])
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for split, each in rows.items():
            each.to_parquet(str(folder / f"{split}.parquet"))
        return {**last_word(entry, config, plan, tokenizer, folder, list(rows)), "tried": tried}
    return {"name": entry["name"], "tried": tried, "error": last, "shapes": guess.shapes()}


def last_word(entry, config, plan, tokenizer, folder, splits):
    """Return everything about a task over the rows of files, as a first run of lm-eval would: maps are cached."""
    files = {split: str(folder / f"{split}.parquet") for split in splits}
    datasets.enable_caching()
    try:
        rows = datasets.load_dataset("parquet", data_files=files, cache_dir=str(folder / "cache"))
        again = load_yaml(entry["file"]) if forget(entry) else config
        for key in ("tag", "group", "task_list"):
            again.pop(key, None)
        again.setdefault("metadata", {"version": 0})
        result = attempt(again, rows, plan, tokenizer)
    finally:
        datasets.disable_caching()
    return {"name": entry["name"], "rows": str(folder), "splits": splits, **result}


def forget(entry):
    """Forget the helpers of a task, so that generators of their modules begin again; whether there were any."""
    files = set(entry["helpers"])
    gone = [name for name, module in sys.modules.items() if getattr(module, "__file__", None) in files]
    for name in gone:
        del sys.modules[name]
    return bool(gone)


def main():
    """Run the plan."""
    plan = json.loads(Path(sys.argv[1]).read_text())
    tokenizer = AutoTokenizer.from_pretrained(plan["tokenizer"])
    sys.stdout = io.StringIO()
    with open(sys.argv[2], "w") as out:
        for entry in plan["tasks"]:
            try:
                result = search(entry, plan, tokenizer)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001
                signal.setitimer(signal.ITIMER_PROF, 0)
                result = {"name": entry["name"], "error": f"{type(error).__name__}: {error}"[:300]}
            out.write(json.dumps(result, default=plain) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
