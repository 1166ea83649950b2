"""A compiled recipe, part by part: rows, demos, prompts, and the stages in which it shows them."""

from __future__ import annotations

import pytest

from proctor.data.streams import INFERENCE_STREAM
from proctor.errors import DemosError, ProctorError
from proctor.recipes import DatasetRecipe
from proctor.recipes.instances import Instances
from proctor.recipes.pipeline import Pipeline
from proctor.recipes.plan import Plan
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

TASK = Task(
    input_fields={"text": "str"}, reference_fields={"label": "str"}, prediction_type="str", metrics=["metrics.accuracy"]
)
TEMPLATE = InputOutputTemplate(input_format="Text: {text}", output_format="{label}", target_prefix="Label: ")


def rows(prefix: str, count: int) -> list[dict[str, str]]:
    return [{"text": f"{prefix} {number}", "label": f"label {number}"} for number in range(count)]


def pipeline(train: list | None = None, test: list | None = None, **options) -> Pipeline:
    data = {"train": rows("train", 6) if train is None else train, "test": rows("test", 3) if test is None else test}
    card = TaskCard(loader={"__type__": "load_from_dictionary", "data": data}, task=TASK, templates=[TEMPLATE])
    return DatasetRecipe(card=card, **options).compile()


def texts(stream) -> list[str]:
    return [instance["input_fields"]["text"] for instance in stream]


def test_the_last_stage_shows_sources_targets_and_references():
    stages = dict(pipeline().stages())
    first, *_, last = stages
    assert first == "loaded"
    assert [row["text"] for row in stages[first]["test"]] == ["test 0", "test 1", "test 2"]
    assert last.startswith("put in words by ")
    assert "laid out by" in last
    assert list(stages[last]) == ["train", "test"]
    assert next(iter(stages[last]["test"])) == {
        "source": "Text: test 0\nLabel: ", "target": "label 0", "references": ["label 0"],
    }  # fmt: skip


def test_stages_show_messages_where_the_format_makes_them():
    *_, (_, streams) = pipeline(format="formats.chat_api").stages()
    assert next(iter(streams["test"]))["source"] == [{"role": "user", "content": "Text: test 0"}]


def test_one_split_is_rendered_as_all_are():
    made = pipeline(num_demos=2, demos_pool_size=3)
    alone = [each.prompt.payload for each in made.render("test")]
    assert len(alone) == 3
    assert all(prompt.count("Text: train") == 2 for prompt in alone)
    assert alone == [each.prompt.payload for each in made.render_all()["test"]()]
    assert list(made.render_all()) == ["train", "test"]
    assert len(list(made.render_all()["train"]())) == 3


def test_an_error_names_the_split_and_the_instance():
    unusable = pipeline(test=[*rows("test", 1), {"text": "bad", "label": 1}])
    with pytest.raises(ProctorError, match=r"test\[1\]"):
        list(unusable.render("test"))
    few = pipeline(train=rows("train", 1) * 4, num_demos=3, demos_pool_size=4)
    with pytest.raises(DemosError, match="3 demos are asked of a pool with 1") as caught:
        list(few.render("test"))
    assert "test[0]" in str(caught.value)


def test_a_program_brings_instances_without_references():
    (asked,) = pipeline().produce([{"text": "mine"}])
    assert asked.prompt.payload == "Text: mine\nLabel: "
    assert asked.demos is None
    assert "references" not in asked.instance
    (shown,) = pipeline(num_demos=1, demos_pool_size=2).produce([{"text": "mine"}])
    assert shown.num_demos == 1
    assert shown.pool_size == 2
    assert shown.prompt.payload.count("Text: ") == 2
    few = pipeline(train=rows("train", 1) * 4, num_demos=3, demos_pool_size=4)
    with pytest.raises(ProctorError, match=INFERENCE_STREAM):
        list(few.produce([{"text": "mine"}]))


def test_the_pool_is_opened_once_and_leaves_the_rest_of_its_split():
    pool, streams = pipeline(num_demos=1, demos_pool_size=4).instances.opened()
    assert len(pool) == 4
    assert texts(pool) + texts(streams["train"]) == [row["text"] for row in rows("train", 6)]
    assert texts(streams["train"]) == texts(streams["train"]) == ["train 4", "train 5"]
    assert texts(streams["test"]) == ["test 0", "test 1", "test 2"]


def test_rows_that_stand_in_the_pool_already_are_asked_about():
    twice = [*rows("train", 2), *rows("train", 2), *rows("other", 1)]
    pool, streams = pipeline(train=twice, num_demos=1, demos_pool_size=3).instances.opened()
    assert texts(pool) == ["train 0", "train 1", "other 0"]
    assert texts(streams["train"]) == ["train 0", "train 1"]


def test_a_pool_of_everything():
    whole = {"num_demos": 1, "demos_pool_size": -1}
    pool, streams = pipeline(**whole).instances.opened()
    assert len(pool) == 6
    assert list(streams) == ["test"]
    pool, streams = pipeline(**whole, demos_removed_from_data=False).instances.opened()
    assert (len(pool), len(list(streams["train"]))) == (6, 6)
    data = {"train": rows("train", 3)}
    card = TaskCard(loader={"__type__": "load_from_dictionary", "data": data}, task=TASK, templates=[TEMPLATE])
    with pytest.raises(DemosError, match="no instance is left"):
        DatasetRecipe(card=card, **whole).compile().instances.opened()
    with pytest.raises(DemosError, match="'dev'"):
        pipeline(num_demos=1, demos_pool_size=2, demos_taken_from="dev").instances.opened()


def test_demos_that_are_given_are_the_pool():
    pool, streams = pipeline(num_demos=1, demos_pool=rows("given", 2)).instances.opened()
    assert texts(pool) == ["given 0", "given 1"]
    assert len(list(streams["train"])) == 6


def test_the_loader_limit_cuts_every_split():
    instances = pipeline(loader_limit=2).instances
    assert {name: len(list(stream)) for name, stream in instances.load().items()} == {"train": 2, "test": 2}
    assert {name: len(list(stream)) for name, stream in pipeline().instances.load().items()} == {"train": 6, "test": 3}


def test_the_loader_is_told_the_limit_and_the_card_stays_as_it_is(monkeypatch):
    told = []
    original = TaskCard.rows
    monkeypatch.setattr(TaskCard, "rows", lambda self: told.append(self.loader.loader_limit) or original(self))
    made = pipeline(loader_limit=2)
    own = made.plan.card.loader.loader_limit
    made.instances.load()
    pipeline().instances.load()
    assert told == [2, None]
    assert made.plan.card.loader.loader_limit is own is None


def test_limits_are_of_their_split():
    _, streams = pipeline(max_train_instances=4, max_test_instances=1).instances.opened()
    assert texts(streams["train"]) == [f"train {number}" for number in range(4)]
    assert texts(streams["test"]) == ["test 0"]


def test_a_plain_row_becomes_an_instance_and_an_instance_stays_one():
    instances: Instances = pipeline().instances
    made = instances.as_instance(rows("x", 1)[0])
    assert made["input_fields"] == {"text": "x 0"}
    assert made["reference_fields"] == {"label": "label 0"}
    assert instances.as_instance(made) is made
    assert isinstance(instances.plan, Plan)
