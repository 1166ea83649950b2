"""Digests of an exam: of each instance, and of the exam in layers.

Two numbers may be compared where they were measured on the same instances, and they differ for a reason that one of the
layers names: other data, other prompts, other decoding, another extraction, another metric, another engine. So every
instance has a digest of its content (:func:`instance_digest`), and every exam a :class:`Fingerprint`, which a
:class:`FingerprintMaker` makes while questions pass.

The digest of an instance is that of its content before anything is put in words: a row has the same one under every
template, format and engine, and in every dialect whose reader gives the same fields. How a reader writes a value does
not count (``4`` from JSON, ``"4"`` from CSV, ``4.0`` from a column with gaps), nor do empty fields and their order.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from functools import lru_cache
from hashlib import blake2b
from itertools import chain, groupby
from operator import itemgetter
from struct import unpack
from typing import Any, Final

import msgspec

from proctor.ir import Choose, Converse, Decoding, Generate, Likelihood, Prompt, Request, Rolling
from proctor.ir.question import Question
from proctor.jsonable import jsonable

INSTANCE_BYTES: Final = 8
"""Of an instance's digest: among a million instances two differing ones share it with a probability of 3e-8."""

LAYER_BYTES: Final = 6
"""Of a layer's digest: people compare them by eye, and nobody holds a million runs side by side."""

_WRAP: Final = 1 << 64  # sums of digests of eight bytes wrap here
_BLOCK: Final = 1_024  # digests that are added up at once: a few kilobytes, and hardly any time for each

_MOST_DECODINGS: Final = 10_000
"""Distinct decodings that are remembered: exams have one or a few; where each row has its own, each counts as met."""

_OF_THE_PIPELINE: Final = frozenset({"data_classification_policy", "demos_pool_size", "num_demos", "template"})
"""Metadata that recipes add on the way to the model."""

_NUMBER: Final = frozenset({"idx"})
_ADDED: Final = frozenset({"idx", "subdivision"})
"""Columns that OpenCompass' and AISBench's readers add to every row (pandas adds ``__index_level_0__``). A row's number
is not its content: without the first row, all others are still the same."""

_OF_READERS: Final = re.compile(r"__(?!expected\d*$|threshold$)")
"""What begins the names of such columns; in promptfoo's tables two say what holds of a right answer."""

_ENCODER: Final = msgspec.json.Encoder(order="deterministic")


FINGERPRINT: Final = "fingerprint"
"""Under which name results of an exam hold its fingerprint."""


# -- instances ------------------------------------------------------------------------------------------------


def instance_digest(instance: Mapping[str, Any]) -> str:
    """Return the digest of an instance's content: 16 hexadecimal digits.

    Args:
        instance: A row; an instance of a task with ``input_fields`` and ``reference_fields``; or the ``input`` of a
            line of ``samples.jsonl``, which gives the same digest where no template changed the fields.
    """
    return blake2b(_encoded(_content_of(instance)), digest_size=INSTANCE_BYTES).hexdigest()


def _content_of(instance: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the fields by name, in order, with their values in one spelling and without empty ones."""
    row: Mapping[str, Any]
    if "input_fields" in instance:
        row = {**instance["input_fields"], **(instance.get("reference_fields") or {})}
        if media := instance.get("media"):
            row = {**row, "media": media}
    else:
        row = instance
    content = []
    for name, written in _named(tuple(row)):
        value = row[name]
        if type(value) is not str:
            value = _own_metadata(value) if name == "metadata" else _plain(value)
        if value:
            content.append((written, value))
    return content


@lru_cache(maxsize=256)
def _named(names: tuple[Any, ...]) -> tuple[tuple[Any, str], ...]:
    """Return names with their spelling, in order, without those that readers add and that say where a row stands."""
    added = _ADDED if set(names) >= _ADDED else _NUMBER
    spelled = sorted(((name, str(name)) for name in names), key=itemgetter(1))
    return tuple(each for each in spelled if each[1] not in added and not _OF_READERS.match(each[1]))


def _own_metadata(value: object) -> Any:
    if isinstance(value, Mapping):
        value = {name: each for name, each in value.items() if name not in _OF_THE_PIPELINE}
    return _plain(value)


def _plain(value: object) -> Any:
    """Return a value in one spelling, whatever library and file it comes from; falsy where it is empty."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, (bool, int, float)):
        return _number(value)
    if isinstance(value, Mapping):
        return {str(name): plain for name, each in value.items() if (plain := _plain(each))}
    return _listed(value)


def _listed(value: object) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return value
    if isinstance(value, AbstractSet):
        return sorted(map(_plain, value), key=repr)
    if isinstance(value, Sequence):
        return [each if type(each) is str else _plain(each) for each in value]
    return _foreign(value)


def _number(value: float) -> str | None:
    if isinstance(value, int):
        return str(bool(value)) if isinstance(value, bool) else str(int(value))
    if math.isnan(value):  # a gap in a column of numbers
        return None
    return str(int(value)) if value.is_integer() else repr(float(value))


def _foreign(value: object) -> Any:
    """Return a number of NumPy, a date or a picture as plain data; pictures count by their pixels."""
    if isinstance(value, (dt.date, dt.time)):
        return str(value)
    if (listed := getattr(value, "tolist", None)) is not None:
        return _plain(listed())
    if (raw := getattr(value, "tobytes", None)) is not None:
        with suppress(OSError, ValueError):  # a damaged picture: whoever shows it to a model says so
            return [str(getattr(value, "mode", "")), str(getattr(value, "size", "")), digest_of_bytes(raw())]
    plain = jsonable(value)
    return _plain(plain) if isinstance(plain, Mapping) else plain


def _encoded(value: object) -> bytes:
    try:
        return _ENCODER.encode(value)
    except (UnicodeEncodeError, TypeError, ValueError):  # lone surrogates
        return json.dumps(jsonable(value), sort_keys=True).encode()


# -- exams ----------------------------------------------------------------------------------------------------


def digest_of_bytes(data: bytes, size: int = LAYER_BYTES) -> str:
    """Return the digest of bytes, as hexadecimal digits."""
    return blake2b(data, digest_size=size).hexdigest()


def digest_of(value: object) -> str:
    """Return a layer's digest of JSON-like data; the order of keys does not count."""
    return digest_of_bytes(_encoded(jsonable(value)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """Digests of an exam in layers: each 12 hexadecimal digits, empty where it is not known.

    Attributes:
        data: The instances that were asked about, in order.
        rows: The same as a set: equal where only the order differs.
        prompts: The words that were sent, whatever their order and however often a question was repeated: templates,
            format, demos and system prompt show here.
        decoding: How the model was to write.
        extraction: What makes predictions of answers.
        metrics: What scores predictions, with versions where metrics have some.
        engine: Who answered.
    """

    data: str = ""
    rows: str = ""
    prompts: str = ""
    decoding: str = ""
    extraction: str = ""
    metrics: str = ""
    engine: str = ""

    @property
    def short(self) -> str:
        """Eight digits for all layers together."""
        return digest_of(self.to_dict())[:8]

    def to_dict(self) -> dict[str, str]:
        """Return the layers by name."""
        return asdict(self)

    @classmethod
    def from_dict(cls, value: object) -> Fingerprint | None:
        """Return the fingerprint that a file holds; ``None`` where it holds none."""
        if not isinstance(value, Mapping):
            return None
        return cls(**{name: found for name in LAYERS if isinstance(found := value.get(name, ""), str)})

    def differences(self, other: Fingerprint) -> list[str]:
        """Return the layers that differ, in the order in which an exam goes through them.

        ``data`` is left out where ``rows`` differ, too. Layers that one of the two does not know do not count.
        """
        mine, theirs = self.to_dict(), other.to_dict()
        found = [name for name in LAYERS if mine[name] and theirs[name] and mine[name] != theirs[name]]
        return [name for name in found if name != "data" or "rows" not in found]


LAYERS: Final = tuple(each.name for each in fields(Fingerprint))
"""Names of the layers, in the order in which an exam goes through them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A dialect's definition of an exam beside its questions, by value.

    Attributes:
        extraction: JSON-like data: how answers are read, and what makes predictions of them.
        metrics: JSON-like data: what scores predictions.
        held: What the exam's specification names, by its name: catalog artifacts, digests of files with code.
        scorers: Metrics, and what holds one: judges among them say what they are asked with.
    """

    extraction: object = None
    metrics: object = None
    held: Mapping[str, object] = field(default_factory=dict)
    scorers: Sequence[object] = ()


class _Sum:
    """A sum of digests of eight bytes: their order does not count, how often each occurs does."""

    def __init__(self) -> None:
        self.count = 0
        self._total = 0

    def extend(self, digests: bytes) -> None:
        """Count in digests that stand behind each other."""
        count = len(digests) // INSTANCE_BYTES
        self.count += count
        self._total = (self._total + sum(unpack(f">{count}Q", digests))) % _WRAP

    def without(self, other: _Sum) -> _Sum:
        """Return the sum of what another, of some of the same digests, does not have."""
        found = _Sum()
        found.count, found._total = self.count - other.count, (self._total - other._total) % _WRAP
        return found

    def digest(self, count: int | None = None) -> str:
        """Return the digest of the sum; with ``count`` in place of how many digests there were."""
        return digest_of([self.count if count is None else count, self._total])


class RowsDigest:
    """The layers ``data`` and ``rows`` of instances that pass."""

    def __init__(self) -> None:
        self._order = blake2b(digest_size=LAYER_BYTES)
        self._sum = _Sum()
        self._count = 0
        self._waiting: list[str] = []

    def add(self, digest: str) -> None:
        """Count an instance in by its digest; empty where its row could not be read."""
        self.add_all((digest,))

    def add_all(self, digests: Iterable[str]) -> None:
        """Count instances in."""
        self._waiting.extend(digests)
        if len(self._waiting) >= _BLOCK:
            self._settle()

    def _settle(self) -> None:
        """Count in what waits: the order counts, so a gap is written between the digests on its sides."""
        self._count += len(self._waiting)
        for is_read, digests in groupby(self._waiting, key=bool):
            if is_read:
                raw = bytes.fromhex("".join(digests))
                self._order.update(raw)
                self._sum.extend(raw)
            else:
                self._order.update(b"-" * len(list(digests)))
        self._waiting.clear()

    @property
    def in_order(self) -> str:
        """The instances in order."""
        self._settle()
        return self._order.hexdigest()

    @property
    def as_set(self) -> str:
        """The instances whatever their order; how often each occurs counts."""
        self._settle()
        return self._sum.digest(self._count)


class FingerprintMaker:
    """Makes an exam's fingerprint of the questions that pass; memory does not grow with them."""

    def __init__(self) -> None:
        self._rows = RowsDigest()
        self._prompts = _Sum()
        self._repeats = _Sum()
        self._decodings = 0
        self._known: set[int] = set()
        self._last: Decoding | None = None

    def add(self, question: Question) -> None:
        """Count a question in; a row that could not be used counts by what is known of it."""
        self.add_all((question,))

    def add_all(self, questions: Sequence[Question]) -> None:
        """Count questions in, as :meth:`add` does one by one, which takes longer."""
        self._rows.add_all([each.digest for each in questions])
        requests = list(chain.from_iterable([each.requests for each in questions]))
        digests = [blake2b(each, digest_size=INSTANCE_BYTES).digest() for each in map(_shown, requests)]
        self._prompts.extend(b"".join(digests))
        if len(set(digests)) < len(digests):
            self._count_repeats(questions, digests)
        for decoding in [each.decoding for each in requests if isinstance(each, _WRITTEN)]:
            if decoding is not self._last:
                self._last = decoding
                self._add_decoding(decoding)

    def _count_repeats(self, questions: Sequence[Question], digests: Sequence[bytes]) -> None:
        """Count generations that stand before in their question: repeats show the model nothing else."""
        place = 0
        for question in questions:
            seen: set[bytes] = set()
            for request in question.requests:
                if isinstance(request, _WRITTEN):
                    if digests[place] in seen:
                        self._repeats.extend(digests[place])
                    seen.add(digests[place])
                place += 1

    @property
    def prompts_with_repeats(self) -> str:
        """The layer ``prompts`` as it was made before November 2026, when each repeat of a question counted."""
        return self._prompts.digest()

    def _add_decoding(self, decoding: Decoding) -> None:
        found = int(digest_of_bytes(_encoded(jsonable(decoding.content)), INSTANCE_BYTES), 16)
        if found not in self._known:
            self._decodings += found
            if len(self._known) < _MOST_DECODINGS:
                self._known.add(found)

    def passing(self, questions: Iterable[Question]) -> Iterator[Question]:
        """Yield questions, counting each in."""
        for each in questions:
            self.add(each)
            yield each

    def made(self, definition: Definition | None = None, engine: str = "") -> Fingerprint:
        """Return the fingerprint.

        Args:
            definition: How answers are read and scored, where that is known.
            engine: The engine's identity.
        """
        known = definition or Definition()
        return Fingerprint(
            data=self._rows.in_order,
            rows=self._rows.as_set,
            prompts=self._prompts.without(self._repeats).digest(),
            decoding=digest_of(self._decodings % _WRAP),
            extraction="" if known.extraction is None else digest_of(known.extraction),
            metrics="" if known.metrics is None else digest_of(known.metrics),
            engine=engine and digest_of(engine),
        )


_WRITTEN: Final = (Generate, Converse)
"""Requests that say how the model is to write."""


def _shown(request: Request) -> bytes:
    """Return what a request shows to the model."""
    if isinstance(request, Generate):
        return _words(request.prompt)
    if isinstance(request, (Choose, Likelihood)):
        return _words_of_pairs(request)
    return _encoded(request.text if isinstance(request, Rolling) else request.turns)


def _words_of_pairs(request: Choose | Likelihood) -> bytes:
    """Return contexts and continuations; a context that pairs share is taken once."""
    parts: list[bytes] = []
    last: object = None
    for pair in request.pairs:
        if pair.context.payload != last:
            parts.append(_words(pair.context))
            last = pair.context.payload
        parts.append(pair.continuation.encode("utf-8", "surrogatepass"))
    return b"\0".join(parts)


def _words(prompt: Prompt) -> bytes:
    payload = prompt.payload
    return payload.encode("utf-8", "surrogatepass") if isinstance(payload, str) else _encoded(payload)
