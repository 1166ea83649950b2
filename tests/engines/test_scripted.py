"""The engine that says what it is told to."""

import subprocess
import sys
from functools import partial

import pytest

from proctor.artifacts import fetch_artifact
from proctor.engines.scripted import ScriptedEngine, code_digest
from proctor.errors import UnsupportedRequestError, ValidationError
from proctor.ir import Choose, Decoding, Failure, Generate, Pair, Prompt, Response, Rolling, Scored


def ask(engine, *prompts, **decoding):
    answers = dict(engine.generate(Generate(Prompt(prompt), Decoding(**decoding)) for prompt in prompts))
    return [answers[position] for position in range(len(prompts))]


def said(engine, *prompts, **decoding):
    return [response.text for response in ask(engine, *prompts, **decoding)]


def test_a_constant():
    assert said(ScriptedEngine(answer="yes"), "a", "b") == ["yes", "yes"]


def test_a_table_of_whole_prompts_and_of_parts():
    engine = ScriptedEngine(answers={"What is 1+1?": "2", "capital": "Paris"}, answer="?")
    assert said(engine, "What is 1+1?", "The capital of France", "else") == ["2", "Paris", "?"]


def test_a_list_in_order():
    assert said(ScriptedEngine(answers=["a", "b"]), "x", "y", "z") == ["a", "b", "a"]


def test_only_a_list_goes_by_position():
    assert ScriptedEngine(answers=["a"]).answers_in_order
    assert not ScriptedEngine(answers={"a": "b"}).answers_in_order


def test_rules_with_groups():
    engine = ScriptedEngine(rules=[(r"(\d+) plus nothing", r"\1"), (r"say (?P<word>\w+)", r"\g<word>!")])
    assert said(engine, "17 plus nothing", "please say hello now") == ["17", "hello!"]


def test_a_function_of_the_prompt():
    engine = ScriptedEngine(function=lambda prompt: prompt.text.upper())
    assert said(engine, "abc") == ["ABC"]
    chat = ScriptedEngine(function=lambda prompt: prompt.messages[-1]["role"])
    assert said(chat, [{"role": "assistant", "content": "x"}]) == ["assistant"]


def test_a_function_may_fail_or_answer_several_times():
    failing = ScriptedEngine(function=lambda prompt: Response(failure=Failure("timeout", "slow")))
    assert ask(failing, "x")[0].failure.kind == "timeout"
    several = ScriptedEngine(function=lambda prompt: ["a", "b"])
    assert ask(several, "x", count=3)[0].texts == ("a", "b", "a")


def test_stop_strings_cut():
    assert said(ScriptedEngine(answer="one\ntwo. three"), "x", stop=("\n", ".")) == ["one"]


def test_a_prompt_that_nothing_fits_is_a_failure():
    failure = ask(ScriptedEngine(answers={"a": "b"}), "zzz")[0].failure
    assert "zzz" in failure.message
    assert not failure.retryable


def test_likelihoods_from_a_table_and_from_a_function():
    request = Choose((Pair(Prompt("q"), " yes"), Pair(Prompt("q"), " no")))
    table = ScriptedEngine(log_likelihoods={"yes": -1.0, "no": -2.0})
    [(_, response)] = list(table.score([request]))
    assert response.scores == (Scored(-1.0, True, 1), Scored(-2.0, False, 1))
    function = ScriptedEngine(log_likelihood=lambda context, continuation: -float(len(context + continuation)))
    assert [each.log_likelihood for each in next(function.score([request]))[1].scores] == [-5.0, -4.0]
    assert next(function.score([Rolling("abc")]))[1].scores[0].log_likelihood == -3.0
    [(_, missing)] = list(table.score([Choose((Pair(Prompt("q"), " maybe"),))]))
    assert "'maybe'" in missing.failure.message


def test_without_likelihoods_it_cannot_score():
    engine = ScriptedEngine(answer="x")
    assert not engine.can_score
    assert ScriptedEngine(log_likelihoods={"a": 0.0}).can_score
    with pytest.raises(UnsupportedRequestError):
        engine.score([])


def test_content_is_identity():
    engines = [
        ScriptedEngine(answer="a"),
        ScriptedEngine(answer="b"),
        ScriptedEngine(answers={"a": "b"}),
        ScriptedEngine(answers={"a": "c"}),
        ScriptedEngine(rules=[("a", "b")]),
        ScriptedEngine(function=lambda prompt: prompt.text),
        ScriptedEngine(function=lambda prompt: prompt.text + "!"),
        ScriptedEngine(answer="a", log_likelihood=lambda context, continuation: -1.0),
    ]
    assert len({engine.identity for engine in engines}) == len(engines)
    assert engines[0].identity == ScriptedEngine(answer="a").identity


def test_functions_are_known_by_what_they_do():
    def make(word):
        return lambda prompt: word

    assert code_digest(make("a")) == code_digest(make("a"))
    assert code_digest(make("a")) != code_digest(make("b"))
    assert code_digest(len) == code_digest(len)


def test_the_identity_of_a_function_is_the_same_in_another_process():
    program = (
        "from proctor.engines.scripted import ScriptedEngine\n"
        "print(ScriptedEngine(function=lambda prompt: {'x', 'y'} and prompt.text).identity)"
    )
    found = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(found) == 1


def test_round_trip():
    engine = ScriptedEngine(answers={"a": "b"}, rules=[("c", "d")], log_likelihoods={"e": -1.0})
    assert fetch_artifact(engine.to_json()).identity == engine.identity


def test_a_broken_rule_is_said():
    with pytest.raises(ValidationError, match="regular expression"):
        ScriptedEngine(rules=[("(", "x")])


def test_functions_of_any_kind_have_a_digest_of_what_they_do():
    class Caller:
        def __init__(self, word):
            self.word = word

        def __call__(self, prompt):
            return self.word

    def closed(word):
        return lambda prompt: word

    def added(prompt, more, word="x"):
        return prompt + more + word

    same = [
        (partial(added, more="a"), partial(added, more="a")),
        (Caller("a"), Caller("a")),
        (closed("a"), closed("a")),
    ]
    assert all(code_digest(one) == code_digest(other) for one, other in [*same, (str.upper, str.upper)])
    other = [partial(added, more="b"), partial(added, "c"), Caller("b"), closed("b"), str.upper, str.lower, added]
    assert len({code_digest(each) for each in [*(one for one, _ in same), *other]}) == len(same) + len(other)


def test_only_where_a_function_answers_it_may_take_time():
    assert ScriptedEngine(function=lambda prompt: "x").takes_time
    assert ScriptedEngine(answer="x", log_likelihood=lambda *_: 0.0).takes_time
    assert not ScriptedEngine(answer="x").takes_time


def test_words_that_are_told_with_certainty_are_tokens_without_alternatives():
    (response,) = ask(ScriptedEngine(answer="a b"), "q", extra={"logprobs": True})
    certain = [(token.token, token.log_probability, token.top) for token in response.tokens[0]]
    assert certain == [("a", 0.0, (("a", 0.0),)), (" b", 0.0, ((" b", 0.0),))]
