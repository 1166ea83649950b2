"""Choices at the price of the question: asked the cheap way only where it gives what echo gives, and said in results."""

from __future__ import annotations

import json
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.ir import Choose, Likelihood, Pair, Prompt, Rolling

_PLACE = Path(__file__).resolve().parents[4] / "benchmarks" / "model_server.py"
_SPEC = spec_from_file_location("model_server", _PLACE)
assert _SPEC is not None
assert _SPEC.loader is not None
served = module_from_spec(_SPEC)
_SPEC.loader.exec_module(served)

DEMOS = "".join(
    f"Question: what is number {number}?\nA. one\nB. two\nC. three\nD. four\nAnswer: A\n\n" for number in range(4)
)


def question(number: int, choices: str = " A| B| C| D", end: str = "\nAnswer:") -> Choose:
    context = f"{DEMOS}Question: which of these is {number}?\nA. one\nB. two\nC. three\nD. four{end}"
    return Choose(tuple(Pair(Prompt(context), each) for each in choices.split("|")))


def asked(server: Any, requests: list[Any], **fields: Any) -> list[Any]:
    given = {"model": "m", "base_url": server.url, "endpoint": "completions", "max_concurrency": 4, **fields}
    return [response for _, response in sorted(OpenAIEngine(**given).score(requests), key=lambda each: each[0])]


def assert_as_by_echo(found: list[Any], requests: list[Any]) -> None:
    with served.ModelServer("") as server:
        wanted = asked(server, requests, scoring="echo")
    for one, other in zip(found, wanted, strict=True):
        assert one.failure is None
        assert [each.log_likelihood for each in one.scores] == pytest.approx(
            [each.log_likelihood for each in other.scores], abs=1e-4
        )
        assert [(each.is_greedy, each.token_count) for each in one.scores] == [
            (each.is_greedy, each.token_count) for each in other.scores
        ]


QUESTIONS = [question(number) for number in range(20)]


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_labels_are_asked_by_one_token_on_the_cached_context(kind):
    with served.ModelServer(kind) as server:
        found = asked(server, QUESTIONS)
        computed = server.cache.computed
        assert [each.way for each in found].count("by one token") == len(QUESTIONS) - 3
        assert server.requests == 3 * 4 + len(QUESTIONS)  # three questions both ways
    assert_as_by_echo(found, QUESTIONS)
    with served.ModelServer("") as server:
        asked(server, QUESTIONS, scoring="echo")
        assert server.requests == 4 * len(QUESTIONS)
        assert computed < server.cache.computed / 4  # toy size: three of twenty are asked both ways


def test_what_is_asked_on_trial_counts_for_its_question():
    with served.ModelServer() as server:
        found = asked(server, QUESTIONS[:3], max_concurrency=1)
        assert sum(each.usage.prompt_tokens for each in found) == server.cache.read


@pytest.mark.parametrize(
    "kind, habit, way",
    [
        ("vllm", "", "by one token"),
        ("vllm", "old", "by one token each"),
        ("vllm", "no prompt tokens", "by one token"),
        ("vllm", "ignores", "echo: "),
        ("vllm", "leaves out", "by one token each"),
        ("vllm", "zeros", "echo: "),
        ("vllm", "logits", "echo: "),
        ("vllm", "processed", "echo: "),
        ("vllm", "other tokens", "by one token"),
        ("vllm", "no tokenize", "echo: the server does not say which tokens"),
        ("sglang", "", "by one token"),
        ("sglang", "old", "by suffix"),
        ("sglang", "ignores", "echo: "),
        ("sglang", "leaves out", "echo: "),
        ("sglang", "zeros", "by suffix"),
        ("", "", ""),
    ],
)
def test_a_way_that_differs_from_echo_is_not_taken_and_the_reason_is_said(kind, habit, way):
    with served.ModelServer(kind, habit) as server:
        found = asked(server, QUESTIONS)
    assert found[-1].way.startswith(way)
    assert way or not found[-1].way
    assert_as_by_echo(found, QUESTIONS)


@pytest.mark.parametrize(
    "request_",
    [
        question(1, " A| Also| Always"),  # a choice begins another
        question(1, " A| A"),
        question(1, " one| two words| three"),
        question(1, "A|B", end="\nAnswer: "),  # the blank belongs to the choice's token
        question(1, "A|B", end="\nAnswer:\n"),
        question(1, " ?| !"),
        Choose((Pair(Prompt("x"), " A"), Pair(Prompt("y"), " A"))),
        question(2, "word|other", end="\nthe"),
        Likelihood(Prompt("One two three"), " four"),
        Rolling("Some text of several words"),
    ],
)
@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_other_requests_have_the_likelihoods_of_echo(kind, request_):
    requests = [*QUESTIONS[:4], request_]
    with served.ModelServer(kind) as server:
        found = asked(server, requests, max_concurrency=1)
    assert_as_by_echo(found, requests)


def test_longer_choices_are_read_from_the_context_on():
    requests = [question(number, " one of them| none of them at all") for number in range(8)]
    with served.ModelServer("sglang") as server:
        found = asked(server, requests)
        assert [each.way for each in found].count("by suffix") == 5
    assert_as_by_echo(found, requests)


@pytest.mark.parametrize("kind", ["vllm", "sglang"])
def test_a_tokenizer_that_merges_across_the_boundary_is_asked_by_echo(kind):
    model = served.HashedModel(": A", ": B")
    requests = [question(number, " A| B") for number in range(5)]
    with served.ModelServer(kind, model=model) as server:
        found = asked(server, requests)
        assert {each.way for each in found} == {"echo"}
    with served.ModelServer("", model=model) as server:
        wanted = asked(server, requests, scoring="echo")
    assert [each.scores for each in found] == [each.scores for each in wanted]


def test_llama_cpp_is_known_by_itself():
    with served.ModelServer("llamacpp") as server:
        found = asked(server, QUESTIONS[:2])
    assert_as_by_echo(found, QUESTIONS[:2])


def test_results_say_how_choices_were_asked_for(tmp_path, monkeypatch):
    from proctor.cli.__main__ import main

    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    rows = [{"q": f"which is {number}?", "A": "one", "B": "two", "answer": "A"} for number in range(8)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    columns = ["--input-column", "q", "--choices-column", "A,B", "--answer-column", "answer"]
    with served.ModelServer() as server:
        model = f"model=m,base_url={server.url},endpoint=completions"
        command = ["run", str(tmp_path / "rows.jsonl"), *columns, "-m", "openai", "-a", model]
        assert main([*command, "-o", str(tmp_path / "out")]) == 0
        before = server.requests
        assert main([*command[:-1], f"{model},scoring=echo", "-o", str(tmp_path / "again")]) == 0
        assert server.requests == before  # the way is a fact beside the answer: nothing is asked again
    run = json.loads((tmp_path / "out" / "results.json").read_text())["run"]
    (ways,) = run["ways_of_asking"].values()
    assert ways == {"by one token": 5, "echo": 3}
