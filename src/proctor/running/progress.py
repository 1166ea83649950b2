"""Progress of a run: not at all, as plain lines, or as live bars."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TextIO

from proctor.ir import BATCHED, Response, Usage
from proctor.logs import get_logger
from proctor.scoring.grades import Grade
from proctor.terminal_text import printable

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

_LINE_SECONDS = 10.0  # logs of CI keep every line: six a minute show that it is alive and where it is
_REDRAW_SECONDS = 0.1  # drawing takes a millisecond, and nobody reads faster than ten numbers a second
_WIDTH = 80
_BAR, _NARROW_BAR = 20, 10  # columns: five percent of a run move it by one; half of that on a narrow terminal
_AROUND = 5  # columns: the spinner, and a blank between two columns
_LEAST_TITLE = 16  # columns: a name of which less is shown is not a name
_JUDGE = 16  # columns of a judge's name beside its counts
_NAMES_SHOWN = 3  # one line of a terminal, also where names of recipes are long


@dataclass(slots=True)
class Progress:
    """Counts of a run so far.

    Attributes:
        total: Requests that the run needs, at most; ``None`` where counting them would take long.
        cached: Requests that the log could answer.
        asked: Requests sent to the engine.
        answered: Answers that came back, failures included.
        failed: Failures among them.
        usage: Tokens as the engine counted them, of what was answered in this run.
        batched: Those among them that came in a provider's batch.
        long, long_batched: Those of both whose prompts have more tokens than ``above``.
        above: Tokens of a prompt from which on a request costs more, if any.
        started: ``time.monotonic()`` at the start.
    """

    total: int | None = None
    cached: int = 0
    asked: int = 0
    answered: int = 0
    failed: int = 0
    usage: Usage = Usage()  # noqa: RUF009 - frozen
    batched: Usage = Usage()  # noqa: RUF009 - frozen
    long: Usage = Usage()  # noqa: RUF009 - frozen
    long_batched: Usage = Usage()  # noqa: RUF009 - frozen
    above: int | None = None
    started: float = 0.0

    @property
    def done(self) -> int:
        """Requests that have an answer, wherever it came from."""
        return self.cached + self.answered

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.answered / self.seconds if self.seconds > 0 else 0.0

    @property
    def eta_seconds(self) -> float | None:
        """Seconds that the rest will take at this rate; ``None`` where nobody knows."""
        if self.total is None or not self.answered:
            return None
        return max(self.total - self.done, 0) / self.rate

    def count(self, response: Response) -> None:
        """Add an answer of the engine."""
        self.answered += 1
        self.failed += response.failure is not None
        self.usage += response.usage
        is_long = self.above is not None and response.usage.of_answer[0] > self.above
        if is_long:
            self.long += response.usage
        if response.way == BATCHED:
            self.batched += response.usage
            self.long_batched += response.usage if is_long else Usage()


class Observer(Protocol):
    """Somebody who watches a run. Methods are called in the thread that runs it, ``asking`` after every answer.

    Attributes:
        wants_total: Whether to count the requests before the first is sent, which takes up to a second.
    """

    wants_total: bool

    def started(self, exams: Sequence[str], engine: str) -> None:
        """The run begins."""

    def asking(self, progress: Progress) -> None:
        """An answer came, or the log was searched; the counts go on changing after the call."""

    def grading(self, exam: str) -> None:
        """All answers are there; an exam is being graded."""

    def judging(self, judge: str, progress: Progress) -> None:
        """While an exam is graded, a judge answered; the counts are those of this judge and this metric."""

    def graded(self, exam: str, grade: Grade) -> None:
        """An exam has its scores."""

    def finished(self) -> None:
        """The run ended, well or not; always called."""


class SilentObserver:
    """Shows nothing."""

    wants_total = False

    def started(self, exams: Sequence[str], engine: str) -> None:
        """See :class:`Observer`."""

    def asking(self, progress: Progress) -> None:
        """See :class:`Observer`."""

    def grading(self, exam: str) -> None:
        """See :class:`Observer`."""

    def judging(self, judge: str, progress: Progress) -> None:
        """See :class:`Observer`."""

    def graded(self, exam: str, grade: Grade) -> None:
        """See :class:`Observer`."""

    def finished(self) -> None:
        """See :class:`Observer`."""


class LineObserver(SilentObserver):
    """Writes a line now and then, for log files and terminals without cursor control."""

    wants_total = True

    def __init__(self, stream: TextIO | None = None, every_seconds: float = _LINE_SECONDS) -> None:
        self._stream = stream or sys.stderr
        self._every_seconds = every_seconds
        self._last = 0.0
        self._progress: Progress | None = None

    def started(self, exams: Sequence[str], engine: str) -> None:
        """Say what is asked of whom."""
        shown = ", ".join(exams[:_NAMES_SHOWN])
        if len(exams) > _NAMES_SHOWN:
            shown += f" and {len(exams) - _NAMES_SHOWN} more"
        self._write(f"{engine}: {shown}")
        self._last = time.monotonic()

    def asking(self, progress: Progress) -> None:
        """Write the counts if the last line is old enough."""
        self._progress = progress
        if time.monotonic() - self._last >= self._every_seconds:
            self._last = time.monotonic()
            self._write(describe(progress))

    def grading(self, exam: str) -> None:  # noqa: ARG002 - every exam is told of by its score
        """Write the last counts once."""
        self.finished()

    def judging(self, judge: str, progress: Progress) -> None:
        """Write the judge's counts if the last line is old enough."""
        if time.monotonic() - self._last >= self._every_seconds:
            self._last = time.monotonic()
            self._write(f"judge {judge}: {describe(progress)}")

    def graded(self, exam: str, grade: Grade) -> None:
        """Write the main score, where there is one."""
        name = grade.scores.get("score_name", "score")
        score = grade.scores.get("score")
        if isinstance(score, float) and math.isnan(score) and grade.failures:
            score = None  # a mean of nothing
        nothing = f"no score: {len(grade.failures)} failed" if grade.failures else "answers are recorded"
        self._write(f"{exam}: {nothing if score is None else f'{name} = {_number(score)}'}")

    def finished(self) -> None:
        """Write counts that nobody has seen yet."""
        if self._progress is not None:
            self._write(describe(self._progress))
            self._progress = None

    def _write(self, line: str) -> None:
        print(printable(line), file=self._stream, flush=True)


class JudgeLog:
    """Logs how far judges are now and then, where they are asked without a run."""

    def __init__(self, every_seconds: float = _LINE_SECONDS) -> None:
        self._every_seconds = every_seconds
        self._last = time.monotonic()

    def __call__(self, judge: str, progress: Progress) -> None:
        """Log the counts if the last line is old enough."""
        if time.monotonic() - self._last >= self._every_seconds:
            self._last = time.monotonic()
            get_logger().info("judge %s: %s", judge, describe(progress))


class LiveObserver(SilentObserver):
    """Shows a bar with rate, time left and tokens on a terminal."""

    wants_total = True

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._bars: RichProgress | None = None
        self._bar: TaskID | None = None
        self._title = ""
        self._bar_width = _BAR
        self._last = 0.0

    def started(self, exams: Sequence[str], engine: str) -> None:
        """Draw the bar."""
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as Bars
        from rich.table import Column

        # Whatever else is written meanwhile passes this console: names in brackets are not markup there, either.
        console = Console(file=self._stream, markup=False, highlight=False, emoji=False)
        self._bar_width = _BAR if console.width >= _WIDTH else _NARROW_BAR
        exam = exams[0] if len(exams) == 1 else f"{len(exams)} exams"
        self._title = printable(f"{exam} · {engine}")
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}", style="bold", markup=False, table_column=Column(no_wrap=True)),
            BarColumn(bar_width=self._bar_width),
            TextColumn("{task.fields[note]}", markup=False, table_column=Column(no_wrap=True)),
            console=console,
            transient=True,
        )
        self._bars.start()
        self._bar = self._bars.add_task(self._shown(""), total=None, note="")

    def asking(self, progress: Progress) -> None:
        """Move the bar, at most ten times a second."""
        if time.monotonic() - self._last < _REDRAW_SECONDS:
            return
        self._last = time.monotonic()
        self._update(progress.done, progress.total, describe(progress, self._room))

    def grading(self, exam: str) -> None:
        """Say which exam is graded."""
        self._update(1, 1, shortened(f"grading {printable(exam)}", self._room))

    def judging(self, judge: str, progress: Progress) -> None:
        """Move the bar with the judge's answers, at most ten times a second."""
        if time.monotonic() - self._last < _REDRAW_SECONDS:
            return
        self._last = time.monotonic()
        said = f"judge {shortened(printable(judge), _JUDGE)} · "
        self._update(progress.done, progress.total, said + describe(progress, self._room - len(said)))

    def finished(self) -> None:
        """Take the bar away."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def _update(self, done: int, total: int | None, note: str) -> None:
        if self._bars is not None and self._bar is not None:
            shown = printable(note)
            self._bars.update(self._bar, completed=done, total=total, description=self._shown(shown), note=shown)

    @property
    def _room(self) -> int:
        """Columns for counts: what a line has beside spinner, bar and as much of a name as tells it from others."""
        return self._columns - min(len(self._title), _LEAST_TITLE)

    @property
    def _columns(self) -> int:
        """Columns for names and counts together."""
        return (self._bars.console.width if self._bars is not None else _WIDTH) - self._bar_width - _AROUND

    def _shown(self, note: str) -> str:
        return shortened(self._title, max(self._columns - len(note), _LEAST_TITLE))


def observer_for(stream: TextIO | None = None) -> Observer:
    """Return live bars where ``stream`` (default: standard error) is a terminal, plain lines elsewhere."""
    stream = stream or sys.stderr
    return LiveObserver(stream) if stream.isatty() else LineObserver(stream)


def describe(progress: Progress, room: int | None = None) -> str:
    """Return the counts in words: ``120/300 · 40 from the log · 12.3/s · 0:15 left · 1.2k tokens in, 300 out``.

    Args:
        progress: The counts.
        room: Characters that there are; what matters least is left out, and the counts themselves never. By default
            there is room for everything.
    """
    said = {"done": f"{progress.done}/{progress.total}" if progress.total is not None else str(progress.done)}
    if progress.cached:
        said["cached"] = f"{progress.cached} from the log"
    if progress.answered:
        said["rate"] = f"{progress.rate:.1f}/s"
    if progress.eta_seconds is not None and progress.done < (progress.total or 0):
        said["left"] = f"{_clock(progress.eta_seconds)} left"
    usage = progress.usage
    if usage.prompt_tokens or usage.completion_tokens:
        thought = f" ({_short(usage.thinking_tokens)} of it thinking)" if usage.thinking_tokens else ""
        said["tokens"] = f"{_short(usage.prompt_tokens)} tokens in, {_short(usage.completion_tokens)} out{thought}"
    if progress.failed:
        said["failed"] = f"{progress.failed} failed"
    for name in ("tokens", "cached", "rate", "failed", "left"):
        if room is None or len(_joined(said)) <= room:
            break
        said.pop(name, None)
    return _joined(said)


def _joined(said: Mapping[str, str]) -> str:
    return " · ".join(said.values())


def shortened(text: str, room: int) -> str:
    """Return a text of at most ``room`` characters: the middle goes, for names differ in how they begin and end.

    >>> shortened("card=cards.wnli,template=templates.classification.long", 20)
    'card=cards…tion.long'
    """
    if len(text) <= room:
        return text
    kept = max(room - 1, 0)
    return f"{text[: kept - kept // 2]}…{text[len(text) - kept // 2 :]}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _short(count: int) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if count >= size:
            return f"{count / (1e3 if unit == 'k' else size):.1f}{unit}"
    return str(count)


def _number(value: object) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)
