"""What AISBench's inferencers share: a model, and where its answers go (``…icl_inferencer.icl_base_inferencer``).

Exams are asked by Proctor's own pipeline; these classes serve programs that hold a retriever and a model. They ask one
after the other (or all of a batch at once), and write what ``ais_bench`` writes. Load tests are not here.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from proctor.compat.aisbench_names.builders import build_model_from_cfg
from proctor.compat.aisbench_names.config_files import load_jsonl
from proctor.compat.aisbench_names.failures import failure
from proctor.compat.aisbench_names.handlers import BaseInferencerOutputHandler
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.naming import model_abbr_from_cfg
from proctor.compat.aisbench_names.result_files import safe_write

MAX_BATCH_SIZE = 100_000


class BaseInferencer:
    """A model, and where its answers go.

    Args:
        model_cfg: The model's config.
        batch_size: How many are asked together.
        output_json_filepath: The folder of results.

    Raises:
        ParameterValueError: The batch is empty, or too large.
    """

    def __init__(
        self, model_cfg: Any, batch_size: int | None = 1, output_json_filepath: str = "./icl_inference_output"
    ) -> None:
        self.logger = AISLogger()
        self.model_cfg, self.output_json_filepath = model_cfg, output_json_filepath
        self.batch_size = int(batch_size) if batch_size else 1
        if not 1 <= self.batch_size <= MAX_BATCH_SIZE:
            what = f"batch_size is {self.batch_size}, and must be in [1, {MAX_BATCH_SIZE}]"
            raise failure("ParameterValueError", "ICLI_CODES", "BATCH_SIZE_OUT_OF_RANGE", what)
        self.model: Any = build_model_from_cfg(model_cfg)
        self.output_handler = BaseInferencerOutputHandler()
        self.is_main_process = self._is_main_process()
        self.perf_mode = False
        self.task_state_manager: Any = None

    def get_data_list(self, retriever: Any) -> list[dict[str, Any]]:
        """Return what is asked.

        Raises:
            AISBenchImplementationError: This class is a base.
        """
        del retriever
        raise failure(
            "AISBenchImplementationError", "ICLI_CODES", "UNKNOWN_ERROR", f"{type(self).__name__} needs 'get_data_list'"
        )

    def set_task_state_manager(self, task_state_manager: Any) -> None:
        """Say who is told of progress."""
        self.task_state_manager = task_state_manager

    def get_output_dir(self, output_json_filepath: str | None = None) -> str:
        """Return the folder of this model's answers."""
        top = self.output_json_filepath if output_json_filepath is None else output_json_filepath
        kind = "performances" if self.perf_mode else "predictions"
        return os.path.join(top, kind, model_abbr_from_cfg(self.model_cfg))  # noqa: PTH118 - texts, as upstream

    def get_finish_data_list(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Return the answers that are there already, by dataset and uuid; those of a stopped run join their file."""
        folder = Path(self.get_output_dir())
        if self.perf_mode or not folder.is_dir():
            return {}
        found: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        for path in sorted(folder.glob("*.jsonl")):
            found[path.name.split(".")[0]] = {line["uuid"]: line for line in _succeeded(path)}
        late: dict[str, dict[str, Any]] = defaultdict(dict)
        for path in sorted((folder / "tmp").glob("*.jsonl")):
            for line in _succeeded(path):
                if line["uuid"] not in found[line["data_abbr"]]:
                    late[line["data_abbr"]][line["uuid"]] = line
                found[line["data_abbr"]][line["uuid"]] = line
        for data_abbr, lines in late.items():
            safe_write(lines, folder / f"{data_abbr}.jsonl")
        return found

    def _is_main_process(self) -> bool:
        return int(os.environ.get("RANK", "0")) == 0


def _succeeded(path: Path) -> Iterable[dict[str, Any]]:
    return (line for line in load_jsonl(path) if line.get("success"))


def asked_rows(prompts: Sequence[Any], retriever: Any, model: Any, logger: AISLogger) -> list[dict[str, Any]]:
    """Return what is asked: prompts with dataset, position, limit and, where there is one, the right answer."""
    rows = [
        {"prompt": each, "data_abbr": retriever.dataset.abbr, "index": place, "max_out_len": model.max_out_len}
        for place, each in enumerate(prompts)
    ]
    for row, gold in zip(rows, retriever.get_gold_ans() or (), strict=False):
        row["gold"] = gold
    limits = retriever.dataset_reader.get_max_out_len()
    if limits is not None:
        logger.info("rows say how long their answers may be")
        for row, limit in zip(rows, limits, strict=False):
            row["max_out_len"] = limit or model.max_out_len
    return rows
