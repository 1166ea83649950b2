"""AISBench's evaluator of options (``OptionSimAccEvaluator``), whose reading of one answer programs call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names.evaluator_base import BaseEvaluator
from proctor.scoring.evaluators.cases import Cases, Verdict, share
from proctor.scoring.evaluators.options import likest_option, require_letters


class OptionSimAccEvaluator(BaseEvaluator):
    """``OptionSimAccEvaluator``, as Proctor computes it.

    Args:
        options: What the options are called: single upper-case letters.

    Raises:
        ScoringError: One is something else.
    """

    def __init__(self, options: Sequence[str]) -> None:
        require_letters(options)
        super().__init__(options=options)
        self.options = options

    called = ("match_any_label",)

    def _verdict(self, cases: Cases) -> Verdict:
        if type(self).match_any_label is OptionSimAccEvaluator.match_any_label:
            return super()._verdict(cases)
        parsed = [self.match_any_label(given, row) for given, row in zip(cases.predictions, cases.rows, strict=True)]
        return share([given == gold for given, gold in zip(parsed, cases.references, strict=True)], parsed=parsed)

    def match_any_label(self, pred: str, test_item: Mapping[str, Any]) -> str:
        """Return the option that an answer means.

        Args:
            pred: The answer.
            test_item: The row, with the texts of the options.
        """
        return likest_option(pred, test_item, self.options)
