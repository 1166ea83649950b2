"""The one command that compares with everything: what it skips, leaves out, ends, and says."""

import signal
import sys
import time

import pytest
from conformance import run
from conformance.comparisons import Comparison
from conformance.passed import Passed, State, digest


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A folder for logs, and a program that is run in place of every comparison."""
    monkeypatch.setattr(run, "KEPT", tmp_path)
    monkeypatch.setattr(run, "variables", lambda known, work: {"PATH": "", "PYTHONPATH": str(tmp_path)})
    (tmp_path / "conformance").mkdir()
    (tmp_path / "conformance" / "__init__.py").write_text("")
    monkeypatch.setattr(run, "ROOT", tmp_path)
    return tmp_path


def program(folder, text):
    (folder / "conformance" / "made_up.py").write_text(text)
    return Comparison("made_up", ("{hub}",), minutes=1)


def compared(comparison, folder):
    return run.compare(comparison, {"hub": "data"}, State(folder / "passed.json", "tree"))


def test_equal_is_kept_and_not_run_again(kept):
    comparison = program(kept, "import sys; print('3 of 3 equal in', sys.argv[1])")
    assert compared(comparison, kept).said == "3 of 3 equal in data"
    again = compared(program(kept, "raise SystemExit(1)"), kept)
    assert (again.state, again.said) == ("equal", "3 of 3 equal in data (passed before, for this tree)")
    other = Comparison("made_up", ("{hub}", "--cases"), minutes=1)
    assert compared(other, kept).state == "differs", "other arguments compare something else"


def test_what_differs_is_run_again(kept):
    assert compared(program(kept, "print('2 of 3 equal'); raise SystemExit(1)"), kept).state == "differs"
    assert compared(program(kept, "print('3 of 3 equal')"), kept).state == "equal"


def test_what_takes_too_long_is_ended_with_what_it_started(kept):
    text = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    comparison = Comparison(program(kept, text).module, minutes=0)
    outcome = compared(comparison, kept)
    assert (outcome.state, outcome.seconds < 30) == ("ended", True)
    assert "ended after 0 minutes" in outcome.said


def test_what_a_signal_ended_does_not_count_as_differing(kept):
    assert compared(program(kept, "import os; os.kill(os.getpid(), 9)"), kept).state == "ended"


def test_an_interrupt_ends_the_programs_and_starts_no_more(kept):
    comparison = program(kept, "import time; time.sleep(60)")
    others = [Comparison("made_up", (str(number),)) for number in range(3)]
    kept_signal = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 1.0)
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            list(run.outcomes([comparison, *others], {"hub": "data"}, State(kept / "passed.json", "tree"), jobs=1))
    finally:
        signal.signal(signal.SIGALRM, kept_signal)
    while run._running and time.monotonic() - began < 20:
        time.sleep(0.05)
    assert not run._running
    assert len(list((kept / "work").iterdir())) == 1


def test_what_is_not_here_leaves_a_comparison_out_with_the_reason(kept):
    comparison = program(kept, "")
    outcome = run.compare(comparison, {}, State(kept / "passed.json", "tree"))
    assert (outcome.state, outcome.said) == ("left out", "needs real datasets: PROCTOR_TEST_HUB names their folder")


def test_a_table_has_to_be_what_the_program_writes(kept):
    (kept / "table.json").write_text("{\n}\n")
    program(kept, "print('{'); print('}')")
    equal = compared(Comparison("made_up", table="table.json"), kept)
    assert (equal.state, equal.said) == ("equal", "2 lines of table.json equal")
    (kept / "table.json").write_text("{\n1\n}\n")
    differs = compared(Comparison("made_up", ("again",), table="table.json"), kept)
    assert (differs.state, differs.said.partition("; all")[0]) == ("differs", "1 lines of table.json differ: -1")


def test_counts_are_found_among_what_a_program_says():
    said = "operator   2906 of  3026 equal\nserializer 75 of 75 equal\n  12 differ: for a reason\n"
    assert run.counts(said) == "operator 2906 of 3026 equal; serializer 75 of 75 equal"
    assert run.counts("one\ntwo\n\nthree\nfour") == "two; three; four"


def test_the_table_counts_the_states():
    found = [run.Outcome("a", "equal", 2.4, "5 equal"), run.Outcome("bcd", "ended", 60.0), run.Outcome("c", "left out")]
    lines = list(run.table(found))
    assert lines[0] == "a    equal          2 s  5 equal"
    assert lines[-1] == "1 equal, 0 differs, 1 ended, 1 left out"


def test_another_tree_forgets_what_has_passed(tmp_path):
    State(tmp_path / "passed.json", "one").add("x", Passed(1.0, "equal"))
    assert State(tmp_path / "passed.json", "one").get("x") == Passed(1.0, "equal")
    assert State(tmp_path / "passed.json", "two").get("x") is None


def test_what_is_forgotten_is_run_again(tmp_path):
    state = State(tmp_path / "passed.json", "one")
    for name in "ab":
        state.add(name, Passed(1.0, "equal"))
    state.forget(["a", "never there"])
    again = State(tmp_path / "passed.json", "one")
    assert (again.get("a"), again.get("b")) == (None, Passed(1.0, "equal"))


def test_a_tree_is_another_when_its_code_changes_and_the_same_when_its_recordings_do(tmp_path):
    for name in ("src/a.py", "conformance/b.py", "conformance/recorded/recordings/c.gz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("1")
    before = digest(tmp_path)
    (tmp_path / "conformance/recorded/recordings/c.gz").write_text("2")
    assert digest(tmp_path) == before
    (tmp_path / "src/a.py").write_text("2")
    assert digest(tmp_path) != before


def test_an_unknown_name_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run", "--only", "nothing.*"])
    with pytest.raises(SystemExit):
        run.main()
    assert "no comparison is called nothing.*" in capsys.readouterr().err
