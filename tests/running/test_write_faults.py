"""The N-th write fails, for every N: one clear error, nothing lost, and running again completes the run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
COMPILER = shutil.which("cc") or shutil.which("gcc")


@pytest.fixture(scope="module")
def failing_writes(tmp_path_factory) -> Path:
    if COMPILER is None or sys.platform != "linux":
        pytest.skip("failing writes need Linux and a C compiler")
    library = tmp_path_factory.mktemp("library") / "failing_writes.so"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", library, HERE / "failing_writes.c", "-ldl"], check=True)
    return library


def sweep(library: Path, folder: Path, *arguments: str) -> dict:
    command = [sys.executable, str(HERE / "write_faults.py"), "--folder", str(folder), *arguments]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_log_s_disk_fills_up_at_any_write(failing_writes, memory_folder):
    report = sweep(failing_writes, memory_folder, "--path", "log.db")
    assert report["problems"] == []
    assert report["writes"] > 30
    assert report["endings"]["log error"] > 30
    assert any("the disk is full" in message for message in report["messages"])


@pytest.mark.slow
def test_any_single_write_of_the_log_fails(failing_writes, memory_folder):
    report = sweep(failing_writes, memory_folder, "--path", "log.db", "--once")
    assert report["problems"] == []
    assert report["endings"]["log error"] > 20


def test_the_run_folder_s_disk_fills_up_at_any_write(failing_writes, memory_folder):
    report = sweep(failing_writes, memory_folder, "--path", "/out/")
    assert report["problems"] == []
    assert report["endings"]["output error"] > 3
    assert all("are in the response log" in message for message in report["messages"])
