"""What lies behind the wall is refused by the kernel, with the gate or without, and by the watch where there is none."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tests_warm
from tests_commands import proctor

from proctor import wall
from proctor.prison.inside import kernel
from proctor.settings import settings
from proctor.wall import raising, rules, rules_for, what_can_stand

sys.path.insert(0, str(Path(__file__).parent))
import strangers

HAS_KERNEL = what_can_stand().files and what_can_stand().programs
only_with_a_kernel = pytest.mark.skipif(not HAS_KERNEL, reason="this kernel has no landlock")

PROBE = """
import ctypes, os, socket, sqlite3, subprocess, sys
from pathlib import Path
away, work = Path(sys.argv[1]), Path(sys.argv[2])
from proctor.prison.inside import kernel
from proctor.wall import raise_wall
if sys.argv[3] == "watch":
    kernel.landlock_version = lambda: 0
    from proctor.prison.inside import seccomp
    seccomp.is_known_machine = lambda: False
os.chdir(work)
print(raise_wall(["show", "exam.yaml"]))
libc = ctypes.CDLL(None, use_errno=True)

def c(result):
    if result < 0:
        raise PermissionError(ctypes.get_errno(), "in C")

def connect(host, port):
    with socket.socket() as s:
        s.settimeout(2)
        s.connect((host, port))

def c_connect(port):
    address = (2).to_bytes(2, sys.byteorder) + port.to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
    c(libc.connect(libc.socket(2, 1, 0), address, 16))

python = {
    "read": lambda: (away / "s.txt").read_text(),
    "read hidden": lambda: Path(".env").read_text(),
    "read through a link": lambda: Path("link/s.txt").read_text(),
    "read a linked file": lambda: Path("linked").read_text(),
    "read users": lambda: Path("/etc/passwd").read_text(),
    "read another process": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
    "write": lambda: (away / "new").write_text("x"),
    "write here": lambda: Path("new").write_text("x"),
    "open a database": lambda: sqlite3.connect(away / "new.db"),
    "open a linked database": lambda: sqlite3.connect(f"file:{work}/link/new.db?mode=rwc", uri=True),
    "replace": lambda: Path("exam.yaml").rename(away / "x"),
    "remove": lambda: (away / "s.txt").unlink(),
    "make a link": lambda: (away / "link").symlink_to("/"),
    "make a folder": lambda: (away / "d").mkdir(),
    "start": lambda: subprocess.run(["true"]),
    "start by a shell": lambda: os.system("true"),
    "ask": lambda: connect("127.0.0.1", int(sys.argv[4])),
    "ask by name": lambda: socket.create_connection(("evil.example", 443)),
    "send": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 9)),
    "ask at the hub's port": lambda: connect("127.0.0.1", 443),
}
beneath = {
    "read in C": lambda: c(libc.open(bytes(away / "s.txt"), 0)),
    "read hidden in C": lambda: c(libc.open(b".env", 0)),
    "read through a link in C": lambda: c(libc.open(b"link/s.txt", 0)),
    "read another process in C": lambda: c(libc.open(f"/proc/{os.getppid()}/environ".encode(), 0)),
    "write in C": lambda: c(libc.open(bytes(away / "new"), os.O_WRONLY | os.O_CREAT, 0o600)),
    "write here in C": lambda: c(libc.open(b"new", os.O_WRONLY | os.O_CREAT, 0o600)),
    "remove in C": lambda: c(libc.unlink(bytes(away / "s.txt"))),
    "start in C": lambda: c(-1 if libc.system(b"true") else 0),
    "ask in C": lambda: c_connect(int(sys.argv[4])),
}
for name, attempt in {**python, **(beneath if sys.argv[3] == "kernel" else {})}.items():
    try:
        attempt()
    except PermissionError as error:
        print("held", name, "|", error)
    except OSError as error:
        print("HOLE", name, error)
    else:
        print("HOLE", name)
Path("exam.yaml").read_text()
Path("rows/deep.csv").read_text()
import json, sqlite3, tempfile
with tempfile.TemporaryDirectory() as folder:
    Path(folder, "x").write_text("fine")
if os.fork() == 0:
    try:
        (away / "s.txt").read_text()
        print("HOLE in a child")
    except PermissionError:
        print("held in a child |  --allow read:")
    sys.stdout.flush()
    os._exit(0)
os.wait()
print("done")
"""


@pytest.fixture
def work(tmp_path):
    """An exam's folder with something hidden and links out of it."""
    folder = tmp_path / "work"
    (folder / "rows").mkdir(parents=True)
    (folder / "rows" / "deep.csv").write_text("a,b\n")
    (folder / "exam.yaml").write_text("task: t\n")
    (folder / ".env").write_text("KEY=1")
    return folder


@pytest.mark.parametrize("kind", ["watch", pytest.param("kernel", marks=only_with_a_kernel)])
def test_whatever_is_tried_is_held_and_told_with_what_allows_it(work, kind):
    with strangers.canaries() as where:
        (work / "link").symlink_to(where.folder)
        (work / "linked").symlink_to(where.folder / "s.txt")
        before = where.state()
        arguments = [str(where.folder), str(work), kind, where.address.rpartition(":")[2]]
        environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
        done = subprocess.run(
            [sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=False, env=environment
        )
        assert done.stdout.endswith("done\n"), done.stdout + done.stderr
        assert where.state() == before
    lines = done.stdout.splitlines()
    assert [each for each in lines if each.startswith("HOLE")] == []
    held = [each for each in lines if each.startswith("held")]
    assert len(held) == (21 if kind == "watch" else 30)
    assert all(("--no-wall" if " start" in each else "--allow ") in each for each in held if "in C" not in each)
    says = "the kernel holds files, ports, programs; a watch over Python" if kind == "kernel" else "no landlock"
    assert says in lines[0]
    assert not (work / "new").exists()


def test_rules_leave_out_what_is_hidden_links_and_tokens(work, tmp_path, monkeypatch):
    home = tmp_path / "hf"
    (home / "hub").mkdir(parents=True)
    (home / "token").write_text("hf_secret")
    (work / "link").symlink_to("/etc")
    monkeypatch.setenv("HF_HOME", str(home))
    monkeypatch.chdir(work)
    with settings.context(cache_dir=tmp_path / "cache"):
        found = rules_for(["show", "exam.yaml", "--model-args", f"pretrained={tmp_path}"], str(tmp_path / "scratch"))
    assert {Path(each).name for each in found.entries()} >= {"exam.yaml", "rows"}
    allowed = {*found.entries(), *found.readable, *found.writable}
    assert not allowed & {str(work / ".env"), "/etc", str(home / "token"), str(home), "/", str(Path.home())}
    assert str(tmp_path) in found.shown
    assert str(home / "hub") in found.writable
    assert str(tmp_path / "cache" / "state") not in found.writable


@pytest.mark.parametrize("words", [["--model", "vllm"], ["--model=vllm"], ["-m", "vllm/org/model"], ["-mvllm"]])
def test_vllm_looks_at_devices_and_keeps_what_it_compiles_and_sees_no_other_process(words, tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "accelerators", list)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = rules_for(["run", "exam.yaml", *words], str(tmp_path / "scratch"))
    assert "/sys/bus" in found.readable
    assert "/proc" not in found.readable
    assert str(tmp_path / "cache" / "vllm") in found.writable


@pytest.mark.parametrize("words", [["--model", "hf"], ["-o", "runs/vllm"], ["--model-args", "model=/models/vllm/x"]])
def test_other_engines_do_not(words, tmp_path, monkeypatch):
    monkeypatch.setattr(rules, "accelerators", list)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = rules_for(["run", "exam.yaml", *words], str(tmp_path / "scratch"))
    assert "/sys/bus" not in found.readable
    assert str(tmp_path / "cache" / "vllm") not in found.writable


def test_a_token_of_the_hub_is_taken_before_the_wall(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    (tmp_path / "token").write_text("hf_secret\n")
    raising._take_token()
    assert os.environ.pop("HF_TOKEN") == "hf_secret"


@pytest.mark.parametrize("answer, says", [(0, "no landlock"), (3, "")])
def test_what_can_stand_is_what_the_kernel_says(monkeypatch, answer, says):
    monkeypatch.setattr(kernel, "landlock_version", lambda: answer)
    found = what_can_stand()
    assert (found.files, found.ports) == (answer > 0, False)
    assert says in found.why_not
    assert wall.standing() is None


def program(*words, cwd):
    """Run the program in a process of its own: only there the wall is raised."""
    return tests_warm.python("-m", "proctor", *words, cwd=cwd)


def test_a_command_looks_behind_the_wall_and_without_it_where_the_user_says_so(tmp_path):
    away = tmp_path / "away"
    away.mkdir()
    (away / "rows.jsonl").write_text(json.dumps({"q": "mine", "a": "b"}) + "\n")
    work = tmp_path / "work"
    work.mkdir()
    (work / "rows.jsonl").symlink_to(away / "rows.jsonl")
    text = "task: t\ntest_split: test\noutput_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"
    text += "metric_list: [{metric: exact_match}]\n"
    source = "dataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\n"
    (work / "t.yaml").write_text(text + source)
    refused = program("show", "t.yaml", cwd=work)
    assert refused.returncode == 2
    assert f"--allow read:{away / 'rows.jsonl'}" in refused.stderr
    for more in ((), ("--no-wall",)):
        shown = program("show", "t.yaml", "--allow", f"read:{away}", *more, cwd=work)
        assert shown.returncode == 0, shown.stderr
        assert "mine" in shown.stdout
        assert program("show", "t.yaml", cwd=work).returncode == 0  # it is remembered, outside of the wall
    assert program("validate", "t.yaml", cwd=work).returncode == 0
    assert program("ls", "samples*", cwd=work).returncode == 0


@only_with_a_kernel
def test_doctor_says_which_wall_this_machine_has():
    said = json.loads(proctor("doctor", "--json").stdout)["wall"]
    assert said["stands"] == "the kernel holds files, ports, programs; a watch over Python"
    assert "behind the wall" in said["what"]


@pytest.mark.parametrize("gate", [True, False])
@only_with_a_kernel
def test_strangers_folders_do_nothing_behind_the_wall(gate):
    assert strangers.effects_of(range(100, 114), gate=gate) == []


@pytest.mark.slow
def test_without_gate_and_wall_strangers_folders_do_a_lot():
    assert len(strangers.effects_of(range(500, 535), gate=False, wall=False)) >= 3
