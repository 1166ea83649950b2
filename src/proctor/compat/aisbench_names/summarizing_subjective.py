"""AISBench's summarizer of judged answers (``ais_bench.benchmark.summarizers.default_subjective``)."""
# ruff: noqa: PTH118 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import os.path as osp
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar

from proctor.compat.aisbench_names import mmengine_files
from proctor.compat.aisbench_names.cli_names import get_current_time_str
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import dataset_abbr_from_cfg, get_infer_output_path, model_abbr_from_cfg
from proctor.compat.aisbench_names.scoring import get_prompt_hash
from proctor.compat.aisbench_names.summary_steps import (
    METRIC_BLACKLIST,
    METRIC_WHITELIST,
    Picked,
    SummarySteps,
    mixed_groups,
)
from proctor.errors import ScoringError
from proctor.results.summary_table import SummaryTable

__all__ = [
    "METRIC_BLACKLIST", "METRIC_WHITELIST", "AISLogger", "DefaultSubjectiveSummarizer", "dataset_abbr_from_cfg",
    "get_infer_output_path", "get_prompt_hash", "model_abbr_from_cfg", "model_abbr_from_cfg_used_in_summarizer",
]  # fmt: skip


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


class DefaultSubjectiveSummarizer(SummarySteps):
    """The tables of answers that judges have scored: one for each judge.

    Args:
        config: ``models``, ``datasets``, ``judge_models``, ``eval.partitioner.models``, and ``work_dir``, which has
            ``results/MODEL_judged-by--JUDGE/DATASET.json``.
        dataset_abbrs: Which rows a table has; all where it is not said.
        summary_groups: Groups of datasets with scores of their own.
        prompt_db: Without effect, as upstream.
    """

    _home: ClassVar[bool] = True
    shown_types = (int, float)
    with_default = False

    def __init__(
        self,
        config: Mapping[str, Any],
        dataset_abbrs: Sequence[Any] | None = None,
        summary_groups: Sequence[Mapping[str, Any]] = (),
        prompt_db: Any = None,
    ) -> None:
        self.cfg = config
        self.tasks: list[Any] = []
        self.eval_model_cfgs = config["eval"]["partitioner"]["models"]
        self.eval_model_abbrs = [self._name("model_abbr_from_cfg")(each) for each in self.eval_model_cfgs]
        self.judge_models = config.get("judge_models")
        self.logger = self._name("AISLogger")()
        self.dataset_abbrs, self.summary_groups = dataset_abbrs, list(summary_groups)
        if prompt_db:
            self.logger.warning("prompt_db has no effect (nor has it upstream): leave it out of the config")
        self.model_cfgs, self.dataset_cfgs, self.work_dir = config["models"], config["datasets"], config["work_dir"]
        self.model_abbrs = self._models()

    def _unlisted(self) -> tuple[str, ...]:
        return ()

    def _mixed(self, error: ScoringError) -> Exception:
        return mixed_groups(error)

    def _paths(self, model: Mapping[str, Any], dataset: Mapping[str, Any], judge: str) -> Iterator[str]:
        """Yield where the results of a judge are: one file, or one for each model that is compared with."""
        path = self._name("get_infer_output_path")(model, dataset, osp.join(self.work_dir, "results"))
        folder, _, name = path.rpartition("/")
        bases = [f"{each['abbr']}_" for each in dataset.get("base_models") or ()] or [""]
        top, _, own = folder.rpartition("/")
        yield from (osp.join(f"{top}/{base}{own}_judged-by--{judge}", name) for base in bases)

    def _pick_up_results(self, judge_abbr: str) -> Picked:
        """Return what lies in the folder of work from one judge; of several models compared with, the mean.

        Args:
            judge_abbr: The judge's name.

        Raises:
            ScoringError: Models have different metrics for a dataset.
        """
        found = Picked({}, {}, {}, {})
        for model in self.model_cfgs:
            name = self._name("model_abbr_from_cfg_used_in_summarizer")(model)
            found.raw.setdefault(name, {})
            found.parsed.setdefault(name, {})
            for dataset in self.dataset_cfgs:
                label = self._name("dataset_abbr_from_cfg")(dataset)
                paths = [path for path in self._paths(model, dataset, judge_abbr) if self._exists(path)]
                if results := [self._result(path) for path in paths]:
                    found.raw[name][label] = _mean(results)
                    if numbers := [each for each in (self._keep(found, name, label, one) for one in results) if each]:
                        found.parsed[name][label] = _mean(numbers)
        return found._replace(modes=self._eval_modes())

    def _result(self, path: str) -> dict[str, Any]:
        given = self._name("mmengine").load(path)
        return OrderedDict((key, given[key]) for key in sorted(given) if key != "details")

    def _output_to_file(
        self, output_path: str | None, time_str: str, table: Sequence[Sequence[str]], raw_txts: str, judge_abbr: str
    ) -> None:
        """Write the table of one judge as text and CSV; the files' names say whose it is."""
        path = self._place(output_path, time_str)
        self._folder(path)
        made, stem = SummaryTable([list(row) for row in table]), path.split(".txt")[0]
        self._written(f"{stem}_by_{judge_abbr}.txt", made.to_text(time_str, raw_txts, with_markdown=False), "summary")
        lines = "\n".join(",".join(row) for row in table) + "\n"
        self._written(f"{stem}_by_{judge_abbr}.csv", lines, "csv")

    def summarize(self, output_path: str | None = None, time_str: str | None = None) -> None:
        """Print the tables of all judges, and write them.

        Args:
            output_path: Of the text; ``WORK/summary/summary_TIME_by_JUDGE.txt`` where it is not said.
            time_str: The time in its name and its first line.

        Raises:
            OSError: One cannot be written.
        """
        time = time_str or get_current_time_str()
        for judge in self.judge_models or ():
            name = self._name("model_abbr_from_cfg")(judge)
            found = Picked(*self._calculate_group_metrics(*self._pick_up_results(name)))
            table = self._format_table(
                found.parsed, found.metrics, found.modes, required_dataset_abbrs=self.dataset_abbrs
            )
            raw = self._format_raw_txt(found.raw)
            print(SummaryTable([list(row) for row in table]).to_text())  # noqa: T201 - what the program asks for
            self._output_to_file(output_path, time, table, raw, name)


def _mean(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the mean of each number, added up one after another as upstream; of anything else the first."""
    mean = OrderedDict(results[0])
    for count, result in enumerate(results[1:], 1):
        for key, value in result.items():
            if isinstance(value, int | float) and isinstance(mean.get(key), int | float):
                mean[key] = (mean[key] * count + value) / (count + 1)
    return mean
