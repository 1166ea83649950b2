from __future__ import annotations

import gzip
import json
import math

import pytest

from proctor.data import files
from proctor.data.dataframes import tabular
from proctor.data.files import LoadCSV, LoadJsonFile
from proctor.data.iob_files import LoadIOB
from proctor.errors import DataError, DatasetNotFoundError, ValidationError


def rows_of(loader, split="train"):
    return [
        {key: value for key, value in row.items() if key != "data_classification_policy"} for row in loader()[split]
    ]


@pytest.fixture
def write(tmp_path):
    def _write(name, text):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return str(path)

    return _write


def test_csv_cells_have_the_types_of_their_columns(write):
    path = write("a.csv", 'id,name,score,flag\n1,"x, y",2.5,True\n2,,3,False\n')
    first, second = rows_of(LoadCSV(files={"train": path}))
    assert first == {"id": 1, "name": "x, y", "score": 2.5, "flag": True}
    assert math.isnan(second["name"])
    assert second["score"] == 3.0


def test_tsv_without_a_header(write):
    loader = LoadCSV(files={"train": write("a.tsv", "1\tone\n2\ttwo\n")}, sep="\t", column_names=["id", "word"])
    assert rows_of(loader) == [{"id": 1, "word": "one"}, {"id": 2, "word": "two"}]


def test_rows_of_files_are_proprietary_and_limited(write):
    loader = LoadCSV({"train": write("a.csv", "a\n1\n2\n3\n")}, loader_limit=2)
    assert [row["a"] for row in loader()["train"]] == [1, 2]
    assert loader()["train"].peek()["data_classification_policy"] == ["proprietary"]


def test_a_malformed_csv_is_shown_with_line_and_column(write):
    with pytest.raises(DataError, match=r"a\.csv:4:5") as caught:
        rows_of(LoadCSV(files={"train": write("a.csv", "a,b\n1,x\n2,\n3,y,z\n")}))
    assert "3,y,z" in str(caught.value)


def test_an_empty_or_binary_csv_is_an_error(write, tmp_path):
    with pytest.raises(DataError, match="empty"):
        rows_of(LoadCSV(files={"train": write("a.csv", "")}))
    (tmp_path / "b.csv").write_bytes(b"a\n\xff\xfe\n")
    with pytest.raises(DataError, match="UTF-8"):
        rows_of(LoadCSV(files={"train": str(tmp_path / "b.csv")}))


def test_a_missing_file_is_answered_with_the_nearest(write, tmp_path):
    write("train.csv", "a\n1\n")
    with pytest.raises(DatasetNotFoundError, match=r"did you mean 'train\.csv'"):
        rows_of(LoadCSV(files={"train": str(tmp_path / "tran.csv")}))


def test_json_files_hold_a_list_an_object_or_a_list_inside(write):
    data = [{"a": 1, "b": {"c": [1]}}, {"a": 2, "b": {"c": []}}]
    assert rows_of(LoadJsonFile(files={"train": write("a.json", json.dumps(data))})) == data
    assert rows_of(LoadJsonFile(files={"train": write("b.json", json.dumps(data[0]))})) == data[:1]
    inside = write("c.json", json.dumps({"x": {"rows": data}}))
    assert rows_of(LoadJsonFile(files={"train": inside}, data_field="x/rows")) == data
    with pytest.raises(DataError, match="has no 'x/y'"):
        rows_of(LoadJsonFile(files={"train": inside}, data_field="x/y"))
    with pytest.raises(DataError, match="not a list of objects"):
        rows_of(LoadJsonFile(files={"train": write("d.json", "[1]")}))
    with pytest.raises(ValidationError, match="lines=True"):
        LoadJsonFile(files={"train": inside}, lines=True, data_field="x")


def test_json_lines(write):
    path = write("a.jsonl", '{"a": 1, "b": null}\n{"a": 2, "b": "x"}\n')
    assert rows_of(LoadJsonFile(files={"train": path}, lines=True)) == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]


@pytest.mark.parametrize(
    "name, text, options, place",
    [
        ("a.json", '[\n {"a": 1},\n {"a": }\n]', {}, r"a\.json:3:8"),
        ("a.jsonl", '{"a": 1}\n\n{"a": 1,}\n', {"lines": True}, r"a\.jsonl:3:[89]"),
    ],
)
def test_malformed_json_is_shown_with_line_and_column(write, name, text, options, place):
    with pytest.raises(DataError, match=place) as caught:
        rows_of(LoadJsonFile(files={"train": write(name, text)}, **options))
    assert "^" in str(caught.value)


def test_packed_files_are_read_by_their_ending_or_as_they_are_said_to_be_packed(tmp_path):
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n{"a": 2}\n'))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"a\n1\n2\n"))
    for name, loader, options in (("a.jsonl", LoadJsonFile, {"lines": True}), ("a.csv", LoadCSV, {})):
        (tmp_path / name).write_bytes((tmp_path / f"{name}.gz").read_bytes())
        assert rows_of(loader(files={"train": str(tmp_path / f"{name}.gz")}, **options)) == [{"a": 1}, {"a": 2}]
        said = loader(files={"train": str(tmp_path / name)}, compression="gzip", **options)
        assert rows_of(said) == [{"a": 1}, {"a": 2}]
    (tmp_path / "bad.jsonl.gz").write_bytes(gzip.compress(b'{"a": \n'))
    with pytest.raises(DataError, match="cannot be read as JSON lines"):
        rows_of(LoadJsonFile(files={"train": str(tmp_path / "bad.jsonl.gz")}, lines=True))


def test_lines_of_another_encoding_or_kind_are_shown_with_their_place(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}\n{"a": "\xff"}\n')
    with pytest.raises(DataError, match=r"UTF-8[^$]*a\.jsonl:2"):
        rows_of(LoadJsonFile(files={"train": str(tmp_path / "a.jsonl")}, lines=True))
    (tmp_path / "b.jsonl").write_text('{"a": 1}\n\n[2]\n', encoding="utf-8")
    with pytest.raises(DataError, match=r"not a JSON object[^$]*b\.jsonl:3:1"):
        rows_of(LoadJsonFile(files={"train": str(tmp_path / "b.jsonl")}, lines=True))
    files.check_lines(str(tmp_path / "b.jsonl"), 2)
    with pytest.raises(DatasetNotFoundError):
        files.check_lines(str(tmp_path / "none.jsonl"))


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_large_files_are_read_in_pieces_with_the_same_result(write, monkeypatch, kind):
    rows = [{"a": i if i != 2500 else 0.5, "b": f"t{i}"} for i in range(3000)]
    if kind == "csv":
        path = write("a.csv", "a,b\n" + "\n".join(f"{row['a']},{row['b']}" for row in rows))
        loader = LoadCSV(files={"train": path})
    else:
        loader = LoadJsonFile(files={"train": write("a.jsonl", "\n".join(map(json.dumps, rows)))}, lines=True)
    whole = rows_of(loader)
    monkeypatch.setattr(files, "WHOLE_FILE_BYTES", 1000)
    assert rows_of(loader) == whole
    assert all(isinstance(row["a"], float) for row in whole)


def test_files_of_the_package_can_be_named():
    loader = LoadJsonFile(files={"test": "package:proctor.catalog.samples/data/science.test.jsonl"}, lines=True)
    assert loader()["test"].peek()
    for path in ("package:os/x.json", "package:proctor.catalog/../../../x"):
        with pytest.raises(DatasetNotFoundError):
            rows_of(LoadJsonFile(files={"test": path}), "test")


def test_an_unknown_split_is_answered_with_the_nearest(write):
    loader = LoadCSV(files={"train": write("a.csv", "a\n1\n")}, split="tran")
    with pytest.raises(DatasetNotFoundError, match="did you mean 'train'"):
        list(loader()["tran"])


@pytest.mark.parametrize(
    "rows, expected",
    [
        ([{"a": 1}, {"a": None}], [1.0, "nan"]),
        ([{"a": 1}, {}], [1.0, "nan"]),
        ([{"a": "x"}, {"a": None}, {}], ["x", None, "nan"]),
        ([{"a": 1}, {"a": 2.5}], [1.0, 2.5]),
        ([{"a": True}, {"a": None}], [True, None]),
        ([{"a": True}, {"a": 1}], [True, 1]),
        ([{"a": None}, {"a": None}], [None, None]),
        ([{"a": [1]}, {"a": {"k": 1}}], [[1], {"k": 1}]),
        ([{"a": 1}, {"a": 2}], [1, 2]),
    ],
)
def test_rows_go_through_a_table_as_in_a_data_frame(rows, expected):
    made = [row["a"] for row in tabular(rows)]
    assert [("nan" if isinstance(each, float) and math.isnan(each) else each) for each in made] == expected
    assert [type(each) for each in made] == [float if each == "nan" else type(each) for each in expected]


def test_iob_files(write):
    pytest.importorskip("conllu")
    path = write(
        "a.iob2", "# sent_id = s1\n# text = John works.\n1\tJohn\tB-PER\n2\tworks\tB-O\n3\t.\tB-OTH\n\n1\tHi\tO\n\n"
    )
    loader = LoadIOB(files={"train": path}, column_names=["id", "token", "tag"])
    first, second = rows_of(loader)
    assert first == {
        "idx": "s1",
        "text": "John works.",
        "tokens": ["John", "works", "."],
        "ner_tags": ["B-PER", "O", "O"],
        "annotator": ["", "", ""],
    }
    assert second["idx"] == "1"
    assert second["text"] == "Hi"


def test_a_web_address_is_read_from_the_mapped_folder(tmp_path):
    from proctor.data.files import opened
    from proctor.settings import settings

    url = "https://host.invalid/some/rows%20one.csv?raw=true"
    place = tmp_path / "host.invalid" / "some"
    place.mkdir(parents=True)
    (place / "rows one.csv").write_text("a,b\n1,x\n")
    with settings.context(hub_dir=str(tmp_path)):
        assert list(LoadCSV(files={"test": url})()["test"])[0]["b"] == "x"
        with opened(url, "r") as file:
            assert file.read().startswith("a,b")
    with settings.context(hub_dir=str(tmp_path)), pytest.raises(DatasetNotFoundError) as caught:
        list(LoadCSV(files={"test": "http://127.0.0.1:9/../gone.csv"})()["test"])
    assert "put it at <folder>/127.0.0.1:9/" in str(caught.value)
    (tmp_path / "host.invalid" / "index").write_text("a\n7\n")
    with settings.context(hub_dir=str(tmp_path)):
        assert list(LoadCSV(files={"test": "https://host.invalid/?size=3"})()["test"])[0]["a"] == 7


@pytest.mark.parametrize("line, cell, column", [(2, 2, 5), (2, 1, 3), (2, 3, 0), (2, 0, 0), (0, 0, 0), (9, 1, 0)])
def test_the_first_cell_too_many_is_found_in_its_line(write, line, cell, column):
    assert files._column_of_cell(write("a.csv", "a,b\nx,y,z\n"), line, cell, ",") == column
