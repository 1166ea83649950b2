"""The questions of an exam as several models answered them: difficulty, discrimination, doubtful golds, duplicates."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, field
from statistics import fmean
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from proctor.results.instance_scores import main_score, whole_of
from proctor.runs.meaning import why_not_comparable
from proctor.runs.pairs import SHARED
from proctor.runs.question_words import answer_of, asked_of, gold_of, question_of, sent_of
from proctor.runs.sample_lines import digest_of_line, failure_of, next_lines, read_line
from proctor.runs.stored_run import StoredRun
from proctor.safe_files import opened
from proctor.scoring.flat_scores import COPIES, main_of
from proctor.statistics.item_quality import Discrimination, Rival, difficulty, discriminations, rest_means, rival_of

_BATCH: Final = 4_000_000  # bytes of lines that are read at once
_RIGHT: Final = 0.5  # of the points, as in the votes about golds
_FEWEST: Final = 2  # models: of one, nothing says whether a question or the model is to blame

_WORDS: Final = ("input", "prompt", "continuations", "references")

Key = tuple[int, int]
"""The digest of a row, and how many equal ones stand before it; of rows that nobody digested, 0 and the number."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question.

    Attributes:
        number: In the first run that has it.
        question, gold: Its words.
        models: How many have a score.
        right: How many of them have more than half of the points.
        difficulty, low, high: The share of the points that they lose, and its 95% interval.
        discrimination: How its scores go with those of all other questions; ``None`` where that cannot be said.
        instead: The answer that speaks most against the gold; empty where nothing does.
        instead_by: The models that gave it, the best first.
        weight: By how much their votes outweigh those for the gold.
    """

    number: int
    question: str
    gold: str
    models: int
    right: int
    difficulty: float
    low: float
    high: float
    discrimination: Discrimination | None = None
    instead: str = ""
    instead_by: tuple[str, ...] = ()
    weight: float = 0.0

    @property
    def is_doubtful(self) -> bool:
        """Whether the better models agree on another answer: they outweigh the gold, and it is not they who give it."""
        found = self.discrimination
        return self.weight > 0 and len(self.instead_by) >= _FEWEST and (found is None or found.value <= 0)


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A question that stands more than once in an exam.

    Attributes:
        numbers: Its instances.
        question: Its words.
        golds: What is right, instance by instance.
    """

    numbers: tuple[int, ...]
    question: str
    golds: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """Whether different answers are right."""
        return len({gold.casefold() for gold in self.golds}) > 1


@dataclass(frozen=True, slots=True)
class ExamItems:
    """The questions of one exam.

    Attributes:
        exam: Its name.
        metric: What its scores are.
        models: Who answered, the best first.
        items: The questions with a score, in the order of the first run.
        duplicates: Those that stand more than once, different golds first.
        notes: What could not be said, and why.
    """

    exam: str
    metric: str
    models: tuple[str, ...]
    items: tuple[Item, ...]
    duplicates: tuple[Duplicate, ...]
    notes: tuple[str, ...]

    @property
    def doubtful(self) -> list[Item]:
        """Questions whose gold may be wrong, the most doubtful first."""
        return sorted((each for each in self.items if each.is_doubtful), key=lambda each: -each.weight)

    @property
    def by_all(self) -> list[Item]:
        """Questions that every model answers: nothing would be known less without them."""
        return [each for each in self.items if each.right == each.models]

    @property
    def by_none(self) -> list[Item]:
        """Questions that no model answers."""
        return [each for each in self.items if not each.right]

    def record(self) -> dict[str, Any]:
        """Return everything as JSON-like data."""
        found = asdict(self)
        found["doubtful"] = [each.number for each in self.doubtful]
        found["answered_by_all"] = [each.number for each in self.by_all]
        found["answered_by_none"] = [each.number for each in self.by_none]
        return found


def items_of(runs: Sequence[StoredRun]) -> list[ExamItems]:
    """Return the questions of every exam that the runs have samples of; runs of one engine count as one model.

    Exams of one name are one, and so are those of other names with the same instances.
    """
    tables = {exam: _Table(exam) for run in runs for exam in run.results}
    for run in runs:
        columns: dict[str, dict[int, _Line]] = {}
        for record in records_of(run):
            if (table := tables.get(str(record.get("exam")))) is not None and table.exam in run.results:
                column = columns.setdefault(table.exam, {})
                number = record.get("doc_id")
                number = number if isinstance(number, int) else len(column)
                column[number] = table.read(run, number, record)  # of two lines about one instance, the later counts
        free = [table for name, table in tables.items() if table.rows and name not in columns]
        for exam, column in columns.items():
            lines = list(column.values())
            table = tables[exam] if tables[exam].rows else _same_exam(lines, free) or tables[exam]
            free = [each for each in free if each is not table]
            table.add(run, exam, lines)
    return [table.items() for table in tables.values() if table.rows]


def _same_exam(lines: Sequence[_Line], tables: Sequence[_Table]) -> _Table | None:
    """Return the exam of another name that has the instances of some lines; ``None`` where none has half of them."""
    digests = {line.digest for line in lines} - {None}
    best = max(tables, key=lambda each: each.share(digests), default=None)
    return best if best is not None and best.share(digests) >= SHARED else None


class _Line(NamedTuple):
    """A line: its question's key without how many stand before it, score and answer."""

    digest: int | None
    number: int
    score: float
    answer: str | None
    words: Mapping[str, Any] | None


@dataclass(slots=True)
class _Question:
    run: int
    number: int
    asked: str
    question: str
    gold: str


@dataclass(slots=True)
class _Row:
    """A model: its scores and answers by question."""

    name: str
    scores: dict[Key, list[float]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[Key, str] = field(default_factory=dict)


class _Table:
    """The answers of models to the questions of one exam."""

    def __init__(self, exam: str) -> None:
        self.exam, self.metric = exam, ""
        self.rows: dict[str, _Row] = {}
        self.questions: dict[Key, _Question] = {}
        self.notes: list[str] = []
        self._first: Mapping[str, Any] | None = None
        self._digests: set[int | None] = set()
        self._by_sent: dict[str, list[Key]] = defaultdict(list)
        self._runs = 0

    def read(self, run: StoredRun, number: int, record: Mapping[str, Any]) -> _Line:
        """Return what counts of a line; its words where no run before had the question."""
        digest = digest_of_line(record)
        score = None if failure_of(record) else main_score(record, main_of(run.results[self.exam]).name)
        is_new = digest is None or digest not in self._digests
        words = {name: record.get(name) for name in _WORDS} if is_new else None
        return _Line(digest, number, math.nan if score is None else score, answer_of(record), words)

    def share(self, digests: AbstractSet[int | None]) -> float:
        """Return the share of instances that the smaller of two exams has in common with the other."""
        smaller = min(len(digests), len(self._digests - {None}))
        common = len(digests & self._digests)
        return common / smaller if common > 1 else 0.0

    def add(self, run: StoredRun, exam: str, lines: Sequence[_Line]) -> None:
        """Count a run in by the name that it gives the exam, or note why it is left out."""
        entry = run.results[exam]
        main = main_of(entry)
        known = [line.score for line in lines if not math.isnan(line.score)]
        whole = whole_of(known, entry)
        if why := self._why_not(entry, known, whole):
            self.notes.append(f"{run.path.name} is left out: {why}")
            return
        self._first, self.metric = self._first or entry, self.metric or main.name
        row, taken = self._row_of(run), set[Key]()
        self._runs += 1
        for line, key in zip(lines, _keys(lines, are_copies=bool(entry.get(COPIES))), strict=True):
            if key not in self.questions and line.words is not None:
                key = self._named(key, line.number, line.words, taken)  # noqa: PLW2901 - the same question
            taken.add(key)
            if not math.isnan(line.score):
                share = line.score / whole
                row.scores[key].append(1.0 - share if main.higher_is_better is False else share)
            if line.answer is not None:
                row.answers.setdefault(key, line.answer)
        self._digests |= {line.digest for line in lines}

    def _named(self, key: Key, number: int, words: Mapping[str, Any], taken: AbstractSet[Key]) -> Key:
        """Return the key of the question of another run that sent the same and has the same gold, else this one's."""
        sent, gold = sent_of(words), gold_of(words)
        same = self._by_sent[f"{sent}\0{gold}"]
        if found := next((each for each in same if each not in taken), None):
            return found
        same.append(key)
        self.questions[key] = _Question(self._runs, number, asked_of(words), question_of(words), gold)
        return key

    def _why_not(self, entry: Mapping[str, Any], known: Sequence[float], whole: float) -> str:
        if not known:
            return "its instances have no score of their own"
        if min(known) < 0 or max(known) > whole:
            return "its scores have no known ends"
        if self._first is None:
            return ""
        one, two = main_of(self._first), main_of(entry)
        return why_not_comparable(one, two, (one.unit, two.unit))

    def _row_of(self, run: StoredRun) -> _Row:
        """Return the row of a run's model; an engine that answered in several runs is one."""
        identity = run.spec.engine if run.spec is not None and run.spec.engine else str(run.path)
        if identity not in self.rows:
            taken = {row.name for row in self.rows.values()}
            name = run.model if run.model not in taken else f"{run.model} ({run.path.name})"
            self.rows[identity] = _Row(name)
        return self.rows[identity]

    def items(self) -> ExamItems:
        """Return what the models say of the questions."""
        keys = list(self.questions)
        scores = np.array([[_mean(row.scores.get(key)) for key in keys] for row in self.rows.values()])
        skills = np.array([fmean(map(_mean, row.scores.values())) for row in self.rows.values()])
        order = np.argsort(-skills, kind="stable")
        rows, scores = [list(self.rows.values())[place] for place in order], scores[order]
        names = [row.name for row in rows]
        rest, found, items = rest_means(scores), discriminations(scores), []
        for place, key in enumerate(keys):
            column = scores[:, place]
            known = column[np.isfinite(column)]
            if known.size:
                answers = [row.answers.get(key) for row in rows]
                rival = rival_of(column, rest[:, place], [each and each.casefold() for each in answers])
                items.append(_item(self.questions[key], known, found[place], rival, answers, names))
        notes = (*self.notes, *_limits(len(rows), items))
        return ExamItems(self.exam, self.metric, tuple(names), tuple(items), tuple(self._duplicates()), notes)

    def _duplicates(self) -> Iterator[Duplicate]:
        by: dict[tuple[int, str], list[_Question]] = defaultdict(list)
        for each in self.questions.values():
            by[each.run, each.asked].append(each)
        found = [
            Duplicate(tuple(e.number for e in group), group[0].question, tuple(e.gold for e in group))
            for (_, asked), group in by.items()
            if asked.strip() and len(group) > 1
        ]
        yield from sorted(found, key=lambda each: not each.differs)


def _item(
    question: _Question,
    known: NDArray[np.float64],
    found: Discrimination | None,
    rival: Rival | None,
    answers: Sequence[str | None],
    names: Sequence[str],
) -> Item:
    value, bounds = difficulty(known)
    given = ("", ()) if rival is None else (answers[rival.models[0]] or "", tuple(names[each] for each in rival.models))
    right = int((known > _RIGHT).sum())
    weight = 0.0 if rival is None else rival.weight
    return Item(
        question.number, question.question, question.gold, len(known), right, value, *bounds, found, *given, weight
    )


def _limits(models: int, items: Sequence[Item]) -> Iterator[str]:
    """Yield what so few models, or such lines, cannot say."""
    if models < _FEWEST:
        yield "one model does not tell a hard question from a wrong gold: give runs of others, too"
    elif not any(each.discrimination for each in items):
        yield f"{models} models do not say which questions tell better ones from worse: four that differ do"
    if not any(each.instead for each in items) and any(each.right < each.models for each in items):
        yield "the samples do not say what models answered instead, so no gold is doubted"


def records_of(run: StoredRun) -> Iterator[dict[str, Any]]:
    """Yield the lines of a run's samples; nothing where it has none."""
    return map(read_line, lines_of(run))


def lines_of(run: StoredRun) -> Iterator[bytes]:
    """Yield the same as they stand."""
    if run.samples is not None:
        with opened(run.samples, within=run.path) as file:
            while lines := next_lines(file, _BATCH):
                yield from (line for line, _ in lines)


def _keys(lines: Sequence[_Line], *, are_copies: bool) -> Iterator[Key]:
    """Yield the key of each line's question; copies of a question are one."""
    met: Counter[int] = Counter()
    for line in lines:
        yield (0, line.number) if line.digest is None else (line.digest, met[line.digest])
        if line.digest is not None and not are_copies:
            met[line.digest] += 1


def _mean(values: Sequence[float] | None) -> float:
    return fmean(values) if values else math.nan
