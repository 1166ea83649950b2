"""What a user types to an exam: a file of rows, ``rows.csv`` or ``rows.csv[input_column=Q,answer_column=A]``.

The exam is one of lm-eval's kind: it compares choices by their likelihoods, or writes an answer that must equal the
table's but for case, punctuation and blanks around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import Documents, TaskDocuments
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.generation import DEFAULT_MAX_TOKENS
from proctor.dialects.tables.columns import Columns, answering, asking, find_columns, labels
from proctor.dialects.tables.reader import has_usual_form, is_table, read_table
from proctor.effects import Effect
from proctor.errors import UsageError, did_you_mean
from proctor.logs import get_logger
from proctor.recipes.exam import Exam
from proctor.recipes.honours import OF_TABLES, Honoured, Honours, Refused, no_effect
from proctor.recipes.options import ExamOptions

_NAMED: Final = re.compile(r"(.+\.\w+)\[([^\[\]]*)\]")
_SPLIT: Final = "test"


def resolve_name(name: str, options: ExamOptions) -> list[Exam] | None:
    """Return the exam of a table, ``None`` where a name is none, or is one that another dialect reads.

    Raises:
        ProctorError: It is a table, and no exam can be made of it.
    """
    path, given = _parts(name)
    if path is None or not is_table(path):
        return None
    said = {key: getattr(options, key) for key in OF_TABLES if getattr(options, key) is not None}
    chosen = {**said, **given}
    if not chosen and not _is_ours(path):
        if not Path(f"{path}{_BESIDE}").is_file():
            get_logger().warning(
                "%s: asked and scored as a custom dataset of OpenCompass, to the letter; %s[input_column=question] is "
                "a table, where case and punctuation do not count",
                path,
                Path(path).name,
            )
        return None
    if Path(f"{path}{_BESIDE}").is_file():
        get_logger().warning(
            "%s%s is not read: it is of OpenCompass' custom datasets, and columns are named", path, _BESIDE
        )
    return [table_exam(path, options, chosen)]


def _parts(name: str) -> tuple[str | None, Mapping[str, str]]:
    """Return the file and what brackets say; no file where they say what others read."""
    found = _NAMED.fullmatch(name)
    if found is None:
        return name, {}
    pairs = dict(each.partition("=")[::2] for each in _cut(found[2]))
    if not set(pairs) & set(OF_TABLES):
        return None, {}
    if unknown := [key for key in pairs if key not in OF_TABLES]:
        raise UsageError(
            f"a table has no '{unknown[0]}'", hint=did_you_mean(unknown[0], OF_TABLES) or ", ".join(OF_TABLES)
        )
    return found[1], pairs


def _cut(text: str) -> list[str]:
    """Split at commas before a name with an equals sign, so that lists of columns stay whole."""
    return [each for each in re.split(r",(?=\s*\w+=)", text) if each.strip()]


def _is_ours(path: str) -> bool:
    """Whether nobody else reads a file: OpenCompass' custom datasets are CSV with commas, and JSON lines in UTF-8.

    A file of OpenCompass beside it (``rows.csv.meta.json``) says how to ask, whatever the columns are called.
    """
    if Path(path).suffix.lower() not in (".csv", ".jsonl"):
        return True
    return not Path(f"{path}{_BESIDE}").is_file() and not has_usual_form(path)


_BESIDE: Final = ".meta.json"


def table_exam(path: str, options: ExamOptions, given: Mapping[str, str | None]) -> Exam:
    """Return the exam of a table.

    Args:
        path: The file.
        options: What the run changes.
        given: What the user says of the columns.

    Raises:
        ProctorError: It cannot be read, or has no columns that could be asked.
    """
    rows = read_table(path)
    columns = find_columns(path, rows, given, needs_answer=not options.predict_only)
    name = Path(path).name.partition(".")[0]
    if not given:
        _say(path, columns)
    config = _config(name, path, columns)
    exam = task_exam(name, config, options, TableDocuments(config, rows))
    return replace(
        exam,
        description=f"{config.output_type.replace('_', ' ')} on {path}",
        honours=_honours(exam.honours),
        variants={kind: partial(_variant, make) for kind, make in exam.variants.items()},
    )


def _variant(make: Callable[[], Exam]) -> Exam:
    exam = make()
    return replace(exam, honours=_honours(exam.honours))


def _say(path: str, columns: Columns) -> None:
    choices = f", between {', '.join(map(repr, columns.choices))}" if columns.choices else ""
    get_logger().warning("%s: asks '%s'%s, and compares with '%s'", path, columns.question, choices, columns.answer)


def _honours(known: Honours) -> Honours:
    return {
        **known,
        **{name: Honoured(_HOW[name]) for name in OF_TABLES},
        "resamples": no_effect("its scores are means, whose errors have a formula"),
        "template": Refused("a table has no templates", "--prompt says how to ask"),
        "keys": Refused("a table has no task file", "--prompt and the columns say all there is to say"),
    }


_HOW: Final = {
    "input_column": "the column that is asked",
    "answer_column": "the column that answers are compared with",
    "choices_column": "the column of the choices, or one column for each",
    "prompt": "how to ask; columns stand in braces",
}


def _config(name: str, path: str, columns: Columns) -> TaskConfig:
    said: dict[str, Any] = {
        "question": columns.question,
        "answer": columns.answer,
        "choices": list(columns.choices),
        "prompt": columns.prompt,
    }
    shared: dict[str, Any] = {
        "task": name,
        "dataset_path": path,
        "test_split": _SPLIT,
        "doc_to_text": asking(columns),
        "doc_to_target": answering(columns),
        "metadata": {"version": 1, "columns": {key: value for key, value in said.items() if value}},
    }
    if columns.choices:
        metric = {"metric": "acc", "aggregation": "mean", "higher_is_better": True}
        return TaskConfig(**shared, output_type="multiple_choice", doc_to_choice=labels(columns), metric_list=[metric])
    metric = {
        "metric": "exact_match",
        "aggregation": "mean",
        "higher_is_better": True,
        "ignore_case": True,
        "ignore_punctuation": True,
    }
    steps = [{"function": "remove_whitespace"}, {"function": "take_first"}]
    return TaskConfig(
        **shared,
        output_type="generate_until",
        generation_kwargs={"temperature": 0.0, "do_sample": False, "max_gen_toks": DEFAULT_MAX_TOKENS, "until": []},
        metric_list=[metric],
        filter_list=[{"name": "none", "filter": steps}],
    )


class TableDocuments(TaskDocuments):
    """The rows of a table as a task's documents.

    Args:
        config: The task.
        rows: The rows.
    """

    def __init__(self, config: TaskConfig, rows: Documents) -> None:
        super().__init__(config)
        self._table = rows

    def effects(self) -> list[Effect]:
        """Return none: the user names the file."""
        return []

    def _rows(self, name: str) -> Documents:
        del name
        return self._table
