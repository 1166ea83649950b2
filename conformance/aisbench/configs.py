"""Compares what Proctor reads from every config of OpenCompass and AISBench with what mmengine loads.

    python -m conformance.aisbench.configs --oracle /tmp/aisenv/bin/python --opencompass DIR --aisbench DIR

``DIR`` is the ``configs`` folder of each package. mmengine executes the files; Proctor does not. ``--answers FILE``
keeps mmengine's values, and uses them again where they are there. Printed: for each folder, how many files are equal,
how many differ, how many one side cannot read, and the reason for each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.reader import read_config
from proctor.dialects.aisbench.values import Reference
from proctor.errors import ProctorError

ORACLE = Path(__file__).with_name("configs_oracle.py")


@dataclass
class Tally:
    """What became of the files of one folder."""

    counts: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


def main() -> int:
    """Compare, print, and return 0 where nothing differs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--oracle", required=True, help="Python of an environment with mmengine")
    parser.add_argument("--opencompass", type=Path)
    parser.add_argument("--aisbench", type=Path)
    parser.add_argument("--answers", type=Path, help="mmengine's values, kept")
    options = parser.parse_args()
    folders = [folder for folder in (options.opencompass, options.aisbench) if folder is not None]
    kept = options.answers or Path(tempfile.mkdtemp()) / "configs.jsonl"
    if not kept.exists():
        subprocess.run([options.oracle, str(ORACLE), str(kept), *map(str, folders)], check=True)
    tallies: dict[str, Tally] = {}
    for answer in _answers(kept):
        folder = next((each for each in folders if Path(answer["file"]).is_relative_to(each)), None)
        if folder is not None:
            kind = Path(answer["file"]).relative_to(folder).parts[0]
            label = "AISBench" if folder == options.aisbench else "OpenCompass"
            compare(answer, tallies.setdefault(f"{label} {kind}", Tally()))
    for name, tally in tallies.items():
        print(f"{name}: {sum(tally.counts.values())} files, {tally.seconds:.2f} CPU s")
        for what, count in sorted(tally.counts.items()):
            print(f"    {count:5}  {what}")
        for note in tally.notes:
            print(f"           {note}")
    return int(any(tally.counts["different"] for tally in tallies.values()))


def _answers(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def compare(answer: dict[str, Any], tally: Tally) -> None:
    """Read one file and count how it compares."""
    file = answer["file"]
    start = time.process_time()
    try:
        values = read_config(Path(file), trust_code=False)
    except ProctorError as error:
        tally.seconds += time.process_time() - start
        ours = error.diagnostics[0].what.replace(str(Path(file).parent), "…")
        what = "neither reads it" if "error" in answer else "refused here, loaded by mmengine"
        tally.counts[what] += 1
        tally.notes.append(f"{Path(file).name}: {ours}" + (f" | {answer['error'][:100]}" if "error" in answer else ""))
        return
    tally.seconds += time.process_time() - start
    if "error" in answer:
        tally.counts["read here, mmengine fails"] += 1
        tally.notes.append(f"{Path(file).name}: mmengine says {answer['error'][:110]!r}")
        return
    expected = {name: value for name, value in answer["values"] if not _is_leftover(value)}
    found = {name: plain(value) for name, value in values.items()}
    difference = first_difference(expected, found)
    if difference is not None and _exams(expected) == _exams(found) != _exams({}):
        tally.counts["equal but for the order of a set, which is random in Python and sorted here"] += 1
        tally.notes.append(f"{Path(file).name}: order of a set")
        return
    tally.counts["equal" if difference is None else "different"] += 1
    if difference is not None:
        tally.notes.append(f"{Path(file).name}: {difference}")
    elif list(expected) != list(found):
        tally.notes.append(f"{Path(file).name}: other order of names")


def _is_leftover(value: Any) -> bool:
    """Return whether a value is not data: an open file, or the environment."""
    return isinstance(value, dict) and value.get("other") in ("TextIOWrapper", "_Environ")


def _exams(values: dict[str, Any]) -> str:
    """Return the lists of datasets and models of a file, order aside."""
    return _sorted({name: value for name, value in values.items() if name.endswith(("datasets", "models"))})


def _sorted(value: Any) -> str:
    if isinstance(value, dict):
        return str(sorted((key, _sorted(each)) for key, each in value.items()))
    return str(sorted(map(_sorted, value))) if isinstance(value, list) else repr(value)


def plain(value: Any) -> Any:
    """Return a value in the form that the oracle writes."""
    if isinstance(value, Reference):
        return {"reference": value.name}
    if isinstance(value, dict):
        return {"dict": [[plain(key), plain(each)] for key, each in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [plain(each) for each in value]}
    if isinstance(value, (set, frozenset)):
        return {type(value).__name__: sorted(json.dumps(plain(each)) for each in value)}
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return {"other": type(value).__name__}


def first_difference(expected: Any, found: Any, path: str = "$") -> str | None:
    """Return where two values differ first; ``None`` where they are equal, types included."""
    if type(expected) is not type(found):
        return f"{path}: {expected!r:.80} ≠ {found!r:.80}"
    if isinstance(expected, dict):
        for key in (*expected, *found):
            if key not in expected or key not in found:
                return f"{path}: only {'mmengine' if key in expected else 'Proctor'} has '{key}'"
        pairs = [(expected[key], found[key], f"{path}.{key}") for key in expected]
    elif isinstance(expected, list) and len(expected) == len(found):
        pairs = [(one, other, f"{path}[{at}]") for at, (one, other) in enumerate(zip(expected, found, strict=True))]
    else:
        same = expected == found or (expected != expected and found != found)  # noqa: PLR0124 - NaN
        return None if same else f"{path}: {expected!r:.80} ≠ {found!r:.80}"
    return next((each for each in (first_difference(*pair) for pair in pairs) if each is not None), None)


if __name__ == "__main__":
    sys.exit(main())
