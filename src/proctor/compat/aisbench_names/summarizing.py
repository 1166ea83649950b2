"""AISBench's summarizer as programs call it: a table of what lies in a folder of work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names.cli_names import get_current_time_str
from proctor.compat.aisbench_names.naming import model_abbr_from_cfg
from proctor.dialects.aisbench.summary import SummaryTable, summary_of_datasets
from proctor.dialects.aisbench.work_dir import WorkDir
from proctor.errors import UnknownArtifactError
from proctor.safe_files import subfolder, write_text


def model_abbr_from_cfg_used_in_summarizer(model: Mapping[str, Any]) -> str:
    """Return what tables call a model: its ``summarizer_abbr``, else its name."""
    return str(model.get("summarizer_abbr") or model_abbr_from_cfg(model))


class DefaultSummarizer:
    """The table of all models and datasets of a config.

    Args:
        config: ``models``, ``datasets`` and ``work_dir``, which has ``results/MODEL/DATASET.json``.
        dataset_abbrs: Which rows the table has; all where it is not said.
        summary_groups: Groups of datasets with scores of their own.
        prompt_db: Kept for programs; upstream reads it no more.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        dataset_abbrs: Sequence[Any] | None = None,
        summary_groups: Sequence[Mapping[str, Any]] = (),
        prompt_db: Any = None,
    ) -> None:
        del prompt_db
        self.cfg = config
        self.dataset_abbrs, self.summary_groups = dataset_abbrs, list(summary_groups)
        self.model_cfgs, self.dataset_cfgs, self.work_dir = config["models"], config["datasets"], config["work_dir"]
        self.model_abbrs = list(dict.fromkeys(map(model_abbr_from_cfg_used_in_summarizer, self.model_cfgs)))

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
        table, time = self.table(), time_str or get_current_time_str()
        print(table.to_text())  # noqa: T201 - this is what the program asks for
        text = Path(output_path) if output_path else subfolder(Path(self.work_dir), "summary") / f"summary_{time}.txt"
        write_text(text, table.to_text(time))
        write_text(text.with_suffix(".csv"), table.to_csv())
        write_text(text.with_suffix(".md"), table.to_markdown())
