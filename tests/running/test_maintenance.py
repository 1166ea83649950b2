"""Looking after a log: lists, export, removal, checks, salvage."""

from __future__ import annotations

import json
import math
import os

import pyarrow.parquet as pq
import pytest
from tests_logged import put_many

from proctor.errors import LogError, UsageError
from proctor.ir import Failure, Response, Scored, Timing, Usage
from proctor.running.log import Key, ResponseLog
from proctor.running.log_export import export
from proctor.running.maintenance import collect, compact, drop, engines, entries, salvage, verify


def key(number: int, repeat: int = 0) -> Key:
    return Key(number.to_bytes(16, "big"), repeat)


TEXT = Response(("four",), finish_reasons=("stop",), usage=Usage(9, 1), timing=Timing(100.0, 2.5))
SCORED = Response(scores=(Scored(-1.5, True, 2), Scored(-math.inf, False, 1)))
FAILED = Response(failure=Failure("timeout", "too slow"))


@pytest.fixture
def log(log_place):
    with ResponseLog(log_place) as opened:
        first = opened.engine_number("aaaa", "small", {"model": "small"})
        put_many(opened, first, [(key(1), TEXT), (key(2), SCORED), (key(2, 1), TEXT), (key(3), FAILED)])
        put_many(opened, opened.engine_number("bbbb", "large"), [(key(1), TEXT)])
        yield opened


def test_engines_are_listed_with_their_counts(log):
    assert [(each.label, each.identity, each.responses, each.failures, each.config) for each in engines(log)] == [
        ("small", "aaaa", 3, 1, {"model": "small"}),
        ("large", "bbbb", 1, 0, {}),
    ]


def test_entries_are_found_by_engine_request_and_kind(log):
    assert [each.response for each in entries(log)] == [TEXT, SCORED, TEXT, TEXT]
    assert [each.engine for each in entries(log, "large")] == ["large"]
    assert [each.engine for each in entries(log, "bb")] == ["large"]
    assert [each.repeat for each in entries(log, "small", "0" * 31 + "2")] == [0, 1]
    assert [each.response for each in entries(log, table="failures")] == [FAILED]
    with pytest.raises(UsageError, match="knows no engine 'huge'") as caught:
        list(entries(log, "huge"))
    assert "large, small" in str(caught.value)


def test_export_to_json_lines(log, tmp_path):
    assert export(log, tmp_path / "out.jsonl") == 5
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows[0]["engine"] == "small"
    assert rows[0]["response"]["texts"] == ["four"]
    assert rows[1]["response"]["scores"][1]["log_likelihood"] is None
    assert rows[4]["response"]["failure"]["kind"] == "timeout"


def test_export_to_parquet(log, tmp_path):
    assert export(log, tmp_path / "out.parquet", "small") == 4
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert rows[0]["texts"] == ["four"]
    assert rows[0]["seconds"] == 2.5
    assert rows[1]["log_likelihoods"] == [-1.5, -math.inf]
    assert rows[1]["is_greedy"] == [True, False]
    assert rows[3]["failure_message"] == "too slow"
    assert rows[0]["at"].tzinfo is not None


def test_an_empty_log_exports_to_an_empty_table(tmp_path):
    with ResponseLog(tmp_path / "log.db") as log:
        assert export(log, tmp_path / "out.parquet") == 0
    assert pq.read_table(tmp_path / "out.parquet").num_rows == 0


def test_export_knows_two_formats(log, tmp_path):
    with pytest.raises(UsageError, match=r"neither a .parquet nor a .jsonl"):
        export(log, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


def test_removal_by_engine_age_and_kind(log):
    assert collect(log, older_than_seconds=1000) == 0
    assert collect(log, only_failures=True) == 1
    assert collect(log, "small") == 3
    assert [each.label for each in engines(log)] == ["large"]
    assert collect(log) == 1
    assert engines(log) == []


def test_removed_entries_give_their_space_back(log):
    number = log.engine_number("aaaa")
    put_many(log, number, [(key(place), Response((os.urandom(200).hex(),))) for place in range(100, 3000)])
    collect(log)
    assert compact(log) > 500_000
    assert log.check() == []


def test_a_sound_log_is_sound(log):
    found = verify(log)
    assert found.is_sound
    assert found.entries == 4


def test_damaged_entries_are_found_and_can_be_dropped(log):
    connection = log.connect()
    connection.execute("UPDATE responses SET body = ? WHERE id = 2", (b"\xff\xff",))
    connection.close()
    found = verify(log)
    assert (found.damaged, found.faults) == ((2,), ())
    drop(log, found.damaged)
    assert verify(log).is_sound
    assert log.has_many(log.engine_number("aaaa"), [key(1), key(2)]) == {key(1)}


def test_damaged_answers_that_were_set_aside_are_found_and_can_be_dropped(log):
    number = log.engine_number("aaaa")
    log.set_aside(number, [key(1), key(2)])
    assert verify(log).entries == 4
    connection = log.connect()
    connection.execute("UPDATE superseded SET body = ? WHERE request = ?", (b"\xff\xff", key(2).request))
    connection.close()
    found = verify(log)
    assert not found.is_sound
    assert [each[:3] for each in found.damaged_aside] == [(number, *key(2))]
    assert len(found.names) == 1
    drop(log, found)
    assert verify(log).is_sound
    assert [each.request for each in entries(log, table="superseded")] == [key(1).request.hex()]


def test_what_can_be_read_of_a_damaged_file_is_saved(tmp_path):
    path = tmp_path / "log.db"
    count = 20_000
    with ResponseLog(path) as log:
        engine = log.engine_number("engine", "label")
        put_many(log, engine, [(key(number), Response((f"{number} " * 20,))) for number in range(count)])
        compact(log)
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 8 // 4096 * 4096)
        file.write(os.urandom(4096 * 3))
    with ResponseLog(path) as log:
        assert not verify(log).is_sound
        saved = salvage(log, tmp_path / "saved.db")
    assert count * 0.9 < saved < count
    with ResponseLog(tmp_path / "saved.db") as log:
        assert verify(log).is_sound
        assert log.stats().responses == saved
        assert log.get(log.engine_number("engine"), key(count - 1)) == Response((f"{count - 1} " * 20,))


def test_salvage_overwrites_nothing(log, tmp_path):
    (tmp_path / "saved.db").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        salvage(log, tmp_path / "saved.db")


def test_a_log_can_be_looked_at_without_writing(log):
    with ResponseLog(log.path, read_only=True) as reader:
        assert len(engines(reader)) == 2
        with pytest.raises(LogError, match="may not be written|read-only"):
            collect(reader)
