"""Chains of relatives: who is told of, in which order, what is asked, and who is right."""

from types import SimpleNamespace

import pytest

from proctor.dialects.aisbench.datasets.generators import ancestors
from proctor.errors import DataError

PEOPLE = [f"P{n}" for n in range(12)]
TEXTS = {
    "relationship_templates_en": ["{A} is {B}'s {relationship}."], "relationship_terms_en": ["father"],
    "relationship_generation_map_en": {"father": 2},
    "shuffled_story_with_prompt_en": "{shuffled_story}|eldest of {last_person}",
    "nth_ancestor_prompt_en": "{shuffled_story}|{n} above {person}", "nth_descendant_prompt_en": "{shuffled_story}|{n} below {person}",
    "relationship_distance_prompt_en": "{shuffled_story}|{person_a} to {person_b}",
}  # fmt: skip


@pytest.fixture
def asked(monkeypatch):
    """Ask a kind of question about chains of made-up people."""
    words = {"templates": {"English": TEXTS["relationship_templates_en"]}, "terms": {"English": ["father"]},
             "questions": {"English": "Who is the eldest of {last}?"}, "examples": {"English": " EXAMPLES"}}  # fmt: skip
    monkeypatch.setattr(ancestors, "_people", lambda source: PEOPLE)
    monkeypatch.setattr(ancestors, "constants", lambda module: TEXTS)
    monkeypatch.setattr(ancestors, "prompt_texts", lambda name: words)
    monkeypatch.setattr(ancestors, "_ENDS", {"English": "en"})

    def ask(kind, **arguments):
        given = {"path": "p", "language": "English", "num_needles": 3, "repeats": 2, **arguments}
        return getattr(ancestors, kind)(SimpleNamespace(arguments=given))

    return ask


def chain(story):
    """The people of a story, from the eldest on."""
    parents = dict(
        reversed(each.split(" is ")) for each in (part.strip(" .\n") for part in story.split(".")) if " is " in each
    )
    parents = {child.removesuffix("'s father"): parent for child, parent in parents.items()}
    (eldest,) = set(parents.values()) - set(parents)
    found = [eldest]
    while children := [child for child, parent in parents.items() if parent == found[-1]]:
        found += children
    return found


def test_the_eldest_of_a_chain_is_right(asked):
    for row in asked("old"):
        people = chain(row["prompt"].partition(" Who")[0])
        assert len(people) == 3
        assert row["answer"] == f"{people[0]}*{people[0]}"
        assert row["prompt"].endswith(f"Who is the eldest of {people[-1]}? EXAMPLES")
    for row in asked("eldest"):
        story, _, last = row["prompt"].partition("|eldest of ")
        people = chain(story)
        assert (row["answer"], last) == (people[0], people[-1])


@pytest.mark.parametrize("needles", [2, 5])
def test_options_are_four_people_in_four_orders(asked, needles):
    found = asked("choice", num_needles=needles)
    assert len(found) == 8
    assert all(len({*row["options"]}) == 4 for row in found)
    people = chain(found[0]["question"].partition(" Who")[0])
    assert [row["options"]["ABCD".index(row["answer"].split("--")[1])] for row in found[:4]] == [people[0]] * 4
    assert [row["answer"][0] for row in found] == list("00001111")


@pytest.mark.parametrize(
    "kind, said",
    [
        ("ELDEST_ANCESTOR", lambda people, n: (f"eldest of {people[-1]}", people[0])),
        ("NTH_ANCESTOR", lambda people, n: (f"{n} above {people[-1]}", people[0])),
        ("NTH_DESCENDANT", lambda people, n: (f"{n} below {people[0]}", people[-1])),
        ("RELATIONSHIP_DISTANCE", lambda people, n: (f"{people[0]} to {people[-1]}", str(n))),
    ],
)
def test_kinds_of_questions(asked, kind, said):
    found = asked("kinds", question_types=[kind])
    assert [each["question_type"] for each in found] == [kind] * 2
    for row in found:
        story, _, question = row["prompt"].partition("|")
        people = chain(story)
        assert len(people) == 4
        assert (question, row["answer"]) == said(people, 2 * 3)


def test_all_kinds_are_asked_unless_some_are_named(asked):
    assert len(asked("kinds", repeats=1)) == 4
    named = SimpleNamespace(name="QuestionType.NTH_ANCESTOR")
    assert [each["question_type"] for each in asked("kinds", repeats=1, question_types=[named])] == ["NTH_ANCESTOR"]
    for wrong in ([], ["other"]):
        with pytest.raises(DataError, match="question_types are"):
            asked("kinds", question_types=wrong)
    assert asked("kinds") == asked("kinds")
