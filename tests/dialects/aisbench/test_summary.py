from __future__ import annotations

import pytest

from proctor.dialects.aisbench.prompt_version import mode_of, prompt_version
from proctor.dialects.aisbench.summary import summarize, summarize_models
from proctor.dialects.aisbench.values import Reference
from proctor.errors import DataError, ScoringError
from proctor.results.dataset_groups import summary_groups
from proctor.scoring.grades import Grade
from proctor.scoring.scores import Score

RESULTS = {
    "a": {"accuracy": 50.0, "details": {}},
    "b": {"accuracy": 20.0, "bp": 1.0},
    "c": {"error": "no predictions"},
    "d": {"rouge1": 30.0, "rouge2": 10.0},
}
GRADES = {name: Grade(scores) for name, scores in RESULTS.items()}
MODES = {"a": "gen", "b": "ppl", "c": "gen", "d": "gen"}
VERSIONS = {"a": "aaaaaa", "b": "bbbbbb", "c": "cccccc", "d": "dddddd"}


def rows(summarizer, results=RESULTS):
    return summarize(results, MODES, VERSIONS, summarizer, "m").rows[1:]


def test_every_metric_is_a_row_and_missing_scores_are_dashes():
    assert rows(None) == [
        ["a", "aaaaaa", "accuracy", "gen", "50.00"],
        ["b", "bbbbbb", "accuracy", "ppl", "20.00"],
        ["c", "-", "-", "-", "-"],
        ["d", "dddddd", "rouge1", "gen", "30.00"],
        ["d", "dddddd", "rouge2", "gen", "10.00"],
    ]


def test_rows_follow_the_summarizers_list():
    wanted = ["--- mine ---", ["d", "rouge2"], "a", ["a", "f1"], "nothing"]
    found = rows({"dataset_abbrs": wanted})
    assert [row[0] for row in found] == ["--- mine ---", "d", "a", "a", "nothing"]
    assert [row[-1] for row in found] == ["-", "10.00", "50.00", "-", "-"]


@pytest.mark.parametrize(
    "how, name, value",
    [
        ({}, "naive_average", "35.00"),
        ({"weights": {"a": 1, "b": 3}}, "weighted_average", "27.50"),
        ({"weights": {"a": 0, "b": 2}}, "weighted_average", "20.00"),
        ({"sum": True}, "sum", "70.00"),
        ({"std": True}, "standard_deviation", "15.00"),
        ({"harmonic_mean": True}, "harmonic_mean", "28.57"),
        ({"metric": "mine"}, "mine", "35.00"),
        ({"transforms": {"a": "100 - x", "b": "x * 2"}}, "naive_average", "45.00"),
    ],
)
def test_groups_combine_their_datasets(how, name, value):
    group = {"name": "g", "subsets": ["a", "b"], **how}
    assert rows({"summary_groups": [group], "dataset_abbrs": [["g", name]]}) == [["g", "-", name, "mixed", value]]


def test_a_group_may_name_metrics_and_be_part_of_another():
    groups = [
        {"name": "pairs", "subsets": [["d", "rouge2"], ("a", "accuracy")]},
        {"name": "all", "subsets": ["pairs", "b"]},
    ]
    found = rows({"summary_groups": groups, "dataset_abbrs": ["pairs", ["all", "naive_average"]]})
    assert [row[-1] for row in found] == ["30.00", "25.00"]


def test_a_group_with_a_missing_dataset_is_a_dash_with_a_reason():
    summarizer = {"summary_groups": [{"name": "g", "subsets": ["a", "c"]}], "dataset_abbrs": ["g"]}
    table = summarize(RESULTS, MODES, VERSIONS, summarizer, "m")
    assert table.rows[1] == ["g", "-", "-", "-", "-"]
    assert table.raw["m"]["g"] == {"error": "missing metrics: ['c']"}


@pytest.mark.parametrize(
    "group, error, message",
    [
        (
            {"name": "g", "subsets": ["a", ["b", "accuracy"]]},
            ScoringError,
            "some datasets with a metric and some without",
        ),
        ({"name": "g", "subsets": []}, ScoringError, "no name or no subsets"),
        ({"name": "g", "subsets": ["a", "b"], "weights": {"z": 1}}, DataError, "a weight for 'z'"),
    ],
)
def test_a_group_that_cannot_mean_anything_is_an_error(group, error, message):
    with pytest.raises(error, match=message):
        rows({"summary_groups": [group]})


def test_transforms_are_expressions_and_nothing_else():
    group = {"name": "g", "subsets": ["a"], "transforms": {"a": "__import__('os')"}}
    with pytest.raises(Exception, match="not allowed"):
        rows({"summary_groups": [group]})


def test_several_models_stand_side_by_side():
    table = summarize_models(
        {"m": RESULTS, "n": {"a": {"accuracy": 7}}}, MODES, VERSIONS, {"dataset_abbrs": ["a", "b"]}
    )
    assert table.rows == [
        ["dataset", "version", "metric", "mode", "m", "n"],
        ["a", "aaaaaa", "accuracy", "gen", "50.00", "7.00"],
        ["b", "bbbbbb", "accuracy", "ppl", "20.00", "-"],
    ]
    assert table.to_csv().splitlines()[1] == "a,aaaaaa,accuracy,gen,50.00,7.00"
    assert table.to_markdown().splitlines()[:2] == [
        "| dataset | version | metric | mode | m | n |",
        "|----- | ----- | ----- | ----- | ----- | -----|",
    ]
    text = table.to_text("20260101_000000")
    assert text.startswith("20260101_000000\ntabulate format\n^^^^")
    assert "Model: n\na: {'accuracy': 7}\n" in text


def test_what_proctors_results_have_beside_scores_is_no_metric():
    found = {
        "a": {"accuracy": 50.0, "accuracy_ci_low": 40.0, "score": 50.0, "score_name": "accuracy", "num_of_instances": 9}
    }
    assert rows(None, found)[0][2:] == ["accuracy", "gen", "50.00"]
    assert len(rows(None, found)) == 4
    assert rows(None, {"a": {"score": 5.0, "score_name": "score", "score_ci_low": 1.0}})[0][2] == "score"


def test_shares_beside_percents_are_percent_in_groups():
    (group,) = summary_groups({"summary_groups": [{"name": "x", "subsets": ["a", "b"]}]})
    percent = Score("accuracy", 40.0, unit="percent")
    share = Score("acc", 0.5, unit="share")
    grades = {"a": Grade({}, table=[percent], main=percent), "b": Grade({}, table=[share], main=share)}
    assert group.score(grades)["score"] == 45.0
    alone = dict.fromkeys("ab", grades["b"])
    assert group.score(alone)["score"] == 0.5, "in the members' own unit"


def test_groups_score_exams():
    groups = summary_groups(
        {"summary_groups": [{"name": "x", "subsets": ["a", "b"]}, {"name": "y", "subsets": ["x", "d"], "std": True}]}
    )
    assert [group.members for group in groups] == [("a", "b"), ("a", "b", "d")]
    assert groups[0].score(GRADES) == {
        "accuracy": 35.0,
        "naive_average": 35.0,
        "score": 35.0,
        "score_name": "naive_average",
    }
    assert groups[1].score(GRADES)["score"] == 2.5
    assert groups[1].score({"a": Grade({"accuracy": 3.0})}) == {}


def test_an_unknown_summarizer_is_noted():
    table = summarize(RESULTS, MODES, VERSIONS, {"type": Reference("opencompass.summarizers.CircularSummarizer")})
    assert table.notes == ["the summarizer 'CircularSummarizer' is not known; this is the default one's table"]


# -- versions -----------------------------------------------------------------------------------------------------

INFER = {
    "prompt_template": {"type": Reference("opencompass.openicl.icl_prompt_template.PromptTemplate"), "template": "{q}"},
    "retriever": {"type": Reference("opencompass.openicl.icl_retriever.FixKRetriever"), "fix_id_list": [0, 1]},
    "inferencer": {"type": Reference("opencompass.openicl.icl_inferencer.GenInferencer")},
}


def test_a_version_is_of_the_prompt_and_not_of_where_ids_stand():
    version = prompt_version({"infer_cfg": INFER})
    assert len(version) == 6
    assert int(version, 16) >= 0
    moved = {
        **INFER,
        "retriever": {"type": INFER["retriever"]["type"]},
        "inferencer": {**INFER["inferencer"], "fix_id_list": [0, 1]},
    }
    assert prompt_version({"infer_cfg": moved}) == version
    assert prompt_version({"infer_cfg": {**INFER, "prompt_template": {"template": "{q}?"}}}) != version
    assert INFER["retriever"]["fix_id_list"] == [0, 1]  # the config is as it was
    assert prompt_version({}) == "/"


def test_a_version_is_the_one_that_upstream_shows():
    infer = {
        "prompt_template": {"type": "P", "template": {"round": [{"role": "HUMAN", "prompt": "é"}]}},
        "retriever": {"type": "R"},
        "inferencer": {"type": "I"},
    }
    assert prompt_version({"infer_cfg": infer}) == "34331f"


@pytest.mark.parametrize(
    "kind, mode",
    [
        ("GenInferencer", "gen"),
        ("PPLInferencer", "ppl"),
        ("PPLOnlyInferencer", "ppl"),
        ("LLInferencer", "ll"),
        ("CLPInferencer", "unknown"),
    ],
)
def test_modes_follow_the_inferencer(kind, mode):
    assert (
        mode_of({"infer_cfg": {"inferencer": {"type": Reference(f"opencompass.openicl.icl_inferencer.{kind}")}}})
        == mode
    )
