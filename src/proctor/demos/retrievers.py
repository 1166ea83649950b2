"""Retrievers: which rows of an index every test row is shown, as OpenCompass and AISBench choose them.

A retriever chooses for all test rows at once (:meth:`Retriever.retrieve`). As a *sampler* of a recipe it chooses for
one instance from its pool; the text of an instance is then its input fields, joined by blanks.
"""
# ruff: noqa: ARG002 - retrievers are called with all there is

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol, Self, overload

from pydantic import Field

from proctor.artifacts import NON_POSITIONAL
from proctor.demos.samplers import Instance, Sampler, instance_stream
from proctor.errors import DemosError

Row = Mapping[str, Any]
Positions = Sequence[int]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Rows and how they read.

    Attributes:
        text: Returns the words of a row that are compared.
    """

    rows: Sequence[Any]
    text: Callable[[Any], str]

    @property
    def texts(self) -> list[str]:
        """The words of every row."""
        return [self.text(row) for row in self.rows]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class LabelPrompts:
    """Prompts by label, for retrievers that try prompts out.

    Attributes:
        labels: The labels that a prompt is made for.
        examples: Returns examples, by position in the index, in words.
        prompts: Returns for a test row and examples in words the prompt of every label.
    """

    labels: Sequence[Any]
    examples: Callable[[Sequence[int]], str]
    prompts: Callable[[Row, str], list[str]]


class Repeated(Sequence[Positions]):
    """The same positions for every test row."""

    def __init__(self, positions: Positions, count: int) -> None:
        self._positions, self._count = positions, count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> Positions: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Positions]: ...
    def __getitem__(self, place: int | slice) -> Positions | Sequence[Positions]:
        if isinstance(place, slice):
            return Repeated(self._positions, len(range(self._count)[place]))
        range(self._count)[place]  # raises IndexError where there is none
        return self._positions


def field_text(columns: Sequence[str]) -> Callable[[Row], str]:
    """Return a function that joins the columns of a row by blanks."""

    def text(row: Row) -> str:
        missing = [name for name in columns if name not in row]
        if missing:
            raise DemosError(
                f"a row has no column '{missing[0]}'",
                path="$.reader_cfg.input_columns",
                why=f"its columns are {', '.join(row)}",
                hint="name columns that the data has in input_columns",
            )
        return " ".join(str(row[name]) for name in columns)

    return text


class Retriever(Sampler):
    """Base of all retrievers.

    Attributes:
        is_random: Whether it draws; it has a ``seed`` then.
        ice_separator: Between examples that are texts.
        ice_eos_token: After the last example, where examples are texts.
        ice_num: How many examples a test row is shown.
        fields: As a sampler: the input fields that are compared; all where ``None``.
    """

    is_random: ClassVar[bool] = False
    ice_separator: str = "\n"
    ice_eos_token: str = "\n"  # noqa: S105 - a text of prompts
    ice_num: Annotated[int, Field(ge=0)] = 1
    fields: Annotated[list[str] | None, NON_POSITIONAL] = None

    @abstractmethod
    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return for every test row the positions of its examples in the index, in the order of the prompt.

        Raises:
            DemosError: The index has too few rows, or lacks one that is asked for.
        """

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Return ``sample_size`` instances of the pool, in the order of the prompt."""
        chooser = self.model_copy()
        chooser.ice_num = sample_size
        index, test = Corpus(instances_pool, self._words), Corpus([instance], self._words)
        return [instances_pool[position] for position in chooser.retrieve(index, test)[0]]

    def seeded(self, seed: int) -> Self:
        """Return a retriever that draws from another seed; the same one where nothing is drawn."""
        return self.model_copy(update={"seed": seed}) if self.is_random else self

    def _words(self, instance: Row) -> str:
        given = instance["input_fields"]
        return field_text(self.fields if self.fields is not None else list(given))(given)

    def _check_size(self, count: int, index: Corpus) -> None:
        if count > len(index):
            raise DemosError(
                f"{count} examples are asked of an index with {len(index)} rows",
                path="$.ice_num",
                hint="ask for fewer, or take a larger train_split",
            )


class ZeroRetriever(Retriever):
    """No examples."""

    ice_separator: str = ""
    ice_eos_token: str = ""
    ice_num: Annotated[int, Field(ge=0)] = 0

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return no positions for anybody."""
        return Repeated((), len(test))


class LabelsRetriever(Retriever):
    """Examples that share a label with the row, of its first label first (OpenCompass' ``XiezhiRetriever``).

    Attributes:
        labels_column: The column with the labels of a row, a list.
    """

    labels_column: str = "labels"

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return the first ``ice_num`` examples of the row's labels; a row of unknown labels has none."""
        known: dict[Any, list[int]] = {}
        for position, row in enumerate(index.rows):
            for label in self._labels_of(row):
                known.setdefault(label, []).append(position)
        chosen = []
        for row in test.rows:
            found: list[int] = []
            for label in self._labels_of(row):
                if len(found) >= self.ice_num:
                    break
                found += known.get(label, [])
            chosen.append(tuple(found[: self.ice_num]))
        return chosen

    def _labels_of(self, row: Row) -> Sequence[Any]:
        """Return the labels of a row, or of an instance of a task; a text is one label."""
        fields = {**row["input_fields"], **(row.get("reference_fields") or {})} if "input_fields" in row else row
        if self.labels_column not in fields:
            raise DemosError(
                f"a row has no column '{self.labels_column}'",
                path="$.retriever.labels_column",
                why=f"its columns are {', '.join(fields)}",
                hint="name the column with the labels of a row",
            )
        labels: Any = fields[self.labels_column]
        return [labels] if isinstance(labels, str) else labels


class FixKRetriever(Retriever):
    """The same examples for everybody."""

    fix_id_list: list[int]

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return ``fix_id_list`` for everybody."""
        outside = [position for position in self.fix_id_list if not 0 <= position < len(index)]
        if outside:
            raise DemosError(
                f"fix_id_list asks for the example {outside[0]}, which the index does not have",
                path="$.retriever.fix_id_list",
                why=f"the index has {len(index)} rows, 0 to {len(index) - 1}" if len(index) else "the index is empty",
                hint="use smaller positions, or a larger train_split or train_range",
            )
        return Repeated(tuple(self.fix_id_list), len(test))

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Return the first ``sample_size`` of the fixed examples."""
        found = super().sample(len(self.fix_id_list), instances_pool, instance, sampling_seed)
        return found[:sample_size]


class RandomRetriever(Retriever):
    """Other random examples for every test row; the draws are those of NumPy's ``RandomState``."""

    is_random: ClassVar[bool] = True
    seed: int = 43

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Draw for one test row after the other, without replacement."""
        import numpy as np

        self._check_size(self.ice_num, index)
        generator = np.random.RandomState(self.seed)
        return [tuple(generator.choice(len(index), self.ice_num, replace=False).tolist()) for _ in range(len(test))]

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Draw from the instance's own stream, so that no instance depends on the others."""
        stream = instance_stream(instance, self.seed if sampling_seed is None else sampling_seed)
        return stream.sample(instances_pool, sample_size)


class SlidingWindowRetriever(Retriever):
    """The ``k`` rows before a test row; the first ones are shown the last rows of the index, too."""

    k: Annotated[int, Field(ge=0)]

    def retrieve(self, index: Corpus, test: Corpus, label_prompts: LabelPrompts | None = None) -> Sequence[Positions]:
        """Return the window that ends before each test row's own position."""
        self._check_size(self.k, index)
        if len(test) > len(index) + 1:
            raise DemosError(
                f"a sliding window needs as many rows in the index as there are test rows, {len(test)}",
                path="$.retriever",
                why=f"the index has {len(index)}, and a window moves over it with the test rows",
                hint="use the test split as train_split",
            )
        size = len(index)
        return [
            tuple(range(size - max(0, self.k - place), size)) + tuple(range(max(0, place - self.k), place))
            for place in range(len(test))
        ]

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Return the last instances of the pool: a sampler does not know what came before."""
        return list(instances_pool[len(instances_pool) - min(self.k, sample_size) :])


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
        return self.ranker(index).best(test.texts, self.ice_num) if len(test) else []

    def sample(
        self, sample_size: int, instances_pool: Sequence[Instance], instance: Instance, sampling_seed: int | None = None
    ) -> list[Instance]:
        """Return the ``sample_size`` best instances of the pool, the best first."""
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
