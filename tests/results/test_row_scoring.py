from __future__ import annotations

import pytest

from proctor.errors import ScoringError
from proctor.results.row_scoring import evaluate_frame

ROWS = [
    {
        "question": "Where is Paris?",
        "answer": "Paris is in France",
        "ground_truths": ["in France"],
        "contexts": ["Paris is a city in France.", "Berlin is in Germany."],
        "context_ids": ["a", "b"],
        "ground_truths_context_ids": ["b"],
    },
    {
        "question": "Where is Berlin?",
        "answer": "no idea",
        "ground_truths": ["in Germany"],
        "contexts": ["Berlin is in Germany."],
        "context_ids": ["b"],
        "ground_truths_context_ids": ["b"],
    },
]
NAMES = ["metrics.rag.mrr", "metrics.rag.map", "metrics.rag.answer_correctness", "metrics.rag.faithfulness"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_rows_of_a_rag_log_get_a_column_for_each_metric():
    rows, scores = evaluate_frame(ROWS, NAMES)
    assert [row["metrics.rag.mrr"] for row in rows] == [0.5, 1.0]
    assert [row["metrics.rag.answer_correctness"] for row in rows] == [1.0, 0.0]
    assert rows[0]["metrics.rag.faithfulness"] == pytest.approx(1.0)
    assert scores["metrics.rag.mrr"]["score"] == 0.75
    assert "score_ci_low" not in scores["metrics.rag.mrr"]
    assert "metrics.rag.mrr" not in ROWS[0]
    assert "score_ci_low" in evaluate_frame(ROWS, NAMES[:1], intervals=True)[1]["metrics.rag.mrr"]


def test_a_frame_gives_frames():
    pandas = pytest.importorskip("pandas")
    frame, scores = evaluate_frame(pandas.DataFrame(ROWS), ["metrics.rag.external_rag.faithfulness"])
    assert list(frame["metrics.rag.external_rag.faithfulness"]) == [pytest.approx(1.0), 0.0]
    assert scores["metrics.rag.external_rag.faithfulness"]["score_name"] == "faithfulness_precision"


def test_rows_with_predictions_are_scored_as_they_are():
    rows = [{"prediction": "a", "references": ["a"]}, {"prediction": None, "references": ["b"]}]
    found, scores = evaluate_frame(rows, ["metrics.accuracy", "metrics.token_overlap"])
    assert [row["metrics.accuracy"] for row in found] == [1.0, 0.0]
    assert found[1]["metrics.token_overlap"] is None
    assert scores["metrics.token_overlap"]["num_of_failures"] == 1
    with pytest.raises(ScoringError, match="no row"):
        evaluate_frame([], ["metrics.accuracy"])
