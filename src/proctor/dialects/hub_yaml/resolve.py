"""From what a user types to exams: the door of this dialect. ``hf/ORG/DATASET[/TASK][@REVISION]``, or a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from proctor.artifacts.effects_of import effects_of
from proctor.data.dataset_file import dataset_file
from proctor.dialects.hub_yaml import FILE, PREFIX, file_of
from proctor.dialects.hub_yaml.asker import HubAsker
from proctor.dialects.hub_yaml.config import HubTask
from proctor.dialects.hub_yaml.gradings import task_grader
from proctor.dialects.hub_yaml.honours import parts_of, task_honours
from proctor.dialects.hub_yaml.reader import read_tasks
from proctor.dialects.hub_yaml.rows import HubRows, dataset_of
from proctor.dialects.hub_yaml.scorers import HubScorer, MetricScorer
from proctor.dialects.hub_yaml.solvers import compiled
from proctor.effects import Author, Effect, author_of_file, written_by
from proctor.errors import ProctorError, UnknownArtifactError, UsageError, did_you_mean
from proctor.recipes.exam import Exam
from proctor.recipes.fingerprint import Definition
from proctor.recipes.metric_code import with_code
from proctor.recipes.options import ExamOptions
from proctor.recipes.repeats import repeated
from proctor.scoring.grading.grader import ExamGrader
from proctor.settings import settings

_PARTS = (2, 3)
"""``ORG/DATASET`` and ``ORG/DATASET/TASK``."""


def resolve_name(name: str, options: ExamOptions) -> list[Exam] | None:
    """Return the exams that a name means, ``None`` where it is not a name of this dialect.

    Raises:
        ProctorError: It is one, and cannot be built.
    """
    if name.startswith(PREFIX):
        return _of_hub(name, options)
    if (file := file_of(name)) is None:
        return None
    tasks = read_tasks(file, str(file.parent.resolve()))
    own = file.parent.resolve().name if file.name == FILE else file.stem
    return _exams(own, file, tasks, name.partition("::")[2], options)


def _of_hub(name: str, options: ExamOptions) -> list[Exam]:
    spec, _, revision = name.removeprefix(PREFIX).partition("@")
    parts = spec.split("/")
    if len(parts) not in _PARTS or not all(parts):
        raise UsageError(f"'{name}' names no dataset", hint="write hf/ORG/DATASET or hf/ORG/DATASET/TASK")
    dataset = "/".join(parts[:2])
    file = dataset_file(dataset, FILE, revision or None)
    tasks = read_tasks(file, dataset, revision or None)
    return _exams(f"{PREFIX}{dataset}", file, tasks, parts[2] if len(parts) > len(_PARTS) else "", options)


def _exams(own: str, file: Path, tasks: list[HubTask], wanted: str, options: ExamOptions) -> list[Exam]:
    chosen = [task for task in tasks if not wanted or task.id == wanted]
    if not chosen:
        ids = [task.id for task in tasks if task.id]
        hint = did_you_mean(wanted, ids) or f"there are {', '.join(ids)}"
        raise UnknownArtifactError(f"'{own}' has no task '{wanted}'", hint=hint)
    several = len(tasks) > 1
    return [exam_of(f"{own}/{task.id}" if several else own, task, file, options) for task in chosen]


def exam_of(name: str, task: HubTask, file: Path, options: ExamOptions | None = None) -> Exam:
    """Return a task as an exam.

    Args:
        name: The name under which results are filed.
        task: The task.
        file: Where it was read.
        options: What the run changes.

    Raises:
        ValidationError: With all problems of its solvers and scorers.
    """
    options = options or ExamOptions()
    if options.reduce:  # every epoch is graded by itself, and the reducers that were asked for make one score of them
        task = replace(task, epochs=1)
    elif options.repeats is not None:
        task = replace(task, epochs=options.repeats)
    writer = author_of_file(file)
    with written_by(writer):
        solvers = compiled(task.solvers, epochs=task.epochs)
        grader = task_grader(task, solvers.lettered, options.group_by, options.judge)
    exam = Exam(
        name=name,
        description=f"{' → '.join(each.name for each in task.solvers)} on {task.dataset}",
        dialect="hub_yaml",
        source={"dialect": "hub_yaml", "task": task.to_dict(), "options": _changed(options), **_idle(task)},
        rows=HubRows(task, writer, options.seed),
        asker=HubAsker(task, solvers, options.decode(solvers.decoding), options.system_prompt, options.seed),
        grader=grader.without_scorers() if options.predict_only else grader,
        options=options,
        honours=task_honours(task, options),
        effects=lambda: [*dataset_of(task, writer).effects(), *_judges(grader, writer)],
        define=lambda: _definition(task, grader),
        author=writer,
        clusters=task.clusters,
        own_seed=int(settings.seed) if task.shuffle_choices else None,
        own=task,
        parts=parts_of(task),
    )
    return repeated(exam, is_known_to_write=True) if options.reduce else exam


def _definition(task: HubTask, grader: object) -> Definition:
    """Return how a task's answers are read (by its scorers) and scored."""
    values = task.to_dict()
    lettered = [each for each in values["solvers"] if each["name"] == "multiple_choice"]
    scorers = [scorer for each in getattr(grader, "gradings", ()) for scorer in each.scorers]
    made = with_code([values["scorers"], values["epoch_reducer"]])
    return Definition(extraction={"letters": lettered}, metrics=made, scorers=scorers)


def _idle(task: HubTask) -> dict[str, dict[str, str]]:
    """Return what a file says that has no effect here, by path with the reason; empty where all has."""
    found = {
        f"scorers[{number}].args.timeout": "formulas are bounded by their size, so that equal answers score alike on "
        "every machine"
        for number, each in enumerate(task.scorers)
        if each.name == "math" and "timeout" in each.args
    }
    return {"without_effect": found} if found else {}


def _changed(options: ExamOptions) -> dict[str, object]:
    given: dict[str, object] = {
        "system_prompt": options.system_prompt,
        "decoding": dict(options.decoding),
        "limit": options.limit,
    }
    given["reduce"] = list(options.reduce)
    return {key: value for key, value in given.items() if value}


def _judges(grader: ExamGrader, writer: Author) -> list[Effect]:
    """Return what asking the judges that a file names does."""
    found: list[Effect] = []
    for grading in grader.gradings:
        for scorer in grading.scorers:
            if isinstance(scorer, MetricScorer):
                found += effects_of(scorer.metric)
            if isinstance(scorer, HubScorer) and scorer.grader is not None and scorer.grader.models:
                try:
                    with written_by(writer):
                        found += [effect for each in scorer.grader.engines() for effect in effects_of(each)]
                except ProctorError:
                    continue  # the scorer's check says why it cannot be made
    return list(dict.fromkeys(found))
