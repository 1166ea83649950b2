"""Questions about pictures, films and sounds: rows whose ``content`` has tagged parts.

Upstream unpacks pictures into files beside the data and names the files. Here they stay where they are: pictures that
lie in tables become data URLs, with the bytes that the table has (upstream writes them anew as JPEG or PNG).
"""

from __future__ import annotations

import ast
import base64
import binascii
import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.data.fields import Row
from proctor.data.images import picture_of
from proctor.data.media_types import media_type
from proctor.data.row_files import FileFormat
from proctor.dialects.aisbench.datasets.files import found_file
from proctor.dialects.aisbench.datasets.generators import LINES, Source
from proctor.dialects.aisbench.datasets.prompt_texts import prompt_texts
from proctor.errors import DataError, DatasetNotFoundError, MissingExtraError
from proctor.templates.multimodal import AIS_CONTENT_TAG, STARTS

LETTERS = string.ascii_uppercase
_LONGEST_PLACE = 64
"""Characters of a cell that names the row which has the picture, rather than being one (``IMAGE_MAP_LEN``)."""
_WORDS: dict[str, str] = prompt_texts("pictures")
_TABLE = FileFormat(typed=True, delimiter="\t")


def tagged(*parts: tuple[str, str]) -> str:
    """Return the content of a question: its parts (``image``, ``text`` …) with their tags."""
    return "".join(f"{STARTS[kind]}{content}{AIS_CONTENT_TAG}" for kind, content in parts)


def data_url(data: bytes | str) -> str:
    """Return a picture in bytes or base 64 as a data URL; what is one, or an address, is returned as it is."""
    if isinstance(data, str) and re.match(r"[a-z]+:", data[:16]):
        return data
    text = data if isinstance(data, str) else base64.b64encode(data).decode("ascii")
    try:
        base64.b64decode(text[:16])
    except binascii.Error:
        raise DataError("a picture is not base 64", why=f"it starts with {text[:40]!r}") from None
    return f"data:{media_type('image', text)};base64,{text}"


def bytes_of(value: object) -> bytes | str | None:
    """Return the picture in a cell: bytes, an address, or an object with one of them; ``None`` where it has none."""
    found = value.get("bytes") or value.get("path") if isinstance(value, Mapping) else value
    return found if isinstance(found, bytes | str) and found else None


def _listed(value: Any) -> list[str]:
    """Return a cell as texts: one, or those of a list that it is written as."""
    if isinstance(value, str) and value[:1] == "[" and value[-1:] == "]":
        try:
            found = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            raise DataError("a cell is not a list", why=f"it starts with {value[:40]!r}") from None
        return [str(each) for each in found]
    return [value] if isinstance(value, str) else [str(each) for each in value or ()]


def _with_pictures(source: Source, path: str) -> Iterator[tuple[Row, list[str]]]:
    """Yield the rows of a table with their pictures; a cell may name the row that has the picture."""
    rows = source.rows(path, _TABLE)
    if rows and "image" not in rows[0]:
        for row in rows:
            yield row, _listed(row.get("image_path"))
        return
    rows = [row for row in rows if row["image"] is not None]
    packed = {str(row["index"]): str(row["image"]) for row in rows}
    for place, cell in list(packed.items()):
        packed[place] = packed.get(cell, cell) if len(cell) <= _LONGEST_PLACE else cell
    for row in rows:
        yield row, [data_url(each) for each in _listed(packed[str(row["index"])])]


def _options(row: Row) -> dict[str, Any]:
    return {letter: row[letter] for letter in LETTERS if row.get(letter) is not None}


def _asked_options(row: Row) -> str:
    return "Options:\n" + "".join(f"{letter}. {option}\n" for letter, option in _options(row).items())


def _hint(row: Row) -> str:
    return "" if row.get("hint") is None else f"Hint: {row['hint']}\n"


# -- tables of pictures ----------------------------------------------------------------------------------------------


def mmstar(source: Source) -> list[Row]:
    """MMStar: a picture, and a question with options."""
    made: list[Row] = []
    for row, pictures in _with_pictures(source, source.arguments["path"]):
        asked = _hint(row) + row["question"]
        if _options(row):
            asked += f"{_asked_options(row)}Please select the correct answer from the options above. \n"  # noqa: S608
        names = ("answer", "split", "l2-category", "category")
        answer = {"choices": json.dumps(_options(row)), **{name: row.get(name) for name in names}}
        made.append({"content": tagged(("image", pictures[0]), ("text", asked)), "answer": answer})
    return made


def documents(source: Source) -> list[Row]:
    """DocVQA and InfoVQA: pictures of documents, and a question that a word answers."""
    made: list[Row] = []
    for row, pictures in _with_pictures(source, source.arguments["path"]):
        asked = row["question"] + "\nAnswer the question using a single word or phrase."
        content = tagged(*(("image", each) for each in pictures), ("text", asked))
        made.append({"content": content, "answer": row["answer"]})
    return made


def mmmu_pro(source: Source) -> list[Row]:
    """MMMU-Pro with ten options: pictures stand where the question names them."""
    made: list[Row] = []
    for row, pictures in _with_pictures(source, source.arguments["path"]):
        asked = f"{_hint(row)}Question: {row['question']}\n"
        if _options(row):
            how = f"Answer the following multiple-choice question. {_WORDS['letter at end']}"
            asked += _asked_options(row) + (how if source.arguments.get("is_cot") else _WORDS["letter alone"])
        made.append({"content": _placed(asked, pictures), "answer": _pro_answer(row)})
    return made


def mmmu_pro_vision(source: Source) -> list[Row]:
    """MMMU-Pro whose question is in the picture."""
    how = _WORDS["letter at end" if source.arguments.get("is_cot") else "letter alone"]
    asked = f"Answer the following multiple-choice question in the image. {how}"
    return [
        {"content": tagged(("image", pictures[0]), ("text", asked)), "answer": _pro_answer(row)}
        for row, pictures in _with_pictures(source, source.arguments["path"])
    ]


def _pro_answer(row: Row) -> str:
    return json.dumps([_options(row), row["answer"], row["category"]])


def _placed(asked: str, pictures: Sequence[str]) -> str:
    """Return a question with pictures where ``<image 1>`` names them; before it where none is named."""
    first, *others = asked.split("<image ")
    if not others:
        return tagged(*(("image", each) for each in pictures), ("text", asked))
    parts = [("text", first)]
    for other in others:
        if not other[:1].isdigit() or not 0 < int(other[0]) <= len(pictures):
            raise DataError("a question names a picture that it has not", why=f"<image {other[:10]}")
        parts += [("image", pictures[int(other[0]) - 1]), ("text", other[2:])]
    return tagged(*parts)


def ocrbench(source: Source) -> list[Row]:
    """OCRBench v2: pictures with text; references say which rule scores the answer."""
    made: list[Row] = []
    for row, pictures in _with_pictures(source, source.arguments["path"]):
        names = ("question", "content", "answer", "split", "category", "bbox_raw")
        answer = {"choices": json.dumps(_options(row)), **{name: row.get(name) for name in names}}
        made.append({"content": _placed(row["question"], pictures), "answer": {**answer, "evals": row.get("eval")}})
    return made


# -- other files -----------------------------------------------------------------------------------------------------


def textvqa(source: Source) -> list[Row]:
    """TextVQA: questions in one file of lines, answers in another, pictures in files of their own."""
    path = str(source.arguments["path"])
    folder, _, name = path.rpartition("/")
    answers = source.document(f"{folder}/{name.split('.')[0]}_annotations.json")["annotations"]
    known = {each.get("question_id"): each.get("answers") for each in answers}
    made: list[Row] = []
    for row in source.rows(path, LINES):
        if row["question_id"] not in known:
            raise DataError(f"question {row['question_id']} has no answers", location=source.place)
        place = _medium(source, row["image"], source.arguments["image_type"], "image")
        content = tagged(("image", place), ("text", row["question"]))
        made.append({**row, "answer": known[row["question_id"]], "image_url": place, "content": content})
    return made


def _medium(source: Source, path: str, how: str, kind: str) -> str:
    """Return a file as ``how`` says: its path, or its bytes in base 64."""
    if how in ("path", f"{kind}_path"):
        return str(source.find(path) or path)
    if how in ("base64", f"{kind}_base64") and kind != "video":
        return base64.b64encode(found_file(path, source.place).read_bytes()).decode("ascii")
    why = "frames of films are not taken out here" if kind == "video" else f"it is '{how}'"
    raise DataError(f"'{kind}_type' cannot be honoured", location=source.place, why=why, hint=f"say '{kind}_path'")


def realworldqa(source: Source) -> list[Row]:
    """RealWorldQA: all parquet files of the folder; the question stands before the picture."""
    folder = str(source.arguments["path"]).rpartition("/")[0]
    made: list[Row] = []
    for name in [each for each in source.names(folder) if each.endswith(".parquet")]:
        for row in source.rows(f"{folder}/{name}"):
            data = bytes_of(row["image"])
            if data is None:
                raise DataError("a row has no picture", location=source.place)
            is_plain = source.arguments.get("image_type", "image_path") == "image_base64"
            picture = base64.b64encode(data).decode() if is_plain and isinstance(data, bytes) else data_url(data)
            asked = _WORDS["realworldqa"].replace("{question}", row["question"])
            made.append({"content": tagged(("text", asked), ("image", picture)), "answer": row["answer"]})
    return made


def refcoco(source: Source) -> list[Row]:
    """RefCOCO, RefCOCO+ and RefCOCOg: a row for each description of a part of a picture; the answer is its box."""
    folder, wanted = str(source.arguments["path"]), str(source.arguments["split"])
    names = [each for each in source.names(folder) if each.startswith(f"{wanted}-") and each.endswith(".parquet")]
    if not names:
        raise DatasetNotFoundError(f"there are no parquet files of '{wanted}' in {folder}", location=source.place)
    return [made for name in names for row in source.rows(f"{folder}/{name}") for made in _boxes(row, source)]


def _boxes(row: Row, source: Source) -> Iterator[Row]:
    data = row["image"]["bytes"]
    width, height = _size(data)
    left, top, across, down = (float(each) for each in row["bbox"])
    answer = {
        "question_id": int(row["question_id"]),
        "bbox": [left, top, left + across, top + down],
        "image_width": width,
        "image_height": height,
    }
    is_plain = source.arguments.get("image_type", "path") == "base64"
    picture = base64.b64encode(data).decode("ascii") if is_plain else data_url(data)
    for words in row["answer"]:
        yield {"content": tagged(("image", picture), ("text", words)), "answer": json.dumps(answer)}


def _size(data: bytes) -> tuple[int, int]:
    try:
        with picture_of(data) as image:
            return image.width, image.height
    except ImportError:
        raise MissingExtraError.of("pillow", "media", "the size of pictures") from None
    except (OSError, ValueError) as error:
        raise DataError("a picture cannot be read", why=str(error)) from None


def hle(source: Source) -> list[Row]:
    """Humanity's Last Exam: a question, some with a picture behind it."""
    made: list[Row] = []
    for row in source.rows(str(source.arguments["path"])):
        picture = row.get("image")
        more = [("image", picture)] if isinstance(picture, str) and picture else []
        made.append({"content": tagged(("text", row.get("question") or ""), *more), "answer": row.get("answer") or ""})
    return made


def videomme(source: Source) -> list[Row]:
    """Video-MME: a film, and a question with options."""
    folder = str(source.arguments["video_path"])
    made: list[Row] = []
    for row in source.rows(str(source.arguments["path"])):
        film = f"{folder}/{row['videoID']}.mp4"
        place = str((source.find(film) or Path(film)).absolute())
        asked = "Question: {}\nAnswer: ".format("\n".join([row["question"], *row["options"]]))
        answer = {name: row[name] for name in ("duration", "domain", "sub_category", "task_type", "answer")}
        made.append(
            {"content": tagged(("video", place), ("text", _WORDS["frames"]), ("text", asked)), "answer": answer}
        )
    return made


_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}


def videobench(source: Source) -> list[Row]:
    """Video-Bench: films, and questions with two to six options; files in the order of their names."""
    folder, how = str(source.arguments["path"]), str(source.arguments["video_type"])
    answers = source.document(f"{folder}/answer/ANSWER.json")
    made: list[Row] = []
    for name in [each for each in source.names(folder) if each.endswith("new.json")]:
        for key, row in source.document(f"{folder}/{name}").items():
            options = {letter: option for letter, option in row["choices"].items() if option is not None}
            asked = "Choices: " if len(options) == 6 else " "  # noqa: PLR2004 - upstream's
            asked += "".join(f"{letter}.{option} " for letter, option in options.items())
            asked += (
                f"\n Among the {_NUMBERS.get(len(options))} options {', '.join(options)} above, the one closest to the"
            )
            asked += " correct answer is:" + (" " if len(options) in (2, 3, 5) else "")
            place = _medium(source, row["vid_path"], how, "video")
            made.append(
                {
                    "video_url": place,
                    "video_id": str(row["video_id"]),
                    "question": row["question"],
                    "choices_prompt": asked,
                    "content": tagged(("video", place), ("text", row["question"] + asked)),
                    "answer": answers[row["vid_path"].split("/")[-2]][key],
                }
            )
    return made


def vocalsound(source: Source) -> list[Row]:
    """VocalSound: sounds whose names end in what they are; files in the order of their names."""
    folder, how = str(source.arguments["path"]), str(source.arguments["audio_type"])
    made: list[Row] = []
    for name in [each for each in source.names(folder) if each.endswith(".wav")]:
        place = _medium(source, f"{folder}/{name}", how, "audio")
        answer = name.removesuffix(".wav").split("_")[-1]
        made.append(
            {"audio_url": place, "content": tagged(("audio", place), ("text", _WORDS["sounds"])), "answer": answer}
        )
    return made


def mm_custom(source: Source) -> list[Row]:
    """A user's own questions about pictures, films or sounds."""
    made: list[Row] = []
    for row in source.rows(str(source.arguments["path"]), LINES):
        kind = str(row.get("type"))
        if kind not in ("image", "video", "audio") or not isinstance(row.get("path"), list):
            raise DataError(
                "a row names no media",
                location=source.place,
                hint='{"type": "image", "path": ["cat.jpg"], "question": …}',
            )
        media = [(kind, _medium(source, each, str(source.arguments["mm_type"]), kind)) for each in row["path"]]
        made.append({**row, "content": tagged(*media, ("text", row["question"]))})
    return made
