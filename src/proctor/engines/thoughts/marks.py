"""With which marks models begin and end their thoughts: a table by family (``families.json``), and what users say.

The table holds the marks of the models' own chat templates and of the reasoning parsers of vLLM (``vllm/reasoning``),
read in November 2026. Families that are common mean the same wherever they stand at the beginning of a text; the others
are asked about models of their own only, by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

import msgspec
from msgspec import Struct

OWN = "own"
"""The name of the family that the user describes with ``think_start`` and ``think_end``."""


class Family(Struct, frozen=True, forbid_unknown_fields=True):
    """The marks of thoughts of a family of models.

    Attributes:
        name: What it is called here.
        start: What begins thoughts; longer ones stand first.
        end: What ends them, likewise.
        tail: What may stand behind the answer, and is none of it.
        models: Which models have these marks, as a regular expression over their names in small letters.
        is_common: Whether any model may have them.
        opens: Whether the prompt begins the thoughts of these models, so that only their end is written.
        ends_at_last: Whether the last end counts rather than the first, as lm-eval does with ``think_end_token``.
    """

    name: str
    start: tuple[str, ...]
    end: tuple[str, ...]
    tail: tuple[str, ...] = ()
    models: str = ""
    is_common: bool = True
    opens: bool = False
    ends_at_last: bool = False


@dataclass(frozen=True)
class Marks:
    """The marks to look for in what one model writes.

    Attributes:
        families: Best first.
    """

    families: tuple[Family, ...]

    @cached_property
    def own(self) -> Family | None:
        """The family that the user described, where he described one."""
        return next((family for family in self.families if family.name == OWN), None)

    @cached_property
    def always(self) -> Family | None:
        """The family in whose thoughts every text begins: the user named their end, and no beginning."""
        return self.own if self.own is not None and self.own.opens else None

    @cached_property
    def of_the_table(self) -> Marks:
        """These marks without those that the user described."""
        return Marks(tuple(family for family in self.families if family.name != OWN))

    @cached_property
    def template_opens(self) -> Family | None:
        """The family whose thoughts the model's chat template begins, as its name tells."""
        return next((family for family in self.families if family.opens and family.name != OWN), None)

    @cached_property
    def any_mark(self) -> re.Pattern[str]:
        """A pattern that finds the first mark of any family."""
        return either(self.all_marks)

    @cached_property
    def any_start(self) -> re.Pattern[str]:
        """A pattern that finds the first beginning of any family."""
        return either(tuple(self.family_of_start))

    @cached_property
    def family_of_start(self) -> dict[str, Family]:
        """Whose thoughts a mark begins; of families that share it, the best."""
        return {mark: family for family in reversed(self.families) for mark in family.start}

    @cached_property
    def all_marks(self) -> tuple[str, ...]:
        """Every mark that begins or ends thoughts."""
        return tuple(dict.fromkeys(mark for each in self.families for mark in (*each.start, *each.end)))


@cache
def either(marks: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that finds the first of several marks; of two at one place, the longer one."""
    return re.compile("|".join(re.escape(mark) for mark in sorted(set(marks), key=lambda mark: (-len(mark), mark))))


@cache
def families() -> tuple[Family, ...]:
    """Return the table."""
    text = files("proctor.engines.thoughts").joinpath("families.json").read_bytes()
    return msgspec.json.decode(text, type=tuple[Family, ...])


@cache
def marks_of(model: str = "", start: str | None = None, end: str | None = None) -> Marks:
    """Return the marks of a model.

    Args:
        model: Its name, from which its family is known.
        start: What begins its thoughts, where the user says so. Only an end means that every text begins with thoughts.
        end: What ends them; by default what belongs to ``start``.
    """
    name = model.lower()
    named = [each for each in families() if each.models and re.search(each.models, name)]
    common = [each for each in families() if each.is_common]
    if start is None and end is None:
        return Marks((*named, *common))
    if end is None:
        end = next((each.end[0] for each in (*named, *common) if start in each.start), None)
        end = end or f"</{(start or '').strip('<>')}>"
    begins = (start,) if start else tuple(mark for each in common if end in each.end for mark in each.start)
    own = Family(OWN, begins, (end,), opens=start is None, ends_at_last=start is None)
    return Marks((own, *named, *common))


def special_marks(tokenizer: object, marks: Marks) -> re.Pattern[str] | None:
    """Return a pattern for those marks of thoughts that are special tokens, which no text shows by itself."""
    special = set(getattr(tokenizer, "all_special_tokens", ()))
    found = tuple(sorted(mark for mark in marks.all_marks if any(token and token in mark for token in special)))
    return either(found) if found else None
