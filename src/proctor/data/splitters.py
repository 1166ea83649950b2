"""Splitters: which rows belong to which split."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from typing_extensions import override

from proctor.data.fields import Row
from proctor.data.operator import MultiStreamOperator
from proctor.data.streams import GeneratorStream, MultiStream, Stream
from proctor.errors import DataError, ValidationError, did_you_mean
from proctor.randomness import random_stream

_SHARE = re.compile(r"(?P<name>\w+)(?:\[(?P<number>\d*\.?\d*)(?P<percent>%?)\])?")


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
