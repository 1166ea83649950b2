"""``lm_eval.api.filter`` and ``lm_eval.filters``: filters as classes, for code of tasks that derives its own.

Each does what the text function of its name does here (:mod:`proctor.scoring.text.text_functions`); a class adds
nothing but lm-eval's way to be made and called.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from proctor.guests.lm_eval.instance import Instance
from proctor.guests.lm_eval.registry import filter_registry, get_filter, register_filter
from proctor.guests.overrides import Obeyed
from proctor.scoring.named_table import LM_EVAL
from proctor.scoring.text.processors import find_text_function

__all__ = [
    "CustomFilter", "DecontaminationFilter", "Filter", "FilterEnsemble", "LowercaseFilter", "MajorityVoteFilter",
    "MapFilter", "MultiChoiceRegexFilter", "POSFilter", "RegexFilter", "SPANFilter", "TakeFirstFilter", "TakeKFilter",
    "UppercaseFilter", "WhitespaceFilter", "build_filter_ensemble", "filter_registry", "get_filter", "register_filter",
]  # fmt: skip


class Filter(Obeyed, ABC):
    """Makes of all answers of a task what is scored."""

    def __init__(self, **kwargs: Any) -> None:
        del kwargs  # lm-eval's base class takes what it is given; what a filter reads is its own parameters

    @abstractmethod
    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Any]) -> Iterable[Any]:
        """Return an entry for each request, in order; each request has a list of answers."""


class _Known(Filter):
    """A filter that has a text function here."""

    function: ClassVar[str]

    def __init__(self, **arguments: Any) -> None:
        self.arguments = arguments
        self._text_function = find_text_function(self.function, LM_EVAL, arguments)

    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Any]) -> list[Any]:
        """Return what the text function makes of the answers."""
        return list(self._text_function.filtered([list(each) for each in resps], docs))


class RegexFilter(_Known):
    """Takes what a pattern finds.

    Args:
        regex_pattern: The pattern.
        group_select: Which of the matches.
        fallback: What is scored where nothing matches.
        more: Parameters of filters that derive from this one.
    """

    function = "regex"

    def __init__(
        self,
        regex_pattern: str = r"#### (\-?[0-9\.\,]+)",
        group_select: int = 0,
        fallback: Any = "[invalid]",
        **more: Any,
    ) -> None:
        super().__init__(regex_pattern=regex_pattern, group_select=group_select, fallback=fallback, **more)
        self.regex_pattern, self.group_select, self.fallback = regex_pattern, group_select, fallback
        self.regex = re.compile(regex_pattern)


class MultiChoiceRegexFilter(RegexFilter):
    """Takes the letter of an answer, or that of the choice that is written out."""

    function = "multi_choice_regex"

    def __init__(self, *given: Any, **more: Any) -> None:
        super().__init__(*given, **more)
        self.ignore_case = bool(more.get("ignore_case", False))
        self.ignore_punctuation = bool(more.get("ignore_punctuation", False))
        self.regexes_to_ignore = more.get("regexes_to_ignore")


class POSFilter(_Known):
    """Takes the tags of parts of speech."""

    function = "regex_pos"


class WhitespaceFilter(_Known):
    """Takes white space away at both ends."""

    function = "remove_whitespace"


class TakeFirstFilter(_Known):
    """Takes the first answer of each request."""

    function = "take_first"


class TakeKFilter(_Known):
    """Takes the first k answers of each request."""

    function = "take_first_k"


class MajorityVoteFilter(_Known):
    """Takes the most frequent answer of each request."""

    function = "majority_vote"


class LowercaseFilter(_Known):
    """Makes answers lower case."""

    function = "lowercase"


class UppercaseFilter(_Known):
    """Makes answers upper case."""

    function = "uppercase"


class MapFilter(_Known):
    """Replaces answers by what a mapping has for them."""

    function = "map"

    def __init__(self, mapping_dict: Mapping[Any, Any] | None = None, default_value: Any = None) -> None:
        super().__init__(mapping_dict=dict(mapping_dict or {}), default_value=default_value)
        self.mapping_dict, self.default_value = dict(mapping_dict or {}), default_value


class SPANFilter(_Known):
    """Takes named entities as spans."""

    function = "format_span"


class CustomFilter(Filter):
    """Calls a function of all answers.

    Args:
        filter_fn: The function; without one, answers stay as they are.
    """

    def __init__(self, **kwargs: Any) -> None:
        self.filter_fn: Callable[..., Any] = kwargs.pop("filter_fn", lambda resps, docs: resps)

    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Any]) -> Any:
        """Return what the function returns."""
        return self.filter_fn(resps, docs)


class DecontaminationFilter(Filter):
    """Leaves answers as they are: lm-eval's own does nothing yet."""

    def apply(self, resps: Iterable[Sequence[Any]], docs: Sequence[Any]) -> Any:
        """Return the answers."""
        del docs
        return resps


FILTERS: Mapping[str, type[Filter]] = {
    **{each.function: each for each in (RegexFilter, MultiChoiceRegexFilter, POSFilter, WhitespaceFilter)},
    **{each.function: each for each in (TakeFirstFilter, TakeKFilter, MajorityVoteFilter, LowercaseFilter)},
    **{each.function: each for each in (UppercaseFilter, MapFilter, SPANFilter)},
    "custom": CustomFilter,
    "decontaminate": DecontaminationFilter,
}
"""The filters by the names that task files have for them."""


@dataclass
class FilterEnsemble:
    """Filters that are applied one after the other.

    Attributes:
        name: Under which results are filed.
        filters: What makes each of them.
    """

    name: str
    filters: list[Callable[[], Filter]]

    def apply(self, instances: Sequence[Instance]) -> None:
        """File at each request what the filters make of its answers."""
        found: Any = [each.resps for each in instances]
        docs = [each.doc for each in instances]
        for make in self.filters:
            found = make().apply(found, docs)
        for instance, answer in zip(instances, found, strict=False):
            instance.filtered_resps[self.name] = answer


def build_filter_ensemble(filter_name: str, components: Sequence[Sequence[Any]]) -> FilterEnsemble:
    """Return filters as one; each component is a name (or a class) with its arguments or ``None``."""
    return FilterEnsemble(
        filter_name, [partial(get_filter(name), **(arguments or {})) for name, arguments in components]
    )
