"""Every example runs as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("*.py"))
SAYS = {
    "own_task": "Main Score: accuracy",
    "many_wordings": "# Group By: template",
    "run_and_resume": "20 scored, 0 asked",
}


@pytest.mark.slow
@pytest.mark.parametrize("program", EXAMPLES, ids=lambda path: path.stem)
def test_example(program, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning:proctor", str(program)],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert SAYS[program.stem] in done.stdout


def test_every_example_says_something():
    assert {program.stem for program in EXAMPLES} == set(SAYS)
