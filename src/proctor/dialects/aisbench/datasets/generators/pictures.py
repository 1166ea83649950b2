"""Questions about pictures, films and sounds: rows whose ``content`` has tagged parts.

Upstream unpacks pictures into files beside the data and names the files. Here they stay where they are: pictures that
lie in tables become data URLs, with the bytes that the table has (upstream writes them anew as JPEG or PNG).
"""

from __future__ import annotations

import ast
import base64
import binascii
import io
import json
import re
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.data.fields import Row
from proctor.data.row_files import FileFormat
from proctor.dialects.aisbench.datasets.files import found_file
from proctor.dialects.aisbench.datasets.generators import Source
from proctor.errors import DataError, DatasetNotFoundError, MissingExtraError
from proctor.templates.multimodal import AIS_CONTENT_TAG, STARTS

_LETTERS = string.ascii_uppercase
_LONGEST_PLACE = 64
"""Characters of a cell that names the row which has the picture, rather than being one (``IMAGE_MAP_LEN``)."""
_SIGNS = ((b"\x89PNG", "png"), (b"\xff\xd8", "jpeg"), (b"GIF8", "gif"), (b"RIFF", "webp"), (b"BM", "bmp"))
_LINES = FileFormat(lines=True)
_TABLE = FileFormat(typed=True, delimiter="\t")


def _tagged(*parts: tuple[str, str]) -> str:
    return "".join(f"{STARTS[kind]}{content}{AIS_CONTENT_TAG}" for kind, content in parts)


def _data_url(data: bytes | str) -> str:
    """Return a picture in bytes or base 64 as a data URL; what is one, or an address, is returned as it is."""
    if isinstance(data, str) and re.match(r"[a-z]+:", data[:16]):
        return data
    text = data if isinstance(data, str) else base64.b64encode(data).decode("ascii")
    try:
        start = base64.b64decode(text[:16])
    except binascii.Error:
        raise DataError("a picture is not base 64", why=f"it starts with {text[:40]!r}") from None
    kind = next((name for sign, name in _SIGNS if start.startswith(sign)), "jpeg")
    return f"data:image/{kind};base64,{text}"


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
        yield row, [_data_url(each) for each in _listed(packed[str(row["index"])])]


def _options(row: Row) -> dict[str, Any]:
    return {letter: row[letter] for letter in _LETTERS if row.get(letter) is not None}


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
        made.append({"content": _tagged(("image", pictures[0]), ("text", asked)), "answer": answer})
    return made


def documents(source: Source) -> list[Row]:
    """DocVQA and InfoVQA: pictures of documents, and a question that a word answers."""
    made: list[Row] = []
    for row, pictures in _with_pictures(source, source.arguments["path"]):
        asked = row["question"] + "\nAnswer the question using a single word or phrase."
        content = _tagged(*(("image", each) for each in pictures), ("text", asked))
        made.append({"content": content, "answer": row["answer"]})
    return made


_LETTER_AT_END = (
    "The last line of your response should be of the following format: 'Answer: $LETTER' (without quotes) where LETTER "
    "is one of the options. Think step by step before answering. "
)
_LETTER_ALONE = "Answer directly with the option letter from the given choices. "


def mmmu_pro(source: Source) -> list[Row]:
    """MMMU-Pro with ten options: pictures stand where the question names them."""
    made: list[Row] = []
    for row, pictures in _with_pictures(source, source.arguments["path"]):
        asked = f"{_hint(row)}Question: {row['question']}\n"
        if _options(row):
            how = f"Answer the following multiple-choice question. {_LETTER_AT_END}"
            asked += _asked_options(row) + (how if source.arguments.get("is_cot") else _LETTER_ALONE)
        made.append({"content": _placed(asked, pictures), "answer": _pro_answer(row)})
    return made


def mmmu_pro_vision(source: Source) -> list[Row]:
    """MMMU-Pro whose question is in the picture."""
    how = _LETTER_AT_END if source.arguments.get("is_cot") else _LETTER_ALONE
    asked = f"Answer the following multiple-choice question in the image. {how}"
    return [
        {"content": _tagged(("image", pictures[0]), ("text", asked)), "answer": _pro_answer(row)}
        for row, pictures in _with_pictures(source, source.arguments["path"])
    ]


def _pro_answer(row: Row) -> str:
    return json.dumps([_options(row), row["answer"], row["category"]])


def _placed(asked: str, pictures: Sequence[str]) -> str:
    """Return a question with pictures where ``<image 1>`` names them; before it where none is named."""
    first, *others = asked.split("<image ")
    if not others:
        return _tagged(*(("image", each) for each in pictures), ("text", asked))
    parts = [("text", first)]
    for other in others:
        if not other[:1].isdigit() or not 0 < int(other[0]) <= len(pictures):
            raise DataError("a question names a picture that it has not", why=f"<image {other[:10]}")
        parts += [("image", pictures[int(other[0]) - 1]), ("text", other[2:])]
    return _tagged(*parts)


def ocrbench(source: Source) -> list[Row]:
    """OCRBench v2: pictures with text; references say which rule scores the answer."""
    made: list[Row] = []
    for row, pictures in _with_pictures(source, source.arguments["path"]):
        names = ("question", "content", "answer", "split", "category", "bbox_raw")
        answer = {"choices": json.dumps(_options(row)), **{name: row.get(name) for name in names}}
        made.append({"content": _placed(row["question"], pictures), "answer": {**answer, "evals": row.get("eval")}})
    return made


# -- MMMU and MathVision ---------------------------------------------------------------------------------------------

_SUBJECTS = (
    "Accounting", "Agriculture", "Architecture_and_Engineering", "Art", "Art_Theory", "Basic_Medical_Science",
    "Biology", "Chemistry", "Clinical_Medicine", "Computer_Science", "Design", "Diagnostics_and_Laboratory_Medicine",
    "Economics", "Electronics", "Energy_and_Power", "Finance", "Geography", "History", "Literature", "Manage",
    "Marketing", "Materials", "Math", "Mechanical_Engineering", "Music", "Pharmacy", "Physics", "Psychology",
    "Public_Health", "Sociology",
)  # fmt: skip
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
    options = _literal_list(row.get("options")) or [row[each] for each in _LETTERS if row.get(each) is not None]
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
    return _LETTERS[place] if place < len(_LETTERS) else str(place - len(_LETTERS) + 1)


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
        found = {place: _data_url(data) for place, each in enumerate(values, 1) if (data := _bytes_of(each))}
        if found:
            return found
    return {}


def _bytes_of(value: Any) -> bytes | str | None:
    found = value.get("bytes") or value.get("path") if isinstance(value, Mapping) else value
    return found if isinstance(found, bytes | str) and found else None


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
    return _tagged(*parts)


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
        picture = next((data for name in ("image", "decoded_image") if (data := _bytes_of(row.get(name)))), None)
        if question and picture is not None and (level is None or f"level {level}".lower() in levels):
            made.append(_mathvision_row(row, question, _data_url(picture), source))
    return made


def _mathvision_row(row: Row, question: str, picture: str, source: Source) -> Row:
    options = [str(each) for each in _json_list(row.get("options")) if each is not None and str(each).strip()]
    letters = _LETTERS[: len(options)]
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
        "content": _tagged(("text", asked), ("image", picture)),
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
        return [value[letter] for letter in _LETTERS if value.get(letter)] or list(value.values())
    return found


def _letter_of(answer: Any, options: Sequence[str]) -> str:
    """Return the letter that an answer names: by itself, by its place from 0 (or from 1), or by the option's words."""
    text, letters = str(answer).strip(), _LETTERS[: len(options)]
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
        return source.rows(str(root), _LINES if root.suffix == ".jsonl" else FileFormat())
    patterns = (f"{split}-*.parquet", f"{split}.parquet", "*.parquet")
    json_patterns = (f"{split}.jsonl", f"{split}.json", f"{split}*.jsonl", f"{split}*.json", "*.jsonl", "*.json")
    for listed in (patterns, json_patterns):
        for folder in (root / "data", root):
            for pattern in listed:
                if files := sorted(folder.glob(pattern)):
                    return [row for file in files for row in source.rows(str(file))]
    raise DatasetNotFoundError(f"there are no parquet or JSON files below {root}")


# -- other files -----------------------------------------------------------------------------------------------------


def textvqa(source: Source) -> list[Row]:
    """TextVQA: questions in one file of lines, answers in another, pictures in files of their own."""
    path = str(source.arguments["path"])
    folder, _, name = path.rpartition("/")
    answers = source.document(f"{folder}/{name.split('.')[0]}_annotations.json")["annotations"]
    known = {each.get("question_id"): each.get("answers") for each in answers}
    made: list[Row] = []
    for row in source.rows(path, _LINES):
        if row["question_id"] not in known:
            raise DataError(f"question {row['question_id']} has no answers", location=source.place)
        place = _medium(source, row["image"], source.arguments["image_type"], "image")
        content = _tagged(("image", place), ("text", row["question"]))
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


_FORM = 'form "ANSWER: [ANSWER]" (without quotes) where [ANSWER] is the answer to the problem'
_REALWORLD = (
    "Read the picture and solve the following problem step by step.The last line of your response should be of the "
    f"{_FORM}.\n\n{{question}}\n\nRemember to put your answer on its own line at the end in the {_FORM}, and you do "
    "not need to use a \\boxed command."
)


def realworldqa(source: Source) -> list[Row]:
    """RealWorldQA: all parquet files of the folder; the question stands before the picture."""
    folder = str(source.arguments["path"]).rpartition("/")[0]
    made: list[Row] = []
    for name in [each for each in source.names(folder) if each.endswith(".parquet")]:
        for row in source.rows(f"{folder}/{name}"):
            data = _bytes_of(row["image"])
            if data is None:
                raise DataError("a row has no picture", location=source.place)
            is_plain = source.arguments.get("image_type", "image_path") == "image_base64"
            picture = base64.b64encode(data).decode() if is_plain and isinstance(data, bytes) else _data_url(data)
            asked = _REALWORLD.replace("{question}", row["question"])
            made.append({"content": _tagged(("text", asked), ("image", picture)), "answer": row["answer"]})
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
    picture = base64.b64encode(data).decode("ascii") if is_plain else _data_url(data)
    for words in row["answer"]:
        yield {"content": _tagged(("image", picture), ("text", words)), "answer": json.dumps(answer)}


def _size(data: bytes) -> tuple[int, int]:
    try:
        from PIL import Image
    except ImportError:
        raise MissingExtraError.of("pillow", "media", "the size of pictures") from None
    try:
        with Image.open(io.BytesIO(data)) as image:
            return image.width, image.height
    except (OSError, ValueError) as error:
        raise DataError("a picture cannot be read", why=str(error)) from None


def hle(source: Source) -> list[Row]:
    """Humanity's Last Exam: a question, some with a picture behind it."""
    made: list[Row] = []
    for row in source.rows(str(source.arguments["path"])):
        picture = row.get("image")
        more = [("image", picture)] if isinstance(picture, str) and picture else []
        made.append({"content": _tagged(("text", row.get("question") or ""), *more), "answer": row.get("answer") or ""})
    return made


_FRAMES = (
    "\nThese are the frames of a video. Select the best answer to the following multiple-choice question based on the "
    "video. Respond with only the letter (A, B, C, or D) of the correct option.\n"
)


def videomme(source: Source) -> list[Row]:
    """Video-MME: a film, and a question with options."""
    folder = str(source.arguments["video_path"])
    made: list[Row] = []
    for row in source.rows(str(source.arguments["path"])):
        film = f"{folder}/{row['videoID']}.mp4"
        place = str((source.find(film) or Path(film)).absolute())
        asked = "Question: {}\nAnswer: ".format("\n".join([row["question"], *row["options"]]))
        answer = {name: row[name] for name in ("duration", "domain", "sub_category", "task_type", "answer")}
        made.append({"content": _tagged(("video", place), ("text", _FRAMES), ("text", asked)), "answer": answer})
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
                    "content": _tagged(("video", place), ("text", row["question"] + asked)),
                    "answer": answers[row["vid_path"].split("/")[-2]][key],
                }
            )
    return made


_SOUNDS = (
    "In this audio, what kind of sound can you hear? A: Laughter, B: Sigh, C: Cough, D: Throat clearing, E: Sneeze, "
    "F: Sniff, Please select the one closest to the correct answer. ASSISTANT:"
)


def vocalsound(source: Source) -> list[Row]:
    """VocalSound: sounds whose names end in what they are; files in the order of their names."""
    folder, how = str(source.arguments["path"]), str(source.arguments["audio_type"])
    made: list[Row] = []
    for name in [each for each in source.names(folder) if each.endswith(".wav")]:
        place = _medium(source, f"{folder}/{name}", how, "audio")
        answer = name.removesuffix(".wav").split("_")[-1]
        made.append({"audio_url": place, "content": _tagged(("audio", place), ("text", _SOUNDS)), "answer": answer})
    return made


def mm_custom(source: Source) -> list[Row]:
    """A user's own questions about pictures, films or sounds."""
    made: list[Row] = []
    for row in source.rows(str(source.arguments["path"]), _LINES):
        kind = str(row.get("type"))
        if kind not in ("image", "video", "audio") or not isinstance(row.get("path"), list):
            raise DataError(
                "a row names no media",
                location=source.place,
                hint='{"type": "image", "path": ["cat.jpg"], "question": …}',
            )
        media = [(kind, _medium(source, each, str(source.arguments["mm_type"]), kind)) for each in row["path"]]
        made.append({**row, "content": _tagged(*media, ("text", row["question"]))})
    return made
