"""Dataset types of configs: from ``type=ARCDataset`` and its arguments to rows.

Known types are data (``types.json``), not classes: which files make which splits, and the columns as expressions. Files
come from the user's folders or, where they are not there, from a hub dataset with the same rows (``hub.json``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from proctor.data.lazy_rows import AnyRow, LazyRows, RepeatedRows
from proctor.dialects.aisbench.datasets.dataset_specs import argument_names, spec_names, spec_of
from proctor.dialects.aisbench.datasets.hub_loads import loaded_splits
from proctor.dialects.aisbench.datasets.mapping import VARIABLE, mapped_dataset
from proctor.dialects.aisbench.datasets.reader import check_columns, mapped_splits
from proctor.dialects.aisbench.datasets.splits import WHOLE, Splits
from proctor.dialects.aisbench.datasets.trusted import class_splits, imported
from proctor.dialects.aisbench.values import Reference, dotted_name
from proctor.errors import DataError, Location, ProctorError, TrustError, did_you_mean
from proctor.settings import settings

_PROJECTS = {"opencompass": "opencompass", "ais_bench": "aisbench"}
# What upstream takes for itself before it calls the class with the rest.
_OUTSIDE = frozenset({"type", "abbr", "reader_cfg", "infer_cfg", "judge_infer_cfg", "eval_cfg", "k", "n", "clusters"})


@dataclass(frozen=True, slots=True)
class DatasetRows:
    """Rows of a dataset after its ``reader_cfg``.

    Attributes:
        test: The rows that are asked about; with ``n`` runs, in the order in which upstream repeats them.
        index: The rows that examples are taken from; read when they are looked at.
        in_blocks: Whether the whole was repeated, rather than each row.
    """

    test: Sequence[AnyRow]
    index: Sequence[Any]
    in_blocks: bool = False


def open_dataset(config: Mapping[str, Any], dataset_map: str | None = None, *, by_row: bool = False) -> DatasetRows:
    """Return the rows that a dataset config stands for.

    Args:
        config: One dataset of a config: ``type``, its arguments, ``reader_cfg``. The type is a name that the config
            imports, a string, or (where code is trusted) a class.
        dataset_map: The user's map of datasets; by default the one that ``PROCTOR_DATASET_MAP`` names.
        by_row: Whether ``n`` is what a model or a run says, not the dataset: the rows that ``reader_cfg`` leaves are
            asked about so often each, and demos are drawn as without it.

    Raises:
        DataError: The type is unknown, the files are not what they should be, or a range or a column is wrong.
        DatasetNotFoundError: The data is nowhere.
        TrustError: The type is a class of the config's own, and code is not trusted.
    """
    place = getattr(config, "location", None)
    reader = config.get("reader_cfg") or {}
    splits = dataset_splits(config, dataset_map)
    replicas = replace(Replicas.of(config), by_row=by_row)
    mapped = mapped_splits(replicas.before_ranges(splits), reader, place)
    test = replicas.after_ranges(mapped["test"](), "test")
    check_columns(test, reader, config.get("infer_cfg"), place)
    index = LazyRows(lambda: replicas.after_ranges(mapped["train"](), "train"))
    return DatasetRows(test, index, replicas.in_blocks)


@dataclass(frozen=True, slots=True)
class Replicas:
    """``n``: every row asked several times, and the two columns that upstream adds to each row.

    OpenCompass repeats the whole dataset, AISBench each row; the one before ranges are taken, the other after. Both
    repeat the rows that demos come from, too, unless a model says how often (``num_return_sequences``).
    """

    abbr: str
    runs: int
    project: str
    by_row: bool = False

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Replicas:
        """Return what a dataset config says.

        Raises:
            DataError: ``n`` or a ``k`` is not a positive whole number, or a ``k`` is larger.
        """
        runs, k = config.get("n", 1), config.get("k", 1)
        sizes = list(k) if isinstance(k, list | tuple) else [k]
        if not all(map(_is_count, (runs, *sizes))) or not sizes or max(sizes) > runs:
            place = getattr(config, "location", None)
            why = "both are whole numbers from 1 on, k also a list of them, and no k may be larger than n"
            raise DataError(f"k is {k!r} and n is {runs!r}", location=place, why=why)
        return cls(str(config.get("abbr", "dataset")), runs, project_of(config.get("type")))

    @property
    def in_blocks(self) -> bool:
        """Whether the whole is repeated, rather than each row."""
        return self.project != "aisbench" and not self.by_row

    def before_ranges(self, splits: Splits) -> Splits:
        """Return splits as ``reader_cfg`` finds them: in OpenCompass with the whole of each repeated."""
        if self.project == "aisbench":
            return splits
        return {name: partial(self._repeated, read, name) for name, read in splits.items()}

    def _repeated(self, read: Callable[[], Sequence[AnyRow]], split: str) -> Sequence[AnyRow]:
        times = 1 if self.by_row else self.runs
        origin = self.abbr if split == WHOLE else f"{self.abbr}_{split}"
        return RepeatedRows(read(), times, in_blocks=True, origin=origin)

    def after_ranges(self, rows: Sequence[AnyRow], name: str) -> Sequence[AnyRow]:
        """Return the rows that a ``reader_cfg`` chose: each one repeated where AISBench or a run repeats it."""
        if self.in_blocks:
            return rows
        times = 1 if self.by_row and name != "test" else self.runs
        return RepeatedRows(rows, times, origin=f"{self.abbr}_{name}" if self.project == "aisbench" else "")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def project_of(kind: object) -> str:
    """Return which project a type comes from: ``aisbench``, otherwise ``opencompass``."""
    return _PROJECTS.get(dotted_name(kind).partition(".")[0], "opencompass")


def type_arguments(kind: object) -> frozenset[str] | None:
    """Return the arguments that a dataset type reads; ``None`` where that is not known."""
    name = dotted_name(kind)
    return _arguments(name, project_of(kind)) if _is_upstream(name) and isinstance(kind, Reference | str) else None


def type_choices(kind: object) -> Mapping[str, Sequence[str]]:
    """Return what arguments of a dataset type may be, where it takes only some words."""
    known = spec_of(dotted_name(kind), project_of(kind)) if isinstance(kind, Reference | str) else None
    return {} if known is None else known.choices


@cache
def _arguments(name: str, project: str) -> frozenset[str] | None:
    known = spec_of(name, project)
    return None if known is None else argument_names(known)


def dataset_splits(config: Mapping[str, Any], dataset_map: str | None = None) -> Splits:
    """Return the splits of a dataset config before its ``reader_cfg``; each is read when it is asked for.

    Raises:
        DataError: The type is unknown.
        TrustError: It is a class of the config's own, and code is not trusted.
    """
    kind, place = config.get("type"), getattr(config, "location", None)
    name = dotted_name(kind)
    arguments = {key: value for key, value in config.items() if key not in _OUTSIDE}
    names = [str(each) for each in (config.get("abbr"), name.rpartition(".")[2], name, config.get("path")) if each]
    if (mapped := mapped_dataset(names, dataset_map)) is not None:
        return mapped
    known = spec_of(name, project_of(kind)) if _is_upstream(name) else None
    if known is not None:
        if known.files is not None:
            return known.splits(arguments, place)
        return known.over(loaded_splits(known.load_arguments(arguments), place), arguments)
    if isinstance(kind, Reference | str):
        if not settings.trust_code:
            raise _unknown(name, names, place)
        try:
            return class_splits(imported(name, place), arguments, place)
        except ImportError as error:
            raise _unknown(name, names, place, str(error)) from None
    if not settings.trust_code:
        raise TrustError(f"the dataset type {name} is code", location=place, hint="say --trust-code to run it")
    return class_splits(kind, arguments, place)


def _is_upstream(name: str) -> bool:
    return "." not in name or name.partition(".")[0] in _PROJECTS


_LOAD = "it makes requests to put a server under load; no answer to them is right or wrong"
_ELSEWHERE: Mapping[str, str] = {
    "SyntheticDataset": _LOAD,
    "ShareGPTDataset": _LOAD,
    "MooncakeTraceDataset": _LOAD,
    "GEditDataset": "its answers are pictures",
    "VLMEvalKitDataset": "the package vlmeval has the data, and prompts for each model",
    "CIBenchDataset": "its questions are notebooks that a model runs as it writes them",
}
"""Classes that are left to other programs, with the reason."""


def _unknown(name: str, names: Sequence[str], place: Location | None, why: str = "") -> ProctorError:
    short = name.rpartition(".")[2]
    if short in _ELSEWHERE:
        return DataError(f"datasets of the type '{short}' are not asked here", location=place, why=_ELSEWHERE[short])
    mapped = f'write the rows to a file and name it in a JSON file: {{"{names[0]}": "rows.jsonl"}}, '
    mapped = f"{mapped}then set {VARIABLE} to that JSON file"
    if not _is_upstream(name) and not why:
        return TrustError(
            f"the dataset type '{short}' is Python code: '{name}'",
            location=place,
            why="using this config would run it",
            hint=f"if you trust it, add --trust-code (or set PROCTOR_TRUST_CODE=1); else {mapped}",
        )
    return DataError(
        f"the dataset type '{short}' is not known",
        location=place,
        why=why or "its class would have to run to give the rows; that needs --trust-code",
        hint=f"{mapped}. {did_you_mean(short, spec_names())}".rstrip(),
    )
