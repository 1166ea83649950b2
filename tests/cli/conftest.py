import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from proctor.cli.__main__ import main

FAKES = Path(__file__).with_name("fakes.py")


def _load_fakes() -> ModuleType:
    spec = spec_from_file_location("cli_fakes", FAKES)
    module = module_from_spec(spec)
    sys.modules["cli_fakes"] = module
    spec.loader.exec_module(module)
    return module


fakes = _load_fakes()


@pytest.fixture
def exams(monkeypatch) -> list[Any]:
    """Put small exams behind `resolve_tasks`; returns the list of what it was called with."""
    modules: dict[str, ModuleType] = {}
    fakes.install(modules)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    fakes.calls.clear()
    return fakes.calls


@pytest.fixture
def program() -> list[str]:
    """The command that runs `proctor` with small exams and a slow engine, in a process of its own."""
    return [sys.executable, str(FAKES)]


@pytest.fixture
def invoke(capsys, monkeypatch):
    """Call the program; returns exit code, standard output and standard error."""
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call
