"""Tables with more than texts in their cells: chats are asked as they are, parts of objects are columns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.dialects.conversion.written import written_out
from proctor.dialects.resolve import resolve_tasks
from proctor.dialects.tables.nested import parts_of, with_parts
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams

SYSTEM = {"role": "system", "content": "One word."}


def chat(question: str, answer: str | None = None) -> list[dict[str, str]]:
    said = [SYSTEM, {"role": "user", "content": question}]
    return said if answer is None else [*said, {"role": "assistant", "content": answer}]


def table(folder: Path, *rows: dict[str, Any]) -> str:
    file = folder / "rows.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(file)


def asked(path: str, **options: Any) -> list[Any]:
    (exam,) = resolve_tasks([path], ExamOptions(**options))
    return [question.requests[0].prompt.messages for question in exam.questions()]


def score(path: str, folder: Path, answer: str, **options: Any) -> float:
    exams = resolve_tasks([path], ExamOptions(**options))
    done = run_exams(exams, ScriptedEngine(answer=answer), log=folder / "log.db")
    (results,) = done.results.values()
    return results["exact_match"]


def test_a_chat_is_asked_as_it_is_and_its_last_message_is_right(
    tmp_path: Path, heard: pytest.LogCaptureFixture
) -> None:
    path = table(tmp_path, {"messages": chat("Capital of Peru?", "Lima")}, {"messages": chat("Of Chile?", "Santiago")})
    assert asked(path) == [tuple(chat("Capital of Peru?")), tuple(chat("Of Chile?"))]
    assert score(path, tmp_path, "**Lima**") == 0.5


def test_parts_of_objects_are_columns(tmp_path: Path) -> None:
    rows = [{"prompt": chat("2+2?"), "reward_model": {"ground_truth": "4", "of": {"style": "rule"}}}] * 2
    path = table(tmp_path, *rows)
    assert asked(path, answer_column="reward_model.ground_truth") == [tuple(chat("2+2?"))] * 2
    assert score(path, tmp_path, "4", answer_column="reward_model.ground_truth") == 1.0
    assert asked(path, prompt=("{reward_model.of.style}?",), answer_column="reward_model.ground_truth")[0]
    with pytest.raises(ProctorError, match="'reward_model.ground_truth', 'reward_model.of.style'"):
        resolve_tasks([path])


def test_a_chat_without_an_answer_is_recorded_only_when_the_user_says_so(tmp_path: Path) -> None:
    path = table(tmp_path, {"messages": chat("Hi?")})
    with pytest.raises(ProctorError, match="nothing says which column of the table is right"):
        resolve_tasks([path])
    assert asked(path, predict_only=True) == [tuple(chat("Hi?"))]


def test_a_column_that_is_right_comes_before_the_last_message(tmp_path: Path) -> None:
    path = table(tmp_path, {"messages": chat("Hi?", "Hello"), "answer": "Good day"})
    assert score(path, tmp_path, "Good day") == 1.0


def test_rows_without_wanted_parts_stay_what_they_are() -> None:
    rows = [{"a": {"b": 1, "c": {"d": 2}}}, {"a": "text"}]
    assert parts_of(rows) == ["a.b", "a.c.d"]
    assert with_parts(rows, ["q"]) is rows
    assert [row["a.c.d"] for row in with_parts(rows, ["a.c.d"])] == [2, None]


TOOL = {"name": "weather", "description": "", "parameters": {"type": "object"}}
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rome"}'}}


def test_a_chat_keeps_its_calls_of_tools_and_what_they_returned(tmp_path: Path) -> None:
    told = [
        {"role": "user", "content": "Weather in Rome?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]
    path = table(tmp_path, {"messages": [*told, {"role": "assistant", "content": "Sunny", "weight": 1}]})
    assert asked(path) == [tuple(told)]


def test_the_functions_of_a_row_are_offered_and_calls_are_compared(
    tmp_path: Path, heard: pytest.LogCaptureFixture
) -> None:
    called = [
        {"role": "user", "content": "Weather in Rome?"},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
    ]
    path = table(tmp_path, {"messages": called, "tools": [TOOL]}, {"messages": chat("Hello", "Hi"), "tools": []})
    (exam,) = resolve_tasks([path], ExamOptions())
    first, second = [question.requests[0] for question in exam.questions()]
    assert first.decoding.extra == {"tools": [{"type": "function", "function": TOOL}]}
    assert second.decoding.extra == {}
    assert "offers the functions in 'tools'" in heard.text
    for answer, expected in {
        '{"name": "weather", "arguments": {"city": "Rome"}}': 0.5,
        '<tool_call>\n{"name": "weather", "arguments": {"city": "Rome"}}\n</tool_call>': 0.5,
        '[{"name": "weather", "arguments": {"city": "Rome"}}, {"name": "weather", "arguments": {}}]': 0.0,
        '{"name": "weather", "arguments": {"city": "Oslo"}}': 0.0,
        "It is warm.": 0.5,
    }.items():
        done = run_exams([exam], ScriptedEngine(answer=answer))
        assert done.results["rows"]["tool-calls"] == expected, answer


def test_tools_of_a_text_are_offered_in_a_chat_and_others_are_refused(tmp_path: Path) -> None:
    right = json.dumps({"name": "weather", "arguments": {"city": "Rome"}})
    path = table(tmp_path, {"question": "Weather?", "tools": json.dumps([TOOL]), "answer": right})
    assert asked(path) == [({"role": "user", "content": "Weather?"},)]
    path = table(tmp_path, {"question": "Weather?", "tools": "hammer", "answer": right})
    with pytest.raises(ProctorError, match="no list of functions"):
        asked(path)


def test_right_calls_that_cannot_be_read_are_no_words(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    call = {"name": "weather", "arguments": {"city": "Rome|Bonn"}}
    path = table(tmp_path, {"question": "?", "tools": [TOOL], "answer": json.dumps(call)})
    (exam,) = resolve_tasks([str(path)])
    assert "several right answers" not in caplog.text
    assert run_exams([exam], ScriptedEngine(answer=json.dumps(call))).results["rows"]["tool-calls"] == 1.0
    path = table(tmp_path, {"question": "?", "tools": [TOOL], "answer": '{"call": "weather"}'})
    (exam,) = resolve_tasks([str(path)])
    with pytest.raises(ProctorError, match="has no calls in this row"):
        list(exam.questions())


def test_tools_beside_choices_are_not_offered_and_rows_of_their_own_tools_are_not_converted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = table(tmp_path, {"question": "?", "choices": ["a", "b"], "tools": [TOOL], "answer": "a"})
    resolve_tasks([str(path)])
    assert "offers" not in caplog.text
    rows = [{"question": "?", "tools": [{"name": name}], "answer": "[]"} for name in ("f", "g")]
    (exam,) = resolve_tasks([str(table(tmp_path, *rows))])
    with pytest.raises(ProctorError, match="functions of their own"):
        written_out(exam, "t", "lm-eval")


def test_answers_are_filed_by_what_is_in_files_of_pictures_and_sounds(tmp_path: Path) -> None:
    sounds = ("a.mp3", "audio", "data:audio/mpeg;", b"")
    for name, kind, head, sign in (("a.jpg", "image", "data:image/png;", b"\x89PNG"), sounds):
        path, keys = table(tmp_path, {"question": "What?", kind: name, "answer": "red"}), set()
        for content in (b"...", b"!!!"):
            (tmp_path / name).write_bytes(sign + content)
            (exam,) = resolve_tasks([path])
            (question,) = exam.questions()
            assert head in str(question.requests[0].prompt.messages)
            keys.add(question.requests[0].key)
        assert len(keys) == 2
    (tmp_path / "a.bmp").write_bytes(b"...")
    with pytest.raises(ProctorError, match="cannot be read"):
        asked(table(tmp_path, {"question": "What?", "image": "a.bmp", "answer": "red"}))


def test_pictures_of_a_row_are_shown_where_the_prompt_has_them(tmp_path: Path) -> None:
    (tmp_path / "red.png").write_bytes(b"\x89PNG..")
    path = table(tmp_path, {"question": "What?", "image": "red.png", "answer": "red"})
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORy4u"}}
    assert asked(path)[0][0]["content"] == [picture, {"type": "text", "text": "What?"}]
    (exam,) = resolve_tasks([path], ExamOptions(prompt=("See {image}! {question}",)))
    (question,) = exam.questions()
    prompt = question.requests[0].prompt
    assert [getattr(each, "text", "picture") for each in prompt.turns[0].parts] == ["See ", "picture", "! What?"]
    assert prompt.messages[0]["content"][1] == picture
    with pytest.raises(ProctorError, match="would lack their pictures"):
        resolve_tasks([path], ExamOptions(num_demos=1))


@pytest.mark.parametrize(
    "cell, shown",
    [
        ("https://a.b/c.png", ["https://a.b/c.png"]),
        (["https://a.b/c.png", "data:image/png;base64,AAAA"], ["https://a.b/c.png", "data:image/png;base64,AAAA"]),
        ('["https://a.b/c.png", ""]', ["https://a.b/c.png"]),
        ("", []),
        (None, []),
    ],
)
def test_pictures_are_addresses_lists_or_none(tmp_path: Path, cell: Any, shown: list[str]) -> None:
    ((message,),) = asked(table(tmp_path, {"question": "What?", "images": cell, "answer": "red"}))
    content = message["content"] if isinstance(message["content"], list) else []
    assert [part["image_url"]["url"] for part in content if part["type"] == "image_url"] == shown


@pytest.mark.parametrize("cell, why", [("../x.png", "not in the table's folder"), ("x.png", "no such file")])
def test_pictures_elsewhere_and_nowhere_are_refused(tmp_path: Path, cell: str, why: str) -> None:
    (tmp_path / "x.png").write_bytes(b"...")
    (tmp_path / "in").mkdir()
    with pytest.raises(ProctorError, match=why):
        asked(table(tmp_path / "in", {"question": "What?", "image": cell, "answer": "red"}))


def test_conversations_of_sharegpt_are_chats(tmp_path: Path) -> None:
    talk = [
        {"from": "system", "value": "Be brief"},
        {"from": "human", "value": "Hi"},
        {"from": "gpt", "value": "Hello"},
    ]
    (exam,) = resolve_tasks([table(tmp_path, {"conversations": talk})])
    (question,) = exam.questions()
    prompt = list(question.requests[0].prompt.messages)
    assert prompt == [{"role": "system", "content": "Be brief"}, {"role": "user", "content": "Hi"}]
    assert question.exchange.references == ("Hello",)
    for other in ([{"from": "narrator", "value": "x"}], [{"from": "gpt", "value": 1}], ["x"]):
        with pytest.raises(ProctorError):
            list(resolve_tasks([table(tmp_path, {"conversations": talk}, {"conversations": other})])[0].afresh())
