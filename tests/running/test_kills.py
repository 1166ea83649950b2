"""``kill -9`` at random moments: nothing committed is asked twice, and the results are those of an undisturbed run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "kill_loop.py"


def test_fifty_kills_change_nothing(memory_folder):
    command = [sys.executable, str(PROGRAM), "--kills", "50", "--seed", "1", "--folder", str(memory_folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout, done.stderr
    report = json.loads(done.stdout)
    assert report["problems"] == []
    assert report["kills"] >= 50
    assert report["committed_asked_again"] == 0
    assert done.returncode == 0
    # What a kill costs is what was on its way: the requests in flight and the answers of the last milliseconds.
    assert report["asked_again"] < report["kills"] * 30
