"""AISBench's evaluator of MATH with the steps that programs call one by one."""

from __future__ import annotations

from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.evaluator_base import BaseEvaluator
from proctor.scoring.evaluators.cases import Cases, Verdict, percent_of_sum, share
from proctor.scoring.postprocessors import mathematics

_VERSIONS = ("v1", "v2")


def fix_a_slash_b(string: str) -> str:
    r"""Return ``1/2`` as ``\frac{1}{2}``, and other texts as they are."""
    try:
        return mathematics.slash_as_fraction(string)
    except ValueError:
        return string


class MATHEvaluator(BaseEvaluator):
    """The share of answers that are the right formula.

    Args:
        version: Rules for the spelling: ``v1`` (MATH), ``v2`` (more units and symbols).

    Raises:
        ParameterValueError: There is no such version.
    """

    def __init__(self, version: str = "v1", **more: Any) -> None:
        if version not in _VERSIONS:
            code = error_codes.DSET_CODES.INVALID_PARAM_VALUE  # type: ignore[attr-defined]
            raise errors.ParameterValueError(code, f"there is no version {version!r} of the rules; there are v1 and v2")  # type: ignore[attr-defined]
        super().__init__(version=version, **more)
        self.version = version

    called = ("is_equiv",)

    def _verdict(self, cases: Cases) -> Verdict:
        if type(self).is_equiv is MATHEvaluator.is_equiv:
            return super()._verdict(cases)
        return share([bool(self.is_equiv(given, gold)) for given, gold in cases.pairs()], rule=percent_of_sum)

    def is_equiv(self, str1: str | None, str2: str | None, verbose: bool = False) -> bool:
        """Whether two answers are the same formula."""
        del verbose
        return mathematics.is_equivalent(str1, str2, self.version)

    def _fix_fracs(self, string: str) -> str:
        return mathematics.braced_fractions(string)

    def _fix_a_slash_b(self, string: str) -> str:
        return fix_a_slash_b(string)

    def _remove_right_units(self, string: str) -> str:
        return mathematics.without_unit(string)

    def _fix_sqrt(self, string: str) -> str:
        return mathematics.braced_roots(string)

    def _fix_sqrt_v2(self, string: str) -> str:
        return mathematics.worded_roots(string)

    def _strip_string(self, string: str) -> str:
        return mathematics.stripped_plain(string)

    def _strip_string_v2(self, string: str) -> str:
        return mathematics.stripped_more(string)
