import re

from hypothesis import given
from hypothesis import strategies as st

from proctor.formats.newline import apply_newline_notation, edits

TEXT = st.lists(st.sampled_from(["\n", "\\", "N", "\\N", "a", "(", ")", " ", "é"]), max_size=16).map("".join)


def by_rule(text):
    """The rules as they are written down: two substitutions."""
    return re.sub(r"[\n(\\N)]*(\\N)+", r"\n", re.sub(r"^(?:\n|\\N)*\\N", "", text))


@given(TEXT)
def test_looking_only_around_the_marks_gives_what_the_rules_say(text):
    assert apply_newline_notation(text) == by_rule(text)


@given(TEXT)
def test_the_list_of_edits_gives_the_same(text):
    done, result = 0, ""
    for start, end, replacement in edits(text):
        result += text[done:start] + replacement
        done = end
    assert result + text[done:] == by_rule(text)


def test_runs_reach_to_the_left():
    assert apply_newline_notation("HUMAN\\Nx") == "HUMA\nx"
    assert apply_newline_notation("a (b)\\Nc") == "a (b\nc"
    assert apply_newline_notation("\n\n\\Nx\n\\N\\Ny") == "x\ny"
    assert apply_newline_notation("plain\n") == "plain\n"
