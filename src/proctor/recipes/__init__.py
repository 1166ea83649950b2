"""Recipes: complete exams, alone or in trees, as artifacts and as datasets."""

from __future__ import annotations

from proctor.lazy import lazily

_HOMES = {
    "benchmark": "BaseBenchmark Benchmark",
    "dataset": "create_dataset load_dataset load_recipe produce",
    "exam": "Answered Exam Question",
    "exam_parts": "Asker Context DemoDraw Demos Grader Kind NoDemos Rows ScoredGroup",
    "fingerprint": "Fingerprint FingerprintMaker instance_digest",
    "honours": "Honoured Honours Refused",
    "options": "ExamOptions",
    "recipe": "BaseRecipe DatasetRecipe Recipe StandardRecipe StandardRecipeWithIndexes",
    "selection": "Opened Row Selection",
}
__getattr__, __dir__ = lazily(__name__, {home: names.split() for home, names in _HOMES.items()})
__all__ = [name for names in _HOMES.values() for name in names.split()]
