from __future__ import annotations

import itertools
import zipfile
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from proctor.data.filters import (
    Balance,
    Deduplicate,
    FilterByCondition,
    FilterByConditionBasedOnFields,
    FilterByExpression,
    LengthBalancer,
    MinimumOneExamplePerLabelRefiner,
    StreamRefiner,
)
from proctor.data.instance_operators import Set
from proctor.data.side_effects import DownloadOperator, ExtractZipFile
from proctor.data.stream_operators import (
    AddIncrementalId,
    ApplyStreamOperatorsField,
    CollateInstances,
    CollateInstancesByField,
    DeleteSplits,
    DuplicateInstances,
    DuplicateSplit,
    ExtractFieldValues,
    ExtractMostCommonFieldValues,
    FeatureGroupedShuffle,
    IterableSource,
    JoinStreams,
    MergeStreams,
    Shuffle,
    SplitByNestedGroup,
)
from proctor.data.streams import MultiStream
from proctor.errors import DataError, MissingFieldError, TrustError, ValidationError

ROWS = [{"a": i, "b": i % 3, "c": "x" * i} for i in range(10)]


def run(operator, rows=ROWS, name="t"):
    return list(operator(MultiStream.from_iterables({"t": rows}))[name])


def kept(operator, rows=ROWS):
    return [row["a"] for row in run(operator, rows)]


@pytest.mark.parametrize(
    "condition, value, expected",
    [
        ("gt", 7, [8, 9]),
        ("ge", 8, [8, 9]),
        ("lt", 2, [0, 1]),
        ("le", 1, [0, 1]),
        ("eq", 3, [3]),
        ("in", [1, 2], [1, 2]),
        ("not in", list(range(8)), [8, 9]),
    ],
)
def test_rows_are_filtered_by_a_condition(condition, value, expected):
    assert kept(FilterByCondition(values={"a": value}, condition=condition)) == expected


def test_rows_are_filtered_by_what_they_have():
    rows = [{"a": 1}, {"a": 2, "b": {"c": 1}}]
    assert kept(FilterByCondition(values={"b/c": True}, condition="exists"), rows) == [2]
    assert kept(FilterByCondition(values={"b/c": False}, condition="exists"), rows) == [1]


def test_rows_are_filtered_by_other_fields_and_expressions():
    assert kept(FilterByConditionBasedOnFields(values={"a": "b"}, condition="gt")) == [3, 4, 5, 6, 7, 8, 9]
    assert kept(FilterByExpression("len(c) > 7 or a == 0")) == [0, 8, 9]
    with pytest.raises(TrustError):
        FilterByExpression("__import__('os')")


@pytest.mark.parametrize(
    "values, condition, words",
    [
        ({"a": 1}, "about", "no condition 'about'"),
        ({"a": 1}, "in", "must be list"),
        ({"a": 1}, "exists", "true or false"),
    ],
)
def test_conditions_are_checked_when_built(values, condition, words):
    with pytest.raises(ValidationError, match=words):
        FilterByCondition(values=values, condition=condition)


def test_a_filter_that_leaves_nothing_says_so():
    with pytest.raises(DataError, match="filtered out every instance in stream 't'"):
        run(FilterByCondition(values={"a": 99}, condition="gt"))
    assert run(FilterByCondition(values={"a": 99}, condition="gt", error_on_filtered_all=False)) == []
    with pytest.raises(MissingFieldError, match="Required filter field .'z'."):
        run(FilterByCondition(values={"z": 99}, condition="gt"))


def test_equal_rows_come_once():
    assert kept(Deduplicate(by=["b"])) == [0, 1, 2]
    assert len(kept(Deduplicate(by=["b", "a"]))) == 10


def test_streams_are_cut_short_and_balanced():
    assert kept(StreamRefiner(max_instances=2)) == [0, 1]
    assert kept(StreamRefiner()) == list(range(10))
    assert [row["b"] for row in run(Balance(fields=["b"]))] == [0, 1, 2] * 3
    assert kept(Balance(fields=["b"], max_instances=7)) == [0, 1, 2, 3, 4, 5]
    assert run(Balance(fields=["b"]), []) == []
    assert kept(LengthBalancer(fields=["c"], segments_boundaries=[2, 5])) == [0, 1, 2, 3, 5, 6]


def test_every_kind_of_row_is_kept():
    made = run(MinimumOneExamplePerLabelRefiner(fields=["b"], max_instances=5))
    assert made == run(MinimumOneExamplePerLabelRefiner(fields=["b"], max_instances=5))
    assert len(made) == 5
    assert {row["b"] for row in made} == {0, 1, 2}
    assert kept(MinimumOneExamplePerLabelRefiner(fields=["b"])) == list(range(10))
    with pytest.raises(DataError, match="3 kinds of rows"):
        run(MinimumOneExamplePerLabelRefiner(fields=["b"], max_instances=2))


def test_rows_are_shuffled_in_pages_and_always_alike():
    operator = Shuffle(page_size=5)
    made = operator(MultiStream.from_iterables({"t": ROWS}))["t"]
    first = [row["a"] for row in made]
    assert first == [row["a"] for row in made] != list(range(10))
    assert sorted(first[:5]) == [0, 1, 2, 3, 4]


def test_groups_are_shuffled_together():
    made = run(FeatureGroupedShuffle(grouping_features=["b"], shuffle_within_group=True))
    groups = [row["b"] for row in made]
    assert len([1 for left, right in itertools.pairwise(groups) if left != right]) == 2
    assert sorted(row["a"] for row in made) == list(range(10))
    assert kept(FeatureGroupedShuffle(page_size=100)) == kept(Shuffle(page_size=100))


def test_rows_are_numbered_repeated_and_collated():
    assert [row["id"] for row in run(AddIncrementalId(to_field="id"))] == list(range(10))
    assert [row["i"] for row in run(DuplicateInstances(num_duplications=2, duplication_index_field="i"), ROWS[:2])] == [
        0,
        1,
        0,
        1,
    ]
    assert run(CollateInstances(batch_size=2), [{"a": 1}, {"a": 2}, {"a": 3}]) == [{"a": [1, 2]}, {"a": [3]}]
    policies = [{"data_classification_policy": classes} for classes in (["b"], ["a", "b"])]
    assert run(CollateInstances(batch_size=2), policies) == [{"data_classification_policy": ["a", "b"]}]
    rows = [
        {"k": "x", "v": 1, "data_classification_policy": ["b"]},
        {"k": "y", "v": 2, "data_classification_policy": ["b"]},
        {"k": "x", "v": 3, "data_classification_policy": ["a"]},
    ]
    assert run(CollateInstancesByField(by_field="k", aggregate_fields=["v"]), rows) == [
        {"k": "x", "data_classification_policy": ["a", "b"], "v": [1, 3]},
        {"k": "y", "data_classification_policy": ["b"], "v": [2]},
    ]
    with pytest.raises(DataError, match="differ in the field 'v'"):
        run(CollateInstancesByField(by_field="k", aggregate_fields=[]), rows)
    with pytest.raises(MissingFieldError):
        run(CollateInstancesByField(by_field="z", aggregate_fields=[]), rows)
    with pytest.raises(ValidationError):
        DuplicateInstances(num_duplications=0)


def test_streams_are_merged_deleted_and_duplicated():
    both = MultiStream.from_iterables({"x": [{"a": 1}], "y": [{"a": 2}]})
    assert list(MergeStreams()(both)["all"]) == [{"a": 1, "origin": "x"}, {"a": 2, "origin": "y"}]
    assert list(MergeStreams(streams_to_merge=["y"], add_origin_stream_name=False)(both)["all"]) == [{"a": 2}]
    assert list(DeleteSplits(splits=["x"])(both)) == ["y"]
    assert list(DuplicateSplit(split="x", to_split="z")(both)) == ["x", "y", "z"]


def test_streams_are_joined_by_keys():
    both = MultiStream.from_iterables(
        {
            "q": [
                {"id": 1, "q": "one", "data_classification_policy": ["p"]},
                {"id": 2, "q": "two", "data_classification_policy": ["p"]},
            ],
            "a": [
                {"id": 2, "a": None, "data_classification_policy": ["p"]},
                {"id": 2, "a": "B", "data_classification_policy": ["p"]},
            ],
        }
    )
    joined = JoinStreams(left_stream="q", right_stream="a", how="inner", on=["id"], new_stream_name="qa")(both)
    assert list(joined) == ["q", "a", "qa"]
    assert list(joined["qa"]) == [
        {"id": 2, "q": "two", "a": None, "data_classification_policy": ["p"]},
        {"id": 2, "q": "two", "a": "B", "data_classification_policy": ["p"]},
    ]
    for row in both["a"]:
        assert row["data_classification_policy"] == ["p"]
    other = MultiStream.from_iterables({"q": both["q"], "a": [{"id": 2, "data_classification_policy": ["r"]}]})
    with pytest.raises(DataError, match="rows that are joined differ in 'data_classification_policy'"):
        list(JoinStreams(left_stream="q", right_stream="a", how="inner", on=["id"], new_stream_name="x")(other)["x"])
    with pytest.raises(DataError, match="cannot be joined"):
        list(JoinStreams(left_stream="q", right_stream="a", how="inner", on=["z"], new_stream_name="x")(both)["x"])
    with pytest.raises(DataError, match="left nothing"):
        list(
            JoinStreams(
                left_stream="q", right_stream="a", how="inner", left_on=["q"], right_on=["a"], new_stream_name="x"
            )(both)["x"]
        )


def test_values_are_collected():
    rows = [{"l": "x"}, {"l": "y"}, {"l": "x"}, {"l": "z"}]
    assert run(ExtractFieldValues(field="l", stream_name="t", to_field="all"), rows)[0]["all"] == ["x", "y", "z"]
    top = ExtractMostCommonFieldValues(field="l", stream_name="t", to_field="all", overall_top_frequency_percent=50)
    assert run(top, rows)[3]["all"] == ["x"]
    frequent = ExtractMostCommonFieldValues(field="l", stream_name="t", to_field="all", min_frequency_percent=30)
    assert run(frequent, rows)[0]["all"] == ["x"]
    lists = [{"l": ["x", "y"]}, {"l": ["x"]}]
    assert run(ExtractFieldValues(field="l", stream_name="t", to_field="all"), lists)[0]["all"] == [["x", "y"], ["x"]]
    each = ExtractMostCommonFieldValues(field="l", stream_name="t", to_field="all", process_every_value=True)
    assert run(each, lists)[0]["all"] == ["x", "y"]
    with pytest.raises(DataError, match="not a list"):
        run(each, rows)
    with pytest.raises(ValidationError):
        ExtractMostCommonFieldValues(field="l", stream_name="t", to_field="all", overall_top_frequency_percent=101)
    with pytest.raises(ValidationError):
        ExtractMostCommonFieldValues(field="l", stream_name="t", to_field="all", min_frequency_percent=101)
    with pytest.raises(ValidationError):
        ExtractMostCommonFieldValues(
            field="l", stream_name="t", to_field="a", overall_top_frequency_percent=5, min_frequency_percent=5
        )


def test_streams_are_split_by_origin():
    rows = [{"group": "a/b", "n": 1}, {"group": "c", "n": 2}, {"group": "a/d", "n": 3}]
    made = SplitByNestedGroup()(MultiStream.from_iterables({"t": rows}))
    assert {name: [row["n"] for row in stream] for name, stream in made.items()} == {"t~a": [1, 3], "t~c": [2]}
    assert list(SplitByNestedGroup(number_of_fusion_generations=-1)(MultiStream.from_iterables({"t": rows}))) == [
        "t~a/b",
        "t~c",
        "t~a/d",
    ]


def test_rows_can_name_operators_of_their_stream(tmp_path):
    import proctor

    proctor.add_to_catalog(Set(fields={"x": 1}), "operators.one", verbose=False)
    proctor.add_to_catalog(Set(fields={"x": 2}), "operators.two", verbose=False)
    rows = [{"ops": ["operators.one", "operators.two"]}]
    assert run(ApplyStreamOperatorsField(field="ops"), rows)[0]["x"] == 2
    assert run(ApplyStreamOperatorsField(field="ops", reversed=True), rows)[0]["x"] == 1


def test_streams_are_made_of_collections():
    assert list(IterableSource(iterables={"t": ROWS})()["t"]) == ROWS


def test_files_are_downloaded_and_unpacked(tmp_path):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("inner.txt", "content")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200 if self.path == "/a.zip" else 404)
            self.end_headers()
            if self.path == "/a.zip":
                self.wfile.write(archive.read_bytes())

        def log_message(self, *arguments):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        streams = MultiStream.from_iterables({"t": ROWS})
        assert DownloadOperator(source=f"{url}/a.zip", target=str(tmp_path / "b.zip"))(streams) is streams
        ExtractZipFile(zip_file=str(tmp_path / "b.zip"), target_dir=str(tmp_path / "out"))()
        assert (tmp_path / "out" / "inner.txt").read_text() == "content"
        with pytest.raises(DataError, match="cannot be downloaded"):
            DownloadOperator(source=f"{url}/b.zip", target=str(tmp_path / "c.zip"))()
    finally:
        server.shutdown()
        server.server_close()
    with pytest.raises(DataError, match="not http"):
        DownloadOperator(source="file:///etc/passwd", target=str(tmp_path / "c"))()
    (tmp_path / "bad.zip").write_bytes(b"nothing")
    with pytest.raises(DataError, match="cannot be unpacked"):
        ExtractZipFile(zip_file=str(tmp_path / "bad.zip"), target_dir=str(tmp_path / "out"))()
