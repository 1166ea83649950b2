"""Verifiable instructions of IFEval (Zhou et al. 2023) and IFBench: whether an answer does what its prompt asks for.

Each instruction has an id (``length_constraints:number_words``) and arguments (``num_words``, ``relation``). What the
checks accept is what the paper's program accepts, its odd corners included; where an argument is missing, that program
draws one, and here it is an error.
"""
# ruff: noqa: ARG001 - checks are called with all there is

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from proctor.errors import ProctorError, ScoringError, did_you_mean, needed
from proctor.foreign_text import parse_json
from proctor.regexes import bounded
from proctor.scoring.instructions.english_words import sentence_tokenizer, word_tokenizer
from proctor.scoring.instructions.ifbench_layouts import LAYOUT_CHECKS
from proctor.scoring.instructions.ifbench_texts import STUMBLES, TEXT_CHECKS

Arguments = Mapping[str, Any]
_Check = Callable[[str, Arguments], bool]
_PROMPTS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_STOPS = frozenset(".,?!'\"")
_NUMBERS = frozenset(("N", "small_n", "min_words", "max_words", "percentage", "n", "m", "n_start", "n_end"))
"""Arguments of IFBench's that are numbers; the others are texts."""


def follows(instruction: str, answer: str, arguments: Arguments) -> bool:
    """Return whether an answer follows an instruction; an empty one follows none.

    Args:
        instruction: Its id.
        answer: What the model said.
        arguments: Of the instruction; those that are ``None`` do not count.

    Raises:
        ScoringError: There is no such instruction, or an argument is missing or unusable.
        MissingExtraError: The check needs a package that is not installed.
    """
    return _checked(instruction, [answer], arguments)


def follows_loosely(instruction: str, answer: str, arguments: Arguments) -> bool:
    """Return whether an answer follows an instruction without its first or last line, or without asterisks.

    Raises:
        ScoringError: There is no such instruction, or an argument is missing or unusable.
        MissingExtraError: The check needs a package that is not installed.
    """
    return _checked(instruction, answer_variants(answer), arguments)


def answer_variants(answer: str) -> list[str]:
    """Return an answer as it is, without its first or last line or both, and each of these without asterisks."""
    lines = answer.split("\n")
    shorter = ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    return [answer, answer.replace("*", ""), *shorter, *(each.replace("*", "") for each in shorter)]


def _checked(instruction: str, answers: Sequence[str], arguments: Arguments) -> bool:
    """Return whether one of several answers follows an instruction; where a check stumbles, the others do not count."""
    check = _ALL.get(instruction)
    if check is None:
        raise ScoringError(f"there is no instruction '{instruction}'", hint=did_you_mean(instruction, _ALL))
    given = {name: value for name, value in arguments.items() if value is not None}
    if instruction in _IFBENCH:
        given = {name: _argument(instruction, name, value) for name, value in given.items()}
    try:
        return any(bool(answer.strip()) and check(answer, given) for answer in answers)
    except KeyError as error:
        raise ScoringError(f"the instruction '{instruction}' lacks the argument {error}") from None
    except ProctorError:  # data or a package that is missing says nothing about an answer
        raise
    except STUMBLES:
        if instruction in _IFBENCH:
            return False
        raise


def _argument(instruction: str, name: str, value: Any) -> str | int:
    """Return an argument of IFBench's: a text, or a number, which tables may have made a float of.

    Raises:
        ScoringError: It is neither.
    """
    if name in _NUMBERS and not isinstance(value, bool | str) and value == int(value):
        return int(value)
    if name not in _NUMBERS and isinstance(value, str):
        return value
    wanted = "a whole number" if name in _NUMBERS else "a text"
    raise ScoringError(f"the argument '{name}' of the instruction '{instruction}' is {value!r}", hint=f"it is {wanted}")


def compares(count: int, relation: str, limit: int) -> bool:
    """Return whether a count is as a relation (``less than``, ``at least``) says.

    Raises:
        ScoringError: There is no such relation.
    """
    if relation not in ("less than", "at least"):
        raise ScoringError(f"there is no relation '{relation}'", hint="less than, or at least")
    return count < limit if relation == "less than" else count >= limit


# -- keywords and letters -----------------------------------------------------------------------------------------


def _has_keywords(answer: str, given: Arguments) -> bool:
    return all(bounded(word, re.IGNORECASE).groups(answer) is not None for word in given["keywords"])


def _keyword_frequency(answer: str, given: Arguments) -> bool:
    count = len(bounded(given["keyword"].strip(), re.IGNORECASE).findall(answer))
    return compares(count, given["relation"], given["frequency"])


def _no_forbidden_words(answer: str, given: Arguments) -> bool:
    patterns = (bounded(rf"\b{word}\b", re.IGNORECASE) for word in given["forbidden_words"])
    return all(pattern.groups(answer) is None for pattern in patterns)


def _letter_frequency(answer: str, given: Arguments) -> bool:
    count = answer.lower().count(given["letter"].strip().lower())
    return compares(count, given["let_relation"], given["let_frequency"])


# -- language and letter case -------------------------------------------------------------------------------------


@cache
def _detector() -> tuple[Callable[[str], str], type[Exception]]:
    with needed("langdetect", "instructions", "the language of an answer"):
        import langdetect  # type: ignore[import-not-found,unused-ignore]
    langdetect.DetectorFactory.seed = 0  # it draws; the same text is to have the same language each time
    return langdetect.detect, langdetect.LangDetectException


def _is_in(answer: str, language: str) -> bool:
    """Return whether an answer is in a language; one without words is in any."""
    detect, failed = _detector()
    try:
        return detect(answer) == language
    except failed:
        return True


def _capital_words(answer: str, given: Arguments) -> bool:
    count = sum(word.isupper() for word in word_tokenizer().tokenize(answer))
    return compares(count, given["capital_relation"], given["capital_frequency"])


# -- length -------------------------------------------------------------------------------------------------------


def _sentence_count(answer: str, given: Arguments) -> bool:
    return compares(len(sentence_tokenizer().tokenize(answer)), given["relation"], given["num_sentences"])


def _word_count(answer: str, given: Arguments) -> bool:
    return compares(len(re.findall(r"\w+", answer)), given["relation"], given["num_words"])


def _paragraph_count(answer: str, given: Arguments) -> bool:
    parts = [part.strip() for part in re.split(r"\s?\*\*\*\s?", answer)]
    if not all(parts[1:-1]):
        return False
    ends = {0, len(parts) - 1}
    return bool(len(parts) - sum(not parts[end] for end in ends) == given["num_paragraphs"])


def _first_word(answer: str, given: Arguments) -> bool:
    parts = answer.split("\n\n")
    count, place = sum(bool(part.strip()) for part in parts), given["nth_paragraph"]
    if place > count or not (paragraph := parts[place - 1].strip()):
        return False
    word = paragraph.split()[0].lstrip("'").lstrip('"')
    end = next((i for i, letter in enumerate(word) if letter in _STOPS), len(word))
    return bool(count == given["num_paragraphs"] and word[:end].lower() == given["first_word"].lower())


# -- format -------------------------------------------------------------------------------------------------------


def _bullets(answer: str, given: Arguments) -> bool:
    stars = re.findall(r"^\s*\*[^\*].*$", answer, flags=re.MULTILINE)
    dashes = re.findall(r"^\s*-.*$", answer, flags=re.MULTILINE)
    return bool(len(stars) + len(dashes) == given["num_bullets"])


def _highlights(answer: str, given: Arguments) -> bool:
    single = [each.strip("*") for each in re.findall(r"\*[^\n\*]*\*", answer)]
    double = [each[2:-2] for each in re.findall(r"\*\*[^\n\*]*\*\*", answer)]
    count: int = sum(bool(each.strip()) for each in (*single, *double))
    return bool(count >= given["num_highlights"])


def _section_count(answer: str, given: Arguments) -> bool:
    pattern = bounded(rf"\s?{given['section_spliter'].strip()}\s?\d+\s?")
    return bool(len(pattern.findall(answer)) >= given["num_sections"])


def _is_json(answer: str, given: Arguments) -> bool:
    text = answer.strip()
    for mark in ("```json", "```Json", "```JSON", "```"):
        text = text.removeprefix(mark)
    try:
        parse_json(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def _has_title(answer: str, given: Arguments) -> bool:
    return any(title.lstrip("<").rstrip(">").strip() for title in re.findall(r"<<[^\n]+>>", answer))


def _postscript(answer: str, given: Arguments) -> bool:
    marker = given["postscript_marker"].strip()
    known = {"P.P.S": r"\s*p\.\s?p\.\s?s.*$", "P.S.": r"\s*p\.\s?s\..*$"}
    pattern = known.get(marker, rf"\s*{marker.lower()}.*$")
    return bounded(pattern, re.MULTILINE).groups(answer.lower()) is not None


def _two_responses(answer: str, given: Arguments) -> bool:
    parts = [part.strip() for part in answer.split("******")]
    responses = [part for part in parts if part]
    return all(parts[1:-1]) and len(responses) == 2 and responses[0] != responses[1]  # noqa: PLR2004 - two


def _begins_with_prompt(answer: str, given: Arguments) -> bool:
    return answer.strip().lower().startswith(given["prompt_to_repeat"].strip().lower())


def _ends_with(answer: str, given: Arguments) -> bool:
    return answer.strip().strip('"').lower().endswith(given["end_phrase"].strip().lower())


def _is_quoted(answer: str, given: Arguments) -> bool:
    text = answer.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


_CHECKS: Mapping[str, _Check] = {
    "keywords:existence": _has_keywords,
    "keywords:frequency": _keyword_frequency,
    "keywords:forbidden_words": _no_forbidden_words,
    "keywords:letter_frequency": _letter_frequency,
    "language:response_language": lambda answer, given: _is_in(answer, given["language"]),
    "length_constraints:number_sentences": _sentence_count,
    "length_constraints:number_paragraphs": _paragraph_count,
    "length_constraints:number_words": _word_count,
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_content:number_placeholders": lambda answer, given: (
        len(re.findall(r"\[.*?\]", answer)) >= given["num_placeholders"]
    ),
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:constrained_response": lambda answer, given: any(each in answer for each in _PROMPTS),
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:multiple_sections": _section_count,
    "detectable_format:json_format": _is_json,
    "detectable_format:title": _has_title,
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": _begins_with_prompt,
    "startend:end_checker": _ends_with,
    "startend:quotation": _is_quoted,
    "change_case:capital_word_frequency": _capital_words,
    "change_case:english_capital": lambda answer, given: answer.isupper() and _is_in(answer, "en"),
    "change_case:english_lowercase": lambda answer, given: answer.islower() and _is_in(answer, "en"),
    "punctuation:no_comma": lambda answer, given: "," not in answer,
}
_IFBENCH: Mapping[str, _Check] = {**TEXT_CHECKS, **LAYOUT_CHECKS}
_ALL: Mapping[str, _Check] = {**_CHECKS, **_IFBENCH}
