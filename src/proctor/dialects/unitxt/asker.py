"""From an instance with its demos to a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from proctor.demos import DemoPool
from proctor.errors import TemplateError
from proctor.ir import Choose, Decoding, Generate, Pair, Request
from proctor.ir.question import Ask, Question
from proctor.randomness import seeded
from proctor.recipes.exam_parts import Context, Demos, Kind
from proctor.recipes.plan import Instance
from proctor.recipes.prompts import Prompts, Rendered
from proctor.recipes.rows import task_data_of
from proctor.recipes.selection import Opened, Row
from proctor.scoring.grading.groups import values_of


@dataclass(frozen=True)
class RecipeAsker:
    """Puts a recipe's instances in words.

    Attributes:
        name: The exam's, for messages.
        prompts: Templates and format, compiled.
        split: The split that is asked about.
        request: Whether the model writes, or choices are compared.
        decoding: How the model writes.
        seed: Seed of what templates draw; ``None`` for ``settings.seed``.
        repeats: How often the same is asked.
        needed: Fields that every instance must have: results are grouped by them.
    """

    name: str
    prompts: Prompts
    split: str
    request: Literal["generate", "choose"] = "generate"
    decoding: Decoding = Decoding()  # noqa: RUF009 - frozen
    seed: int | None = None
    repeats: int = 1
    needed: tuple[str, ...] = ()

    @property
    def kinds(self) -> frozenset[Kind]:
        """The kinds of requests."""
        return frozenset({self.request})

    def compile(self, opened: Opened, context: Context) -> Callable[[Ask, Row, Demos], Question]:
        """Return the function from an instance and its demos to a question."""
        pool = opened.pool if isinstance(opened.pool, DemoPool) else None

        def ask(place: Ask, row: Row, demos: Demos) -> Question:
            shown: Sequence[Instance] = ()
            if demos:
                shown = [pool[each] if pool is not None and isinstance(each, int) else each for each in demos]
            return self._question(place.listed, self._rendered(cast("Instance", row), shown, pool, context))

        if self.seed is None:
            return ask

        def ask_seeded(place: Ask, row: Row, demos: Demos) -> Question:
            with seeded(self.seed):
                return ask(place, row, demos)

        return ask_seeded

    def _rendered(self, instance: Instance, demos: Sequence[Instance], pool: DemoPool | None, who: Context) -> Rendered:
        """Return the prompt, without as many of the first demos as makes it fit."""
        rendered = self.prompts.render(instance, self.split, demos, pool)
        if who.fits is None or who.fits(rendered.prompt) or not demos:
            return rendered
        return self._rendered(instance, demos[1:], pool, who)

    def _question(self, number: int, rendered: Rendered) -> Question:
        data, exchange = task_data_of(rendered), rendered.exchange()
        if self.needed:
            values_of(data, self.needed)
        request: Request
        if self.request == "choose":
            if not exchange.choices:
                raise TemplateError(
                    f"the exam '{self.name}' compares choices, but its template {rendered.template} has none",
                    hint="use a template with choices, or request=generate",
                )
            before = gap_before_choices(rendered)
            request = Choose(tuple(Pair(rendered.prompt, before + choice) for choice in exchange.choices))
        else:
            request = Generate(rendered.prompt, self.decoding)
        return Question(number, data, exchange, (request,) * self.repeats, rendered.instance["postprocessors"])


def gap_before_choices(rendered: Rendered) -> str:
    """Return the space that separates a choice from the prompt, where the prompt ends in a word."""
    text = rendered.prompt.text
    return "" if rendered.prompt.is_chat or not text or text[-1].isspace() else " "
