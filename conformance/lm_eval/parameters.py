"""Every parameter of ``simple_evaluate`` and ``evaluate``: one program, run by lm-eval and by Proctor.

Run ``python -m conformance.lm_eval.parameters --lm-python ENV/bin/python``. ENV has lm_eval 0.4.13 installed.
Compares what a model of the program's own is asked (prompts, continuations, arguments of generation), scores, standard
errors, samples, and what is refused. Prints every case that differs; exits with 1 where there is one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("parameters_program.py")
ROWS = 12
FEW = 20
ALL = ["writing", "picking", "pair", "continuing", "rolling", "drawn", "never", "shots"]

UTILS = """
import random


def shuffled(dataset):
    rows = list(dataset)
    return dataset.add_column("drawn", [random.randint(0, 9) for _ in rows])


def with_metadata(**kwargs):
    import datasets
    return {"test": datasets.Dataset.from_list([{"q": str(kwargs.get("size", "none")), "a": "4"}] * kwargs.get("size", 1))}


def scored(doc, results):
    return {"length": len(results[0]), "right": float(results[0].strip() == doc["a"])}
"""
"""Code of the tasks."""


def tasks() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the task files."""
    writing = {
        "doc_to_text": "Q: {{q}}\nA:", "doc_to_target": "{{a}}", "fewshot_split": "train",
        "generation_kwargs": {"until": ["\n"], "do_sample": False, "max_gen_toks": 20},
    }  # fmt: skip
    yield "writing", {**writing, "filter_list": [
        {"name": "strict", "filter": [{"function": "take_first"}]},
        {"name": "number", "filter": [{"function": "regex", "regex_pattern": "(\\d+)"}, {"function": "take_first"}]},
    ], "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}]}  # fmt: skip
    yield "often", {**writing, "repeats": 3, "generation_kwargs": {"until": ["\n"], "do_sample": True, "temperature": 0.7},
        "filter_list": [{"name": "vote", "filter": [{"function": "majority_vote"}, {"function": "take_first"}]}],
        "metric_list": [{"metric": "exact_match"}]}  # fmt: skip
    choice = {"output_type": "multiple_choice", "doc_to_text": "{{q}}?", "doc_to_choice": ["0", "2", "44"],
              "doc_to_target": "{{label}}", "fewshot_split": "train"}  # fmt: skip
    yield "picking", {**choice, "description": "Pick one.\n", "tag": "choices",
                      "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]}  # fmt: skip
    yield "corpus", {**choice, "metric_list": [{"metric": "mcc"}, {"metric": "f1"}, {"metric": "acc"}]}
    yield "pair", {**choice, "tag": "choices", "metric_list": [{"metric": "acc"}], "target_delimiter": "->"}
    yield "continuing", {"output_type": "loglikelihood", "doc_to_text": "{{q}}", "doc_to_target": "{{a}}",
                         "metric_list": [{"metric": "acc"}]}  # fmt: skip
    yield "rolling", {"output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "{{q}} is {{a}}",
                      "metric_list": [{"metric": "word_perplexity"}]}  # fmt: skip
    yield "drawn", {**writing, "doc_to_text": "{{q}} {{drawn}}", "process_docs": "!function utils.shuffled",
                    "fewshot_split": "test"}  # fmt: skip
    yield "never", {**writing, "num_fewshot": 0}
    yield "shots", {**writing, "num_fewshot": 2, "fewshot_config": {"sampler": "first_n"}}
    yield "translating", {**writing, "metric_list": [{"metric": "bleu"}, {"metric": "chrf"}]}
    yield "sized", {**writing, "custom_dataset": "!function utils.with_metadata", "metric_list": [{"metric": "exact_match"}]}
    yield "own", {**writing, "process_results": "!function utils.scored",
                  "metric_list": [{"metric": "length"}, {"metric": "right"}]}  # fmt: skip
    yield "unsafe", {**writing, "unsafe_code": True}
    yield "prefixed", {**writing, "gen_prefix": "It is", "num_fewshot": 1}


def groups() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the group files."""
    mean = {"metric": "acc", "aggregation": "mean", "weight_by_size": True}
    yield "both", {"task": ["picking", "pair"], "aggregate_metric_list": [mean]}
    yield "outer", {"task": ["both", "writing"], "group_alias": "Outer"}


def write(folder: Path) -> None:
    """Write tasks and rows."""
    for split, start in (("test", 0), ("train", 100)):
        rows = [
            {"q": f"{n}+{n % 5}", "a": str(n + n % 5 if n % 3 else 4), "label": n % 3}
            for n in range(start, start + ROWS)
        ]
        (folder / f"{split}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    data = {split: str(folder / f"{split}.jsonl") for split in ("test", "train")}
    (folder / "utils.py").write_text(UTILS, encoding="utf-8")
    for name, values in tasks():
        source = {} if "custom_dataset" in values else {"dataset_path": "json", "dataset_kwargs": {"data_files": data}}
        task = {"task": name, "test_split": "test", **source, **values}
        if "custom_dataset" in values:
            task.pop("fewshot_split", None)
        (folder / f"{name}.yaml").write_text(_yaml(task), encoding="utf-8")
    for name, values in groups():
        (folder / f"{name}.yaml").write_text(_yaml({"group": name, **values}), encoding="utf-8")


def _yaml(values: Mapping[str, Any]) -> str:
    """Return JSON, which YAML is, with functions as tags."""
    lines = (
        f"{key}: {value}" if str(value).startswith("!function") else f"{key}: {json.dumps(value)}"
        for key, value in values.items()
    )
    return "\n".join(lines) + "\n"


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a name and a case for every parameter, and for what belongs together."""
    def call(name: str, tasks: Any = ALL, model: str = "recorder", **arguments: Any) -> tuple[str, dict[str, Any]]:
        given = {"bootstrap_iters": FEW, **arguments}  # its own number of resamples takes minutes
        return name, {"tasks": tasks, "model": model, "arguments": given}

    yield call("nothing")
    yield call("tasks as one list with a group", ["outer"])
    yield call("a tag", ["choices"])
    yield call("a pattern", ["pick*"])
    yield call("no tasks", [])
    yield call("an unknown task", ["nobody"])
    yield call("a task twice", ["pair", "pair"])
    yield call("repeats", ["often"])
    yield call("own metrics", ["own"])
    yield call("prefix of answers", ["prefixed"])
    yield "model by name and arguments", {
        "tasks": ["pair"], "model": "name:recorder", "arguments": {"model_args": "bonus=3", "batch_size": 4}}  # fmt: skip
    yield "model_args as a mapping", {"tasks": ["pair"], "model": "name:recorder",
                                      "arguments": {"model_args": {"bonus": 3}, "device": "cpu", "max_batch_size": 8}}  # fmt: skip
    yield "batch_size auto", {"tasks": ["pair"], "model": "name:recorder", "arguments": {"batch_size": "auto:2"}}
    yield "model that does not exist", {"tasks": ["pair"], "model": "name:nobody", "arguments": {}}
    yield call("tokens", ["picking", "continuing", "writing"], model="tokens")
    for shots in (0, 1, 3, 50):
        yield call(f"num_fewshot {shots}", num_fewshot=shots)
    for limit in (0, 1, 5, 0.25, 0.0001, 0.999, 1.0, 2.7, 100):
        yield call(f"limit {limit}", ["writing", "picking"], limit=limit)
    yield call("limit and num_fewshot", limit=4, num_fewshot=2)
    yield call("samples", ["writing", "picking"], samples={"writing": [3, 1, 7], "picking": [0]})
    yield call("samples of one task only", ["writing", "picking"], samples={"writing": [2]})
    yield call("samples out of range", ["writing"], samples={"writing": [400]})
    yield call("samples twice", ["writing"], samples={"writing": [2, 2]})
    yield call("samples with shots", ["writing"], samples={"writing": [2, 5]}, num_fewshot=2)
    yield call("limit and samples", ["writing"], samples={"writing": [2]}, limit=3)
    for count in (0, 10, 100):
        yield call(f"bootstrap_iters {count}", ["corpus", "translating"], bootstrap_iters=count)
    for seed in (0, 7, 1234, None):
        yield call(f"fewshot_random_seed {seed}", num_fewshot=3, fewshot_random_seed=seed)
        yield call(f"random_seed {seed}", ["drawn"], random_seed=seed)
    yield call("numpy_random_seed", ["drawn", "writing"], numpy_random_seed=3)
    yield call("torch_random_seed", ["drawn", "writing"], torch_random_seed=3)
    for text in ("temperature=0.5", "temperature=0.5,do_sample=true", "max_gen_toks=7", "top_p=0.3,top_k=5,do_sample=True"):
        yield call(f"gen_kwargs {text}", ["writing", "often"], gen_kwargs=text)
    yield call("gen_kwargs until", ["writing"], gen_kwargs={"until": ["Q:", "\n\n"]})
    yield call("gen_kwargs own", ["writing"], gen_kwargs={"repetition_penalty": 1.2, "num_beams": 2})
    yield call("gen_kwargs empty", ["writing"], gen_kwargs={})
    yield call("gen_kwargs not of choices", ["picking"], gen_kwargs="temperature=0.9")
    yield call("predict_only", ["writing", "picking"], predict_only=True)
    yield call("predict_only without samples", ["writing"], predict_only=True, log_samples=False)
    yield call("log_samples off", ["writing", "picking"], log_samples=False)
    yield call("confirm_run_unsafe_code missing", ["unsafe"])
    yield call("confirm_run_unsafe_code", ["unsafe"], confirm_run_unsafe_code=True)
    for word in ("cache_requests", "rewrite_requests_cache", "delete_requests_cache", "write_out"):
        yield call(word, ["writing"], **{word: True})
    yield call("verbosity", ["writing"], verbosity="ERROR")
    for system in ("You are brief.", "", "Line one.\n\nLine two."):
        yield call(f"system_instruction {system!r}", system_instruction=system, num_fewshot=1)
        yield call(f"system_instruction {system!r} in a chat", system_instruction=system, num_fewshot=2,
                   apply_chat_template=True)  # fmt: skip
    for template in (True, "named"):
        for turns in (True, False):
            yield call(f"apply_chat_template {template}, fewshot_as_multiturn {turns}", apply_chat_template=template,
                       fewshot_as_multiturn=turns, num_fewshot=2)  # fmt: skip
        yield call(f"apply_chat_template {template} with prefix", ["prefixed"], apply_chat_template=template)
    yield call("fewshot_as_multiturn alone", fewshot_as_multiturn=True, num_fewshot=2)
    yield "use_cache", {"tasks": ["writing", "picking"], "times": 2, "model": "recorder",
                        "arguments": {"use_cache": "kept"}}  # fmt: skip
    yield "use_cache when drawing", {"tasks": ["often"], "times": 2, "model": "recorder",
                                     "arguments": {"use_cache": "kept-too"}}  # fmt: skip
    yield call("metadata", ["sized"], metadata={"size": 3})
    yield call("no metadata", ["sized"])
    yield call("num_fewshot with a group", ["outer"], num_fewshot=1, limit=3)
    yield call("a model that is none", ["pair"], model="text")
    yield from _of_evaluate()


def _of_evaluate() -> Iterator[tuple[str, dict[str, Any]]]:
    for nested in (False, True):
        for name, arguments in (
            ("nothing", {}),
            ("limit", {"limit": 3}),
            ("samples", {"samples": {"writing": [1, 4], "picking": [2], "pair": [0]}}),
            ("limit and samples", {"samples": {"writing": [1]}, "limit": 2}),
            ("bootstrap_iters", {"bootstrap_iters": 0}),
            ("bootstrap_iters none", {"bootstrap_iters": None}),
            ("log_samples", {"log_samples": False}),
            ("system_instruction", {"system_instruction": "Be brief."}),
            ("apply_chat_template", {"apply_chat_template": True}),
            ("apply_chat_template named", {"apply_chat_template": "named", "fewshot_as_multiturn": True}),
            ("write_out", {"write_out": True, "verbosity": "INFO"}),
            ("caches", {"cache_requests": False, "rewrite_requests_cache": False}),
        ):
            yield f"evaluate{' nested' if nested else ''}: {name}", {
                "tasks": ["outer", "shots"], "model": "recorder", "arguments": arguments, "function": "evaluate",
                "nested": nested}  # fmt: skip
    yield "evaluate: unsafe", {"tasks": ["unsafe"], "model": "recorder", "arguments": {}, "function": "evaluate"}
    yield "evaluate: unsafe, confirmed", {"tasks": ["unsafe"], "model": "recorder", "function": "evaluate",
                                          "arguments": {"confirm_run_unsafe_code": True}}  # fmt: skip


def run(python: list[str], case_file: Path, folder: Path, name: str, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return what one of both answers.

    Raises:
        SystemExit: The program does not run.
    """
    out, own = folder / f"{name}.json", folder / name
    own.mkdir()
    done = subprocess.run(
        [*python, str(PROGRAM), str(case_file), str(out), str(folder / "tasks")],
        capture_output=True, text=True, check=False, cwd=own,
        env={**os.environ, **variables, "CASE_FOLDER": str(own), "HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1",
             "DISABLE_MULTIPROC": "1"},
    )  # fmt: skip
    (folder / f"{name}.log").write_text(done.stdout + done.stderr, encoding="utf-8")
    if not out.is_file():
        raise SystemExit(f"{name}: {done.stderr[-3000:]}")
    found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return found


def same(left: Any, right: Any) -> bool:
    """Return whether two values of JSON are equal; numbers to 1e-9."""
    if isinstance(left, float | int) and isinstance(right, float | int) and type(left) is not bool:
        return left == right or math.isclose(left, right, rel_tol=1e-9) or (left != left and right != right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def main() -> int:
    """Compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm-python", type=Path, required=True)
    parser.add_argument("--keep", type=Path, help="a folder for what both answered")
    args = parser.parse_args()
    folder = args.keep or Path(tempfile.mkdtemp(prefix="proctor-parameters-"))
    (folder / "tasks").mkdir(parents=True, exist_ok=True)
    write(folder / "tasks")
    listed = dict(cases())
    (folder / "cases.json").write_text(json.dumps(listed), encoding="utf-8")
    kept = folder / "theirs.json"
    theirs = json.loads(kept.read_text(encoding="utf-8")) if kept.is_file() else run([str(args.lm_python)], folder / "cases.json", folder, "theirs", {})
    ours = run([sys.executable, "-m", "proctor.compat"], folder / "cases.json", folder, "ours", {"PROCTOR_TRUST_CODE": "1"})
    print(len(theirs), len(ours))
    return 0


if __name__ == "__main__":
    sys.exit(main())
