"""Fusion: one set of streams out of several sources."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Annotated

from typing_extensions import override

from proctor.artifacts import NON_POSITIONAL
from proctor.data.fields import Row
from proctor.data.operator import SourceOperator
from proctor.data.streams import GeneratorStream, MultiStream
from proctor.errors import ValidationError
from proctor.randomness import random_stream


class BaseFusion(SourceOperator):
    """Base of fusions; override ``fusion_generator(split)``.

    Attributes:
        subsets: The sources, in a list or by name; names go into the field ``subset`` of rows, the latest first.
        include_splits: The splits to make.
    """

    subsets: list[SourceOperator] | dict[str, SourceOperator]
    include_splits: Annotated[list[str] | None, NON_POSITIONAL] = None

    def fusion_generator(self, split: str) -> Iterator[Row]:  # noqa: ARG002 - for those who override it
        """Yield the rows of a split."""
        raise ValidationError(f"{type(self).__name__} does not define fusion_generator(split)")

    def named_subsets(self) -> Mapping[str | int, SourceOperator]:
        """Return the sources by name or position."""
        named: dict[str | int, SourceOperator] = {}
        named.update(enumerate(self.subsets) if isinstance(self.subsets, list) else self.subsets.items())
        return named

    def splits(self) -> list[str]:
        """Return the splits to make."""
        return ["train", "test", "validation"] if self.include_splits is None else self.include_splits

    @override
    def process(self) -> MultiStream:
        return MultiStream({split: GeneratorStream(self.fusion_generator, {"split": split}) for split in self.splits()})


def _named(row: Row, name: str | int) -> Row:
    return {**row, "subset": [name, *row.get("subset", [])]} if isinstance(name, str) else row


class FixedFusion(BaseFusion):
    """The sources one after the other.

    Attributes:
        max_instances_per_subset: At most so many rows of each split of each source.
        max_instances_per_split: The same, by split.
    """

    max_instances_per_subset: int | None = None
    max_instances_per_split: dict[str, int] | None = None

    @override
    def fusion_generator(self, split: str) -> Iterator[Row]:
        limits = [self.max_instances_per_subset, (self.max_instances_per_split or {}).get(split)]
        most = min((limit for limit in limits if limit is not None), default=None)
        for name, source in self.named_subsets().items():
            streams = source()
            if split in streams:
                for row in islice(streams[split], most):
                    yield _named(row, name)


class WeightedFusion(BaseFusion):
    """Rows of the sources in random order.

    Attributes:
        weights: How often each source is drawn, relative to the others; in a list or by name as the sources are.
        max_total_samples: At most so many rows of each split.
    """

    weights: list[float] | dict[str, float]
    max_total_samples: int | None = None

    @override
    def verify(self) -> None:
        super().verify()
        if isinstance(self.subsets, dict) != isinstance(self.weights, dict) or len(self.subsets) != len(self.weights):
            raise ValidationError("the weights do not fit the subsets", hint="give one weight for each subset")

    @override
    def fusion_generator(self, split: str) -> Iterator[Row]:
        return islice(self._drawn(split), self.max_total_samples)

    def _drawn(self, split: str) -> Iterator[Row]:
        weights: dict[str | int, float] = {}
        weights.update(enumerate(self.weights) if isinstance(self.weights, list) else self.weights.items())
        sources = {name: source() for name, source in self.named_subsets().items()}
        rows = {name: iter(streams[split]) for name, streams in sources.items() if split in streams}
        random = random_stream(f"weighted_fusion_{split}")
        while rows:
            names = list(rows)
            name = random.choices(names, weights=[float(weights[each]) for each in names])[0]
            row = next(rows[name], None)
            if row is None:
                del rows[name]
            else:
                yield _named(row, name)
