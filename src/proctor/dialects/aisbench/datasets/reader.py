"""``reader_cfg``: which rows are asked about, which are examples, and which columns they must have."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from proctor.data.lazy_rows import AnyRow, LazyRows, picked
from proctor.dialects.aisbench.datasets.dataset_spec import shuffled_positions
from proctor.dialects.aisbench.datasets.splits import WHOLE, Splits
from proctor.dialects.aisbench.values import location_of, short_name, texts_in
from proctor.errors import DataError, Diagnostic, Location, MissingFieldError, did_you_mean
from proctor.ir import Failure
from proctor.logs import get_logger

_BLIND_RETRIEVERS = {"ZeroRetriever", "FixKRetriever", "RandomRetriever", "SlidingWindowRetriever"}
_TEMPLATES = ("prompt_template", "ice_template")
OPTIONAL = {"max_out_len", "timestamp", "model_answer"}
"""Columns that upstream names in ``input_columns`` and uses where the data has them."""
_LOOKED_AT = 10
_ANY_LENGTH = 1 << 40  # rows of a split that is longer than any
"""Rows among which one is looked for that can be used; without one among the first ten the exam is refused anyway."""


def columns_of(reader: Mapping[str, Any], place: Location | None = None) -> tuple[list[str], str | None]:
    """Return the input columns and the output column of a ``reader_cfg``.

    Raises:
        DataError: They are not names.
    """
    inputs, output = reader.get("input_columns", []), reader.get("output_column")
    names = inputs.split() if isinstance(inputs, str) else list(inputs)
    if not all(isinstance(name, str) for name in names) or not isinstance(output, str | None):
        raise DataError(
            "columns of a reader_cfg are not names",
            location=place,
            why=f"input_columns={inputs!r}, output_column={output!r}",
        )
    return names, output or None


def check_columns(
    rows: Sequence[AnyRow],
    reader: Mapping[str, Any],
    infer: Mapping[str, Any] | None = None,
    place: Location | None = None,
) -> None:
    """Check that rows have the columns that a ``reader_cfg`` names.

    An input column that no template and no retriever reads is only warned of: some of upstream's own configs name one.

    Args:
        reader: The ``reader_cfg``.
        infer: The ``infer_cfg``.
        place: Where the config is.

    Raises:
        MissingFieldError: They lack one.
    """
    row = next((row for row in islice(rows, _LOOKED_AT) if not isinstance(row, Failure)), None)
    if row is None:
        return
    inputs, output = columns_of(reader, place)
    wanted = [*inputs, *([output] if output else [])]
    filled = FILLED if _has_media(infer) else frozenset()
    lacking = [name for name in dict.fromkeys(wanted) if name not in {*row, *OPTIONAL, *filled}]
    missing = [name for name in lacking if name == output or _reads(infer, name)]
    if unread := [name for name in lacking if name not in missing]:
        listed = ", ".join(map(repr, unread))
        get_logger().warning("the data has no column %s, which reader_cfg names and nothing reads", listed)
    if missing:
        kind = "output_column" if missing == [output] else "reader_cfg"
        raise MissingFieldError(
            f"the data has no column {', '.join(map(repr, missing))}, which the {kind} names",
            location=place,
            why=f"the columns are {', '.join(map(repr, row))}",
            hint=did_you_mean(missing[0], map(str, row)),
        )
    if infer:
        _check_places(infer, row, place)


def _check_places(infer: Mapping[str, Any], row: Mapping[str, Any], place: Location | None) -> None:
    """Say which names in braces the prompt keeps, as upstream keeps them; refuse one in which nothing is filled.

    Raises:
        MissingFieldError: Not one of its places is a column, so that every row is asked the same.
    """
    part = infer.get("prompt_template") or infer.get("ice_template")
    kind = short_name(part.get("type", "")) if isinstance(part, Mapping) else ""
    if kind in _FILLED_BY_NAME or _has_media(infer):
        words = [infer.get("prompt_template"), infer.get("ice_template")]
        kept_places("the prompt", words, _FILLED_BY_NAME.get(kind) or {*row, *FILLED})
        return
    asking = short_name((infer.get("inferencer") or {}).get("type", ""))
    if not isinstance(part, Mapping) or kind not in _OF_COLUMNS or _TALKS.search(asking):
        return
    words = [part.get("template"), part.get("messages")]
    text = "\n".join(texts_in(words))
    kept = [name for name in dict.fromkeys(_PLACE.findall(text)) if name not in row]
    if "expand_column" not in str(words) and not any(f"{{{name}}}" in text for name in row):
        listed = ", ".join(f"'{{{name}}}'" for name in kept)
        said = f"the data has no column for {listed}, and the prompt shows no other" if kept else "it shows no column"
        raise MissingFieldError(
            f"{said}: every row would be asked the same",
            location=location_of(part) or place,
            path="$.infer_cfg.prompt_template",
            why=f"the columns are {', '.join(map(repr, row))}",
            hint=did_you_mean(kept[0], map(str, row)) if kept else f"'{{{next(iter(row))}}}'",
        )
    kept_places("the prompt", [words, infer.get("ice_template")], row)


def kept_places(what: str, part: object, columns: Container[str]) -> None:
    """Say which names in braces stay as they are in words of a config, as upstream leaves them.

    Args:
        what: How the message calls the words.
        part: Where they are.
        columns: What is filled in.
    """
    named = dict.fromkeys(_PLACE.findall("\n".join(texts_in(part))))
    if kept := ", ".join(f"'{{{name}}}'" for name in named if name not in columns):
        get_logger().warning("%s shows %s as it stands: the data has no such column", what, kept)


_TALKS = re.compile("Chat|FunctionCall")  # inferencers whose rows are whole conversations
_OF_COLUMNS = ("PromptTemplate", "RawPromptTemplate", "")
_FILLED_BY_NAME = {"MultiTurnPromptTemplate": frozenset({"question", "answer"})}
"""What templates fill that read columns of these names, whatever the reader says."""
_PLACE = re.compile(r"(?<![\w\\{}\]^])\{([A-Za-z_]\w*)\}(?!\})")
"""A name in braces, where it is not part of a formula: ``\\frac{a}{b}``, ``x_{i}``, ``x^{n}``."""


FILLED = frozenset({"question", "image", "video", "audio"})
"""What a multimodal template is filled with from the column that has content with tags, whatever it is called."""


def _has_media(infer: Mapping[str, Any] | None) -> bool:
    return "prompt_mm" in str([(infer or {}).get(part) for part in _TEMPLATES])


def _reads(infer: Mapping[str, Any] | None, column: str) -> bool:
    """Whether a template of an ``infer_cfg`` has a place for a column, or its retriever reads all of them."""
    if not infer:
        return True
    retriever = (infer.get("retriever") or {}).get("type", "")
    name = str(getattr(retriever, "name", retriever)).rpartition(".")[2]
    return name not in _BLIND_RETRIEVERS or f"{{{column}}}" in str([infer.get(part) for part in _TEMPLATES])


def partial(rows: Sequence[AnyRow], size: object, name: str, place: Location | None = None) -> Sequence[Any]:
    """Return the part of a split that ``test_range`` or ``train_range`` names.

    Args:
        rows: The split.
        size: ``None``; a count or a fraction, for rows drawn at random with the count as the seed; or text with slices
            and lists of positions, applied one after the other: ``[0:100]``, ``[:100][::2]``, ``[3, 1, 4]``.
        name: Of the option, for errors.
        place: Where the config is.

    Raises:
        DataError: It is none of these.
    """
    if size is None:
        return rows
    if isinstance(size, str):
        return picked(_positions(size, len(rows), name, place), rows)
    if isinstance(size, bool) or not isinstance(size, int | float):
        raise DataError(f"{name} is {size!r}", location=place, why="it is a count, a fraction, or text as in '[0:100]'")
    if size >= len(rows) or size <= 0:
        return rows
    count = int(size * len(rows)) if size < 1 else size
    if not isinstance(count, int):
        raise DataError(f"{name} is {size!r}", location=place, why="a fraction lies between 0 and 1")
    return picked(shuffled_positions(len(rows), count), rows)


def range_problems(
    reader: Mapping[str, Any], place: Location | None = None, part: str = "$.reader_cfg"
) -> Iterator[Diagnostic]:
    """Yield ``test_range`` and ``train_range`` that no split has, however long it is."""
    for name in ("test_range", "train_range"):
        size = reader.get(name)
        try:
            if isinstance(size, str):
                if not _positions(size, _ANY_LENGTH, name, place):
                    why = "it ends before it begins"
                    yield Diagnostic(f"{name} '{size}' takes no row", place, f"{part}.{name}", why)
            elif size is not None:
                partial((), size, name, place)
                if size <= 0 or (isinstance(size, float) and size > 1 and not size.is_integer()):
                    why = "it is a count from 1 on, or a fraction between 0 and 1; upstream takes all rows for 0"
                    yield Diagnostic(f"{name} is {size!r}", place, f"{part}.{name}", why)
        except DataError as error:
            yield from (each.at(place, f"{part}.{name}") for each in error.diagnostics)


def _positions(text: str, count: int, name: str, place: Location | None) -> Sequence[int]:
    wrong = DataError(
        f"{name} '{text}' is not a range",
        location=place,
        why="only slices and lists of positions are read; nothing is evaluated",
        hint="write it as in '[0:100]' or '[0:100][::2]'",
    )
    try:
        node: ast.expr = ast.parse(f"x{text.strip()}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise wrong from None
    steps: list[ast.expr] = []
    while isinstance(node, ast.Subscript):
        steps.append(node.slice)
        node = node.value
    if not isinstance(node, ast.Name) or node.id != "x":
        raise wrong
    positions: Sequence[int] = range(count)
    for step in reversed(steps):
        positions = _step(step, positions, wrong)
    return positions


def _step(node: ast.expr, positions: Sequence[int], wrong: DataError) -> Sequence[int]:
    try:
        if isinstance(node, ast.Slice):
            bounds = [None if part is None else ast.literal_eval(part) for part in (node.lower, node.upper, node.step)]
            return positions[slice(*bounds)]
        chosen = ast.literal_eval(node)
        listed = list(chosen) if isinstance(chosen, list | tuple) else [chosen]
        return [positions[index] for index in listed]
    except (TypeError, ValueError, IndexError):
        raise wrong from None


def mapped_splits(
    splits: Splits, reader: Mapping[str, Any], place: Location | None = None
) -> dict[str, Callable[[], Sequence[Any]]]:
    """Return ``train`` and ``test`` as a ``reader_cfg`` makes them of a dataset's splits.

    A dataset without splits is both. The train split is made first, and a dataset's split of that name is then the part
    that was chosen, as upstream.

    Raises:
        DataError: The test split does not exist.
    """
    available = dict(splits)
    if set(available) == {WHOLE}:
        whole = LazyRows(splits[WHOLE])
        available = {"train": lambda: whole, "test": lambda: whole}
    for mapped in ("train", "test"):
        origin = reader.get(f"{mapped}_split") or mapped
        option = f"{mapped}_range"
        if origin in available:
            read = LazyRows(available[origin])
            available[mapped] = functools.partial(partial, read, reader.get(option), option, place)
        else:
            available[mapped] = _absent(origin, mapped, list(splits), place)
    return available


def _absent(origin: str, mapped: str, known: Sequence[str], place: Location | None) -> Callable[[], Sequence[Any]]:
    def read() -> Sequence[Any]:
        raise DataError(
            f"the dataset has no split '{origin}'",
            location=place,
            why=f"its splits are {', '.join(map(repr, known))}",
            hint=did_you_mean(origin, known) or f"set {mapped}_split in reader_cfg",
        )

    return read
