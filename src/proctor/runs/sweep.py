"""The result of a sweep of wordings: the scores of its cells, their distribution, where their variance comes from."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np

from proctor.errors import UsageError
from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.results.comparison import bounded_test
from proctor.results.instance_scores import main_score, whole_of
from proctor.running.sweeps import DEMOS, DRAW, EXTRACTION, Cell, Design
from proctor.runs.compare_runs import FindExam
from proctor.runs.exam_items import lines_of, records_of
from proctor.runs.question_words import question_of
from proctor.runs.sample_index import SampleIndex
from proctor.runs.sample_lines import digest_of_line, read_line
from proctor.runs.stored_run import StoredRun, load_run
from proctor.scoring.flat_scores import CLUSTERS, main_of
from proctor.scoring.grading.groups import Alone, cluster_key
from proctor.scoring.scores import Score
from proctor.statistics.arrays import Floats
from proctor.statistics.bounded import within
from proctor.statistics.decision_study import decisions_of
from proctor.statistics.paired_tests import signs_of
from proctor.statistics.part_means import mean_of_part
from proctor.statistics.variance_components import components_of
from proctor.statistics.wording_spread import QUANTILES, Bounded, best_of, flips, spread_of

_WHOLES: Final[Mapping[str, float]] = {"share": 1.0, "percent": 100.0}
_MOST_PAIRS: Final = 100  # differences with an interval: each takes some hundredths of a second
_MOST_FLIPS: Final = 50  # questions that are listed of those that flip: a page
_FEWEST: Final = 2  # wordings, or questions: of one nothing varies
Key = tuple[int, int]
"""The digest of a row; of rows that nobody digested 0, and the number."""


@dataclass(frozen=True, slots=True)
class CellScore:
    """The main score under one wording, with its interval over questions, and the score of each question that has one.

    ``levels`` has the reading among the dimensions; ``noise`` is the variance of one answer to the same prompt, where
    each question was answered ``repeats`` times. ``asked`` has the digests of its rows and of its prompts, and the
    reading: empty where they are not known.
    """

    name: str
    folder: str
    levels: Mapping[str, str]
    score: Score
    failures: int
    values: Mapping[Key, float]
    noise: float | None = None
    repeats: int = 1
    asked: tuple[str, str, str] = ("", "", "")

    @property
    def is_mean(self) -> bool:
        """Whether the score is the mean of the questions' scores, so that these say how it comes about."""
        mean = math.fsum(self.values.values()) / max(len(self.values), 1)
        return math.isclose(mean, self.score.number or 0.0, rel_tol=1e-6, abs_tol=1e-9)


@dataclass(frozen=True, slots=True)
class SweepScores:
    """All scores of a sweep: its wordings, and the number and the words of each question that some wording scored.

    ``is_part`` says that each wording was asked some of the questions, which were drawn for it; ``clusters`` which
    questions belong together, where the exam or the user says so.
    """

    cells: tuple[CellScore, ...]
    questions: Mapping[Key, tuple[int, str]]
    is_part: bool = False
    clusters: Mapping[Key, Hashable] = field(default_factory=dict)

    def keys_of(self, keys: Sequence[Key]) -> list[Hashable] | None:
        """Return the cluster of each key; ``None`` where there are no clusters."""
        return [self.clusters.get(key, key) for key in keys] if self.clusters else None

    def table(self, keys: Sequence[Key]) -> Floats:
        """Return a row for each cell, a column for each key; NaN where a cell has no score of it."""
        return np.array([[cell.values.get(key, math.nan) for key in keys] for cell in self.cells])


def sweep_scores(folder: Path, design: Design, find_exam: FindExam, by: str | None = None) -> SweepScores:
    """Read the cells of a sweep's folder; those without results are left out.

    Args:
        folder: The folder.
        design: What it says of itself.
        find_exam: Builds an exam again, to read its answers otherwise.
        by: The field whose values say which questions belong together; by default the one that the runs name.

    Raises:
        UsageError: No cell has a score.
        ProctorError: Answers cannot be read otherwise; the message says why.
    """
    cells: list[CellScore] = []
    questions: dict[Key, tuple[int, str]] = {}
    clusters: dict[Key, Hashable] = {}
    digests: dict[str, Key] = {}
    for cell in design.cells:
        run = load_run(folder / cell.folder, with_spec=bool(design.readings))  # which only readings need
        named = by or next((each[CLUSTERS]["by"] for each in run.results.values() if each.get(CLUSTERS)), None)
        if named is not None and not clusters:
            clusters = _clusters(run, named)
        cells += _read(run, cell, design.readings, find_exam, questions, digests)
    if not cells:
        raise UsageError(f"no cell of {folder} has a score", hint="the same proctor sweep goes on with it")
    return SweepScores(tuple(cells), questions, design.part is not None, clusters)


class _Short(msgspec.Struct):
    """What of a line says which question it is and what it scored: a tenth of its bytes, and of the time."""

    instance: str
    doc_id: int
    scores: dict[str, Any]


_DECODER: Final = msgspec.json.Decoder(_Short)


def _short(line: bytes) -> _Short | None:
    """Return a line's short form; ``None`` where it is not as lines are."""
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None


def _clusters(run: StoredRun, by: str) -> dict[Key, Hashable]:
    """Return the cluster of each question of a run.

    Raises:
        UsageError: No question has the field.
    """
    found = {}
    for number, record in enumerate(records_of(run)):
        digest = digest_of_line(record)
        key = (0, record.get("doc_id", number)) if digest is None else (digest, 0)
        found[key] = cluster_key(record.get("input") or {}, by, key)
    if found and all(isinstance(each, Alone) for each in found.values()):
        why, hint = "clusters are of a field of the task or its metadata", "proctor show lists the fields"
        raise UsageError(f"no question has a '{by}'", why=why, hint=hint)
    return found


def _numbered(
    run: StoredRun, questions: dict[Key, tuple[int, str]], digests: dict[str, Key]
) -> Iterator[tuple[int, Key, Mapping[str, Any]]]:
    """Yield the number, the key and the scores of each line; keys are the same objects for all wordings."""
    for place, line in enumerate(lines_of(run)):
        short = _short(line)
        if short is not None and (key := digests.get(short.instance)) is not None:
            yield short.doc_id, key, {"scores": short.scores}
            continue
        record = read_line(line)
        number, digest = record.get("doc_id"), digest_of_line(record)
        number = number if isinstance(number, int) else place
        key = (0, number) if digest is None else (digest, 0)
        questions.setdefault(key, (number, question_of(record)))
        if short is not None and digest is not None:
            digests[short.instance] = key
        yield number, key, record


def _read(
    run: StoredRun,
    cell: Cell,
    readings: Sequence[str],
    find_exam: FindExam,
    questions: dict[Key, tuple[int, str]],
    digests: dict[str, Key],
) -> Iterator[CellScore]:
    exam, entry = next(((name, each) for name, each in run.results.items() if each.get("score_name")), ("", {}))
    if not exam:
        return
    main, prints = main_of(entry), Fingerprint.from_dict(entry.get(FINGERPRINT))
    keys: dict[int, Key] = {}
    values: dict[int, float] = {}
    for number, key, record in _numbered(run, questions, digests):
        keys[number] = key
        if (points := main_score(record, main.name)) is not None and math.isfinite(points):
            values[number] = points
    factor = 100.0 / whole_of(values.values(), entry) if entry.get("unit") == "percent" else 1.0
    noise, repeats = None, 1
    said = entry.get("repeats")
    if isinstance(said, Mapping) and isinstance(error := said.get("answer_noise"), int | float):
        repeats = int(said["repeats"])
        noise = float(error) ** 2 * int(said["instances"]) * repeats  # from a standard error of the mean
    found = [("", main, values)]
    if readings and run.samples is not None:
        from proctor.runs.readings import readings_of

        index = SampleIndex.of_run(run.samples, run.results, run.spec)
        index.build()
        said_by = readings_of(index, exam, find_exam)
        found = [(way, said_by.scores[way], said_by.values[way]) for way in readings]
    for way, score, scores in found:
        name = " · ".join(filter(None, (cell.name if cell.levels else "", way))) or cell.name
        levels = {**cell.levels, EXTRACTION: way} if way else dict(cell.levels)
        means = {keys[number]: factor * value for number, value in scores.items()}
        if len(means) < len(scores):  # some questions are asked several times
            several: dict[Key, list[float]] = {}
            for number, value in scores.items():
                several.setdefault(keys[number], []).append(factor * value)
            means = {key: math.fsum(each) / len(each) for key, each in several.items()}
        failures = int(entry.get("failures") or 0)
        asked = (prints.rows, prints.prompts, way) if prints else ("", "", "")
        yield CellScore(name, cell.folder, levels, score, failures, means, noise, repeats, asked)


def factors_of(cells: Sequence[CellScore]) -> dict[str, list[Any]]:
    """Return the level of each wording by dimension; a draw of demos is one of so many demos, and of no others."""
    found: dict[str, list[Any]] = {name: [each.levels.get(name) for each in cells] for name in cells[0].levels}
    if DRAW in found and DEMOS in found:
        found[DRAW] = list(zip(found[DEMOS], found[DRAW], strict=True))
    return found


def result_of(scores: SweepScores, design: Design) -> dict[str, Any]:
    """Return what a sweep came to, as JSON-like data; what cannot be said is left out, with its reason in ``notes``.

    ``cells`` are the wordings with their scores; ``over_wordings`` is the score of the exam over all of them, with an
    interval that holds for other wordings, too; ``distribution`` has the quantiles and the worst cases, ``flips`` the
    questions that wordings decide, ``components`` where the variance comes from, ``decisions`` what makes it smaller,
    ``best`` the best wording, corrected for having been chosen, and ``differences`` those of all others from it. Of a
    design of which a part was asked, ``estimated`` says how, each cell has an ``estimate``, and nothing else is told.
    """
    main, notes = scores.cells[0].score, list[str]()
    cells = [
        {"name": each.name, "folder": each.folder, "levels": dict(each.levels), "metric": each.score.name,
         "score": each.score.number, "low": each.score.low, "high": each.score.high, "n": len(each.values),
         "failures": each.failures}
        for each in scores.cells
    ]  # fmt: skip
    result: dict[str, Any] = {"metric": main.name, "unit": main.unit, "cells": cells, "notes": notes}
    result |= {"higher_is_better": main.higher_is_better is not False, "questions": len(scores.questions)}
    metrics = dict.fromkeys(each.score.name for each in scores.cells)
    if lacking := len(design.cells) * max(1, len(design.readings)) - len(cells):
        notes.append(f"{lacking} of the wordings have no score: the same command goes on with them")
    if len(metrics) > 1 or not all(each.is_mean for each in scores.cells):
        why = f"they are {', '.join(metrics)}" if len(metrics) > 1 else f"{main.name} is not a mean over questions"
        notes.append(f"only the scores of the wordings are told: {why}")
        return result
    table = scores.table(list(scores.questions))
    if design.part is not None:
        return result | _estimates(result, scores, design.part, table)
    whole = np.flatnonzero(~np.isnan(table).any(axis=0))
    result["shared"] = len(whole)
    if left_out := table.shape[1] - len(whole):
        notes.append(f"{left_out} questions lack a score under some wording, and count in the table of scores alone")
    if len(cells) < _FEWEST or len(whole) < _FEWEST:
        notes.append("one wording, or one question, says nothing of how wordings differ")
        return result
    kept = list(scores.questions.values())
    table = table[:, whole]
    all_keys = list(scores.questions)
    clusters = scores.keys_of([all_keys[place] for place in whole])
    if clusters is not None:
        result["clusters"] = len(set(clusters))
    told = _spread(result, table, [kept[place] for place in whole], clusters)
    return result | told | _components(result, scores, table, clusters)


def _estimates(
    result: Mapping[str, Any], scores: SweepScores, part: Mapping[str, Any], table: Floats
) -> dict[str, Any]:
    """Return what a model says of a grid of which a part was asked."""
    from proctor.runs.sweep_estimates import estimates_of

    notes, full = result["notes"], _WHOLES.get(result["unit"])
    if full is None or np.nanmin(table) < 0 or np.nanmax(table) > full:
        notes.append(f"nothing is estimated of what was not asked: {result['metric']} has no bounds")
        return {}
    if lacking := part["asked"] - int((~np.isnan(table)).sum()):
        notes.append(f"{lacking} of the answers that were asked for have no score, and are estimated like the others")
    return estimates_of(result, part, table, factors_of(scores.cells), full)


def _bounded(found: Bounded, whole: float | None, questions: int) -> dict[str, float]:
    """Return a score with its interval, which shuts out nothing that questions could add which nobody has seen."""
    if whole is not None and 0.0 <= found[0] <= whole:
        score, low, high = (each / whole for each in found)
        low, high = within(low, high, score, questions)
        found = whole * score, whole * low, whole * high
    return dict(zip(("score", "low", "high"), found, strict=True))


def _spread(
    result: Mapping[str, Any], table: Floats, questions: Sequence[tuple[int, str]], clusters: Sequence[Hashable] | None
) -> dict[str, Any]:
    """Return the distribution over wordings, the best of them, and what flips."""
    better, names = bool(result["higher_is_better"]), [each["name"] for each in result["cells"]]
    quantiles, worst_of_each = spread_of(table, higher_is_better=better, clusters=clusters)
    means, share = table.mean(axis=1), flips(table)
    best = best_of(table, higher_is_better=better, clusters=clusters)
    furthest = set(np.argsort(-np.abs(means - means[best.place]), kind="stable")[:_MOST_PAIRS].tolist())
    if len(names) > _MOST_PAIRS + 1:
        result["notes"].append(f"of the differences from the best wording, the {_MOST_PAIRS} largest have intervals")
    differences, flipping, whole = [], int((share > 0).sum()), _WHOLES.get(result["unit"])
    units = table.shape[1] if clusters is None else len(set(clusters))
    for place, name in enumerate(names):
        if place != best.place:
            test = bounded_test(table[best.place], table[place], clusters, whole)
            far = place in furthest
            low, high = test.interval(1.0 - best.pair_level) if far else (math.nan, math.nan)
            decided = signs_of(test, 1.0 - best.pair_level)[0] != 0
            ends = {} if np.isnan(low + high) else {"low": float(low), "high": float(high)}
            differences.append({"name": name, "difference": test.difference, "decided": decided, **ends})
    return {
        "distribution": {
            "quantiles": [{"of": q, **_bounded(each, whole, units)} for q, each in quantiles.items()],
            "worst": names[int(np.argmin(means) if better else np.argmax(means))],
            "worst_of_each": _bounded(worst_of_each, whole, units),
        },
        "best": {"name": names[best.place], "observed": float(means[best.place])}
        | _bounded(best.corrected, whole, units),
        "differences": differences,
        "flipping": flipping,
        "flips": [
            {"number": questions[place][0], "question": questions[place][1][:200], "flips": float(share[place]),
             "score": float(table[:, place].mean())}
            for place in np.argsort(-share, kind="stable")[: min(flipping, _MOST_FLIPS)]
        ],
    }  # fmt: skip


def _components(
    result: Mapping[str, Any], scores: SweepScores, table: Floats, clusters: Sequence[Hashable] | None
) -> dict[str, Any]:
    """Return where the variance comes from, the interval over wordings, and what would make it narrower."""
    found = components_of(table, factors_of(scores.cells), whole=_WHOLES.get(result["unit"]), clusters=clusters)
    noises = [cell.noise for cell in scores.cells if cell.noise is not None]
    noise, repeats = sum(noises) / max(len(noises), 1), scores.cells[0].repeats
    over = asdict(found)
    return {
        "components": over.pop("parts"),
        "over_wordings": over,
        "answer_noise": {"variance": noise, "repeats": repeats} if noises else None,
        "decisions": [each._asdict() for each in decisions_of(found, noise=noise, repeats=repeats)],
    }


def _paired(first: Sequence[CellScore], second: Sequence[CellScore]) -> Iterator[tuple[CellScore, CellScore]]:
    """Yield wordings that ask the same; where the rows are not all the same, digests say nothing, and levels do."""
    by_prompts = {each.asked: each for each in second if each.asked[1]}
    by_levels = {repr(sorted(each.levels.items())): each for each in second}
    for each in first:
        other = by_prompts.get(each.asked) or by_levels.get(repr(sorted(each.levels.items())))
        if other is not None and (other.asked == each.asked or other.asked[0] != each.asked[0]):
            yield each, other


def difference_of(first: SweepScores, second: SweepScores, level: float = 0.95) -> dict[str, Any]:
    """Return by how much the second of two sweeps is higher, under the wordings and on the questions that both ask.

    Wordings are the same where their prompts are, whatever they are called; ``unpaired`` counts those that have none.
    Whether more is ``better`` (1), or less (-1), is 0 where no run says it. The second is better by at most so much,
    which is between ``least`` and ``most``, whatever the ``unanswered`` questions would have scored. Of sweeps of which
    a part was asked, the ``answers`` that both have are compared, and quantiles are estimates.

    Raises:
        UsageError: They share fewer than two of either, or are scored by different metrics.
    """
    from proctor.runs.sweep_estimates import few_note

    is_part = first.is_part or second.is_part
    pairs = list(_paired(first.cells, second.cells))
    keys = [key for key in first.questions if key in second.questions]
    if is_part:
        pairs = [pair for pair in pairs if pair[0].values.keys() & pair[1].values.keys()]
    one, two = (SweepScores(cells, {}).table(keys) for cells in (zip(*pairs, strict=True) if pairs else ((), ())))
    known = ~np.isnan(one + two)
    whole = np.flatnonzero(known.any(axis=0) if is_part else known.all(axis=0)) if pairs else np.zeros(0, int)
    metrics = dict.fromkeys((each.score.name, each.score.unit) for pair in pairs for each in pair)
    if len(pairs) < _FEWEST or len(whole) < _FEWEST or len(metrics) > 1:
        why = f"both ask {len(pairs)} wordings and {len(whole)} questions; metrics: {', '.join(m for m, _ in metrics)}"
        hint = "sweep the same exam with the same options"
        raise UsageError("the sweeps cannot be compared", why=why, hint=hint)
    columns, main = [one[:, whole], two[:, whole], two[:, whole] - one[:, whole]], pairs[0][0].score
    factors, shared = factors_of([each for each, _ in pairs]), None
    if is_part:
        found: dict[str, Any] = {**mean_of_part(columns[2], factors, level)._asdict(), "answers": int(known.sum())}
        found["notes"] = few_note(factors)
        lost, rows = sum(each.failures for pair in pairs for each in pair), _estimated_quantiles(columns, factors, main)
        answered = found["answers"] / (found["answers"] + lost)
    else:
        lost, answered = len(keys) - len(whole), len(whole) / len(keys)
        shared = first.keys_of([keys[place] for place in whole])
        found = asdict(components_of(columns[2], factors, level=level, clusters=shared))
        rows = np.quantile([each.mean(axis=1) for each in columns], QUANTILES, axis=1).tolist()
    if (full := _WHOLES.get(main.unit)) is not None:  # questions that nobody has seen might differ by the whole
        for of in ("", "naive_"):
            low, high, mean = ((found[name] / full + 1) / 2 for name in (f"{of}low", f"{of}high", "mean"))
            low, high = within(low, high, mean, len(whole) if shared is None else len(set(shared)), level)
            found |= {f"{of}low": full * (2 * low - 1), f"{of}high": full * (2 * high - 1)}
    is_better = main.higher_is_better is not False
    better = 0 if main.higher_is_better is None and main.unit == "raw" else 1 if is_better else -1
    top = max(better * found["low"], better * found["high"])
    open_by = (1 - answered) * _WHOLES.get(main.unit, math.inf) if answered < 1 else 0.0
    return {
        **found,
        "unanswered": lost,
        "least": answered * top - open_by,
        "most": answered * top + open_by,
        "wordings": len(pairs),
        "questions": len(whole),
        "unpaired": len(first.cells) + len(second.cells) - 2 * len(pairs),
        "better": better,
        "higher_under": int((np.nanmean(columns[2], axis=1) > 0).sum()),
        "quantiles": [
            dict(zip(("of", "first", "second", "difference"), (q, *row), strict=True))
            for q, row in zip(QUANTILES, rows, strict=bool(rows))
        ],
    }


def _estimated_quantiles(
    columns: Sequence[Floats], factors: Mapping[str, Sequence[Any]], score: Score
) -> list[tuple[float, float, float]]:
    """Return the quantiles of two sweeps and their distances, as a model says them; none of scores without bounds."""
    from proctor.statistics.wording_model import modelled

    full = _WHOLES.get(score.unit)
    if full is None or min(map(np.nanmin, columns[:2])) < 0 or max(map(np.nanmax, columns[:2])) > full:
        return []
    first, second = (modelled(each / full, factors).quantiles for each in columns[:2])
    return [(full * first[q][0], full * second[q][0], full * (second[q][0] - first[q][0])) for q in QUANTILES]
