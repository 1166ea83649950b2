"""Resolves a table to an exam: ``rows.csv``, ``rows.csv[input_column=Q,answer_column=A]``, ``hf/ORG/DATASET``.

The exam is one of lm-eval's kind: it compares choices by their likelihoods, or writes an answer that must equal the
table's but for case and what stands around it (:data:`~proctor.scoring.distances.AROUND`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import Documents, TaskDocuments
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.generation import DEFAULT_MAX_TOKENS
from proctor.dialects.tables.choices import filled
from proctor.dialects.tables.columns import (
    Columns,
    answering,
    asking,
    chatting,
    classes_unsaid,
    ends_in_numbers,
    find_columns,
    labels,
    placeholders,
    several_answers,
)
from proctor.dialects.tables.media import media_of_row
from proctor.dialects.tables.metrics import FOLLOWED, FOLLOWED_BY, LABELS, TableMetrics
from proctor.dialects.tables.reader import Rows, columns_of, is_nested, is_table, name_of, read_table
from proctor.dialects.tables.usual_columns import MATERIAL, QUESTIONS, usual, usual_answers
from proctor.dialects.tables.wordings import wordings_of
from proctor.effects import Effect
from proctor.errors import UsageError, ValidationError, did_you_mean
from proctor.lazy import Later
from proctor.logs import get_logger
from proctor.prompts.chat_text import is_chat
from proctor.recipes.exam import Exam
from proctor.recipes.honours import OF_TABLES, Honours, declared
from proctor.recipes.option import ASKS_NOBODY, DEPENDS, Honoured, Refused, no_effect
from proctor.recipes.options import ExamOptions
from proctor.recipes.row_changes import RowParts, honours_of_changes
from proctor.scoring.call_checks import TOOL_CALLS, calls_of
from proctor.scoring.distances import AROUND

if TYPE_CHECKING:
    from proctor.data import hub
    from proctor.dialects.lm_eval.prepared import PreparedTask

_NAMED: Final = re.compile(r"(.+\.\w+|hf/.+)\[([^\[\]]*)\]")
_SPLIT: Final = "test"
_DEMOS: Final = "train"
_LAST: Final = "last message"
"""The column that the last messages of chats make."""
_ASKING: Final = frozenset({"prompt", "prompts", "input_column"})
_SEVERAL: Final = frozenset({"metric", "prompt", "prompts"})
"""What brackets may say more than once."""


def resolve_name(name: str, options: ExamOptions) -> list[Exam] | None:
    """Return the exam of a table, ``None`` where a name is none, or is one that another dialect reads.

    Raises:
        ProctorError: It is a table, and no exam can be made of it.
    """
    path, given = _parts(name)
    whole, mark, part = name.partition("::")
    if mark and is_table(whole) and Path(whole).is_file() and not whole.endswith(".json"):
        raise UsageError(f"{whole} is one exam, and has no part '{part}'", hint="of a workbook the first sheet is read")
    if path is None or (table := _table(path)) is None:
        return None
    chosen = _chosen(options, given)
    if _has_file_beside(path):
        if not chosen:
            return None
        get_logger().warning(
            "%s%s is not read: it is of OpenCompass' custom datasets, and columns are named", path, _BESIDE
        )
    return table_exams(table, options, given)


def _chosen(options: ExamOptions, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run says of a table, and what its own brackets say, which decide how it is asked."""
    said = {key: getattr(options, key) for key in OF_TABLES if getattr(options, key) not in (None, ())}
    if _ASKING & set(given):
        said = {key: value for key, value in said.items() if key not in _ASKING}
    return {**said, **given}


class Table(NamedTuple):
    """Rows, and where they are from.

    Attributes:
        path: The file, or the name of the dataset.
        name: What the exam is called.
        rows: The rows.
        source: The dataset, where it is not a file.
        demos: Reads the rows that demos come from, where these are others.
    """

    path: str
    name: str
    rows: Rows
    source: hub.Dataset | None = None
    demos: Callable[[], Rows] | None = None


def _table(name: str) -> Table | None:
    """Return the table that a name means; ``None`` where it means none."""
    if is_table(name):
        return Table(name, name_of(name), read_table(name))
    if not name.startswith("hf/"):
        return None
    from proctor.dialects.tables.hub_table import hub_table  # which most tables do not need

    found = hub_table(name)
    return None if found is None else Table(name, name, *found)


def _parts(name: str) -> tuple[str | None, Mapping[str, Any]]:
    """Return the file and what brackets say; no file where they say what others read."""
    found = _NAMED.fullmatch(name)
    if found is None:
        return name, {}
    pairs: dict[str, Any] = {}
    for key, _, value in (each.partition("=") for each in _cut(found[2])):
        pairs[key] = (*pairs.get(key, ()), value) if key in _SEVERAL else value
    if not set(pairs) & set(OF_TABLES) and Path(found[1]).suffix.lower() not in (".xlsx", ".tsv", ".parquet"):
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


def table_exams(table: Table, options: ExamOptions, given: Mapping[str, Any] | None = None) -> list[Exam]:
    """Return the exams of a table, one for each wording; arguments and errors as for :func:`table_exam`."""
    chosen = _chosen(options, given or {})
    return [
        table_exam(table, options, {**chosen, "prompt": each.prompt, "chat": each.chat}, each.name)
        for each in wordings_of(chosen, columns_of(table.rows))
    ]


def table_exam(table: Table, options: ExamOptions, given: Mapping[str, Any], wording: str = "") -> Exam:
    """Return the exam of a table.

    Args:
        table: The table.
        options: What the run changes.
        given: What the user says of the columns.
        wording: Which of several wordings asks.

    Raises:
        ProctorError: It cannot be read, or has no columns that could be asked.
    """
    path, rows = table.path, _rows_of(table, given)
    metrics = TableMetrics(path, tuple(given.get("metric") or ()), rows, options.judge)
    if metrics.is_equality and {*FOLLOWED_BY} <= rows[0].keys() and given.get("answer_column") is None:
        get_logger().warning("%s: the instructions in '%s' are checked (--metric %s)", path, FOLLOWED_BY[0], FOLLOWED)
        metrics = replace(metrics, names=(FOLLOWED,))
    needs_answer = metrics.needs_answer and not options.predict_only
    if needs_answer and _LAST in rows[0] and given.get("answer_column") is None:
        given = {**given, "answer_column": _LAST}
    columns = find_columns(path, rows, given, needs_answer=needs_answer)
    if metrics.is_equality and columns.tools and any(calls_of(row.get(str(columns.answer))) for row in rows):
        metrics = replace(metrics, names=(TOOL_CALLS,))
    if metrics.is_equality and columns.final is not None and ends_in_numbers(rows, columns):
        get_logger().warning("%s: the last number of an answer counts (--metric number)", path)
        metrics = replace(metrics, names=("number",))
    name = "-".join(filter(None, (given.get("name") or table.name, wording)))
    _say_guessed(path, columns, given, compares=needs_answer)
    _say_what_looks_wrong(path, rows, columns, guessed=not _ASKING & {key for key, value in given.items() if value})
    entries = _entries(metrics, columns)
    chats = _are_chats(rows, columns)
    config = _config(name, path, columns, entries, chats=chats)
    demos = None
    if table.demos is not None:
        config = replace(config, training_split=_DEMOS)
        demos = partial(_rows_of_demos, table, table.demos, given)
    return _exam_of(config, options, TableDocuments(config, rows, table.source, demos), metrics)


def _rows_of_demos(table: Table, read: Callable[[], Rows], given: Mapping[str, Any]) -> Rows:
    return _rows_of(table._replace(rows=read()), given)


def _rows_of(table: Table, given: Mapping[str, Any]) -> Rows:
    """Return the rows of a table; parts of objects that the user names, and what chats end with, are columns of it."""
    path, rows = table.path, table.rows
    if not is_nested(rows):
        return rows
    from proctor.dialects.tables.nested import with_chats, with_last_message, with_parts

    prompt, choices = given.get("prompt"), str(given.get("choices_column") or "").split(",")
    named = [given.get("input_column"), given.get("answer_column"), *map(str.strip, choices)]
    rows = with_parts(with_chats(rows), [*filter(None, named), *(placeholders(prompt) if prompt is not None else ())])
    names = columns_of(rows)
    asked = given.get("input_column") or usual(names, QUESTIONS)
    if given.get("answer_column"):
        return rows
    if (answer := usual_answers(rows, names)) is not None:
        return rows if answer in names else with_parts(rows, [answer])
    if prompt is not None or asked is None:
        return rows
    if (ended := with_last_message(rows, asked, _LAST)) is None:
        return rows
    get_logger().warning("%s: the last message of '%s' is what is right", path, asked)
    return ended


def _are_chats(rows: Rows, columns: Columns) -> bool:
    if columns.prompt is not None or columns.choices or not is_nested(rows):
        return False
    return all(is_chat(row.get(columns.question or "")) for row in rows)


def _exam_of(config: TaskConfig, options: ExamOptions, documents: TableDocuments, metrics: TableMetrics) -> Exam:
    """Return the exam of a task that a table is; one that a chat model sits by itself in its chat template.

    Args:
        config: The task.
        options: What the run changes.
        documents: The table's rows.
        metrics: How answers are scored: where by equality, right ones in sentences are told of.
    """
    path = str(config.dataset_path)
    exam = task_exam(str(config.task), config, options, documents)
    task = cast("PreparedTask", exam.own)
    parts = _parts_of(task, config)
    made = exam.variants.items()
    variants: dict[str, Callable[[], Exam]] = {kind: partial(_variant, make, parts) for kind, make in made}
    if config.output_type == "generate_until":
        if (column := config.metadata["columns"].get("tools")) is not None:
            from proctor.dialects.tables.tools import ToolsAsker  # which most tables do not need

            exam = replace(exam, asker=ToolsAsker(exam.asker, column))
        labels = [each for each in metrics.names if each in LABELS]
        if (metrics.is_equality or labels) and not (options.predict_only or options.repeats):
            exam = replace(exam, grader=Later(f"{__package__}.gradings:TableGrader", task, path, labels))
        if options.apply_chat_template is None and options.meta_template is None:
            chats = replace(options, apply_chat_template=True)
            variants["chat"] = lambda: replace(_exam_of(config, chats, documents, metrics), variant=_IN_CHAT)
            if options.system_prompt or options.num_demos:  # in one message a model reads them as part of the question
                variants["messages"] = variants["chat"]
    description = f"{config.output_type.replace('_', ' ')} on {path}"
    honours = _honours(exam.honours) if metrics.asks else {**_honours(exam.honours), "judge": no_effect(ASKS_NOBODY)}
    honours = {**honours, **honours_of_changes(parts)}
    said = config.metadata["columns"]
    if "media" in said or "chat" in said:
        what = "a prompt of messages shows none" if "chat" in said else "demos would lack their pictures and sounds"
        honours["num_demos"] = Refused(what)
    return replace(exam, description=description, honours=honours, variants=variants, parts=parts)


def _parts_of(task: PreparedTask, config: TaskConfig) -> RowParts:
    """Return what the columns of a table are, as its exam was told or found."""
    said = config.metadata["columns"]
    choices, answer = tuple(said.get("choices", ())), said.get("answer", "")
    asked = placeholders(said["prompt"]) if "prompt" in said else [said["question"], *filter(None, [said.get("below")])]
    inputs = tuple(name for name in asked if name not in {*choices, answer})
    return RowParts(inputs, choices, answer, lambda doc: task.view(doc).target)


_IN_CHAT: Final = "asked in the chat template of the model"


def _entries(metrics: TableMetrics, columns: Columns) -> list[dict[str, Any]]:
    """Return the metrics that the user or the table names.

    Raises:
        UsageError: The table has choices, which are compared.
        ValidationError: One is wrong.
    """
    entries = metrics.entries(columns)
    if entries and columns.choices:
        raise UsageError(
            f"{metrics.path} has choices, and answers are compared with the right one",
            why=f"the choices are {', '.join(map(repr, columns.choices))}",
            hint="leave --metric out",
        )
    if problems := list(metrics.problems(entries)):
        raise ValidationError(problems)
    return entries


def _variant(make: Callable[[], Exam], parts: RowParts) -> Exam:
    exam = make()
    return replace(exam, honours={**_honours(exam.honours), **honours_of_changes(parts)}, parts=parts)


def _say_guessed(path: str, columns: Columns, given: Mapping[str, Any], *, compares: bool) -> None:
    """Say which columns are taken that the user did not name."""
    found = []
    if columns.prompt is None and given.get("input_column") is None:
        found.append(f"asks {' above '.join(map(repr, columns.asked))}")
    if columns.choices and given.get("choices_column") is None:
        found.append(f"chooses between {', '.join(map(repr, columns.choices))}")
    if columns.tools is not None:
        found.append(f"offers the functions in '{columns.tools}'")
    found += [f"shows '{column}'" for column in columns.media.values()]
    if compares and columns.answer is not None and given.get("answer_column") is None:
        place = f"what stands {'behind' if columns.final == '####' else 'in the last'} {columns.final} of "
        found.append(f"compares with {place if columns.final else ''}'{columns.answer}'")
    if found:
        get_logger().warning("%s: %s", path, " and ".join(found))


def _say_what_looks_wrong(path: str, rows: Rows, columns: Columns, *, guessed: bool) -> None:
    """Say what gives numbers that somebody may not mean.

    Prompts that show what is right, questions without what they are about, cells of several answers.
    """
    names = [each for each in columns_of(rows) if each not in (*columns.asked, *columns.choices)]
    left = usual(names, MATERIAL) if guessed else None
    shown = "\\n\\n".join(f"{{{each}}}" for each in (*filter(None, [left]), *columns.asked))
    if left:
        hint = "" if _are_chats(rows, columns) else f"; to show it, --prompt $'{shown}'"
        get_logger().warning("%s: the model is not shown '%s'%s", path, left, hint)
    if columns.answer in columns.asked:
        get_logger().warning("%s: the prompt shows '%s', which answers are compared with", path, columns.answer)
    if columns.answer is None or columns.choices or columns.final:
        return
    if guessed and (classes := classes_unsaid(rows, columns)):
        why = f"'{columns.answer}' is one of {len(classes)}, which the model is not told"
        get_logger().warning("%s: %s; to tell it, --prompt $'%s\\n\\n%s?'", path, why, shown, " or ".join(classes))
    if all(isinstance(row.get(columns.answer), bool) for row in rows):
        get_logger().warning("%s: '%s' is true or false, and yes or no is right as well", path, columns.answer)
    if count := several_answers(rows, columns):
        get_logger().warning(
            "%s: %d cells of '%s' list several right answers (as a|b, or as a list); any of them is right",
            path,
            count,
            columns.answer,
        )


def _honours(known: Honours) -> Honours:
    """Return what a table honours: where nothing else is declared of tables, what the task does that is made of it."""
    own, of_tasks = declared("tables"), declared("lm_eval")
    found = {name: known[name] if entry in (DEPENDS, of_tasks[name]) else entry for name, entry in own.items()}
    return {**found, "judge": Honoured("who judges what --metric has judged")}


def _config(
    name: str, path: str, columns: Columns, metrics: Sequence[dict[str, Any]], *, chats: bool = False
) -> TaskConfig:
    said: dict[str, Any] = {
        "question": columns.question,
        "answer": columns.answer,
        "choices": list(columns.choices),
        "prompt": columns.prompt,
        "chat": [list(each) for each in columns.chat],
        "below": columns.below,
        "tools": columns.tools,
        "media": dict(columns.media),
        "final": columns.final,
    }
    shared: dict[str, Any] = {
        "task": name,
        "dataset_path": path,
        "test_split": _SPLIT,
        "doc_to_text": asking(columns),
        "doc_to_target": answering(columns),
        **{
            f"doc_to_{kind}": partial(media_of_row, column=column, folder=str(Path(path).parent))
            for kind, column in columns.media.items()
        },
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
        "regexes_to_ignore": list(AROUND),
    }
    if columns.final is not None:  # demos show whole solutions
        shared["fewshot_config"] = {"doc_to_target": partial(filled, name=str(columns.answer))}
    steps = [{"function": "remove_whitespace"}, {"function": "take_first"}]
    if columns.chat:
        shared["doc_to_messages"] = chatting(columns)
    elif chats:
        from proctor.dialects.tables.nested import chat_of

        shared["doc_to_messages"] = partial(chat_of, column=str(columns.question))
    return TaskConfig(
        **shared,
        output_type="generate_until",
        generation_kwargs={"temperature": 0.0, "do_sample": False, "max_gen_toks": DEFAULT_MAX_TOKENS, "until": []},
        metric_list=[each or metric for each in metrics] or [metric],
        filter_list=[{"name": "none", "filter": steps}],
    )


class TableDocuments(TaskDocuments):
    """The rows of a table as a task's documents.

    Args:
        config: The task.
        rows: The rows.
        dataset: The dataset that they are of, where they are not in a file.
        demos: Reads the rows that demos come from, where these are others.
    """

    def __init__(
        self,
        config: TaskConfig,
        rows: Documents,
        dataset: hub.Dataset | None = None,
        demos: Callable[[], Documents] | None = None,
    ) -> None:
        super().__init__(config)
        self._table, self._dataset, self._demos = rows, dataset, demos

    def effects(self) -> list[Effect]:
        """Return the effects of loading a dataset; none for a file, which the user names."""
        return [] if self._dataset is None else self._dataset.effects("the name of the exam")

    def _rows(self, name: str) -> Documents:
        return self._table if name == _SPLIT or self._demos is None else self._demos()
