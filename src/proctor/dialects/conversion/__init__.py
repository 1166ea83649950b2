"""Any exam in the form of any dialect: what is asked stays the same, what cannot be said is named."""

from __future__ import annotations

import re

from proctor.dialects.conversion.converted import ConvertedExam, Loss
from proctor.dialects.conversion.written import written_out
from proctor.dialects.dialect import loaded
from proctor.dialects.registry import dialects
from proctor.errors import UsageError, did_you_mean
from proctor.recipes.exam import Exam

__all__ = ["ConvertedExam", "Loss", "convert_exam", "forms"]

LONGEST_NAME = 80
"""Characters of a name: recipe strings are exams, and file systems end at 255."""


def forms() -> dict[str, str]:
    """Return what an exam can be converted to, each form with the ending of its files."""
    return {form: ending for each in dialects() for form, ending in each.convert.forms.items()}


def convert_exam(exam: Exam, to: str) -> ConvertedExam:
    """Return an exam in another form, with rows that hold its prompts.

    Raises:
        UsageError: There is no such form, or it cannot ask what the exam asks.
        ProctorError: The data cannot be read.
    """
    writers = {each.convert.form: each for each in dialects() if each.convert.write}
    if to not in writers:
        why = f"there are {', '.join(writers)}"
        raise UsageError(f"there is no form '{to}'", why=why, hint=did_you_mean(to, writers))
    if "metric" in exam.source:
        raise UsageError(f"--metric of '{exam.name}' is not written into other forms", hint="leave it out")
    name = re.sub(r"\W+", "_", exam.name).strip("_").lower()[:LONGEST_NAME] or "exam"
    if name[0].isdigit():  # a config has it as the name of a variable
        name = f"exam_{name}"
    form = writers[to].convert
    if form.again and exam.dialect == writers[to].name:
        made: ConvertedExam = loaded(form.again)(exam, name)
        return made
    written = written_out(exam, name, to)
    text = loaded(form.write)(written)
    return ConvertedExam(name, text, written.rows, written.file, tuple(written.losses))
