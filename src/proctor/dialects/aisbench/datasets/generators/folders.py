"""Rows that lie in several files or folders: questions here, documents there."""

from __future__ import annotations

import configparser
import csv
import io
import posixpath
import unicodedata
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from proctor.data.bounds import check_file
from proctor.data.fields import Row
from proctor.data.row_files import FileFormat
from proctor.dialects.aisbench.datasets.files import found_file, local_path
from proctor.dialects.aisbench.datasets.generators import Source
from proctor.dialects.aisbench.datasets.upstream_texts import constants
from proctor.errors import DataError, DatasetNotFoundError, Location

_TABLE = FileFormat(positional=True, delimiter=",")
_STORIES = "tmp"
_EVIDENCE = 100_000  # characters of a document that upstream reads


def jigsaw(source: Source) -> list[Row]:
    """Comments of one language, with the label of the same line of a second table."""
    texts, labels = (source.rows(source.arguments[name], _TABLE) for name in ("path", "label"))
    made: list[Row] = []
    for text, label in zip(texts, labels, strict=False):
        if text.get("c2") != source.arguments["lang"]:
            continue
        if text["c0"] != label["c0"]:
            raise DataError(f"the label of '{text['c0']}' is missing", why=f"its line is about '{label['c0']}'")
        made.append({"idx": len(made), "text": text["c1"], "label": int(label["c1"]), "choices": ["no", "yes"]})
    return made


def configurations(source: Source) -> list[Row]:
    """The validation rows of all configurations that the table names: languages, and translations."""
    path, names = source.arguments["path"], source.arguments["configurations"]
    return [row for name in names for row in source.load(path=path, name=name, split="validation")]


def openswi(source: Source) -> list[Row]:
    """Dialogues of all files of a folder; the file's name is the subset."""
    folder = f"{source.arguments['path']}/{source.arguments['name']}"
    return [
        {
            "id": row["id_ddm"],
            "prompt": row["dialogs"][0]["content"],
            "ground_truth": row["ground_truth"],
            "subset": name.split(".")[0],
        }
        for name in source.names(folder)
        if name.endswith(".jsonl")
        for row in source.rows(f"{folder}/{name}")
    ]


def rolebench(source: Source) -> list[Row]:
    """Questions to a character, with the character's description, in the order that ``shuffle(seed=42)`` gives."""
    path, part = source.arguments["path"], source.arguments["part"]
    described = source.document(f"{path}/{source.arguments['profiles']}/desc.json")
    rows = [
        {
            "role": row["role"],
            "desc": described[row["role"]],
            "question": row["question"],
            "answer": row["generated"][0],
        }
        for kind in ("general", "role_specific")
        for row in source.rows(f"{path}/{part}/{kind}/{source.split}.jsonl")
    ]
    return [rows[i] for i in np.random.default_rng(42).permutation(len(rows))]


# -- rows that somebody looked for in the training data of models -------------------------------------------------


def _annotations(source: Source, path: str) -> Mapping[str, Any]:
    """Return which rows are contaminated; upstream downloads the file where it is not there."""
    try:
        found: Mapping[str, Any] = source.document(path)
    except DatasetNotFoundError as error:
        raise DatasetNotFoundError(
            f"there is no file '{path}', which says which rows are contaminated",
            location=source.place,
            why=error.diagnostics[0].why,
            hint="download it from the releases of liyucheng09/Contamination_Detector on GitHub",
        ) from error
    return found


def _clean(annotations: Mapping[str, Any], name: str) -> Any:
    return annotations[name][0] if name in annotations else "not labeled"


def arc_clean(source: Source) -> list[Row]:
    """ARC with ``is_clean``."""
    path = source.arguments["path"]
    known = _annotations(source, f"{posixpath.dirname(path)}/ARC_c_test_contamination_annotations.json")
    made = []
    for row in source.rows(path):
        choices = row["question"]["choices"]
        if len(choices) != 4:  # noqa: PLR2004 - four options
            continue
        answer = "ABCD"[[choice["label"] for choice in choices].index(row["answerKey"])]
        texts = {f"text{letter}": choice["text"] for letter, choice in zip("ABCD", choices, strict=True)}
        asked = {"question": row["question"]["stem"], "answerKey": answer}
        made.append({**asked, **texts, "is_clean": _clean(known, row["id"])})
    return made


def hellaswag_clean(source: Source) -> list[Row]:
    """HellaSwag with ``is_clean``."""
    path = source.arguments["path"]
    known = _annotations(source, f"{posixpath.dirname(path)}/hellaswag_val_contamination_annotations.json")
    return [
        {
            "ctx": row["query"].split(": ", 2)[-1],
            **dict(zip("ABCD", row["choices"], strict=False)),
            "label": row["gold"],
            "is_clean": _clean(known, str(index)),
        }
        for index, row in enumerate(source.rows(path, FileFormat(lines=True)))
    ]


def mmlu_clean(source: Source) -> list[Row]:
    """MMLU; the test split with ``is_clean``."""
    path, name = source.arguments["path"], source.arguments["name"]
    layout = FileFormat(header=("input", *"ABCD", "target"))
    rows = source.rows(f"{path}/{source.split}/{name}_{source.split}.csv", layout)
    if source.split != "test":
        return rows
    known = _annotations(source, f"{path}/{source.split}/MMLU_{source.split}_contamination_annotations.json")
    return [{**row, "is_clean": _clean(known, f"{name} {index}")} for index, row in enumerate(rows)]


def ceval_clean(source: Source) -> list[Row]:
    """C-Eval; the validation split with ``is_clean``."""
    path, name = source.arguments["path"], source.arguments["name"]
    rows = [
        {**row, "explanation": row.get("explanation", ""), "answer": row.get("answer", "")}
        for row in source.rows(f"{path}/{source.split}/{name}_{source.split}.csv")
    ]
    if source.split != "val":
        return rows
    known = _annotations(source, f"{path}/{source.split}/ceval_contamination_annotations.json")
    return [{**row, "is_clean": _clean(known, f"{name}-{index}")} for index, row in enumerate(rows)]


# -- documents ----------------------------------------------------------------------------------------------------


def govrepcrs(source: Source) -> list[Row]:
    """Reports and their summaries, as far as a split's list names them."""
    base = f"{source.arguments['path']}/gov-report"
    made = []
    for line in source.rows(f"{base}/split_ids/crs_{source.split}.ids"):
        report = source.document(f"{base}/crs/{line['line'].strip()}.json")
        parts = [
            (part["section_title"] or "") + "\n" + "\n".join(part["paragraphs"])
            for part in report["reports"]["subsections"]
        ]
        content = report["title"] + "\n" + "\n".join(parts)
        made.append({"content": content, "summary": "\n".join(report["summary"])})
    return made


def narrativeqa(source: Source) -> list[Row]:
    """Questions about stories; those whose story is not there are left out, as upstream."""
    path = source.arguments["path"]
    made = []
    for row in source.rows(f"{path}/qaps.csv", _TABLE):
        if row["c1"] != source.split:
            continue
        try:
            evidence = source.text("/".join((path, _STORIES, f"{row['c0']}.content")), _EVIDENCE)
        except (DatasetNotFoundError, DataError):
            continue
        made.append({"answer": [row["c3"], row["c4"]], "question": row["c2"], "evidence": evidence})
    return made


def triviaqarc(source: Source) -> list[Row]:
    """Questions with the first document that answers them: from the web, then from Wikipedia."""
    path = source.arguments["path"]
    made = []
    for name, folder, key in (("web", "web", "SearchResults"), ("wikipedia", "wikipedia", "EntityPages")):
        for row in source.document(f"{path}/qa/verified-{name}-dev.json")["Data"]:
            answers = row["Answer"]["Aliases"] + (row["Answer"]["HumanAnswers"] if name == "web" else [])
            file = f"{path}/evidence/{folder}/{row[key][0]['Filename']}" if row[key] else ""
            evidence = source.text(file, _EVIDENCE) if file else ""
            made.append({"answer": answers, "question": row["Question"], "evidence": evidence})
    return made


def maxmin(source: Source) -> list[Row]:
    """Code with a gap that ``max`` or ``min`` fills; the answers, if there are any, lie in a file of their own."""
    answers: dict[str, str] = {}
    if source.arguments.get("answer_path") is not None:
        lines = (row["line"].strip() for row in source.rows(source.arguments["answer_path"], FileFormat(text=True)))
        answers = dict(line.split("<CODESPLIT>")[:2] for line in lines)
    return [
        {
            "nl_tokens": " ".join(row["nl_tokens"]),
            "pl_tokens": " ".join(row["pl_tokens"]),
            "answer": ("A" if answers[row["idx"]] == "max" else "B") if answers else "",
        }
        for row in source.rows(source.arguments["test_path"], FileFormat(document=True))
    ]


_LIBRARIES = ("Pandas", "Numpy", "Matplotlib", "Tensorflow", "Scipy", "Sklearn", "Pytorch")


def ds1000(source: Source) -> list[Row]:
    """Problems of DS-1000: one folder for each, sorted by their numbers."""
    path, mode, asked = (
        source.arguments["path"],
        source.arguments.get("mode", "Insertion"),
        source.arguments.get("libs"),
    )
    libraries = [asked] if isinstance(asked, str) else asked or _LIBRARIES
    if unknown := [name for name in libraries if name not in _LIBRARIES]:
        raise DataError(f"there is no library '{unknown[0]}'", hint=f"choose among {', '.join(_LIBRARIES)}")
    folders = [f"{path}/{library}/{mode}" for library in libraries]
    return [_problem(source, f"{folder}/{name}") for folder in folders for name in _numbered(source.names(folder))]


def _numbered(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: int(name.replace("q", "")))


_CONFIGURED = (
    ("library", "lib"),
    ("test", "test_type"),
    ("test", "test_case_cnt"),
    ("perturbation", "perturbation_type"),
    ("perturbation", "perturbation_origin_id"),
)


def _problem(source: Source, folder: str) -> Row:
    file = configparser.RawConfigParser()
    file.read_string(source.text(f"{folder}/.cfg"))
    row: Row = {name: file.get(section, name) for section, name in _CONFIGURED}
    for name in ("reference_code.txt", "test_code.py", "code_context.txt", "test_generate_pickle.py", "prompt.txt"):
        row[name.split(".")[0]] = source.text(f"{folder}/{name}")
    tested = {"problem_path": str(found_file(folder, source.place)), "code_context": row.pop("code_context")}
    row["test_column"] = {**tested, "test_case_cnt": row.pop("test_case_cnt"), "test_type": row.pop("test_type")}
    return row


def aa_lcr(source: Source) -> list[Row]:
    """Questions about documents of an archive, which stand in the prompt."""
    texts = constants("datasets.aa_lcr")
    names = [
        source.arguments.get(name, texts[default])
        for name, default in (("csv_filename", "DEFAULT_CSV_FILENAME"), ("zip_filename", "DEFAULT_ZIP_FILENAME"))
    ]
    folder = local_path(source.arguments.get("path", texts["DEFAULT_REPO_ID"]))
    table, archive = (found_file(f"{folder}/{name}", source.place) for name in names)
    check_file(archive, is_json=False)
    with zipfile.ZipFile(archive) as documents:
        known = {_normal(name): name for name in documents.namelist()}
        lines = csv.DictReader(io.StringIO(table.read_text(encoding="utf-8"), newline=""))
        return [_asked(number, row, documents, known, texts["PROMPT_TEMPLATE"]) for number, row in enumerate(lines)]


def _listed(text: str) -> list[str]:
    return [item.strip() for item in text.split(";") if item.strip()]


def _normal(name: str) -> str:
    """Return a name of an archive as it was meant: some were written as UTF-8 and read as code page 437."""
    with suppress(UnicodeError):
        name = name.encode("cp437").decode("utf-8")
    return unicodedata.normalize("NFC", name)


def _asked(
    number: int, row: Mapping[str, str], archive: zipfile.ZipFile, known: Mapping[str, str], template: str
) -> Row:
    files = _listed(row["data_source_filenames"])
    category, name = row["document_category"], row["document_set_id"]
    documents = []
    for file in files:
        whole = posixpath.join("lcr", category, name, file)
        if (found := known.get(_normal(whole))) is None:
            raise DataError(f"the archive lacks '{whole}'", location=Location(str(archive.filename)))
        documents.append(archive.read(found).decode("utf-8"))
    shown = "\n\n".join(f"BEGIN DOCUMENT {i}:\n{text}\nEND DOCUMENT {i}" for i, text in enumerate(documents, 1))
    return {
        "id": int(row.get("", number)),
        "question_id": int(row["question_id"]),
        "document_category": category,
        "document_set_id": name,
        "question": row["question"],
        "answer": _listed(row["answer"]),
        "data_source_filenames": files,
        "data_source_urls": _listed(row.get("data_source_urls", "")),
        "input_tokens": int(row["input_tokens"]),
        "prompt": template.format(documents_text=shown, question=row["question"]),
    }
