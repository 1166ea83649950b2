"""Records what Proctor itself does now, so that a redesign can be held against it; prints what changed.

python -m conformance.own.record                      write the goldens anew, and say what is different
python -m conformance.own.record --check              only say what is different; exits with 1 where something is
python -m conformance.own.record --show lm_eval lost  print every request of a case, to compare with another commit
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.own import (
    aisbench_exams,
    conversion_exams,
    goldens,
    guest_exams,
    hub_exams,
    lm_eval_exams,
    table_exams,
    unitxt_exams,
)
from conformance.own.adapter import asked_in_words, observe
from conformance.own.cases import Case


@dataclass(frozen=True, slots=True)
class Dialect:
    """What writes a dialect's files, and its cases."""

    write: Callable[[Path], None]
    cases: Callable[[], Iterator[Case]]


DIALECTS = {
    "lm_eval": Dialect(lm_eval_exams.write, lm_eval_exams.cases),
    "unitxt": Dialect(unitxt_exams.write, unitxt_exams.cases),
    "aisbench": Dialect(aisbench_exams.write, aisbench_exams.cases),
    "hub_yaml": Dialect(hub_exams.write, hub_exams.cases),
    "tables": Dialect(table_exams.write, table_exams.cases),
    "guests": Dialect(guest_exams.write, guest_exams.cases),
    "conversions": Dialect(conversion_exams.write, conversion_exams.cases),
}


def recorded(name: str, folder: Path, only: str = "") -> Iterator[tuple[str, str]]:
    """Yield the name of each case of a dialect and what is recorded of it.

    Args:
        name: The dialect.
        folder: An empty folder for its files.
        only: The name of one case, where not all are wanted.
    """
    DIALECTS[name].write(folder)
    for case in DIALECTS[name].cases():
        if only in ("", case.name):
            yield case.name, observe(case, folder)


def main() -> int:
    """Record or compare; return 1 where something is different."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--only", choices=sorted(DIALECTS), help="one dialect")
    parser.add_argument("--show", nargs=2, metavar=("DIALECT", "CASE"), help="print the requests of a case")
    args = parser.parse_args()
    if args.show:
        return _show(*args.show)
    differences = 0
    for name in [args.only] if args.only else DIALECTS:
        with tempfile.TemporaryDirectory(prefix="proctor-own-") as folder:
            found = dict(recorded(name, Path(folder)))
        known = goldens.read(name)
        changes = list(goldens.differences(known, found))
        for change in changes:
            print(f"{name}: {change}")
        differences += len(changes)
        if not args.check:
            goldens.write(name, found)
        print(f"{name}: {len(found)} cases, {len(changes)} differences")
    return int(bool(differences) and args.check)


def _show(name: str, wanted: str) -> int:
    with tempfile.TemporaryDirectory(prefix="proctor-own-") as folder:
        DIALECTS[name].write(Path(folder))
        for case in DIALECTS[name].cases():
            if case.name == wanted:
                sys.stdout.writelines(asked_in_words(case, Path(folder)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
