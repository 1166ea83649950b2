"""Equal requests have equal keys, in every process; different ones do not."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.ir import Choose, Converse, Decoding, Generate, Likelihood, Pair, Prompt, Rolling

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
decodings = st.builds(
    Decoding,
    max_tokens=st.none() | st.integers(1, 100),
    temperature=st.floats(0, 2),
    top_p=st.none() | st.floats(0, 1),
    top_k=st.none() | st.integers(0, 100),
    stop=st.lists(text, max_size=2).map(tuple),
    seed=st.none() | st.integers(0, 2**31),
    count=st.integers(1, 3),
    extra=st.dictionaries(text, st.integers() | text, max_size=3),
)


@given(text, decodings)
def test_a_key_depends_on_values_not_on_objects(words, decoding):
    again = Decoding(
        decoding.max_tokens,
        float(str(decoding.temperature)),
        None if decoding.top_p is None else float(str(decoding.top_p)),
        decoding.top_k,
        tuple("".join(list(stop)) for stop in decoding.stop),
        decoding.seed,
        decoding.count,
        dict(reversed(decoding.extra.items())),
    )
    assert Generate(Prompt(words), decoding).key == Generate(Prompt(str(words)), again).key


@pytest.mark.parametrize(
    "same",
    [Decoding(temperature=0), Decoding(temperature=float("0")), Decoding(stop=[]), Decoding(count=1, extra={})],
)
def test_a_default_that_is_given_is_still_the_default(same):
    assert Generate(Prompt("a"), same).key == Generate(Prompt("a")).key


def test_different_requests_have_different_keys():
    prompt, chat = Prompt("a"), Prompt([{"role": "user", "content": "a"}])
    requests = [
        Generate(prompt),
        Generate(chat),
        Generate(prompt, Decoding(max_tokens=1)),
        Generate(prompt, Decoding(seed=1)),
        Generate(prompt, Decoding(stop=("\n",))),
        Generate(prompt, Decoding(extra={"x": 1})),
        Likelihood(prompt, "b"),
        Likelihood(Prompt("ab"), ""),
        Choose((Pair(prompt, "b"),)),
        Choose((Pair(prompt, "b"), Pair(prompt, "c"))),
        Rolling("a"),
        Converse(({"role": "user", "content": "a"}, None)),
        Converse(({"role": "user", "content": "a"}, None, {"role": "user", "content": "b"}, None)),
    ]
    assert len({request.key for request in requests}) == len(requests)


def test_keys_are_the_same_in_another_process():
    program = (
        "from proctor.ir import *;"
        "print(Generate(Prompt([{'role': 'user', 'content': 'ä'}]), Decoding(7, stop=('x',), extra={'b': 1, 'a': 2})).key)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    request = Generate(Prompt([{"content": "ä", "role": "user"}]), Decoding(7, stop=("x",), extra={"a": 2, "b": 1}))
    assert done.stdout.strip() == request.key
