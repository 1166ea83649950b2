"""Rows of dataset types that no expression makes: what is asked, what is right, and what the judge is told."""

import base64
import json
import pickle
import random
import zlib

import pytest

from proctor.dialects.aisbench.datasets import rows_code, rows_knowledge
from proctor.dialects.aisbench.datasets.row_functions import (
    ROW_FUNCTIONS,
    SINGLE_ROW_FUNCTIONS,
    _sampled,
    answer_lengths,
    circular,
    with_circular_options,
)
from proctor.errors import DataError

MEDICAL = {"question": "Q?", "opa": "a", "opb": "b", "opc": "c", "opd": "d", "answer_idx": "B"}
LETTERED = "Q?\nA. a\nB. b\nC. c\nD. d"
CHEMISTRY = {
    "id": 1, "question": "Q", "has_img": False, "answer": "whole", "qa_type": 5,
    "sub_question": [
        {"question": "one", "answer": "1", "qa_type": 1},
        {"question": "two", "sub_question": [{"question": "x", "answer": "2x", "qa_type": 2}, {"question": "y", "answer": "2y", "qa_type": 3}]},
    ],
}  # fmt: skip
SCIEVAL = {
    "type": "multiple-choice",
    "category": "physics",
    "question": "Why? A. one B. two C. three D. four\nAnswer:",
    "answer": ["B"],
}
TURNS = {f"turn_{n}_{name}": json.dumps(value) for n in (1, 2, 3) for name, value in (
    ("prompt", {"role": "user", "content": f"p{n}"}), ("instruction_id_list", [f"i{n}"]), ("kwargs", ['{"a": 1}', {"b": n}]))}  # fmt: skip
SAID = [
    {"role": "system", "content": "S"},
    {"role": "user", "content": "u1"},
    {"role": "assistant", "content": "a1"},
    {"role": "user", "content": "u2"},
]


def one(name, row, texts=None, /, **arguments):
    return SINGLE_ROW_FUNCTIONS[name](row, arguments, texts or {})


@pytest.mark.parametrize(
    "name, row, arguments, wanted",
    [
        ("medbullets", MEDICAL, {"prompt_mode": "few-shot"}, MEDICAL),
        ("medbullets", MEDICAL, {"prompt_mode": "zero-shot"},
         {"question": LETTERED, "options": ["a", "b", "c", "d"], "label": "B", "start": "A", "end": "D", "prompt_mode": "zero-shot"}),
        ("medbullets", {**MEDICAL, "ope": "e"}, {"prompt_mode": "zero-shot"}, {"question": f"{LETTERED}\nE. e", "end": "E"}),
        ("nejmai", {"Question": "Q?", "Choices": "A. a\n\n B.  b \nC", "Answer": "A"}, {"prompt_mode": "zero-shot"},
         {"options": ["a", "b", "C"], "question": "Q?\nA. a\nB. b\nC. C", "label": "A", "end": "C"}),
        ("nejmai", {"Question": "Q?"}, {"prompt_mode": "x"}, {"Question": "Q?"}),
        ("chem_exam", CHEMISTRY, {}, {"id": 1, "prompt": "Q\nQ1: one\nQ2: two\nQ2.1: x\nQ2.2: y",
                                      "output": "\nA1: 1\nA2.1: 2x\nA2.2: 2y", "has_img": False, "qa_type": ["1", "2", "3"]}),
        ("chem_exam", {key: value for key, value in CHEMISTRY.items() if key != "sub_question"}, {},
         {"prompt": "Q", "output": "whole", "qa_type": ["5"]}),
        ("scieval", SCIEVAL, {"category": None}, {"input": "Why?", "A": "one", "B": "two", "C": "three", "D": "four", "target": "B"}),
        ("scieval", SCIEVAL, {"category": "physics"}, {"target": "B"}),
        ("scieval", SCIEVAL, {"category": "biology"}, []),
        ("scieval", {**SCIEVAL, "type": "filling"}, {"category": None}, []),
        ("scieval", {**SCIEVAL, "answer": None, "answers": ["C"]}, {"category": None}, {"target": "C"}),
        ("scieval", {**SCIEVAL, "answer": []}, {"category": None}, []),
        ("scieval", {**SCIEVAL, "question": "Why?"}, {"category": None}, []),
        ("multi_if", {"language": "en", **TURNS}, {}, {
            "dialogue": [each for n in (1, 2, 3) for each in ({"role": "user", "content": f"p{n}"}, {"role": "assistant", "content": ""})],
            "reference": {"language": "en", **{f"turn_{n}_{key}": value for n in (1, 2, 3) for key, value in (
                ("instruction_id_list", [f"i{n}"]), ("kwargs", [{"a": 1}, {"b": n}]), ("prompt", f"p{n}"))}}}),
        ("biodata", {"prompt": "P", "ground_truth": {"x": 1, "y": 2}, "meta_data": {"ans_type": "dict"}}, {},
         {"prompt": 'PPlease put your final answer with \\boxed{} in json format, such as {"x": xx, "y": xx}'}),
        ("advanced_if", {"conversation_history": json.dumps(SAID), "prompt_metadata": '{"rubrics": "R"}', "benchmark_name": "b"}, {}, {
            "conversation_history": SAID, "full_conversation_text": "system [1]: S\nuser [1]: u1\nassistant [1]: a1",
            "last_user_question": "u2", "system_prompt": "S", "rubrics_text": "R", "benchmark_name": "b"}),
        ("advanced_if", {"conversation_history": "[]", "prompt_metadata": "not json"}, {}, {
            "conversation_history": [], "full_conversation_text": "", "last_user_question": "", "system_prompt": "",
            "rubrics_text": "", "benchmark_name": ""}),
        ("advanced_if", {"conversation_history": json.dumps(SAID[1:3]), "prompt_metadata": {"rubrics": "R"}}, {},
         {"full_conversation_text": "assistant [1]: a1", "last_user_question": "u1", "system_prompt": "", "rubrics_text": "R"}),
        ("starters", {"starter_code": "def f():", "input_output": "{}"}, {}, {"starter": "def f():\\nUse Call-Based format"}),
        ("starters", {"starter_code": "", "input_output": '{"fn_name": "f"}'}, {}, {"starter": "\\nUse Call-Based format"}),
        ("starters", {"starter_code": "", "input_output": "no", "problem_id": 3}, {}, {"starter": "\\nUse Standard Input format", "problem_id": 3}),
        ("py150", {"line": '{"id": 1, "input": "<s> a = <NUM_LIT> <EOL>b = <STR_LIT:x>", "gt": "<CHAR_LIT>"}'}, {},
         {"input": " a = 0 \nb = x", "gt": ""}),
    ],
)  # fmt: skip
def test_a_row_becomes_what_is_asked(name, row, arguments, wanted):
    found = one(name, dict(row), **arguments)
    if isinstance(wanted, list):
        assert found == wanted
    else:
        assert {key: found[key] for key in wanted} == wanted
    if name == "py150":
        assert "id" not in found
    if name == "starters" and "problem_id" in row:
        assert list(found)[-1] == "problem_id"


def test_answers_of_biology_have_forms():
    row = {"prompt": "P", "ground_truth": 1, "meta_data": {"ans_type": "other", "task": "x"}}
    with pytest.raises(DataError, match="there is no ans_type 'other'"):
        one("biodata", row)
    assert one("biodata", {**row, "meta_data": {"ans_type": "number"}})["prompt"].startswith("P\n")


@pytest.mark.parametrize("switches", [(True, True, True), (False, True, False)])
def test_babilong_says_what_the_switches_say(switches):
    names = ("use_instruction", "use_examples", "use_post_prompt")
    words = {"instruction": "I", "examples": "E", "post_prompt": "P"}
    texts = {
        "DEFAULT_PROMPTS": {"qa1": words},
        "DEFAULT_TEMPLATE": "{instruction}|{examples}|{post_prompt}|{context}|{question} ",
    }
    row = {"input": " story ", "question": "Q", "target": "T"}
    found = one("babilong", row, texts, task="qa1", **dict(zip(names, switches, strict=True)))
    shown = "|".join(word * on for word, on in zip("IEP", switches, strict=True))
    assert found == {"prompt": [f"{shown}|story|Q"], "answer": ["T"]}


# -- whole splits ------------------------------------------------------------------------------------------------------


def test_attacked_sentences_come_with_their_originals():
    rows = [
        {"a": "attacked", "b": "y", "original_a": "plain", "original_b": None, "label": 1},
        {"a": "z", "b": "z", "label": 0},
    ]
    found = ROW_FUNCTIONS["adversarial_glue"](rows, {"originals": ["a", "b"]})
    assert [(each["a"], each["b"], each["type"], each["label_option"]) for each in found] == [
        ("attacked", "y", None, "B"), ("plain", "y", "original", "B"),
    ]  # fmt: skip
    assert ROW_FUNCTIONS["adversarial_glue"]([], {"originals": ["a"]}) == []


def test_ten_thousand_of_the_test_split_are_drawn():
    rows = [{"n": n} for n in range(10_005)]
    function = ROW_FUNCTIONS["ten_thousand_of_test"]
    found = function(rows, {"split": "test"})
    assert (len(found), len({each["n"] for each in found})) == (10_000, 10_000)
    assert [each["n"] for each in found[:3]] != [0, 1, 2]
    assert function(rows, {"split": "train"}) == rows


@pytest.mark.parametrize(
    "wanted, most, kept",
    [(None, None, [0, 1, 2, 3, 4]), ("exp_updates", 0, [0]), ("exp_keys", None, [2]), ("exp_valuelength", None, [3]),
     ("exp_sequential", None, [1]), (None, 2, [0, 1]), ("other", 1, [0])],
)  # fmt: skip
def test_experiments_are_chosen_by_name(wanted, most, kept):
    names = ["exp_updates", "extra_exp_updates_randomoff", "exp_keys", "exp_valuelength", "none"]
    rows = [{"experiment": name, "n": n, "prompt": "[1]"} for n, name in enumerate(names)]
    found = ROW_FUNCTIONS["pi_llm"](rows, {"experiment_filter": wanted, "max_samples": most})
    assert [each["n"] for each in found] == kept
    assert [rows_knowledge._messages(each) for each in ('[{"a": 1}]', "words", [2])] == [
        [{"a": 1}], [{"role": "user", "content": "words"}], [2],
    ]  # fmt: skip


def test_questions_are_asked_in_drawn_orders_and_the_first_option_is_right():
    rows = [{"options": ["right", "x", "y", "z"], "answer": ""} for _ in range(5)]
    found = ROW_FUNCTIONS["drawn_orders"](rows, {})
    assert len(found) == 20
    assert all(each[each["answer"]] == "right" and sorted(each["permutation"]) == [0, 1, 2, 3] for each in found)
    assert all(each["options"] == [each[letter] for letter in "ABCD"] for each in found)
    stream = random.Random(0)
    assert [each["permutation"] for each in found[:2]] == [stream.sample(range(4), 4) for _ in range(2)]


OPTIONS = {"question": " Q? ", "options": ["a", "b", "c", "d"], "answer": "B"}


def test_options_turn_and_the_answer_names_question_letter_and_order():
    found = with_circular_options(OPTIONS, 7)
    assert [each["answer"] for each in found] == ["7--B--ABCD", "7--A--BCDA", "7--D--CDAB", "7--C--DABC"]
    assert [each["options"] for each in found[:2]] == [["a", "b", "c", "d"], ["b", "c", "d", "a"]]
    assert found[1]["question"] == "Q?\nA. b\nB. c\nC. d\nD. a\n"


@pytest.mark.parametrize(
    "function, name, arguments, questions",
    [
        ("mathbench", "cloze_en", {}, [("Q?", "B")]),
        ("mathbench", "single_choice", {"with_circular": False}, [("Q?\nA. a\nB. b\nC. c\nD. d\n", "B")]),
        ("mathbench", "single_choice", {}, 4),
        ("wikibench", "cloze", {}, [("Q?", "B")]),
        ("wikibench", "single_choice_circular", {}, 4),
        ("wikibench", "single_choice", {}, [("Q?\nA. a\nB. b\nC. c\nD. d\n", "B")]),
    ],
)
def test_open_questions_and_questions_with_options(function, name, arguments, questions):
    found = ROW_FUNCTIONS[function]([OPTIONS], {"name": name, **arguments})
    if isinstance(questions, int):
        assert len(found) == questions
    else:
        assert [(each["question"], each["answer"]) for each in found] == questions


@pytest.mark.parametrize(
    "mode, count, numbers",
    [
        ("default", 0, [0, 1, 2]),
        ("default", 2, [0, 1]),
        ("default", 7, [0, 1, 2, 0, 1, 2, 0]),
        ("random", 5, None),
        ("shuffle", 3, None),
    ],
)
def test_rows_are_sampled_as_the_file_says(mode, count, numbers):
    rows = [{"n": n} for n in range(3)]
    found = [each["n"] for each in _sampled(rows, mode, count, random.Random(3))]
    if numbers is not None:
        assert found == numbers
    else:
        assert len(found) == count
        assert set(found) == {0, 1, 2}
    assert [each["n"] for each in rows] == [0, 1, 2]


@pytest.mark.parametrize("mode, count", [("other", 1), ("default", -1)])
def test_what_is_no_way_to_sample(mode, count):
    with pytest.raises(DataError, match="sampling_mode is"):
        _sampled([{}], mode, count, random.Random(0))


def test_answers_may_be_as_long_as_the_file_says():
    draw = random.Random(1)
    assert answer_lengths(None, 3, draw) == []
    uniform = answer_lengths({"method": "uniform", "params": {"min_value": "2", "max_value": 4}}, 50, draw)
    assert set(uniform) == {2, 3, 4}
    shares = {"method": "percentage", "params": {"percentage_distribute": [[10, 0.5], [20, 0.3], [30, 0.1]]}}
    assert answer_lengths(shares, 10, draw) == [10] * 5 + [20] * 3 + [30] * 2
    with pytest.raises(DataError, match="the method of output_config is 'normal'"):
        answer_lengths({"method": "normal"}, 1, draw)


def test_options_of_any_row_turn_where_the_config_says_so():
    config = {"option_keys": ["A", "B", "C"], "answer_key": "right", "circular_splits": ["test"]}
    row = {"A": "a", "B": "b", "C": "c", "right": "B"}
    found = circular([row, row], config, "test")
    assert [(each["qid"], "".join(each["circular_pattern"]), each["A"] + each["B"] + each["C"], each["right"]) for each in found[:3]] == [
        (0, "ABC", "abc", "B"), (0, "BCA", "cab", "C"), (0, "CAB", "bca", "A"),
    ]  # fmt: skip
    assert [each["qid"] for each in found] == [0, 0, 0, 1, 1, 1]
    assert circular([row], config, "train") == circular([row], {**config, "circular_splits": None}, "test") == [row]
    assert len(circular([row], {**config, "circular_splits": None}, "")) == 3
    named = circular([{**row, "right": "2"}], {**config, "labels": ["1", "2", "3"]}, "test")
    assert [each["right"] for each in named] == ["2", "3", "1"]
    assert [each["right"] for each in circular([{**row, "right": "?"}], config, "test")] == ["?"] * 3
    assert circular([row], {**config, "answer_key": None}, "test")[1]["right"] == "B"


# -- programs -----------------------------------------------------------------------------------------------------------


def packed(value):
    return base64.b64encode(zlib.compress(pickle.dumps(value))).decode()


def test_packed_tests_are_one_text_and_nothing_is_unpickled():
    assert rows_code.packed_text(packed("tests")) == "tests"
    for bad, told in ((packed(["a", "b"]), "they hold 2 texts"), (packed(3), "they hold 0 texts"), ("no base 64!", "cannot be read"),
                      (base64.b64encode(b"not packed").decode(), "cannot be read")):  # fmt: skip
        with pytest.raises(DataError, match=told):
            rows_code.packed_text(bad)


def test_what_unpacks_to_too_much_is_refused(monkeypatch):
    monkeypatch.setattr(rows_code, "_LARGEST", 10)
    with pytest.raises(DataError):
        rows_code.packed_text(packed("x" * 1000))


PROBLEM = {
    "contest_date": "2024-05-06T00:00:00", "starter_code": "", "metadata": '{"func_name": "f"}',
    "public_test_cases": json.dumps([{"input": "1", "output": "2"}]), "private_test_cases": packed(json.dumps([{"input": "3", "output": "4"}])),
}  # fmt: skip
FORMS = {
    "CodeGenerationPromptConstants.FORMATTING_MESSAGE_WITH_STARTER_CODE": "with",
    "CodeGenerationPromptConstants.FORMATTING_WITHOUT_STARTER_CODE": "without",
}


@pytest.mark.parametrize(
    "start, end, is_kept",
    [(None, None, True), ("2024-05-06", None, True), ("2024-05-07", None, False), (None, "2024-05-06", True),
     (None, "2024-05-05", False), ("2024-01-01", "2024-12-31", True), ("2024-06-01", "2024-12-31", False)],
)  # fmt: skip
def test_problems_of_a_time(start, end, is_kept):
    found = one("livecodebench", PROBLEM, FORMS, start_date=start, end_date=end)
    assert bool(found) is is_kept


def test_a_problem_has_its_form_and_all_tests():
    found = one("livecodebench", PROBLEM, FORMS)
    assert found["format_prompt"] == "### Format: without\n```python\n# YOUR CODE HERE\n```\n\n"
    assert json.loads(found["evaluation_sample"]) == {"inputs": ["1", "3"], "outputs": ["2", "4"], "fn_name": "f"}
    plain = {**PROBLEM, "starter_code": "def f():", "private_test_cases": "[]"}
    assert one("livecodebench", plain, FORMS)["format_prompt"] == "### Format: with\n```python\ndef f():\n```\n\n"
    assert json.loads(one("livecodebench", plain, FORMS)["evaluation_sample"])["inputs"] == ["1"]


def test_programs_are_read_and_tests_completed():
    row = {"code": "def f(): ...", "input": "f(1)", "output": "2"}
    for cot, tag in ((True, "THOUGHT"), (False, "ANSWER")):
        found = one("livecodebench_execution", row, cot=cot)
        assert found["prompt"].endswith(f"def f(): ...\nassert f(1) == ??\n[/PYTHON]\n[{tag}]\n")
        assert json.loads(found["evaluation_sample"]) == row
    test = {
        "test": '[{"input": "1\\n2", "output": "3"}]',
        "starter_code": "def add(a, b): pass",
        "question_content": "Add.",
    }
    found = one("livecodebench_test_output", test)
    assert "Problem:\nAdd.Function:\n```\ndef add(a, b): pass\n```" in found["prompt"]
    assert "assert add(1, 2) == # TODO\n" in found["prompt"]
    assert (found["testcase_input"], found["testcase_output"]) == ("1\n2", "3")
    assert json.loads(found["evaluation_sample"]) == {"input": "Add.", "output": "3"}
    assert rows_code._only_function("x = 1") == "None"
    with pytest.raises(ValueError, match="has 2 functions"):
        rows_code._only_function("def f(): ...\ndef g(): ...")


# -- judges ------------------------------------------------------------------------------------------------------------

ARENA = {f"{judge}_{kind}_base_prompt": f"{judge} {kind} {{rule}} {{question}} {{prediction}}" for judge in ("pointwise", "pairwise")
         for kind in ("singleturn", "multiturn")} | {"writing_rule": "W", "qa_rule": "K"}  # fmt: skip


def test_arenas_have_a_prompt_for_each_kind_of_judge():
    row = {
        "category": "创作",
        "difficulty": "easy",
        "question": {"content": "Q"},
        "answer": {"content": "A"},
        "conversation": ["c"],
    }
    found = one("compass_arena_bench", row, ARENA, name="singleturn_x")
    assert (found["question"], found["pointwise_judge_prompt"]) == ("Q", "pointwise singleturn W Q {prediction}")
    assert found["judge"] == {"question": "Q", "answer": "A", "category": "创作", "difficulty": "easy"}
    several = one("compass_arena_bench", {**row, "category": "领域知识问答"}, ARENA, name="multiturn")
    assert (several["dialogue"], several["pairwise_judge_prompt"]) == (["c"], "pairwise multiturn K  {prediction}")
    assert several["judge"] == {"category": "领域知识问答", "difficulty": "easy"}
    for changed, name, told in (
        ({"category": "?"}, "singleturn", "no category '\\?'"),
        ({}, "other", "no 'other' of CompassArena"),
    ):
        with pytest.raises(DataError, match=told):
            one("compass_arena_bench", {**row, **changed}, ARENA, name=name)


def test_wild_conversations_have_their_checklist():
    row = {"turn": SAID, "checklist": ["one", "two"], "primary_tag": "p", "secondary_tag": "s", "session_id": 3}
    texts = {"score_prompt": "S {history}|{user_query}|{checklist}", "pair_prompt": "P {user_query}"}
    found = one("wildbench", row, texts, eval_mode="single")
    assert found["history"] == "USER: u1\n\nASSISTANT: a1\n\n"
    assert found["prompt"] == "S USER: u1\n\nASSISTANT: a1\n\n|u2|- one\n- two\n"
    assert [each["role"] for each in found["dialogue"]] == ["system", "HUMAN", "assistant", "HUMAN", "assistant"]
    assert found["judge"] == {"other": None, "primary_tag": "p", "secondary_tag": "s", "question_id": 3}
    raw = one("wildbench", row, texts, eval_mode="pair", raw=True)
    assert ([each["role"] for each in raw["dialogue"]], raw["prompt"]) == (
        ["system", "user", "assistant", "user"],
        "P u2",
    )


@pytest.mark.parametrize("task, first", [("skips", 2), ("plain", 1)])
@pytest.mark.parametrize("raw", [True, False])
def test_each_turn_of_a_conversation_is_a_row(task, first, raw):
    texts = {"judge": "J", "unique_prompt": {"skips": "1", "plain": "2"}, "score_format": "F", "skip_first_tasks": ["skips"],
             "need_ref_tasks": ["plain"]}  # fmt: skip
    row = {"task": task, "id": 9, "history": [{"user": "u1", "bot": "b1"}, {"user": "u2", "bot": ""}]}
    found = one("mtbench101", row, texts, raw=raw)
    assert [each["turn_id"] for each in found] == [str(n) for n in range(first, 3)]
    last = found[-1]
    assert [each["content"] for each in last["dialogue"]] == ["u1", "b1", "u2"]
    assert (last["system_prompt"], last["judge"]) == (
        f"J{texts['unique_prompt'][task]}F",
        {"task": task, "multi_id": 9, "turn_id": "2"},
    )
    assert "\n\n Human: u1\n\nAssistant: b1\n\n Human: u2\n\nAssistant:  {prediction} \n ***" in last["prompt_template"]
    assert ("The reference solution is" in last["prompt_template"]) is (task == "plain")
    if task == "plain":
        assert [each["content"] for each in found[0]["dialogue"]] == (["u1"] if raw else ["u1", "b1"])


@pytest.mark.parametrize(
    "kind, capability, several, name",
    [("single", "writing", False, "single_v1"), ("pair", "writing", True, "pair_v2_multi_turn"), ("single", "math", True, "single_math_v1_multi_turn"),
     ("pair", "math", False, "pair_math_v1")],
)  # fmt: skip
def test_conversations_of_two_turns_have_the_judges_prompt(kind, capability, several, name):
    names = [
        f"{each}{more}"
        for each in ("single_v1", "pair_v2", "single_math_v1", "pair_math_v1")
        for more in ("", "_multi_turn")
    ]
    words = "{question}{question_1}{ref_answer_1}{prediction}"
    texts = {each: {"system_prompt": each, "prompt_template": words + ("{question_2}{ref_answer_2}" if each.endswith("turn") else "")}
             for each in names} | {"NEED_REF_CATS": ["math"]}  # fmt: skip
    asked = [
        {"role": role, "content": text}
        for role, text in (("user", "q1"), ("assistant", ""), ("user", "q2"), ("assistant", ""))
    ]
    row = {"dialogue": asked, "capability": capability, "others": {"reference": ["r1", "r2"]}}
    found = one("mtbench", row, texts, judge_type=kind, multi_turn=several)
    references = ("r1", "r2") if capability == "math" else ("", "")
    assert found["system_prompt"] == name
    assert found["prompt_template"] == f"q1q1{references[0]}{{prediction}}" + (f"q2{references[1]}" if several else "")
    assert found["others"] == {"reference": ["r1", "r2"], "round": 2, "question": "q1 q2"}
    assert found["judge"] == {"capability": capability, "others": found["others"]}


def test_criteria_and_short_answers_have_prompts_of_their_own():
    row = {"query": "Q", "criteria": ["a", "b"], "index": 1, "domain1": "x", "domain2": "y"}
    found = one("writingbench", row, {"base_prompt": "{question}{criteria}{prediction}"})
    assert found["judge"]["judge_prompt_list"] == ["Qa{prediction}", "Qb{prediction}"]
    assert (found["question"], found["judge"]["domain2"]) == ("Q", "y")
    simple = {"question": "Q", "answer": "A", "primary_category": "c", "id": 4}
    found = one("csimpleqa", simple, {"csimpleqa_judge_prompt_new": "{question}{target}{predicted_answer}"})
    assert (found["prompt_template"], found["gold_ans"], [each["role"] for each in found["messages"]]) == (
        "QA{prediction}",
        "A",
        ["system", "user"],
    )
    assert found["judge"] == {"primary_category": "c", "question": "Q", "question_id": 4}
