"""Every task file that lm-eval loads as a config, functions included, beside what Proctor loads with ``--trust-code``.

Run ``python -m conformance.lm_eval.load_tasks --lm-python ENV/bin/python``. ENV has lm_eval 0.4.13 installed, and what
Proctor needs: both import the same modules there. Prints how many files each loads, and by reason those that lm-eval
loads and Proctor does not; exits with 1 where there is one.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).resolve().parents[2] / "src"


def references(value: Any) -> Iterator[Any]:
    """Yield every ``!function`` among the values of a task."""
    from proctor.dialects.lm_eval.reader import FunctionReference

    if isinstance(value, FunctionReference):
        yield value
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from references(part)


def load(folder: str) -> dict[str, str]:
    """Return by file why Proctor does not load it, empty where it does."""
    from proctor.dialects.lm_eval.functions import resolve_function
    from proctor.dialects.lm_eval.index import TASK
    from proctor.dialects.lm_eval.selection import TaskFinder
    from proctor.dialects.lm_eval.tree import Leaf
    from proctor.errors import ProctorError
    from proctor.settings import settings

    settings.trust_code = True
    finder = TaskFinder([folder], installed=False)
    found = dict.fromkeys(finder.index.problems.keys(), "cannot be read")
    for name in finder.index.names(TASK):
        entry = finder.index.entries[name]
        try:
            for member in finder.find(name):
                if isinstance(member, Leaf):
                    member.config()
                    for each in references(dict(member.values)):
                        resolve_function(each, each.name)
            found[entry.file] = ""
        except ProctorError as error:
            found[entry.file] = str(error)
    return found


def short(reason: str) -> str:
    """Return a reason without what differs from file to file."""
    lines = [line.strip() for line in reason.splitlines() if line.strip().startswith("why:")] or reason.splitlines()[:1]
    return re.sub(r"/\S+/", "…/", " ".join(lines))[:160]


def main() -> None:
    """Load on both sides and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lm-python", default="/tmp/lmvenv/bin/python")  # noqa: S108 - a default to try
    parser.add_argument("--oracle", help="keep lm-eval's answers in this file, or take them from it")
    parser.add_argument("--proctor-side", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.proctor_side:
        folder, out = arguments.proctor_side
        Path(out).write_text(json.dumps(load(folder)))
        return
    code = "import lm_eval, pathlib; print(pathlib.Path(lm_eval.__file__).parent / 'tasks')"
    python = arguments.lm_python
    folder = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()
    kept = Path(arguments.oracle) if arguments.oracle else Path(tempfile.mkdtemp()) / "oracle.json"
    if not kept.exists():
        subprocess.run([python, str(Path(__file__).with_name("load_oracle.py")), folder, str(kept)], check=True)
    mine = Path(tempfile.mkdtemp()) / "proctor.json"
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    subprocess.run([python, __file__, "--proctor-side", folder, str(mine)], check=True, env=environment)
    theirs, ours = json.loads(kept.read_text()), json.loads(mine.read_text())
    sys.exit(report(theirs, ours))


def report(theirs: dict[str, str], ours: dict[str, str]) -> int:
    """Print counts and reasons; return 1 where lm-eval loads a file that Proctor does not."""
    print(f"{len(theirs)} task files; lm-eval loads {sum(not each for each in theirs.values())}")
    print(f"Proctor loads {sum(not ours.get(file, 'not found') for file in theirs)} of them")
    missing = {file: ours.get(file, "not found") for file, reason in theirs.items() if not reason}
    missing = {file: reason for file, reason in missing.items() if reason}
    for reason, count in Counter(map(short, missing.values())).most_common():
        example = next(file for file, why in missing.items() if short(why) == reason)
        print(f"{count:6}  {reason}\n        {example}")
    both = Counter(short(why) for file, why in ours.items() if why and theirs.get(file))
    print(f"neither loads {both.total()}:")
    for reason, count in both.most_common():
        print(f"{count:6}  {reason}")
    return int(bool(missing))


if __name__ == "__main__":
    main()
