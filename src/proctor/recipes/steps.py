"""The steps that a recipe consists of, each as an operator of its own.

A recipe that runs compiles all of them at once (:mod:`~proctor.recipes.pipeline`); each alone does the same to a
stream, for programs that stop in between or put steps together themselves.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from typing_extensions import override

from proctor.artifacts import Artifact
from proctor.artifacts.own_texts import own_text
from proctor.data.fields import get_field
from proctor.data.operator import InstanceOperator, MultiStreamOperator, container_copy
from proctor.data.streams import INFERENCE_STREAM, INSTANCE_STREAM, GeneratorStream, MultiStream, Stream
from proctor.demos import draw_pool
from proctor.demos.samplers import Sampler, instance_stream
from proctor.errors import DataError, DemosError, TemplateError
from proctor.randomness import random_stream
from proctor.recipes.instances import missing_stream, nothing_left
from proctor.recipes.plan import WHOLE_STREAM
from proctor.settings import settings
from proctor.templates import Template

Row = dict[str, Any]
_POOL_FIELD = "_demos_pool_"
_DEMOS_FIELD = "demos"

# -- demos --------------------------------------------------------------------------------------------------------


class CreateDemosPool(MultiStreamOperator):
    """Puts a pool of distinct instances into every row.

    Attributes:
        from_stream: The stream whose first instances make the pool.
        demos_pool_size: How many.
        demos_removed_from_data: Take them out of their stream; ``None`` does, too.
        to_field: The field of the pool.
    """

    from_stream: str | None = None
    demos_pool_size: int | None = None
    demos_removed_from_data: bool | None = None
    to_field: str = _POOL_FIELD

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        name, size = self.from_stream or "", self.demos_pool_size
        if name not in multi_stream:
            raise DemosError(missing_stream(name), why=f"the splits are {', '.join(multi_stream)}")
        whole = size is None or size >= WHOLE_STREAM
        if whole and self.demos_removed_from_data and len(multi_stream) == 1:
            raise DemosError(nothing_left(name))
        source = multi_stream[name]
        pool, skipped = draw_pool(iter(source), None if whole else size)
        streams: dict[str, Stream] = dict(multi_stream)
        if self.demos_removed_from_data is not False:
            scanned = len(pool) + len(skipped)
            streams[name] = GeneratorStream(
                _without_pool, gen_kwargs={"skipped": skipped, "source": source, "scanned": scanned}
            )
        if whole and self.demos_removed_from_data:
            del streams[name]
        return _with_field(streams, self.to_field, container_copy(pool))


def _without_pool(skipped: Sequence[Row], source: Stream, scanned: int) -> Iterator[Row]:
    yield from skipped
    yield from islice(iter(source), scanned, None)


def _with_field(streams: dict[str, Stream], field: str, value: Any) -> MultiStream:
    def rows(stream: Stream) -> Iterator[Row]:
        for row in stream:
            yield {**row, field: value}

    return MultiStream({name: GeneratorStream(rows, gen_kwargs={"stream": each}) for name, each in streams.items()})


class AddDemosPool(MultiStreamOperator):
    """Puts a pool that somebody gives into every row.

    Attributes:
        demos_pool: Its instances.
        demos_pool_field_name: The field of the pool.
    """

    demos_pool: list[dict[str, Any]]
    demos_pool_field_name: str = _POOL_FIELD

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        return _with_field(dict(multi_stream), self.demos_pool_field_name, self.demos_pool)


class AssignDemosToInstance(InstanceOperator):
    """Base of what draws demos from the pool in a row.

    Attributes:
        from_field, to_field: Where the pool is, and where the demos go.
        sampler: Which instances of the pool.
        skip_demoed_instances: Leave rows alone that have demos.
        sampling_seed: Draws others.
    """

    from_field: str
    to_field: str
    sampler: Sampler
    skip_demoed_instances: bool = False
    sampling_seed: int | None = None

    @abstractmethod
    def get_sample_size(self, instance: Row) -> int:
        """Return how many demos an instance is shown."""

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        pool = instance.get(self.from_field)
        rest = {name: value for name, value in instance.items() if name != self.from_field}
        if self.skip_demoed_instances and self.to_field in instance:
            return rest
        if pool is None:
            raise DataError(f"the row has no demo pool in '{self.from_field}'")
        size = self.get_sample_size(instance)
        others = self.sampler.filter_source_by_instance(pool, instance)
        if len(others) < size:
            raise DemosError(f"{size} demos are asked of {len(others)} instances", hint="use a larger demos_pool_size")
        drawn = self.sampler.sample(size, others, instance, self.sampling_seed)
        return {**rest, self.to_field: container_copy(drawn)}


class ConstantSizeSample(AssignDemosToInstance):
    """Draws the same number of demos for every row.

    Attributes:
        sample_size: How many.
    """

    sample_size: int

    @override
    def get_sample_size(self, instance: Row) -> int:
        return self.sample_size


class RandomSizeSample(AssignDemosToInstance):
    """Draws one of several numbers of demos for every row.

    Attributes:
        sample_sizes: The numbers.
    """

    sample_sizes: list[int]

    @override
    def get_sample_size(self, instance: Row) -> int:
        return instance_stream(instance).choice(self.sample_sizes)


# -- templates ----------------------------------------------------------------------------------------------------


class ApplyTemplate(InstanceOperator):
    """Base of what puts a row, and its demos, in the words of a template.

    Attributes:
        demos_field: The field of the demos; ``None`` where there are none.
    """

    demos_field: str | None = None

    @abstractmethod
    def get_template(self, instance: Row) -> Template:
        """Return the template of a row."""

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        template = self.get_template(instance)
        if self.demos_field is not None:
            if self.demos_field not in instance:
                raise TemplateError(f"the row has no demos in '{self.demos_field}'")
            demos = [template.process_instance(demo) for demo in instance[self.demos_field]]
            instance = {**instance, self.demos_field: demos}
        metadata = {**(instance.get("recipe_metadata") or {}), "template": template}
        return template.process_instance({**instance, "recipe_metadata": metadata}, stream_name or INSTANCE_STREAM)


class ApplySingleTemplate(ApplyTemplate):
    """Applies one template to all rows.

    Attributes:
        template: The template.
    """

    template: Template

    @override
    def get_template(self, instance: Row) -> Template:
        return self.template


class ApplyRandomTemplate(ApplyTemplate):
    """Applies to each row one of several templates; which one follows from its content.

    Attributes:
        templates: The templates.
    """

    templates: list[Template]

    @override
    def get_template(self, instance: Row) -> Template:
        return random_stream({**instance["input_fields"], **instance["reference_fields"]}).choice(self.templates)


# -- rows of a dataset --------------------------------------------------------------------------------------------

_KEPT = (
    *("source", "target", "references", "metrics", "groups", "subset", "media", "postprocessors", "task_data"),
    "data_classification_policy",
)
"""The fields of a dataset's rows."""


class FinalizeDataset(InstanceOperator):
    """Makes rows of a dataset: ``task_data`` as text, groups, media.

    Attributes:
        group_by: Fields, or lists of fields, of the task or its metadata.
        remove_unnecessary_fields: Drop the fields that a dataset does not have.
    """

    group_by: list[str | list[str]]
    remove_unnecessary_fields: bool = True

    @override
    def process(self, instance: Row, stream_name: str | None = None) -> Row:
        data = _task_data(instance, is_asked=stream_name == INFERENCE_STREAM)
        metadata = instance["recipe_metadata"]
        data["metadata"] |= {name: metadata[name] for name in ("num_demos", "demos_pool_size")}
        data["metadata"]["template"] = _named(metadata["template"])
        if _DEMOS_FIELD in instance:
            data[_DEMOS_FIELD] = [_task_data(demo, is_asked=False) for demo in instance[_DEMOS_FIELD]]
        row = {name: value for name, value in instance.items() if name in _KEPT or not self.remove_unnecessary_fields}
        row.pop(_DEMOS_FIELD, None)
        if not isinstance(row["source"], str):
            row["source"] = json.dumps(row["source"])
        row["task_data"] = json.dumps(data) if settings.task_data_as_text else data
        row["groups"] = [json.dumps(_group(each, {**data, **data["metadata"]})) for each in self.group_by]
        row["subset"], row["media"] = [], _media(instance.get("media") or {})
        texts = {name: [_text(each) for each in row[name]] for name in ("metrics", "postprocessors")}
        return {**row, **texts}


def _task_data(instance: Row, *, is_asked: bool) -> Row:
    data = {
        **instance["input_fields"],
        "metadata": {"data_classification_policy": instance["data_classification_policy"]},
        **({} if is_asked else instance["reference_fields"]),
        **({"__tools__": instance["__tools__"]} if "__tools__" in instance else {}),
    }
    return {name: _named(value) for name, value in data.items()}


def _named(value: Any) -> Any:
    """Return an artifact as its name, or as data where it has none."""
    return (value.artifact_id or value.to_dict()) if isinstance(value, Artifact) else value


def _text(value: Any) -> Any:
    return own_text(value) if isinstance(value, Artifact) else value


def _group(fields: str | Sequence[str], data: Row) -> Row:
    return {name: get_field(data, name) for name in ([fields] if isinstance(fields, str) else fields)}


def _media(found: Row) -> Row:
    images = [each["image"] if isinstance(each, dict) and "image" in each else each for each in found.get("images", ())]
    return {**found, "images": images, "audios": list(found.get("audios", ()))}
