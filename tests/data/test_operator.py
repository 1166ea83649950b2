from __future__ import annotations

import pytest

from proctor.artifacts import deprecations
from proctor.data.field_operators import Copy, Rename
from proctor.data.instance_operators import Set
from proctor.data.operator import (
    FieldOperator,
    InstanceFieldOperator,
    InstanceOperator,
    MappedStream,
    MultiStreamOperator,
    PagedStreamOperator,
    SequentialOperator,
    SideEffectOperator,
    SourceOperator,
    SourceSequentialOperator,
    StreamOperator,
)
from proctor.data.streams import GeneratorStream, ListStream, MultiStream
from proctor.errors import ArtifactError, DataError, MissingFieldError, PolicyError, ValidationError
from proctor.settings import settings


def streams(**splits):
    return MultiStream.from_iterables(splits)


class AddNumber(FieldOperator):
    number: float

    def process(self, value):
        return value + self.number


class Double(FieldOperator):
    def process_value(self, value):
        return value * 2


class JoinFields(InstanceOperator):
    fields: list[str]
    separator: str = ""
    to_field: str

    def process(self, instance, stream_name=None):
        instance[self.to_field] = self.separator.join([instance[field] for field in self.fields])
        return instance


class LimitSize(StreamOperator):
    size: int

    def process(self, stream, stream_name=None):
        for i, instance in enumerate(stream):
            if i >= self.size:
                break
            yield instance


class MergeAllStreams(MultiStreamOperator):
    def merge(self, streams):
        for stream in streams:
            yield from stream

    def process(self, multi_stream):
        return MultiStream({"merged": GeneratorStream(self.merge, gen_kwargs={"streams": multi_stream.values()})})


class AppendInPlace(InstanceOperator):
    def process(self, instance, stream_name=None):
        instance["l"].append(stream_name)
        return instance


class SortInPlace(FieldOperator):
    def process(self, value):
        value.sort()
        return value


class Reverse(PagedStreamOperator):
    def process(self, page, stream_name=None):
        yield from reversed(page)


class Explodes(StreamOperator):
    def process(self, stream, stream_name=None):
        for row in stream:
            yield {"a": 1 / row["a"]}


class Source(SourceOperator):
    def process(self):
        return streams(test=[{"a": 1}, {"a": 2}])


def test_field_operators_work_as_documented():
    operator = AddNumber(number=5, field="price", to_field="new_price")
    assert operator.process_instance({"price": 0.5}) == {"price": 0.5, "new_price": 5.5}
    assert operator.process(1) == 6
    assert operator.process_one(1) == 6


def test_instance_stream_and_multi_stream_operators_work_as_documented():
    joined = JoinFields(fields=["title", "text"], separator="\n", to_field="context")
    assert joined.process_instance({"title": "a", "text": "b"})["context"] == "a\nb"
    assert len(list(LimitSize(size=2)(streams(t=[{"a": i} for i in range(5)]))["t"])) == 2
    merged = MergeAllStreams()(streams(train=[{"a": 1}], test=[{"a": 2}]))
    assert list(merged) == ["merged"]
    assert [row["a"] for row in merged["merged"]] == [1, 2]


def test_fields_can_be_given_in_pairs_and_every_value_processed():
    assert Double(field_to_field={"a": "x", "b": "y"}).process_instance({"a": 1, "b": 2}) == {
        "a": 1,
        "b": 2,
        "x": 2,
        "y": 4,
    }
    assert Double(field_to_field=[["a", "b"], ["b", "c"]]).process_instance({"a": 1}) == {"a": 1, "b": 2, "c": 4}
    assert Double(field="a", process_every_value=True).process_instance({"a": [1, 2]}) == {"a": [2, 4]}
    assert Double(field="a/0").process_instance({"a": [1, 2]}) == {"a": [2, 2]}


@pytest.mark.parametrize(
    "options, expected",
    [
        ({"not_exist_ok": True, "get_default": 3}, {"b": 1, "a": 6}),
        ({"not_exist_do_nothing": True}, {"b": 1}),
    ],
)
def test_a_missing_field_may_be_expected(options, expected):
    assert Double(field="a", **options).process_instance({"b": 1}) == expected


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"field": "a", "field_to_field": {"a": "b"}},
        {"field_to_field": {"a": "b"}, "to_field": "c"},
        {"field_to_field": {}},
        {"field_to_field": {"a": "b", "b": "c"}},
        {"field_to_field": {"a": "c", "b": "c"}},
        {"field_to_field": [["a"]]},
    ],
)
def test_fields_that_are_not_clear_are_an_error(options):
    with pytest.raises(ValidationError):
        Double(**options).process_instance({"a": 1, "b": 2})


def test_consecutive_instance_operators_run_in_one_loop():
    made = Rename(field="x", to_field="y")(Set(fields={"x": 1})(Copy(field="a", to_field="b")(streams(t=[{"a": 0}]))))
    assert isinstance(made["t"], MappedStream)
    assert len(made["t"].operators) == 3
    assert isinstance(made["t"].source, ListStream)
    assert list(made["t"]) == [{"a": 0, "b": 0, "y": 1}]


def test_an_operator_can_leave_streams_alone():
    both = streams(train=[{"a": 1}], test=[{"a": 1}])
    assert list(Set(fields={"a": 2}, apply_to_streams=["test"])(both)["train"]) == [{"a": 1}]
    assert list(Set(fields={"a": 2}, dont_apply_to_streams=["test"])(both)["train"]) == [{"a": 2}]
    with pytest.raises(ValidationError, match="both applies"):
        Set(fields={"a": 2}, apply_to_streams=["test"], dont_apply_to_streams=["test"])(both)


def test_foreign_code_may_change_values_in_place_and_the_source_stays():
    rows = [{"l": [2, 1]}]
    for operator in (AppendInPlace(), SortInPlace(field="l")):
        result = operator(MultiStream({"t": ListStream(rows)}))["t"]
        assert list(result) == list(result)
        assert rows == [{"l": [2, 1]}]


def test_built_in_operators_share_values_and_never_change_them():
    value = [1, {"k": 2}]
    row = Set(fields={"a/1/k": 3})(MultiStream({"t": ListStream([{"a": value, "b": value}])}))["t"].peek()
    assert row == {"a": [1, {"k": 3}], "b": [1, {"k": 2}]}
    assert row["b"] is value


def test_later_changes_to_an_operator_do_not_reach_what_was_bound():
    operator = Set(fields={"a": 1})
    step = operator.bind("t")
    operator.fields = {"a": 2}
    assert step({}) == {"a": 1}
    assert operator.process_instance({}) == {"a": 2}


def test_an_override_of_process_wins_over_a_compiled_ancestor():
    class Louder(Copy):
        def process(self, instance, stream_name=None):
            return {**super().process(instance, stream_name), "loud": stream_name}

    assert list(Louder(field="a", to_field="b")(streams(t=[{"a": 1}]))["t"]) == [{"a": 1, "b": 1, "loud": "t"}]


def test_an_error_names_operator_stream_and_row():
    rows = [{"price": 1}, {"cost": 2}]
    with pytest.raises(MissingFieldError, match=r"train\[1\] in AddNumber\(") as caught:
        list(AddNumber(number=1, field="price")(streams(train=rows))["train"])
    assert "it has cost" in str(caught.value)
    with pytest.raises(DataError, match=r"Double failed \(@ t\[1\] in Double\(") as caught:
        list(Double(field="a")(streams(t=[{"a": 1}, {"a": {}}]))["t"])
    assert "TypeError" in str(caught.value)
    with pytest.raises(DataError, match="Explodes failed"):
        list(Explodes()(streams(t=[{"a": 0}]))["t"])


def test_pages_have_a_size():
    rows = [{"a": i} for i in range(5)]
    assert [row["a"] for row in Reverse(page_size=2)(streams(t=rows))["t"]] == [1, 0, 3, 2, 4]
    with pytest.raises(ValidationError):
        Reverse(page_size=0)


def test_a_row_can_be_processed_by_itself():
    assert LimitSize(size=0).process_instance({"a": 1}) is None
    assert Reverse().process_instance({"a": 1}) == {"a": 1}
    assert SequentialOperator(steps=[Set(fields={"b": 2}), Copy(field="b", to_field="c")]).process_instance(
        {"a": 1}
    ) == {"a": 1, "b": 2, "c": 2}


def test_steps_can_be_limited():
    steps = SequentialOperator(steps=[Set(fields={"b": 2}, __description__="first"), Set(fields={"c": 3})])
    steps.max_steps = 1
    assert steps.process_instance({}) == {"b": 2}
    assert steps.num_steps() == 2


def test_sequences_can_start_with_a_source():
    assert list(SourceSequentialOperator(steps=[Source(), Set(fields={"b": 1})])()["test"]) == [
        {"a": 1, "b": 1},
        {"a": 2, "b": 1},
    ]
    assert Source().get_splits() == ["test"]
    with pytest.raises(ValidationError, match="no steps"):
        SourceSequentialOperator()()


def test_an_effect_leaves_the_streams_as_they_are():
    done = []

    class Note(SideEffectOperator):
        def process(self):
            done.append(True)

    both = streams(train=[{"a": 1}], test=[{"a": -1}, {"a": 2}])
    assert Note()(both) is both
    assert done == [True]


@pytest.mark.parametrize(
    "base", [InstanceOperator, StreamOperator, MultiStreamOperator, PagedStreamOperator, SourceOperator]
)
def test_an_operator_has_to_say_what_it_does(base):
    class Idle(base):
        pass

    with pytest.raises(ArtifactError, match="override process"):
        list(Idle()(streams(t=[{"a": 1}])).get("t", ()))


def test_field_operators_have_to_say_what_they_do():
    class Idle(FieldOperator):
        pass

    class IdleToo(InstanceFieldOperator):
        pass

    for kind in (Idle, IdleToo):
        with pytest.raises(ArtifactError, match="override process_"):
            kind(field="a").process_instance({"a": 1})


def test_a_multi_stream_operator_returns_streams():
    class Wrong(MultiStreamOperator):
        def process(self, multi_stream):
            return {}

    with pytest.raises(DataError, match="returned a dict"):
        Wrong()(streams(t=[]))


def test_steps_can_run_one_after_the_other():
    seen = []

    class Watch(InstanceOperator):
        name: str

        def process(self, instance, stream_name=None):
            seen.append((self.name, instance["a"]))
            return instance

    source = streams(t=[{"a": 1}, {"a": 2}])
    list(Watch(name="y")(Watch(name="x")(source))["t"])
    assert seen == [("x", 1), ("y", 1), ("x", 2), ("y", 2)]
    seen.clear()
    with settings.context(use_eager_execution=True):
        Watch(name="y")(Watch(name="x")(source))
    assert seen == [("x", 1), ("x", 2), ("y", 1), ("y", 2)]


@pytest.mark.parametrize(
    "operator",
    [
        Set(fields={"b": 1}, data_classification_policy=["public"]),
        LimitSize(size=5, data_classification_policy=["public"]),
        Reverse(data_classification_policy=["public"]),
        AddNumber(number=1, field="a", data_classification_policy=["public"]),
    ],
)
def test_operators_refuse_data_they_may_not_see(operator):
    secret = {"a": 1, "data_classification_policy": ["pii"]}
    with pytest.raises(PolicyError, match="may not see this data"):
        list(operator(streams(t=[secret]))["t"])
    public = {"a": 1, "data_classification_policy": ["public", "pii"]}
    assert len(list(operator(streams(t=[public]))["t"])) == 1


def test_rows_stream_in_flat_memory():
    import tracemalloc

    def rows():
        for i in range(30_000):
            yield {"a": i, "text": "x" * 200}

    source = MultiStream({"t": GeneratorStream(rows)})
    made = Rename(field="text", to_field="t/u")(Copy(field="a", to_field="b")(Set(fields={"c": [1, 2]})(source)))
    tracemalloc.start()
    count = sum(1 for _ in made["t"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 30_000
    assert peak < 1_000_000


def test_an_operator_may_look_at_a_row_before_it_is_processed():
    class Careful(InstanceOperator):
        def verify_instance(self, instance):
            return {**instance, "seen": True}

        def process(self, instance, stream_name=None):
            return {**instance, "stream": stream_name}

    assert list(Careful()(streams(t=[{"a": 1}]))["t"]) == [{"a": 1, "seen": True, "stream": "t"}]


def test_every_value_of_a_list_is_processed_with_its_row():
    class Add(InstanceFieldOperator):
        def process_instance_value(self, value, instance):
            return value + instance["b"]

    add = Add(field="a", process_every_value=True)
    assert add.process_instance({"a": [1, 2], "b": 3})["a"] == [4, 5]
    assert Add(field={"a": "c"}).process_instance({"a": 1, "b": 3}) == {"a": 1, "b": 3, "c": 4}


def test_an_old_way_to_name_fields_is_warned_of(monkeypatch):
    monkeypatch.setattr(deprecations, "_warns_of_deprecations", True)
    Set(fields={"a": 1})
    with pytest.warns(DeprecationWarning, match="'use_query' is deprecated"):
        Set(fields={"a": 1}, use_query=False)
