"""Metrics that are put together by a random forest which was trained on judgements of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from proctor.errors import ScoringError, ValidationError
from proctor.foreign_text import parse_json
from proctor.scoring.composed import MetricsEnsemble

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NODE = (
    *("left_child", "right_child", "feature", "threshold", "impurity", "n_node_samples"),
    *("weighted_n_node_samples", "missing_go_to_left"),
)
"""What scikit-learn says of a node, in order."""
_LEAF = -1


class RandomForestMetricsEnsemble(MetricsEnsemble):
    """Several metrics, put together by a random forest: their scores are its features, its classes are scores.

    The forest is read here, from the form in which Unitxt saves scikit-learn's ``RandomForestClassifier``; the package
    is not needed. As in scikit-learn, features are rounded to 32 bits, and trees vote with the shares of their leaves.

    Attributes:
        metrics: The metrics, in the order of the forest's features.
        weights: The forest, as :meth:`load_weights` reads it.
    """

    weights: dict[str, Any] | None = None  # type: ignore[assignment]

    @staticmethod
    def load_weights(json_file: str | Path) -> dict[str, Any]:
        """Return a forest that is kept in a JSON file."""
        forest: dict[str, Any] = parse_json(Path(json_file).read_text(encoding="utf-8"))
        return forest

    def verify(self) -> None:
        """Check that the forest has as many features as there are metrics, and one output.

        Raises:
            ValidationError: It has not.
        """
        if self.weights is None:
            return
        features, outputs = self.weights.get("n_features_in_"), self.weights.get("n_outputs_", 1)
        if features != len(self.metrics):
            raise ValidationError(
                f"the forest has {features} features for {len(self.metrics)} metrics", path="$.weights.n_features_in_"
            )
        if outputs != 1 or not self.weights.get("estimators_"):
            raise ValidationError("the forest needs trees, each with one output", path="$.weights")

    @override
    def ensemble(self, instance: Mapping[str, Any]) -> float:
        if self.weights is None:
            raise ScoringError(f"{self.label()} has no forest", hint="weights=….load_weights(FILE)")
        scores = instance["score"]["instance"]
        given = [scores[self.get_prefix_name(place) + metric.main_score] for place, metric in enumerate(self.metrics)]
        return float(predicted_class(self.weights, given))


def predicted_class(forest: Mapping[str, Any], features: Sequence[float]) -> float:
    """Return the class that most of a forest's trees stand for.

    Args:
        forest: A ``RandomForestClassifier`` as data: ``estimators_``, each with its ``tree_``, and ``classes_``.
        features: One number for each feature; NaN takes the side that each node has for missing ones.

    Raises:
        ScoringError: A tree has no way on.
    """
    import numpy as np

    votes = np.zeros(len(forest["classes_"]))
    for tree in forest["estimators_"]:
        votes += _leaf(tree["tree_"], np.asarray(features, dtype=np.float32))[: len(votes)]
    return float(forest["classes_"][int(np.argmax(votes / len(forest["estimators_"])))])


def _leaf(tree: Mapping[str, Any], features: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the share of each class at the leaf that features lead to."""
    import numpy as np

    place = 0
    for _ in tree["nodes"]:
        node = dict(zip(_NODE, tree["nodes"][place], strict=False))
        if node["left_child"] == _LEAF:
            counts: NDArray[np.float64] = np.asarray(tree["values"][place], dtype=np.float64)[0]
            total = counts.sum()
            shares: NDArray[np.float64] = counts / (
                total or 1.0
            )  # scikit-learn before 1.3 keeps counts, later ones shares
            return shares
        value = features[node["feature"]]
        left = node.get("missing_go_to_left", 0) if np.isnan(value) else value <= node["threshold"]
        place = node["left_child"] if left else node["right_child"]
    raise ScoringError("a tree of the forest leads in a circle")
