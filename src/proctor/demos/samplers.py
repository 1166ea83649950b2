"""Samplers: which solved instances an instance is shown.

An instance is never shown itself. Each draws from its own random stream, so what one instance is shown does not depend
on the others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from random import Random
from typing import Any

from proctor.artifacts import Artifact
from proctor.data.fields import get_field
from proctor.errors import DemosError
from proctor.randomness import random_stream

Instance = dict[str, Any]


def instance_stream(instance: Instance, sampling_seed: int | None = None) -> Random:
    """Return the random stream of an instance: from its input fields and, where given, a seed of the recipe."""
    content = dict(instance["input_fields"])
    if sampling_seed is not None:
        content["local_seed"] = sampling_seed
    return random_stream(content)


class Sampler(Artifact):
    """Base of all samplers."""

    @abstractmethod
    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Return ``sample_size`` instances of the pool, from which the instance itself has been taken out."""

    def filter_source_by_instance(self, instances_pool: Sequence[Instance], instance: Instance) -> list[Instance]:
        """Return the pool without instances whose input fields equal the instance's."""
        if "input_fields" not in instance:
            raise DemosError(f"'input_fields' field is missing from '{instance}'.")
        asked = instance["input_fields"]
        return [each for each in instances_pool if each["input_fields"] != asked]


class RandomSampler(Sampler):
    """Draws at random."""

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Draw without replacement."""
        return instance_stream(instance, sampling_seed).sample(instances_pool, sample_size)


class FixedIndicesSampler(Sampler):
    """Takes the same places of the pool for everyone."""

    indices: list[int]

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Take the first ``sample_size`` indices; those below 0 count from the end.

        Raises:
            DemosError: An index lies outside the pool.
        """
        del instance, sampling_seed
        chosen = self.indices[:sample_size]
        size = len(instances_pool)
        outside = [index for index in chosen if not -size <= index < size]
        if outside:
            raise DemosError(
                f"the index {outside[0]} lies outside the demo pool",
                path="$.indices",
                why=f"the pool has {size} instances besides the one asked about",
                hint="use smaller indices or a larger demos_pool_size",
            )
        return [instances_pool[index] for index in chosen]


class CloseTextSampler(Sampler):
    """Takes the instances whose text in ``field`` is closest to the instance's.

    The Ratcliff/Obershelp similarity of :mod:`difflib` decides.
    """

    field: str

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Draw from all instances that share one of the closest texts."""
        del sampling_seed
        if not sample_size:  # one of several numbers of demos; difflib takes no 0
            return []
        path = f"input_fields/{self.field}"
        texts = [get_field(each, path) for each in instances_pool]
        closest = get_close_matches(get_field(instance, path), texts, n=sample_size, cutoff=0)
        candidates = [each for each, text in zip(instances_pool, texts, strict=True) if text in closest]
        return instance_stream(instance).sample(candidates, sample_size)


class DiverseLabelsSampler(Sampler):
    """Balances the demos over combinations of labels.

    Attributes:
        choices: Input field with the labels that count.
        labels: Reference field with the labels of an instance.
        include_empty_label: Whether instances without any of the labels count as a combination.
    """

    choices: str = "choices"
    labels: str = "labels"
    include_empty_label: bool = True

    def combination(self, instance: Instance) -> str:
        """Return an instance's labels, in the order of the choices, as text."""
        choices = self._field(instance, "input_fields", self.choices)
        labels = self._field(instance, "reference_fields", self.labels)
        if isinstance(choices, str):
            choices = [choices]
        for what, value, taken in (("choices", choices, "a list or a string"), ("labels", labels, "a list")):
            if not isinstance(value, list):
                raise DemosError(f"Unexpected input {what} value '{value}'. Expected {taken}.")
        return str([choice for choice in choices if choice in labels])

    def exemplar_repr(self, exemplar: Instance) -> str:
        """Return :meth:`combination`, as Unitxt calls it."""
        return self.combination(exemplar)

    @staticmethod
    def _field(instance: Instance, part: str, name: str) -> Any:
        if part not in instance:
            raise DemosError(f"'{part}' field is missing from '{instance}'.")
        fields = instance[part] or {}
        if name not in fields:
            raise DemosError(f"DiverseLabelsSampler needs '{name}'", why=f"the {part} are {', '.join(fields)}")
        return fields[name]

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Deal the places out to the combinations in turn, then draw within each."""
        groups: dict[str, list[Instance]] = {}
        for each in instances_pool:
            combination = self.combination(each)
            if combination != "[]" or self.include_empty_label:
                groups.setdefault(combination, []).append(each)
        if sample_size > sum(map(len, groups.values())):
            raise DemosError(
                f"{sample_size} demos are asked of {sum(map(len, groups.values()))} instances",
                hint="use a larger demos_pool_size",
            )
        stream = instance_stream(instance, sampling_seed)
        order = list(groups)
        stream.shuffle(order)
        places = self._deal(sample_size, order, groups)
        chosen = [each for label, count in places.items() for each in stream.sample(groups[label], count)]
        stream.shuffle(chosen)
        return chosen

    @staticmethod
    def _deal(sample_size: int, order: list[str], groups: dict[str, list[Instance]]) -> Counter[str]:
        places: Counter[str] = Counter()
        while places.total() < sample_size:
            for label in order:
                if places.total() < sample_size and places[label] < len(groups[label]):
                    places[label] += 1
        return places
