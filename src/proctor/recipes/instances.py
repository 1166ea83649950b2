"""From the loader's rows to a task's instances, and the demo pool among them: nothing is put in words here.

Rows flow one by one; the only thing kept in memory is the demo pool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from proctor.data.operator import SequentialOperator
from proctor.data.row_failures import failures_so_far, filed
from proctor.data.streams import GeneratorStream, MultiStream, Stream
from proctor.demos import DemoPool, draw_pool
from proctor.errors import DemosError, ProctorError
from proctor.formats import EmptySystemPrompt
from proctor.lazy import Deferred
from proctor.randomness import Course, current_course
from proctor.recipes.plan import ALL, Instance, Plan
from proctor.recipes.row_metadata import is_read_by, refined_with_pool, row_metadata

if TYPE_CHECKING:
    from proctor.data import filters
else:  # few recipes have refiners
    filters = Deferred("proctor.data.filters")


class Instances:
    """The rows of a recipe: loader, steps, task, augmentors, demo pool, refiners, limits.

    Args:
        plan: The parts of the recipe.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def opened(self) -> tuple[DemoPool | None, MultiStream]:
        """Return the demo pool and the streams of instances to ask about, limited."""
        course = Course()
        with course:
            pool, streams = self._without_demos(self.instances(self.standardize(self.load())))
        if self.goes_on:
            streams = MultiStream({name: _going_on(stream, course) for name, stream in streams.items()})
        limits: dict[str, int | None] = dict(self.plan.limits)
        for name, refiner in self.plan.refiners.items():
            if _is_limit(refiner):
                limits[name] = _smaller(refiner.max_instances, limits.get(name))
            elif name in streams:
                refined = refined_with_pool(_refining(refiner, limits.get(name)), name, streams[name], pool)
                streams = MultiStream({**streams, name: refined})
        return pool, _limited(streams, limits)

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the streams after each stage, with a word on what it did."""
        streams = self.load()
        yield "loaded", streams
        for step in self.steps:
            streams = step(streams)
            yield f"standardised: {step}", streams
        yield f"made instances of {self.plan.task.artifact_id or 'the task'}", self.instances(streams)

    # -- rows to instances ------------------------------------------------------------------------------------

    @property
    def steps(self) -> Sequence[Any]:
        """The card's preprocessing operators."""
        return (self.plan.card.preprocess_steps or ()) if self.plan.card is not None else ()

    @property
    def goes_on(self) -> bool:
        """Whether a step goes on with one generator from row to row, so that a pass depends on the one before it."""
        return any(map(_draws_on, self.steps))

    def load(self) -> MultiStream:
        """Return the loader's streams, cut to ``loader_limit``."""
        card, limit = self.plan.card, self.plan.loader_limit
        if card is None:
            return MultiStream({})
        if limit and card.loader is not None:
            loader = card.loader.model_copy()
            loader.loader_limit = limit
            card = card.model_copy()
            card.loader = loader
        streams = card.rows()
        if is_read_by((*self.steps, *self.plan.refiners.values())):
            streams = self._telling(streams)
        return _limited(streams, dict.fromkeys(streams, limit)) if limit else streams

    def _telling(self, streams: MultiStream) -> MultiStream:
        """Tell rows of the format and the system prompt."""
        metadata = row_metadata(self.plan.system_prompt or EmptySystemPrompt(), self.plan.format)

        def told(stream: Stream) -> Iterator[Instance]:
            return ({**row, "recipe_metadata": metadata} for row in stream)

        return MultiStream({name: GeneratorStream(partial(told, stream)) for name, stream in streams.items()})

    def standardize(self, streams: MultiStream) -> MultiStream:
        """Return the streams after the card's preprocessing steps."""
        return SequentialOperator(steps=list(self.steps))(streams) if self.steps else streams

    def instances(self, streams: MultiStream) -> MultiStream:
        """Return streams of the task's instances, augmented."""
        made = MultiStream(
            {name: GeneratorStream(partial(self._made, name, stream)) for name, stream in streams.items()}
        )
        for augmentor in self.plan.augmentors:
            made = augmentor(made)
        return made

    def _made(self, name: str, stream: Stream) -> Iterator[Instance]:
        make = self.plan.task.bind(name)
        for number, row in enumerate(stream):
            try:
                instance = make(row)
            except ProctorError as error:
                placed = error.within(f"{name}[{number + failures_so_far()}]")
                if filed(placed):
                    continue
                raise placed from None
            yield instance

    def as_instance(self, row: Instance) -> Instance:
        """Return a demo that somebody gave as an instance: it may be a plain row of the task's fields."""
        return row if "input_fields" in row else self.plan.task.bind(None)(row)

    # -- demos ------------------------------------------------------------------------------------------------

    def _without_demos(self, streams: MultiStream) -> tuple[DemoPool | None, MultiStream]:
        """Take the demo pool out of its stream; return it with the streams that remain."""
        plan = self.plan
        if plan.pool is not None:
            return DemoPool([self.as_instance(each) for each in plan.pool]), streams
        if plan.pool_size is None:
            return None, streams
        source = plan.demos_taken_from
        if source not in streams:
            raise DemosError(
                missing_stream(source), why=f"the splits are {', '.join(streams)}", hint="set demos_taken_from"
            )
        everything = plan.pool_size == ALL
        pool, duplicates = draw_pool(iter(streams[source]), None if everything else plan.pool_size)
        if not plan.demos_removed_from_data:
            return DemoPool(pool), streams
        if everything:
            if len(streams) == 1:
                raise DemosError(nothing_left(source), hint="set demos_removed_from_data=False, or a demos_pool_size")
            return DemoPool(pool), MultiStream({name: each for name, each in streams.items() if name != source})
        taken = len(pool) + len(duplicates)
        rest = streams[source]

        def remaining() -> Iterator[Instance]:
            return chain(duplicates, islice(iter(rest), taken, None))

        return DemoPool(pool), MultiStream(
            {name: GeneratorStream(remaining) if name == source else each for name, each in streams.items()}
        )


def _draws_on(step: Any) -> bool:
    """Whether a step goes on with one generator from row to row, or holds a step that does."""
    inner = getattr(step, "steps", None)
    return getattr(step, "draws_on", False) or (isinstance(inner, (list, tuple)) and any(map(_draws_on, inner)))


def _going_on(stream: Stream, before: Course) -> Stream:
    """Return a stream whose every pass draws as if it came directly after the pass that drew the demos."""

    def rows() -> Iterator[Instance]:
        course = current_course() or Course()
        course.adopt(before)
        iterator = iter(stream)
        while True:
            with course:
                row = next(iterator, None)
            if row is None:
                return
            yield row

    return GeneratorStream(rows)


def _is_limit(refiner: Any) -> bool:
    """Return whether a refiner does what a limit does, and nothing else."""
    return type(refiner) is filters.StreamRefiner


def _refining(refiner: Any, limit: int | None) -> Any:
    """Return a refiner for one split, whatever it names, that knows the split's limit."""
    changes: dict[str, Any] = {"apply_to_streams": None}
    if isinstance(refiner, filters.StreamRefiner):
        changes["max_instances"] = _smaller(refiner.max_instances, limit)
    return refiner.model_copy(update={name: value for name, value in changes.items() if hasattr(refiner, name)})


def _smaller(*limits: int | None) -> int | None:
    return min((each for each in limits if each is not None), default=None)


def _limited(streams: MultiStream, limits: Mapping[str, int | None]) -> MultiStream:
    def cut(stream: Stream, limit: int) -> Stream:
        return GeneratorStream(lambda: stream.take(limit))

    return MultiStream(
        {
            name: stream if (limit := limits.get(name)) is None else cut(stream, limit)
            for name, stream in streams.items()
        }
    )


def missing_stream(name: str) -> str:
    """Return what is said where demos are to come from a stream that is not there."""
    return f"Input multi-stream is missing a stream named '{name}' to take demo instances from for the demos_pool."


def nothing_left(name: str) -> str:
    """Return what is said where the only stream becomes the pool."""
    return (
        f"The single input stream, '{name}' is to be wholly consumed for generating demos, "
        "and no instance is left to use these demos."
    )
