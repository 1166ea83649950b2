"""AISBench's retrievers (``ais_bench.benchmark.openicl.icl_retriever``), as programs make and derive them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.prompt_lists import PromptList
from proctor.compat.aisbench_names.registries import ICL_PROMPT_TEMPLATES, ICL_RETRIEVERS
from proctor.compat.aisbench_names.templates import BasePromptTemplate, Prompt
from proctor.demos import RandomRetriever as CoreRandomRetriever
from proctor.demos.retrievers import Corpus

_LINE = "\n"


class BaseRetriever:
    """A dataset, and what chooses its examples: override :meth:`retrieve`.

    Args:
        dataset: With ``reader``, ``train`` and ``test``.
        ice_template: The config of the examples' template.
        prompt_template: The config of the questions' template.
        ice_separator: Between examples that are texts.
        ice_eos_token: After the last example.
        ice_num: How many examples everybody is shown.
    """

    index_ds: Any = None
    test_ds: Any = None

    def __init__(
        self,
        dataset: Any,
        ice_template: Any = None,
        prompt_template: Any = None,
        ice_separator: str = _LINE,
        ice_eos_token: str = _LINE,
        ice_num: int = 1,
    ) -> None:
        self.logger = AISLogger()
        self.dataset = dataset
        self.ice_template, self.prompt_template = _template(ice_template), _template(prompt_template)
        self.ice_separator, self.ice_eos_token, self.ice_num = ice_separator, ice_eos_token, ice_num
        self.is_main_process = True
        self.dataset_reader = dataset.reader
        self.index_ds, self.test_ds = dataset.train, dataset.test

    def retrieve(self) -> list[list[int]]:
        """Return the positions of the examples of every test row; a base chooses none.

        Raises:
            AISBenchImplementationError: This class is a base.
        """
        what = f"{type(self).__name__} has no 'retrieve': a retriever that is derived from the base chooses examples"
        raise failure("AISBenchImplementationError", "ICLR_CODES", "UNKNOWN_ERROR", what)

    def get_gold_ans(self) -> Any:
        """Return the right answers of the test rows; ``None`` where the dataset has no output column."""
        column = self.dataset_reader.output_column
        return self.dataset_reader.dataset["test"][column] if column else None

    def get_labels(self) -> list[Any]:
        """Return the labels: those of a template that is a map, else the different answers in their order."""
        ice = self.ice_template if self.ice_template is not None and self.ice_template.ice_token is not None else None
        for template in (self.prompt_template, ice):
            if template is not None and isinstance(template.template, dict):
                return list(template.template)
        return list(dict.fromkeys(self.test_ds[self.dataset_reader.output_column]))

    def generate_ice(self, idx_list: Sequence[int]) -> Any:
        """Return examples, by their positions, put together.

        Raises:
            AISBenchValueError: There is no template for them.
        """
        template, column = self.ice_template, self.dataset_reader.output_column
        if template is None and idx_list:
            what = "there is no ice_template for the examples: give one, or use ZeroRetriever"
            raise failure("AISBenchValueError", "ICLR_CODES", "TEMPLATE_ICE_TOKEN_NOT_IN_TEMPLATE", what)
        is_dialogue = template is not None and template.prompt_type == "meta"
        separator, end = ("", "") if is_dialogue else (self.ice_separator, self.ice_eos_token)
        rows = [self.index_ds[place] for place in idx_list]
        items: list[Any] = [] if template is None else [template.generate_ice_item(row, row[column]) for row in rows]
        if not items or not isinstance(items[0], PromptList):
            return separator.join(items) + end
        made = PromptList()
        for item in items:
            made.extend(item + separator)
        made.append(end)
        return made

    def _asking(self) -> BasePromptTemplate:
        """Return the template that asks.

        Raises:
            AISBenchImplementationError: There is none, or it has no place for examples.
        """
        found: BasePromptTemplate | None = self.ice_template if self.prompt_template is None else self.prompt_template
        if found is None:
            what = "there is neither a prompt_template nor an ice_template"
            code = "IMPLEMENTATION_ERROR_PROMPT_TEMPLATE_NOT_PROVIDED"
            raise failure("AISBenchImplementationError", "ICLR_CODES", code, what)
        if self.ice_template is not None and found.ice_token is None:
            what = f"the examples have no place: set 'ice_token' of {found!r}"
            code = "IMPLEMENTATION_ERROR_ICE_TOKEN_NOT_PROVIDED"
            raise failure("AISBenchImplementationError", "ICLR_CODES", code, what)
        return found

    def generate_label_prompt(self, idx: int, ice: Any, label: Any, remain_sep: bool | None = False) -> Prompt:
        """Return the prompt whose likelihood stands for a label."""
        return self._asking().generate_label_prompt_item(self.test_ds[idx], ice, label, remain_sep)

    def generate_prompt_for_generate_task(self, idx: int, ice: Any, gen_field_replace_token: str = "") -> Prompt:
        """Return the prompt that asks about a test row, its answer masked."""
        return self._asking().generate_item(
            self.test_ds[idx],
            output_field=self.dataset_reader.output_column,
            output_field_replace_token=gen_field_replace_token,
            ice_field_replace_token=ice,
        )


def _template(config: Any) -> Any:
    """Return a template of a config; one that is made already stays."""
    return config if config is None or not hasattr(config, "items") else ICL_PROMPT_TEMPLATES.build(config)


@ICL_RETRIEVERS.register_module()
class ZeroRetriever(BaseRetriever):
    """No examples."""

    def __init__(
        self,
        dataset: Any,
        ice_template: Any = None,
        prompt_template: Any = None,
        ice_separator: str = "",
        ice_eos_token: str = "",
    ) -> None:
        super().__init__(dataset, ice_template, prompt_template, ice_separator, ice_eos_token, 0)

    def retrieve(self) -> list[list[int]]:
        """Return no positions for every test row."""
        return [[] for _ in self.test_ds]


@ICL_RETRIEVERS.register_module()
class FixKRetriever(BaseRetriever):
    """The same examples for everybody.

    Args:
        dataset: As of :class:`BaseRetriever`, like those behind ``fix_id_list``.
        fix_id_list: Their positions.
    """

    def __init__(
        self,
        dataset: Any,
        fix_id_list: list[int],
        ice_template: Any = None,
        prompt_template: Any = None,
        ice_separator: str = _LINE,
        ice_eos_token: str = _LINE,
        ice_num: int = 1,
    ) -> None:
        super().__init__(dataset, ice_template, prompt_template, ice_separator, ice_eos_token, ice_num)
        self.fix_id_list = fix_id_list

    def retrieve(self) -> list[list[int]]:
        """Return the same positions for every test row.

        Raises:
            AISBenchValueError: One of them is outside of the rows.
        """
        count = len(self.index_ds)
        for place in self.fix_id_list:
            if not 0 <= place < count:
                what = f"there is no row {place}: rows of examples are 0 to {count - 1}"
                raise failure("AISBenchValueError", "ICLR_CODES", "FIX_K_RETRIEVER_INDEX_OUT_OF_RANGE", what)
        return [self.fix_id_list for _ in self.test_ds]


@ICL_RETRIEVERS.register_module()
class RandomRetriever(BaseRetriever):
    """Other random examples for every test row.

    Args:
        dataset: As of :class:`BaseRetriever`, like those before ``seed``.
        seed: Of the draws.
    """

    def __init__(
        self,
        dataset: Any,
        ice_template: Any = None,
        prompt_template: Any = None,
        ice_separator: str = _LINE,
        ice_eos_token: str = _LINE,
        ice_num: int = 1,
        seed: int = 43,
    ) -> None:
        super().__init__(dataset, ice_template, prompt_template, ice_separator, ice_eos_token, ice_num)
        self.seed = seed

    def retrieve(self) -> list[list[int]]:
        """Return the positions of the examples of every test row."""
        drawn = CoreRandomRetriever(ice_num=self.ice_num, seed=self.seed)
        places = drawn.retrieve(Corpus(self.index_ds, str), Corpus(self.test_ds, str), None)
        return [list(each) for each in places]
