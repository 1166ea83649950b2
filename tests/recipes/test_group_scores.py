import json
import math

import pytest

from proctor.artifacts import fetch_artifact
from proctor.dialects.unitxt.resolve import exams_of
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import MissingFieldError
from proctor.recipes.benchmark import Benchmark
from proctor.recipes.group_scores import BenchmarkScores, varied_of
from proctor.running.run import run_exams
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score

ARITHMETIC = "card=samples.cards.arithmetic,demos_pool_size=8"


def results_of(recipe, tmp_path, name="sums", answer="12"):
    exams = exams_of(name, fetch_artifact(recipe) if isinstance(recipe, str) else recipe)
    return run_exams(exams, ScriptedEngine(answer=answer), limit=24, log=tmp_path / "log.db", output=tmp_path / "run")


def test_groups_that_a_recipe_asks_for_are_scored_as_evaluate_scores_them(tmp_path):
    from proctor import evaluate, load_dataset

    recipe = f"{ARITHMETIC},template=samples.templates.arithmetic,num_demos=1,group_by=[answer]"
    found = results_of(recipe, tmp_path).results["sums"]["groups"]
    rows = list(load_dataset(recipe, split="test"))[:24]
    wanted = evaluate(["12"] * len(rows), rows).groups_scores["answer"]
    assert {group["by"]["answer"] for group in found} == {str(key) for key in wanted} or {
        group["by"]["answer"] for group in found
    } == set(wanted)
    by_value = {str(group["by"]["answer"]): group for group in found}
    for key, scores in wanted.items():
        assert by_value[str(key)]["score"] == scores["score"]
        assert by_value[str(key)]["n"] == scores["num_of_instances"]


def test_several_templates_and_demo_counts_are_groups_unasked(tmp_path):
    template = '{"__type__":"input_output_template","input_format":"{question}","output_format":"{answer}"}'
    recipe = fetch_artifact(f"{ARITHMETIC},template=samples.templates.arithmetic,num_demos=1")
    twin = recipe.model_copy()
    twin.template = [recipe.template, json.loads(template)]
    twin.num_demos = [0, 2]
    found = results_of(twin, tmp_path).results["sums"]["groups"]
    assert all(set(group["by"]) == {"num_demos", "template"} for group in found)
    assert sum(group["n"] for group in found) == 24
    assert {group["by"]["num_demos"] for group in found} == {0, 2}


def test_a_recipe_without_groups_has_none(tmp_path):
    assert "groups" not in results_of("samples.arithmetic", tmp_path).results["sums"]


def test_a_field_that_is_not_there_is_named_before_anybody_is_asked(tmp_path):
    recipe = f"{ARITHMETIC},template=samples.templates.arithmetic,num_demos=1,group_by=[subject]"
    with pytest.raises(MissingFieldError, match="subject"):
        next(exams_of("sums", fetch_artifact(recipe))[0].questions())


def test_a_benchmark_is_filed_beside_its_members(tmp_path):
    inner = Benchmark(subsets={"x": fetch_artifact("samples.sentiment"), "y": fetch_artifact("samples.arithmetic")})
    outer = Benchmark(subsets={"in": inner, "z": fetch_artifact("samples.arithmetic")})
    results = results_of(outer, tmp_path, "all", "positive").results
    x, y, z = (results[name]["score"] for name in ("all.in.x", "all.in.y", "all.z"))
    assert results["all.in"]["score"] == pytest.approx((x + y) / 2)
    assert results["all"]["score"] == pytest.approx(((x + y) / 2 + z) / 2)
    assert results["all"]["members"] == ["all.in.x", "all.in.y", "all.z"]
    assert results["all"]["score_ci_low"] < results["all"]["score"] < results["all"]["score_ci_high"]
    assert results["all"]["n"] == 72


def test_members_without_a_score_do_not_count():
    scores = BenchmarkScores("b", ("x", "y"))
    having, lacking = Grade({}, main=Score("f1", 0.5)), Grade({}, main=Score("f1", math.nan))
    assert scores.score({"x": having, "y": lacking})["score"] == 0.5
    assert scores.score({"x": having, "y": lacking})["without"] == ["y"]
    assert scores.score({"x": having})["without"] == ["y"]
    nested = BenchmarkScores("b", (BenchmarkScores("in", ("x", "y")), BenchmarkScores("none", ("y",)), "x"))
    assert nested.score({"x": having, "y": lacking})["without"] == ["y", "y"]
    assert "score_ci_low" not in scores.score({"x": having})
    assert scores.score({}) == scores.score({"y": lacking}) == {}


def test_members_of_one_unit_keep_it_and_percentages_beside_shares_become_shares():
    percent = Grade({"num_of_instances": 3}, main=Score("accuracy", 34.1, 20.0, 50.0, unit="percent"))
    share = Grade({"num_of_instances": 5}, main=Score("f1", 0.5, 0.4, 0.6, unit="share"))
    raw = Grade({}, main=Score("perplexity", 7.0))
    same = BenchmarkScores("b", ("x", "y")).score({"x": percent, "y": percent})
    assert (same["score"], same["unit"]) == ((34.1 + 34.1) / 2, "percent")
    nested = BenchmarkScores("b", (BenchmarkScores("in", ("x", "x")), "y"))
    mixed = nested.score({"x": percent, "y": share})
    assert (mixed["score"], mixed["unit"]) == (pytest.approx((0.341 + 0.5) / 2), "share")
    assert 0.2 < mixed["score_ci_low"] < mixed["score"] < mixed["score_ci_high"] < 0.6
    assert mixed["num_of_instances"] == 3 + 3 + 5
    assert BenchmarkScores("b", ("x", "y")).score({"x": share, "y": raw})["unit"] == "raw"


def test_a_benchmarks_interval_is_that_of_a_mean_of_independent_scores():
    def grade(score, low, high, count):
        return Grade({"num_of_instances": count}, main=Score("f1", score, low, high))

    grades = {"x": grade(0.4, 0.3, 0.5, 10), "y": grade(0.8, 0.7, 0.9, 30), "bare": Grade({}, main=Score("f1", 1))}
    found = BenchmarkScores("b", ("x", "y")).score(grades)
    assert found.pop("unit") == "raw"
    half = (0.1**2 + 0.1**2) ** 0.5 / 2
    assert found == {
        "score": pytest.approx(0.6), "subsets_mean": pytest.approx(0.6), "score_name": "subsets_mean",
        "score_ci_low": pytest.approx(0.6 - half), "score_ci_high": pytest.approx(0.6 + half),
        "subsets_mean_ci_low": pytest.approx(0.6 - half), "subsets_mean_ci_high": pytest.approx(0.6 + half),
        "num_of_instances": 40,
    }  # fmt: skip
    partly = BenchmarkScores("b", ("x", "bare")).score(grades)
    assert partly.pop("unit") == "raw"
    assert partly == {"score": 0.7, "subsets_mean": 0.7, "score_name": "subsets_mean", "num_of_instances": 10}


@pytest.mark.parametrize("score", [None, True, float("nan"), "0.5"])
def test_what_is_not_a_number_is_not_a_score(score):
    assert BenchmarkScores("b", ("x",)).score({"x": Grade({}, main=Score("f1", score))}) == {}


def test_an_interval_needs_both_ends():
    grades = {"x": Grade({}, main=Score("f1", 0.5, 0.4, None))}
    assert "score_ci_low" not in BenchmarkScores("b", ("x",)).score(grades)


def test_what_varies_within_a_recipe():
    recipe = fetch_artifact(f"{ARITHMETIC},template=samples.templates.arithmetic,num_demos=1")

    def varied(**changes):
        return varied_of(recipe.model_copy(update=changes))

    assert varied() == ()
    assert varied(num_demos=[1]) == ()
    assert varied(num_demos=[1, 2]) == ("num_demos",)
    assert varied(template=[recipe.template, recipe.template]) == ("template",)


def test_the_count_is_of_the_instances_behind_the_score():
    def grade(value, count):
        return Grade({"num_of_instances": count} if count else {}, main=Score("f1", value))

    grades = {"x": grade(0.5, 3), "y": grade(0.7, 4), "bare": grade(0.1, 0), "lacking": grade(math.nan, 9)}
    lost = BenchmarkScores("lost", ("lacking", "nowhere"))
    nested = BenchmarkScores("b", ("x", BenchmarkScores("in", ("y", "lacking", lost)), "bare", lost, "nowhere"))
    found = nested.score(grades)
    assert found["num_of_instances"] == nested.scored(grades) == 3 + 4
    assert found["score"] == pytest.approx((0.5 + 0.7 + 0.1) / 3)
    assert (lost.score(grades), lost.scored(grades)) == ({}, 0)
