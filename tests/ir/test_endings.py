"""Why a model stopped writing, in the words of every service."""

from __future__ import annotations

import pytest

from proctor.ir import Failure, Response, Timing, Usage
from proctor.ir.endings import is_cut_off, is_filtered_end, is_known_end, without_filtered


@pytest.mark.parametrize(
    "reason, is_cut, is_filtered",
    [
        ("length", True, False),
        ("MAX_TOKENS", True, False),
        ("max_output_tokens", True, False),
        ("stop", False, False),
        ("", False, False),
        ("tool_calls", False, False),
        ("content_filter", False, True),
        ("SAFETY", False, True),
        ("content_filter: X", False, True),
        (f"refusal{' ' * 200}x", False, True),
        (f"{' ' * 200}refusal", False, False),
        ("eos", False, False),
    ],
)
def test_reasons_of_all_services(reason: str, is_cut: bool, is_filtered: bool) -> None:
    assert (is_cut_off(reason), is_filtered_end(reason)) == (is_cut, is_filtered)


def test_an_answer_that_was_filtered_is_none() -> None:
    usage, timing = Usage(1, 2), Timing(3.0, 4.0)
    found = without_filtered(Response(("a", "b"), finish_reasons=("stop", "safety"), usage=usage, timing=timing))
    said = "the answer was refused or filtered (it ended with 'safety'): it is not graded"
    assert found == Response(failure=Failure("content_filter", said, retryable=False), usage=usage, timing=timing)
    answered = Response(("a",), finish_reasons=("length",))
    assert without_filtered(answered) is answered


@pytest.mark.parametrize(
    "reason, is_known",
    [
        *((each, True) for each in ("stop", "", "END_TURN", "length", "max_tokens")),
        *((each, False) for each in ("SAFETY", "insufficient_system_resource", "network_error")),
    ],
)
def test_what_ends_for_another_reason_is_no_answer(reason: str, is_known: bool) -> None:
    assert is_known_end(reason) is is_known
