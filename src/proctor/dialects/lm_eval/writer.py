"""``results_*.json`` and ``samples_*.jsonl`` as lm-eval writes them, for leaderboards and notebooks that read them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.exam import task_of
from proctor.dialects.lm_eval.generation import generation_arguments
from proctor.dialects.lm_eval.gradings import TaskGrader
from proctor.dialects.lm_eval.groups import group_scores, scored_count
from proctor.dialects.lm_eval.names import ONLY
from proctor.dialects.lm_eval.prepared import PreparedTask
from proctor.dialects.lm_eval.task_pipelines import Scored
from proctor.dialects.lm_eval.tree import Group
from proctor.errors import OutputError, UsageError
from proctor.ir import Choose, Generate, Likelihood, Request, Rolling
from proctor.recipes.exam import Answered, Exam
from proctor.recipes.options import ExamOptions
from proctor.safe_files import subfolder, write_text, written
from proctor.scoring.grade import Grade
from proctor.scoring.score import Score
from proctor.scoring.standard_errors import NO_ERROR

Answers = Callable[[Exam], Iterable[Answered]]
"""Returns an exam's items with their responses, as often as it is asked."""


@dataclass(frozen=True, slots=True)
class ModelDescription:
    """What the results say about the model.

    Attributes:
        source: Kind of model: ``hf``, ``openai`` …
        name: Which one.
        arguments: How it was loaded.
        info: More keys of ``config``: ``batch_size``, ``device`` …
        seconds: How long the run took.
        started: Unix seconds.
        chat_template: The chat template, where one was applied.
    """

    source: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    info: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    started: float = 0.0
    chat_template: str | None = None


def write_files(
    output: str | Path,
    exams: Sequence[Exam],
    grades: Mapping[str, Grade],
    model: ModelDescription,
    answers: Answers | None = None,
) -> list[Path]:
    """Write the files of a run, and return their paths, the results first.

    Args:
        output: A folder, in which a folder with the model's name appears; or a name that ends in ``.json``.
        exams: The exams of the run.
        grades: Their grades by name.
        model: Who was asked.
        answers: What was answered; without it no samples are written.

    Raises:
        OutputError: A file cannot be written.
    """
    place = Path(output)
    stamp = datetime.now(UTC).replace(tzinfo=None).isoformat().replace(":", "-")
    named = place.suffix == ".json"
    folder = place.parent if named else place / (sanitized(model.name).strip(".") or "model")
    hashes: dict[str, str] = {}
    paths: list[Path] = []
    try:
        subfolder(place.parent if named else place, *([] if named else [folder.name]))
        if answers is not None:
            for exam in exams:
                path = folder / f"samples_{sanitized(exam.name)}_{stamp}.jsonl"
                hashes[exam.name] = _write_samples(path, exam, partial(answers, exam))
                paths.append(path)
        path = folder / (f"{place.stem}_{stamp}.json" if named else f"results_{stamp}.json")
        document = {**results_document(exams, grades, model), "task_hashes": hashes}
        write_text(path, json.dumps(document, indent=2, default=_plain, ensure_ascii=False))
    except OSError as error:
        raise OutputError(f"the results cannot be written to {folder}", why=error.strerror or str(error)) from None
    return [path, *paths]


def _write_samples(path: Path, exam: Exam, answers: Callable[[], Iterable[Answered]]) -> str:
    digest = sha256()
    with written(path) as file:
        for sample in samples(exam, answers):
            digest.update((sample["doc_hash"] + sample["prompt_hash"] + sample["target_hash"]).encode())
            file.write(json.dumps(sample, default=_plain, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


# -- results ----------------------------------------------------------------------------------------------------------


def results_document(exams: Sequence[Exam], grades: Mapping[str, Grade], model: ModelDescription) -> dict[str, Any]:
    """Return what ``results_*.json`` holds."""
    groups = {each.name: each for exam in exams for each in exam.groups if isinstance(each, Group)}
    results = {exam.name: _task_row(exam, grades[exam.name]) for exam in exams}
    group_rows = {name: _group_row(group, grades) for name, group in groups.items() if group.metrics}
    tasks = {exam.name: _task(exam) for exam in exams}
    directions = {exam.name: _grader(exam).higher_is_better for exam in exams}
    versions = {name: task.config.version for name, task in tasks.items()}
    first = _task(exams[0]) if exams else None
    options = ExamOptions() if first is None else first.options
    return {
        "results": {**results, **{name: group_rows.get(name, _bare_row(group)) for name, group in groups.items()}},
        **({"groups": group_rows} if group_rows else {}),
        "group_subtasks": {name: [member.name for member in group.members] for name, group in groups.items()},
        "configs": {name: tasks[name].config.to_dict() for name in sorted(tasks)},
        "versions": dict(sorted({**_group_versions(groups), **versions}.items())),
        "n-shot": {name: tasks[name].num_fewshot for name in sorted(tasks)},
        "higher_is_better": dict(sorted(directions.items())),
        "n-samples": {
            name: {"original": len(task.documents.asked()), "effective": results[name]["sample_len"]}
            for name, task in tasks.items()
        },
        "config": {
            "model": model.source,
            "model_args": dict(model.arguments),
            **model.info,
            "limit": options.limit,
            "bootstrap_iters": None if first is None else first.resamples,
            "gen_kwargs": generation_arguments(options.decoding) or None,
            "fewshot_seed": None if first is None else first.seed,
        },
        "date": model.started,
        "model_source": model.source,
        "model_name": model.name,
        "model_name_sanitized": sanitized(model.name),
        "system_instruction": options.system_prompt,
        "system_instruction_sha": _digest_or_none(options.system_prompt),
        "fewshot_as_multiturn": None if first is None or first.chat is None else first.chat.multiturn,
        "chat_template": model.chat_template,
        "chat_template_sha": _digest_or_none(model.chat_template),
        "total_evaluation_time_seconds": str(model.seconds),
    }


def _task(exam: Exam) -> PreparedTask:
    found = task_of(exam)
    if found is None:
        raise UsageError(f"'{exam.name}' is not a task of lm-eval's, so it cannot be written as one")
    return found


def _grader(exam: Exam) -> TaskGrader:
    return exam.grader if isinstance(exam.grader, TaskGrader) else TaskGrader(_task(exam))


def _group_versions(groups: Mapping[str, Group]) -> dict[str, Any]:
    return {name: group.metadata.get("version", "N/A") for name, group in groups.items()}


def _task_row(exam: Exam, grade: Grade) -> dict[str, Any]:
    row = {
        "name": exam.name,
        "alias": str(_task(exam).config.task_alias or exam.name),
        "sample_len": scored_count(grade),
    }
    return {**row, **_cells(grade.table)}


def _cells(table: Iterable[Score]) -> dict[str, Any]:
    """Return scores and standard errors as lm-eval files them: the filter pipeline is always named."""
    cells: dict[str, Any] = {}
    for score in table:
        bare, pipeline = score.name.removesuffix(f",{score.grading}"), score.grading or ONLY
        cells[f"{bare},{pipeline}"] = score.value
        cells[f"{bare}_stderr,{pipeline}"] = NO_ERROR if score.stderr is None else score.stderr
    return cells


def _bare_row(group: Group) -> dict[str, Any]:
    return {"alias": group.alias or group.name, "name": group.name}


def _group_row(group: Group, grades: Mapping[str, Grade]) -> dict[str, Any]:
    found = group_scores(group, grades)
    return {**_bare_row(group), "sample_len": found.count, **_cells(found.table)}


# -- samples ----------------------------------------------------------------------------------------------------------


def samples(exam: Exam, answers: Callable[[], Iterable[Answered]]) -> Iterator[dict[str, Any]]:
    """Yield the lines of ``samples_*.jsonl``: one for each filter pipeline and document.

    Args:
        exam: The exam.
        answers: Returns its answers; they are passed once for each pipeline, and not kept.
    """
    task, grader = _task(exam), _grader(exam)
    for pipeline in grader.pipelines:
        for each, scored in grader.scored(pipeline, answers()):
            yield _sample(task, each, pipeline.name, scored)


def _sample(task: PreparedTask, answered: Answered, pipeline: str, scored: Scored) -> dict[str, Any]:
    doc = answered.question.instance
    is_usable = answered.question.failure is None
    target = str(task.view(doc).target) if is_usable else ""
    arguments = [each for request in answered.question.requests[:1] for each in request_arguments(request, task)]
    metrics = scored.values or {}
    document = json.dumps(doc, indent=2, default=_plain, ensure_ascii=False)
    sample = {
        "doc_id": answered.question.number,
        "doc": doc,
        "target": target,
        "arguments": {
            f"gen_args_{number}": {f"arg_{place}": part for place, part in enumerate(parts)}
            for number, parts in enumerate(arguments)
        },
        "resps": as_texts(scored.answers),
        "filtered_resps": as_texts(scored.filtered),
        "filter": pipeline,
        "metrics": list(metrics),
        "doc_hash": _digest(document),
        "prompt_hash": _digest(str(arguments[0][0]) if arguments else ""),
        "target_hash": _digest(target),
        **metrics,
    }
    if scored.failure is not None:
        sample["failure"] = {"kind": scored.failure.kind, "message": scored.failure.message}
    return sample


def request_arguments(request: Request, task: PreparedTask) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of the lm-eval requests that a request stands for."""
    if isinstance(request, Choose | Likelihood):
        for pair in request.pairs:
            yield _payload(pair.context.payload), pair.continuation
    elif isinstance(request, Generate):
        yield _payload(request.prompt.payload), task.config.generation_kwargs
    elif isinstance(request, Rolling):
        yield (request.text,)


def _payload(payload: Any) -> str:
    return payload if isinstance(payload, str) else json.dumps(list(payload), ensure_ascii=False)


def as_texts(value: Any) -> Any:
    """Return nested lists whose leaves are texts, as lm-eval files them."""
    return [as_texts(each) for each in value] if isinstance(value, list | tuple) else str(value)


def sanitized(name: str) -> str:
    """Return a model's name as part of a path."""
    return re.sub(r"[\"<>:/|\\?*\[\]]+", "__", name)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _digest_or_none(text: str | None) -> str | None:
    return None if text is None else _digest(text)


def _plain(value: Any) -> Any:
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "size", 2) == 1:
        return item()
    return list(value) if isinstance(value, set) else str(value)
