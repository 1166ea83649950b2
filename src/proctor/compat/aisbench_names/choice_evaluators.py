"""Evaluators of AISBench whose reading of one answer programs call and override: numbers, letters, sounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from proctor.compat.aisbench_names.evaluator_base import BaseEvaluator
from proctor.scoring.evaluators.answers import same_number
from proctor.scoring.evaluators.cases import Cases, Verdict, percent_of_sum, share
from proctor.scoring.evaluators.films import first_of_six, letter_alone, sound


class _Stepwise(BaseEvaluator):
    """An evaluator that asks one of its methods about each answer, where a program has overridden it."""

    def _is_right(self, given: Any, gold: Any) -> bool:
        raise NotImplementedError

    def _verdict(self, cases: Cases) -> Verdict:
        kind = next(each for each in type(self).__mro__ if vars(each).get("kind") is not None)
        if all(getattr(type(self), step) is getattr(kind, step) for step in self.called):
            return super()._verdict(cases)
        return share([self._is_right(given, gold) for given, gold in cases.pairs()], rule=percent_of_sum)


class Gsm8kEvaluator(_Stepwise):
    """``Gsm8kEvaluator``, as Proctor computes it."""

    called = ("is_equal",)

    def is_equal(self, pred: Any, refer: Any) -> bool:
        """Whether an answer is the right number."""
        return same_number(pred, refer)

    def _is_right(self, given: Any, gold: Any) -> bool:
        return bool(self.is_equal(given, gold))


class VideoBenchEvaluator(_Stepwise):
    """``VideoBenchEvaluator``, as Proctor computes it."""

    called = ("find_choice",)

    def find_choice(self, result: Any) -> str:
        """Return the first of the letters A to F that an answer has; ``""`` without one."""
        return first_of_six(result)

    def _is_right(self, given: Any, gold: Any) -> bool:
        return bool(self.find_choice(given) == (gold["answer"] if isinstance(gold, Mapping) else gold))


class VideoBenchEvaluatorForVita(VideoBenchEvaluator):
    """``VideoBenchEvaluatorForVita``, as Proctor computes it."""

    def find_choice(self, result: Any) -> str:
        """Return the first of the letters A to F that stands alone behind VITA's mark; ``""`` without one."""
        return letter_alone(result) if isinstance(result, str) else ""


class VocalSoundEvaluator(_Stepwise):
    """``VocalSoundEvaluator``, as Proctor computes it."""

    called = ("find_choice",)

    def find_choice(self, result: Any) -> str:
        """Return the sound that a letter means; ``""`` of another one."""
        return sound(result)

    def _is_right(self, given: Any, gold: Any) -> bool:
        return bool((self.find_choice(given[0]) if given else given) == gold)
