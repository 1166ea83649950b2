"""Checks for operators, as the tutorials use them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from proctor.data.operator import StreamingOperator
from proctor.data.streams import MultiStream
from proctor.errors import ProctorError

Row = dict[str, Any]
Inputs = Sequence[Row] | dict[str, Sequence[Row]]


def apply_operator(operator: StreamingOperator, inputs: Inputs) -> list[Row]:
    """Return what an operator makes of rows (of all streams, one after the other)."""
    streams = inputs if isinstance(inputs, dict) else {"test": inputs}
    return [row for stream in operator(MultiStream.from_iterables(streams)).values() for row in stream]


def check_operator(
    operator: StreamingOperator,
    inputs: Inputs,
    targets: Sequence[Row] | dict[str, Sequence[Row]],
    tester: Any = None,
    sort_outputs_by: str | None = None,
) -> bool:
    """Check that an operator makes the expected rows; return ``True``.

    Args:
        operator: The operator.
        inputs: Rows, or rows of several streams.
        targets: The rows expected.
        tester: Accepted for old programs.
        sort_outputs_by: Compare in the order of this field.

    Raises:
        AssertionError: The first row that differs.
    """
    del tester
    expected = [row for rows in targets.values() for row in rows] if isinstance(targets, dict) else list(targets)
    made = apply_operator(operator, inputs)
    if sort_outputs_by is not None:
        made.sort(key=lambda row: row[sort_outputs_by])
        expected.sort(key=lambda row: row[sort_outputs_by])
    for number, (row, wanted) in enumerate(zip(made, expected, strict=False)):
        if row != wanted:
            raise AssertionError(f"row {number} differs\n  made:     {row}\n  expected: {wanted}")
    if len(made) != len(expected):
        raise AssertionError(f"{len(made)} rows were made, {len(expected)} were expected")
    return True


def check_operator_exception(
    operator: StreamingOperator,
    inputs: Inputs,
    exception_texts: Sequence[str],
    tester: Any = None,
) -> bool:
    """Check that an operator refuses rows, with these texts in its message; return ``True``.

    Raises:
        AssertionError: It does not, or says something else.
    """
    del tester
    try:
        apply_operator(operator, inputs)
    except ProctorError as error:
        missing = [text for text in exception_texts if text not in str(error)]
        if missing:
            raise AssertionError(f"the message does not say {missing[0]!r}: {error}") from error
        return True
    raise AssertionError("the operator accepted the rows")
