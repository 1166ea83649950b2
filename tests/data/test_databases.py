from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from urllib.error import HTTPError

import pytest
from tests_pace import in_time

from proctor.data import databases
from proctor.data.databases import connect
from proctor.errors import DataError, DatasetNotFoundError

MEMORY = {
    "db_id": "x",
    "db_type": "in_memory",
    "dbms": None,
    "data": {"t": {"columns": ["a", "b"], "rows": [[1, "x"], [2, "y"]]}},
}


def test_tables_in_memory():
    database = connect(MEMORY)
    assert database.schema() == "CREATE TABLE `t` (`a` TEXT, `b` TEXT);"
    assert database.execute("SELECT b FROM t WHERE a = 2") == ([("y",)], None)
    rows, error = database.execute("SELECT zz FROM t")
    assert rows is None
    assert "no such column" in error


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("UNITXT_CACHE_LOCATION", str(tmp_path))
    path = tmp_path / "databases" / "dev" / "shop.sqlite"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)")
        connection.execute("INSERT INTO items (name) VALUES ('pen')")
    return path


def test_files_are_found_by_their_name(file):
    database = connect({"db_id": "bird/shop", "db_type": "local", "dbms": None, "data": None})
    assert database.schema() == "CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT)"
    assert database.execute("SELECT name FROM items") == ([("pen",)], None)


@pytest.mark.parametrize(
    "query",
    ["DELETE FROM items", "DROP TABLE items", "INSERT INTO items (name) VALUES ('x')", "ATTACH 'x.db' AS y; SELECT 1"],
)
def test_queries_cannot_change_a_file(file, query):
    before = file.read_bytes()
    rows, error = connect({"db_id": "shop", "db_type": "local"}).execute(query)
    assert rows is None
    assert error.startswith("Error executing SQL")
    assert file.read_bytes() == before


FILLING = 1.0
"""Seconds in which each query below takes twice the memory that it may, an eighth of what others may, where nothing stops
it."""
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "


def test_queries_end():
    began = time.process_time()
    with databases.query_seconds(0.05):
        rows, error = connect(MEMORY).execute(ENDLESS + "SELECT count(*) FROM n")
    assert rows is None
    assert "interrupted" in error
    assert in_time(time.process_time() - began, 2)


@pytest.mark.parametrize("growth, ends", [(0, False), (1, True)])
def test_a_query_may_let_the_process_grow_so_far(monkeypatch, growth, ends):
    peaks = iter([500])
    monkeypatch.setattr(databases, "_peak", lambda: next(peaks, 500 + databases._MOST_MEMORY + growth))
    found, error = connect(MEMORY).execute(ENDLESS + "SELECT count(*) FROM (SELECT i FROM n LIMIT 3000)")
    assert (found, error) == ((None, "Error executing SQL: interrupted") if ends else ([(3000,)], None))


@pytest.mark.parametrize(
    "query",
    [
        ENDLESS + "SELECT randomblob(200000) FROM n",
        ENDLESS + "SELECT i FROM n",
        ENDLESS + "SELECT randomblob(1000) FROM n ORDER BY 1",
        "CREATE TABLE x AS " + ENDLESS + "SELECT randomblob(1000) FROM n",
        "SELECT zeroblob(900000000)",
        "SELECT " + ",".join(["randomblob(200000)"] * 301),
    ],
)
def test_queries_fill_neither_memory_nor_disk(query, tmp_path):
    """In a process of its own, whose memory shows what a query took."""
    program = (
        "import resource, sys\nfrom proctor.data import databases\nfrom proctor.data.databases import connect, query_seconds\n"
        "databases._MOST_MEMORY //= 8\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"with query_seconds({FILLING}):\n    rows, error = connect({MEMORY!r}).execute(sys.argv[1])\n"
        "print(rows is None, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, query], capture_output=True, text=True, check=True,
        env={**os.environ, "SQLITE_TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    ended, megabytes = done.stdout.split()
    assert ended == "True"
    assert int(megabytes) < 64
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["hard_heap_limit=1000", "soft_heap_limit=1", "temp_store_directory='/tmp'"])
def test_queries_do_not_change_sqlite_itself(name):
    assert connect(MEMORY).execute(f"PRAGMA {name}") == (None, "Error executing SQL: not authorized")
    assert connect(MEMORY).execute("SELECT b FROM t WHERE a = 2") == ([("y",)], None)
    rows, error = connect(MEMORY).execute("PRAGMA table_info(t)")
    assert [each[1] for each in rows] == ["a", "b"], error


@pytest.mark.parametrize(
    "query", ["SELECT '\ud800'", "SELECT '\0'", "SELECT cast(x'ff' AS text)", "SELECT 1; SELECT 2"]
)
def test_queries_that_are_none_are_errors(query):
    rows, error = connect(MEMORY).execute(query)
    assert rows is None
    assert error.startswith("Error executing SQL: ")


def test_tables_that_are_none_are_named():
    with pytest.raises(DataError, match="the table 'my table' of a database in memory cannot be made"):
        connect({"db_type": "in_memory", "data": {"my table": {"columns": ["a"], "rows": []}}}).execute("SELECT 1")


def test_a_database_that_is_not_there_or_twice(file):
    with pytest.raises(DatasetNotFoundError, match=r"no nothing\.sqlite below"):
        connect({"db_id": "bird/nothing", "db_type": "local"})
    twin = file.parent.parent / "shop.sqlite"
    twin.write_bytes(file.read_bytes())
    with pytest.raises(DataError, match="several files"):
        connect({"db_id": "shop", "db_type": "local"})


@pytest.mark.parametrize(
    "config, words",
    [
        ({"db_type": "oracle"}, "no databases of type 'oracle'"),
        ({"db_type": "local"}, "needs a 'db_id'"),
        ({"db_type": "in_memory"}, "needs 'data'"),
        ({"db_type": "remote", "db_id": "file:///x,db_id=y"}, "of the form"),
        ({"db_type": "remote", "db_id": "http://localhost,db_id=y"}, "SQL_API_KEY"),
    ],
)
def test_what_a_database_lacks_is_an_error(config, words, monkeypatch):
    monkeypatch.delenv("SQL_API_KEY", raising=False)
    with pytest.raises(DataError, match=words):
        connect(config)


def test_databases_behind_a_server(monkeypatch):
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self, code, body):
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def do_GET(self):
            asked.append(self.headers["Authorization"])
            tables = [{"name": "t", "columns": [{"name": "a"}]}, {"table_name": "u", "columns": [{"column_name": "b"}]}]
            self.answer(200 if self.path == "/datasources/d1" else 404, {"schema": {"tables": tables}})

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body["sql"])
            if body["sql"] == "later" and asked.count("later") == 1:
                self.answer(503, {})
            else:
                self.answer(400 if body["sql"] == "bad" else 200, {"rows": [[1]]})

        def log_message(self, *arguments):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("SQL_API_KEY", "secret")
    monkeypatch.setattr(databases.time, "sleep", lambda seconds: None)
    url = f"http://127.0.0.1:{server.server_port}"
    try:
        database = connect({"db_type": "remote", "db_id": f"{url},db_id=d1"})
        assert database.schema() == "Table: t has columns: ['a']\nTable: u has columns: ['b']\n"
        assert asked == ["Bearer secret"]
        assert database.execute("later") == ({"rows": [[1]]}, None)
        rows, error = database.execute("bad")
        assert rows is None
        assert "400" in error
        with pytest.raises(DataError, match="cannot be fetched"):
            connect({"db_type": "remote", "db_id": f"{url},db_id=d2"}).schema()
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    "error, said, waits",
    [
        (HTTPError("u", 500, "broken", None, None), "HTTP Error on attempt 3: HTTP Error 500: broken", [1, 2]),
        (HTTPError("u", 499, "wrong", None, None), "HTTP Error on attempt 1: HTTP Error 499: wrong", []),
        (OSError("away"), "Error on attempt 3: away", [1, 2]),
        (ValueError("not JSON"), "Error on attempt 3: not JSON", [1, 2]),
    ],
)
def test_a_server_of_a_database_is_asked_three_times_unless_the_query_is_wrong(error, said, waits, monkeypatch):
    waited = []

    def ask(*_):
        raise error

    monkeypatch.setenv("SQL_API_KEY", "secret")
    monkeypatch.setattr(databases.time, "sleep", waited.append)
    database = connect({"db_type": "remote", "db_id": "http://127.0.0.1:1,db_id=d1"})
    monkeypatch.setattr(type(database), "_ask", ask)
    assert database.execute("SELECT 1") == (None, said)
    assert waited == waits
