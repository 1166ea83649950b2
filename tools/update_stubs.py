"""Writes ``__init__.pyi`` for packages whose names are imported on first use, so that type checkers know them.

python tools/update_stubs.py           write them
python tools/update_stubs.py --check   exit with 1 where one is not up to date
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent / "src"
_ROOMS = "data demos engines formats recipes results running scoring scoring.judges tasks templates"
PACKAGES = tuple(f"proctor.{room}" for room in _ROOMS.split())
"""Packages with a table ``_HOMES`` and nothing else; smaller ones repeat it under TYPE_CHECKING."""


def stub_of(package: str) -> str:
    """Return the stub of a package: an import of every name in its table, and ``__all__``."""
    homes: dict[str, str] = import_module(package)._HOMES  # noqa: SLF001 - the table is what we read
    lines = ["# Made by tools/update_stubs.py.", ""]
    for module in sorted(homes):
        names = ", ".join(f"{name} as {name}" for name in sorted(homes[module].split()))
        lines.append(f"from {module if '.' in module else f'{package}.{module}'} import {names}")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check; return 1 where a stub was not up to date."""
    outdated = []
    for package in PACKAGES:
        path = ROOT.joinpath(*package.split("."), "__init__.pyi")
        text = stub_of(package)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            outdated.append(path)
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    for path in outdated:
        print(f"{path.relative_to(ROOT)}: {'not up to date' if '--check' in sys.argv else 'written'}")
    return int(bool(outdated) and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
