"""Addresses of databases that hold logs: what is shown of them, and where they lead."""

from pathlib import Path

import pytest

from proctor.errors import UsageError
from proctor.running.log_place import LogAddress, placed


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch):
    monkeypatch.delenv("PGHOST", raising=False)
    monkeypatch.delenv("PGPORT", raising=False)


@pytest.mark.parametrize(
    "typed, shown, target",
    [
        ("postgresql://host/db", "postgresql://host/db", "host:5432"),
        ("postgres://host:7/db", "postgresql://host:7/db", "host:7"),
        ("postgresql://me:hidden-word@host/db", "postgresql://host/db?user=me", "host:5432"),
        ("postgresql://me@host/db?sslmode=require", "postgresql://host/db?user=me&sslmode=require", "host:5432"),
        ("postgresql://host/db?password=hidden-word&user=a%20b", "postgresql://host/db?user=a%20b", "host:5432"),
        ("postgresql://host/db?sslpassword=hidden-word", "postgresql://host/db", "host:5432"),
        ("postgresql:///db", "postgresql:///db", "localhost:5432"),
        ("postgresql://one/db?host=two&port=9", "postgresql://one/db?host=two&port=9", "two:9"),
        ("postgresql://host?dbname=db", "postgresql://host?dbname=db", "host:5432"),
        ("postgresql://[::1]:7/db", "postgresql://[::1]:7/db", "::1:7"),
    ],
)
def test_an_address_is_shown_without_its_secrets_and_leads_where_it_says(typed, shown, target):
    found = LogAddress(typed)
    assert (found, found.target, found.typed) == (shown, target, typed)
    assert "hidden-word" not in found
    assert (placed(typed), placed(found) is found) == (found, True)


def test_variables_say_where_an_address_does_not(monkeypatch):
    monkeypatch.setenv("PGHOST", "own")
    monkeypatch.setenv("PGPORT", "6")
    assert [LogAddress(f"postgresql://{each}/db").target for each in ("", "host", "host:8")] == [
        "own:6",
        "host:6",
        "host:8",
    ]


@pytest.mark.parametrize(
    "typed, told",
    [
        ("postgresql://host:word/db", "the address of the database cannot be read"),
        ("postgresql://host", "postgresql://host names no database"),
        ("postgresql://host/", "names no database"),
        ("postgresql:/host/db", "is a text, not a path"),
        (Path("postgres:/host/db"), "is a text, not a path"),
    ],
)
def test_what_is_no_address(typed, told):
    with pytest.raises(UsageError, match=told):
        placed(typed)


def test_everything_else_is_a_file():
    assert (placed("a/b.db"), placed(Path("c.db")), placed("postgresql.db")) == (
        Path("a/b.db"),
        Path("c.db"),
        Path("postgresql.db"),
    )
