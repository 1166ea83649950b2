"""Which columns of a dataset hold pictures, at any depth, and what becomes of values that are none."""

import io
from types import SimpleNamespace

import pytest
from PIL import Image

from proctor.data.datasets_library import _maker

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
