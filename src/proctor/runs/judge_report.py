"""The quality of a judge: against people, against itself in another order or wording, against another version of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

import numpy as np

from proctor.errors import UsageError
from proctor.results.comparison import bounded_test
from proctor.results.summary import shown
from proctor.runs.answer_labels import FEWEST, Labels, answers_in, index_of, labelled_exams
from proctor.runs.item_tables import ItemTable
from proctor.runs.question_words import question_of
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import answer_key, words_of
from proctor.runs.stored_run import StoredRun
from proctor.scoring.judges.judge_agreement import agreement
from proctor.scoring.judges.judged import JUDGED
from proctor.scoring.judges.judgements import contests_of, judgements_of
from proctor.statistics.arrays import Floats
from proctor.statistics.bounded import share_bounds
from proctor.statistics.distributions import normal_quantile
from proctor.statistics.intervals import Bootstrap
from proctor.statistics.krippendorff import alpha_sums

LABELLERS: Final = "labellers"
_HALF: Final = 0.5  # of a full score: above it an answer is called right
_Z: Final = normal_quantile(0.975)  # of intervals that hold in 95%


@dataclass(frozen=True, slots=True)
class Measure:
    """A number about a judge, with its 95% interval, and of how many answers it is."""

    of: str
    what: str
    count: int
    value: float
    low: float
    high: float


@dataclass(slots=True)
class JudgeReport:
    """What is known of the judges of some runs.

    Attributes:
        measures: The numbers.
        missing: What could not be measured, and what it takes.
        flipped: Answers that two judges, or one asked twice, decided differently: of what, and the question.
    """

    measures: list[Measure] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    flipped: list[tuple[str, str]] = field(default_factory=list)


class _Judged:
    """The answers of an exam in a run, as a judge and people see them."""

    def __init__(self, run: StoredRun, index: SampleIndex, exam: str, labels: Labels) -> None:
        self.answers = found = answers_in(index, exam)
        self.name, self.exam, self.run = f"{exam}, {run.path.name}", exam, run
        self.keys, self.scores = found.keys, found.scores
        self.labels, self.weights = labels.of(found)
        self.told = np.isfinite(self.labels) & (self.labels != _HALF) & (self.scores != _HALF)
        self.verdicts, self.truths = self.scores > _HALF, self.labels > _HALF
        judged = found.entry.get(JUDGED)
        self.models = sorted({str(model) for each in judged or () for model in each.get("models", ())})
        self.records = {answer_key(record): record for record in index.records(exam)}
        self.is_own = run.model in (run.run.get("judges") or {})

    def column(self, name: str) -> Floats:
        """Return the scores by a metric, NaN where there is none."""
        found = [(self.records[key].get("scores") or {}).get(name) for key in self.keys]
        return np.array([float(each) if isinstance(each, int | float) else math.nan for each in found])


def judge_report(runs: Sequence[StoredRun], labels: Labels | None) -> JudgeReport:
    """Return all that runs, and labels where there are some, say of their judges."""
    report, cases = JudgeReport(), []
    for run in runs:
        index = index_of(run)
        for exam in labelled_exams(run):
            try:
                cases.append(_Judged(run, index, exam, labels or Labels()))
            except UsageError as error:
                report.missing.append(error.diagnostics[0].what)
    for case in cases:
        _by_people(report, case)
        _by_length(report, case)
        _by_order(report, case)
        _by_wording(report, case)
    if labels:
        _of_labellers(report, labels.among(case.answers for case in cases))
    for exam in dict.fromkeys(case.exam for case in cases):
        own = [case for case in cases if case.exam == exam]
        _of_itself(report, own)
        for first, second in combinations(own, 2):
            _by_version(report, first, second)
    return report


def _by_people(report: JudgeReport, case: _Judged) -> None:
    count = int(case.told.sum())
    if count < FEWEST:
        report.missing.append(f"{case.name}: {FEWEST} labels tell how good the judge is, and {count} have a verdict")
        return
    pairs = case.verdicts[case.told].tolist(), case.truths[case.told].tolist()
    found = agreement(*pairs)
    for what, value, interval in (
        ("accuracy", found.share, found.share_interval),
        ("Cohen's kappa", found.kappa, found.kappa_interval),
        ("Gwet's AC1", found.ac1, found.ac1_interval),
    ):
        report.measures.append(Measure(case.name, what, count, value, interval.low, interval.high))
    _alphas(report, case.name, np.array(pairs, np.float64), np.array([case.scores, case.labels]))


def _alphas(report: JudgeReport, of: str, kinds: Floats, numbers: Floats) -> None:
    for what, ratings in (("nominal", kinds), ("interval", numbers)):
        sums = alpha_sums(ratings, nominal=what == "nominal")
        low, high = Bootstrap(1000, 0.95, repair=True).intervals(sums)[0]
        value = float(sums.observed()[0])
        report.measures.append(Measure(of, f"Krippendorff's alpha, {what}", sums.size, value, low, high))


def _of_labellers(report: JudgeReport, labels: Labels) -> None:
    names = sorted({who for given in labels.given.values() for who in given})
    ratings = np.array([[given.get(who, math.nan) for given in labels.given.values()] for who in names])
    if (np.isfinite(ratings).sum(axis=0) > 1).sum() < FEWEST if names else True:
        report.missing.append(f"{FEWEST} answers with labels of two people tell how far people agree")
    else:
        _alphas(report, f"{len(names)} {LABELLERS}", ratings, ratings)


def _by_length(report: JudgeReport, case: _Judged) -> None:
    """Of answers that are equally right: does the judge prefer the longer half? Mantel and Haenszel's difference."""
    what = "more often right where longer, of equally right answers"
    lengths = np.array([len(words_of(case.records[key].get("output"))) for key in case.keys])
    parts = []
    for is_right in (True, False):
        own = case.told & (case.truths == is_right)
        longer = lengths > (np.median(lengths[own]) if own.any() else 0)
        parts.append((case.verdicts[own & longer], case.verdicts[own & ~longer]))
    found = risk_difference(parts)
    if found is None:
        report.missing.append(f"{case.name}: length: {FEWEST} labelled answers, shorter and longer ones, tell")
    else:
        report.measures.append(Measure(case.name, what, int(case.told.sum()), *found))


def risk_difference(parts: Sequence[tuple[Sequence[bool] | Floats, Sequence[bool] | Floats]]) -> _Bounds | None:
    """Return how much more often the first of two groups has it than the second, with its 95% interval.

    Mantel and Haenszel's difference over strata, with the variance of Greenland and Robins (1985), in which each group
    has half a hit and half a miss more: without, groups that agree would be certain.
    """
    top = bottom = spread = 0.0
    for one, two in parts:
        first, second = len(one), len(two)
        if not first or not second:
            continue
        weight = first * second / (first + second)
        shares = [(float(np.sum(each)) + 0.5) / (len(each) + 1.0) for each in (one, two)]
        top += weight * float(np.mean(one) - np.mean(two))
        bottom += weight
        spread += weight**2 * sum(p * (1 - p) / count for p, count in zip(shares, (first, second), strict=True))
    if sum(len(each) for pair in parts for each in pair) < FEWEST or not bottom:
        return None
    value, margin = top / bottom, _Z * math.sqrt(spread) / bottom
    return value, max(value - margin, -1.0), min(value + margin, 1.0)


_Bounds = tuple[float, float, float]


def _by_order(report: JudgeReport, case: _Judged) -> None:
    """Count verdicts that changed when the order was reversed, and of those, which place won twice."""
    changed, firsts = [], []
    for record in case.records.values():
        scores = record.get("scores") or {}
        changed += [bool(each.bias) for each in judgements_of(scores) if isinstance(each.bias, bool)]
        for each in contests_of(scores):
            if each.winner is not None and each.reversed_winner is not None:
                changed.append(each.winner != each.reversed_winner)
                firsts += [each.winner == each.first] if changed[-1] else []
    for what, hits in (("verdicts that the order changed", changed), ("of these, the first shown won", firsts)):
        if hits:
            report.measures.append(
                Measure(case.name, what, len(hits), sum(hits) / len(hits), *share_bounds(sum(hits), len(hits)))
            )
    if not changed:
        report.missing.append(f"{case.name}: position: no verdict was asked for in both orders (check_positional_bias)")


def _by_wording(report: JudgeReport, case: _Judged) -> None:
    every = [record.get("scores") or {} for record in case.records.values()]
    names = {each.name for scores in every for each in judgements_of(scores)}
    names |= {key for scores in every for key in scores if key.startswith("judge")}
    columns = {name: found for name in sorted(names) if np.isfinite(found := case.column(name)).any()}
    for (one, first), (two, second) in combinations(columns.items(), 2):
        _changes(report, f"{case.name}: {two} against {one}", first, second, case)
    if len(columns) < 2:  # noqa: PLR2004 - two metrics
        report.missing.append(
            f"{case.name}: consistency: one metric judges; another wording of it beside it would tell"
        )


def _by_version(report: JudgeReport, first: _Judged, second: _Judged) -> None:
    """Compare what two judges, or one judge at two times, say of the answers that two runs share."""
    places = {key: place for place, key in enumerate(second.keys)}
    shared = [(here, places[key]) for here, key in enumerate(first.keys) if key in places]
    if len(shared) < FEWEST:
        report.missing.append(
            f"{first.exam}: drift: {second.run.path.name} has {len(shared)} answers of {first.run.path.name}"
        )
        return
    one, two = np.array(shared).T
    who = "one judge twice" if first.models == second.models != [] else f"{_who(second)} after {_who(first)}"
    later = np.full(len(first.keys), math.nan)
    later[one] = second.scores[two]
    of = f"{first.exam}, {second.run.path.name} against {first.run.path.name} ({who})"
    _changes(report, of, first.scores, later, first)


def _who(case: _Judged) -> str:
    return ", ".join(case.models) or "an unnamed judge"


def _changes(report: JudgeReport, of: str, first: Floats, second: Floats, case: _Judged) -> None:
    both = np.isfinite(first) & np.isfinite(second)
    flips = both & ((first > _HALF) != (second > _HALF))
    count, changed = int(both.sum()), int(flips.sum())
    if not count:
        return
    measure = Measure(of, "verdicts that differ", count, changed / count, *share_bounds(changed, count))
    test = bounded_test(first[both], second[both], whole=1.0)
    interval = test.interval(0.95)
    report.measures += [measure, Measure(of, "mean score, more", count, test.difference, interval.low, interval.high)]
    report.flipped += [(of, question_of(case.records[case.keys[place]])) for place in np.flatnonzero(flips)]


def _of_itself(report: JudgeReport, cases: Sequence[_Judged]) -> None:
    """Compare how much too well a judge thinks of its own answers with what it thinks of others'."""
    mine = [case for case in cases if case.is_own and case.told.sum() >= FEWEST]
    others = [case for case in cases if not case.is_own and case.told.sum() >= FEWEST]
    for one, two in ((one, two) for one in mine for two in others if one.models == two.models):
        (own, first), (other, second) = _overrated(one), _overrated(two)
        value, margin = own - other, _Z * math.sqrt(first + second)
        of = f"{one.exam}, {one.run.path.name} against {two.run.path.name}"
        count = int(one.told.sum() + two.told.sum())
        report.measures.append(Measure(of, "own answers overrated, more", count, value, value - margin, value + margin))
    if not (mine and others):
        report.missing.append(
            f"{cases[0].exam}: self-preference: labelled answers of the judge itself, and of another model, would tell"
        )


def _overrated(case: _Judged) -> tuple[float, float]:
    """Return the mean of verdict less label and its variance, by the probabilities of the draw."""
    known = np.isfinite(case.labels)
    share = case.weights[known] / case.weights[known].sum()
    rest = case.scores[known] - case.labels[known]
    mean = float(share @ rest)
    return mean, float((share**2) @ ((rest - mean) ** 2)) + 0.5 / int(known.sum()) ** 2  # half a mistake unseen


_MOST: Final = 10  # answers that are listed on a screen: JSON has all


def report_tables(found: JudgeReport) -> Iterator[ItemTable]:
    """Yield what is known as tables for people."""
    rows = [
        (each.of, each.what, str(each.count), f"{shown(each.value)} [{shown(each.low)}, {shown(each.high)}]")
        for each in found.measures
    ]
    if rows:
        yield ItemTable("Judges, with 95% intervals", ("of", "measure", "answers", "value"), tuple(rows))
    if found.flipped:
        few = tuple((of, " ".join(question.split())[:_LONGEST]) for of, question in found.flipped[:_MOST])
        yield ItemTable("Decided differently", ("of", "question"), few, len(found.flipped) - len(few))


_LONGEST: Final = 100  # characters of a question: a line
