"""Write ``fork_digests.json``: digests of what releases of lm-eval register, and of how they make scores of answers.

Usage: ``python tools/lm_eval_digests.py FOLDER…``, each the folder ``lm_eval`` of an unpacked release. What is known
already is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from proctor.dialects.lm_eval import fork_changes

TARGET = Path(fork_changes.__file__).with_name("fork_digests.json")


def main() -> None:
    """Add the digests of releases."""
    known = json.loads(TARGET.read_text(encoding="utf-8")) if TARGET.is_file() else {}
    for folder in sys.argv[1:]:
        for name, digest in fork_changes.digests(Path(folder)):
            known[name] = sorted({*known.get(name, ()), digest})
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(known))
    TARGET.write_text("{\n" + lines + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
