"""AISBench's prompt templates (``ais_bench.benchmark.openicl.icl_prompt_template``), as programs make and derive them.

What they make of a row is the core's; errors are AISBench's, and so are the steps that programs call.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NoReturn

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.prompt_lists import PromptList
from proctor.compat.aisbench_names.type_checks import check_type_list
from proctor.templates import MMPromptTemplate as CoreMMPromptTemplate
from proctor.templates.prompt_list import fill
from proctor.templates.prompt_template import BasePromptTemplate as CoreTemplate
from proctor.templates.prompt_template import masked

_SECTIONS = ("begin", "round", "end")
_MEDIA = ("text", "image_url", "video_url", "audio_url")
Prompt = str | PromptList


class BasePromptTemplate:
    """What templates share.

    Args:
        template: A text, a dialogue (``begin``, ``round``, ``end``), or a map from labels to either.
        ice_token: What in-context examples replace.
        sep_token: Separates context and answer; taken out of prompts.

    Raises:
        AISBenchValueError: The template is none of these, or lacks the token.
        AISBenchInvalidTypeException: A token is no text.
    """

    def __init__(self, template: Any, ice_token: str | None = None, sep_token: str | None = None) -> None:
        self.logger = AISLogger()
        self.template = template
        if not isinstance(template, (str, dict)):
            what = f"a template is a text or a dictionary, not a {type(template).__name__}"
            raise failure("AISBenchValueError", "ICLR_CODES", "TEMPLATE_TYPE_ERROR", what)
        self.ice_token = check_type_list(ice_token, [None, str])
        self.sep_token = check_type_list(sep_token, [None, str])
        self.prompt_type = "origin"
        self._check_template_legacy()

    def _check_template_legacy(self) -> None:
        """Find out which kind of template it is, and whether examples have a place in each part."""
        parts = [self.template] if isinstance(self.template, str) else list(self.template.values())
        if isinstance(self.template, dict):
            self.prompt_type = "meta" if set(self.template) <= set(_SECTIONS) else "origin"
        for part in parts:
            if not isinstance(part, (str, list, dict)):
                what = f"a part of a template is a text, a list or a dictionary, not {part!r}"
                raise failure("AISBenchValueError", "ICLR_CODES", "TEMPLATE_VALUE_TYPE_ERROR", what)
            if isinstance(part, str) and self.ice_token and self.ice_token not in part:
                what = f"examples have no place: '{self.ice_token}' is not in {part!r}"
                raise failure("AISBenchValueError", "ICLR_CODES", "TEMPLATE_ICE_TOKEN_NOT_IN_VALUE", what)

    def _check_prompt_template(self: Any) -> BasePromptTemplate:
        """Return a template; upstream calls this with whatever is to be one."""
        if isinstance(self, BasePromptTemplate):
            return self
        what = f"a template is wanted, not a {type(self).__name__}"
        raise failure("AISBenchValueError", "ICLR_CODES", "TEMPLATE_TYPE_ERROR", what)

    def _encode_template(self, prompt_template: Any, ice: bool) -> Prompt:
        """Return a part as a text, or as items between section markers."""
        if not isinstance(prompt_template, str) and "round" not in prompt_template:
            raise KeyError("round")
        made = CoreTemplate.encode(prompt_template, ice=ice)
        return made if isinstance(made, str) else PromptList(made)

    def _not_here(self, name: str) -> NoReturn:
        what = f"{type(self).__name__} has no '{name}': a template that is derived from the base makes prompts"
        raise failure("AISBenchImplementationError", "ICLR_CODES", "UNKNOWN_ERROR", what)

    def generate_ice_item(self, entry: Mapping[str, Any], label: Hashable) -> Prompt:
        """Return a row as an in-context example; a base makes none."""
        del entry, label
        self._not_here("generate_ice_item")

    def generate_label_prompt_item(
        self, entry: Mapping[str, Any], ice: Any, label: Hashable, remain_sep: bool | None = False
    ) -> Prompt:
        """Return the prompt whose likelihood stands for a label; a base makes none."""
        del entry, ice, label, remain_sep
        self._not_here("generate_label_prompt_item")

    def generate_item(
        self,
        entry: Mapping[str, Any],
        output_field: Any = None,
        output_field_replace_token: str | None = "",
        ice_field_replace_token: Any = "",
    ) -> Prompt:
        """Return the prompt that asks about a row; a base makes none."""
        del entry, output_field, output_field_replace_token, ice_field_replace_token
        self._not_here("generate_item")

    def __repr__(self) -> str:
        """Return the template and its token, as logs show them."""
        return f"{type(self).__name__}({{\n\ttemplate: {self.template},\n\tice_token: {self.ice_token}\n}})"


class PromptTemplate(BasePromptTemplate):
    """A template of questions and examples."""

    def _part(self, label: Hashable) -> Any:
        is_whole = isinstance(self.template, str) or self.prompt_type == "meta"
        return self.template if is_whole else self.template[label]

    def _laid_out(self, part: Any, entry: Mapping[str, Any], examples: Any, *, ice: bool, sep: bool = True) -> Prompt:
        prompt = self._encode_template(part, ice)
        if self.ice_token is not None:
            prompt = prompt.replace(self.ice_token, examples)
        if self.sep_token is not None and not sep:
            prompt = prompt.replace(self.sep_token, "")
        return fill(prompt, dict(entry)) if isinstance(prompt, str) else prompt.format(**entry)

    def generate_ice_item(self, entry: Mapping[str, Any], label: Hashable) -> Prompt:
        """Return a row as an in-context example, with its answer."""
        return self._laid_out(self._part(label), entry, "", ice=True)

    def generate_label_prompt_item(
        self, entry: Mapping[str, Any], ice: Any, label: Hashable, remain_sep: bool | None = False
    ) -> Prompt:
        """Return the prompt whose likelihood stands for a label; the answer is not masked."""
        return self._laid_out(self._part(label), entry, ice, ice=False, sep=bool(remain_sep))

    def generate_item(
        self,
        entry: Mapping[str, Any],
        output_field: Any = None,
        output_field_replace_token: str | None = "",
        ice_field_replace_token: Any = "",
    ) -> Prompt:
        """Return the prompt that asks about a row, its answer masked; of a map from labels, the first part."""
        part = self._part(next(iter(self.template), None) if isinstance(self.template, dict) else None)
        row = masked(entry, output_field, output_field_replace_token or "")
        return self._laid_out(part, row, ice_field_replace_token, ice=False, sep=False)


class MultiTurnPromptTemplate(BasePromptTemplate):
    """A template of conversations: rows have lists of questions and answers."""

    def generate_item(
        self,
        entry: Mapping[str, Any],
        output_field: Any = None,
        output_field_replace_token: str | None = "",
        ice_field_replace_token: Any = "",
    ) -> Prompt:
        """Return the conversation, a round for each question."""
        del output_field, output_field_replace_token, ice_field_replace_token
        items = self._encode_template(self.template, ice=False)
        names = [item.get("section") == "round" for item in items if isinstance(item, Mapping)]
        first, last = names.index(True), len(names) - 1 - names[::-1].index(True)
        turns = PromptList(items[first + 1 : last])
        made = PromptList(items[: first + 1])
        for question, answer in zip(entry["question"], entry["answer"], strict=False):
            made.extend(turns.format(question=question, answer=answer))
        return made + PromptList(items[last:])


class MMPromptTemplate(BasePromptTemplate):
    """A template of questions with pictures, films and sounds; what it makes is the core's."""

    def check_mm_template(self) -> bool:
        """Whether every message of the rounds has ``prompt_mm``."""
        rounds = self.template.get("round") if isinstance(self.template, dict) else None
        return rounds is not None and all("prompt_mm" in each for each in rounds)

    def format_mm_url(self, template: Mapping[str, Any], entry: Mapping[str, Any]) -> Any:
        """Return a copy of a template, its ``mm_url`` called as the row's kind of medium wants it."""
        made = copy.deepcopy(template)
        for each in made["round"]:
            parts = each.get("prompt_mm")
            if isinstance(parts, dict) and "mm_url" in parts:
                parts[f"{entry['type']}_url"] = parts.pop("mm_url")
        return made

    def get_mm_template(self, item: Mapping[str, Any]) -> list[Any]:
        """Return the parts of a message as a list, each with its ``type``.

        Raises:
            AISBenchValueError: One of them is no kind of part.
        """
        parts = item["prompt_mm"]
        if isinstance(parts, list):
            return parts
        found: list[Any] = []
        for key, value in parts.items():
            if key not in _MEDIA:
                what = f"'{key}' is no kind of part: choose one of {', '.join(_MEDIA)}"
                raise failure("AISBenchValueError", "ICLR_CODES", "MULTIMODAL_TEMPLATE_TYPE_ERROR", what)
            found += [{"type": key, key: each} for each in _listed(value)]
        return found

    def generate_item(
        self,
        entry: Mapping[str, Any],
        output_field: Any = None,
        output_field_replace_token: str | None = "",
        ice_field_replace_token: Any = "",
    ) -> Prompt:
        """Return the dialogue with typed parts under ``prompt``."""
        core = CoreMMPromptTemplate(template=self.template, ice_token=self.ice_token, sep_token=self.sep_token)
        return PromptList(
            core.generate_item(entry, output_field, output_field_replace_token or "", ice_field_replace_token)
        )


def _listed(value: str) -> Sequence[Any]:
    """Return several addresses that stand in one text as a list; any other text as the only one."""
    if value.startswith("[") and value.endswith("]"):
        return list(ast.literal_eval(value))
    return [value]
