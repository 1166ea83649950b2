"""Files that are larger or deeper than they look are refused before a library reads them."""

import bz2
import gzip
import json
import lzma
import struct
import zipfile
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.data import bounds
from proctor.data.bounds import _Depth, check_file
from proctor.data.images import open_image
from proctor.data.side_effects import ExtractZipFile
from proctor.errors import DataError, DatasetNotFoundError

PARSED = st.recursive(
    st.none() | st.text('"\\[]{}\na', max_size=6) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('"\\[}', max_size=3), inner, max_size=3),
    max_leaves=12,
)


def depth_of(value):
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


@given(st.lists(PARSED, min_size=1, max_size=4), st.integers(1, 9), st.sampled_from([None, 1]))
def test_brackets_of_values_are_counted_and_those_in_texts_are_not(values, size, indent):
    data = "\n".join(json.dumps(each, indent=indent) for each in values).encode()
    depth = _Depth()
    assert max(depth.most(data[at : at + size]) for at in range(0, len(data), size)) == max(map(depth_of, values))


def test_texts_cannot_hide_levels():
    text = b'"' + b"]" * 1000 + b'",'
    assert _Depth().most(b"[" * 150 + text + b"[" * 150) == 300


def test_a_broken_line_hides_nothing_of_the_next():
    assert _Depth().most(b'{"a": "\n' + b"[" * 300) >= 300


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(bounds, "SMALL_BYTES", 1 << 16)


@pytest.mark.parametrize("kind", PACKERS)
@pytest.mark.parametrize("name", ["x.jsonl.{}", "x.csv.{}", "nameless"])
def test_packed_files_unpack_to_so_much_and_no_more(tmp_path, tiny, kind, name):
    path = tmp_path / name.format(kind)
    path.write_bytes(PACKERS[kind](b'{"a": "' + b"x" * 5_000_000 + b'"}'))
    with pytest.raises(DataError, match="would unpack to more than 0 MiB"):
        check_file(path)
    path.write_bytes(PACKERS[kind](b'{"a": "honest"}'))
    check_file(path)


def test_members_of_archives_count_together(tmp_path, tiny):
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(8):
            archive.writestr(f"{number}.csv", "x" * 2_000_000)
    with pytest.raises(DataError, match="would unpack"):
        check_file(path)


def test_packed_json_is_looked_at(tmp_path):
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": ' + b"[" * 201 + b"]" * 201 + b"}"))
    with pytest.raises(DataError, match="nested more than 200 deep"):
        check_file(path)


@pytest.mark.parametrize("content", [b"", b"\x1f\x8bdamaged", b"PK\x03\x04damaged", b"BZh", b"PAR1"])
@pytest.mark.parametrize("name", ["x.json", "x.parquet", "x"])
def test_what_is_damaged_is_left_to_its_reader(tmp_path, content, name):
    (tmp_path / name).write_bytes(content)
    check_file(tmp_path / name)
    check_file(tmp_path / "absent")
    check_file(tmp_path)


def picture(width, height):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(9_500, 9_500), (20_000, 20_000), (1, 100_000_000)])
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_a_picture_that_says_it_is_huge_is_not_unpacked(size):
    with pytest.raises(DataError, match="too large|cannot be decoded"):
        open_image(picture(*size))
    assert open_image(picture(4, 2)).size == (4, 2)


def test_a_file_that_is_not_there_is_reported_by_its_reader(tmp_path):
    from proctor.data import LoadCSV

    with pytest.raises(DatasetNotFoundError, match="there is no file"):
        list(LoadCSV(files={"test": str(tmp_path / "x.csv.gz")}, compression="gzip")()["test"])


def test_a_file_unpacks_to_the_limit_and_no_further(tmp_path, monkeypatch):
    monkeypatch.setattr(bounds, "SMALL_BYTES", 50_000)
    monkeypatch.setattr(bounds, "MOST_RATIO", 1)
    for name, size, passes in (("a.csv.gz", 50_000, True), ("b.csv.gz", 50_001, False)):
        (tmp_path / name).write_bytes(gzip.compress(b"x" * size))
        if passes:
            check_file(tmp_path / name)
        else:
            with pytest.raises(DataError, match="unpack to 1 times their size"):
                check_file(tmp_path / name)
    assert (bounds.most_bytes(50_000), bounds.most_bytes(50_001)) == (50_000, 50_001)


def test_values_are_nested_up_to_the_limit_and_only_json_is_looked_at(tmp_path):
    for name, depth, is_json, passes in (
        ("a.json", 200, None, True),
        ("b.NDJSON", 201, None, False),
        ("c.csv", 201, None, True),
        ("d.csv", 201, True, False),
        ("e.json", 201, False, True),
    ):
        (tmp_path / name).write_text("[" * depth + "]" * depth)
        if passes:
            check_file(tmp_path / name, is_json=is_json)
        else:
            with pytest.raises(DataError, match="nested more than 200 deep"):
                check_file(tmp_path / name, is_json=is_json)


def test_a_picture_has_at_most_so_many_pixels(monkeypatch):
    monkeypatch.setattr(bounds, "LARGEST_PICTURE", 12)
    bounds.check_picture((3, 4))
    with pytest.raises(DataError, match="a picture of 13 x 1 pixels is too large"):
        bounds.check_picture((13, 1))


def test_members_of_archives_are_unpacked_up_to_the_limit_by_the_operator(tmp_path, monkeypatch):
    monkeypatch.setattr(bounds, "SMALL_BYTES", 10)
    monkeypatch.setattr(bounds, "MOST_RATIO", 0)
    for size in (10, 11):
        with zipfile.ZipFile(tmp_path / f"{size}.zip", "w") as archive:
            archive.writestr("folder/", "")
            archive.writestr("../a/./b.txt", "x" * size)
    ExtractZipFile(zip_file=str(tmp_path / "10.zip"), target_dir=str(tmp_path / "out")).process()
    assert (tmp_path / "out" / "a" / "b.txt").read_text() == "x" * 10
    assert (tmp_path / "out" / "folder").is_dir()
    with pytest.raises(DataError, match="would unpack to 0 MiB"):
        ExtractZipFile(zip_file=str(tmp_path / "11.zip"), target_dir=str(tmp_path / "no")).process()
    assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("loader", ["csv", "json"])
def test_what_a_loader_is_told_is_packed_is_looked_at_whatever_its_name(tmp_path, tiny, loader):
    from proctor.data import LoadCSV, LoadJsonFile

    path = tmp_path / "plain.txt"
    path.write_bytes(gzip.compress(b"x" * 5_000_000))
    given = {"files": {"test": str(path)}, "compression": "gzip"}
    with pytest.raises(DataError, match="would unpack to more than"):
        list((LoadCSV(**given) if loader == "csv" else LoadJsonFile(**given, lines=True))()["test"])
