"""IFEval's instructions as classes (``ais_bench.benchmark.datasets.ifeval.instructions``).

A class names an instruction and its arguments; whether an answer follows it is said by the core's check of that
instruction. What a class says to a model is in our own words.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from proctor.compat.aisbench_names import ifeval_words as instructions_util
from proctor.compat.aisbench_names.ifeval_base import Instruction
from proctor.compat.aisbench_names.ifeval_more import (
    ConstrainedStartChecker,  # noqa: F401
    KeySentenceChecker,  # noqa: F401
    RephraseChecker,  # noqa: F401
    RephraseParagraph,  # noqa: F401
)
from proctor.scoring.instructions import compares, follows

_Drawn = Mapping[str, Callable[[], Any] | None]
_RELATIONS = ("less than", "at least")


def _number(most: int) -> Callable[[], int]:
    return lambda: random.randint(1, most)


def _one(*choices: str) -> Callable[[], str]:
    return lambda: random.choice(choices)


class CheckedInstruction(Instruction):
    """An instruction that the core checks."""

    check: ClassVar[str]
    words: ClassVar[str]
    drawn: ClassVar[_Drawn] = {}
    """Arguments, and what gives one that is not set; ``None`` for those that have to be."""

    def build_description(self, *listed: Any, **kwargs: Any) -> str:
        """Set the arguments, drawing those that are not given; return what a model is told.

        Raises:
            TypeError: There is no such argument.
            ValueError: One has to be given, or is not a relation.
        """
        given = {**dict(zip(self.drawn, listed, strict=False)), **kwargs}
        if unknown := given.keys() - self.drawn.keys():
            raise TypeError(
                f"{type(self).__name__} takes {', '.join(self.drawn) or 'nothing'}, not {', '.join(unknown)}"
            )
        self._arguments = {name: self._value(name, given.get(name)) for name in self.drawn}
        for name, value in self._arguments.items():
            setattr(self, f"_{name}", value)
        return self.words.format(**self._spoken())

    def _spoken(self) -> dict[str, Any]:
        return self._arguments

    def _value(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            value = value.strip()
        if value is None or (isinstance(value, int) and value < 0):
            draw = self.drawn[name]
            if draw is None:
                raise ValueError(f"{type(self).__name__} needs '{name}'")
            return draw()
        if name.endswith("relation") and value not in _RELATIONS:
            raise ValueError(f"there is no relation {value!r}: it is one of {', '.join(_RELATIONS)}")
        return value

    def get_instruction_args(self) -> dict[str, Any] | None:
        """Return the arguments that were set; ``None`` of an instruction without any."""
        return dict(self._arguments) if self.drawn else None

    def get_instruction_args_keys(self) -> list[str]:
        """Return the names of the arguments."""
        return list(self.drawn)

    def check_following(self, value: str) -> bool:
        """Return whether an answer follows it.

        Raises:
            MissingExtraError: The check needs a package that is not installed.
        """
        return follows(self.check, value, self.get_instruction_args() or {})


class _Detector:
    """Stands for the package ``langdetect``, which the core's checks use; programs replace it."""


langdetect: Any = _Detector()


class _InLanguage(CheckedInstruction):
    """An instruction about a language, which is asked of what a program has put in the place of ``langdetect``."""

    def check_following(self, value: str) -> bool:
        """Return whether an answer follows it; one whose language cannot be told does."""
        if isinstance(langdetect, _Detector):
            return super().check_following(value)
        if not self._has_case(value):
            return False
        try:
            return bool(langdetect.detect(value) == (self.get_instruction_args() or {"language": "en"})["language"])
        except langdetect.LangDetectException:
            return True

    def _has_case(self, value: str) -> bool:
        return bool(value)


class ResponseLanguageChecker(_InLanguage):
    """The answer is in one language."""

    check, words = "language:response_language", "Write the whole answer in the {language} language and in no other."
    drawn: ClassVar[_Drawn] = {"language": _one(*instructions_util.LANGUAGE_CODES)}

    def _spoken(self) -> dict[str, Any]:
        code = self._arguments["language"]
        return {"language": instructions_util.LANGUAGE_CODES.get(code, code)}


class NumberOfSentences(CheckedInstruction):
    """The answer has some number of sentences."""

    check, words = "length_constraints:number_sentences", "The answer has {relation} {num_sentences} sentences."
    drawn: ClassVar[_Drawn] = {"num_sentences": _number(20), "relation": _one(*_RELATIONS)}

    def check_following(self, value: str) -> bool:
        """Return whether an answer has so many sentences."""
        given = self._arguments
        return compares(instructions_util.count_sentences(value), given["relation"], given["num_sentences"])


class PlaceholderChecker(CheckedInstruction):
    """The answer has placeholders."""

    check = "detectable_content:number_placeholders"
    words = "Leave at least {num_placeholders} placeholders in square brackets, such as [name]."
    drawn: ClassVar[_Drawn] = {"num_placeholders": _number(4)}


class BulletListChecker(CheckedInstruction):
    """The answer has some number of bullet points."""

    check = "detectable_format:number_bullet_lists"
    words = "The answer has exactly {num_bullets} bullet points, each a line that begins with an asterisk."
    drawn: ClassVar[_Drawn] = {"num_bullets": _number(5)}


class ConstrainedResponseChecker(CheckedInstruction):
    """The answer is one of three."""

    check = "detectable_format:constrained_response"
    words = "Answer with one of: My answer is yes. / My answer is no. / My answer is maybe."


class HighlightSectionChecker(CheckedInstruction):
    """The answer highlights parts of itself."""

    check = "detectable_format:number_highlighted_sections"
    words = "Highlight at least {num_highlights} parts of the answer in Markdown, *like this*."
    drawn: ClassVar[_Drawn] = {"num_highlights": _number(4)}


class SectionChecker(CheckedInstruction):
    """The answer has numbered sections."""

    check = "detectable_format:multiple_sections"
    words = "Give the answer {num_sections} sections, each of which begins with {section_spliter} and its number."
    drawn: ClassVar[_Drawn] = {"section_spliter": _one("Section", "SECTION"), "num_sections": _number(5)}


class ParagraphChecker(CheckedInstruction):
    """The answer has some number of paragraphs."""

    check = "length_constraints:number_paragraphs"
    words = "Write {num_paragraphs} paragraphs, with a line *** between them."
    drawn: ClassVar[_Drawn] = {"num_paragraphs": _number(5)}


class PostscriptChecker(CheckedInstruction):
    """The answer ends with a postscript."""

    check, words = "detectable_content:postscript", "Add a postscript at the end, which begins with {postscript_marker}"
    drawn: ClassVar[_Drawn] = {"postscript_marker": _one("P.S.", "P.P.S")}


class KeywordChecker(CheckedInstruction):
    """The answer has some words in it."""

    check, words = "keywords:existence", "Use these keywords in the answer: {keywords}."
    drawn: ClassVar[_Drawn] = {"keywords": None}


class KeywordFrequencyChecker(CheckedInstruction):
    """The answer uses a word some number of times."""

    check, words = "keywords:frequency", "The word {keyword} stands {relation} {frequency} times in the answer."
    drawn: ClassVar[_Drawn] = {"keyword": None, "frequency": _number(3), "relation": _one(*_RELATIONS)}


class NumberOfWords(CheckedInstruction):
    """The answer has some number of words."""

    check, words = "length_constraints:number_words", "The answer has {relation} {num_words} words."
    drawn: ClassVar[_Drawn] = {"num_words": _number(500), "relation": _one(*_RELATIONS)}


class JsonFormat(CheckedInstruction):
    """The answer is JSON."""

    check, words = "detectable_format:json_format", "Write the whole answer as JSON; it may stand in a code block."


class ParagraphFirstWordCheck(CheckedInstruction):
    """One paragraph begins with a word."""

    check = "length_constraints:nth_paragraph_first_word"
    words = (
        "Write {num_paragraphs} paragraphs, with an empty line between them. "
        "Paragraph {nth_paragraph} begins with the word {first_word}."
    )
    drawn: ClassVar[_Drawn] = {"num_paragraphs": _number(5), "nth_paragraph": _number(5), "first_word": None}

    def _value(self, name: str, value: Any) -> Any:
        found = super()._value(name, value)
        return found.lower() if name == "first_word" else found


class ForbiddenWords(CheckedInstruction):
    """The answer does without some words."""

    check, words = "keywords:forbidden_words", "Do not use these words in the answer: {forbidden_words}."
    drawn: ClassVar[_Drawn] = {"forbidden_words": None}


class TwoResponsesChecker(CheckedInstruction):
    """There are two answers."""

    check, words = "combination:two_responses", "Give two different answers, and nothing but ****** between them."


class RepeatPromptThenAnswer(CheckedInstruction):
    """The answer begins with the question."""

    check = "combination:repeat_prompt"
    words = "First repeat this word for word, and say nothing before it; then answer: {prompt_to_repeat}"
    drawn: ClassVar[_Drawn] = {"prompt_to_repeat": None}


class EndChecker(CheckedInstruction):
    """The answer ends with a phrase."""

    check, words = (
        "startend:end_checker",
        "The answer ends with exactly this phrase, and nothing behind it: {end_phrase}",
    )
    drawn: ClassVar[_Drawn] = {"end_phrase": _one("Is there anything else I can do?", "That is all there is to say.")}


class TitleChecker(CheckedInstruction):
    """The answer has a title."""

    check, words = (
        "detectable_format:title",
        "Give the answer a title in double angle brackets, such as <<a sunny day>>.",
    )


class LetterFrequencyChecker(CheckedInstruction):
    """The answer uses a letter some number of times."""

    check, words = (
        "keywords:letter_frequency",
        "The letter {letter} stands {let_relation} {let_frequency} times in the answer.",
    )
    drawn: ClassVar[_Drawn] = {
        "letter": _one(*"abcdefghijklmnopqrstuvwxyz"),
        "let_frequency": _number(10),
        "let_relation": _one(*_RELATIONS),
    }


class CapitalLettersEnglishChecker(_InLanguage):
    """The answer is English in capital letters."""

    check, words = "change_case:english_capital", "Write the whole answer in English, in capital letters only."

    def _has_case(self, value: str) -> bool:
        return value.isupper()


class LowercaseLettersEnglishChecker(_InLanguage):
    """The answer is English in small letters."""

    check, words = "change_case:english_lowercase", "Write the whole answer in English, in lowercase letters only."

    def _has_case(self, value: str) -> bool:
        return value.islower()


class CommaChecker(CheckedInstruction):
    """The answer has no comma."""

    check, words = "punctuation:no_comma", "Do not use a comma anywhere in the answer."


class CapitalWordFrequencyChecker(CheckedInstruction):
    """The answer has some number of words in capital letters."""

    check = "change_case:capital_word_frequency"
    words = "{capital_relation} {capital_frequency} words of the answer are all capital letters."
    drawn: ClassVar[_Drawn] = {"capital_frequency": _number(20), "capital_relation": _one(*_RELATIONS)}


class QuotationChecker(CheckedInstruction):
    """The answer stands in quotation marks."""

    check, words = "startend:quotation", "Wrap the whole answer in double quotation marks."
