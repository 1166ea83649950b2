"""A written-out exam as an ``eval.yaml`` of a Hugging Face dataset; its rows are the dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from proctor.dialects.conversion.converted import ConvertedExam, Loss
from proctor.dialects.conversion.gradings import Graded, Named, Reading
from proctor.dialects.conversion.sharing import plain
from proctor.dialects.conversion.written import CHOICES, Written
from proctor.dialects.hub_yaml.config import HubTask
from proctor.ir.question import Question
from proctor.recipes.exam import Exam
from proctor.scoring.evaluators.checked_answers import CHECKS
from proctor.scoring.lettered_answers import letter_of
from proctor.scoring.named_table import INSPECT, LM_EVAL, OPENCOMPASS

WHOLE = r"(?s)\A(.*)\Z"
"""A pattern whose group is the whole answer: the scorer ``pattern`` then compares it letter by letter."""

_EXACT = (f"{LM_EVAL}:exact_match", f"{OPENCOMPASS}:AccEvaluator", "metrics.accuracy", "metrics.exact_match_mm")
_CONTAINS = ("metrics.string_containment", "metrics.string_containment_ratio")
_WORDS = ("metrics.token_overlap", "metrics.squad", f"{LM_EVAL}:f1", f"{OPENCOMPASS}:SquadEvaluator")


def to_eval_yaml(written: Written) -> str:
    """Return an ``eval.yaml``."""
    scorers = _lettered(written) if written.compares else _scorers(written)
    solver: dict[str, Any] = {"name": "multiple_choice"} if written.compares else _generate(written)
    fields = {"input": written.prompt, "target": written.target, **({"choices": CHOICES} if written.compares else {})}
    fields["metadata"] = written.columns  # type: ignore[assignment]
    task: dict[str, Any] = {"id": written.name, "split": "test", "field_spec": {k: v for k, v in fields.items() if v}}
    if written.repeats > 1:
        task |= {"epochs": written.repeats, "epoch_reducer": "mean"}
        written.losses.add("scores", "repeats: epochs are averaged; what makes one answer of several has no name there")
    return _dumped(written.name, [{**task, "solvers": [solver], "scorers": scorers}])


def as_it_was(exam: Exam, name: str) -> ConvertedExam:
    """Return a task that came from an ``eval.yaml`` as such a file again."""
    task: HubTask = exam.own  # type: ignore[assignment]
    values = {key: value for key, value in task.to_dict().items() if key not in ("dataset", "revision")}
    if not values["shuffle_choices"]:
        del values["shuffle_choices"]
    for kind in ("solvers", "scorers"):
        values[kind] = [{key: value for key, value in each.items() if value} for each in values[kind]]
    text = _dumped(name, [{key: value for key, value in values.items() if value}])
    where = f"rows: the file reads the dataset in whose folder it lies; put it into that of {task.dataset}"
    return ConvertedExam(name, text, lost=(Loss("requests", where),))


def _dumped(name: str, tasks: Sequence[Mapping[str, Any]]) -> str:
    values = {"name": name, "evaluation_framework": "inspect-ai", "tasks": tasks}
    return str(yaml.safe_dump(plain(values), sort_keys=False, allow_unicode=True, width=1_000))


def _generate(written: Written) -> dict[str, Any]:
    decoding = written.decoding
    args: dict[str, Any] = {"max_tokens": decoding.max_tokens, "temperature": decoding.temperature}
    args |= {key: getattr(decoding, key) for key in ("top_p", "top_k", "seed")}
    args["stop_seqs"] = list(decoding.stop) or None
    for key, value in decoding.extra.items():
        if key in ("frequency_penalty", "presence_penalty", "logit_bias", "reasoning_effort"):
            args[key] = value
        else:
            written.losses.add("requests", f"{key}: generate has no such argument")
    if decoding.count > 1:
        written.losses.add("requests", f"{decoding.count} answers to one request")
    return {"name": "generate", "args": {key: value for key, value in args.items() if value is not None}}


# -- scores -------------------------------------------------------------------------------------------------------


def _lettered(written: Written) -> list[dict[str, Any]]:
    """Put letters in place of right choices, and name what becomes of likelihoods."""
    written.losses.add(
        "requests", "choices: the model writes a letter, in inspect's words; no likelihoods are compared"
    )
    for row in written.rows:
        right, choices = row[written.target], row[CHOICES]
        wanted = right if isinstance(right, list) else [right]
        places = [choices.index(each) for each in wanted if each in choices]
        if not places:
            written.losses.add("scores", "references: a right answer that is not one of the choices")
        if len(places) > 1:
            written.losses.add("scores", "references: of several right choices the first counts")
        row[written.target] = letter_of(places[0] if places else len(choices))
    for each in written.graded.metrics:
        if each.name not in (f"{LM_EVAL}:acc", *_EXACT):
            written.losses.add("scores", f"{each.name}: the scorer choice says only whether the letter is right")
    return [{"name": "choice"}]


def _scorers(written: Written) -> list[dict[str, Any]]:
    for row in written.rows:
        if isinstance(row[written.target], list):
            written.losses.add("scores", "references: of several right answers the first counts; a target is one text")
            row[written.target] = row[written.target][0] if row[written.target] else ""
        row[written.target] = str(row[written.target])
    if len(written.graded.readings) > 1:
        names = ", ".join(each.name or "none" for each in written.graded.readings[1:])
        written.losses.add("scores", f"filters: the first is kept; {names} have no place")
    reading = written.graded.readings[0]
    found = [made for each in written.graded.metrics if (made := _scorer(written, reading, each)) is not None]
    if not found:
        written.losses.add("scores", "metrics: the scorer match compares ends of answers; choose another")
        found = [{"name": "match"}]
    return found


def _scorer(written: Written, reading: Reading, metric: Named) -> dict[str, Any] | None:
    if metric.name in _EXACT:
        return _exact(written, reading, metric)
    if metric.system == INSPECT and all(each.name == f"{LM_EVAL}:take_first" for each in reading.steps):
        return {"name": metric.name.removeprefix(f"{INSPECT}:"), "args": dict(metric.arguments)}
    if reading.steps:
        steps = ", ".join(each.name for each in reading.steps)
        written.losses.add("scores", f"{steps}: the scorer that stands for {metric.name} sees whole answers")
    if metric.name in _CONTAINS:
        return {"name": "includes", "args": {"ignore_case": False}}
    if metric.name in _WORDS:
        written.losses.add("scores", f"{metric.name}: f1 of inspect splits and spells words in its own way")
        return {"name": "f1"}
    written.losses.add("scores", f"{metric.name}: no scorer says it")
    return None


def _exact(written: Written, reading: Reading, metric: Named) -> dict[str, Any]:
    unsaid = [key for key, value in metric.arguments.items() if value and key not in ("ignore_case", "aggregation")]
    if unsaid:
        written.losses.add("scores", f"{metric.name}: {', '.join(unsaid)}")
    pattern = WHOLE
    steps = [each for each in reading.steps if each.name != f"{LM_EVAL}:take_first"]
    first = steps[0] if steps else None
    if first is not None and first.name == f"{LM_EVAL}:regex" and not first.arguments.get("group_select"):
        pattern, steps = str(first.arguments.get("regex_pattern", r"#### (\-?[0-9\.\,]+)")), steps[1:]
    if steps:
        written.losses.add("scores", f"{', '.join(each.name for each in steps)}: no scorer does it")
    return {"name": "pattern", "args": {"pattern": pattern, "ignore_case": bool(metric.arguments.get("ignore_case"))}}


# -- what grades an exam ----------------------------------------------------------------------------------------------


def graded(exam: Exam, first: Question) -> Graded | None:
    """Return what grades an exam of this dialect; its first question's processors stand for all."""
    del first
    task = exam.own
    if not isinstance(task, HubTask):
        return None
    made = Graded()
    for each in task.scorers:
        if each.name in CHECKS:
            made.metrics.append(Named(f"{INSPECT}:{each.name}", dict(each.args)))
        else:
            made.lost.append(Loss("scores", f"scorer {each.name}: only an eval.yaml has it"))
    if task.epochs > 1:
        made.lost.append(Loss("scores", f"epochs: {task.reducer} makes one score of {task.epochs} answers there"))
    return made
