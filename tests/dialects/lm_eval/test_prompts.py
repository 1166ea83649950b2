import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.prompts import (
    ChatOptions,
    PromptMaker,
    joined,
    make_demo,
    multiturn_messages,
    single_message,
    turn_pieces,
)
from proctor.errors import TemplateError
from proctor.ir import Media

DELIMITERS = (" ", "\n\n")


def plain(*pieces, system="", demos=()):
    return PromptMaker().make(system, demos, pieces).text


def text_of(pieces):
    return make_demo(pieces).text


@pytest.mark.parametrize(
    "question, prefix, text",
    [
        ("Q:", None, "Q: x\n\n"),
        ("Q: ", None, "Q:  x\n\n"),
        ("Q:", "The", "Q: The x\n\n"),
        ("Q:\n", "The", "Q:\nThe x\n\n"),
        ("Q:", " The ", "Q: The x\n\n"),
        ("", "The", "The x\n\n"),
    ],
)
def test_a_demo(question, prefix, text):
    assert text_of(turn_pieces(question, "x", None, prefix, DELIMITERS, 0)) == text


@pytest.mark.parametrize(
    "question, prefix, text",
    [("Q:", None, "Q:"), ("Q:", "The", "Q: The"), ("Q: ", "The", "Q: The"), ("Q:", "\nThe", "Q:\nThe")],
)
def test_the_question_that_is_asked(question, prefix, text):
    assert plain(*turn_pieces(question, None, None, prefix, (" ", ""))) == text


@pytest.mark.parametrize(
    "answer, choices, shown",
    [(1, ["a", "b"], "b"), (0, ["a", "b"], "a"), (["x", "y"], None, "x"), ("z", None, "z")],
)
def test_answers(answer, choices, shown):
    assert turn_pieces("Q", answer, choices, None, DELIMITERS, 0)[1].text == shown


@pytest.mark.parametrize("answer", [None, ""])
def test_no_answer_no_turn(answer):
    assert [piece.role for piece in turn_pieces("Q", answer, None, None, DELIMITERS, 0)] == ["user"]


@pytest.mark.parametrize("answer", [3, 1.5, [7]])
def test_an_answer_that_is_no_text(answer):
    with pytest.raises(TemplateError, match="not text"):
        turn_pieces("Q", answer, None, None, DELIMITERS, 0)


def test_a_question_that_is_no_text():
    with pytest.raises(TemplateError, match="doc_to_text gives int 1"):
        turn_pieces(1, None, None, None, DELIMITERS)


@pytest.mark.parametrize(
    "before, after, text",
    [("a", "b", "a--b"), ("a ", "b", "a b"), ("a", "\nb", "a\nb"), ("", "b", "b"), (None, None, ""), ("a", None, "a")],
)
def test_joined(before, after, text):
    assert joined(before, after, "--") == text


def demo(question="Q1", answer="A1"):
    return make_demo(turn_pieces(question, answer, None, None, DELIMITERS, 0))


ASKED = turn_pieces("Q2", None, None, None, (" ", ""))
PREFIXED = turn_pieces("Q2", None, None, "So", (" ", ""))


def test_chat_with_turns():
    assert multiturn_messages("S", [demo()], ASKED) == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "Q1"},
        {"role": "assistant", "content": "A1"},
        {"role": "user", "content": "Q2"},
    ]


def test_chat_in_one_message():
    assert single_message("S", [demo()], PREFIXED) == [
        {"role": "system", "content": "S"},
        {"role": "user", "content": "Q1 A1\n\nQ2"},
        {"role": "assistant", "content": "So"},
    ]


def test_a_chat_template_gets_messages_and_whether_an_answer_starts():
    seen = []

    def render(messages, add_generation_prompt):
        seen.append((len(messages), add_generation_prompt))
        return "|".join(message["content"] for message in messages)

    maker = PromptMaker(ChatOptions(render, multiturn=True))
    assert maker.make("S", [demo()], ASKED).text == "S|Q1|A1|Q2"
    assert maker.make("", [], PREFIXED).text == "Q2|So"
    assert seen == [(4, True), (2, False)]


def test_messages_for_the_engine():
    prompt = PromptMaker(ChatOptions(None, multiturn=False)).make("S", [demo()], ASKED)
    assert prompt.is_chat
    assert prompt.messages[1]["content"] == "Q1 A1\n\nQ2"


TEXTS = st.text(max_size=8)
OPTIONAL = st.none() | st.text(min_size=1, max_size=4)


@given(
    system=TEXTS,
    demos=st.lists(st.tuples(TEXTS, st.text(min_size=1, max_size=4), OPTIONAL), max_size=3),
    asked=st.tuples(TEXTS, OPTIONAL),
    mode=st.sampled_from(["plain", "turns", "single", "rendered"]),
)
def test_spans_are_the_prompt(system, demos, asked, mode):
    shown = [make_demo(turn_pieces(q, a, None, p, DELIMITERS, n)) for n, (q, a, p) in enumerate(demos)]
    pieces = turn_pieces(asked[0], None, None, asked[1], (" ", ""))
    chat = {
        "plain": None,
        "turns": ChatOptions(None, multiturn=True),
        "single": ChatOptions(None, multiturn=False),
        "rendered": ChatOptions(
            lambda messages, add: "<" + "><".join(m["content"] for m in messages) + ">", multiturn=True
        ),
    }[mode]
    prompt = PromptMaker(chat).make(system, shown, pieces)
    if prompt.is_chat:
        assert [turn.text for turn in prompt.turns] == [message["content"] for message in prompt.messages]
    else:
        assert "".join(span.text for span in prompt.spans) == prompt.text
    origins = {span.origin for span in prompt.spans if span.origin.startswith("demo")}
    assert origins <= {f"demo[{n}].{part}" for n in range(len(demos)) for part in ("question", "answer")}


def test_media_stand_where_the_marker_is_or_before_the_text():
    image = Media("image", "data:image/png;base64,AA==")
    asked = turn_pieces("Look: <image> What?", None, None, None, (" ", ""))
    parts = PromptMaker().make("", [], asked, [image]).messages[0]["content"]
    assert [part["type"] for part in parts] == ["text", "image_url", "text"]
    parts = (
        PromptMaker().make("", [], turn_pieces("What?", None, None, None, (" ", "")), [image]).messages[0]["content"]
    )
    assert [part["type"] for part in parts] == ["image_url", "text"]
