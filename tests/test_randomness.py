import os
import subprocess
import sys

import pytest

from proctor.randomness import drawn_with, random_stream, seed_of_draws, seeded
from proctor.settings import settings


def draws():
    while True:
        yield random_stream("x").random()


def test_a_block_has_a_seed_of_its_own_and_nothing_else_has():
    own = random_stream("x").random()
    with seeded(7):
        assert seed_of_draws() == 7
        assert random_stream("x").random() != own
        assert random_stream("x", 42).random() == own
        assert settings.seed == 42
        with seeded(None):
            assert seed_of_draws() == 7
    assert random_stream("x").random() == own


def test_the_seed_reaches_what_is_made_while_it_is_read_and_not_its_reader():
    own = random_stream("x").random()
    with seeded(7):
        other = random_stream("x").random()
    made = drawn_with(7, draws())
    assert next(made) == other
    assert random_stream("x").random() == own
    assert next(made) == other
    assert next(drawn_with(None, draws())) == own
    assert list(drawn_with(7, [1, 2])) == [1, 2]


@pytest.mark.parametrize(
    "content", ["float('nan')", "('a', 'b')", "None", "(1, 2)", "(1.5, 'a')", "7", "{'a': float('nan')}"]
)
def test_draws_are_the_same_in_every_process(content):
    code = (
        "from proctor.guests.unitxt.functions import new_random_generator\n"
        "from proctor.randomness import random_stream\n"
        f"filler = [object() for _ in range(int(__import__('sys').argv[1]))]\nvalue = {content}\n"
        "print(random_stream(value).random(), new_random_generator(value).random())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code, number],
            env={**os.environ, "PYTHONHASHSEED": number},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for number in ("1", "2000")
    }
    assert len(found) == 1
