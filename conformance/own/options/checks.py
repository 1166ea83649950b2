"""What has to hold of an exam's numbers wherever they are shown, whoever wrote it."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

from conformance.own.options.exams import DIALECTS, NAME, Model, made_up_rows, write_configs, write_task
from conformance.own.options.reckoning import Expected, chosen, expected

from proctor.cli.__main__ import main as command_line
from proctor.dialects.resolve import resolve_tasks
from proctor.recipes.options import ExamOptions
from proctor.running.baselines import load_baseline
from proctor.running.planning import plan_run
from proctor.running.run import RunResult, run_exams

CLOSE = 1e-9
"""Scores are sums of other orders than ours: they differ in their last digits."""

_REDUCERS = ("mean", "majority", "best", "pass@2", "pass^2", "g-pass@2")


@dataclass(frozen=True)
class Case:
    """An exam, who sits it, and what a run changes about it.

    Attributes:
        size: How many questions it has.
        options: Fields of :class:`~proctor.recipes.options.ExamOptions`.
        fails: Whether answers fail and are cut off.
        skill: The share of right answers; ``None`` lets questions differ.
    """

    size: int
    options: Mapping[str, Any]
    fails: bool = False
    skill: float | None = None

    def model(self) -> Model:
        """Return a model that has not been asked yet."""
        return Model(made_up_rows(self.size), self.fails, skill=self.skill)


def drawn(seed: int) -> Case:
    """Return the case of a seed."""
    draw = Random(seed)
    size = draw.choice([1, 2, 5, 40, 40, 40])
    options: dict[str, Any] = {}
    if draw.random() < 0.4:
        options["limit"] = draw.choice([1, 2, 13, 0.5, 0.33])
    elif draw.random() < 0.3:
        options["samples"] = {NAME: sorted(draw.sample(range(size), min(size, 9)))}
    if draw.random() < 0.6:
        options["repeats"] = draw.choice([2, 3, 4])
        if draw.random() < 0.7:
            options["reduce"] = tuple(draw.sample(_REDUCERS, draw.choice([1, 2])))
    if draw.random() < 0.4:
        options["group_by"] = draw.choice([("topic",), ("book",), ("topic", ("topic", "book"))])
    if draw.random() < 0.3:
        options["clusters"] = "book"
    if draw.random() < 0.4:
        options["truncated"] = "fail"
    return Case(size, options, draw.random() < 0.6, draw.choice([None, None, 0.0, 1.0]))


def problems(case: Case, folder: Path) -> Iterator[str]:
    """Yield what is wrong with a case, dialect by dialect; ``folder`` is empty."""
    rows = made_up_rows(case.size)
    for name, write in DIALECTS.items():
        place = folder / name
        place.mkdir()
        with chdir(place):
            yield from (f"{name}: {each}" for each in _of_exam(case, str(write(place, rows))))
    for name in ("lm_eval", "aisbench"):
        place = folder / f"{name}_group"
        place.mkdir()
        with chdir(place):
            yield from (f"group of {name}: {each}" for each in _of_group(case, name))


def _of_exam(case: Case, path: str) -> Iterator[str]:
    (exam,) = resolve_tasks([path], ExamOptions(**case.options))
    model = case.model()
    (plan,) = plan_run([exam], model.engine(), log=Path("log.db")).exams
    ran = run_exams([exam], model.engine(), log="log.db", output="run")
    found = ran.results[NAME]
    if (plan.instances, plan.requests) != (found["n"], ran.run["requests"]["asked"]):
        yield f"planned {plan.instances} questions, {plan.requests} requests; {found['n']}, {ran.run['requests']} came"
    again = run_exams([exam], model.engine(), log="log.db", output="again", retry_failed=False)
    if again.run["requests"]["asked"] or again.results != ran.results:
        yield "the same run from the log is another"
    numbers = chosen(model.rows, case.options)
    wanted = expected(case.model(), numbers, case.options)
    yield from _numbers(found, wanted, case)
    for group in found.get("groups", ()):
        of_group = [number for number in numbers if all(model.rows[number][k] == v for k, v in group["by"].items())]
        own = {**group, "unit": found.get("unit"), "failures": group["n"] - group["num_of_instances"]}
        yield from (
            f"{group['by']}: {each}" for each in _numbers(own, expected(case.model(), of_group, case.options), case)
        )
    yield from _shown(ran, wanted)
    yield from _samples(wanted, copies=found.get("copies", 1))


def _numbers(found: Mapping[str, Any], wanted: Expected, case: Case) -> Iterator[str]:
    """Yield what is wrong with counts, a score and its interval."""
    counts = found["n"], found["num_of_instances"], found["failures"]
    if counts != (wanted.asked, wanted.scored, wanted.asked - wanted.scored):
        yield f"asked, scored, failed are {counts}, and have to be {wanted}"
    score, whole = found.get("score"), 100.0 if found.get("unit") == "percent" else 1.0
    if wanted.score is None:
        return
    if not isinstance(score, float) or not math.isclose(score / whole, wanted.score, abs_tol=CLOSE):
        yield f"the score is {score}, and has to be {wanted.score}"
        return
    low, high = found.get("score_ci_low"), found.get("score_ci_high")
    if low is None or high is None:
        if wanted.scored > 1 and "clusters" not in case.options:
            yield f"{wanted.scored} questions, and no interval"
    elif not low - CLOSE <= score <= high + CLOSE or high - low < CLOSE:
        yield f"the interval of {score} is {low} to {high}"


def _shown(ran: RunResult, wanted: Expected) -> Iterator[str]:
    """Yield where tables and files of others show another number than the results."""
    found = ran.results[NAME]
    whole = 100.0 if found.get("unit") == "percent" else 1.0
    _typed("report", "run", "--output", "report.csv")
    row = next(csv.DictReader(Path("report.csv").read_text().splitlines()))
    told = float(row["value"]) if row["value"] else None
    if told != found.get("score") or [row["asked"], row["scored"]] != [str(wanted.asked), str(wanted.scored)]:
        yield f"the report says {row}"
    _typed("export", "run", "--to", "lm-eval", "--output", "lm")
    (file,) = Path("lm").rglob("results_*.json")
    exported = json.loads(file.read_text())["results"][NAME]
    bare, _, pipeline = str(found.get("score_name")).partition(",")
    if wanted.score is not None and not math.isclose(exported[f"{bare},{pipeline or 'none'}"], found["score"] / whole):
        yield f"lm-eval's files say {exported}"
    _typed("export", "run", "--to", "inspect", "--output", "inspect")
    (file,) = Path("inspect").rglob("*.json")
    scores = {each["name"]: each for each in json.loads(file.read_text())["results"]["scores"]}
    name = found.get("score_name")
    if wanted.score is not None and not math.isclose(scores[name]["metrics"][name]["value"], found["score"] / whole):
        yield f"inspect's files say {scores}"


def _samples(wanted: Expected, *, copies: int) -> Iterator[str]:
    """Yield where the scores of questions that a gate would compare with have another mean than the exam."""
    known = load_baseline(Path("run")).exams[NAME].scores
    if wanted.score is None or (copies > 1 and wanted.scored < wanted.asked):
        return  # copies of a question that failed once are there, and it is not in the score
    if not math.isclose(sum(known.values()) / len(known), wanted.score, abs_tol=CLOSE):
        yield f"a gate would compare with {sum(known.values()) / len(known)} instead of {wanted.score}"


def _of_group(case: Case, name: str) -> Iterator[str]:
    """Yield what is wrong with the plain mean of two exams of different size."""
    options = {key: value for key, value in case.options.items() if key not in ("samples", "group_by", "limit")}
    rows = made_up_rows(45)
    parts = {"first": rows[:30], "second": rows[30:]}
    if name == "lm_eval":
        for part, its in parts.items():
            write_task(Path(), its, part)
        made = {"metric": "exact_match", "aggregation": "mean", "weight_by_size": False}
        group = {"group": "all", "task": list(parts), "aggregate_metric_list": [made]}
        Path("all.yaml").write_text(json.dumps(group))
        exams = resolve_tasks(["all"], ExamOptions(**options, include_paths=(str(Path.cwd()),)))
    else:
        groups = "[dict(name='all', subsets=['first', 'second'])]"
        path = write_configs(Path(), parts, f"summarizer = dict(summary_groups={groups})\n")
        exams = resolve_tasks([str(path)], ExamOptions(**options))
    model = replace(case.model(), rows=rows)
    results = run_exams(exams, model.engine(), log="log.db").results
    numbers = list(range(30)), list(range(30, 45))
    own = [expected(replace(model, asked={}), each, options).score for each in numbers]
    whole = 100.0 if name == "aisbench" else 1.0
    known: Sequence[float] = [each for each in own if each is not None]
    if len(known) == len(own) and not math.isclose(results["all"]["score"] / whole, sum(known) / 2, abs_tol=CLOSE):
        yield f"the score is {results['all']['score']}, and has to be {sum(known) / 2}"


def _typed(*arguments: str) -> None:
    """Run a command that has to succeed."""
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        code = command_line(list(arguments))
    if code:
        raise AssertionError(f"proctor {' '.join(arguments)}: {said.getvalue()}")
