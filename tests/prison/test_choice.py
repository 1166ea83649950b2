"""Which prison is taken, and with which command each kind starts a prisoner; nobody is started."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from proctor.errors import SettingsError, TrustError
from proctor.prison import choice, prisons
from proctor.prison.choice import Finding, available, chosen, examined, is_choice
from proctor.prison.inside import kernel, seccomp
from proctor.prison.limits import Limits
from proctor.prison.prisons import KINDS, Docker, NoPrison
from proctor.prison.trial import Outcome, PrisonError
from proctor.settings import settings

LIMITS = Limits(seconds=3.0, memory_bytes=1000, file_bytes=100, disk_bytes=500)


@pytest.fixture
def works(monkeypatch):
    """Say which kinds work."""

    def say(*names):
        monkeypatch.setattr(choice, "examined", lambda name: Finding(name, name in names, "", f"no {name}"))

    return say


@pytest.mark.parametrize(
    "there, taken", [(("landlock", "bubblewrap", "namespaces"), "bubblewrap"), (("landlock", "namespaces"), "namespaces"),
                     (("landlock", "docker"), "landlock")]
)  # fmt: skip
def test_auto_takes_the_strongest_that_works(works, there, taken):
    works(*there)
    for setting in ("auto", ""):
        with settings.context(sandbox=setting):
            assert chosen().name == taken


@pytest.mark.parametrize(
    "setting, trusted, error, told",
    [
        ("auto", True, TrustError, "bubblewrap: no bubblewrap; namespaces: no namespaces; landlock: no landlock"),
        ("bubblewrap", False, TrustError, "the sandbox 'bubblewrap' does not work here(.|\n)*no bubblewrap"),
        ("bubblewrp", False, SettingsError, "there is no sandbox 'bubblewrp'(.|\n)*did you mean 'bubblewrap'"),
        ("docker:", False, SettingsError, "there is no sandbox 'docker:'"),
        ("landlock:x", False, SettingsError, "there is no sandbox 'landlock:x'"),
        ("none", False, TrustError, "without a prison(.|\n)*--trust-code"),
        ("docker:own", True, TrustError, "the sandbox 'docker' does not work here(.|\n)*neither docker nor podman"),
    ],
)
def test_what_cannot_be_taken_is_said(works, monkeypatch, setting, trusted, error, told):
    works()
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with settings.context(sandbox=setting, trust_code=trusted), pytest.raises(error, match=told):
        chosen()


def test_what_the_user_names_is_taken(works, monkeypatch):
    works("landlock", "bubblewrap", "docker")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    for setting in ("landlock", "docker"):
        with settings.context(sandbox=setting):
            assert chosen().name == setting
    with settings.context(sandbox="docker:own/image:3"):
        assert chosen().image == "own/image:3"
    with settings.context(sandbox="none", trust_code=True):
        assert isinstance(chosen(), NoPrison)
    assert [is_choice(each) for each in ("auto", "none", "docker", "docker:x", "docker:", "x:y", "")] == [True] * 4 + [
        False
    ] * 3
    assert [each.name for each in available()] == [*KINDS]


@pytest.mark.parametrize(
    "outcome, reason",
    [
        (Outcome("pass"), ""),
        (Outcome("wrong_answer", "['secret']"), "a program got out of it: ['secret']"),
        (Outcome("timeout"), "a program got out of it: timeout"),
        (PrisonError("no namespaces"), "no namespaces"),
    ],
)
def test_a_kind_is_tried_by_a_program_that_tries_to_get_out(monkeypatch, outcome, reason):
    asked = []

    class Court:
        def __init__(self, prison, limits):
            self.prison = prison

        def outcome(self, trial):
            asked.append((self.prison.name, trial))
            if isinstance(outcome, PrisonError):
                raise outcome
            return outcome

        def close(self):
            asked.append("closed")

    monkeypatch.setattr(choice, "Court", Court)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    found = examined.__wrapped__("bubblewrap")
    assert (found.works, found.reason, found.what) == (not reason, reason, KINDS["bubblewrap"].what)
    (name, trial), closed = asked
    assert (name, closed, trial.limits.seconds, trial.tests) == (
        "bubblewrap",
        "closed",
        10.0,
        "assert escapes() == [], escapes()",
    )
    assert f"/proc/{os.getpid()}/environ" in trial.source
    assert examined.__wrapped__("none") == Finding("none", works=True, what=NoPrison.what)
    assert len(asked) == 2
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert examined.__wrapped__("bubblewrap").reason == "bubblewrap is not installed"


# -- commands ----------------------------------------------------------------------------------------------------------


def config_of(start):
    return json.loads(start.command[-1])


@pytest.fixture
def start(monkeypatch, tmp_path):
    """Start a prisoner of a kind; whatever folders it needs lie in a folder of the test."""
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    monkeypatch.setattr(prisons, "compile_inside", lambda: None)
    monkeypatch.setattr(prisons, "_empty_folder", lambda: str(tmp_path))
    monkeypatch.setattr(prisons.tempfile, "mkdtemp", lambda prefix: str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    return lambda name, role="candidate": KINDS[name]().start(role, LIMITS)


@pytest.mark.parametrize("role", ["candidate", "judge", "together"])
@pytest.mark.parametrize("name", KINDS)
def test_every_kind_tells_the_prisoner_its_part_and_limits(start, tmp_path, name, role):
    started = start(name, role)
    config = config_of(started)
    given = {"walls": name, "role": role, "seconds": 3.0, "memory_bytes": 1000, "file_bytes": 100, "disk_bytes": 500}
    assert {key: config[key] for key in given} == given
    assert config["starting"] is (role == "judge")
    assert config["processes"] == (256 if name in ("bubblewrap", "namespaces") else 0)
    own = str(tmp_path) if name in ("landlock", "none") else ""
    assert (started.folder, config["work"]) == (own, own or "/proctor-work")
    assert config["folder"] == (str(tmp_path) if name == "namespaces" else "")
    assert {"-I", "-S", "-B"} < {*started.command}
    assert "OPENAI_API_KEY" not in started.environment


def test_landlock_lets_a_program_write_its_own_folder_alone(start, tmp_path):
    config = config_of(start("landlock"))
    assert config["writable"] == [str(tmp_path), "/dev/null"]
    assert {*prisons.DEVICES, *prisons.places().readable} == {*config["readable"]}


def test_bubblewrap_shows_libraries_and_nothing_that_can_be_written(start):
    command = start("bubblewrap").command
    own = command[: command.index("--chdir") + 2]
    assert own[0] == "/usr/bin/bwrap"
    assert {"--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--clearenv"} < {*own}
    pairs = list(zip(own, own[1:], own[2:], strict=False))
    assert [path for option, path, _ in pairs if option == "--dev-bind"] == list(prisons.DEVICES)
    bound = {path for option, path, same in pairs if option == "--ro-bind" and path == same}
    linked = {path for option, _, path in pairs if option == "--symlink"}
    assert bound | linked == {*prisons.places().readable}
    assert all(Path(each).is_symlink() for each in linked)
    assert "--bind" not in own
    assert [size for option, size, _ in pairs if option == "--size"] == ["500", "500"]
    assert own.index("--remount-ro") > own.index("--dev-bind")


def test_a_container_is_named_limited_and_ended(start, monkeypatch):
    monkeypatch.setenv("DOCKER_HOST", "tcp://x")
    started = start("docker")
    command = " ".join(started.command[:-1])
    for option in (
        "--network none",
        "--read-only",
        "--cap-drop ALL",
        "--memory 1000",
        "--pids-limit 256",
        "--pull=never",
    ):
        assert option in command
    assert command.count("size=500") == 2
    assert command.count("--env ") == 3
    name = started.command[started.command.index("--name") + 1]
    assert started.stop == ("/usr/bin/docker", "rm", "--force", name)
    assert name != start("docker").stop[-1]
    assert (started.environment["DOCKER_HOST"], "OPENAI_API_KEY" in started.environment) == ("tcp://x", False)
    assert (config_of(started)["inside"], config_of(started)["site"]) == ("/proctor", [])
    monkeypatch.setattr(shutil, "which", lambda name: "/usr/bin/podman" if name == "podman" else None)
    assert (Docker().missing(), start("docker").command[0]) == ("", "/usr/bin/podman")


def test_what_a_kind_misses(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert [KINDS[each]().missing() for each in ("bubblewrap", "docker", "none")] == [
        "bubblewrap is not installed", "neither docker nor podman is installed", "",
    ]  # fmt: skip
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(kernel, "landlock_version", lambda: 0)
    assert (KINDS["namespaces"]().missing(), KINDS["landlock"]().missing()) == ("", "the kernel has no landlock")
    monkeypatch.setattr(kernel, "landlock_version", lambda: 1)
    for known, told in ((True, ""), (False, "system calls of")):
        monkeypatch.setattr(seccomp, "is_known_machine", lambda known=known: known)
        assert KINDS["landlock"]().missing().startswith(told)
        assert bool(KINDS["landlock"]().missing()) is not known
    monkeypatch.setattr(sys, "platform", "darwin")
    assert [KINDS[each]().missing() for each in ("namespaces", "landlock")] == ["darwin has none; Linux has"] * 2


def test_paths_below_others_are_left_out_and_links_are_kept(tmp_path):
    (tmp_path / "lib" / "deep").mkdir(parents=True)
    (tmp_path / "lib64").symlink_to(tmp_path / "lib")
    (tmp_path / "library").mkdir()
    (tmp_path / "lib" / "link").symlink_to(tmp_path / "library")
    names = ["lib/deep", "lib", "lib64", "lib64/deep", "library", "missing", "lib/link", "lib"]
    kept = prisons._without_inner([str(tmp_path / each) for each in names])
    assert kept == tuple(str(tmp_path / each) for each in ("lib", "lib/link", "lib64", "lib64/deep", "library"))
    assert (prisons._libraries_of("/usr"), prisons._libraries_of("/"), prisons._libraries_of("/opt/py")) == (
        [],
        [],
        ["/opt/py/lib"],
    )


def test_what_runs_inside_is_compiled_without_a_word(monkeypatch):
    told = []
    monkeypatch.setattr(prisons.compileall, "compile_dir", lambda *given, **named: told.append((given, named)))
    prisons.compile_inside.__wrapped__()
    assert told == [((prisons.INSIDE / "inside",), {"quiet": 2})]
    assert (prisons.INSIDE / "inside" / "warden.py").is_file()


def test_the_folder_of_a_new_root_is_removed_by_the_process_that_made_it(monkeypatch, tmp_path):
    import atexit
    import tempfile

    removals = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(atexit, "register", removals.append)
    folder = Path(prisons._empty_folder.__wrapped__())
    assert (folder.parent, folder.name.startswith("proctor-prison-"), [*folder.iterdir()]) == (tmp_path, True, [])
    (folder / "left").touch()
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: -1)
        removals[0]()
    assert folder.is_dir()
    removals[0]()
    assert not folder.exists()
    removals[0]()


def test_packages_and_the_interpreter_are_readable(monkeypatch, tmp_path):
    for name in ("pure", "real"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    paths = {"purelib": "pure", "platlib": "none", "stdlib": "link", "platstdlib": "link"}
    monkeypatch.setattr(
        prisons.sysconfig, "get_paths", lambda: {name: str(tmp_path / path) for name, path in paths.items()}
    )
    found = prisons.places.__wrapped__()
    assert found.site == (str(tmp_path / "pure"),)
    wanted = {str(tmp_path / each) for each in ("pure", "link", "real")} | {
        found.python,
        str(prisons.INSIDE / "inside"),
    }
    assert {
        each for each in wanted if not any(each == path or each.startswith(f"{path}/") for path in found.readable)
    } == set()
    assert found.python == os.path.realpath(sys.executable)
