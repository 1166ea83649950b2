"""``proctor contamination``: does a model know the order of an exam?"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from random import Random

import pytest

from proctor.cli import contamination
from proctor.dialects.run_file import exams_of_spec
from proctor.engines.scripted import ScriptedEngine
from proctor.running.contamination import order_of, orders_of
from proctor.running.spec import RunSpec

FILE = ("--order-is-public", "--log", "log.db", "--shards", "4", "--permutations", "39")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    stream = Random(3)
    rows = [
        {"question": f"What is {stream.random():.9f}?", "answer": f"{stream.random():.6f}", "topic": f"t{stream.randrange(4)}"}
        for _ in range(60)
    ]  # fmt: skip
    for name, lines in (("rows", rows), ("sorted", sorted(rows, key=lambda row: row["topic"]))):
        Path(f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in lines))
    return tmp_path


def _exam(name: str = "rows.jsonl"):
    return exams_of_spec(RunSpec("dummy", (name,)))[0]


def _reader(known: bool):
    """Return a model that knows a quarter of the neighbours of the published order, or none, beside a lot of noise."""
    texts = [json.loads(line)["question"] for line in Path("rows.jsonl").read_text().splitlines()]
    following = {texts[place]: texts[place + 1] for place in range(0, 59, 4)}

    def likelihood(context: str, continuation: str) -> float:
        del context
        asked = [part.rpartition("?")[0] + "?" for part in continuation.split("\n\n")]
        seen = sum(following.get(one) == two for one, two in itertools.pairwise(asked))
        return 2.0 * seen * known + Random(continuation).gauss(0, 1)

    return ScriptedEngine(log_likelihood=likelihood)


def test_who_knows_the_order_is_found_and_who_does_not_is_not():
    orders = orders_of(_exam(), 4, 39)
    assert [len(each.requests) for each in orders.part.questions()] == [40] * 4
    first = next(iter(orders.part.questions())).requests
    assert sorted(first[0].text.split("\n\n")) == sorted(first[7].text.split("\n\n"))
    assert first[0].text.split("\n\n")[0].startswith("What is 0.")
    seen = order_of(orders, _reader(known=True), log="seen.db")
    assert (seen.p, seen.likelier_than) == (1 / 40, 39)
    assert order_of(orders, _reader(known=False), log="unseen.db").p > 0.05
    assert orders_of(_exam(), 4, 39, seed=5).part.asker != orders.part.asker


def test_orders_are_asked_once_and_the_price_is_said_first(invoke):
    code, out, err = invoke("contamination", "rows.jsonl", "--model", "dummy", *FILE, "--plan", "--json")
    assert code == 0, err
    planned = json.loads(out)
    assert planned["requests"] == 160
    assert not Path("log.db").exists()
    code, out, err = invoke("contamination", "rows.jsonl", "--model", "dummy", *FILE, "--json")
    assert code == 0, err
    assert err.index("160 likelihoods to ask for") >= 0
    record = json.loads(out)
    assert record["p"] == (40 - record["likelier_than"]) / 40
    assert (record["instances"], record["shards"], len(record["of_shards"])) == (60, 4, 4)
    code, again, err = invoke("contamination", "rows.jsonl", "--model", "dummy", *FILE, "--json")
    assert "0 likelihoods to ask for" in err
    assert again == out
    assert (
        "60 instances in 4 shards, read by dummy" in invoke("contamination", "rows.jsonl", "--model", "dummy", *FILE)[1]
    )


@pytest.mark.parametrize("given, said", [
    (("rows.jsonl", "--model", "dummy"), "nobody says that the order of 'rows' is public"),
    (("sorted.jsonl", "--model", "dummy", *FILE), "are sorted by 'topic'"),
    (("rows.jsonl", "--model", "dummy", "--order-is-public", "--shards", "13"), "--shards 12"),
    (("rows.jsonl", "--model", "scripted", "--model-args", "answer=x", *FILE), "this engine gives none"),
    (("samples", "--model", "dummy"), "a test is of one exam"),
    (("rows.jsonl", "--model", "dummy", *FILE, "--budget-tokens", "500"), "likelihoods are lacking"),
])  # fmt: skip
def test_what_cannot_be_tested_is_refused(invoke, given, said):
    code, _, err = invoke("contamination", *given)
    assert code == 2
    assert said in err


def test_an_order_that_is_drawn_is_refused(invoke, monkeypatch):
    exams = iter([[_exam()], [_exam("sorted.jsonl")]])
    monkeypatch.setattr("proctor.dialects.run_file.exams_of_spec", lambda _: next(exams))
    code, _, err = invoke("contamination", "rows.jsonl", "--model", "dummy", *FILE)
    assert code == 2
    assert "is drawn, and not published" in err
    assert contamination.DONE == 0
