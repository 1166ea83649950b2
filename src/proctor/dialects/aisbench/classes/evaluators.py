"""Evaluator classes of OpenCompass and AISBench: made with their arguments, they score predictions."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, ClassVar

from proctor.dialects.aisbench.classes.datasets import TOPS
from proctor.dialects.aisbench.evaluators import evaluator, is_known
from proctor.dialects.aisbench.signatures import ELSEWHERE, Signature, signature
from proctor.dialects.aisbench.values import Reference
from proctor.errors import UsageError
from proctor.guests.overrides import Obeyed
from proctor.scoring.evaluators.cases import Cases

_ICL = {"aisbench": "ais_bench.benchmark.openicl.icl_evaluator", "opencompass": "opencompass.openicl.icl_evaluator"}


@cache
def _steps() -> Mapping[str, Sequence[str]]:
    """Return by the name of an evaluator the methods that ``score`` of upstream's class calls."""
    found: Mapping[str, Sequence[str]] = json.loads(files(__package__).joinpath("evaluator_steps.json").read_bytes())
    return found


_INSTEAD = "override score() instead, which is given all answers and references"


class BaseEvaluator(Obeyed):
    """An evaluator of one's own: override :meth:`score`.

    Attributes:
        kind: Name of an evaluator that Proctor computes; ``None`` of other classes.
    """

    kind: ClassVar[Reference | None] = None
    uncalled: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("dataset_replica_idx", "evaluate", "group", "is_num_equal", "pred_postprocess", "reduce"), _INSTEAD
    )

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
        """Return the signature of upstream's class; an empty one for other classes."""
        if cls.kind is None:
            return Signature()
        return signature(cls._project(), "evaluators", cls.kind.name.rpartition(".")[2]) or Signature()

    @classmethod
    def _project(cls) -> str:
        return "aisbench" if cls.kind is not None and cls.kind.name.startswith("ais_bench") else "opencompass"

    def _arguments(self) -> dict[str, Any]:
        """Return the arguments of this evaluator, less upstream's defaults."""
        defaults = self._signature().defaults
        private = ("_", "logger")
        return {
            name: value
            for name, value in vars(self).items()
            if not name.startswith(private) and (name not in defaults or defaults[name] != value)
        }

    def score(
        self, predictions: Sequence[Any], references: Sequence[Any], test_set: Any = None, **columns: Any
    ) -> dict[str, Any]:
        """Return scores by name, with ``details`` of single predictions where they are right or wrong.

        Args:
            predictions: Answers after their post-processors.
            references: Right answers.
            test_set: Rows, for evaluators that look at them.
            columns: Further columns of the answers (``ppl`` …).

        Returns:
            Scores by name; of predictions and references of different length ``{"error": …}``, as upstream.

        Raises:
            ScoringError: There is nothing to score.
            UsageError: The class is a base.
        """
        if self.kind is None:
            raise UsageError(f"{type(self).__name__} has no 'score'", hint="a class derived from BaseEvaluator has one")
        if len(predictions) != len(references):
            return {"error": f"{len(predictions)} predictions and {len(references)} references have different length"}
        rows = [dict(row) for row in test_set] if test_set is not None else [{} for _ in predictions]
        cases = Cases(list(predictions), list(references), rows, (), columns, self._project())
        verdict = evaluator({"type": self.kind, **self._arguments()})(cases)
        told = zip(predictions, references, verdict.correct, strict=True) if verdict.correct else ()
        details = [{"pred": given, "answer": gold, "correct": right} for given, gold, right in told]
        return {**verdict.scores, **({"details": details} if details else {})}


@cache
def evaluator_class(name: str, project: str = "opencompass", *, is_icl: bool = False) -> type[BaseEvaluator] | None:
    """Return the class of an evaluator; ``None`` where Proctor has none.

    Args:
        project: ``opencompass`` or ``aisbench``.
        is_icl: Whether it is the one of ``icl_evaluator``, where one of ``datasets`` has the same name.
    """
    kind = Reference(f"{(_ICL if is_icl else TOPS)[project]}.{name}")
    if not is_known({"type": kind}):
        return None
    uncalled = {**BaseEvaluator.uncalled, **dict.fromkeys(_steps().get(name, ()), _INSTEAD)}
    about = f"``{name}``, as Proctor computes it."
    return type(name, (BaseEvaluator,), {"kind": kind, "uncalled": uncalled, "__doc__": about})
