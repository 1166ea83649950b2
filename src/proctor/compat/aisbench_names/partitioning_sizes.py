"""Partitioners that make tasks of equal cost (``ais_bench.benchmark.partitioners.size`` and ``sub_size``)."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from fnmatch import fnmatch
from typing import Any

from proctor.compat.aisbench_names import mmengine_files as mmengine
from proctor.compat.aisbench_names.builders import build_dataset_from_cfg
from proctor.compat.aisbench_names.naming import dataset_abbr_from_cfg, get_infer_output_path
from proctor.compat.aisbench_names.partitioning import BasePartitioner, Config
from proctor.compat.aisbench_names.partitioning_judged import SubjectiveNaivePartitioner

_LARGE_TASK = 40_000  # upstream's default, in rows that cost as one of multiple choice
_GENERATION = 20  # how many of those a generated answer costs, upstream's guess
_LONG = 10
_LONG_ANSWERS = (
    "bbh*", "gsm8k*", "math*", "strategyqa*", "agieval-jec*", "agieval-gaokao-mathcloze", "agieval-math",
    "*professional_law",
)  # fmt: skip
"""Datasets whose answers are long: they cost ten times as much."""
_SLICE = re.compile(r"\[(-?\d*):(-?\d*)(?::(-?\d*))?\]")


class _Costs:
    """How much a dataset costs, and parts of large ones."""

    max_task_size: int
    gen_task_coef: int
    dataset_size_path: str
    strategy: str

    def _set_sizes(self, max_task_size: int, gen_task_coef: int, strategy: str, dataset_size_path: str) -> None:
        if strategy not in ("heuristic", "split"):
            raise AssertionError(f"there is no strategy '{strategy}'; there are 'heuristic' and 'split'")
        self.max_task_size, self.gen_task_coef = max_task_size, gen_task_coef
        self.strategy, self.dataset_size_path = strategy, dataset_size_path
        self._dataset_size: dict[str, int] | None = None

    @property
    def dataset_size(self) -> dict[str, int]:
        """Rows of each dataset that was counted, by name; from the file where there is one."""
        if self._dataset_size is None:
            path = self.dataset_size_path
            self._dataset_size = mmengine.load(path) if os.path.exists(path) else {}  # noqa: PTH110 - programs replace it
        return self._dataset_size

    def get_factor(self, dataset: Any) -> int:
        """Return what a row costs: as many as there are continuations, or what a generated answer costs."""
        config = dataset["infer_cfg"]
        template = config["prompt_template" if "prompt_template" in config else "ice_template"]["template"]
        factor = self.gen_task_coef
        if isinstance(template, Mapping) and not template.keys() <= {"begin", "round", "end"}:
            factor = len(template)
        name = dataset_abbr_from_cfg(dataset)
        return factor * _LONG if any(fnmatch(name, pattern) for pattern in _LONG_ANSWERS) else factor

    def get_cost(self, dataset: Any, get_raw_factors: bool = False) -> int | tuple[int, int]:
        """Return what a dataset costs; its rows are counted by loading it, once.

        Args:
            dataset: Its config.
            get_raw_factors: Whether to return rows and what each costs.
        """
        name, factor = dataset_abbr_from_cfg(dataset), self.get_factor(dataset)
        if name not in self.dataset_size:
            self.dataset_size[name] = len(build_dataset_from_cfg(dataset).test)
            mmengine.mkdir_or_exist(os.path.dirname(self.dataset_size_path) or ".")  # noqa: PTH120 - a text
            mmengine.dump(self.dataset_size, self.dataset_size_path, indent=4, ensure_ascii=False)
        rows = range(self.dataset_size[name])
        for start, stop, step in _SLICE.findall(dataset["reader_cfg"].get("test_range", "")):
            rows = rows[slice(*(int(each) if each else None for each in (start, stop, step)))]
        return (len(rows), factor) if get_raw_factors else len(rows) * factor

    def split_dataset(self, dataset_cfg: Any) -> list[Any]:
        """Return a dataset in parts of about equal size, each a config with a ``test_range``."""
        size, factor = self.get_cost(dataset_cfg, get_raw_factors=True)  # type: ignore[misc]
        most = max(self.max_task_size // factor, 1)
        step = math.ceil(size / math.ceil(size / most))
        name, parts = dataset_abbr_from_cfg(dataset_cfg), []
        for number, start in enumerate(range(0, size, step)):
            part = deepcopy(dataset_cfg)
            part["abbr"] = f"{name}_{number}"
            taken = part["reader_cfg"].get("test_range", "")
            part["reader_cfg"]["test_range"] = f"{taken}[{start}:{start + step}]"
            parts.append(part)
        return parts

    def _chunks(self, model: Any, datasets: Sequence[Any], out_dir: str, *, skip_done: bool) -> list[tuple[int, Any]]:
        found: list[tuple[int, Any]] = []
        for dataset in datasets:
            path = get_infer_output_path(model, dataset, out_dir)
            if skip_done and os.path.exists(path):  # noqa: PTH110 - programs replace it
                continue
            cost = self.get_cost(dataset)
            if not isinstance(cost, int) or cost <= self.max_task_size:
                found.append((cost, dataset))  # type: ignore[arg-type]
                continue
            root, ending = os.path.splitext(path)  # noqa: PTH122 - a text
            for number, part in enumerate(self.split_dataset(dataset)):
                if not os.path.exists(f"{root}_{number}{ending}"):  # noqa: PTH110 - programs replace it
                    found.append((self.max_task_size, part))
        return found

    def _packed(self, chunks: Sequence[tuple[int, Any]]) -> list[list[Any]]:
        """Return chunks together, as many as the largest task may cost; each by itself where they are only split."""
        if self.strategy == "split":
            return [[dataset] for _, dataset in chunks]
        packed: list[list[Any]] = []
        room = 0
        for cost, dataset in sorted(chunks, key=lambda chunk: chunk[0], reverse=True):
            if not packed or cost > room:
                packed.append([])
                room = self.max_task_size
            packed[-1].append(dataset)
            room -= cost
        return packed

    def _sized_tasks(
        self, models: Sequence[Any], datasets: Sequence[Any], out_dir: str, rest: Config, *, skip_done: bool
    ) -> list[Config]:
        ordered = sorted(datasets, key=self.get_cost, reverse=True)
        chunks = ((model, self._chunks(model, ordered, out_dir, skip_done=skip_done)) for model in models)
        return [
            {"models": [model], "datasets": [part], **rest} for model, each in chunks for part in self._packed(each)
        ]


class SizePartitioner(_Costs, BasePartitioner):
    """Makes tasks that cost about the same: large datasets are cut, small ones put together.

    Args:
        out_dir: The folder of results.
        max_task_size: What a task may cost.
        gen_task_coef: What a generated answer costs.
        strategy: ``heuristic``, or ``split`` to put nothing together.
        dataset_size_path: Where the sizes of datasets are kept.
        keep_keys: As of :class:`BasePartitioner`.

    Raises:
        AssertionError: There is no such strategy, as upstream.
    """

    def __init__(
        self,
        out_dir: str,
        max_task_size: int = _LARGE_TASK,
        gen_task_coef: int = _GENERATION,
        strategy: str = "heuristic",
        dataset_size_path: str = ".cache/dataset_size.json",
        keep_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(out_dir=out_dir, keep_keys=keep_keys)
        self._set_sizes(max_task_size, gen_task_coef, strategy, dataset_size_path)

    def partition(  # type: ignore[override]
        self,
        model_dataset_combinations: Sequence[Mapping[str, Sequence[Config]]],
        work_dir: str,
        out_dir: str,
        add_cfg: Mapping[str, Any] | None = None,
    ) -> list[Config]:
        """Return the tasks; datasets whose answers are in the folder are left out."""
        rest = {"work_dir": work_dir, **(add_cfg or {})}
        parts = ((each["models"], each["datasets"]) for each in model_dataset_combinations)
        return [task for part in parts for task in self._sized_tasks(*part, out_dir, rest, skip_done=True)]


class SubjectiveSizePartitioner(_Costs, SubjectiveNaivePartitioner):
    """The same for exams that judges grade.

    Args:
        out_dir: The folder of results.
        max_task_size, gen_task_coef, strategy, dataset_size_path: As of :class:`SizePartitioner`.
        **rest: As of :class:`SubjectiveNaivePartitioner`.

    Raises:
        AssertionError: There is no such strategy, as upstream.
    """

    def __init__(
        self,
        out_dir: str,
        *,
        max_task_size: int = _LARGE_TASK,
        gen_task_coef: int = _GENERATION,
        strategy: str = "heuristic",
        dataset_size_path: str = ".cache/dataset_size.json",
        **rest: Any,
    ) -> None:
        super().__init__(out_dir, **rest)
        self._set_sizes(max_task_size, gen_task_coef, strategy, dataset_size_path)

    def partition(  # type: ignore[override]
        self,
        models: Sequence[Config],
        datasets: Sequence[Config],
        work_dir: str,
        out_dir: str = "",
        add_cfg: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """Return the tasks that are not done yet; a task may cost as much more as there are datasets, as upstream."""
        self.max_task_size *= len(datasets)
        return super().partition(models, datasets, work_dir, out_dir, add_cfg)

    def _tasks_of(
        self, chosen: Any, dataset: Config, work_dir: str, out_dir: str, add_cfg: Mapping[str, Any] | None
    ) -> list[Config]:
        rest = {"work_dir": work_dir, **(add_cfg or {})}
        return self._sized_tasks(list(chosen or ()), [dataset], out_dir, rest, skip_done=False)
