"""AISBench's summarizer as programs call it: a table of what lies in a folder of work."""
# ruff: noqa: PTH118 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import os.path as osp
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

from proctor.compat.aisbench_names import mmengine_files
from proctor.compat.aisbench_names.cli_names import get_current_time_str
from proctor.compat.aisbench_names.config_objects import ConfigDict
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import dataset_abbr_from_cfg, get_infer_output_path, model_abbr_from_cfg
from proctor.compat.aisbench_names.scoring import get_prompt_hash
from proctor.compat.aisbench_names.summary_steps import METRIC_BLACKLIST, METRIC_WHITELIST, Picked, SummarySteps
from proctor.dialects.aisbench.summary import summary_of_datasets
from proctor.errors import UnknownArtifactError
from proctor.results.summary_table import SummaryTable
from proctor.runs.work_dir import WorkDir
from proctor.safe_files import subfolder, write_text

__all__ = [
    "METRIC_BLACKLIST", "METRIC_WHITELIST", "AISLogger", "ConfigDict", "DefaultSummarizer", "dataset_abbr_from_cfg",
    "get_infer_output_path", "get_prompt_hash", "model_abbr_from_cfg", "model_abbr_from_cfg_used_in_summarizer",
]  # fmt: skip

_STEPS = (
    "_pick_up_results", "_calculate_group_metrics", "_format_table", "_format_raw_txt", "_format_md_table",
    "_output_to_file", "_update_dataset_abbrs",
)  # fmt: skip
"""What a program may override."""


def __getattr__(name: str) -> Any:
    if name != "mmengine":
        raise AttributeError(name)
    try:
        return import_module(name)
    except ImportError:
        return mmengine_files


def model_abbr_from_cfg_used_in_summarizer(model: Mapping[str, Any]) -> str:
    """Return what tables call a model: its ``summarizer_abbr``, else its name."""
    return str(model.get("summarizer_abbr") or model_abbr_from_cfg(model))


class DefaultSummarizer(SummarySteps):
    """The table of all models and datasets of a config.

    Args:
        config: ``models``, ``datasets`` and ``work_dir``, which has ``results/MODEL/DATASET.json``.
        dataset_abbrs: Which rows the table has; all where it is not said.
        summary_groups: Groups of datasets with scores of their own.
        prompt_db: Without effect, as upstream.
    """

    _home: ClassVar[bool] = True

    def __init__(
        self,
        config: Mapping[str, Any],
        dataset_abbrs: Sequence[Any] | None = None,
        summary_groups: Sequence[Mapping[str, Any]] = (),
        prompt_db: Any = None,
    ) -> None:
        self.cfg = config
        self.tasks: list[Any] = []
        self.logger = self._name("AISLogger")()
        self.dataset_abbrs, self.summary_groups = dataset_abbrs, list(summary_groups)
        if prompt_db:
            self.logger.warning("prompt_db has no effect (nor has it upstream): leave it out of the config")
        self.model_cfgs, self.dataset_cfgs, self.work_dir = config["models"], config["datasets"], config["work_dir"]
        self.model_abbrs = self._models()

    def _update_dataset_abbrs(self) -> None:
        """Take the names of all datasets as those of the table's rows."""
        named = self._name("dataset_abbr_from_cfg")
        self.dataset_abbrs = list(dict.fromkeys(named(each) for each in self.dataset_cfgs))

    def _pick_up_results(self) -> Picked:
        """Return what lies in the folder of work: results, their numbers, metrics and modes of datasets."""
        found = Picked({}, {}, {}, {})
        for model in self.model_cfgs:
            name = self._name("model_abbr_from_cfg_used_in_summarizer")(model)
            found.raw.setdefault(name, {})
            found.parsed.setdefault(name, {})
            for dataset in self.dataset_cfgs:
                label = self._name("dataset_abbr_from_cfg")(dataset)
                path = self._name("get_infer_output_path")(model, dataset, osp.join(self.work_dir, "results"))
                if not self._exists(path):
                    continue
                result = dict(self._name("mmengine").load(path))
                result.pop("details", None)
                found.raw[name][label] = result
                if numbers := self._keep(found, name, label, result):
                    found.parsed[name][label] = numbers
        return found._replace(modes=self._eval_modes())

    @staticmethod
    def _format_md_table(table: Sequence[Sequence[str]]) -> str:
        return SummaryTable([list(row) for row in table]).to_markdown()

    def _output_to_file(
        self, output_path: str | None, time_str: str, table: Sequence[Sequence[str]], raw_txts: str
    ) -> None:
        """Write a table as text, CSV and Markdown."""
        path = self._place(output_path, time_str)
        self._folder(path)
        made, stem = SummaryTable([list(row) for row in table]), path.removesuffix(".txt")
        lines, markdown = "\n".join(",".join(row) for row in table) + "\n", self._format_md_table(table)
        self._written(path, made.to_text(time_str, raw_txts), "summary")
        self._written(f"{stem}.csv", lines, "csv")
        self._written(f"{stem}.md", markdown, "markdown summary")

    def _is_own(self) -> bool:
        """Whether all steps are as they are here, with nothing of a program's among them."""
        return all(getattr(type(self), step) is _OWN_STEPS[step] and step not in vars(self) for step in _STEPS)

    def table(self) -> SummaryTable:
        """Return the table.

        Raises:
            UnknownArtifactError: There are no results.
        """
        work = WorkDir(Path(self.work_dir))
        found = {
            model_abbr_from_cfg_used_in_summarizer(model): work.results(model_abbr_from_cfg(model))
            for model in self.model_cfgs
        }
        chosen = {"dataset_abbrs": self.dataset_abbrs, "summary_groups": self.summary_groups}
        made = summary_of_datasets(self.dataset_cfgs, found, {key: each for key, each in chosen.items() if each})
        if made is None:
            raise UnknownArtifactError(f"{self.work_dir} has no results to sum up", hint="proctor run CONFIG.py")
        return made

    def summarize(self, output_path: str | None = None, time_str: str | None = None) -> None:
        """Print the table, and write it as text, CSV and Markdown.

        Args:
            output_path: Of the text; ``WORK/summary/summary_TIME.txt`` where it is not said.
            time_str: The time in its name and its first line.

        Raises:
            OSError: It cannot be written.
        """
        if not self._is_own():
            self._summarize_by_steps(output_path, time_str or get_current_time_str())
            return
        table, time = self.table(), time_str or get_current_time_str()
        print(table.to_text())  # noqa: T201 - this is what the program asks for
        text = Path(output_path) if output_path else subfolder(Path(self.work_dir), "summary") / f"summary_{time}.txt"
        write_text(text, table.to_text(time))
        write_text(text.with_suffix(".csv"), table.to_csv())
        write_text(text.with_suffix(".md"), table.to_markdown())

    def _summarize_by_steps(self, output_path: str | None, time: str) -> None:
        found = Picked(*self._calculate_group_metrics(*self._pick_up_results()))
        table = self._format_table(found.parsed, found.metrics, found.modes, required_dataset_abbrs=self.dataset_abbrs)
        raw = self._format_raw_txt(found.raw)
        print(SummaryTable([list(row) for row in table]).to_text())  # noqa: T201 - this is what the program asks for
        self._output_to_file(output_path, time, table, raw)


_OWN_STEPS = {step: getattr(DefaultSummarizer, step) for step in _STEPS}
