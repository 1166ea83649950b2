import json
import os
import socket

import pytest

from proctor.foreign_text import (
    NotAFileError,
    TooLargeError,
    is_deep,
    parse_json,
    parse_literal,
    read_head,
    read_source,
    read_source_text,
)


@pytest.mark.parametrize(
    "text", ['{"a": [1, 2.5, null, "é"]}', "[" * 200 + "]" * 200, "NaN", '"\\ud83d\\ude00"', "1e999"]
)
def test_json_is_what_python_reads(text):
    assert repr(parse_json(text)) == repr(json.loads(text))
    assert repr(parse_json(text.encode())) == repr(json.loads(text))


def test_many_brackets_that_are_not_nested_are_fine():
    assert len(parse_json("[" + "[]," * 1_000 + "[]]")) == 1_001


def test_options_of_json():
    assert parse_json('"\n"', strict=False) == "\n"
    assert parse_json("NaN", parse_constant=lambda name: name) == "NaN"


def test_depth():
    value = []
    for _ in range(200):
        value = {"a": value}
    assert not is_deep(value["a"])
    assert is_deep([value])


@pytest.mark.parametrize("text", ["[1, 'a', None, {'b': (2.5,)}]", "{1, 2}", "'\\d'", "-1", "b'x'", "1+2j"])
def test_literals_are_what_python_reads(text):
    import ast
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert parse_literal(text) == ast.literal_eval(text)


class TestFiles:
    def test_a_file_is_read(self, tmp_path):
        (tmp_path / "a").write_bytes(b"x\r\ny\rz\n")
        assert read_source(tmp_path / "a") == b"x\r\ny\rz\n"
        assert read_source_text(tmp_path / "a") == "x\ny\nz\n"
        assert read_head(tmp_path / "a", 2) == b"x\r"

    def test_a_device_a_pipe_a_socket_and_a_folder_are_not(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        (tmp_path / "zero").symlink_to("/dev/zero")
        (tmp_path / "loop").symlink_to("loop")
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(os.path.relpath(tmp_path / "socket"))
            for name in ("/dev/zero", tmp_path, tmp_path / "pipe", tmp_path / "zero", tmp_path / "socket"):
                with pytest.raises(OSError):
                    read_source(name)
        with pytest.raises(NotAFileError, match="a device"):
            read_source("/dev/zero")
        with pytest.raises(OSError):
            read_source(tmp_path / "loop")

    def test_a_huge_one_neither(self, tmp_path):
        with (tmp_path / "a").open("wb") as file:
            file.truncate(1 << 40)
        with pytest.raises(TooLargeError):
            read_source(tmp_path / "a")
