"""Retrievers of OpenCompass and AISBench, which hold a dataset, choose examples and make prompts.

Artifacts of :mod:`proctor.demos` choose. OpenCompass's retrievers get templates with every call, AISBench's when they
are made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from proctor import demos, templates
from proctor.demos.retrievers import Corpus, LabelPrompts, field_text
from proctor.engines.as_another import as_another
from proctor.errors import TemplateError
from proctor.guests.opencompass.registries import REGISTRIES
from proctor.templates import PromptList, RawPromptTemplate
from proctor.templates.prompt_template import BasePromptTemplate

AnyTemplate = BasePromptTemplate | RawPromptTemplate
Prompt = str | PromptList | list[dict[str, Any]]
_LINE = "\n"


def template_class(name: str, project: str) -> Any:
    """Return Proctor's class of a template, the same for both projects; ``None`` where there is none."""
    del project
    found = getattr(templates, name, None)
    return found if isinstance(found, type) and issubclass(found, AnyTemplate) else None


def _template(config: Any) -> AnyTemplate | None:
    """Return the template of a config; one that is made already stays."""
    found: AnyTemplate | None = (
        REGISTRIES["ICL_PROMPT_TEMPLATES"].build(config) if isinstance(config, Mapping) else config
    )
    return found


@as_another("retriever", "ice_separator", "ice_eos_token", "ice_num")
class BaseRetriever:
    """A dataset with the artifact that chooses its examples.

    Args:
        dataset: With ``reader``, ``train`` and ``test``.
        **settings: Fields of the artifact.

    Attributes:
        index_ds, test_ds: Rows that examples are taken from, and rows that are asked about.
    """

    artifact: ClassVar[type[demos.Retriever]] = demos.ZeroRetriever

    def __init__(self, dataset: Any, **settings: Any) -> None:
        self.dataset = dataset
        self.dataset_reader = dataset.reader
        self.index_ds, self.test_ds = dataset.train, dataset.test
        self.retriever = self.artifact(**settings)
        self.is_main_process = True

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
        ice, prompt = _template(retriever.ice_template), _template(retriever.prompt_template)
        labels = retriever.labels or self._labels(ice, prompt)
        template = self._asking(ice, prompt)

        def prompts(row: Any, examples: str) -> list[str]:
            return [str(template.generate_label_prompt_item(row, examples, label)) for label in labels]

        return LabelPrompts(labels, lambda chosen: str(self._examples(chosen, ice)), prompts)

    def get_gold_ans(self) -> Any:
        """Return the right answers of the test rows; ``None`` where the dataset has no output column."""
        column = self.dataset_reader.output_column
        return [row[column] for row in self.test_ds] if column else None

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
        separator, end = ("", "") if is_dialogue else (self.retriever.ice_separator, self.retriever.ice_eos_token)
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
    """A retriever that gets templates with every call."""

    def get_labels(
        self, ice_template: AnyTemplate | None = None, prompt_template: AnyTemplate | None = None
    ) -> list[Any]:
        """Return the labels: those of a map from labels, else the different answers in their order."""
        return self._labels(ice_template, prompt_template)

    def generate_ice(self, idx_list: Sequence[int], ice_template: AnyTemplate | None = None) -> Any:
        """Return examples, by their positions, as one text or dialogue."""
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


class ZeroRetriever(OpenCompassRetriever):
    """No examples."""

    def __init__(self, dataset: Any, ice_eos_token: str = "") -> None:
        super().__init__(dataset, ice_eos_token=ice_eos_token)


class RandomRetriever(OpenCompassRetriever):
    """Other random examples for every test row; ``more`` are fields of the artifacts of derived retrievers."""

    artifact: ClassVar[type[demos.Retriever]] = demos.RandomRetriever

    def __init__(
        self, dataset: Any, ice_separator: str = _LINE, ice_eos_token: str = _LINE, ice_num: int = 1, **more: Any
    ) -> None:
        super().__init__(dataset, ice_separator=ice_separator, ice_eos_token=ice_eos_token, ice_num=ice_num, **more)


class FixKRetriever(RandomRetriever):
    """The same examples for every test row."""

    artifact = demos.FixKRetriever

    def __init__(
        self,
        dataset: Any,
        fix_id_list: list[int],
        ice_separator: str = _LINE,
        ice_eos_token: str = _LINE,
        ice_num: int = 1,
    ) -> None:
        self.fix_id_list = fix_id_list
        super().__init__(dataset, ice_separator, ice_eos_token, ice_num, fix_id_list=fix_id_list)


class SlidingWindowRetriever(RandomRetriever):
    """The rows before a test row."""

    artifact = demos.SlidingWindowRetriever

    def __init__(
        self, dataset: Any, k: int, ice_separator: str = _LINE, ice_eos_token: str = _LINE, ice_num: int = 1
    ) -> None:
        super().__init__(dataset, ice_separator, ice_eos_token, ice_num, k=k)


class BM25Retriever(RandomRetriever):
    """The rows that share most words with the test row."""

    artifact = demos.BM25Retriever


class TopkRetriever(RandomRetriever):
    """The rows whose embeddings are most like that of the test row."""

    artifact = demos.TopkRetriever


class DPPRetriever(RandomRetriever):
    """A varied choice of the rows that are most like the test row."""

    artifact = demos.DPPRetriever


class MDLRetriever(RandomRetriever):
    """The examples after which a small model is surest."""

    artifact = demos.MDLRetriever


class VotekRetriever(RandomRetriever):
    """The rows that stand for most others."""

    artifact = demos.VotekRetriever


class AisRetriever(BaseRetriever):
    """A retriever of AISBench, which gets its templates when it is made."""

    def __init__(self, dataset: Any, ice_template: Any = None, prompt_template: Any = None, **settings: Any) -> None:
        super().__init__(dataset, **settings)
        self.ice_template, self.prompt_template = _template(ice_template), _template(prompt_template)

    def get_labels(self) -> list[Any]:
        """Return the labels: those of a map from labels, else the different answers in their order."""
        return self._labels(self.ice_template, self.prompt_template)

    def generate_ice(self, idx_list: Sequence[int]) -> Any:
        """Return examples, by their positions, as one text or dialogue."""
        return self._examples(idx_list, self.ice_template)

    def generate_label_prompt(self, idx: int, ice: Any, label: Any, remain_sep: bool | None = False) -> Prompt:
        """Return the prompt whose likelihood stands for a label."""
        asking = self._asking(self.ice_template, self.prompt_template)
        return asking.generate_label_prompt_item(self.test_ds[idx], ice, label, remain_sep)

    def generate_prompt_for_generate_task(self, idx: int, ice: Any, gen_field_replace_token: str = "") -> Prompt:
        """Return the prompt that asks about a test row, its answer masked."""
        return self._question(idx, ice, gen_field_replace_token, self._asking(self.ice_template, self.prompt_template))


class AisZeroRetriever(AisRetriever):
    """No examples."""


class AisRandomRetriever(AisRetriever):
    """Other random examples for every test row; ``more`` are fields of the artifacts of derived retrievers."""

    artifact: ClassVar[type[demos.Retriever]] = demos.RandomRetriever

    def __init__(
        self,
        dataset: Any,
        ice_template: Any = None,
        prompt_template: Any = None,
        ice_separator: str = _LINE,
        ice_eos_token: str = _LINE,
        ice_num: int = 1,
        **more: Any,
    ) -> None:
        laid_out = {"ice_separator": ice_separator, "ice_eos_token": ice_eos_token, "ice_num": ice_num}
        super().__init__(dataset, ice_template, prompt_template, **laid_out, **more)


class AisFixKRetriever(AisRandomRetriever):
    """The same examples for every test row."""

    artifact = demos.FixKRetriever

    def __init__(self, dataset: Any, fix_id_list: list[int], *listed: Any, **named: Any) -> None:
        super().__init__(dataset, *listed, **named, fix_id_list=fix_id_list)
