from proctor.ir import Choose, Decoding, Failure, Generate, Pair, Prompt, Response, Scored, Timing, Usage
from proctor.ir.exchange import Exchange
from proctor.ir.question import Answered, Question
from proctor.running.sample_records import Decodings, ScoredParts, asked_part
from proctor.scoring.grades import Grade

NAMES = ("prediction", "processed_prediction", "processed_references", "scores")


def test_lines_behind_the_last_score_have_none():
    grade = Grade(
        {},
        instance_scores={"f1": [0.5, 1.0]},
        predictions=["a", "b", "c"],
        processed_predictions=["A"],
        processed_references=[["x"], ["y"], ["z"]],
    )
    parts = ScoredParts(grade)
    assert parts.next(2) == [(NAMES, ("a", "A", ["x"], {"f1": 0.5})), (NAMES, ("b", None, ["y"], {"f1": 1.0}))]
    (third, fourth) = parts.next(2)
    assert third == (NAMES, ("c", None, ["z"], {"f1": None}))
    assert fourth[1][:3] == (None, None, None)


def test_failures_are_told_beside_the_lines_that_they_are_of():
    odd = Failure("processor", "odd")
    grade = Grade({}, instance_scores={}, predictions=["a", odd, "c"], failures={1: odd})
    parts = ScoredParts(grade)
    (first,) = parts.next(1)
    (second, third) = parts.next(2)
    assert first[0] == third[0] == NAMES
    assert second == ((*NAMES, "scoring_failure"), (None, None, None, {}, odd))


def asked(requests, *responses, references=()):
    question = Question(3, {"q": 1}, Exchange((), references=references), tuple(requests))
    names, values = asked_part("quiz", Answered(question, responses), Decodings())
    return dict(zip(names, values, strict=True))


def test_what_several_requests_share_is_said_once():
    requests = [Generate(Prompt("a"), Decoding(seed=1)), Generate(Prompt("b"), Decoding(seed=2))]
    line = asked(requests, Response(texts=("yes",), finish_reasons=("stop",)), Response(texts=("no",)))
    assert line["kind"] == "generate"
    assert line["prompt"] == ["a", "b"]
    assert [each["seed"] for each in line["decoding"]] == [1, 2]
    assert line["output"] == ["yes", "no"]
    assert line["finish_reasons"] == ["stop"]
    assert line["timing"] == {"started": 0.0, "seconds": 0}
    assert asked(requests, Response(texts=("no",)), Response(texts=("no",)))["output"] == "no"


def test_the_first_of_several_answers_says_when_asking_began():
    times = [Timing(5.0, 2.0), Timing(4.0, 1.0), Timing(0.0, 0.5)]
    answers = [Response(texts=("x",), timing=each, usage=Usage(2, 3)) for each in times]
    line = asked([Generate(Prompt("a"))] * 3, *answers)
    assert line["timing"] == {"started": 4.0, "seconds": 3.5}
    assert (line["usage"]["prompt_tokens"], line["usage"]["completion_tokens"]) == (6, 9)
    first = asked([Generate(Prompt("a"))], Response(texts=("x",), timing=Timing(1.0, 2.0, 0.25)))
    assert first["timing"] == {"started": 1.0, "seconds": 2.0, "first_token_seconds": 0.25}


def test_all_that_was_written_is_kept_where_it_is_more_than_the_answer():
    thought = Response(texts=("4",), thoughts=("two and two",), written=("<think>two and two</think>4",))
    line = asked([Generate(Prompt("a"))], thought)
    assert (line["output"], line["thinking"], line["written"]) == ("4", "two and two", "<think>two and two</think>4")
    pair = asked([Generate(Prompt("a")), Generate(Prompt("b"))], thought, Response(texts=("5",)))
    assert pair["written"] == ["<think>two and two</think>4", "5"]
    assert "written" not in asked([Generate(Prompt("a"))], Response(texts=("4",), written=("4",)))


def test_choices_are_listed_with_what_each_was_worth():
    pairs = (Pair(Prompt("Q"), " a"), Pair(Prompt("Q"), " b"))
    line = asked([Choose(pairs)], Response(scores=(Scored(-1.0, is_greedy=True, token_count=1), Scored(-2.0))))
    assert (line["kind"], line["prompt"], line["continuations"]) == ("choose", "Q", [" a", " b"])
    assert [each["log_likelihood"] for each in line["output"]] == [-1.0, -2.0]
    assert line["decoding"] is None
    late = Failure("timeout", "late")
    lost = asked([Choose(pairs)], Response(failure=late))
    assert (lost["output"], lost["failure"]) == (None, late)
