"""``proctor same``: what is the same is called so, what was changed is found, and in the right order."""

import json
import math

import numpy as np
import pytest

from proctor.cli.__main__ import main
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.exchange.sameness import NOISE, Answers, divergence, measured, perplexity_ratio
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.running.spec import RunSpec

PROMPTS, CHOICES = 200, 4


def logits(seed):
    return np.random.default_rng(seed).normal(0, 2, (PROMPTS, CHOICES))


def logs(values):
    return values - np.logaddexp.reduce(values, axis=1, keepdims=True) - 1.5


def rounded(values, bits, seed=0):
    """Return logits as a coarser model gives them: with an error that halves with each bit."""
    return values + np.random.default_rng(seed).normal(0, 2.0 ** (1 - bits), values.shape)


def answers(one, two):
    gold = np.random.default_rng(5).integers(0, CHOICES, len(one))
    return [
        Answers((a, b), (3,) * CHOICES, int(g), right=(float(a.argmax() == g), float(b.argmax() == g)))
        for a, b, g in zip(logs(one), logs(two), gold, strict=True)
    ]


# -- measures -------------------------------------------------------------------------------------------------------


def test_the_divergence_is_the_sum_that_defines_it():
    for one, two in zip(logits(1), logits(2), strict=True):
        p, q = (np.exp(each) / np.exp(each).sum() for each in (one, two))
        direct = sum(a * math.log(a / b) for a, b in zip(p, q, strict=True))
        assert divergence(one - 3, two + 7) == pytest.approx(direct, abs=1e-9)
    assert divergence(one, one) == 0.0


def test_the_ratio_of_perplexities_is_over_right_answers():
    made = [
        Answers((np.array([-2.0, -9.0]), np.array([-3.0, -1.0])), (2, 5), 0),
        Answers((np.array([-4.0]), np.array([-4.5])), (4,)),
        Answers((np.array([-4.0, -1.0]), np.array([0.0, 0.0])), (4, 4), None),
    ]
    found = perplexity_ratio(made)
    assert found.value == pytest.approx(math.exp((-6 + 7.5) / 6))
    assert found.low <= found.value <= found.high


def test_texts_agree_up_to_a_word():
    pairs = [("a b c", "a b c"), ("a b c d", "a b x d"), ("a b", "a b c d"), ("x", "y")]
    found = measured("e", [Answers(texts=pair) for pair in pairs])
    assert (found.same_texts.value, found.first_difference) == (0.25, 2)
    assert found.verdict == "undecided"
    assert "--baseline" in found.reasons[0]


# -- verdicts -------------------------------------------------------------------------------------------------------


def test_the_same_under_another_order_of_sums_is_the_same():
    verdicts = [measured("e", answers(logits(seed), rounded(logits(seed), 24, seed))).verdict for seed in range(100)]
    assert verdicts.count("same") >= 99


def test_what_is_coarser_is_found_and_farther():
    plain = logits(3)
    damaged = rounded(plain, 2) + np.where(np.arange(CHOICES) == 1, 3.0, 0.0)
    changed = {"bfloat16": rounded(plain, 8), "int8": rounded(plain, 6), "int4": rounded(plain, 4), "damaged": damaged}
    found = {name: measured("e", answers(plain, each)) for name, each in changed.items()}
    assert [each.verdict for each in found.values()] == ["different"] * 4
    values = [each.divergence.value for each in found.values()]
    assert values == sorted(values)
    assert values[0] > NOISE
    assert found["damaged"].changed_choices.value > found["int4"].changed_choices.value


def test_flips_one_way_are_found_where_nothing_else_is_known():
    ones = [Answers(texts=("x", "x"), right=(1.0, 0.0 if place < 12 else 1.0)) for place in range(60)]
    found = measured("e", ones)
    assert (found.verdict, found.flips) == ("different", (0, 12))
    both = [Answers(texts=("x", "x"), right=((1.0, 0.0), (0.0, 1.0))[place % 2]) for place in range(60)]
    assert measured("e", both).verdict == "same"


def test_texts_are_held_against_the_first_endpoint_itself():
    own = [Answers(texts=("a", "b" if n < 20 else "a"), repeated="c" if n % 3 == 0 else "a") for n in range(60)]
    assert measured("e", own).verdict == "same"
    other = [Answers(texts=("a", "b" if n < 50 else "a"), repeated="c" if n % 12 == 0 else "a") for n in range(60)]
    assert measured("e", other).verdict == "different"


def test_what_would_have_been_seen_shrinks_with_the_prompts():
    plain = logits(4)
    few, many = (measured("e", answers(plain[:n], rounded(plain[:n], 8))).seen for n in (20, 200))
    assert many["divergence"] < few["divergence"]
    assert many["accuracy"] < few["accuracy"]


# -- the command ----------------------------------------------------------------------------------------------------


def run(folder, answer, **options):
    exams = resolve_tasks(["samples.science", "samples.sentiment"], ExamOptions(limit=20, **options))
    size = len(answer(None))  # another model has other likelihoods
    engine = ScriptedEngine(function=answer, log_likelihood=lambda context, words: -float(ord(words[-1]) * size % 7))
    run_exams(exams, engine, log=folder.with_suffix(".db"), output=folder, spec=RunSpec("scripted", ("samples",)))
    return str(folder)


def test_two_runs_from_the_command_line(tmp_path, capsys):
    one, again = run(tmp_path / "one", lambda prompt: "positive"), run(tmp_path / "again", lambda prompt: "positive")
    other = run(tmp_path / "other", lambda prompt: "negative!")
    assert main(["same", one, again, "--fail-if-different"]) == 0
    assert "samples.science: same" in capsys.readouterr().out
    assert main(["same", one, other, "--fail-if-different"]) == 1
    said = capsys.readouterr().out
    assert "samples.science: different" in said
    assert "samples.sentiment: undecided" in said
    assert main(["same", one, other, "--baseline", again, "--json"]) == 0
    found = {each["exam"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["samples.sentiment"]["verdict"] == "different"
    assert found["samples.science"]["requests"] == 20


def test_other_requests_are_not_compared(tmp_path, capsys):
    one = run(tmp_path / "one", lambda prompt: "positive")
    two = run(tmp_path / "two", lambda prompt: "positive", system_prompt="Be brief.")
    assert main(["same", one, two]) == 2
    assert "no request in common" in capsys.readouterr().err
