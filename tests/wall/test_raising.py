"""How the wall is raised, step by step, with a kernel that only notes what it is told."""

import os
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from proctor import effects
from proctor.effects import Effect
from proctor.settings import settings
from proctor.wall import raising
from proctor.wall.raising import Wall, let_ask, open_for, raise_wall, standing, what_can_stand
from proctor.wall.rules import Needs, Rules


@pytest.fixture
def told(monkeypatch, tmp_path):
    """What the kernel, the watch and the starter were told, by name; the process stays as it is."""
    found = {}

    def note(name):
        return lambda *given, **named: found.setdefault(name, (*given, *named.values()))

    def begin(rules):
        found["watch"] = SimpleNamespace(
            rules=rules, is_open=False, let=lambda each: found.setdefault("let", []).extend(each)
        )
        return found["watch"]

    monkeypatch.setattr(raising.kernel, "prctl", note("prctl"))
    monkeypatch.setattr(raising.kernel, "landlock", note("files"))
    monkeypatch.setattr(raising.kernel, "landlock_ports", note("ports"))
    monkeypatch.setattr(raising.kernel, "landlock_version", lambda: 4)
    monkeypatch.setattr(raising.seccomp, "refuse_programs", note("programs"))
    monkeypatch.setattr(raising.seccomp, "is_known_machine", lambda: True)
    monkeypatch.setattr(raising.starter, "stand_outside", note("starter"))
    monkeypatch.setattr(raising.atexit, "register", note("at the end"))
    monkeypatch.setattr(raising.watch, "begin", begin)
    monkeypatch.setattr(raising, "_standing", [])
    monkeypatch.setattr(effects, "_granted", {"run:gs", "net:a.example"})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for name in ("HF_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.chdir(tmp_path)
    with settings.context(cache_dir=tmp_path / "cache"):
        yield found


def engine(*targets, starts_programs=False):
    effects = [*(Effect("net", each) for each in targets), Effect("read", "/somewhere:99")]
    return SimpleNamespace(label="mine", starts_programs=starts_programs, would_do=lambda: effects)


@pytest.mark.parametrize(
    "version, known, wall, says",
    [
        (0, False, (False, False, False), "no landlock; system calls of this machine are not known"),
        (3, True, (True, False, True), ""),
        (4, True, (True, True, True), ""),
        (5, False, (True, True, False), "system calls of this machine are not known"),
    ],
)
def test_what_can_stand_goes_by_kernel_and_machine(told, monkeypatch, version, known, wall, says):
    monkeypatch.setattr(raising.kernel, "landlock_version", lambda: version)
    monkeypatch.setattr(raising.seccomp, "is_known_machine", lambda: known)
    found = what_can_stand()
    assert (found.files, found.ports, found.programs) == wall
    assert found.why_not.removeprefix("the kernel has ").removeprefix(f"{sys.platform} has ") == says


def test_a_command_that_asks_nobody_stands_behind_the_whole_wall_at_once(told, tmp_path):
    new = tmp_path / "out" / "deep"
    raised = raise_wall(["show", "x"], Needs(folders=(new,), files=(tmp_path / "single.xml",)))
    assert raised == standing() == Wall(files=True, ports=True, programs=True)
    scratch, made, programs, kept = told["starter"]
    assert (tempfile.tempdir, os.environ["TMPDIR"]) == (scratch, scratch)
    assert made == [str(new), str(new.parent)]
    assert new.is_dir()
    assert programs == {"gs", "bwrap", "docker", "podman"}
    assert Path(kept).name == "allowed.json"
    assert "at the end" not in told
    assert sys.dont_write_bytecode
    readable, writable, shown, network = told["files"]
    assert network is False
    assert {*told["watch"].rules.readable} <= {*readable}
    assert {scratch, str(new), str(tmp_path)} <= {*writable}
    assert str(tmp_path) in shown
    assert told["prctl"] == (raising.kernel.PR_SET_NO_NEW_PRIVS, 1)


def test_without_a_starter_the_scratch_is_removed_by_the_process(told, monkeypatch):
    monkeypatch.setattr(raising.seccomp, "is_known_machine", lambda: False)
    raise_wall([])
    assert "starter" not in told
    assert told["at the end"][1:] == (tempfile.tempdir, True)


def test_of_a_command_that_asks_models_the_rest_is_raised_for_its_servers(told):
    assert raise_wall([], Needs(asks=True)) == Wall(files=True)
    assert "ports" not in told
    assert open_for([engine("a.example:8000"), engine("b.example")]) == Wall(files=True, ports=True, programs=True)
    assert {443, 80, 53, 8000} == {*told["ports"][0]}
    assert told["let"] == ["a.example:8000", "b.example"]
    assert standing() == open_for([engine("c.example:1")]) == Wall(files=True, ports=True, programs=True)
    assert [let_ask(f"d.example:{port}") for port in (8000, 8001)] == [True, False]
    assert told["let"][2:] == ["d.example:8000", "d.example:8001"]


def test_ports_are_free_where_the_kernel_holds_none(told, monkeypatch):
    monkeypatch.setattr(raising.kernel, "landlock_version", lambda: 3)
    raise_wall([], Needs(asks=True))
    assert open_for([]) == Wall(files=True, programs=True)
    assert "ports" not in told
    assert let_ask("d.example:8001")


@pytest.mark.parametrize(
    "needs, asked, is_open, says",
    [
        (Needs(asks=True, trusts=True), engine("a.example:1"), False, "trusted code starts programs and asks servers"),
        (Needs(asks=True), engine(starts_programs=True), True, "'mine' starts programs"),
    ],
)
def test_who_starts_programs_is_held_by_files_alone_and_that_is_said(told, needs, asked, is_open, says):
    raise_wall([], needs)
    found = open_for([asked])
    assert (found.files, found.ports, found.programs) == (True, False, False)
    assert says in found.why_not
    assert found == standing()
    assert told["watch"].is_open is is_open
    assert "ports" not in told
    assert "programs" not in told
    assert let_ask("d.example:8001")


def test_without_a_wall_nothing_is_raised_and_all_may_be_asked(told):
    assert (standing(), open_for([engine("a.example")]), let_ask("a.example:9")) == (None, Wall(), True)
    assert told == {}


def test_why_files_are_not_held_is_kept(told, monkeypatch):
    rules = Rules(("/usr",), ("/nowhere",), ("/tmp/x",), files=("/deep/a.xml",))
    assert raising._with_files(Wall(why_not="old"), rules) == Wall(why_not="old")
    assert "files" not in told
    assert raising._with_files(Wall(files=True, ports=True, why_not="part"), rules) == Wall(files=True, why_not="part")
    readable, writable, shown, _ = told["files"]
    assert (readable, writable, shown) == (["/usr"], ["/tmp/x", "/deep"], ("/nowhere",))

    def refuse(*_, **__):
        raise OSError("busy")

    monkeypatch.setattr(raising.kernel, "landlock", refuse)
    assert raising._with_files(Wall(files=True), rules) == Wall(why_not="busy")


@pytest.mark.parametrize(
    "variable, place", [("HF_TOKEN_PATH", "own"), ("HF_HOME", "home/token"), ("", ".cache/huggingface/token")]
)
def test_the_token_of_the_hub_is_looked_for_where_its_library_does(told, tmp_path, monkeypatch, variable, place):
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(" hf_mine\n")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.delenv("HF_HOME")
    if variable:
        monkeypatch.setenv(variable, str(tmp_path / place.removesuffix("/token")))
    monkeypatch.setenv("HF_TOKEN", "")
    raising._take_token()
    assert os.environ["HF_TOKEN"] == "hf_mine"
    file.write_text("other")
    raising._take_token()
    assert os.environ["HF_TOKEN"] == "hf_mine"
    monkeypatch.delenv("HF_TOKEN")
    file.write_text("\n")
    raising._take_token()
    assert "HF_TOKEN" not in os.environ
