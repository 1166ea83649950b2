"""Small functions of AISBench's ``utils``: limits, pictures as base64, tokenizers."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Sequence
from typing import Any

from proctor.compat.aisbench_names import error_codes, global_constants
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.logger import AISLogger

logger = AISLogger()
_DEFAULT_CHUNK = 2**16
_MOST_CHUNK = 2**24
_MOST_SECONDS = 24 * 60 * 60

global_consts = global_constants
"""What users of AISBench edit."""


def get_max_chunk_size() -> int:
    """Return how many bytes of a reply are read at once, 1 to 16 MiB; of other values the default, 64 KiB."""
    value = global_consts.MAX_CHUNK_SIZE
    if not isinstance(value, int) or not 1 <= value <= _MOST_CHUNK:
        logger.warning("MAX_CHUNK_SIZE is %r, and must be in [1, %d]: %d is used", value, _MOST_CHUNK, _DEFAULT_CHUNK)
        return _DEFAULT_CHUNK
    return value


def get_request_time_out() -> float | None:
    """Return how many seconds a request may take, up to a day; of other values ``None``, no limit."""
    value: Any = global_consts.REQUEST_TIME_OUT
    if value is None:
        return None
    if not isinstance(value, int | float) or not 0 <= value <= _MOST_SECONDS:
        logger.warning("REQUEST_TIME_OUT is %r, and must be in [0, %d] seconds: none is used", value, _MOST_SECONDS)
        return None
    return value


def pil_to_base64(image: Any, format: str = "JPEG") -> str:  # noqa: A002 - upstream's name
    """Return a picture as base64.

    Raises:
        AISBenchDataContentError: It is not a picture of Pillow's.
    """
    from PIL import Image

    if not isinstance(image, Image.Image):
        code = error_codes.UTILS_CODES.UNKNOWN_ERROR  # type: ignore[attr-defined]
        raise errors.AISBenchDataContentError(code, f"a {type(image).__name__} is not a picture of Pillow's")  # type: ignore[attr-defined]
    packed = io.BytesIO()
    image.save(packed, format)
    return base64.b64encode(packed.getvalue()).decode()


def load_tokenizer(tokenizer_path: str, trust_remote_code: bool = False) -> Any:
    """Return the tokenizer of a folder, by transformers.

    Raises:
        FileOperationError: The folder is not there, or has none.
    """
    family = error_codes.UTILS_CODES  # type: ignore[attr-defined]
    if not os.path.exists(tokenizer_path):  # noqa: PTH110 - programs replace it
        raise errors.FileOperationError(family.TOKENIZER_PATH_NOT_FOUND, f"there is no folder '{tokenizer_path}'")  # type: ignore[attr-defined]
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    reasons = []
    for kind in (AutoTokenizer, PreTrainedTokenizerFast):
        try:
            return kind.from_pretrained(tokenizer_path, trust_remote_code=trust_remote_code)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with the folder, the next class may read it
            reasons.append(f"{kind.__name__}: {error}")
    raise errors.FileOperationError(family.TOKENIZER_LOAD_FAILED, f"'{tokenizer_path}': {'; '.join(reasons)}")  # type: ignore[attr-defined]


class AISTokenizer:
    """A tokenizer by AISBench's calls.

    Args:
        tokenizer_path: Its folder.
        trust_remote_code: Whether code in the folder may run.
    """

    def __init__(self, tokenizer_path: str, trust_remote_code: bool = False) -> None:
        self.tokenizer = load_tokenizer(tokenizer_path, trust_remote_code=trust_remote_code)

    def encode(self, prompt: Any, add_special_tokens: bool = True) -> list[int]:
        """Return the tokens of a text, or of messages in the tokenizer's layout; of anything else none."""
        if isinstance(prompt, list):
            prompt = self._laid_out(prompt)
        if not isinstance(prompt, str):
            return []
        return list(self.tokenizer.encode(prompt, add_special_tokens=add_special_tokens))

    def _laid_out(self, messages: Sequence[Any]) -> str:
        try:
            return str(self.tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False))
        except Exception as error:  # noqa: BLE001 - the template is a stranger's: words alone are counted then
            logger.debug("the tokenizer lays out no messages: %s", error)
            return "".join(each.get("content", "") for each in messages)

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens."""
        return str(self.tokenizer.decode(tokens))
