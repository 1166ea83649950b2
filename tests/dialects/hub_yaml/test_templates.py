"""Templates in braces, filled as inspect fills them."""

import pytest

from proctor.dialects.hub_yaml.templates import filled, is_known, said, text_of
from proctor.errors import TemplateError

VALUES = {"name": "Anna", "n": 3.14159, "row": {"a": [1, 2]}, "width": 6, "none": None, "said": said("so ", 0, "!")}


@pytest.mark.parametrize(
    "template, text",
    [
        ("Hi {name}!", "Hi Anna!"),
        ("{{{name}}}", "{Anna}"),
        ("{n:.2f} {name!r:>8}", "3.14   'Anna'"),
        ("{name:{width}}|", "Anna  |"),
        ("{row[a]}", "[1, 2]"),
        ("{other} {name}", "{other} Anna"),
        ("{other!r:>10}", " '{other}'"),
        ("{other:>9}", "  {other}"),
        ("{other:.2f}", "{{other}:.2f}"),
        ("{none}", "{none}"),
        ("{name.upper}", "{name.upper}"),
        ("{row[b]}", "{row[b]}"),
        ("{row.a}", "{row.a}"),
        ("{}", "{0}"),
        ("{said}", "so ⟨answer 1⟩!"),
        ("{said:>20}", " " * 14 + "{said}"),
        ("", ""),
    ],
)
def test_a_field_is_filled_in_or_stays_as_it_stands(template, text):
    assert text_of(filled(template, VALUES, "a solver")) == text


@pytest.mark.parametrize("template", ["{other}", "{none}", "{name.upper}", "{row[b]}", "{said!r}"])
def test_where_every_field_has_to_be_known_the_known_ones_are_told(template):
    with pytest.raises(
        TemplateError, match=r"the template of a judge names \{.*\}, which cannot be filled in"
    ) as raised:
        filled(template, VALUES, "a judge", strict=True)
    assert "{name}, {n}, {row}" in str(raised.value)


@pytest.mark.parametrize("template", ["{", "}", "{name", "{name!x}"])
def test_braces_that_do_not_match_are_said(template):
    with pytest.raises(TemplateError, match="template of a solver"):
        filled(template, VALUES, "a solver", strict=True)


def test_words_are_joined_and_answers_stay_apart():
    assert said("a", "", "b", 0, "c", 1) == ("ab", 0, "c", 1)
    assert is_known(said("a", "b"))
    assert not is_known(said("a", 0))
