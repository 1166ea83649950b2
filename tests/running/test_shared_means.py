"""What processes of one log have together: budgets are not overrun, and limits per minute are kept by all of them."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time

import pytest

from proctor.engines.scripted import ScriptedEngine
from proctor.ir import Decoding, Generate, Prompt, Response, Usage
from proctor.running.budget import Allowance, Price
from proctor.running.log import ResponseLog
from proctor.running.shared_means import SharedWindow
from proctor.testing.server import FaultServer

REQUEST = Generate(Prompt("Why? " * 6), Decoding(max_tokens=20))
ANSWER = Response(("x",), usage=Usage(10, 20))
ENGINE = ScriptedEngine(answer="x")


def spend(log_place: str, allowance: Allowance, sent: list[int]) -> None:
    with ResponseLog(log_place) as log, allowance.shared(log, log.engine_number("e")):
        while (claim := allowance.claim(REQUEST, ENGINE)) is not None:
            sent.append(1)
            allowance.settle(claim, ANSWER)


@pytest.mark.parametrize("limit", [{"max_tokens": 3_000}, {"max_usd": 0.0015, "price": Price(0.5, 0.5)}])
def test_threads_with_one_budget_spend_it_together(log_place, limit):
    ends = threading.Barrier(4)
    allowances, sent = [Allowance(**limit) for _ in range(4)], list[int]()

    def run(mine: Allowance) -> None:
        with ResponseLog(log_place) as log, mine.shared(log, log.engine_number("e")):
            ends.wait()
            while (claim := mine.claim(REQUEST, ENGINE)) is not None:
                sent.append(1)
                mine.settle(claim, ANSWER)
            ends.wait()

    threads = [threading.Thread(target=run, args=(each,)) for each in allowances]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    spent = sum(each.tokens for each in allowances)
    assert spent == 30 * len(sent)
    assert 2_000 < spent <= 3_000
    assert all("has no room" in each.why for each in allowances)


def test_a_budget_is_new_when_nobody_of_before_is_there(log_place):
    sent: list[int] = []
    spend(log_place, Allowance(max_tokens=300), sent)
    first = len(sent)
    spend(log_place, Allowance(max_tokens=300), sent)
    assert len(sent) == 2 * first > 0


def test_what_somebody_spent_who_left_counts_while_others_are_there(log_place):
    sent: list[int] = []
    with ResponseLog(log_place) as log, Allowance(max_tokens=300).shared(log, log.engine_number("e")):
        mine = Allowance(max_tokens=300)
        spend(log_place, mine, sent)
        first = len(sent)
        spend(log_place, mine, sent)
        spend(log_place, Allowance(max_tokens=300), sent)
    assert len(sent) == first > 5


def test_a_budget_that_goes_on_in_another_session_is_not_new(log_place):
    sent: list[int] = []
    allowance = Allowance(max_tokens=300)
    spend(log_place, allowance, sent)
    first = len(sent)
    spend(log_place, allowance, sent)
    assert len(sent) == first


def test_a_window_is_everybody_s(log_place):
    with ResponseLog(log_place) as log:
        number = log.engine_number("e")
        windows = [SharedWindow(log, number) for _ in range(2)]
        assert windows[0].take("requests", 40, 0.0, 1.0, 25.0) == (25.0, 0.0)
        assert windows[1].take("requests", 40, 0.0, 1.0, 25.0) == (15.0, 0.0)
        taken, wait = windows[0].take("requests", 40, 0.0, 1.0, 1.0)
        assert (taken, 59 < wait <= 60.5) == (0.0, True)
        assert windows[1].take("tokens", 100, 250.0, 0.0, 0.0)[1] > 59
        log._connection.execute("UPDATE paces SET slot = slot - 241")
        assert windows[1].take("requests", 40, 0.0, 1.0, 1.0) == (1.0, 0.0)
        for each in windows:
            each.close()


def started(folder, server, name, log, *more):
    arguments = f"model=m,base_url={server.url},max_concurrency=4"
    call = [sys.executable, "-m", "proctor", "run", "q.jsonl", "--model", "openai", "--log", log, "--output", name]
    call += ["--model-args", f"{arguments}{more[0]}", *more[1:]]
    return subprocess.Popen(call, cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def rows(folder, count: int) -> None:
    lines = [json.dumps({"question": f"{number}?", "answer": "yes"}) for number in range(count)]
    (folder / "q.jsonl").write_text("\n".join(lines))


def test_two_processes_with_a_limit_per_minute_send_as_many_together(tmp_path, log_place):
    rows(tmp_path, 50)
    with FaultServer(answer=lambda *_: "yes", latency_seconds=0.05) as server:
        both = [started(tmp_path, server, name, log_place, ",requests_per_minute=40") for name in "ab"]
        end = time.monotonic() + 60
        while server.statistics()["requests"] < 40 and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(1)
        assert [each.poll() for each in both] == [None, None]
        asked = server.statistics()["requests"]
        for each in both:
            each.kill()
            each.communicate()
    assert asked == 40


def both_and_alone(folder, log_place, count, *options, latency_seconds):
    """Run a command twice at once, and once with a log of its own; return both processes, what they said and asked."""
    rows(folder, count)
    with FaultServer(answer=lambda *_: "yes", latency_seconds=latency_seconds) as server:
        both = [started(folder, server, name, log_place, "", *options) for name in "ab"]
        said = ["".join(each.communicate(timeout=60)) for each in both]
        asked = server.statistics()["requests"]
        started(folder, server, "c", f"{folder}/own.db", "", *options).communicate(timeout=60)
        return both, said, asked, server.statistics()["requests"] - asked


def test_two_processes_with_a_budget_spend_it_together(tmp_path, log_place):
    _, said, asked, alone = both_and_alone(tmp_path, log_place, 200, "--budget-tokens", "200", latency_seconds=0.05)
    assert all("has no room" in each for each in said), said
    assert alone * 0.8 <= asked <= alone


def test_processes_with_a_precision_ask_no_more_than_one(tmp_path, log_place):
    both, said, asked, alone = both_and_alone(tmp_path, log_place, 400, "--precision", "0.08", latency_seconds=0.02)
    assert [each.returncode for each in both] == [0, 0], said
    assert asked == alone < 400
    assert len({(tmp_path / name / "samples.jsonl").read_bytes() for name in "ab"}) == 1
