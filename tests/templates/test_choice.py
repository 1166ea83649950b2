import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import TemplateError
from proctor.templates import (
    DialogTemplate,
    MultipleChoiceTemplate,
    PairwiseChoiceTemplate,
    PairwiseComparativeRatingTemplate,
    YesNoTemplate,
)

CHOICES = ["whale", "ox", "bee"]


def process(template, **fields):
    return template.process(
        {
            "input_fields": {"question": "Q?", "choices": list(CHOICES)},
            "reference_fields": {"choices": list(CHOICES), "label": fields.get("label", 1)},
        }
    )


def template(**fields):
    return MultipleChoiceTemplate(input_format="{question}\n{choices}\n{numerals}", **fields)


def test_question_choices_and_answer():
    done = process(template(choices_separator="\n"))
    assert done["source"] == "Q?\nA. whale\nB. ox\nC. bee\nA, B, C"
    assert done["target"] == "B"
    assert done["input_fields"]["options"] == ["A", "B", "C"]
    assert process(template(target_choice_format="{choice_text}"), label="bee")["target"] == "bee"


@pytest.mark.parametrize(
    "enumerator, expected",
    [("lowercase", "b"), ("numbers", "2"), ("roman", "II"), ("XYZ", "Y"), (["one", "two", "three"], "two")],
)
def test_numerals(enumerator, expected):
    assert process(template(enumerator=enumerator))["target"] == expected


@pytest.mark.parametrize(
    "order, choices, target",
    [
        ({"sort_choices_by_length": True}, ["ox", "bee", "whale"], "A"),
        ({"sort_choices_alphabetically": True}, ["bee", "ox", "whale"], "B"),
        ({"reverse_choices": True}, ["bee", "ox", "whale"], "B"),
        ({"place_correct_choice_position": -1}, ["whale", "bee", "ox"], "C"),
        ({"place_correct_choice_position": 0}, ["ox", "whale", "bee"], "A"),
    ],
)
def test_orders(order, choices, target):
    done = process(template(**order))
    assert done["input_fields"]["choices"] == choices
    assert done["target"] == target
    assert done["reference_fields"]["label"] == choices.index("ox")


@given(st.integers(0, 2), st.integers(0, 5))
def test_a_shuffle_keeps_the_right_answer_right(label, seed):
    done = process(template(shuffle_choices=True, shuffle_choices_seed=seed), label=label)
    choices = done["input_fields"]["choices"]
    assert sorted(choices) == sorted(CHOICES)
    assert choices["ABC".index(done["target"])] == CHOICES[label]


def test_the_exchange_knows_what_to_score():
    shown = template()
    exchange = shown.exchange(process(shown))
    assert (exchange.choices, exchange.gold, exchange.answer) == (("A", "B", "C"), 1, "B")
    texts = template(target_choice_format="{choice_text}", reverse_choices=True)
    exchange = texts.exchange(process(texts))
    assert (exchange.choices, exchange.gold) == (("bee", "ox", "whale"), 1)


def test_choices_are_labelled_for_people_who_look():
    shown = template(choices_separator="\n", reverse_choices=True)
    done = process(shown)
    instance = {
        "input_fields": {"question": "Q?", "choices": CHOICES},
        "reference_fields": {"choices": CHOICES, "label": 1},
    }
    spans = shown.source_spans(instance)
    assert "".join(span.text for span in spans) == done["source"]
    assert [span.text for span in spans if span.origin.startswith("choice")] == ["A. bee", "B. ox", "C. whale"]


@pytest.mark.parametrize(
    "fields",
    [
        {"shuffle_choices": True, "reverse_choices": True},
        {"sort_choices_by_length": True, "sort_choices_alphabetically": True},
        {"place_correct_choice_position": 0, "reverse_choices": True},
    ],
)
def test_contradicting_orders_are_refused(fields):
    with pytest.raises(TemplateError):
        template(**fields)


def test_impossible_answers_are_named():
    with pytest.raises(TemplateError, match="not one of the choices"):
        process(template(), label="cat")
    with pytest.raises(TemplateError, match="index 7"):
        process(template(), label=7)
    with pytest.raises(TemplateError, match="only 2 numerals"):
        process(template(enumerator="AB"))
    with pytest.raises(TemplateError, match="place_correct_choice_position"):
        process(template(place_correct_choice_position=9))


def test_yes_or_no():
    asks = YesNoTemplate(input_format="Is it {class}?", class_field="class", label_field="labels")
    instance = {"input_fields": {"class": "news"}, "reference_fields": {"class": "news", "labels": ["news", "sport"]}}
    done = asks.process(instance)
    assert (done["source"], done["target"]) == ("Is it news?", "Yes")
    assert asks.exchange(done).gold == 0
    with pytest.raises(TemplateError, match="Expecting a list"):
        asks.process({"input_fields": {"class": "x"}, "reference_fields": {"class": "x", "labels": "x"}})


def test_sides_are_swapped_by_content_and_half_of_the_time():
    sides = PairwiseChoiceTemplate(
        input_format="{a}|{b}", output_format="{answer}", choice_a_field="a", choice_b_field="b", answer_field="answer",
        choice_a_label="A", choice_b_label="B", choice_tie_label="tie", shuffle=True,
    )  # fmt: skip
    swapped = 0
    for number in range(200):
        instance = {"input_fields": {"a": f"left {number}", "b": "right"}, "reference_fields": {"answer": "choice_a"}}
        done, again = sides.process(instance), sides.process(instance)
        assert done["source"] == again["source"]
        left_first = done["source"].startswith("left")
        assert done["target"] == ("A" if left_first else "B")
        swapped += not left_first
    assert 70 < swapped < 130
    with pytest.raises(TemplateError, match="choice_a, choice_b or tie"):
        sides.process({"input_fields": {"a": 1, "b": 2}, "reference_fields": {"answer": "left"}})


def test_ratings_change_their_sign_with_the_sides():
    rating = PairwiseComparativeRatingTemplate(
        input_format="{a}{ia}", output_format="{r}", choice_a_field="a", choice_b_field="b", choice_a_id_field="ia",
        choice_b_id_field="ib", answer_field="r", shuffle=True,
    )  # fmt: skip
    for number in range(20):
        instance = {
            "input_fields": {"a": f"x{number}", "b": "y", "ia": "1", "ib": "2"},
            "reference_fields": {"r": 2},
        }
        done = rating.process(instance)
        assert done["target"] == ("2" if done["source"].endswith("1") else "-2")


@pytest.mark.parametrize("rating", [2, -1])
def test_without_a_shuffle_sides_stay_where_they_are(rating):
    plain = PairwiseComparativeRatingTemplate(
        input_format="{a}{b}", output_format="{r}", choice_a_field="a", choice_b_field="b", choice_a_id_field="ia",
        choice_b_id_field="ib", answer_field="r", shuffle=False,
    )  # fmt: skip
    for number in range(20):
        fields = {"a": f"x{number}", "b": "y", "ia": "1", "ib": "2"}
        done = plain.process({"input_fields": fields, "reference_fields": {"r": rating}})
        assert (done["source"], done["target"]) == (f"x{number}y", str(rating))


def test_dialogs_are_written_out():
    dialog = DialogTemplate(
        input_format="{talk}", output_format="",
        dialog_fields=[{"__type__": "dialog_fields_data", "user_role_label": "U:", "assistant_role_label": "A:",
                        "system_role_label": "S:", "dialog_field": "talk"}],
    )  # fmt: skip
    fields = {"input_fields": {"talk": [("user", "hi"), ("tool", "x"), ("assistant", "ho")]}, "reference_fields": {}}
    assert dialog.process(fields)["source"] == "U: hi\n\nA: ho"
    with pytest.raises(TemplateError, match="list of \\(role, text\\)"):
        dialog.process({"input_fields": {"talk": "hi"}, "reference_fields": {}})


def test_roman_numerals_reach_twenty():
    choices = [f"c{number}" for number in range(20)]
    roman = MultipleChoiceTemplate(input_format="{numerals}", enumerator="roman")
    done = roman.process({"input_fields": {"choices": choices}, "reference_fields": {"choices": choices, "label": 19}})
    assert done["target"] == "XX"
    assert done["source"].split(", ")[8:11] == ["IX", "X", "XI"]
    assert done["source"].split(", ")[18] == "XIX"


@pytest.mark.parametrize(
    "position, order", [(0, "ox whale bee"), (2, "whale bee ox"), (-1, "whale bee ox"), (-3, "ox whale bee")]
)
def test_the_right_choice_may_have_its_place(position, order):
    done = process(template(place_correct_choice_position=position))
    assert done["source"].split("\n")[1] == ", ".join(f"{n}. {c}" for n, c in zip("ABC", order.split(), strict=True))


@pytest.mark.parametrize("position", [3, -4])
def test_a_place_that_is_not_there_is_refused(position):
    with pytest.raises(TemplateError, match=f"is {position}, but there are 3 choices"):
        process(template(place_correct_choice_position=position))


@pytest.mark.parametrize("label", [3, -4])
def test_an_index_beyond_the_choices_is_refused(label):
    with pytest.raises(TemplateError, match=f"has index {label}, but there are 3 choices"):
        process(template(), label=label)


@pytest.mark.parametrize("missing, what", [("label", "the right answer"), ("choices", "the choices")])
def test_a_field_that_is_missing_says_what_it_is_for(missing, what):
    references = {"choices": CHOICES, "label": 1}
    del references[missing]
    with pytest.raises(TemplateError, match=f"there is no field '{missing}' with {what}"):
        template().process({"input_fields": {"question": "Q?", "choices": CHOICES}, "reference_fields": references})


def test_only_the_gold_classes_stay_a_list():
    asks = YesNoTemplate(input_format="{tags} {class}", class_field="class", label_field="labels", no_answer="Never")
    fields = {"class": "news", "tags": ["a", "b"]}
    done = asks.process({"input_fields": fields, "reference_fields": {"class": "news", "labels": ["sport"]}})
    assert (done["source"], done["target"]) == ("a, b news", "Never")
    assert asks.exchange(done).gold == 1
    for references, message in (
        ({"class": "", "labels": []}, "Expected a string"),
        ({"labels": []}, "missing required class field: 'class'"),
        ({"class": "x"}, "missing required label field: 'labels'"),
    ):
        with pytest.raises(TemplateError, match=message):
            asks.process({"input_fields": fields, "reference_fields": references})


def test_spans_are_the_question_where_choices_cannot_be_told():
    plain = template(choices_separator="")
    instance = plain.process(
        {"input_fields": {"question": "Q?", "choices": ["a"]}, "reference_fields": {"choices": ["a"], "label": 0}}
    )
    origins = [span.origin for span in plain.source_spans({"input_fields": {"question": "Q?", "choices": ["a"]}})]
    assert origins.count("choice[0]") == 1
    assert instance["source"] == "Q?\nA. a\nA"
