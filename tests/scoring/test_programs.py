from __future__ import annotations

import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import TrustError
from proctor.scoring.program_runner import same_value
from proctor.scoring.programs import Ending, Program, pass_at, run_programs
from proctor.settings import settings


def endings(*programs: Program) -> list[Ending]:
    with settings.context(trust_code=True):
        return run_programs(programs)


def how(*parts: str, seconds: float = 5.0) -> str:
    return endings(Program(parts, seconds))[0].how


def test_nothing_runs_unless_code_is_trusted(tmp_path):
    mark = tmp_path / "ran"
    with pytest.raises(TrustError, match="--trust-code"):
        run_programs([Program((f"open({str(mark)!r}, 'w')",))])
    assert not mark.exists()


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
        ("import os; os.system('true')", "failed"),
        ("open('big', 'wb').write(b'x' * 2**26)", "failed"),
    ],
)
def test_how_programs_end(source, ended):
    assert how(source) == ended


def test_programs_that_do_not_end_are_ended():
    start = time.monotonic()
    found = endings(
        Program(("while True: pass",), 0.5),
        Program(("while True:\n    try:\n        while True: pass\n    except Exception: pass",), 0.5),
        Program(("import signal; signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",), 0.2),
    )
    assert [each.how for each in found] == ["timeout"] * 3
    assert time.monotonic() - start < 20


def test_a_program_sees_no_environment_and_an_empty_folder(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert how("import os; assert 'OPENAI_API_KEY' not in os.environ and 'HOME' not in os.environ") == "pass"
    assert how("import os; assert os.listdir('.') == []") == "pass"


def test_a_program_cannot_write_its_own_report():
    source = 'import os\nfor fd in range(3, 40):\n    try: os.write(fd, b\'{"how": "pass", "why": ""}\')\n    except OSError: pass\nos._exit(0)'
    assert how(source) == "failed"


def test_what_a_program_starts_does_not_outlive_it_nor_hold_it_up():
    name = "proctor-left-behind"
    source = f"import os, sys\nos.posix_spawn('/bin/sh', ['{name}', '-c', 'sleep 30'], {{}})"
    start = time.monotonic()
    assert how(source) == "pass"
    escaped = "import os\nos.posix_spawn('/bin/sleep', ['sleep', '3'], {}, setsid=True)"
    assert how(escaped) == "pass"
    assert time.monotonic() - start < 15
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert name not in listed


def test_parts_share_their_names_and_the_second_compares_strictly():
    assert how("def f(): return (1, 2)", "assert __same_value(f(), (1, 2))") == "pass"
    assert how("def f(): return [1, 2]", "assert __same_value(f(), (1, 2))") == "wrong_answer"
    forged = "class Any:\n    def __eq__(self, other): return True\ndef f(): return Any()"
    assert how(forged, "assert __same_value(f(), 3)") == "wrong_answer"


def test_same_values():
    assert same_value({"a": [1, {2}]}, {"a": [1, {2}]})
    assert not same_value({"a": 1}, {"a": 1.0})
    assert not same_value([1], [1, 1])
    assert not same_value({1, 2}, {1, 3})


@given(st.integers(1, 12), st.integers(0, 12), st.integers(1, 12))
def test_pass_at_k_is_the_share_of_draws_with_a_hit(total, passed, k):
    from math import comb

    passed = min(passed, total)
    found = pass_at([(total, passed)], k)
    if k > total:
        assert found is None
    else:
        assert found == pytest.approx(1 - comb(total - passed, k) / comb(total, k))
