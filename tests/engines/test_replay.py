"""The engine that repeats what was answered before."""

import json

import pytest

from proctor.engines.replay import ReplayEngine, recorded_response
from proctor.errors import DataError, EngineError
from proctor.ir import Choose, Decoding, Generate, Likelihood, Pair, Prompt, Rolling


def write(path, *rows):
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return str(path)


def ask(engine, *prompts, **decoding):
    answers = dict(engine.generate(Generate(Prompt(prompt), Decoding(**decoding)) for prompt in prompts))
    return [answers[position] for position in range(len(prompts))]


def test_by_prompt_in_any_order(tmp_path):
    path = write(tmp_path / "p.jsonl", {"prompt": "a", "output": "1"}, {"source": "b", "prediction": "2"})
    assert [response.text for response in ask(ReplayEngine(path), "b", "a")] == ["2", "1"]


def test_equal_prompts_take_turns(tmp_path):
    path = write(tmp_path / "p.jsonl", *({"prompt": "a", "output": word} for word in "xyz"))
    assert [response.text for response in ask(ReplayEngine(path), "a", "a", "a", "a")] == ["x", "y", "z", "z"]


def test_by_position_where_there_are_no_prompts(tmp_path):
    path = write(tmp_path / "p.jsonl", "first", {"prediction": "second"})
    answers = ask(ReplayEngine(path), "?", "??", "???")
    assert [response.text for response in answers[:2]] == ["first", "second"]
    assert "'???'" in answers[2].failure.message


@pytest.mark.parametrize("indent", [None, 2])
def test_a_list_in_a_json_file_is_its_rows(tmp_path, indent):
    path = tmp_path / "p.json"
    path.write_text(json.dumps([{"question": "a", "response": "first"}, "second"], indent=indent))
    assert [response.text for response in ask(ReplayEngine(str(path)), "?", "??")] == ["first", "second"]
    write(path, {"response": "first"}, "second")  # lines under another name
    assert [response.text for response in ask(ReplayEngine(str(path)), "?", "??")] == ["first", "second"]


def test_only_rows_without_prompts_go_by_position(tmp_path):
    assert ReplayEngine(write(tmp_path / "a.jsonl", "x", {"prediction": "y"})).answers_in_order
    assert not ReplayEngine(write(tmp_path / "b.jsonl", {"prompt": "a", "prediction": "y"})).answers_in_order


def test_messages_and_named_fields(tmp_path):
    chat = [{"role": "user", "content": "hi\u2028there"}]
    path = write(tmp_path / "p.jsonl", {"q": chat, "model_says": ["a", "b"], "prediction": "not this"})
    engine = ReplayEngine(path, prompt_field="q", output_field="model_says")
    assert ask(engine, chat, count=2)[0].texts == ("a", "b")


def test_likelihoods_of_an_earlier_run(tmp_path):
    def scores(*values):
        return [{"log_likelihood": value, "is_greedy": False, "token_count": 1} for value in values]

    folder = tmp_path / "run"
    folder.mkdir()
    write(
        folder / "samples.jsonl",
        {"kind": "choose", "prompt": "q", "continuations": [" a", " b"], "output": scores(-1, -2)},
        {"kind": "choose", "prompt": ["q1", "q2"], "continuations": [" c", " c"], "output": scores(-3, -4)},
        {"kind": "rolling", "prompt": "text", "continuations": None, "output": scores(-9)},
    )
    requests = [
        Choose((Pair(Prompt("q"), " a"), Pair(Prompt("q"), " b"))),
        Choose((Pair(Prompt("q1"), " c"), Pair(Prompt("q2"), " c"))),
        Rolling("text"),
        Likelihood(Prompt("q"), " unheard"),
    ]
    answers = dict(ReplayEngine(str(folder)).score(requests))
    values = [[score.log_likelihood for score in answers[position].scores] for position in range(4)]
    assert values == [[-1, -2], [-3, -4], [-9], []]
    assert not answers[3].failure.retryable


def test_identity_is_content_not_place(tmp_path):
    one = ReplayEngine(write(tmp_path / "a.jsonl", "x"))
    same = ReplayEngine(write(tmp_path / "b.jsonl", "x"))
    other = ReplayEngine(write(tmp_path / "c.jsonl", "y"))
    assert one.identity == same.identity != other.identity


def test_bad_files(tmp_path):
    with pytest.raises(EngineError, match=r"nowhere\.jsonl"):
        ask(ReplayEngine(str(tmp_path / "nowhere.jsonl")), "a")
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"prompt": "a"}\n{"prompt": \n')
    with pytest.raises(DataError, match=r"broken\.jsonl:2"):
        ask(ReplayEngine(str(broken)), "a")
    empty = ReplayEngine(write(tmp_path / "empty.jsonl", {"prompt": "a"}))
    assert "output" in ask(empty, "a")[0].failure.message or ask(empty, "a")[0].failure is not None


def test_thoughts_endings_and_failures_are_repeated(tmp_path):
    path = write(
        tmp_path / "p.jsonl",
        {
            "prompt": "a",
            "output": "yes",
            "thinking": "hm",
            "finish_reason": "length",
            "written": "<think>hm</think>yes",
        },
        {"prompt": "b", "output": None, "failure": {"kind": "timeout", "message": "late"}, "thinking": "hm"},
        {"prompt": "c", "output": None, "failure": {"kind": "", "message": "?"}},
        {"prompt": "d", "output": {"a": 1}, "finish_reason": 3},
        {"prompt": "e", "output": None, "failure": {"kind": "truncated", "message": "cut"}},
        {"prompt": "f", "output": []},
    )
    engine = ReplayEngine(path)
    assert engine.label == "p"
    yes, late, unknown, data, cut, empty = ask(engine, *"abcdef")
    assert empty.texts == ("[]",)
    assert (yes.texts, yes.thoughts, yes.finish_reasons) == (("yes",), ("hm",), ("length",))
    assert yes.written == ("<think>hm</think>yes",)
    assert (late.failure.kind, late.failure.message, late.failure.retryable) == ("timeout", "late", False)
    assert late.thoughts == ("hm",)
    for each, prompt in ((unknown, "c"), (cut, "e")):
        assert each.failure.message == f"no answer is recorded for the prompt '{prompt}'"
    assert (data.texts, data.finish_reasons) == (('{"a": 1}',), ("stop",))


def test_a_row_of_several_requests_answers_each(tmp_path):
    path = write(
        tmp_path / "p.jsonl",
        {"prompt": ["a", "b"], "output": ["1", "2"], "thinking": ["x", "y"], "finish_reason": ["stop", "length"]},
        {"prompt": ["c", "d"], "output": ["3", "4"], "thinking": "z"},
    )
    engine = ReplayEngine(path, model="m")
    found = ask(engine, *"dcba")
    assert [each.texts for each in found] == [("4",), ("3",), ("2",), ("1",)]
    assert [each.thoughts for each in found] == [("z",), ("z",), ("y",), ("x",)]
    assert [each.finish_reasons[0] for each in found] == ["stop", "stop", "length", "stop"]
    assert engine.label == "m"


def test_answers_of_a_row_take_turns_where_more_are_wanted(tmp_path):
    path = write(tmp_path / "p.jsonl", {"prompt": "a", "output": ["x", "y"], "thinking": ["", "hm"]})
    (found,) = ask(ReplayEngine(path), "a", count=3)
    assert (found.texts, found.thoughts) == (("x", "y", "x"), ("", "hm", ""))


def test_it_reads_its_file_and_a_row_of_it_records_a_response(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"output": "x"}\n')
    (effect,) = ReplayEngine(path=str(tmp_path / "a.jsonl")).effects()
    assert (effect.kind, effect.target) == ("read", str(tmp_path / "a.jsonl"))
    told = recorded_response("yes", {"finish_reason": "length", "thinking": "hm"})
    assert (told.texts, told.finish_reasons, told.failure) == (("yes",), ("length",), None)
    assert recorded_response(None, {}).failure.kind == "engine"
