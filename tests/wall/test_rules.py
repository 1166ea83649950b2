"""What a command may touch, by what the user typed, set, allowed and trusts."""

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from proctor import effects
from proctor.settings import settings
from proctor.wall import rules
from proctor.wall.rules import Needs, Rules, rules_for


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home of a user who set nothing, and a working folder in it."""
    for name in ("work", ".cache/other", "cache", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    for name in (*rules._BUNDLES, *rules._COMPILED_IN, "HF_HOME", "HF_HUB_CACHE", "HF_DATASETS_CACHE", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    for name in (*rules._PROXIES, "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "PROCTOR_ALLOW"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(rules, "accelerators", list)
    monkeypatch.setattr(effects, "_granted", set())
    monkeypatch.chdir(tmp_path / "work")
    with settings.context(cache_dir=tmp_path / "cache"):
        yield tmp_path


def found(home, *words, **needs):
    return rules_for(words, str(home / "scratch"), Needs(**needs))


def test_the_hubs_can_be_asked_and_nobody_else(home):
    plain = found(home)
    assert (plain.ports, plain.hosts, plain.files, plain.trusts) == ((443, 80, 53), frozenset(), (), False)


def test_ports_and_hosts_of_proxies_of_another_hub_of_permissions_and_of_databases(home, monkeypatch):
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("HTTP_PROXY", "proxy.example:81")  # no address: nobody is asked there
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example")
    effects.grant("net:node.example:8000-8002", "net:api.example")
    asked = found(home, databases=("db.example:5432",))
    assert {*asked.ports} == {443, 80, 53, 3128, 8000, 8001, 8002, 5432}
    assert asked.hosts == {"proxy.example", "hub.example", "db.example"}
    assert str(home / ".pgpass") in asked.readable
    assert str(home / ".pgpass") not in found(home).readable


def test_what_the_user_typed_is_read_and_its_folder_shown(home):
    (home / "elsewhere" / "a.yaml").touch()
    (home / "elsewhere" / "deep").mkdir()
    read = found(home, "run", f"--model-args=path={home}/elsewhere/deep,x=1", "~/elsewhere/a.yaml::leaf", "", "\0")
    assert {str(home / "work"), str(home / "elsewhere" / "deep"), str(home / "elsewhere")} == {*read.shown}
    assert str(home / "elsewhere" / "a.yaml") in read.readable
    assert str(home / "elsewhere" / "deep") not in read.readable


def test_what_is_written_is_what_the_command_needs_and_the_user_allows(home):
    effects.grant(f"write:{home}/allowed", f"read:{home}/looked-at")
    written = found(home, folders=(home / "out",), files=(home / "one.xml",))
    mine = {Path(each).relative_to(home).as_posix() for each in written.writable if each.startswith(str(home))}
    assert {"scratch", "out", "allowed", "cache/exams", ".cache/huggingface/hub", ".cache/matplotlib"} <= mine
    assert not mine & {"looked-at", "one.xml", "cache", "cache/state", ".cache/other", "nltk_data"}
    assert written.files == (str(home / "one.xml"),)
    assert str(home / "looked-at") in written.readable
    assert not {os.sep, str(home)} & {*written.readable, *written.writable}


def test_of_the_cache_what_other_versions_made_is_written_and_what_no_exam_may_write_is_not(home):
    for name in ("state", "packages", "older"):
        (home / "cache" / name).mkdir()
    (home / "cache" / "file").touch()
    (home / "cache" / "link").symlink_to(home / "elsewhere")
    written = {Path(each).name for each in found(home).writable if Path(each).parent == home / "cache"}
    assert written == {*rules._OF_CACHE, "older"}


def test_trusted_code_reads_everything_and_fills_the_caches_of_other_programs(home, monkeypatch):
    trusted = found(home, trusts=True)
    assert (trusted.trusts, trusted.readable[-1]) == (True, os.sep)
    assert {str(home / ".cache" / "other"), str(home / "nltk_data")} <= {*trusted.writable}
    assert str(home / "elsewhere") not in trusted.writable
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    elsewhere = found(home, trusts=True).writable
    assert str(home / "elsewhere") in elsewhere
    assert str(home / "cache") not in elsewhere


def test_where_there_is_an_accelerator_its_device_is_opened_and_what_is_compiled_is_kept(home, monkeypatch):
    monkeypatch.setattr(rules, "accelerators", lambda: ["/dev/nvidia0"])
    monkeypatch.setenv("TRITON_CACHE_DIR", str(home / "kernels"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "settings"))
    writable = found(home).writable
    assert {"/dev/nvidia0", str(home / "kernels"), str(home / ".triton"), str(home / "settings" / "vllm")} <= {
        *writable
    }
    assert "/sys/bus" in found(home).readable
    assert (home / "kernels").is_dir()


def test_caches_of_the_hubs_lie_where_variables_say(home, monkeypatch):
    def hubs():
        return {each.relative_to(home).as_posix() for each in rules._hub_caches() if each.is_relative_to(home)}

    monkeypatch.setitem(sys.modules, "datasets.config", None)
    assert hubs() == {f".cache/huggingface/{each}" for each in rules._HUB_FOLDERS}
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "xdg"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(home / "own"))
    loaded = ModuleType("datasets.config")
    loaded.HF_DATASETS_CACHE = home / "loaded"
    monkeypatch.setitem(sys.modules, "datasets.config", loaded)
    assert hubs() == {*(f"xdg/huggingface/{each}" for each in rules._HUB_FOLDERS), "own", "loaded"}
    monkeypatch.setenv("HF_HOME", str(home / "hf"))
    assert {f"hf/{each}" for each in rules._HUB_FOLDERS} < hubs()


def test_certificates_and_working_copies_of_packages_are_read(home, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(home / "certificates.pem"))
    editable = ModuleType("__editable___mine_finder")
    editable.MAPPING = {"mine": str(home / "elsewhere" / "mine")}
    monkeypatch.setitem(sys.modules, editable.__name__, editable)
    assert {str(home / "certificates.pem"), str(home / "elsewhere")} <= {*found(home).readable}


def test_packages_are_read_from_every_search_path_but_the_home_and_the_working_folder(home, monkeypatch):
    monkeypatch.setattr(sys, "path", ["", str(home), str(home / "work"), str(home / "elsewhere")])
    installed = [*rules.installed()]
    assert str(home / "elsewhere") in installed
    assert not {"", str(home), str(home / "work")} & {*installed}
    assert {sys.prefix, sys.base_prefix, str(Path(os.__file__).parent)} <= {*installed}


def test_links_are_followed_where_they_are_named(home):
    (home / "link").symlink_to(home / "elsewhere")
    named = [home / "link", home / "link" / "x", home / "elsewhere", "~/work", os.sep]
    assert rules._real(named) == tuple(str(home / each) for each in ("elsewhere", "elsewhere/x", "work"))


def test_folders_that_the_user_named_are_read_without_credentials(home):
    hub = home / "hub"
    (hub / "real").mkdir(parents=True)
    (hub / "real" / "inner").symlink_to(home / "elsewhere")
    (hub / "linked").symlink_to(home / "work")
    for name in ("token", "key", "state", "responses.db-wal", "rows.csv"):
        (hub / name).touch()
    read = {*rules._entries_of(hub)}
    assert read == {str(hub / each) for each in ("real", "real/inner", "linked", "rows.csv")}
    with settings.context(hub_dir=str(hub)):
        assert str(hub / "rows.csv") in found(home).readable


@pytest.mark.parametrize("hidden, most, whole", [(True, 3, False), (True, 2, True), (False, 3, True)])
def test_entries_of_a_shown_folder(home, monkeypatch, hidden, most, whole):
    folder = home / "elsewhere"
    for name in ("a", "b", *([".env"] if hidden else [])):
        (folder / name).touch()
    (folder / "link").symlink_to(home)
    monkeypatch.setattr(rules, "_MOST_ENTRIES", most)
    entries = sorted(Rules((), (str(folder), str(home / "missing")), ()).entries())
    assert entries == ([str(folder)] if whole else [str(folder / "a"), str(folder / "b")])
