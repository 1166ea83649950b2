from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.artifacts import fetch_artifact
from proctor.data.augmentors import AugmentPrefixSuffix, AugmentWhitespace, NullAugmentor, TextAugmentor
from proctor.errors import DataError, ValidationError


def augmented(augmentor, value):
    augmentor.set_fields(["q"])
    return augmentor.process_instance({"input_fields": {"q": value, "r": 1}})["input_fields"]


@given(st.text())
def test_blanks_change_and_words_stay(text):
    changed = AugmentWhitespace().process_value(text)
    assert changed.split() == text.split()
    assert changed == AugmentWhitespace().process_value(text)


def test_only_named_inputs_change():
    assert augmented(AugmentWhitespace(), "a b") == {"q": AugmentWhitespace().process_value("a b"), "r": 1}
    assert augmented(AugmentWhitespace(), 3) == {"q": 3, "r": 1}
    assert augmented(NullAugmentor(), "a b") == {"q": "a b", "r": 1}


@given(st.text())
def test_patterns_are_added_around_the_text(text):
    augmentor = AugmentPrefixSuffix(prefixes=["<", "["], prefix_len=2, suffixes={">": 1}, suffix_len=1)
    changed = augmentor.process_value(text)
    assert changed[2:-1] == text
    assert set(changed[:2]) <= {"<", "["}
    assert changed[-1] == ">"


def test_blanks_at_the_ends_can_be_removed():
    augmentor = AugmentPrefixSuffix(prefixes=["-"], prefix_len=1, suffixes=None, remove_existing_whitespaces=True)
    assert augmentor.process_value("  x ") == "-x"


@pytest.mark.parametrize(
    "options",
    [
        {"prefixes": None, "suffixes": None},
        {"prefix_len": 0},
        {"suffix_len": -1},
        {"prefixes": {"x": 0.5}},
        {"suffixes": "x"},
    ],
)
def test_what_cannot_be_drawn_is_refused(options):
    with pytest.raises(ValidationError):
        AugmentPrefixSuffix(**options)


def test_there_has_to_be_a_text():
    with pytest.raises(DataError, match="no text"):
        AugmentPrefixSuffix().process_value(None)


def test_types_may_be_given_as_text():
    class Shout(TextAugmentor):
        def process_value(self, value):
            return value.upper()

    assert augmented(Shout(augmented_type="int"), "x")["q"] == "x"
    assert augmented(Shout(), "x")["q"] == "X"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "name",
    [
        "augment_whitespace_task_input",
        "no_augmentation",
        "augment_whitespace_prefix_and_suffix_task_input",
        "text.whitespace_prefix_suffix",
    ],
)
def test_the_augmentors_of_the_catalog_change_text_only_around_it(name):
    assert (
        augmented(fetch_artifact(f"augmentors.{name}"), "a b")["q"].replace("\\n", "").replace("\\t", "").strip()
        == "a b"
    )
