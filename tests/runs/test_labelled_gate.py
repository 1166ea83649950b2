"""When bounds of a corrected score decide."""

import math

import pytest

from proctor.errors import UsageError
from proctor.runs import labelled_gate as module


@pytest.mark.parametrize(
    "low, high, verdict",
    [
        (0.5, 0.9, "passed"),
        (0.49, 0.9, "undecided"),
        (0.1, 0.5, "undecided"),
        (0.1, 0.49, "failed"),
        (0.6, 0.6, "passed"),
    ],
)
def test_bounds_on_one_side_of_the_edge_decide(low, high, verdict):
    found = module._verdict(("exam", "acc"), (low, high), 0.5, (20, 3), is_less_better=False)
    assert (found.exam, found.verdict, found.metric, found.is_corrected) == ("exam", verdict, "acc", True)
    assert (found.questions, found.asked, found.failed) == (20, 20, 3)
    assert [getattr(found, name) for name in ("low", "high")] == [low, high]
    assert [*map(math.isnan, (found.model, found.difference))] == [True, True]
    assert found.baseline is None
    assert found.why == (module._MORE if verdict == "undecided" else "")


def test_scores_of_which_less_is_better_are_refused():
    with pytest.raises(UsageError, match="less of wer is better"):
        module._verdict(("exam", "wer"), (0.1, 0.2), 0.5, (20, 3), is_less_better=True)
