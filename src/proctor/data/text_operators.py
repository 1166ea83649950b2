"""Operators on text: split, join, replace."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from typing_extensions import override

from proctor.data.hub_access import is_local_only
from proctor.data.operator import FieldOperator
from proctor.effects import Effect, loading
from proctor.errors import ScoringError, ValidationError, needed
from proctor.regexes import BoundedPattern, bounded
from proctor.settings import model_folder


class Split(FieldOperator):
    """Splits text at a separator."""

    by: str

    @override
    def process_value(self, value: str) -> list[str]:
        return value.split(self.by)


class RegexSplit(FieldOperator):
    """Splits text at matches of a regular expression."""

    by: str

    @override
    def prepare(self) -> None:
        super().prepare()
        self._pattern = compiled(self.by)

    @override
    def process_value(self, value: str) -> list[str | Any]:
        return self._pattern.split(value)


class RegexReplace(FieldOperator):
    r"""Replaces matches of a regular expression; values that are not text stay.

    Attributes:
        pattern: The regular expression.
        replacement: What stands for a match; ``\1`` for its groups.
    """

    pattern: str
    replacement: str

    @override
    def prepare(self) -> None:
        super().prepare()
        self._pattern = compiled(self.pattern)

    @override
    def process_value(self, value: Any) -> Any:
        return self._pattern.sub(self.replacement, value) if isinstance(value, str) else value


def compiled(pattern: str) -> BoundedPattern:
    """Return a compiled regular expression whose searches end.

    Raises:
        ValidationError: It is not valid.
    """
    try:
        return bounded(pattern)
    except ScoringError as error:
        raise ValidationError(f"'{pattern}' is not a regular expression", why=error.diagnostics[0].why) from None


class Join(FieldOperator):
    """Joins a list of texts."""

    by: str

    @override
    def process_value(self, value: list[str]) -> str:
        return self.by.join(value)


class Strip(FieldOperator):
    """Removes blanks at both ends of text."""

    @override
    def process_value(self, value: str) -> str:
        return value.strip()


class Replace(FieldOperator):
    """Replaces one text by another."""

    old: str
    new: str

    @override
    def process_value(self, value: str) -> str:
        return value.replace(self.old, self.new)


class MapReplace(FieldOperator):
    """Replaces several texts, in order."""

    mapping: dict[str, str]

    @override
    def process_value(self, value: str) -> str:
        for old, new in self.mapping.items():
            value = value.replace(old, new)
        return value


class TokenizerOperator(FieldOperator):
    """Base of operators that cut text into a model's tokens.

    Attributes:
        model: The model whose tokenizer to use.
    """

    model: str
    _loaded: ClassVar[Any] = None

    @override
    def effects(self) -> Iterable[Effect]:
        return loading(self.model, self.author, self.type_name())

    def tokenizer(self) -> Any:
        """Return the tokenizer; it is loaded on first use.

        Raises:
            MissingExtraError: ``transformers`` is not installed.
        """
        if self._loaded is None:
            self.act()
            with needed("transformers", "hf", type(self).__name__):
                from transformers import AutoTokenizer
            place = model_folder(self.model) or self.model
            loaded = AutoTokenizer.from_pretrained(
                place, trust_remote_code=False, local_files_only=is_local_only(place)
            )
            object.__setattr__(self, "_loaded", loaded)
        return self._loaded


class TokensSplit(TokenizerOperator):
    """Cuts text into tokens."""

    @override
    def process_value(self, value: str) -> list[str]:
        tokens: list[str] = self.tokenizer().tokenize(value)
        return tokens


class TokensSlice(TokenizerOperator):
    """Keeps a slice of text, counted in tokens."""

    start: int | None = None
    stop: int | None = None
    step: int | None = None

    @override
    def process_value(self, value: str) -> str:
        tokenizer = self.tokenizer()
        text: str = tokenizer.decode(tokenizer.encode(value)[self.start : self.stop : self.step])
        return text
