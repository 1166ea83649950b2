"""What Python programs written for AISBench and OpenCompass call, under the names and signatures that they know.

Retrievers here hold a dataset and make prompts, as theirs do; the choosing is done by the artifacts of
:mod:`proctor.demos`, the laying out by :mod:`proctor.formats`. OpenCompass's retrievers are given templates with every
call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from proctor import demos
from proctor.demos.retrievers import Corpus, LabelPrompts, field_text
from proctor.dialects.aisbench.components import AnyTemplate, build_template
from proctor.errors import TemplateError
from proctor.formats.dialogue_layout import Mode
from proctor.formats.meta_template import MetaTemplate, without_meta_template
from proctor.templates import PromptList, RawPromptTemplate
from proctor.templates.prompt_list import marker
from proctor.templates.prompt_template import BasePromptTemplate

Prompt = str | PromptList | list[dict[str, Any]]


MODES: Mapping[str, Mode] = {"gen": "gen", "ppl": "ppl"}


class BaseRetriever:
    """A dataset, and what chooses its examples.

    Attributes:
        index_ds, test_ds: The rows that examples are taken from, and those that are asked about.
    """

    artifact: ClassVar[type[demos.Retriever]] = demos.ZeroRetriever

    def __init__(self, dataset: Any, **settings: Any) -> None:
        self.dataset = dataset
        self.dataset_reader = dataset.reader
        self.index_ds, self.test_ds = dataset.train, dataset.test
        self.retriever = self.artifact(**settings)
        self.is_main_process = True

    @property
    def ice_separator(self) -> str:
        """Between examples that are texts."""
        return self.retriever.ice_separator

    @property
    def ice_eos_token(self) -> str:
        """After the last example."""
        return self.retriever.ice_eos_token

    @property
    def ice_num(self) -> int:
        """How many examples everybody is shown."""
        return self.retriever.ice_num

    def retrieve(self) -> list[list[int]]:
        """Return the positions of the examples of every test row."""

        def text(row: Any) -> str:  # only retrievers that compare rows read them
            return field_text(self.dataset_reader.input_columns)(row)

        index, test = Corpus(self.index_ds, text), Corpus(self.test_ds, text)
        return [list(each) for each in self.retriever.retrieve(index, test, self._label_prompts())]

    def _label_prompts(self) -> LabelPrompts | None:
        retriever = self.retriever
        if not isinstance(retriever, demos.MDLRetriever):
            return None
        ice = build_template(retriever.ice_template, "$.ice_template")
        prompt = build_template(retriever.prompt_template, "$.prompt_template")
        labels = retriever.labels or self._labels(ice, prompt)
        template = self._asking(ice, prompt)

        def prompts(row: Any, examples: str) -> list[str]:
            return [str(template.generate_label_prompt_item(row, examples, label)) for label in labels]

        return LabelPrompts(labels, lambda chosen: str(self._examples(chosen, ice)), prompts)

    def get_gold_ans(self) -> Any:
        """Return the right answers of the test rows; ``None`` where the dataset has no output column."""
        column = self.dataset_reader.output_column
        return [row[column] for row in self.test_ds] if column else None

    # -- shared by both ways of passing templates -------------------------------------------------------------

    def _labels(self, ice: AnyTemplate | None, prompt: AnyTemplate | None) -> list[Any]:
        for template in (prompt, ice if ice is not None and ice.ice_token is not None else None):
            if isinstance(template, BasePromptTemplate) and template.labels:
                return template.labels
        column = self.dataset_reader.output_column
        return list(dict.fromkeys(row[column] for row in self.test_ds))

    def _examples(self, positions: Sequence[int], ice: AnyTemplate | None) -> Any:
        if ice is None and positions:
            raise TemplateError("there is no ice_template for the examples", hint="give one, or use ZeroRetriever")
        column = self.dataset_reader.output_column
        rows = [self.index_ds[position] for position in positions]
        items: list[Any] = [] if ice is None else [ice.generate_ice_item(row, row.get(column)) for row in rows]
        if isinstance(ice, RawPromptTemplate):
            return [message for item in items for message in item]
        is_dialogue = ice is not None and ice.prompt_type == "meta"
        separator, end = ("", "") if is_dialogue else (self.ice_separator, self.ice_eos_token)
        if not items or isinstance(items[0], str):
            return separator.join(items) + end
        made = PromptList()
        for item in items:
            made += item
            made += separator
        made.append(end)
        return made

    def _asking(self, ice: AnyTemplate | None, prompt: AnyTemplate | None) -> AnyTemplate:
        """Return the template that asks.

        Raises:
            TemplateError: There is none, or it has no place for examples.
        """
        template = prompt if prompt is not None else ice
        if template is None:
            raise TemplateError("there is neither a prompt_template nor an ice_template")
        zero_shot = isinstance(self.retriever, demos.ZeroRetriever)
        if ice is not None and template.ice_token is None and not zero_shot:
            name = "prompt_template" if prompt is not None else "ice_template"
            raise TemplateError(
                f"the {name} has no ice_token, so the examples have no place",
                hint="set ice_token, or use ZeroRetriever",
            )
        return template

    def _question(self, place: int, ice: Any, token: str, asking: AnyTemplate) -> Prompt:
        return asking.generate_item(self.test_ds[place], self.dataset_reader.output_column, token, ice)


class OpenCompassRetriever(BaseRetriever):
    """A retriever that is given templates with every call."""

    def get_labels(
        self, ice_template: AnyTemplate | None = None, prompt_template: AnyTemplate | None = None
    ) -> list[Any]:
        """Return the labels: those of a map from labels, else the different answers in their order."""
        return self._labels(ice_template, prompt_template)

    def generate_ice(self, idx_list: Sequence[int], ice_template: AnyTemplate | None = None) -> Any:
        """Return examples, by their positions, put together."""
        return self._examples(idx_list, ice_template)

    def generate_label_prompt(
        self,
        idx: int,
        ice: Any,
        label: Any,
        ice_template: AnyTemplate | None = None,
        prompt_template: AnyTemplate | None = None,
        remain_sep: bool | None = False,
    ) -> Prompt:
        """Return the prompt whose likelihood stands for a label."""
        template = self._asking(ice_template, prompt_template)
        return template.generate_label_prompt_item(self.test_ds[idx], ice, label, remain_sep)

    def generate_prompt_for_generate_task(
        self,
        idx: int,
        ice: Any,
        gen_field_replace_token: str = "",
        ice_template: AnyTemplate | None = None,
        prompt_template: AnyTemplate | None = None,
    ) -> Prompt:
        """Return the prompt that asks about a test row, its answer masked."""
        return self._question(idx, ice, gen_field_replace_token, self._asking(ice_template, prompt_template))


# -- meta templates ----------------------------------------------------------------------------------------------


class _TemplateParser:
    """A meta template, or none."""

    def __init__(self, meta_template: Any = None) -> None:
        self.meta_template = meta_template
        is_dialogue = isinstance(meta_template, Mapping) and meta_template
        self._layout = MetaTemplate.from_config(meta_template) if is_dialogue else None

    @property
    def roles(self) -> dict[str, dict[str, Any]]:
        """The roles of the meta template by name."""
        if self._layout is None:
            return {}
        items = [*self._layout.round, *self._layout.reserved_roles]
        return {item["role"]: dict(item) for item in items if isinstance(item, dict)}

    @staticmethod
    def _checked(mode: str) -> Mode:
        if mode in MODES:
            return MODES[mode]
        raise TemplateError(f"there is no mode '{mode}'", hint="choose gen or ppl")


class LMTemplateParser(_TemplateParser):
    """Makes texts of dialogues."""

    def parse_template(self, prompt_template: Any, mode: str) -> Any:
        """Return a dialogue as one text; a list or tuple of prompts one by one."""
        if isinstance(prompt_template, (list, tuple)) and not isinstance(prompt_template, PromptList):
            return [self.parse_template(each, mode) for each in prompt_template]
        checked = self._checked(mode)
        if self._layout is None:
            return without_meta_template(_with_media(prompt_template))
        return self._layout.to_text(_with_media(prompt_template), checked)


class APITemplateParser(_TemplateParser):
    """Makes messages of dialogues: dicts with ``role`` and ``prompt``."""

    def parse_template(self, prompt_template: Any, mode: str) -> Any:
        """Return a dialogue as messages; chat messages as they are; a list or tuple of prompts one by one."""
        if isinstance(prompt_template, list) and prompt_template and all(map(_is_chat_message, prompt_template)):
            lead = self.meta_template if isinstance(self.meta_template, list) else []
            return led_by(lead, [dict(each) for each in prompt_template])
        if isinstance(prompt_template, (list, tuple)) and not isinstance(prompt_template, PromptList):
            return [self.parse_template(each, mode) for each in prompt_template]
        checked = self._checked(mode)
        if isinstance(prompt_template, str):
            return prompt_template
        dialogue = _with_media(prompt_template)
        if self._layout is None:
            return without_meta_template(dialogue)
        messages = self._layout.to_messages(dialogue, checked)
        return PromptList({"role": each["role"], "prompt": each["content"]} for each in messages)


def _is_chat_message(item: Any) -> bool:
    return isinstance(item, Mapping) and "role" in item and "content" in item


def _with_media(dialogue: Any) -> Any:
    """Return a dialogue whose media stand under ``prompt``, where we have them."""
    if isinstance(dialogue, str):
        return dialogue
    return PromptList(
        {**{key: value for key, value in item.items() if key != "prompt_mm"}, "prompt": item["prompt_mm"]}
        if isinstance(item, Mapping) and "prompt_mm" in item
        else item
        for item in dialogue
    )


def led_by(lead: Sequence[Mapping[str, Any]], messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages with others put before those of their role, or, where there are none, in between."""
    made: list[dict[str, Any]] = []
    rest = list(messages)
    for each in lead:
        while rest and rest[0]["role"] != each["role"] and any(later["role"] == each["role"] for later in rest):
            made.append(rest.pop(0))
        if rest and rest[0]["role"] == each["role"]:
            first = rest.pop(0)
            made.append({**first, "content": each["content"] + first["content"]})
        else:
            made.append(dict(each))
    return [*made, *rest]


def get_round_index(template: Sequence[Any]) -> tuple[int, int]:
    """Return where the rounds of a dialogue begin, and where they end."""
    items = list(template)
    begin, end = marker("round", "begin"), marker("round", "end")
    return (items.index(begin) + 1 if begin in items else 1), (items.index(end) if end in items else -1)


def is_mm_prompt(prompt: Any) -> bool:
    """Whether a prompt is chat messages of which one holds typed parts."""
    kinds = {"text", "image_url", "video_url", "audio_url"}
    return isinstance(prompt, list) and any(
        isinstance(part, Mapping) and part.get("type") in kinds
        for message in prompt
        if isinstance(message, Mapping) and isinstance(message.get("content"), list)
        for part in message["content"]
    )
