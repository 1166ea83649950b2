import errno
import os
import pickle
import re
from pathlib import Path

import pytest

from proctor.errors import (
    DataError,
    Diagnostic,
    Location,
    MissingExtraError,
    OutputError,
    ProctorError,
    ValidationError,
    closest,
    did_you_mean,
    extras_named,
    problems_of,
    reason_of,
)


def test_a_message_has_its_four_parts_and_the_line(tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\nb: [2\n")
    error = DataError("the list is not closed", location=Location(str(path), 2, 4), why="']' is missing", hint="add it")
    assert str(error) == (
        f"the list is not closed ({path}:2:4)\n    2 | b: [2\n      |    ^\n  why: ']' is missing\n  hint: add it"
    )


def test_several_problems_in_one_error_keep_their_places():
    error = ValidationError([Diagnostic("one", path="$.a"), Diagnostic("two")]).located(Location("f.json"))
    assert [str(each.location) for each in error.diagnostics] == ["f.json", "f.json"]
    assert str(error) == "one (f.json @ $.a)\ntwo (f.json)"


def test_errors_travel_between_processes():
    error = MissingExtraError.of("torch", "hf", "the hf engine")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, MissingExtraError)
    assert str(again) == str(error)
    assert "pip install 'proctor[hf]'" in str(again)


def test_closest_names():
    assert closest("metrics.acuracy", ["metrics.accuracy", "metrics.f1", "cards.x"])[0] == "metrics.accuracy"
    assert closest("ACCURACY", ["accuracy"]) == ["accuracy"]
    assert did_you_mean("zzz", ["accuracy"]) == ""
    assert did_you_mean("f1_mcro", ["f1_micro", "f1_macro"]).count("'") == 4


def test_a_missing_file_has_no_excerpt():
    assert Location("/nowhere/at/all", 3, 1).excerpt() == ""
    assert re.fullmatch(r"x\.py:3", str(Location("x.py", 3)))


def test_every_error_is_a_proctor_error():
    with pytest.raises(ProctorError):
        raise DataError("x")


@pytest.mark.parametrize("column", [1, 50, 160, 5_000, 9_990])
def test_of_a_long_line_an_excerpt_shows_what_is_around_the_column(tmp_path, column):
    file = tmp_path / "long"
    file.write_text("".join(chr(ord("a") + n % 26) for n in range(10_000)))
    text, caret = Location(str(file), 1, column).excerpt().splitlines()
    assert len(text) < 200
    assert text[caret.index("^")] == chr(ord("a") + (column - 1) % 26)


def test_problems_of_a_call_have_their_place():
    def fails():
        raise DataError([Diagnostic("a", path="$.x"), Diagnostic("b")])

    assert [each.path for each in problems_of(fails)] == ["$.x", ""]
    assert [each.path for each in problems_of(fails, "$.part")] == ["$.part.x", "$.part"]
    assert not list(problems_of(lambda: 1))


@pytest.mark.parametrize("number, first", [(errno.ENOSPC, "free space or choose"), (errno.EACCES, "choose")])
def test_what_cannot_be_written_says_why_and_what_to_do(number, first):
    [problem] = OutputError.unwritable("x.html", OSError(number, os.strerror(number), "x.html")).diagnostics
    assert problem == Diagnostic("x.html cannot be written", why=os.strerror(number), hint=f"{first} another place")


def test_the_reason_of_the_system_has_no_number():
    with pytest.raises(FileNotFoundError) as caught:
        Path("/nowhere/at/all").read_text()
    assert reason_of(caught.value) == "No such file or directory"
    assert reason_of(ValueError("a comma is missing")) == "a comma is missing"


@pytest.mark.parametrize("name", ["datasets", "pandas.core", "pyarrow"])
def test_a_package_of_data_that_is_not_installed_is_named_with_its_extra(name):
    with (
        pytest.raises(MissingExtraError, match=rf"'{name.partition('.')[0]}'.*\n.*proctor\[datasets\]"),
        extras_named(),
    ):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def test_another_module_that_is_not_there_is_a_fault_of_ours():
    with pytest.raises(ModuleNotFoundError), extras_named():
        raise ModuleNotFoundError("No module named 'proctor.gone'", name="proctor.gone")


def test_a_place_is_added_where_a_problem_has_none():
    placed = Diagnostic("wrong", Location("a.yaml", 3), path="$.a")
    assert placed.at(Location("b.yaml"), "$.b") == placed
    assert Diagnostic("wrong").at(Location("b.yaml"), "$.b") == Diagnostic("wrong", Location("b.yaml"), path="$.b")
    assert Diagnostic("wrong", path="$.a").at(Location("b.yaml")) == Diagnostic("wrong", Location("b.yaml"), path="$.a")
