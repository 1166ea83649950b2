from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import TrustError
from proctor.prison import Finding, Limits, Trial, choice
from proctor.scoring.programs.trials import pass_at, run_programs
from proctor.settings import settings

pytestmark = pytest.mark.skipif(
    not any(choice.examined(name).works for name in choice.BY_STRENGTH), reason="no prison works on this machine"
)


def how(source: str, tests: str = "", seconds: float = 5.0, **more: object) -> str:
    return run_programs([Trial(source, tests, limits=Limits(seconds=seconds), **more)])[0].how


@pytest.mark.parametrize(
    "source, ended",
    [
        ("x = 1", "pass"),
        ("assert 1 == 2", "wrong_answer"),
        ("def f(:", "failed"),
        ("raise ValueError('no')", "failed"),
        ("import sys; sys.exit(0)", "failed"),
        ("import os; os._exit(0)", "failed"),
        ("def f(n): return f(n + 1)\nf(0)", "failed"),
        ("input()", "failed"),
        ("x = 'a' * 10**12", "failed"),
        ("print('x' * 10_000_000)", "pass"),
        ("import os; os.fork()", "failed"),
        ("import subprocess; subprocess.Popen(['true'])", "failed"),
        ("import os; assert os.system('true') == 0", "wrong_answer"),
        ("open('big', 'wb').write(b'x' * 2**26)", "failed"),
        ("if __name__ == '__main__': raise ValueError", "pass"),
        ("from dataclasses import dataclass\n@dataclass\nclass A:\n    x: 'int' = 1\nassert A() == A()", "pass"),
    ],
)
def test_how_programs_end(source, ended):
    assert how(source) == ended


def test_programs_that_do_not_end_are_ended():
    start = time.monotonic()
    programs = [
        Trial("while True: pass", limits=Limits(seconds=0.5)),
        Trial(
            "while True:\n    try:\n        while True: pass\n    except Exception: pass", limits=Limits(seconds=0.5)
        ),
        Trial("import signal; signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass", limits=Limits(seconds=0.2)),
        Trial("def f(): return 1", "while True: f()", limits=Limits(seconds=0.5)),
        Trial("def f(): return 1", "while True: pass", limits=Limits(seconds=0.5)),
    ]
    assert [each.how for each in run_programs(programs)] == ["timeout"] * 5
    assert time.monotonic() - start < 30


def test_endings_stand_in_the_order_of_programs():
    programs = [Trial(f"def f(): return {place}", f"assert f() == {place % 3}") for place in range(9)]
    assert [each.how for each in run_programs(programs)] == ["pass"] * 3 + ["wrong_answer"] * 6
    assert run_programs([]) == []


def test_a_program_sees_no_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert how("import os; assert 'OPENAI_API_KEY' not in os.environ and 'HOME' not in os.environ") == "pass"


def test_tests_compare_strictly_where_they_say_so():
    assert how("def f(): return (1, 2)", "assert __same_value(f(), (1, 2))") == "pass"
    assert how("def f(): return [1, 2]", "assert __same_value(f(), (1, 2))") == "wrong_answer"
    forged = "class Any:\n    def __eq__(self, other): return True\ndef f(): return Any()"
    assert how(forged, "assert __same_value(f(), 3)") == "wrong_answer"


def test_without_a_prison_programs_run_only_where_the_user_says_so_twice(monkeypatch, tmp_path):
    mark = tmp_path / "ran"
    program = Trial(f"open({str(mark)!r}, 'w')")
    with settings.context(sandbox="none"), pytest.raises(TrustError, match="--trust-code"):
        run_programs([program])
    assert not mark.exists()
    with settings.context(sandbox="none", trust_code=True):
        assert run_programs([program])[0].how == "pass"
    assert mark.exists()
    monkeypatch.setattr(choice, "examined", lambda name: Finding(name, False, "", "not here"))
    for trusted in (False, True):
        with settings.context(trust_code=trusted), pytest.raises(TrustError, match="--sandbox none"):
            run_programs([program])


@given(st.integers(1, 12), st.integers(0, 12), st.integers(1, 12))
def test_pass_at_k_is_the_share_of_draws_with_a_hit(total, passed, k):
    from math import comb

    passed = min(passed, total)
    found = pass_at([(total, passed)], k)
    if k > total:
        assert found is None
    else:
        assert found == pytest.approx(1 - comb(total - passed, k) / comb(total, k))
