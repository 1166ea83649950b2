"""Tasks with Python helpers, over rows made up for them: requests, values of documents, scores, standard errors.

Usage: ``python -m conformance.lm_eval.helper_tasks [--only GLOB] [--work DIR] [--keep] [--per-helper N]``. Needs an
environment with lm_eval 0.4.13 (``LM_EVAL_PYTHON``). lm-eval's side makes up the rows, asks, invents answers and scores
them; this side reads the same rows from parquet files. Prints what differs, and counts; exits with 1 where one does.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import io
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import traceback
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance.explained import sentence
from conformance.lm_eval.compare import PYTHON, TASKS, described, tokenizer_folder

from proctor.dialects.lm_eval.checks import task_from_values
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.index import build_index
from proctor.dialects.lm_eval.prepared import PreparedTask
from proctor.dialects.lm_eval.reader import FunctionReference, TaskReader
from proctor.errors import ProctorError
from proctor.ir import Generate, Response, Rolling, Scored
from proctor.recipes.exam import Answered, Exam
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

LAYOUTS: list[dict[str, Any]] = [
    {"name": "own", "shots": None, "chat": None, "scored": True},
    {"name": "2-plain", "shots": 2, "chat": None},
    {"name": "1-multiturn", "shots": 1, "chat": "multiturn", "system": "Be brief."},
]
PROCESSES = 2
DIFFERENT = "DIFFERENT"
"""How counts begin of what is not equal."""


def references(value: Any) -> Iterator[FunctionReference]:
    """Yield every ``!function`` among the values of a task."""
    if isinstance(value, FunctionReference):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from references(part)


def helper_file(reference: FunctionReference) -> Path | None:
    """Return the file that a function stands in, where it stands beside the task."""
    file = reference.folder / (reference.name.rpartition(".")[0].replace(".", "/") + ".py")
    return file.resolve() if file.is_file() else None


def chosen_tasks(only: str, per_helper: int) -> list[dict[str, Any]]:
    """Return tasks that use every helper, equal helpers once, with as many of its functions as few tasks reach."""
    index, reader = build_index([TASKS], installed=False), TaskReader()
    users: dict[str, list[tuple[frozenset[str], dict[str, Any]]]] = defaultdict(list)
    digests: dict[Path, str] = {}
    for name, entry in index.entries.items():
        if entry.kind != "task" or not fnmatchcase(name, only):
            continue
        try:
            values = reader.read(entry.file).values
        except ProctorError:
            continue
        found = [(each, helper_file(each)) for each in references(dict(values))]
        files = sorted({file for _, file in found if file is not None})
        if not files or "class" in values:
            continue
        for file in files:
            digests.setdefault(file, hashlib.sha256(file.read_bytes()).hexdigest())
        key = " ".join(sorted(digests[file] for file in files))
        functions = frozenset(f"{each.name}" for each, _ in found) | {str(values.get("output_type"))}
        task = {
            "name": name,
            "file": entry.file,
            "helpers": [str(file) for file in files],
            "functions": sorted({each.name.rpartition(".")[2] for each, _ in found}),
        }
        users[key].append((functions, task))
    picked = []
    for tasks in users.values():
        seen: set[str] = set()
        for _ in range(per_helper):
            functions, task = max(tasks, key=lambda each: (len(each[0] - seen), each[1]["name"]))
            if not functions - seen:
                break
            seen |= functions
            picked.append(task)
    return sorted(picked, key=lambda each: str(each["name"]))


def ask_lm_eval(tasks: list[dict[str, Any]], plan: dict[str, Any], work: Path) -> None:
    """Let lm-eval make up rows and answers; what it writes goes to the work folder."""
    running = []
    for number in range(PROCESSES):
        plan_file = work / f"helper-plan-{number}.json"
        plan_file.write_text(json.dumps({**plan, "tasks": tasks[number::PROCESSES]}))
        script = Path(__file__).with_name("helper_oracle.py")
        command = [PYTHON, str(script), str(plan_file), str(work / f"helpers-{number}.jsonl")]
        running.append(subprocess.Popen(command, cwd=work))
    if any(each.wait() for each in running):
        raise SystemExit("lm-eval's side failed")


def ours(entry: dict[str, Any], theirs: dict[str, Any], plan: dict[str, Any]) -> Counter[str]:
    """Compare one task; print the first difference of each kind."""
    counts: Counter[str] = Counter()
    for layout in plan["layouts"]:
        expected = theirs["layouts"].get(layout["name"], {})
        label = f"{entry['name']} {layout['name']}"
        try:
            exam = exam_over_rows(entry, theirs, layout, plan)
            items = list(exam.questions())
        except ProctorError as error:
            if "error" in expected:
                counts["layouts that both refuse"] += 1
            else:
                counts[f"{DIFFERENT}: only we refuse"] += 1
                print(f"{label}: we refuse: {str(error)[:600]}")
            continue
        counts.update(compare_layout(exam, items, expected, label))
        if layout.get("scored") and not any(each.startswith(DIFFERENT) for each in counts):
            counts.update(compare_scores(exam, items, theirs))
    return counts


def exam_over_rows(entry: dict[str, Any], theirs: dict[str, Any], layout: dict[str, Any], plan: dict[str, Any]) -> Exam:
    """Return a task over the rows that lm-eval's side made up, in a layout."""
    source = TaskReader().read(entry["file"])
    values = {key: value for key, value in source.values.items() if key not in ("dataset_name", "dataset_kwargs")}
    if "custom_dataset" not in source.values:
        files = {split: f"{theirs['rows']}/{split}.parquet" for split in theirs["splits"]}
        values |= {"dataset_path": "parquet", "dataset_kwargs": {"data_files": files}}
    chat = bool(layout["chat"])
    options = ExamOptions(
        num_demos=layout["shots"],
        apply_chat_template=chat,
        chat_template_model=plan["tokenizer"] if chat else None,
        demos_as_turns=True if chat else None,
        system_prompt=layout.get("system"),
        resamples=plan["resamples"],
    )
    return task_exam(entry["name"], task_from_values(values, source), options)


def compare_layout(exam: Exam, items: list[Any], expected: dict[str, Any], label: str) -> Counter[str]:
    """Compare the requests of one layout."""
    failed = [item for item in items if item.failure is not None]
    if "error" in expected:
        if not failed:
            print(f"{label}: only lm-eval refuses: {expected['error'][:200]}")
        kind = "with failed rows there and here" if failed else "that only lm-eval refuses"
        return Counter({f"layouts {kind}": 1})
    wanted = [as_asked(arguments) for arguments, _ in expected["requests"]]
    last = (str(arguments[-1])[:12] for arguments, _ in expected["requests"])
    if exam.options.apply_chat_template and any("visual" in each or "audio" in each for each in last):
        return Counter({"layouts of pictures and sound in chats (laid out by the engine here): not compared": 1})
    made = json.loads(json.dumps([each for item in items for each in asked(item, exam)], default=plain))
    if made == wanted:
        return Counter({"layouts equal": 1, "requests equal": len(made)})
    if why := explained(exam):
        return Counter({f"layouts explained: {why}": 1})
    pair = next(((a, b) for a, b in zip(made, wanted, strict=False) if a != b), (len(made), len(wanted)))
    said = f" ({failed[0].failure})" if failed else ""
    print(f"{label}: requests{said}\n  ours   {pair[0]!r:.900}\n  theirs {pair[1]!r:.900}")
    return Counter({f"{DIFFERENT}: requests": 1})


def explained(exam: Exam) -> str:
    """Return why requests may differ on purpose; empty where they may not."""
    if fnmatchcase(exam.name, "gpqa_*n_shot"):
        return sentence("lm_eval/generator-of-a-module")
    task = exam.own
    assert isinstance(task, PreparedTask)
    draws_from_asked = task.config.fewshot.split is None and task.documents.pool_split == task.documents.eval_split
    return sentence("lm_eval/never-itself") if task.num_fewshot and draws_from_asked else ""


def asked(item: Any, exam: Exam) -> Iterator[list[Any]]:
    """Yield the requests of lm-eval's that a question of ours stands for, repeats once."""
    requests = item.requests[:1] if isinstance(item.requests[0], Generate) else item.requests
    for request in requests:
        for context, *rest in described(request, exam):
            pictures: list[str] = []
            yield [shown(context, pictures), *rest, *([{"visual": pictures}] if pictures else [])]


def shown(context: Any, pictures: list[str]) -> Any:
    """Return a context as lm-eval has it: one text, ``<image>`` where a picture stands; these are added to a list."""
    if not isinstance(context, list | tuple):
        return context
    parts = [part for message in context for part in content_of(message)]
    pictures += [digest_of(part["image_url"]["url"]) for part in parts if part["type"] == "image_url"]
    return "".join(_MARKS.get(part["type"]) or part.get("text", "") for part in parts)


_MARKS = {"image_url": "<image>", "audio_url": "<audio>"}
"""What stands in lm-eval's texts for a picture, and for sound."""


def content_of(message: Any) -> list[Any]:
    """Return the parts of a message."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def digest_of(url: str) -> str:
    """Return what lm-eval's side writes of a picture."""
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")
    return "picture " + hashlib.sha256(picture.tobytes()).hexdigest()[:16]


def as_asked(arguments: list[Any]) -> list[Any]:
    """Return a request of lm-eval's without an empty list of pictures, and without sound, which is not compared."""
    return [each for each in arguments if each != {"visual": []} and not (isinstance(each, dict) and "audio" in each)]


def plain(value: Any) -> Any:
    """Return a value of a library as JSON."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def compare_scores(exam: Exam, items: list[Any], theirs: dict[str, Any]) -> Counter[str]:
    """Grade lm-eval's invented answers; compare values of documents, scores and standard errors."""
    answers = iter(theirs["answers"])
    answered = [Answered(item, list(responses(item, answers))) for item in items]
    try:
        grade = exam.grade(answered)
    except ProctorError as error:
        print(exam.name, "cannot be graded:", str(error)[:300])
        return Counter({f"{DIFFERENT}: only we cannot grade": 1})
    counts: Counter[str] = Counter()
    why = [*list(grade.failures.items())[:1], *list(grade.metric_failures.items())[:1]]
    for key, expected in theirs["scores"].items():
        got = grade.scores.get(here(*key.partition(",")[::2]))
        counts["scores equal" if same(got, expected) else f"{DIFFERENT}: scores"] += 1
        if not same(got, expected):
            print(exam.name, key, "ours", repr(got)[:300], "theirs", repr(expected)[:300], str(why)[:300])
    for pipeline, documents in theirs["samples"].items():
        for metric in dict.fromkeys(name for document in documents for name in document):
            column = grade.instance_scores.get(here(metric, pipeline), [None] * len(documents))
            counts.update(compare_values(exam.name, metric, column, documents))
    return counts


def responses(item: Any, answers: Iterator[Any]) -> Iterator[Response]:
    """Yield lm-eval's answers to a question, as engines give them."""
    if isinstance(item.requests[0], Generate):
        texts = next(answers)
        yield from (Response(texts=(each,)) for each in texts[: len(item.requests)])
        return
    for request in item.requests:
        if isinstance(request, Rolling):
            yield Response(scores=(Scored(next(answers)[0]),))
        else:
            yield Response(scores=tuple(Scored(*next(answers)[0]) for _ in request.pairs))


def here(metric: str, pipeline: str) -> str:
    """Return what a score is called here."""
    return metric if pipeline in ("none", "") else f"{metric},{pipeline}"


def compare_values(name: str, metric: str, column: Sequence[Any], documents: list[dict[str, Any]]) -> Counter[str]:
    """Compare what each document has of a metric; print the first difference."""
    counts: Counter[str] = Counter()
    for place, document in enumerate(documents):
        got = json.loads(json.dumps(column[place], default=plain))
        if metric not in document or same(got, document[metric]):
            counts["values equal"] += 1
            continue
        counts[f"{DIFFERENT}: values"] += 1
        print(name, metric, place, "ours", repr(got)[:300], "theirs", repr(document[metric])[:300])
        break
    return counts


def same(got: Any, expected: Any) -> bool:
    """Whether two values are equal, numbers up to the last digits of a sum."""
    if isinstance(got, int | float) and isinstance(expected, int | float):
        return (math.isnan(got) and math.isnan(expected)) or math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(got, list | tuple) and isinstance(expected, list | tuple):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(got, dict) and isinstance(expected, dict):
        return got.keys() == expected.keys() and all(same(got[key], expected[key]) for key in got)
    return bool(got == expected)


def report(tasks: list[dict[str, Any]], plan: dict[str, Any], work: Path) -> int:
    """Compare with what lm-eval wrote down; print counts."""
    by_name = {entry["name"]: entry for entry in tasks}
    counts: Counter[str] = Counter()
    helpers: set[str] = set()
    for number in range(PROCESSES):
        for line in (work / f"helpers-{number}.jsonl").read_text().splitlines():
            theirs = json.loads(line)
            if theirs["name"] not in by_name:
                continue
            counts["tasks"] += 1
            if "error" in theirs:
                counts["tasks without rows"] += 1
                counts["no rows: " + re.sub(r"'[^']*'|\d+", "…", theirs["error"])[:60]] += 1
                continue
            entry = by_name[theirs["name"]]
            helpers.update(entry["helpers"])
            try:
                counts.update(ours(entry, theirs, plan))
            except Exception:  # noqa: BLE001 - a crash is a difference
                counts[f"{DIFFERENT}: crashed"] += 1
                print(entry["name"], "crashed:", traceback.format_exc()[-1500:])
    counts["helper files compared"] = len(helpers)
    for what, count in sorted(counts.items(), key=lambda each: (each[0].startswith("no rows"), -each[1])):
        print(f"{count:7}  {what}")
    return int(any(each.startswith(DIFFERENT) for each in counts))


def main() -> int:
    """Compare, print a summary, and return 1 where anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="*")
    parser.add_argument("--per-helper", type=int, default=2, help="tasks for each helper file")
    parser.add_argument("--seconds", type=float, default=12, help="for how long rows of a task are looked for")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "proctor-conformance" / "helpers")
    parser.add_argument("--keep", action="store_true", help="use what lm-eval answered last time")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    settings.trust_code = True
    os.environ["HF_ALLOW_CODE_EVAL"] = "1"
    tasks = chosen_tasks(args.only, args.per_helper)
    print(f"{len(tasks)} tasks chosen", flush=True)
    plan: dict[str, Any] = {
        "layouts": LAYOUTS,
        "resamples": 300,
        "tokenizer": str(tokenizer_folder(args.work.parent)),
        "seconds": args.seconds,
        "trials": 150,
        "rows": str(args.work / "rows"),
    }
    if not args.keep:
        ask_lm_eval(tasks, plan, args.work)
    return report(tasks, plan, args.work)


if __name__ == "__main__":
    sys.exit(main())
