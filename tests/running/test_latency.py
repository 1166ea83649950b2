"""How long answers took: AISBench's measures of streamed answers; nothing is said that was not measured."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_paced_server import PacedServer

from proctor.ir import Converse, Failure, Generate, Prompt, Response, Timing, Usage
from proctor.results.latency_tables import STATISTICS, time_rows
from proctor.running.latency import Latency

ASKED = [Generate(Prompt("q"))]


def answer(started, pieces=(), *, seconds=None, read=10, written=4):
    whole = seconds if seconds is not None else pieces[-1]
    timing = Timing(started, whole, pieces[0] if pieces else None, tuple(pieces))
    return Response(texts=("a",), usage=Usage(read, written), timing=timing)


def summary(*answers, concurrency=None):
    latency = Latency()
    for each in answers:
        latency.add(ASKED, [each])
    return latency.summary(concurrency)


def test_measures_of_two_streamed_requests():
    found = summary(answer(100.0, (0.1, 0.2, 0.4)), answer(100.3, (0.3, 0.5, 0.9)), concurrency=2)
    requests, common = found["requests"], found["common"]
    assert (requests["TTFT"]["Average"], requests["TTFT"]["Max"]) == (200.0, 300.0)
    assert requests["E2EL"]["Average"] == 650.0
    assert requests["TPOT"]["Min"] == 100.0  # (400 - 100) / (4 - 1)
    assert requests["ITL"] == {
        "Average": 225.0, "Min": 100.0, "Max": 400.0, "Median": 200.0, "P75": 250.0, "P90": 340.0, "P99": 394.0, "N": 2,
        "unit": "ms",
    }  # fmt: skip
    assert requests["OutputTokenThroughput"]["Max"] == 10.0
    assert common["Benchmark Duration"] == pytest.approx(1200.0)
    assert common["Concurrency"] == pytest.approx(1.3 / 1.2, abs=1e-4)
    assert common["Prefill Token Throughput"] == 50.0
    assert (common["Total Requests"], common["Max Concurrency"]) == (2, 2)


def test_the_event_with_the_role_is_not_the_first_token():
    timing = Timing(1.0, 0.5, first_token_seconds=0.3, piece_seconds=(0.006, 0.3, 0.35, 0.4))
    requests = summary(Response(texts=("ab",), usage=Usage(5, 3), timing=timing))["requests"]
    assert (requests["TTFE"]["Average"], requests["TTFT"]["Average"]) == (6.0, 300.0)
    assert requests["TPOT"]["Average"] == 50.0  # (400 - 300) / (3 - 1)
    assert requests["ITL"]["Max"] == 50.0


def test_percentiles_have_intervals_that_hold_them_as_often_as_they_say():
    draw = np.random.default_rng(3)
    held = dict.fromkeys(("Median", "P90"), 0)
    for _ in range(300):
        requests = summary(*(answer(1.0, seconds=float(each)) for each in draw.exponential(1.0, 120)))["requests"]
        for name, share in (("Median", 0.5), ("P90", 0.9)):
            low, high = requests["E2EL"][f"{name} interval"]
            held[name] += low <= -1000 * np.log(1 - share) <= high
        assert "P99 interval" not in requests["E2EL"]  # of 120 requests nobody knows the hundredth
    assert all(count >= 280 for count in held.values())
    assert "Median interval" not in summary(answer(1.0, seconds=1.0))["requests"]["E2EL"]


def test_an_answer_that_was_not_streamed_has_no_first_token():
    requests = summary(answer(1.0, seconds=2.0))["requests"]
    assert requests["E2EL"]["Median"] == 2000.0
    assert not {"TTFT", "TPOT", "ITL"} & set(requests)


def test_tokens_that_nobody_counted_are_not_measured():
    requests = summary(answer(1.0, (0.5, 1.0), read=0, written=0))["requests"]
    assert set(requests) == {"E2EL", "TTFE", "TTFT", "ITL"}


def test_failures_are_counted_and_conversations_are_named():
    latency = Latency()
    latency.add(ASKED, [Response(failure=Failure("timeout", "no answer"))])
    assert latency.summary() == {}
    latency.add([Converse(())], [answer(1.0, seconds=2.0)])
    latency.add(ASKED, [answer(1.0, seconds=2.0)])
    found = latency.summary()
    assert found["requests"]["not timed"] == 1
    assert (found["common"]["Failed Requests"], found["common"]["Total Requests"]) == (1, 2)


def test_answers_of_several_runs_have_no_duration():
    found = summary(answer(100.0, (0.1, 0.4)), answer(9_000.0, (0.1, 0.4)))
    assert "several runs" in found["common"]["no duration"]
    assert not {"Benchmark Duration", "Concurrency", "Request Throughput"} & set(found["common"])
    assert found["requests"]["E2EL"]["N"] == 2


@given(st.lists(st.lists(st.integers(1, 500_000), min_size=2, max_size=9), min_size=1, max_size=9))
def test_gaps_have_the_statistics_that_numpy_gives(gaps):
    answers = [answer(1.0, tuple(float(point) / 1e6 for point in np.cumsum(each))) for each in gaps]
    found = summary(*answers)["requests"]["ITL"]
    all_gaps = np.concatenate([each[1:] for each in gaps]) / 1000
    wanted = [all_gaps.mean(), all_gaps.min(), all_gaps.max(), *np.percentile(all_gaps, [50, 75, 90, 99])]
    assert [found[name] for name in STATISTICS] == pytest.approx(wanted, abs=1e-3)


def test_a_run_has_the_times_of_a_server_with_known_pauses(tmp_path, monkeypatch):
    from proctor.cli.__main__ import main

    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    with PacedServer([[0.05, 0.1, 0.02]]) as server:
        model = f"model=m,base_url={server.url},stream=true,max_concurrency=1"
        arguments = ["--tasks", "samples.arithmetic", "--limit", "3", "-o", str(tmp_path / "out")]
        assert main(["run", "--model", "openai", "--model-args", model, *arguments]) == 0
    run = json.loads((tmp_path / "out" / "results.json").read_text())["run"]
    found = run["latency"]["samples.arithmetic"]["requests"]
    assert found["E2EL"]["Min"] >= 165  # no upper bounds: a busy machine is slow
    assert found["TTFT"]["Min"] <= found["E2EL"]["Min"] - 100
    assert found["ITL"]["Max"] >= 60
    assert found["OutputTokens"]["Average"] == 3
    assert found["E2EL"]["N"] == 3
    for name in ("report.md", "report.html"):
        assert main(["report", str(tmp_path / "out"), "-o", str(tmp_path / name)]) == 0
        text = (tmp_path / name).read_text()
        assert all(word in text for word in ("TTFT", "P90", "Benchmark Duration", "token/s"))


def test_a_server_that_becomes_slower_is_seen_in_the_course_of_the_run():
    answers = [answer(1.0 + place, seconds=0.1 if place < 50 else 0.9) for place in range(100)]
    parts = summary(*answers)["over time"]
    assert len(parts) == 10
    assert [each["Median"] for each in parts.values()] == pytest.approx([100.0] * 5 + [900.0] * 5, abs=1e-6)
    starts = [float(start) for start in parts]
    assert starts == pytest.approx([place * 99.9 / 10 for place in range(10)], abs=0.06)
    rates = [each["Request Throughput"] for each in parts.values()]
    assert sum(rates) * 9.99 == pytest.approx(100, rel=1e-3)
    assert time_rows({"exam": summary(*answers)})[10][:2] == ["exam", "89.9"]


def test_parts_of_a_run_that_takes_a_blink_are_all_there():
    quick = [answer(1.0 + place / 1e6, seconds=1e-4) for place in range(100)]
    assert len(summary(*quick)["over time"]) == 10


def test_a_short_run_and_one_of_several_runs_are_told_as_a_whole():
    assert "over time" not in summary(*[answer(1.0 + place, seconds=0.1) for place in range(49)])
    apart = [answer(100.0 + 1000 * (place > 40), seconds=0.1) for place in range(80)]
    assert "over time" not in summary(*apart)


def test_parts_of_a_run_in_which_nothing_came_say_so():
    stuck = [answer(1.0, seconds=0.1)] * 60 + [answer(1.0, seconds=9.0)]
    parts = list(summary(*stuck)["over time"].values())
    assert parts[4] == {"Request Throughput": 0.0}
    assert parts[-1]["Median"] == 9000.0


def test_each_of_several_servers_has_times_of_its_own(tmp_path, monkeypatch):
    from proctor.cli.__main__ import main

    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    with PacedServer([[0.02]]) as quick, PacedServer([[0.3]]) as slow:
        model = f"model=m,base_url={quick.url},{slow.url},max_concurrency=1,stream=true"
        arguments = ["--tasks", "samples.arithmetic", "--limit", "12", "-o", str(tmp_path / "out")]
        assert main(["run", "--model", "openai", "--model-args", model, *arguments]) == 0
    found = json.loads((tmp_path / "out" / "results.json").read_text())["run"]["latency"]["samples.arithmetic"]
    one, other = (found["servers"][server.url] for server in (quick, slow))
    assert one["requests"]["E2EL"]["N"] + other["requests"]["E2EL"]["N"] == found["requests"]["E2EL"]["N"]
    assert other["requests"]["E2EL"]["Median"] > 250 > 20 <= one["requests"]["E2EL"]["Min"]
    assert main(["report", str(tmp_path / "out"), "-o", str(tmp_path / "report.md")]) == 0
    assert f"samples.arithmetic at {slow.url}" in (tmp_path / "report.md").read_text()
