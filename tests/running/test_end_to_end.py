"""The program against a real server: killed, stopped and started again, it asks nothing twice and ends the same."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tests_warm

from proctor.testing import FaultServer

CONCURRENCY = 4


def command(url: str, folder: Path) -> list[str]:
    arguments = f"model=m,base_url={url},max_concurrency={CONCURRENCY}"
    return [
        *(sys.executable, "-m", "proctor.cli", "run", "--model", "openai", "--model-args", arguments),
        *("--tasks", "samples.sentiment,samples.arithmetic", "--allow-failures"),
        *("--log", str(folder / "log.db"), "--output", str(folder / "out")),
    ]


def contents(folder: Path) -> tuple[dict, list[dict]]:
    """Results and samples without timing, which is that of the answers in this log, and the server's address."""
    results = json.loads((folder / "out" / "results.json").read_text())["results"]
    for entry in results.values():
        entry.get("fingerprint", {}).pop("engine", None)
    samples = [json.loads(line) for line in (folder / "out" / "samples.jsonl").read_text().splitlines()]
    for sample in samples:
        del sample["timing"]
    return results, samples


def finish(url: str, folder: Path) -> None:
    done = tests_warm.python(*command(url, folder)[1:])
    assert done.returncode == 0, done.stderr


def stop_after(requests: int, server: FaultServer, folder: Path, how: signal.Signals) -> subprocess.Popen:
    """Start the program and stop it once the server has been asked so many requests."""
    process = subprocess.Popen(command(server.url, folder), stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 120
    while server.statistics()["requests"] < requests and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(how)
    return process


@pytest.mark.slow
def test_a_killed_and_a_stopped_run_go_on_where_they_were(tmp_path):
    with FaultServer() as server:
        finish(server.url, tmp_path / "calm")
        count = server.statistics()["requests"]
    with FaultServer(latency_seconds=0.02) as server:
        port = server.port
        for requests in (count // 5, count // 2):
            process = stop_after(requests, server, tmp_path / "torn", signal.SIGKILL)
            process.communicate(timeout=60)
            assert process.returncode == -signal.SIGKILL
        process = stop_after(count * 3 // 4, server, tmp_path / "torn", signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 130
        assert f"proctor run {tmp_path / 'torn' / 'out' / 'run.yaml'}" in errors
        again = ["-m", "proctor.cli", "run", tmp_path / "torn" / "out" / "run.yaml"]
        done = tests_warm.python(*again, "--log", tmp_path / "torn" / "log.db", "--allow-failures")
        assert done.returncode == 0, done.stderr
        # A kill costs what was on its way: requests in flight, and answers of the last milliseconds.
        assert server.statistics()["requests"] <= count + 2 * 4 * CONCURRENCY + CONCURRENCY
        before = server.statistics()["requests"]
        (tmp_path / "torn" / "out" / "results.json").unlink()
        finish(f"http://127.0.0.1:{port}/v1", tmp_path / "torn")
        assert server.statistics()["requests"] == before
    calm, torn = contents(tmp_path / "calm"), contents(tmp_path / "torn")
    assert torn[0] == calm[0]
    assert torn[1] == calm[1]
