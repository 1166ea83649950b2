"""Recipes as datasets of the package datasets."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from PIL import Image

from proctor.errors import TemplateError, UsageError
from proctor.recipes import create_dataset, dataset, load_dataset, load_recipe
from proctor.recipes.dataset import decode_batch, decode_row, rows_to_dataset
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

TEMPLATE = InputOutputTemplate(input_format="{text}", output_format="{label}")
TASK = Task(input_fields={"text": "str"}, reference_fields={"label": "str"}, prediction_type="str", metrics=[])


def card(count: int = 3) -> TaskCard:
    rows = [{"text": f"t{number}", "label": "y"} for number in range(count)]
    data = {"train": rows, "test": rows}
    return TaskCard(loader={"__type__": "load_from_dictionary", "data": data}, task=TASK, templates=[TEMPLATE])


def rows(*sources: str, images=()) -> list[dict]:
    media = {"images": list(images), "audios": []}
    return [
        {"source": source, "task_data": '{"a": 1}', "media": media, "metrics": ["m"], "references": [source]}
        for source in sources
    ]


def test_pages_are_joined_in_order(monkeypatch):
    monkeypatch.setattr(dataset, "_PAGE", 2)
    found = rows_to_dataset(iter(rows(*"abcde")))
    assert [row["source"] for row in found] == list("abcde")
    assert found[4]["references"] == ["e"]
    assert found[0]["metrics"] == ["m"]
    assert found.column_names == ["source", "task_data", "media", "metrics", "references"]
    assert len(rows_to_dataset([])) == 0


def test_a_fingerprint_follows_from_the_content():
    one, same, other = (rows_to_dataset(rows(*texts)) for texts in ("ab", "ab", "ac"))
    assert one._fingerprint == same._fingerprint != other._fingerprint
    different = rows("a", "b")
    different[0]["task_data"] = "{}"
    assert rows_to_dataset(different)._fingerprint != one._fingerprint


def test_the_description_says_what_was_loaded():
    found = load_dataset(card=card(), split="test")
    assert json.loads(found.info.description) == {"recipe": "", "split": "test"}
    both = load_dataset(load_recipe(card=card()), disable_cache=True)
    assert json.loads(both["train"].info.description)["split"] is None
    assert {name: len(each) for name, each in both.items()} == {"train": 3, "test": 3}


def test_streams_are_made_while_they_are_read():
    found = load_dataset(card=card(), streaming=True)
    assert set(found) == {"train", "test"}
    assert [row["source"] for row in found["test"]] == ["t0\n", "t1\n", "t2\n"]


def test_rows_that_a_program_brings():
    brought = [{"text": "mine", "label": "y"}]
    options = {"template": TEMPLATE, "data_classification_policy": ["public"]}
    found = create_dataset(TASK, brought, brought * 2, brought * 3, **options)
    assert {name: len(each) for name, each in found.items()} == {"test": 1, "train": 2, "validation": 3}
    assert found["test"][0]["data_classification_policy"] == ["public"]
    assert list(create_dataset(TASK, brought, template=TEMPLATE)) == ["test"]
    with pytest.raises(UsageError, match="not a task"):
        create_dataset(TEMPLATE, brought)
    with pytest.raises(TemplateError, match="no default template"):
        create_dataset(TASK, brought, template=None)


def test_what_is_not_a_recipe_is_refused():
    with pytest.raises(UsageError, match=r"not a recipe or benchmark\n.*did you mean card=samples\.cards\.arithmetic"):
        load_recipe("samples.cards.arithmetic")
    with pytest.raises(UsageError, match="not a recipe or benchmark"):
        load_recipe("metrics.accuracy")
    made = load_recipe(card=card())
    assert load_recipe(made) is made


def test_chats_and_task_data_are_decoded(monkeypatch):
    chat = '[{"role": "user", "content": "hi"}]'
    row = {"source": chat, "task_data": '{"a": 1}'}
    assert decode_row(row) == {"source": [{"role": "user", "content": "hi"}], "task_data": '{"a": 1}'}
    assert decode_row({"source": "[plain"}) == {"source": "[plain"}
    assert decode_batch({"source": [chat, chat]})["source"][1] == [{"role": "user", "content": "hi"}]
    assert decode_batch({"source": ["plain"], "n": [1]}) == {"source": ["plain"], "n": [1]}
    assert decode_batch({"source": []}) == {"source": []}
    monkeypatch.setattr(dataset, "settings", SimpleNamespace(task_data_as_text=False))
    assert decode_row(row)["task_data"] == {"a": 1}
    assert decode_row({"task_data": {"a": 1}}) == {"task_data": {"a": 1}}
    assert decode_batch({"task_data": ['{"a": 1}']}) == {"task_data": [{"a": 1}]}
    assert decode_batch({"task_data": []}) == {"task_data": []}


def test_a_page_with_pictures_makes_one_dataset_of_all_rows(monkeypatch):
    monkeypatch.setattr(dataset, "_PAGE", 2)
    picture = Image.new("RGB", (2, 2), (255, 0, 0))
    found = rows_to_dataset(iter([*rows(*"ab"), *rows("c", images=[picture]), *rows(*"de")]))
    assert [row["source"] for row in found] == list("abcde")
    assert found[2]["media"]["images"][0].size == (2, 2)
    assert not found[0]["media"]["images"]


def rows_with(texts: str, picture_at: int, media: dict) -> list[dict]:
    made = rows(*texts)
    made[picture_at]["media"] = {"images": [], "audios": [], **media}
    return made


@pytest.mark.parametrize("page", [1, 2, 3, 100])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_rows_with_pictures_are_there_once_wherever_they_come_from(monkeypatch, page, place):
    from proctor.data.streams import GeneratorStream

    monkeypatch.setattr(dataset, "_PAGE", page)
    picture = Image.new("RGB", (2, 2), (255, 0, 0))
    made = rows_with("abcde", place, {"images": [picture]})
    for given in (made, tuple(made), iter(made), GeneratorStream(lambda: iter(made))):
        found = rows_to_dataset(given)
        assert [row["source"] for row in found] == list("abcde")
        assert [len(row["media"]["images"]) for row in found] == [int(number == place) for number in range(5)]
        assert found[place]["media"]["images"][0].getpixel((0, 0)) == (255, 0, 0)


def test_a_recipe_with_pictures_has_each_row_once():
    picture = Image.new("RGB", (2, 2))
    task = Task(input_fields={"image": "Any"}, reference_fields={"label": "str"}, prediction_type="str", metrics=[])
    data = {"test": [{"image": {"image": picture, "format": "PNG"}, "label": f"{number}"} for number in range(3)]}
    card = TaskCard(
        loader={"__type__": "load_from_dictionary", "data": data}, task=task,
        templates=[InputOutputTemplate(input_format="{image}", output_format="{label}")],
    )  # fmt: skip
    assert [row["target"] for row in load_dataset(card=card, split="test")] == ["0", "1", "2"]


def test_rows_with_pictures_and_sounds_are_decoded_as_all_others_are(monkeypatch):
    chat = '[{"role": "user", "content": "hi"}]'
    made = rows(chat, "plain")
    made[1]["media"] = {"images": [Image.new("RGB", (2, 2))], "audios": []}
    found = rows_to_dataset(made)
    assert [row["source"] for row in found] == [[{"role": "user", "content": "hi"}], "plain"]
    assert found[0]["task_data"] == '{"a": 1}'
    monkeypatch.setattr(dataset, "settings", SimpleNamespace(task_data_as_text=False))
    assert [row["task_data"] for row in found] == [{"a": 1}] * 2


def test_each_source_of_a_batch_is_what_it_is():
    chat = '[{"role": "user", "content": "hi"}]'
    for sources in ([chat, "plain"], ["plain", chat], [None, chat]):
        found = decode_batch({"source": sources})["source"]
        assert found == [decode_row({"source": each})["source"] for each in sources]


def test_task_data_of_a_text_may_be_wanted_as_data(monkeypatch):
    found = rows_to_dataset(rows("a"))
    monkeypatch.setattr(dataset, "settings", SimpleNamespace(task_data_as_text=False))
    assert found[0]["task_data"] == {"a": 1}


def test_a_recipe_that_is_there_is_not_changed_in_silence():
    made = load_recipe(card=card())
    for load in (load_recipe, load_dataset):
        with pytest.raises(UsageError, match="not changed by num_demos, loader_limit"):
            load(made, num_demos=2, loader_limit=3)
    assert load_recipe(made, disable_cache=True) is made


def test_a_dataset_says_what_it_is_of_whatever_that_is():
    made = load_recipe(card=card())
    found = load_dataset(made, split="test")
    assert json.loads(found.info.description) == {"recipe": str(made), "split": "test"}
    assert len(found._fingerprint) == 16
    assert found.features["references"].feature.dtype == "string"
