"""Classes of programs that override what only Unitxt calls."""

from __future__ import annotations

import pytest

from proctor import compat
from proctor.data import Deduplicate, ExecuteExpression, FilterByExpression, LoadCSV, MultiStream, Rename, Shuffle
from proctor.errors import UsageError
from proctor.formats import ChatAPIFormat
from proctor.recipes import DatasetRecipe
from proctor.scoring.metrics.accuracy import Accuracy
from proctor.tasks import Task
from proctor.templates import InputOutputTemplate, MultipleChoiceTemplate

pytestmark = pytest.mark.usefixtures("installed")


@pytest.fixture(autouse=True)
def _imported(installed):
    import unitxt  # noqa: F401 - classes are checked from here on


def test_what_nothing_here_calls_is_refused():
    with pytest.raises(UsageError, match=r"Titled overrides set_titles\(\) of Template[\s\S]*preprocess_input_fields"):

        class Titled(InputOutputTemplate):
            def set_titles(self, data):
                return data

    with pytest.raises(UsageError, match=r"to_chat\(\) of ChatAPIFormat[\s\S]*layout\(\) is called"):

        class Chat(ChatAPIFormat):
            def to_chat(self, *_):
                return []

    with pytest.raises(UsageError, match="inputs_to_choices"):

        class Loud(MultipleChoiceTemplate):
            def inputs_to_choices(self, data, choice_format):
                return super().inputs_to_choices(data, choice_format)


@pytest.mark.parametrize(
    "base, method",
    [
        (Task, "check_metrics_type"),
        (InputOutputTemplate, "process_instance"),
        (InputOutputTemplate, "verify_instance"),
        (ChatAPIFormat, "_prepare_instance_fields"),
        (LoadCSV, "read_dataframe"),
        (Accuracy, "compute_instance_scores"),
        (Rename, "serialize"),
    ],
)
def test_methods_that_are_there_for_programs_to_call_are_not_overridden(base, method):
    with pytest.raises(UsageError, match=method):
        type("Mine", (base,), {method: lambda self, *_: None, "__module__": "a_program"})


@pytest.mark.parametrize(
    "base, method, fields",
    [
        (Shuffle, "process", {}),
        (ExecuteExpression, "compute_expression", {"expression": "a", "to_field": "b"}),
        (FilterByExpression, "compute_expression", {"expression": "a"}),
        (Rename, "verify_instance", {"field": "a", "to_field": "b"}),
        (Deduplicate, "verify_instance", {"by": ["a"]}),
    ],
)
def test_methods_of_operators_are_called(base, method, fields):
    calls = []

    def noted(self, *given):
        calls.append(method)
        return getattr(base, method)(self, *given)

    made = type("Noting", (base,), {method: noted, "__module__": "a_program"})
    streams = MultiStream({"train": [{"a": 1}, {"a": 2}]})
    expected = [dict(row) for row in base(**fields)(streams)["train"]]
    assert sorted(made(**fields)(streams)["train"], key=str) == sorted(expected, key=str)
    assert calls


def test_what_is_called_here_or_by_the_class_itself_is_its_own_affair():
    class Serialized(InputOutputTemplate):
        def serialize(self, data, instance):
            return dict.fromkeys(data, "x")

    class Helped(InputOutputTemplate):
        def set_titles(self, data):
            return {**data, "q": data["q"].upper()}

        def preprocess_input_fields(self, input_fields):
            return self.set_titles(input_fields)

    instance = {"input_fields": {"q": "a"}, "reference_fields": {"r": "b"}}
    sources = [
        made(input_format="{q}", output_format="{r}").process(instance | {}, "test")["source"]
        for made in (Serialized, Helped)
    ]
    assert sources == ["x", "A"]


def test_without_the_names_of_unitxt_nobody_asks():
    compat.uninstall()

    class Titled(InputOutputTemplate):
        def set_titles(self, data):
            return data

    assert Titled(input_format="{q}", output_format="{r}").input_format == "{q}"


def test_a_stage_that_programs_call_is_not_for_overriding():
    with pytest.raises(UsageError, match=r"production_preprocess\(\) of DatasetRecipe"):

        class Mine(DatasetRecipe):
            def production_preprocess(self, task_instances):
                return list(task_instances)
