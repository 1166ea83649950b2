"""What strangers write is refused by the reader's own error, in less than a second of processor time and 256 MB."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from tests_pace import in_time

SCRIPT = Path(__file__).with_name("foreign_attacks.py")
ATTACKS = runpy.run_path(str(SCRIPT))
COUNTS = {"yaml": ATTACKS["YAML"], "json": ATTACKS["JSON"], "literal": ATTACKS["LITERALS"]}
HARMLESS = {"fewer lists"}
MOST_SECONDS = 1.0


@pytest.fixture(scope="module", params=COUNTS)
def answers(request):
    ended = subprocess.run(
        [sys.executable, str(SCRIPT), request.param], capture_output=True, text=True, check=False, timeout=120
    )
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.returncode == 0, (lines[-1:], ended.stderr[-2000:])
    return request.param, lines


def test_each_is_refused_by_an_error_of_the_reader(answers):
    kind, lines = answers
    assert len(lines) == len(COUNTS[kind])
    through = {name: text for name, got, text, _ in lines if got != "refused"}
    assert set(through) <= HARMLESS, through


def test_none_takes_more_than_a_second(answers):
    assert not [(name, seconds) for name, _, _, seconds in answers[1] if not in_time(seconds, MOST_SECONDS)]


def test_there_are_enough_of_them():
    assert sum(map(len, COUNTS.values())) >= 90
