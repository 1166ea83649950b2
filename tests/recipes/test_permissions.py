"""What the user allows once is remembered for the same exam, and for no other."""

import json
import socketserver
import threading
import zipfile
from http.server import BaseHTTPRequestHandler

import pytest

from proctor.cli.__main__ import main
from proctor.data import DownloadOperator, ExtractZipFile, LoadFromAPI
from proctor.errors import DataError, NotAllowedError
from proctor.recipes import permissions

ROWS = [{"question": "q", "answers": ["a"]}]


class _Server(BaseHTTPRequestHandler):
    asked: list[tuple[str, str | None]] = []

    def do_GET(self) -> None:
        type(self).asked.append((self.path, self.headers.get("Authorization")))
        if self.path.startswith("/to/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps({"data": ROWS}).encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def host(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    _Server.asked = []
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def write_exam(folder, host, **loader):
    card = {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_api", "urls": {"test": f"http://{host}/rows"}, **loader},
        "task": "tasks.qa.open",
        "templates": ["templates.qa.open.simple"],
    }
    path = folder / "exam.json"
    path.write_text(json.dumps({"__type__": "dataset_recipe", "card": card, "template_card_index": 0}))
    return str(path)


def test_an_exam_asks_nobody_until_the_user_allows_it_and_then_never_again(tmp_path, host, capfd):
    exam = write_exam(tmp_path, host)
    assert main(["show", exam]) == 2
    assert f"--allow net:{host}" in capfd.readouterr().err
    assert not _Server.asked
    assert main(["show", exam, "--allow", f"net:{host}"]) == 0
    assert len(_Server.asked) == 1
    assert main(["show", exam]) == 0
    (entry,) = permissions.remembered().values()
    assert entry == {"exam": "exam", "allowed": [f"net:{host}"]}
    permissions.forget()
    assert main(["show", exam]) == 2


def test_another_exam_of_the_same_name_asks_again(tmp_path, host, capfd):
    assert main(["show", write_exam(tmp_path, host), "--allow", f"net:{host}"]) == 0
    assert main(["show", write_exam(tmp_path, host, headers={"X-More": "1"})]) == 2
    assert "nobody allowed that" in capfd.readouterr().err


def test_a_key_goes_to_its_host_only_when_both_are_allowed(tmp_path, host, monkeypatch, capfd):
    monkeypatch.setenv("SECRET_OF_MINE", "sk-0123456789")
    exam = write_exam(tmp_path, host, api_key_env_var="SECRET_OF_MINE")
    assert main(["show", exam, "--allow", f"net:{host}"]) == 2
    assert f"--allow env:SECRET_OF_MINE@{host}" in capfd.readouterr().err
    assert not _Server.asked
    assert main(["show", exam, "--allow", f"net:{host}", "--allow", f"env:SECRET_OF_MINE@{host}"]) == 0
    assert _Server.asked == [("/rows", "Bearer sk-0123456789")]


def test_every_exam_is_refused_at_once_before_anybody_is_asked(tmp_path, host, capfd):
    first = tmp_path / "first.json"
    first.write_text((tmp_path / write_exam(tmp_path, host)).read_text())
    second = write_exam(tmp_path, "evil.example")
    code = main(
        ["run", "--model", "dummy", "--tasks", str(first), "--tasks", second, "--output", str(tmp_path / "out")]
    )
    told = capfd.readouterr().err
    assert code == 2
    assert f"asks {host}" in told
    assert "asks evil.example" in told
    assert not _Server.asked


def test_a_damaged_memory_says_so(tmp_path, host, capfd):
    (tmp_path / "home" / "proctor").mkdir(parents=True)
    permissions.memory().write_text("{")
    assert main(["show", write_exam(tmp_path, host)]) == 2
    assert "delete it" in capfd.readouterr().err


def test_redirects_pass_the_gate_and_take_no_key_along(host, monkeypatch):
    monkeypatch.setenv("SECRET_OF_MINE", "sk-0123456789")
    other = host.replace("127.0.0.1", "localhost")
    mine = LoadFromAPI(urls={"test": f"http://{host}/to/http://{other}/rows"}, api_key_env_var="SECRET_OF_MINE")
    assert [row["question"] for row in mine()["test"]] == ["q"]
    assert _Server.asked[1:] == [("/rows", None)]
    from proctor import effects

    with effects.granting(f"net:{host}"), effects.written_by(effects.Author("card.json")):
        theirs = LoadFromAPI(urls={"test": f"http://{host}/to/http://{other}/rows"})
        with pytest.raises(NotAllowedError, match=f"asks {other}"):
            list(theirs()["test"])
    with pytest.raises(DataError, match="Redirection to url"):
        list(LoadFromAPI(urls={"test": f"http://{host}/to/file:///etc/passwd"})()["test"])


def test_a_download_leaves_nothing_where_it_fails(tmp_path, host):
    target = tmp_path / "x"
    target.write_text("before")
    with pytest.raises(DataError, match="cannot be downloaded"):
        DownloadOperator(source=f"http://127.0.0.1:1/x{host}", target=str(target))()
    assert target.read_text() == "before"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


def test_an_archive_that_is_a_bomb_is_not_unpacked(tmp_path):
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(100 << 20))
    with pytest.raises(DataError, match="would unpack to 100 MiB"):
        ExtractZipFile(zip_file=str(bomb), target_dir=str(tmp_path / "out"))()
    assert not (tmp_path / "out").exists()


def test_a_home_that_cannot_be_written_is_said_and_permissions_hold_for_the_run(tmp_path, monkeypatch, caplog):
    def full(table):
        raise OSError("no space left")

    monkeypatch.setattr(permissions, "_write", full)
    with caplog.at_level("WARNING"):
        permissions._remember({"exam": {}})
    assert "cannot be written (no space left): exams will ask for permission again" in caplog.text
