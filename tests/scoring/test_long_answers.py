"""Models that repeat themselves for thirty thousand characters: what reads their answers ends all the same."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_pace import in_time

from proctor.scoring.evaluators.lettered import _same_words
from proctor.scoring.mathematics.mathematical_answers import _PERCENT
from proctor.scoring.text.number_processors import (
    ExtractArenaHardNumericalJudgment,
    ExtractMtBenchLabelJudgment,
    ExtractMtBenchRatingJudgment,
)
from proctor.scoring.text.postprocessors.families import bbh_freeform
from proctor.scoring.text.postprocessors.mathematics import _SIMPLE_ZEROS
from proctor.scoring.text.text_processors import TakeFirstWord

LONG = [sign * (60_000 // len(sign)) for sign in ("-", "[", "]", " ", "[[", "[[ ", "1", "1.", "\n", "0", ", ", "**")]
READERS = {
    "first word": TakeFirstWord().process_value,
    "label": ExtractMtBenchLabelJudgment().process_value,
    "verdict": ExtractArenaHardNumericalJudgment().process_value,
    "rating": ExtractMtBenchRatingJudgment().process_value,
    "percent": _PERCENT.search,
    "freeform": bbh_freeform,
    "words": lambda text: _same_words(text, "a, b"),
    "zeros": lambda text: [pattern.sub("", text) for pattern in _SIMPLE_ZEROS],
}


@pytest.mark.parametrize("name", READERS)
def test_what_reads_answers_takes_time_as_they_are_long(name):
    for text in [*LONG, *("[[" + each + "x" for each in LONG), *("answer is " + each + "x" for each in LONG)]:
        began = time.process_time()
        READERS[name](text)
        assert in_time(time.process_time() - began, 1), text[:20]


@given(st.text("[]aA>B 1", max_size=12))
def test_labels_are_what_unitxt_s_pattern_finds(text):
    match = re.search(r"\[\[([^\]]+)\]\]", text)
    assert ExtractMtBenchLabelJudgment().process_value(text) == (match.group(1) if match else "None")


@given(st.text("[]1 .*/0", max_size=12))
def test_ratings_are_what_unitxt_s_pattern_finds(text):
    match = re.search(r"\[\[([\s*\d]+\.?[\d]*\s*)(/\s*10)?\s*\]\]", text)
    try:
        wanted = float(match.group(1)) / 10 if match else 0.0
    except ValueError:
        return
    assert ExtractMtBenchRatingJudgment().process_value(text) == wanted


@given(st.text("-1a. ", max_size=12))
def test_first_words_are_what_unitxt_s_pattern_finds(text):
    match = re.search(r"([-]*[0-9]+(\.([0-9]+))*)|([\w]+)", text)
    assert TakeFirstWord().process_value(text) == (match.group() if match else "")


@given(st.lists(st.sampled_from([" ", "%", "\\%", "\\text{pct}", "percent", "1", "\n"]), max_size=8))
def test_percents_are_found_where_they_were(parts):
    text = "".join(parts)
    plain = re.search(
        r"\s*(?:\\?%|\\text\s*\{\s*(?:percent(?:age)?|pct)\s*\}|\s+(?:percent(?:age)?|pct))\s*$", text, re.IGNORECASE
    )
    found = _PERCENT.search(text)
    assert (found and found.span()) == (plain and plain.span())
