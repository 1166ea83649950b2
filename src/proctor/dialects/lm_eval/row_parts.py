"""What the columns of a task's documents are: shown, choices, what is right; read off its fields."""

from __future__ import annotations

import re
from typing import Any, Final

from proctor.dialects.lm_eval.jinja import field_names, is_template
from proctor.dialects.lm_eval.prepared import PreparedTask
from proctor.recipes.row_changes import RowParts

_USUAL: Final = ("choices", "options")  # names of columns of choices
_INDEXED: Final = re.compile(r"(\w+)(?:\.text|\[['\"]text['\"]\])?\s*\[\s*0\s*\]")
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


def parts_of(task: PreparedTask) -> RowParts:
    """Return what the columns of a task's documents are; nothing where code puts them in words."""
    config = task.config
    keys = ("doc_to_text", "doc_to_choice", "doc_to_target")
    text, choice, target = ((config.originals or vars(config)).get(key) for key in keys)
    asked, right, choices = _names(text), _names(target), _names(choice)
    if not choices:  # labels are compared
        indexed = _INDEXED.findall(text) if isinstance(text, str) else []
        choices = tuple(each for each in asked if each in indexed or each.lower() in _USUAL)[:1]
    answers = [each for each in right if each not in choices]
    inputs = tuple(each for each in asked if each not in {*choices, *right})
    if len(answers) != 1:
        return RowParts(inputs)
    return RowParts(inputs, choices, answers[0], lambda doc: task.view(doc).target)


def _names(field: Any) -> tuple[str, ...]:
    """Return the columns that a field reads, in the order in which it does; none of code, numbers and lists."""
    if not isinstance(field, str) or not is_template(field):
        return (field,) if isinstance(field, str) and _NAME.fullmatch(field) else ()
    known = field_names(field)
    return tuple(name for name in dict.fromkeys(_NAME.findall(field)) if name in known)
