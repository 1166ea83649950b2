"""Columns of question and answer in a table: named by the user, or found by their usual names."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from proctor.dialects.tables.choices import LETTERS, AnswerKey, answer_key, choices_of, filled, shown, single
from proctor.dialects.tables.media import media_in
from proctor.dialects.tables.reader import Row, Rows, columns_of, is_nested
from proctor.dialects.tables.usual_columns import (
    MEDIA,
    QUESTIONS,
    SOLUTION,
    TOOLS,
    Mark,
    example_column,
    final_of,
    needed_final,
    usual,
    usual_answers,
    usual_choices,
)
from proctor.errors import DataError, Location, UsageError, did_you_mean
from proctor.foreign_text import parse_json, parse_printed
from proctor.ir import Message
from proctor.prompts.chat_text import is_chat
from proctor.scoring.call_checks import calls_of, calls_text


@dataclass(frozen=True)
class Columns:
    """The roles of a table's columns.

    Attributes:
        question: The question; ``None`` where a prompt says all.
        answer: What is right; ``None`` where answers are only recorded.
        choices: One column with all choices, or one column for each.
        prompt: How to ask, with names of columns in braces.
        key: How answers name choices; ``None`` where there are no choices, or no answers.
        chat: The roles and the words of the prompt's messages, where it is a chat.
        below: What stands below the question in rows that have it: the input of an instruction.
        tools: The functions that a model may call.
        media: Columns of pictures or sounds, by their kind; one kind.
        final: What right answers are the end of, where they are solutions.
    """

    question: str | None
    answer: str | None
    choices: tuple[str, ...]
    prompt: str | None
    key: AnswerKey | None = None
    chat: tuple[tuple[str, str], ...] = ()
    below: str | None = None
    tools: str | None = None
    media: Mapping[str, str] = field(default_factory=dict)
    final: Mark | None = None

    @property
    def asked(self) -> list[str]:
        """The columns that a model is shown, but for choices that are listed below."""
        if self.prompt is not None:
            return placeholders(self.prompt)
        return [each for each in (self.question, self.below) if each is not None]


def find_columns(path: str, rows: Rows, given: Mapping[str, Any], *, needs_answer: bool) -> Columns:
    """Return the columns of a table that an exam reads.

    Args:
        path: The file, for messages.
        rows: Its rows.
        given: What the user says: ``input_column``, ``answer_column``, ``choices_column``, ``prompt``.
        needs_answer: Whether answers are scored.

    Raises:
        UsageError: A column that is named is not there, or nothing says which column is asked.
    """
    names = [*columns_of(rows), *_parts_of(rows)]
    prompt, question = given.get("prompt"), given.get("input_column")
    answer, listed, below = given.get("answer_column"), given.get("choices_column"), None
    choices = _named_choices(listed, names)
    if prompt is not None and question is not None:
        raise UsageError("--prompt and --input-column both say what is asked", hint="name the column in the prompt")
    _check(path, names, [("--input-column", question), ("--answer-column", answer)])
    _check(path, names, [("--choices-column", each) for each in choices])
    if prompt is not None:
        _check(path, names, [("--prompt", each) for each in placeholders(prompt)])
    elif question is None:
        if (question := usual(names, QUESTIONS)) is None:
            example = example_column(rows[0], names)
            how = f'--input-column NAME or --prompt TEXT, such as "Answer in a word: {{{example}}}"'
            question = _nothing(path, names, "asked", how)
        below = usual(names, ("input",)) if question.strip().lower() == "instruction" else None
    final: Mark | None = None
    if answer is None:
        answer, final = _right(rows, names)
        if answer is None and needs_answer:
            _nothing(path, names, "right", "--answer-column NAME, or record answers only with --predict-only")
    found = () if listed == "" else choices or usual_choices([each for each in names if each != answer])
    if prompt is not None and not found and not placeholders(prompt):
        raise UsageError(
            "--prompt asks the same of every row",
            location=Location(path),
            why=f"it names no column; there are {', '.join(map(repr, names))}",
            hint=f"a file of prompts is --prompts {prompt}"
            if Path(prompt).suffix in (".txt", ".md", ".json", ".yaml", ".yml")
            else f"write a column in braces: {{{names[0]}}}",
        )
    if prompt is not None:
        _check_shown(path, found, placeholders(prompt))
    media = {kind: name for kind, wanted in MEDIA.items() if (name := usual(names, wanted)) not in (None, question)}
    chat = tuple(given.get("chat", ()))
    if chat and (found or media):
        raise UsageError(
            "a prompt of messages asks for written answers about texts",
            location=Location(path),
            why=f"the table has {'choices' if found else 'pictures or sounds'}",
            hint="ask in one message with --prompt; --system-prompt stands before it",
        )
    tools = None if found else usual(names, (TOOLS,))  # who chooses calls nothing
    final = None if found or tools else final
    made = Columns(question, answer, found, prompt, chat=chat, below=below, tools=tools, media=media, final=final)
    return made if not found or answer is None else replace(made, key=answer_key(path, rows, answer, found))


def _right(rows: Rows, names: Sequence[str]) -> tuple[str | None, Mark | None]:
    """Return the column that is right by its name, and what its answers end where they are solutions."""
    answer = usual_answers(rows, names)
    if answer is not None:
        return answer, final_of(rows, answer)
    solution = usual(names, (SOLUTION,))
    mark = None if solution is None else final_of(rows, solution)
    return (None, None) if mark is None else (solution, mark)


def _parts_of(rows: Rows) -> list[str]:
    if not is_nested(rows):
        return []
    from proctor.dialects.tables.nested import parts_of  # which most tables do not need

    return parts_of(rows)


def _check_shown(path: str, choices: Sequence[str], named: Sequence[str]) -> None:
    hidden = [each for each in choices if each not in named]
    if hidden and len(hidden) < len(choices):
        raise UsageError(
            f"--prompt shows some of the choices, and not '{hidden[0]}'",
            location=Location(path),
            why=f"the choices are {', '.join(map(repr, choices))}; where it shows none, they are listed below it",
            hint="name all of them, or none",
        )


def _named_choices(listed: str | None, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that the user names: one, though its name has a comma in it, or several."""
    if not listed:
        return ()
    return (listed,) if listed in names else tuple(each.strip() for each in listed.split(","))


def _check(path: str, names: Sequence[str], wanted: Sequence[tuple[str, str | None]]) -> None:
    for option, name in wanted:
        if name is not None and name not in names:
            raise UsageError(
                f"{option} names '{name}', and the table has no such column",
                location=Location(path),
                why=f"its columns are {', '.join(map(repr, names))}",
                hint=did_you_mean(name, names) or "name one of them",
            )


def _nothing(path: str, names: Sequence[str], what: str, how: str) -> str:
    raise UsageError(
        f"nothing says which column of the table is {what}",
        location=Location(path),
        why=f"its columns are {', '.join(map(repr, names))}",
        hint=f"say it with {how}",
    )


# -- rows -------------------------------------------------------------------------------------------------------------


def placeholders(prompt: str) -> list[str]:
    """Return the columns that a prompt names in braces; ``{{`` and ``}}`` are braces of the text.

    Raises:
        UsageError: A brace is open, or nothing is in it.
    """
    try:
        parts = [(name, form, mark) for _, name, form, mark in string.Formatter().parse(prompt) if name is not None]
    except ValueError as error:
        raise UsageError(
            "--prompt has a brace that is not one of a column", why=str(error), hint="{{ is a brace"
        ) from None
    return list(
        dict.fromkeys(name + (f":{form}" if form else "") + (f"!{mark}" if mark else "") for name, form, mark in parts)
    )


def asking(columns: Columns) -> Callable[[Row], str]:
    """Return the question of a row in words."""
    prompt = columns.prompt
    has_choices = prompt is not None and bool(set(columns.choices) & set(placeholders(prompt)))

    def ask(row: Row) -> str:
        if prompt is None and isinstance(row.get(str(columns.question)), list):
            return _of_list(row, str(columns.question))
        text = filled(row, str(columns.question)) if prompt is None else _replaced(prompt, row, columns)
        if columns.below is not None and str(row.get(columns.below) or "").strip():
            text = f"{text}\n\n{filled(row, columns.below)}"
        return text if has_choices or not columns.choices else f"{text}\n{_lettered(row, columns)}\nAnswer:"

    return ask


def chatting(columns: Columns) -> Callable[[Row], list[Message]]:
    """Return the messages of a row, where the prompt is a chat."""
    return lambda row: [{"role": role, "content": _replaced(words, row, columns)} for role, words in columns.chat]


def _of_list(row: Row, column: str) -> str:
    from proctor.dialects.tables.nested import chat_text  # which most tables do not need

    return chat_text(row[column]) if is_chat(row[column]) else filled(row, column)


def _lettered(row: Row, columns: Columns) -> str:
    texts = choices_of(row, columns.choices).texts
    return "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, texts, strict=False))


def _replaced(prompt: str, row: Row, columns: Columns) -> str:
    parts = []
    for literal, name, form, mark in string.Formatter().parse(prompt):
        parts.append(literal)
        if name is None:
            continue
        whole = name + (f":{form}" if form else "") + (f"!{mark}" if mark else "")
        if (kind := next((kind for kind, column in columns.media.items() if column == whole), None)) is not None:
            parts.append(f"<{kind}>" * len(media_in(row, whole)))
        else:
            parts.append(_lettered(row, columns) if columns.choices == (whole,) else _shown(row, whole))
    return "".join(parts)


def _shown(row: Row, name: str) -> str:
    """Return a cell as a prompt has it: of a list of texts (the contexts of a question) one a line."""
    value = row.get(name)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = "\n".join(value)
    return filled({name: value}, name)


def answering(columns: Columns) -> Callable[[Row], Any]:
    """Return what is right in a row: the place of a choice, a text, or a list of texts."""
    column, key, final = columns.answer, columns.key, columns.final
    if column is None:
        return lambda _: ""
    if key is not None:
        return key.place

    def answer(row: Row) -> Any:
        if final is not None:
            return needed_final(row.get(column), final, column)
        if columns.tools is not None and (calls := _calls(row.get(column), column)) is not None:
            return calls
        return _written(row, column)

    return answer


def _calls(value: object, column: str) -> str | None:
    """Return the calls that are right in a row, as JSON; ``None`` where words are."""
    if (calls := calls_of(value)) is not None:
        return calls_text(calls)
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        hint = 'write {"name": …, "arguments": {…}}, a list of these, or words where no call is right'
        raise DataError(f"the column '{column}' has no calls in this row", why=value[:80], hint=hint)
    return None


def _written(row: Row, column: str) -> str | list[str]:
    """Return the answer of a row that is right, or all of them."""
    value = row.get(column)
    if isinstance(value, bool):
        return [str(value), "yes" if value else "no"]
    if isinstance(value, list | tuple):
        texts = [shown(single(each, column)) for each in value]
        if found := [each for each in texts if each.strip()]:  # an empty one would make an empty answer right
            return found
        raise DataError(f"the column '{column}' lists no right answer in this row")
    found = right_answers(filled(row, column))
    return found if len(found) > 1 else found[0]


def ends_in_numbers(rows: Rows, columns: Columns) -> bool:
    r"""Whether all right answers are the end of a solution and one number, which ``\frac{1}{2}`` is not here."""
    from proctor.scoring.assertions import numbers_in  # which most tables do not need

    answer, alone = answering(columns), _COUNTED if columns.final == "####" else _ALONE
    return all(alone.fullmatch(answer(row)) and len(numbers_in(answer(row))) == 1 for row in rows)


_ALONE: Final = re.compile(r"[$€£¥]?\s*[-+\u2212]?[\d.,]+\s*%?")
_COUNTED: Final = re.compile(rf"{_ALONE.pattern}(?:\s[A-Za-z. ]+)?")
"""A number; in the box of a formula a word behind it may be a factor."""


def classes_unsaid(rows: Rows, columns: Columns) -> list[str]:
    """Return the few answers that a table has over and over, where most of its questions name none of them."""
    cells = [row.get(str(columns.answer)) for row in rows]
    classes = sorted({shown(each) for each in cells if isinstance(each, str | int)})
    if not 1 < len(classes) <= _MOST_CLASSES or len(rows) < _ROWS_OF_CLASSES:
        return []
    asked = [" ".join(str(row.get(name)) for name in columns.asked).casefold() for row in rows[:_ROWS_OF_CLASSES]]
    named = re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(each.casefold()) for each in classes)})(?!\w)")
    return [] if sum(named.search(text) is not None for text in asked) * 2 >= len(asked) else classes


_MOST_CLASSES, _ROWS_OF_CLASSES = 8, 20
"""Most answers that are classes, and fewest rows in which so few are not an accident."""


def labels(columns: Columns) -> Callable[[Row], list[str]]:
    """Return the letters of the choices of a row."""
    return lambda row: list(LETTERS[: len(choices_of(row, columns.choices).texts)])


def right_answers(cell: str) -> list[str]:
    """Return the right answers that a cell lists: between bars, or as a list of JSON or Python; one where it does not.

    The whole cell is one, too: ``a|b`` may be an answer.

    >>> right_answers("red|blue"), right_answers('["red", "blue"]'), right_answers("a || b")
    (['red', 'blue', 'red|blue'], ['red', 'blue'], ['a || b'])
    """
    if (listed := listed_in(cell)) is not None:
        return listed
    parts = [each.strip() for each in cell.split("|")]
    return [*parts, cell] if len(parts) > 1 and all(parts) else [cell]


def listed_in(cell: str) -> list[str] | None:
    """Return the texts of a cell that is a list of JSON or Python; ``None`` where it is none."""
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    for parse in (parse_json, parse_printed):
        try:
            found = parse(text)
        except (SyntaxError, ValueError, TypeError):
            continue
        if isinstance(found, list) and found and all(isinstance(each, str) and each.strip() for each in found):
            return list(found)
    return None


def several_answers(rows: Sequence[Row], columns: Columns) -> int:
    """Return how many rows list several right answers in a cell."""
    cells = [row.get(str(columns.answer)) for row in rows]
    if columns.tools is not None and any(map(calls_of, cells)):  # then an answer is right as a whole
        return 0
    return sum(isinstance(each, str) and len(right_answers(each)) > 1 for each in cells)
