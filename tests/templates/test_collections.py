"""Several templates under one name."""

from proctor.templates import InputOutputTemplate
from proctor.templates.template import TemplatesDict, TemplatesList

ONE, TWO = (InputOutputTemplate(input_format=f"{word} {{a}}", output_format="{b}") for word in ("Say", "Tell"))


def test_a_list_is_read_as_a_list():
    templates = TemplatesList(items=[ONE, TWO])
    assert (len(templates), templates[1], list(templates)) == (2, TWO, [ONE, TWO])


def test_a_dict_is_read_as_a_dict():
    templates = TemplatesDict(items={"one": ONE, "two": TWO})
    assert (len(templates), templates["two"], list(templates)) == (2, TWO, ["one", "two"])
    assert (list(templates.keys()), list(templates.values())) == (["one", "two"], [ONE, TWO])
    assert list(templates.entries()) == [("one", ONE), ("two", TWO)]
    assert len(TemplatesDict()) == 0
