"""Draws options, sizes and models, writes each case in every dialect, and holds all numbers against counting by hand.

python -m conformance.own.options --first 0 --count 40
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
import warnings
from pathlib import Path

from conformance.own.options.checks import drawn, problems
from conformance.own.options.exams import DIALECTS


def main() -> int:
    """Check the cases of some seeds; return 1 where something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=40, help="how many seeds")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)  # of models that fail on purpose
    warnings.simplefilter("ignore")  # of SciPy, on samples that are small on purpose
    found = 0
    for seed in range(args.first, args.first + args.count):
        case = drawn(seed)
        with tempfile.TemporaryDirectory(prefix="proctor-options-") as folder:
            for problem in problems(case, Path(folder)):
                found += 1
                print(f"seed {seed}, {case}\n    {problem}", flush=True)
    print(f"{args.count} cases of {len(DIALECTS)} kinds of exams and 2 groups, {found} problems")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
