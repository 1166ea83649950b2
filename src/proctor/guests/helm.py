"""HELM's scenario and metric for recipes, where HELM is installed.

``python -m proctor.compat $(which helm-run) --run-entries "unitxt:$recipe,model=$model"`` runs HELM unchanged; its
scenario and its metric import ``unitxt``, which Proctor answers. The metric of HELM 0.5.16 compares all answers with
one split of the dataset, from its first row on, whichever rows HELM asked about; here it is given those rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

_ROW = re.compile(r"([a-z]+)([0-9]+)")
"""What HELM calls an instance: split and position."""


class AskedRows(dict[str, Any]):
    """A dataset by split, of which ``get`` returns the rows that were asked about, of all splits, in order.

    Args:
        dataset: Rows by split.
        ids: Ids of HELM's instances.
    """

    def __init__(self, dataset: Mapping[str, Any], ids: Sequence[str]) -> None:
        super().__init__(dataset)
        self._places = [(match[1], int(match[2])) for each in ids if (match := _ROW.match(each))]

    def get(self, split: str, default: Any = None) -> Any:  # noqa: ARG002 - the signature of a dict
        """Return the rows that were asked about."""
        return [self[name][position] for name, position in self._places]


def give_asked_rows(module: ModuleType) -> Callable[[], None]:
    """Give HELM's metric for recipes the rows that were asked about; return a function that takes it back."""
    holder: Any = module
    original = holder.UnitxtMetric

    class UnitxtMetric(original):  # type: ignore[misc, valid-type]
        dataset: Any

        def evaluate(self, scenario_state: Any, *args: Any, **kwargs: Any) -> Any:
            whole = self.dataset
            self.dataset = AskedRows(whole, [state.instance.id for state in scenario_state.request_states])
            try:
                return super().evaluate(scenario_state, *args, **kwargs)
            finally:
                self.dataset = whole

    holder.UnitxtMetric = UnitxtMetric
    return lambda: setattr(holder, "UnitxtMetric", original)
