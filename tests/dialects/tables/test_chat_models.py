"""A table that a chat model sits: what is said to it stands in messages of its own."""

import json

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.recipes.exam import suited
from proctor.recipes.options import ExamOptions

ENGINE = OpenAIEngine(model="m", base_url="http://127.0.0.1:1/v1")


def asked(tmp_path, monkeypatch, **options):
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{n} + 2?", "answer": str(n + 2)} for n in range(4)]
    (tmp_path / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    [exam] = suited(resolve_tasks(["sums.jsonl"], ExamOptions(**options)), ENGINE)
    return next(iter(exam.questions())).requests[0].prompt.messages


def test_a_system_prompt_is_a_message_of_its_own(tmp_path, monkeypatch):
    said = asked(tmp_path, monkeypatch, system_prompt="Be brief.")
    assert said == ({"role": "system", "content": "Be brief."}, {"role": "user", "content": "0 + 2?"})


def test_demonstrations_are_turns(tmp_path, monkeypatch):
    said = asked(tmp_path, monkeypatch, num_demos=2)
    assert [each["role"] for each in said] == ["user", "assistant", "user", "assistant", "user"]
    assert said[-1]["content"] == "0 + 2?"


@pytest.mark.parametrize("options", [{}, {"apply_chat_template": False, "system_prompt": "Be brief."}])
def test_a_bare_question_and_what_is_asked_for_stay_one_message(tmp_path, monkeypatch, options):
    assert [each["role"] for each in asked(tmp_path, monkeypatch, **options)] == ["user"]
