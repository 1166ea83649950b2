import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Choose, Converse, Decoding, Generate, Likelihood, Pair, Prompt, Rolling, Span, Turn


def test_equal_requests_have_equal_keys_whatever_the_order_of_their_dicts():
    first = Generate(Prompt([{"role": "user", "content": "hi"}]), Decoding(extra={"a": 1, "b": 2}))
    second = Generate(Prompt([{"content": "hi", "role": "user"}]), Decoding(extra={"b": 2, "a": 1}))
    assert first.key == second.key


def test_every_part_of_a_request_changes_its_key():
    requests = [
        Generate(Prompt("a")),
        Generate(Prompt("b")),
        Generate(Prompt("a"), Decoding(max_tokens=3)),
        Generate(Prompt("a"), Decoding(stop=("\n",))),
        Generate(Prompt([{"role": "user", "content": "a"}])),
        Choose((Pair(Prompt("a"), "b"),)),
        Choose((Pair(Prompt("a"), "b"), Pair(Prompt("a"), "c"))),
        Likelihood(Prompt("a"), "b"),
        Rolling("a"),
        Converse(({"role": "user", "content": "a"}, None)),
    ]
    assert len({request.key for request in requests}) == len(requests)


def test_keys_are_the_same_in_every_process():
    code = "from proctor.ir import *; print(Generate(Prompt('ü'), Decoding(extra={'a': [1, None]})).key)"
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        ).stdout
        for seed in ("1", "2")
    }
    assert outputs == {Generate(Prompt("ü"), Decoding(extra={"a": [1, None]})).key + "\n"}


@given(st.text(), st.text())
def test_a_boundary_between_context_and_continuation_counts(first, second):
    if second:
        moved = Likelihood(Prompt(first + second[0]), second[1:])
        assert Likelihood(Prompt(first), second).key != moved.key


def test_a_prompt_is_explained_once_and_only_when_looked_at():
    calls = []

    def explain():
        calls.append(1)
        return (Turn("user", (Span("x", "question"),)),)

    prompt = Prompt("x", explain)
    assert not calls
    assert prompt.spans == prompt.spans == (Span("x", "question"),)
    assert calls == [1]


def test_a_string_prompt_is_one_user_message_where_messages_are_wanted():
    assert Prompt("hi").messages == ({"role": "user", "content": "hi"},)
    assert Prompt([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}]).text == "a"


def test_keys_know_a_decoding_that_was_changed_inside():
    decoding = Decoding(extra={"num_beams": 2})
    before = Generate(Prompt("q"), decoding).key
    decoding.extra["num_beams"] = 3
    assert Generate(Prompt("q"), decoding).key != before == Generate(Prompt("q"), Decoding(extra={"num_beams": 2})).key


@given(
    st.lists(st.sampled_from([Decoding(), Decoding(7), Decoding(stop=("x",)), Decoding(extra={"a": 1})]), max_size=6)
)
def test_keys_do_not_depend_on_what_was_asked_before(decodings):
    from proctor.ir.requests import content_key

    for each in decodings:
        assert Generate(Prompt("q"), each).key == content_key("generate", "q", each.content)
