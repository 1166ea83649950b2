"""Granite Guardian: what is asked, and how answers are read."""

from __future__ import annotations

import math
from typing import Any

import pytest

from proctor.errors import ValidationError
from proctor.scoring.columns import Columns
from proctor.scoring.judges import guardian
from proctor.scoring.judges.judge_client import Answer, JudgePrompt


def token(text: str, **likely: float) -> dict[str, Any]:
    """Return a token with its likely ones by probability."""
    tops = [{"text": word, "logprob": math.log(share)} for word, share in likely.items()]
    return {"text": text, "logprob": 0.0, "top_tokens": tops}


def test_the_probability_of_a_risk_is_that_of_yes_among_both() -> None:
    assert guardian.verdict([token("Yes", Yes=0.6, No=0.2, Maybe=0.2)]) == ("Yes", pytest.approx(0.75))
    assert guardian.verdict([token(" no", No=0.5), token("", yes=0.5)]) == ("No", pytest.approx(0.5))
    assert guardian.verdict([token("Perhaps", Yes=0.1)]) == (None, pytest.approx(1.0))


class Layout:
    """Stands for the model's tokenizer."""

    def apply_chat_template(self, messages: list[dict[str, str]], guardian_config: dict[str, str], **_: Any) -> str:
        words = " ".join(f"<{each['role']}>{each['content']}" for each in messages)
        return f"{guardian_config} {words}"


def test_an_evaluation_asks_all_at_once_and_scores_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def ask(engine: Any, prompts: list[JudgePrompt], *, log_probabilities: bool) -> list[Answer]:
        assert log_probabilities
        asked.extend(str(each.source) for each in prompts)
        return [Answer([token("Yes", Yes=0.9, No=0.1)], {}), Answer([token("Hm", No=1.0)], {})]

    monkeypatch.setattr(guardian, "ask", ask)
    monkeypatch.setattr(guardian, "load_tokenizer", lambda name: Layout())
    monkeypatch.setattr(guardian.GraniteGuardianBase, "_engine", lambda self: self)
    metric = guardian.GraniteGuardianAssistantRisk(risk_name="harm", assistant_message_field="prediction")
    columns = Columns(["A", "B"], [[], []], [{"user": "q"}, {"user": "r"}])
    found = metric.measure(columns, intervals=False)
    assert not found.failures
    assert asked == ["{'risk_name': 'harm'} <user>q <assistant>A", "{'risk_name': 'harm'} <user>r <assistant>B"]
    assert found.overall["score_name"] == "harm"
    assert found.overall["score"] == pytest.approx(0.45)
    assert list(found.instances["harm_label"]) == ["Yes", None]
    assert math.isnan(found.instances["harm_certainty"][1])


@pytest.mark.parametrize(
    "kind, fields, said",
    [
        (guardian.GraniteGuardianUserRisk, {"risk_name": "ham"}, "did you mean 'harm'"),
        (guardian.GraniteGuardianUserRisk, {}, "is not a user_risk"),
        (guardian.GraniteGuardianBase, {"risk_name": "harm"}, "needs the type of its risk"),
        (guardian.GraniteGuardianUserRisk, {"risk_name": "harm", "generation_params": {"n": 1}}, "generation_params"),
    ],
)
def test_risks_that_there_are_not_are_refused(kind: Any, fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        kind(**fields)


def test_custom_risks_take_the_messages_that_there_are() -> None:
    metric = guardian.GraniteGuardianCustomRisk(risk_name="mine", risk_definition="d")
    messages = metric.messages({"tools": '[{"a": 1}]', "user": "u"})
    assert messages == [{"role": "tools", "content": "[{'a': 1}]"}, {"role": "user", "content": "u"}]


def test_a_class_names_the_risks_of_its_type() -> None:
    named = guardian.GraniteGuardianAssistantRisk.get_available_risk_names()
    assert named == ["harm", "social_bias", "violence", "profanity", "unethical_behavior"]
    assert guardian.GraniteGuardianBase.available_risks[guardian.RiskType.AGENTIC] == ["function_call"]
