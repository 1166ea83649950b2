"""Benchmarks: named trees of recipes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL
from proctor.data.streams import GeneratorStream, MultiStream, Stream
from proctor.errors import ProctorError, UsageError, ValidationError, did_you_mean
from proctor.formats import Format, SystemPrompt
from proctor.recipes.recipe import DatasetRecipe, Recipe, Row

OVERRIDES = ("format", "num_demos", "system_prompt", "loader_limit")
"""Fields that a benchmark hands down to every recipe in it."""


class BaseBenchmark(Recipe):
    """Base of benchmarks.

    Attributes:
        format, num_demos, system_prompt, loader_limit: Replace those of every recipe.
        splits: The splits that the benchmark is about.
        subset: Only this member.
    """

    format: Annotated[Format | None, NON_POSITIONAL] = None
    num_demos: Annotated[int | None, NON_POSITIONAL] = None
    system_prompt: Annotated[SystemPrompt | None, NON_POSITIONAL] = None
    loader_limit: Annotated[int | None, NON_POSITIONAL] = None
    splits: Annotated[list[str], NON_POSITIONAL] = Field(default_factory=lambda: ["train", "validation", "test"])
    subset: Annotated[str | None, NON_POSITIONAL] = None


class Benchmark(BaseBenchmark):
    """Several recipes or benchmarks under one name.

    The score of a benchmark is the plain mean of its members' scores.

    Attributes:
        subsets: The members by name.
        max_samples_per_subset: Most instances of each split of each member.
        max_total_samples: Most instances of each split over all members, shared out evenly.
        max_train_instances, max_validation_instances, max_test_instances: Most instances of a split of each member.
    """

    subsets: dict[str, Any]
    max_total_samples: int | None = None
    max_samples_per_subset: int | None = None
    max_train_instances: int | None = None
    max_validation_instances: int | None = None
    max_test_instances: int | None = None

    def prepare(self) -> None:
        """Fetch members that are given by name."""
        super().prepare()
        from proctor.artifacts import fetch_artifact

        self.subsets = {name: fetch_artifact(member) for name, member in self.subsets.items()}

    def verify(self) -> None:
        """Check the members."""
        super().verify()
        if self.max_total_samples is not None and self.max_samples_per_subset is not None:
            raise ValidationError("set max_total_samples or max_samples_per_subset, not both")
        for name, member in self.subsets.items():
            if not isinstance(member, Recipe):
                raise ValidationError(
                    f"the subset '{name}' is a {type(member).__name__}",
                    path=f"$.subsets.{name}",
                    hint="subsets are recipes or benchmarks",
                )
        self.members()

    def members(self) -> dict[str, Recipe]:
        """Return the members with this benchmark's overrides; the members themselves stay as they are."""
        chosen = self.subsets
        if self.subset is not None:
            if self.subset not in chosen:
                raise ValidationError(
                    f"there is no subset '{self.subset}'", path="$.subset", hint=did_you_mean(self.subset, chosen)
                )
            chosen = {self.subset: chosen[self.subset]}
        changes = {name: value for name in OVERRIDES if (value := getattr(self, name)) is not None}
        return {name: _changed(member, changes) for name, member in chosen.items()}

    def leaves(self, prefix: str = "") -> Iterator[tuple[str, DatasetRecipe]]:
        """Yield every recipe below with its path (``outer/inner``), limited as this benchmark says."""
        for name, member in self.members().items():
            path = f"{prefix}/{name}" if prefix else name
            if isinstance(member, Benchmark):
                yield from member.leaves(path)
            elif isinstance(member, DatasetRecipe):
                yield path, member

    def limit_of(self, split: str) -> int | None:
        """Return the most instances that a member may give to a split."""
        own = {
            "train": self.max_train_instances,
            "validation": self.max_validation_instances,
            "test": self.max_test_instances,
        }
        limits = [limit for limit in (self.max_samples_per_subset, own.get(split)) if limit is not None]
        if self.max_total_samples is not None:
            limits.append(-(-self.max_total_samples // max(1, len(self.members()))))
        return min(limits) if limits else None

    def process(self) -> MultiStream:
        """Return streams with the rows of all members, each with its path under ``subset``."""
        members = {}
        for name, member in self.members().items():
            with _named(name):
                members[name] = member()
        names = [split for split in self.splits if any(split in streams for streams in members.values())]
        return MultiStream({split: self._fused(split, members) for split in names})

    def _fused(self, split: str, members: Mapping[str, MultiStream]) -> Stream:
        limit, total = self.limit_of(split), self.max_total_samples

        def rows() -> Iterator[Row]:
            for name, streams in members.items():
                if split in streams:
                    with _named(name):
                        for row in islice(iter(streams[split]), limit):
                            yield {**row, "subset": [name, *row.get("subset", ())]}

        return GeneratorStream(lambda: islice(rows(), total))

    def produce(self, task_instances: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Refuse: a benchmark has many tasks."""
        del task_instances
        raise UsageError("a benchmark cannot produce prompts for single instances", hint="use one of its recipes")

    def reset(self) -> None:
        """Nothing to do: members are changed whenever the benchmark is called."""


@contextmanager
def _named(subset: str) -> Iterator[None]:
    """Name the subset in errors of a block of code."""
    try:
        yield
    except ProctorError as error:
        raise error.within(subset) from None


def _changed(member: Recipe, changes: Mapping[str, Any]) -> Recipe:
    if not changes:
        return member
    twin = member.model_copy()
    for name, value in changes.items():
        setattr(twin, name, value)
    if isinstance(twin, DatasetRecipe) and "num_demos" in changes:
        twin.verify()
    return twin
