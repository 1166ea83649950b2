"""Tests whether two endpoints serve the same model: quantization, another vendor, another server.

Two runs asked the same requests. Where choices were compared, each answer is a distribution over them, and the mean
Kullback-Leibler divergence says how far they are apart; the likelihood of right answers gives a ratio of perplexities.
Where text was written, it agrees up to some word. And answers flip between right and wrong.

Servers are seldom equal to themselves to the last bit (batches, kernels): a divergence below :data:`NOISE` is none, and
texts are held against a second run of the first endpoint, where there is one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any, Final, Literal

import numpy as np

from proctor.errors import UsageError
from proctor.exchange.lines import samples_of
from proctor.exchange.observed import text_of
from proctor.runs.stored_run import load_run
from proctor.statistics.arrays import Floats, Indices
from proctor.statistics.distributions import normal_quantile
from proctor.statistics.intervals import exact
from proctor.statistics.paired_shares import POWER, detectable_share, mcnemar_p
from proctor.statistics.standard_errors import sample_deviation

Verdict = Literal["same", "different", "undecided"]

NOISE: Final = 1e-6
"""Mean divergence (nats) that is none. SmolLM2 on a CPU is at most 3e-11 from itself under other batch sizes and
threads, 4e-5 with weights in bfloat16 (``benchmarks/same_models.py``, November 2026); sums of 32 bits in another order
move a logit by some 1e-6, and the divergence by the square of that."""

LEVEL: Final = 0.99
"""Of the intervals and tests behind the verdict: of a hundred pairs that are the same, one is called different."""

_RESAMPLES: Final = 2_000
_AT_ONCE: Final = 1 << 21
"""Numbers of resamples that are held at once: 16 MB."""
_SEED: Final = 20_240_101


@dataclass(frozen=True, slots=True)
class Span:
    """A number with its interval (99%)."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of two endpoints to the same request.

    Attributes:
        logs: Log-likelihoods of the choices (or of the one text), of both.
        tokens: How many tokens each of them has.
        gold: Position of the right choice.
        texts: What both wrote.
        right: Whether each was right, where an answer is right or wrong.
        repeated: What a second run of the first endpoint wrote.
    """

    logs: tuple[Floats, Floats] | None = None
    tokens: tuple[int, ...] = ()
    gold: int | None = None
    texts: tuple[str, str] | None = None
    right: tuple[float, float] | None = None
    repeated: str | None = None


@dataclass(frozen=True, slots=True)
class Sameness:
    """The agreement of two endpoints in one exam.

    Attributes:
        exam: Its name.
        requests: Requests that both answered.
        otherwise: Instances that were asked otherwise, or only of one.
        verdict: ``same``, ``different``, or ``undecided``.
        reasons: Why.
        flips: Instances that became right, and wrong.
        flip_p: Of McNemar's exact test.
        divergence: Mean KL of the first distribution from the second, in nats.
        changed_choices: Share of requests with another best choice.
        perplexity_ratio: Of the second endpoint to the first, on right answers and whole texts.
        same_texts: Share of texts that are equal.
        first_difference: Median number of equal words before the first difference, of texts that differ.
        seen: What differences would have been seen (power 80%), by name.
        models: Who answered on either side, by the names in replies; empty where they have none.
        unanswered: Equal requests that one of them did not answer.
    """

    exam: str
    requests: int
    otherwise: int
    verdict: Verdict
    reasons: tuple[str, ...]
    flips: tuple[int, int] | None = None
    flip_p: float | None = None
    divergence: Span | None = None
    changed_choices: Span | None = None
    perplexity_ratio: Span | None = None
    same_texts: Span | None = None
    first_difference: float | None = None
    seen: Mapping[str, float] | None = None
    models: tuple[str, str] = ("", "")
    unanswered: int = 0


def same_runs(first: Path, second: Path, baseline: Path | None = None) -> list[Sameness]:
    """Return the agreement of two endpoints, by exam.

    Args:
        first, second: Run folders with samples.
        baseline: A second run of the first endpoint.

    Raises:
        UsageError: The runs share no request.
    """
    ones, twos = _lines(first), _lines(second)
    again = {} if baseline is None else _lines(baseline)
    mains = {name: str(entry.get("score_name")) for name, entry in load_run(first).results.items()}
    common = [exam for exam in ones if exam in twos]
    found = [_compared(exam, ones[exam], twos[exam], again.get(exam, {}), mains.get(exam, "")) for exam in common]
    if not any(each.requests for each in found):
        raise UsageError(
            "the runs have no request in common",
            why="endpoints are compared by what they answer to equal requests",
            hint="run the same exams with the same options on both; proctor why says what differs",
        )
    return found


Key = tuple[str, ...]


def _lines(folder: Path) -> dict[str, dict[Key, dict[str, Any]]]:
    """Return the samples of a run by exam and request; of equal requests the n-th has the number n."""
    found: dict[str, dict[Key, dict[str, Any]]] = {}
    seen: dict[Key, int] = defaultdict(int)
    for line in samples_of(folder):
        exam = str(line.get("exam"))
        asked = (exam, *(text_of(line.get(name)) or "" for name in ("prompt", "continuations", "decoding")))
        seen[asked] += 1
        found.setdefault(exam, {})[*asked, str(seen[asked])] = line
    if not found:
        raise UsageError(f"{folder} has no samples", hint="name a run folder that ended with samples.jsonl")
    return found


def _compared(
    exam: str,
    ones: Mapping[Key, Mapping[str, Any]],
    twos: Mapping[Key, Mapping[str, Any]],
    again: Mapping[Key, Mapping[str, Any]],
    metric: str,
) -> Sameness:
    shared = [key for key in ones if key in twos]
    both = [key for key in shared if _is_answered(ones[key]) and _is_answered(twos[key])]
    answers = [_answers(ones[key], twos[key], again.get(key), metric) for key in both]
    otherwise = len(ones) + len(twos) - 2 * len(shared)
    served = [
        ", ".join(sorted({text_of(each["model"]) or "" for each in side.values() if each.get("model")}))
        for side in (ones, twos)
    ]
    unanswered = len(shared) - len(both)
    return replace(measured(exam, answers, otherwise), models=(served[0], served[1]), unanswered=unanswered)


def _is_answered(line: Mapping[str, Any]) -> bool:
    return line.get("output") is not None and not line.get("failure")


def _answers(one: Mapping[str, Any], two: Mapping[str, Any], again: Mapping[str, Any] | None, metric: str) -> Answers:
    first, second = _right(one, metric), _right(two, metric)
    is_judged = first is not None and second is not None and one.get("references") == two.get("references")
    right = (first or 0.0, second or 0.0) if is_judged else None
    outputs = (one["output"], two["output"])
    if all(isinstance(each, list) and each and isinstance(each[0], Mapping) for each in outputs):
        logs = tuple(np.array([float(part["log_likelihood"]) for part in each]) for each in outputs)
        tokens = tuple(int(part.get("token_count") or 0) for part in one["output"])
        return Answers((logs[0], logs[1]), tokens, one.get("gold"), right=right)
    texts = tuple(text_of(each) or "" for each in outputs)
    repeated = None if again is None or not _is_answered(again) else text_of(again["output"])
    return Answers(texts=(texts[0], texts[1]), right=right, repeated=repeated)


def _right(line: Mapping[str, Any], metric: str) -> float | None:
    value = (line.get("scores") or {}).get(metric)
    if isinstance(value, int | float) and value in (0, 1, 100):
        return float(bool(value))
    return None


# -- measures -------------------------------------------------------------------------------------------------------


def measured(exam: str, answers: Sequence[Answers], otherwise: int = 0) -> Sameness:
    """Measure the agreement of two endpoints by their answers to equal requests."""
    if not answers:
        return Sameness(exam, 0, otherwise, "undecided", ("no request in common",))
    written = [each.texts for each in answers if each.texts is not None]
    pairs = [each.logs for each in answers if each.logs is not None and len(each.logs[0]) > 1]
    divergences = np.array([divergence(one, two) for one, two in pairs])
    flips, p = _flips(answers)
    spans = {
        "divergence": mean_span(divergences),
        "changed_choices": _share([int(one.argmax()) != int(two.argmax()) for one, two in pairs]),
        "perplexity_ratio": perplexity_ratio(answers),
        "same_texts": _share([one == two for one, two in written]),
    }
    verdict, reasons = _verdict(answers, spans, p)
    differing = [_equal_words(one, two) for one, two in written if one != two]
    return Sameness(
        exam,
        len(answers),
        otherwise,
        verdict,
        tuple(reasons),
        flips,
        p,
        spans["divergence"],
        spans["changed_choices"],
        spans["perplexity_ratio"],
        spans["same_texts"],
        first_difference=float(median(differing)) if differing else None,
        seen=_seen(answers, divergences, flips),
    )


def divergence(one: Floats, two: Floats) -> float:
    """Return the Kullback-Leibler divergence of two distributions over choices, in nats, from log-likelihoods."""
    first, second = (each - np.logaddexp.reduce(each) for each in (one, two))
    return float(max(0.0, np.sum(np.exp(first) * (first - second))))


def mean_span(values: Floats) -> Span | None:
    """Return the mean with its bootstrap interval; ``None`` of nothing."""
    if not values.size:
        return None
    means = np.concatenate([values[each].mean(axis=1) for each in _resamples(values.size)])
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Span(float(np.mean(values)), float(low), float(high))


def _resamples(count: int) -> Iterator[Indices]:
    """Yield positions of resamples, a row for each; some rows at a time, so that memory does not grow."""
    stream = np.random.default_rng(_SEED)
    rows = max(1, min(_RESAMPLES, _AT_ONCE // count))
    for start in range(0, _RESAMPLES, rows):
        yield stream.integers(0, count, (min(rows, _RESAMPLES - start), count))


def perplexity_ratio(answers: Sequence[Answers]) -> Span | None:
    """Return the ratio of perplexities, of the second to the first, over right choices and single texts."""
    sums = np.array([each for answer in answers if (each := _likelihoods(answer)) is not None])
    if not len(sums) or not sums[:, 2].sum():
        return None
    ratios = np.concatenate([_ratios(sums[each].sum(axis=1)) for each in _resamples(len(sums))])
    low, high = np.quantile(ratios, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Span(float(_ratios(sums.sum(axis=0, keepdims=True))[0]), float(low), float(high))


def _ratios(sums: Floats) -> Floats:
    """Return ratios of perplexities from sums of likelihoods of both, and of tokens."""
    found: Floats = np.exp((sums[:, 0] - sums[:, 1]) / sums[:, 2])
    return found


def _likelihoods(answer: Answers) -> tuple[float, float, int] | None:
    if answer.logs is None:
        return None
    place = 0 if len(answer.logs[0]) == 1 else answer.gold
    if place is None or not 0 <= place < len(answer.tokens) or not answer.tokens[place]:
        return None
    return float(answer.logs[0][place]), float(answer.logs[1][place]), answer.tokens[place]


def _share(values: Sequence[Any]) -> Span | None:
    if not values:
        return None
    count = sum(map(bool, values))
    low, high = exact(count, len(values), LEVEL)
    return Span(count / len(values), low, high)


def _flips(answers: Sequence[Answers]) -> tuple[tuple[int, int] | None, float | None]:
    pairs = [each.right for each in answers if each.right is not None]
    if not pairs:
        return None, None
    won = sum(two > one for one, two in pairs)
    lost = sum(two < one for one, two in pairs)
    return (won, lost), mcnemar_p(won, lost)


def _equal_words(one: str, two: str) -> int:
    pairs = zip(one.split(), two.split(), strict=False)
    words = next((place for place, (a, b) in enumerate(pairs) if a != b), None)
    return min(len(one.split()), len(two.split())) if words is None else words


# -- verdict --------------------------------------------------------------------------------------------------------


def _verdict(
    answers: Sequence[Answers], spans: Mapping[str, Span | None], flip_p: float | None
) -> tuple[Verdict, list[str]]:
    alpha = 1 - LEVEL
    reasons: list[str] = []
    if flip_p is not None and flip_p < alpha:
        reasons.append(f"answers flip more one way than the other (p {flip_p:.2g})")
    if (found := spans["divergence"]) is not None and found.low > NOISE:
        reasons.append(f"distributions over choices differ by more than noise ({found.low:.2g} nats at least)")
    if (ratio := spans["perplexity_ratio"]) is not None and not ratio.low - NOISE <= 1.0 <= ratio.high + NOISE:
        reasons.append(f"right answers are {'less' if ratio.value > 1 else 'more'} likely")
    texts = spans["same_texts"]
    repeats = [each for each in answers if each.texts is not None and each.repeated is not None]
    if repeats:
        changes = [(e.texts[0] != e.texts[1], e.texts[0] != e.repeated) for e in repeats if e.texts is not None]
        more, less = sum(a > b for a, b in changes), sum(a < b for a, b in changes)
        if more > less and (p := mcnemar_p(more, less)) < alpha:
            reasons.append(f"texts change more than the first endpoint's own when it is asked again (p {p:.2g})")
    if reasons:
        return "different", reasons
    if texts is not None and texts.value < 1.0 and not repeats:
        return "undecided", [
            "texts differ; --baseline (the first endpoint asked again) says whether by more than noise"
        ]
    return "same", ["nothing differs by more than noise"]


def _seen(answers: Sequence[Answers], divergences: Floats, flips: tuple[int, int] | None) -> dict[str, float]:
    """Return the smallest differences that would have been seen."""
    found: dict[str, float] = {}
    count = len(answers)
    if flips is not None:
        least = detectable_share(sum(flips) / count, count, LEVEL)
        found |= {"accuracy": least} if math.isfinite(least) else {}
    if divergences.size > 1:
        spread = sample_deviation(divergences.tolist()) / math.sqrt(divergences.size)
        found["divergence"] = NOISE + (normal_quantile(0.5 + LEVEL / 2) + normal_quantile(POWER)) * spread
    if any(each.texts is not None for each in answers):
        found["changed_texts"] = 1 - (1 - POWER) ** (1 / count)
    return found
