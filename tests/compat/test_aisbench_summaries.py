"""AISBench's summarizers step by step, that of judged answers, and mmengine's files, as programs call them."""

import json
from importlib import import_module
from unittest import mock

import pytest

from proctor.errors import DataError, ScoringError

PLAIN, JUDGED = "default", "default_subjective"
SUMMARIZERS = "ais_bench.benchmark.summarizers"
BOTH = pytest.mark.parametrize("which", [PLAIN, JUDGED])
MODEL = {"abbr": "m", "type": "T", "path": "p"}
OTHER = {"abbr": "n", "type": "T", "path": "p", "summarizer_abbr": "N"}

pytestmark = pytest.mark.usefixtures("installed")


def dataset(name, kind="GenInferencer"):
    return {
        "abbr": name,
        "type": "JsonlDataset",
        "path": "p",
        "reader_cfg": {"input_columns": ["a"], "output_column": "b"},
        "infer_cfg": {
            "inferencer": {"type": kind},
            "retriever": {"type": "ZeroRetriever"},
            "prompt_template": {"type": "PromptTemplate", "template": "x"},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
    }


def config(folder="/nowhere", models=(MODEL,), **more):
    return {
        "models": list(models),
        "datasets": [dataset("a"), dataset("b", "PPLInferencer")],
        "work_dir": str(folder),
        "eval": {"partitioner": {"models": list(models)}},
        "judge_models": [{"abbr": "judge", "type": "J", "path": "p"}],
        **more,
    }


def kind(which):
    module = import_module(f"{SUMMARIZERS}.{which}")
    return module.DefaultSummarizer if which == PLAIN else module.DefaultSubjectiveSummarizer


def made(which, *models, groups=(), **more):
    summarizer = kind(which)(config(**more), summary_groups=groups)
    summarizer.model_abbrs = list(models) or ["m"]
    return summarizer


def judge(which):
    return () if which == PLAIN else ("judge",)


@BOTH
def test_a_summarizer_knows_its_config(which):
    summarizer = kind(which)(config(models=(MODEL, OTHER, MODEL)), summary_groups=[{"name": "g", "subsets": ["a"]}])

    assert summarizer.model_abbrs == ["m", "N"]
    assert summarizer.summary_groups == [{"name": "g", "subsets": ["a"]}]
    with mock.patch(f"{SUMMARIZERS}.{which}.AISLogger") as logger:
        kind(which)(config(), prompt_db="x")
    assert "prompt_db" in logger.return_value.warning.call_args.args[0]


# -- results ---------------------------------------------------------------------------------------------------------


def picked(which, result):
    place = f"{SUMMARIZERS}.{which}"
    with (
        mock.patch(f"{place}.dataset_abbr_from_cfg", return_value="a"),
        mock.patch(f"{place}.get_infer_output_path", return_value="/w/results/m/a.json"),
        mock.patch("os.path.exists", return_value=result is not None),
        mock.patch(f"{place}.mmengine") as files,
        mock.patch(f"{place}.AISLogger") as logger,
    ):
        files.load.return_value = result
        return kind(which)(config())._pick_up_results(*judge(which)), logger.return_value, files.load


@BOTH
@pytest.mark.parametrize(
    "result, parsed, metrics",
    [
        ({"f1": 0.5, "score": 0.8, "bp": 0.9, "details": {}}, {"a": {"f1": 0.5, "score": 0.8}}, {"a": ["score", "f1"]}),
        ({"error": "lost"}, {}, {}),
        ({"bp": 0.5, "sys_len": 10}, {}, {}),
        (None, {}, {}),
    ],
)
def test_results_are_picked_up(which, result, parsed, metrics):
    found, logger, load = picked(which, result)

    kept = {key: value for key, value in (result or {}).items() if key != "details"}
    assert found.raw == {"m": {"a": kept} if result is not None else {}}
    assert found.parsed == {"m": parsed}
    assert found.metrics == metrics
    assert ("error in m a lost" in str(logger.debug.call_args_list)) == ("error" in kept)
    assert ("unknown result format" in str(logger.warning.call_args_list)) == ("sys_len" in kept)
    if result is not None:
        folder = "/w/results/m" if which == PLAIN else "/w/results/m_judged-by--judge"
        load.assert_called_with(f"{folder}/a.json")


@BOTH
def test_how_datasets_are_asked_is_known(which, tmp_path):
    summarizer = kind(which)(
        config(tmp_path, datasets=[dataset("a"), dataset("b", "PPLInferencer"), dataset("c", "X")])
    )

    assert summarizer._pick_up_results(*judge(which)).modes == {"a": "gen", "b": "ppl", "c": "unknown"}


def test_a_mean_is_taken_over_the_models_that_a_judge_compared_with(tmp_path):
    compared = {**dataset("a"), "base_models": [{"abbr": "x"}, {"abbr": "y"}]}
    for name, score in (("x", 10.0), ("y", 20.0)):
        folder = tmp_path / "results" / f"{name}_m_judged-by--judge"
        folder.mkdir(parents=True)
        (folder / "a.json").write_text(json.dumps({"score": score, "kind": "pair"}))

    found = kind(JUDGED)(config(tmp_path, datasets=[compared]))._pick_up_results("judge")

    assert found.raw == {"m": {"a": {"kind": "pair", "score": 15.0}}}
    assert found.parsed == {"m": {"a": {"score": 15.0}}}


def test_models_with_different_metrics_are_named(tmp_path):
    for name, result in (("m", {"accuracy": 1.0}), ("n", {"f1": 1.0})):
        (tmp_path / "results" / name).mkdir(parents=True)
        (tmp_path / "results" / name / "a.json").write_text(json.dumps(result))

    with pytest.raises(ScoringError, match="different metrics for 'a'"):
        kind(PLAIN)(config(tmp_path, models=(MODEL, OTHER), datasets=[dataset("a")]))._pick_up_results()


# -- groups ----------------------------------------------------------------------------------------------------------


def grouped(which, group, scores, metrics=("score",)):
    raw = {"m": json.loads(json.dumps(scores))}
    known = {name: list(metrics) for name in scores}
    summarizer = made(which, groups=[{"name": "g", **group}])
    return summarizer._calculate_group_metrics(raw, {"m": scores}, known, {"a": "gen", "b": "ppl"})


@BOTH
@pytest.mark.parametrize(
    "group, name, wanted",
    [
        ({}, "naive_average", 0.7),
        ({"weights": {"a": 1, "b": 2}}, "weighted_average", 2 / 3),
        ({"std": True}, "standard_deviation", 0.1),
        ({"sum": True}, "sum", 1.4),
    ],
)
def test_groups_have_scores(which, group, name, wanted):
    found = grouped(which, {"subsets": ["a", "b"], **group}, {"a": {"score": 0.8}, "b": {"score": 0.6}})

    assert found.parsed["m"]["g"][name] == pytest.approx(wanted)
    assert name in found.metrics["g"]
    assert found.modes["g"] == "mixed"


@pytest.mark.parametrize(
    "which, wanted",
    [(PLAIN, {"score": 0.7, "accuracy": 0.8, "naive_average": 0.7}), (JUDGED, {"score": 0.7, "accuracy": 0.8})],
)
def test_a_group_of_datasets_that_share_two_metrics_has_both(which, wanted):
    scores = {"a": {"score": 0.8, "accuracy": 0.7}, "b": {"score": 0.6, "accuracy": 0.9}}

    found = grouped(which, {"subsets": ["a", "b"]}, scores, ("score", "accuracy"))

    assert found.parsed["m"]["g"] == pytest.approx(wanted)


@BOTH
def test_a_group_names_metrics_and_misses_datasets(which):
    scores = {"a": {"score": 0.8}, "b": {"score": 0.6}}
    pairs = grouped(which, {"subsets": [("a", "score"), ("b", "score")], "metric": "mine"}, scores)
    missing = grouped(which, {"subsets": ["a", "c"]}, {"a": {"score": 0.8}})

    assert pairs.parsed["m"]["g"] == {"mine": pytest.approx(0.7)}
    assert "missing metrics: ['c']" in missing.raw["m"]["g"]["error"]


@BOTH
def test_a_group_with_and_without_metrics_is_refused_as_upstream(which):
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchConfigError

    with pytest.raises(NotImplementedError if which == PLAIN else AISBenchConfigError, match="'g'"):
        grouped(which, {"subsets": ["a", ("b", "score")]}, {"a": {"score": 0.8}, "b": {"score": 0.6}})


# -- tables and files ------------------------------------------------------------------------------------------------


@BOTH
def test_a_table_has_the_lines_that_are_wanted(which):
    summarizer = made(which, "m", "n")
    known = ({"m": {"a": {"score": 0.8}}, "n": {}}, {"a": ["score"]}, {"a": "gen"})
    with mock.patch(f"{SUMMARIZERS}.{which}.get_prompt_hash", return_value="abcdef123456"):
        whole = summarizer._format_table(*known)
        chosen = summarizer._format_table(*known, required_dataset_abbrs=["c", ("a", "score"), ("a", "f1")])
        short = summarizer._format_table(*known, required_dataset_abbrs=["c"], skip_all_slash=True)

    assert whole == [
        ["dataset", "version", "metric", "mode", "m", "n"],
        ["a", "abcdef", "score", "gen", "0.80", "-"],
        ["b", "-", "-", "-", "-", "-"],
    ]
    assert [row[:3] for row in chosen[1:]] == [["c", "-", "-"], ["a", "abcdef", "score"], ["a", "-", "-"]]
    assert len(short) == 1


def test_what_a_judge_counted_stands_beside_its_score():
    scores = {"accuracy": 50.0, "correct_count": 1, "total_count": 2}

    table = made(PLAIN)._format_table({"m": {"a": scores}}, {"a": list(scores)}, {"a": "gen"})

    assert table[0][4:] == ["total_count", "m"]
    assert table[1][4:] == ["2", "50.00 (1/2)"]
    assert [row[2] for row in table[1:]] == ["accuracy", "-"]


@BOTH
def test_a_program_s_own_step_takes_part_in_the_whole(which, tmp_path, capsys):
    folder = tmp_path / "results" / ("m" if which == PLAIN else "m_judged-by--judge")
    folder.mkdir(parents=True)
    for name, score in (("a", 50.0), ("b", 25.0)):
        (folder / f"{name}.json").write_text(json.dumps({"accuracy": score}))

    class Doubled(kind(which)):
        def _calculate_group_metrics(self, *known):
            found = super()._calculate_group_metrics(*known)
            found.parsed["m"]["g"]["naive_average"] *= 2
            return found

    Doubled(config(tmp_path), summary_groups=[{"name": "g", "subsets": ["a", "b"]}]).summarize(time_str="now")

    end = "" if which == PLAIN else "_by_judge"
    written = {path.suffix: path for path in (tmp_path / "summary").iterdir()}
    assert sorted(written) == ([".csv", ".md", ".txt"] if which == PLAIN else [".csv", ".txt"])
    assert {path.stem for path in written.values()} == {f"summary_now{end}"}
    assert written[".csv"].read_text().splitlines()[-1] == "g,-,naive_average,mixed,75.00"
    assert ("markdown format" in written[".txt"].read_text()) == (which == PLAIN)
    assert "75.00" in capsys.readouterr().out


# -- mmengine --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["v.json", "v.yaml"])
def test_files_of_values_are_read_and_written(name, tmp_path):
    import mmengine

    mmengine.mkdir_or_exist(str(tmp_path / "a" / "b"))
    mmengine.dump({"x": [1, 2]}, str(tmp_path / "a" / "b" / name))

    assert mmengine.load(str(tmp_path / "a" / "b" / name)) == {"x": [1, 2]}
    assert mmengine.dump({"x": 1}, file_format="json") == '{"x": 1}'


def test_a_pickle_is_not_read(tmp_path):
    from mmengine.fileio import load

    (tmp_path / "v.pkl").write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    with pytest.raises(DataError, match="neither JSON nor YAML"):
        load(str(tmp_path / "v.pkl"))
