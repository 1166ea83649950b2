import pytest

from proctor.prompts.origins import COLOURS, label_of, part_of, parts_in


def luminance(colour):
    def linear(value):
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(colour[at : at + 2], 16) / 255) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("part", COLOURS)
def test_colours_are_readable_on_black_and_on_white(part):
    bright = luminance(COLOURS[part])
    assert (bright + 0.05) / 0.05 >= 4.5
    assert 1.05 / (bright + 0.05) >= 4.5


def test_colours_differ():
    assert len(set(COLOURS.values())) == len(COLOURS)


@pytest.mark.parametrize(
    "origin, part, label",
    [
        ("system", "system", "system"),
        ("demo[0].question", "demo question", "demo 1 question"),
        ("demo[11].answer", "demo answer", "demo 12 answer"),
        ("choice[2]", "choice", "choice 3"),
        ("answer_prefix", "answer prefix", "answer prefix"),
        ("layout", "layout", "layout"),
        ("something else", "layout", "something else"),
    ],
)
def test_names(origin, part, label):
    assert part_of(origin) == part
    assert label_of(origin) == label


def test_legends_are_in_a_fixed_order():
    assert parts_in(["question", "system", "demo[1].answer", "question"]) == ["system", "demo answer", "question"]
