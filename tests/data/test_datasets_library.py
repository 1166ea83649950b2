"""Which columns of a dataset hold pictures, at any depth, and what becomes of values that are none."""

import io
from types import SimpleNamespace

import pytest
from PIL import Image

from proctor.data import datasets_library, hub
from proctor.data.datasets_library import _library_split, _maker, _own_files_only, _raw, undecoded
from proctor.data.hub import Dataset
from proctor.errors import DataError
from proctor.settings import settings

IMAGE = SimpleNamespace(_type="Image")
TEXT = SimpleNamespace(_type="Value")


def picture(width):
    file = io.BytesIO()
    Image.new("RGB", (width, 2)).save(file, "PNG")
    return {"bytes": file.getvalue(), "path": None}


def shape(value):
    """A value with the width of each picture in its place."""
    if isinstance(value, dict):
        return {name: shape(each) for name, each in value.items()}
    if isinstance(value, list):
        return [shape(each) for each in value]
    return getattr(value, "width", value)


@pytest.mark.parametrize(
    "feature, value, seen",
    [
        (IMAGE, picture(3), 3),
        (IMAGE, None, None),
        (IMAGE, {"bytes": None, "path": None}, None),
        (IMAGE, {}, None),
        ([IMAGE], [picture(3), None, picture(4)], [3, None, 4]),
        ([IMAGE], [], []),
        ([IMAGE], None, None),
        (SimpleNamespace(_type="Sequence", feature=IMAGE), [picture(5)], [5]),
        ({"a": IMAGE, "b": TEXT}, {"a": picture(3), "b": "x"}, {"a": 3, "b": "x"}),
        ({"a": IMAGE}, None, None),
        ([{"a": [IMAGE]}], [{"a": [picture(6)]}, {"a": []}], [{"a": [6]}, {"a": []}]),
    ],
)
def test_pictures_are_made_wherever_they_are(feature, value, seen):
    assert shape(_maker(feature)(value)) == seen


@pytest.mark.parametrize(
    "feature", [TEXT, [TEXT], [], {"b": TEXT}, {}, SimpleNamespace(_type="Sequence", feature=TEXT)]
)
def test_other_columns_are_left_alone(feature):
    assert _maker(feature) is None


class Streamed:
    """A dataset of the library that is computed row by row, and knows no transform."""

    def __init__(self, features, rows):
        self.features, self.rows = features, rows

    def cast_column(self, name, feature):
        return Streamed(self.features | {name: feature}, self.rows)

    def map(self, function):
        return [function(row) for row in self.rows]


def test_pictures_of_rows_that_are_streamed_are_made_by_us_and_not_decoded_by_the_library():
    datasets = pytest.importorskip("datasets")
    features = {"p": datasets.Image(), "l": [datasets.Image()], "t": datasets.Value("string")}
    made = undecoded(Streamed(features, [{"p": picture(3), "l": [picture(4)], "t": "x"}]))
    assert [shape(row) for row in made] == [{"p": 3, "l": [4], "t": "x"}]
    assert _raw(features) == {**features, "p": datasets.Image(decode=False), "l": [datasets.Image(decode=False)]}
    plain = Streamed({"t": datasets.Value("string")}, [])
    assert undecoded(plain) is plain


@pytest.mark.parametrize(
    "name, is_own",
    [
        ("data/*.csv", True),
        ("hf://datasets/o/n@main/a.csv", True),
        ("zip://a/b.csv::hf://datasets/o/n/a.zip", True),
        ("hf://datasets/o/other/a.csv", False),
        ("https://elsewhere.example/a.csv", False),
        ("zip://a.csv::https://elsewhere.example/a.zip", False),
        ("/etc/passwd", False),
        ("~/a.csv", False),
        ("../a.csv", False),
        ("hf://datasets/o/n/../other/a.csv", False),
        ("zip://../a.csv::a.zip", False),
    ],
)
def test_the_card_of_a_dataset_of_the_hub_names_files_of_its_own_alone(name, is_own, monkeypatch):
    files = pytest.importorskip("datasets.data_files")
    asked = []
    monkeypatch.setattr(files, "resolve_pattern", lambda *given, **_: asked.append(given))
    before = files.resolve_pattern
    with _own_files_only(Dataset("o/n")):
        if is_own:
            files.resolve_pattern(name, "base")
        else:
            with pytest.raises(DataError, match="it may name files of its own only"):
                files.resolve_pattern(name, "base")
    assert asked == ([(name, "base")] if is_own else [])
    assert files.resolve_pattern is before
    with pytest.raises(DataError, match="may do more than read rows"), _own_files_only(Dataset("webdataset")):
        pass


def test_what_the_library_says_while_it_loads_is_said_in_our_words(monkeypatch):
    datasets = pytest.importorskip("datasets")
    said = []

    def load(**given):
        said.append(given)
        raise said[0]["error"]

    def loaded(error, **more):
        said.clear()
        return _library_split(Dataset("json", data_files={"test": "/x/a.json"}, extra={"error": error}, **more), "test")

    monkeypatch.setattr(datasets, "load_dataset", load)
    monkeypatch.setattr(datasets_library, "_local_arguments", lambda dataset: {"path": "json"})
    assert loaded(StopIteration()) == []
    with pytest.raises(DataError, match="takes no argument 'error' for the dataset"):
        loaded(TypeError("__init__() got an unexpected keyword argument 'error'"))
    with pytest.raises(TypeError, match="else"):
        loaded(TypeError("else"))
    with settings.context(disable_hf_datasets_cache=True):
        loaded(StopIteration(), streaming=True)
    assert (said[0]["download_mode"], said[0]["streaming"], said[0]["split"]) == ("force_redownload", True, "test")


def test_values_of_a_file_that_is_called_otherwise_are_looked_at_as_json(tmp_path):
    (tmp_path / "rows.txt").write_text('{"a": ' + "[" * 201 + "]" * 201 + "}\n")
    with pytest.raises(DataError, match="nested more than 200 deep"):
        list(hub.rows(Dataset("json", data_files={"test": str(tmp_path / "rows.txt")}), "test"))
