"""Write the table of attacks in ``docs/reference/security.md``: hostile inputs that the tests try, by what they attack.

python tools/attack_table.py           write the table anew
python tools/attack_table.py --check   exit with 1 where it says more than there is, or a file is gone

A hostile input is a test case of the files below, or an entry of the tables of attacks that one test goes through.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "reference" / "security.md"
START, END = "<!-- attacks: written by tools/attack_table.py -->", "<!-- end of attacks -->"

GROUPS: dict[str, tuple[str, ...]] = {
    "expressions, configs and templates that would run, read, hang or grow": (
        "tests/safe_python/test_attacks.py",
        "tests/safe_python/test_plain.py",
        "tests/dialects/aisbench/test_hostile_configs.py",
    ),
    "YAML, JSON, literals, patterns and files without an end; includes elsewhere": (
        "tests/test_foreign_attacks.py",
        "tests/test_foreign_text.py",
        "tests/cli/test_hostile_tasks.py",
        "tests/dialects/lm_eval/test_reader_includes.py",
    ),
    "effects of loaders, operators, models and catalogs; permissions": (
        "tests/test_effects.py",
        "tests/recipes/test_permissions.py",
    ),
    "keys for other hosts; secrets that come back": (
        "tests/engines/http/test_keys.py",
        "tests/test_secrets.py",
        "tests/test_services.py",
    ),
    "replies of servers": ("tests/engines/http/test_hostile_replies.py",),
    "pages that use the viewer": ("tests/web/test_attacks.py",),
    "programs of models that forge a pass, read, write, connect or outlive the run": (
        "tests/prison/test_forged_programs.py",
        "tests/prison/test_walls.py",
    ),
    "damaged logs, run folders of strangers, links and two runs at once": (
        "tests/running/test_log_damage.py",
        "tests/running/test_folder.py",
        "tests/runs/test_hostile_folders.py",
        "tests/test_safe_files.py",
    ),
    "escape sequences and direction marks for the terminal": ("tests/test_terminal_text.py",),
    "predictions and references that are not values": ("tests/results/test_missing_values.py",),
}


def collected() -> Counter[str]:
    """Return the number of test cases of each file."""
    files = [file for group in GROUPS.values() for file in group if (ROOT / file).is_file()]
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return Counter(line.partition("::")[0] for line in done.stdout.splitlines() if "::" in line)


def inside_tables() -> int:
    """Return how many attacks the tables of ``tests/safe_python/attacks.py`` hold beyond one test case each."""
    spec = spec_from_file_location("attacks", ROOT / "tests/safe_python/attacks.py")
    if spec is None or spec.loader is None:
        raise SystemExit("tests/safe_python/attacks.py is gone")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    tables = [
        value for name, value in vars(module).items() if name.isupper() and isinstance(value, (list, tuple, dict))
    ]
    return sum(map(len, tables))


def table() -> list[tuple[str, int]]:
    """Return what is attacked and how many hostile inputs try."""
    counts = collected()
    rows = [(name, sum(counts[file] for file in files)) for name, files in GROUPS.items()]
    return [(name, count + (inside_tables() if place == 0 else 0)) for place, (name, count) in enumerate(rows)]


def main() -> int:
    """Write the table or look at it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args()
    rows = table()
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(START)
    old, _, after = rest.partition(END)
    if args.check:
        said = {name: int(count.replace(",", "")) for name, count in re.findall(r"\| (.+?) \| ([\d,]+) \|", old)}
        stale = [name for name, count in rows if said.get(name, count + 1) > count]
        print(*(f"the table says more than there is: {name}" for name in stale), sep="\n")
        return int(bool(stale))
    lines = ["", "| attacked by | hostile inputs |", "|---|---|", *(f"| {name} | {count:,} |" for name, count in rows)]
    lines += [f"| together | {sum(count for _, count in rows):,} |", ""]
    made = "\n".join(lines)
    PAGE.write_text(f"{before}{START}\n{made}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
