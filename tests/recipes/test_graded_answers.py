"""What of an answer is graded: processors that look for thoughts find them, cut-off answers fail where that is wanted."""

import pytest

from proctor.errors import UsageError
from proctor.ir import (
    Answered,
    Exchange,
    Failure,
    Generate,
    Prompt,
    Question,
    Response,
    Scored,
    Timing,
    Usage,
    several_answers,
)
from proctor.recipes.graded_answers import CUT_OFF, Wanted, looks_for_thoughts
from proctor.recipes.options import ExamOptions

STRICT = ExamOptions(truncated="fail")


def answered(*responses: Response) -> Answered:
    return Answered(Question(0, {}, Exchange(()), (Generate(Prompt("?")),) * len(responses)), responses)


def graded(wanted: Wanted, *responses: Response) -> tuple[Response, ...]:
    (found,) = wanted.of([answered(*responses)])
    return tuple(found.responses)


def test_nothing_changes_where_nothing_is_asked_for():
    items = [answered(Response(("a",), finish_reasons=("length",)))]
    assert Wanted(ExamOptions()).of(items) is items
    assert Wanted(ExamOptions(truncated="score")).of(items) is items


def test_each_answer_that_was_cut_off_is_a_failure_and_the_others_stay():
    whole, cut = Response(("a",), finish_reasons=("stop",)), Response(("b",), finish_reasons=("length",))
    lost, scored = Response(failure=Failure("timeout", "slow")), Response(scores=(Scored(-1.0),))
    found = graded(Wanted(STRICT), whole, cut, lost, scored)
    assert (found[0], found[2], found[3]) == (whole, lost, scored)
    assert found[1].failure == CUT_OFF
    (several,) = graded(Wanted(STRICT), Response(("a", "b"), finish_reasons=("stop", "length")))
    assert several.failure == CUT_OFF


def test_processors_find_thoughts_in_front_of_the_answer_as_the_model_wrote_them():
    written = "<think>hm</think>\n\nyes"
    own = Response(("yes",), thoughts=("hm",), written=(written,))
    cut = Response(("ye",), thoughts=("hm",), written=(written,))  # a stop string ended the answer
    apart = Response(("yes", "no"), thoughts=("hm", ""))
    plain, lost = Response(("yes",)), Response(thoughts=("hm",), failure=Failure("thinking", "all"))
    found = graded(Wanted(ExamOptions(), is_marked=True), own, cut, apart, plain, lost)
    assert [response.texts for response in found] == [
        (written,),
        ("<think>\nhm\n</think>\n\nye",),
        ("<think>\nhm\n</think>\n\nyes", "no"),
        ("yes",),
        (),
    ]
    assert found[4] is lost


@pytest.mark.parametrize(
    "source, looks",
    [
        ({"task": {"filter_list": [{"filter": [{"regex_pattern": r"<\/think>(.*)"}]}]}}, True),
        ({"recipe": {"template": {"postprocessors": ["processors.regex[pattern=</think>(.*)]"]}}}, True),
        ({"dataset": {"eval_cfg": {"pred_postprocessor": {"type": "think_pred"}}}}, True),
        ({"dataset": {"eval_cfg": {"pred_postprocessor": {"type": "keep-reasoning-content"}}}}, True),
        ({"task": {"doc_to_text": "Write <think> first, </think> then answer: {{question}}"}}, False),
        ({"task": {"filter_list": [{"filter": [{"regex_pattern": "I think (.*)"}]}]}}, False),
        ({"dataset": {"eval_cfg": {"pred_postprocessor": {"type": "extract-non-reasoning-content"}}}}, False),
    ],
)
def test_what_looks_for_thoughts(source, looks):
    assert looks_for_thoughts(source) == looks


@pytest.mark.parametrize("given", [{"truncated": "maybe"}, {"answers": "thoughts"}, {"decoding": {"n": 2}}])
def test_options_have_few_values(given):
    with pytest.raises(UsageError):
        ExamOptions(**given)


def test_several_answers_are_found_wherever_they_are_asked_for():
    assert several_answers({"extra_body": {"n": 5}}) == ("n", 5)
    assert several_answers({"temperature": 1.0, "candidate_count": 3}) == ("candidate_count", 3)
    assert several_answers({"n": 1, "num_return_sequences": None, "max_tokens": 5}) is None


def test_an_answer_that_was_cut_off_has_cost_what_it_cost():
    cut = Response(("b",), finish_reasons=("length",), usage=Usage(3, 4), timing=Timing(1.0, 2.0))
    (found,) = graded(Wanted(STRICT), cut)
    assert (found.usage, found.timing, found.texts) == (Usage(3, 4), Timing(1.0, 2.0), ())
    assert not found.failure.retryable


def test_marks_deep_inside_how_predictions_are_made_are_found():
    deep = {"task": {"filter_list": [{"filter": ({"function": "regex", "more": {"deeper": [["</think>"]]}},)}]}}
    assert looks_for_thoughts(deep)
    assert not looks_for_thoughts({"task": {"other": deep["task"]["filter_list"]}})
    assert looks_for_thoughts([{"postprocessors": ["x", "keep_reasoning"]}])
    assert not looks_for_thoughts("</think>")
    assert looks_for_thoughts("</think>", inside=True)


def test_no_answer_is_lost_where_thoughts_are_not_those_of_each():
    with pytest.raises(ValueError, match="zip"):
        graded(Wanted(ExamOptions(), is_marked=True), Response(("a", "b"), thoughts=("x",)))
