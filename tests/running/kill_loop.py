"""Kills a run again and again, and checks that nothing committed is asked twice and that the results are the same.

A program of its own, so that it may fork: the exams run in children of this process, which has everything imported
already, and the questions are answered by a counting server on loopback in another child. It prints one JSON object.

    python tests/running/kill_loop.py --kills 50 --seed 1 --folder /tmp/kills
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from running_fakes import ToyEngine, ToyExam, answer, choice, question, talk

from proctor.errors import ProctorError
from proctor.ir import Answers
from proctor.recipes.exam import Exam
from proctor.running import ResponseLog, run_exams
from proctor.running.log import Key

CONCURRENCY = 4
SECONDS_PER_ANSWER = 0.001


class _Counting(BaseHTTPRequestHandler):
    """Counts each key that is posted; ``GET`` returns the counts."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    counts: Counter[str] = Counter()
    lock = threading.Lock()

    def do_POST(self) -> None:
        key = self.rfile.read(int(self.headers["Content-Length"])).decode()
        time.sleep(SECONDS_PER_ANSWER)
        with self.lock:
            self.counts[key] += 1
        self._send(b"answered")

    def do_GET(self) -> None:
        with self.lock:
            self._send(json.dumps(self.counts).encode())

    def _send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed is what this is about."""


class HTTPEngine(ToyEngine):
    """Asks the counting server from four threads, then answers like the toy it is."""

    transient_fields = ToyEngine.transient_fields | {"port"}
    port: int = 0

    def _answer(self, requests: Iterable[object]) -> Answers:
        local = threading.local()

        def ask(position: int, request: object):
            if not hasattr(local, "connection"):
                local.connection = http.client.HTTPConnection("127.0.0.1", self.port)
            local.connection.request("POST", "/", body=request.key)
            local.connection.getresponse().read()
            return position, answer(request)

        with ThreadPoolExecutor(CONCURRENCY) as pool:
            running = set()
            for position, request in enumerate(requests):
                running.add(pool.submit(ask, position, request))
                if len(running) >= CONCURRENCY:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for each in done:
                        yield each.result()
            for each in running:
                yield each.result()


def exams(count: int) -> list[Exam]:
    return [
        ToyExam("plain", count, question),
        ToyExam("choices", count, choice),
        ToyExam("talks", count // 4, talk, question),
    ]


def serve() -> tuple[int, int]:
    """Start the server in a child; return its port and process id."""
    server = _Server(("127.0.0.1", 0), _Counting)
    pid = os.fork()
    if pid == 0:
        server.serve_forever()
    port = server.server_address[1]
    server.socket.close()
    return port, pid


def counts(port: int) -> Counter[str]:
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", "/")
    found = Counter(json.loads(connection.getresponse().read()))
    connection.close()
    return found


def sit(folder: Path, port: int, count: int) -> None:
    run_exams(exams(count), HTTPEngine(port=port), log=folder / "log.db", output=folder / "out")


def start(folder: Path, port: int, count: int) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 3
    try:
        sit(folder, port, count)
        code = 0
    except ProctorError as error:
        print(error, file=sys.stderr)
    finally:
        os._exit(code)


def committed(folder: Path) -> set[str]:
    if not (folder / "log.db").exists():
        return set()
    with ResponseLog(folder / "log.db") as log:
        rows = log.connect().execute("SELECT request, repeat FROM responses").fetchall()
    return {Key(*row).request.hex() for row in rows}


def fingerprint(folder: Path) -> tuple[str, str]:
    """The results and samples without what is allowed to differ."""
    results = json.loads((folder / "out" / "results.json").read_text())["results"]
    return json.dumps(results), (folder / "out" / "samples.jsonl").read_text()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    port, server = serve()
    try:
        sit(options.folder / "warm", port, 4)  # children find imported what a run imports
        report = torment(options.folder, options.kills, options.count, port, generator)
    finally:
        os.kill(server, signal.SIGKILL)
        os.waitpid(server, 0)
    print(json.dumps(report))
    return 0 if not report["problems"] else 1


def torment(folder: Path, kills: int, count: int, port: int, generator: random.Random) -> dict[str, object]:
    calm, warm = folder / "calm", counts(port)
    began = time.monotonic()
    pid = start(calm, port, count)
    os.waitpid(pid, 0)
    span = time.monotonic() - began
    expected = fingerprint(calm)
    once = counts(port) - warm
    asked_once = sum(once.values())
    report = {
        "kills": 0,
        "runs": 0,
        "seconds_undisturbed": round(span, 3),
        "asked_once": asked_once,
        "asked_again": 0,
        "committed_asked_again": 0,
        "problems": [],
    }
    problems = report["problems"]
    if set(once.values()) != {1}:
        problems.append("the undisturbed run asked something twice")
    while report["kills"] < kills:
        trial = folder / f"trial{report['runs']}"
        report["runs"] += 1
        before = counts(port)
        while True:
            safe, seen = committed(trial), counts(port)
            pid = start(trial, port, count)
            ended = _wait(pid, generator.uniform(0, span * 0.5))
            if ended is None:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                report["kills"] += 1
            time.sleep(4 * SECONDS_PER_ANSWER)
            again = [key for key, number in (counts(port) - seen).items() if key in safe and number]
            report["committed_asked_again"] += len(again)
            if again:
                problems.append(f"{len(again)} committed requests were asked again after kill {report['kills']}")
            if ended is not None:
                if ended != 0:
                    problems.append(f"a run ended with {ended} after kill {report['kills']}")
                break
        report["asked_again"] += sum((counts(port) - before).values()) - asked_once
        if fingerprint(trial) != expected:
            problems.append(f"trial {report['runs']} gave other results")
    return report


def _wait(pid: int, seconds: float) -> int | None:
    """Return the exit code of a child that ends in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    return None


if __name__ == "__main__":
    sys.exit(main())
