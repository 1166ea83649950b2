"""``proctor convert`` on real tasks: prompts before and after, instances in a Unitxt card, and the card back again.

Run ``python -m conformance.lm_eval.conversions --tasks FOLDER --hub FOLDER``: the tasks of lm-eval (or of an installed
package) whose dataset is in the folder of datasets, a few of each kind of prompt. For each it compares

- ``task@template`` with ``convert --template … --to lm-eval`` and ``--to proctor``, for every template: requests;
- the task with ``convert --to card``: question, choices and answer of each instance, where the card says that it
  keeps them, and the recipe of that card with the task of three lines that runs it inside lm-eval: requests.

Prints counts and every difference; exits with 1 where there is one.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from proctor.data import hub
from proctor.dialects.lm_eval.exam import task_of
from proctor.dialects.lm_eval.index import build_index
from proctor.dialects.lm_eval.reader import TaskReader
from proctor.dialects.lm_eval.resolve import resolve
from proctor.dialects.lm_eval.rewrite import convert
from proctor.dialects.resolve import resolve_tasks
from proctor.errors import ProctorError, TemplateError
from proctor.ir import Choose, Generate
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

TEMPLATES = (
    "mmlu",
    "cloze",
    "generate_until",
    "mcq::mmlu",
    "mcq::gpqa",
    "mcq::numbered",
    "cloze::options",
    "cloze::pure",
)
OF_A_KIND = 6
"""Tasks with choices of one kind that are compared; of others, one."""


def real_tasks(folder: Path, most: int) -> Iterator[tuple[str, Path]]:
    """Yield name and file of tasks whose rows are here, a few of each way to make a prompt."""
    index, reader = build_index([folder], installed=False), TaskReader()
    seen: Counter[tuple[str, ...]] = Counter()
    for name, entry in index.entries.items():
        if entry.kind != "task" or seen.total() >= most:
            continue
        values = reader.read(entry.file).values
        place = hub.local_folder(str(values.get("dataset_path")))
        keys = ("dataset_path", "doc_to_text", "doc_to_choice", "doc_to_target", "output_type")
        kind = tuple(str(values.get(key)) for key in keys)
        split = values.get("test_split") or values.get("validation_split")
        alike = OF_A_KIND if values.get("doc_to_choice") is not None else 1
        if place is None or seen[kind] >= alike or values.get("output_type", "").startswith("loglikelihood"):
            continue
        try:
            files = hub.mapped_files(place, hub.Dataset(str(values["dataset_path"]), name=values.get("dataset_name")))
        except ProctorError:
            continue
        if files is not None and split in files:
            seen[kind] += 1
            yield name, Path(entry.file)


def asked(spec: str, folders: list[str]) -> list[Any]:
    """Return the requests of an exam, as they can be compared."""
    (exam,) = resolve([spec], folders, ExamOptions(limit=4, num_demos=1))
    found: list[Any] = []
    for item in exam.questions():
        for request in item.requests:
            if isinstance(request, Choose):
                found.append([(pair.context.payload, pair.continuation) for pair in request.pairs])
            elif isinstance(request, Generate):
                found.append((request.prompt.payload, request.decoding.stop, request.decoding.max_tokens))
    return found


def beside(file: Path, work: Path) -> Path:
    """Return a folder that has the Python of a task's folder."""
    place = work / file.parent.name
    place.mkdir(exist_ok=True)
    for module in file.parent.glob("*.py"):
        if not (place / module.name).exists():
            (place / module.name).symlink_to(module)
    return place


def check_template(name: str, file: Path, template: str, work: Path, counts: Counter[str]) -> None:
    """Compare a task under a template with the two files that conversion writes."""
    try:
        native = asked(f"{name}@{template}", [str(file.parents[1])])
    except (ProctorError, RecursionError) as error:
        counts[f"template cannot be used: {str(error).splitlines()[0][:70]}"] += 1
        return
    for to in ("lm-eval", "proctor"):
        try:
            made = convert(name, template=template, to=to, include_paths=(str(file.parents[1]),))
        except TemplateError as error:
            counts[f"{to}: refused by name: {error.diagnostics[0].why or error.diagnostics[0].what}"[:90]] += 1
            continue
        place = beside(file, work) / f"converted_{to}.yaml"
        place.write_text(made.text, encoding="utf-8")
        try:
            after = asked(str(place), [])
        except ProctorError as error:
            after = [str(error)]
        if after == native:
            counts[f"{to}: equal requests"] += len(native)
            counts[f"{to}: equal"] += 1
        else:
            counts["different"] += 1
            pair = next(
                (pair for pair in zip(native, after, strict=False) if pair[0] != pair[1]), (native[:1], after[:1])
            )
            print(f"{name} @{template} --to {to}\n  before {pair[0]!r}\n  after  {pair[1]!r}\n  named  {made.lost}")


def check_card(name: str, file: Path, work: Path, counts: Counter[str]) -> None:
    """Compare a task's documents with the instances of its card, and the card with the task that runs it in lm-eval."""
    made = convert(name, to="card", include_paths=(str(file.parents[1]),))
    (exam,) = resolve([name], [str(file.parents[1])], ExamOptions(limit=4))
    named = {reason.partition(":")[0] for reason in made.lost}
    counts["card: converted"] += 1
    if "process_docs" in named or (task := task_of(exam)) is None:
        counts["card: documents are made by Python, which is named"] += 1
        return
    counts["card: fields that are named as lost"] += len(named & {"doc_to_text", "doc_to_choice", "doc_to_target"})
    if named & {"doc_to_text", "doc_to_choice", "doc_to_target"}:
        return
    place = work / f"{name}.json"
    place.write_text(made.text, encoding="utf-8")
    recipe = f"card={place},template_card_index=0,loader_limit=4"
    (of_card,) = resolve_tasks([recipe])
    back = work / f"{name}_back.yaml"
    back.write_text(convert(recipe, to="lm-eval").text, encoding="utf-8")
    (again,) = resolve_tasks([str(back)])
    rows = [(item.instance, item.requests[0].prompt.payload) for item in of_card.questions()]
    same = rows == [(item.instance, item.requests[0].prompt.payload) for item in again.questions()]
    counts["card and its task in lm-eval: equal" if same else "different"] += 1
    if not same:
        print(f"{name}: the card asks other things than the task of three lines")
    for (_, doc), (row, _) in zip(((item.number, item.instance) for item in exam.questions()), rows, strict=False):
        view = task.view(doc)
        choice = view.choices is not None
        expected = {"question": view.text, "choices": view.choices, "answer": view.target if choice else None}
        expected["answers"] = None if choice else [view.target]
        for field, value in expected.items():
            if value is None:
                continue
            equal = str(row.get(field)) == str(value)
            counts["card: equal fields" if equal else "different"] += 1
            if not equal:
                print(f"{name} card {field}: {value!r} there, {row.get(field)!r} here")


def main() -> None:
    """Convert, compare, print, and exit with 1 where something differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = "/tmp/lmvenv/lib/python3.11/site-packages/lm_eval/tasks"  # noqa: S108 - a place to try
    parser.add_argument("--tasks", type=Path, default=Path(default))
    parser.add_argument("--hub", default=str(Path(__file__).resolve().parents[3] / "shared" / "data" / "hub"))
    parser.add_argument("--most", type=int, default=80)
    arguments = parser.parse_args()
    settings.hub_dir, settings.trust_code = arguments.hub, True
    os.environ["HF_HUB_OFFLINE"] = "1"
    sys.path.append(str(arguments.tasks.parents[1]))  # functions of tasks import lm-eval
    work = Path(tempfile.mkdtemp())
    counts: Counter[str] = Counter()
    for name, file in real_tasks(arguments.tasks, arguments.most):
        counts["tasks"] += 1
        values = TaskReader().read(str(file)).values
        if values.get("doc_to_choice") is not None:
            counts["tasks with choices"] += 1
            for template in TEMPLATES:
                check_template(name, file, template, work, counts)
        try:
            check_card(name, file, work, counts)
        except ProctorError as error:
            counts[f"card: {str(error).splitlines()[0][:70]}"] += 1
    for what, number in sorted(counts.items()):
        print(f"{number:6}  {what}")
    sys.exit(int(bool(counts["different"])))


if __name__ == "__main__":
    main()
