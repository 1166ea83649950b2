"""Options together: the same rows and the same answers come to the same numbers, whoever wrote the exam.

:mod:`tests.test_options_matrix` has each option by itself. Here several act on each other (repeats, failures, cut-off
answers, groups, clusters, selections), and what every dialect makes of them is compared with all others, and with
what counting by hand gives.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conformance.own.options.checks import drawn, problems
from conformance.own.options.exams import CHOOSING, DIALECTS, Model, made_up_rows, write_configs, write_task

from proctor.cli.__main__ import main as command_line
from proctor.dialects.aisbench.summary import summary_of
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import UsageError
from proctor.recipes.options import ExamOptions
from proctor.running.baselines import load_baseline
from proctor.running.gate import GateRules, run_gate
from proctor.running.run import run_exams
from proctor.runs.compare_runs import compare_runs
from proctor.runs.sample_index import SampleIndex
from proctor.settings import settings

SIZE = 40
ROWS = made_up_rows(SIZE)


@dataclass(frozen=True)
class Case:
    """Options, and whether some answers fail or are cut off."""

    options: Mapping[str, Any]
    fails: bool = False


CASES = {
    "repeats with failures": Case({"repeats": 3}, fails=True),
    "best of some rows, cut off": Case(
        {"limit": 13, "repeats": 2, "reduce": ("best",), "truncated": "fail"}, fails=True
    ),
    "vote, raw answers": Case({"limit": 0.33, "repeats": 4, "reduce": ("majority",), "answers": "raw"}, fails=True),
    "chosen rows, two reducers": Case(
        {"samples": {"exam": [1, 2, 3, 7, 9, 10, 15, 23, 37]}, "repeats": 4, "reduce": ("g-pass@2", "best"), "seed": 5},
        fails=True,
    ),
    "groups of repeats": Case({"limit": 0.5, "repeats": 2, "group_by": ("book",)}, fails=True),
    "groups of what is reduced": Case(
        {"limit": 13, "repeats": 4, "reduce": ("pass^2",), "group_by": ("topic", ("topic", "book"))}
    ),
    "clusters of what is reduced": Case({"repeats": 3, "reduce": ("best",), "clusters": "book"}),
    "clusters of repeats": Case({"repeats": 2, "clusters": "book", "truncated": "fail"}, fails=True),
    "clusters, groups, cut off": Case({"clusters": "book", "group_by": ("topic",), "truncated": "fail"}, fails=True),
    "nothing is scored": Case({"predict_only": True, "repeats": 2, "group_by": ("topic",)}, fails=True),
}


def taken(case: Case, name: str, folder: Path) -> tuple[Model, dict[str, Any]]:
    """Return the results of a dialect, shares instead of percent."""
    (exam,) = resolve_tasks([str(DIALECTS[name](folder, ROWS))], ExamOptions(**case.options))
    model = Model(ROWS, case.fails)
    (found,) = run_exams([exam], ScriptedEngine(function=model), log=folder / "log.db").results.values()
    scale = {"percent": 100.0}.get(found.get("unit"), 1.0)
    return model, {
        "n": found["n"],
        "failures": found["failures"],
        "scored": found["num_of_instances"],
        **{each: _share(found.get(each), scale) for each in ("score", "score_ci_low", "score_ci_high")},
        "clusters": found.get("clusters", {}).get("count"),
        "groups": [
            (each["by"], each["n"], _share(each["score"], scale), each["num_of_instances"])
            for each in found.get("groups", ())
        ],
    }


def _share(value: Any, scale: float) -> Any:
    return value if value is None else pytest.approx(value / scale, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_numbers_are_those_of_every_dialect(case, tmp_path, monkeypatch):
    found = {}
    for name in DIALECTS:
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        found[name] = taken(case, name, folder)[1]
    first = found["lm_eval"]
    for name, each in found.items():
        own = ("score_ci_low", "score_ci_high") if "repeats" not in case.options or name == "hub_yaml" else ()
        assert {**each, **{bound: first[bound] for bound in own}} == first, (
            f"{name}; a dialect's own bounds are left out"
        )


def compared(case: Case, name: str, folder: Path) -> tuple[Any, ...]:
    """Return what the comparison of two models says, in shares."""
    for which in "ab":
        (exam,) = resolve_tasks([str(DIALECTS[name](folder, ROWS))], ExamOptions(**case.options))
        engine = ScriptedEngine(function=Model(ROWS, case.fails, which))
        run_exams([exam], engine, log=folder / f"{which}.db", output=folder / which)
    sides = []
    for which in "ab":
        results = json.loads((folder / which / "results.json").read_text())["results"]
        sides.append(SampleIndex.of_run(folder / which / "samples.jsonl", results))
        sides[-1].build()
    (found,) = compare_runs(*sides)
    scale = {"percent": 100.0}.get(found.unit, 1.0)
    numbers = (found.first, found.second, found.difference, found.low, found.high, found.detectable)
    p_value = pytest.approx(found.p, abs=1e-9)
    shares = [_share(each, scale) for each in numbers]
    return (found.refused, found.n, found.left_out, found.test, found.better, found.worse, p_value, *shares)


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_two_models_differ_by_the_same_in_every_dialect(case, tmp_path, monkeypatch):
    if case.options.get("predict_only"):
        case = Case({"repeats": 2, "reduce": ("pass^2",)})
    found = {}
    for name in DIALECTS:
        folder = tmp_path / name
        folder.mkdir()
        monkeypatch.chdir(folder)
        found[name] = compared(case, name, folder)
    first = found["lm_eval"]
    assert not first[0]
    for name, each in found.items():
        assert each == first, name


@pytest.mark.parametrize("name", DIALECTS)
def test_repeats_are_counted_by_question(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    case = Case({"repeats": 3, "reduce": ("mean",), "group_by": ("topic",)}, fails=True)
    model, found = taken(case, name, tmp_path)
    plans = [[model.plan(number, time) for time in range(3)] for number in range(SIZE)]
    whole = {number: plan for number, plan in enumerate(plans) if all(reason != "failed" for reason, _ in plan)}

    def mean(numbers: list[int]) -> Any:
        return pytest.approx(sum(sum(right for _, right in whole[n]) / 3 for n in numbers) / len(numbers))

    assert model.asked == dict.fromkeys(range(SIZE), 3)
    assert (found["n"], found["failures"], found["scored"]) == (SIZE, SIZE - len(whole), len(whole))
    assert 0 < len(whole) < SIZE
    assert found["score"] == mean(list(whole))
    for by, count, score, scored in found["groups"]:
        numbers = [number for number in whole if ROWS[number]["topic"] == by["topic"]]
        assert (count, scored) == (sum(row["topic"] == by["topic"] for row in ROWS), len(numbers))
        assert score == mean(numbers)


@pytest.mark.parametrize("seed", [0, 3, 11])
def test_all_numbers_are_those_of_counting_by_hand(seed, tmp_path):
    assert list(problems(drawn(seed), tmp_path)) == []


WORD_AND_NUMBER = [
    {"name": "word", "filter": [{"function": "regex", "regex_pattern": "(yes|no)"}, {"function": "take_first"}]},
    {"name": "number", "filter": [{"function": "regex", "regex_pattern": "([0-9])"}, {"function": "take_first"}]},
]


def test_votes_and_samples_are_of_what_the_main_scores_filter_read(tmp_path):
    """The most frequent word is right, the most frequent number is not that of a right answer."""
    said = ["no 1", "yes 2", "yes 3", "no 4", "yes 5", "no 1", "no 1"]
    turn = {}

    def answer(prompt):
        turn[prompt.text] = turn.get(prompt.text, -1) + 1
        return said[turn[prompt.text]]

    path = write_task(tmp_path, ROWS[:2], filter_list=WORD_AND_NUMBER)  # yes is right, then no
    (exam,) = resolve_tasks([str(path)], ExamOptions(repeats=5, reduce=("majority",)))
    found = run_exams([exam], ScriptedEngine(function=answer), log=tmp_path / "log.db", output=tmp_path / "run")
    (entry,) = found.results.values()
    assert (entry["score_name"], entry["score"]) == ("exact_match,word:majority", 0.5)
    lines = [json.loads(line) for line in (tmp_path / "run" / "samples.jsonl").read_text().splitlines()]
    assert [line["scores"]["exact_match,word:majority"] for line in lines] == [1.0, 0.0]
    assert lines[0]["processed_prediction"] == ["no", "yes", "yes", "no", "yes"]


def test_a_gate_compares_with_what_answers_were_reduced_to(tmp_path):
    (exam,) = resolve_tasks([str(DIALECTS["unitxt"](tmp_path, ROWS))], ExamOptions(repeats=4, reduce=("best",)))
    found = run_exams([exam], Model(ROWS).engine(), log=tmp_path / "log.db", output=tmp_path / "run").results["exam"]
    known = load_baseline(tmp_path / "run").exams["exam"].scores
    assert sum(known.values()) / SIZE == pytest.approx(found["score"])
    assert found["score"] > found["accuracy"]
    baseline, engine = load_baseline(tmp_path / "run"), Model(ROWS).engine()
    for reduce in ((), ("majority",)):
        (other,) = resolve_tasks([str(DIALECTS["unitxt"](tmp_path, ROWS))], ExamOptions(repeats=4, reduce=reduce))
        with pytest.raises(
            UsageError, match=f"another reducer: best, and {reduce[0] if reduce else 'mean'} is asked for"
        ):
            run_gate([other], engine, baseline, GateRules(), log=tmp_path / "log.db")
    assert run_gate([exam], engine, baseline, GateRules(), log=tmp_path / "log.db").verdict == "passed"


def test_code_of_tasks_says_right_and_wrong_in_its_own_way(tmp_path, monkeypatch):
    """``True`` and ``False`` of ``process_results`` are scores: in comparisons, and in baselines of gates."""
    monkeypatch.chdir(tmp_path)
    code = "def judged(doc, results):\n    return {'ok': results[0] == doc['answer'], 'size': len(results[0])}\n"
    (tmp_path / "code.py").write_text(code)
    metrics = [{"metric": name, "aggregation": "mean", "higher_is_better": True} for name in ("ok", "size")]
    path = write_task(tmp_path, ROWS, metric_list=metrics, process_results="!function code.judged")
    path.write_text(path.read_text().replace('"!function code.judged"', "!function code.judged"))
    with settings.context(trust_code=True):
        (exam,) = resolve_tasks([str(path)], ExamOptions())
        for which in "ab":
            run_exams([exam], Model(ROWS, name=which).engine(), log=tmp_path / "log.db", output=tmp_path / which)
    sides = []
    for which in "ab":
        results = json.loads((tmp_path / which / "results.json").read_text())["results"]
        sides.append(SampleIndex.of_run(tmp_path / which / "samples.jsonl", results))
        sides[-1].build()
        known = load_baseline(tmp_path / which).exams["exam"].scores
        assert sum(known.values()) / SIZE == pytest.approx(results["exam"]["ok"])
    (found,) = compare_runs(*sides)
    assert (found.refused, found.n, found.test) == ("", SIZE, "mcnemar")


def test_every_score_and_every_group_has_the_interval_of_clusters(tmp_path):
    more = {"metric_list": [{"metric": "exact_match"}], "filter_list": WORD_AND_NUMBER}
    path = write_task(tmp_path, ROWS, **more)
    entries = []
    for clusters in (None, "book"):
        (exam,) = resolve_tasks([str(path)], ExamOptions(clusters=clusters, group_by=("topic",)))
        (entry,) = run_exams([exam], Model(ROWS).engine(), log=tmp_path / "log.db").results.values()
        entries.append(entry)
    alone, together = entries
    for name in ("exact_match,word", "exact_match,number"):
        assert alone[f"{name}_ci_high"] != together[f"{name}_ci_high"]
    for one, other in zip(alone["groups"], together["groups"], strict=True):
        assert one["score"] == other["score"]
        assert one["score_ci_high"] != other["score_ci_high"]
        assert other["score_ci_high"] == other["exact_match,word_ci_high"]


def test_summaries_of_configs_are_of_all_repeats(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = {"one": ROWS[:30], "two": ROWS[30:]}
    path = write_configs(tmp_path, parts, "summarizer = dict(summary_groups=[dict(name='g', subsets=['one', 'two'])])")
    for reduce, shown in (((), "accuracy"), (("best",), "accuracy (3 runs average):best")):
        exams = resolve_tasks([str(path)], ExamOptions(repeats=3, reduce=reduce))
        results = run_exams(exams, Model(ROWS, fails=True).engine(), log=tmp_path / "log.db").results
        mean = (results["one"]["score"] + results["two"]["score"]) / 2
        assert results["g"]["score"] == pytest.approx(mean)
        table = summary_of(path, {"m": {name: results[name] for name in parts}})
        rows = {(row[0], row[2]): row[4] for row in table.rows}
        assert rows["one", shown] == f"{results['one']['score']:.2f}"
        assert rows["g", "naive_average"] == f"{mean:.2f}"
        assert results["one"]["accuracy_n"] > results["one"]["num_of_instances"]  # of the last run alone


@pytest.mark.parametrize("truncated", ["score", "fail"])
@pytest.mark.parametrize("name", [each for each in DIALECTS if each not in CHOOSING])
def test_answers_of_a_run_are_evaluated_to_its_scores(name, truncated, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = str(DIALECTS[name](tmp_path, ROWS))
    (exam,) = resolve_tasks([path], ExamOptions(truncated=truncated))
    found = run_exams([exam], Model(ROWS, fails=True).engine(), log=tmp_path / "log.db", output=tmp_path / "run")
    (entry,) = found.results.values()
    samples = tmp_path / "run" / "samples.jsonl"
    typed = ["evaluate", "--dataset", path, "--predictions", str(samples), "--truncated", truncated, "--json"]
    assert command_line(typed) == 1  # instances failed
    said = json.loads(capsys.readouterr().out)
    evaluated = said.get("exam", said)
    for each in ("score", "score_name", "score_ci_low", "score_ci_high", "num_of_instances", "num_of_failures"):
        assert evaluated[each] == entry[each], each
    assert command_line([*typed, "--allow-failures"]) == 0


def test_what_evaluate_cannot_do_for_an_exam_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    path = str(write_task(tmp_path, ROWS[:2]))
    for lines, more, said in (
        ('"yes"\n', (), "1 predictions are given for 2 questions"),
        ('"yes"\n"no"\n', ("--split", "train", "--no-intervals"), "--split and --no-intervals: for recipes only"),
    ):
        Path("predictions.jsonl").write_text(lines)
        assert command_line(["evaluate", "--dataset", path, "--predictions", "predictions.jsonl", *more]) == 2
        assert said in capsys.readouterr().err
    Path("predictions.jsonl").write_text("null\n5\n")
    assert command_line(["evaluate", "--dataset", path, "--predictions", "predictions.jsonl"]) == 1
    said = capsys.readouterr().err
    assert "no_prediction: there is no prediction (None)" in said
    assert "wrong_type: the prediction is of type int" in said
    measured = str(write_task(tmp_path, ROWS[:2], output_type="loglikelihood"))
    Path("predictions.jsonl").write_text('"yes"\n"no"\n')
    assert command_line(["evaluate", "--dataset", measured, "--predictions", "predictions.jsonl"]) == 2
    assert "it compares likelihoods" in capsys.readouterr().err
