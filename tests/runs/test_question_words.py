"""The words of a line of samples that tell its question from others."""

import pytest

from proctor.runs.question_words import answer_of, asked_of, gold_of, posed_of, question_of


@pytest.mark.parametrize(
    "row, prompt, asked",
    [
        ({"topic": "math", "q": "Why so?"}, "math: Why so?", "why so?\n"),  # a word of few letters is no question
        ({"topic": "mathematics I", "q": "Why  SO?"}, "mathematics I: Why  SO?", "mathematics i\nwhy so?\n"),
        ({"q": "Who is it?", "a": "Anna Maria Mozart"}, "Who is it? Anna Maria Mozart", "who is it?\n"),
        ({"q": "Who is it?", "choices": ["b", "A"]}, "Who is it? b A", "who is it?\n\na\nb"),
        ({"q": "Who is it?", "metadata": {"of": "a long story"}}, "Who is it? a long story", "who is it?\n"),
        ({"q": "Who is it?", "hidden": "not in the prompt"}, "Who is it?", "who is it?\n"),
        ({"inner": {"q": "Who is it?"}}, "Who is it?", "who is it?\n"),
        ({"q": "3"}, "What is 3?", "what is 3?"),
        ({}, "What is  THIS?", "what is this?"),
    ],
)
def test_a_question_is_told_by_the_texts_of_its_row_that_were_sent(row, prompt, asked):
    assert asked_of({"input": row, "prompt": prompt, "references": ["anna maria mozart"]}) == asked


def test_a_question_is_the_longest_text_that_is_shown_and_not_right():
    row = {"q": "Who wrote it?", "a": "Wolfgang Amadeus Mozart", "why": "because nobody else could have"}
    record = {"input": row, "prompt": "Who wrote it?\nAnswer:", "references": [["Wolfgang Amadeus Mozart"]]}
    assert question_of(record) == "Who wrote it?"
    assert question_of({**record, "prompt": "somebody else's words"}) == row["why"]
    assert question_of({"prompt": "x" * 300}) == "x" * 200
    assert posed_of(record) == "Who wrote it?\nAnswer:"
    assert posed_of({**record, "prompt": "other"}) == row["why"]
    assert gold_of(record) == "Wolfgang Amadeus Mozart"


@pytest.mark.parametrize(
    "record, answer",
    [
        ({"processed_prediction": "B", "prediction": "it is B"}, "B"),
        ({"processed_prediction": True, "prediction": 4.5}, "4.5"),
        ({"processed_prediction": ["B"], "output": "a\n b"}, "a b"),
        ({"processed_prediction": None}, None),
    ],
)
def test_an_answer_is_what_was_read_first_as_a_text(record, answer):
    assert answer_of(record) == answer
