import os
import re
import signal
import socket
import subprocess
import sys
import threading
import webbrowser
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import unquote, urlsplit
from urllib.request import HTTPCookieProcessor, ProxyHandler, Request, build_opener

import pytest

from proctor.cli.__main__ import main
from proctor.web import serve


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


def opened(address, **headers):
    """What a browser gets that keeps cookies and follows where it is led: the last address, and the page."""
    browser = build_opener(ProxyHandler({}), HTTPCookieProcessor())
    with browser.open(Request(address, headers=headers), timeout=30) as answer:
        return answer.url, answer.read().decode()


def status_of(address, **headers):
    """The status, and the page, for a program without cookies."""
    try:
        with build_opener(ProxyHandler({})).open(Request(address, headers=headers), timeout=30) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def test_the_app_starts_serves_and_ends_quietly_with_ctrl_c(served, runs):
    process, address = served(runs)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", address)
    url, page = opened(address)
    assert "first" in page
    assert url == f"{address.partition('?')[0]}runs"
    assert status_of(address, Host="evil.example")[0] == 403
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "Traceback" not in err


def test_a_browser_gets_the_token_in_a_file_of_the_user_and_not_in_its_arguments(runs, monkeypatch, tmp_path):
    monkeypatch.setattr(serve, "_answer", lambda app, listening: called.wait(10))
    monkeypatch.setattr(serve.tempfile, "tempdir", str(tmp_path))
    called, seen = threading.Event(), {}

    def browse(address):
        path = Path(unquote(urlsplit(address).path))
        seen.update(address=address, mode=path.stat().st_mode & 0o777, page=path.read_text())
        called.set()

    monkeypatch.setattr(webbrowser, "open", browse)
    assert main(["view", str(runs), "--port", "0"]) == 0
    token = re.search(r"http://127\.0\.0\.1:\d+/\?token=([\w-]{43})\"", seen["page"])[1]
    assert seen["address"].startswith("file://")
    assert token not in seen["address"]
    assert seen["mode"] == 0o600
    assert not list(tmp_path.glob("proctor-view-*"))


def test_one_run_is_opened_at_once(served, runs):
    _, address = served(runs / "first")
    url, page = opened(address)
    assert "<h1>first" in page
    assert re.search(r"/runs/[0-9a-f]{10}$", url)


def test_without_the_token_of_this_start_nobody_gets_anything(served, runs):
    _, address = served(runs)
    place, token = address.split("?token=")
    for path in ("", "runs", "explore", "static/app.css", "nothing", "?token=", "?token=wrong", f"?token={token}x"):
        status, page = status_of(place + path)
        assert status == 403
        assert "proctor view printed" in page
        assert "first" not in page
    assert status_of(f"{place}runs", Authorization=f"Bearer {token}")[0] == 200
    assert status_of(f"{place}runs", Cookie=f"proctor_view_{place.split(':')[2][:-1]}={token}")[0] == 403
    _, again = served(runs)
    assert again.split("?token=")[1] != token


def test_without_a_token_only_where_the_user_says_so_and_on_loopback(served, runs, capsys):
    process, address = served(runs, "--no-token")
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/runs", address)
    assert status_of(address)[0] == 200
    assert "every user and program of this machine" in process.stderr.readline() + process.stderr.readline()
    for host in ("0.0.0.0", "", "0"):
        assert main(["view", str(runs), "--no-open", "--no-token", "--port", "0", "--host", host]) == 2
        assert "loopback only" in capsys.readouterr().err


def test_other_interfaces_ask_for_the_token_and_say_who_can_read(served, runs):
    process, address = served(runs, "--host", "0.0.0.0")
    assert status_of(address.partition("?")[0])[0] == 403
    assert "first" in opened(address)[1]
    assert "whoever has this address" in process.stderr.readline() + process.stderr.readline()


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
