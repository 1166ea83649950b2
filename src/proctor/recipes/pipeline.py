"""A recipe at work: from the loader's rows to prompts.

A :class:`Pipeline` is what a recipe compiles to. It holds plain functions; no later change to an artifact reaches it.
It has three parts, which an exam uses one by one: rows to instances (:mod:`~proctor.recipes.instances`), the draw of
demos (:mod:`~proctor.recipes.pool_draw`), and instances to prompts (:mod:`~proctor.recipes.prompts`). Whoever wants
every split at once, references or not (``load_dataset``, ``produce``, ``infer``), takes them together, here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from proctor.data.streams import INFERENCE_STREAM, GeneratorStream, MultiStream, Stream
from proctor.demos import DemoPool
from proctor.errors import ProctorError
from proctor.recipes.instances import Instances
from proctor.recipes.plan import Instance, Plan, called
from proctor.recipes.pool_draw import PoolDraw
from proctor.recipes.prompts import Prompts, Rendered


class Pipeline:
    """A compiled recipe.

    Attributes:
        instances: Rows to instances.
        draw: Which demos an instance is shown.
        prompts: Instances to prompts.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.instances = Instances(plan)
        self.draw = PoolDraw(plan, self.instances.as_instance)
        self.prompts = Prompts(plan)

    def stages(self) -> Iterator[tuple[str, MultiStream]]:
        """Yield the streams after each stage, with a word on what it did."""
        yield from self.instances.stages()
        words = " or ".join(map(called, self.plan.templates))
        yield (
            f"put in words by {words}, laid out by {called(self.plan.format)}",
            MultiStream({name: GeneratorStream(partial(self._shown, name)) for name in self.render_all()}),
        )

    def _shown(self, split: str) -> Iterator[Instance]:
        for rendered in self.render(split):
            instance, payload = rendered.instance, rendered.prompt.payload
            source = payload if isinstance(payload, str) else list(payload)
            yield {"source": source, "target": instance.get("target"), "references": instance.get("references")}

    def render(self, split: str) -> Iterator[Rendered]:
        """Yield the instances of a split with their prompts."""
        pool, streams = self.instances.opened()
        return self._rendered(streams[split], split, pool)

    def render_all(self) -> dict[str, Callable[[], Iterator[Rendered]]]:
        """Return for every split a function that yields its instances with their prompts."""
        pool, streams = self.instances.opened()

        def renderer(name: str, stream: Stream) -> Callable[[], Iterator[Rendered]]:
            return lambda: self._rendered(stream, name, pool)

        return {name: renderer(name, stream) for name, stream in streams.items()}

    def _rendered(self, stream: Iterable[Instance], split: str, pool: DemoPool | None) -> Iterator[Rendered]:
        for number, instance in enumerate(stream):
            try:
                rendered = self.prompts.render(instance, split, self.draw.demos_of(instance, pool), pool)
            except ProctorError as error:
                raise error.within(f"{split}[{number}]") from None
            yield rendered

    def produce(self, instances: Sequence[Mapping[str, Any]]) -> Iterator[Rendered]:
        """Yield prompts for instances that a program brings: task fields without references."""
        task = self.plan.task
        made = map(task.bind(INFERENCE_STREAM), map(dict, instances))
        pool = self.instances.opened()[0] if self.plan.most_demos else None
        return self._rendered(made, INFERENCE_STREAM, pool)
