"""Recipes: complete exams as artifacts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import ceil
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, SkipValidation

from proctor.artifacts import NON_POSITIONAL, fetch_artifact
from proctor.artifacts.catalogs import stands_in
from proctor.data.operator import SourceOperator
from proctor.data.streams import GeneratorStream, MultiStream
from proctor.demos import RandomSampler, Sampler
from proctor.errors import DemosError, ValidationError, did_you_mean
from proctor.formats import EmptySystemPrompt, Format, SystemFormat, SystemPrompt
from proctor.logs import say_once
from proctor.randomness import SplitCourses
from proctor.recipes.pipeline import Pipeline
from proctor.recipes.plan import ALL, Plan
from proctor.recipes.prompts import Rendered
from proctor.recipes.rows import RowMaker
from proctor.settings import settings
from proctor.tasks.card import TaskCard
from proctor.tasks.serializers import MultiTypeSerializer, SingleTypeSerializer
from proctor.tasks.task import Task
from proctor.templates import Template, TemplatesDict, TemplatesList

Row = dict[str, Any]
WholeNumber = Annotated[int, BeforeValidator(lambda value: ceil(value) if isinstance(value, float) else value)]
"""A count that programs may compute (``200 / batch_size``); fractions are rounded up."""
TemplateChoice = Template | TemplatesList | TemplatesDict | list[Template]


def _made(make: Callable[[Rendered], Row], render: Callable[[], Iterator[Rendered]]) -> Iterator[Row]:
    return map(make, render())


class Recipe(SourceOperator):
    """Base of whatever makes a dataset of prompts: one exam or a tree of them. Call it for its streams of rows."""

    @abstractmethod
    def produce(self, task_instances: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Return the prompts of instances that a program brings: task fields without references."""


class DatasetRecipe(Recipe):
    """A complete exam: card or task, template, format, demos and metrics.

    Attributes:
        card: Where the data comes from; without one, ``task`` and data given to ``produce``.
        template: One template, several (one is drawn for each instance), or none for the card's or task's own.
        template_card_index: Which of the card's templates, by position or name.
        metrics, postprocessors: Replace the task's metrics and the template's processors.
        group_by: Fields (or lists of fields) of the task or the metadata to report scores by.
        clusters: Field of the task or the metadata whose values say which instances belong together.
        loader_limit: Most rows that the loader reads of each split.
        max_train_instances, max_validation_instances, max_test_instances: Most instances of a split, after the demo
            pool has been taken out.
        num_demos: Demos in each prompt; a list draws a number for each instance.
        demos_pool_size: Size of the pool that demos are drawn from; -1 takes the whole split, 0 means no pool.
        demos_pool: The pool itself, instead of its size.
        demos_taken_from, demos_removed_from_data: Which split the pool comes from, and whether it leaves it.
        sampler: Who draws; the card's sampler, or random, where none is given.
        augmentor: Changes the inputs before they are put in words.
        request: ``generate`` asks for text, ``choose`` compares the likelihoods of the template's choices.
        max_tokens, stop, temperature: How to generate, where the run says nothing else.
        split: The split that an exam asks about.
    """

    card: TaskCard | None = None
    task: Task | None = None
    template: TemplateChoice | None = None
    system_prompt: SystemPrompt = Field(default_factory=EmptySystemPrompt)
    format: Format | None = None
    serializer: SingleTypeSerializer | list[SingleTypeSerializer] | None = None

    template_card_index: Annotated[int | str | None, NON_POSITIONAL] = None
    metrics: Annotated[list[Any] | None, NON_POSITIONAL] = None
    postprocessors: Annotated[list[Any] | None, NON_POSITIONAL] = None

    group_by: list[str | list[str]] = Field(default_factory=list)
    clusters: Annotated[str | None, NON_POSITIONAL] = None
    loader_limit: int | None = None
    max_train_instances: WholeNumber | None = None
    max_validation_instances: WholeNumber | None = None
    max_test_instances: WholeNumber | None = None
    train_refiner: Any = None
    validation_refiner: Any = None
    test_refiner: Any = None

    demos_pool_size: int | None = None
    demos_pool: SkipValidation[list[Row] | None] = None
    num_demos: int | list[int] | None = 0
    demos_removed_from_data: bool = True
    demos_taken_from: str = "train"
    sampler: Sampler | None = None
    demos_sampling_seed: int | None = None
    skip_demoed_instances: bool = False
    augmentor: Any = None

    request: Annotated[Literal["generate", "choose"], NON_POSITIONAL] = "generate"
    max_tokens: Annotated[int | None, NON_POSITIONAL] = None
    stop: Annotated[list[str] | None, NON_POSITIONAL] = None
    temperature: Annotated[float, NON_POSITIONAL] = 0.0
    split: Annotated[str, NON_POSITIONAL] = "test"

    # -- checks -----------------------------------------------------------------------------------------------

    def verify(self) -> None:
        """Check the parts against each other."""
        super().verify()
        if self.card is None and self.task is None:
            raise ValidationError("a recipe needs a card or a task", hint="card=cards.… or task=tasks.…")
        if self.task is None and self.card is not None:
            self.__dict__["task"] = self.card.task  # programs read it here; it was not given, so it is not written down
        if self.template is not None and self.template_card_index is not None:
            index = self.template_card_index
            raise ValidationError(
                f"Specify either template ({self.template}) or template_card_index ({index}) but not both"
            )
        self.chosen_templates()
        if self.card is None and (self.most_demos or self.demos_pool_size is not None) and not self.demos_pool:
            raise DemosError("demos need a card to come from", hint="give a card, or a demos_pool")
        if self.most_demos:
            self._verify_demos()
        self._verify_limits()

    @property
    def most_demos(self) -> int:
        """The largest number of demos in a prompt."""
        return max(self.num_demos) if isinstance(self.num_demos, list) else self.num_demos or 0

    def _verify_demos(self) -> None:
        if self.sampler is None and self.card is not None and self.card.is_without_sampler:
            raise DemosError(
                "Unexpected None value for card.sampler. To use num_demos > 0, please set a sampler on the TaskCard.",
                path="$.card.sampler",
                why="the card says that nobody draws demos",
                hint="set sampler on the recipe or the card, or leave it out of the card for random demos",
            )
        size = len(self.demos_pool) if self.demos_pool else self.demos_pool_size
        if self.demos_pool and self.demos_pool_size not in (None, len(self.demos_pool)):
            raise DemosError("the demo pool is given itself or by its size, not both", path="$.demos_pool")
        if size is None or (size < 1 and size != ALL):
            raise DemosError(
                "When using demonstrations both num_demos and demos_pool_size should be assigned with positive "
                "integers.",
                path="$.demos_pool_size",
                hint="demos_pool_size=100, or -1 for all",
            )
        if size != ALL and size < self.most_demos + 1:
            raise DemosError(
                f"num_demos (got: {self.most_demos}) should not exceed demos_pool_size - 1 (got: {size}), "
                "(-1: to always allow filtering of a demo identical to the processed instance).",
                path="$.demos_pool_size",
                hint=f"demos_pool_size={self.most_demos + 1} or more",
            )
        if not self.demos_pool and size != ALL and self.loader_limit and size > self.loader_limit:
            raise DemosError(
                f"a pool of {size} cannot come from {self.loader_limit} loaded rows", path="$.loader_limit"
            )

    def _verify_limits(self) -> None:
        for name, limit in self._limits().items():
            if self.loader_limit and limit > self.loader_limit:
                raise ValidationError(
                    f"max_{name}_instances is {limit}, more than the loader_limit of {self.loader_limit}",
                    path=f"$.max_{name}_instances",
                )

    def _limits(self) -> dict[str, int]:
        limits = {
            "train": self.max_train_instances,
            "validation": self.max_validation_instances,
            "test": self.max_test_instances,
        }
        return {name: limit for name, limit in limits.items() if limit is not None}

    @property
    def has_card_templates(self) -> bool:
        """Whether the card brings templates."""
        return self.card is not None and bool(card_templates(self.card))

    @property
    def has_no_templates(self) -> bool:
        """Whether the recipe itself names no template."""
        return self.template is None and self.template_card_index is None

    # -- parts ------------------------------------------------------------------------------------------------

    @property
    def used_task(self) -> Task:
        """The task: the recipe's own, else the card's."""
        given = self.task if "task" in self.model_fields_set else None
        task = given or (self.card.task if self.card is not None else None)
        if task is None:
            raise ValidationError("the card has no task", path="$.card.task")
        return task

    def chosen_templates(self) -> tuple[Template, ...]:
        """Return the templates that prompts are made with.

        Raises:
            ValidationError: There is none, or the card has no template of this index.
        """
        chosen: Any = self.template
        if chosen is None:
            chosen = self._template_of_card()
        if isinstance(chosen, (TemplatesList, list)):
            return tuple(chosen)
        if isinstance(chosen, TemplatesDict):
            return tuple(chosen.values())
        return (chosen,)

    def _template_of_card(self) -> Template:
        templates = card_templates(self.card) if self.card is not None else {}
        index = self.template_card_index
        if index is None:
            default = self.used_task.default_template
            if not templates and default is not None:
                return self.fetched(default)  # type: ignore[return-value]
            index = next(iter(templates), None)
        found = templates.get(index)
        if found is None:
            raise ValidationError(
                "the recipe has no template"
                if index is None
                else f"template {index!r} is not defined in card.templates",
                path="$.template",
                why=f"the card's templates are {', '.join(map(str, templates))}" if templates else "",
                hint=did_you_mean(str(index), map(str, templates)) or "give one: template=templates.…",
            )
        return self.fetched(found)  # type: ignore[return-value]

    def plan(self) -> Plan:
        """Return the parts of this recipe, resolved."""
        card, augmentors = self.card, self._augmentors()
        pool = self.demos_pool or None
        return Plan(
            card=card,
            task=self.used_task,
            templates=tuple(self._with_serializer(_said(template)) for template in self.chosen_templates()),
            format=self.format or default_format(),
            system_prompt=self.system_prompt,
            num_demos=tuple(self.num_demos) if isinstance(self.num_demos, list) else self.num_demos or 0,
            pool_size=len(pool) if pool else self.demos_pool_size or None,  # 0 is not a pool
            pool=pool,
            demos_taken_from=self.demos_taken_from,
            demos_removed_from_data=self.demos_removed_from_data,
            sampler=self._sampler(),
            sampling_seed=self.demos_sampling_seed,
            skip_demoed_instances=self.skip_demoed_instances,
            loader_limit=self.loader_limit,
            limits=self._limits(),
            refiners=self._refiners(),
            augmentors=augmentors,
        )

    def _sampler(self) -> Sampler:
        sampler = self.sampler or (self.card.sampler if self.card is not None else None) or RandomSampler()
        if not isinstance(sampler, Sampler):
            raise ValidationError(f"the card's sampler is a {type(sampler).__name__}", path="$.card.sampler")
        return sampler

    def _refiners(self) -> dict[str, Any]:
        refiners = {"train": self.train_refiner, "validation": self.validation_refiner, "test": self.test_refiner}
        return {name: self.fetched(refiner) for name, refiner in refiners.items() if refiner is not None}

    def _with_serializer(self, template: Template) -> Template:
        if not self.serializer:
            return template
        extra = self.serializer if isinstance(self.serializer, list) else [self.serializer]
        base = template.serializer
        if not isinstance(base, MultiTypeSerializer):
            base = MultiTypeSerializer(serializers=[base])
        twin = template.model_copy()
        twin.serializer = base.preceded_by(extra)
        object.__setattr__(twin, "_artifact_id", template.artifact_id)
        return twin

    def _augmentors(self) -> tuple[Any, ...]:
        given = self.augmentor if isinstance(self.augmentor, list) else [self.augmentor]
        augmentors = [self.fetched(each) for each in given if each is not None]
        augmentors = [each for each in augmentors if each.type_name() != "null_augmentor"]
        inputs = self.used_task.augmentable_inputs
        if augmentors and not inputs:
            raise ValidationError(
                "the task has no augmentable_inputs, so there is nothing to augment", path="$.augmentor"
            )
        for augmentor in augmentors:
            augmentor.set_fields(inputs)  # type: ignore[attr-defined]
        return tuple(augmentors)

    # -- datasets ---------------------------------------------------------------------------------------------

    def compile(self) -> Pipeline:
        """Return the recipe compiled; later changes to its parts do not reach it."""
        return Pipeline(self.plan())

    def row_maker(self) -> RowMaker:
        """Return a function from rendered instances to dataset rows."""
        return RowMaker(metrics=self.metrics, postprocessors=self.postprocessors, group_by=self.group_by)

    def process(self) -> MultiStream:
        """Return the streams of dataset rows."""
        make, pipeline = self.row_maker().make, self.compile()
        passes: dict[str, Callable[[], Iterator[Row]]] = {
            name: partial(_made, make, render) for name, render in pipeline.render_all().items()
        }
        if pipeline.instances.goes_on:
            courses = SplitCourses()
            passes = {name: partial(courses.read, name, made) for name, made in passes.items()}
        return MultiStream({name: GeneratorStream(made) for name, made in passes.items()})

    def produce(self, task_instances: Sequence[Mapping[str, Any]]) -> list[Row]:
        """Return the prompts of instances that a program brings."""
        return list(map(self.row_maker().make, self.compile().produce(task_instances)))

    def reset(self) -> None:
        """Nothing to do: a recipe is compiled anew whenever it is called."""

    def render(self, split: str | None = None) -> Iterator[Rendered]:
        """Yield the instances of a split with their prompts, for tools that look at them."""
        return self.compile().render(split or self.split)


def card_templates(card: TaskCard) -> dict[Any, Any]:
    """Return the templates of a card by position or name; names of templates are not fetched."""
    templates: Any = card.templates
    if templates is None:
        return {}
    if isinstance(templates, str):
        templates = fetch_artifact(templates)
    if isinstance(templates, TemplatesDict):
        return dict(templates.entries())
    if isinstance(templates, dict):
        return dict(templates)
    if isinstance(templates, (TemplatesList, list, tuple)):
        return dict(enumerate(templates))
    return {0: templates}


def _said(template: Template) -> Template:
    """Return a template, and say so where it is ours by a name of Unitxt's."""
    if stands_in(template):
        name = template.artifact_id
        way = f"proctor get unitxt gets Unitxt's; proctor.{name} means ours"
        say_once(f"'{name}' is the built-in one, whose words may not be Unitxt's: {way}")
    return template


def default_format() -> Format:
    """Return the format of recipes that name none."""
    name = settings.default_format
    return fetch_artifact(name) if name else SystemFormat()  # type: ignore[return-value]


class BaseRecipe(DatasetRecipe):
    """An older name of :class:`DatasetRecipe`."""

    _is_now: ClassVar[str] = "DatasetRecipe"


class StandardRecipe(DatasetRecipe):
    """An older name of :class:`DatasetRecipe`."""

    _is_now: ClassVar[str] = "DatasetRecipe"


class StandardRecipeWithIndexes(DatasetRecipe):
    """An older name of :class:`DatasetRecipe`."""

    _is_now: ClassVar[str] = "DatasetRecipe"
