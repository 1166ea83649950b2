"""Helpers that the writers of all forms share: names, positions of choices, plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.dialects.conversion.gradings import Named
from proctor.dialects.conversion.written import CHOICES, Written
from proctor.scoring.named_table import LM_EVAL, OPENCOMPASS, UNITXT

ELSEWHERE = "Proctor computes it under this name, other programs that read the file do not"


_SAME: Mapping[str, Mapping[str, str]] = {
    LM_EVAL: {f"{OPENCOMPASS}:AccEvaluator": f"{LM_EVAL}:exact_match"},
    UNITXT: {f"{OPENCOMPASS}:AccEvaluator": "metrics.accuracy"},
    OPENCOMPASS: {},
}
"""Metrics that say the same of texts with one right answer: the other system's own name, which it finds itself."""


def own_metric(written: Written, system: str, each: Named) -> Named:
    """Return a metric under the other system's own name, where it has the same one."""
    same = _SAME[system].get(each.name)
    if same is None or each.arguments or written.compares:
        return each
    return Named(same) if all(isinstance(row[written.target], str) for row in written.rows) else each


def name_strange(written: Written, system: str, each: Named) -> None:
    """Name what only Proctor finds under this name."""
    if each.system != ("" if system == UNITXT else system):
        written.losses.add("elsewhere", f"{each.name}: {ELSEWHERE}")


def put_positions(written: Written) -> None:
    """Put positions in place of right choices."""
    for row in written.rows:
        right, choices = row[written.target], row[CHOICES]
        found = [choices.index(each) for each in (right if isinstance(right, list) else [right]) if each in choices]
        if not found:
            written.losses.add("scores", "references: a right answer that is not one of the choices")
        row[written.target] = found if isinstance(right, list) else found[0] if found else len(choices)


def plain(value: object) -> Any:
    """Return a value as what YAML and JSON have."""
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [plain(each) for each in value]
    if isinstance(value, str):
        return str(value)
    return value
