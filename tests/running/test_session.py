from contextlib import closing

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import LogError
from proctor.running import ResponseLog, run_exams
from proctor.running.maintenance import engines
from proctor.running.session import session_with


def test_a_log_that_a_session_opens_is_closed_with_it_and_a_given_one_is_not(tmp_path):
    engine = ScriptedEngine(answer="yes")
    with session_with(engine, log=tmp_path / "own.db") as session:
        own = session.log
    with pytest.raises(LogError):
        own.engine_number("a", "a", {})
    with closing(ResponseLog(tmp_path / "given.db")) as given:
        with session_with(engine, log=given) as session:
            assert session.log is given
        assert given.engine_number("a", "a", {}) == 1


def test_an_engine_is_filed_when_its_number_is_first_wanted(tmp_path):
    with session_with(ScriptedEngine(answer="yes"), log=tmp_path / "log.db") as session:
        assert not list(engines(session.log))
        assert session.number == session.number
        assert [each.label for each in engines(session.log)] == [session.engine.label]


def test_terms_that_there_are_not_are_refused():
    engine = ScriptedEngine(function=lambda _: pytest.fail("asked"))
    with pytest.raises(TypeError, match="budgets"):
        run_exams(resolve_tasks(["samples.sentiment"]), engine, budgets=3)
