"""What a run says about how answers ended, for every dialect and through the command line: never a silent number."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import module_from_spec, spec_from_file_location
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests_logged import put_many

from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.ir import Response, Usage
from proctor.running.log import Key, ResponseLog

_SPEC = spec_from_file_location("options_matrix", Path(__file__).with_name("test_options_matrix.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
_MATRIX = sys.modules["options_matrix"] = module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MATRIX)
DIALECTS = _MATRIX.DIALECTS


FAILED = 1
"""The exit code of a run with failures."""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def proctor(*arguments: object, code: int = 0) -> str:
    """Call the program; return all that it prints."""
    said = StringIO()
    with redirect_stdout(said), redirect_stderr(said):
        assert main([*map(str, arguments)]) == code, said.getvalue()
    return said.getvalue()


def run(task: object, says: dict[str, Any] | Path, *options: object, output: str = "out", code: int = 0) -> str:
    model = ("scripted", "-a", json.dumps(says)) if isinstance(says, dict) else ("replay", "-a", f"path={says}")
    named = ("run", "-m", *model, "-t", task, "--log", "log.db", "-o", output)
    return proctor(*named, *options, code=code)


def results(output: str = "out") -> dict[str, Any]:
    """Return the results of the exam, without who answered."""
    (entry,) = json.loads((Path(output) / "results.json").read_text())["results"].values()
    entry["fingerprint"].pop("engine")
    return entry


def layers_that_differ(output: str) -> set[str]:
    """Return in what a run differs from the one in ``out``, as its fingerprint says."""
    one, two = results()["fingerprint"], results(output)["fingerprint"]
    return {name for name in one if one[name] != two[name]}


def circumstances(output: str = "out") -> dict[str, Any]:
    return json.loads((Path(output) / "results.json").read_text())["run"]


def samples(output: str = "out") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (Path(output) / "samples.jsonl").read_text().splitlines()]


def counts(entry: dict[str, Any]) -> tuple[int, ...]:
    return tuple(entry[name] for name in ("answers", "truncated", "empty", "thinking", "failures"))


@pytest.fixture(params=list(DIALECTS))
def exam(request, folder) -> str:
    return DIALECTS[request.param].write(folder)


def test_answers_that_were_cut_off_are_scored_and_counted(exam, folder):
    said = run(exam, {"answer": "yes", "finish_reason": "length"})
    found = results()
    asked = found["n"]
    assert counts(found) == (asked, asked, 0, 0, 0)
    assert found["all_answers"] == {"truncated": True, "equal": "yes"}
    assert f"all {asked} answers were cut off: --decoding max_tokens=N" in said
    assert f"all {asked} answers are equal: 'yes'" in said
    assert {line["finish_reason"] for line in samples()} == {"length"}
    assert found["score"] > 0


def test_cut_off_answers_are_failures_where_the_user_says_so(exam, folder):
    run(exam, {"answer": "yes", "finish_reason": "length"})
    said = run(exam, {"answer": "yes", "finish_reason": "length"}, "--truncated", "fail", output="strict", code=FAILED)
    found = results("strict")
    assert found["failure_kinds"] == {"truncated": found["n"]}
    assert counts(found)[1] == found["n"]
    assert "truncated: the answer was cut off" in said
    assert circumstances("strict")["requests"]["asked"] == 0  # how answers are graded changes no request
    assert "truncated: fail" in (folder / "strict" / "run.yaml").read_text()
    assert layers_that_differ("strict") == {"extraction"}
    assert "scoring_failure" in samples("strict")[0]
    assert samples("strict")[0]["output"] == "yes"  # the part that there is
    again = proctor("run", "strict", "--log", "log.db", code=FAILED)
    assert "truncated" in again
    assert proctor("run", "strict", "--truncated", "score", "--log", "log.db", "-o", "loose")
    assert results("loose")["failures"] == 0
    assert proctor("run", "strict", "--truncated", "score", "--log", "log.db", "-o", "strict", code=2)


def test_thoughts_are_kept_beside_the_answer_and_not_graded(exam, folder):
    run(exam, {"answer": "<think>no, no</think>yes"})
    run(exam, {"answer": "yes"}, output="plain")
    assert results() == results("plain")
    assert {(line["output"], line["thinking"]) for line in samples()} == {("yes", "no, no")}
    assert {line["thinking"] for line in samples("plain")} == {None}


def test_thoughts_without_an_answer_are_failures(exam, folder):
    said = run(exam, {"answer": "<think>no, no", "finish_reason": "length"}, code=FAILED)
    found = results()
    assert counts(found) == (0, 0, 0, found["n"], found["n"])
    assert found["failure_kinds"] == {"thinking": found["n"]}
    assert f"{found['n']} of {found['n']} answers never came" in said
    assert "--thinking-tokens N" in said
    assert {line["thinking"] for line in samples()} == {"no, no"}
    assert found["num_of_instances"] == 0


def test_raw_answers_are_what_the_origin_system_saw(exam, folder):
    says = {"answer": "<think>yes</think>maybe"}
    run(exam, says)
    run(exam, says, "--answers", "raw", output="raw")
    assert circumstances("raw")["requests"]["asked"] == 0
    assert "answers: raw" in (folder / "raw" / "run.yaml").read_text()
    assert layers_that_differ("raw") == {"extraction"}
    shown = [str(line["prediction"]) for line in samples("raw")]
    assert all("<think>yes</think>maybe" in each for each in shown)
    run(exam, {"answer": "<think>yes"}, "--answers", "raw", output="open")
    assert results("open")["failures"] == 0


def test_empty_answers_are_said(exam, folder):
    said = run(exam, {"answer": ""})
    found = results()
    assert counts(found) == (found["n"], 0, found["n"], 0, 0)
    assert f"all {found['n']} answers are empty" in said


def test_a_run_of_few_instances_raises_no_alarm(exam, folder):
    said = run(exam, {"answer": "yes"}, "--limit", 2)
    assert "all_answers" not in results()
    assert "equal" not in said


def test_what_was_filtered_in_an_old_log_is_a_failure_and_nobody_is_asked(exam, folder):
    run(exam, {"answer": "yes"})
    with ResponseLog("log.db") as log:
        (log._connection).execute("DELETE FROM failures")
        rows = log._connection.execute("SELECT engine, request, repeat FROM responses").fetchall()
        log._connection.execute("DELETE FROM responses")
        old = Response(("I cannot",), finish_reasons=("content_filter",), usage=Usage(3, 2))
        for engine, key, repeat in rows:
            put_many(log, engine, [(Key(key, repeat), old)])
    run(exam, {"answer": "yes"}, output="again", code=FAILED)
    found = results("again")
    assert found["failure_kinds"] == {"content_filter": found["n"]}
    assert circumstances("again")["requests"]["asked"] == 0


def test_a_replay_counts_and_grades_alike(exam, folder):
    run(exam, {"answer": "<think>no</think>yes", "finish_reason": "length"})
    run(exam, Path("out"), output="again")
    assert results("again") == results()
    told = ("output", "thinking", "finish_reason", "written", "prediction")
    assert [[line[name] for name in told] for line in samples("again")] == [
        [line[name] for name in told] for line in samples()
    ]
    run(exam, Path("out"), "--truncated", "fail", output="strict", code=FAILED)
    assert results("strict")["failure_kinds"] == {"truncated": results()["n"]}
    run(exam, Path("out"), "--answers", "raw", output="raw")
    assert "<think>no</think>yes" in str(samples("raw")[0]["prediction"])
    run(exam, {"answer": "<think>no", "finish_reason": "length"}, output="open", code=FAILED)
    run(exam, Path("open"), output="open-again", code=FAILED)
    assert results("open-again")["failure_kinds"] == results("open")["failure_kinds"]
    assert samples("open-again")[0]["thinking"] == "no"


ZERO = "type='ZeroRetriever'"
CHOICES = {"unitxt": "choice.json", "lm_eval": "choice.yaml", "aisbench": "choice.py"}


@pytest.mark.parametrize("name", CHOICES)
def test_always_the_same_option_is_said(name, folder):
    DIALECTS[name].write(folder)
    likely = {"yes": -1.0, "no": -2.0, "yes.": -1.0, "A": -1.0, "B": -2.0}
    if name == "aisbench":  # whose options are whole texts
        config = Path("choice.py").read_text().replace("</E>", "").replace("type='RandomRetriever', ice_num=2", ZERO)
        Path("choice.py").write_text(config)
        (exam,) = resolve_tasks([CHOICES[name]])
        texts = [request.text for question in exam.questions() for request in question.requests]
        likely = {text.strip(): (-1.0 if text.strip().endswith("yes") else -2.0) * len(text) for text in texts}
    said = run(CHOICES[name], {"log_likelihoods": likely})
    found = results()
    place = int(name == "aisbench")  # whose labels are in the order of their letters: no, yes
    assert found["all_answers"] == {"option": place}
    assert f"all {found['n']} answers are equal: option {place + 1} was the likeliest every time" in said
    said = run(CHOICES[name], {"log_likelihoods": likely}, "--truncated", "fail", "--answers", "raw", output="idle")
    assert said.count("has no effect here") == 2


@pytest.mark.parametrize("name", ["n", "count", "num_return_sequences", "candidate_count"])
def test_several_answers_to_one_request_are_refused_by_name(name, exam, folder):
    for option in ("--decoding", "--gen-kwargs"):
        said = run(exam, {"answer": "yes"}, option, f"{name}=5", code=2)
        assert f"{name}=5 asks for 5 answers to one request" in said
        assert "--repeats 5" in said
    run(exam, {"answer": "yes"}, "--decoding", f"{name}=1")
    body = f'{{"answer":"yes","extra_body":{{"{name}":5}}}}'
    assert "--repeats 5" in proctor("run", "-m", "scripted", "-a", body, "-t", exam, code=2)


def test_a_task_that_says_so_itself_is_refused(folder):
    task = json.loads(Path(DIALECTS["lm_eval"].write(folder)).read_text())
    Path("many.yaml").write_text(json.dumps({**task, "task": "many", "generation_kwargs": {"n": 3, "until": ["."]}}))
    said = run("many.yaml", {"answer": "yes"}, code=2)
    assert "several answers to one request" in said
    assert "repeats: 3" in said


# -- processors that look for thoughts themselves -----------------------------------------------------------------


def test_a_filter_that_looks_for_the_mark_finds_it(folder):
    task = json.loads(Path(DIALECTS["lm_eval"].write(folder)).read_text())
    cut = {"name": "cut", "filter": [{"function": "regex", "regex_pattern": "</think>\\s*(\\w+)"}]}
    cut["filter"].append({"function": "take_first"})
    Path("cut.yaml").write_text(json.dumps({**task, "task": "cut", "filter_list": [cut]}))
    run("cut.yaml", {"answer": "<think>no</think> yes"})
    assert {str(line["processed_prediction"]) for line in samples()} <= {"yes", "['yes']"}
    run("cut.yaml", {"answer": "yes", "thoughts": "no"}, output="apart")  # of a server that takes the marks away
    assert samples("apart")[0]["processed_prediction"] == samples()[0]["processed_prediction"]
    run("cut.yaml", {"answer": "<think>no", "finish_reason": "length"}, output="open", code=FAILED)
    assert results("open")["failure_kinds"] == {"thinking": results("open")["n"]}


# -- tokens and what they cost ------------------------------------------------------------------------------------

PRICES = {
    "date": "2026-11-22",
    "models": {"known": {"input": 10.0, "output": 20.0, "cached_input": 1.0}, "half": {"input": 10.0, "output": 20.0}},
}


USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 100,
    "prompt_tokens_details": {"cached_tokens": 600},
    "completion_tokens_details": {"reasoning_tokens": 70},
}


class _Server(BaseHTTPRequestHandler):
    """Says the same to everybody, out of a cache and after much thought."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "positive"}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": USAGE}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def serving() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def priced(model: str, *options: str, code: int = 0) -> dict[str, Any]:
    """Run an exam of two instances on a server that caches and thinks; return the circumstances."""
    Path("prices.json").write_text(json.dumps(PRICES))
    with serving() as url:
        args = f"model={model},base_url={url},max_concurrency=1"
        named = ("run", "-m", "openai", "-a", args, "-t", "samples.sentiment", "--limit", 2, "--log", f"{model}.db")
        proctor(*named, "--prices", "prices.json", "-o", model, *options, code=code)
    return circumstances(model)


def test_thoughts_and_cached_tokens_have_a_price_of_their_own(folder):
    found = priced("known")
    assert found["usage"]["samples.sentiment"] == {
        "prompt_tokens": 2000,
        "completion_tokens": 200,
        "thinking_tokens": 140,
        "cached_tokens": 1200,
    }
    cost = found["cost"]
    assert cost["usd"] == pytest.approx((800 * 10 + 1200 * 1 + 200 * 20) / 1e6)
    assert cost["usd_thinking"] == pytest.approx(140 * 20 / 1e6)
    assert cost["usd_cached"] == pytest.approx(1200 / 1e6)
    assert "usd_is_at_most" not in cost
    assert samples("known")[0]["usage"]["thinking_tokens"] == 70


def test_an_unknown_price_of_a_cache_is_said_and_not_zero(folder):
    cost = priced("half")["cost"]
    assert cost["usd_cached"] is None
    assert cost["usd_is_at_most"] is True
    assert cost["usd"] == pytest.approx((2000 * 10 + 200 * 20) / 1e6)
    assert "1,200 tokens from the provider's cache" in cost["why"]


def test_equal_questions_are_sent_and_counted_once(folder):
    rows = [{"q": f"q{number}", "a": "positive"} for number in range(2)] * 3
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("prices.json").write_text(json.dumps(PRICES))
    with serving() as url:
        args = f"model=known,base_url={url},max_concurrency=1"
        columns = ("--input-column", "q", "--answer-column", "a", "--prices", "prices.json", "--log", "l.db")
        proctor("run", "rows.jsonl", "-m", "openai", "-a", args, *columns, "-o", "once")
        Path("again.jsonl").write_text(Path("rows.jsonl").read_text())
        proctor("run", "rows.jsonl", "again.jsonl", "-m", "openai", "-a", args, *columns, "-o", "two")
    found = circumstances("once")
    assert found["requests"]["asked"] == 2
    (usage,) = found["usage"].values()
    assert usage["prompt_tokens"] == 2000
    assert found["cost"]["usd"] == found["cost"]["usd_of_this_run"] == pytest.approx(2 * (400 * 10 + 600 + 2000) / 1e6)
    (latency,) = found["latency"].values()
    assert (latency["requests"]["E2EL"]["N"], latency["common"]["Total Requests"]) == (2, 2)
    both = circumstances("two")  # each exam has them, and they were sent once
    assert [each["prompt_tokens"] for each in both["usage"].values()] == [2000, 2000]
    assert both["cost"]["usd"] == found["cost"]["usd"]


def test_a_budget_counts_thoughts_and_cached_tokens_once(folder):
    found = priced("known", "--budget-tokens", "4500", "--limit", "4")  # 1,100 tokens each, and not 1,770
    assert found["requests"]["answered"] == 4


def test_the_log_shows_thoughts(folder):
    run("samples.sentiment", {"answer": "<think>hm hm</think>yes", "finish_reason": "length"}, "--limit", 1)
    shown = proctor("log", "show", "--log", "log.db")
    assert "thinking: hm hm" in shown
    assert "ended by: length" in shown
    proctor("log", "export", "all.jsonl", "--log", "log.db")
    (line,) = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    assert line["response"]["thoughts"] == ["hm hm"]


def test_reports_fold_thoughts_and_say_how_answers_ended(folder):
    run("samples.sentiment", {"answer": "<think>hm hm</think>yes", "finish_reason": "length"}, "--limit", 6)
    proctor("report", "out", "-o", "report.html")
    page = Path("report.html").read_text()
    assert "<details><summary>Thinking</summary>" in page
    assert "hm hm" in page
    assert "all 6 answers were cut off" in page
    proctor("report", "out", "-o", "report.md")
    assert "- out: samples.sentiment: all 6 answers were cut off" in Path("report.md").read_text()
