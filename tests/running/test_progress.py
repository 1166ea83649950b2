"""What a run shows."""

from __future__ import annotations

import io
import math
import re
import time
from types import SimpleNamespace

import pytest

from proctor.ir import Failure, Response, Usage
from proctor.running.progress import (
    JudgeLog,
    LineObserver,
    LiveObserver,
    Progress,
    SilentObserver,
    describe,
    observer_for,
)
from proctor.running.progress_file import ProgressFileObserver
from proctor.scoring.grades import Grade


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def progress(**values) -> Progress:
    return Progress(started=time.monotonic() - 10, **values)


def test_counts_follow_the_answers():
    counted = progress(total=10, cached=2)
    counted.count(Response(texts=("a",), usage=Usage(5, 3)))
    counted.count(Response(failure=Failure("timeout", "slow")))
    assert (counted.done, counted.answered, counted.failed) == (4, 2, 1)
    assert (counted.usage.prompt_tokens, counted.usage.completion_tokens) == (5, 3)
    assert 0.19 < counted.rate < 0.21
    assert 29 < counted.eta_seconds < 32


def test_nobody_knows_when_a_run_of_unknown_length_ends():
    assert progress(answered=5).eta_seconds is None
    assert progress(total=5).eta_seconds is None


def test_counts_in_words():
    shown = describe(progress(total=300, cached=80, answered=40, failed=1, usage=Usage(123456, 7)))
    assert shown == "120/300 · 80 from the log · 4.0/s · 0:45 left · 123.5k tokens in, 7 out · 1 failed"
    assert describe(progress()) == "0"
    assert "2:46:40 left" in describe(progress(total=100_010, answered=10, cached=90_000))


def test_lines_for_files():
    stream = io.StringIO()
    observer = LineObserver(stream, every_seconds=0)
    observer.started(["a", "b", "c", "d"], "model")
    observer.asking(progress(total=2, answered=1))
    observer.asking(progress(total=2, answered=2))
    observer.grading("a")
    observer.graded("a", Grade({"score": 0.5, "score_name": "accuracy"}))
    observer.finished()
    assert stream.getvalue().splitlines() == [
        "model: a, b, c and 1 more",
        "1/2 · 0.1/s · 0:10 left",
        "2/2 · 0.2/s",
        "2/2 · 0.2/s",
        "a: accuracy = 0.5000",
    ]


def test_judges_are_seen_while_they_are_asked(monkeypatch, tmp_path):
    stream = io.StringIO()
    observer = ProgressFileObserver(LineObserver(stream, every_seconds=0), tmp_path)
    observer.judging("strict", progress(total=2, answered=1))
    assert stream.getvalue() == "judge strict: 1/2 · 0.1/s · 0:10 left\n"
    terminal = Terminal()
    live = LiveObserver(terminal)
    live.started(["a"], "model")
    live.judging("strict", progress(total=2, answered=1))
    live.judging("strict", progress(total=2, answered=2))  # too soon to draw
    live._bars.refresh()
    live.finished()
    assert "judge strict · 1/2" in terminal.getvalue()
    assert "judge strict · 2/2" not in terminal.getvalue()
    logged = []
    logger = SimpleNamespace(info=lambda *said: logged.append(said))
    monkeypatch.setattr("proctor.running.progress.get_logger", lambda: logger)
    often, seldom = JudgeLog(every_seconds=0), JudgeLog()
    for watch in (often, seldom):
        watch("strict", progress(total=2, answered=1))
    assert logged == [("judge %s: %s", "strict", "1/2 · 0.1/s · 0:10 left")]


def test_lines_are_rare():
    stream = io.StringIO()
    observer = LineObserver(stream)
    observer.started(["a"], "model")
    for answered in range(1000):
        observer.asking(progress(answered=answered))
    observer.finished()
    assert len(stream.getvalue().splitlines()) == 2


def test_bars_for_terminals():
    stream = Terminal()
    observer = LiveObserver(stream)
    observer.started(["a"], "model")
    observer.asking(progress(total=2, answered=1))
    observer.grading("a")
    observer.finished()
    observer.finished()
    assert "a · model" in stream.getvalue()


def test_who_watches():
    assert isinstance(observer_for(Terminal()), LiveObserver)
    assert isinstance(observer_for(io.StringIO()), LineObserver)
    SilentObserver().started([], "")


RECIPE = "card=cards.mmlu.abstract_algebra,template=templates.qa.multiple_choice.with_topic.lm_eval_harness,num_demos=5"


@pytest.mark.parametrize("name", [RECIPE, "arc[limit=3]", "[bold]x[/bold]", "a" * 500, "é" * 90])
@pytest.mark.parametrize("width", [80, 60, 200])
def test_names_leave_room_for_the_bar_and_the_time_left(monkeypatch, name, width):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    observer = LiveObserver(stream)
    observer.started([name], "openai meta-llama/Llama-3.3-70B-Instruct")
    given = {"cached": 1200, "answered": 345, "failed": 3, "usage": Usage(123_456, 3_333)}
    observer.asking(progress(total=14_042, **given))
    observer._bars.refresh()
    line = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue()).rsplit("\r", 1)[-1].rstrip()
    observer.finished()
    assert len(line) <= width
    assert "1545/14042" in line
    assert " left" in line
    assert line.count("━") + line.count("╺") + line.count("╸") == (20 if width >= 80 else 10)
    assert name[:5] in line


def test_what_is_written_beside_the_bar_is_no_markup():
    stream = Terminal()
    observer = LiveObserver(stream)
    observer.started(["a"], "model")
    print("the task my[limit=3] and [red]another[/red]", end="", flush=True)
    print(" :smile:")
    observer.finished()
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())
    assert "the task my[limit=3] and [red]another[/red]" in shown
    assert ":smile:" in shown


def test_a_short_line_says_the_most_important_first():
    counted = progress(total=100, answered=10, cached=5, failed=2, usage=Usage(9, 3))
    whole = describe(counted)
    rooms = [describe(counted, room) for room in range(len(whole) + 1)]
    assert rooms[-1] == whole
    assert rooms[0] == "15/100"
    for room, said in enumerate(rooms):
        assert len(said) <= max(room, len("15/100"))
    assert "left" in describe(counted, 20)
    assert "tokens" not in describe(counted, len(whole) - 1)


def test_an_exam_of_which_all_failed_says_so():
    stream = io.StringIO()
    observer = LineObserver(stream)
    observer.graded(
        "a", Grade({}, failures={0: Failure("unreachable", "no server"), 1: Failure("unreachable", "no server")})
    )
    observer.graded("b", Grade({}))
    observer.graded("c", Grade({"score": math.nan}, failures={0: Failure("unreachable", "no server")}))
    assert stream.getvalue() == "a: no score: 2 failed\nb: answers are recorded\nc: no score: 1 failed\n"
