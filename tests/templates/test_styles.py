import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import TemplateError
from proctor.templates.styles import ALPHABETS, ChoiceLabels, QuestionStyle, choice_formatter

CHOICES = ["London", "Paris"]


@pytest.mark.parametrize(
    "alphabet, start",
    [
        ("letters", ["A", "B", "C"]),
        ("lowercase", ["a", "b", "c"]),
        ("numbers", ["1", "2", "3"]),
        ("roman", ["I", "II", "III"]),
    ],
)
def test_alphabets(alphabet, start):
    assert ChoiceLabels(alphabet=alphabet).take(3) == start


@given(alphabet=st.sampled_from(sorted(ALPHABETS)), count=st.integers(0, 90))
def test_labels_never_run_out_and_never_repeat(alphabet, count):
    labels = ChoiceLabels(alphabet=alphabet).take(count)
    assert len(set(labels)) == count


def test_letters_go_on_like_columns_of_a_table():
    labels = ChoiceLabels().take(704)
    assert (labels[25], labels[26], labels[51], labels[52], labels[701], labels[702]) == (
        "Z",
        "AA",
        "AZ",
        "BA",
        "ZZ",
        "AAA",
    )


def test_roman_numerals():
    labels = ChoiceLabels(alphabet="roman").take(49)
    assert [labels[n - 1] for n in (4, 9, 14, 40, 49)] == ["IV", "IX", "XIV", "XL", "XLIX"]


def test_forms():
    assert ChoiceLabels(form="({})").take(2) == ["(A)", "(B)"]


def test_labels_somebody_wrote_are_not_invented():
    with pytest.warns(UserWarning, match="3 choices, but only 2 labels \\(yes, no~\\)"):
        assert ChoiceLabels(("yes", "no~")).take(3) == ["yes", "no~"]
    assert ChoiceLabels(("yes", "no~")).take(2) == ["yes", "no~"], "without a warning"


def test_an_unknown_alphabet():
    with pytest.raises(TemplateError, match="no alphabet 'leters'") as caught:
        ChoiceLabels(alphabet="leters")
    assert "did you mean 'letters'" in str(caught.value)


@pytest.mark.parametrize("form", ["{label.x}", "{label!r}", "{label:>9}", "{0}", "{}", "{other}", "{label"])
def test_formats_that_reach_further_are_refused(form):
    with pytest.raises(TemplateError, match="cannot be used"):
        choice_formatter(form)


@given(label=st.text(), choice=st.text())
def test_what_is_filled_in_is_never_a_format(label, choice):
    assert choice_formatter("<{label}|{choice}>{{}}")(label, choice) == f"<{label}|{choice}>{{}}"


def test_the_three_kinds():
    mcq, cloze, generate = (QuestionStyle(kind) for kind in ("mcq", "cloze", "generate"))
    assert mcq.continuations(CHOICES) == ["A", "B"]
    assert cloze.continuations(CHOICES) == CHOICES
    assert generate.answer(CHOICES, 1) == "B"
    assert QuestionStyle("cloze", formats_continuations=True).continuations(CHOICES) == ["A. London", "B. Paris"]


@pytest.mark.parametrize("answer", [1, "1", "Paris", "B", True])
def test_answers_by_position_text_or_label(answer):
    assert QuestionStyle().gold(CHOICES, answer) == 1


def test_a_text_wins_over_a_label_and_a_position():
    assert QuestionStyle().gold(["B", "A"], "A") == 1
    assert QuestionStyle().gold(["1", "0"], "0") == 1


@pytest.mark.parametrize("answer", [2, -1, "Rome", "2", None])
def test_answers_that_are_none_of_the_choices(answer):
    with pytest.raises(TemplateError, match="not one of the choices"):
        QuestionStyle().gold(CHOICES, answer)


def test_parts():
    style = QuestionStyle(prefix="P", suffix="S", joins_parts=True)
    assert style.prompt("Q", CHOICES) == "P\nQ\nA. London\nB. Paris\nS"
    assert style.prompt("Q", None) == "P\nQ\nS"
    assert QuestionStyle(prefix="P ", suffix="\nS").prompt("Q", CHOICES) == "P Q\nA. London\nB. Paris\nS"
    assert QuestionStyle(prefix="P ", suffix="\nS").prompt("Q", None) == "P Q\nS"
    assert QuestionStyle(blank="___", suffix="", joins_parts=True, shows_choices=False).prompt("Q", CHOICES) == "Q ___"
    assert QuestionStyle(choice_format="").choices_text(CHOICES) == "London\nParis"
