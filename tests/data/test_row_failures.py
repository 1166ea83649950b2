import pytest

from proctor.data.field_operators import CastFields
from proctor.data.row_failures import RowFailures, failures_so_far, filed
from proctor.data.streams import MultiStream
from proctor.errors import DataError, MissingExtraError, PolicyError

ROWS = {"test": [{"a": "1"}, {"a": "two"}, {"a": "3"}]}


def cast():
    return CastFields(fields={"a": "int"})(MultiStream.from_iterables(ROWS))["test"]


def test_a_row_that_cannot_be_used_ends_a_stream():
    with pytest.raises(DataError, match=r"test\[1\]"):
        list(cast())


def test_and_is_filed_where_somebody_collects():
    failures = RowFailures()
    with failures:
        assert [row["a"] for row in cast()] == [1, 3]
        assert failures_so_far() == 1
    assert failures_so_far() == 0
    (error,) = failures.take()
    assert "test[1]" in str(error)
    assert failures.take() == []
    assert failures.count == 1


def test_what_concerns_every_row_is_not_of_a_row():
    with RowFailures():
        assert not filed(PolicyError("may not be seen"))
        assert not filed(MissingExtraError("is not installed"))
    assert not filed(DataError("nobody collects"))
