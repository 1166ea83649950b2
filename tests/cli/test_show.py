import json
import re

import pytest


def test_json_has_one_object_per_request(invoke, exams):
    code, out, err = invoke("show", "capitals", "--docs", "2", "--json")
    assert (code, err) == (0, "")
    choose, generate = map(json.loads, out.splitlines())
    assert re.fullmatch(r"[0-9a-f]{16}", choose.pop("instance"))
    assert choose == {
        "task": "capitals",
        "doc_id": 0,
        "kind": "choose",
        "prompt": "Answer briefly.\n\nChile? Santiago\nFrance?\nAnswer:",
        "continuations": [" Rome", " Paris"],
        "gold": 1,
        "references": ["Paris"],
        "stop": [],
        "max_tokens": None,
    }
    assert (generate["kind"], generate["stop"], generate["max_tokens"]) == ("generate", ["\n"], 8)
    assert generate["continuations"] == []


def test_chat_prompts_are_messages(invoke, exams):
    _, out, _ = invoke("show", "chat", "--json")
    assert json.loads(out)["prompt"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "France?"},
    ]


def test_without_colours_a_margin_names_the_parts(invoke, exams):
    code, out, _ = invoke("show", "capitals")
    assert code == 0
    assert "\x1b" not in out
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[0] == "capitals · instance 0 · choose"
    assert "    instruction │ Answer briefly." in lines
    assert "demo 1 question │ Chile?" in lines
    assert "  demo 1 answer ┊  Santiago" in lines
    assert "       question │ France?" in lines
    assert "  answer prefix │ Answer:" in lines
    assert '   1  " Rome"' in out
    assert '▶  2  " Paris"  ← gold' in out
    assert 'references: "Paris"' in lines


def test_with_colours_a_legend_explains_them(invoke, exams, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    _, out, _ = invoke("show", "capitals")
    legend = out.splitlines()[0]
    for part in ("instruction", "demo question", "demo answer", "question", "answer prefix"):
        assert part in legend
    assert "choice" not in legend
    question = "\x1b[38;2;182;93;5m"
    assert f"{question}France?" in out


def test_chat_turns_are_labelled(invoke, exams):
    _, out, _ = invoke("show", "chat")
    assert "▌system\n" in out
    assert "▌user\n" in out


def test_several_tasks_and_skip(invoke, exams):
    _, out, _ = invoke("show", "capitals,chat", "--skip", "2", "--docs", "5", "--json")
    assert [(row["task"], row["doc_id"]) for row in map(json.loads, out.splitlines())] == [
        ("capitals", 2),
        ("capitals", 3),
        ("chat", 2),
        ("chat", 3),
    ]


def test_options_reach_the_recipe_only_when_given(invoke, exams):
    invoke("show", "capitals", "--seed", "7", "--limit", "10%")
    assert exams == [(["capitals"], {"seed": 7, "limit": 0.1})]


def test_a_mistyped_task_gets_the_closest_name(invoke, exams):
    code, out, err = invoke("show", "capitols")
    assert (code, out) == (2, "")
    assert "did you mean 'capitals'?" in err


def test_no_task_is_an_error_with_a_hint(invoke, exams):
    code, _, err = invoke("show")
    assert code == 2
    assert "proctor ls" in err


@pytest.mark.parametrize("value", ["abc", "0", "-3", "2.5", "100%", "150%"])
def test_impossible_limits(invoke, exams, value):
    code, _, err = invoke("show", "capitals", "--limit", value)
    assert code == 2
    assert value.strip("-") in err


def test_rows_that_cannot_be_asked_about_and_the_seed_are_said(invoke, tmp_path):
    rows = [{"a": "x", "b": "1"}, {"a": 2, "b": "2"}]
    task = {
        "__type__": "task",
        "input_fields": {"a": "int"},
        "reference_fields": {"b": "str"},
        "prediction_type": "str",
        "metrics": ["metrics.accuracy"],
    }
    loader = {"__type__": "load_from_dictionary", "data": {"test": rows}}
    card = {"__type__": "task_card", "loader": loader, "task": task}
    template = {"__type__": "input_output_template", "input_format": "{a}", "output_format": "{b}"}
    file = tmp_path / "sums.json"
    file.write_text(json.dumps({"__type__": "dataset_recipe", "card": card, "template": template}))
    code, out, err = invoke("show", str(file), "--docs", "2", "--seed", "9")
    assert code == 0
    assert "sums · instance 0 cannot be asked about: the field 'a'" in err
    assert "sums draws with seed 9\n" in err
    assert "sums · instance 1 · generate" in out
    assert "sums draws with seed 42, its own" in invoke("show", str(file))[2]


def test_options_without_effect_are_said(invoke):
    _, _, err = invoke("show", "samples.science", "--decoding", "temperature=1")
    assert "note: --decoding has no effect here on samples.science: it compares choices and writes nothing" in err


@pytest.mark.parametrize("more", [(), ("--json",)], ids=["people", "json"])
def test_fewer_instances_than_were_wanted_are_said(invoke, exams, more):
    code, _, err = invoke("show", "capitals", "--docs", "1000", "--skip", "1", *more)
    assert code == 0
    assert re.search(r"capitals has \d+ instances, and no more", err)


def test_steps_and_json_show_different_things(invoke, exams):
    code, _, err = invoke("show", "capitals", "--steps", "--json")
    assert code == 2
    assert "--steps cannot be combined" in err
