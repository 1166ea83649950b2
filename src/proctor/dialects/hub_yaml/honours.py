"""The effect of each option of a run on a task of an ``eval.yaml``."""

from __future__ import annotations

from proctor.dialects.hub_yaml.config import HubTask
from proctor.dialects.hub_yaml.samples import LITERAL
from proctor.recipes.honours import Honours, declared, reduces
from proctor.recipes.option import ASKS_NOBODY, Honoured, Refused, no_effect
from proctor.recipes.options import ExamOptions
from proctor.recipes.row_changes import RowParts, honours_of_changes


def _asks(task: HubTask) -> bool:
    """Whether a scorer asks the judge that the user names."""
    return any(step.name.startswith("model_graded") and not step.args.get("model") for step in task.scorers)


def parts_of(task: HubTask) -> RowParts:
    """Return what the columns of a task's dataset are."""
    fields = task.fields
    choices = (fields.choices,) if isinstance(fields.choices, str) else tuple(fields.choices or ())
    answer = "" if fields.target.startswith(LITERAL) else fields.target
    return RowParts((fields.input,), choices if answer else (), answer)


def task_honours(task: HubTask, options: ExamOptions) -> Honours:
    """Return an entry for every option."""
    return {
        **declared("hub_yaml"),
        **honours_of_changes(parts_of(task)),
        "reduce": reduces(options),
        "judge": Honoured("who judges where a scorer names nobody") if _asks(task) else no_effect(ASKS_NOBODY),
        "seed": Honoured("the order of choices") if task.shuffle_choices else no_effect("nothing is drawn"),
        "num_demos": no_effect("it shows none") if options.num_demos == 0 else Refused("it has no demos"),
    }
