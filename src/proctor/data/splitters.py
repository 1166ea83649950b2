"""Splitters: which rows belong to which split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from typing_extensions import override

from proctor.data.fields import Row
from proctor.data.operator import MultiStreamOperator
from proctor.data.streams import GeneratorStream, MultiStream, Stream
from proctor.errors import DataError, ValidationError, did_you_mean
from proctor.randomness import random_stream

_SHARE = re.compile(r"(?P<name>\w+)(?:\[(?P<number>\d*\.?\d*)(?P<percent>%?)\])?")
_PART = re.compile(r"(?P<name>\w+)(?:\[(?P<start>\d*):(?P<end>\d*)\])?")

Bounds = tuple[int | None, int | None]
"""Start, and number of rows from there; ``None`` where there is no bound."""


class Splitter(MultiStreamOperator):
    """Base of all splitters."""


class RenameSplits(Splitter):
    """Renames splits.

    Attributes:
        mapper: New names by old ones; other splits stay, before the renamed ones.
    """

    mapper: dict[str, str]

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        for name in self.mapper:
            _known(multi_stream, name)
        kept = {name: stream for name, stream in multi_stream.items() if name not in self.mapper}
        return MultiStream({**kept, **{new: multi_stream[old] for old, new in self.mapper.items()}})


class SplitRandomMix(Splitter):
    """Deals rows out at random: ``{"train": "train[90%]", "validation": "train[10%]", "test": "test"}``.

    Each row goes to one new split at most. The draws for a split depend on its name only.

    Attributes:
        mix: New splits, each with its sources joined by ``+``; a share is ``[90%]`` or ``[0.9]``, and all without one.
    """

    mix: dict[str, str]

    @override
    def prepare(self) -> None:
        super().prepare()
        self._sources = {name: parse_random_mix_string(text) for name, text in self.mix.items()}

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        routes = self._routes()
        return MultiStream(
            {
                name: GeneratorStream(
                    _dealt, {"name": name, "sources": sources, "routes": routes, "streams": multi_stream}
                )
                for name, sources in self._sources.items()
            }
        )

    def _routes(self) -> dict[str, dict[str | None, float]]:
        """Return where the rows of each old split go, with what share; ``None`` is nowhere."""
        routes: dict[str, dict[str | None, float]] = {}
        totals: dict[str, float] = {}
        for sources in self._sources.values():
            for old, share in sources.items():
                totals[old] = totals.get(old, 0) + share
        for new, sources in self._sources.items():
            for old, share in sources.items():
                route = routes.setdefault(old, {})
                route[new] = share
                if totals[old] < 1:
                    route[None] = 1 - totals[old]
        return routes


def _dealt(
    name: str, sources: Mapping[str, float], routes: Mapping[str, Mapping[str | None, float]], streams: MultiStream
) -> Iterator[Row]:
    for old in sources:
        targets, shares = list(routes[old]), list(routes[old].values())
        random = random_stream(old)
        for row in _known(streams, old):
            if random.choices(targets, weights=shares, k=1)[0] == name:
                yield row


class SeparateSplit(Splitter):
    """Cuts one split into several.

    Attributes:
        from_split: The split to cut.
        to_split_names: The new splits.
        to_split_sizes: Their sizes; the last may be left out and gets the rest.
        remove_targets_from_source_split: Drop the old split; otherwise it stays as it was.
    """

    from_split: str
    to_split_names: list[str]
    to_split_sizes: list[int]
    remove_targets_from_source_split: bool = True

    @override
    def verify(self) -> None:
        super().verify()
        if len(self.to_split_names) - len(self.to_split_sizes) not in (0, 1):
            raise ValidationError(
                f"{len(self.to_split_names)} splits have {len(self.to_split_sizes)} sizes",
                hint="give a size to all splits, or to all but the last",
            )

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        made: dict[str, Stream] = {
            name: stream
            for name, stream in multi_stream.items()
            if name != self.from_split or not self.remove_targets_from_source_split
        }
        source, start = _known(multi_stream, self.from_split), 0
        sizes: list[int | None] = [*self.to_split_sizes, None]
        for name, size in zip(self.to_split_names, sizes, strict=False):
            if self.remove_targets_from_source_split or name != self.from_split:
                made[name] = _sliced([(source, (start, size))])
            start += size or 0
        return MultiStream(made)


class SliceSplit(Splitter):
    """Makes splits of slices: ``{"train": "train[:50]+validation", "test": "train[50:]"}``.

    Attributes:
        slices: New splits, each with its sources joined by ``+``.
    """

    slices: dict[str, str]

    @override
    def prepare(self) -> None:
        super().prepare()
        self._sources = {name: parse_slices_string(text) for name, text in self.slices.items()}

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        return MultiStream(
            {
                name: _sliced([(_known(multi_stream, old), bounds) for old, each in sources.items() for bounds in each])
                for name, sources in self._sources.items()
            }
        )


def _sliced(parts: list[tuple[Stream, Bounds]]) -> Stream:
    def rows() -> Iterator[Row]:
        for stream, (start, count) in parts:
            yield from islice(islice(stream, start or 0, None), count)

    return GeneratorStream(rows)


def _known(streams: MultiStream, name: str) -> Stream:
    if name not in streams:
        raise DataError(
            f"there is no split '{name}'",
            why=f"there are {', '.join(streams) or 'none'}",
            hint=did_you_mean(name, streams),
        )
    return streams[name]


def parse_random_mix_string(text: str) -> dict[str, float]:
    """Return the shares of ``train[90%]+test[0.1]+validation`` by split.

    Raises:
        ValidationError: The text has another form.
    """
    shares = {}
    for part in text.split("+"):
        match = _SHARE.fullmatch(part)
        if match is None or match["number"] in ("", "."):
            raise ValidationError(f"'{text}' is not a mix of splits", hint="write it as in 'train[90%]+test[0.1]'")
        share = 1.0 if match["number"] is None else float(match["number"])
        shares[match["name"]] = share / 100 if match["percent"] else share
    return shares


def parse_slices_string(text: str) -> dict[str, list[Bounds]]:
    """Return the slices of ``train[:50]+validation+train[60:70]`` by split, as (start, number of rows).

    The second number counts from the start of the slice, as in ``unitxt``: ``train[5:10]`` is rows 5 to 14.

    Raises:
        ValidationError: The text has another form.
    """
    slices: dict[str, list[Bounds]] = {}
    for part in text.split("+"):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValidationError(f"'{text}' does not name slices", hint="write it as in 'train[:50]+test[10:]'")
        bounds = (int(match["start"]) if match["start"] else None, int(match["end"]) if match["end"] else None)
        slices.setdefault(match["name"], []).append(bounds)
    return slices
