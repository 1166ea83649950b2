"""Instructions of IFBench (Pyatkin et al. 2025) about words and sentences: what an answer counts, repeats and orders.

What the checks accept is what the authors' program accepts, its odd corners included. An answer on which that program
stumbles (no word where one is looked for) does not follow: such checks raise one of :data:`STUMBLES`, which
:mod:`proctor.scoring.instructions.following` reads so.
"""
# ruff: noqa: ARG001 - checks are called with all there is

from __future__ import annotations

import csv
import re
import string
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from proctor.errors import needed
from proctor.scoring.instructions.english_words import parts_of_speech, stop_words, words_of_sentences
from proctor.scoring.instructions.sentences import sentences_by_rule

Arguments = Mapping[str, Any]

STUMBLES = (IndexError, ValueError, ZeroDivisionError, csv.Error)
"""What checks raise where an answer lacks what they look at."""

_MARKS = string.punctuation + " "
_WITHOUT_MARKS = str.maketrans("", "", string.punctuation)
_CONJUNCTIONS = frozenset(("and", "but", "for", "nor", "or", "so", "yet"))
_PRONOUNS = frozenset((
    "i", "me", "my", "mine", "myself", "we", "us", "our", "ours", "ourselves", "you", "your", "yours", "yourself",
    "yourselves", "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself", "they",
    "them", "their", "theirs", "themselves",
))  # fmt: skip
_NAMES = [
    "Emma", "Liam", "Sophia", "Jackson", "Olivia", "Noah", "Ava", "Lucas", "Isabella", "Mason", "Mia", "Ethan",
    "Charlotte", "Alexander", "Amelia", "Benjamin", "Harper", "Leo", "Zoe", "Daniel", "Chloe", "Samuel", "Lily",
    "Matthew", "Grace", "Owen", "Abigail", "Gabriel", "Ella", "Jacob", "Scarlett", "Nathan", "Victoria", "Elijah",
    "Layla", "Nicholas", "Audrey", "David", "Hannah", "Christopher", "Penelope", "Thomas", "Nora", "Andrew", "Aria",
    "Joseph", "Claire", "Ryan", "Stella", "Jonathan",
]  # fmt: skip
"""The names that prompts of IFBench list."""
_PRIMES = frozenset(n for n in range(2, 100) if all(n % divisor for divisor in range(2, n)))
_JAPANESE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_CLUSTER = re.compile(r"[bcdfghjklmnpqrstvwxyz]{2}")
_ALLOWED_VOWELS = 3
_OVERLAP_TOLERANCE = 2  # percentage points by which an overlap of trigrams may miss what was asked for
_PALINDROMES, _LETTERS_OF_A_PALINDROME = 10, 5
_SAME_LENGTH = 3  # sentences of one length that are asked for


def plain_words(text: str) -> list[str]:
    """Return the words of a text without punctuation, marks inside words included."""
    return text.translate(_WITHOUT_MARKS).split()


def _bare(word: str) -> str:
    return word.strip(_MARKS)


# -- how many -----------------------------------------------------------------------------------------------------


def _word_count_in_range(answer: str, given: Arguments) -> bool:
    return bool(given["min_words"] <= len(re.findall(r"\w+", answer)) <= given["max_words"])


def _unique_words(answer: str, given: Arguments) -> bool:
    return bool(len({_bare(word) for word in answer.lower().split()}) >= given["N"])


def _conjunctions(answer: str, given: Arguments) -> bool:
    found = {word for word in answer.split() if _bare(word).lower() in _CONJUNCTIONS}
    return bool(len(found) >= given["small_n"])


def _numbers(answer: str, given: Arguments) -> bool:
    return bool(len(re.findall(r"\d+", answer.translate(_WITHOUT_MARKS))) == given["N"])


def _punctuation_marks(answer: str, given: Arguments) -> bool:
    if not any(each in answer for each in ("!?", "?!", "\N{INTERROBANG}")):
        return False
    first = "?!" if "?!" in answer else "!?"
    return set(answer.replace(first, "", 1)) >= set(".,!?;:")


def _pronouns(answer: str, given: Arguments) -> bool:
    words = plain_words(answer.replace("/", " ").lower())
    return bool(sum(word in _PRONOUNS for word in words) >= given["N"])


def _keywords_by_number(answer: str, given: Arguments) -> bool:
    text = answer.lower()
    wanted = zip((given[f"keyword{i}"] for i in range(1, 6)), (1, 2, 3, 5, 7), strict=True)
    return all(text.count(keyword.strip().lower()) == count for keyword, count in wanted)


def _japanese_words(answer: str, given: Arguments) -> bool:
    every = map(_bare, answer.split()[given["N"] - 1 :: given["N"]])
    return all(_JAPANESE.search(word) for word in every if word and not word.isdigit())


# -- shares -------------------------------------------------------------------------------------------------------


def _stop_word_share(answer: str, given: Arguments) -> bool:
    words = re.findall(r"\w+", answer)
    return bool(sum(word.lower() in stop_words() for word in words) / len(words) * 100 <= given["percentage"])


def _sentence_ends(answer: str) -> tuple[int, int, int]:
    """Return how many sentences end with a full stop, a question mark and an exclamation mark."""
    ends = Counter(sentence[-1:] for sentence in sentences_by_rule(answer))
    return ends["."], ends["?"], ends["!"]


def _twice_as_many_statements(answer: str, given: Arguments) -> bool:
    statements, questions, _ = _sentence_ends(answer)
    return statements == 2 * questions


def _overlap(answer: str, given: Arguments) -> bool:
    own, other = (_letters_by_three(text) for text in (answer, given["reference_text"]))
    share = len(own & other) / len(own) * 100
    return bool(given["percentage"] - _OVERLAP_TOLERANCE <= share <= given["percentage"] + _OVERLAP_TOLERANCE)


def _letters_by_three(text: str) -> set[str]:
    return {text[i : i + 3] for i in range(len(text) - 2)}


def _three_equally_long_sentences(answer: str, given: Arguments) -> bool:
    sentences = sentences_by_rule(answer)
    return len(sentences) == _SAME_LENGTH and len({len(each) for each in sentences}) == 1


# -- letters of words ---------------------------------------------------------------------------------------------


def _letters_in_turn(answer: str, given: Arguments) -> bool:
    first, *others = plain_words(answer)
    letter = string.ascii_lowercase.find(first[0].lower())
    return letter >= 0 and all(
        word.lower()[0] == string.ascii_lowercase[(letter + i) % 26] for i, word in enumerate(others, 1)
    )


def _three_vowels(answer: str, given: Arguments) -> bool:
    text = answer.strip().lower()
    return "\n" not in text and len(set("aeiou") & set(text)) <= _ALLOWED_VOWELS


def _alliterations_grow(answer: str, given: Arguments) -> bool:
    counts = [-1, *map(_alliteration, sentences_by_rule(answer))]
    return all(left < right for left, right in pairwise(counts))


def _alliteration(sentence: str) -> int:
    """Return how many words of a sentence begin like a neighbour; a word between two others counts once."""
    words = [clean for word in sentence.lower().split() if (clean := word.lstrip(_MARKS))]
    alike = [left[0] == right[0] for left, right in pairwise(words)]
    return sum(1 if before else 2 for before, here in zip([False, *alike], alike, strict=False) if here)


def _palindromes(answer: str, given: Arguments) -> bool:
    words = plain_words(answer.lower())
    found = [word for word in words if len(word) >= _LETTERS_OF_A_PALINDROME and word == word[::-1]]
    return len(found) >= _PALINDROMES


def _syllables_alternate(answer: str, given: Arguments) -> bool:
    with needed("syllapy", "instructions", "the syllables of an answer"):
        import syllapy  # type: ignore[import-untyped,import-not-found,unused-ignore]
    parity = [syllapy.count(word) % 2 for word in plain_words(answer.lower())]
    return all(left != right for left, right in pairwise(parity))


def _no_neighbours_begin_alike(answer: str, given: Arguments) -> bool:
    return all(left[0] != right[0] for left, right in pairwise(plain_words(answer.lower())))


# -- where words stand --------------------------------------------------------------------------------------------


def _starts_with_verb(answer: str, given: Arguments) -> bool:
    words = words_of_sentences(answer)
    return bool(words) and "VB" in parts_of_speech(words)[0]


def _word_repeats(answer: str, given: Arguments) -> bool:
    return all(count <= given["small_n"] for count in Counter(plain_words(answer.lower())).values())


def _keyword_in_sentence(answer: str, given: Arguments) -> bool:
    sentences, place = sentences_by_rule(answer), given["N"]
    return len(sentences) >= place and given["word"].lower() in sentences[int(place) - 1].lower()


def _last_words_lead(answer: str, given: Arguments) -> bool:
    for left, right in pairwise(sentences_by_rule(answer)):
        if left.rstrip(_MARKS).split()[-1].lower() != right.lstrip(_MARKS).split()[0].lower():
            return False
    return True


def _paragraphs_end_as_they_begin(answer: str, given: Arguments) -> bool:
    paragraphs = (line.strip().lower().strip(_MARKS).split() for line in answer.split("\n"))
    return all(words[0] == words[-1] for words in paragraphs if words)


def _sentences_grow(answer: str, given: Arguments) -> bool:
    counts = [len(plain_words(sentence)) for sentence in sentences_by_rule(answer)]
    return bool(counts) and all(right == left + given["small_n"] for left, right in pairwise(counts))


def _keyword_at(answer: str, given: Arguments) -> bool:
    sentences = sentences_by_rule(answer)
    if len(sentences) < given["n"]:
        return False
    words = words_of_sentences(sentences[given["n"] - 1])
    return bool(len(words) >= given["m"] and words[given["m"] - 1] == given["keyword"].strip())


def _second_and_second_to_last(answer: str, given: Arguments) -> bool:
    words = words_of_sentences(answer)
    return bool(len(words) > 1 and words[1] == words[-2] == given["keyword"].strip())


TEXT_CHECKS: Mapping[str, Callable[[str, Arguments], bool]] = {
    "count:word_count_range": _word_count_in_range,
    "count:unique_word_count": _unique_words,
    "count:conjunctions": _conjunctions,
    "count:person_names": lambda answer, given: sum(name in answer for name in _NAMES) >= given["N"],
    "count:numbers": _numbers,
    "count:punctuation": _punctuation_marks,
    "count:pronouns": _pronouns,
    "count:keywords_multiple": _keywords_by_number,
    "count:words_japanese": _japanese_words,
    "ratio:stop_words": _stop_word_share,
    "ratio:sentence_type": _twice_as_many_statements,
    "ratio:sentence_balance": lambda answer, given: len(set(_sentence_ends(answer))) == 1,
    "ratio:overlap": _overlap,
    "ratio:sentence_words": _three_equally_long_sentences,
    "words:alphabet": _letters_in_turn,
    "words:vowel": _three_vowels,
    "words:consonants": lambda answer, given: all(map(_CLUSTER.search, answer.lower().split())),
    "words:palindrome": _palindromes,
    "words:prime_lengths": lambda answer, given: all(len(word) in _PRIMES for word in plain_words(answer)),
    "words:odd_even_syllables": _syllables_alternate,
    "words:no_consecutive": _no_neighbours_begin_alike,
    "words:start_verb": _starts_with_verb,
    "words:repeats": _word_repeats,
    "words:last_first": _last_words_lead,
    "words:paragraph_last_first": _paragraphs_end_as_they_begin,
    "words:keywords_specific_position": _keyword_at,
    "words:words_position": _second_and_second_to_last,
    "sentence:keyword": _keyword_in_sentence,
    "sentence:increment": _sentences_grow,
    "sentence:alliteration_increment": _alliterations_grow,
}
