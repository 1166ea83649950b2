from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proctor.engines.truncation import shortened
from proctor.ir import Prompt, Span, Turn

WORD = st.text("abc \n", min_size=1, max_size=5)


@given(st.lists(st.tuples(WORD, WORD, WORD), min_size=1, max_size=5), WORD, WORD)
def test_text_loses_whole_demos_from_the_left(demos, instruction, question):
    def spans(kept: list[tuple[int, tuple[str, str, str]]]) -> list[Span]:
        found = [Span(instruction, "instruction")]
        for index, (asked, answered, layout) in kept:
            found += [
                Span(asked, f"demo[{index}].question"),
                Span(answered, f"demo[{index}].answer"),
                Span(layout, "layout"),
            ]
        return [*found, Span(question, "question")]

    numbered = list(enumerate(demos))
    texts = ["".join(span.text for span in spans(numbered[first:])) for first in range(len(demos) + 1)]
    prompt = Prompt(texts[0], lambda: (Turn("user", tuple(spans(numbered))),))
    assert [each.text for each in shortened(prompt)] == texts[1:]


def test_chats_lose_whole_demos_from_the_left():
    origins = ["system", "demo[0].question", "demo[0].answer", "demo[1].question", "demo[1].answer", "question"]
    messages = [{"role": "user", "content": origin} for origin in origins]
    prompt = Prompt(messages, lambda: tuple(Turn("user", (Span(origin, origin),)) for origin in origins))
    first, second = shortened(prompt)
    assert [message["content"] for message in first.messages] == [origins[0], *origins[3:]]
    assert [message["content"] for message in second.messages] == [origins[0], origins[5]]


def test_prompts_without_demos_stay_as_they_are():
    assert not list(shortened(Prompt("why")))
    assert not list(shortened(Prompt([{"role": "user", "content": "why"}])))


def test_spans_that_do_not_make_up_the_text_change_nothing():
    prompt = Prompt("something else", lambda: (Turn("user", (Span("a", "demo[0].question"), Span("b", "question"))),))
    assert not list(shortened(prompt))
