"""What each option of a run does to a task of an ``eval.yaml``."""

from __future__ import annotations

from proctor.dialects.hub_yaml.config import HubTask
from proctor.recipes.honours import Honoured, Honours, Refused, all_honoured, no_effect, no_table, reduces
from proctor.recipes.options import ExamOptions

_MESSAGES = "its prompts are chat messages, which the engine lays out"


def task_honours(task: HubTask, options: ExamOptions) -> Honours:
    """Return an entry for every option."""
    return {
        **all_honoured(
            ("limit", "samples", "predict_only", "decoding", "repeats", "system_prompt", "group_by", "clusters")
        ),
        "reduce": reduces(options),
        "truncated": Honoured("for answers that were cut off"),
        "answers": Honoured("for models that think"),
        "seed": Honoured("the order of choices") if task.shuffle_choices else no_effect("nothing is drawn"),
        "num_demos": no_effect("it shows none") if options.num_demos == 0 else Refused("it has no demos"),
        "apply_chat_template": no_effect(_MESSAGES),
        "chat_template_model": Refused(_MESSAGES),
        "meta_template": Refused(_MESSAGES),
        "demos_as_turns": no_effect("it has no demos"),
        "template": Refused("its solvers are its only template"),
        "model_config": no_effect("limits and stop words of a config hold for exams of AISBench's"),
        "choices_as_text": no_effect("the model writes its choice in any case"),
        "code_seeds": no_effect("no code comes with it"),
        "chat_override": Refused("it says nothing of its own for chat models"),
        "metadata": Refused("no code of it reads metadata"),
        "resamples": no_effect("its scores are means, whose errors have a formula"),
        "keys": Refused("its keys stand in eval.yaml", "change the file"),
        **no_table(),
    }
