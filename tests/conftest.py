"""Fixtures that every test may ask for."""

from __future__ import annotations

import gc
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import pytest
from _pytest.capture import FDCapture
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from proctor import secrets
from proctor.artifacts.catalogs import _registered
from proctor.logs import get_logger
from proctor.settings import settings

# Two workers use both cores, so libraries for numbers begin no further threads: they would wait for each other in loops.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

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
HUB = "PROCTOR_TEST_HUB"

# Tests import what they share by names of its own, for they are not a package: ``from tests_pace import within``.
for _name in (
    "pace",
    "commands",
    "grants",
    "warm",
    "paced_server",
    "postgres",
    "cable",
    "virtual",
    "logged",
    "running/made_exams",
):
    _spec = spec_from_file_location(f"tests_{Path(_name).name}", Path(__file__).parent / f"{_name}.py")
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules[_spec.name] = module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_spec.name])


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what ``make quick`` says."""
    said = "leave out tests that start processes, and all that would begin after this time (of time.time())"
    parser.addoption("--quick", type=float, metavar="TIME", help=said)


class _Quickly:
    """Leaves out tests where only the nearest are wanted."""

    def __init__(self, until: float) -> None:
        self._until = until

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """Leave out what comes too late; thousands of tests that say they were skipped would take longer than they have."""
        return True if time.time() > self._until else None

    @pytest.fixture(autouse=True)
    def _starting_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Skip a test that starts a process."""

        def refuse(*_: object, **__: object) -> None:
            pytest.skip("starts a process; make test runs it")

        monkeypatch.setattr(subprocess.Popen, "__init__", refuse)
        monkeypatch.setattr(subprocess.Popen, "__del__", lambda _: None)


def pytest_configure(config: pytest.Config) -> None:
    """Search for cyclic garbage less often, a twelfth of the suite's time, and leave out what ``make quick`` does not want."""
    gc.set_threshold(20_000, 20, 20)
    if (until := config.getoption("--quick")) is not None:
        config.pluginmanager.register(_Quickly(until))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say how many tests the time did not reach."""
    if config.getoption("--quick") is None:
        return
    session = terminalreporter._session
    reached = sum(
        len(terminalreporter.stats.get(each, [])) for each in ("passed", "failed", "skipped", "xfailed", "error")
    )
    if session is not None and (late := session.testscollected - reached) > 0:
        terminalreporter.write_line(f"{late} tests were not reached in time; make test runs them")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let each worker begin with files that have slow tests: at the end, the others would wait for them.

    Each is given as many tests as any other, one after another; files stay whole, for what their fixtures made.
    """
    workers = getattr(config, "workerinput", {"workercount": 1})["workercount"]
    slow: dict[Path, list[pytest.Item]] = {item.path: [] for item in items if item.get_closest_marker("slow")}
    for item in items:
        slow.get(item.path, []).append(item)
    others, ordered = (item for item in items if item.path not in slow), list[pytest.Item]()
    for place in range(workers):
        size = (len(items) - len(ordered)) // (workers - place)
        first = list(chain.from_iterable(list(slow.values())[place::workers]))
        ordered += [*first, *islice(others, max(0, size - len(first)))]
    items[:] = [*ordered, *others] if workers > 1 else items


_imported = [0]
"""How many modules there were when :func:`_pass_over` was called last."""


def _pass_over() -> None:
    """Let the search for cyclic garbage pass over what stays: each would take a second of it, and tests ask for some."""
    _imported[0] = len(sys.modules)
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    """Pass over 20,000 tests."""
    _pass_over()


def pytest_runtest_teardown() -> None:
    """Pass over a large library that the test was the first to import."""
    if len(sys.modules) > _imported[0] + 300:
        _pass_over()


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def hub_dir() -> Path:
    """A folder of real datasets, mapped as ``PROCTOR_HUB_DIR``; the test is skipped where there is none."""
    folder = Path(os.environ.get(HUB) or ROOT.parent / "shared" / "data" / "hub")
    if not folder.is_dir():
        pytest.skip(f"no datasets at {folder}; set {HUB} to a folder that has them")
    return folder


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache for all workers, so that SmolLM2 is converted once: its conversion takes ten seconds."""
    folder = tmp_path_factory.getbasetemp()
    folder = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "proctor-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def converted(model_cache: Path) -> Path:
    """The cache with SmolLM2 in it, converted by whoever asks first; ``shown.txt`` has what that wrote to a terminal."""
    from proctor.engines.hf import smollm2

    for package in ("torch", "gguf", smollm2.PACKAGE):
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    shown = model_cache / "shown.txt"
    with smollm2._lock(model_cache / "shown.lock"), settings.context(cache_dir=model_cache):
        if not shown.exists():
            streams = FDCapture(1), FDCapture(2)  # capfd is for one test
            for each in streams:
                each.start()
            try:
                smollm2.converted_folder()
            finally:
                text = "".join(each.snap() for each in streams)
                for each in streams:
                    each.done()
            shown.write_text(text, encoding="utf-8")
    return model_cache


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Folders for homes, one after another."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in count())


# One fixture, which asks for one: it is set up 17,000 times.
@pytest.fixture(autouse=True)
def _alone(_homes: Iterator[Path]) -> Iterator[None]:
    """Keep the user's response log, catalogs and settings out of tests, and tests out of them and of each other."""
    home = next(_homes)
    home.mkdir()
    others = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("PROCTOR_") and name != HUB}
    own = {"XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config", "XDG_DATA_HOME": "data"}
    own = {"HF_HUB_OFFLINE": "1", **{name: str(home / folder) for name, folder in own.items()}}
    before = {name: os.environ[name] for name in own if name in os.environ}
    os.environ.update(own)
    secrets.forget()
    assigned, registered = dict(settings._assigned), list(_registered)
    silent = logging.root.manager.disable
    yield
    left = logging.root.manager.disable
    logging.disable(silent)
    assert left == silent, "the test silences those after it: logging.disable"
    _registered[:] = registered  # a block of a page registers one
    if (deprecations := sys.modules.get("proctor.artifacts.deprecations")) is not None:
        deprecations.warn_of_deprecations(False)  # a program of Unitxt's switches it on
    settings._assigned.clear()  # a command that runs in this process assigns to them, with --trust-code
    settings._assigned.update(assigned)
    for name in own:
        os.environ.pop(name, None)
    os.environ.update(before | others)


@pytest.fixture
def heard(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Let pytest hear what Proctor's logger says, which does not pass it on by itself."""
    logger = get_logger()  # made now where no test before this one has: it would pass everything on twice
    logger.addHandler(caplog.handler)
    yield caplog
    logger.removeHandler(caplog.handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """A PostgreSQL server; tests that want one say that they skip where there is none."""
    from tests_postgres import PostgresServer, why_not

    pytest.importorskip("psycopg")
    if why := why_not():
        pytest.skip(why)
    with PostgresServer() as server:
        yield server


@pytest.fixture(params=["file", "database"])
def log_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new response log can be: in a file, in a database."""
    return str(tmp_path / "log.db") if request.param == "file" else request.getfixturevalue("postgres").address()
