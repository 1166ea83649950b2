"""Fixtures that every test may ask for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from proctor import secrets
from proctor.logs import get_logger
from proctor.settings import settings

# A busy machine is not a failure: examples have no deadline. They are the same on every machine and every time, so that
# a change is judged by what it does; `make soak` looks for new ones, many at a time.
_CHECKS = [HealthCheck.filter_too_much, HealthCheck.too_slow]
hypothesis_settings.register_profile("proctor", deadline=None, derandomize=True, suppress_health_check=_CHECKS)
hypothesis_settings.register_profile(
    "soak", deadline=None, derandomize=False, max_examples=2_000, suppress_health_check=_CHECKS
)
hypothesis_settings.load_profile("soak" if os.environ.get("PROCTOR_TEST_SOAK") else "proctor")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A job in the background (nohup, many CI systems) ignores Ctrl-C, and so would the programs that tests start and stop.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = Path(__file__).resolve().parent.parent

# Tests import what they share by names of its own, for they are not a package: ``from tests_pace import within``.
for _name in ("pace", "commands", "grants", "warm"):
    _spec = spec_from_file_location(f"tests_{_name}", Path(__file__).with_name(f"{_name}.py"))
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules[_spec.name] = module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_spec.name])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what ``make quick`` says."""
    parser.addoption("--quick", type=int, metavar="SECONDS", help="leave out what starts processes, and end in time")


_BEGUN = time.monotonic()


@pytest.fixture(autouse=True)
def _quickly(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip a test that starts a process, or that comes too late, where only the nearest tests are wanted."""
    seconds = request.config.getoption("--quick")
    if seconds is None:
        return
    if time.monotonic() - _BEGUN > seconds:
        pytest.skip("make quick has no more time; make test runs it")

    def refuse(*_: object, **__: object) -> None:
        pytest.skip("starts a process; make test runs it")

    monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
    monkeypatch.setattr(subprocess.Popen, "__del__", lambda _: None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests the time did not reach."""
    if config.getoption("--quick") is None:
        return
    late = [each for each in terminalreporter.stats.get("skipped", []) if "has no more time" in str(each.longrepr)]
    if late:
        terminalreporter.write_line(f"{len(late)} tests were not reached in time; make test runs them")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def hub_dir() -> Path:
    """A folder of real datasets, mapped as ``PROCTOR_HUB_DIR``; the test is skipped where there is none."""
    folder = Path(os.environ.get("PROCTOR_TEST_HUB") or ROOT.parent / "shared" / "data" / "hub")
    if not folder.is_dir():
        pytest.skip(f"no datasets at {folder}; set PROCTOR_TEST_HUB to a folder that has them")
    return folder


@pytest.fixture(autouse=True)
def _private_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's response log, catalogs and settings out of tests, and tests out of them."""
    for name in [name for name in os.environ if name.startswith("PROCTOR_") and name != "PROCTOR_TEST_HUB"]:
        monkeypatch.delenv(name)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    secrets.forget()


@pytest.fixture(autouse=True)
def _settings_of_its_own() -> Iterator[None]:
    """Undo what a test assigns to settings: a command that runs in this process does, with ``--trust-code``."""
    before = dict(settings._assigned)
    yield
    settings._assigned.clear()
    settings._assigned.update(before)


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Let pytest hear what Proctor's logger says, which does not pass it on by itself."""
    logger = get_logger()  # made now where no test before this one has: it would pass everything on twice
    logger.addHandler(caplog.handler)
    yield caplog
    logger.removeHandler(caplog.handler)
