"""How answers ended, and whether all of them are the same: counted in one pass, without keeping them."""

import tracemalloc

import pytest

from proctor.ir import (
    Answered,
    Choose,
    Converse,
    Exchange,
    Failure,
    Generate,
    Likelihood,
    Pair,
    Prompt,
    Question,
    Response,
    Rolling,
    Scored,
    Usage,
)
from proctor.scoring.grading.answer_endings import FEWEST_EQUAL, Endings, chosen_option

ASKED = Generate(Prompt("?"))


def written(*texts, reasons=(), references=(), failure=None, request=ASKED) -> Answered:
    question = Question(0, {}, Exchange((), references=tuple(references)), (request,))
    return Answered(question, (Response(texts, finish_reasons=tuple(reasons), failure=failure),))


def chosen(*likelihoods, gold=None, labels=()) -> Answered:
    names = tuple(f" {number}" for number in range(len(likelihoods)))
    request = Choose(tuple(Pair(Prompt("?"), name) for name in names))
    question = Question(0, {}, Exchange((), choices=names, gold=gold), (request,), labels=labels)
    return Answered(question, (Response(scores=tuple(Scored(each, token_count=1) for each in likelihoods)),))


def counted(*answered) -> dict:
    endings = Endings()
    for each in answered:
        endings.count(each)
    return endings.as_data()


def test_what_was_cut_off_is_empty_or_was_only_thought_is_counted():
    thought = written(failure=Failure("thinking", "all"))
    slow = written(failure=Failure("timeout", "slow"))
    found = counted(
        written("a", reasons=["stop"]),
        written("b", reasons=["length"]),
        written("  \n", reasons=["MAX_TOKENS"]),
        written(reasons=()),
        *(thought, slow),
    )
    assert found == {"answers": 4, "truncated": 2, "empty": 2, "thinking": 1}


def test_each_of_several_texts_counts():
    talk = Converse((None, None))
    found = counted(written("a", "", reasons=["length", "stop"], request=talk), written("b", "c"))
    assert found == {"answers": 4, "truncated": 1, "empty": 1, "thinking": 0}


@pytest.mark.parametrize("number", [1, FEWEST_EQUAL - 1, FEWEST_EQUAL, 50])
def test_equal_answers_are_news_where_there_are_some(number):
    found = counted(*[written(" maybe ", references=["yes", "no"][place % 2 :]) for place in range(number)])
    assert found.get("all_answers") == ({"equal": "maybe"} if number >= FEWEST_EQUAL else None)


def test_equal_answers_are_no_news_where_all_of_them_are_right():
    right = [written("The answer is A.", references=["A"]) for _ in range(20)]
    assert "all_answers" not in counted(*right)
    assert counted(*right, written("The answer is A.", references=["B"]))["all_answers"]["equal"] == "The answer is A."
    part_of_a_word = [written("Apples", references=["A"]) for _ in range(20)]
    assert counted(*part_of_a_word)["all_answers"] == {"equal": "Apples"}


def test_answers_that_differ_are_no_news():
    assert "all_answers" not in counted(*[written("yes") for _ in range(30)], written("no"))


@pytest.mark.parametrize("number, news", [(1, False), (2, True)])
def test_all_answers_empty_or_cut_off(number, news):
    empty = counted(*[written("", reasons=["stop"])] * number)
    cut = counted(*[written(f"{place}", reasons=["length"]) for place in range(number)])
    assert empty.get("all_answers") == ({"empty": True} if news else None)
    assert cut.get("all_answers") == ({"truncated": True} if news else None)


def test_exams_that_compare_choices_say_nothing_until_all_choices_are_one():
    mixed = [chosen(-1.0, -2.0, gold=0), chosen(-2.0, -1.0, gold=0)] * 5
    assert counted(*mixed) == {}
    always = [chosen(-2.0, -1.0, gold=place % 2) for place in range(FEWEST_EQUAL)]
    assert counted(*always)["all_answers"] == {"option": 1}
    assert counted(*always[1:]) == {}
    assert counted(*[chosen(-2.0, -1.0, gold=1)] * 20) == {}


def asked_by_label(*requests, labels, scores) -> Answered:
    question = Question(0, {}, Exchange(()), tuple(requests), labels=labels)
    return Answered(question, tuple(Response(scores=(Scored(value, token_count=count),)) for value, count in scores))


def test_the_option_is_found_in_every_form_of_asking():
    def of(answered):
        return chosen_option(answered.question, answered.responses)

    rolled, likely = Rolling("x"), Likelihood(Prompt("?"), " x")
    assert of(chosen(-3.0, -1.0, -1.0)) == 1
    assert of(asked_by_label(rolled, rolled, labels=("a", "b"), scores=[(-8.0, 9), (-6.0, 3)])) == 0
    assert of(asked_by_label(likely, likely, labels=("a", "b"), scores=[(-8.0, 9), (-6.0, 3)])) == 1
    normalized = [(-8.0, 4), (-1.0, 1), (-6.0, 4), (-6.0, 4)]  # -2 beyond -1; -1.5 beyond -1.5
    assert of(asked_by_label(*[likely] * 4, labels=("a", "b"), scores=normalized)) == 1
    assert of(asked_by_label(likely, labels=(), scores=[(-1.0, 1)])) is None


def test_answers_are_not_kept():
    endings = Endings()
    tracemalloc.start()
    for number in range(3000):
        endings.count(written("x" * 10_000 + str(number)))
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert grown < 200_000


def test_tokens_add_up():
    both = Usage(5, 3, 2, 1) + Usage(10, 4)
    assert both == Usage(15, 7, 2, 1)
    assert both.as_data() == {"prompt_tokens": 15, "completion_tokens": 7, "thinking_tokens": 2, "cached_tokens": 1}
    assert Usage(1, 1).as_data() == {"prompt_tokens": 1, "completion_tokens": 1}


@pytest.mark.parametrize(
    "tag, end", [("<zz_think>", "</zz_think>"), ("[PONDER]", "[/PONDER]"), ("<|begin_of_x|>", "<|end_of_x|>")]
)
def test_answers_that_begin_with_tags_nobody_knows_are_news_where_they_are_many(tag, end):
    marked = [written(f"{tag}hm{number}{end}\n{number}") for number in range(FEWEST_EQUAL)]
    assert counted(*marked)["all_answers"] == {"begin_with": {"tag": tag, "end": end, "count": FEWEST_EQUAL}}
    plain = [written(f"answer {number}") for number in range(FEWEST_EQUAL + 1)]
    assert "all_answers" not in counted(*marked, *plain)
    assert "all_answers" not in counted(*marked[1:])


@pytest.mark.parametrize(
    "text", ["<b>{}</b>", "<p>{} without an end", "[{}] in brackets", "< {} >x</ {} >y", "{}<b>x</b>y"]
)
def test_tags_around_a_whole_answer_or_without_an_end_are_no_news(text):
    assert "all_answers" not in counted(*[written(text.replace("{}", str(number))) for number in range(9)])
