"""Files that are not UTF-8: the encoding that is named is theirs, and the command that is printed makes progress."""

from __future__ import annotations

import subprocess

import pytest

from proctor.data.row_files import not_utf8, read_rows
from proctor.errors import DataError

CHINESE, FRENCH = (
    "question,answer\n中国的首都？,北京\n",
    "question,answer\nOù est né l'élève de Molière à Besançon ?,là\n",
)


@pytest.mark.parametrize("text, encoding", [(CHINESE, "gb18030"), (FRENCH, "cp1252"), (CHINESE, "utf-16")])
def test_the_encoding_is_named_and_the_printed_command_makes_the_file_readable(tmp_path, text, encoding):
    path = tmp_path / "a table.csv"
    path.write_bytes(text.encode(encoding))
    with pytest.raises(DataError) as raised:
        list(read_rows(path))
    (found,) = raised.value.diagnostics
    assert f"it seems to be {encoding.upper()}" in found.why
    subprocess.run(found.hint, shell=True, check=True, timeout=30)
    rows = list(read_rows(tmp_path / "a table-utf8.csv"))
    assert [list(row.values()) for row in rows] == [text.splitlines()[1].split(",")]


def test_nothing_is_claimed_of_bytes_that_tell_nothing():
    error = UnicodeDecodeError("utf-8", b"a\x81b\x8d", 1, 2, "invalid start byte")
    (found,) = not_utf8("x.csv", error).diagnostics
    assert "seems" not in found.why
    assert found.hint == "save it as UTF-8"


def test_a_character_that_the_end_of_the_looked_at_part_cuts_does_not_mislead():
    text = b"x" + "中".encode("gb18030") * (1 << 20)
    (found,) = not_utf8("x.csv", UnicodeDecodeError("utf-8", text, 1, 2, "invalid start byte")).diagnostics
    assert "GB18030" in found.why
