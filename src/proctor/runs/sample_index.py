"""An index of ``samples.jsonl``: pages, filters, orders and full-text search without loading the file.

The index is a SQLite file in the cache folder. It keeps for each line where it is, what it scored and whether it
failed, and the words in an FTS5 table without content; what is shown is read from the run folder itself. Building it
may be stopped at any time and goes on where it stopped. A run that is written anew gets a new index.
"""

from __future__ import annotations

import math
import sqlite3
import time
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from proctor.errors import DataError, UsageError, reason_of
from proctor.recipes.fingerprint import FINGERPRINT, Fingerprint
from proctor.results.instance_scores import main_score
from proctor.results.score_grid import groups_of, label_of_instance
from proctor.running.spec import RunSpec
from proctor.runs.sample_lines import (
    LONGEST_LINE,
    ScoredLines,
    answer_key,
    digest_of_line,
    failure_of,
    instance_of_key,
    next_lines,
    read_line,
    searchable,
    storable,
)
from proctor.runs.sample_query import (
    SampleQuery,
    conditions,
    selection,
)
from proctor.runs.sample_tables import TABLES, VERSION, beside, count_of, look_for, number_of
from proctor.runs.score_bins import ScoreBin, score_bins
from proctor.safe_files import opened
from proctor.scoring.flat_scores import COPIES, UNIT, main_of
from proctor.scoring.judges.judged import JUDGED
from proctor.scoring.scores import Score, Unit
from proctor.settings import settings

_RIGHT_AND_WRONG = 2  # scores that need no picture
_BATCH_BYTES = 4_000_000  # of lines for one transaction, about a second: what is lost where building is stopped
_SMALL_BATCH_BYTES = 400_000
"""Where somebody waits: a tenth of a second or so."""
_LARGEST_NUMBER = (1 << 63) - 1  # what SQLite keeps


@dataclass(frozen=True, slots=True)
class SamplePage:
    """Some instances, and how many there are in all.

    Attributes:
        samples: The instances.
        total: How many the query means.
        is_more: Whether a search found so many that only the first :data:`MOST_FOUND` were looked at.
    """

    samples: list[Sample]
    total: int
    is_more: bool = False


@dataclass(frozen=True, slots=True)
class Sample:
    """One line of ``samples.jsonl``.

    Attributes:
        number: Its place in the file, from 0; stable.
        score: The main score, where there is one.
        failure: Why there is none.
        record: The line itself.
    """

    number: int
    score: float | None
    failure: str | None
    record: dict[str, Any]


class SampleIndex:
    """The index of one ``samples.jsonl``.

    Args:
        path: The file.
        main_scores: The main score of each exam (``score_name`` in ``results.json``).
        groupings: The fields whose values put instances of an exam into groups (``by`` in ``results.json``).
        index: Where the index is kept; by default in the cache folder.

    Raises:
        DataError: The file is not there.
    """

    def __init__(
        self,
        path: Path,
        main_scores: Mapping[str, str] | None = None,
        index: Path | None = None,
        groupings: Mapping[str, Sequence[tuple[str, ...]]] | None = None,
    ) -> None:
        self.path = path
        self.units: Mapping[str, Unit] = {}  # of the main scores by exam, where the results say it
        self.mains: Mapping[str, Score] = {}  # the main scores themselves, where there are results
        self.fingerprints: Mapping[str, Fingerprint | None] = {}  # what exams were made of, where there are results
        self.judged: Mapping[str, object] = {}  # what judges of an exam were asked with, where it has some
        self.clusters: Mapping[str, str] = {}  # by which field instances of an exam belong together, where it says so
        self.adaptive: frozenset[str] = frozenset()  # exams of which questions were drawn for what they tell
        self.counts_said: Mapping[str, int] = {}  # how many instances exams have by their results
        self.copied: frozenset[str] = frozenset()  # exams whose instances are copies of questions, each several times
        self.spec: RunSpec | None = None  # what was run, where that is known
        self.labels: object = None  # what people say of the answers, where a command names it
        self.results: Mapping[str, Mapping[str, Any]] = {}  # of each exam, where there are some
        self._main_scores = dict(main_scores or {})
        self._groupings = {exam: list(names) for exam, names in (groupings or {}).items() if names}
        try:
            stat = path.stat()
        except OSError as error:
            raise DataError(f"{path} cannot be read", why=reason_of(error)) from None
        self._size = stat.st_size
        if index is None:
            about = f"{sorted(self._main_scores.items())}|{sorted(self._groupings.items())}"
            identity = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ino}|{VERSION}|{about}"
            name = blake2b(identity.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
            index = Path(settings.cache_dir) / "indexes" / f"{name}.db"
        self.index = index
        index.parent.mkdir(parents=True, exist_ok=True)
        with closing(self._connect()) as database, database:
            database.executescript(TABLES)
            if database.execute("SELECT count(*) FROM progress").fetchone()[0] == 0:
                database.execute("INSERT INTO progress VALUES (0, ?, 0)", (self._size,))

    @classmethod
    def of_run(
        cls,
        path: Path,
        results: Mapping[str, Mapping[str, Any]],
        spec: RunSpec | None = None,
        index: Path | None = None,
    ) -> SampleIndex:
        """Return the index of a run's samples, given what its ``results.json`` has under ``results``.

        Args:
            path: ``samples.jsonl``.
            results: The results of each exam.
            spec: What was run: scores of a whole exam can be computed again only where that is known.
            index: Where the index is kept; by default in the cache folder.
        """
        names = {exam: str(entry.get("score_name", "")) for exam, entry in results.items()}
        groupings = {
            exam: list(dict.fromkeys(tuple(sorted(group["by"])) for group in groups_of(entry)))
            for exam, entry in results.items()
        }
        made = cls(path, names, index, groupings)
        made.units = {exam: entry[UNIT] for exam, entry in results.items() if UNIT in entry}
        made.mains = {exam: main_of(entry) for exam, entry in results.items() if entry.get("score_name")}
        made.fingerprints = {exam: Fingerprint.from_dict(entry.get(FINGERPRINT)) for exam, entry in results.items()}
        made.judged = {exam: entry[JUDGED] for exam, entry in results.items() if JUDGED in entry}
        made.clusters = {exam: by for exam, entry in results.items() if (by := _clusters_of(entry))}
        made.adaptive = frozenset(exam for exam, entry in results.items() if _is_adaptive(entry.get("sample")))
        made.counts_said = {exam: count for exam, entry in results.items() if isinstance(count := entry.get("n"), int)}
        made.copied = frozenset(exam for exam, entry in results.items() if entry.get(COPIES))
        made.spec, made.results = spec, results
        return made

    # -- building -----------------------------------------------------------------------------------------------

    @property
    def share(self) -> float:
        """The share of the file that is indexed, between 0 and 1."""
        with closing(self._connect()) as database:
            consumed, total = database.execute("SELECT consumed, total FROM progress").fetchone()
        return consumed / total if total else 1.0

    def build(self, seconds: float | None = None) -> bool:
        """Index what is not indexed yet; stop after ``seconds``. Return whether all is done."""
        started = time.monotonic()
        batch = _BATCH_BYTES if seconds is None else min(_BATCH_BYTES, _SMALL_BATCH_BYTES)
        with closing(self._connect()) as database, opened(self.path, within=self.path.parent) as file:
            consumed, _, rows = database.execute("SELECT * FROM progress").fetchone()
            file.seek(consumed)
            names = dict(database.execute("SELECT name, id FROM names").fetchall())
            while lines := next_lines(file, batch):
                with database:
                    rows, consumed = self._insert(database, lines, rows, consumed, names)
                if seconds is not None and time.monotonic() - started > seconds:
                    break
            return bool(consumed >= self._size)

    def _insert(
        self,
        database: sqlite3.Connection,
        lines: list[tuple[bytes, int]],
        rows: int,
        consumed: int,
        names: dict[str, int],
    ) -> tuple[int, int]:
        samples, texts = [], []
        members: list[tuple[Any, ...]] = []
        groups = dict(database.execute("SELECT label, id FROM groups").fetchall())
        for line, length in lines:
            record = read_line(line)
            exam, failure = storable(str(record.get("exam", ""))), failure_of(record)
            for name in (exam, failure):
                if name is not None:
                    number_of(database, "names", names, name)
            score = main_score(record, self._main_scores.get(exam))
            doc_id = record.get("doc_id")
            samples.append(
                (
                    rows,
                    names[exam],
                    doc_id if isinstance(doc_id, int) and abs(doc_id) <= _LARGEST_NUMBER else None,
                    score,
                    None if failure is None else names[failure],
                    consumed,
                    length,
                    digest_of_line(record),
                )
            )
            texts.append((rows, searchable(record)))
            numbers = [number_of(database, "groups", groups, label) for label in self._groups_of(exam, record)]
            members.extend((number, rows, score, names[exam]) for number in numbers)
            rows, consumed = rows + 1, consumed + length
        database.executemany("INSERT INTO samples VALUES (?, ?, ?, ?, ?, ?, ?, ?)", samples)
        database.executemany("INSERT INTO words (rowid, body) VALUES (?, ?)", texts)
        database.executemany("INSERT INTO members VALUES (?, ?, ?, ?)", members)
        database.execute("UPDATE progress SET consumed = ?, rows = ?", (consumed, rows))
        return rows, consumed

    def _groups_of(self, exam: str, record: Mapping[str, Any]) -> Iterator[str]:
        fields = record.get("input")
        if isinstance(fields, Mapping):
            for names in self._groupings.get(exam, ()):
                yield storable(label_of_instance(fields, names))

    # -- reading ------------------------------------------------------------------------------------------------

    def page(self, query: SampleQuery, start: int = 0, count: int = 50) -> SamplePage:
        """Return ``count`` instances after the first ``start`` of those that a query means."""
        with closing(self._connect()) as database:
            is_more = look_for(database, query)
            total = count_of(database, query)
            chosen = database.execute(*selection(query, start, count)).fetchall()
            found = {row[0]: row for row in self._rows(database, [each[0] for each in chosen])}
            names = dict(database.execute("SELECT id, name FROM names").fetchall())
        return SamplePage(list(self._read([found[each[0]] for each in chosen], names)), total, is_more)

    def counts(self, queries: Sequence[SampleQuery]) -> list[int]:
        """Return how many instances each query means; the words that they look for are the same."""
        with closing(self._connect()) as database:
            if queries:
                look_for(database, queries[0])
            return [count_of(database, each) for each in queries]

    def distribution(self, query: SampleQuery, most: int) -> list[ScoreBin]:
        """Return how many of a query's instances have which scores, in at most ``most`` ranges of one width.

        Ranges lie between the lowest and the highest score and do not overlap; each has its own lowest and highest
        number. Nothing where there are fewer than three different scores: right and wrong need no picture.
        """
        source, where, values = conditions(replace(query, lowest=None, highest=None, failed=None))
        score = source.score
        scored = f"{source.table} WHERE {where} AND {score} IS NOT NULL"
        with closing(self._connect()) as database:
            look_for(database, query)
            found = database.execute(
                f"SELECT {score}, count(*) FROM {scored} GROUP BY {score} ORDER BY {score}",  # noqa: S608 - our words
                values,
            ).fetchall()
        return score_bins(found, most) if len(found) > _RIGHT_AND_WRONG else []

    @staticmethod
    def _rows(database: sqlite3.Connection, numbers: list[int]) -> list[tuple[Any, ...]]:
        marks = ",".join("?" * len(numbers))
        return database.execute(
            f"SELECT id, score, failure, place, length FROM samples WHERE id IN ({marks})",  # noqa: S608
            numbers,
        ).fetchall()

    def get(self, number: int) -> Sample:
        """Return one instance.

        Raises:
            UsageError: There is none of this number (yet).
        """
        with closing(self._connect()) as database:
            found = self._rows(database, [number])
            names = dict(database.execute("SELECT id, name FROM names").fetchall())
        if not found:
            raise UsageError(f"the run has no instance {number}")
        return next(self._read(found, names))

    def neighbours(self, query: SampleQuery, number: int) -> tuple[int | None, int | None]:
        """Return the numbers before and after an instance among those that a query means, in the query's order."""
        with closing(self._connect()) as database:
            row = database.execute("SELECT score FROM samples WHERE id = ?", (number,)).fetchone()
            if row is None:
                return None, None
            here = (row[0], number)
            look_for(database, query)
            return beside(database, query, here, after=False), beside(database, query, here, after=True)

    def find(self, exam: str, doc_id: int) -> Sample | None:
        """Return the instance of an exam of this number, or ``None``."""
        with closing(self._connect()) as database:
            row = database.execute(
                "SELECT id FROM samples WHERE exam = (SELECT id FROM names WHERE name = ?) AND doc_id = ?",
                (exam, doc_id),
            ).fetchone()
        return None if row is None else self.get(int(row[0]))

    def numbers_of(self, keys: Collection[str]) -> tuple[int, ...]:
        """Return the numbers of the answers with one of these keys, as :func:`~sample_lines.answer_key` makes them."""
        known = sorted({each for key in keys if (each := instance_of_key(key)) is not None})
        wanted = ",".join(map(str, known))
        with closing(self._connect()) as database:
            rows = database.execute(
                f"SELECT id, score, failure, place, length FROM samples WHERE coalesce(instance, 0) IN ({wanted})"  # noqa: S608 - integers
            ).fetchall()
        return tuple(each.number for each in self._read(rows, {}) if answer_key(each.record) in keys)

    def find_same(self, exam: str, doc_id: int, sample: Sample | None) -> Sample | None:
        """Return the instance that holds the same as another run's; by its number where that one does not say."""
        digest = None if sample is None else digest_of_line(sample.record)
        if digest is None:
            return self.find(exam, doc_id)
        with closing(self._connect()) as database:
            row = database.execute(
                "SELECT id FROM samples WHERE exam = (SELECT id FROM names WHERE name = ?) AND instance = ?",
                (exam, digest),
            ).fetchone()
        return None if row is None else self.get(int(row[0]))

    def scored(self, exam: str) -> ScoredLines:
        """Return an exam's instances by number: each with the digest of its content, and its main score.

        Copies of a question are one.
        """
        numbers, digests, scores = array("q"), array("q"), array("d")
        with closing(self._connect()) as database:
            rows = database.execute(
                "SELECT doc_id, instance, score FROM samples WHERE exam = (SELECT id FROM names WHERE name = ?) "
                "AND doc_id IS NOT NULL ORDER BY doc_id, id",
                (exam,),
            )
            for number, digest, score in rows:
                if numbers and numbers[-1] == number:  # of two lines about one instance, the later one counts
                    digests[-1], scores[-1] = digest or 0, math.nan if score is None else score
                    continue
                numbers.append(number)
                digests.append(digest or 0)
                scores.append(math.nan if score is None else score)
        found = ScoredLines(*(np.array(each) for each in (numbers, digests, scores)))
        return found.by_question() if exam in self.copied else found

    def records(self, exam: str) -> Iterator[dict[str, Any]]:
        """Yield the lines of an exam in the order of the file."""
        with closing(self._connect()) as database:
            places = database.execute(
                "SELECT id, score, failure, place, length FROM samples "
                "WHERE exam = (SELECT id FROM names WHERE name = ?) ORDER BY id",
                (exam,),
            ).fetchall()
        return (sample.record for sample in self._read(places, {}))

    def exams(self) -> list[str]:
        """Return the names of the exams that have instances, in the order in which they appear."""
        with closing(self._connect()) as database:
            rows = database.execute(
                "SELECT name FROM names WHERE id IN (SELECT DISTINCT exam FROM samples) ORDER BY id"
            ).fetchall()
        return [str(row[0]) for row in rows]

    def _read(self, found: list[tuple[Any, ...]], names: Mapping[int, str]) -> Iterator[Sample]:
        with opened(self.path, within=self.path.parent) as file:
            for number, score, failure, place, length in found:
                file.seek(place)
                line = file.read(length) if length <= LONGEST_LINE else b""
                yield Sample(number, score, names.get(failure), read_line(line))

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.index, timeout=60.0)


def _clusters_of(entry: Mapping[str, Any]) -> str:
    found = entry.get("clusters")
    return str(found.get("by") or "") if isinstance(found, Mapping) else ""


def _is_adaptive(sample: object) -> bool:
    return isinstance(sample, Mapping) and bool(sample.get("is_adaptive"))
