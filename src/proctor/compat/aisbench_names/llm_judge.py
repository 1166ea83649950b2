"""AISBench's judges of answers as programs use them (``ais_bench.benchmark.datasets.utils.llm_judge``)."""

from __future__ import annotations

import os
from typing import Any

from proctor.compat.aisbench_names.base_datasets import BaseJDGDataset
from proctor.compat.aisbench_names.config_files import load_jsonl
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.scoring import evaluator_class, text_postprocessor

logger = AISLogger()
get_a_or_b = text_postprocessor("get_a_or_b")
LLMJudgeCorrectEvaluator = evaluator_class("LLMJudgeCorrectEvaluator", "aisbench")


class LLMJudgeDataset(BaseJDGDataset):
    """Rows together with the answers of a file of predictions."""

    def _load_from_predictions(self, prediction_path: str) -> list[Any]:
        if not os.path.exists(prediction_path):  # noqa: PTH110 - programs replace it
            logger.warning("there is no file of predictions '%s'", prediction_path)
            return []
        return sorted(load_jsonl(prediction_path), key=lambda each: each.get("id", 0))
