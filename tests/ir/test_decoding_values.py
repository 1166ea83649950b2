"""Values of decoding: what no model can follow is found under every name."""

from __future__ import annotations

import pytest

from proctor.ir import wrong_value


@pytest.mark.parametrize(
    "given",
    [
        {"temperature": 0, "top_p": 1, "top_k": -1, "seed": -3, "max_tokens": 1, "do_sample": False},
        {"temperature": "0.7", "top_p": "0.9", "max_gen_toks": "64", "max_new_tokens": 12.0},
        {"temperature": None, "max_tokens": None, "do_sample": None, "min_p": "hot", "until": 5},
    ],
)
def test_what_can_be_passes(given: dict[str, object]) -> None:
    assert wrong_value(given) is None


@pytest.mark.parametrize(
    "name, value",
    [
        ("temperature", "hot"),
        ("temperature", -1),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
        ("temperature", True),
        ("temperature", [0.5]),
        ("top_p", 7),
        ("top_p", "most"),
        ("top_k", 2.5),
        ("top_k", -2),
        ("seed", "a"),
        ("max_tokens", 0),
        ("max_gen_toks", -3),
        ("max_new_tokens", 2.5),
        ("do_sample", "maybe"),
    ],
)
def test_what_cannot_be_is_named(name: str, value: object) -> None:
    found = wrong_value({"seed": 1, name: value} if name != "seed" else {name: value})
    assert found is not None
    assert (found.name, found.value if found.value == found.value else None) == (
        name,
        value if value == value else None,
    )
    assert found.expected
