"""Runs as lines of a list: what each says of itself, and which of them are wanted, in which order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from proctor.errors import UsageError
from proctor.results.summary import ScoreRow, score_rows
from proctor.running.folder import SPEC
from proctor.runs.stored_run import StoredRun

FILTERS: Final = ("q", "model", "exam", "tag", "state")
SORTS: Final = {
    "newest": "newest first",
    "oldest": "oldest first",
    "name": "name",
    "model": "model",
    "score": "exam and score",
    "failed": "most failures",
    "time": "longest",
    "tokens": "most tokens",
    "cost": "dearest",
}
GROUPS: Final = {"": "no groups", "name": "name", "model": "model", "exam": "exam", "tag": "tag"}
STATES: Final = ("done", "failures", "stopped", "running", "damaged")

_LONGEST = 200
"""Characters of a field: names of models and exams are shorter, and words to find, too."""
_MOST_TAGS = 5  # a line has no room for more
_END_OF_NAME = re.compile(r"[-_. ]*(?:\d{4}-?\d\d-?\d\d(?:[T_-]?\d\d[-:]?\d\d(?:[-:]?\d\d)?)?Z?|[0-9a-f]{8}|v?\d+)$")
"""What tells runs of one kind apart at the end of their names: a time, a digest, a number."""


@dataclass(frozen=True)
class RunLine:
    """A line of the list of runs.

    Attributes:
        id: In addresses.
        run: The run.
        place: The folder that it lies in, below the folder that is shown; empty where it lies there directly.
        rows: Its main scores, those of suites first.
        tags: Words that whoever ran it gave it.
        setting: What was set for it, in short: template, demos, limit …
    """

    id: str
    run: StoredRun
    place: str = ""
    rows: tuple[ScoreRow, ...] = ()
    tags: tuple[str, ...] = ()
    setting: tuple[str, ...] = field(default=())

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.run.path.name

    @cached_property
    def started(self) -> str:
        """The start, in ISO 8601; of a run without results, the time its folder was written."""
        if self.run.started:
            return self.run.started
        with suppress(OSError):
            written = datetime.fromtimestamp((self.run.path / SPEC).stat().st_mtime, UTC)
            return written.isoformat(timespec="seconds")
        return ""

    @cached_property
    def failed(self) -> int:
        """Instances that failed: they have no main score, or some metric could not score them."""
        return sum(max(row.failed, row.failures) for row in self.rows if not row.is_suite)

    @cached_property
    def asked(self) -> int:
        """Instances that were asked about."""
        return sum(row.asked for row in self.rows if not row.is_suite)

    @cached_property
    def verdict(self) -> tuple[str, str]:
        """The outcome, as a class of the style sheet and in words: ``good`` only where nothing failed."""
        if self.run.state != "done":
            return ("" if self.run.state == "running" else "bad"), self.run.state
        scored = any(row.scored or not row.is_graded for row in self.rows)
        broken = [name for name, entry in self.run.results.items() if "error" in entry]
        if broken or not scored:
            return "bad", "not graded" if broken else f"{self.failed:,} failed" if self.failed else "nothing scored"
        if self.run.run.get("stopped"):
            return "warn", "partial"
        if self.failed or any(row.metric_failures for row in self.rows):
            return "warn", f"{self.failed:,} failed" if self.failed else "metric failed"
        return "good", "done"

    @cached_property
    def has_samples(self) -> bool:
        """Whether its instances can be looked at."""
        return self.run.samples is not None

    @cached_property
    def main(self) -> ScoreRow | None:
        """The score that stands for the run: of its one exam, or of the one suite of all its suites."""
        inner = {str(name) for entry in self.run.results.values() for name in entry.get("members") or ()}
        rows = [row for row in self.rows if row.is_suite and row.task not in inner] or self.rows
        return rows[0] if len(rows) == 1 else None

    def score_of(self, exam: str = "") -> ScoreRow | None:
        """Return the score of an exam; without one, that which stands for the run."""
        return next((row for row in self.rows if row.task == exam), None) if exam else self.main

    @cached_property
    def exam_count(self) -> int:
        """How many exams have a score of their own."""
        return sum(not row.is_suite for row in self.rows)

    @cached_property
    def tokens(self) -> int:
        """Tokens that were read and written."""
        usage = (self.run.run.get("usage") or {}).values()
        return sum(int(each.get(name) or 0) for each in usage for name in ("prompt_tokens", "completion_tokens"))

    @property
    def dollars(self) -> float | None:
        """The cost in dollars, where it is known."""
        dollars = (self.run.run.get("cost") or {}).get("usd")
        return float(dollars) if isinstance(dollars, int | float) else None

    @property
    def cost(self) -> str:
        """The cost as people read it; empty where it is not known."""
        return "" if self.dollars is None else f"${self.dollars:,.4f}"

    @cached_property
    def words(self) -> str:
        """Everything that a search looks at, in lower case."""
        metrics = [row.metric for row in self.rows]
        found = [self.name, self.place, self.run.model, self.verdict[1], *self.run.exams, *metrics, *self.tags]
        return " ".join([*found, *self.setting]).lower()


def line_of(run_id: str, run: StoredRun, place: str = "") -> RunLine:
    """Return a run as a line."""
    rows = sorted(score_rows(run.results), key=lambda row: not row.is_suite)
    tags = tuple(run.spec.tags[:_MOST_TAGS]) if run.spec else ()
    return RunLine(run_id, run, place, tuple(rows), tags, tuple(_setting(run)))


def _setting(run: StoredRun) -> Iterator[str]:
    """Yield what was set for a run in a few words each."""
    if run.spec is None:
        return
    overrides = run.spec.overrides
    templates = [str(each).rpartition(".")[2] for each in _templates(run)]
    if templates:
        yield templates[0] if len(templates) == 1 else f"{len(templates)} templates"
    if run.spec.num_demos is not None:
        yield f"{run.spec.num_demos} demo{'' if run.spec.num_demos == 1 else 's'}"
    if (limit := run.spec.limit or overrides.get("limit")) is not None:
        yield f"first {limit:g}" if isinstance(limit, int) else f"first {limit:.0%}"
    if run.spec.seed is not None:
        yield f"seed {run.spec.seed}"
    if repeats := overrides.get("repeats"):
        yield f"{repeats} repeats"
    if overrides.get("apply_chat_template"):
        yield "chat template"
    if "system_prompt" in overrides:
        yield "system prompt"


def _templates(run: StoredRun) -> list[str]:
    """Return the templates of a run's exams, each once; those of recipes, and one that was chosen for all."""
    spec = run.spec
    if spec is None:
        return []
    if chosen := spec.overrides.get("template"):
        return [str(chosen)]
    found: dict[str, None] = {}
    for entry in spec.exams.values():
        recipe = entry.get("recipe") if isinstance(entry, Mapping) else None
        named = recipe.get("template") if isinstance(recipe, Mapping) else None
        for each in named if isinstance(named, list) else [named]:
            if isinstance(each, str):
                found[each] = None
    return list(found)


# -- which, and in which order ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunQuery:
    """A query for runs.

    Attributes:
        q: Words that all occur in what a line says.
        model, exam, tag: One of each; empty is any.
        state: One of :data:`STATES`; empty is any.
        sort: One of :data:`SORTS`.
        group: One of :data:`GROUPS`.
    """

    q: str = ""
    model: str = ""
    exam: str = ""
    tag: str = ""
    state: str = ""
    sort: str = "newest"
    group: str = ""

    @classmethod
    def of(cls, given: Mapping[str, str]) -> RunQuery:
        """Return the query of an address's parameters.

        Raises:
            UsageError: One is too long, or names no order, group or state.
        """
        said = {name: given[name] for name in (*FILTERS, "sort", "group") if given.get(name)}
        for name, text in said.items():
            if len(text) > _LONGEST:
                raise UsageError(f"'{name}' has more than {_LONGEST} characters")
        for name, known in (("sort", SORTS), ("group", GROUPS), ("state", STATES)):
            if name in said and said[name] not in known:
                raise UsageError(
                    f"there is no {name} '{said[name]}'", hint=f"there are {', '.join(filter(None, known))}"
                )
        return cls(**said)

    def parameters(self) -> dict[str, str]:
        """Return the parameters that ask for the same again."""
        found = {name: str(getattr(self, name)) for name in (*FILTERS, "sort", "group")}
        return {name: text for name, text in found.items() if text and (name, text) != ("sort", "newest")}

    def wants(self, line: RunLine) -> bool:
        """Whether a run is wanted."""
        has_failed = line.verdict[0] == "warn" or (line.run.state == "done" and line.verdict[0] == "bad")
        state = "failures" if has_failed else line.run.state
        return (
            (not self.model or line.run.model == self.model)
            and (not self.exam or self.exam in line.run.exams or self.exam in line.run.results)
            and (not self.tag or self.tag in line.tags)
            and (not self.state or state == self.state)
            and all(word in line.words for word in self.q.lower().split())
        )


def sorted_lines(lines: Sequence[RunLine], sort: str, exam: str = "") -> list[RunLine]:
    """Return runs in an order; those that go on are first in that of time, scores are of an exam, if named."""
    newest = sorted(lines, key=lambda line: (line.run.state == "running", line.started), reverse=True)
    keys: dict[str, Any] = {
        "oldest": lambda line: (line.run.state == "running", line.started),
        "name": lambda line: (line.place, line.name.lower()),
        "model": lambda line: (line.run.model.lower(),),
        "score": lambda line: _by_score(line.score_of(exam)),
        "failed": lambda line: (-line.failed,),
        "tokens": lambda line: (-line.tokens,),
        "cost": lambda line: (-(line.dollars or 0.0),),
        "time": lambda line: (-float(line.run.run.get("seconds") or 0),),
    }
    return sorted(newest, key=keys[sort]) if sort in keys else newest


def _by_score(row: ScoreRow | None) -> tuple[Any, ...]:
    """Scores can only be ranked within an exam, a metric and a unit."""
    if row is None:
        return (1, "", "", "", 0.0)
    return (0, row.task, row.metric, row.unit, -row.value if row.value is not None else float("inf"))


def grouped(lines: Sequence[RunLine], by: str) -> list[tuple[str, list[RunLine]]]:
    """Return runs in groups, each with its title, in the order of their first runs; one without a title for none."""
    found: dict[str, list[RunLine]] = {}
    for line in lines:
        for title in _titles(line, by):
            found.setdefault(title, []).append(line)
    return list(found.items())


def _titles(line: RunLine, by: str) -> list[str]:
    match by:
        case "name":
            return [f"{line.place}/{family(line.name)}".strip("/")]
        case "model":
            return [line.run.model]
        case "exam":
            return line.run.exams[:1] or ["no exam"]
        case "tag":
            return list(line.tags[:1]) or ["no tag"]
    return [""]


def family(name: str) -> str:
    """Return the common part of the names of runs of one kind.

    >>> family("smollm2-samples-1a2b3c4d"), family("night-2026-11-23_02-30"), family("try-7"), family("2026-11-23")
    ('smollm2-samples', 'night', 'try', '2026-11-23')
    """
    while (shorter := _END_OF_NAME.sub("", name)) not in ("", name):
        name = shorter
    return name


_SPANS = ((60, 1, "s"), (3600, 60, "min"), (86_400, 3600, "h"), (14 * 86_400, 86_400, "d"))
"""Below how many seconds which unit says it best; older than two weeks is a date."""


def ago(started: str, now: datetime | None = None) -> str:
    """Return how long ago a moment was, as people say it; a date where it is long ago, or lies ahead.

    >>> ago("2026-01-02T03:04:05+00:00", datetime(2026, 1, 2, 5, 30, tzinfo=UTC))
    '2 h ago'
    """
    try:
        moment = datetime.fromisoformat(started)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    except (ValueError, OverflowError):
        return started[:10]
    for most, size, unit in _SPANS:
        if 0 <= seconds < most:
            return f"{int(seconds // size)} {unit} ago"
    return moment.date().isoformat()
