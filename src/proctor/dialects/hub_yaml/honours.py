"""What each option of a run does to a task of an ``eval.yaml``."""

from __future__ import annotations

from proctor.dialects.hub_yaml.config import HubTask
from proctor.recipes.honours import Honours, declared, reduces
from proctor.recipes.option import Honoured, Refused, no_effect
from proctor.recipes.options import ExamOptions


def task_honours(task: HubTask, options: ExamOptions) -> Honours:
    """Return an entry for every option."""
    return {
        **declared("hub_yaml"),
        "reduce": reduces(options),
        "seed": Honoured("the order of choices") if task.shuffle_choices else no_effect("nothing is drawn"),
        "num_demos": no_effect("it shows none") if options.num_demos == 0 else Refused("it has no demos"),
    }
