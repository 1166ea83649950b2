"""One set of attacks, run against expressions, configs and templates: each is refused by an error of ours, in bounds."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tests_pace import in_time

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent
ATTACKS = runpy.run_path(str(FOLDER / "attacks.py"))
EXPRESSIONS = [*ATTACKS["REACHING"], *ATTACKS["BOMBS"]]

MOST_SECONDS = 1.0
"""Processor time of one attack; the budget's 0.9, and what compiling and cleaning up take."""

HARMLESS = {
    "values": {"re.sre_compile", "re.enum.sys", "json.decoder.scanner"},  # names, which nobody imports
    "braces": {  # ``**`` binds to the left in Jinja, so these are ordinary numbers
        f"{{{{ {each} }}}}" for each in ("9**9**9", "9**9**9**9", "(-9)**9**9", "2**10**8", "10**10**10 % 7")
    },
    "templates": {"{{ 9**9**9 }}"},
}
COUNTS = {
    "rows": len(EXPRESSIONS),
    "values": len(EXPRESSIONS),
    "braces": len(EXPRESSIONS),
    "configs": len(ATTACKS["CONFIGS"]),
    "templates": len(ATTACKS["TEMPLATES"]),
}


@pytest.fixture(scope="module", params=COUNTS)
def answers(request):
    """What each attack of a kind came to, in a process with limits; the process lives to its last attack."""
    command = [sys.executable, str(FOLDER / "attack.py"), request.param]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.returncode == 0, (lines[-1:], ended.stderr[-2000:])
    return request.param, lines


def test_each_attack_is_refused_by_an_error_of_ours(answers):
    kind, lines = answers
    assert len(lines) == COUNTS[kind]
    through = [(attack, got, text) for attack, got, text, _ in lines if got != "refused"]
    assert {attack for attack, _, _ in through} == HARMLESS.get(kind, set()), through


def test_none_takes_more_than_a_second(answers):
    _, lines = answers
    slow = [(attack, seconds) for attack, _, _, seconds in lines if not in_time(seconds, MOST_SECONDS)]
    assert not slow


def test_none_fills_the_memory(answers):
    """The process may have 256 MB more than it starts with: more would be a ``MemoryError``."""
    _, lines = answers
    assert not [(attack, text) for attack, _, text, _ in lines if "MemoryError" in text]


def test_each_is_said_in_one_message(answers):
    """An error is of a readable length, and no place in Python's own files."""
    _, lines = answers
    for attack, _, text, _ in lines:
        assert text
        assert "Traceback" not in text, attack


def test_there_are_enough_of_them():
    every = [*EXPRESSIONS, *ATTACKS["TEMPLATES"], *ATTACKS["CONFIGS"]]
    assert len(set(every)) == len(every) >= 400
    assert len(EXPRESSIONS) >= 250
