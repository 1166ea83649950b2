"""The stages of a recipe, for programs that run one without the next.

``loading``, ``metadata``, ``standardization``, ``processing``, ``verbalization`` and ``finalize`` are those of Unitxt's
recipes, in their order. Run one after the other they make the rows that the recipe makes, which compiles them together.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from proctor.data.operator import MultiStreamOperator, SourceOperator
from proctor.data.streams import INFERENCE_STREAM, MultiStream
from proctor.errors import ValidationError
from proctor.lazy import Deferred
from proctor.recipes.instances import Instances
from proctor.recipes.plan import ALL, WHOLE_STREAM, Plan
from proctor.recipes.row_metadata import is_read_by, row_metadata

if TYPE_CHECKING:
    from proctor.data import collection_operators, filters, instance_operators
    from proctor.recipes import steps as recipe_steps
else:  # recipes are run far more often than they are taken apart
    collection_operators = Deferred("proctor.data.collection_operators")
    filters = Deferred("proctor.data.filters")
    instance_operators = Deferred("proctor.data.instance_operators")
    recipe_steps = Deferred("proctor.recipes.steps")

Row = dict[str, Any]
Steps = tuple[Any, ...]
_SPLITS = ("train", "validation", "test")


class RecipeStage(MultiStreamOperator):
    """Steps of a recipe, one after the other.

    Attributes:
        steps: The operators. They are made of the recipe when somebody asks for them, so that a change here would
            reach nobody: what is to change is changed in the recipe.
    """

    steps: tuple[Any, ...] = ()

    @override
    def process(self, multi_stream: MultiStream) -> MultiStream:
        for step in self.steps:
            multi_stream = step() if isinstance(step, SourceOperator) else step(multi_stream)
        return multi_stream


class Staged:
    """The stages of a recipe, each of which can be run without the next."""

    if TYPE_CHECKING:  # fields of the recipe
        max_steps: int | None
        demos_field: str
        demos_pool_field_name: str
        metrics: list[Any] | None
        postprocessors: list[Any] | None
        group_by: list[str | list[str]]

    @abstractmethod
    def plan(self) -> Plan:
        """Return the parts of the recipe, resolved."""

    @property
    def steps(self) -> tuple[RecipeStage, ...]:
        """The six stages, in their order."""
        return (
            *(self.loading, self.metadata, self.standardization),
            *(self.processing, self.verbalization, self.finalize),
        )

    def num_steps(self) -> int:
        """Return the number of stages."""
        return len(self.steps)

    @property
    def loading(self) -> RecipeStage:
        """Reads the data, up to ``loader_limit`` rows of each split."""
        return RecipeStage(steps=tuple(_loading(self.plan())))

    @property
    def metadata(self) -> RecipeStage:
        """Tells each row of the system prompt and the format."""
        plan = self.plan()
        told: Mapping[str, Any] = {"system_prompt": plan.system_prompt, "format": plan.format}
        if is_read_by((*self.standardization.steps, *plan.refiners.values())):
            told = row_metadata(plan.system_prompt, plan.format)
        return RecipeStage(
            steps=(instance_operators.Set(fields={f"recipe_metadata/{name}": value for name, value in told.items()}),)
        )

    @property
    def standardization(self) -> RecipeStage:
        """Runs the card's preprocessing steps."""
        card = self.plan().card
        return RecipeStage(steps=tuple((card.preprocess_steps or ()) if card is not None else ()))

    @property
    def processing(self) -> RecipeStage:
        """Makes instances of the task, augments them, takes the demo pool out, and refines and cuts each split."""
        plan = self.plan()
        return RecipeStage(steps=(plan.task, *plan.augmentors, *self._pool(plan), *_refiners(plan)))

    @property
    def verbalization(self) -> RecipeStage:
        """Draws demos, and puts instances in words and lays them out."""
        plan = self.plan()
        return RecipeStage(steps=(*self._draw(plan), self._templates(plan), plan.system_prompt, plan.format))

    @property
    def finalize(self) -> RecipeStage:
        """Makes the rows of a dataset."""
        given = {"postprocessors": self.postprocessors, "metrics": self.metrics}
        replaced = [instance_operators.Set(fields={name: value}) for name, value in given.items() if value is not None]
        return RecipeStage(steps=(*replaced, recipe_steps.FinalizeDataset(group_by=list(self.group_by))))

    @property
    def inference_demos(self) -> RecipeStage:
        """The stages that rows pass before they are instances, from which demos can be taken."""
        return RecipeStage(steps=(self.loading, self.metadata, self.standardization))

    @property
    def inference_instance(self) -> RecipeStage:
        """The stages that make instances of rows that a program brings."""
        return RecipeStage(steps=(self.metadata, self.processing))

    @property
    def inference(self) -> RecipeStage:
        """The stages that make rows of a dataset out of standardised rows."""
        return RecipeStage(steps=(self.processing, self.verbalization, self.finalize))

    def production_preprocess(self, task_instances: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Return rows that a program brings as :attr:`metadata` leaves them."""
        return list(self.metadata(MultiStream({INFERENCE_STREAM: list(map(dict, task_instances))}))[INFERENCE_STREAM])

    def stopped(self) -> MultiStream | None:
        """Return the streams after ``max_steps`` stages; ``None`` where no stage is left out.

        Raises:
            ValidationError: There are not so many stages, or none would be left.
        """
        if self.max_steps is None:
            return None
        stages = self.steps
        if not 1 <= self.max_steps <= len(stages):
            raise ValidationError(f"{self.max_steps} of {len(stages)} steps cannot be run", path="$.max_steps")
        return None if self.max_steps == len(stages) else RecipeStage(steps=stages[: self.max_steps])()

    def _pool(self, plan: Plan) -> Steps:
        if plan.pool is not None:
            pool = list(map(Instances(plan).as_instance, plan.pool))
            return (recipe_steps.AddDemosPool(demos_pool=pool, demos_pool_field_name=self.demos_pool_field_name),)
        if plan.pool_size is None:
            return ()
        created = recipe_steps.CreateDemosPool(
            from_stream=plan.demos_taken_from,
            demos_pool_size=_told_size(plan),
            demos_removed_from_data=plan.demos_removed_from_data,
            to_field=self.demos_pool_field_name,
        )
        return (created,)

    def _draw(self, plan: Plan) -> Steps:
        if not plan.most_demos:
            return (
                instance_operators.Set(fields={"recipe_metadata/num_demos": 0, "recipe_metadata/demos_pool_size": 0}),
            )
        how: Row = {
            "from_field": self.demos_pool_field_name,
            "to_field": self.demos_field,
            "sampler": plan.sampler,
            "skip_demoed_instances": plan.skip_demoed_instances,
            "sampling_seed": plan.sampling_seed,
        }
        size = instance_operators.Set(fields={"recipe_metadata/demos_pool_size": _told_size(plan)})
        if isinstance(plan.num_demos, int):
            number = instance_operators.Set(fields={"recipe_metadata/num_demos": plan.num_demos})
            return (recipe_steps.ConstantSizeSample(**how, sample_size=plan.num_demos), number, size)
        counted = collection_operators.GetLength(field=self.demos_field, to_field="recipe_metadata/num_demos")
        return (recipe_steps.RandomSizeSample(**how, sample_sizes=list(plan.num_demos)), counted, size)

    def _templates(self, plan: Plan) -> recipe_steps.ApplySingleTemplate | recipe_steps.ApplyRandomTemplate:
        field = self.demos_field if plan.most_demos else None
        if len(plan.templates) == 1:
            return recipe_steps.ApplySingleTemplate(template=plan.templates[0], demos_field=field)
        return recipe_steps.ApplyRandomTemplate(templates=list(plan.templates), demos_field=field)


def _told_size(plan: Plan) -> int | None:
    return WHOLE_STREAM if plan.pool_size == ALL else plan.pool_size


def _loading(plan: Plan) -> Iterator[Any]:
    if plan.card is None or (loader := plan.card.loader) is None:
        return
    if plan.loader_limit:
        loader = loader.model_copy()
        loader.loader_limit = plan.loader_limit
    yield loader
    if plan.loader_limit:
        yield filters.StreamRefiner(max_instances=plan.loader_limit)


def _refiners(plan: Plan) -> Iterator[Any]:
    for name in _SPLITS:
        refiner, limit = plan.refiners.get(name) or filters.StreamRefiner(), plan.limits.get(name)
        changes: Row = {"apply_to_streams": [name]}
        if isinstance(refiner, filters.StreamRefiner):
            changes["max_instances"] = min(
                (each for each in (refiner.max_instances, limit) if each is not None), default=None
            )
        yield refiner.model_copy(update=changes)
