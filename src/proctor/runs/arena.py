"""Arenas: which model is the stronger one, from verdicts on pairs, in a table or of judges that compared answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Final, NamedTuple

import numpy as np

from proctor.errors import UsageError
from proctor.runs.answer_labels import index_of, labelled_exams, table_rows
from proctor.runs.item_tables import ItemTable
from proctor.runs.stored_run import load_run
from proctor.scoring.judges.judged import JUDGED
from proctor.scoring.judges.judgements import contests_of
from proctor.statistics.bradley_terry import Battles, Strengths, apart, corrected, strengths

_FEWEST: Final = 10  # questions: the spread of fewer says little of that of others
_FEWEST_OF_MODEL: Final = (
    5  # pairs that people decided: with about 6 each, the places of ten held in 58 of 58 simulations
)
_POINTS: Final = 400.0 / math.log(10.0)
"""Points of a difference with odds of e to one: 400 are odds of ten to one, as in chess (Elo 1978)."""
_WINNERS: Final = {"model_a": 1.0, "a": 1.0, "model_b": 0.0, "b": 0.0, "tie": 0.5, "draw": 0.5, "tie (bothbad)": 0.5}
_HOW: Final = "a table of battles has model_a, model_b, winner, and may have judge and question"


class Battle(NamedTuple):
    """A verdict on two answers: 1, 0.5 or 0 for the first one; NaN where it could not be read, or is not given."""

    first: str
    second: str
    won: float
    judge: str
    question: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """A model, or a judge, with its number and the 95% interval; of a model in points, and the places it may hold."""

    name: str
    battles: int
    value: float
    low: float
    high: float
    places: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Arena:
    """The strengths of models, the strongest first, and what each of several judges tells apart (1 on average).

    Where they are corrected by people's verdicts, ``plain`` has those by the judges' alone.
    """

    models: list[Ranked]
    judges: list[Ranked]
    notes: list[str]
    plain: list[Ranked] | None = None


def battles_of(path: Path) -> Iterator[Battle]:
    """Yield the battles of a table, or of the judges in a run folder that compared answers of systems.

    Raises:
        DataError, UsageError: It cannot be read, or has none.
    """
    yield from _of_run(path) if path.is_dir() else _of_table(path)


def _of_table(path: Path) -> Iterator[Battle]:
    for line, row in table_rows(path, ("model_a", "model_b", "winner"), _HOW):
        first, second, said = ((row.get(name) or "").strip() for name in ("model_a", "model_b", "winner"))
        won = 1.0 if said == first else 0.0 if said == second else _WINNERS.get(said.casefold(), math.nan)
        if not first or not second or first == second or (said and math.isnan(won)):
            what = f"'{said}' is not a winner" if first and second and first != second else "it lacks two models"
            raise UsageError(f"{path}:{line}: {what}", hint="write model_a, model_b, tie, or the name of one of them")
        judge, question = (row.get("judge") or "").strip(), (row.get("question") or f"{path}:{line}").strip()
        yield Battle(first, second, won, judge, question)


def _of_run(path: Path) -> Iterator[Battle]:
    run = load_run(path)
    index = index_of(run)
    for exam in labelled_exams(run):
        judged = run.results[exam].get(JUDGED) or ()
        judge = ", ".join(sorted({str(model) for each in judged for model in each.get("models", ())}))
        for number, record in enumerate(index.records(exam)):
            question = str(record.get("instance") or f"{exam} {number}")
            for each in contests_of(record.get("scores") or {}):
                asked_twice = each.reversed_winner is not None
                for winner in (each.winner, each.reversed_winner)[: 1 + asked_twice]:
                    won = {each.first: 1.0, each.second: 0.0}.get(str(winner), math.nan)
                    yield Battle(each.first, each.second, won, judge, question)


def arena_of(battles: Sequence[Battle], people: str | None = None) -> Arena:
    """Return the strengths of models, corrected by the verdicts of ``people``, a judge, on pairs drawn at random.

    Raises:
        UsageError: Battles do not tell how far models are apart, are about too few questions, or none is of people.
    """
    turned = [one if one.first < one.second else Battle(one[1], one[0], 1 - one.won, *one[3:]) for one in battles]
    known = [each for each in turned if not math.isnan(each.won) and each.judge != people]
    names = list(dict.fromkeys(name for each in known for name in each[:2]))
    judges, questions = (list(dict.fromkeys(map(attrgetter(name), known))) for name in ("judge", "question"))
    fewest = max(_FEWEST, 2 * (len(names) + len(judges)))  # twice as many as there are numbers to find
    if len(questions) < fewest:
        raise UsageError(f"battles are about {len(questions)} questions, and {fewest} are the fewest", hint=_HOW)
    place = [{name: at for at, name in enumerate(each)} for each in (names, judges, questions)]
    numbers = [(place[0][a], place[0][b], place[1][judge], place[2][about]) for a, b, _, judge, about in known]
    first, second, judge, question = np.array(numbers).T
    won = np.array([each.won for each in known])
    arrays = Battles(first, second, won, judge, question, (won == 0.5) * 1.0)  # noqa: PLR2004 - a tie
    _check(arrays, names)
    found = strengths(arrays, len(names), len(judges))
    if found is None:
        what = "the strengths have no end: a judge never contradicts them, or nothing that judges say agrees"
        raise UsageError(what, hint="more battles before each judge, or leave out a judge with few")
    ranked = _ranked(names, arrays, found)
    sat, keen = np.bincount(judge).tolist(), zip(*found.judges.tolist(), strict=True)
    heard = [Ranked(*each) for each in zip(judges, sat, *keen, strict=True)]
    said = [each for each in turned if each.judge == people]
    lost = len(battles) - len(known) - len(said)
    notes = [f"{len(known)} battles about {len(questions)} questions, whose battles depend on each other"]
    notes += [f"{lost} verdicts could not be read: not counted"] * bool(lost)
    if people is not None and not said:
        who = ", ".join(each or "(without a name)" for each in judges)
        raise UsageError(f"no battle has '{people}' as its judge", why=f"judges are {who}", hint=_HOW)
    made = _by_people(known, said, arrays, names, notes) if said else None
    models, plain = (_ranked(names, arrays, made), ranked) if made else (ranked, None)
    return Arena(models, heard if len(heard) > 1 else [], notes, plain)


def _by_people(
    known: Sequence[Battle], said: Sequence[Battle], arrays: Battles, names: Sequence[str], notes: list[str]
) -> Strengths | None:
    """Return the strengths as people's verdicts correct them; ``None`` where they cannot. Notes say which."""
    heard: dict[tuple[str, str, str], list[float]] = {(*each[:2], each.question): [] for each in known}
    for each in said:
        if not math.isnan(each.won) and (pair := (*each[:2], each.question)) in heard:
            heard[pair].append(each.won)
    labels = Counter(name for pair, found in heard.items() for name in pair[:2] if found)
    count, fewest, made = labels.total() // 2, max(_FEWEST, 2 * (len(names) + 1)), None
    if unused := len({(*each[:2], each.question) for each in said}) - count:
        notes.append(f"{unused} pairs of people have no verdict, or were before no other judge: not used")
    why = f"they are on {count} pairs (at least {fewest} are needed)"
    if bare := [f"{name} has {labels[name]}" for name in names if labels[name] < _FEWEST_OF_MODEL]:
        why = f"{why}; {', '.join(bare)} (at least {_FEWEST_OF_MODEL} each)"
    elif count >= fewest:
        verdicts = [heard[*each[:2], each.question] for each in known]
        won, tied = np.array([(fmean(v), v.count(0.5) / len(v)) if v else (math.nan, 0.0) for v in verdicts]).T
        made, why = strengths(corrected(arrays, won, tied), len(names), 1), "they leave strengths without an end"
    done = f"strengths and places are corrected by people's verdicts on {count} of {len(heard)} pairs"
    notes.append(f"not corrected by people's verdicts: {why}" if made is None else f"{done} (prediction-powered)")
    return made


def _ranked(names: Sequence[str], battles: Battles, found: Strengths) -> list[Ranked]:
    met = np.bincount(np.concatenate([battles.first, battles.second])).tolist()
    points = zip(*(_POINTS * found.models).tolist(), strict=True)
    ranked = (Ranked(*each) for each in zip(names, met, *points, found.places, strict=True))
    return sorted(ranked, key=lambda each: -each.value)


def _check(battles: Battles, names: Sequence[str]) -> None:
    if (alone := apart(battles, len(names))) is None:
        return
    few, met = alone
    ours, others = (", ".join(name for at, name in enumerate(names) if (at in few) == is_in) for is_in in (True, False))
    why = f"every battle between them was won by {ours}" if met else "no battle between them, nor a chain of battles"
    raise UsageError(f"nothing tells how far {ours} and {others} are apart", why=why, hint="let them meet more often")


def arena_tables(found: Arena) -> Iterator[ItemTable]:
    """Yield the strengths, and the judges where there are several, as tables for people."""
    titles = (", corrected by people's verdicts", ", of the judges' verdicts alone") if found.plain else ("",)
    for how, models in zip(titles, (found.models, found.plain), strict=False):
        rows = [(*_cells(each, 0), "-".join(map(str, dict.fromkeys(each.places or ())))) for each in models or ()]
        columns = ("model", "battles", "points", "places")
        yield ItemTable(f"Strengths in points, with 95% intervals{how}", columns, tuple(rows))
    if found.judges:
        rows = [_cells(each, 2) for each in found.judges]
        yield ItemTable("What judges tell apart: 1 on average, 0 by chance", ("judge", "battles", "apart"), tuple(rows))


def _cells(each: Ranked, digits: int) -> tuple[str, ...]:
    return (
        each.name or "-",
        str(each.battles),
        f"{each.value:.{digits}f} [{each.low:.{digits}f}, {each.high:.{digits}f}]",
    )
