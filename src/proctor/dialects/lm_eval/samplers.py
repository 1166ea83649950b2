"""Samplers of demos.

The order of random draws is lm-eval's: one stream of random numbers per task, over the documents in order. Where demos
come from the split that is asked, a document is never shown itself; where lm-eval would, another is drawn from a stream
of that document's own. A document of another split that happens to be equal stays, as in lm-eval.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from inspect import signature
from random import Random
from typing import Any, Protocol

from proctor.dialects.lm_eval.functions import guarded
from proctor.errors import DemosError, did_you_mean
from proctor.guests.overrides import brought
from proctor.ir import content_key


class DemoSampler(Protocol):
    """Chooses demos for documents, asked in order; the positions are those of the pool."""

    def draw(self, count: int, doc: Any) -> Sequence[int]:
        """Return positions of demos for a document."""
        ...


class StreamSampler:
    """Draws at random, all documents from one stream.

    Args:
        pool: The documents to draw from.
        seed: Seed of the stream.
        draws_one_more: Draw one more than asked and leave the document itself out (where lm-eval does).
        holds_asked: Whether the pool holds the documents that are asked, so that one could be shown itself.
    """

    def __init__(
        self, pool: Sequence[Any], seed: int | None, *, draws_one_more: bool, holds_asked: bool = True
    ) -> None:
        self.pool = pool
        self._holds_asked = holds_asked or draws_one_more
        self._places = range(len(pool))
        self._random = Random(seed)
        self._draws_one_more = draws_one_more

    def draw(self, count: int, doc: Any) -> Sequence[int]:
        """Return positions of demos for a document."""
        pool, wanted = self.pool, count + 1 if self._draws_one_more else count
        if wanted > len(pool):
            raise too_small(wanted, len(pool))
        drawn = self._random.sample(self._places, wanted)
        if not self._holds_asked:
            return drawn
        others = [place for place in drawn if pool[place] != doc]
        if len(others) >= count:
            return others[:count]
        rest = [place for place in self._places if pool[place] != doc]
        if len(rest) < count:
            raise too_small(count, len(rest))
        if self._draws_one_more:
            return self._random.sample(rest, count)
        left = [place for place in rest if place not in others]
        spare = Random(content_key("demo", others, str(doc)))
        return [*others, *spare.sample(left, count - len(others))]


class FirstSampler:
    """Takes the first documents of the pool, in order, the document itself left out.

    Args:
        pool: The documents to take from.
        holds_asked: Whether the pool holds the documents that are asked.
    """

    def __init__(self, pool: Sequence[Any], *, holds_asked: bool = True) -> None:
        self.pool = pool
        self._holds_asked = holds_asked

    def draw(self, count: int, doc: Any) -> Sequence[int]:
        """Return positions of demos for a document."""
        chosen: list[int] = []
        for place, each in enumerate(self.pool):
            if len(chosen) == count:
                break
            if not self._holds_asked or each != doc:
                chosen.append(place)
        if len(chosen) < count:
            raise too_small(count, len(chosen))
        return chosen


class BalancedSampler:
    """Draws as equally as possible from every class; classes are what the targets of the pool say."""

    def __init__(
        self, pool: Sequence[Any], seed: int | None, label: Callable[[Any], Any], *, holds_asked: bool = True
    ) -> None:
        self.pool = pool
        self._holds_asked = holds_asked
        self._random = Random(seed)
        self._classes: dict[str, list[int]] = {}
        for place, each in enumerate(pool):
            self._classes.setdefault(str(label(each)), []).append(place)

    def draw(self, count: int, doc: Any) -> Sequence[int]:
        """Return positions of demos for a document."""
        decks = []
        for places in self._classes.values():
            deck = [place for place in places if not self._holds_asked or self.pool[place] != doc]
            self._random.shuffle(deck)
            decks.append(deck)
        self._random.shuffle(decks)
        chosen: list[int] = []
        while len(chosen) < count and any(decks):
            chosen += [deck.pop() for deck in decks if deck]
        if len(chosen) < count:
            raise too_small(count, len(chosen))
        chosen = chosen[:count]
        self._random.shuffle(chosen)
        return chosen


class ForeignSampler:
    """A sampler class that a task file brings, with lm-eval's interface."""

    def __init__(self, kind: Any, pool: Sequence[Any], seed: int | None, *, passes_document: bool) -> None:
        self.pool = list(pool)  # the class returns these very documents
        what = f"the sampler {getattr(kind, '__name__', kind)}"
        self._sampler = guarded(kind, what)(self.pool, rnd=seed)
        self._sample = guarded(self._sampler.sample, what)
        if callable(start := getattr(self._sampler, "set_rnd", None)):
            start(seed)
        self._passes_document = passes_document
        self._places = {id(each): place for place, each in enumerate(self.pool)}

    def draw(self, count: int, doc: Any) -> Sequence[int]:
        """Return positions of demos for a document."""
        drawn = self._sample(n=count, eval_doc=doc if self._passes_document else None)
        return [self._places[id(each)] if id(each) in self._places else self._place(each) for each in drawn]

    def _place(self, doc: Any) -> int:
        for place, each in enumerate(self.pool):
            if each == doc:
                return place
        raise DemosError("the sampler returned a document that is not in its pool")


def make_sampler(
    kind: Any,
    pool: Sequence[Any],
    seed: int | None,
    *,
    own_split: bool,
    holds_asked: bool = True,
    label: Callable[[Any], Any],
) -> DemoSampler:
    """Return the sampler that ``fewshot_config.sampler`` names.

    Args:
        kind: ``default``, ``first_n``, ``balanced``, or a class.
        pool: The documents to draw from.
        seed: Seed of the random stream.
        own_split: Whether lm-eval would take the document itself out of the pool.
        holds_asked: Whether the pool comes from the split that is asked.
        label: The target of a document, for balancing.

    Raises:
        DemosError: There is no such sampler.
    """
    kind = _of_programs("default" if kind is None else kind)
    if kind == "default":
        return StreamSampler(pool, seed, draws_one_more=own_split, holds_asked=holds_asked)
    if kind == "first_n":
        return FirstSampler(pool, holds_asked=holds_asked or own_split)
    if kind == "balanced":
        return BalancedSampler(pool, seed, label, holds_asked=holds_asked)
    if callable(kind):
        return ForeignSampler(kind, pool, seed, passes_document=own_split)
    known = ["default", "first_n", "balanced", *_registry()]
    raise DemosError(
        f"there is no sampler '{kind}'", why=f"there are {', '.join(known)}", hint=did_you_mean(str(kind), known)
    )


def lays_out_demos(kind: Any) -> bool:
    """Whether a sampler's class lays its demos out itself, as those of lm-eval before 0.4.9 do."""
    return callable(getattr(kind, "get_context", None)) and "eval_doc" not in signature(kind.sample).parameters


def _of_programs(kind: Any) -> Any:
    """Return the class that a program has registered under a name, or has changed; else the name."""
    found = _registry().get(kind) if isinstance(kind, str) else None
    return kind if found is None or not any(brought(found)) else found


def _registry() -> Mapping[str, Any]:
    """Return the samplers of programs by name, those of ours among them; none where no program has asked for them."""
    classes = sys.modules.get(f"{__package__}.classes.samplers")
    return {} if classes is None else classes.SAMPLER_REGISTRY


def too_small(wanted: int, there: int) -> DemosError:
    """Return the error of a pool that has too few documents."""
    return DemosError(
        f"{wanted} documents are drawn from a pool of {there}",
        why="a document is never shown itself, so the split that is asked needs one more than is shown",
        hint="ask for fewer demos (--num_fewshot)",
    )
