import importlib.util
import sys
from pathlib import Path

import pytest

_FILE = Path(__file__).with_name("fuzz.py")
_spec = importlib.util.spec_from_file_location("proctor_fuzz", _FILE)
assert _spec is not None
assert _spec.loader is not None
fuzz = importlib.util.module_from_spec(_spec)
sys.modules["proctor_fuzz"] = fuzz
_spec.loader.exec_module(fuzz)


@pytest.mark.parametrize("target", list(fuzz.TARGETS))
def test_only_our_errors_come_back(target):
    count, wrong = fuzz.attack(target, seed=1, seconds=6, most=400)
    assert count > 20
    assert wrong == []
