"""Scores of answers that are chosen by likelihood.

What turns likelihoods into a choice is a property of the scoring: the sum, the sum per character or per byte of the
continuation, or the sum beyond what the continuation has without its context.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

OUTSIDE = -100
"""A gold position that is not one of the choices."""


@dataclass(frozen=True, slots=True)
class ChoiceAnswer:
    """The likelihoods of a question's continuations, and which is right.

    Attributes:
        likelihoods: Natural logarithms, one for each choice.
        greedy: Whether greedy decoding would have written the choice.
        choices: Texts of the choices, whose length normalises.
        gold: Position of the right choice, or of all right ones; :data:`OUTSIDE` where it is none of them.
        unconditional: Likelihoods without the context, where they were asked for.
    """

    likelihoods: Sequence[float]
    greedy: Sequence[bool]
    choices: Sequence[str]
    gold: int | Sequence[int]
    unconditional: Sequence[float] = ()

    def is_right(self, choice: int) -> float:
        """Return 1.0 for a right choice, 0.0 for a wrong one."""
        return float(choice == self.gold if isinstance(self.gold, int) else choice in self.gold)


def first_best(values: Sequence[float]) -> int:
    """Return the position of the largest value, the first of equals; a NaN wins, as in ``numpy.argmax``."""
    best = 0
    for position, value in enumerate(values):
        if math.isnan(value):
            return position
        if value > values[best]:
            best = position
    return best


def first_largest(values: Sequence[float]) -> int:
    """Return the position of the largest value, the first of equals; a NaN wins only as the first of all."""
    return values.index(max(values))


def first_smallest(values: Sequence[float]) -> int:
    """Return the position of the smallest value, the first of equals."""
    return values.index(min(values))


def accuracy(answer: ChoiceAnswer) -> float:
    """Return whether the most likely choice is right."""
    return answer.is_right(first_best(answer.likelihoods))


def accuracy_per_character(answer: ChoiceAnswer) -> float:
    """Return whether the choice that is most likely per character is right."""
    return answer.is_right(first_best(_per(answer.likelihoods, [len(each) for each in answer.choices])))


def accuracy_per_byte(answer: ChoiceAnswer) -> float:
    """Return whether the choice that is most likely per UTF-8 byte is right."""
    return answer.is_right(first_best(_per(answer.likelihoods, [len(each.encode()) for each in answer.choices])))


def accuracy_mutual_information(answer: ChoiceAnswer) -> float:
    """Return whether the choice that gains most from the context is right."""
    gains = [given - alone for given, alone in zip(answer.likelihoods, answer.unconditional, strict=True)]
    return answer.is_right(first_best(gains))


def greedy_match(answer: ChoiceAnswer) -> int:
    """Return whether greedy decoding would have written a right choice."""
    gold = [answer.gold] if isinstance(answer.gold, int) else answer.gold
    return int(any(answer.greedy[each] for each in gold if each != OUTSIDE))


def probabilities(answer: ChoiceAnswer) -> list[float]:
    """Return the softmax of the likelihoods."""
    top = max(answer.likelihoods)
    weights = [math.exp(each - top) for each in answer.likelihoods]
    total = sum(weights)
    return [each / total for each in weights]


def _per(likelihoods: Sequence[float], sizes: Sequence[int]) -> list[float]:
    return [_divided(likelihood, size) for likelihood, size in zip(likelihoods, sizes, strict=True)]


def _divided(likelihood: float, size: int) -> float:
    """Return the quotient as IEEE 754 has it: an empty choice is infinitely unlikely per character."""
    if size:
        return likelihood / size
    return math.nan if likelihood == 0 else math.copysign(math.inf, likelihood)


def chosen(answer: ChoiceAnswer) -> int:
    """Return the position of the most likely choice."""
    return first_best(answer.likelihoods)


def likelihood_of_gold(answer: ChoiceAnswer) -> float:
    """Return the likelihood of the right choice; NaN where it is not one of the choices, or several are right."""
    gold = answer.gold
    return answer.likelihoods[gold] if isinstance(gold, int) and gold != OUTSIDE else math.nan


def gold_and_probabilities(answer: ChoiceAnswer) -> tuple[int | Sequence[int], list[float]]:
    """Return the right choice and the probabilities of all, for the Brier score."""
    return answer.gold, probabilities(answer)


CHOICE_SCORES: dict[str, Callable[[ChoiceAnswer], float]] = {
    "acc": accuracy,
    "acc_norm": accuracy_per_character,
    "acc_bytes": accuracy_per_byte,
    "acc_mutual_info": accuracy_mutual_information,
    "exact_match": greedy_match,
}
"""Scores of one instance, by the names that lm-eval gives them."""
