"""How Unitxt scores subsets and groups: a stream for each, scored alone, and put together again."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from typing_extensions import override

from proctor.data.operator import MultiStreamOperator, container_copy
from proctor.data.streams import ListStream, MultiStream
from proctor.errors import DataError
from proctor.statistics.resampling import nan_mean

Row = dict[str, Any]
DEFAULT_STREAM_NAME = "all_data"
DEFAULT_STREAM_SUBSET_SEPARATOR = ">>"
_GROUP_MARK = "?"


class EmptyPrediction:
    """What stands for a prediction where nobody gives any."""

    def __repr__(self) -> str:
        return "<__empty_prediction__>"


def empty_predictions_generator() -> Iterator[EmptyPrediction]:
    """Yield empty predictions, without end."""
    while True:
        yield EmptyPrediction()


def group_str(json_str: str) -> str:
    """Return a group, a JSON object, as ``name:value,name:value``."""
    return ",".join(f"{name}:{value}" for name, value in json.loads(json_str).items())


def group_str_to_key_value(group_str: str) -> tuple[Any, Any]:
    """Return the name and the value of a group; of several each a tuple. Values of digits are numbers."""
    pairs = [each.partition(":")[::2] for each in group_str.split(",")]
    names = tuple(name for name, _ in pairs)
    values = tuple(int(value) if value.isdigit() else value for _, value in pairs)
    return (names[0], values[0]) if len(pairs) == 1 else (names, values)


def stream_name_to_origin_subset_group(stream_name: str) -> tuple[str, str, str | None]:
    """Return the stream, the subset and the group that a name of :class:`SplitSubsetsAndGroups` tells."""
    origin, _, rest = stream_name.partition(DEFAULT_STREAM_SUBSET_SEPARATOR)
    subset, mark, group = rest.partition(_GROUP_MARK)
    return origin, subset, group if mark else None


class SplitSubsetsAndGroups(MultiStreamOperator):
    """Makes a stream of each subset, and of each group in it: ``all_data>>subset?name:value``.

    Attributes:
        subsets_field, groups_field: The fields that tell.
        subset_depth: How much of a subset's path counts.
    """

    subsets_field: str = "subset"
    groups_field: str = "groups"
    subset_depth: int | None = None

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        found: dict[str, list[Row]] = defaultdict(list)
        for name, stream in multi_stream.items():
            for place, row in enumerate(stream):
                for each in self._streams_of(name, row):
                    found[each].append(container_copy({**row, "__idx__": place}))
        return MultiStream({name: ListStream(rows) for name, rows in found.items()})

    def _streams_of(self, name: str, row: Row) -> Iterator[str]:
        missing = [field for field in (self.subsets_field, self.groups_field) if field not in row]
        if missing:
            raise DataError(f"the row has no field '{missing[0]}'", why=f"it has {', '.join(row)}")
        subset = "/".join(row[self.subsets_field][: self.subset_depth])
        whole = f"{name}{DEFAULT_STREAM_SUBSET_SEPARATOR}{subset}"
        yield whole
        for group in row[self.groups_field]:
            yield f"{whole}{_GROUP_MARK}{group_str(group)}"


class JoinSubsetsAndGroups(MultiStreamOperator):
    """Puts the scored streams of :class:`SplitSubsetsAndGroups` together: each row has the scores of all."""

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        rows: dict[str, dict[int, Row]] = defaultdict(dict)
        scores: dict[str, dict[str, Any]] = defaultdict(dict)
        for name, stream in multi_stream.items():
            origin, subset, group = stream_name_to_origin_subset_group(name)
            for place, row in enumerate(map(container_copy, stream)):
                whole = row["score"].pop("global")
                rows[origin].setdefault(row.pop("__idx__"), row)
                if place == 0:
                    _put(scores[origin], _path(subset, group), whole)
        return MultiStream({name: ListStream(_joined(found, scores[name])) for name, found in rows.items()})


def _path(subset: str, group: str | None) -> list[Any]:
    path: list[Any] = ["subsets", *subset.split("/")] if subset else []
    if group:
        path += ["groups", *group_str_to_key_value(group)]
    return path or ["global"]


def _put(scores: dict[Any, Any], path: list[Any], value: Any) -> None:
    for part in path[:-1]:
        scores = scores.setdefault(part, {})
    scores[path[-1]] = value


def _joined(rows: Mapping[int, Row], scores: dict[str, Any]) -> list[Row]:
    if "subsets" in scores:
        mean = scores["subsets"] = _with_means(scores["subsets"])
        scores["global"] = {
            "score": mean["score"],
            "score_name": mean["score_name"],
            "subsets_mean": mean["score"],
            **({"num_of_instances": mean["num_of_instances"]} if "num_of_instances" in mean else {}),
        }
    joined = [rows[place] for place in sorted(rows)]
    for row in joined:
        row["score"].update(container_copy(scores))
    return joined


def _with_means(node: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a tree of scores whose every branch has the mean of what is directly below it."""
    if "score" in node and "score_name" in node:
        return dict(node)
    below = {name: _with_means(each) for name, each in node.items() if isinstance(each, Mapping)}
    counts = [each["num_of_instances"] for each in below.values() if "num_of_instances" in each]
    mean = {"score": nan_mean([each["score"] for each in below.values()]), "score_name": "subsets_mean"}
    return {**below, **mean, **({"num_of_instances": sum(counts)} if counts else {})}
