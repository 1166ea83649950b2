"""Needles in haystacks: where they are put, which are hidden, and what is asked about them."""

import random
from types import SimpleNamespace

import pytest

from proctor.dialects.aisbench.datasets.generators import judged, needles
from proctor.dialects.aisbench.datasets.generators.needles import (
    Hidden,
    _different,
    _hidden_in,
    _one_place,
    _parallel_places,
    _spread_places,
)

LETTERS = SimpleNamespace(encode=lambda text: list(map(ord, text)), decode=lambda ids: "".join(map(chr, ids)))


@pytest.mark.parametrize("depth, place", [(0, 0), (50, 50), (100, 101), (99.9, 100)])
def test_one_needle_stands_at_its_depth(depth, place):
    assert _one_place(101, [[1]], {"depth": depth}) == [place]


@pytest.mark.parametrize(
    "depths, places",
    [([0, 50, 100], [0, 53, 107]), ([100, 100, 100], [100, 103, 107]), ([10], [10])],
)
def test_needles_stand_at_depths_of_their_own(depths, places):
    assert _parallel_places(100, [[0] * 3, [0] * 4, [0] * 5], {"depths": depths}) == places


@pytest.mark.parametrize(
    "depth, diff, places",
    [(10, 20, [10, 36, 64]), (0, 0, [0, 6, 14]), (100, 10, [100, 106, 114])],
)
def test_needles_stand_one_after_the_other(depth, diff, places):
    assert _spread_places(100, [[0] * 3, [0] * 4, [0] * 5], {"depth": depth, "diff": diff}) == places


@pytest.mark.parametrize(
    "kind, hidden, more, text",
    [
        ("origin", ["--"], {"depth": 50, "length": 10}, "aaaa--aaaa"),
        ("origin", ["--"], {"depth": 0, "length": 6, "length_buffer": 2}, "--aa"),
        ("origin", ["--"], {"depth": 100, "length": 1}, "--"),
        ("parallel", ["-", "+"], {"depths": [0, 100], "length": 8}, "-aaaaaa+"),
        ("origin", ["--"], {"depth": 100, "length": 99}, "a" * 20 + "b" * 20 + "--"),
    ],
)
def test_a_haystack_is_as_long_as_the_needles_leave_room_for(kind, hidden, more, text):
    found = _hidden_in(["a" * 20, "b" * 20], hidden, LETTERS, {"kind": kind, "length_buffer": 0, **more})
    assert found == text


def test_needles_share_no_word():
    rows = [{"arg1": a, "arg2": b} for a, b in ("ax", "ay", "bx", "by", "cz", "dw")]
    assert _different(rows, 3) == [rows[0], rows[3], rows[4]]
    assert _different(rows, 9) == [rows[0], rows[3], rows[4], rows[5]]
    assert _different(rows, 1) == rows[:1]


def source(files, **arguments):
    def read(path, *_):
        return [dict(each) for each in files[path]]

    return SimpleNamespace(
        arguments={"path": "p", "needle_file_name": "n", **arguments}, rows=read, document=read, text=files.get
    )


def test_one_needle_of_the_language_is_hidden():
    rows = [
        {"language": name, "needle": f"N{n}", "retrieval_question": f"Q{n}", "arg2": f"K{n}"}
        for n, name in enumerate(("English", "Chinese") * 3)
    ]
    hide = needles._one(source({"p/n": rows}, language="English"))
    found = [hide(counter) for counter in range(9)]
    assert {each.question for each in found} == {"Q0", "Q2", "Q4"}
    number = found[0].question[1:]
    assert found[0] == Hidden([f"\nN{number}\n"], f"Q{number}", f"\nN{number}\n*K{number}")


@pytest.mark.parametrize(
    "language, marks, asked",
    [
        ("English", ("?", "."), "Please answer in the format of '{}'"),
        ("Chinese", ("？", "。"), "请按照'{}'的格式回答。"),
    ],
)
def test_several_needles_are_asked_for_at_once(language, marks, asked):
    mark, stop = marks
    rows = [{"language": language, "needle": f"N{n}", "arg1": f"a{n}", "arg2": f"K{n}",
             "retrieval_question": f"Q{n}{mark} Say 'A{n}{stop} more'"} for n in range(4)]  # fmt: skip
    hide = needles._parallel(source({"p/n": [*rows, {"language": "other"}]}, language=language, depths=[10, 20]))
    found = hide(3)
    order = [each.strip()[1:] for each in found.needles]
    assert len(set(order)) == 2
    questions = "、".join(f"Q{n}{mark}" for n in order)
    assert found.question == questions + asked.format("、".join(f"A{n}" for n in order))
    assert found.answer == f"K{order[0]}*K{order[1]}#10*20"


def test_derived_needles_are_those_of_as_many_steps():
    rows = [
        {"derivation_count": count, "derivations": ["a", "b"], "question": f"Q{count}", "answer": "A"}
        for count in (2, 3)
    ]
    hide = needles._derived(source({"p/n": rows}, num_needles=2))
    assert [hide(n).question for n in range(5)] == ["Q2"] * 5
    assert (hide(0).needles, hide(0).answer) == (["\na\n", "\nb\n"], "A*A")


def test_rows_are_made_for_each_file_and_repetition(monkeypatch):
    monkeypatch.setattr(needles, "tokenizer", lambda name: LETTERS)
    monkeypatch.setattr(needles, "_prompt", lambda kind, arguments, context, hidden: (kind, context, hidden.question))
    needle = [{"language": "English", "needle": "+", "retrieval_question": "Q", "arg2": "K"}]
    files = {"p/n": needle, "p/zh_tech.jsonl": [{"text": "a"}, {"text": "b"}], "p/zh_all.jsonl": [{"text": "c"}]}
    arguments = {"version": "needlebench", "kind": "origin", "tokenizer_model": "t", "file_list": ["zh_tech.jsonl", "zh_all.jsonl"],
                 "num_repeats_per_file": 2, "language": "English", "length": 9, "length_buffer": 0, "depth": 100}  # fmt: skip
    found = needles.haystack(source(files, **arguments))
    assert [each["prompt"][1] for each in found][:2] == ["c\n+\n", "c\n+\n"]
    assert {each["prompt"][1] for each in found[2:]} <= {"ab\n+\n", "ba\n+\n"}
    assert [each["answer"] for each in found] == ["\n+\n*K"] * 4
    texts = ["a", "b"]
    random.Random(0).shuffle(texts)
    assert found[2]["prompt"][1] == "".join(texts) + "\n+\n"


def test_questions_of_flames_stand_behind_the_words_of_a_file():
    row = {"prompt": "P", "dimension": "d", "subcomponent": "s"}
    (found,) = judged.flames(source({"p/x_config.txt": "W: ", "p/x.json": [row]}, name="x"))
    assert found == {**row, "instruction": "W: P\n回答: ", "judge": {"dimension": "d", "subcomponent": "s"}}


def test_questions_of_alignbench_go_to_a_judge(monkeypatch):
    row = {"question": "Q", "capability": "c", "others": {"reference": "R", "subcategory": "sub"}}
    (plain,) = judged.alignbench(source({"p/x.json": [row]}, name="x"))
    assert plain == {"question": "Q", "capability": "c", "others": row["others"], "ref": "R",
                     "judge": {"capability": "c", "question": "Q", "others": row["others"]}}  # fmt: skip
    monkeypatch.setattr(judged, "local_path", lambda path: path)
    monkeypatch.setattr(judged, "prompt_texts", lambda name: "{category}|{dimensions}|{question}|{reference}")
    files = {
        "p/x.json": [row], "f/c.json": {"Paths": {"dimension_set_filepath": "s", "dimension_def_filepath": "d", "subcategory_mapping": "m"}},
        "f/s": {"type": ["one", "two"]}, "f/d": {"one": "1", "two": "2"}, "f/m": {"sub": "type"},
    }  # fmt: skip
    own = source({}, name="x", alignment_bench_config_path="f", alignment_bench_config_name="c")
    own.document = files.get
    assert judged.alignbench(own)[0]["critiquellm_prefix"] == "c|1. one: 1\n2. two: 2\n|Q|R"
