"""Partitioners of exams that judges grade (``ais_bench.benchmark.partitioners.sub_naive``)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from itertools import combinations, product
from typing import Any

from proctor.compat.aisbench_names.naming import deal_with_judge_model_abbr, get_infer_output_path
from proctor.compat.aisbench_names.partitioning import Config, NaivePartitioner

_MODES = ("singlescore", "allpair", "m2n", "fixed")
_ORDERS = ("random", "double", None)


def remove_duplicate_pairs(model_combinations: Sequence[Sequence[Config]]) -> list[Any]:
    """Return pairs of models, each once whichever comes first, and none of a model with itself."""
    kept: dict[tuple[str, ...], Any] = {}
    for pair in model_combinations:
        names = tuple(sorted(each["abbr"] for each in pair[:2]))
        if names[0] != names[1]:
            kept.setdefault(names, pair)
    return list(kept.values())


def replicate_tasks_with_judge_models(
    tasks: Sequence[Config], judge_models: Sequence[Config], meta_judge_model: Config | None
) -> list[Any]:
    """Return each task once for every judge.

    Returns:
        Tasks with ``judge_model``; with a judge over the judges two lists: those, and tasks with ``meta_judge_model``.
    """
    judged = [{**task, "judge_model": judge} for task in tasks for judge in judge_models]
    if not meta_judge_model:
        return judged
    above = {"meta_judge_model": meta_judge_model, "judge_models": judge_models}
    return [judged, [{**task, **above} for task in tasks]]


def remove_already_tasks(tasks: Sequence[Any], work_dir: str, meta_judge_model: Config | None) -> list[Any]:
    """Return tasks without the datasets whose verdicts are in the folder of results."""
    del meta_judge_model  # a task says it itself
    if tasks and isinstance(tasks[0], list):
        return [_open_tasks(tasks[0], work_dir, "judge_model"), _open_tasks(tasks[1], work_dir, "meta_judge_model")]
    return _open_tasks(tasks, work_dir, "judge_model")


def _open_tasks(tasks: Iterable[Config], work_dir: str, judge: str) -> list[Config]:
    results = os.path.join(work_dir, "results")  # noqa: PTH118 - a text, as upstream
    found = []
    for task in tasks:
        models = deal_with_judge_model_abbr(task["models"][0], task[judge], judge == "meta_judge_model")
        paths = [get_infer_output_path(models, dataset, results) for dataset in task["datasets"][0]]
        is_open = [not os.path.exists(path) for path in paths]  # noqa: PTH110 - programs replace it
        if any(is_open):
            kept = deepcopy(task)
            kept["datasets"][0] = [each for each, wanted in zip(kept["datasets"][0], is_open, strict=True) if wanted]
            found.append(kept)
    return found


def get_model_combinations(
    mode: str,
    models: Sequence[Config],
    base_models: Sequence[Config] | None = (),
    compare_models: Sequence[Config] | None = (),
) -> Iterable[Any] | None:
    """Return which models are set beside which: all pairs, or each of some with each of others.

    Raises:
        AssertionError: There are too few models, as upstream.
    """
    if mode == "fixed":
        return None
    if mode == "allpair":
        if len(models) < 2:  # noqa: PLR2004 - a pair
            raise AssertionError(f"'allpair' sets models beside each other, and there are {len(models)}")
        return combinations(models, 2)
    if not base_models or not compare_models:
        raise AssertionError("'m2n' needs base_models and compare_models")
    return remove_duplicate_pairs([pair for pair in product(base_models, compare_models) if pair[0] != pair[1]])


class SubjectiveNaivePartitioner(NaivePartitioner):
    """Makes tasks of datasets, models or pairs of them, and judges.

    Args:
        out_dir: The folder of results.
        models: Whose answers are graded; without them those of the experiment.
        base_models, compare_models, model_pairs: Of comparisons, for programs that read them.
        judge_models: Who grades.
        meta_judge_model: Who sums up what they say.
        keep_keys: As of :class:`BasePartitioner`.
    """

    def __init__(  # noqa: PLR0917 - upstream's signature
        self,
        out_dir: str,
        models: Sequence[Config] = (),
        base_models: Sequence[Config] = (),
        compare_models: Sequence[Config] = (),
        judge_models: Sequence[Config] = (),
        meta_judge_model: Config | None = None,
        model_pairs: Sequence[Any] | None = None,
        keep_keys: Sequence[str] | None = None,
    ) -> None:
        super().__init__(out_dir=out_dir, keep_keys=keep_keys)
        self.models, self.base_models, self.compare_models = models, base_models, compare_models
        self.judge_models, self.meta_judge_model, self.model_pairs = judge_models, meta_judge_model, model_pairs

    def partition(  # type: ignore[override]
        self,
        models: Sequence[Config],
        datasets: Sequence[Config],
        work_dir: str,
        out_dir: str = "",
        add_cfg: Mapping[str, Any] | None = None,
    ) -> list[Any]:
        """Return the tasks that are not done yet, each with ``infer_order``.

        Raises:
            AssertionError: A dataset has a ``mode`` or an ``infer_order`` that is not known, as upstream.
        """
        found: list[Any] = []
        for dataset in datasets:
            mode, order = dataset["mode"], dataset.get("infer_order")
            if mode not in _MODES or order not in _ORDERS:
                raise AssertionError(f"there is no mode {mode!r} with infer_order {order!r}")
            asked = self.models or models
            chosen = (
                asked if mode == "singlescore" else get_model_combinations(mode, asked, dataset["base_models"], asked)
            )
            tasks: list[Any] = self._tasks_of(chosen, dataset, work_dir, out_dir, add_cfg)
            tasks = replicate_tasks_with_judge_models(tasks, self.judge_models, self.meta_judge_model)
            tasks = remove_already_tasks(tasks, work_dir, self.meta_judge_model)
            for task in tasks:
                for each in task if isinstance(task, list) else [task]:
                    each["infer_order"] = order
            found += tasks
        return found

    def _tasks_of(
        self, chosen: Any, dataset: Config, work_dir: str, out_dir: str, add_cfg: Mapping[str, Any] | None
    ) -> list[Config]:
        return NaivePartitioner.partition(
            self,
            model_dataset_combinations=[{"models": chosen, "datasets": [dataset]}],
            work_dir=work_dir,
            out_dir=out_dir,
            add_cfg=add_cfg,
        )
