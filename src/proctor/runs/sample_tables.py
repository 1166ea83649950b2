"""The tables of an index of samples, and what is asked of them: names, words, counts, neighbours."""

from __future__ import annotations

import sqlite3

from proctor.runs.sample_query import (
    EVERYTHING,
    MOST_FOUND,
    SAMPLES,
    SampleQuery,
    conditions,
    match_expression,
    steps,
)

VERSION = 5  # raised whenever the tables or what is put into them change: older indexes are then made anew


_WORDS_IN_MEMORY_BYTES = 32_000_000  # FTS5's own 1 MB makes many small segments, which it has to merge again

TABLES = f"""
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS progress (consumed INTEGER NOT NULL, total INTEGER NOT NULL, rows INTEGER NOT NULL);
    CREATE TABLE IF NOT EXISTS samples (
        id INTEGER PRIMARY KEY, exam INTEGER NOT NULL, doc_id INTEGER, score REAL, failure INTEGER,
        place INTEGER NOT NULL, length INTEGER NOT NULL, instance INTEGER);
    CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE INDEX IF NOT EXISTS by_exam ON samples (exam);
    CREATE INDEX IF NOT EXISTS by_score ON samples (score, id, exam);
    CREATE INDEX IF NOT EXISTS by_score_down ON samples (score DESC, id, exam);
    CREATE INDEX IF NOT EXISTS by_exam_score ON samples (exam, score);
    CREATE INDEX IF NOT EXISTS by_failure ON samples (failure) WHERE failure IS NOT NULL;
    CREATE TABLE IF NOT EXISTS groups (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS members (
        grp INTEGER NOT NULL, sample INTEGER NOT NULL, mark REAL, exam INTEGER NOT NULL,
        PRIMARY KEY (grp, sample)) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS members_by_mark ON members (grp, mark, sample, exam);
    CREATE INDEX IF NOT EXISTS members_by_mark_down ON members (grp, mark DESC, sample, exam);
    CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(
        body, content='', columnsize=0, detail=none, prefix='1 2 3', tokenize='unicode61 remove_diacritics 2');
    INSERT INTO words (words, rank) VALUES ('hashsize', {_WORDS_IN_MEMORY_BYTES});
    PRAGMA user_version = {VERSION};
"""  # noqa: S608 - numbers of ours


def number_of(database: sqlite3.Connection, table: str, known: dict[str, int], name: str) -> int:
    """Return the number of a name, a new one where it has none."""
    number = known.get(name)
    if number is None:
        number = known[name] = len(known) + 1
        database.execute(f"INSERT INTO {table} VALUES (?, ?)", (number, name))  # noqa: S608 - one of our tables
    return number


def look_for(database: sqlite3.Connection, query: SampleQuery) -> bool:
    """Look for the words of a query, once for all that is asked about them; return whether there are too many."""
    if not (match := match_expression(query.text)):
        return False
    database.execute("PRAGMA temp_store = MEMORY")
    database.execute("CREATE TEMP TABLE found (id INTEGER PRIMARY KEY)")
    found = database.execute(
        "INSERT INTO found SELECT rowid FROM words WHERE words MATCH ? LIMIT ?", (match, MOST_FOUND + 1)
    ).rowcount
    if found > MOST_FOUND:
        database.execute("DELETE FROM found WHERE id = (SELECT max(id) FROM found)")
    return found > MOST_FOUND


def count_of(database: sqlite3.Connection, query: SampleQuery) -> int:
    """Return how many instances a query means."""
    source, where, values = conditions(query)
    if source == SAMPLES and where == EVERYTHING:
        return int(database.execute("SELECT rows FROM progress").fetchone()[0])
    return int(database.execute(f"SELECT count(*) FROM {source.table} WHERE {where}", values).fetchone()[0])  # noqa: S608


def beside(
    database: sqlite3.Connection, query: SampleQuery, here: tuple[float | None, int], *, after: bool
) -> int | None:
    """Return the number next to an instance. Each step asks an index for one row, so a million do not matter."""
    source, where, values = conditions(query)
    for beyond, given, order in steps(source, query.order, here, after=after):
        row = database.execute(
            f"SELECT {source.place} FROM {source.table} WHERE {where} AND {beyond} ORDER BY {order} LIMIT 1",  # noqa: S608
            (*values, *given),
        ).fetchone()
        if row is not None:
            return int(row[0])
    return None
