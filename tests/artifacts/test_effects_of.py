"""Effects of artifacts: those that strangers wrote, each once."""

from __future__ import annotations

from collections.abc import Iterable

from proctor.artifacts import Artifact
from proctor.artifacts.effects_of import effects_of, parts_of
from proctor.effects import Author, Effect, written_by


class Reader(Artifact):
    """An artifact that reads a file."""

    file: str
    inner: list[Artifact] = []
    named: dict[str, Artifact] = {}

    def effects(self) -> Iterable[Effect]:
        return (Effect("hub", self.file, "reader"),)


def test_what_a_program_builds_has_no_effects_that_anybody_has_to_allow() -> None:
    assert effects_of(Reader("a", [Reader("b")])) == []


def test_effects_of_parts_are_those_of_their_authors_each_once() -> None:
    with written_by(Author("task.yaml")):
        strange = [Reader("b"), Reader("c"), Reader("b")]
    mine = Reader("a", strange, {"x": Reader("d")})
    assert [each.target for each in effects_of(mine)] == ["b", "c"]


def test_parts_are_found_in_lists_and_mappings_in_order_each_once() -> None:
    b, c, d = Reader("b"), Reader("c"), Reader("d")
    found = [each.file for each in parts_of(Reader("a", [b, c, b], {"x": d}))]
    assert found == ["a", "b", "c", "d"]
