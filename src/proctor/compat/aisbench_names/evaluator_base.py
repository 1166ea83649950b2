"""The evaluators of AISBench and OpenCompass as classes: made with their arguments, they score predictions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from proctor.compat.aisbench_names.repeated_scores import RepeatedScores
from proctor.dialects.aisbench.evaluators import evaluator
from proctor.dialects.aisbench.signatures import ELSEWHERE, Signature, signature
from proctor.dialects.aisbench.values import Reference
from proctor.errors import UsageError
from proctor.scoring.evaluators.cases import Cases, Verdict


@cache
def _steps() -> Mapping[str, Sequence[str]]:
    """Return by the name of an evaluator the methods that ``score`` of upstream's class calls."""
    found: Mapping[str, Sequence[str]] = json.loads(files(__package__).joinpath("evaluator_steps.json").read_bytes())
    return found


class BaseEvaluator(RepeatedScores):
    """An evaluator: made with its arguments, it scores predictions.

    Programs derive from it, and override :meth:`score`.
    """

    kind: ClassVar[Reference | None] = None
    """What configs call it; ``None`` of classes that programs derive."""
    called: ClassVar[tuple[str, ...]] = ()
    """Which steps of upstream's class are called here, so that a program may override them."""

    def __init__(self, *listed: Any, **named: Any) -> None:
        taken = self._signature()
        order = [*taken.needed, *taken.defaults]
        if len(listed) > len(order):
            most = f"{type(self).__name__} takes {len(order)} arguments at most"
            raise TypeError(f"{most}, and {len(listed)} are given")
        known = {name: value for name, value in taken.defaults.items() if value is not ELSEWHERE}
        vars(self).update({**known, **dict(zip(order, listed, strict=False)), **named})

    @classmethod
    def _signature(cls) -> Signature:
        """Return what upstream's class takes; nothing of classes that it does not have."""
        if cls.kind is None:
            return Signature()
        return signature(cls._project(), "evaluators", cls.kind.name.rpartition(".")[2]) or Signature()

    @classmethod
    def _project(cls) -> str:
        return "aisbench" if cls.kind is not None and cls.kind.name.startswith("ais_bench") else "opencompass"

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments that this evaluator has, less upstream's defaults."""
        defaults = self._signature().defaults
        private = ("_", "logger")
        return {
            name: value
            for name, value in vars(self).items()
            if not name.startswith(private) and (name not in defaults or defaults[name] != value)
        }

    def _unused_steps(self) -> list[str]:
        """Return methods that a program's class overrides, and that upstream's class calls but this one does not."""
        own: type[BaseEvaluator] = next(each for each in type(self).__mro__ if vars(each).get("kind") is not None)
        derived = type(self).__mro__[: type(self).__mro__.index(own)]
        steps = _steps().get(own.__name__, ())
        return [name for name in steps if name not in own.called and any(name in vars(each) for each in derived)]

    def _detail(self, given: Any, gold: Any, right: bool, parsed: Any) -> dict[str, Any]:
        """Return what is said of an answer, as upstream's class says it."""
        del parsed
        return {"pred": given, "answer": gold, "correct": right}

    def _verdict(self, cases: Cases) -> Verdict:
        """Return the scores of cases."""
        return evaluator({"type": self.kind, **self._arguments()})(cases)

    def score(
        self, predictions: Sequence[Any], references: Sequence[Any], test_set: Any = None, **columns: Any
    ) -> dict[str, Any]:
        """Return scores by name, with ``details`` of single predictions where they are right or wrong.

        Args:
            predictions: After their post-processors.
            references: The right answers.
            test_set: The rows, for evaluators that look at them.
            columns: Further columns of the answers (``ppl`` …).

        Returns:
            Scores by name; of predictions and references of different length ``{"error": …}``, as upstream.

        Raises:
            ScoringError: There is nothing to score.
            UsageError: A program has overridden a step of upstream's class that is not called here.
        """
        if self.kind is None:
            return super().score()
        if steps := self._unused_steps():
            raise UsageError(
                f"'{steps[0]}' of {type(self).__name__} would have no effect",
                why=f"Proctor's {self.kind.name.rpartition('.')[2]} does not call it, as upstream's does",
                hint="override score() instead",
            )
        if len(predictions) != len(references):
            return {"error": f"{len(predictions)} predictions and {len(references)} references have different length"}
        rows = [dict(row) for row in test_set] if test_set is not None else [{} for _ in predictions]
        cases = Cases(list(predictions), list(references), rows, (), columns, self._project())
        verdict = self._verdict(cases)
        parsed = verdict.parsed or predictions
        told = zip(predictions, references, verdict.correct, parsed, strict=True) if verdict.correct else ()
        details = [self._detail(*each) for each in told]
        return {**verdict.scores, **({"details": details} if details else {})}
