"""``unitxt.split_utils``: streams cut, mixed and renamed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from proctor.errors import DataError
from proctor.guests.unitxt.helpers import ReusableGenerator, new_random_generator

Bounds = tuple[int | None, int | None]
Routing = dict[str, tuple[list[str | None], list[float]]]


def slice_stream(stream: Iterable[Any], start: int | None, end: int | None) -> Iterator[Any]:
    """Yield what comes after ``start`` members, at most ``end`` of them."""
    yield from islice(islice(iter(stream), start, None), end)


def slice_streams(
    input_streams: Mapping[str, Iterable[Any]], mapping: Mapping[str, Mapping[str, list[Bounds]]]
) -> dict[str, ReusableGenerator]:
    """Return new streams, each of pieces of old ones; an old one that is not there fails when it is read."""

    def pieces(sources: Mapping[str, list[Bounds]]) -> Iterator[Any]:
        for name, slices in sources.items():
            if name not in input_streams:
                raise DataError(f"there is no stream '{name}' to slice", why=f"there are {', '.join(input_streams)}")
            for bounds in slices:
                yield from slice_stream(input_streams[name], *bounds)

    return {name: ReusableGenerator(pieces, gen_kwargs={"sources": sources}) for name, sources in mapping.items()}


def build_stream_routing(mapping: Mapping[str, Mapping[str, float]]) -> Routing:
    """Return for each old stream the new ones and their shares; ``None`` where a part of it goes nowhere."""
    total: dict[str, float] = {}
    for sources in mapping.values():
        for old, share in sources.items():
            total[old] = total.get(old, 0) + share
    shares: dict[str, dict[str | None, float]] = {}
    for new, sources in mapping.items():
        for old, share in sources.items():
            shares.setdefault(old, {})[new] = share
            if total[old] < 1:
                shares[old][None] = 1 - total[old]
    return {old: (list(found), list(found.values())) for old, found in shares.items()}


def rename_split(input_streams: dict[str, Any], mapping: Mapping[str, str]) -> dict[str, Any]:
    """Return streams with other names; those that are renamed come last, and are taken out of the given ones.

    Raises:
        ValueError: There is no such stream.
    """
    renamed: dict[str, Any] = {}
    for old, new in mapping.items():
        if old not in input_streams:
            raise DataError(f"there is no stream '{old}' to rename", why=f"there are {', '.join(input_streams)}")
        renamed[new] = input_streams.pop(old)
    return {**input_streams, **renamed}


def random_mix_generator(
    new_stream_name: str,
    new_stream_sources: Iterable[str],
    stream_routing: Routing,
    input_streams: Mapping[str, Iterable[Any]],
) -> Iterator[Any]:
    """Yield the members of old streams that chance sends to a new one: the same ones each time."""
    for old in new_stream_sources:
        targets, weights = stream_routing[old]
        draws = new_random_generator(sub_seed=old)
        if old not in input_streams:
            raise AssertionError(f"there is no stream '{old}'; there are {list(input_streams)}")
        for item in input_streams[old]:
            if draws.choices(targets, weights=weights, k=1)[0] == new_stream_name:
                yield item


def random_mix_streams(
    input_streams: Mapping[str, Iterable[Any]], mapping: Mapping[str, Mapping[str, float]]
) -> dict[str, ReusableGenerator]:
    """Return new streams, dealt at random from old ones; each member goes to one of them at most."""
    routing = build_stream_routing(mapping)
    return {
        name: ReusableGenerator(
            random_mix_generator,
            gen_kwargs={
                "new_stream_name": name,
                "new_stream_sources": sources,
                "stream_routing": routing,
                "input_streams": input_streams,
            },
        )
        for name, sources in mapping.items()
    }
