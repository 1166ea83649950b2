"""Tokenizers that upstream measures the length of made texts with."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

from proctor.data.hub_access import is_local_only
from proctor.errors import DataError, needed

_TIKTOKEN = "gpt-4"


class Tokenizer(Protocol):
    """Text to tokens and back."""

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens."""


@lru_cache(maxsize=4)
def tokenizer(model: str) -> Tokenizer:
    """Return tiktoken's encoding of an OpenAI model.

    Raises:
        MissingExtraError: tiktoken is not installed.
        DataError: It does not know the model, or cannot get its table.
    """
    with needed("tiktoken", "long", "the tokenizer of this dataset"):
        from tiktoken import encoding_for_model  # type: ignore[import-not-found,unused-ignore]
    try:
        found: Tokenizer = encoding_for_model(model)
    except (KeyError, OSError) as error:  # requests' errors are OSErrors
        raise DataError(f"there is no tokenizer for '{model}'", why=f"tiktoken says: {error}") from error
    return found


@lru_cache(maxsize=4)
def any_tokenizer(model: str) -> Any:
    """Return tiktoken's encoding for ``gpt-4``, otherwise the tokenizer of a model on the hub or in a folder.

    Raises:
        MissingExtraError: tiktoken or transformers is not installed.
        DataError: There is no such model.
    """
    if model == _TIKTOKEN:
        return tokenizer(model)
    with needed("transformers", "hf", "the tokenizer of this dataset"):
        from transformers import AutoTokenizer
    try:
        return AutoTokenizer.from_pretrained(model, trust_remote_code=False, local_files_only=is_local_only(model))
    except (OSError, ValueError) as error:
        raise DataError(f"there is no tokenizer for '{model}'", why=str(error)) from error
