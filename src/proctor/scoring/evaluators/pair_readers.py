"""Readers of judgements of two answers: AlpacaEval, Arena-Hard, WildBench, Compass Arena.

Scores are of the candidate, whoever stood first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from proctor.scoring.evaluators.cases import average, grouped, percent

CANDIDATE, OTHER = "candidate", "other"


class Judged(NamedTuple):
    """One judgement.

    Attributes:
        words: What the judge said.
        first: Who stood first.
        fields: What the row says for scores: its output column.
    """

    words: str
    first: str
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PairReader:
    """How judgements of pairs are read.

    Attributes:
        points: From a judgement to what the candidate gets for it, between -1 and 1; ``None`` where it cannot be read.
        scores: From the points of readable judgements to scores.
    """

    points: Callable[[Judged], float | None]
    scores: Callable[..., dict[str, float]]

    def with_arguments(self, arguments: Mapping[str, Any]) -> PairReader:
        """Return the reader with arguments of its scores.

        Raises:
            TypeError: It has no such argument, when it is called.
        """
        return PairReader(self.points, partial(self.scores, **arguments)) if arguments else self


_Points = Sequence[tuple[Judged, float]]


def _signed(judged: Judged, of_first: float) -> float:
    return of_first if judged.first == CANDIDATE else -of_first


def _alpaca_points(judged: Judged) -> float | None:
    """Read AlpacaEval's verdict: ``m`` is the first answer, ``M`` the second."""
    return {"m": _signed(judged, 1.0), "M": _signed(judged, -1.0)}.get(judged.words[:1])


def _alpaca_scores(judged: _Points) -> dict[str, float]:
    names = (("total", *filter(None, [str(each.fields.get("capability", ""))])) for each, _ in judged)
    return {
        name: round(percent(wins), 2) for name, wins in grouped((points > 0 for _, points in judged), names).items()
    }


_ARENA = re.compile(r"\[\[([AB<>=]+)\]\]")
_ARENA_POINTS = {"A>>B": 1.0, "A>B": 0.5, "A=B": 0.0, "B>A": -0.5, "B>>A": -1.0}
_EITHER_WAY = {**_ARENA_POINTS, "B<<A": 1.0, "B<A": 0.5, "B=A": 0.0, "A<B": -0.5, "A<<B": -1.0}
_HEAVY = 3  # how often a clear win counts (Arena-Hard: ``get_battles_from_judgment``)


def _bracketed(judged: Judged, known: Mapping[str, float]) -> float | None:
    found = _ARENA.findall(judged.words)
    points = known.get(found[0]) if found else None
    return None if points is None else _signed(judged, points)


def _arena_scores(judged: _Points) -> dict[str, float]:
    """Return the chance to win that two models' Bradley-Terry strengths give: of two, the weighted share of wins."""
    weights = [_HEAVY if abs(points) == 1 else 1 for _, points in judged]
    won = sum(
        weight * (0.5 + (points > 0) / 2 - (points < 0) / 2)
        for weight, (_, points) in zip(weights, judged, strict=True)
    )
    return {"score": round(100 * won / sum(weights), 2)}


def _category_scores(judged: _Points) -> dict[str, float]:
    """Return the mean points in percent, of all and of categories by difficulty (CompassArena's subjective bench)."""
    names = (("Average_score", f"{each.fields['category']}_{each.fields['difficulty']}") for each, _ in judged)
    groups = grouped((points for _, points in judged), names)
    return {name: round(percent(points), 3) for name, points in groups.items()}


_CHOICE = re.compile("(?:选择：|Choice: )([ABC])")  # noqa: RUF001 - Chinese


def _compass_points(judged: Judged) -> float | None:
    found = _CHOICE.findall(judged.words)
    return _signed(judged, {"A": 1.0, "B": -1.0, "C": 0.0}[found[0]]) if found else None


def _compass_scores(judged: _Points, summary_type: str = "single", check_pos_bias: bool = True) -> dict[str, float]:
    """Return the share of wins of each capability in percent, and how many questions were judged by position alone.

    Args:
        judged: The judgements.
        summary_type: Whether a draw counts as half a win (``half_add``) or as none.
        check_pos_bias: Whether questions are counted whose two judgements name the same place.
    """
    worth = {1.0: 1.0, 0.0: 0.5 if summary_type == "half_add" else 0.0, -1.0: 0.0}
    groups = grouped((worth[points] for _, points in judged), ([str(each.fields["capability"])] for each, _ in judged))
    scores = {name: round(percent(won), 2) for name, won in groups.items()}
    return {**scores, "position_bias": _judged_by_position(judged) if check_pos_bias else 0}


def _judged_by_position(judged: _Points) -> int:
    """Return how many questions have a later judgement that names the same place as the first one."""
    places: dict[Any, float] = {}
    count = 0
    for each, points in judged:
        question, place = each.fields.get("question"), _signed(each, points)
        if question not in places:
            places[question] = place
        elif place and places[question] == place:
            count += 1
    return count


_WILD = re.compile(r'"choice": "(.*?)"')
_WILD_POINTS = {"A++": 1.0, "A+": 0.5, "A=B": 0.0, "B+": -0.5, "B++": -1.0}
_WILD_GROUPS = {
    "Information seeking": "Information/Advice seeking",
    "Advice seeking": "Information/Advice seeking",
    "Creative Writing": "Creative Tasks",
    "Editing": "Creative Tasks",
    "Brainstorming": "Creative Tasks",
    "Role playing": "Creative Tasks",
    "Others": "Creative Tasks",
    "Coding & Debugging": "Coding & Debugging",
    "Reasoning": "Planning & Reasoning",
    "Planning": "Planning & Reasoning",
    "Math": "Math & Data Analysis",
    "Data Analysis": "Math & Data Analysis",
}
"""WildBench's groups of tasks (``task_group_new``)."""


def _wild_points(judged: Judged) -> float | None:
    found = _WILD.findall(judged.words)
    points = _WILD_POINTS.get(found[0]) if found else None
    return None if points is None else _signed(judged, points)


def _wild_scores(judged: _Points) -> dict[str, float]:
    tags = ((each.fields.get("primary_tag"), *(each.fields.get("secondary_tag") or ())) for each, _ in judged)
    groups = grouped((points for _, points in judged), ([_WILD_GROUPS[str(tag)] for tag in own] for own in tags))
    scores = {name: round(percent(points), 2) for name, points in groups.items()}
    return {"average": average([*scores.values()]), **scores}


PAIR_READERS: Mapping[str, PairReader] = {
    "alpacaeval_postprocess": PairReader(_alpaca_points, _alpaca_scores),
    "arenahard_postprocess": PairReader(partial(_bracketed, known=_ARENA_POINTS), _arena_scores),
    "wildbench_postprocess": PairReader(_wild_points, _wild_scores),
    "compassarena_postprocess": PairReader(_compass_points, _compass_scores),
    "compassarena_subjectiveeval_pairwise_postprocess": PairReader(
        partial(_bracketed, known=_EITHER_WAY), _category_scores
    ),
}
"""By the name under which OpenCompass has them (``datasets/subjective``)."""
