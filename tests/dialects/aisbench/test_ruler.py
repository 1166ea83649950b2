"""RULER's made-up texts: chains of variables, words by Zipf's law, and how long a text may grow."""

import random
import re
from collections import Counter

import numpy as np
import pytest

from proctor.dialects.aisbench.datasets.generators import ruler_documents as documents
from proctor.dialects.aisbench.datasets.generators.ruler import Task, _chains, _coded, _numbered, _tracked, _zipf
from proctor.errors import DataError


def drawing(**settings):
    """A task with its settings, whose tokens are words."""
    given = {
        "template": "{context}",
        "tokens_to_generate": 0,
        "remove_newline_tab": False,
        "random_seed": 1,
        **settings,
    }
    return Task(given, random.Random(1), str.split)


@pytest.mark.parametrize("chains, hops", [(1, 4), (2, 1), (3, 2)])
def test_each_chain_hands_its_value_on(chains, hops):
    task = drawing(num_chains=chains, num_hops=hops)
    found, names = _chains(task, np.random.RandomState(3))
    assert [len(each) for each in found] == [hops + 1] * chains
    assert len(names) == hops + 1
    for chain in found:
        first = re.fullmatch(r"VAR ([A-Z]{5}) = (\d{5})", chain[0])
        assert 10000 <= int(first[2]) < 99999
        said = first[1]
        for step in chain[1:]:
            new, old = re.fullmatch(r"VAR ([A-Z]{5}) = VAR ([A-Z]{5}) ", step).groups()
            assert old == said
            said = new
    assert names == [re.match(r"VAR ([A-Z]{5})", each)[1] for each in found[0]]


@pytest.mark.parametrize("size", [2, 30])
def test_a_chain_stands_in_noise_in_order(size):
    task = drawing(num_chains=1, num_hops=3, template="{context}|{query}|{num_v}")
    text, names = _tracked(task, np.random.RandomState(3), size)
    context, value, count = text.rsplit("|", 2)
    assert count == "4"
    assert f"VAR {names[0]} = {value}" in context
    places = [context.index(f"VAR {name} =") for name in names]
    assert places == sorted(places)
    assert ". \n" not in context


def test_words_are_as_frequent_as_their_rank_says():
    task = drawing(alpha=2.0, coded_wordlen=6)
    words = _coded(task, 20)
    assert (words[0], len(words), len(set(words))) == ("...", 20, 20)
    assert all(re.fullmatch("[a-z]{6}", each) for each in words[1:])
    counts = Counter(_zipf(task, words, 1000).split())
    assert [counts[each] for each in words[:4]] == [int(1000 / rank**2 / (np.pi**2 / 6)) for rank in (1, 2, 3, 4)]
    assert _numbered(["a", "b"]) == "1. a 2. b"


@pytest.mark.parametrize(
    "longest, step, most, late, size",
    [
        (100, 10, None, False, 110),  # as upstream: the sample is shortened again
        (95, 10, None, False, 90),
        (95, 10, 50, False, 50),
        (95, 10, 50, True, 50),
        (45, 10, 50, True, 40),
        (5, 10, None, False, 0),
        (0, 10, None, False, 10),
    ],
)
def test_a_text_grows_as_long_as_it_may(longest, step, most, late, size):
    task = drawing(max_seq_length=longest)
    assert task.grown(lambda size: "x " * size, step, most, **({"late": True} if late else {})) == size


def test_a_sample_that_is_too_long_is_made_shorter():
    task = drawing(max_seq_length=25, num_samples=2, remove_newline_tab=True)
    sizes = []

    def make(index, size):
        sizes.append(size)
        if size == 50:
            raise ValueError("more than there is")
        return "x\n\t" * size, [index]

    found = task.samples(make, 50, 10)
    assert sizes == [50, 40, 30, 20] * 2
    assert found == [{"prompt": " ".join("x" * 20), "answer": [index]} for index in (0, 1)]
    with pytest.raises(DataError, match="no text of RULER is short enough"):
        drawing(max_seq_length=1, num_samples=1).samples(lambda *_: ("x x", []), 10, 10)


# -- needles and documents ------------------------------------------------------------------------------------------------

NEEDLES = {"num_needle_k": 1, "num_needle_v": 1, "num_needle_q": 1, "type_needle_k": "words", "type_needle_v": "numbers",
           "type_haystack": "repeat"}  # fmt: skip
ASKED = "Some special magic {type_needle_v} are hidden: {context} What are all the special magic {type_needle_v} for {query}? The answers are"


def niah(size=10, essay=(), **settings):
    task = drawing(**{**NEEDLES, "template": ASKED, **settings})
    found = documents._Needles(task, ["cat", "dog"], ["big", "red"])
    return found.make(size, essay)


@pytest.mark.parametrize("haystack", ["repeat", "needle"])
def test_one_needle_is_asked_for_in_the_singular(haystack):
    text, (answer,) = niah(type_haystack=haystack)
    assert text.startswith("A special magic number is hidden: ")
    assert re.search(r"What is the special magic number for (big|red)-(cat|dog)\? The answer is$", text)
    assert text.count(answer) == 1
    assert re.fullmatch(r"\d{7}", answer)
    assert len(text.splitlines()) == 11


def test_several_keys_and_values_are_asked_for_together():
    text, answers = niah(num_needle_k=3, num_needle_v=2, num_needle_q=2, type_needle_v="uuids", type_needle_k="numbers")
    assert len(answers) == len(set(answers)) == 4
    assert text.startswith("Some special magic uuids are hidden")
    first, second = re.search(r"for (\d{7}), and (\d{7})\? The answers are$", text).groups()
    lines = [line for line in text.splitlines() if "special magic uuids for" in line]
    assert len(lines) == 6 + 1  # the question stands in the last line
    for key, own in ((first, answers[:2]), (second, answers[2:])):
        assert all(any(key in line and value in line for line in text.splitlines()) for value in own)
    assert all(
        re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", each) for each in answers
    )
    with pytest.raises(DataError, match="there is no kind of needle 'pins'"):
        niah(type_needle_v="pins")


def test_in_an_essay_needles_stand_between_sentences():
    essay = " ".join(f"Sentence {n} ends. " for n in range(50)).split()
    text, (answer,) = niah(60, essay, type_haystack="essay")
    assert answer in text
    assert [f"Sentence {n} ends" in text for n in (0, 19, 20)] == [True, True, False]


QUESTION = documents._Question("Q", ["A"], [1, 2], [3, 4, 5])


@pytest.mark.parametrize(
    "size, own, others",
    [(2, {1, 2}, 0), (4, {1, 2}, 0), (5, {1, 2, 3, 4, 5}, 0), (7, {1, 2, 3, 4, 5}, 2), (1, {1, 2}, 0)],
)
def test_documents_of_the_question_come_first_then_its_relatives_then_others(size, own, others):
    if size == 1:
        with pytest.raises(ValueError, match="[Ss]ample"):
            documents._chosen(drawing(), QUESTION, size, 10)
        return
    found = documents._chosen(drawing(), QUESTION, size, 10)
    assert len(found) == len(set(found)) == size
    assert own <= set(found)
    assert sum(place not in {1, 2, 3, 4, 5} for place in found) == others


def test_questions_of_squad_and_hotpotqa():
    def asked(name, is_impossible=False):
        return {"question": name, "answers": [{"text": f"A{name}"}], "is_impossible": is_impossible}

    article = [
        {"context": "b", "qas": [asked("1"), asked("2", is_impossible=True)]},
        {"context": "a", "qas": [asked("3")]},
    ]
    questions, texts = documents._squad({"data": [{"paragraphs": article}]})
    assert texts == ["a", "b"]
    assert questions == [documents._Question("1", ["A1"], [1], [0]), documents._Question("3", ["A3"], [0], [1])]
    told = [{"question": "Q", "answer": "A", "context": [["T", ["x", "y"]], ["S", ["z"]]]}]
    assert documents._hotpotqa(told) == ([documents._Question("Q", ["A"], [1, 0], [])], ["S\nz", "T\nxy"])
