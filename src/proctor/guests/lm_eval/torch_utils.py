"""``lm_eval.models.utils_hf``: what model classes of programs do with tensors; torch loads when it is used."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import cache
from typing import Any

from proctor.errors import UsageError


def pad_and_concat(max_length: int, tensors: Sequence[Any], padding_side: str = "right") -> Any:
    """Return rows of token ids as one tensor, each padded with 0 to ``max_length``.

    Args:
        max_length: Of each row.
        tensors: Rows of one dimension, or of two of which the first is 1.
        padding_side: ``left`` or ``right``.

    Raises:
        UsageError: It is another side.
    """
    import torch

    if padding_side not in ("left", "right"):
        raise UsageError(f"padding_side is '{padding_side}'", hint="left or right")
    rows = [each.reshape(-1) for each in tensors]
    padded = []
    for row in rows:
        missing = torch.zeros(max(max_length - len(row), 0), dtype=torch.long, device=row.device)
        padded.append(torch.cat([row, missing] if padding_side == "right" else [missing, row]))
    return torch.stack(padded)


def clear_torch_cache() -> None:
    """Free what nothing holds, of the graphics card, too."""
    import torch

    gc.collect()
    torch.cuda.empty_cache()


def get_dtype(dtype: Any) -> Any:
    """Return torch's type of a name (``float16``); ``auto`` and types are what they are."""
    import torch

    return getattr(torch, dtype) if isinstance(dtype, str) and dtype != "auto" else dtype


@cache
def _criteria() -> type[Any]:
    from transformers import StoppingCriteria

    class MultiTokenEOSCriteria(StoppingCriteria):  # type: ignore[misc]
        """Ends generation where every row of a batch has a stop string."""

        def __init__(self, sequence: str, tokenizer: Any, initial_decoder_input_length: int, batch_size: int) -> None:
            self.sequence, self.tokenizer = sequence, tokenizer
            self.initial_decoder_input_length = initial_decoder_input_length
            self.done_tracker = [False] * batch_size
            self.sequence_ids = tokenizer.encode(sequence, add_special_tokens=False)
            self.sequence_id_len = len(self.sequence_ids) + 2  # tokens that write it in another way may be more

        def __call__(self, input_ids: Any, scores: Any, **_: Any) -> bool:  # noqa: ARG002 - transformers' signature
            written = input_ids[:, self.initial_decoder_input_length :][:, -self.sequence_id_len :]
            texts = self.tokenizer.batch_decode(written)
            pairs = zip(self.done_tracker, texts, strict=False)
            self.done_tracker = [done or self.sequence in text for done, text in pairs]
            return all(self.done_tracker)

    MultiTokenEOSCriteria.__module__ = __name__
    return MultiTokenEOSCriteria


def __getattr__(name: str) -> Any:
    """Return ``MultiTokenEOSCriteria``, which derives from a class of transformers.

    Raises:
        AttributeError: It is another name.
    """
    if name == "MultiTokenEOSCriteria":
        return _criteria()
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def stop_sequences_criteria(
    tokenizer: Any, stop_sequences: Sequence[str], initial_decoder_input_length: int, batch_size: int
) -> Any:
    """Return transformers' list of criteria, one for each stop string."""
    from transformers import StoppingCriteriaList

    kind = _criteria()
    return StoppingCriteriaList(
        [kind(each, tokenizer, initial_decoder_input_length, batch_size) for each in stop_sequences]
    )
