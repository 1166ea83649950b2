from __future__ import annotations

import pytest

from proctor.artifacts import LocalCatalog, builtin_catalog, fetch_artifact
from proctor.data.field_operators import Rename
from proctor.data.loaders import LoadFromDictionary
from proctor.data.operator import SequentialOperator
from proctor.errors import DataError, ValidationError
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task

TASK = {
    "__type__": "task",
    "input_fields": {"text": "str"},
    "reference_fields": {"label": "str"},
    "metrics": ["metrics.accuracy"],
}
DATA = {"test": [{"q": "a", "label": "x"}]}


def card(**fields):
    return TaskCard(
        loader=LoadFromDictionary(data=DATA), task=TASK, preprocess_steps=[Rename(field="q", to_field="text")], **fields
    )


def test_a_card_turns_rows_into_the_fields_of_its_task():
    made = card()
    rows = SequentialOperator(steps=made.preprocess_steps or [])(made.rows())
    assert rows["test"].peek() == {"label": "x", "data_classification_policy": ["proprietary"], "text": "a"}
    assert made.task(rows)["test"].peek()["input_fields"] == {"text": "a"}


def test_templates_may_be_named_listed_or_by_name():
    template = {"__type__": "input_output_template", "input_format": "{text}", "output_format": "{label}"}
    name = "templates.classification.multi_class.title"
    assert isinstance(card(templates=[template, name]).templates, list)
    assert set(card(templates={"default": template, "other": name}).templates) == {"default", "other"}
    assert card(templates="templates.classification.multi_class.all").templates.artifact_id
    assert card(templates=[template, name]).to_dict()["templates"] == [template, name]


def test_the_task_may_be_named_with_overwrites():
    made = TaskCard(
        loader=LoadFromDictionary(data=DATA), task="tasks.classification.multi_class[metrics=[metrics.f1_micro]]"
    )
    assert made.task.metrics == ["metrics.f1_micro"]
    assert made.to_dict()["task"] == "tasks.classification.multi_class[metrics=[metrics.f1_micro]]"


def test_what_is_wrong_in_a_card_is_said_with_its_place():
    with pytest.raises(ValidationError, match=r"\$\.preprocess_steps\[0\]") as caught:
        TaskCard(
            loader=LoadFromDictionary(data=DATA), task=TASK, preprocess_steps=[{"__type__": "rename", "feld": "q"}]
        )
    assert "did you mean 'field'" in str(caught.value)
    with pytest.raises(ValidationError, match="templates"):
        card(templates=["templates.nothing"])


def test_a_card_without_a_loader_has_no_rows():
    with pytest.raises(DataError, match="no loader"):
        TaskCard(task=Task(**{key: value for key, value in TASK.items() if key != "__type__"})).rows()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["cards", "tasks", "splitters", "augmentors", "serializers", "operators"])
def test_all_of_the_built_in_catalog_builds_and_comes_out_as_it_went_in(kind):
    catalog = builtin_catalog()
    names = [name for name in catalog.names() if name.startswith(f"{kind}.")]
    assert names
    for name in names:
        artifact = fetch_artifact(name)
        again = fetch_artifact(artifact.to_dict())
        assert again.to_dict() == artifact.to_dict(), name
        if fetch_artifact(name).location and LocalCatalog(catalog.folder).path_of(name) == artifact.location:
            assert artifact.description, name


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "name",
    [
        "cards.wnli",
        "cards.rte",
        "cards.sst2",
        "cards.cola",
        "cards.squad",
        "cards.hellaswag",
        "cards.openbook_qa",
        "cards.boolq.classification",
        "cards.ai2_arc.arc_easy",
        "cards.mmlu.anatomy",
        "cards.human_eval",
    ],
)
def test_cards_fit_real_data(name, hub_dir, monkeypatch):
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(hub_dir))
    made = fetch_artifact(name)
    instances = made.task(SequentialOperator(steps=made.preprocess_steps or [])(made.rows()))
    splits = {
        split: sum(1 for _ in stream.take(50)) for split, stream in instances.items() if split in ("test", "validation")
    }
    assert any(splits.values())
