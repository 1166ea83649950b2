"""AISBench's task that scores answers (``ais_bench.benchmark.tasks.openicl_eval``), as programs drive it.

It reads ``predictions/MODEL/DATASET.jsonl`` and writes ``results/MODEL/DATASET.json`` of a folder of work.
``proctor evaluate`` does it for exams.
"""
# ruff: noqa: PTH110, PTH118 - paths are texts, as upstream: programs replace functions of os

from __future__ import annotations

import argparse
import copy
import fnmatch
import os.path as osp
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from pathlib import Path
from typing import Any, NamedTuple

from proctor.compat.aisbench_names.answer_files import (
    TYPE_DEFAULT_MAP,  # noqa: F401
    completed,
    read_answers,
)
from proctor.compat.aisbench_names.builders import build_dataset_from_cfg
from proctor.compat.aisbench_names.details import bits_per_byte, formatted
from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import dataset_abbr_from_cfg, get_infer_output_path, task_abbr_from_cfg
from proctor.compat.aisbench_names.registries import ICL_EVALUATORS, TASKS, TEXT_POSTPROCESSORS
from proctor.compat.aisbench_names.result_files import dump_results_dict
from proctor.compat.aisbench_names.task_names import BaseTask
from proctor.compat.aisbench_names.type_checks import check_type
from proctor.errors import UnknownArtifactError
from proctor.jsonable import jsonable


class _Scored(NamedTuple):
    """The scores of a dataset, and those of what a model read out of the answers."""

    scores: dict[str, Any]
    of_model: dict[str, Any] | None = None


@TASKS.register_module()
class OpenICLEvalTask(BaseTask):
    """Scores the answers of a model to datasets.

    Args:
        cfg: The config of the task: ``models``, ``datasets``, ``work_dir``, ``cli_args``, and perhaps ``eval``.
    """

    name_prefix = "OpenICLEval"
    log_subdir = "logs/eval"
    output_subdir = "results"
    dataset_cfg: Any
    eval_cfg: Any
    output_column: str | None
    task_state_manager: Any = None

    def __init__(self, cfg: Mapping[str, Any]) -> None:
        super().__init__(cfg)
        self.logger = AISLogger()
        self.num_gpus = max(each.get("eval_cfg", {}).get("num_gpus", 0) for each in self.dataset_cfgs)
        said = cfg.get("eval", {}).get("runner", {}).get("task", {})
        self.dump_details = said.get("dump_details", False)
        self.cal_extract_rate = said.get("cal_extract_rate", False)

    def get_command(self, cfg_path: str, template: str) -> str:
        """Return the command that runs this task by itself."""
        return template.format(task_cmd=f"{sys.executable} -m {__name__} {cfg_path}")

    def run(self, task_state_manager: Any = None) -> None:
        """Score every dataset, and write its scores."""
        self.task_state_manager = task_state_manager
        for dataset in self.dataset_cfgs:
            self.dataset_cfg, self.eval_cfg = dataset, dataset.get("eval_cfg")
            self.output_column = dataset["reader_cfg"]["output_column"]
            name = dataset_abbr_from_cfg(dataset)
            for pattern, chosen in self.model_cfg.get("pred_postprocessor", {}).items():
                if fnmatch.fnmatch(name, pattern):
                    self.eval_cfg["pred_postprocessor"] = chosen
                    break
            if osp.exists(path := self._result_path()):
                self.logger.warning("%s is there already, and is written anew", path)
            self._score()

    def _result_path(self) -> str:
        return get_infer_output_path(self.model_cfg, self.dataset_cfg, osp.join(self.work_dir, "results"))

    def _repeats(self) -> tuple[int, int, int]:
        """Return ``k``, ``n`` and how often every row was asked.

        Raises:
            ParameterValueError: They cannot be.
        """
        asked = (self.model_cfg.get("generation_kwargs") or {}).get("num_return_sequences", 1)
        k, n = self.dataset_cfg.get("k", asked), self.dataset_cfg.get("n", asked)
        check_type(k, int)
        check_type(n, int)
        if not 0 < k <= n:
            what = f"k is {k} and n is {n}, and must be 0 < k <= n"
            raise failure("ParameterValueError", "TEVAL_CODES", "N_K_ILLEGAL", what)
        return k, n, asked

    def _score(self) -> None:
        k, n, asked = self._repeats()
        self.dataset_cfg.update({"k": k, "n": n})
        rows = build_dataset_from_cfg(self.dataset_cfg, task_state_manager=self.task_state_manager).test
        rows = self._prepared(rows)
        name = task_abbr_from_cfg(self.cfg)
        folder = osp.join(self.work_dir, "predictions")
        path = get_infer_output_path(self.model_cfg, self.dataset_cfg, folder, "jsonl")
        answers = read_answers(path) if osp.exists(osp.realpath(path)) else []
        if not answers:
            self.logger.warning("%s: there are no predictions in %s, and nothing is scored", name, path)
            return
        found = self._scored(completed(answers, len(rows), asked, self.logger), rows, k, n)
        if "error" in found.scores:
            self.logger.warning("%s: %s", name, found.scores["error"])
            return
        for title, scores in (("Task", found.scores), ("Model Postprocess Task", found.of_model)):
            if scores is not None:
                shown = {key: value for key, value in scores.items() if key != "details"}
                self.logger.info(f"{title} {name}: {shown}")  # noqa: G004 - programs look into the message
        out = Path(self._result_path())
        out.parent.mkdir(parents=True, exist_ok=True)
        dump_results_dict(jsonable(found.scores), out)

    def _prepared(self, rows: Any) -> Any:
        """Return the rows with their right answers after the post-processor of references."""
        if "dataset_postprocessor" not in self.eval_cfg:
            return rows
        function, arguments = self._function(self.eval_cfg["dataset_postprocessor"])
        column = self.output_column
        return rows.map(lambda row: {**row, column: function(row[column], **arguments)})

    @staticmethod
    def _function(cfg: Mapping[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
        arguments = copy.deepcopy(dict(cfg))
        kind = arguments.pop("type")
        function = TEXT_POSTPROCESSORS.get(kind) if isinstance(kind, str) else kind
        if function is None:
            raise UnknownArtifactError(f"there is no post-processor '{kind}'", hint="proctor list postprocessors")
        return function, arguments

    def _processed(self, said: list[Any]) -> list[Any]:
        """Return predictions after the post-processors of model and dataset; of several in a row each."""
        for cfg in (self.model_cfg, self.eval_cfg):
            chosen = cfg.get("pred_postprocessor")
            if not chosen or "type" not in chosen:  # by datasets: :meth:`run` has chosen already
                continue
            function, arguments = self._function(chosen)
            if isinstance(said[0], list):
                said = [[function(text, **arguments) for text in texts] for texts in said]
            else:
                said = [function(text, **arguments) for text in said]
        return said

    def _scored(self, answers: list[dict[str, Any]], rows: Any, k: int, n: int) -> _Scored:
        columns: dict[str, Any] = {key: [answer.get(key) for answer in answers] for key in answers[0]}
        said = self._processed(columns.pop("prediction", [None] * len(answers)))
        if self.eval_cfg.get("sc_size") is not None:
            said = [Counter(each).most_common(1)[0][0] for each in said]
        references = rows[self.output_column] if self.output_column else None
        read = self._read_by_model(answers, references)
        evaluator = self._evaluator()
        columns |= {"predictions": said, "references": references, "test_set": rows}
        columns.setdefault("origin_prompt", [None] * len(said))
        given = _taken(evaluator.score, columns)
        scores = evaluator.evaluate(k, n, copy.deepcopy(rows), **given)
        of_model = evaluator.score(**{**copy.deepcopy(given), "predictions": read}) if read is not None else None
        for key, value in (of_model or {}).items():
            if key != "details":
                scores[f"model_postprocess_{key}"] = value
        self._add_details(scores, of_model, answers, (said, read or [], references))
        return _Scored(scores, of_model)

    def _evaluator(self) -> Any:
        if "returns_tool_calls" in self.model_cfg:
            self.eval_cfg["evaluator"].update({"is_fc_model": self.model_cfg["returns_tool_calls"]})
        evaluator = ICL_EVALUATORS.build(self.eval_cfg["evaluator"])
        folder = Path(self._result_path()).parent
        folder.mkdir(parents=True, exist_ok=True)
        evaluator._out_dir = str(folder)  # noqa: SLF001 - upstream's name, which evaluators read
        return evaluator

    def _read_by_model(self, answers: Sequence[Mapping[str, Any]], references: Any) -> Any:
        """Return what a model reads out of the answers; ``None`` where none does."""
        if "model_postprocessor" not in self.eval_cfg:
            return None
        function, arguments = self._function(self.eval_cfg["model_postprocessor"])
        shown = [{**copy.deepcopy(dict(each)), "reference": [references[at]]} for at, each in enumerate(answers)]
        if isinstance(answers[0].get("prediction"), list):
            return [[function(each, **arguments) for each in shown]]
        return function(shown, **arguments)

    def _add_details(
        self, scores: dict[str, Any], of_model: Mapping[str, Any] | None, answers: list[dict[str, Any]], texts: Any
    ) -> None:
        """Write into scores what became of each answer, where that is asked for."""
        if self.dump_details and "BFCL" in str(self.dataset_cfg.get("type", "")):
            self.logger.info("BFCL: its evaluator keeps the answers that are wrong")
            return
        if not self.dump_details:
            scores.pop("details", None)
            return
        said, read, references = texts
        try:
            shown = self.format_details(
                said, read, references, scores.get("details"), (of_model or {}).get("details"), answers
            )
            scores["details"], scores["type"] = shown, shown.pop("type", None)
            if self.cal_extract_rate:
                scores["extract_rate"] = self.extract_rate(scores)
            if "PPL" in str(self.dataset_cfg["infer_cfg"]["inferencer"]["type"]):
                scores["correct_bpb"], scores["incorrect_bpb"] = self.calculate_bpb(answers)
        except (KeyError, IndexError, TypeError, ValueError, statistics.StatisticsError) as error:
            self.logger.warning("what became of each answer is left out: %s: %s", type(error).__name__, error)

    def extract_rate(self, results: Mapping[str, Any]) -> float:
        """Return the share of answers in percent out of which something was read.

        Raises:
            KeyError: An answer does not say what was read.
        """
        details = results["details"]
        empty = sum(not each["predictions"] for each in details.values())
        return 100 - empty / len(details) * 100

    def format_details(
        self,
        predictions: Sequence[Any],
        model_pred_strs: Sequence[Any],
        references: Sequence[Any],
        details: Sequence[Mapping[str, Any]] | None,
        model_details: Sequence[Mapping[str, Any]] | None,
        pred_dicts: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any]:
        """Return what became of each answer, by its position, and the ``type``: ``PPL`` or ``GEN``.

        Raises:
            ParameterValueError: A model read answers, and nothing of it is there.
        """
        if details is not None and model_details is not None and not list(model_pred_strs):
            what = "a model read the answers, and what it read is missing"
            raise failure("ParameterValueError", "TEVAL_CODES", "UNKNOWN_ERROR", what)
        return formatted(predictions, references, details, model_details, pred_dicts)

    def calculate_bpb(self, pred_dicts: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
        """Return the bits per byte of right labels, and of the others on average, times 100."""
        return bits_per_byte(pred_dicts)


def _taken(function: Callable[..., Any], columns: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that a function takes."""
    taken = signature(function).parameters
    if any(each.kind is Parameter.VAR_KEYWORD for each in taken.values()):
        return dict(columns)
    return {name: columns[name] for name, each in taken.items() if name in columns or each.default is Parameter.empty}


def parse_args() -> argparse.Namespace:
    """Return the arguments of this process: ``config``."""
    parser = argparse.ArgumentParser(description="Score the answers of a task")
    parser.add_argument("config", help="the task's config")
    return parser.parse_args()
