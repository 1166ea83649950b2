"""The lines of the list of runs, kept in the cache folder: a first page of hundreds of runs reads one file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

import msgspec

from proctor.recipes.fingerprint import FINGERPRINT
from proctor.running.spec import SCHEMA_VERSION
from proctor.safe_files import write_bytes
from proctor.scoring.flat_scores import DIRECTION
from proctor.settings import settings
from proctor.version import __version__
from proctor.web.run_lines import RunLine

_OF_RESULTS: Final = frozenset({FINGERPRINT, DIRECTION, "error", "members"})
"""What lists and matrices look at in the results of an exam, beside its main score."""


@dataclass(frozen=True, slots=True)
class KeptLine:
    """A line, and the state of the files that it was made of."""

    stamp: tuple[tuple[int, int, int] | None, ...]
    line: RunLine


def without_details(line: RunLine) -> RunLine:
    """Return a line without what only the page of its run shows."""
    run = line.run
    spec = run.spec and replace(run.spec, exams=dict.fromkeys(run.spec.exams), overrides={}, fingerprints={})
    results = {exam: {name: entry[name] for name in _OF_RESULTS & entry.keys()} for exam, entry in run.results.items()}
    return replace(line, run=replace(run, spec=spec, results=results))


def read_lines(roots: Sequence[Path]) -> dict[str, KeptLine]:
    """Return the lines that were kept of some folders, by the folders of their runs; none where none can be read."""
    with suppress(OSError, ValueError, TypeError):
        decoder = msgspec.json.Decoder(dict[str, KeptLine], dec_hook=lambda kind, value: kind(value))
        return decoder.decode(_place_of(roots).read_bytes())
    return {}


def keep_lines(roots: Sequence[Path], lines: Mapping[str, KeptLine]) -> None:
    """Keep the lines of some folders; where they cannot be written, they are made again in the next process."""
    with suppress(OSError, ValueError, TypeError):
        place = _place_of(roots)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(place, msgspec.json.encode(lines, enc_hook=str))


def _place_of(roots: Sequence[Path]) -> Path:
    made_of: Any = [__version__, SCHEMA_VERSION, *map(str, roots)]
    name = blake2b(repr(made_of).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    return Path(settings.cache_dir) / "lists" / f"{name}.json"
