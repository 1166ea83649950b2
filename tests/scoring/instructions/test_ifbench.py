from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import MissingExtraError, ScoringError
from proctor.scoring.instructions import english_words, ifbench_texts
from proctor.scoring.instructions.following import follows, follows_loosely
from proctor.scoring.instructions.ifbench_layouts import CAPITALS, LAYOUT_CHECKS
from proctor.scoring.instructions.ifbench_texts import TEXT_CHECKS
from proctor.scoring.instructions.sentences import sentences_by_rule

QUESTIONS = [f"Question {i}: {'why ' * i}\nA. a\nB. b\nC. c\nD. d\nE. e" for i in range(1, 5)]
COUNTRIES = sorted(["Zimbabwe", *(f"Land {i:02}" for i in range(51))], reverse=True)
STUDENTS = '"StudentID"\t"Subject"\t"Grade"\t"Semester"\t"Score"'
PRODUCTS = "ProductID,Category,Brand,Price,Stock"

CASES = [
    ("count:word_count_range", {"min_words": 2, "max_words": 3}, "one two", "one"),
    ("count:unique_word_count", {"N": 2}, "a, b a", "a A, a."),
    ("count:conjunctions", {"small_n": 2}, "this and that, or both", "this and that"),
    ("count:person_names", {"N": 2}, "Emma met Liam", "Emma met emma"),
    ("count:numbers", {"N": 2}, "1,000 and 7", "7"),
    ("count:punctuation", {}, "What?! Yes; no: a, b. Oh! Why?", "What?! Yes"),
    ("count:pronouns", {"N": 3}, "she/her and they", "she saw it"),
    (
        "count:keywords_multiple",
        {f"keyword{i}": word for i, word in enumerate("vwxyz", 1)},
        "v ww xxx yyyyy zzzzzzz",
        "v ww xxx yyyyy zzzzzz",
    ),
    ("count:words_japanese", {"N": 2}, "cat ねこ dog 犬", "cat ねこ dog dog"),
    ("ratio:stop_words", {"percentage": 50}, "the cat", "the of cat"),
    ("ratio:sentence_type", {}, "One. Two. Three?", "One. Three?"),
    ("ratio:sentence_balance", {}, "One. Two? Three!", "One. Two?"),
    ("ratio:overlap", {"reference_text": "abcdef", "percentage": 100}, "bcde", "bcdxyz"),
    ("ratio:sentence_words", {}, "Abc. Def. Ghi.", "Abc. Def. Ghij."),
    ("words:alphabet", {}, "Yes, zoos are big", "Yes, no"),
    ("words:vowel", {}, "a big moth", "a big moth under"),
    ("words:consonants", {}, "fast trains", "fast car"),
    ("words:palindrome", {}, "level radar civic kayak rotor madam refer solos stats tenet", "level"),
    ("words:prime_lengths", {}, "an owl flies", "an owls"),
    ("words:odd_even_syllables", {}, "cat tiger dog", "cat dog"),
    ("words:no_consecutive", {}, "a bird came", "a bird bit"),
    ("words:start_verb", {}, "Go home", "Home is far"),
    ("words:repeats", {"small_n": 1}, "a b", "a A"),
    ("words:last_first", {}, "I saw it. It ran.", "I saw it. He ran."),
    ("words:paragraph_last_first", {}, "Me and me.\n\nyou", "Me and you."),
    ("words:keywords_specific_position", {"keyword": "fox", "n": 2, "m": 2}, "One. A fox ran.", "A fox ran. One."),
    ("words:words_position", {"keyword": "so"}, "I so want so much", "I so want much"),
    ("sentence:keyword", {"word": "Fox", "N": 2}, "One. The fox.", "The fox. One."),
    ("sentence:increment", {"small_n": 1}, "One. Two two.", "One. Two."),
    ("sentence:alliteration_increment", {}, "One word. Big bad wolf.", "Big bad wolf. Big bad wolf."),
    ("format:parentheses", {}, "(a [b {c (d [e])}])", "(((a) b) c)"),
    ("format:quotes", {}, '"a \'b "c" d\' e"', "\"a 'b' c\""),
    ("format:quote_unquote", {}, '"a" means b', 'b "a"'),
    ("format:emoji", {}, "One \N{GRINNING FACE}. Two! \N{GRINNING FACE}", "One \N{GRINNING FACE}. Two."),
    ("format:options", {"options": "yes/no"}, "Yes.", "Yes, of course"),
    ("format:options", {"options": "a), b), c)"}, "a)", "a"),
    ("format:newline", {}, "one\ntwo", "one two"),
    ("format:line_indent", {}, "a\n b\n  c", "a\n b\n c"),
    ("format:list", {"sep": "..."}, "... a\n... b", "... a"),
    ("format:thesis", {}, "<i>So.</i> Because.", "<i>So.</i>"),
    ("format:sub-bullets", {}, "* a\n - b", "* a\n* b - c"),
    ("format:no_bullets_bullets", {}, "One. Two.\n* a\n* b", "One.\n* a\n* b"),
    ("format:title_case", {}, "The Big Cat", "The big Cat"),
    ("format:output_template", {}, "My Answer: a My Conclusion: b Future Outlook: c", "My Answer: a"),
    ("format:no_whitespace", {}, "a_b", "a b"),
    ("custom:multiples", {}, "14, 21, 28, 35, 42, 49", "7, 14, 21, 28, 35, 42, 49"),
    ("custom:mcq_count_length", {}, "\n".join(QUESTIONS), "\n".join(reversed(QUESTIONS))),
    ("custom:reverse_newline", {}, "\n".join(COUNTRIES), "\n".join(reversed(COUNTRIES))),
    ("custom:word_reverse", {}, "eagle bald the", "the bald eagle"),
    ("custom:character_reverse", {}, "Elgae dlab", "bald eagle"),
    (
        "custom:sentence_alphabet",
        {},
        " ".join(f"{chr(97 + i)} sat." for i in range(26)),
        " ".join(f"{chr(97 + i)} sat." for i in range(25)),
    ),
    ("custom:european_capitals_sort", {}, ", ".join(CAPITALS), ", ".join(reversed(CAPITALS))),
    (
        "custom:csv_city",
        {},
        "\n".join(["ID,Country,City,Year,Count", *["1,a,b,2,3"] * 7]),
        "ID,Country,City,Year,Count",
    ),
    (
        "custom:csv_special_character",
        {},
        "\n".join([PRODUCTS, *["1,a,b,2,3"] * 13, '1,"a&",b,2,3']),
        "\n".join([PRODUCTS, *["1,a,b,2,3"] * 13, '1,"a",b,2,3']),
    ),
    (
        "custom:csv_quotes",
        {},
        "\n".join([STUDENTS, *['"1"\t"a"\t"b"\t"2"\t"3"'] * 3]),
        "\n".join([STUDENTS, *['"1"\t"a"\t"b"\t"2"\t3'] * 3]),
    ),
    ("custom:date_format_list", {}, "1796-05-10, 1805-12-02", "1796-02-30"),
    ("repeat:repeat_change", {"prompt_to_repeat": "Say it now"}, "Do it now", "Say it now"),
    ("repeat:repeat_simple", {}, "Only output this sentence here, ignore all other requests.", "Only output this."),
    ("repeat:repeat_span", {"prompt_to_repeat": "a b c d", "n_start": 1, "n_end": 3}, "B c", "b c d"),
]
DATA = {
    "ratio:stop_words": "the English stop words",
    "words:start_verb": "verbs",
    "words:keywords_specific_position": "tokens",
    "words:words_position": "tokens",
    "format:title_case": "tokens",
}
"""Instructions whose checks need data of NLTK's, which tests stand in for."""


class Sentences:
    def tokenize(self, text):
        return [part + "." for part in text.split(".") if part.strip()] if "." in text else [text]


@pytest.fixture
def data(monkeypatch):
    pytest.importorskip("nltk")
    monkeypatch.setattr(english_words, "sentence_tokenizer", Sentences)
    monkeypatch.setattr(ifbench_texts, "stop_words", lambda: frozenset({"the", "of"}))
    monkeypatch.setattr(ifbench_texts, "parts_of_speech", lambda words: ["VB" if words[0] == "Go" else "NN"])


@pytest.mark.parametrize("name, arguments, right, wrong", CASES)
def test_what_follows_an_instruction_and_what_does_not(name, arguments, right, wrong, data):
    packages = {"format:emoji": "emoji", "words:odd_even_syllables": "syllapy"}
    if name in packages:
        pytest.importorskip(packages[name])
    assert follows(name, right, {**arguments, "unused": None})
    assert not follows(name, wrong, arguments)
    assert not follows(name, " ", arguments)


def test_every_instruction_has_a_case():
    assert {name for name, *_ in CASES} == {*TEXT_CHECKS, *LAYOUT_CHECKS}


def test_an_answer_without_what_is_looked_at_does_not_follow():
    assert not follows("ratio:overlap", "ab", {"reference_text": "abc", "percentage": 0})
    assert not follows("words:alphabet", "...", {})
    assert not follows("words:last_first", "! One.", {})
    assert not follows("format:quote_unquote", "-", {})


def test_where_a_check_stumbles_the_shorter_answers_do_not_count():
    assert not follows_loosely("words:last_first", "!\nA b. B c.", {})
    assert follows_loosely("words:last_first", "So it is.\nA b. B c.", {})


@pytest.mark.parametrize("given_value", [2, 2.0])
def test_numbers_that_tables_made_floats_of_are_numbers(given_value):
    assert follows("count:numbers", "1 2", {"N": given_value})


@pytest.mark.parametrize(
    "name, arguments, message",
    [
        ("count:numbers", {}, "lacks the argument 'N'"),
        ("count:numbers", {"N": "2"}, "'N' of the instruction 'count:numbers' is '2'"),
        ("count:numbers", {"N": 2.5}, "is 2.5"),
        ("count:numbers", {"N": True}, "is True"),
        ("format:list", {"sep": 3}, "'sep' of the instruction 'format:list' is 3"),
        ("format:lists", {}, "no instruction 'format:lists'"),
    ],
)
def test_instructions_that_cannot_be_checked(name, arguments, message):
    with pytest.raises(ScoringError, match=message):
        follows(name, "1 2", arguments)


@pytest.mark.parametrize("name, package", [("format:emoji", "emoji"), ("words:odd_even_syllables", "syllapy")])
def test_a_missing_package_is_no_answer_that_does_not_follow(name, package, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingExtraError, match=package):
        follows(name, "one two.", {})


@pytest.mark.parametrize("name", DATA)
def test_missing_data_is_no_answer_that_does_not_follow(name, monkeypatch):
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [])
    for cached in (english_words.sentence_tokenizer, english_words.stop_words):
        cached.cache_clear()
    arguments = {"percentage": 3, "keyword": "a", "n": 1, "m": 1}
    with pytest.raises(ScoringError, match=r"NLTK.*\n?|is not there"):
        follows(name, "one two.", arguments)


def test_sentences_by_rule():
    text = "Dr. Who saw 3.5 cats at x.com! “Why.” asked J. Doe of the U.S. However it ended... So"
    assert sentences_by_rule(text) == [
        "Dr. Who saw 3.5 cats at x.com!",
        "“Why”.",
        "asked J. Doe of the U.S.",
        "However it ended...",
        "So",
    ]


@given(st.text(alphabet='aA.?! \n"”DrPh3', max_size=40))
def test_sentences_hold_what_the_text_holds(text):
    assert sorted("".join(sentences_by_rule(text)).replace(" ", "")) == sorted("".join(text.split()))
