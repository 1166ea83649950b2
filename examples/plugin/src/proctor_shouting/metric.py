"""A metric: what one instance scores, and how the instances' scores become one."""

from typing import Any

from proctor.scoring import InstanceMetric


class Loudness(InstanceMetric):
    """The share of letters that are capitals; the exam's score is the mean, with a bootstrap interval."""

    main_score: str = "loudness"
    reduction_map: dict[str, Any] = {"mean": ["loudness"]}
    ci_scores: list[str] | None = ["loudness"]

    def compute(self, references: list[Any], prediction: Any, task_data: dict[str, Any]) -> dict[str, Any]:
        """Return the scores of one instance."""
        letters = [letter for letter in str(prediction) if letter.isalpha()]
        return {"loudness": sum(letter.isupper() for letter in letters) / len(letters) if letters else 0.0}
