"""Writers of a response log: what other keys filed is used where the user says so, what is forged never."""

from __future__ import annotations

import sqlite3

import pytest
from tests_logged import put_many

from proctor import state
from proctor.cli.__main__ import main
from proctor.errors import ForgedError
from proctor.ir import Response
from proctor.running.codec import writer_of
from proctor.running.log import Key, ResponseLog
from proctor.running.log_file import default_log_path
from proctor.running.maintenance import salvage, verify
from proctor.running.writers import Writers, id_of

KEY = Key(bytes(16))
ANSWER = Response(texts=("mine",), finish_reasons=("stop",))


@pytest.fixture
def as_user(tmp_path, monkeypatch):
    """Become a user of a name, with a home and so a key of his own."""

    def become(name):
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / name))
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name / "cache"))
        return id_of(state.secret())

    return become


def filed(path=None, response=ANSWER):
    with ResponseLog(path) as log:
        put_many(log, log.engine_number("engine"), [(KEY, response)])
        return log.path


def found(path=None, **how):
    """Return the answer that a log has, and whose answers were met."""
    with ResponseLog(path, **how) as log:
        return log.get(log.engine_number("engine"), KEY), log.writers.others()


def changed(path, change):
    """Change the stored form of the answer."""
    with sqlite3.connect(path) as connection:
        (body,) = connection.execute("SELECT body FROM responses").fetchone()
        connection.execute("UPDATE responses SET body = ?", (change(body),))
    connection.close()


def test_an_answer_carries_the_id_of_its_writer_s_key_and_the_key_is_his_alone(as_user, tmp_path):
    mine = as_user("me")
    path = filed(tmp_path / "log.db")
    assert found(path) == (ANSWER, [])
    with ResponseLog(path) as log:
        assert verify(log).writers == (mine.hex(),)
    key = tmp_path / "me" / "proctor" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_bytes() not in path.read_bytes()


def test_another_writer_s_answer_counts_in_a_log_that_is_named_and_is_said(as_user, tmp_path):
    other = as_user("other")
    path = filed(tmp_path / "shared.db")
    as_user("me")
    assert found(path) == (ANSWER, [other.hex()])


def test_another_writer_s_answer_in_one_s_own_log_is_not_used_until_he_is_trusted(as_user, tmp_path, heard):
    other = as_user("other")
    theirs = filed(tmp_path / "theirs.db")
    as_user("me")
    with ResponseLog(theirs) as log:  # merged: as somebody copies rows into one's own log
        salvage(log, default_log_path())
    assert found()[0] is None
    assert "proctor log trust" in heard.text
    assert main(["log", "trust", str(theirs)]) == 0
    assert found() == (ANSWER, [other.hex()])


def test_one_s_own_answer_takes_the_place_of_one_that_is_not_used(as_user, tmp_path):
    as_user("other")
    theirs = filed(tmp_path / "theirs.db")
    mine = as_user("me")
    with ResponseLog(theirs) as log:
        salvage(log, default_log_path())
    own = Response(texts=("own",), finish_reasons=("stop",))
    with ResponseLog() as log:
        engine = log.engine_number("engine")
        assert log.has_many(engine, [KEY]) == set()
        put_many(log, engine, [(KEY, own)])
        assert verify(log).writers == (mine.hex(),)
    assert found() == (own, [])


def test_what_says_that_one_s_own_key_filed_it_and_is_not_so_is_forged_and_not_used(as_user, tmp_path, capsys):
    other = as_user("other")
    path = filed(tmp_path / "log.db")
    mine = as_user("me")
    engine = Key(b"engine" + bytes(10))
    with sqlite3.connect(path) as connection:
        (request, repeat, at, body) = connection.execute("SELECT request, repeat, at, body FROM responses").fetchone()
        connection.execute("UPDATE responses SET body = ?", (_passed_off(request, repeat, at, body, mine),))
    connection.close()
    assert other != mine != engine
    with pytest.raises(ForgedError, match="not what was filed"):
        found(path)
    assert main(["log", "verify", "--log", str(path)]) == 3
    assert "forged" in capsys.readouterr().err
    assert main(["log", "verify", "--drop", "--log", str(path)]) == 3
    assert found(path)[0] is None


def _passed_off(request, repeat, at, body, mine):
    """Return what somebody without the key makes of his own answer: everything fits but the mark."""
    from zlib import crc32

    from proctor.running import codec

    form, _, mark, _ = codec._HEAD.unpack_from(body)
    content = body[codec._HEAD.size :]
    what = codec._PACKED(len(request), repeat, at) + request + content
    sealer = codec.Sealer("engine", Writers(trusts_all=True))
    return codec._HEAD.pack(form, crc32(what + mark + mine, sealer._engine), mark, mine) + content


@pytest.mark.parametrize("place", [2, 7, 15, 30])
def test_damage_to_any_part_is_damage_and_no_forgery(as_user, tmp_path, place):
    as_user("me")
    path = filed(tmp_path / "log.db")
    changed(path, lambda body: body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :])
    assert found(path)[0] is None


def test_answers_of_earlier_versions_are_unsigned_and_used_and_that_is_said_once(as_user, tmp_path, heard):
    as_user("me")
    path = filed(tmp_path / "log.db")
    changed(path, lambda body: body[21:])
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 2")
    connection.close()
    assert found(path) == (ANSWER, ["unsigned"])
    assert found(path) == (ANSWER, ["unsigned"])
    assert heard.text.count("unsigned: they are used") == 1


def test_where_there_can_be_no_key_answers_are_unsigned(as_user, tmp_path, monkeypatch):
    as_user("me")

    def none():
        raise PermissionError("read-only")

    monkeypatch.setattr("proctor.running.writers.secret", none)
    path = filed(tmp_path / "log.db")
    assert found(path) == (ANSWER, [])
    changed(path, lambda body: body if writer_of(body) == "" else b"")
    monkeypatch.undo()
    as_user("somebody")
    assert found(path) == (ANSWER, ["unsigned"])


def test_a_list_of_trusted_writers_that_somebody_else_wrote_is_forged(as_user, tmp_path):
    as_user("other")
    theirs = filed(tmp_path / "theirs.db")
    as_user("me")
    assert main(["log", "trust", str(theirs)]) == 0
    place = tmp_path / "me" / "proctor" / "kept" / "trusted.json"
    place.write_text(place.read_text().replace("theirs.db", "others.db"))
    assert main(["log", "trust", str(theirs)]) == 3
    with pytest.raises(ForgedError, match="somebody else wrote it"):
        ResponseLog()
