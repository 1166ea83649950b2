"""The scores of a run as rows of a table: every number with its interval, its n and what failed."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from proctor.results.score_grid import group_label, groups_of
from proctor.scoring.flat_scores import (
    BEHIND,
    CLUSTERS,
    COUNT,
    CRITERIA,
    FAILED,
    NO_CLUSTER,
    NOWHERE,
    UNIT,
    WITHOUT,
    is_beside_scores,
    main_of,
    read_flat,
)
from proctor.scoring.grading.answer_endings import ALIKE, COUNTED, LAST_RESORT
from proctor.scoring.scores import Score, Unit

if TYPE_CHECKING:
    from proctor.scoring.grades import Grade


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """One score of one exam.

    Attributes:
        task: Name of the exam.
        metric: Name of the score.
        value: The score; ``None`` where there is none.
        low, high: Bounds of the 95% interval, or ``None``.
        unit: In which unit they are: ``share``, ``percent`` or ``raw``.
        asked: Instances asked about.
        scored: Those that have the score.
        failed: Those that have not: ``asked`` is ``scored`` and ``failed`` together.
        failures: Instances that some metric could not score, the main one or another.
        failure_kinds: How many failed for which reason.
        metric_failures: Why a metric has no scores at all, by its name.
        is_main: Whether this is the exam's main score.
        is_suite: Whether this is the score of a benchmark or a group of tasks, whose instances are its members'.
        endings: How many answers there are, and how many of them were cut off, empty, or lost in thoughts.
        alike: In what all answers are alike (``truncated``, ``empty``, ``equal``, ``option``); nothing as a rule.
        is_graded: Whether there was something to score; not where answers were only recorded.
        criteria: What judges decide of, by the names of scores that do not say it.
    """

    task: str
    metric: str
    value: float | None
    low: float | None
    high: float | None
    unit: Unit
    asked: int
    scored: int
    failures: int
    failure_kinds: Mapping[str, int]
    metric_failures: Mapping[str, str]
    is_main: bool = True
    is_suite: bool = False
    endings: Mapping[str, int] = field(default_factory=dict)
    alike: Mapping[str, Any] = field(default_factory=dict)
    is_graded: bool = True
    criteria: Mapping[str, str] = field(default_factory=dict)

    @property
    def failed(self) -> int:
        """Instances that do not have the score."""
        return self.asked - self.scored


def score_rows(results: Mapping[str, Mapping[str, Any]], *, every_score: bool = False) -> Iterator[ScoreRow]:
    """Yield the main score of each exam, in the order of ``results``; with ``every_score`` all others after it.

    Counts and standard errors say something of scores, and are none.

    Args:
        results: What ``results.json`` has under ``results``.
        every_score: Whether to list the other scores too.
    """
    for task, entry in results.items():
        main = main_of(entry)
        yield _row(task, main, entry, is_main=True)
        if every_score:
            for score in read_flat(entry):
                if score.name != main.name and not is_beside_scores(score.name, score.value):
                    yield _row(task, score, entry, is_main=False)


def rows_of_groups(results: Mapping[str, Mapping[str, Any]]) -> dict[str, list[tuple[str, ScoreRow]]]:
    """Return the main scores of the groups of each exam that has some, with the groups' labels: ``topic=sums``."""
    found: dict[str, list[tuple[str, ScoreRow]]] = {}
    for task, entry in results.items():
        if groups := groups_of(entry):
            labels = [group_label(each["by"]) for each in groups]
            found[task] = list(zip(labels, group_rows(task, groups, entry.get(UNIT, "raw")), strict=True))
    return found


def group_rows(task: str, groups: Iterable[Mapping[str, Any]], unit: Unit = "raw") -> list[ScoreRow]:
    """Return the main score of each group of an exam, which is in the exam's unit."""
    return [_row(task, main_of({UNIT: unit, **each}), each, is_main=True) for each in groups]


def _row(task: str, score: Score, entry: Mapping[str, Any], *, is_main: bool) -> ScoreRow:
    asked = int(entry.get("n") or 0)
    failures = int(entry.get("failures") or entry.get(FAILED) or 0)
    behind = entry.get(f"{score.name}{BEHIND}")  # a score of some instances alone, as lm-eval's files list it
    scored = behind if isinstance(behind, int) else entry.get(COUNT, asked - failures)
    return ScoreRow(
        task,
        score.name,
        _number(score.value),
        _number(score.low),
        _number(score.high),
        score.unit,
        asked,
        min(asked, int(scored or 0)),
        failures,
        dict(entry.get("failure_kinds") or {}),
        dict(entry.get("metric_failures") or {}),
        is_main,
        bool(entry.get("members")),
        {name: entry[name] for name in (*COUNTED, LAST_RESORT) if isinstance(entry.get(name), int)},
        dict(entry.get(ALIKE) or {}),
        "score" in entry or "score_name" in entry,
        dict(entry.get(CRITERIA) or {}),
    )


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


UNITS: Mapping[str, str] = {"share": "of 1", "percent": "%"}
"""How tables call the units; a raw score has none."""


def unit_of(row: ScoreRow) -> str:
    """Return a row's unit in tables: ``of 1``, ``%``, or nothing where it has none."""
    return UNITS.get(row.unit, "")


def shown(value: float | None) -> str:
    """Return a score with four decimals (fewer where it is large), ``-`` where there is none.

    >>> shown(0.5), shown(27.31234), shown(1234.5), shown(None)
    ('0.5000', '27.31', '1234', '-')
    """
    if value is None or not isfinite(value):
        return "-"
    size = abs(value)
    return f"{value:.4f}" if size < 10 else f"{value:.2f}" if size < 1000 else f"{value:.0f}"  # noqa: PLR2004


def interval(row: ScoreRow) -> str:
    """Return the interval of a row as ``0.4312 to 0.5688``, ``-`` where there is none."""
    return f"{shown(row.low)} to {shown(row.high)}" if row.low is not None and row.high is not None else "-"


def first_failures(grades: Iterable[Grade]) -> dict[str, str]:
    """Return the first failure of each kind: what went wrong, and what to do about it."""
    found: dict[str, str] = {}
    for grade in grades:
        for _, failure in sorted(grade.failures.items()):
            found.setdefault(failure.kind, failure.message)
    return dict(sorted(found.items()))


def _has_no_value(row: ScoreRow) -> bool:
    """Whether instances were scored, and the score of all is none: a correlation of what does not vary."""
    is_due = row.is_graded and row.scored > 0 and not row.metric_failures
    return is_due and (row.value is None or not isfinite(row.value))


def failure_notes(rows: Iterable[ScoreRow]) -> list[str]:
    """Return a sentence on every kind of failure: ``3 of 180 instances failed (refused: 1, timeout: 2)``."""
    mains = [row for row in rows if row.is_main and not row.is_suite]
    kinds: Counter[str] = Counter()
    for row in mains:
        kinds.update(row.failure_kinds)
    notes = [f"{row.task}: {name} failed: {why}" for row in mains for name, why in row.metric_failures.items()]
    notes += [f"{row.task}: {row.metric} is not a number" for row in mains if _has_no_value(row)]
    if failed := sum(row.failures for row in mains):
        reasons = ", ".join(f"{kind}: {count}" for kind, count in sorted(kinds.items()))
        told = f" ({reasons})" if reasons else ""
        notes.append(f"{failed} of {sum(row.asked for row in mains)} instances failed{told}")
    return notes


def ending_notes(rows: Iterable[ScoreRow]) -> list[str]:
    """Return a sentence on each exam whose answers did not end as answers do, with the option that helps.

    They are not failures: the scores count, and the reader should know of what. So does what judges decided of.
    """
    return [
        f"{row.task}: {note}"
        for row in rows
        if row.is_main and not row.is_suite
        for note in (*_criteria_in_words(row.criteria), *endings_in_words(row.endings, row.alike))
    ]


def _criteria_in_words(criteria: Mapping[str, str]) -> Iterator[str]:
    if criteria:
        yield ", ".join(f"{score} is {criterion!r}" for score, criterion in criteria.items())


def endings_in_words(counts: Mapping[str, int], alike: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence on each way in which answers did not end as answers do.

    Args:
        counts: Answers, and those that were cut off, empty, or lost in thoughts, by name.
        alike: In what all answers are alike.
    """
    answers, truncated, empty, thinking = (counts.get(name, 0) for name in COUNTED)
    if thinking:
        yield (
            f"{thinking} of {answers + thinking} answers never came, because all tokens went into thinking: "
            "--thinking-tokens N allows for thoughts"
        )
    if truncated:
        which = f"all {answers}" if alike.get("truncated") else f"{truncated} of {answers}"
        yield f"{which} answers were cut off: --decoding max_tokens=N leaves room for more"
    if empty:
        yield (
            f"all {answers} answers are empty: see the prompt with proctor show; chat models want --apply-chat-template"
            if alike.get("empty")
            else f"{empty} of {answers} answers are empty"
        )
    if resort := counts.get(LAST_RESORT):
        yield (
            f"{resort} of {answers} scores hang on a last resort, what was found where no answer is stated: "
            "proctor report RUN --readings has other readings"
        )
    if isinstance(tags := alike.get("begin_with"), Mapping):
        marks = shlex.quote(f"think_start={tags.get('tag')},think_end={tags.get('end')}")
        tag = f"{tags.get('tag')} … {tags.get('end')}"
        yield (
            f"{tags.get('count')} of {answers} answers begin with {tag} and were scored with it; "
            f"if these are thoughts: --model-args {marks}"
        )
    if "equal" in alike:
        yield f"all {answers} answers are equal: {alike['equal']!r}"
    if isinstance(option := alike.get("option"), int):
        yield f"all {answers} answers are equal: option {option + 1} was the likeliest every time"


def cluster_notes(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence on each exam that has intervals of single questions beside those of clusters."""
    found = []
    for task, entry in results.items():
        clusters = entry.get(CLUSTERS)
        if isinstance(clusters, Mapping) and (alone := clusters.get(WITHOUT)):
            why = f"no means of instances, so their intervals are not of clusters of '{clusters.get('by')}'"
            found.append(f"{task}: {why}: {_listed(alone)}")
        if isinstance(clusters, Mapping) and (single := clusters.get(NO_CLUSTER)):
            found.append(f"{task}: {single} instances have no '{clusters.get('by')}'; each is a cluster of its own")
    return found


def noise_notes(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence on each exam that was answered several times: whose noise it has, what halves its interval."""
    return [f"{task}: {said}" for task, entry in results.items() if (said := _noise(entry.get("repeats")))]


def _noise(levels: object) -> str:
    if not isinstance(levels, Mapping) or "halved_by" not in levels:
        return ""
    halved = levels["halved_by"]
    more = f"{halved['instances']} questions would halve the interval"
    if levels.get("answer_noise") is None:
        why = "how much of it is the noise of answers cannot be known from one answer to each (--repeats 2 tells)"
        return f"a standard error of {shown(levels['stderr'])}; {why}; {more}"
    share = f"{shown(levels['question_noise'])} from questions, {shown(levels['answer_noise'])} from answers"
    said = f"a standard error of {shown(levels['stderr'])} ({share})"
    if halved["repeats"] is None:
        return f"{said}; no number of repeats would halve the interval, {more}"
    return f"{said}; --repeats {halved['repeats']} would halve the interval, or {more}"


def group_notes(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence on each group whose score is not made of all its exams, or that lacks scores it was to have."""
    notes = []
    for task, entry in results.items():
        members, without = entry.get("members") or (), entry.get(WITHOUT) or ()
        if without:
            name, made_of = entry.get("score_name") or "the score", f"{len(members) - len(without)} of {len(members)}"
            notes.append(f"{task}: {name} is made of {made_of} exams; {_listed(without)} gave none")
        if nowhere := entry.get(NOWHERE) or ():
            notes.append(f"{task}: none of its exams has {_listed(nowhere)}, which the group was to have")
    return notes


def sample_notes(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return a sentence on each exam of which some questions were asked: how many, how chosen, how near it is."""
    return [f"{task}: {said}" for task, entry in results.items() if (said := _sampled(entry.get("sample")))]


def _sampled(sample: object) -> str:
    if not isinstance(sample, Mapping):
        return ""
    if sample.get("interval") == "of a whole run":
        all_asked = f"all {sample['of']:,} questions were asked, as a precision of {sample['precision']:g} takes"
        return f"{all_asked}; the interval is that of a whole run, which speaks about more questions of this kind"
    how = f"{sample['asked']:,} of {sample['of']:,} questions were asked, chosen {sample['chosen']}"
    models = sample.get("models")
    if isinstance(models, list):
        how += f" ({_listed(models)})"
    if "precision" not in sample:
        return f"{how} (seed {sample['seed']})"
    near = f"within {sample['precision']:g} of the score on all"
    end = near if sample["reached"] else f"not yet {near}"
    if sample.get("interval") == "confidence sequence":
        end += " (of a confidence sequence, as what ended it was not the precision)"
    return f"{how} (seed {sample['seed']}); the interval is {end}"


_NAMED = 3  # models whose names are said; results.json has all


def _listed(names: Sequence[Any]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(str, names[:_NAMED])) + more
