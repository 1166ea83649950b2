"""A file of servers: what is one, what of it is refused, and what a run makes of it when it changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from proctor.effects import author_of_file, written_by
from proctor.engines.engine_registry import make_engine
from proctor.engines.http import server_file
from proctor.engines.http.openai_engine import OpenAIEngine, normal_url
from proctor.engines.http.server_file import ServerAwayError, ServerFile, file_of
from proctor.errors import NotAllowedError, UsageError
from proctor.ir import Generate, Prompt
from proctor.running.executors import distribute
from proctor.testing import FaultServer
from proctor.wall import what_can_stand


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Files are looked at each time they can be."""
    monkeypatch.setattr(server_file, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(server_file, "_FIRST_REST_SECONDS", 0.0)


@pytest.mark.parametrize(
    "typed, path",
    [
        ("file:servers", "servers"),
        ("file:///run/servers", "/run/servers"),
        ("/run/servers", "/run/servers"),
        ("./servers", "servers"),
        ("servers.txt", "servers.txt"),
        ("localhost:8000", None),
        ("http://a:1,http://b:1", None),
        ("http://a/servers.txt", None),
    ],
)
def test_which_texts_are_files(typed, path):
    assert file_of(typed) == (Path(path) if path else None)


def test_servers_are_the_lines_of_a_file(tmp_path):
    (tmp_path / "servers.txt").write_text("# two nodes\n http://a:8000 \n\nb:8000/v1\n")
    engine = OpenAIEngine(model="m", base_url=f"file:{tmp_path}/servers.txt", max_concurrency=3)
    assert engine.server_addresses == ("http://a:8000/v1", "http://b:8000/v1")
    assert engine.most_at_once == 6
    assert engine.identity == OpenAIEngine(model="m", base_url="http://c:1").identity
    assert {each.target for each in engine.would_do() if each.kind == "net"} == {"a:8000", "b:8000"}
    with written_by(None):
        assert OpenAIEngine.from_dict(engine.to_dict()).server_addresses == engine.server_addresses


@pytest.mark.parametrize(
    "text, said",
    [
        ("", "names no server"),
        ("# none\n", "names no server"),
        ("http://a\nhttp://a b\n", "servers.txt:2"),
        ("http://a\nftp://b\n?\n", "servers.txt:3"),
        ("http://a\nhttp://a/v1\n", "stands in line 1 already"),
        ("http://me:secret@a\n", "a name and a password stand in the file"),
        ("https://a\n", "model_id=NAME"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_names_no_servers_is_refused_before_anybody_is_asked(tmp_path, text, said):
    if text is not None:
        (tmp_path / "servers.txt").write_text(text)
    with pytest.raises(UsageError) as error:
        OpenAIEngine(model="m", base_url=str(tmp_path / "servers.txt"))
    assert said in str(error.value)


def test_services_need_a_name_for_their_model(tmp_path):
    (tmp_path / "s.txt").write_text("https://a\nhttps://b\n")
    engine = OpenAIEngine(model="m", model_id="one", base_url=str(tmp_path / "s.txt"))
    (tmp_path / "s.txt").write_text("https://b\n")
    assert engine.identity == OpenAIEngine(model="m", model_id="one", base_url=str(tmp_path / "s.txt")).identity


def test_a_file_of_somebody_else_may_not_name_one_elsewhere(tmp_path):
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "s.txt").write_text("http://a\n")
    with written_by(author_of_file(tmp_path / "own" / "exam.py")), pytest.raises(NotAllowedError):
        OpenAIEngine(model="m", base_url=str(tmp_path / "away" / "s.txt"))


def test_other_engines_and_executors_say_that_they_read_no_file(tmp_path):
    (tmp_path / "s.txt").write_text("http://a\n")
    with pytest.raises(UsageError, match="engine 'openai' alone reads"):
        make_engine("vllm-server", {"model": "m", "base_url": str(tmp_path / "s.txt")})
    with pytest.raises(UsageError, match="no file of servers"):
        distribute(OpenAIEngine(model="m", base_url=str(tmp_path / "s.txt")), "ray")


def test_what_becomes_of_a_file_while_it_is_read(tmp_path, said):
    path, refused = tmp_path / "s.txt", set()

    def admit(address):
        if address in refused:
            raise ServerAwayError("it loads")

    def becomes(text):
        path.unlink(missing_ok=True)
        if text is not None:
            path.write_text(text)
        servers.look()  # as long as it is written, nothing is believed
        before = servers.addresses
        servers.look()
        return before, servers.addresses

    path.write_text("http://a\nhttp://b\n")
    servers = ServerFile(path, normal_url, admit)
    both = ("http://a/v1", "http://b/v1")
    for text in (None, "", "http://a\nrubbish here\n"):
        assert becomes(text) == (both, both)
    assert "s.txt:2: the line is not the address of a server" in "\n".join(said)
    refused.add("http://c/v1")
    assert becomes("http://b\nhttp://c\n") == (both, both[1:])
    assert "http://a/v1 gets nothing new" in "\n".join(said)
    assert "\n".join(said).count("http://c/v1 is left out: it loads") == 1
    refused.clear()
    servers.look()
    assert servers.addresses == ("http://b/v1", "http://c/v1")
    assert "http://c/v1 is asked from now on" in "\n".join(said)


def test_a_new_server_is_used_at_once_and_one_that_is_gone_gets_nothing(tmp_path):
    path = tmp_path / "s.txt"
    slowly = {"answer": lambda *_: "yes", "latency_seconds": 0.005}  # the file is looked at between batches of answers
    with FaultServer(**slowly) as one, FaultServer(**slowly) as two:
        path.write_text(f"{one.url}\n")
        engine = OpenAIEngine(model="m", base_url=str(path), max_concurrency=2)
        counts = {}
        answers = engine.generate(Generate(Prompt(f"{number}?")) for number in range(400))
        for done, _ in enumerate(answers):
            if done == 20:
                counts["before"] = two.statistics()["requests"]
                path.write_text(f"{one.url}\n{two.url}\n")
            if done == 150:
                assert engine.most_at_once == 4
                path.write_text(f"{two.url}\n")
            if done == 250:
                counts["gone"] = one.statistics()["requests"]
        counts["after"] = one.statistics()["requests"]
        counts["two"] = two.statistics()["requests"]
    assert counts["before"] == 0
    assert counts["after"] == counts["gone"]
    assert counts["two"] + counts["after"] == 400
    assert counts["gone"] > 60


def test_another_model_that_comes_later_is_refused(tmp_path, monkeypatch, capsys):
    from proctor.cli.__main__ import main

    monkeypatch.chdir(tmp_path)
    Path("q.jsonl").write_text("\n".join(json.dumps({"question": f"{n}?", "answer": "yes"}) for n in range(300)))
    asked = Counter()

    def answer(*_):
        asked["one"] += 1
        if asked["one"] == 20:
            Path("s.txt").write_text(f"{one.url}\n{other.url}\n")
        return "yes"

    with FaultServer(answer=answer) as one, FaultServer(answer=lambda *_: "no") as other:
        Path("s.txt").write_text(f"{one.url}\n")
        given = ("run", "q.jsonl", "-m", "openai", "-a", "model=m,base_url=s.txt,max_concurrency=1", "--log", "l.db")
        assert main([*given, "-o", "out"]) == 3
        assert "has another model" in capsys.readouterr().err
        assert other.statistics()["requests"] == 3, "three probes, and no question of the exam"


@pytest.mark.skipif(not what_can_stand().ports, reason="this kernel knows no ports")
def test_the_wall_lets_through_what_was_said_beforehand(tmp_path):
    program = """
import sys
from pathlib import Path
from proctor.engines.http import server_file
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.ir import Generate, Prompt
from proctor.wall import Needs, open_for, raise_wall
server_file._LOOK_SECONDS = 0.0
one, two, three = sys.argv[1:4]
engine = OpenAIEngine(model="m", base_url="s.txt", max_concurrency=1)
raise_wall(["base_url=s.txt"], Needs(asks=True))
open_for([engine])
for done, (_, response) in enumerate(engine.generate(Generate(Prompt(f"{n}?")) for n in range(200))):
    assert response.failure is None, response.failure
    if done == 5:
        print("later", engine.server_addresses)
print(len(engine.server_addresses))
"""
    (tmp_path / "p.py").write_text(program)
    (tmp_path / ".hidden").write_text("")
    with FaultServer() as one, FaultServer() as two, FaultServer() as three:
        (tmp_path / "s.txt").write_text(f"{one.url}\n")
        asked = Counter()

        def grow(*_):
            asked["one"] += 1
            if asked["one"] == 5:
                (tmp_path / "s.txt").write_text(f"{one.url}\n{two.url}\n{three.url}\n")
            return "yes"

        one.behaviour.answer = grow
        env = {**os.environ, "PROCTOR_ALLOW": f"net:127.0.0.1:{two.port}-{two.port}"}
        done = subprocess.run(
            [sys.executable, "p.py", one.url, two.url, three.url],
            check=False, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert two.statistics()["requests"] > 20
        assert three.statistics()["requests"] == 0
        assert f"{three.url} is left out: no server had its port when the run began" in done.stderr
        assert f"--allow net:*:{three.port}" in done.stderr
