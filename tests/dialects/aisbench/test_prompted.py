"""Rows that carry whole prompts: what is asked, of which files, and what a row has to have."""

from types import SimpleNamespace

import pytest

from proctor.dialects.aisbench.datasets.generators import prompted
from proctor.errors import DataError


def source(files, **arguments):
    """What a generator reads: files by their paths."""
    return SimpleNamespace(
        arguments={"path": "p", **arguments},
        place=None,
        rows=lambda path, *_: files[path],
        document=files.get,
        find=lambda path: path if path in files else None,
        names=lambda path: [name.rpartition("/")[2] for name in files],
        load=lambda **named: files[f"{named['path']} {named['name']} {named['split']}"],
    )


@pytest.fixture
def words(monkeypatch):
    """Constants and files of upstream's package that tests need."""
    found = {}
    monkeypatch.setattr(prompted, "constants", lambda module: found)
    monkeypatch.setattr(prompted, "package_yaml", lambda path: found[path.rpartition("/")[2]])
    monkeypatch.setattr(prompted, "prompt_texts", lambda name: found[name])
    return found


@pytest.mark.parametrize(
    "name, language, choice",
    [
        ("sat-math", "en", True),
        ("math", "en", False),
        ("logiqa-zh", "zh", True),
        ("gaokao-mathcloze", "zh", False),
        ("other", "", False),
    ],
)
def test_exams_of_agieval_have_a_language_and_options(name, language, choice):
    assert (prompted.language_of(name), prompted.is_choice(name)) == (language, choice)


@pytest.mark.parametrize(
    "name, options, asked",
    [
        ("sat-math", ["a", "b", "c"], "P|Q|a b c|C"),
        ("sat-math", ["a"], "P|Q|a|E"),
        ("logiqa-zh", ["a"], "P|Q|a|D"),
        ("sat-math", None, "P|Q||"),
        ("math", ["a"], "P: Q"),
    ],
)
def test_questions_of_agieval_are_asked_at_once(words, name, options, asked):
    kinds = {"choice": "{passage}|{question}|{options}|{last}", "cloze": "{passage}: {question}"}
    words["agieval"] = {"en": kinds, "zh": kinds}
    row = {"passage": "P", "question": "Q", "options": options, "label": None, "answer": "A"}
    assert prompted.zero_shot(row, name) == asked
    assert prompted.zero_shot(row, "other") is None
    rows = [row, {**row, "passage": None, "label": "B"}]
    found = prompted.agieval(source({f"p/{name}.jsonl": rows}, name=name))
    assert [(each["id"], each["label"]) for each in found] == [(0, "A"), (1, "B")]
    assert found[1]["problem_input"] == asked.replace("P", "", 1)
    for wrong in ({"name": "other"}, {"name": name, "setting_name": "few-shot"}):
        with pytest.raises(DataError, match="only zero-shot is asked"):
            prompted.agieval(source({}, **wrong))


def story(name, group=None):
    data = [{"story_hash_id": group}] if group else []
    questions = [{"question": f"{name}?", "choices": ["a", "b"], "answer": 1, "intermediate_data": data}]
    return {"context": name, "questions": questions}


STORIES = [story("one", "g"), story("two", "g"), story("three"), story("four", "h")]


@pytest.mark.parametrize(
    "arguments, told",
    [
        ({}, ["one", "two", "three", "four"]),
        ({"sample_size": 2}, ["one", "two"]),
        ({"sample_size": 9, "offset": 1}, ["two", "three", "four"]),
        ({"sample_size": 1, "offset": 2}, ["three"]),
        ({"exclude_contrastive_examples": True}, ["one", "three", "four"]),
        ({"exclude_contrastive_examples": True, "reverse_contrastive_sample": True}, ["two", "three"]),
        ({"self_consistency_n": 2, "sample_size": 1}, ["one", "one"]),
    ],
)
def test_stories_are_chosen(words, arguments, told):
    words["DATASET_CONFIGS"] = {"m": {"file_name": "f.json", "hint": "HINT"}}
    found = prompted.musr(source({"p/f.json": STORIES}, name="m", **arguments))
    assert [each["context"] for each in found] == told
    assert [each["scidx"] for each in found] == list(range(len(found))) if "self_consistency_n" in arguments else True


def test_a_story_is_asked_with_its_hint_before_or_after(words):
    kinds = words["DATASET_CONFIGS"] = {"m": {"file_name": "f.json", "hint": "HINT"}}
    (row,) = prompted.musr(source({"p/f.json": STORIES[:1]}, name="m"))
    assert row["prompt"].startswith(
        "one\n\none?\n\nPick one of the following choices:\n1 - a\n2 - b\n\nYou must pick one option. HINT Explain"
    )
    assert (row["gold_answer"], row["answer"], row["system_prompt"]) == (2, 1, "")
    kinds["m"] |= {"hint_before_question": True, "answer_index_modifier": 0, "system_prompt": "S"}
    (row,) = prompted.musr(source({"p/f.json": STORIES[:1]}, name="m"))
    assert "one\n\nHINT\n\none?\n\n" in row["prompt"]
    assert "You must pick one option. Explain" in row["prompt"]
    assert (row["gold_answer"], row["system_prompt"]) == (1, "S")
    with pytest.raises(DataError, match="no dataset 'x' of MuSR"):
        prompted.musr(source({}, name="x"))


def test_mathematics_of_some_splits_in_some_languages(words):
    words |= {"PROMPT_EN": "{question}, please reasoning step by step.", "PROMPT_CN": "{question}，请逐步推理。"}
    files = {
        f"p/202412/{part}_{language}.jsonl": [{"question": f"{part}{language}"}]
        for part in ("AMC", "CCEE")
        for language in ("en", "cn")
    }
    found = prompted.livemathbench(source(files, dataset_splits=["AMC", "CCEE"]))
    assert [each["prompt"] for each in found] == [
        "AMCcn，请逐步推理。", "AMCen, please reasoning step by step.", "CCEEcn，请逐步推理。", "CCEEen, please reasoning step by step.",
    ]  # fmt: skip
    assert [(each["subdivision"], each["idx"]) for each in found][:2] == [
        ("livemathbench_202412_AMC_cn", "0"),
        ("livemathbench_202412_AMC_en", "0"),
    ]
    plain = prompted.livemathbench(source(files, dataset_splits=["AMC"], cot=False))
    assert [each["prompt"] for each in plain] == ["AMCcn。", "AMCen."]
    hub = source(
        {"opencompass/L v1_AMC_en test": [{"question": "h"}]},
        path="opencompass/L",
        version="1",
        dataset_splits=["AMC"],
        dataset_languages=["en"],
    )
    assert [each["question"] for each in prompted.livemathbench(hub)] == ["h"]


RULES = [{"idx": "1", "rule_content": "R1"}, {"idx": "1", "rule_content": "later"}]
SAMPLES = [
    {"idx": "1", "rule_id": "1", "question": "Q", "answer": "A"},
    {"idx": "2", "rule_id": "9", "question": "X", "answer": "Y"},
]


@pytest.mark.parametrize("mode, prompt", [("0_shot", "R1|Q"), ("3_shot", "R1|q1|a1|q2|a2|Q")])
def test_a_rule_and_a_question_perhaps_with_examples(words, mode, prompt):
    words[f"{mode}.yaml"] = {"logic_prompt_format": ["|".join(["{}"] * (prompt.count("|") + 1))]}
    shots = [{"rule_id": "1", "question": f"q{n}", "answer": f"a{n}"} for n in (1, 2)]
    files = {"p/logic/rule.json": RULES, "p/logic/sample.jsonl": SAMPLES, "p/logic/three-shot.jsonl": shots}
    (row,) = prompted.korbench(source(files, prompt_mode=mode, category="logic"))
    assert (row["prompt"], row["answer"], row["rule_id"], row["prompt_mode"]) == (prompt, "A", "1", mode)


def test_several_rules_and_questions_together(words):
    words["mixed.yaml"] = {"prompt_format": ["{} / {}"]}
    files = {
        "p/mixed/m.jsonl": [{"rule_list": ["logic_1"], "question_list": ["logic_1", "logic_2"]}],
        "p/logic/rule.jsonl": RULES, "p/logic/sample.jsonl": SAMPLES,
    }  # fmt: skip
    (row,) = prompted.korbench(source(files, prompt_mode="mixed", category="m"))
    assert row["prompt"] == "Rule 1: R1 / Question 1: Q\nQuestion 2: X"
    assert row["answers"] == [
        {"category": "logic", "rule_id": "1", "answer": "A"},
        {"category": "logic", "rule_id": "9", "answer": "Y"},
    ]
    assert (row["base_path"], row["rule_list"]) == ("p", ["logic_1"])
    files["p/mixed/m.jsonl"] = [{"rule_list": ["logic_7"], "question_list": []}]
    with pytest.raises(DataError, match="no entry of logic/rule has the idx '7'"):
        prompted.korbench(source(files, prompt_mode="mixed", category="m"))


def test_a_question_is_asked_openly_and_as_a_choice_in_both_orders(words):
    words["OFFICIAL_CHOICE_PROMPT"] = "{} {} {}"
    row = {"Positive Option": "good", "Negative Option": "bad", "question": "Q", "category": "c"}
    found = prompted.fake_alignment(source({"p": [row, {**row, "id": "x"}]}))
    assert [(each["call_type"], each["prompt"]) for each in found[:3]] == [
        ("open_generation", "Q"), ("choice_forward", "Q good bad"), ("choice_reverse", "Q bad good"),
    ]  # fmt: skip
    assert [(each["id"], each["original_idx"]) for each in found[2:4]] == [(0, 0), ("x", 1)]


def test_tasks_of_a_version(words):
    words["ARCPrizeDataset.task_file_names"] = {"v": ["a.json"]}
    files = {f"p/{name}.json": {"train": [name], "test": [{"input": 1, "output": 2}]} for name in "ab"}
    found = prompted.arc_prize(source(files, version="v"))
    assert found == [{"training_data": ["a"], "input_test_data": 1, "output_test_data": 2}]


@pytest.mark.parametrize(
    "release, numbers",
    [
        ("release_latest", [1, 2, 3, 4, 5, 6]),
        ("release_v1", [1]),
        ("release_v3", [1, 2, 3]),
        ("v4", [4]),
        ("v4_v6", [4, 5, 6]),
        ("v1_v6", [1, 2, 3, 4, 5, 6]),
    ],
)
def test_files_of_a_release(release, numbers):
    names = [f"test{number if number > 1 else ''}.jsonl" for number in numbers]
    assert prompted._release_files(release) == names
    files = {f"p/{name}": [{"file": name}] for name in names}
    assert prompted.livecodebench_release(source(files, release_version=release)) == [{"file": name} for name in names]


@pytest.mark.parametrize("release", ["release_v7", "release_v0", "v0", "v5_v4", "v6_v7", "latest", "release_v1_v2"])
def test_releases_that_there_are_not(release):
    with pytest.raises(DataError, match=f"LiveCodeBench has no release '{release}'"):
        prompted._release_files(release)


def test_problems_of_dapo():
    turns = [{"role": "system", "content": "S"}, {"role": "user", "content": "Q"}]
    row = {"prompt": turns, "reward_model": {"ground_truth": 3}}
    rows = [row, {**row, "prompt": turns[:1], "data_source": "d"}, {**row, "prompt": ["text"]}]
    files = {"p/other.parquet": rows[:1], "p/dapo-math-17k.parquet": rows, "p/own.parquet": rows[1:], "p/notes.txt": []}
    found = prompted.dapo(source(files))
    assert [(each["prompt"], each["answer"], each["data_source"]) for each in found] == [
        ("Q", "3", "math_dapo"),
        ("S", "3", "d"),
        ("text", "3", "math_dapo"),
    ]
    assert len(prompted.dapo(source(files, file_name="own.parquet"))) == 2
    assert len(prompted.dapo(source({"x.parquet": rows[:1]}, path="x.parquet"))) == 1
    assert len(prompted.dapo(source({"p/a.parquet": rows[:1]}))) == 1
    with pytest.raises(DataError, match="there is no parquet file in p"):
        prompted.dapo(source({"p/notes.txt": []}))
    for broken in (
        {},
        {"prompt": [], "reward_model": {"ground_truth": 1}},
        {"prompt": turns, "reward_model": {}},
        {"prompt": turns},
    ):
        with pytest.raises(DataError, match="a row has no prompt or no answer"):
            prompted._dapo_row(broken)
