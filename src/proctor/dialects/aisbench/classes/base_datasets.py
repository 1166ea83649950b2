"""Bases of datasets: a class with ``load``, and a reader."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from proctor.demos.retrievers import field_text
from proctor.dialects.aisbench.datasets.reader import partial
from proctor.errors import DataError
from proctor.guests.overrides import Obeyed

Range = int | float | str | None


class DatasetReader:
    """Which columns and which rows of a dataset are used.

    Args:
        dataset: Rows, or splits of rows.
        input_columns: Columns of the question: a list, or names separated by blanks.
        output_column: The column of the answer.
        input_template, output_template: Accepted because programs give them.
        train_split, test_split: The splits that examples come from, and that are asked about.
        train_range, test_range: How many rows of them, drawn at random, what fraction, or a slice such as ``"[:100]"``.
    """

    def __init__(  # noqa: PLR0917 - OpenCompass's signature
        self,
        dataset: Any,
        input_columns: Sequence[str] | str,
        output_column: str | None,
        input_template: Any = None,
        output_template: Any = None,
        train_split: str = "train",
        train_range: Range = None,
        test_split: str = "test",
        test_range: Range = None,
    ) -> None:
        self.input_columns = input_columns.split() if isinstance(input_columns, str) else list(input_columns)
        self.output_column = output_column or None
        self.input_template, self.output_template = input_template, output_template
        splits = dataset if isinstance(dataset, Mapping) else {train_split: dataset, test_split: dataset}
        self.dataset: dict[str, Any] = {}
        for wanted, name, rows in (("train", train_split, train_range), ("test", test_split, test_range)):
            if name not in splits:
                raise DataError(
                    f"the dataset has no split '{name}'", path=f"$.{wanted}_split", why=f"it has {', '.join(splits)}"
                )
            self.dataset[wanted] = load_partial_dataset(splits[name], rows)

    def generate_input_field_prompt(self, entry: Mapping[str, Any]) -> str:
        """Return the input columns of a row, joined by blanks."""
        return field_text(self.input_columns)(entry)

    def generate_output_field_prompt(self, entry: Mapping[str, Any]) -> str:
        """Return the output column of a row in words."""
        return str(entry[self.output_column or ""])

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, split: str) -> Any:
        return self.dataset[split]

    def __iter__(self) -> Iterator[str]:
        return iter(self.dataset)


class BaseDataset(Obeyed):
    """Base of datasets: override :meth:`load`.

    Args:
        reader_cfg: What the reader is made with.
        k: How many of the repeats a score looks at: one number, or several.
        n: How often all rows stand behind each other; each has ``subdivision`` and ``idx``.
        **kwargs: ``abbr``, the name; everything else is :meth:`load`'s.

    Attributes:
        in_blocks: Whether all rows stand behind each other, and not the copies of one.

    Raises:
        AssertionError: ``k`` is more than ``n``, as upstream.
    """

    in_blocks: ClassVar[bool] = True
    uncalled: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("_init_reader", "_init_task_state_manager", "repeated_dataset", "update_task_state"),
        "override load(), which is given what the config says of the dataset",
    )

    def __init__(
        self, reader_cfg: Mapping[str, Any] | None = None, k: int | Sequence[int] = 1, n: int = 1, **kwargs: Any
    ) -> None:
        self.abbr = kwargs.pop("abbr", "dataset")
        loaded = self.load(**kwargs)
        if (most := k if isinstance(k, int) else max(k)) > n:
            raise AssertionError(f"k is {most}, and there are {n} answers to a row")
        self.dataset: Any = repeated(loaded, self.abbr, n, in_blocks=self.in_blocks)
        self.reader: Any = DatasetReader(self.dataset, **(reader_cfg or {}))

    @property
    def train(self) -> Any:
        """The rows that examples come from."""
        return self.reader.dataset["train"]

    @property
    def test(self) -> Any:
        """The rows that are asked about."""
        return self.reader.dataset["test"]

    def load(self, **kwargs: Any) -> Any:
        """Return the rows, or splits of rows; upstream's are often static."""
        raise DataError("a dataset needs a method 'load'", why=f"it was asked for {kwargs}")


class AisDataset(BaseDataset):
    """Base of datasets of AISBench, where the copies of a row stand behind each other.

    Args:
        reader_cfg, k, n, **kwargs: As of :class:`BaseDataset`.
        task_state_manager: Object that is told of progress, for the class's own use.
    """

    in_blocks = False

    def __init__(
        self,
        reader_cfg: Mapping[str, Any] | None = None,
        k: int | Sequence[int] = 1,
        n: int = 1,
        task_state_manager: Any = None,
        **kwargs: Any,
    ) -> None:
        self.task_state_manager = task_state_manager
        super().__init__(reader_cfg, k, n, **kwargs)


def repeated(rows: Any, abbr: str, n: int, *, in_blocks: bool) -> Any:
    """Return rows, or splits of rows, ``n`` times, each with its position and its dataset's name.

    Args:
        rows: A ``Dataset``, a list of dicts, or splits of these.
        abbr: The dataset's name; that of a split goes behind it.
        n: How often.
        in_blocks: Whether all rows stand behind each other, and not the copies of one.
    """
    if isinstance(rows, Mapping):
        splits = {split: repeated(each, f"{abbr}_{split}", n, in_blocks=in_blocks) for split, each in rows.items()}
        kind: type[Any] = type(rows)  # a DatasetDict stays one
        return kind(splits)
    places = range(len(rows))
    order = (
        [place for _ in range(n) for place in places] if in_blocks else [place for place in places for _ in range(n)]
    )
    if hasattr(rows, "select"):
        marks = {"with_indices": True, "load_from_cache_file": False}
        return rows.map(lambda _, place: {"subdivision": abbr, "idx": place}, **marks).select(order)
    return [{**rows[place], "subdivision": abbr, "idx": place} for place in order]


def load_partial_dataset(dataset: Any, size: Range = None) -> Any:
    """Return part of some rows.

    Args:
        dataset: Rows; a ``Dataset`` stays one.
        size: How many, or what fraction, drawn with the size as the seed; or a slice such as ``"[:100]"``.

    Raises:
        DataError: It is none of these.
    """
    if hasattr(dataset, "select"):
        places: Any = range(len(dataset))
        return dataset if size is None else dataset.select(list(partial(places, size, "the range")))
    return partial(dataset, size, "the range")
