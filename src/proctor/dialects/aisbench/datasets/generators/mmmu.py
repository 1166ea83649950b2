"""MMMU and MathVision: questions about pictures of many subjects, with options or open."""

from __future__ import annotations

import ast
import json
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.data.fields import Row
from proctor.data.row_files import FileFormat
from proctor.dialects.aisbench.datasets.files import found_file
from proctor.dialects.aisbench.datasets.generators import LINES, Source
from proctor.dialects.aisbench.datasets.generators.pictures import LETTERS, bytes_of, data_url, tagged
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.errors import DataError, DatasetNotFoundError

_SUBJECTS: list[str] = prompt_texts("mmmu subjects")
_MOST_PICTURES = 7
_PICTURE_NAMED = re.compile(r"<image[_ ](\d+)>")


def mmmu(source: Source) -> list[Row]:
    """MMMU from the parquet files of its subjects: questions with options, and open ones."""
    wanted = str(source.arguments.get("split", "validation"))
    return [made for row in _of_subjects(source, wanted) if (made := _mmmu_row(row, source, wanted))]


def _mmmu_row(row: Row, source: Source, wanted: str) -> Row | None:
    question = str(row.get("question") or "").strip()
    if not question:
        return None
    options = _literal_list(row.get("options")) or [row[each] for each in LETTERS if row.get(each) is not None]
    kind = row.get("question_type") or ("multiple-choice" if _literal_list(row.get("options")) else "open")
    is_choice = kind == "multiple-choice"
    name = "mult_choice_prompt" if is_choice else "open_prompt"
    template = source.arguments.get(name)
    if not template:
        raise DataError(f"the dataset needs '{name}'", location=source.place)
    letters = [_letter(place) for place in range(len(options))]
    lines = "\n".join(f"{letter}) {option}" for letter, option in zip(letters, options, strict=True))
    words = {"question": question, **({"choices": lines, "letters": ",".join(letters)} if is_choice else {})}
    asked = _filled(template, words)
    choices = {letter: str(option) for letter, option in zip(letters, options, strict=True)}
    answer = {
        "type": "multiple-choice" if is_choice else "open",
        **({"choices": json.dumps(choices, ensure_ascii=False)} if is_choice else {}),
        "answer": str(row.get("answer") or "").strip(),
        "split": wanted,
        "subject": row.get("subject"),
        "subfield": row.get("subfield"),
        "category": row.get("category", row.get("subject")),
        "l2-category": row.get("l2-category", row.get("subfield")),
    }
    pictures = _numbered_pictures(row)
    first = pictures[min(pictures)] if pictures else ""
    return {"content": _among(asked, pictures), "question": asked, "image": first, "answer": answer}


def _filled(template: str, words: Mapping[str, str]) -> str:
    """Return a template of a config with words in it; it names nothing but them."""
    filled: list[str] = []
    odd = False
    try:
        for text, name, form, how in string.Formatter().parse(template):
            filled += [text, *([] if name is None else [words[name]])]
            odd = bool(form or how)
            if odd:
                break
    except (ValueError, KeyError) as error:
        raise DataError("the template of the dataset cannot be filled", why=str(error)) from None
    if odd:
        raise DataError("the template of the dataset cannot be filled", why="it formats what it names")
    return "".join(filled)


def _letter(place: int) -> str:
    return LETTERS[place] if place < len(LETTERS) else str(place - len(LETTERS) + 1)


def _literal_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        try:
            found = ast.literal_eval(value.strip()) if value.strip() else []
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [value.strip()]
        return list(found) if isinstance(found, list | tuple) else [value]
    return [] if value is None else list(value) if isinstance(value, list | tuple) else [value]


def _numbered_pictures(row: Row) -> dict[int, str]:
    for names in ([f"image_{place}" for place in range(1, _MOST_PICTURES + 1)], ["image"], ["image_path"]):
        values = [row.get(name) for name in names]
        if len(names) == 1:
            values = _literal_list(values[0])
        found = {place: data_url(data) for place, each in enumerate(values, 1) if (data := bytes_of(each))}
        if found:
            return found
    return {}


def _among(asked: str, pictures: Mapping[int, str]) -> str:
    """Return a question with pictures where it names them; all before it where it names none."""
    parts: list[tuple[str, str]] = []
    pieces = _PICTURE_NAMED.split(asked)
    for place, piece in enumerate(pieces):
        if place % 2:
            parts += [("image", pictures[int(piece)])] if int(piece) in pictures else []
        elif piece.strip():
            parts.append(("text", piece))
    if len(pieces) == 1:
        parts = [("image", pictures[place]) for place in sorted(pictures)] + parts
    return tagged(*parts)


def _of_subjects(source: Source, split: str) -> Iterator[Row]:
    root = found_file(str(source.arguments["path"]), source.place)
    subjects: Sequence[str] = source.arguments.get("subset_list") or _SUBJECTS
    for file in [root] if root.is_file() else _subject_files(root, split, subjects):
        subject = next((each for each in _SUBJECTS if _is_of(file, each)), None)
        for row in source.rows(str(file)):
            yield row if subject is None else {"subject": subject, **{k: v for k, v in row.items() if v is not None}}


def _is_of(file: Path, subject: str) -> bool:
    path = str(file).replace("\\", "/")
    return f"/{subject}/" in path or f"/{subject}-" in path or f"_{subject}_" in path


def _subject_files(root: Path, split: str, subjects: Iterable[str]) -> list[Path]:
    listed = sorted(root.rglob(f"*{split}*.parquet"))
    wanted = [file for file in listed if any(_is_of(file, subject) for subject in subjects)] or listed
    if not wanted:
        raise DatasetNotFoundError(f"there are no parquet files of '{split}' below {root}")
    order = {subject: place for place, subject in enumerate(_SUBJECTS)}
    return sorted(
        wanted, key=lambda file: (next((order[s] for s in _SUBJECTS if _is_of(file, s)), len(order)), str(file))
    )


_LEVELS = ("level 1", "level 2", "level 3", "level 4", "level 5")


def mathvision(source: Source) -> list[Row]:
    """MathVision: mathematics with a picture, with options or open."""
    levels = [str(each).lower() for each in source.arguments.get("subset_list") or _LEVELS]
    rows = _records(source, str(source.arguments.get("split") or "test"))
    made: list[Row] = []
    for row in rows:
        question, level = str(row.get("question") or "").strip(), row.get("level")
        picture = next((data for name in ("image", "decoded_image") if (data := bytes_of(row.get(name)))), None)
        if question and picture is not None and (level is None or f"level {level}".lower() in levels):
            made.append(_mathvision_row(row, question, data_url(picture), source))
    return made


def _mathvision_row(row: Row, question: str, picture: str, source: Source) -> Row:
    options = [str(each) for each in _json_list(row.get("options")) if each is not None and str(each).strip()]
    letters = LETTERS[: len(options)]
    lines = "\n".join(f"{letter}) {option}" for letter, option in zip(letters, options, strict=True))
    template = source.arguments.get("single_answer_cot_template" if options else "open_prompt_template")
    if not options:
        asked = _filled(template, {"question": question}) if template else question
    elif template:
        asked = _filled(template, {"question": question, "choices": lines, "letters": ",".join(letters)})
    else:
        asked = f"{question}\n\n{lines}"
    known = {name: row.get(name) for name in ("level", "subject")}
    choices = json.dumps(dict(zip(letters, options, strict=True)), ensure_ascii=False)
    closed = {"type": "mcq", "answer": _letter_of(row.get("answer", ""), options), "choices": choices, **known}
    return {
        "question": question,
        "prompt": asked,
        "content": tagged(("text", asked), ("image", picture)),
        "image": picture,
        "choices_text": lines,
        "question_type": "mcq" if options else "open",
        "answer": closed if options else {"type": "open", "answer": str(row.get("answer", "")), **known},
        **known,
        "solution": row.get("solution"),
    }


def _json_list(value: Any) -> list[Any]:
    found = _literal_list(value)
    if isinstance(value, Mapping):
        return [value[letter] for letter in LETTERS if value.get(letter)] or list(value.values())
    return found


def _letter_of(answer: Any, options: Sequence[str]) -> str:
    """Return the letter that an answer names: by itself, by its place from 0 (or from 1), or by the option's words."""
    text, letters = str(answer).strip(), LETTERS[: len(options)]
    if text.isdigit():
        if int(text) < len(options):
            return letters[int(text)]
        if int(text) == len(options):
            return letters[-1]
    match = re.match(r"^([A-Z])(?:[\).:\s].*)?$", text.upper())
    if match and match.group(1) in letters:
        return match.group(1)
    return next((letters[place] for place, option in enumerate(options) if text == option.strip()), text.upper())


def _records(source: Source, split: str) -> list[Row]:
    """Return the rows of a file, or of the first kind of file that a folder has: parquet before JSON."""
    root = found_file(str(source.arguments["path"]), source.place)
    if root.is_file():
        return source.rows(str(root), LINES if root.suffix == ".jsonl" else FileFormat())
    patterns = (f"{split}-*.parquet", f"{split}.parquet", "*.parquet")
    json_patterns = (f"{split}.jsonl", f"{split}.json", f"{split}*.jsonl", f"{split}*.json", "*.jsonl", "*.json")
    for listed in (patterns, json_patterns):
        for folder in (root / "data", root):
            for pattern in listed:
                if files := sorted(folder.glob(pattern)):
                    return [row for file in files for row in source.rows(str(file))]
    raise DatasetNotFoundError(f"there are no parquet or JSON files below {root}")
