from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from proctor.formats import Demo, Parts, SystemFormat
from proctor.formats.system import Frame

WORDS = st.lists(st.sampled_from(["\\N", "\n", "(", ")", "N", "\\", "a", "b c", "é", "\ue000", " ", "%s"]), max_size=6)
PLAIN = st.sampled_from(["one", "two words", "x"])
TEXT = WORDS.map("".join) | PLAIN
DEMOS = st.lists(st.builds(Demo, PLAIN | TEXT, TEXT, TEXT), max_size=3)
PARTS = st.builds(Parts, PLAIN | TEXT, TEXT, TEXT, TEXT, DEMOS)
FORMATS = [
    SystemFormat(),
    SystemFormat(model_input_format="{system_prompt}{instruction}\n{demos}\\N{source}\n{target_prefix}"),
    SystemFormat(model_input_format="{demos}{instruction}{source}{target_prefix}"),
    SystemFormat(model_input_format="{source}\\N{demos}"),
    SystemFormat(model_input_format="{demos}: {source!r}"),
    SystemFormat(model_input_format="{instruction:>9}{demos}{source}"),
    SystemFormat(model_input_format="{source} {source}"),
    SystemFormat(model_input_format="({source})\\N"),
    SystemFormat(demo_format="{source}{target}\\N", model_input_format="[{demos}]{source}{target_prefix}"),
    SystemFormat(
        demo_format="{instruction}\\N{source}{sep}{target}\\N",
        model_input_format="{demos}\\N{source}{sep}",
        format_args={"sep": " -> "},
    ),
]


@settings(max_examples=400, deadline=None)
@given(st.lists(PARTS, min_size=1, max_size=3), st.sampled_from(FORMATS))
@example([Parts("q", "", "Do.", "A:", [Demo("d", "t\\N")]), Parts("q (b)", "", "Do.", "A:")], FORMATS[0])
def test_a_frame_made_once_gives_what_laying_out_the_whole_gives(many, form):
    framed = form.layout()
    with patch.object(Frame, "of", return_value=None):
        whole = form.layout()
    for parts in many:
        assert framed(parts).text == whole(parts).text


def test_ordinary_prompts_are_framed():
    fill, calls = "{system_prompt}\\N{instruction}\\N{demos}{source}\\N{target_prefix}".format_map, []
    frame = Frame.of("{instruction}{demos}{source}", lambda values: calls.append(values) or fill(values), {})
    demos = [Demo("1+1", "2\n\n"), Demo("2+2", "4\n\n")]
    for _ in range(3):
        found = frame.around(
            Parts("3+3", "", "Add.", "A:", demos), lambda demo, parts: f"{demo.source}\\N{demo.target}"
        )
        assert found == "Add.\n1+1\n2\n\n2+2\n4\n\n3+3\nA:"
        assert frame.around(Parts("4+4", "", "Add.", "A:"), lambda demo, parts: "") == "Add.\n4+4\nA:"
    assert len(calls) == 2


@pytest.mark.parametrize("source", ["", "a)", "(a", "a\\Nb", "New", "a\n"])
def test_a_question_that_runs_may_reach_into_is_not_framed(source):
    assert Frame.of("{source}", "{source}\\N".format_map, {}).around(Parts(source), lambda *_: "") is None


def test_values_that_are_no_texts_are_not_framed():
    frame = Frame.of("{instruction}{source}", "{instruction}{source}".format_map, {})
    assert [frame.around(Parts("x", instruction=each), lambda *_: "") for each in (True, 1, 1.0)] == [None] * 3
