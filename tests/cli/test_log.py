import json

import pytest
from tests_logged import put_many

from proctor.ir import Failure, Response
from proctor.running.log import Key, ResponseLog


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.db"
    with ResponseLog(path) as opened:
        entries = [(Key(bytes([number] * 16)), Response((f"answer {number}",))) for number in range(12)]
        failed = (Key(bytes([99] * 16)), Response(failure=Failure("timeout", "too slow")))
        put_many(opened, opened.engine_number("abcdef", "small"), [*entries, failed])
    return str(path)


def test_engines_are_listed(invoke, log):
    code, out, _ = invoke("log", "ls", "--log", log)
    assert code == 0
    assert out.split() == ["abcdef", "small", "12", "answers,", "1", "failures,", "since", *out.split()[-1:]]
    code, out, _ = invoke("log", "ls", "--log", log, "--json")
    assert json.loads(out)["responses"] == 12


def test_entries_are_shown(invoke, log):
    code, out, _ = invoke("log", "show", "--log", log)
    assert code == 0
    assert out.count("answer ") == 10
    code, out, _ = invoke("log", "show", "--log", log, "--request", "0B", "--json")
    assert json.loads(out)["response"] == {"texts": ["answer 11"]}
    code, out, _ = invoke("log", "show", "--log", log, "--failures")
    assert "timeout: too slow" in out
    code, _, err = invoke("log", "show", "--log", log, "--engine", "huge")
    assert code == 2
    assert "it knows: small" in err


def test_the_log_is_exported(invoke, log, tmp_path):
    code, _, err = invoke("log", "export", str(tmp_path / "out.jsonl"), "--log", log)
    assert code == 0
    assert "13 entries written" in err
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 13


def test_entries_are_removed_only_when_something_says_which(invoke, log):
    code, _, err = invoke("log", "gc", "--log", log)
    assert code == 2
    assert "nothing says what to remove" in err
    _, _, err = invoke("log", "gc", "--log", log, "--failures", "--dry-run")
    assert "1 entries would be removed" in err
    _, _, err = invoke("log", "gc", "--log", log, "--failures")
    assert "1 entries removed" in err
    _, out, _ = invoke("log", "ls", "--log", log)
    assert "12 answers, since" in out


def test_damage_is_found_removed_and_salvaged(invoke, log, tmp_path):
    assert invoke("log", "verify", "--log", log)[0] == 0
    with ResponseLog(log) as opened:
        connection = opened.connect()
        connection.execute("UPDATE responses SET body = x'FF' WHERE id = 3")
        connection.close()
    code, _, err = invoke("log", "verify", "--log", log)
    assert code == 1
    assert "1 damaged" in err
    assert "--drop" in err
    code, _, err = invoke("log", "verify", "--log", log, "--salvage", str(tmp_path / "saved.db"))
    assert "11 answers saved" in err
    code, _, err = invoke("log", "verify", "--log", log, "--drop")
    assert "1 damaged entries removed" in err
    assert invoke("log", "verify", "--log", log)[0] == 0
    assert invoke("log", "verify", "--log", str(tmp_path / "saved.db"))[0] == 0


def test_a_log_that_is_not_there(invoke, tmp_path):
    code, _, err = invoke("log", "ls", "--log", str(tmp_path / "nothing.db"))
    assert code == 3
    assert "there is no response log" in err
