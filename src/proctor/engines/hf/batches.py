"""Batch sizes: as much as was allowed, less after the model ran out of memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

_T = TypeVar("_T")
_R = TypeVar("_R")

OUT_OF_MEMORY = (
    "not enough memory for a single sequence, with nothing beside it; try --model-args max_length=2048 (or less), "
    "dtype=bfloat16, device_map=auto (several GPUs), or device=cpu"
)
_NO_MEMORY = re.compile(r"out of memory|can't allocate memory|not enough memory|STATUS_ALLOC_FAILED", re.IGNORECASE)
"""How CUDA, cuBLAS, Apple's and Intel's GPUs, and the CPU say it, where it is not a ``torch.OutOfMemoryError``."""


@dataclass(slots=True)
class Budget:
    """The capacity of one forward pass.

    Attributes:
        sequences: Most sequences; ``None`` counts tokens instead.
        tokens: Most tokens, padding included, where sequences are not counted.
    """

    sequences: int | None
    tokens: int

    def room(self, width: int) -> int:
        """Return how many sequences of ``width`` tokens fit, at least one."""
        return max(1, self.tokens // max(width, 1)) if self.sequences is None else self.sequences

    def shrink(self, failed: int, width: int) -> None:
        """Remember that ``failed`` sequences of ``width`` tokens did not fit: half of that from now on."""
        if self.sequences is not None:
            self.sequences = max(1, min(self.sequences, failed // 2))
        self.tokens = max(1, min(self.tokens, failed * width // 2))


def run_batches(
    items: Sequence[_T], width_of: Callable[[_T], int], budget: Budget, run: Callable[[Sequence[_T]], Sequence[_R]]
) -> Iterator[tuple[_T, _R | None]]:
    """Run items in batches, widest first; a batch that does not fit in memory is tried again in halves.

    Yields:
        Each item with its result; ``None`` where it does not fit even alone.
    """
    waiting = sorted(items, key=width_of)
    while waiting:
        width = width_of(waiting[-1])
        batch = waiting[-budget.room(width) :][::-1]
        try:
            results: Sequence[_R | None] = run(batch)
        except RuntimeError as error:
            if not is_out_of_memory(error):
                raise
            results = []
        if not results:
            free_memory()
            budget.shrink(len(batch), width)
            if len(batch) > 1:
                continue
            results = [None]
        del waiting[-len(batch) :]
        yield from zip(batch, results, strict=True)


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether torch says that memory ran out, on a GPU or on the CPU."""
    import torch

    return isinstance(error, torch.OutOfMemoryError | MemoryError) or _NO_MEMORY.search(str(error)) is not None


def free_memory() -> None:
    """Give back what torch keeps for later."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
