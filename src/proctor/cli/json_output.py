"""JSON on standard output, for programs."""

from __future__ import annotations

import json
import sys

from proctor.terminal_text import printable_json


def print_json(value: object, indent: int | None = None) -> None:
    """Write a value as JSON on standard output; one line unless ``indent`` is given."""
    unicode = (sys.stdout.encoding or "ascii").lower().replace("-", "").startswith("utf")
    sys.stdout.write(printable_json(json.dumps(value, ensure_ascii=not unicode, indent=indent)) + "\n")
