"""Proctor answers as the other systems did when they were recorded (``make conformance``), without them."""

import dataclasses
import warnings

import pytest
from conformance.explained import EXPLANATIONS
from conformance.recorded import recording
from conformance.recorded.record import PACKAGES, comparisons_of, kept_or_new
from conformance.recorded.recording import Comparison, Explained, Header, Recording

COMPARISONS = {each.name: each for dialect in PACKAGES for each in comparisons_of(dialect)}
LEAST = 20_000
"""Answers that all recordings hold together, at least."""
SHOWN = 5


@pytest.fixture(scope="module")
def recordings():
    return {name: each for dialect in PACKAGES for name, each in recording.read(dialect).items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPARISONS)
def test_nothing_differs_unexplained(name, recordings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries, on samples that are small on purpose
        found = list(recording.replay(COMPARISONS[name], recordings[name]))
    shown = "\n".join(map(str, found[:SHOWN]))
    assert not found, f"{len(found)} differ from {recordings[name].header.peer}; make conformance shows both\n{shown}"


def test_there_are_enough_and_they_say_where_they_come_from(recordings):
    assert set(recordings) == set(COMPARISONS)
    assert sum(each.count for each in recordings.values()) > LEAST
    for each in recordings.values():
        assert each.count
        assert all(dataclasses.astuple(each.header)), each.header


def test_every_explanation_has_a_sentence(recordings):
    for name, each in recordings.items():
        assert set(each.explanations()) <= set(EXPLANATIONS), name


# -- what replays can see ----------------------------------------------------------------------------------------

HEADER = Header("lm_eval/made", "peer", "1", "command", "today")


def comparison(ours, theirs, explain=lambda *_: ""):
    cases = list(range(len(theirs)))
    return Comparison("lm_eval/made", "peer", lambda: cases, lambda case: ours[case], lambda _: theirs, explain)


def replayed(ours, theirs, later, explain=lambda *_: ""):
    """Return what a replay finds after our answers became ``later``."""
    made, _ = recording.record(comparison(ours, theirs, explain), HEADER)
    return [each.name for each in recording.replay(comparison(later, theirs, explain), made)]


@pytest.mark.parametrize(
    "before, after, seen",
    [
        ("a prompt", "a prompt", False),
        ("a prompt", "a prompt ", True),
        (0.5, 0.5 + 1e-12, False),
        (0.5, 0.5 + 1e-6, True),
        (1, 1.0, True),
        ([1, {"a": 0.25}], [1, {"a": 0.75}], True),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, False),
        ({"error": "one"}, {"error": "other words"}, False),
        ({"error": "one"}, "an answer", True),
        (float("nan"), float("nan"), False),
        ("\ud800", "\ud800", False),
    ],
)
def test_a_changed_answer_is_seen(before, after, seen):
    assert replayed([{"x": before}], [{"x": before}], [{"x": after}]) == (["x"] if seen else [])


def test_an_explained_answer_may_become_theirs_and_nothing_else():
    explain = lambda *_: "lm_eval/fewshot-indices"  # noqa: E731
    mine, theirs = [{"x": "mine"}], [{"x": "theirs"}]
    assert replayed(mine, theirs, mine, explain) == []
    assert replayed(mine, theirs, theirs, explain) == []
    assert replayed(mine, theirs, [{"x": "another"}], explain) == ["x"]


def test_without_an_explanation_it_is_a_difference():
    _, differences = recording.record(comparison([{"x": "mine"}], [{"x": "theirs"}]), HEADER)
    assert [each.name for each in differences] == ["x"]
    assert replayed([{"x": "mine"}], [{"x": "theirs"}], [{"x": "mine"}]) == ["x"]


def test_a_case_that_is_not_asked_any_more_is_missed():
    made, _ = recording.record(comparison([{"x": 1}, {"x": 2}], [{"x": 1}, {"x": 2}]), HEADER)
    assert len(list(recording.replay(comparison([{"x": 1}], [{"x": 1}]), made))) == 1


def test_recordings_are_written_and_read(tmp_path, monkeypatch):
    monkeypatch.setattr(recording, "FOLDER", tmp_path)
    made = Recording(
        HEADER, {"00": {"x": "ab", "y": ["cd", 0.5, "nan"], "z": Explained("ef", "lm_eval/x", ["gh", 1.0])}}
    )
    recording.write("lm_eval", [made])
    first = recording.path_of("lm_eval").read_bytes()
    assert recording.read("lm_eval") == {"lm_eval/made": made}
    recording.write("lm_eval", recording.read("lm_eval").values())
    assert recording.path_of("lm_eval").read_bytes() == first


# -- recording again ---------------------------------------------------------------------------------------------


def test_a_recording_that_is_equal_but_for_its_date_stays(capsys):
    before, _ = recording.record(comparison([{"a": 1.0}], [{"a": 1.0}]), HEADER)
    now, _ = recording.record(comparison([{"a": 1.0}], [{"a": 1.0}]), dataclasses.replace(HEADER, date="later"))
    assert kept_or_new(before, now) is before
    assert "1 cases equal to those recorded on today, which stay" in capsys.readouterr().out


@pytest.mark.parametrize(
    "theirs, header, said",
    [
        ([{"a": 2.0}], HEADER, "1 cases are others than before"),
        ([{"a": 1.0}, {"a": 1.0}], HEADER, "1 cases are others than before"),
        ([{"a": 1.0}], dataclasses.replace(HEADER, version="2"), "0 cases are others than before"),
    ],
)
def test_a_recording_with_other_answers_or_of_another_version_is_new(theirs, header, said, capsys):
    before, _ = recording.record(comparison([{"a": 1.0}], [{"a": 1.0}]), HEADER)
    now, _ = recording.record(comparison(theirs, theirs), header)
    assert kept_or_new(before, now) is now
    assert said in capsys.readouterr().out


def test_the_first_recording_is_new(capsys):
    now, _ = recording.record(comparison([{"a": 1.0}], [{"a": 1.0}]), HEADER)
    assert kept_or_new(None, now) is now
    assert "none before" in capsys.readouterr().out
