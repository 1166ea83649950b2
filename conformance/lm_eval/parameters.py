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
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("parameters_oracle.py")
ROWS = 12
FEW = 20
ALL = ["writing", "picking", "pair", "continuing", "rolling", "never", "shots"]

UTILS = """
import random


def shuffled(dataset):
    rows = list(dataset)
    return dataset.add_column("drawn", [random.randint(0, 9) for _ in rows])


def with_metadata(**kwargs):
    import datasets
    row = {"q": str(kwargs.get("size", "none")), "a": "4"}
    return {"test": datasets.Dataset.from_list([row] * kwargs.get("size", 1))}


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
    drawing = {"until": ["\n"], "do_sample": True, "temperature": 0.7}
    yield "often", {**writing, "repeats": 3, "generation_kwargs": drawing,
        "filter_list": [{"name": "vote", "filter": [{"function": "majority_vote"}, {"function": "take_first"}]}],
        "metric_list": [{"metric": "exact_match"}]}  # fmt: skip
    choice = {"output_type": "multiple_choice", "doc_to_text": "{{q}}?", "doc_to_choice": ["0", "2", "44"],
              "doc_to_target": "{{label}}", "fewshot_split": "train"}  # fmt: skip
    yield "picking", {**choice, "description": "Pick one.\n", "tag": "choices",
                      "metric_list": [{"metric": "acc"}, {"metric": "acc_norm"}]}  # fmt: skip
    yield "corpus", {**choice, "metric_list": [{"metric": "mcc"}, {"metric": "f1"}, {"metric": "acc"}]}
    yield "pair", {**choice, "tag": "choices", "metric_list": [{"metric": "acc"}], "target_delimiter": "->"}
    yield "continuing", {"output_type": "loglikelihood", "doc_to_text": "{{q}}", "doc_to_target": "{{a}}",
                         "fewshot_split": "train",
                         "metric_list": [{"metric": "acc"}]}  # fmt: skip
    yield "rolling", {"output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "{{q}} is {{a}}",
                      "metric_list": [{"metric": "word_perplexity"}]}  # fmt: skip
    yield "drawn", {**writing, "doc_to_text": "{{q}} {{drawn}}", "process_docs": "!function utils.shuffled",
                    "fewshot_split": "test"}  # fmt: skip
    yield "never", {**writing, "num_fewshot": 0}
    yield "shots", {**writing, "num_fewshot": 2, "fewshot_config": {"sampler": "first_n"}}
    yield "translating", {**writing, "metric_list": [{"metric": "bleu"}, {"metric": "chrf"}]}
    yield (
        "sized",
        {**writing, "custom_dataset": "!function utils.with_metadata", "metric_list": [{"metric": "exact_match"}]},
    )
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


Case = tuple[str, dict[str, Any]]


def call(name: str, tasks: Any = ALL, model: str = "recorder", **arguments: Any) -> Case:
    """Return a call of ``simple_evaluate``."""
    given = {"bootstrap_iters": FEW, **arguments}  # its own number of resamples takes minutes
    return name, {"tasks": tasks, "model": model, "arguments": given}


def cases() -> Iterator[Case]:
    """Yield a name and a case for every parameter, and for what belongs together."""
    yield from _of_tasks_and_models()
    yield from _of_documents()
    yield from _of_seeds_and_generation()
    yield from _of_switches()
    yield from _of_prompts()
    yield from _of_evaluate()


def _of_tasks_and_models() -> Iterator[Case]:
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
    named = {"tasks": ["pair"], "model": "name:recorder"}
    yield "model by name and arguments", {**named, "arguments": {"model_args": "bonus=3", "batch_size": 4}}
    more = {"device": "cpu", "max_batch_size": 8}
    yield "model_args as a mapping", {**named, "arguments": {"model_args": {"bonus": 3}, **more}}
    yield "batch_size auto", {"tasks": ["pair"], "model": "name:recorder", "arguments": {"batch_size": "auto:2"}}
    yield "model that does not exist", {"tasks": ["pair"], "model": "name:nobody", "arguments": {}}
    yield call("tokens", ["picking", "continuing", "writing"], model="tokens")
    yield call("a model that is none", ["pair"], model="text")


def _of_documents() -> Iterator[Case]:
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


def _of_seeds_and_generation() -> Iterator[Case]:
    for seed in (0, 7, 1234, None):
        yield call(f"fewshot_random_seed {seed}", num_fewshot=3, fewshot_random_seed=seed)
        yield call(f"random_seed {seed}", ["drawn"], random_seed=seed)
    yield call("numpy_random_seed", ["drawn", "writing"], numpy_random_seed=3)
    yield call("torch_random_seed", ["drawn", "writing"], torch_random_seed=3)
    for text in (
        "temperature=0.5",
        "temperature=0.5,do_sample=true",
        "max_gen_toks=7",
        "top_p=0.3,top_k=5,do_sample=True",
    ):
        yield call(f"gen_kwargs {text}", ["writing", "often"], gen_kwargs=text)
    yield call("gen_kwargs until", ["writing"], gen_kwargs={"until": ["Q:", "\n\n"]})
    yield call("gen_kwargs own", ["writing"], gen_kwargs={"repetition_penalty": 1.2, "num_beams": 2})
    yield call("gen_kwargs empty", ["writing"], gen_kwargs={})
    yield call("gen_kwargs not of choices", ["picking"], gen_kwargs="temperature=0.9")


def _of_switches() -> Iterator[Case]:
    yield call("predict_only", ["writing", "picking"], predict_only=True)
    yield call("predict_only without samples", ["writing"], predict_only=True, log_samples=False)
    yield call("log_samples off", ["writing", "picking"], log_samples=False)
    yield call("confirm_run_unsafe_code missing", ["unsafe"])
    yield call("confirm_run_unsafe_code", ["unsafe"], confirm_run_unsafe_code=True)
    for word in ("cache_requests", "rewrite_requests_cache", "delete_requests_cache", "write_out"):
        yield call(word, ["writing"], **{word: True})
    yield call("verbosity", ["writing"], verbosity="ERROR")
    yield "use_cache", {"tasks": ["writing", "picking"], "times": 2, "model": "recorder",
                        "arguments": {"use_cache": "kept"}}  # fmt: skip
    yield "use_cache when drawing", {"tasks": ["often"], "times": 2, "model": "recorder",
                                     "arguments": {"use_cache": "kept-too"}}  # fmt: skip
    yield call("metadata", ["sized"], metadata={"size": 3})
    yield call("no metadata", ["sized"])


def _of_prompts() -> Iterator[Case]:
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
    yield call("num_fewshot with a group", ["outer"], num_fewshot=1, limit=3)


def _of_evaluate() -> Iterator[Case]:
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


EXPLAINED: tuple[tuple[str, str, str], ...] = (
    ("error", "a pattern", "patterns are names here, too"),
    ("error", "own metrics", "an aggregation that is left out is the mean here, and an error there"),
    ("error", "bootstrap_iters *", "f1 of three classes fails alone, and is logged; there it ends the run"),
    ("error", "*unsafe*", "PROCTOR_TRUST_CODE=1 confirms, as it does everywhere here; the code runs in a prison"),
    ("error", "evaluate nested*", "groups in groups, in the form before 0.4.12, are an error there"),
    ("error", "an unknown task", "another class of error"),
    ("error", "samples out of range", "another class of error"),
    ("*drawn*", "*", "code of tasks draws by content, in one pass: passes over it there draw on"),
    ("asked", "random_seed *", "code of tasks draws by content, in one pass: passes over it there draw on"),
    ("asked", "numpy_random_seed", "code of tasks draws by content, in one pass: passes over it there draw on"),
    ("asked", "torch_random_seed", "code of tasks draws by content, in one pass: passes over it there draw on"),
    ("*", "fewshot_random_seed None", "draws from lm-eval's default, because no two runs would be alike"),
    ("*", "random_seed None", "draws from lm-eval's default, because no two runs would be alike"),
    ("*do_sample", "gen_kwargs temperature=0.5", "who gives a temperature wants it"),
    ("asked", "gen_kwargs temperature=0.5", "who gives a temperature wants it"),
    ("higher_is_better/outer*", "*", "directions pass through groups in groups"),
    ("config", "evaluate*", "evaluate tells its configuration, too"),
    ("configs/*/num_fewshot", "evaluate*", "no demos are 0 demos"),
    ("samples/writing/*/doc_id", "samples", "there the number is that of the argument's order, of another document"),
    ("*/process_results", "predict_only*", "nothing takes the place of what would score"),
    ("*picking/*", "predict_only", "documents that were asked are counted"),
    ("asked fewer", "use_cache when drawing", "what was drawn is kept, too: the log is the cache"),
    ("asked fewer", "*", "equal requests are asked once"),
    ("configs/sized/custom_dataset", "*", "functions are filed by their names"),
    ("config/model_args", "model by name*", "arguments are filed as a mapping, without keys"),
    ("config/model_args", "batch_size auto", "no arguments are None"),
    ("config/gen_kwargs", "gen_kwargs empty", "nothing is nothing"),
    ("group_subtasks/*", "*", "tasks without a group are listed, as in files of results"),
)
"""Differences that are meant: what differs, in which case, and why."""

NOT_COMPARED = frozenset(
    (
        *("date", "git_hash", "pretty_env_info", "transformers_version", "lm_eval_version", "upper_git_hash"),
        *("chat_template", "chat_template_sha", "fewshot_as_multiturn", "system_instruction", "system_instruction_sha"),
        *("model_name", "model_name_sanitized", "model_source", "total_evaluation_time_seconds", "use_cache"),
    )
)
"""Of a run, or there only with a tracker."""


def same(left: Any, right: Any) -> bool:
    """Return whether two values of JSON are equal; numbers to 1e-9."""
    if isinstance(left, float | int) and isinstance(right, float | int) and type(left) is not bool:
        return math.isclose(left, right, rel_tol=1e-9) or (math.isnan(left) and math.isnan(right))
    return bool(left == right)


def differences(path: str, left: Any, right: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield where two values of JSON differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted((left.keys() | right.keys()) - NOT_COMPARED):
            inner = f"{path}/{key}" if path else key
            yield from differences(inner, left.get(key, "absent"), right.get(key, "absent"))
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for place, pair in enumerate(zip(left, right, strict=True)):
            yield from differences(f"{path}/{place}", *pair)
    elif not same(left, right):
        yield path, left, right


def compared(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield where the answers to a case differ: requests (in any order), scores and samples, errors."""
    asked = [Counter(json.dumps(each, sort_keys=True) for each in side["asked"] or ()) for side in (theirs, ours)]
    both = list(zip(theirs["rounds"], ours["rounds"], strict=True))
    failed = [("error" in left, "error" in right) for left, right in both]
    if asked[0].keys() != asked[1].keys() and not any(map(any, failed)):
        yield "asked", sorted(asked[0].keys() - asked[1].keys())[:1], sorted(asked[1].keys() - asked[0].keys())[:1]
    elif asked[0] != asked[1] and not any(map(any, failed)):
        fewer = asked[1].total() < asked[0].total()
        yield "asked fewer" if fewer else "asked more", asked[0].total(), asked[1].total()
    yield from differences("made", theirs["made"], ours["made"])
    for left, right in both:
        if "error" in left or "error" in right:
            if not set(left.get("error", ())[:1]) & set(right.get("error", ("",))):
                yield "error", left.get("said"), right.get("said")
            continue
        yield from differences("", left, right)


def reason(path: str, case: str) -> str:
    """Return why a difference is meant; nothing where it is not."""
    return next((why for where, of, why in EXPLAINED if fnmatchcase(path, where) and fnmatchcase(case, of)), "")


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
    asked, kept = folder / "cases.json", folder / "theirs.json"
    if kept.is_file():
        theirs = json.loads(kept.read_text(encoding="utf-8"))
    else:
        theirs = run([str(args.lm_python)], asked, folder, "theirs", {})
    ours = run([sys.executable, "-m", "proctor.compat"], asked, folder, "ours", {"PROCTOR_TRUST_CODE": "1"})
    left_over, meant = 0, Counter[str]()
    for name in listed:
        for path, left, right in compared(theirs[name], ours[name]):
            if why := reason(path, name):
                meant[why] += 1
                continue
            left_over += 1
            print(f"{name}: {path}\n    lm-eval {str(left)[:200]}\n    Proctor {str(right)[:200]}")
    for why, count in meant.most_common():
        print(f"{count:5} explained: {why}")
    print(f"{len(listed)} calls, {meant.total()} explained differences, {left_over} unexplained")
    return int(left_over > 0)


if __name__ == "__main__":
    sys.exit(main())
