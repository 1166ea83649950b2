import pytest

from proctor.artifacts import fetch_artifact
from proctor.data.row_failures import RowFailures
from proctor.errors import DemosError, FieldTypeError
from proctor.formats import EmptySystemPrompt, SystemFormat
from proctor.recipes.instances import Instances
from proctor.recipes.plan import ALL, Plan, called
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate

TASK = Task(input_fields={"a": "int"}, reference_fields={"b": "str"}, prediction_type="str", metrics=[])
TEMPLATE = InputOutputTemplate(input_format="{a}", output_format="{b}")


def rows(first, count):
    return [{"a": number, "b": str(number)} for number in range(first, first + count)]


def instances(test=(), train=(), steps=(), **more):
    data = {"test": list(test), "train": list(train)}
    loader = {"__type__": "load_from_dictionary", "data": {name: each for name, each in data.items() if each}}
    card = TaskCard(loader=loader, task=TASK, preprocess_steps=list(steps))
    return Instances(Plan(card, TASK, (TEMPLATE,), SystemFormat(), EmptySystemPrompt(), **more))


def numbers(stream):
    return [each["input_fields"]["a"] for each in stream]


def opened(*args, **more):
    pool, streams = instances(*args, **more).opened()
    return None if pool is None else numbers(pool), {name: numbers(stream) for name, stream in streams.items()}


def test_without_a_pool_all_rows_are_asked():
    assert opened(rows(0, 3), rows(9, 2)) == (None, {"test": [0, 1, 2], "train": [9, 10]})


def test_a_pool_leaves_its_split_and_duplicates_stay():
    twice = [*rows(0, 2), *rows(0, 1), *rows(2, 3)]
    assert opened([], twice, pool_size=3) == ([0, 1, 2], {"train": [0, 3, 4]})
    kept = opened([], twice, pool_size=3, demos_removed_from_data=False)
    assert kept == ([0, 1, 2], {"train": [0, 1, 0, 2, 3, 4]})


def test_a_pool_of_everything_takes_the_split_away():
    assert opened(rows(0, 2), rows(5, 3), pool_size=ALL) == ([5, 6, 7], {"test": [0, 1]})
    with pytest.raises(DemosError, match="no instance is left"):
        opened([], rows(0, 2), pool_size=ALL)


def test_a_pool_of_another_split_and_one_that_is_given():
    assert opened(rows(0, 4), rows(9, 1), pool_size=2, demos_taken_from="test")[1] == {"test": [2, 3], "train": [9]}
    given = [{"a": 7, "b": "x"}, {"input_fields": {"a": 8}, "reference_fields": {"b": "y"}}]
    assert opened(rows(0, 2), pool=given, pool_size=2) == ([7, 8], {"test": [0, 1]})
    with pytest.raises(DemosError, match="'nowhere'") as raised:
        opened(rows(0, 2), rows(3, 2), pool_size=1, demos_taken_from="nowhere")
    assert raised.value.diagnostics[0].why == "the splits are test, train"


def test_limits_come_after_the_pool_and_after_refiners():
    small = {"__type__": "filter_by_condition", "values": {"input_fields/a": 1}, "condition": "gt"}
    more = {"refiners": {"test": fetch_artifact(small)}, "limits": {"test": 2}}
    assert opened(rows(0, 6), pool_size=1, demos_taken_from="test", **more)[1]["test"] == [2, 3]
    assert opened(rows(0, 6), rows(0, 6), loader_limit=4, limits={"test": 9})[1]["test"] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "own, limit, kept",
    [(None, 4, [0, 1, 3, 4]), (2, None, [0, 3]), (2, 4, [0, 3]), (8, 2, [0, 3]), (None, None, [0, 1, 2, 3, 4, 5])],
)
def test_a_refiner_knows_the_limit_of_its_split(own, limit, kept):
    """Three rows of x, then three of y: balanced to n, they are n/2 of each, and not the first n of a balanced six."""
    data = [{"a": n, "b": "x" if n < 3 else "y"} for n in range(6)]
    balance = {"__type__": "balance", "fields": ["reference_fields/b"], "max_instances": own}
    refiner = fetch_artifact({**balance, "apply_to_streams": ["nowhere"]})
    _, streams = instances(data, data, refiners={"test": refiner}, limits={"test": limit}).opened()
    assert numbers(streams["test"]) == kept
    assert numbers(streams["train"]) == list(range(6))


def test_streams_are_read_again_from_the_start():
    _, streams = instances(rows(0, 3)).opened()
    assert numbers(streams["test"]) == numbers(streams["test"]) == [0, 1, 2]


def test_a_row_of_the_wrong_type_names_split_and_row():
    wrong = instances([*rows(0, 2), {"a": "x", "b": "2"}, *rows(3, 1)])
    with pytest.raises(FieldTypeError, match=r"test\[2\]"):
        numbers(wrong.opened()[1]["test"])
    failures = RowFailures()
    with failures:
        assert numbers(wrong.opened()[1]["test"]) == [0, 1, 3]
    assert [error.diagnostics[0].path for error in failures.take()] == ["test[2]"]


def test_the_steps_are_named():
    step = {"__type__": "set", "fields": {"b": "z"}}
    titles = [title for title, _ in instances(rows(0, 1), steps=[step]).stages()]
    assert titles[0] == "loaded"
    assert titles[1].startswith("standardised: ")
    assert titles[2] == "made instances of the task"
    assert called(TASK) == "Task"
