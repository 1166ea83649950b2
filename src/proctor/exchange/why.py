"""The reason for a difference of two scores: the first layer at which two runs part, and what each layer explains.

An instance passes layers: it is a row, it is put in words, an engine is told how to write, which answers or
fails, something is read out of the answer, that is scored, and scores are weighed. Two runs are paired by what
instances hold. Of each pair, the first layer that differs is the one that its difference in score is put down to. Rows
that only one run has, and pairs that only one of them scored, explain what they change in the two means; the weights,
what the scores differ from these means. So what the layers explain adds up to the difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any, Final, Literal

from proctor.exchange.observed import DECODING_KEYS, Observed, ObservedExam, Pair, paired
from proctor.runs.meaning import SAME
from proctor.scoring.judges.judged import judges_that_differ

Layer = Literal["rows", "prompt", "engine", "decoding", "answer", "failure", "extraction", "metric", "weights"]

LAYERS: Final[Mapping[Layer, str]] = {
    "rows": "rows: other instances",
    "prompt": "prompt: other words were sent",
    "decoding": "decoding: the model was to write in another way",
    "engine": "engine: another model, endpoint or argument answered otherwise",
    "answer": "answer: the model answered otherwise",
    "failure": "failure: there is an answer in one run only",
    "extraction": "extraction: something else was read out of the same answer",
    "metric": "metric: the same was scored otherwise",
    "weights": "weights: the score is not the plain mean of its instances",
}
_CLOSE: Final = 1e-6
"""Relative difference of two log-likelihoods that is none: sums in another order."""

_ROUNDED: Final = 1e-4
"""How far a score lies from the mean of its instances where a file rounds it."""


@dataclass(frozen=True, slots=True)
class Example:
    """An instance at which two runs part.

    Attributes:
        first, second: Its numbers in the two files; ``None`` where it is not there.
        before, after: What differs.
        score_before, score_after: Its scores.
    """

    first: int | None
    second: int | None
    before: str
    after: str
    score_before: float | None = None
    score_after: float | None = None


@dataclass(slots=True)
class Part:
    """The share of one layer in a difference.

    Attributes:
        layer: Which.
        count: Instances whose first difference it is.
        explained: Of the difference in score.
        examples: The first of them.
    """

    layer: Layer
    count: int = 0
    explained: float = 0.0
    examples: list[Example] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Explanation:
    """The explanation of a difference between two scores.

    Attributes:
        first, second: The exams.
        metrics: The scores that are compared.
        parts: By layer, in order; only those that differ.
        pairs: Instances that both have.
        alone: Instances that only one has.
        means: Of the instance scores of either; ``None`` where a file has none.
        notes: What else is to be known.
    """

    first: ObservedExam
    second: ObservedExam
    metrics: tuple[str, str]
    parts: Mapping[Layer, Part]
    pairs: int
    alone: tuple[int, int]
    means: tuple[float | None, float | None]
    notes: tuple[str, ...]

    @property
    def layer(self) -> Layer | None:
        """The first layer at which the runs part; ``None`` where nothing differs."""
        return next(iter(self.parts), None)

    @property
    def difference(self) -> float | None:
        """Of the scores, where they are not the plain means of their instances; else of the two means."""
        one, two = self.means
        weights = self.parts.get("weights")
        return None if one is None or two is None else two - one + (weights.explained if weights else 0.0)


def explain(first: ObservedExam, second: ObservedExam, shown: int = 3) -> Explanation:
    """Explain the difference between the scores of two exams.

    Args:
        first, second: The exams.
        shown: Examples of each layer.
    """
    metrics = _metrics(first, second)
    pairs, alone, by = paired(first.instances, second.instances)
    parts: dict[Layer, Part] = {}
    notes = _notes(first, second, pairs, by)
    _rows(parts, first, second, alone, pairs, metrics, shown)
    engine = _facts(first, second)
    are_scored = all(any(metrics[side] in pair[side].scores for pair in pairs) for side in (0, 1))
    layers = [_layer(a, b, metrics, by, engine, are_scored=are_scored) for a, b in pairs]
    _unscored(parts, pairs, layers, metrics)
    scored = [(a, b) for a, b in pairs if metrics[0] in a.scores and metrics[1] in b.scores]
    for (a, b), layer in zip(pairs, layers, strict=True):
        if layer is None:
            continue
        part = parts.setdefault(layer, Part(layer))
        part.count += 1
        if metrics[0] in a.scores and metrics[1] in b.scores:
            part.explained += (b.scores[metrics[1]] - a.scores[metrics[0]]) / len(scored)
        if len(part.examples) < shown:
            part.examples.append(_example(layer, a, b, metrics, engine))
    notes += _unseen(first, second, engine, pairs, parts, are_scored=are_scored)
    if any(_decodings(a, b) for a, b in pairs) and "decoding" not in parts:
        notes.append("decoding differs, and no answer does")
        parts["decoding"] = Part("decoding", examples=[_example("decoding", *pairs[0], metrics, {})])
    means = (first.mean(metrics[0]), second.mean(metrics[1]))
    _weights(parts, first, second, metrics, means)
    ordered = {layer: parts[layer] for layer in LAYERS if layer in parts}
    return Explanation(first, second, metrics, ordered, len(pairs), (len(alone[0]), len(alone[1])), means, tuple(notes))


# -- layers ---------------------------------------------------------------------------------------------------------


def _layer(
    a: Observed, b: Observed, metrics: tuple[str, str], by: str, engine: Facts, *, are_scored: bool
) -> Layer | None:
    """Return the first layer in which a pair differs; where a file scores no instance, none lacks its score."""
    one, two = a.scores.get(metrics[0]), b.scores.get(metrics[1])
    is_one_sided = are_scored and (one is None) != (two is None)
    has_failed = bool(a.failure and not a.answer), bool(b.failure and not b.answer)
    is_otherwise = not _same_answer(a.answer, b.answer)
    is_other_model = bool(engine) or bool(a.model and b.model and a.model != b.model)
    differs: dict[Layer, bool] = {
        "rows": by == "number" and bool(a.references and b.references) and a.references != b.references,
        "failure": is_one_sided and has_failed[0] != has_failed[1],
        "prompt": a.prompt is not None and b.prompt is not None and a.prompt != b.prompt,
        "decoding": is_otherwise and bool(_decodings(a, b)),
        "engine": is_otherwise and is_other_model,
        "answer": is_otherwise,
        "extraction": a.extracted is not None and b.extracted is not None and a.extracted != b.extracted,
        "metric": is_one_sided or (one is not None and two is not None and not _equal(one, two)),
    }
    return next((layer for layer, is_so in differs.items() if is_so), None)


Facts = Mapping[str, tuple[Any, Any]]
"""What two runs say differently of the engine, by name."""


def _facts(first: ObservedExam, second: ObservedExam) -> Facts:
    """Return what differs of the engines; how they write is a layer of its own."""
    one, two = first.engine, second.engine
    if one is None or two is None or (one["identity"] and one["identity"] == two["identity"]):
        return {}
    names = [name for name in {**one, **two} if name not in (*DECODING_KEYS, "identity")]
    return {name: (one.get(name), two.get(name)) for name in names if one.get(name) != two.get(name)}


_DEFINED: Final[Mapping[Literal["extraction", "metric"], str]] = {
    "extraction": "answers are read in other ways",
    "metric": "the metric is defined otherwise",
}


def _unseen(
    first: ObservedExam,
    second: ObservedExam,
    engine: Facts,
    pairs: Sequence[Pair],
    parts: Mapping[Layer, Part],
    *,
    are_scored: bool,
) -> Iterator[str]:
    """Yield what differs between the runs and shows in no instance."""
    models = [", ".join(sorted({pair[side].model for pair in pairs if pair[side].model})) for side in (0, 1)]
    unseen = "" if "decoding" in parts else ", and no answer does"
    if "engine" not in parts and engine:
        yield f"the engine differs ({_told(engine, 0)} and {_told(engine, 1)}){unseen}"
    places = [(side.engine or {}).get("base_url") for side in (first, second)]
    if not engine and all(places) and places[0] != places[1]:
        yield f"one model was asked at {places[0]} and at {places[1]}"
    if "engine" not in parts and all(models) and models[0] != models[1]:
        yield f"the models that answered differ ({models[0]} and {models[1]}){unseen}"
    for layer, words in _DEFINED.items():
        one, two = first.definitions.get(layer), second.definitions.get(layer)
        if layer not in parts and one and two and one != two:
            yield f"{words}, and no instance shows it" if are_scored else words


def _told(facts: Facts, side: int) -> str:
    return ", ".join(f"{name}={pair[side]!r}" for name, pair in facts.items())


def _unscored(
    parts: dict[Layer, Part], pairs: Sequence[Pair], layers: Sequence[Layer | None], metrics: tuple[str, str]
) -> None:
    """Put down to the layer of pairs that only one run scored what these change in the two means, layer by layer."""
    kept = list(zip(pairs, layers, strict=True))
    for layer in LAYERS:
        left = [((a, b), found) for (a, b), found in kept if found != layer or _are_both(a, b, metrics)]
        if len(left) < len(kept):
            before, after = (_gap([pair for pair, _ in each], metrics) for each in (kept, left))
            parts.setdefault(layer, Part(layer)).explained += (before or 0.0) - (after or 0.0)
        kept = left


def _are_both(a: Observed, b: Observed, metrics: tuple[str, str]) -> bool:
    return (metrics[0] in a.scores) == (metrics[1] in b.scores)


def _gap(pairs: Sequence[Pair], metrics: tuple[str, str]) -> float | None:
    """Return the difference of the means over what each side scored."""
    one, two = _mean([a for a, _ in pairs], metrics[0]), _mean([b for _, b in pairs], metrics[1])
    return None if one is None or two is None else two - one


def _weights(
    parts: dict[Layer, Part],
    first: ObservedExam,
    second: ObservedExam,
    metrics: tuple[str, str],
    means: tuple[float | None, float | None],
) -> None:
    """Put down to the weights what scores differ from the plain means, where files report the scores compared."""
    one, two = means
    if metrics != (first.metric, second.metric) or one is None or two is None:
        return
    if first.score is None or second.score is None:
        return
    left = (second.score - two) - (first.score - one)
    if abs(left) > _ROUNDED:
        before, after = (f"score {exam.score:.4f}, mean {mean:.4f}" for exam, mean in ((first, one), (second, two)))
        parts["weights"] = Part("weights", len(second.instances), left, [Example(None, None, before, after)])


def _same_answer(one: Sequence[str | float], two: Sequence[str | float]) -> bool:
    if not one or not two or isinstance(one[0], float) != isinstance(two[0], float):
        return True  # a file without answers says nothing about them; one with texts nothing about likelihoods
    if len(one) != len(two):
        return False
    return all(_equal(a, b) for a, b in zip(one, two, strict=True))


def _equal(a: str | float, b: str | float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return a == b


def _decodings(a: Observed, b: Observed) -> dict[str, tuple[Any, Any]]:
    """Return what two files say differently of how the model wrote; what one does not say does not count."""
    if a.decoding is None or b.decoding is None:
        return {}
    both = [key for key in DECODING_KEYS if key in a.decoding and key in b.decoding]
    return {
        key: (a.decoding[key], b.decoding[key]) for key in both if _plain(a.decoding[key]) != _plain(b.decoding[key])
    }


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return sorted(map(str, value))
    return float(value) if isinstance(value, int | float) else value


def _rows(
    parts: dict[Layer, Part],
    first: ObservedExam,
    second: ObservedExam,
    alone: tuple[list[Observed], list[Observed]],
    pairs: Sequence[Pair],
    metrics: tuple[str, str],
    shown: int,
) -> None:
    """Put down to rows what instances change that only one run has; another order is a difference without effect."""
    count = len(alone[0]) + len(alone[1])
    in_second = sorted(range(len(pairs)), key=lambda place: pairs[place][1].number)
    moved = [pairs[place] for rank, place in enumerate(in_second) if rank != place]
    if not count and not moved:
        return
    part = parts.setdefault("rows", Part("rows"))
    part.count += count or len(moved)
    one, two = first.mean(metrics[0]), second.mean(metrics[1])
    if one is not None and two is not None:
        part.explained += two - one - (_gap(pairs, metrics) or 0.0)
    for each in alone[0][:shown]:
        part.examples.append(Example(each.number, None, _shown_row(each), "(not there)", each.scores.get(metrics[0])))
    for each in alone[1][: shown - len(part.examples)]:
        part.examples.append(
            Example(None, each.number, "(not there)", _shown_row(each), None, each.scores.get(metrics[1]))
        )
    for a, b in moved[: shown - len(part.examples)]:
        part.examples.append(Example(a.number, b.number, f"stands at {a.number}", f"stands at {b.number}"))


def _mean(instances: Sequence[Observed], metric: str) -> float | None:
    values = [each.scores[metric] for each in instances if metric in each.scores]
    return fmean(values) if values else None


def _shown_row(each: Observed) -> str:
    return (each.prompt or ", ".join(each.references) or each.digest)[-200:]


def _example(layer: Layer, a: Observed, b: Observed, metrics: tuple[str, str], engine: Facts) -> Example:
    before, after = {
        "engine": lambda: _shown_engine(a, b, engine),
        "failure": lambda: (a.failure or _shown_answer(a), b.failure or _shown_answer(b)),
        "rows": lambda: (", ".join(a.references), ", ".join(b.references)),
        "prompt": lambda: (a.prompt or "", b.prompt or ""),
        "decoding": lambda: _shown_decoding(a, b),
        "answer": lambda: (_shown_answer(a), _shown_answer(b)),
        "extraction": lambda: (a.extracted or "", b.extracted or ""),
        "metric": lambda: (_scored(a, metrics[0]), _scored(b, metrics[1])),
    }[layer]()
    return Example(a.number, b.number, before, after, a.scores.get(metrics[0]), b.scores.get(metrics[1]))


def _shown_engine(a: Observed, b: Observed, engine: Facts) -> tuple[str, str]:
    facts = engine or {"model": (a.model, b.model)}
    return f"[{_told(facts, 0)}] {_shown_answer(a)}", f"[{_told(facts, 1)}] {_shown_answer(b)}"


def _shown_decoding(a: Observed, b: Observed) -> tuple[str, str]:
    found = _decodings(a, b).items()
    before, after = (", ".join(f"{key}={pair[side]!r}" for key, pair in found) for side in (0, 1))
    return before, after


def _shown_answer(each: Observed) -> str:
    return "\n".join(f"{part:.6g}" if isinstance(part, float) else part for part in each.answer)


def _scored(each: Observed, metric: str) -> str:
    score = each.scores.get(metric)
    said = each.extracted if each.extracted is not None else _shown_answer(each)
    return f"{said} → {'no score' if score is None else f'{score:g}'} ({metric}; right: {', '.join(each.references)})"


# -- scores and notes -----------------------------------------------------------------------------------------------


def _metrics(first: ObservedExam, second: ObservedExam) -> tuple[str, str]:
    """Return which scores are compared: the main ones, the same one where both have it."""
    mine = {name for each in first.instances for name in each.scores}
    theirs = {name for each in second.instances for name in each.scores}
    for name in (first.metric, second.metric):
        if name in mine and name in theirs:
            return name, name
    one = first.metric if first.metric in mine else min(mine, default=first.metric)
    two = second.metric if second.metric in theirs else min(theirs, default=second.metric)
    for same in SAME:
        if _bare(one) in same and (found := next((name for name in sorted(theirs) if _bare(name) in same), None)):
            return one, found
    return one, two


def _bare(metric: str) -> str:
    return metric.partition(",")[0].lower()


def _notes(first: ObservedExam, second: ObservedExam, pairs: Sequence[Pair], by: str) -> list[str]:
    """Return what is to be known: how instances were paired, and what only one of the files says."""
    found = list(filter(None, [judges_that_differ(first.judged, second.judged)]))
    if by == "number":
        found.append("instances are paired by number: one of the files does not hold what they are")
    if by == "content" and (other := sum(a.digest != b.digest for a, b in pairs)):
        found.append(f"{other} instances differ in something that was not sent, and are paired by what was")
    known = [_known([pair[side] for pair in pairs]) for side in (0, 1)]
    for side, exam in enumerate((first, second)):
        if missing := [name for name in known[1 - side] if name not in known[side]]:
            which = ("first", "second")[side]
            found.append(f"the {which} file ({exam.system}) does not say {', '.join(missing)}")
    return found


def _known(instances: Sequence[Observed]) -> list[str]:
    return [name for name, says in _SAYS.items() if any(map(says, instances))]


_SAYS: Final[Mapping[str, Callable[[Observed], object]]] = {
    "prompts": lambda each: each.prompt is not None,
    "answers": lambda each: each.answer,
    "what was extracted": lambda each: each.extracted is not None,
    "how the model wrote": lambda each: each.decoding is not None,
    "instance scores": lambda each: each.scores,
}
