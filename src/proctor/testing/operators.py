"""Checks for operators, as the tutorials use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.data.operator import StreamingOperator
from proctor.data.streams import MultiStream

Row = dict[str, Any]
Inputs = Sequence[Row] | dict[str, Sequence[Row]]


def apply_operator(
    operator: StreamingOperator, inputs: Inputs | None, return_multi_stream: bool = False, return_stream: bool = False
) -> Any:
    """Return the rows that an operator makes (of all streams, one after the other).

    Args:
        operator: The operator.
        inputs: Rows, or rows of several streams; ``None`` for operators that bring their own.
        return_multi_stream: Return the streams themselves.
        return_stream: Return the stream ``test`` itself.
    """
    streams = inputs if isinstance(inputs, dict) or inputs is None else {"test": inputs}
    made = operator() if streams is None else operator(MultiStream.from_iterables(streams, copying=True))
    if return_multi_stream:
        return made
    return made["test"] if return_stream else [row for stream in made.values() for row in stream]


def check_operator(
    operator: StreamingOperator,
    inputs: Inputs | None,
    targets: Sequence[Row] | dict[str, Sequence[Row]],
    tester: Any = None,
    sort_outputs_by: str | None = None,
) -> list[Row]:
    """Check that an operator makes the expected rows; return them.

    Args:
        operator: The operator.
        inputs: Rows, or rows of several streams; ``None`` for operators that bring their own.
        targets: The rows expected.
        tester: Accepted for old programs.
        sort_outputs_by: Compare in the order of this field.

    Raises:
        AssertionError: The first row that differs.
    """
    del tester
    expected = [row for rows in targets.values() for row in rows] if isinstance(targets, dict) else list(targets)
    made: list[Row] = apply_operator(operator, inputs)
    if sort_outputs_by is not None:
        made.sort(key=lambda row: row[sort_outputs_by])
        expected.sort(key=lambda row: row[sort_outputs_by])
    for number, (row, wanted) in enumerate(zip(made, expected, strict=False)):
        if row != wanted:
            raise AssertionError(f"row {number} differs\n  made:     {row}\n  expected: {wanted}")
    if len(made) != len(expected):
        raise AssertionError(f"{len(made)} rows were made, {len(expected)} were expected")
    return made
