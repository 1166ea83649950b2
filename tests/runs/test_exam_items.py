"""What runs of several models say of an exam's questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.runs.exam_items import ExamItems, items_of
from proctor.runs.item_tables import heading, records, tables
from proctor.runs.question_words import answer_of, asked_of, question_of
from proctor.runs.stored_run import load_run

WORDS = "What is asked in place {}?"
MODELS = ("AAAAAAAA", "AAAAAAAB", "AAAAABBB", "AABBBBBB", "BBBBBBBB")
"""What five models answer to eight questions, each of which has the gold A; the first one is the best."""


def line(number: int, answer: str, gold: str = "A", **more: Any) -> dict[str, Any]:
    question = WORDS.format(number)
    score = float(answer == gold)
    known = {"exam": "quiz", "doc_id": number, "input": {"question": question, "answer": gold}, "prompt": question}
    return {**known, "references": [gold], "processed_prediction": answer, "scores": {"acc": score}, **more}


def write(folder: Path, lines: list[dict[str, Any]], **entry: Any) -> Path:
    scores = [each["scores"]["acc"] for each in lines if "acc" in each["scores"]]
    mean = sum(scores) / len(scores)
    found = {"score": mean, "score_name": "acc", "unit": "share", "higher_is_better": True, "n": len(lines), **entry}
    folder.mkdir()
    (folder / "results.json").write_text(
        json.dumps({"results": {"quiz": found}, "run": {"engine": {"label": folder.name}}})
    )
    (folder / "samples.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    return folder


def quiz(root: Path, golds: dict[int, str] | None = None, models: tuple[str, ...] = MODELS) -> ExamItems:
    golds = golds or {}
    folders = [
        write(root / f"m{place}", [line(n, each, golds.get(n, "A")) for n, each in enumerate(answers)])
        for place, answers in enumerate(models)
    ]
    (found,) = items_of([load_run(each) for each in folders])
    return found


def test_questions_have_difficulty_and_discrimination_and_models_stand_in_order(tmp_path):
    found = quiz(tmp_path)
    assert found.models == ("m0", "m1", "m2", "m3", "m4")
    assert [each.right for each in found.items] == [4, 4, 3, 3, 3, 2, 2, 1]
    assert found.items[7].difficulty == pytest.approx(0.8)
    assert found.items[2].discrimination.value > 0.8
    assert heading(found) == "8 questions, 5 models (acc): 0 answered by every model, 0 by none"


def test_a_wrong_gold_is_in_doubt_with_the_answer_that_the_better_models_gave(tmp_path):
    found = quiz(tmp_path, {2: "B"})
    (item,) = found.doubtful
    assert (item.number, item.gold, item.instead, item.instead_by) == (2, "B", "A", ("m0", "m1", "m2"))
    assert item.discrimination.value < 0
    table = next(iter(tables(found, 20)))
    assert table.title == "Golds in doubt: the better models agree on another answer"
    assert table.rows[0][:4] == ("2", WORDS.format(2), "B", "2 of 5")


def test_right_golds_are_not_in_doubt(tmp_path):
    assert quiz(tmp_path).doubtful == []


def test_questions_of_all_and_of_none_are_told(tmp_path):
    found = quiz(tmp_path, {0: "C"}, ("AAA", "AAB", "AAC", "AAA"))
    assert ([each.number for each in found.by_all], [each.number for each in found.by_none]) == ([1], [0])
    assert found.doubtful == [found.items[0]]


def test_two_models_say_what_they_can_and_what_they_cannot(tmp_path):
    found = quiz(tmp_path, {1: "C"}, ("AAAAAAAA", "AAAAAABB"))
    assert [each.number for each in found.doubtful] == [1]
    assert all(each.discrimination is None for each in found.items)
    assert found.notes == ("2 models do not say which questions tell better ones from worse: four that differ do",)


def test_one_model_doubts_nothing_and_says_why(tmp_path):
    found = quiz(tmp_path, {1: "C"}, ("AAAAAAAA",))
    assert found.doubtful == []
    assert "one model does not tell" in found.notes[0]


def test_models_may_have_their_rows_in_another_order(tmp_path):
    one = write(tmp_path / "one", [line(0, "A"), line(1, "B")])
    two = write(tmp_path / "two", [{**line(1, "B"), "doc_id": 0}, {**line(0, "A"), "doc_id": 1}])
    (found,) = items_of([load_run(one), load_run(two)])
    assert [(each.right, each.models) for each in found.items] == [(2, 2), (0, 2)]


def test_a_failure_is_no_wrong_answer(tmp_path):
    lost = {**line(1, "B"), "failure": {"kind": "timeout"}, "scores": {}}
    one, two = write(tmp_path / "one", [line(0, "A"), lost]), write(tmp_path / "two", [line(0, "A"), line(1, "A")])
    (found,) = items_of([load_run(one), load_run(two)])
    assert (found.items[1].right, found.items[1].models) == (1, 1)


def test_less_is_better_and_percent_are_read_as_they_are(tmp_path):
    lines = [line(0, "A"), line(1, "B")]
    one = write(tmp_path / "one", lines, higher_is_better=False)
    hundreds = [{**each, "scores": {"acc": 100 * each["scores"]["acc"]}} for each in lines]
    two = write(tmp_path / "two", hundreds, unit="percent")
    assert [each.right for each in items_of([load_run(one)])[0].items] == [0, 1]
    assert [each.right for each in items_of([load_run(two)])[0].items] == [1, 0]


def test_runs_that_mean_another_score_are_left_out_with_the_reason(tmp_path):
    one = write(tmp_path / "one", [line(0, "A"), line(1, "B")])
    two = write(tmp_path / "two", [line(0, "A"), line(1, "B")], score_name="f1", score=0.3)
    (found,) = items_of([load_run(one), load_run(two)])
    assert found.models == ("one",)
    assert found.notes[0] == "two is left out: one run is scored by acc, the other by f1"


def test_scores_without_known_ends_are_left_out_with_the_reason(tmp_path):
    long = [{**line(n, "A"), "scores": {"acc": 7.5 * n}} for n in range(3)]
    one, two = write(tmp_path / "one", [line(0, "A"), line(1, "B")]), write(tmp_path / "two", long, unit="raw")
    (found,) = items_of([load_run(one), load_run(two)])
    assert found.notes[0] == "two is left out: its scores have no known ends"


def test_an_exam_under_another_name_is_found_by_its_instances(tmp_path):
    folders = [
        write(tmp_path / f"m{place}", [line(n, each) for n, each in enumerate(answers)])
        for place, answers in enumerate(MODELS)
    ]
    for name in ("results.json", "samples.jsonl"):
        for folder in folders[2:]:
            text = (folder / name).read_text()
            (folder / name).write_text(text.replace('"quiz"', '"quiz_v2"'))
    (found,) = items_of([load_run(each) for each in folders])
    assert (found.exam, found.models) == ("quiz", ("m0", "m1", "m2", "m3", "m4"))


def test_exams_of_other_instances_stay_apart(tmp_path):
    folders = [
        write(tmp_path / f"m{place}", [line(n + 4 * place, each) for n, each in enumerate(answers[:5])])
        for place, answers in enumerate(MODELS[:2])
    ]
    for name in ("results.json", "samples.jsonl"):
        (folders[1] / name).write_text((folders[1] / name).read_text().replace('"quiz"', '"test"'))
    assert [each.exam for each in items_of([load_run(each) for each in folders])] == ["quiz", "test"]


def test_runs_of_one_engine_are_one_model(tmp_path):
    one, two = (
        write(tmp_path / "one", [line(0, "A"), line(1, "B")]),
        write(tmp_path / "two", [line(0, "B"), line(1, "B")]),
    )
    for each in (one, two):
        (each / "run.yaml").write_text("model: scripted\ntasks: [quiz]\nengine: abc\n")
    (found,) = items_of([load_run(one), load_run(two)])
    assert [(each.models, each.difficulty) for each in found.items] == [(1, 0.5), (1, 1.0)]


def test_a_question_asked_twice_is_found_with_both_golds(tmp_path):
    rows = [line(0, "A"), line(1, "A"), line(2, "A"), line(3, "A")]
    rows[2] = {**rows[0], "doc_id": 2, "references": ["B"], "input": {"question": WORDS.format(0), "answer": "B"}}
    rows[3] = {**rows[1], "doc_id": 3}
    (found,) = items_of([load_run(write(tmp_path / "one", rows))])
    assert [(each.numbers, each.golds, each.differs) for each in found.duplicates] == [
        ((0, 2), ("A", "B"), True),
        ((1, 3), ("A", "A"), False),
    ]


def test_replicas_of_an_exam_are_one_question(tmp_path):
    rows = [{**line(0, answer), "doc_id": place} for place, answer in enumerate("ABAA")]
    (found,) = items_of([load_run(write(tmp_path / "one", rows, copies=4))])
    assert [each.difficulty for each in found.items] == [0.25]
    assert found.duplicates == ()


def test_records_have_every_question(tmp_path):
    found = quiz(tmp_path, {2: "B"})
    rows = list(records(found))
    assert [each["in_doubt"] for each in rows] == [False, False, True, *[False] * 5]
    assert rows[2]["instead_by"] == "m0, m1, m2"
    assert json.loads(json.dumps(found.record()))["doubtful"] == [2]


# -- words --------------------------------------------------------------------------------------------------------


def mc(question: str, choices: list[str], gold: int, demos: str = "") -> dict[str, Any]:
    sent = f"{demos}Q: {question}\nA:"
    row = {"question": question, "choices": {"text": choices, "label": ["A", "B"]}, "answerKey": "AB"[gold]}
    return {
        "input": row,
        "prompt": sent,
        "continuations": [f" {each}" for each in choices],
        "references": [choices[gold]],
    }


def test_a_question_is_the_same_under_other_demos_golds_spaces_and_orders_of_choices():
    one = mc("Which is true?", ["red", "green"], 0)
    two = mc("Which  is TRUE?", ["green", "red"], 0, demos="Q: 1+1\nA: 2\n\n")
    assert asked_of(one) == asked_of(two)


def test_the_same_words_with_other_choices_are_another_question():
    assert asked_of(mc("Which is true?", ["red", "green"], 0)) != asked_of(mc("Which is true?", ["red", "blue"], 0))


def test_a_row_without_texts_in_the_prompt_is_told_by_the_prompt():
    one, two = ({"input": {"a": number}, "prompt": f"{number} + 1 ="} for number in (1, 2))
    assert asked_of(one) != asked_of(two)


def test_the_question_is_the_longest_text_that_was_sent_and_is_not_the_answer():
    record = {"input": {"q": "Who?", "a": "a long right answer", "note": "never sent, and long"}, "prompt": "Who? Say:"}
    assert question_of({**record, "references": ["a long right answer"]}) == "Who?"


@pytest.mark.parametrize(
    "record, answer",
    [
        ({"processed_prediction": "B", "prediction": "b)", "output": "It is b)"}, "B"),
        ({"processed_prediction": 7}, "7"),
        ({"processed_prediction": [0.1], "prediction": [0.1], "output": [{"log_likelihood": -1}]}, None),
        ({"output": "yes\nno"}, "yes no"),
        ({}, None),
    ],
)
def test_an_answer_is_what_was_read_out_of_it(record, answer):
    assert answer_of(record) == answer
