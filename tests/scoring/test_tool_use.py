"""T-Eval, with embeddings that only know words; compared with OpenCompass on 960 answers with the same embeddings."""

from __future__ import annotations

import json

import numpy as np
import pytest

from proctor.errors import ScoringError
from proctor.scoring.evaluators import tool_use
from proctor.scoring.evaluators.cases import Cases


class Words:
    """Embeds a text as the set of its words."""

    def encode(self, texts):
        names = sorted({word for text in texts for word in text.split()})
        return np.array([[float(name in text.split()) for name in names] for text in texts])


@pytest.fixture(autouse=True)
def words(monkeypatch):
    monkeypatch.setattr(tool_use, "sentence_model", lambda model: Words())


def scores(subset, *pairs):
    return tool_use.teval(Cases([given for given, _ in pairs], [json.dumps(gold) for _, gold in pairs]), subset).scores


def test_calls_in_a_format():
    marks = {f"{name}_{side}": f"<{name}{side}>" for name in ("thought", "action", "args") for side in ("start", "end")}
    gold = {"action": "add", "args": {"a": 1}}
    written = "<thoughtstart>t<thoughtend><actionstart> add <actionend><argsstart>{'a': 2}<argsend>"
    rows = [
        (written, {"template": marks, "ground_truth": gold, "meta_data": {"response_format": "string"}}),
        ("```json\n{'t': 'x', 'n': 'add', 'r': {'a': 1}}\n```", {
            "template": {"thought": "t", "action": "n", "args": "r"}, "ground_truth": gold,
            "meta_data": {"response_format": "json"},
        }),
    ]  # fmt: skip
    assert scores("instruct", *rows) == {
        "json_format_metric": 100.0, "json_args_em_metric": 100.0,
        "string_format_metric": 100.0, "string_args_em_metric": 50.0,
    }  # fmt: skip


def plan(*names):
    return json.dumps([{"name": name, "id": place, "args": "x"} for place, name in enumerate(names)])


def test_plans_are_compared_in_order():
    gold = {"ground_truth": plan("a", "b", "c", "FinishAction")}
    found = scores("plan", (plan("a", "c", "b"), gold), ("no plan", gold))
    assert found["parse_rate"] == 50.0
    assert found["recall"] == pytest.approx(100 * (2 / 3) / 2)


def test_steps_are_matched_with_the_likest_ones():
    likeness = np.array([[0.9, 0.8], [0.95, 0.1], [0.2, 0.3]])
    assert tool_use._matching(likeness) == [1, 0, None]


def test_reviews():
    def gold(answer):
        return {"template": "", "meta_data": {"response_format": "str"}, "ground_truth": {"answer": answer}}

    found = scores("review", ("Answer: B because", gold("B")), ("C", gold("B")), ("x", gold("B")))
    assert found == {"parse_rate": pytest.approx(66.67), "review_quality": pytest.approx(33.33)}


def test_parts_of_a_call():
    gold = {"ground_truth": json.dumps({"thought": "find it", "name": "a.b", "args": {"q": 1}})}
    assert scores("reason_zh", ("find it", gold))["thought"] == pytest.approx(100.0)
    assert scores("retrieve", ("use a.b", gold), ("a.b or c.d", gold)) == {"name": 50.0, "parse_rate": 100.0}
    whole = scores("reason_retrieve_understand", (gold["ground_truth"], gold), ("?", gold))
    assert whole == {name: pytest.approx(50.0) for name in ("thought", "name", "args", "parse_rate")}


def test_a_part_that_there_is_not():
    with pytest.raises(ScoringError, match="did you mean 'review'"):
        scores("reviews", ("", {}))
