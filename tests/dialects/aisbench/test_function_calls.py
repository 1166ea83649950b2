"""Calls of functions (BFCL), from the config to the score."""

from __future__ import annotations

import json

import pytest
from conformance.aisbench.recording_server import RecordingServer

from proctor.cli.__main__ import main
from proctor.dialects.aisbench.function_calls import asked_in_words, asked_with_tools, returned_calls
from proctor.errors import DataError, MissingFieldError

CONFIG = """
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import ZeroRetriever
from ais_bench.benchmark.openicl.icl_inferencer import BFCLV3FunctionCallInferencer
from ais_bench.benchmark.datasets import BFCLDataset, BFCLRelevanceEvaluator, BFCLSingleTurnEvaluator
from ais_bench.benchmark.models import VLLMCustomAPIChat

datasets = [
    dict(
        abbr=f"BFCL-v3-{category}", type=BFCLDataset, category=category, path="bfcl",
        reader_cfg=dict(input_columns=["id", "question", "function"], output_column="ground_truth"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template="{question}"),
            retriever=dict(type=ZeroRetriever), inferencer=dict(type=BFCLV3FunctionCallInferencer),
        ),
        eval_cfg=dict(evaluator=dict(type=BFCLSingleTurnEvaluator, category=category)),
    )
    for category in CATEGORIES
]
models = [dict(type=VLLMCustomAPIChat, abbr="m", model="m", host_ip="localhost", host_port=PORT, MORE)]
"""
ADD = {
    "name": "math.add",
    "description": "Add.",
    "parameters": {
        "type": "dict",
        "properties": {"a": {"type": "integer", "description": "A."}, "b": {"type": "float", "description": "B."}},
        "required": ["a"],
    },
}
JAVA = {
    "name": "Sum.of",
    "description": "Add.",
    "parameters": {
        "type": "dict",
        "properties": {"a": {"type": "any", "description": "A."}, "b": {"type": "ArrayList", "items": {"type": "integer"}, "description": "B."}},
        "required": ["a"],
    },
}  # fmt: skip


def question(number, words, function=ADD, category="simple"):
    return {"id": f"{category}_{number}", "question": [[{"role": "user", "content": words}]], "function": [function]}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a config; return what was asked, and the results."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "bfcl" / "possible_answer").mkdir(parents=True)

    def write(name, rows):
        (tmp_path / "bfcl" / name).write_text("\n".join(map(json.dumps, rows)))

    write("BFCL_v3_simple.json", [question(0, "add to 1"), question(1, "add to 2"), question(2, "add to 3")])
    golds = [{"a": [1], "b": ["", 0.0]}, {"a": [7], "b": [""]}, {"a": [3], "b": [1.0]}]
    rows = [{"id": f"simple_{i}", "ground_truth": [{"math.add": gold}]} for i, gold in enumerate(golds)]
    write("possible_answer/BFCL_v3_simple.json", rows)
    write("BFCL_v3_java.json", [question(0, "add x", JAVA, "java")])
    write(
        "possible_answer/BFCL_v3_java.json", [{"id": "java_0", "ground_truth": [{"Sum.of": {"a": ["x"], "b": [""]}}]}]
    )
    write("BFCL_v3_multi_turn_base.json", [])

    def run(*arguments, more="", categories='["simple"]', code=0):
        text = CONFIG.replace("MORE", more).replace("CATEGORIES", categories)
        with RecordingServer() as server:
            (tmp_path / "config.py").write_text(text.replace("PORT", str(server.port)))
            assert main(["run", "config.py", "--output", "out", *arguments]) == code
        results = tmp_path / "out" / "results.json"
        return [body for _, body in server.requests], json.loads(results.read_text())["results"] if not code else {}

    return run


def test_a_service_that_returns_calls_is_given_tools(run):
    asked, results = run(more="returns_tool_calls=True")
    tool = asked[0]["tools"][0]["function"]
    assert tool["name"] == "math_add"
    assert tool["description"] == "Add. Note that the provided function is in Python 3 syntax."
    assert tool["parameters"]["type"] == "object"
    assert tool["parameters"]["properties"]["b"] == {
        "type": "number",
        "format": "float",
        "description": "B. This is a float type value.",
    }
    assert [body["messages"] for body in asked][0] == [{"role": "user", "content": "add to 1"}]
    found = results["BFCL-v3-simple"]
    # the first is right; the second is another number; the third lacks an argument that is not optional
    assert (found["accuracy"], found["correct_count"], found["total_count"]) == (pytest.approx(1 / 3), 1, 3)


def test_parameters_of_java_are_texts(run):
    asked, results = run(more="returns_tool_calls=True", categories='["java"]')
    described = asked[0]["tools"][0]["function"]["parameters"]["properties"]
    assert (
        described["a"]["description"] == "A. This parameter can be of any type of Java object in string representation."
    )
    assert described["b"] == {
        "type": "string",
        "description": "B. This is Java ArrayList type parameter in string representation. "
        "The list elements are of type integer; they are not in string representation.",
    }
    assert results["BFCL-v3-java"]["accuracy"] == 1.0


def test_other_models_write_their_calls(run):
    asked, results = run()
    assert "tools" not in asked[0]
    assert [each["role"] for each in asked[0]["messages"]] == ["system", "user"]
    assert "in the format of [func_name1(params_name1=params_value1" in asked[0]["messages"][0]["content"]
    assert results["BFCL-v3-simple"]["accuracy"] == 0.0


def test_the_interval_of_a_share_is_a_share(run, capsys):
    run()
    line = next(each for each in capsys.readouterr().out.splitlines() if "accuracy" in each and "of 1" in each)
    assert "0.0000 to 0.5615" in line


def test_questions_of_several_turns_are_refused_with_the_reason(run, capsys):
    run(categories='["multi_turn_base"]', code=2)
    assert "run the functions that the model calls" in capsys.readouterr().err


@pytest.mark.parametrize("option", [["--num-demos", "2"], ["--system-prompt", "Be kind."]])
def test_options_that_change_no_question_are_refused(run, capsys, option):
    run(*option, code=2)
    assert option[0] in capsys.readouterr().err


def test_words_that_look_like_a_call_are_words():
    call = '{"name": " f ", "arguments": {"a": 1}}'
    assert returned_calls(call, "tool_calls") == [{"f": '{"a": 1}'}]
    assert returned_calls(f"[{call}, {call}]", "tool_calls") == [{"f": '{"a": 1}'}] * 2
    assert returned_calls(call, "stop") == [call]
    assert returned_calls("", "stop") == []
    assert returned_calls('{"name": "f", "arguments": {"a"', "length") == ['{"name": "f", "arguments": {"a"']


@pytest.mark.parametrize("asked", [[], [[]], ["hello"], "[]"])
def test_a_question_without_messages_is_refused(asked):
    with pytest.raises(DataError, match="the question has no messages"):
        asked_in_words({**question(1, "x"), "question": asked})


@pytest.mark.parametrize("name", ["question", "function", "id"])
def test_a_column_that_is_missing_is_named(name):
    row = {key: value for key, value in question(1, "x").items() if key != name}
    with pytest.raises(MissingFieldError, match=f"the row has no column '{name}'"):
        asked_with_tools(row)


def test_functions_stand_in_the_system_prompt_before_what_is_there():
    (system, user) = asked_in_words(question(1, "words"))
    assert (system["role"], user) == ("system", {"role": "user", "content": "words"})
    assert "math.add" in system["content"]
    own = [[{"role": "system", "content": "OWN"}, {"role": "user", "content": "words"}]]
    first, *rest = asked_in_words({**question(1, "x"), "question": json.dumps(own)})
    assert first["content"] == f"{system['content']}\n\nOWN"
    assert rest == own[0][1:]
    messages, tools = asked_with_tools(question(1, "words"))
    assert (list(messages), [each["type"] for each in tools]) == ([user], ["function"])
