"""One text, split: whatever it holds, the pieces are the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.engines.thoughts import marks_of, special_marks, split
from proctor.engines.thoughts.marks import families

MARKS = marks_of("any-model")
TOKENS = sorted({mark for each in families() for mark in (*each.start, *each.end, *each.tail)})
texts = st.lists(st.one_of(st.sampled_from(TOKENS), st.text(max_size=6), st.sampled_from(["\n", " ", "`", "think"])))


@given(texts.map("".join), st.sampled_from([None, *families()]), st.booleans())
def test_the_pieces_are_the_text(text, opened, is_closed):
    found = split(text, MARKS, opened, is_closed=is_closed)
    assert "".join(piece for _, piece in found.pieces) == text
    assert text.startswith("".join(piece for kind, piece in found.pieces if kind != "answer")[: found.start])
    assert text[found.start :].startswith(found.answer)
    assert not (found.is_open and found.answer)


@given(texts.map("".join), st.sampled_from([each for each in families() if each.is_common]))
def test_thoughts_between_marks_are_found_again(thought, family):
    start, end = family.start[0], family.end[0]
    plain = thought
    for mark in TOKENS:
        plain = plain.replace(mark, "")
    plain = plain.replace("<", "").replace("[", "").replace("◁", "").replace("`", "")
    found = split(f"{start}{plain}{end}answer", MARKS)
    assert found.answer == "answer"
    assert found.thoughts == ((plain.strip(),) if plain.strip() else ())


@given(st.text(alphabet=st.characters(exclude_characters="<[◁")))
def test_a_text_without_marks_is_an_answer(text):
    found = split(text, MARKS)
    assert (found.answer, found.thoughts, found.is_plain) == (text, (), True)


@pytest.mark.parametrize(
    "text, thoughts, answer",
    [
        ("<think>a</think>\n\npositive", ("a",), "positive"),
        ("\n <think>\na\n</think>positive\n", ("a",), "positive\n"),
        ("<think>\n\n</think>\n\npositive", (), "positive"),
        ("a</think>positive", ("a",), "positive"),
        ("</think>\n\npositive", (), "positive"),
        ("<think>a</think><think>b</think>c", ("a", "b"), "c"),
        ("<think>a</think> <think> opens thoughts", ("a",), "<think> opens thoughts"),
        ("<think>the tag `</think>` ends them</think>yes", ("the tag `</think>` ends them",), "yes"),
        ("<think>a</think>The tag </think> ends them.", ("a",), "The tag </think> ends them."),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", ("a",), "b"),
        ("<|channel|>analysis a<|channel|>final b", ("a",), "b"),
        ("<|channel|>final<|message|>b", (), "b"),
        ("[THINK]a[/THINK]b", ("a",), "b"),
        ("<seed:think>a</seed:think>b", ("a",), "b"),
        ("◁think▷a◁/think▷b", ("a",), "b"),
        ("<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>", ("a",), "b"),
    ],
)
def test_thoughts(text, thoughts, answer):
    found = split(text, MARKS)
    assert (found.thoughts, found.answer, found.is_open) == (thoughts, answer, False)


@pytest.mark.parametrize(
    "text",
    [
        "The tag <think> opens and </think> closes.",
        "Use `</think>` to close.",
        'It is called "</think>" there.',
        "`<think>`",
        "Answer: <thinking>x</thinking>",
        "x <|channel|>analysis",
        "",
    ],
)
def test_a_quoted_mark_stays_in_the_answer(text):
    assert split(text, MARKS).pieces == (("answer", text),)


@pytest.mark.parametrize("text", ["<think>", "<think>a", "  <thinking>a</think>", "<|channel|>analysis<|message|>a"])
def test_thoughts_without_an_end(text):
    found = split(text, MARKS)
    assert (found.is_open, found.answer) == (True, "")


def test_the_prompt_began_or_ended_the_thoughts():
    think = MARKS.families[0]
    assert split("a</think>b", MARKS, think).thoughts == ("a",)
    assert split("<think>a</think>b", MARKS, think).thoughts == ("a",)
    assert split("a", MARKS, think).is_open
    assert split("a</think>b", MARKS, is_closed=True).answer == "a</think>b"
    assert split("<think>a</think>b", MARKS, is_closed=True).answer == "b"


def test_marks_of_the_users_own():
    end_only = marks_of("m", None, "@@")
    assert split("a@@b@@c", end_only, end_only.always).pieces[-1] == ("answer", "c")
    both = marks_of("m", "[[", "]]")
    assert (both.always, split("[[a]]b", both).answer, split("b", both).answer) == (None, "b", "b")
    assert split("<think>a</think>b", both).answer == "b"
    assert split("<reason>a</reason>b", marks_of("m", "<reason>")).answer == "b"


@pytest.mark.parametrize(
    "model, text",
    [
        ("ibm-granite/granite-3.2-8b", "Here is my thought process: a\nHere is my response: b"),
        ("tencent/Hunyuan-A13B", "<think>\na\n</think>\n<answer>\nb\n</answer>"),
    ],
)
def test_marks_by_the_name_of_a_model(model, text):
    found = split(text, marks_of(model))
    assert (found.thoughts, found.answer) == (("a",), "b")
    assert split(text, marks_of("other")).answer != "b"


def test_names_of_models_whose_template_begins_the_thoughts():
    for name in ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "Qwen/QwQ-32B", "Qwen/Qwen3-30B-A3B-Thinking-2507"):
        assert marks_of(name).template_opens is not None, name
    for name in ("Qwen/Qwen3-8B", "meta-llama/Llama-3.1-8B", "deepseek-chat", "gpt-4o"):
        assert marks_of(name).template_opens is None, name


@pytest.mark.parametrize(
    "text, start",
    [("yes", 0), ("<think>a</think>yes", 16), ("<think>a</think>\n\nyes", 18), ("<think>a", 8), ("a</think>b", 9)],
)
def test_where_the_answer_begins(text, start):
    assert split(text, MARKS).start == start


def test_an_end_that_the_user_names_has_the_beginnings_that_belong_to_it():
    own = marks_of("m", None, "</think>").own
    assert own is not None
    assert (own.start, own.end, own.opens, own.ends_at_last) == (("<think>",), ("</think>",), True, True)
    assert marks_of("m", "<think>").own.end == ("</think>",)
    assert marks_of("m", "<mull>").own.end == ("</mull>",)
    assert marks_of("m").own is None


def test_marks_at_the_very_ends_of_a_text_are_not_quoted():
    assert split("</think>'", MARKS).answer == "'"
    assert split("'</think>", MARKS).answer == ""
    assert split("a'</think>'", MARKS).answer == "a'</think>'"


def test_special_tokens_are_marks_where_they_are_part_of_one():
    class Tokenizer:
        all_special_tokens = ("", "<|channel|>", "<eos>")

    found = special_marks(Tokenizer(), MARKS)
    assert found is not None
    assert found.search("<|channel|>analysis")
    assert not found.search("<think>")
    assert special_marks(object(), MARKS) is None


@pytest.mark.parametrize(
    "text",
    [
        "<longcat_think>red</longcat_think>\nblue",
        "[unused16]red[unused17]blue[unused10]",
        "<unused94>thought\nred<unused95>blue",
        "<|begin_of_thought|>red<|end_of_thought|>\n\n<|begin_of_solution|>blue<|end_of_solution|>",
        "<reasoning>red</reasoning>blue",
        "<reason>red</reason>blue",
    ],
)
def test_marks_of_models_that_are_served_are_known_whatever_their_name(text):
    found = split(text, marks_of("m"))
    assert (found.thoughts, found.answer) == (("red",), "blue")


def test_an_answer_of_ernie_ends_with_its_response():
    found = split("<think>\nred\n</think>\n\n\n<response>\nblue\n</response>", marks_of("baidu/ERNIE-4.5-21B-Thinking"))
    assert (found.thoughts, found.answer.strip()) == (("red",), "blue")
