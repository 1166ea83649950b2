"""Changes one thing in a module at a time and counts the changes that its tests notice.

python tools/mutants.py                            a sample of every room: every folder of the package
python tools/mutants.py demos engines --each 100 --seed 7
python tools/mutants.py recipes/pipeline --each 1000
python tools/mutants.py guests/lm_eval --tests tests/compat/test_lm_eval_objects.py

A mutant is a comparison, an operator, a constant, a condition, a named argument, a returned value or a statement that
was changed or dropped. It meets only the tests that ran its line, the fastest first, until one fails. What survives is
printed with its line; read it: either a test is missing, or the change means the same (an *equivalent* mutant).

The tests are collected once. Every mutant gets a forked process, in which the changed function takes the place of the
one that was loaded; a mutant outside of functions, or one that an object cannot take, loads the package anew. Python
processes that tests start run the changed module, too.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import gc
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
import types
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from typing import NoReturn

import coverage
import pytest
from mutants_changes import PACKAGE, ROOT, Finder, Mutant

ROOMS = (
    "dialects/aisbench",
    "dialects/conversion",
    "dialects/hub_yaml",
    "dialects/lm_eval",
    "dialects/promptfoo",
    "dialects/tables",
    "dialects/unitxt",
    "engines/hf",
    "engines/http",
    "engines/thoughts",
    "engines/vllm",
)
"""Rooms inside of rooms, with tests of their own; every other folder of the package is one, and so are the modules that
lie in none."""
ALSO: dict[str, tuple[str, ...]] = {
    "": ("tests/test_*.py",),
    "artifacts": ("tests/scoring/judges/test_wording.py",),
    "data": ("tests/artifacts/test_defaults.py", "tests/recipes/test_permissions.py"),
    "demos": ("tests/recipes/test_recipe.py", "tests/recipes/test_pool_draw.py"),
    "dialects": (
        "tests/cli/test_get.py",
        "tests/cli/test_sweep.py",
        "tests/dialects/promptfoo",
        "tests/dialects/hub_yaml/test_resolve.py",
    ),
    "dialects/aisbench": ("tests/conformance/test_recordings.py",),
    "dialects/unitxt": (
        "tests/conformance/test_recordings.py",
        "tests/dialects/test_conversions.py",
        "tests/dialects/test_dialect.py",
        "tests/results/test_one_grader.py",
    ),
    "dialects/hub_yaml": (
        "tests/conformance/test_recordings.py",
        "tests/dialects/test_conversions.py",
        "tests/dialects/test_dialect.py",
    ),
    "dialects/conversion": ("tests/dialects/test_conversions.py",),
    "formats": ("tests/dialects/aisbench/test_prompts.py", "tests/recipes/test_prompts.py"),
    "engines/http": ("tests/running/test_batches.py", "tests/running/test_stored_batches.py"),
    "engines/thoughts": ("tests/running/test_listening.py",),
    "guests": (
        "tests/compat/test_*.py",
        "tests/dialects/aisbench/test_clones.py",
        "tests/dialects/lm_eval/test_torch_utils.py",
    ),
    "prompts": ("tests/cli/test_show.py",),
    "recipes": ("tests/test_options_together.py",),
    "results": (
        "tests/cli/test_tables.py",
        "tests/dialects/aisbench/test_summary.py",
        "tests/running/test_latency.py",
        "tests/runs/test_compare_runs.py",
    ),
    "running": ("tests/cli/test_contamination.py", "tests/cli/test_gate.py", "tests/cli/test_going_on.py"),
    "runs": (
        *(f"tests/cli/test_{name}.py" for name in ("arena", "compare", "judge_report", "label_decisions", "sweep")),
        "tests/cli/test_report_*.py",
        *(f"tests/web/test_{name}_pages.py" for name in ("compare", "item", "label", "sweep")),
        "tests/web/test_sample_view.py",
    ),
    "scoring": (
        "tests/artifacts/test_defaults.py",
        "tests/conformance/test_recordings.py",
        "tests/dialects/tables/test_table_metrics.py",
        "tests/recipes/test_repeats.py",
        "tests/results/test_one_grader.py",
    ),
    "templates": ("tests/dialects/aisbench/test_prompts.py", "tests/recipes/test_prompts.py"),
}
"""Tests that answer for a room, beside those in the folder of the same name."""
NOT_HERE = frozenset({"catalog", "testing", "integrations"})
"""Rooms of data, of helpers of tests, and of code that other programs import."""

PATIENCE = 60.0
"""Seconds on the clock, beside three times what it took, after which a test that waits for ever is given up; the mutant
counts as noticed."""


class Recorder:
    """A pytest plugin: which lines each test ran, and how long it took."""

    def __init__(self, cover: coverage.Coverage) -> None:
        self.cover = cover
        self.seconds: dict[str, float] = defaultdict(float)
        self.failed: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Lines that run from now on are this test's."""
        self.cover.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up set-up, call and tear-down."""
        self.seconds[report.nodeid] += report.duration
        if report.failed:
            self.failed.add(report.nodeid)


def tests_of(args: Sequence[str]) -> list[str]:
    """Return pytest's arguments."""
    off = [word for name in ("cacheprovider", "xdist", "cov") for word in ("-p", f"no:{name}")]
    # Pytest warns, and the warning would fail every test, that hypothesis was imported before it.
    return ["-q", "-x", *off, "--tb=line", "-W", "ignore::pytest.PytestAssertRewriteWarning", *args]


class Watch:
    """A pytest plugin: ends the process with a test that takes far too long, and writes which test failed."""

    def __init__(self, seconds: Mapping[str, float], failed: Path) -> None:
        self.seconds = seconds
        self.failed = failed

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Wait so long for this test."""
        patience = PATIENCE + 3 * self.seconds.get(nodeid, 0.0)
        faulthandler.dump_traceback_later(patience, exit=True, file=sys.__stderr__ or sys.stderr)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Write a failed test's name."""
        if report.failed:
            self.failed.write_text(report.nodeid, encoding="utf-8")


class IdsAsWritten:
    """A pytest plugin: a later collection makes the ids of parameters anew.

    Pytest keeps those that it made of ``ids=``, and escapes them once more when it collects again in the same process.
    """

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Forget the ids that were made."""
        for mark in (mark for item in session.items for mark in item.iter_markers("parametrize")):
            source = mark._param_ids_from  # noqa: SLF001 - pytest has no other way
            if source is not None and not isinstance(source.kwargs.get("ids"), Iterator):
                object.__setattr__(source, "_param_ids_generated", None)


_TOLD = "MUTANTS_TOLD"
"""The variable that tells the Python processes which tests start what to do."""

CHILDREN = Path(__file__).parent / "mutants_children"
"""The folder whose ``sitecustomize`` these processes run before anything else. Those that do not get the environment of
the tests (prisons) do not."""


def record(tests: Sequence[str], modules: Sequence[Path], to: Path) -> None:
    """Run the tests as they are and write, per line of the modules, the tests that ran it."""
    include = [str(path) for path in modules]
    cover = coverage.Coverage(data_file=None, include=include, config_file=False)
    recorder = Recorder(cover)
    folder = to.with_name("lines")
    folder.mkdir()
    os.environ[_TOLD] = json.dumps({"lines": str(folder), "modules": include})
    cover.start()
    status = pytest.main([each for each in tests_of(tests) if each != "-x"], plugins=[recorder])
    cover.stop()
    for name in recorder.failed:  # one that measures time may fail while lines are recorded
        del recorder.seconds[name]
    if status not in (0, 1) or not recorder.seconds:
        sys.exit("The tests fail as they are; mutants can be counted when they pass.")
    data = cover.get_data()
    lines = {
        path: {str(line): set(names) - recorder.failed for line, names in data.contexts_by_lineno(path).items()}
        for path in include
    }
    for each in folder.iterdir():
        name, ran = json.loads(each.read_text(encoding="utf-8"))
        for path, line in ((path, line) for path, found in ran.items() for line in found if name in recorder.seconds):
            lines[path].setdefault(str(line), set()).add(name)
    listed = {path: {line: sorted(names) for line, names in found.items()} for path, found in lines.items()}
    to.write_text(
        json.dumps({"lines": listed, "seconds": recorder.seconds, "failed": sorted(recorder.failed)}), encoding="utf-8"
    )


class Changed(SourceFileLoader):
    """An importer of one module with another source."""

    def __init__(self, name: str, mutant: Mutant) -> None:
        super().__init__(name, str(mutant.path))
        self.mutant = mutant

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:  # noqa: ARG002
        """Find the module, and nothing else."""
        return spec_from_file_location(name, self.mutant.path, loader=self) if name == self.name else None

    def get_code(self, fullname: str) -> types.CodeType:  # noqa: ARG002
        """Compile the changed source."""
        return compile(self.mutant.source(), str(self.mutant.path), "exec", dont_inherit=True)


def code_in(code: types.CodeType, name: str, line: int) -> types.CodeType | None:
    """Return the code of the function of that name and line."""
    for inner in (constant for constant in code.co_consts if isinstance(constant, types.CodeType)):
        found = inner if (inner.co_name, inner.co_firstlineno) == (name, line) else code_in(inner, name, line)
        if found is not None:
            return found
    return None


def replaced(mutant: Mutant) -> bool:
    """Give the loaded function its changed code; return whether it could take it."""
    if mutant.function is None:
        return False
    new = code_in(compile(mutant.source(), str(mutant.path), "exec", dont_inherit=True), *mutant.function)
    places = [
        function
        for function in gc.get_objects()
        if isinstance(function, types.FunctionType)
        and function.__code__.co_filename == str(mutant.path)
        and (function.__code__.co_name, function.__code__.co_firstlineno) == mutant.function
    ]
    if new is None or not places or any(new.co_freevars != place.__code__.co_freevars for place in places):
        return False
    for place in places:
        place.__code__ = new
    return True


def load_anew(mutant: Mutant) -> None:
    """Forget the package, its tests and what these import, and find the changed module instead of the one on disk."""
    folders = tuple(f"{ROOT / folder}{os.sep}" for folder in ("src", "tests", "conformance"))
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "proctor" or str(getattr(module, "__file__", None)).startswith(folders):
            del sys.modules[name]
    sys.meta_path.insert(0, Changed(mutant.module, mutant))


def without_shrinking() -> None:
    """Let hypothesis stop at the first counter-example: nobody reads it."""
    import hypothesis

    register = hypothesis.settings.register_profile
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)

    def registered(name: str, **settings: object) -> None:
        register(name, **(settings | {"phases": phases, "database": None, "derandomize": True}))  # type: ignore[arg-type]

    type.__setattr__(hypothesis.settings, "register_profile", staticmethod(registered))


def forked(work: Callable[[], int], seconds: float, said: str = os.devnull) -> int:
    """Do something in a process of its own; return its exit code, or -1 where it never ended.

    What the process prints is written to the file ``said``.
    """
    process = os.fork()
    if not process:
        os.setpgid(0, 0)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for stream in (1, 2):
            os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), stream)
        code = 1
        try:
            code = int(work())
        except BaseException:  # noqa: BLE001 - the process ends here, whatever happened
            traceback.print_exc()
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(process, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return -1


def first_to_fail(mutant: Mutant, tests: Mapping[str, float], said: Path) -> str | None:
    """Return the test that notices a mutant, ``None`` where none does; empty where the process ended otherwise.

    Args:
        mutant: The change.
        tests: With the seconds they took, in the order in which they are run.
        said: A file for what they print.
    """
    failed, source = said.with_name("failed.txt"), said.with_name("source.py")
    failed.unlink(missing_ok=True)
    source.write_text(mutant.source(), encoding="utf-8")

    def work() -> int:
        os.environ[_TOLD] = json.dumps({"name": mutant.module, "path": str(mutant.path), "source": str(source)})
        if not replaced(mutant):
            load_anew(mutant)
        return pytest.main(tests_of(list(tests)), plugins=[Watch(tests, failed)])

    said.unlink(missing_ok=True)
    if not forked(work, PATIENCE + 3 * sum(tests.values()), str(said)):
        return None
    return failed.read_text(encoding="utf-8") if failed.exists() else ""


class Jury:
    """The tests of a room: a mutant is noticed where one fails that passes without it in a process of the same kind."""

    def __init__(self, room: str, said: Path) -> None:
        self.room = room
        self.said = said
        self.sound: set[tuple[bool, str]] = set()
        self.unsound: set[tuple[bool, str]] = set()

    def notices(self, mutant: Mutant, tests: Mapping[str, float]) -> bool:
        """Return whether a test notices a mutant; those that fail without it, too, are left out and named."""
        anew = mutant.function is None
        left = {name: seconds for name, seconds in tests.items() if (anew, name) not in self.unsound}
        while left and (name := first_to_fail(mutant, left, self.said)) is not None:
            if (anew, name) in self.sound:
                return True
            order = list(left)
            before = order[: order.index(name) + 1] if name in left else order[:1]
            unchanged = first_to_fail(mutant.unchanged(), {each: left[each] for each in before}, self.said)
            if unchanged is None:
                self.sound |= {(anew, each) for each in [*before, name]}
                return True
            if unchanged not in left:
                refuse(f"{self.room}: its tests end the process, so nothing they notice would count.", self.said)
            print(f"left out, as it fails in a process of its own: {unchanged}", flush=True)
            self.unsound.add((anew, unchanged))
            del left[unchanged]
        return False


def refuse(why: str, said: Path) -> NoReturn:
    """End the program with what pytest said last."""
    last = said.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-20:] if said.exists() else []
    sys.exit("\n".join([why, *last]))


def sampled(modules: Sequence[Path], count: int, seed: int) -> list[Mutant]:
    """Return so many mutants of a room, or all it has; the same for the same source and seed."""
    found = [mutant for path in modules for mutant in Finder(path).mutants]
    chosen = random.Random(f"{seed} {len(found)}").sample(found, min(count, len(found)))
    return sorted(chosen, key=lambda mutant: (mutant.path, mutant.line, mutant.start))


def run_room(room: str, tests: Sequence[str], modules: Sequence[Path], each: int, seed: int) -> tuple[int, int]:
    """Print the survivors of a room's sample; return how many died, and of how many."""
    with tempfile.TemporaryDirectory() as folder:
        table, said = Path(folder) / "table.json", Path(folder) / "said.txt"

        def recorded() -> int:
            record(tests, modules, table)
            return 0

        if forked(recorded, 3600.0, str(said)):
            refuse(f"{room}: its tests fail as they are. Run: pytest {' '.join(tests)}", said)
        known = json.loads(table.read_text(encoding="utf-8"))
        for name in known["failed"]:
            print(f"left out, as it fails where lines are recorded: {name}", flush=True)
        forget = set(sys.modules)
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
            pytest.main([*tests_of(tests), "--collect-only"], plugins=[IdsAsWritten()])
        died = count = 0
        jury = Jury(room, said)
        for mutant in sampled(modules, each, seed):
            lines = known["lines"][str(mutant.path)]
            ran = {name for line in mutant.statement for name in lines.get(str(line), [])}
            if "" in ran:  # on import, of the package or of tests: what came of it is loaded
                mutant = mutant._replace(function=None)  # noqa: PLW2901 - the same change, made before
            # Lines that run on import belong to no test: all do, first those that run others of the module.
            near = {name for found in lines.values() for name in found}
            names = known["seconds"] if mutant.function is None else ran
            order = sorted(names, key=lambda name: (name not in near, known["seconds"].get(name, 0.0)))
            is_noticed = jury.notices(mutant, {name: known["seconds"].get(name, 0.0) for name in order})
            died += is_noticed
            end = "died" if is_noticed else "survived" if names else "survived (no test runs it)"
            print(f"{end}  {mutant}", flush=True)
            count += 1
    for name in set(sys.modules) - forget:
        if name.startswith(("proctor", "tests")):
            del sys.modules[name]
    return died, count


def rooms() -> dict[str, list[Path]]:
    """Return the modules of each room; those that lie in no folder are the room without a name."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        folder = str(path.relative_to(PACKAGE).parent)
        inner = next((room for room in ROOMS if f"{folder}/".startswith(f"{room}/")), "")
        room = inner or folder.partition("/")[0].removeprefix(".")
        if room not in NOT_HERE:
            found[room].append(path)
    return found


def answering(room: str) -> list[str]:
    """Return the tests that answer for a room."""
    own = [f"tests/{room}"] if room and (ROOT / "tests" / room).is_dir() else []
    own += [f"--ignore=tests/{inner}" for inner in ROOMS if inner.startswith(f"{room}/")] if own else []
    also = (*ALSO.get(room, ()), "tests/test_docstrings.py")
    return [*own, *(str(path.relative_to(ROOT)) for each in also for path in sorted(ROOT.glob(each)))]


def main() -> int:
    """Run the rooms that were named; return 1 where fewer died in one than asked for."""
    parser = argparse.ArgumentParser(description="Which changes of the code do the tests not notice?")
    parser.add_argument("only", nargs="*", help="rooms or modules, such as demos or recipes/pipeline; all without")
    parser.add_argument("--each", type=int, default=40, help="mutants per room (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="+", metavar="PATH", help="instead of those that answer for the room")
    parser.add_argument(
        "--least", type=float, default=0.85, help="exit with 1 where a smaller share dies (%(default)s)"
    )
    given = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(PACKAGE.parent), str(ROOT)]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(CHILDREN), str(PACKAGE.parent)])
    without_shrinking()
    results: dict[str, tuple[int, int]] = {}
    for room, known in rooms().items():
        chosen = [
            path
            for path in known
            if not given.only or any(f"{path.relative_to(PACKAGE)}".startswith(name) for name in given.only)
        ]
        if chosen:
            results[room] = run_room(room, given.tests or answering(room), chosen, given.each, given.seed)
    for room, (died, count) in results.items():
        print(f"{died:4} of {count:3} died ({died / max(count, 1):4.0%})  {room or 'modules in no folder'}")
    return int(any(died < given.least * count for died, count in results.values()))


if __name__ == "__main__":
    sys.exit(main())
