"""What the user allows once is remembered for the same exam, and for no other."""

import json
import socketserver
import threading
import zipfile
from dataclasses import replace
from http.server import BaseHTTPRequestHandler

import pytest
from tests_grants import granting
from tests_made_exams import made_exam

from proctor import effects
from proctor.cli.__main__ import main
from proctor.data import DownloadOperator, ExtractZipFile, LoadFromAPI
from proctor.effects import Author, Effect
from proctor.engines.engine import Engine
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
    with granting(f"net:{host}"), effects.written_by(effects.Author("card.json")):
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
    def full(*_, **__):
        raise OSError("no space left")

    monkeypatch.setattr(permissions, "write_text", full)
    with caplog.at_level("WARNING"):
        permissions._remember({"exam": {}})
    assert "cannot be written (no space left): exams will ask for permission again" in caplog.text


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_text("task: a")
    with granting():
        yield tmp_path


def stranger(name, *targets, folder=None, source=None, **more):
    """An exam of somebody else that asks hosts."""
    exam = made_exam(name, list, lambda answered: None, source=source)
    wanted = [Effect("net", target) for target in targets]
    author = Author(str(folder / "a.yaml") if folder else "", str(folder or ""))
    return replace(exam, effects=lambda: wanted, author=author, **more)


def allowed():
    return {entry["exam"]: entry["allowed"] for entry in permissions.remembered().values()}


def admitted(*exams, allow=(), engine=None) -> bool:
    """Return whether a run is let in, in a process of its own."""
    with granting(*allow):
        try:
            permissions.admit(exams, engine)
        except NotAllowedError:
            return False
    return True


def test_exams_that_want_nothing_are_let_in_and_leave_no_memory(home):
    assert admitted(stranger("a"), stranger("b", folder=home))
    assert not permissions.memory().exists()
    assert admitted(stranger("usual", "huggingface.co"))
    assert not permissions.memory().exists()


def test_what_one_exam_was_allowed_before_is_allowed_to_no_other(home):
    mine, theirs = stranger("mine", "x.example"), stranger("theirs", "x.example", source={"name": "other"})
    assert admitted(mine, allow=["net:x.example"])
    assert admitted(mine)
    assert not admitted(theirs)
    for together in ([mine, theirs], [theirs, mine]):
        assert not admitted(*together)
    assert allowed() == {"mine": ["net:x.example"]}
    assert admitted(theirs, mine, allow=["net:x.example"])
    assert allowed() == {"mine": ["net:x.example"], "theirs": ["net:x.example"]}
    assert admitted(mine, theirs)


def test_permissions_of_one_exam_add_up_and_all_that_lacks_is_said(home):
    exam = stranger("e", "x.example", "y.example", "z.example")
    with granting("net:x.example"), pytest.raises(NotAllowedError) as caught:
        permissions.admit([exam])
    assert [each.what for each in caught.value.diagnostics] == [
        f"'e': the exam asks {host}.example: nobody allowed that" for host in "yz"
    ]
    assert allowed() == {}, "who is refused is not remembered"
    assert admitted(exam, allow=["net:*.example"])
    assert allowed() == {"e": ["net:x.example", "net:y.example", "net:z.example"]}
    before = permissions.memory().read_bytes()
    assert admitted(exam)
    assert permissions.memory().read_bytes() == before


def test_what_was_allowed_before_is_allowed_for_the_run(home):
    exam = stranger("e", "x.example")
    admitted(exam, allow=["net:x.example"])
    with granting():
        assert not effects.is_allowed(Effect("net", "x.example"))
        permissions.admit([exam])
        assert effects.is_allowed(Effect("net", "x.example"))
        assert not effects.is_allowed(Effect("net", "y.example"))


def test_who_is_refused_opens_nothing_for_the_others(home):
    mine, theirs = stranger("mine", "x.example"), stranger("theirs", "y.example")
    admitted(mine, allow=["net:x.example"])
    with granting():
        with pytest.raises(NotAllowedError):
            permissions.admit([mine, theirs])
        assert not effects.is_allowed(Effect("net", "x.example"))


def test_an_exam_is_what_it_is_made_of_its_file_and_what_it_wants(home):
    same = permissions.fingerprint(stranger("a", folder=home), [Effect("net", "x"), Effect("net", "y")])
    assert same == permissions.fingerprint(
        stranger("a", folder=home, source={"name": "a", "options": {"limit": 3}}),
        [Effect("net", "y"), Effect("net", "x")],
    )
    others = {
        permissions.fingerprint(stranger("a", folder=home), [Effect("net", "x")]),
        permissions.fingerprint(
            stranger("a", folder=home, source={"name": "b"}), [Effect("net", "x"), Effect("net", "y")]
        ),
        permissions.fingerprint(stranger("a"), [Effect("net", "x"), Effect("net", "y")]),
    }
    (home / "a.yaml").write_text("task: a # changed")
    others.add(permissions.fingerprint(stranger("a", folder=home), [Effect("net", "x"), Effect("net", "y")]))
    (home / "a.yaml").unlink()
    others.add(permissions.fingerprint(replace(stranger("c"), author=None, source={"name": "a"}), []))
    assert same not in others
    assert len(others) == 5
    assert permissions.fingerprint(stranger("a", folder=home), [Effect("net", "x"), Effect("net", "y")])


def test_the_folder_of_an_exam_may_be_read(home, monkeypatch):
    (home / "deep").mkdir()
    (home / "deep" / "a.yaml").write_text("task: a")
    (home / "elsewhere").mkdir()
    monkeypatch.chdir(home / "elsewhere")  # what lies below the working folder may be read anyway
    beside = home / "deep" / "rows.jsonl"
    with effects.session():
        permissions.admit([stranger("none")])
        assert effects.reading(beside, Author("a")) == [Effect("read", str(beside.resolve()))]
        permissions.admit([stranger("e", folder=home / "deep")])
        assert effects.reading(beside, Author("a")) == []


class Served(Engine):
    """Asks a server."""

    url: str = "http://model.example"

    def effects(self):
        return [Effect("net", "model.example"), Effect("env", "KEY@model.example")]


def test_a_server_that_the_user_named_is_remembered_and_one_of_a_file_is_asked_about(home):
    mine = Served()
    assert admitted(engine=mine)
    assert allowed() == {mine.label: ["env:KEY@model.example", "net:model.example"]}
    theirs = Served()
    object.__setattr__(theirs, "_author", Author("run.yaml"))
    assert admitted(engine=theirs), "a run file that says the same later asks for nothing"
    permissions.forget()
    assert not admitted(engine=theirs)
    assert not admitted(engine=theirs, allow=["net:model.example"])
    assert allowed() == {}
    assert admitted(engine=theirs, allow=["net:model.example", "env:KEY@model.example"])
    assert admitted(engine=theirs)
    assert len(allowed()) == 1


def test_an_engine_and_exams_are_refused_together(home):
    theirs = Served()
    object.__setattr__(theirs, "_author", Author("run.yaml"))
    with pytest.raises(NotAllowedError) as caught:
        permissions.admit([stranger("e", "x.example")], theirs)
    assert len(caught.value.diagnostics) == 3
    assert {each.path for each in caught.value.diagnostics} == {"", "run.yaml"}


@pytest.mark.parametrize("content", ["[]", '"x"', "3"])
def test_a_memory_of_another_form_is_none(home, content):
    (home / "home" / "proctor").mkdir(parents=True)
    permissions.memory().write_text(content)
    assert permissions.remembered() == {}
    assert admitted(stranger("e", "x.example"), allow=["net:x.example"])
    assert list(allowed()) == ["e"]


def test_the_memory_is_the_users_own_alone(home, monkeypatch):
    admitted(stranger("e", "x.example"), allow=["net:x.example"])
    assert permissions.memory() == home / "home" / "proctor" / "kept" / "allowed.json"
    assert permissions.memory().stat().st_mode & 0o777 == 0o600
    assert permissions.memory().parent.stat().st_mode & 0o077 == 0
    permissions.forget()
    permissions.forget()
    assert permissions.remembered() == {}
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(home / "me"))
    assert permissions.memory() == home / "me" / ".local" / "share" / "proctor" / "kept" / "allowed.json"
