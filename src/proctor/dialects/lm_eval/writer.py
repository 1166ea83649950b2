"""``results_*.json`` and ``samples_*.jsonl`` as lm-eval writes them, for leaderboards and notebooks that read them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.class_grader import ClassGrader, ClassScored
from proctor.dialects.lm_eval.exam import task_of
from proctor.dialects.lm_eval.names import ONLY
from proctor.dialects.lm_eval.prepared import PreparedTask
from proctor.dialects.lm_eval.results_file import (
    ModelDescription,
    digest,
    grader_of,
    number_or_none,
    results_document,
    sanitized,
    scale_of,
)
from proctor.dialects.lm_eval.task_pipelines import Scored
from proctor.errors import OutputError
from proctor.ir import Choose, Converse, Decoding, Failure, Generate, Likelihood, Prompt, Request, Response, Rolling
from proctor.recipes.exam import Answered, Exam
from proctor.safe_files import subfolder, write_text, written
from proctor.scoring.grades import Grade, score_column

Answers = Callable[[Exam], Iterable[Answered]]
"""Returns an exam's items with their responses, as often as it is asked."""
TextOf = Callable[[Any], Any]
"""Returns a prompt, a text or messages, as the arguments of a request have it."""


def write_files(
    output: str | Path,
    exams: Sequence[Exam],
    grades: Mapping[str, Grade],
    model: ModelDescription,
    answers: Answers | None = None,
    text_of: TextOf | None = None,
) -> list[Path]:
    """Write the files of a run, and return their paths, the results first.

    Args:
        output: A folder, in which a folder with the model's name appears; or a name that ends in ``.json``.
        exams: The exams of the run.
        grades: Their grades by name.
        model: Who was asked.
        answers: What was answered; without it no samples are written.
        text_of: Returns a prompt as it was asked; by default messages are JSON.

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
            for exam in [each for each in exams if each.name in grades]:
                path = folder / f"samples_{sanitized(exam.name)}_{stamp}.jsonl"
                lines = samples(exam, partial(answers, exam), grades[exam.name], text_of)
                hashes[exam.name] = _write_samples(path, lines)
                paths.append(path)
        path = folder / (f"{place.stem}_{stamp}.json" if named else f"results_{stamp}.json")
        document = {**results_document(exams, grades, model), "task_hashes": hashes}
        write_text(path, json.dumps(document, indent=2, default=_plain, ensure_ascii=False))
    except OSError as error:
        raise OutputError.unwritable(f"the results in {folder}", error) from None
    return [path, *paths]


def _write_samples(path: Path, listed: Iterable[Mapping[str, Any]]) -> str:
    hashes = sha256()
    with written(path) as file:
        for sample in map(filed, listed):
            hashes.update((sample["doc_hash"] + sample["prompt_hash"] + sample["target_hash"]).encode())
            file.write(json.dumps(sample, default=_plain, ensure_ascii=False).encode() + b"\n")
    return hashes.hexdigest()


# -- samples ----------------------------------------------------------------------------------------------------------


def samples(
    exam: Exam, answers: Callable[[], Iterable[Answered]], grade: Grade, text_of: TextOf | None = None
) -> Iterator[dict[str, Any]]:
    """Yield what ``samples_*.jsonl`` holds as programs see it: one for each filter pipeline and document.

    Arguments are tuples and answers are values there; :func:`filed` makes lines of files of them.

    Args:
        exam: The exam.
        answers: Returns its answers; they are passed once for each pipeline, and not kept.
        grade: What they scored; lines of exams that are not tasks of lm-eval's come from it.
        text_of: Returns a prompt as it was asked; by default messages are JSON.
    """
    task, text_of = task_of(exam), text_of or _payload
    if isinstance(exam.grader, ClassGrader):
        yield from map(_sample_of_class, exam.grader.scored(answers()))
        return
    if task is None:
        yield from samples_of_grade(grade, answers(), text_of)
        return
    grader = grader_of(exam, task)
    for pipeline in grader.pipelines:
        for each, scored in grader.scored(pipeline, answers()):
            yield _sample(task, each, pipeline.name, scored, text_of)


def _sample(task: PreparedTask, answered: Answered, pipeline: str, scored: Scored, text_of: TextOf) -> dict[str, Any]:
    is_usable = answered.question.failure is None
    target = task.view(answered.question.instance).target if is_usable else ""
    is_rolling = any(isinstance(request, Rolling) for request in answered.question.requests)
    arguments = [each for request in answered.question.requests[:1] for each in _arguments(request, text_of, task)]
    said = {
        "target": target,
        "resps": [_bare(each) for each in scored.answers] if is_rolling else scored.answers,
        "filtered_resps": _bare(scored.filtered) if is_rolling else scored.filtered,
        "filter": pipeline,
    }
    return _sample_of(answered, arguments, said, scored.values or {}, scored.failure)


def _sample_of_class(scored: ClassScored) -> dict[str, Any]:
    instances = scored.instances
    failure = scored.values if isinstance(scored.values, Failure) else None
    said = {
        "target": "" if scored.target is None else scored.target,
        "resps": [each.resps for each in instances],
        "filtered_resps": [each.filtered_resps[scored.pipeline] for each in instances],
        "filter": scored.pipeline,
    }
    metrics = {} if isinstance(scored.values, Failure) else scored.values
    line = _sample_of(scored.answered, [each.args for each in instances], said, metrics, failure)
    return {**line, "doc_id": scored.number}


def _bare(answers: Sequence[Any]) -> list[Any]:
    """Return likelihoods of whole texts, which are numbers alone in lm-eval."""
    return [each[0] if isinstance(each, list | tuple) else each for each in answers]


def filed(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return a sample as its file has it: answers as texts, arguments by number."""
    arguments = sample["arguments"]
    if not isinstance(arguments, Mapping):
        arguments = {
            f"gen_args_{number}": {f"arg_{place}": part for place, part in enumerate(parts)}
            for number, parts in enumerate(arguments)
        }
    texts = {key: as_texts(sample[key]) for key in ("resps", "filtered_resps")}
    return {**sample, **texts, "arguments": arguments, "target": str(sample["target"])}


def _sample_of(
    answered: Answered,
    arguments: Sequence[tuple[Any, ...]],
    said: Mapping[str, Any],
    metrics: Mapping[str, Any],
    failure: Failure | None,
) -> dict[str, Any]:
    """Return a sample in the order of lm-eval's keys."""
    doc = answered.question.instance
    line = {
        "doc_id": answered.question.number,
        "doc": doc,
        "target": said["target"],
        "arguments": list(arguments),
        "resps": said["resps"],
        "filtered_resps": said["filtered_resps"],
        "filter": said["filter"],
        "metrics": list(metrics),
        "doc_hash": digest(json.dumps(doc, indent=2, default=_plain, ensure_ascii=False)),
        "prompt_hash": digest(str(arguments[0][0]) if arguments else ""),
        "target_hash": digest(str(said["target"])),
        **metrics,
    }
    if failure is not None:
        line["failure"] = {"kind": failure.kind, "message": failure.message}
    return line


def _arguments(request: Request, text_of: TextOf, task: PreparedTask | None = None) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of the lm-eval requests that a request stands for."""
    if isinstance(request, Choose | Likelihood):
        for pair in request.pairs:
            yield text_of(pair.context.payload), pair.continuation
    elif isinstance(request, Generate):
        arguments = generation_of(request.decoding) if task is None else task.config.generation_kwargs
        yield text_of(request.prompt.payload), arguments
    elif isinstance(request, Rolling):
        yield (request.text,)
    elif isinstance(request, Converse):
        yield text_of([each for each in request.turns if each is not None]), generation_of(request.decoding)


def generation_of(decoding: Decoding) -> dict[str, Any]:
    """Return how to generate, under lm-eval's names."""
    named = {"until": list(decoding.stop), "max_gen_toks": decoding.max_tokens, "temperature": decoding.temperature}
    more = {"top_p": decoding.top_p, "top_k": decoding.top_k, "seed": decoding.seed}
    return {**named, **{name: value for name, value in more.items() if value is not None}, **decoding.extra}


def samples_of_grade(
    grade: Grade, answers: Iterable[Answered], text_of: TextOf | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the samples of an exam that is not a task of lm-eval's: its scores stand in its grade."""
    shown = text_of or _payload
    scales = _scales(grade)
    for place, each in enumerate(answers):
        exchange, failure = each.question.exchange, grade.failures.get(place)
        target = str(exchange.answer) if exchange.answer is not None else next(iter(exchange.references), "")
        metrics = {
            name: value * scales[name] if name in scales else value
            for name, column in grade.instance_scores.items()
            if place < len(column) and (value := number_or_none(column[place])) is not None
        }
        filtered = grade.processed_predictions[place] if place < len(grade.processed_predictions) else None
        yield _sample_of(each, [part for request in each.question.requests for part in _arguments(request, shown)], {
            "target": target,
            "resps": [_answers_of(response) for response in each.responses],
            "filtered_resps": [] if isinstance(filtered, Failure) else [filtered],
            "filter": ONLY,
        }, metrics, failure)  # fmt: skip


def _scales(grade: Grade) -> dict[str, float]:
    """Return by what to multiply scores of instances in percent to have them as the results have theirs."""
    found = {}
    for score in grade.table:
        column = score_column(grade, score)
        if column is not None and (column.whole == 100 if column.is_mean else _exceeds_one(column.values)):  # noqa: PLR2004 - percent
            found[column.name] = scale_of(column.name, score.unit)
    return {name: scale for name, scale in found.items() if scale != 1}


def _exceeds_one(values: Sequence[float | None]) -> bool:
    return any(value is not None and value > 1 for value in values)


def _answers_of(response: Response) -> list[Any]:
    return [*response.texts, *((score.log_likelihood, score.is_greedy) for score in response.scores)]


def _payload(payload: Any) -> str:
    return payload if isinstance(payload, str) else json.dumps(list(payload), ensure_ascii=False)


def text_by(engine: Any) -> TextOf:
    """Return what gives prompts as an engine's model reads them; messages that its server lays out are JSON."""

    def text_of(payload: Any) -> Any:
        if isinstance(payload, str):
            return payload
        written = engine.text_of(Prompt(payload))
        return _payload(payload) if written is None else written

    return text_of


def as_texts(value: Any) -> Any:
    """Return nested lists whose leaves are texts, as lm-eval files them."""
    return [as_texts(each) for each in value] if isinstance(value, list | tuple) else str(value)


def _plain(value: Any) -> Any:
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "size", 2) == 1:
        return item()
    return list(value) if isinstance(value, set) else str(value)
