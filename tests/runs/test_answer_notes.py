"""Notes on answers as a run folder keeps them."""

import json
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from proctor.errors import UsageError
from proctor.runs.answer_notes import NOTES, Note, add_note, notes_of


def kept(folder, *records):
    (folder / NOTES).write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in records))
    return notes_of(folder)


def test_a_note_is_kept_with_its_author_and_when_it_was_written(tmp_path):
    add_note(tmp_path, "a-1", Note("up", "größer", "Ann", "2026-01-02T03:04:05"))
    add_note(tmp_path, "a-1", Note("down", "x"))
    first, second = map(json.loads, (tmp_path / NOTES).read_text(encoding="utf-8").splitlines())
    assert first == {"answer": "a-1", "when": "2026-01-02T03:04:05", "who": "Ann", "thumb": "up", "note": "größer"}
    assert abs(datetime.now(UTC) - datetime.fromisoformat(second["when"])).total_seconds() < 60
    assert "." not in second["when"]
    assert notes_of(tmp_path) == {
        "a-1": [Note("up", "größer", "Ann", "2026-01-02T03:04:05"), Note("down", "x", "", second["when"])]
    }
    assert notes_of(tmp_path / "none") == {}


@pytest.mark.parametrize(
    "record, note",
    [
        ({"answer": "a", "thumb": "up"}, Note("up", "")), ({"answer": "a", "thumb": "sideways", "note": "n"}, Note("", "n")),
        ({"answer": "a", "note": "x" * 2001}, Note("", "x" * 2000)),
        ({"answer": "a", "note": "n", "who": "w" * 101, "when": "1" * 41}, Note("", "n", "w" * 100, "1" * 40)),
        ({"answer": "a", "note": 5, "when": 7, "who": None}, Note("", "5", "", "7")),
    ],
)  # fmt: skip
def test_what_a_line_says_is_cut_to_what_a_note_holds(tmp_path, record, note):
    assert kept(tmp_path, record) == {"a": [note]}


def test_lines_of_other_shapes_are_left_out(tmp_path):
    assert kept(tmp_path, "no", [1], "3", {"note": "n"}, {"answer": "b", "thumb": "x"}) == {"None": [Note("", "n")]}


def test_a_note_in_a_line(tmp_path):
    assert [str(Note(*each)) for each in (("up", ""), ("down", "no"), ("", "no", "Ann"), ("", "", "Ann"))] == [
        "👍",
        "👎 no",
        "no (Ann)",
        "(Ann)",
    ]


@pytest.mark.parametrize(
    "note, why",
    [
        (Note("sideways-and-more", ""), "there is no thumb 'sideways-a'"), (Note("", "x" * 2001), "the note has 2,001 characters"),
        (Note("", "", "x" * 101), "the who has 101 characters"),
    ],
)  # fmt: skip
def test_what_is_no_note_is_refused(tmp_path, note, why):
    with pytest.raises(UsageError, match=why):
        add_note(tmp_path, "a-1", note)
    assert not list(tmp_path.iterdir())
    add_note(tmp_path, "a-1", Note("up", "x" * 2000, "x" * 100))


def test_the_last_note_of_each_person_counts_and_an_empty_one_takes_it_back(tmp_path):
    for thumb, text, who in (("up", "a", "Ann"), ("down", "b", "Bob"), ("", "c", "Ann"), ("", "", "Bob")):
        add_note(tmp_path, "a-1", Note(thumb, text, who))
    assert [(each.thumb, each.text, each.who) for each in notes_of(tmp_path)["a-1"]] == [("", "c", "Ann")]


def test_notes_of_several_processes_stand_one_after_the_other(tmp_path):
    """Each begins to write where the other one ended meanwhile."""
    program = (
        "import sys; from pathlib import Path; from proctor.runs.answer_notes import *\n"
        "for n in range(200): add_note(Path(sys.argv[1]), f'{sys.argv[2]}{n}', Note('up', 'x' * 300))"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    both = [subprocess.Popen([*command, name]) for name in "ab"]
    assert [each.wait() for each in both] == [0, 0]
    assert len(notes_of(tmp_path)) == 400


def test_a_note_that_nobody_would_read_again_is_refused(tmp_path):
    (tmp_path / NOTES).write_bytes(b"\n" * ((16 << 20) - 10))
    with pytest.raises(UsageError, match="takes no more"):
        add_note(tmp_path, "a", Note("up", "much"))
    assert (tmp_path / NOTES).stat().st_size == (16 << 20) - 10
