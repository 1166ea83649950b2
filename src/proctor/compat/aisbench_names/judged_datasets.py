"""Datasets of AISBench with a judge: the rows of an exam together with the answers of a model."""

from __future__ import annotations

from typing import Any

from proctor.compat.aisbench_names.llm_judge import LLMJudgeDataset
from proctor.compat.aisbench_names.row_classes import dataset_class


class Aime2025JDGDataset(LLMJudgeDataset):
    """AIME 2025 with answers; arguments as of the dataset that it judges, and ``predictions_path``."""

    def _get_dataset_class(self) -> Any:
        return dataset_class("Aime2025Dataset", "aisbench")


class HLEJGDataset(LLMJudgeDataset):
    """Humanity's Last Exam with answers; arguments as of the dataset that it judges, and ``predictions_path``."""

    def _get_dataset_class(self) -> Any:
        return dataset_class("HLEDataset", "aisbench")
