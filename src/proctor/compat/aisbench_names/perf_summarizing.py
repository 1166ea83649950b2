"""AISBench's summarizer of timed requests (``ais_bench.benchmark.summarizers.default_perf``).

It sums up ``performances/MODEL/`` of a folder of work, which ``ais_bench --mode perf`` wrote. Nothing is measured here.
"""
# ruff: noqa: PTH110, PTH118, PTH123, PTH208 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import csv
import json
import os
import os.path as osp
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tqdm import tqdm  # type: ignore[import-untyped]

from proctor.compat.aisbench_names.array_store import init_db, load_all_numpy_from_db
from proctor.compat.aisbench_names.builders import build_model_from_cfg, build_perf_metric_calculator_from_cfg
from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.handlers import DB_REF_KEY
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import model_abbr_from_cfg
from proctor.compat.aisbench_names.printed_tables import table_text
from proctor.compat.aisbench_names.result_files import dump_results_dict
from proctor.compat.aisbench_names.small_names import AISTokenizer, load_tokenizer
from proctor.compat.aisbench_names.timelines import plot_sorted_request_timelines
from proctor.compat.opencompass_names.prompting import is_mm_prompt
from proctor.foreign_text import parse_json

_REFRESH_SECONDS = 0.1
_Line = dict[str, Any]


def model_abbr_from_cfg_used_in_summarizer(model: Mapping[str, Any]) -> str:
    """Return what tables call a model: its ``summarizer_abbr``, else its name."""
    return str(model.get("summarizer_abbr") or model_abbr_from_cfg(model))


class DefaultPerfSummarizer:
    """Statistics and figures of timed requests, by model and dataset.

    Args:
        config: ``models``, ``datasets`` and ``work_dir``.
        calculator: The config of what sums up.
    """

    def __init__(self, config: Any, calculator: Mapping[str, Any]) -> None:
        self.logger = AISLogger()
        self.tasks: list[Any] = []
        self.cfg, self.calculator_conf = config, calculator
        self.model_cfgs, self.dataset_cfgs, self.work_dir = config["models"], config["datasets"], config["work_dir"]
        self.merge_ds = config.get("cli_args", {}).get("merge_ds", False)
        self.calculators: dict[str, dict[str, Any]] = {}
        self.dataset_groups: dict[str, list[Any]] = defaultdict(list)
        for dataset in self.dataset_cfgs:
            self.dataset_groups[f"{dataset['type']}_{dataset['infer_cfg']['inferencer']}"].append(dataset)
        self.model_abbrs = list(dict.fromkeys(map(model_abbr_from_cfg_used_in_summarizer, self.model_cfgs)))

    def _get_dataset_abbr(self, dataset_group: Sequence[Mapping[str, Any]]) -> str:
        """Return what datasets are called together: one by its name, several by their type."""
        first = dataset_group[0]
        return str(first.get("abbr") if len(dataset_group) == 1 else str(first.get("type")).split(".")[-1].lower())

    def _folder(self, model: str, *below: str) -> str:
        return osp.join(self.work_dir, "performances", model, *below)

    # -- what was measured -------------------------------------------------------------------------------------------

    def _calc_perf_data(
        self, manager_list: Any, model_cfg: Mapping[str, Any], db_file_path: str, perf_datas: Sequence[_Line]
    ) -> None:
        """Add to a list what each request took: of one that failed only that it did.

        Args:
            manager_list: The list.
            model_cfg: The model, whose tokenizer counts tokens that the server did not count.
            db_file_path: The file of points in time.
            perf_datas: The requests.
        """
        counted: dict[str, Any] = {}

        def count(text: Any) -> int:
            if not counted:
                counted["by"] = AISTokenizer(model_cfg.get("path", ""), model_cfg.get("trust_remote_code", False))
            return len(counted["by"].encode(text))

        connection = init_db(db_file_path)
        arrays = load_all_numpy_from_db(connection)
        for line in perf_datas:
            points = _resolved(line, arrays).get("time_points") if line["success"] else None
            manager_list.append({"success": False} if points is None else _timed(line, points, count))
        connection.close()

    def tqdm_monitor(self, total: int, manager_list: Sequence[Any], event: Any) -> None:
        """Show how many requests have been looked at, until an event."""
        with tqdm(total=total, desc="Calculating performance details") as progress:
            while not event.is_set():
                progress.n = len(manager_list)
                progress.refresh()
                time.sleep(_REFRESH_SECONDS)
            progress.n = total
            progress.refresh()

    def _load_tmp_result(self, model_abbr: str, data_abbrs: Sequence[str]) -> dict[str, list[_Line]]:
        """Return the requests of a run that was stopped, by the file of their points in time."""
        folder = self._folder(model_abbr, "tmp")
        if not osp.exists(folder):
            return {}
        found: dict[str, list[_Line]] = defaultdict(list)
        for name in os.listdir(folder):
            if name.endswith(".jsonl"):
                for line in _lines(osp.join(folder, name)):
                    if line.get("data_abbr") in data_abbrs and line.get("db_name"):
                        found[line["db_name"]].append(line)
        return found

    def _load_details_perf_data(
        self, model_cfg: Mapping[str, Any], dataset_group: Sequence[Mapping[str, Any]]
    ) -> dict[str, list[Any]]:
        """Return the requests of datasets as columns.

        Raises:
            FileMatchError: There are none.
            AISBenchDataContentError: They have different columns.
        """
        model = model_abbr_from_cfg_used_in_summarizer(model_cfg)
        found: dict[str, list[_Line]] = defaultdict(list)
        missing = []
        for dataset in dataset_group:
            path = self._folder(model, f"{dataset.get('abbr')}_details.jsonl")
            if not osp.exists(path):
                missing.append(str(dataset.get("abbr")))
                continue
            for line in _lines(path):
                if line.get("db_name"):
                    found[line["db_name"]].append(line)
        if missing:
            self.logger.warning("%s: %s was not finished; what is there is summed up", model, ", ".join(missing))
            for name, lines in self._load_tmp_result(model, missing).items():
                found[name] += lines
        if not found:
            what = f"{self.work_dir} has no requests that were timed; `ais_bench --mode perf` makes and times them"
            raise failure("FileMatchError", "SUMM_CODES", "NO_PERF_DATA_FILE", what)
        timed: list[_Line] = []
        for name, lines in found.items():
            path = self._folder(model, "db_data", name)
            path = path if osp.exists(path) else self._folder(model, "tmp", f"tmp_{name}")
            self._calc_perf_data(timed, model_cfg, path, lines)
        return _columns(timed)

    # -- what it sums up to ------------------------------------------------------------------------------------------

    def summarize(self) -> None:
        """Sum up, write the tables, and print them. No charts are drawn."""
        for model_cfg in self.model_cfgs:
            if model_cfg.get("attr") != "service":
                continue
            made: dict[str, Any] = {}
            model = model_abbr_from_cfg_used_in_summarizer(model_cfg)
            for group in self.dataset_groups.values():
                columns = self._load_details_perf_data(model_cfg, group)
                name = self._get_dataset_abbr(group)
                self._plot(columns, self._folder(model, f"{name}_plot.html"))
                made[name] = build_perf_metric_calculator_from_cfg(self.calculator_conf)
                made[name]._init_datas(columns, model_cfg.get("batch_size", 1))  # noqa: SLF001 - upstream's name
            self.calculators[model] = made
        self._dump_calculated_perf_data()
        self._output_to_screen(self._pick_up_results())

    def _plot(self, columns: Mapping[str, Sequence[Any]], path: str) -> None:
        start, end, first = (np.array(columns[key]) for key in ("start_time", "end_time", "ttft"))
        marks = columns.get("uuid", [""] * len(columns["start_time"]))
        if plot_sorted_request_timelines(start, end, first, marks, output_file=path, unit="s"):
            self.logger.info("a chart of the requests is in %s", path)

    def _dump_calculated_perf_data(self) -> None:
        for model, made in self.calculators.items():
            for dataset, calculator in made.items():
                calculator.calculate()
                dump_results_dict(calculator.get_common_res(), self._folder(model, f"{dataset}.json"))
                calculator.save_performance(self._folder(model, f"{dataset}.csv"))

    def _pick_up_results(self) -> dict[str, list[list[Any]]]:
        """Return the tables that were written, by model and dataset."""
        found: dict[str, list[list[Any]]] = {}
        for model in self.model_abbrs:
            for group in self.dataset_groups.values():
                name = self._get_dataset_abbr(group)
                tables = found[f"{model}/{name}"] = []
                if osp.exists(path := self._folder(model, f"{name}.csv")):
                    tables.append(self._load_csv_to_table(path))
                if osp.exists(path := self._folder(model, f"{name}.json")):
                    tables.append(self._load_json_to_table(path))
                else:
                    self.logger.warning("%s has no figures: %s is missing", name, path)
        return found

    def _load_csv_to_table(self, csv_path: str) -> list[list[str]]:
        with open(csv_path, newline="", encoding="utf-8") as file:
            return list(csv.reader(file))

    def _load_json_to_table(self, json_path: str) -> list[list[Any]]:
        with open(json_path, encoding="utf-8") as file:
            figures = json.load(file)
        rows = [[name, stage, value] for name, stages in figures.items() for stage, value in stages.items()]
        return [["Common Metric", "Stage", "Value"], *rows]

    def _output_to_screen(self, tables_dict: Mapping[str, Sequence[Sequence[Any]]]) -> None:
        for name, tables in tables_dict.items():
            self.logger.info("%s:", name)
            for table in tables:
                print(table_text(table))  # noqa: T201 - asked for
            self.logger.info("the files are in %s", self._folder(name.split("/")[0]))


def _lines(path: str) -> list[_Line]:
    with open(path, encoding="utf-8") as file:
        return [parse_json(line) for line in file if line.strip()]


def _resolved(value: Any, arrays: Mapping[Any, Any]) -> Any:
    """Put arrays where their numbers stand, in place; ``None`` where an array was never written."""
    if isinstance(value, dict):
        if DB_REF_KEY in value:
            return arrays.get(value[DB_REF_KEY])
        value.update({key: _resolved(each, arrays) for key, each in value.items()})
    return value


def _timed(line: _Line, points: Any, count: Any) -> _Line:
    """Return a request with the times that follow from its points in time, in seconds."""
    asked, said = line.pop("input"), line.pop("prediction")
    for key in ("time_points", "db_name"):
        line.pop(key, None)
    if not line.get("input_tokens"):
        line["input_tokens"] = 0 if is_mm_prompt(asked) else count(asked)
    if not line.get("output_tokens"):
        line["output_tokens"] = count(said)
    whole, first, written = points[-1] - points[0], points[1] - points[0], line["output_tokens"]
    return {
        **line,
        "start_time": points[0],
        "end_time": points[-1],
        "latency": whole,
        "ttft": first,
        "tpot": (whole - first) / (written - 1) if written > 1 else 0,
        "itl": np.diff(points[1:]),
        "generate_tokens_speed": written / whole if whole else 0.0,
    }


def _columns(timed: Sequence[_Line]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for line in timed:
        for key, value in line.items():
            found[key].append(value)
    lengths = {key: len(values) for key, values in found.items() if key != "success"}
    if len(set(lengths.values())) > 1:
        what = f"timed requests have different columns: {lengths}"
        raise failure("AISBenchDataContentError", "SUMM_CODES", "DIFF_STRUCTURE_OF_PERF_DATA", what)
    return found


__all__ = [
    "AISLogger", "DefaultPerfSummarizer", "build_model_from_cfg", "load_tokenizer",
    "model_abbr_from_cfg_used_in_summarizer",
]  # fmt: skip
