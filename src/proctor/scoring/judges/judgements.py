"""Judgements of an instance, read back from its scores, the same way for every kind of judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from typing import Any, NamedTuple

from proctor.foreign_text import parse_json

_RAW_OUTPUT, _RAW_INPUT = "_judge_raw_output", "_judge_raw_input"
_OTHER = "positional_bias"


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's word on one instance.

    Attributes:
        name: The score it led to; for a comparison of systems, the system.
        score: The score; ``None`` where the verdict could not be read.
        verdict: What the judge decided: an option, a rating, or for each comparison its winner.
        reasoning: What the judge wrote before it decided; a list where there were several comparisons.
        reply: What it wrote when it decided.
        prompts: What it was asked, by stage: texts or chat messages, as they were sent.
        criteria: What it was to look at, where it judged by criteria.
        summary: What it made of its reasoning, where it was asked to sum up.
        opponents: For each comparison, the other system.
        bias: Whether it decided otherwise with the order reversed; a list where there were several comparisons.
        other_order: ``verdict``, ``reasoning`` and ``reply`` with the order reversed.
    """

    name: str
    score: float | None = None
    verdict: Any = None
    reasoning: Any = None
    reply: Any = None
    prompts: Mapping[str, Any] = field(default_factory=dict)
    criteria: Mapping[str, Any] | None = None
    summary: Any = None
    opponents: list[str] | None = None
    bias: Any = None
    other_order: Mapping[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-like data without what is not known."""
        return {name: value for name, value in asdict(self).items() if value not in (None, {}, [])}


def judgements_of(scores: Mapping[str, Any]) -> list[Judgement]:
    """Return what judges said about an instance.

    Args:
        scores: The scores of the instance, as in ``results[0]["score"]["instance"]`` or ``scores`` of a line of
            ``samples.jsonl``. Scores that no judge gave are passed over.
    """
    return [*_by_template(scores), *_by_criteria(scores), *_comparisons(scores)]


def _by_template(scores: Mapping[str, Any]) -> Iterator[Judgement]:
    for name in _names(scores, _RAW_INPUT):
        rating = _number(scores.get(name))
        yield Judgement(
            name,
            score=rating,
            verdict=scores.get(name),
            reply=scores.get(name + _RAW_OUTPUT),
            prompts={"question": scores[name + _RAW_INPUT]},
        )


def _by_criteria(scores: Mapping[str, Any]) -> Iterator[Judgement]:
    compared = set(_names(scores, "_response_name"))
    judged = dict.fromkeys([*_names(scores, "_assessment"), *_names(scores, "_prompts")])
    for name in judged:
        if name in compared or name.endswith(_OTHER):
            continue

        def part(key: str, name: str = name) -> Any:
            return scores.get(f"{name}_{key}")

        other = {
            "verdict": part(f"{_OTHER}_selected_option"),
            "reasoning": part(f"{_OTHER}_assessment"),
            "reply": part(f"{_OTHER}_option_selection_completion"),
        }
        yield Judgement(
            name,
            score=_number(scores.get(name)),
            verdict=part("selected_option"),
            reasoning=part("assessment"),
            reply=part("option_selection_completion"),
            prompts=part("prompts") or {},
            criteria=_criteria(part("criteria")),
            summary=part("summary"),
            bias=part(_OTHER),
            other_order=other if any(other.values()) else None,
        )


def _comparisons(scores: Mapping[str, Any]) -> Iterator[Judgement]:
    for name in _names(scores, "_response_name"):

        def part(key: str, name: str = name) -> Any:
            return scores.get(f"{name}_{key}")

        system = str(part("response_name"))
        prefix = name[: -len(system)] if name.endswith(system) else ""
        other = {"verdict": part(f"{_OTHER}_selection"), "reasoning": part(f"{_OTHER}_assessments")}
        yield Judgement(
            name,
            score=_number(part("winrate")),
            verdict=part("selections"),
            reasoning=part("assessments"),
            reply=part("option_selection_outputs"),
            prompts=part("prompts") or {},
            criteria=_criteria(scores.get(f"{prefix}criteria")),
            summary=part("summaries"),
            opponents=part("compared_to"),
            bias=part(_OTHER),
            other_order=other if any(other.values()) else None,
        )


class Contest(NamedTuple):
    """Two systems before a judge, the first one shown first; who won, and who with the order reversed, if known."""

    first: str
    second: str
    winner: Any
    reversed_winner: Any


def contests_of(scores: Mapping[str, Any]) -> Iterator[Contest]:
    """Yield the contests of an instance whose judge compared systems in pairs, each once."""
    systems = {name: str(scores[f"{name}_response_name"]) for name in _names(scores, "_response_name")}
    order = list(systems.values())
    for place, (name, system) in enumerate(systems.items()):
        parts = [scores.get(f"{name}_{key}") for key in ("compared_to", "selections", f"{_OTHER}_selection")]
        rivals, winners, others = (each if isinstance(each, list) else [] for each in parts)
        for rival, winner, other in zip_longest(rivals, winners, others):
            if rival in order[place + 1 :]:
                yield Contest(system, rival, winner, other)


def _names(scores: Mapping[str, Any], ending: str) -> Iterator[str]:
    for key, value in scores.items():
        if key.endswith(ending) and value is not None:
            yield key[: -len(ending)]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) else None


def _criteria(text: Any) -> Mapping[str, Any] | None:
    try:
        found = parse_json(text) if isinstance(text, str) else text
    except json.JSONDecodeError:
        return None  # a score of this name that no judge wrote
    return found if isinstance(found, Mapping) else None
