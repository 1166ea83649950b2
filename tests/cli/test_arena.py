"""``proctor arena``: strengths from tables of battles and from runs whose judge compared answers in pairs."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from proctor.runs.answer_labels import LABELS

THETA = {"strong": 0.8, "middle": 0.0, "weak": -0.8}


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _table(name="battles.csv", judges=("",), count=240, winner=None):
    stream, lines = random.Random(name), ["model_a,model_b,winner,judge,question"]
    for question in range(count):
        first, second = stream.sample(list(THETA), 2)
        for judge in judges:
            keen = 0.0 if judge == "coin" else 1.0
            chance = 1 / (1 + math.exp(-keen * (THETA[first] - THETA[second])))
            draw = stream.random()
            said = "tie" if draw < 0.1 else "model_a" if stream.random() < chance else second
            lines.append(f"{first},{second},{winner or said},{judge},q{question}")
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def _json(invoke, *places):
    code, out, err = invoke("arena", *places, "--json")
    assert code == 0, err
    return json.loads(out)


def test_models_are_ranked_with_intervals_and_places(invoke):
    found = _json(invoke, _table())
    assert [each["name"] for each in found["models"]] == ["strong", "middle", "weak"]
    for each in found["models"]:
        assert each["low"] < THETA[each["name"]] * 400 / math.log(10) < each["high"]
    assert [each["places"] for each in found["models"]] == [[1, 1], [2, 2], [3, 3]]
    assert found["judges"] == []
    code, out, _ = invoke("arena", "battles.csv")
    assert code == 0
    assert "400" not in out.split("strong")[0]
    assert "240 battles about 240 questions" in out


def test_few_battles_leave_places_open(invoke):
    found = _json(invoke, _table(count=24))
    assert any(first < last for first, last in (each["places"] for each in found["models"]))


def test_battles_about_one_question_depend_on_each_other(invoke):
    one = _json(invoke, _table())
    lines = Path("battles.csv").read_text().splitlines()
    Path("four.csv").write_text("\n".join([lines[0], *lines[1:] * 4]))
    four = _json(invoke, "four.csv")
    for a, b in zip(one["models"], four["models"], strict=True):
        assert (a["value"], a["low"], a["high"]) == pytest.approx((b["value"], b["low"], b["high"]), abs=1e-6)


def test_judges_are_told_apart(invoke):
    found = _json(invoke, _table(judges=("expert", "coin")))
    judges = {each["name"]: each for each in found["judges"]}
    assert judges["coin"]["low"] < 0 < judges["coin"]["high"] < judges["expert"]["low"]
    _, out, _ = invoke("arena", "battles.csv")
    assert "What judges tell apart" in out


def _run(name="run", flips=False):
    from proctor.recipes.fingerprint import instance_digest

    stream, lines = random.Random("run"), []
    for number in range(120):
        fields = {"question": f"Question {number}?"}
        first = "x" if stream.random() < 0.7 else "y"
        other = {"x": "y", "y": "x"}[first] if flips and number % 3 == 0 else first
        scores = {"score": float(first == "x")}
        for system, rival in (("x", "y"), ("y", "x")):
            scores |= {f"{system}_response_name": system, f"{system}_compared_to": [rival]}
            scores |= {
                f"{system}_selections": [first if number else None],
                f"{system}_positional_bias_selection": [other],
            }
        line = {"exam": "duel", "doc_id": number, "instance": instance_digest(fields), "input": fields, "output": "o"}
        lines.append(json.dumps({**line, "scores": scores}) + "\n")
    entry = {"score": 0.7, "score_name": "x_winrate", "n": 120, "judged": [{"judge": "pairs", "models": ["gpt"]}]}
    Path(name).mkdir()
    Path(name, "results.json").write_text(json.dumps({"results": {"duel": entry}, "run": {}}))
    Path(name, "samples.jsonl").write_text("".join(lines))
    return name


def test_a_run_whose_judge_compared_pairs_is_an_arena(invoke):
    found = _json(invoke, _run())
    assert [each["name"] for each in found["models"]] == ["x", "y"]
    assert found["models"][0]["battles"] == 239  # both orders of 120, but for one that could not be read
    assert found["models"][0]["places"] == [1, 1]
    assert "1 verdicts could not be read: not counted" in found["notes"]
    assert not any("labels" in each for each in found["notes"])
    wide = _json(invoke, _run("flips", flips=True))["models"][0]
    assert wide["value"] < found["models"][0]["value"]
    Path("flips", LABELS).touch()
    assert _json(invoke, "flips")["notes"][-1].startswith("flips: not used are its labels")


def _people(count=120, said=None, name="people.csv"):
    """Write what people say of pairs of the table of battles: that the weak one is the better one."""
    judged = [line.split(",") for line in Path("battles.csv").read_text().splitlines()[1:]]
    better = ["strong", "middle", "weak"]
    lines = ["model_a,model_b,winner,judge,question"]
    for at, (first, second, _, _, question) in enumerate(judged[:count]):
        winner = max(first, second, key=better.index) if at % 4 else "tie"
        lines.append(f"{second},{first},{winner if said is None else said},people,{question}")
    Path(name).write_text("\n".join(lines) + "\n")
    return name


def test_peoples_verdicts_correct_those_of_judges(invoke):
    plain = _json(invoke, _table(judges=("one", "two")))
    found = _json(invoke, "battles.csv", _people(), "--people", "people")
    assert [each["name"] for each in found["models"]] == ["weak", "middle", "strong"]
    assert found["plain"] == plain["models"]
    assert found["judges"] == plain["judges"]
    assert plain["plain"] is None
    told = "strengths and places are corrected by people's verdicts on 60 of 120 pairs (prediction-powered)"
    _table(count=120)
    _people(60)
    code, out, _ = invoke("arena", "battles.csv", "people.csv", "--people", "people")
    assert code == 0
    assert told in out
    assert out.index("corrected by people's verdicts\n") < out.index("of the judges' verdicts alone\n")


@pytest.mark.parametrize(
    "made,message",
    [
        ({"count": 9}, "not corrected by people's verdicts: they are on 9 pairs (at least 10 are needed)"),
        ({"said": ""}, "240 pairs of people have no verdict, or were before no other judge: not used"),
        ({"said": "", "count": 50}, "they are on 0 pairs (at least 10 are needed)"),
    ],
)
def test_too_few_verdicts_of_people_correct_nothing_and_that_is_said(invoke, made, message):
    plain = _json(invoke, _table())
    found = _json(invoke, "battles.csv", _people(**{"count": 240, **made}), "--people", "people")
    assert found["models"] == plain["models"]
    assert found["plain"] is None
    assert any(message in each for each in found["notes"])


def test_a_model_that_people_did_not_see_is_named(invoke):
    _table()
    text = Path(_people()).read_text().splitlines()
    Path("people.csv").write_text("\n".join(line for line in text if "weak" not in line))
    found = _json(invoke, "battles.csv", "people.csv", "--people", "people")
    assert "weak has 0 (at least 5 each)" in found["notes"][-1]
    assert found["plain"] is None


def test_verdicts_without_a_question_are_of_no_known_pair(invoke):
    _table()
    for name in ("battles.csv", _people()):
        lines = Path(name).read_text().splitlines()
        Path(name).write_text("\n".join(line.rpartition(",")[0] for line in lines))
    notes = _json(invoke, "battles.csv", "people.csv", "--people", "people")["notes"]
    assert "they are on 0 pairs" in notes[-1]


def test_people_who_are_not_among_the_judges_are_refused(invoke):
    code, _, err = invoke("arena", _table(judges=("one", "two")), "--people", "poeple")
    assert code == 2
    assert "no battle has 'poeple' as its judge" in err
    assert "judges are one, two" in err


@pytest.mark.parametrize(
    "rows,message",
    [
        ("a,b,a\n" * 6 + "c,d,c\n" * 6, "nothing tells how far a, b and c, d are apart"),
        ("a,b,a\nb,c,b\nc,b,c\n" * 6, "every battle between them was won by a"),
        ("a,b,a\nb,a,b\n", "battles are about 2 questions, and 10 are the fewest"),
        ("a,b,c\n" * 12, "battles.csv:2: 'c' is not a winner"),
        ("a,a,a\n" * 12, "it lacks two models"),
        (",b,b\n" * 12, "it lacks two models"),
        ("", "battles are about 0 questions"),
    ],
)
def test_battles_that_tell_nothing_are_refused(invoke, rows, message):
    Path("battles.csv").write_text("model_a,model_b,winner\n" + rows)
    code, _, err = invoke("arena", "battles.csv")
    assert code == 2
    assert message in err
    assert "Traceback" not in err


def test_a_table_without_its_columns_and_a_run_without_pairs(invoke):
    Path("x.csv").write_text("a,b\n1,2\n")
    assert "has no column model_a" in invoke("arena", "x.csv")[2]
    _run("run")
    text = Path("run/samples.jsonl").read_text().replace("_response_name", "_other")
    Path("run/samples.jsonl").write_text(text)
    code, _, err = invoke("arena", "run")
    assert code == 2
    assert "0 questions" in err
