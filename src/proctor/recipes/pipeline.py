"""A recipe at work: from the loader's rows to prompts.

A :class:`Pipeline` is what a recipe compiles to. It holds plain functions; no later change to an artifact reaches it.
Rows flow one by one; the only thing kept in memory is the demo pool, whose members are put in words once each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import Any

from proctor.artifacts import Artifact, to_data
from proctor.data.dialog_operators import SerializeDialog
from proctor.data.operator import SequentialOperator
from proctor.data.streams import INFERENCE_STREAM, GeneratorStream, MultiStream, Stream
from proctor.demos import DemoPool, Sampler, draw_pool
from proctor.errors import DemosError, ProctorError
from proctor.formats import Demo, Format, Parts, SystemPrompt
from proctor.formats.format import LayOut
from proctor.ir import Exchange, Prompt
from proctor.randomness import random_stream
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import Template

Instance = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """The parts of a recipe, resolved: nothing here is a name that has yet to be fetched."""

    card: TaskCard | None
    task: Task
    templates: tuple[Template, ...]
    format: Format
    system_prompt: SystemPrompt
    num_demos: int | tuple[int, ...] = 0
    pool_size: int | None = None
    pool: Sequence[Instance] | None = None
    demos_taken_from: str = "train"
    demos_removed_from_data: bool = True
    sampler: Sampler | None = None
    sampling_seed: int | None = None
    skip_demoed_instances: bool = False
    loader_limit: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    refiners: Mapping[str, Any] = field(default_factory=dict)
    augmentors: tuple[Any, ...] = ()

    @property
    def most_demos(self) -> int:
        """The largest number of demos in a prompt."""
        return self.num_demos if isinstance(self.num_demos, int) else max(self.num_demos)


@dataclass(slots=True)
class PooledDemo:
    """A demo in words; ``memo`` is room for what others derive from it once."""

    instance: Instance
    demo: Demo
    memo: dict[str, Any] = field(default_factory=dict)


def _put_in_words(instance: Instance, template: Template) -> PooledDemo:
    done = template.process(instance)
    return PooledDemo(done, Demo(done["source"], done["target"], done["target_prefix"], done.get("__turns__")))


@dataclass(slots=True)
class Rendered:
    """An instance with its prompt. ``demos`` is ``None`` where the recipe shows none to anybody."""

    instance: Instance
    prompt: Prompt
    template: Template
    demos: list[PooledDemo] | None
    num_demos: int
    pool_size: int

    def exchange(self) -> Exchange:
        """Return the instance in words."""
        return self.template.exchange(self.instance)


class Pipeline:
    """A compiled recipe."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._lay_out = _compile_layout(plan.format)
        self._template_ids: list[Any] = [to_data(template) for template in plan.templates]

    # -- stages, for `proctor show --steps` -------------------------------------------------------------------

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the streams after each stage, with a word on what it did."""
        streams = self.load()
        yield "loaded", streams
        for step in self.steps:
            streams = step(streams)
            yield f"standardised: {step}", streams
        streams = self.instances(streams)
        yield f"made instances of {self.plan.task.artifact_id or 'the task'}", streams
        words = " or ".join(map(_called, self.plan.templates))
        yield (
            f"put in words by {words}, laid out by {_called(self.plan.format)}",
            MultiStream({name: GeneratorStream(partial(self._shown, name)) for name in self.render_all()}),
        )

    def _shown(self, split: str) -> Iterator[Instance]:
        for rendered in self.render(split):
            instance, payload = rendered.instance, rendered.prompt.payload
            source = payload if isinstance(payload, str) else list(payload)
            yield {"source": source, "target": instance.get("target"), "references": instance.get("references")}

    # -- rows to instances ------------------------------------------------------------------------------------

    @property
    def steps(self) -> Sequence[Any]:
        """The card's preprocessing operators."""
        return (self.plan.card.preprocess_steps or ()) if self.plan.card is not None else ()

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
        if any(isinstance(step, SerializeDialog) for step in self.steps):
            streams = self._with_turn_layout(streams)
        return _limited(streams, dict.fromkeys(streams, limit)) if limit else streams

    def _with_turn_layout(self, streams: MultiStream) -> MultiStream:
        """Tell rows how the format lays out a demo: dialogs inside a row are written in the same way."""
        demo_format = getattr(self.plan.format, "demo_format", None)
        layout = {"format": {"demo_format": demo_format} if demo_format else {}}

        def told(stream: Stream) -> Iterator[Instance]:
            return ({**row, "recipe_metadata": layout} for row in stream)

        return MultiStream({name: GeneratorStream(partial(told, stream)) for name, stream in streams.items()})

    def standardize(self, streams: MultiStream) -> MultiStream:
        """Return the streams after the card's preprocessing steps."""
        return SequentialOperator(steps=list(self.steps))(streams) if self.steps else streams

    def instances(self, streams: MultiStream) -> MultiStream:
        """Return streams of the task's instances, augmented."""
        made = MultiStream({name: self._instance_stream(name, stream) for name, stream in streams.items()})
        for augmentor in self.plan.augmentors:
            made = augmentor(made)
        return made

    def _instance_stream(self, name: str, stream: Stream) -> Stream:
        task = self.plan.task

        def make() -> Iterator[Instance]:
            return map(task.bind(name), stream)

        return GeneratorStream(make)

    # -- demos ------------------------------------------------------------------------------------------------

    def split_off_demos(self, streams: MultiStream) -> tuple[DemoPool | None, MultiStream]:
        """Take the demo pool out of its stream; return it with the streams that remain."""
        plan = self.plan
        if plan.pool is not None:
            return DemoPool([self._as_instance(each) for each in plan.pool]), streams
        if plan.pool_size is None:
            return None, streams
        source = plan.demos_taken_from
        if source not in streams:
            raise DemosError(
                f"demos are to be taken from '{source}', which the data does not have",
                why=f"the splits are {', '.join(streams)}",
                hint="set demos_taken_from",
            )
        everything = plan.pool_size == ALL
        pool, duplicates = draw_pool(iter(streams[source]), None if everything else plan.pool_size)
        if not plan.demos_removed_from_data:
            return DemoPool(pool), streams
        if everything:
            if len(streams) == 1:
                raise DemosError(f"the demo pool takes all of '{source}', and there is no other split to ask about")
            return DemoPool(pool), MultiStream({name: each for name, each in streams.items() if name != source})
        taken = len(pool) + len(duplicates)
        rest = streams[source]

        def remaining() -> Iterator[Instance]:
            return chain(duplicates, islice(iter(rest), taken, None))

        return DemoPool(pool), MultiStream(
            {name: GeneratorStream(remaining) if name == source else each for name, each in streams.items()}
        )

    def _as_instance(self, row: Instance) -> Instance:
        return row if "input_fields" in row else self.plan.task.bind(None)(row)

    def _draw(self, instance: Instance, pool: DemoPool) -> Sequence[Instance]:
        plan, sampler = self.plan, self.plan.sampler
        if sampler is None:
            raise DemosError("a sampler is needed to choose demos", hint="set sampler on the recipe or the card")
        if type(sampler).filter_source_by_instance is Sampler.filter_source_by_instance:
            candidates = pool.without(instance)
        else:
            candidates = sampler.filter_source_by_instance(list(pool), instance)
        size = plan.num_demos
        if not isinstance(size, int):
            size = random_stream(instance["input_fields"]).choice(size)
        if len(candidates) < size:
            raise DemosError(
                f"{size} demos are asked of a pool with {len(candidates)} candidates",
                why="the pool's distinct instances, without the one that is asked about",
                hint="raise demos_pool_size (and loader_limit, where one is set), or ask for fewer demos",
            )
        return sampler.sample(size, candidates, instance, plan.sampling_seed)

    @staticmethod
    def _verbalise(instance: Instance, which: int, template: Template, pool: DemoPool | None) -> PooledDemo:
        place = None if pool is None else pool.place_of(instance)
        if pool is None or place is None:
            return _put_in_words(instance, template)
        found = pool.memo.get((place, which))
        if found is None:
            found = pool.memo[place, which] = _put_in_words(instance, template)
        return found

    # -- instances to prompts ---------------------------------------------------------------------------------

    def split_streams(self) -> tuple[DemoPool | None, MultiStream]:
        """Return the demo pool and the streams of instances to ask about, limited."""
        pool, streams = self.split_off_demos(self.instances(self.standardize(self.load())))
        for name, refiner in self.plan.refiners.items():
            if name in streams:
                streams = MultiStream({**streams, **refiner(MultiStream({name: streams[name]}))})
        return pool, _limited(streams, self.plan.limits)

    def render(self, split: str) -> Iterator[Rendered]:
        """Yield the instances of a split with their prompts."""
        pool, streams = self.split_streams()
        return self.render_stream(streams[split], split, pool)

    def render_all(self) -> dict[str, Callable[[], Iterator[Rendered]]]:
        """Return for every split a function that yields its instances with their prompts."""
        pool, streams = self.split_streams()

        def renderer(name: str, stream: Stream) -> Callable[[], Iterator[Rendered]]:
            return lambda: self.render_stream(stream, name, pool)

        return {name: renderer(name, stream) for name, stream in streams.items()}

    def render_stream(self, stream: Iterable[Instance], split: str, pool: DemoPool | None) -> Iterator[Rendered]:
        """Yield instances with their prompts."""
        for number, instance in enumerate(stream):
            try:
                yield self._render(instance, split, pool)
            except ProctorError as error:
                raise error.within(f"{split}[{number}]") from None

    def _render(self, instance: Instance, split: str, pool: DemoPool | None) -> Rendered:
        plan = self.plan
        which = 0
        if len(plan.templates) > 1:
            content = {**instance["input_fields"], **(instance.get("reference_fields") or {})}
            which = random_stream(content).choice(range(len(plan.templates)))
        template = plan.templates[which]
        demos: list[PooledDemo] | None = None
        if plan.most_demos:
            demos = [self._verbalise(each, which, template, pool) for each in self._demos_of(instance, pool)]
        processed = template.process(instance, split)
        processed["__template__"] = self._template_ids[which]
        if "system_prompt" not in processed:
            processed["system_prompt"] = plan.system_prompt.process(processed)["system_prompt"]
        prompt = self._lay_out(processed, [each.demo for each in demos or ()], template)
        size = (plan.pool_size or 0) if plan.most_demos else 0
        return Rendered(processed, prompt, template, demos, len(demos or ()), size)

    def _demos_of(self, instance: Instance, pool: DemoPool | None) -> Sequence[Instance]:
        if self.plan.skip_demoed_instances and "demos" in instance:
            return [self._as_instance(each) for each in instance["demos"]]
        if pool is None:
            raise DemosError("demos are asked for, but there is no pool", hint="set demos_pool_size")
        return self._draw(instance, pool)

    # -- production -------------------------------------------------------------------------------------------

    def produce(self, instances: Sequence[Mapping[str, Any]]) -> Iterator[Rendered]:
        """Yield prompts for instances that a program brings: task fields without references."""
        task = self.plan.task
        made = map(task.bind(INFERENCE_STREAM), map(dict, instances))
        pool = self.split_streams()[0] if self.plan.most_demos else None
        return self.render_stream(made, INFERENCE_STREAM, pool)


ALL = -1
"""A pool of everything there is."""

Laid = Callable[[Instance, list[Demo], Template], Prompt]


def _called(artifact: Artifact) -> str:
    return artifact.artifact_id or type(artifact).__name__


def _compile_layout(form: Format) -> Laid:
    if type(form).process is Format.process:
        return _from_parts(form.layout())

    def by_instance(instance: Instance, demos: list[Demo], template: Template) -> Prompt:
        del template
        shown = [{"source": each.source, "target": each.target, "target_prefix": each.target_prefix} for each in demos]
        return Prompt(form.process({**instance, "demos": shown})["source"])

    return by_instance


def _from_parts(lay_out: LayOut) -> Laid:
    def lay(instance: Instance, demos: list[Demo], template: Template) -> Prompt:
        return lay_out(
            Parts(
                source=instance["source"],
                system_prompt=instance["system_prompt"],
                instruction=instance["instruction"],
                target_prefix=instance["target_prefix"],
                demos=demos,
                turns=instance.get("__turns__"),
                media=instance.get("media") or {},
                source_spans=lambda: template.source_spans(instance),
            )
        )

    return lay


def _limited(streams: MultiStream, limits: Mapping[str, int | None]) -> MultiStream:
    def cut(stream: Stream, limit: int) -> Stream:
        return GeneratorStream(lambda: islice(iter(stream), limit))

    return MultiStream(
        {
            name: stream if (limit := limits.get(name)) is None else cut(stream, limit)
            for name, stream in streams.items()
        }
    )
