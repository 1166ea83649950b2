"""Artifacts of the user's own program, known again by the text that rows hold of them."""

from collections.abc import Iterable

import pytest

from proctor.artifacts import fetch_artifact, own_texts
from proctor.artifacts.artifact import Artifact
from proctor.artifacts.own_texts import own_text
from proctor.artifacts.registry import registry
from proctor.effects import Author, Effect, written_by


class AskingPart(Artifact):
    host: str
    key: str = ""

    def effects(self) -> Iterable[Effect]:
        return [Effect("net", self.host)]

    def to_dict(self) -> dict[str, str]:
        return {"__type__": self.type_name(), "host": self.host}


class AskingWhole(Artifact):
    part: AskingPart


class Computing(Artifact):
    number: int = 0


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(own_texts, "_made", {})
    for each in (AskingPart, AskingWhole, Computing):
        registry.register(each)


def test_it_comes_back_as_the_users_own_with_what_is_not_saved():
    whole = AskingWhole(part=AskingPart(host="a", key="k"))
    text = own_text(whole)
    found = fetch_artifact(text)
    assert text == whole.to_json()
    assert found is not whole
    assert (found.author, found.part.author, found.part.key) == (None, None, "k")


def test_the_same_built_twice_is_known_and_what_differs_in_secret_is_not():
    first, again, other = (own_text(AskingPart(host="a", key=key)) for key in ("k", "k", "other"))
    assert first == again == other
    assert fetch_artifact(first).author == Author()
    assert own_text(AskingPart(host="a", key="k")) == first
    assert fetch_artifact(first).author == Author()


def test_texts_of_strangers_stay_theirs():
    text = own_text(AskingPart(host="a", key="k"))
    assert fetch_artifact(text.replace('"a"', '"b"')).author == Author()
    assert fetch_artifact(text, {"key": "k"}).author == Author()
    with written_by(Author("exam.json")):
        assert fetch_artifact(text).author == Author("exam.json")


def test_what_a_stranger_wrote_is_not_remembered_and_his_part_stays_his():
    with written_by(Author("exam.json")):
        part = AskingPart(host="a")
    assert fetch_artifact(own_text(part)).author == Author()
    found = fetch_artifact(own_text(AskingWhole(part=part)))
    assert (found.author, found.part.author) == (None, Author("exam.json"))


def test_what_only_computes_is_built_anew():
    assert fetch_artifact(own_text(Computing(number=1))).author == Author()
    assert own_texts._made == {}


def test_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr(own_texts, "_MOST", 2)
    texts = [own_text(AskingPart(host=host, key="k")) for host in "abc"]
    assert [fetch_artifact(text).author for text in texts] == [Author(), None, None]
