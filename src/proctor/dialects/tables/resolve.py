"""Resolves a table to an exam: ``rows.csv`` or ``rows.csv[input_column=Q,answer_column=A]``.

The exam is one of lm-eval's kind: it compares choices by their likelihoods, or writes an answer that must equal the
table's but for case and what stands around it (:data:`_AROUND`).
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
from proctor.dialects.tables.columns import Columns, answering, asking, find_columns, labels, placeholders
from proctor.dialects.tables.reader import is_table, read_table
from proctor.effects import Effect
from proctor.errors import UsageError, did_you_mean
from proctor.logs import get_logger
from proctor.recipes.exam import Exam
from proctor.recipes.honours import OF_TABLES, Honours, declared
from proctor.recipes.option import DEPENDS
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
    if _has_file_beside(path):
        if not chosen:
            return None
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


def _has_file_beside(path: str) -> bool:
    """Whether a file of OpenCompass beside it (``rows.csv.meta.json``) says how to ask."""
    return Path(path).suffix.lower() in (".csv", ".jsonl") and Path(f"{path}{_BESIDE}").is_file()


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
    name = Path(path).stem
    _say_guessed(path, columns, given)
    _say_what_looks_wrong(path, rows, columns)
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


def _say_guessed(path: str, columns: Columns, given: Mapping[str, str | None]) -> None:
    """Say which columns are taken that the user did not name."""
    found = []
    if columns.prompt is None and given.get("input_column") is None:
        found.append(f"asks '{columns.question}'")
    if columns.choices and given.get("choices_column") is None:
        found.append(f"chooses between {', '.join(map(repr, columns.choices))}")
    if columns.answer is not None and given.get("answer_column") is None:
        found.append(f"compares with '{columns.answer}'")
    if found:
        get_logger().warning("%s: %s", path, " and ".join(found))


_LISTED: Final = re.compile(r"""\s*\[\s*(['"]).*\1\s*\]\s*""", re.DOTALL)
"""A list of texts as Python or JSON writes it."""


def _say_what_looks_wrong(path: str, rows: Documents, columns: Columns) -> None:
    """Say what gives numbers that nobody means: prompts that show what is right, lists that are compared as texts."""
    asked = {columns.question} if columns.prompt is None else set(placeholders(columns.prompt))
    if columns.answer in asked:
        get_logger().warning("%s: the prompt shows '%s', which answers are compared with", path, columns.answer)
    if columns.answer is None or columns.choices:
        return
    answers = [row.get(columns.answer) for row in rows]
    if all(isinstance(each, str) and _LISTED.fullmatch(each) for each in answers):
        get_logger().warning(
            "%s: the answers in '%s' look like lists (%s …), and a cell is one text; several right answers to a "
            "question are a list in JSON lines or parquet",
            path,
            columns.answer,
            str(answers[0])[:40],
        )


def _honours(known: Honours) -> Honours:
    """Return what a table honours: where nothing else is declared of tables, what the task does that is made of it."""
    own, of_tasks = declared("tables"), declared("lm_eval")
    return {name: known[name] if entry in (DEPENDS, of_tasks[name]) else entry for name, entry in own.items()}


_OPENING: Final = r"\s\"'`“”„‘’‚«»‹›「」『』《》(\[¿¡"  # noqa: RUF001 - marks of many languages
_CLOSING: Final = r"\s\"'`“”‘’«»‹›「」『』《》)\].,;:!?…。，；：！？"  # noqa: RUF001 - marks of many languages
_AROUND: Final = (
    rf"^(?:[{_OPENING}]|\*\*)+(?=[^{_OPENING}{_CLOSING}])",
    rf"(?<=[^{_CLOSING}])(?:[{_CLOSING}]|\*\*)+$",
    r"(?<=\d),(?=\d{3}(?!\d))",
)
"""What does not count in an answer: quotes, brackets and marks of sentences around it, emphasis, and commas between the
thousands of a number. All else does: ``-5`` is not 5, ``C++`` is not C, ``1.5`` is not 15, and ``?`` is something."""


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
        "regexes_to_ignore": list(_AROUND),
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
