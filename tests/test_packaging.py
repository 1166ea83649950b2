"""The wheel, as people install it: into an empty environment, by pip, uv and pipx.

One test builds the wheel and installs it alone, with the dependencies of the running environment beside it. With
``PROCTOR_TEST_INSTALL=1`` each installer fetches all dependencies from the ordinary index, as the workflows do; with
``PROCTOR_TEST_WHEELS=FOLDER`` the wheel is not built but taken from there.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXAM = (
    "run",
    "--quiet",
    "--model",
    "scripted",
    "--model-args",
    "answer=positive",
    "--tasks",
    "samples.sentiment",
    "-L",
    "4",
)
NO_NETWORK = re.compile(
    "No matching distribution|Could not find a version|ConnectionError|Temporary failure|Name or service not known|"
    "Failed to (?:fetch|resolve)|dns error|Network is unreachable"
)


def plain_environment(**more):
    """The environment without what points at this checkout."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")
    return {name: value for name, value in os.environ.items() if name not in hidden} | more


def done(*command, **more):
    """Run a program; a test that needs the network is skipped where there is none."""
    named = {"env": plain_environment(), "timeout": 900} | more
    found = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, **named)
    if found.returncode and NO_NETWORK.search(found.stdout + found.stderr):
        pytest.skip(f"the package index cannot be reached: {(found.stderr or found.stdout).strip().splitlines()[-1]}")
    assert found.returncode == 0, found.stdout[-2000:] + found.stderr[-3000:]
    return found.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if given := os.environ.get("PROCTOR_TEST_WHEELS"):
        return next(Path(given).resolve().glob("proctor-*.whl"))
    folder = tmp_path_factory.mktemp("wheel")
    done(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT)
    return next(folder.glob("proctor-*.whl"))


def sits_an_exam(program, folder):
    """Let the installed program sit an exam that comes with it."""
    folder.mkdir(exist_ok=True)
    environment = plain_environment(PROCTOR_CACHE_DIR=str(folder / "cache"), XDG_DATA_HOME=str(folder / "data"))
    assert re.fullmatch(r"proctor \d+\.\d+\S*\n", done(program, "--version", cwd=folder, env=environment))
    assert "samples.sentiment" in done(program, *EXAM, cwd=folder, env=environment)


@pytest.mark.slow
def test_the_wheel_alone_has_everything_that_runs(wheel, tmp_path):
    done(sys.executable, "-m", "venv", "--without-pip", tmp_path / "empty")
    python = tmp_path / "empty" / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile")
    done(*pip, "--no-deps", "--no-index", wheel)
    place = Path(done(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    (place / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    where = done(python, "-c", "import proctor; print(proctor.__file__)", cwd=tmp_path).strip()
    assert Path(where).is_relative_to(place)
    sits_an_exam(python.with_name("proctor"), tmp_path / "work")


@pytest.mark.slow
def test_the_wheel_holds_what_it_should_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert "proctor/py.typed" in names
    assert "proctor/web/pages/runs.html" in names
    assert "proctor/engines/http/providers.json" in names
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"proctor"}
    assert not [name for name in names if name.endswith((".pyc", ".orig"))]
    metadata = next(name for name in names if name.endswith("METADATA"))
    text = zipfile.ZipFile(wheel).read(metadata).decode()
    assert len(re.findall(r"^Requires-Dist: [^;\n]*$", text, re.MULTILINE)) == len(PROJECT["dependencies"])


@pytest.mark.slow
@pytest.mark.skipif(
    not os.environ.get("PROCTOR_TEST_INSTALL"), reason="PROCTOR_TEST_INSTALL=1 fetches all dependencies"
)
@pytest.mark.parametrize("installer", ["pip", "uv", "pipx"])
def test_installers_make_a_program_that_works(wheel, tmp_path, installer):
    if installer == "pip":
        done(sys.executable, "-m", "venv", tmp_path / "empty")
        program = tmp_path / "empty" / "bin" / "proctor"
        done(program.with_name("python"), "-m", "pip", "install", "--quiet", wheel)
    else:
        tool = shutil.which(installer) or shutil.which(installer, path=str(Path(sys.executable).parent))
        if tool is None:
            pytest.skip(f"{installer} is not installed")
        program = tmp_path / "bin" / "proctor"
        places = {"UV_TOOL_DIR": tmp_path / "tools", "UV_TOOL_BIN_DIR": program.parent}
        places |= {"PIPX_HOME": tmp_path / "pipx", "PIPX_BIN_DIR": program.parent}
        words = ("tool", "install", "--python", sys.executable) if installer == "uv" else ("install",)
        done(tool, *words, wheel, env=plain_environment(**{name: str(path) for name, path in places.items()}))
    sits_an_exam(program, tmp_path / "work")


def test_every_python_that_is_named_is_tried_by_the_workflows():
    named = [name.rpartition(":: ")[2] for name in PROJECT["classifiers"] if ":: 3." in name]
    assert tuple(named) == PYTHONS
    assert "Typing :: Typed" in PROJECT["classifiers"]
    assert (ROOT / "src" / "proctor" / "py.typed").is_file()
    for path in WORKFLOWS:
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        assert tuple(jobs["install"]["strategy"]["matrix"]["python"]) == PYTHONS


def test_a_release_is_a_tag_and_is_published_only_after_it_was_installed():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    release = yaml.safe_load(text)
    assert release[True] == {"push": {"tags": ["v*"]}}  # YAML takes `on` for a truth
    assert release["jobs"]["install"]["needs"] == "build"
    assert release["jobs"]["publish"]["needs"] == "install"
    assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
    assert PROJECT["dynamic"] == ["version"]


def test_a_checkout_without_git_has_a_version():
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+", tool["fallback-version"])
