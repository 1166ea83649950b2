"""Instructions that AISBench's IFEval has as classes, and no exam of it asks for."""

from __future__ import annotations

import random
import re
from collections import Counter
from typing import Any, ClassVar

from proctor.compat.aisbench_names import ifeval_words as instructions_util
from proctor.compat.aisbench_names.ifeval_base import Instruction

_STARTS = ("I think", "I believe", "In my opinion", "In my view", "My answer is")
_CHANGE = re.compile(r"\*.*\*")
_SOME_SENTENCE = "For now, this is fine."


class _Told(Instruction):
    """An instruction whose arguments are kept under their names."""

    names: ClassVar[tuple[str, ...]]

    def get_instruction_args(self) -> dict[str, Any] | None:
        """Return the arguments that were set."""
        return {name: getattr(self, f"_{name}") for name in self.names}

    def get_instruction_args_keys(self) -> list[str]:
        """Return the names of the arguments."""
        return list(self.names)


class ConstrainedStartChecker(_Told):
    """A line of the answer begins with given words."""

    names = ("starter",)

    def build_description(self, *, starter: str | None = None) -> str:  # type: ignore[override]
        """Set the words, one of a list where none are given; return what a model is told."""
        self._starter = starter.strip() if starter is not None else random.choice(_STARTS)
        return f"Begin with {self._starter} whenever it is your turn in the conversation."

    def check_following(self, value: str) -> bool:
        """Return whether a line begins with the words, which are a pattern, as upstream."""
        return re.search(rf"^\s*{self._starter}.*$", value, re.MULTILINE) is not None


class RephraseChecker(_Told):
    """The answer is a message in which only what stands between asterisks has changed."""

    names = ("original_message",)

    def build_description(self, *, original_message: str) -> str:  # type: ignore[override]
        """Set the message; return what a model is told.

        Raises:
            ValueError: Nothing in it stands between asterisks.
        """
        self._original_message = self._marked(original_message)
        return "Rephrase: change nothing but words and sentences between two asterisks, as in *change me*."

    @staticmethod
    def is_change(response: str) -> re.Match[str] | None:
        """Return what stands between asterisks; ``None`` where nothing does."""
        return _CHANGE.search(response)

    @staticmethod
    def strip_changes(response: str) -> str:
        """Return a text without what stands between asterisks."""
        return _CHANGE.sub("", response)

    def _marked(self, text: str) -> str:
        if not self.is_change(text):
            raise ValueError(f"nothing stands between asterisks, as in *change me*: {text[:80]!r}")
        return text

    def check_following(self, value: str) -> bool:
        """Return whether the rest is as it was.

        Raises:
            ValueError: Nothing in the answer stands between asterisks.
        """
        return self.strip_changes(self._marked(value)) == self.strip_changes(self._original_message)


class KeySentenceChecker(_Told):
    """The answer has so many of some sentences."""

    names = ("num_sentences", "key_sentences")

    def build_description(  # type: ignore[override]
        self, key_sentences: Any = None, num_sentences: int | None = None
    ) -> str:
        """Set the sentences and how many, drawn where it is not said; return what a model is told."""
        self._key_sentences = list(key_sentences) if key_sentences else [_SOME_SENTENCE]
        self._num_sentences = num_sentences or random.randint(1, len(self._key_sentences))
        return f"Use {self._num_sentences} of these sentences: {self._key_sentences}"

    def check_following(self, value: str) -> bool:
        """Return whether just as many of them are sentences of the answer."""
        sentences = instructions_util.split_into_sentences(value)
        return sum(each in sentences for each in self._key_sentences) == self._num_sentences


class RephraseParagraph(_Told):
    """The answer shares so many words with a paragraph."""

    names = ("original_paragraph", "low", "high")

    def build_description(self, *, original_paragraph: str, low: int, high: int) -> str:  # type: ignore[override]
        """Set the paragraph, and how many words may be shared; return what a model is told."""
        self._original_paragraph, self._low, self._high = original_paragraph, low, high
        return (
            f"Rephrase this paragraph: {original_paragraph}\nKeep between {low} and {high} of its words. Words are the "
            "same if all their letters are, upper or lower case."
        )

    def check_following(self, value: str) -> bool:
        """Return whether the number of shared words is within the bounds; a word counts as often as both have it."""
        said, before = (Counter(re.findall(r"\w+", text.lower())) for text in (value, self._original_paragraph))
        return self._low <= (said & before).total() <= self._high
