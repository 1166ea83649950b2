"""What programs ask of all artifacts."""

from __future__ import annotations

from pathlib import Path

import pytest

from proctor.artifacts import Artifact, fetch_artifact
from proctor.scoring.metrics.accuracy import Accuracy


class OfThisTest(Artifact):
    """A class of a program's."""

    a: int = 1
    b: str | None = None


def test_classes_are_known_by_type_and_by_name() -> None:
    assert Artifact.is_registered_type("of_this_test")
    assert Artifact.is_registered_class_name("OfThisTest")
    assert Artifact.is_registered_class(OfThisTest)
    assert Artifact.is_registered_class(Accuracy)
    assert not Artifact.is_registered_class_name("OfNoTest")
    assert not Artifact.is_registered_class(int)
    assert not Artifact.is_registered_class("of_this_test")


def test_the_register_is_a_mapping_of_types_to_classes() -> None:
    register = Artifact._class_register
    assert register["of_this_test"] is OfThisTest
    assert register["accuracy"] is Accuracy
    assert {"accuracy", "of_this_test"} <= set(register)
    assert len(register) == len(list(register))
    assert "of_no_test" not in register
    assert 1 not in register
    with pytest.raises(KeyError):
        register["of_no_test"]


def test_a_file_holds_an_artifact_or_does_not(tmp_path: Path) -> None:
    OfThisTest(a=2).save(tmp_path / "a.json")
    (tmp_path / "list.json").write_text("[1]")
    (tmp_path / "text.json").write_text("no JSON")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\xfa")
    found = [
        name for name in ("a", "list", "text", "bytes", "gone") if Artifact.is_artifact_file(tmp_path / f"{name}.json")
    ]
    assert found == ["a"]
    assert not Artifact.is_artifact_file(tmp_path)


def test_an_artifact_is_its_name_where_it_has_one() -> None:
    assert fetch_artifact("metrics.accuracy").serialize() == "metrics.accuracy"
    made = OfThisTest(a=2)
    assert made.serialize() == made.to_json()
    assert made.get_repr_dict() == {"a": 2, "b": None}
