"""From instances with their demos to prompts; a demo is put in words once, not once for each prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.artifacts import to_data
from proctor.demos import DemoPool
from proctor.errors import TemplateError
from proctor.formats import Demo, Format, Parts, SystemPrompt
from proctor.formats.format import LayOut
from proctor.ir import Exchange, Prompt
from proctor.randomness import random_stream
from proctor.recipes.plan import ALL, WHOLE_STREAM, Instance, Plan
from proctor.templates import Template


@dataclass(slots=True)
class PooledDemo:
    """A demo in words; ``memo`` is room for what others derive from it once."""

    instance: Instance
    demo: Demo
    memo: dict[str, Any] = field(default_factory=dict)


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


class Prompts:
    """Templates and format of a recipe, compiled.

    Args:
        plan: The parts of the recipe.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._most_demos = plan.most_demos
        self._draws_templates = len(plan.templates) > 1
        self._lay_out = _compile_layout(plan.format)
        self._system_prompt = _compile_system_prompt(plan.system_prompt)
        self._template_ids: list[Any] = [to_data(template) for template in plan.templates]

    def render(self, instance: Instance, split: str, demos: Sequence[Instance], pool: DemoPool | None) -> Rendered:
        """Return an instance with its prompt.

        Args:
            instance: What is asked about.
            split: The name of its split.
            demos: What it is shown.
            pool: Where demos come from; a demo that is not of the pool is put in words anew each time.
        """
        plan = self._plan
        which = self._template_of(instance) if self._draws_templates else 0
        template = plan.templates[which]
        shown: list[PooledDemo] | None = None
        if self._most_demos:
            shown = [self._verbalise(each, which, template, pool) for each in demos]
        processed = template.process(instance, split)
        processed["__template__"] = self._template_ids[which]
        if "system_prompt" not in processed:
            processed["system_prompt"] = self._system_prompt(processed)
        if shown is None:
            return Rendered(processed, self._lay_out(processed, [], template), template, None, 0, 0)
        prompt = self._lay_out(processed, [each.demo for each in shown], template)
        size = WHOLE_STREAM if plan.pool_size == ALL else plan.pool_size or 0
        return Rendered(processed, prompt, template, shown, len(shown), size)

    def _template_of(self, instance: Instance) -> int:
        """Return the place of the template that an instance is put in words with: its content draws it."""
        content = {**instance["input_fields"], **(instance.get("reference_fields") or {})}
        return int(random_stream(content).choice(range(len(self._plan.templates))))

    @staticmethod
    def _verbalise(instance: Instance, which: int, template: Template, pool: DemoPool | None) -> PooledDemo:
        place = None if pool is None else pool.place_of(instance)
        if pool is None or place is None:
            return _put_in_words(instance, template)
        found = pool.memo.get((place, which))
        if found is None:
            found = pool.memo[place, which] = _put_in_words(instance, template)
        return found


def _put_in_words(instance: Instance, template: Template) -> PooledDemo:
    done = template.process(instance)
    return PooledDemo(done, Demo(done["source"], done["target"], done["target_prefix"], done.get("__turns__")))


def _compile_system_prompt(prompt: SystemPrompt) -> Callable[[Instance], Any]:
    """Return what gives the system prompt of an instance that has none of its own."""
    if type(prompt).process is SystemPrompt.process:
        return prompt.get_system_prompt
    return lambda instance: _checked(prompt, instance, prompt.process(dict(instance)), "system_prompt")


Laid = Callable[[Instance, list[Demo], Template], Prompt]


def _compile_layout(form: Format) -> Laid:
    if type(form).process is Format.process:
        return _from_parts(form.layout())

    def by_instance(instance: Instance, demos: list[Demo], template: Template) -> Prompt:
        del template
        shown = [{"source": each.source, "target": each.target, "target_prefix": each.target_prefix} for each in demos]
        given = {**instance, "demos": shown}
        return Prompt(_checked(form, given, form.process(dict(given)), "source"))

    return by_instance


_TAKEN_OUT = frozenset({"system_prompt", "instruction", "target_prefix", "demos", "media"})
"""Fields that a format may use up; nothing reads them after it."""


def _checked(step: SystemPrompt | Format, before: Instance, after: Instance, made: str) -> Any:
    """Return the field that a program's own ``process`` makes; what else it changes would reach nobody."""
    others = after.keys() - {made, *_TAKEN_OUT}
    if odd := sorted(name for name in others if name not in before or not _is_same(after[name], before[name])):
        raise TemplateError(
            f"process() of {type(step).__name__} changes '{odd[0]}'",
            why=f"a step of its kind makes '{made}', and nothing else of what it returns is used",
            hint="change other fields in a template or in the card's preprocess_steps",
        )
    return after[made]


def _is_same(one: Any, other: Any) -> bool:
    return one is other or bool(one == other)


def _from_parts(lay_out: LayOut) -> Laid:
    def lay(instance: Instance, demos: list[Demo], template: Template) -> Prompt:
        return lay_out(
            Parts(
                instance["source"],
                instance["system_prompt"],
                instance["instruction"],
                instance["target_prefix"],
                demos,
                instance.get("__turns__"),
                instance.get("media") or {},
                lambda: template.source_spans(instance),
            )
        )

    return lay
