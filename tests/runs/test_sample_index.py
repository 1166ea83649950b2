import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from proctor.errors import DataError, UsageError
from proctor.results.instance_scores import main_score
from proctor.runs.sample_index import SampleIndex, ScoredLines
from proctor.runs.sample_lines import failure_of, read_line
from proctor.runs.sample_query import SampleQuery

WORDS = ["red", "green", "blue", "Grün", "zwei Wörter"]
RECORDS = st.lists(
    st.fixed_dictionaries(
        {
            "exam": st.sampled_from(["a", "b"]),
            "output": st.sampled_from(WORDS),
            "score": st.sampled_from([None, 0.0, 0.5, 1.0]),
            "colour": st.sampled_from(["pale", "dark"]),
        }
    ),
    min_size=1,
    max_size=30,
)


def lines_of(records):
    return [
        {
            "exam": each["exam"],
            "doc_id": number,
            "output": each["output"],
            "prompt": "say",
            "input": {"colour": each.get("colour"), "metadata": {"num_demos": number % 2}},
            "scores": {"score": each["score"]},
        }
        | ({"failure": {"kind": "timeout"}} if each["score"] is None else {})
        for number, each in enumerate(records)
    ]


def made(folder, records, **more):
    path = folder / "samples.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in records))
    return SampleIndex(path, index=folder / "index.db", **more)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=120, deadline=None)
@given(
    RECORDS,
    st.sampled_from([None, "a", "b"]),
    st.sampled_from(["", "red", "gr*", "WÖRTER", "say blue", '"', "red OR blue"]),
    st.sampled_from([None, True, False]),
    st.sampled_from(["place", "score", "-score"]),
    st.sampled_from([(), ("a",), ("b", "unknown"), ("a", "b")]),
    st.sampled_from([None, "colour=pale", "colour=dark, num_demos=1"]),
    st.sampled_from([None, 0.5]),
)
def test_pages_are_what_a_scan_of_the_file_finds(
    tmp_path_factory, records, exam, text, failed, order, subset, group, lowest
):
    lines = lines_of(records)
    groupings = {name: [("colour",), ("colour", "num_demos")] for name in "ab"}
    index = made(tmp_path_factory.mktemp("index"), lines, groupings=groupings)
    assert index.build()
    query = SampleQuery(exam, subset, group, text, failed, lowest, None, order)
    wanted = [number for number, line in enumerate(lines) if matches(line, query)]
    scores = [each["score"] for each in records]
    if order == "score":
        wanted.sort(key=lambda number: (scores[number] is not None, scores[number] or 0.0))
    elif order == "-score":
        wanted.sort(key=lambda number: (scores[number] is None, -(scores[number] or 0.0)))
    page = index.page(query, 0, 100)
    assert [sample.number for sample in page.samples] == wanted
    assert page.total == len(wanted)
    for place, number in enumerate(wanted):
        before, after = index.neighbours(query, number)
        assert before == (wanted[place - 1] if place else None)
        assert after == (wanted[place + 1] if place + 1 < len(wanted) else None)


def matches(line, query):
    words = f"{line['output']} {line['prompt']}".lower().replace("ü", "u").replace("ö", "o").split()
    for word in query.text.lower().replace('"', "").replace("ö", "o").split():
        if not any(each == word or (word.endswith("*") and each.startswith(word[:-1])) for each in words):
            return False
    fails = "failure" in line
    if query.lowest is not None and (line["scores"]["score"] is None or line["scores"]["score"] < query.lowest):
        return False
    colour, demos = line["input"]["colour"], line["input"]["metadata"]["num_demos"]
    groups = (None, f"colour={colour}", f"colour={colour}, num_demos={demos}")
    if query.group not in groups or (query.subset and line["exam"] not in query.subset):
        return False
    return query.exam in (None, line["exam"]) and query.failed in (None, fails)


def test_building_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("proctor.runs.sample_index._BATCH_BYTES", 200)
    records = lines_of([{"exam": "a", "output": "red", "score": 1.0}] * 50)
    index = made(tmp_path, records)
    assert not index.build(seconds=0.0)
    assert 0 < index.share < 1
    seen = index.page(SampleQuery()).total
    assert 0 < seen < 50
    again = SampleIndex(tmp_path / "samples.jsonl", index=tmp_path / "index.db")
    assert again.build()
    assert again.page(SampleQuery(text="red")).total == 50
    assert again.share == 1.0


def test_a_file_that_changed_gets_a_new_index(tmp_path):
    path = tmp_path / "samples.jsonl"
    path.write_text('{"exam": "a"}\n')
    first = SampleIndex(path)
    path.write_text('{"exam": "a"}\n{"exam": "b"}\n')
    second = SampleIndex(path)
    assert first.index != second.index
    second.build()
    assert second.exams() == ["a", "b"]


def test_pairs_are_found_by_document(tmp_path):
    index = made(tmp_path, lines_of([{"exam": "a", "output": "red", "score": 0.5}] * 3))
    index.build()
    assert index.find("a", 2).number == 2
    assert index.find("a", 7) is None
    assert index.find("b", 0) is None
    with pytest.raises(UsageError, match="no instance 9"):
        index.get(9)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        SampleIndex(tmp_path / "nothing.jsonl")


@pytest.mark.parametrize(
    "line, kind",
    [
        (b'{"output": "\xff"}', None),
        (b'{"output": "\\ud800"}', None),
        (b"{", "broken line"),
        (b"[]", "broken line"),
        (b"", "broken line"),
        (b'{"failure": {"kind": "timeout"}}', "timeout"),
        (b'{"failure": null, "scoring_failure": {"kind": "parse"}}', "parse"),
        (b'{"failure": "text"}', "text"),
    ],
)
def test_every_line_is_a_record(line, kind):
    assert failure_of(read_line(line)) == kind


@pytest.mark.parametrize(
    "scores, name, expected",
    [
        ({"score": 0.5, "f1:best": 1.0}, "f1:best", 1.0),
        ({"score": 0.5, "em": 1.0}, "f1", 0.5),
        ({"em": 0.5, "accuracy": 1.0}, "accuracy (3 runs average)", 1.0),
        ({"em": 0.25, "f1": 1.0}, "f1", 1.0),
        ({"em": 0.25}, None, 0.25),
        ({"note": "text", "ok": True, "em": 0}, None, 1.0),
        ({"ok": False, "length": 3}, "ok", 0.0),
        ({"score": 0.5, "f1": None}, "f1", None),
        ({}, None, None),
        (None, None, None),
    ],
)
def test_the_main_score(scores, name, expected):
    assert main_score({"scores": scores}, name) == expected


def test_copies_of_a_question_are_one_instance():
    lines = ScoredLines(np.array([3, 4, 5, 6, 7]), np.array([9, 8, 9, 8, 5]), np.array([1.0, 0.0, 0.0, math.nan, 1.0]))
    found = lines.by_question()
    assert found.numbers.tolist() == [3, 4, 7]
    assert found.digests.tolist() == [9, 8, 5]
    assert found.scores.tolist() == pytest.approx([0.5, math.nan, 1.0], nan_ok=True)
    unknown = lines._replace(digests=np.array([9, 0, 9, 0, 5]))
    assert unknown.by_question() is unknown, "what instances hold is not known: nothing says which are copies"
