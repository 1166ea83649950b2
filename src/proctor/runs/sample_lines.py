"""Lines of ``samples.jsonl``, from whoever wrote them: what a line scored, whether it failed, the words in it.

A line may be broken, too long, nested without end or of other shapes than ours: it becomes a record that says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from proctor.foreign_text import is_deep, parse_json
from proctor.jsonable import jsonable
from proctor.recipes.fingerprint import digest_of, instance_digest

LONGEST_LINE = 64 << 20
"""Bytes of a line: an instance with a long book for its prompt has a few millions."""
_DIGEST = re.compile("[0-9a-f]{16}")
_KEY = re.compile("a-([0-9a-f]{16})-")
_ALL_BITS = (1 << 64) - 1
_LONGEST_TEXT = 100_000  # characters: with all of prompts as long as books the index would be as large as the samples


def next_lines(file: IO[bytes], size: int) -> list[tuple[bytes, int]]:
    """Return the next lines, of ``size`` bytes or a little more, with their lengths; one that is too long is empty."""
    found: list[tuple[bytes, int]] = []
    while size > 0 and (line := file.readline(LONGEST_LINE + 1)):
        length = len(line)
        if length > LONGEST_LINE:
            while line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
                length += len(line)
            line = b""
        found.append((line, length))
        size -= length
    return found


def read_line(line: bytes) -> dict[str, Any]:
    """Return a line as a record; a line that is not one becomes a record with a failure that says so."""
    if not line:
        return _broken(f"it has more than {LONGEST_LINE >> 20} MiB")
    try:
        record = msgspec.json.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError):
        try:
            record = parse_json(line.decode("utf-8", "replace"))
        except ValueError as error:
            return _broken(str(error))
    if not isinstance(record, dict):
        return _broken("not a JSON object")
    return _broken("it is nested too deeply") if is_deep(record) else record


def _broken(why: str) -> dict[str, Any]:
    return {"failure": {"kind": "broken line", "message": why}}


def digest_of_line(record: Mapping[str, Any]) -> int | None:
    """Return the digest of an instance's content as SQLite keeps it, a signed integer; ``None`` where it is not known.

    Lines of older runs have no digest, but the content itself.
    """
    digest, content = record.get("instance"), record.get("input")
    if not isinstance(digest, str) and isinstance(content, Mapping) and content:
        digest = instance_digest(content)
    if not isinstance(digest, str) or _DIGEST.fullmatch(digest) is None:
        return None
    return int.from_bytes(bytes.fromhex(digest), signed=True)


def answer_key(record: Mapping[str, Any]) -> str:
    """Return what tells an answer from others, in every run: digests of its instance's content and of its words."""
    return f"a-{(digest_of_line(record) or 0) & _ALL_BITS:016x}-{digest_of(words_of(jsonable(record.get('output'))))}"


def instance_of_key(key: str) -> int | None:
    """Return the digest of the instance in an answer's key, as :func:`digest_of_line` does; 0 where it has none."""
    found = _KEY.match(key)
    return int.from_bytes(bytes.fromhex(found[1]), signed=True) if found else None


def storable(text: str) -> str:
    """Return a text that SQLite takes: one without lone surrogates."""
    return text.encode("utf-8", "replace").decode()


def failure_of(record: Mapping[str, Any]) -> str | None:
    """Return the kind of an instance's failure, or ``None``."""
    for name in ("failure", "scoring_failure"):
        failure = record.get(name)
        if isinstance(failure, Mapping):
            return storable(str(failure.get("kind") or "failure"))
        if failure:
            return storable(str(failure))
    return None


def searchable(record: Mapping[str, Any]) -> str:
    """Return the words of an instance that a search looks at."""
    parts = [words_of(record.get(name)) for name in ("prompt", "continuations", "output", "prediction", "references")]
    parts.append(words_of(record.get("input")))
    return storable("\n".join(parts)[:_LONGEST_TEXT])


def words_of(value: Any) -> str:
    """Return all texts in a value, a line each, without what says whose they are."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(words_of(each) for key, each in value.items() if key not in {"role", "type"})
    if isinstance(value, list | tuple):
        return "\n".join(map(words_of, value))
    return "" if value is None or isinstance(value, float) else str(value)


class ScoredLines(NamedTuple):
    """The instances of an exam, by number.

    Attributes:
        numbers: Under which the samples list them.
        digests: Of their content, as 64-bit integers; 0 where it is not known.
        scores: The main scores; NaN where there is none.
    """

    numbers: NDArray[np.int64]
    digests: NDArray[np.int64]
    scores: NDArray[np.float64]

    def by_question(self) -> ScoredLines:
        """Return one entry for all instances that hold the same: copies of a question depend on each other.

        Its score is the mean of theirs, NaN where one of them has none; its number is that of the first.
        """
        if not self.digests.all():
            return self
        _, first, group = np.unique(self.digests, return_index=True, return_inverse=True)
        means = np.bincount(group, weights=self.scores) / np.bincount(group)
        order = np.argsort(first)
        return ScoredLines(self.numbers[first[order]], self.digests[first[order]], means[order])
