"""``lm_eval.api.samplers``: how demos are drawn, as classes that code of tasks derives from."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from proctor.dialects.lm_eval.samplers import too_small
from proctor.errors import DemosError, did_you_mean
from proctor.guests.overrides import Obeyed


class PoolError(DemosError, AssertionError):
    """A pool has too few documents (lm-eval asserts that it has enough)."""


class UnknownSamplerError(DemosError, KeyError):
    """There is no sampler of a name."""

    __str__ = DemosError.__str__


class ContextSampler(Obeyed):
    """Draws demos at random, all documents from one stream of random numbers.

    Args:
        df: The documents to draw from.
        rnd: Seed of the stream.
        fewshot_indices: Draw only from these places.
    """

    def __init__(
        self, df: Sequence[Any] | None = None, *, rnd: int | None = None, fewshot_indices: Sequence[int] | None = None
    ) -> None:
        self.df: Sequence[Any] = list(df or ())
        self.fewshot_indices = fewshot_indices
        self.rnd = Random(rnd)

    def set_rnd(self, rnd: int | None) -> ContextSampler:
        """Start the stream anew."""
        self.rnd = Random(rnd)
        return self

    def replace_df(self, df: Sequence[Any]) -> ContextSampler:
        """Draw from other documents."""
        self.df = list(df)
        return self

    def fewshot_docs(self) -> list[Any]:
        """Return the documents that may be drawn."""
        return [self.df[place] for place in self.fewshot_indices] if self.fewshot_indices else list(self.df)

    def sample(self, n: int, eval_doc: Any = None, df: Sequence[Any] | None = None) -> Sequence[Any]:
        """Return demos.

        Args:
            n: How many.
            eval_doc: A document that is not to be among them.
            df: Other documents to draw from, from now on.

        Raises:
            DemosError: There are too few.
        """
        if n < 0:
            raise PoolError(f"{n} demos are asked for", hint="a number >=0")
        if df:
            self.replace_df(df)
        pool, wanted = self.fewshot_docs(), n + 1 if eval_doc else n
        if not n:
            return []
        if wanted > len(pool):
            raise _too_small(wanted, pool)
        drawn = self.rnd.sample(pool, wanted)
        others = self.rm_eval_doc(eval_doc, drawn, n) if eval_doc else drawn
        if len(others) < n:
            rest = self.rm_eval_doc(eval_doc, pool)
            if len(rest) < n:
                raise _too_small(n, rest)
            others = self.rnd.sample(rest, n)
        return others

    @staticmethod
    def rm_eval_doc(doc: Any, _iter: Sequence[Any], n: int | None = None) -> list[Any]:
        """Return documents without one, the first ``n`` of them."""
        return [each for each in _iter if each != doc][:n]


class FirstNSampler(ContextSampler):
    """Takes the first documents, in order."""

    def sample(self, n: int, eval_doc: Any = None, df: Sequence[Any] | None = None) -> Sequence[Any]:
        """Return the first ``n`` documents, without the one that is asked.

        Raises:
            DemosError: There are too few.
        """
        if df:
            self.replace_df(df)
        pool = self.fewshot_docs()
        chosen = pool[:n] if eval_doc is None else self.rm_eval_doc(eval_doc, pool, n)
        if len(chosen) < n:
            raise _too_small(n, chosen)
        return chosen


def _too_small(wanted: int, there: Sequence[Any]) -> PoolError:
    return PoolError(too_small(wanted, len(there)).diagnostics)


SAMPLER_REGISTRY: dict[str, type[ContextSampler]] = {"default": ContextSampler, "first_n": FirstNSampler}
"""Samplers by name; a program may add its own."""


def get_sampler(name: str) -> type[ContextSampler]:
    """Return a sampler's class by name.

    Raises:
        DemosError: There is no such sampler.
    """
    if name not in SAMPLER_REGISTRY:
        raise UnknownSamplerError(
            f"no sampling strategy is called '{name}'",
            hint=did_you_mean(name, SAMPLER_REGISTRY) or f"there are {', '.join(SAMPLER_REGISTRY)}",
        )
    return SAMPLER_REGISTRY[name]
