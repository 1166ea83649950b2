"""Retrievers that rank the rows of an index by a text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol

from proctor.demos.retrievers import Corpus, LabelPrompts, Positions, Retriever
from proctor.demos.samplers import Instance


class Ranker(Protocol):
    """An index that has been read."""

    def best(self, texts: Sequence[str], count: int) -> list[Positions]:
        """Return for every text the positions of the rows that fit best, the best first."""


class RankingRetriever(Retriever):
    """Base of retrievers that show a test row what is most like it.

    As a sampler it reads a pool once. Instances that are asked about are not among their own candidates; where ranks
    depend on all rows (how rare a word is), such candidates are an index of their own, so that what is found depends on
    them and the instance, and not on who was asked about before.
    """

    ranks_rows_alone: ClassVar[bool] = False
    """Whether a rank depends on the row and the text alone, so that an index may hold rows that are not candidates."""

    @abstractmethod
    def ranker(self, index: Corpus) -> Ranker:
        """Read an index."""

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return the ``ice_num`` best rows for everybody, the best first."""
        del label_prompts
        return self.ranker(index).best(test.texts, self.ice_num) if len(test) else []

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Return the ``sample_size`` best instances of the pool, the best first."""
        del sampling_seed
        if not self.ranks_rows_alone:
            places = self._index_of(instances_pool).best([self._words(instance)], sample_size)[0]
            return [instances_pool[place] for place in places]
        present = {id(each) for each in instances_pool}
        known, ranker = self._read(present, instances_pool)
        absent = len(known) - len(present)
        places = ranker.best([self._words(instance)], sample_size + absent)[0]
        return [known[place] for place in places if id(known[place]) in present][:sample_size]

    def _index_of(self, pool: Sequence[Instance]) -> Ranker:
        """Return the index of exactly these instances; that of the last pool is kept."""
        ids = tuple(map(id, pool))
        read: tuple[tuple[int, ...], list[Instance], Ranker] | None = getattr(self, "_last", None)
        if read is None or read[0] != ids:
            read = ids, list(pool), self.ranker(Corpus(list(pool), self._words))  # held on to: ids are not used again
            object.__setattr__(self, "_last", read)
        return read[2]

    def _read(self, present: set[int], pool: Sequence[Instance]) -> tuple[list[Instance], Ranker]:
        """Return the instances that were read so far, which those of the pool are among, and their ranker."""
        read: tuple[list[Instance], Ranker] | None = getattr(self, "_pool", None)
        known = {} if read is None else {id(each): each for each in read[0]}  # held on to, so ids are not used again
        if read is None or not present <= known.keys():
            everyone = list({**known, **{id(each): each for each in pool}}.values())
            read = everyone, self.ranker(Corpus(everyone, self._words))
            object.__setattr__(self, "_pool", read)
        return read
