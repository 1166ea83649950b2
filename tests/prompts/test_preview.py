import pytest

from proctor.ir import Choose, Converse, Decoding, Exchange, Generate, Likelihood, Pair, Prompt, Rolling, turn
from proctor.prompts.preview import first_questions, request_record, request_records
from proctor.recipes.exam import Question


def record(request, **exchange):
    return request_record(
        "exam", Question(3, {}, Exchange(question=(turn("user", "?"),), **exchange), (request,)), request
    )


@pytest.mark.parametrize(
    "request_, expected",
    [
        (
            Generate(Prompt("p"), Decoding(max_tokens=5, stop=("x",))),
            {"kind": "generate", "prompt": "p", "stop": ["x"], "max_tokens": 5},
        ),
        (Likelihood(Prompt("p"), " c"), {"kind": "likelihood", "prompt": "p", "continuations": [" c"]}),
        (Rolling("long text"), {"kind": "rolling", "prompt": "long text", "continuations": []}),
        (
            Converse(({"role": "user", "content": "a"}, None)),
            {"kind": "converse", "prompt": [{"role": "user", "content": "a"}, {"role": "assistant", "content": None}]},
        ),
        (
            Choose((Pair(Prompt("p"), " a"), Pair(Prompt("p"), " b"))),
            {"kind": "choose", "prompt": "p", "continuations": [" a", " b"]},
        ),
    ],
)
def test_every_kind_of_request(request_, expected):
    found = record(request_)
    assert {key: found[key] for key in expected} == expected
    assert list(found) == [
        "task",
        "doc_id",
        "instance",
        "kind",
        "prompt",
        "continuations",
        "gold",
        "references",
        "stop",
        "max_tokens",
    ]


def test_contexts_that_differ_are_all_there():
    found = record(Choose((Pair(Prompt("p"), " c"), Pair(Prompt("q"), " c"))), gold=1)
    assert (found["prompt"], found["contexts"], found["gold"]) == ("p", ["p", "q"], 1)


def test_no_more_items_are_rendered_than_looked_at():
    class Endless:
        rendered = 0

        def questions(self):
            while True:
                self.rendered += 1
                yield Question(self.rendered, {}, Exchange(question=()), ())

    exam = Endless()
    assert [question.number for question in first_questions(exam, 2, skip=3)] == [4, 5]
    assert exam.rendered == 5


def test_requests_of_exams_are_those_of_their_first_instances():
    class Exam:
        def __init__(self, name):
            self.name = name

        def questions(self):
            for number in range(9):
                yield Question(number, {}, Exchange(question=()), (Generate(Prompt(f"{self.name}{number}")),) * 2)

    found = [(each["task"], each["doc_id"], each["prompt"]) for each in request_records([Exam("a"), Exam("b")], 1)]
    assert found == [("a", 0, "a0")] * 2 + [("b", 0, "b0")] * 2
    assert [each["doc_id"] for each in request_records([Exam("a")], 1, skip=3)] == [3, 3]
    assert [question.number for question in first_questions(Exam("a"), 2)] == [0, 1]
