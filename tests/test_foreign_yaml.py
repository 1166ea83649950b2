"""YAML of strangers: what is read, and what is refused with its place before the parser recurses or expands it."""

import time

import pytest
import yaml

from proctor.foreign_yaml import DEEPEST, MOST_BYTES, CoreLoader, compose_yaml, parse_with_nodes, parse_yaml

LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text, told",
    [
        ("#" * (MOST_BYTES + 1), "the file has more than 4,194,304 bytes"),
        ("[" * 200_000, f"values are nested more than {DEEPEST} deep"),
        ("[" * 101 + "]" * 101, f"values are nested more than {DEEPEST} deep"),
        ("{a: " * 150 + "}" * 150, f"values are nested more than {DEEPEST} deep"),
        ("- " * 150 + "x", f"values are nested more than {DEEPEST} deep"),
        ("\n".join("  " * depth + "a:" for depth in range(150)), f"values are nested more than {DEEPEST} deep"),
        ("- x\n" * 60_000, "the file has more than 50,000 parts"),
        (LAUGHS, "aliases make more than 200,000 values of it"),
        ("a: &a [*a]", "a value holds itself"),
        ("a: !!int x", "this is not a value of int"),
        ("a: 2001-99-99", "this is not a value of timestamp"),
        ("a: " + "9" * 4_000, "it has more than 3,500 digits"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_too_much_of_it_is_refused_at_once_with_its_place(text, told, encoding):
    began = time.process_time()
    with pytest.raises(yaml.MarkedYAMLError) as raised:
        parse_yaml(text.encode(encoding))
    assert told in str(raised.value) or (encoding == "utf-16" and "bytes" in str(raised.value))
    assert time.process_time() - began < 5


def test_as_deep_and_as_large_as_files_are_is_read():
    assert parse_yaml("[" * 90 + "]" * 90)
    assert len(parse_yaml("- x\n" * 20_000)) == 20_000
    assert parse_yaml("a: &a [1, 2]\nb: *a") == {"a": [1, 2], "b": [1, 2]}
    assert parse_yaml("") is None
    assert parse_yaml("a: " + "9" * 3_000)["a"] == int("9" * 3_000)


def test_nodes_have_the_places_of_what_is_read():
    root, said = parse_with_nodes("a: 1\nb: [2]\n")
    assert said == {"a": 1, "b": [2]}
    assert [key.start_mark.line for key, _ in root.value] == [0, 1]
    assert parse_with_nodes("") == (None, None)
    assert compose_yaml("") is None
    assert compose_yaml("a: !!made x").value[0][1].tag == "tag:yaml.org,2002:made"


@pytest.mark.parametrize(
    "text, first, second",
    [
        ("yes", True, "yes"),
        ("12:30", 750, "12:30"),
        ("1e3", "1e3", 1000),
        ("0o17", "0o17", 15),
        ("0x1F", 31, 31),
        ("017", 15, 17),
        ("+1.50", 1.5, 1.5),
        (".inf", float("inf"), float("inf")),
        ("2001-01-01", None, "2001-01-01"),
        ("~", None, None),
        ("True", True, True),
    ],
)
def test_files_of_javascript_are_yaml_1_2(text, first, second):
    assert parse_yaml(f"a: {text}", CoreLoader) == {"a": second}
    if first is not None:
        assert parse_yaml(f"a: {text}") == {"a": first}
