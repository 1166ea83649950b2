"""Damage to a response log: other numbers never come of it; it is found, said, counted, and asked again."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from running_fakes import ToyEngine, ToyExam, choice, question, talk
from tests_logged import put_many

from proctor.errors import LogError
from proctor.ir import Failure, Response, Scored
from proctor.running import run_exams
from proctor.running.codec import encode, is_sealed
from proctor.running.log import Key, ResponseLog
from proctor.running.log_schema import SCHEMA_VERSION
from proctor.running.maintenance import compact, drop, engines, entries, salvage, verify

IDENTITIES = ("engine of one", "engine of another")
COUNT = 150


def key(number: int, repeat: int = 0) -> Key:
    return Key(number.to_bytes(16, "big"), repeat)


def response(engine: int, number: int) -> Response:
    if number % 7 == 0:
        return Response((f"engine {engine} says {number} at length, " * 60,))
    if number % 5 == 0:
        return Response(failure=Failure("timeout", f"too slow {number}"))
    if number % 3 == 0:
        return Response(scores=(Scored(-1.5 * number, True, 2), Scored(-0.25 * engine, False, 1)))
    return Response((f"engine {engine} says {number}",))


def make(path: Path | str) -> dict[str, dict[Key, Response]]:
    expected: dict[str, dict[Key, Response]] = {}
    with ResponseLog(path) as log:
        for place, identity in enumerate(IDENTITIES):
            number = log.engine_number(identity, f"label {place}", {"model": identity})
            expected[identity] = {key(each, each % 2): response(place, each) for each in range(COUNT)}
            put_many(log, number, expected[identity].items())
        compact(log)
    return expected


def read(path: Path | str) -> tuple[dict[str, dict[Key, Response]], int]:
    """Return what a log answers, by engine, and how many damaged entries it met."""
    with ResponseLog(path) as log:
        found = {}
        for identity in IDENTITIES:
            number = log.engine_number(identity)
            keys = [key(each, each % 2) for each in range(COUNT)]
            found[identity] = log.get_many(number, keys, failures=True)
            # What is known is not asked, so it has to be there; an index that is damaged itself may find one of the two.
            known = log.has_many(number, keys, failures=True)
            assert found[identity].keys() == known or log.check()
        return found, log.damaged


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> tuple[Path, dict[str, dict[Key, Response]]]:
    path = tmp_path_factory.mktemp("sound") / "log.db"
    return path, make(path)


def outcome(path: Path, expected: dict[str, dict[Key, Response]]) -> str:
    """Return what becomes of a damaged log; whatever it still answers is right."""
    try:
        found, damaged = read(path)
    except LogError as error:
        assert error.hint
        return "refused"
    for identity, answers in found.items():
        for each, answer in answers.items():
            assert answer == expected[identity][each]
    missing = sum(len(answers) for answers in expected.values()) - sum(map(len, found.values()))
    if not missing:
        return "equal"
    try:
        with ResponseLog(path, read_only=True) as log:
            assert not verify(log).is_sound or damaged
    except LogError:
        pass
    return "asked again"


def test_a_flipped_bit_never_gives_other_answers(sound, tmp_path):
    source, expected = sound
    data = bytearray(source.read_bytes())
    generator = random.Random(14)
    outcomes = {"equal": 0, "refused": 0, "asked again": 0}
    for _ in range(250):
        place, bit = generator.randrange(len(data)), 1 << generator.randrange(8)
        data[place] ^= bit
        path = tmp_path / "log.db"
        path.write_bytes(data)
        outcomes[outcome(path, expected)] += 1
        data[place] ^= bit
        for file in tmp_path.iterdir():
            file.unlink()
    assert outcomes["asked again"] > 40


def body_places(data: bytes, path: Path) -> list[tuple[int, int]]:
    """Return where the bodies of answers lie that are in one piece."""
    connection = sqlite3.connect(path)
    rows = [row[0] for row in connection.execute("SELECT body FROM responses")]
    connection.close()
    return [(place, len(body)) for body in rows if (place := data.find(body)) >= 0]


def test_every_bit_of_a_body_is_guarded(sound, tmp_path):
    source, _ = sound
    data = bytearray(source.read_bytes())
    start, length = body_places(bytes(data), source)[3]
    path = tmp_path / "log.db"
    for place in range(start, start + length):
        for bit in range(8):
            if (place + bit) % 3:  # a third of them takes a second
                continue
            data[place] ^= 1 << bit
            path.write_bytes(data)
            data[place] ^= 1 << bit
            found, damaged = read(path)
            assert damaged == 1
            assert sum(map(len, found.values())) == 2 * COUNT - 1
    with ResponseLog(path, read_only=True) as log:
        assert len(verify(log).damaged) == 1


CHANGES = {
    "a body under another key": "UPDATE responses SET body = (SELECT body FROM responses WHERE id = 3) WHERE id = 2",
    "a body of another engine": """UPDATE responses SET (at, body) = (SELECT other.at, other.body FROM responses other
        WHERE other.request = responses.request AND other.repeat = responses.repeat AND other.engine = 2)
        WHERE id = 2""",
    "another time": "UPDATE responses SET at = at + 1 WHERE id = 2",
    "a text for a body": "UPDATE responses SET body = 'text' WHERE id = 2",
    "a number for a body": "UPDATE responses SET body = 7 WHERE id = 2",
    "an empty body": "UPDATE responses SET body = x'' WHERE id = 2",
    "a time that is a text": "UPDATE responses SET at = 'now' WHERE id = 2",
    "only the mark of a digest": "UPDATE responses SET body = x'FF' WHERE id = 2",
    "a shorter body": "UPDATE responses SET body = substr(body, 1, length(body) - 1) WHERE id = 2",
    "a longer body": "UPDATE responses SET body = CAST(body || x'00' AS BLOB) WHERE id = 2",
    "another repeat": "UPDATE responses SET repeat = 5 WHERE id = 2",
    "another request": "UPDATE responses SET request = x'00112233445566778899AABBCCDDEEFF' WHERE id = 2",
    "a request that is a text": "UPDATE responses SET request = 'what' WHERE id = 2",
    "another engine": "UPDATE responses SET engine = 9 WHERE id = 2",
    "a failure under another key": "UPDATE failures SET repeat = 7 WHERE request = (SELECT request FROM failures ORDER BY 1 DESC LIMIT 1)",
    "a failure's body": "UPDATE failures SET body = x'FF80' WHERE request = (SELECT request FROM failures ORDER BY 1 DESC LIMIT 1)",
    "an engine's name": "UPDATE engines SET label = 'somebody else' WHERE id = 1",
    "an engine's configuration": "UPDATE engines SET config = '{\"model\": 3' WHERE id = 1",
    "engines that change places": "UPDATE engines SET identity = CASE id WHEN 1 THEN 'engine of anotheR' ELSE 'engine of onE' END",
    "an engine's digest": "UPDATE engine_seals SET seal = x'00' WHERE engine = 1",
    "a digest that is gone": "DELETE FROM engine_seals WHERE engine = 1",
    "an engine that is gone": "DELETE FROM engines WHERE id = 1",
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of_any_column_is_found(sound, tmp_path, what):
    source, expected = sound
    path = tmp_path / "log.db"
    shutil.copy(source, path)
    with sqlite3.connect(path) as connection:
        assert connection.execute(CHANGES[what]).rowcount > 0
    connection.close()
    with ResponseLog(path, read_only=True) as log:
        found = verify(log)
        assert not found.is_sound
        assert len(found.names) == len(found.damaged) + len(found.damaged_failures)
        assert isinstance(engines(log), list)
        kept = {(each.identity, Key.of(each.request, each.repeat)): each.response for each in entries(log)}
    for (identity, each), answer in kept.items():
        assert expected[identity][each] == answer
    outcome(path, expected)


IN_A_DATABASE = {what: re.sub(r"x'([0-9A-F]*)'", r"'\\x\1'::bytea", change) for what, change in CHANGES.items()}
"""The same in PostgreSQL's words, without those that its types refuse."""
for _what in ("a text for a body", "a number for a body", "a time that is a text", "a request that is a text"):
    del IN_A_DATABASE[_what]
IN_A_DATABASE["a longer body"] = r"UPDATE responses SET body = body || '\x00'::bytea WHERE id = 2"


@pytest.fixture(scope="module")
def sound_database(postgres):
    place = postgres.address()
    return place, make(place)


@pytest.mark.parametrize("what", IN_A_DATABASE)
def test_a_change_of_any_column_of_a_database_is_found(sound_database, postgres, what):
    import psycopg

    source, expected = sound_database
    place = postgres.of(f"changed{list(IN_A_DATABASE).index(what)}")
    with psycopg.connect(postgres.of("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {place.rpartition('/')[2]} TEMPLATE {source.rpartition('/')[2]}")
    with psycopg.connect(place, autocommit=True, options="-c search_path=proctor") as connection:
        assert connection.execute(IN_A_DATABASE[what]).rowcount > 0
    with ResponseLog(place, read_only=True) as log:
        found = verify(log)
        assert not found.is_sound
        assert len(found.names) == len(found.damaged) + len(found.damaged_failures)
        kept = {(each.identity, Key.of(each.request, each.repeat)): each.response for each in entries(log)}
    for (identity, each), answer in kept.items():
        assert expected[identity][each] == answer
    if "engine" in what or "digest that" in what:
        return
    for identity, answers in read(place)[0].items():
        assert all(expected[identity][each] == answer for each, answer in answers.items())
    with ResponseLog(place) as log:
        drop(log, verify(log))
        assert verify(log).is_sound


def test_two_bodies_that_changed_places_are_found_and_dropped(sound, tmp_path):
    path = tmp_path / "log.db"
    shutil.copy(sound[0], path)
    with sqlite3.connect(path) as connection:
        bodies = dict(connection.execute("SELECT id, body FROM responses WHERE id IN (2, 3)"))
        connection.executemany("UPDATE responses SET body = ? WHERE id = ?", [(bodies[2], 3), (bodies[3], 2)])
    connection.close()
    with ResponseLog(path) as log:
        found = verify(log)
        assert found.damaged == (2, 3)
        assert found.names[0].startswith("label 0 000000")
        drop(log, found)
        assert verify(log).is_sound


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.3, 0.5, 0.9, 0.99])
def test_a_truncated_log_answers_right_or_not_at_all(sound, tmp_path, share):
    source, expected = sound
    data = source.read_bytes()
    path = tmp_path / "log.db"
    path.write_bytes(data[: int(len(data) * share)])
    if share:
        assert outcome(path, expected) in ("refused", "asked again")
    else:
        assert read(path) == ({identity: {} for identity in IDENTITIES}, 0)  # an empty file is a new log


@pytest.mark.parametrize("seed", range(12))
def test_a_damaged_page_is_one_error_that_says_what_to_do_or_answers_that_are_right(sound, tmp_path, seed):
    source, expected = sound
    generator = random.Random(seed)
    data = bytearray(source.read_bytes())
    page = generator.randrange(len(data) // 4096)
    data[page * 4096 : (page + 1) * 4096] = generator.randbytes(4096) if seed % 2 else bytes(4096)
    path = tmp_path / "log.db"
    path.write_bytes(data)
    outcome(path, expected)


def flip(place: str, number: int, at: int = 12) -> None:
    with ResponseLog(place) as log, closing(log.connect()) as connection:
        body = bytearray(connection.execute("SELECT body FROM responses WHERE id = ?", (number,)).fetchone()[0])
        body[at] ^= 4
        connection.execute("UPDATE responses SET body = ? WHERE id = ?", (bytes(body), number))


def exams() -> list:
    return [ToyExam("plain", 8, question), ToyExam("choices", 6, choice), ToyExam("talks", 3, talk)]


@pytest.mark.parametrize("number", [1, 7, 12, 16, 20])
def test_a_run_asks_again_what_is_damaged_and_says_how_much_that_was(log_place, caplog, number):
    first = run_exams(exams(), ToyEngine(), log=log_place)
    flip(log_place, number)
    engine = ToyEngine()
    second = run_exams(exams(), engine, log=log_place)
    assert second.results == first.results
    assert sum(engine.asked.values()) == 1
    assert second.run["requests"]["damaged"] == 1
    assert caplog.text.count("damaged entries") == 1
    with ResponseLog(log_place) as log:
        assert verify(log).is_sound  # the new answer took the place of the damaged one
    engine = ToyEngine()
    third = run_exams(exams(), engine, log=log_place)
    assert (third.results, sum(engine.asked.values())) == (first.results, 0)
    assert "damaged" not in third.run["requests"]


def as_version_1(path: Path) -> None:
    """Make a log what Proctor wrote before there were digests."""
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE engine_seals")
        for table in ("responses", "failures"):
            rows = connection.execute(f"SELECT engine, request, repeat, body FROM {table}").fetchall()
            for engine, request, repeat, body in rows:
                assert is_sealed(body)
                connection.execute(
                    f"UPDATE {table} SET body = ? WHERE engine = ? AND request = ? AND repeat = ?",
                    (body[21:], engine, request, repeat),
                )
        connection.execute("PRAGMA user_version = 1")
    connection.close()


def test_a_log_without_digests_is_read_and_asks_nothing(tmp_path):
    first = run_exams(exams(), ToyEngine(), log=tmp_path / "log.db")
    as_version_1(tmp_path / "log.db")
    with ResponseLog(tmp_path / "log.db", read_only=True) as log:
        count = log.stats().responses
        assert (verify(log).is_sound, verify(log).unsealed) == (True, count)
        assert len(list(entries(log))) == count
    engine = ToyEngine()
    second = run_exams(exams(), engine, log=tmp_path / "log.db")
    assert (second.results, sum(engine.asked.values())) == (first.results, 0)
    with ResponseLog(tmp_path / "log.db") as log:
        assert log._connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
        engine = log.engine_number("new engine")
        put_many(log, engine, [(key(1), Response(("new",)))])
        assert verify(log).unsealed == count  # what is written from now on has its digest
        assert salvage(log, tmp_path / "saved.db") == count + 1
    with ResponseLog(tmp_path / "saved.db") as log:
        assert verify(log).is_sound


def test_what_cannot_be_read_of_a_log_without_digests_counts_as_damaged(tmp_path):
    run_exams(exams(), ToyEngine(), log=tmp_path / "log.db")
    as_version_1(tmp_path / "log.db")
    with sqlite3.connect(tmp_path / "log.db") as connection:
        connection.execute("UPDATE responses SET body = x'C1' WHERE id = 3")
    connection.close()
    engine = ToyEngine()
    run_exams(exams(), engine, log=tmp_path / "log.db")
    assert sum(engine.asked.values()) == 1


def test_a_sealed_body_is_never_taken_for_an_old_one():
    first_bytes = {encode(each)[0] for each in (Response(), Response(("x",)), Response(("long " * 999,)))}
    assert all((first ^ 0xFF).bit_count() >= 3 for first in first_bytes)
