"""Any exam in the form of any dialect: what is asked stays the same, what cannot be said is named."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from proctor.dialects.conversion.converted import ConvertedExam, Loss
from proctor.dialects.conversion.to_config import to_config
from proctor.dialects.conversion.to_eval_yaml import FORM, task_as_yaml, to_eval_yaml
from proctor.dialects.conversion.to_lm_eval import to_lm_eval
from proctor.dialects.conversion.to_unitxt import to_unitxt
from proctor.dialects.conversion.written import Written, written_out
from proctor.dialects.hub_yaml.config import HubTask
from proctor.errors import UsageError, did_you_mean
from proctor.recipes.exam import Exam

__all__ = ["TARGETS", "ConvertedExam", "Loss", "convert_exam"]

TARGETS: Mapping[str, Callable[[Written], str]] = {
    "lm-eval": to_lm_eval,
    "unitxt": to_unitxt,
    "opencompass": to_config,
    FORM: to_eval_yaml,
}
"""The forms, and what writes each."""


LONGEST_NAME = 80
"""Characters of a name: recipe strings are exams, and file systems end at 255."""


def convert_exam(exam: Exam, to: str) -> ConvertedExam:
    """Return an exam in another form, with rows that hold its prompts.

    Raises:
        UsageError: There is no such form, or it cannot ask what the exam asks.
        ProctorError: The data cannot be read.
    """
    if to not in TARGETS:
        why = f"there are {', '.join(TARGETS)}"
        raise UsageError(f"there is no form '{to}'", why=why, hint=did_you_mean(to, TARGETS))
    name = re.sub(r"\W+", "_", exam.name).strip("_").lower()[:LONGEST_NAME] or "exam"
    if name[0].isdigit():  # a config has it as the name of a variable
        name = f"exam_{name}"
    if to == FORM and isinstance(exam.own, HubTask):
        where = f"rows: the file reads the dataset in whose folder it lies; put it into that of {exam.own.dataset}"
        return ConvertedExam(name, task_as_yaml(exam.own, name), lost=(Loss("requests", where),))
    written = written_out(exam, name, to)
    text = TARGETS[to](written)
    return ConvertedExam(name, text, written.rows, written.file, tuple(written.losses))
