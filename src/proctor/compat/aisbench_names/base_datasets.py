"""AISBench's bases of datasets as programs derive from them (``ais_bench.benchmark.datasets.base``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.compat.aisbench_names import error_codes
from proctor.compat.aisbench_names import exceptions as errors
from proctor.compat.aisbench_names.logger import AISLogger
from proctor.compat.aisbench_names.type_checks import check_dataset, check_str, check_type_list
from proctor.compat.opencompass_names import datasets as opencompass
from proctor.errors import DataError

logger = AISLogger()
JDG_DATASET_LOAD_BATCH_SIZE = 10
_TIMED = ("max_out_len", "timestamp")


def load_partial_dataset(dataset: Any, size: opencompass.Range = None) -> Any:
    """Return part of some rows, as OpenCompass' does; all of them, with a warning, where the part cannot be read."""
    try:
        return opencompass.load_partial_dataset(dataset, size)
    except DataError as error:
        logger.warning("all rows are taken: %s", error)
        return dataset


class DatasetReader(opencompass.DatasetReader):
    """Which columns and which rows of a dataset are used; splits of a ``Dataset`` stay one ``DatasetDict``.

    Raises:
        AISBenchInvalidTypeException: Something is of another type than it has to be.
    """

    def __init__(  # noqa: PLR0917 - upstream's signature
        self,
        dataset: Any,
        input_columns: Sequence[str] | str,
        output_column: str | None,
        input_template: Any = None,
        output_template: Any = None,
        train_split: str = "train",
        train_range: opencompass.Range = None,
        test_split: str = "test",
        test_range: opencompass.Range = None,
    ) -> None:
        check_type_list(input_columns, [list, str])
        if output_column:
            check_str(output_column)
        for size in (train_range, test_range):
            check_type_list(size, [None, int, float, str])
        if not isinstance(dataset, (list, Mapping)):  # lists of rows, which loaders here give where columns are mixed
            check_dataset(dataset)
        super().__init__(dataset, input_columns, output_column, input_template, output_template, train_split,
                         None, test_split, None)  # fmt: skip
        ranges = {"train": train_range, "test": test_range}
        self.dataset = {name: load_partial_dataset(rows, ranges[name]) for name, rows in self.dataset.items()}
        from datasets import Dataset, DatasetDict

        if all(isinstance(each, Dataset) for each in self.dataset.values()):
            self.dataset = DatasetDict(self.dataset)

    def __repr__(self) -> str:
        """Return rows and columns, as logs show them."""
        columns = f"input_columns: {self.input_columns},\n    output_columns: {self.output_column}"
        return f"DatasetReader({{\n    dataset: {self.dataset},\n    {columns}\n}})"

    def get_max_out_len(self) -> Any:
        """Return how many tokens each answer may have; ``None`` where the rows do not say it."""
        return self._asked("max_out_len")

    def get_timestamp(self) -> Any:
        """Return when each row is asked, in milliseconds; ``None`` where the rows do not say it."""
        return self._asked("timestamp")

    def _asked(self, column: str) -> Any:
        rows = self.dataset["test"]
        known = getattr(rows, "features", None) or (rows[0] if len(rows) else {})
        if column not in self.input_columns or column not in known:
            return None
        return [row[column] for row in rows]


class BaseDataset(opencompass.BaseDataset):
    """Base of datasets: override :meth:`load`.

    Args:
        reader_cfg: What the reader is made with.
        k: How many of the repeats a score looks at: one number, or several.
        n: How often every row is asked; the rows stand repeated one by one, with ``subdivision`` and ``idx``.
        task_state_manager: What is told of progress.
        **kwargs: ``abbr``, the name; everything else is :meth:`load`'s.

    Raises:
        ParameterValueError: ``k`` is more than ``n``.
    """

    def __init__(
        self,
        reader_cfg: Mapping[str, Any] | None = None,
        k: int | Sequence[int] = 1,
        n: int = 1,
        task_state_manager: Any = None,
        **kwargs: Any,
    ) -> None:
        self.logger = AISLogger()
        self.task_state_manager = task_state_manager
        most = k if isinstance(k, int) else max(k)
        if most > n:
            code = error_codes.DSET_CODES.INVALID_REPEAT_FACTOR  # type: ignore[attr-defined]
            raise errors.ParameterValueError(code, f"k is {most}, and there are {n} answers to a row")  # type: ignore[attr-defined]
        self.abbr = kwargs.pop("abbr", "dataset")
        self.dataset: Any = self.load(**kwargs)
        self._init_reader(**(reader_cfg or {}))
        self.repeated_dataset(self.abbr, n)

    def _init_reader(self, **kwargs: Any) -> None:
        self.reader: Any = DatasetReader(self.dataset, **kwargs)

    def _init_task_state_manager(self, task_state_manager: Any) -> None:
        self.task_state_manager = task_state_manager

    def update_task_state(self, state: dict[str, Any]) -> None:
        """Say how far the work is, where somebody is told."""
        if self.task_state_manager is None:
            self.logger.warning("nobody is told of progress: there is no task_state_manager")
        else:
            self.task_state_manager.update_task_state(state)

    def repeated_dataset(self, abbr: str, n: int) -> None:
        """Give every row its position and its dataset's name, and put it ``n`` times in a row."""
        self.reader.dataset = self.dataset = opencompass.repeated(self.reader.dataset, abbr, n, in_blocks=False)


class BaseJDGDataset(BaseDataset):
    """Rows together with what a model answered, for a judge: override the two methods that raise here.

    Args:
        reader_cfg: What the reader is made with.
        k, n: As of :class:`BaseDataset`.
        task_state_manager: What is told of progress.
        **kwargs: As of :class:`BaseDataset`, and ``predictions_path``: where the answers are.
    """

    def __init__(
        self,
        reader_cfg: Mapping[str, Any] | None = None,
        k: int | Sequence[int] = 1,
        n: int = 1,
        task_state_manager: Any = None,
        **kwargs: Any,
    ) -> None:
        self.dataset_instance = self._init_org_datasets_instance(reader_cfg, k, n, task_state_manager, **kwargs)
        super().__init__(reader_cfg, k, n, task_state_manager, **kwargs)

    def load(self, predictions_path: str = "", **kwargs: Any) -> Any:
        """Return the rows that have an answer, each with the answer, in the order of the answers' ids.

        Raises:
            ValueError: The rows are neither a dataset nor splits of one.
        """
        from datasets import Dataset, DatasetDict

        del kwargs  # where the rows are, which the dataset itself has read
        content = self.dataset_instance.dataset["test"]
        predictions = self._load_from_predictions(predictions_path)
        if isinstance(content, Dataset):
            return self._process_predictions([content], predictions)
        if isinstance(content, DatasetDict):
            return self._process_predictions(list(content.values()), predictions)
        raise ValueError(f"rows for a judge are a dataset or splits of one, not {type(content).__name__}")

    def _process_predictions(self, datasets_to_process: Sequence[Any], predictions: Sequence[Any]) -> Any:
        from datasets import Dataset

        rows = [self._process_single_item(each, answer) for each in datasets_to_process for answer in predictions]
        self._tell(len(rows))
        return Dataset.from_list(sorted(rows, key=lambda row: row["model_pred_uuid"]))

    def _tell(self, count: int) -> None:
        told = {"total_count": count, "progress_description": "Processing predictions", "finish_count": count}
        if self.task_state_manager is not None:
            self.update_task_state(told)

    def _process_single_item(self, dataset_content: Any, pred_item: Mapping[str, Any]) -> dict[str, Any]:
        row: dict[str, Any] = dict(dataset_content[int(pred_item["id"])])
        self._modify_dataset_item(row, pred_item)
        row["model_pred_uuid"] = pred_item["uuid"]
        return row

    def _modify_dataset_item(self, dataset_item: dict[str, Any], pred_item: Mapping[str, Any]) -> None:
        dataset_item["model_answer"] = pred_item["prediction"]

    def _load_from_predictions(self, prediction_path: str) -> list[Any]:
        raise DataError("a dataset for a judge needs a method '_load_from_predictions'", why=f"of {prediction_path}")

    def _get_dataset_class(self) -> Any:
        raise DataError("a dataset for a judge needs a method '_get_dataset_class'", why="it judges rows of a dataset")

    def _init_org_datasets_instance(
        self,
        reader_cfg: Mapping[str, Any] | None = None,
        k: int | Sequence[int] = 1,
        n: int = 1,
        task_state_manager: Any = None,
        **kwargs: Any,
    ) -> Any:
        return self._get_dataset_class()(reader_cfg, k, n, task_state_manager, **kwargs)


__all__ = [
    "JDG_DATASET_LOAD_BATCH_SIZE",
    "BaseDataset",
    "BaseJDGDataset",
    "DatasetReader",
    "load_partial_dataset",
    "logger",
]
