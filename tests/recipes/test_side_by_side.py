"""Repeats are graded in one pass: what comes of it is what grading one after another gives, and answers weigh nothing."""

from __future__ import annotations

import json
import random
import tracemalloc
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.ir import Decoding, Exchange, Failure, Generate, Prompt, Response
from proctor.ir.question import Answered, Question
from proctor.recipes.exam_parts import Grader
from proctor.recipes.options import ExamOptions
from proctor.recipes.repeats import RepeatsGrader, SideBySide
from proctor.scoring.grading import column_store as stored

ALL = ("mean", "majority", "best", "pass@2", "pass^2", "g-pass@4", "g-pass@2:0.75")
SAID = ("yes", "no", "yes indeed", "positive", "negative", "12", "")
TASK = """task: hot
dataset_path: json
dataset_kwargs: {data_files: {test: rows.jsonl}}
test_split: test
output_type: generate_until
doc_to_text: '{{q}}'
doc_to_target: '{{a}}'
generation_kwargs: {temperature: 0.8, do_sample: true, until: [x], max_gen_toks: 4}
"""
FIRST = "{name: w, filter: [{function: regex, regex_pattern: '^([a-z]+)'}, {function: take_first}]}"
PLAIN = "{name: p, filter: [{function: take_first}]}"
EXAMS = {
    "share.yaml": "metric_list: [{metric: exact_match}]\n",
    "two.yaml": f"filter_list: [{FIRST}, {PLAIN}]\nmetric_list: [{{metric: exact_match}}, {{metric: f1}}]\n",
    "corpus.yaml": "metric_list: [{metric: bleu}]\n",
}


@dataclass(frozen=True)
class OneByOne:
    """A grader of which nobody knows how it reads: it is given one repeat after another, as all were before."""

    hidden: Grader

    def check(self):
        yield from self.hidden.check()

    def grade(self, answered):
        return self.hidden.grade(answered)


@pytest.fixture(autouse=True)
def _rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"q": f"number {place}", "a": "yes", "kind": "even odd".split()[place % 2]} for place in range(60)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, metrics in EXAMS.items():
        (tmp_path / name).write_text(TASK + metrics)


def answers(exam, seed: int = 5):
    """Yield the questions of an exam with answers of all kinds, some of which failed."""
    stream = random.Random(seed)
    for question in exam.questions():
        found = []
        for _ in question.requests:
            failed = stream.random() < 0.02
            text = stream.choice(SAID)
            found.append(Response(failure=Failure("timeout", "slow")) if failed else Response(texts=(text,)))
        yield Answered(question, tuple(found))


def as_values(grade):
    """Return everything that a grade holds."""
    columns = (grade.predictions, grade.processed_predictions, grade.processed_references)
    return (
        grade.scores,
        {name: list(column) for name, column in grade.instance_scores.items()},
        [list(column) for column in columns],
        grade.failures,
        grade.metric_failures,
        grade.table,
        grade.main,
    )


CASES = [
    *((name, ALL) for name in (*EXAMS, "samples.sentiment", "samples.arithmetic")),
    *(("share.yaml", (name,)) for name in ALL),
]


@pytest.mark.parametrize("name, reduce", CASES, ids=[f"{name}-{len(reduce)}-{reduce[0]}" for name, reduce in CASES])
def test_one_pass_gives_what_one_after_another_gives(name, reduce):
    grouped = ("kind",) if name in EXAMS else ()
    (exam,) = resolve_tasks(
        [name], ExamOptions(repeats=4, reduce=reduce, group_by=grouped, limit=60, decoding={"temperature": 0.8})
    )
    assert isinstance(exam.grader, RepeatsGrader)
    given = list(answers(exam))
    assert any(each.failure for each in given)
    found = exam.grader.grade(iter(given))
    expected = replace(exam.grader, base=OneByOne(exam.grader.base)).grade(iter(given))
    assert repr(as_values(found)) == repr(as_values(expected)), "repr: NaN is not equal to itself"
    assert not grouped or len(found.scores["groups"]) == 2


def long_answers(count: int, repeats: int):
    """Yield questions with answers of two kilobytes, each another; none is kept here."""
    requests = tuple(Generate(Prompt("?"), Decoding(max_tokens=4)) for _ in range(repeats))
    for number in range(count):
        row = {"q": f"number {number}", "a": "yes"}
        texts = [f"{'yes' if (number + each) % 3 else 'no'} {number} {each} {'x' * 2_000}" for each in range(repeats)]
        question = Question(number, row, Exchange((), answer="yes", references=("yes",)), requests)
        yield Answered(question, tuple(Response(texts=(text,)) for text in texts))


def held(exam, count: int) -> tuple[float, float]:
    """Return the bytes of a grade of so many questions, and the most while it was made."""
    tracemalloc.start()
    try:
        grade = exam.grader.grade(long_answers(count, 4))
        now, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grade.main.value == pytest.approx(2 / 3, abs=1e-3)
    assert grade.predictions[count - 1][3].startswith(("yes", "no"))
    return now, most


def test_answers_of_repeats_weigh_nothing(monkeypatch):
    monkeypatch.setattr(stored, "MOST_BYTES", 1 << 18)  # the file begins early, so few questions tell
    text = f"filter_list: [{FIRST}]\nmetric_list: [{{metric: exact_match}}]\n"
    Path("long.yaml").write_text(TASK + text)
    (exam,) = resolve_tasks(["long.yaml"], ExamOptions(repeats=4, reduce=("mean", "majority", "pass@2")))
    exam.grader.grade(long_answers(30, 4))  # what is imported and compiled on the way
    few, many = held(exam, 500), held(exam, 2_000)
    more = 1_500 * 4
    assert (many[0] - few[0]) / more < 200, "bytes that each further answer of 2,000 leaves in memory: its scores"
    assert (many[1] - few[1]) / more < 500


def test_columns_of_repeats_are_lists_for_whoever_looks():
    failure = Failure("timeout", "slow")
    columns = SideBySide([["a", failure, "c"], ["d", "e", failure]])
    assert list(columns) == [["a", "d"], failure, ["c", failure]] == columns
    assert (columns[0], columns[1:], columns[-1], len(columns)) == (
        ["a", "d"],
        [failure, ["c", failure]],
        ["c", failure],
        3,
    )
    assert columns.all_at(1) == [failure, "e"]
    assert repr(columns) == repr(list(columns))
    assert columns != "ade"
    assert (columns == 5) is False
    assert (columns == list(columns)[:2]) is False
    with pytest.raises(ValueError, match=r"\[1, 2\]"):
        SideBySide([["a"], ["b", "c"]])
