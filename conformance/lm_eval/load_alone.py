"""How many tasks of a fetched lm-eval load, helper modules included.

Run ``proctor get lm-eval 0.4.13`` and ``python -m conformance.lm_eval.load_alone``. Prints the numbers, and by reason
those that do not load; exits with 1 where one misses lm_eval itself.
"""

from __future__ import annotations

import sys
from collections import Counter

from conformance.lm_eval.load_tasks import load, short

from proctor.packages import fetched_folder


def main() -> None:
    """Load every task and print what does not."""
    folder = fetched_folder("lm_eval")
    if folder is None:
        sys.exit("proctor get lm-eval first")
    found = load(str(folder / "tasks"))
    reasons = Counter(short(reason) for reason in found.values() if reason)
    for reason, count in reasons.most_common():
        print(count, reason)
    print(f"{len(found)} tasks, {sum(not reason for reason in found.values())} load")
    sys.exit(any("'lm_eval" in reason for reason in reasons))


if __name__ == "__main__":
    main()
