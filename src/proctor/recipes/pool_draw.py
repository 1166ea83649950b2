"""Draws an instance's demos from the pool."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from proctor.demos import DemoPool, Sampler
from proctor.errors import DemosError
from proctor.randomness import random_stream
from proctor.recipes.plan import Instance, Plan


class PoolDraw:
    """Draws from a demo pool.

    Args:
        plan: The parts of the recipe: how many demos, and who draws.
        as_instance: Makes an instance of a demo that a row brings along.
    """

    def __init__(self, plan: Plan, as_instance: Callable[[Instance], Instance]) -> None:
        self._plan = plan
        self._as_instance = as_instance

    def demos_of(self, instance: Instance, pool: DemoPool | None) -> Sequence[Instance]:
        """Return the demos of an instance, in the order in which they are shown; never the instance itself.

        Raises:
            DemosError: There is no pool, or it is too small.
        """
        if not self._plan.most_demos:
            return ()
        if self._plan.skip_demoed_instances and "demos" in instance:
            return [self._as_instance(each) for each in instance["demos"]]
        if pool is None:
            raise DemosError("demos are asked for, but there is no pool", hint="set demos_pool_size")
        return self._draw(instance, pool)

    def _draw(self, instance: Instance, pool: DemoPool) -> Sequence[Instance]:
        plan, sampler = self._plan, self._plan.sampler
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
