"""Which choice an answer names where a model writes it: labels, in several scripts, and texts."""

from __future__ import annotations

import json

import pytest

from proctor.dialects.lm_eval.choices_to_generation import NO_LABEL, label_finder
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams

TEXTS = ("red", "green apple", "blue", "A dog")


@pytest.mark.parametrize(
    "label, answers",
    [
        ("B", ["B", "b", "(B)", "B.", "**B**", "B) green", "B\nA", "Option B", "Because B", "\\boxed{B}", "Answer: B"]),
        ("B", ["The answer is B.", "the answer is (b)", "I would say B", "Green Apple.", "B green apple", "[B]"]),
        (
            "B",
            [
                "答案是B",
                "答案：（B）",
                "选B",
                "选项A是错的，应选B",
                "正确答案为B。",
                "Ｂ",
                "（Ｂ）",
                "答案是Ｂ，因为A不对",
                "B是对的",
            ],
        ),
        ("B", ["정답은 B입니다", "คำตอบคือB", "答えはBです"]),
        ("A", ["A", "A is correct", "A because of it", "A, since", "A) red", "A: red", "A red", "A or so", "A 5"]),
        ("D", ["A dog", "a dog.", "D", "D) A dog", "D a dog"]),
        (NO_LABEL, ["", "Both", "A cat is meant", "A green one", "Aérer", "ABC", "none of them", "green"]),
    ],
)
def test_the_label_of_an_answer(label: str, answers: list[str]) -> None:
    find = label_finder(list("ABCD"), lambda: TEXTS)
    assert {answer: find(answer) for answer in answers} == dict.fromkeys(answers, label)


def test_a_text_that_two_choices_have_names_none_of_them() -> None:
    assert label_finder(list("AB"), lambda: ("x", "x"))("x") == NO_LABEL


def test_texts_are_looked_up_only_where_a_label_is_not_all() -> None:
    def texts() -> list[str]:
        raise AssertionError

    assert label_finder(list("AB"), texts)("(B)") == "B"


@pytest.mark.parametrize(
    "answer, score", [("blue", 1.0), ("B", 1.0), ("答案是B", 1.0), ("A blue one", 0.0), ("red", 0.0)]
)
def test_texts_that_a_prompt_lists_behind_its_labels_are_known(tmp_path, answer: str, score: float) -> None:
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"q": f"{place}?", "c": ["red", "blue"], "a": "B"}) + "\n" for place in range(2))
    )
    name = f"{tmp_path / 'rows.jsonl'}[input_column=q,answer_column=a,choices_column=c]"
    (exam,) = resolve_tasks([name], ExamOptions())
    (found,) = run_exams([exam], ScriptedEngine(answer=answer), log=tmp_path / "log.db").results.values()
    assert found["score"] == score


@pytest.mark.parametrize("options, score", [
    ({"repeats": 1}, 0.5),
    ({"repeats": 2}, 0.75),
    ({"repeats": 4}, 0.75),
    ({"repeats": 2, "reduce": ("best",)}, 1.0),
])  # fmt: skip
def test_every_answer_counts_where_several_are_asked_for(tmp_path, options, score) -> None:
    (tmp_path / "rows.jsonl").write_text(
        "".join(json.dumps({"q": f"{place}?", "c": ["red", "blue"], "a": "B"}) + "\n" for place in range(2))
    )
    name = f"{tmp_path / 'rows.jsonl'}[input_column=q,answer_column=a,choices_column=c]"
    (exam,) = resolve_tasks([name], ExamOptions(**options))
    engine = ScriptedEngine(answers=["A", "B", "B", "B"])
    (found,) = run_exams([exam], engine, log=tmp_path / "log.db").results.values()
    assert (found["score"], found["n"], found["answers"]) == (score, 2, 2 * options["repeats"])


def test_code_of_a_task_that_reads_one_answer_is_given_each_answer_by_itself(tmp_path, monkeypatch) -> None:
    from proctor.settings import settings

    (tmp_path / "rows.jsonl").write_text('{"q": "0?", "a": "B"}\n')
    (tmp_path / "own.py").write_text(
        "def read(answers, docs):\n    return [[each[0].upper() for each in some] for some in answers]\n"
    )
    (tmp_path / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\n"
        "metric_list: [{metric: exact_match}]\nfilter_list:\n"
        "- {name: own, filter: [{function: custom, filter_fn: !function own.read}, {function: take_first}]}\n"
    )
    monkeypatch.chdir(tmp_path)
    with settings.context(trust_code=True):
        (exam,) = resolve_tasks(["t.yaml"], ExamOptions(repeats=4))
        engine = ScriptedEngine(answers=["a", "b", "b", "b"])
        (found,) = run_exams([exam], engine, log=tmp_path / "log.db").results.values()
    assert found["score"] == 0.75


def test_letters_that_the_only_question_lists_are_labels(tmp_path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"q": "0?", "c": ["red", "blue"], "a": "B"}\n')
    name = f"{tmp_path / 'rows.jsonl'}[input_column=q,answer_column=a,choices_column=c]"
    (exam,) = resolve_tasks([name], ExamOptions(choices_as_text=True))
    (question,) = exam.questions()
    assert question.requests[0].prompt.text == "0?\nA. red\nB. blue\nAnswer:"  # type: ignore[union-attr]
