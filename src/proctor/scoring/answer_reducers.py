"""The score of several answers to one question: reducers by name, from the scores of the answers.

``mean`` is avg@N, ``majority`` the score of the most frequent prediction, ``best`` the best answer. ``pass@k`` is the
chance that one of ``k`` answers is right, ``pass^k`` that all of them are, ``g-pass@k`` that half of them are
(``g-pass@k:0.75``: three quarters), each the unbiased estimate from all N answers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from proctor.errors import UsageError, did_you_mean
from proctor.scoring.evaluators.runs import g_pass_at_k
from proctor.scoring.repeats import at_least_one, most_frequent

PLAIN = ("mean", "majority", "best")
OF_K = ("pass@k", "pass^k", "g-pass@k")
NAMES = (*PLAIN, *OF_K)

_OF_K = re.compile(r"(pass@|pass\^|g-pass@)(\d+)(?::(0?\.\d+|1(?:\.0+)?|0))?")
_HALF = 0.5  # of k answers right: where Liu et al. (2024) begin to call a model stable
_ALIASES = {"avg": "mean", "average": "mean", "maj": "majority", "vote": "majority", "max": "best"}


@dataclass(frozen=True, slots=True)
class Reducer:
    """One way to make one score of several.

    Attributes:
        name: As it is written: ``pass@4``.
        family: ``mean``, ``majority``, ``best``, ``pass@``, ``pass^`` or ``g-pass@``.
        k: How many answers it is about; 0 where it is about all.
        threshold: Share of them that has to be right, of ``g-pass@``.
    """

    name: str
    family: str
    k: int = 0
    threshold: float = _HALF

    @property
    def needs_right_or_wrong(self) -> bool:
        """Whether the answers have to be right or wrong, rather than good to some degree."""
        return self.k > 0

    def of(
        self, scores: Sequence[float], predictions: Sequence[Any], whole: float = 1.0, *, less_is_better: bool = False
    ) -> float:
        """Return the score of one question.

        Args:
            scores: Of each answer.
            predictions: What each answer was read as, for votes.
            whole: The score of a right answer.
            less_is_better: Whether the best answer is the one with the least score.
        """
        if self.family == "mean":
            return math.fsum(scores) / len(scores)
        if self.family == "best":
            return min(scores) if less_is_better else max(scores)
        if self.family == "majority":
            texts = [str(each) for each in predictions]
            return scores[texts.index(most_frequent(texts))]
        count, hits = len(scores), sum(score >= whole for score in scores)
        if self.family == "pass@":
            return whole * at_least_one(count, hits, self.k)
        if self.family == "pass^":
            return whole * math.comb(hits, self.k) / math.comb(count, self.k)
        return whole * g_pass_at_k(count, hits, self.k, self.threshold)


def reducer(name: str, count: int) -> Reducer:
    """Return a reducer by its name.

    Args:
        name: ``mean``, ``majority``, ``best``, ``pass@4``, ``pass^4``, ``g-pass@4``, ``g-pass@4:0.75``; ``@k`` is all.
        count: Answers to each question.

    Raises:
        UsageError: There is no such reducer, or it needs more answers than there are.
    """
    text = name.strip().lower()
    text = re.sub(r"^(avg|mean|maj|majority|best)@(\d+|[nk])$", lambda m: _whole(m, name, count), text)
    text = _ALIASES.get(text, text)
    if text in PLAIN:
        return Reducer(text, text)
    found = _OF_K.fullmatch(re.sub(r"(?<=[@^])[kn](?=$|:)", str(count), text))
    if found is None or (found[3] and found[1] != "g-pass@"):
        hint = did_you_mean(text, NAMES) or f"the reducers are {', '.join(NAMES)}, with a number for k"
        raise UsageError(f"there is no reducer '{name}'", hint=hint)
    k = int(found[2])
    if not 1 <= k <= count:
        raise UsageError(
            f"'{name}' needs {k} answers to each question, and there are {count}", hint=f"--repeats {max(k, 1)}"
        )
    return Reducer(f"{found[1]}{k}" + (f":{found[3]}" if found[3] else ""), found[1], k, float(found[3] or _HALF))


def reducer_of(score_name: str) -> str:
    """Return the name of the reducer that a score is made with, which its name ends with; ``mean`` where none is.

    >>> reducer_of("exact_match,strict:best"), reducer_of("acc:g-pass@4:0.75"), reducer_of("acc")
    ('best', 'g-pass@4:0.75', 'mean')
    """
    found = _ENDING.search(score_name)
    return "mean" if found is None else found[1]


_ENDING = re.compile(rf":(majority|best|{_OF_K.pattern})$")


def _whole(match: re.Match[str], name: str, count: int) -> str:
    """Return the name of a reducer of all answers without their number, which has to be that of all."""
    if match[2] not in {str(count), "n", "k"}:
        raise UsageError(
            f"'{name}' is of {match[2]} answers, and there are {count}",
            hint=f"a mean or a vote is of all answers: --repeats {match[2]}",
        )
    return _ALIASES.get(match[1], match[1])


def reducers(names: Sequence[str], count: int) -> list[Reducer]:
    """Return reducers by name, each once; ``mean`` where none is named. Errors as of :func:`reducer`."""
    found = [reducer(name, count) for name in names or ("mean",)]
    return list({each.name: each for each in found}.values())
