import os
import re
import signal
import socket
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from proctor.cli.__main__ import main


@pytest.fixture
def served(runs):
    """Start `proctor view` with some arguments; returns the process and the address that it prints."""
    processes = []

    def start(*arguments):
        command = [sys.executable, "-m", "proctor", "view", "--no-open", "--port", "0", *map(str, arguments)]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        processes.append(process)
        return process, process.stderr.readline().strip()

    yield start
    for process in processes:
        process.kill()
        process.communicate(timeout=10)


def test_the_app_starts_serves_and_ends_quietly_with_ctrl_c(served, runs):
    process, address = served(runs)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/runs", address)
    with urlopen(address, timeout=30) as answer:
        assert b"first" in answer.read()
    with pytest.raises(HTTPError) as refused:
        urlopen(Request(address, headers={"Host": "evil.example"}), timeout=30)
    assert refused.value.code == 403
    refused.value.close()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in err


def test_one_run_is_opened_at_once(served, runs):
    _, address = served(runs / "first")
    with urlopen(address, timeout=30) as answer:
        assert b"<h1>first" in answer.read()


def test_a_port_in_use_is_an_error_with_a_hint(runs, capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        assert main(["view", str(runs), "--no-open", "--port", str(taken.getsockname()[1])]) == 2
    err = capsys.readouterr().err
    assert "nothing can listen on 127.0.0.1" in err
    assert "--port" in err


def test_a_folder_that_is_not_there(capsys, tmp_path):
    assert main(["view", str(tmp_path / "nothing"), "--no-open"]) == 2
    assert "there is no folder" in capsys.readouterr().err


def test_the_missing_extra_is_named(capsys, runs, monkeypatch):
    monkeypatch.setattr("proctor.web.serve.find_spec", lambda name: None if name == "uvicorn" else object())
    assert main(["view", str(runs), "--no-open"]) == 3
    assert "pip install 'proctor[web]'" in capsys.readouterr().err


def test_looking_on_loopback_is_the_default():
    assert (
        "127.0.0.1"
        in subprocess.run(
            [sys.executable, "-m", "proctor", "view", "--help"],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "COLUMNS": "200"},
        ).stdout
    )
