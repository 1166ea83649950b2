"""Runs what a change can break, nearest first, in about a minute: ``make quick``.

python tools/quick.py                what is not committed, else the last commit
python tools/quick.py --since main   everything since another commit

First the layers (import-linter), then the options matrix, then test files by their distance from the changed modules:
those that changed themselves, those that import a changed module, those that import a module which imports one, and so
on. Tests that start processes or are marked slow are left to ``make test``; whatever the time does not reach, too.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

GIT = shutil.which("git") or "git"
ROOT = Path(__file__).resolve().parent.parent
ALWAYS = ("tests/test_options_matrix.py", "tests/test_repository_imports.py")
SECONDS = 75
"""After which no test begins; a habit is kept where the whole takes less than a minute and a half."""
MOST_FILES = 150
"""Of tests: more are not reached in time, and finding the tests in them would take a third of it."""


def main() -> int:
    """Run the nearest tests; return 1 where something fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--since", metavar="REV", help="a commit; without it, what is not committed, else the last one")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="in which tests begin (%(default)s)")
    parser.add_argument("--workers", default="2", help="processes of pytest (%(default)s)")
    given = parser.parse_args()
    until = time.time() + given.seconds
    changed = changed_files(given.since)
    if not changed:
        print("nothing has changed")
        return 0
    files = nearest(changed)
    print(f"{len(changed)} files changed; {len(files)} test files can notice, the nearest first")
    if layers := subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-logo"], cwd=ROOT, check=False
    ).returncode:
        return layers
    chosen = [*ALWAYS, *(each for each in files if each not in ALWAYS)][:MOST_FILES]
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rfE",
        "-n",
        given.workers,
        "-m",
        "not slow",
        "--quick",
        str(until),
        *chosen,
    ]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def changed_files(since: str | None) -> list[str]:
    """Return the Python and data files of the package and its tests that are not as they were in a commit."""
    base = since or "HEAD"
    names = [*_git("diff", "--name-only", base), *_git("ls-files", "--others", "--exclude-standard")]
    found = [name for name in names if name.startswith(("src/", "tests/"))]
    return (
        found
        if found or since
        else [n for n in _git("diff", "--name-only", "HEAD~1") if n.startswith(("src/", "tests/"))]
    )


def _git(*arguments: str) -> list[str]:
    done = subprocess.run([GIT, *arguments], cwd=ROOT, check=True, capture_output=True, text=True)
    return done.stdout.split()


def nearest(changed: Iterable[str]) -> list[str]:
    """Return the test files that can notice a change, by the number of imports between them and it."""
    importers = _importers()
    distances = dict.fromkeys(changed, 0)
    waiting = deque(distances)
    while waiting:
        name = waiting.popleft()
        for each in importers.get(name, ()):
            if each not in distances:
                distances[each] = distances[name] + 1
                waiting.append(each)
    tests = [name for name in distances if Path(name).name.startswith("test_") and (ROOT / name).is_file()]
    beside = {_room(name) for name in changed}
    return sorted(tests, key=lambda name: (distances[name], _room(name) not in beside, name))


def _room(name: str) -> str:
    """Return the folder of a module or of its tests: ``scoring`` of both."""
    parts = Path(name).parts
    return "/".join(parts[2:-1] if parts[0] == "src" else parts[1:-1])


@cache
def _importers() -> Mapping[str, set[str]]:
    """Return, for each file of the package, the files that import it."""
    found: dict[str, set[str]] = defaultdict(set)
    for folder in ("src/proctor", "tests"):
        for path in (ROOT / folder).rglob("*.py"):
            name = str(path.relative_to(ROOT))
            for module in _imported(path):
                found[module].add(name)
    return found


# Read as text: parsing every file of the package takes as long as a good part of its tests.
_IMPORT = re.compile(r"^\s*(?:from (proctor[\w.]*) import (\([^)]*\)|.*)|import (proctor[\w.]*))", re.MULTILINE)
_DATA = re.compile(r"""["']([\w-]+\.json)["']""")


def _imported(path: Path) -> Iterator[str]:
    """Yield the files of the package that a file imports, inside functions, too; and data beside it."""
    text = path.read_text(encoding="utf-8")
    for package, names, module in _IMPORT.findall(text):
        yield from _file_of(package or module)
        for name in re.findall(r"\w+", names):
            yield from _file_of(f"{package}.{name}")
    for name in _DATA.findall(text):
        if (path.parent / name).is_file():
            yield str((path.parent / name).relative_to(ROOT))


@cache
def _file_of(module: str) -> tuple[str, ...]:
    place = Path("src", *module.split("."))
    known = (Path(f"{place}.py"), place / "__init__.py")
    return tuple(str(path) for path in known if (ROOT / path).is_file())


if __name__ == "__main__":
    sys.exit(main())
