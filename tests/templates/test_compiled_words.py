"""A template prepares what it can once, and still does what its fields and its class say."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.data.streams import INFERENCE_STREAM
from proctor.errors import TemplateError
from proctor.templates import InputOutputTemplate, InputOutputTemplateWithCustomTarget, MultiReferenceTemplate

ROW: dict[str, Any] = {"input_fields": {"a": "one", "b": "two"}, "reference_fields": {"c": "three"}}


def words(template, row=ROW, stream=None):
    found = template.process(row, stream)
    return [found.get(name) for name in ("source", "instruction", "target_prefix", "target", "references")]


def made(**fields):
    return InputOutputTemplate(input_format="{a}+{b}", output_format="={c}", **fields)


def test_later_changes_reach_the_template():
    template = made(instruction="Add {a}.", target_prefix="{b}:")
    assert words(template) == ["one+two", "Add one.", "two:", "=three", ["=three"]]
    template.input_format, template.instruction = "{b}", "Now {b}."
    assert words(template) == ["two", "Now two.", "two:", "=three", ["=three"]]
    template.title_fields = ["b"]
    assert words(template)[0] == "Two"


def test_a_copy_has_words_of_its_own():
    template = made()
    assert words(template)[0] == "one+two"
    copy = template.model_copy(update={"input_format": "{b}", "output_format": "{c}!"})
    assert words(copy) == ["two", "", "", "three!", ["three!"]]
    assert words(template)[0] == "one+two"


def test_rows_are_left_as_they_are():
    row = {"input_fields": {"a": "one", "b": "two"}, "reference_fields": {"c": "three"}}
    found = made(title_fields=["a"]).process(row)
    found["input_fields"]["a"] = found["reference_fields"]["c"] = "changed"
    assert row == ROW


def test_an_instruction_of_the_row_wins():
    assert words(made(instruction="Add."), {**ROW, "instruction": "{a}?"})[1] == "one?"
    assert words(made(instruction="Add."), {**ROW, "instruction": "Add."})[1] == "Add."


def test_without_references_there_is_no_answer():
    assert words(made(), {"input_fields": ROW["input_fields"]}, INFERENCE_STREAM)[3:] == [None, None]
    with pytest.raises(TemplateError, match="no reference fields"):
        words(made(), {"input_fields": ROW["input_fields"]})


def test_what_a_class_overrides_is_called():
    class Own(InputOutputTemplate):
        def preprocess_input_fields(self, input_fields):
            return {**input_fields, "a": input_fields["a"].upper()}

        def input_fields_to_source(self, input_fields):
            return super().input_fields_to_source(input_fields) + "?"

        def reference_fields_to_target_and_references(self, reference_fields):
            target, references = super().reference_fields_to_target_and_references(reference_fields)
            return target, [*references, "more"]

        def fill(self, text, name, values, kind="input field"):
            return super().fill(text, name, values, kind) + "!"

        def post_process_instance(self, instance):
            return {**instance, "instruction": instance["instruction"] + " Now."}

    own = Own(input_format="{a}+{b}", output_format="={c}", instruction="Add.")
    assert words(own) == ["ONE+two!?", "Add.! Now.", "!", "=three!", ["=three!", "more"]]


def test_templates_with_other_answers_keep_them():
    custom = InputOutputTemplateWithCustomTarget(input_format="{a}", output_format="{c}", reference="{c}{c}")
    assert words(custom)[3:] == ["three", ["threethree"]]
    several = MultiReferenceTemplate(input_format="{a}", references_field="c")
    assert words(several, {**ROW, "reference_fields": {"c": ["x", "y"]}})[3:] == ["x", ["x", "y"]]


def test_a_missing_field_is_named():
    with pytest.raises(TemplateError, match="input fields are .a. but InputOutputTemplate.input_format .*{b}"):
        words(made(), {"input_fields": {"a": "one"}, "reference_fields": {"c": "three"}})
    with pytest.raises(TemplateError, match="reference fields are .* but InputOutputTemplate.output_format .*{c}"):
        words(made(), {"input_fields": ROW["input_fields"], "reference_fields": {"d": "three"}})


VALUES = st.text(max_size=4) | st.integers() | st.lists(st.text(max_size=2), max_size=2) | st.none() | st.booleans()


@given(VALUES, VALUES, VALUES)
def test_compiled_words_are_those_of_the_hooks(first, second, third):
    template = made(instruction="{a} of {b}", target_prefix="{b}: ")
    row = {"input_fields": {"a": first, "b": second}, "reference_fields": {"c": third}}
    inputs = template.serialize(row["input_fields"], row)
    answer = template.serialize(row["reference_fields"], row)
    assert words(template, row) == [
        template.input_fields_to_source(inputs),
        template.fill(template.instruction, "instruction", inputs),
        template.fill(template.target_prefix, "target_prefix", inputs),
        *template.reference_fields_to_target_and_references(answer),
    ]
