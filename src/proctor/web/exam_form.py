"""The explorer's form as an exam that can be resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from proctor.artifacts.query import is_assignments
from proctor.dialects.resolve import resolve_tasks
from proctor.errors import UsageError
from proctor.recipes.exam import Exam
from proctor.recipes.options import ExamOptions
from proctor.web.asked import is_known

CHAT = frozenset({"chat", "formats.chat_api"})
"""What to choose as the format of an exam of another dialect, to have it asked in chat messages."""
_POOL = 100  # rows that demos are drawn from: Unitxt's usual size


@dataclass(frozen=True, slots=True)
class Setting:
    """A choice on the page; empty means what the exam says.

    Attributes:
        exam: A name, a card, or a recipe.
        template, format, sampler: Names of artifacts; for a task of lm-eval, of its templates and samplers.
        system_prompt: The name of one, or its text.
        num_demos: A whole number.
        split: The split to ask about.
        include_paths: More folders with exams.
        member: Which exam to look at, where several are meant; the first by default.
    """

    exam: str
    template: str = ""
    format: str = ""
    system_prompt: str = ""
    num_demos: str = ""
    sampler: str = ""
    split: str = ""
    include_paths: tuple[str, ...] = ()
    member: str = ""

    @property
    def is_recipe(self) -> bool:
        """Whether the exam is a recipe, or an artifact of a catalog, so that every choice is a field of it."""
        name = self.exam.partition("[")[0]
        if is_assignments(self.exam) or self.is_card or name.endswith(".json"):
            return True
        return any(is_known(each) for each in (name, f"recipes.{name}", f"benchmarks.{name}"))

    @property
    def is_card(self) -> bool:
        """Whether the exam is a card, of which a recipe is made."""
        return "cards" in self.exam.partition("[")[0].split(".")[:-1] and not is_assignments(self.exam)

    @property
    def task(self) -> str:
        """The name, query or recipe to type for this setting."""
        if not self.is_recipe:
            return self.exam
        chosen = {name: getattr(self, name) for name in ("template", "format", "sampler", "split")}
        if self.system_prompt and not self.has_own_words:
            chosen["system_prompt"] = self.system_prompt
        if self.num_demos:
            chosen["num_demos"] = self.num_demos
            if self.is_card and int(self.num_demos):
                chosen["demos_pool_size"] = str(_POOL)
        given = ",".join(f"{name}={value}" for name, value in chosen.items() if value)
        if self.is_card:
            return f"card={self.exam}" + (f",{given}" if given else "")
        if not given or self.exam.endswith("]"):
            return f"{self.exam[:-1]},{given}]" if given else self.exam
        return f"{self.exam},{given}" if "=" in self.exam else f"{self.exam}[{given}]"

    @property
    def has_own_words(self) -> bool:
        """Whether the system prompt is a text, rather than the name of one."""
        return bool(self.system_prompt) and not is_known(self.system_prompt.partition("[")[0])

    def options(self) -> ExamOptions:
        """Return the part of the setting that :attr:`task` does not say.

        Raises:
            UsageError: An exam of another dialect cannot be changed so.
        """
        text = self.system_prompt if self.has_own_words or (self.system_prompt and not self.is_recipe) else None
        if self.is_recipe:
            return ExamOptions(system_prompt=text, include_paths=self.include_paths)
        if self.format and self.format not in CHAT:
            raise UsageError(f"'{self.exam}' takes no format but 'chat'", why="its prompts are laid out by its dialect")
        keys = self.task_keys()
        return ExamOptions(
            num_demos=int(self.num_demos) if self.num_demos else None,
            system_prompt=text,
            template=self.template or None,
            apply_chat_template=bool(self.format) or None,
            include_paths=self.include_paths,
            keys=keys,
        )

    def task_keys(self) -> dict[str, Any]:
        """Return the sampler and the split as keys of an lm-eval task."""
        keys: dict[str, Any] = {"test_split": self.split} if self.split else {}
        return keys | ({"fewshot_config": {"sampler": self.sampler}} if self.sampler else {})

    def resolve_all(self) -> list[Exam]:
        """Return the exams that are meant.

        Raises:
            ProctorError: There is none, or one cannot be built.
        """
        return resolve_tasks([self.task], self.options())

    def pick(self, exams: Sequence[Exam]) -> Exam:
        """Return the exam to look at.

        Raises:
            UsageError: None has the name of the member.
        """
        if not self.member:
            return exams[0]
        found = next((each for each in exams if each.name == self.member), None)
        if found is None:
            raise UsageError(f"'{self.exam}' has no exam '{self.member}'", hint=f"the first is '{exams[0].name}'")
        return found


_LONGEST_NUMBER = 6  # digits: more demos than that nobody means, and fewer than Python refuses to read

FIELDS = tuple(each.name for each in fields(Setting) if each.name not in {"exam", "include_paths", "member"})


def setting_of(given: Mapping[str, str], exam: str, prefix: str = "", include_paths: tuple[str, ...] = ()) -> Setting:
    """Return the setting that the fields of a form say.

    Raises:
        UsageError: The number of demos is not a number.
    """
    chosen = {field: given.get(prefix + field, "").strip() for field in FIELDS}
    if chosen["num_demos"] and not is_count(chosen["num_demos"]):
        raise UsageError(f"'{chosen['num_demos'][:20]}' is not a number of demos")
    return Setting(exam, **chosen, include_paths=include_paths)


def is_count(text: str) -> bool:
    """Whether a text is a whole number that pages read: digits, and few of them."""
    return text.isascii() and text.isdecimal() and len(text) <= _LONGEST_NUMBER
