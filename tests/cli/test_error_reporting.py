import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cli import error_reporting as report
from proctor.errors import (
    Diagnostic,
    EngineError,
    Location,
    LogError,
    MissingExtraError,
    OutputError,
    ProctorError,
    RunInterruptedError,
    UsageError,
)


@pytest.mark.parametrize(
    "error, code",
    [
        (UsageError("x"), 2),
        (ProctorError("x"), 2),
        (EngineError("x"), 3),
        (LogError("x"), 3),
        (OutputError("x"), 3),
        (RunInterruptedError("x"), 130),
        (MissingExtraError.of("torch", "hf", "the engine"), 3),
    ],
)
def test_exit_codes(error, code):
    assert report.exit_code_of(error) == code


def test_every_part_of_every_problem_is_shown(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    file = tmp_path / "exam.yaml"
    file.write_text("task: x\nnum_fewshot: five\n")
    problems = [
        Diagnostic("a number is expected", Location(str(file), 2, 14), "$.num_fewshot", "it is 'five'", "write 5"),
        Diagnostic("a second problem"),
    ]
    report.report(ProctorError(problems))
    err = capsys.readouterr().err
    for part in ("a number is expected", f"{file}:2:14", "@ $.num_fewshot", "num_fewshot: five", "why: it is 'five'"):
        assert part in err
    assert "hint: write 5" in err
    assert "a second problem" in err
    caret = next(line for line in err.splitlines() if line.rstrip().endswith("^"))
    quoted = next(line for line in err.splitlines() if line.endswith("num_fewshot: five"))
    assert quoted[caret.index("^") :] == "five"


def test_colours_follow_the_environment(capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    report.report(UsageError("x"))
    assert "\x1b[31m" in capsys.readouterr().err
    monkeypatch.setenv("NO_COLOR", "1")
    report.report(UsageError("x"))
    assert "\x1b" not in capsys.readouterr().err


def test_dumb_terminals_get_no_colour(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    assert report.wants_colour(sys.stdout)
    monkeypatch.setenv("TERM", "dumb")
    assert not report.wants_colour(sys.stdout)


@given(st.text())
def test_printable_text_never_drives_a_terminal(text):
    shown = report.printable(text)
    assert not any(ord(character) < 32 and character not in "\n\t" for character in shown)
    assert not any(0x7F <= ord(character) < 0xA0 for character in shown)
    assert "\u202e" not in shown


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "Zs"])))
def test_plain_text_is_printed_as_it_is(text):
    assert report.printable(text) == text


def test_an_error_of_ours_has_no_traceback_and_the_others_only_on_demand(invoke, monkeypatch):
    monkeypatch.setattr("proctor.cli.ls.command.callback", lambda **_: 1 / 0)
    code, _, err = invoke("ls")
    assert code == 70
    assert "ZeroDivisionError: division by zero" in err
    assert "--traceback" in err
    assert "Traceback" not in err
    code, _, err = invoke("ls", "--traceback")
    assert code == 70
    assert "Traceback (most recent call last)" in err


def test_a_refusal_of_the_system_names_the_file(invoke, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied", "/root/secret")

    monkeypatch.setattr("proctor.cli.ls.command.callback", refuse)
    code, _, err = invoke("ls")
    assert code == 3
    assert "Permission denied" in err
    assert "/root/secret" in err


def test_ctrl_c_has_its_own_exit_code(invoke, monkeypatch):
    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("proctor.cli.ls.command.callback", interrupt)
    assert invoke("ls")[0] == 130
