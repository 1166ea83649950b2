"""MMMU and MathVision: options, letters, pictures in their places, and files of subjects."""

import json
from types import SimpleNamespace

import pytest

from proctor.dialects.aisbench.datasets.generators import mmmu
from proctor.errors import DataError, DatasetNotFoundError

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


def source(rows=(), **arguments):
    return SimpleNamespace(
        arguments={"path": "p", **arguments}, place=None, rows=lambda *_: [dict(each) for each in rows]
    )


@pytest.mark.parametrize(
    "answer, letter",
    [
        ("B", "B"),
        ("b) dog", "B"),
        ("C.", "C"),
        ("0", "A"),
        (2, "C"),
        ("3", "C"),
        ("4", "4"),
        ("cat", "A"),
        (" dog ", "B"),
        ("D", "D"),
        ("none", "NONE"),
        ("", ""),
    ],
)
def test_the_letter_that_an_answer_names(answer, letter):
    assert mmmu._letter_of(answer, ["cat", " dog", "cow"]) == letter


@pytest.mark.parametrize(
    "value, found",
    [
        ("['a', 'b']", ["a", "b"]),
        ("('a',)", ["a"]),
        ("3", ["3"]),
        ("", []),
        ("no list", ["no list"]),
        (None, []),
        (("a",), ["a"]),
        (5, [5]),
    ],
)
def test_options_as_rows_have_them(value, found):
    assert mmmu._literal_list(value) == mmmu._json_list(value) == found


def test_options_by_their_letters():
    assert mmmu._json_list({"B": "b", "A": "a", "C": ""}) == ["a", "b"]
    assert mmmu._json_list({"x": "1", "y": "2"}) == ["1", "2"]
    assert [mmmu._letter(place) for place in (0, 25, 26, 27)] == ["A", "Z", "1", "2"]


@pytest.mark.parametrize(
    "asked, shown",
    [
        (
            "Look <image 2>, then <image_1>!",
            [("text", "Look "), ("image", "two"), ("text", ", then "), ("image", "one"), ("text", "!")],
        ),
        ("Look!", [("image", "one"), ("image", "two"), ("text", "Look!")]),
        ("<image 3>", []),
    ],
)
def test_pictures_stand_where_the_question_names_them(monkeypatch, asked, shown):
    monkeypatch.setattr(mmmu, "tagged", lambda *parts: list(parts))
    assert mmmu._among(asked, {2: "two", 1: "one"}) == shown


def row(**more):
    return {"question": " Q? ", "options": "['a', 'b']", "answer": " A ", "image": {"bytes": PNG}, **more}


def test_rows_of_mmmu(monkeypatch):
    given = source(mult_choice_prompt="{question}|{choices}|{letters}", open_prompt="{question}!")
    made = mmmu._mmmu_row(row(subject="S", subfield="F"), given, "validation")
    assert made["question"] == "Q?|A) a\nB) b|A,B"
    assert made["answer"] == {
        "type": "multiple-choice", "choices": json.dumps({"A": "a", "B": "b"}), "answer": "A", "split": "validation",
        "subject": "S", "subfield": "F", "category": "S", "l2-category": "F",
    }  # fmt: skip
    assert made["image"].startswith("data:image/png;base64,")
    open_ = mmmu._mmmu_row(row(options="[]", image=None, category="c"), given, "test")
    assert (open_["question"], open_["image"], open_["answer"]["type"], open_["answer"]["category"]) == (
        "Q?!",
        "",
        "open",
        "c",
    )
    assert "choices" not in open_["answer"]
    lettered = mmmu._mmmu_row(row(options=None, A="x", B="y", question_type="multiple-choice"), given, "test")
    assert lettered["question"] == "Q?|A) x\nB) y|A,B"
    assert mmmu._mmmu_row(row(question=" "), given, "test") is None
    with pytest.raises(DataError, match="the dataset needs 'open_prompt'"):
        mmmu._mmmu_row(row(options=None), source(), "test")


def test_pictures_are_numbered():
    assert list(
        mmmu._numbered_pictures({"image_1": {"bytes": PNG}, "image_3": {"bytes": PNG}, "image": {"bytes": PNG}})
    ) == [1, 3]
    assert list(mmmu._numbered_pictures({"image": [{"bytes": PNG}, {"bytes": PNG}]})) == [1, 2]
    assert mmmu._numbered_pictures({"image": None}) == {}


@pytest.mark.parametrize(
    "more, arguments, prompt, kind",
    [
        ({}, {}, "Q?\n\nA) a\nB) b", "mcq"),
        ({}, {"single_answer_cot_template": "{question}|{choices}|{letters}"}, "Q?|A) a\nB) b|A,B", "mcq"),
        ({"options": []}, {}, "Q?", "open"),
        ({"options": ["", None]}, {"open_prompt_template": "{question}!"}, "Q?!", "open"),
    ],
)
def test_rows_of_mathvision(monkeypatch, more, arguments, prompt, kind):
    monkeypatch.setattr(mmmu, "_records", lambda *_: [row(**more, answer="b", level=2, subject="s")])
    (made,) = mmmu.mathvision(source(**arguments))
    assert (made["prompt"], made["question_type"], made["level"], made["subject"]) == (prompt, kind, 2, "s")
    choices = {"choices": '{"A": "a", "B": "b"}'} if kind == "mcq" else {}
    assert made["answer"] == {
        "type": kind,
        "answer": "B" if kind == "mcq" else "b",
        "level": 2,
        "subject": "s",
        **choices,
    }


def test_of_mathvision_some_levels_and_rows_with_a_picture(monkeypatch):
    rows = [
        row(level=1),
        row(level=5),
        row(),
        row(image=None, level=1),
        row(question="", level=1),
        row(image=None, decoded_image={"bytes": PNG}, level=1),
    ]
    monkeypatch.setattr(mmmu, "_records", lambda *_: rows)
    assert len(mmmu.mathvision(source())) == 4
    assert [each["level"] for each in mmmu.mathvision(source(subset_list=["Level 1"]))] == [1, None, 1]


@pytest.mark.parametrize(
    "files, wanted",
    [
        (["data/test-0.parquet", "test.jsonl"], ["test-0.parquet"]),
        (["test.parquet", "other.parquet"], ["test.parquet"]),
        (["other.parquet", "test.jsonl"], ["other.parquet"]),
        (["test.json", "test.jsonl"], ["test.jsonl"]),
        (["testing.json", "data/dev.json"], ["dev.json"]),
        (["notes.txt"], None),
    ],
)
def test_the_first_kind_of_file_that_there_is(tmp_path, monkeypatch, files, wanted):
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    monkeypatch.setattr(mmmu, "found_file", lambda path, place: tmp_path if path == "p" else tmp_path / path)
    reading = SimpleNamespace(
        arguments={"path": "p"}, place=None, rows=lambda path, *form: [(path.rpartition("/")[2], *form)]
    )
    if wanted is None:
        with pytest.raises(DatasetNotFoundError):
            mmmu._records(reading, "test")
    else:
        assert [name for name, *_ in mmmu._records(reading, "test")] == wanted
    (tmp_path / "one.jsonl").touch()
    (tmp_path / "one.json").touch()
    reading.arguments["path"] = "one.jsonl"
    assert mmmu._records(reading, "test") == [("one.jsonl", mmmu.LINES)]
    reading.arguments["path"] = "one.json"
    assert mmmu._records(reading, "test")[0][1] != mmmu.LINES


def test_files_of_subjects_are_in_the_order_of_the_subjects(tmp_path):
    first, second = mmmu._SUBJECTS[:2]
    for name in (
        f"{second}/validation-0.parquet",
        f"x_{first}_validation.parquet",
        f"{first}/test-0.parquet",
        "validation.parquet",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = mmmu._subject_files(tmp_path, "validation", [second, first])
    assert [each.relative_to(tmp_path).as_posix() for each in found] == [
        f"x_{first}_validation.parquet",
        f"{second}/validation-0.parquet",
    ]
    assert len(mmmu._subject_files(tmp_path, "validation", ["none"])) == 3
    with pytest.raises(DatasetNotFoundError, match="no parquet files of 'dev'"):
        mmmu._subject_files(tmp_path, "dev", [first])
