"""``make quick`` runs what a change can break, the nearest tests first."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def quick():
    spec = spec_from_file_location("quick", ROOT / "tools" / "quick.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "changed, first",
    [
        ("src/proctor/statistics/betting.py", "tests/statistics/test_betting.py"),
        ("src/proctor/regexes.py", "tests/test_regexes.py"),
        ("tests/test_slips.py", "tests/test_slips.py"),
        ("src/proctor/engines/http/providers.json", "tests/engines/http/test_providers.py"),
    ],
)
def test_the_nearest_tests_come_first(quick, changed, first):
    assert first in quick.nearest([changed])[:8]


def test_a_module_far_away_is_tested_later(quick):
    order = quick.nearest(["src/proctor/statistics/betting.py"])
    assert order.index("tests/statistics/test_betting.py") < order.index("tests/running/test_gate_units.py")


def test_what_nothing_imports_breaks_nothing(quick):
    assert quick.nearest(["docs/start.md"]) == []
