import json

import pytest

from proctor.errors import TemplateError, ValidationError
from proctor.templates import (
    InputOutputTemplate,
    InputOutputTemplateWithCustomTarget,
    JsonOutputTemplate,
    KeyValTemplate,
    MultiLabelTemplate,
    MultiReferenceTemplate,
    MultiTurnTemplate,
    NullTemplate,
    OutputQuantizingTemplate,
    SpanLabelingJsonTemplate,
    SpanLabelingTemplate,
    Template,
)


def process(template, inputs, references=None, stream=None):
    instance = {"input_fields": inputs}
    if references is not None:
        instance["reference_fields"] = references
    return template.process(instance, stream)


def test_the_documents_translation_template():
    template = InputOutputTemplate(
        instruction="In the following task, you translate a {text_type}.",
        input_format="Translate this {text_type} from {source_language} to {target_language}: {text}.",
        target_prefix="Translation: ",
        output_format="{translation}",
    )
    done = process(
        template,
        {"text_type": "poem", "source_language": "en", "target_language": "fr", "text": "hi"},
        {"translation": "salut"},
    )
    assert done["source"] == "Translate this poem from en to fr: hi."
    assert done["instruction"] == "In the following task, you translate a poem."
    assert (done["target"], done["references"], done["target_prefix"]) == ("salut", ["salut"], "Translation: ")
    assert done["postprocessors"] == ["processors.to_string_stripped"]


def test_lists_are_joined_in_ordinary_templates_and_shown_as_they_are_in_multi_reference_ones():
    fields = {"classes": ["a", "b"]}
    assert process(InputOutputTemplate(input_format="{classes}", output_format=""), fields, {})["source"] == "a, b"
    template = MultiReferenceTemplate(input_format="{classes}", references_field="answers")
    assert process(template, fields, {"answers": ["x", "y"]})["source"] == "['a', 'b']"
    assert process(template, fields, {"answers": ["x", "y"]})["references"] == ["x", "y"]
    assert process(template, fields, {"answers": []})["references"] == []


def test_a_random_reference_is_the_same_every_time():
    template = MultiReferenceTemplate(input_format="{q}", references_field="a", random_reference=True)
    targets = {process(template, {"q": "x"}, {"a": list("abcdefgh")})["target"] for _ in range(5)}
    assert len(targets) == 1


def test_production_needs_no_references():
    template = InputOutputTemplate(input_format="{a}", output_format="{b}")
    done = process(template, {"a": 1}, stream="__INFERENCE_STREAM__")
    assert done["source"] == "1"
    assert "target" not in done


def test_rendered_instances_are_left_alone():
    instance = {"source": "s", "target": "t", "references": ["t"], "input_fields": {}}
    assert InputOutputTemplate(input_format="{a}", output_format="{b}").process(instance) is instance


def test_the_instance_given_is_not_changed():
    template = InputOutputTemplate(input_format="{a}", output_format="{b}", title_fields=["a"])
    inputs = {"a": "big title"}
    assert process(template, inputs, {"b": 1})["source"] == "Big Title"
    assert inputs == {"a": "big title"}


def test_other_shapes_of_answers():
    custom = InputOutputTemplateWithCustomTarget(input_format="{a}", output_format="<{b}>", reference="{b}")
    assert process(custom, {"a": 1}, {"b": 2})["references"] == ["2"]
    as_json = JsonOutputTemplate(input_format="{a}", output_fields={"b": "out"}, wrap_with_list_fields=["b"])
    assert json.loads(process(as_json, {"a": 1}, {"b": "é"})["target"]) == {"out": ["é"]}
    pairs = process(KeyValTemplate(), {"a": 1, "b": "x"}, {"c": 2})
    assert (pairs["source"], pairs["target"]) == ("a: 1, b: x", "2")
    assert process(NullTemplate(), {"a": 1}, {"b": 2})["references"] == []
    labels = MultiLabelTemplate(input_format="{a}")
    assert process(labels, {"a": 1}, {"labels": ["x", "y"]})["target"] == "x, y"
    assert process(labels, {"a": 1}, {"labels": []})["target"] == "None"
    rounded = OutputQuantizingTemplate(input_format="{a}", output_format="{b}", quantum=0.5)
    assert process(rounded, {"a": 1}, {"b": 3.3})["target"] == "3.5"
    turns = [{"role": "user", "content": "hi"}]
    talk = MultiTurnTemplate(turns_field="dialog", references_field="r")
    assert process(talk, {"dialog": turns}, {"r": ["x"]})["__turns__"] == turns


def test_spans():
    references = {"spans_starts": [10, 0], "spans_ends": [13, 5], "text": "Al:ce met Bob", "labels": ["PER", "PER"]}
    assert process(SpanLabelingTemplate(input_format=""), {}, references)["target"] == "Al\\:ce: PER, Bob: PER"
    assert process(SpanLabelingJsonTemplate(input_format=""), {}, references)["target"] == '{"PER": ["Al:ce", "Bob"]}'
    only = SpanLabelingTemplate(input_format="", labels_support=["ORG"])
    assert process(only, {}, references)["target"] == "None"


def test_custom_templates_as_in_the_documents():
    class MyCustomTemplate(Template):
        def input_fields_to_source(self, inputs_fields):
            return json.dumps(inputs_fields)

        def reference_fields_to_target_and_references(self, reference_fields):
            return reference_fields["top"], [reference_fields["top"], reference_fields["other"]]

    done = process(MyCustomTemplate(), {"a": "x"}, {"top": "t", "other": "o"})
    assert (done["source"], done["target"], done["references"]) == ('{"a": "x"}', "t", ["t", "o"])


def test_fields_that_the_task_lacks_are_named():
    with pytest.raises(
        TemplateError, match=r"InputOutputTemplate\.input_format format requires a different ones: .\{txt\}"
    ) as caught:
        process(InputOutputTemplate(input_format="{txt}", output_format=""), {"text": "x"}, {})
    assert "did you mean 'text'" in str(caught.value)
    with pytest.raises(TemplateError, match="reference field"):
        process(InputOutputTemplate(input_format="", output_format="{a}"), {"a": "x"}, {"b": 1})
    with pytest.raises(TemplateError, match="list of texts"):
        process(MultiReferenceTemplate(input_format="", references_field="r"), {}, {"r": "no list"})
    with pytest.raises(TemplateError, match="needs a list"):
        process(MultiLabelTemplate(input_format=""), {}, {"labels": "no list"})


def test_a_changed_template_is_compiled_again():
    template = InputOutputTemplate(input_format="{a}", output_format="{b}")
    assert process(template, {"a": 1}, {"b": 2})["source"] == "1"
    template.input_format = "<{a}>"
    assert process(template, {"a": 1}, {"b": 2})["source"] == "<1>"


def test_an_answer_prefix_names_fields_of_the_task():
    plain = InputOutputTemplate(input_format="{a}", output_format="{b}", target_prefix="Answer: ")
    assert plain.answer_prefix_of({}) == "Answer: "
    filled = InputOutputTemplate(input_format="{a}", output_format="{b}", target_prefix="{a}: ", title_fields=["a"])
    assert filled.answer_prefix_of({"a": "hi there", "b": 1}) == "Hi There: "
    with pytest.raises(TemplateError):
        filled.answer_prefix_of({"b": 1})


def test_an_exchange_is_the_instance_in_words():
    template = InputOutputTemplate(
        instruction="Be brief.", input_format="{a}", output_format="{b}", target_prefix="So: "
    )
    done = process(template, {"a": "hi"}, {"b": "ho"})
    found = template.exchange(done)
    assert [(turn.role, turn.text) for turn in (*found.opening, *found.question)] == [
        ("system", "Be brief."),
        ("user", "hi"),
    ]
    assert (found.answer_prefix, found.answer, found.references, found.choices) == ("So: ", "ho", ("ho",), ())
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": 3}]
    spoken = template.exchange({**done, "instruction": "", "__turns__": talk})
    assert [(turn.role, turn.text) for turn in spoken.question] == [("user", "a"), ("assistant", "3")]
    assert spoken.opening == ()


def test_a_title_has_to_be_a_text():
    titled = InputOutputTemplate(input_format="{a}", output_format="{b}", title_fields=["a"])
    assert process(titled, {"a": "hi there"}, {"b": 1})["source"] == "Hi There"
    with pytest.raises(TemplateError, match="the title field 'a' has to be a text"):
        process(titled, {"a": 3}, {"b": 1})


@pytest.mark.parametrize("name", ["input_format", "output_format"])
def test_a_template_without_formats_says_which_is_missing(name):
    fields = {"input_format": "{a}", "output_format": "{b}"}
    del fields[name]
    with pytest.raises(ValidationError, match=f"'{name}'"):
        process(InputOutputTemplate(**fields), {"a": 1}, {"b": 1})


def test_an_instance_without_references_is_refused_unless_it_is_asked():
    template = InputOutputTemplate(input_format="{a}", output_format="{b}")
    with pytest.raises(TemplateError, match="no reference fields"):
        process(template, {"a": 1})
