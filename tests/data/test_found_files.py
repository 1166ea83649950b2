"""Whatever names data becomes files that lie where the exam may read, before a library sees it."""

import io
import json
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from tests_grants import granting

from proctor import effects
from proctor.data import hub
from proctor.data.files import LoadCSV, LoadJsonFile
from proctor.data.found_files import below, file_named, files_named, matching
from proctor.data.images import open_image
from proctor.effects import Author
from proctor.errors import DataError, DatasetNotFoundError, NotAllowedError
from proctor.settings import settings

SECRET = "SECRET77"


@pytest.fixture
def world(tmp_path, monkeypatch):
    """An exam's folder, which is the working folder, and a secret outside."""
    exam, away = tmp_path / "exam", tmp_path / "away"
    (exam / "ds").mkdir(parents=True)
    (away / "folder").mkdir(parents=True)
    for name, text in {"s.jsonl": json.dumps({"q": SECRET}) + "\n", "s.csv": f"q\n{SECRET}\n", "s.txt": SECRET}.items():
        (away / name).write_text(text)
        (away / "folder" / name).write_text(text)
    monkeypatch.chdir(exam)
    return exam, away, Author(str(exam / "t.yaml"), str(exam))


@pytest.fixture
def server():
    """Yield a server's address and the list of what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"q\nfetched\n")

        do_HEAD = do_GET

        def log_message(self, *args):
            pass

    http = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{http.server_port}", asked
    http.shutdown()
    http.server_close()


def card(folder: Path, path: object) -> None:
    entry = {"config_name": "default", "data_files": [{"split": "test", "path": path}]}
    (folder / "README.md").write_text("---\n" + json.dumps({"configs": [entry]}) + "\n---\n")


def rows(dataset: hub.Dataset, split: str = "test") -> list[dict]:
    return [dict(row) for row in hub.rows(dataset, split)]


@pytest.mark.parametrize("named", ["{away}/s.jsonl", "file://{away}/s.jsonl", "../../away/*.jsonl", "{away}/**/s.jsonl",
                                   "FILE://{away}/s.jsonl", "local://{away}/s.jsonl", "../../away/folder"])  # fmt: skip
def test_a_card_leads_to_no_file_elsewhere_unless_that_is_allowed(world, named):
    _, away, who = world
    card(Path("ds"), named.format(away=away))
    dataset = hub.Dataset("./ds", author=who)
    with pytest.raises(NotAllowedError, match=r"reads .*away.*nobody allowed"):
        rows(dataset)
    if "folder" not in named and "**" not in named:
        with granting(f"read:{away}"):
            assert rows(dataset) == [{"q": SECRET}]


@pytest.mark.parametrize("name", ["{url}/r.json", "zip://a.json::{url}/a.zip", "simplecache::{url}/r.json",
                                  "https+x://a/b::{url}/?]"])  # fmt: skip
@pytest.mark.parametrize("way", ["card", "files", "csv", "json"])
def test_no_server_is_asked_that_nobody_allowed(world, server, name, way):
    url, asked = server
    _, _, who = world
    place = name.format(url=url)
    card(Path("ds"), place)
    with effects.written_by(who):
        read = {
            "card": partial(rows, hub.Dataset("./ds", author=who)),
            "files": partial(rows, hub.Dataset("json", data_files={"test": place}, author=who)),
            "csv": lambda: list(LoadCSV(files={"test": place})()["test"]),
            "json": lambda: list(LoadJsonFile(files={"test": place})()["test"]),
        }[way]
        with pytest.raises((NotAllowedError, DataError)):
            read()
    assert asked == []


def test_an_address_that_is_allowed_is_fetched_once_by_us(world, server, tmp_path):
    url, asked = server
    _, _, who = world
    with settings.context(cache_dir=tmp_path / "cache"), granting(f"net:{url.removeprefix('http://')}"):
        with effects.written_by(who):
            assert [row["q"] for row in LoadCSV(files={"test": f"{url}/r.csv"})()["test"]] == ["fetched"]
        assert rows(hub.Dataset("csv", data_files={"test": f"{url}/r.csv"}, author=who)) == [{"q": "fetched"}]
    assert asked == ["/r.csv"]


@pytest.mark.parametrize("link", ["file", "folder", "through"])
@pytest.mark.parametrize("way", ["folder", "glob", "name"])
def test_links_out_of_a_folder_are_not_followed(world, link, way):
    exam, away, who = world
    place = exam / "ds" / "test.jsonl"
    if link == "file":
        place.symlink_to(away / "s.jsonl")
    elif link == "folder":
        (exam / "ds" / "test").symlink_to(away / "folder")
    else:
        (exam / "ds" / "one").symlink_to(away / "s.jsonl")
        place.symlink_to("one")
    named = {"glob": "ds/**/*.jsonl", "name": "ds/test/s.jsonl" if link == "folder" else "ds/test.jsonl"}
    dataset = hub.Dataset("./ds", author=who)
    if way in named:
        dataset = hub.Dataset("json", data_files={"test": named[way]}, author=who)
    with pytest.raises(NotAllowedError):
        rows(dataset)


def test_links_inside_a_folder_are_followed(world):
    exam, _, who = world
    (exam / "ds" / "one.jsonl").write_text('{"q": "mine"}\n')
    (exam / "ds" / "data").mkdir()
    (exam / "ds" / "data" / "test.jsonl").symlink_to("../one.jsonl")
    assert rows(hub.Dataset("./ds/data", author=who)) == [{"q": "mine"}]


def test_a_name_that_looks_like_an_address_is_the_file_of_that_name(world):
    exam, away, who = world
    inner = exam / f"file:{away}"
    inner.mkdir(parents=True)
    (inner / "s.csv").write_text("q\nmine\n")
    with effects.written_by(who):
        assert [row["q"] for row in LoadCSV(files={"test": f"file:{away}/s.csv"})()["test"]] == ["mine"]


@pytest.mark.parametrize("name", ["pandas", "hdf5", "xml", "iceberg", "lance"])
def test_readers_that_do_more_than_read_rows_are_refused(world, name):
    _, _, who = world
    with pytest.raises((DataError, DatasetNotFoundError), match="not used"):
        rows(hub.Dataset(name, data_files={"test": "x"}, author=who))


def test_files_that_another_reader_would_open_are_refused(world):
    (Path("ds") / "test.h5").write_bytes(b"\x89HDF\r\n")
    with pytest.raises(DatasetNotFoundError, match="no files of rows"):
        rows(hub.Dataset("./ds"))


@pytest.mark.parametrize("token", ["token", "stored_tokens"])
def test_tokens_of_programs_are_no_data(world, tmp_path, monkeypatch, token):
    home = tmp_path / "hf"
    home.mkdir()
    (home / token).write_text(SECRET)
    (home / "rows.txt").write_text("free")
    monkeypatch.setenv("HF_HOME", str(home))
    who = world[2]
    assert rows(hub.Dataset("text", data_files={"test": str(home / "rows.txt")}, author=who)) == [{"text": "free"}]
    (Path("ds") / "test.txt").symlink_to(home / token)
    for named in (str(home / token), str(home / "*"), "ds/test.txt"):
        with pytest.raises(NotAllowedError):
            rows(hub.Dataset("text", data_files={"test": named}, author=who))


def test_a_mapped_dataset_may_be_a_link_and_hold_none(world, tmp_path):
    _, away, who = world
    base, real = tmp_path / "hub", tmp_path / "big"
    (base / "owner").mkdir(parents=True)
    real.mkdir()
    (real / "test.jsonl").write_text('{"q": "mine"}\n')
    (base / "owner" / "name").symlink_to(real)
    with settings.context(hub_dir=base):
        assert rows(hub.Dataset("owner/name", author=who)) == [{"q": "mine"}]
        (real / "test.jsonl").unlink()
        (real / "test.jsonl").symlink_to(away / "s.jsonl")
        with pytest.raises(NotAllowedError):
            rows(hub.Dataset("owner/name", author=who))


def picture_bytes(kind: str = "PNG") -> bytes:
    image = pytest.importorskip("PIL.Image")
    file = io.BytesIO()
    image.new("RGB", (3, 2), "red").save(file, kind)
    return file.getvalue()


@pytest.mark.parametrize("nested", [False, True])
def test_pictures_of_a_table_are_opened_by_us_and_only_where_one_may_read(world, nested):
    import datasets

    (exam, away, who), data = world, picture_bytes()
    (away / "s.png").write_bytes(data)
    kind = {"image": datasets.Image()} if not nested else {"deep": [{"image": datasets.Image()}]}

    def table(value: object) -> None:
        row = {"image": value} if not nested else {"deep": [{"image": value}]}
        made = datasets.Dataset.from_list([row], features=datasets.Features(kind))
        made.to_parquet(str(exam / "ds" / "test.parquet"))

    def seen() -> object:
        found = rows(hub.Dataset("./ds", author=who))[0]
        return found["deep"][0]["image"] if nested else found["image"]

    table({"bytes": data, "path": None})
    assert seen().size == (3, 2)
    schema = datasets.Features(kind).arrow_schema
    import pyarrow as pa
    from pyarrow import parquet

    for path in (str(away / "s.png"), "http://127.0.0.1:9/x.png"):
        value = {"bytes": None, "path": path}
        row = {"image": value} if not nested else {"deep": [{"image": value}]}
        parquet.write_table(pa.Table.from_pylist([row], schema=schema), exam / "ds" / "test.parquet")
        with effects.session(), pytest.raises(NotAllowedError):
            seen()


def test_values_of_several_kinds_stay_what_they_are(world):
    written = [{"q": each, "gold": {"names": ["x"], "kwargs": [{}]}} for each in "ab"]
    Path("ds/test.jsonl").write_text("".join(json.dumps(row) + "\n" for row in written))
    found = rows(hub.Dataset("./ds"))
    assert [row["q"] for row in found] == ["a", "b"]
    assert all(isinstance(row["gold"], dict) and isinstance(row["gold"]["kwargs"][0], dict) for row in found)


def test_no_picture_starts_a_program():
    with pytest.raises(DataError, match="cannot be decoded"):
        open_image(picture_bytes("EPS"))
    for kind in ("PNG", "JPEG", "GIF", "BMP", "TIFF", "PPM", "WEBP"):
        assert open_image(picture_bytes(kind)).size == (3, 2)


@pytest.mark.parametrize(
    "pattern, wanted",
    [
        ("*.json", ["a.json"]),
        ("**/*.json", ["a.json", "d/b.json", "d/e/c.json"]),
        ("**", ["a.json", "d/b.json", "d/e/c.json", "x.csv"]),
        ("d/**", ["d/b.json", "d/e/c.json"]),
        ("d/*", ["d/b.json"]),
        ("[ax].*", ["a.json", "x.csv"]),
        ("[!a].*", ["x.csv"]),
        ("?.csv", ["x.csv"]),
        (".h/*", [".h/k.json"]),
        ("README.md", ["README.md"]),
    ],
)
def test_patterns_name_files_as_those_of_the_library_do(tmp_path, pattern, wanted):
    from datasets.data_files import resolve_pattern

    for name in ("a.json", "x.csv", "d/b.json", "d/e/c.json", ".h/k.json", "README.md", "__pycache__/p.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert matching(pattern, below(tmp_path, None)) == wanted
    assert sorted(resolve_pattern(pattern, str(tmp_path))) == [str(tmp_path / each) for each in wanted]
    assert sorted(files_named(pattern, tmp_path, None)) == [str(tmp_path / each) for each in wanted]


def test_folders_that_link_to_each_other_end(tmp_path):
    for name in "abcdefgh":
        (tmp_path / name).mkdir()
        for other in "abcdefgh":
            (tmp_path / name / other).symlink_to(tmp_path / other)
    assert len(below(tmp_path, None)) == 0


def test_a_file_that_is_not_there_is_told_with_those_that_are(world):
    Path("s.csv").touch()
    with pytest.raises(DatasetNotFoundError, match=r"there is no file s\.csb") as caught:
        file_named("s.csb")
    assert "did you mean 's.csv'" in str(caught.value)
