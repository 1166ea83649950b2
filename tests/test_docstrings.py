"""Examples in docstrings print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import proctor

PACKAGE = Path(proctor.__file__).parent
MODULES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_print_what_they_say(name):
    found = doctest.testmod(import_module(name))
    assert found.attempted
    assert not found.failed
