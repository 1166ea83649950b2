"""Helpers of Unitxt's metrics that programs import."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import Field as PydanticField
from typing_extensions import override

from proctor.data.fields import Row
from proctor.data.operator import InstanceOperator
from proctor.statistics.resampling import nan_mean


class UpdateStream(InstanceOperator):
    """Writes the same fields into every row.

    Attributes:
        update: The fields.
    """

    update: dict[str, Any]

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        return {**instance, **self.update}


def abstract_factory() -> dict[str, Any]:
    """Return an empty dict."""
    return {}


def abstract_field() -> Any:
    """Return the declaration of a field that is an empty dict."""
    return PydanticField(default_factory=abstract_factory)


def nan_std(x: Any) -> float:
    """Return the standard deviation of what is a number."""
    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=RuntimeWarning)
        return float(np.nanstd(x))


def is_original_key(key: str) -> bool:
    """Whether a score is one that a metric computes, and not an interval, a count or the main score again."""
    return not (key.endswith(("_ci_low", "_ci_high")) or key in ("score", "num_of_instances", "score_name"))


def get_index_or_default(lst: Sequence[Any], item: Any, default: int = -1) -> int:
    """Return the place of a member, or the default."""
    try:
        return lst.index(item)
    except ValueError:
        return default


def validate_subgroup_types(
    subgroup_scores_dict: dict[str, list[float]],
    control_subgroup_types: list[str],
    comparison_subgroup_types: list[str],
) -> tuple[dict[str, list[float]], list[str], list[str]]:
    """Return the scores without what is not a number, and each name of a group once.

    Raises:
        AssertionError: The names are not lists.
    """
    for name, found in (("control", control_subgroup_types), ("comparison", comparison_subgroup_types)):
        if not isinstance(found, list):
            raise AssertionError(f"{name}_subgroup_types must be a list")  # noqa: TRY004 - what programs catch
    numbers = {name: [each for each in found if not math.isnan(each)] for name, found in subgroup_scores_dict.items()}
    subgroup_scores_dict.update(numbers)
    return subgroup_scores_dict, list(set(control_subgroup_types)), list(set(comparison_subgroup_types))


class Statistic:
    """The scores of resamples, as a bootstrap asks for them; each is kept.

    Args:
        data: What is drawn from.
        score_names: The scores, in order.
        scorer: Computes the scores of a list of members.
    """

    def __init__(
        self, data: Sequence[Any], score_names: Sequence[str], scorer: Callable[[list[Any]], Mapping[str, float]]
    ) -> None:
        self.data, self.score_names, self.scorer = data, score_names, scorer
        self._history: list[Any] = []

    def __call__(self, indices: Any, axis: int = 0) -> Any:
        """Return the scores of the members at some places; ``axis`` is what a bootstrap says, and there is one."""
        import numpy as np

        del axis
        scores = self.scorer([self.data[place] for place in np.atleast_1d(indices).astype(int)])
        found = np.array([scores[name] for name in self.score_names])
        self._history.append(found)
        return found

    def mean(self, idx: int) -> float:
        """Return the mean of a score over all resamples."""
        return float(nan_mean([each[idx] for each in self._history]))

    def std(self, idx: int) -> float:
        """Return the standard deviation of a score over all resamples."""
        return nan_std([each[idx] for each in self._history])
