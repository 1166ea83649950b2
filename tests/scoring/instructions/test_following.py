from __future__ import annotations

import importlib.util

import pytest

from proctor.errors import MissingExtraError, ScoringError
from proctor.scoring.instructions import following as instructions
from proctor.scoring.instructions.following import _ALL, follows, follows_loosely
from proctor.scoring.instructions.ifbench_layouts import LAYOUT_CHECKS
from proctor.scoring.instructions.ifbench_texts import TEXT_CHECKS

CASES = [
    ("keywords:existence", {"keywords": ["Cat", "dog"]}, "a cat and a DOG", "a cat"),
    ("keywords:frequency", {"keyword": "cat", "frequency": 2, "relation": "at least"}, "cat Cat", "cat"),
    ("keywords:forbidden_words", {"forbidden_words": ["cat"]}, "category", "a Cat."),
    ("keywords:letter_frequency", {"letter": "A", "let_frequency": 2, "let_relation": "less than"}, "a b", "aA"),
    ("length_constraints:number_paragraphs", {"num_paragraphs": 2}, "a\n***\nb\n***\n", "a *** *** b"),
    ("length_constraints:number_words", {"num_words": 3, "relation": "at least"}, "one two-three", "one two"),
    (
        "length_constraints:nth_paragraph_first_word",
        {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "Then"},
        'a\n\n"then, b',
        "a\n\nthenb",
    ),
    ("detectable_content:number_placeholders", {"num_placeholders": 2}, "[a] [b]", "[a]"),
    ("detectable_content:postscript", {"postscript_marker": "P.S."}, "x\nP. S. y", "PS y"),
    ("detectable_content:postscript", {"postscript_marker": "P.P.S"}, "x\nP.P.S y", "P.S. y"),
    ("detectable_format:number_bullet_lists", {"num_bullets": 2}, "* a\n- b", "* a\n** b"),
    ("detectable_format:constrained_response", {}, "Well. My answer is no.", "no"),
    ("detectable_format:number_highlighted_sections", {"num_highlights": 2}, "*a* *b*", "*a* **"),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Part", "num_sections": 2},
        "Part 1 a Part 2 b",
        "Part 1",
    ),
    ("detectable_format:json_format", {}, '```json\n{"a": 1}\n```', "{a}"),
    ("detectable_format:title", {}, "<<t>> x", "<< >>"),
    ("combination:two_responses", {}, "a******b", "a******a"),
    ("combination:repeat_prompt", {"prompt_to_repeat": "Say it"}, "say it. Yes", "Yes. Say it"),
    ("startend:end_checker", {"end_phrase": "The end"}, 'so: "the END"', "the end."),
    ("startend:quotation", {}, ' "x" ', '"'),
    ("punctuation:no_comma", {}, "a b", "a, b"),
]


@pytest.mark.parametrize("name, arguments, right, wrong", CASES)
def test_what_follows_an_instruction_and_what_does_not(name, arguments, right, wrong):
    assert follows(name, right, {**arguments, "unused": None})
    assert not follows(name, wrong, arguments)
    assert not follows(name, " ", arguments)


def test_every_instruction_has_a_case_or_needs_a_package():
    packages = {"language:response_language", "length_constraints:number_sentences"}
    of_ifeval = {*_ALL} - {*TEXT_CHECKS, *LAYOUT_CHECKS}
    assert of_ifeval - {name for name, *_ in CASES} == packages | {
        name for name in _ALL if name.startswith("change_case:")
    }


def test_loosely_a_first_or_last_line_and_asterisks_do_not_count():
    words = {"num_words": 3, "relation": "less than"}
    assert follows_loosely("length_constraints:number_words", "Here is what you want:\none two", words)
    assert not follows("length_constraints:number_words", "Here is what you want:\none two", words)
    assert follows_loosely("startend:end_checker", "the **end**", {"end_phrase": "the end"})


def test_words_in_capitals():
    pytest.importorskip("nltk")
    arguments = {"capital_frequency": 2, "capital_relation": "at least"}
    assert follows("change_case:capital_word_frequency", "AN apple, A pear", arguments)
    assert not follows("change_case:capital_word_frequency", "An apple, A pear", arguments)


def test_the_language_of_an_answer_needs_a_package(monkeypatch):
    if importlib.util.find_spec("langdetect") is not None:
        assert follows("language:response_language", "This is certainly written in English.", {"language": "en"})
    monkeypatch.setitem(__import__("sys").modules, "langdetect", None)
    instructions._detector.cache_clear()
    with pytest.raises(MissingExtraError, match="langdetect"):
        follows("change_case:english_capital", "ALL OF IT", {})
    instructions._detector.cache_clear()
    assert not follows("change_case:english_capital", "not all of it", {})


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("keywords:existance", {}, "keywords:existence"),
        ("length_constraints:number_words", {"relation": "at least"}, "lacks the argument 'num_words'"),
        ("length_constraints:number_words", {"relation": "about", "num_words": 3}, "no relation 'about'"),
        ("keywords:existence", {"keywords": ["("]}, "does not compile"),
    ],
)
def test_instructions_that_cannot_be_checked(name, arguments, message):
    with pytest.raises(ScoringError, match=message):
        follows(name, "an answer", arguments)
