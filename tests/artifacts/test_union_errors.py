"""Fields that take one thing or another say once what is wrong, at the field."""

from typing import Any

import pytest

from proctor.artifacts import Artifact
from proctor.errors import ValidationError


class BranchWheel(Artifact):
    size: int = 1


class BranchSail(Artifact):
    size: int = 1


class BranchVehicle(Artifact):
    moves_on: BranchWheel | BranchSail | list[BranchWheel | BranchSail] | None = None
    speed: int | list[int] = 1
    names: dict[str, Any] = {}


def problems(**given):
    with pytest.raises(ValidationError) as raised:
        BranchVehicle(**given)
    return [(each.path, each.what) for each in raised.value.diagnostics]


def test_a_name_that_no_catalog_has_is_said_once():
    assert problems(moves_on="wheels.nowhere") == [("$.moves_on", "no catalog has 'wheels.nowhere'")]


def test_in_a_list_the_entry_is_named():
    assert problems(moves_on=[BranchWheel(), "wheels.nowhere"]) == [
        ("$.moves_on[1]", "no catalog has 'wheels.nowhere'")
    ]


def test_what_fits_nothing_is_told_what_would():
    ((path, what),) = problems(moves_on=5)
    assert path == "$.moves_on"
    for kind in ("BranchWheel", "BranchSail", "list"):
        assert kind in what
    ((path, what),) = problems(speed="fast")
    assert path == "$.speed"
    assert "valid integer" in what
    assert "valid list" in what


def test_one_wrong_number_in_a_list():
    ((path, _),) = problems(speed=[1, "fast"])
    assert path == "$.speed[1]"


def test_all_fields_are_reported():
    assert [path for path, _ in problems(moves_on="wheels.nowhere", speed="fast", nams={})] == [
        "$.moves_on",
        "$.speed",
        "$.nams",
    ]
