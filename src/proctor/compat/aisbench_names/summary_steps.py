"""The steps of AISBench's summarizers, which programs call and override one by one: results, groups, table, files."""
# ruff: noqa: G004, PTH118 - messages and paths are texts, as upstream: programs look for both, and replace functions of os

from __future__ import annotations

import os
import os.path as osp
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from proctor.compat.aisbench_names.failures import failure
from proctor.errors import ScoringError
from proctor.results.dataset_groups import SummaryBoard
from proctor.results.summary_table import SummaryTable
from proctor.safe_files import write_for_user
from proctor.scoring.evaluators.evaluation import METRIC_ORDER

METRIC_WHITELIST = list(METRIC_ORDER)
"""Metrics that come first in a table, the most telling first."""
METRIC_BLACKLIST = ["bp", "sys_len", "ref_len", "type"]
"""What evaluators return beside metrics."""
_MODES = {
    "GenInferencer": "gen", "PPLInferencer": "ppl", "LLInferencer": "ll", "BFCLV3FunctionCallInferencer": "bfcl_v3"
}  # fmt: skip
_COUNTS = ("correct_count", "total_count")
"""What judges count: shown beside the score, in no line of their own."""

_Results = dict[str, dict[str, Any]]


class Picked(NamedTuple):
    """What is known of scores, as the steps hand it to each other.

    Attributes:
        raw: Results by model and dataset.
        parsed: Numbers of those, by metric.
        metrics: Of each dataset, the most telling first.
        modes: How each dataset is asked.
    """

    raw: _Results
    parsed: _Results
    metrics: dict[str, list[str]]
    modes: dict[str, str]


class SummarySteps:
    """What both summarizers do; names of their modules are looked up when they are used, as tests replace them."""

    model_cfgs: Sequence[Mapping[str, Any]]
    dataset_cfgs: Sequence[Mapping[str, Any]]
    summary_groups: Sequence[Mapping[str, Any]]
    model_abbrs: list[str]
    dataset_abbrs: Sequence[Any] | None
    work_dir: str
    logger: Any
    shown_types: tuple[type, ...] = (int, float, str)
    with_default = True

    def _name(self, name: str) -> Any:
        """Return what a name means in the module of the summarizer."""
        homes = (sys.modules[each.__module__] for each in type(self).__mro__ if "_home" in vars(each))
        return getattr(next(homes), name)

    def _models(self) -> list[str]:
        named = self._name("model_abbr_from_cfg_used_in_summarizer")
        return list(dict.fromkeys(named(model) for model in self.model_cfgs))

    def _eval_modes(self) -> dict[str, str]:
        modes, named = {}, self._name("dataset_abbr_from_cfg")
        for dataset in self.dataset_cfgs:
            kind = dataset.get("infer_cfg", {}).get("inferencer", {}).get("type", "")
            kind = kind if isinstance(kind, str) else kind.__name__
            name = named(dataset)
            modes[name] = next((mode for key, mode in _MODES.items() if key in kind), "unknown")
            if modes[name] == "unknown":
                self.logger.warning(f"unknown inferencer: {kind} - {name}")
        return modes

    def _numbers(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Return what of a result tables show."""
        return {
            metric: value
            for metric, value in result.items()
            if metric not in METRIC_BLACKLIST and isinstance(value, self.shown_types)
        }

    def _ordered(self, metrics: Mapping[str, Any]) -> list[str]:
        return sorted(metrics, key=lambda each: METRIC_ORDER.index(each) if each in METRIC_ORDER else len(METRIC_ORDER))

    def _keep(self, found: Picked, model: str, dataset: str, result: Mapping[str, Any]) -> dict[str, Any]:
        """Note one result; return its numbers, none where it is an error or has none."""
        if "error" in result:
            self.logger.debug(f"error in {model} {dataset} {result['error']}")
            return {}
        numbers = self._numbers(result)
        if not numbers:
            self.logger.warning(f"unknown result format: {result}, continue")
            return {}
        ordered = self._ordered(numbers)
        if found.metrics.setdefault(dataset, ordered) != ordered:
            raise ScoringError(
                f"models have different metrics for '{dataset}'", why=f"{found.metrics[dataset]} and {ordered}"
            )
        return numbers

    def _grouped(self, found: Picked) -> Picked:
        """Return scores with those of groups.

        Raises:
            ScoringError: A group names some datasets with a metric, and some without.
        """
        board = SummaryBoard(found.parsed, found.raw, found.metrics, found.modes, self.with_default)
        for group in self.summary_groups:
            for model in self.model_abbrs:
                board.add(group, model)
        return found

    def _calculate_group_metrics(
        self, raw_results: _Results, parsed_results: _Results, dataset_metrics: Any, dataset_eval_mode: Any
    ) -> Picked:
        """Return the four with the scores of groups; they are changed."""
        try:
            return self._grouped(Picked(raw_results, parsed_results, dataset_metrics, dataset_eval_mode))
        except ScoringError as error:
            raise self._mixed(error) from error

    def _mixed(self, error: ScoringError) -> Exception:
        return NotImplementedError(str(error))

    def _lines(
        self, datasets: Sequence[str], metrics: Mapping[str, Sequence[str]], wanted: Sequence[Any] | None
    ) -> list[tuple[str, str | None]]:
        if wanted is not None:
            return [(each, None) if isinstance(each, str) else (each[0], each[1]) for each in wanted]
        lines: dict[tuple[str, str | None], None] = {}
        for name in dict.fromkeys([*datasets, *metrics]):
            shown = [metric for metric in metrics.get(name, ()) if metric not in self._unlisted()]
            lines |= dict.fromkeys((name, metric) for metric in (shown if name in metrics else [None]))
        return list(lines)

    def _unlisted(self) -> tuple[str, ...]:
        return _COUNTS

    def _format_table(
        self,
        parsed_results: _Results,
        dataset_metrics: Mapping[str, Sequence[str]],
        dataset_eval_mode: Mapping[str, str],
        required_dataset_abbrs: Sequence[Any] | None = None,
        skip_all_slash: bool = False,
    ) -> list[list[str]]:
        """Return the table, its header first.

        Args:
            parsed_results: Numbers by model, dataset and metric.
            dataset_metrics: Of each dataset, the most telling first.
            dataset_eval_mode: How each dataset is asked.
            required_dataset_abbrs: Which lines, in order: names of datasets, or pairs with a metric.
            skip_all_slash: Whether lines without a number are left out.
        """
        named, digest = self._name("dataset_abbr_from_cfg"), self._name("get_prompt_hash")
        versions = {named(each): digest(each)[:6] for each in self.dataset_cfgs}
        counted = bool(self._unlisted()) and any("total_count" in each for each in dataset_metrics.values())
        header = ["dataset", "version", "metric", "mode", *(["total_count"] if counted else []), *self.model_abbrs]
        rows = [header]
        for dataset, metric in self._lines(list(versions), dataset_metrics, required_dataset_abbrs):
            known = list(dataset_metrics.get(dataset, ()))
            shown = known[0] if metric is None and known else metric
            if shown is None or shown not in known:
                rows += [] if skip_all_slash else [[dataset, *("-" for _ in header[1:])]]
                continue
            row = [dataset, versions.get(dataset, "-"), shown, dataset_eval_mode.get(dataset, "-")]
            scores = [parsed_results[model].get(dataset) for model in self.model_abbrs]
            if counted:
                first = (scores[0] or {}).get("total_count") if "total_count" in known else None
                row.append("/" if first is None else str(int(first)))
            rows.append([*row, *("-" if each is None else self._cell(each, shown) for each in scores)])
        return rows

    def _cell(self, scores: Mapping[str, Any], metric: str) -> str:
        value = scores[metric]
        shown = f"{value:.02f}" if isinstance(value, int | float) else str(value)
        right, total = (scores.get(name) for name in _COUNTS) if self._unlisted() else (None, None)
        return shown if right is None or total is None else f"{shown} ({right}/{total})"

    def _format_raw_txt(self, raw_results: _Results) -> str:
        """Return results as text, model by model."""
        return SummaryTable([], {model: raw_results[model] for model in self.model_abbrs}).raw_text()

    def _written(self, path: str, text: str, what: str) -> None:
        write_for_user(path, text)
        self.logger.info(f"write {what} to {osp.abspath(path)}")  # noqa: PTH100

    def _folder(self, path: str) -> None:
        self._name("mmengine").mkdir_or_exist(osp.split(path)[0])

    def _place(self, output_path: str | None, time_str: str) -> str:
        return output_path or osp.join(self.work_dir, "summary", f"summary_{time_str}.txt")

    def _exists(self, path: str) -> bool:
        return os.path.exists(path)  # noqa: PTH110 - programs replace it


def mixed_groups(error: ScoringError) -> Exception:
    """Return AISBench's error for a group that names some datasets with a metric, and some without."""
    return failure("AISBenchConfigError", "SUMM_CODES", "NOT_SUPPORTED_DATASET_TYPES", str(error))
