"""AISBench's calculators and summarizer of timed requests, as programs call them."""

import csv
import json
import sys
from types import ModuleType, SimpleNamespace
from unittest import mock

import numpy as np
import pytest

from proctor.errors import MissingExtraError

BASE = "ais_bench.benchmark.calculators.base_perf_metric_calculator"
PERF = "ais_bench.benchmark.summarizers.default_perf"

pytestmark = pytest.mark.usefixtures("installed")


def requests(**changed):
    """Four requests of which the last failed; two were under way at once from 1 s to 4 s."""
    columns = {
        "id": [0, 1, 2, 3],
        "start_time": [0.0, 1.0, 2.0, 3.0],
        "end_time": [2.0, 3.0, 4.0, 5.0],
        "success": [True, True, True, False],
        "latency": [2.0, 2.0, 2.0, 2.0],
        "ttft": [0.5, 0.5, 1.0, 0.0],
        "tpot": [0.1, 0.2, 0.3, 0.0],
        "itl": [np.array([0.1, 0.2]), np.array([0.3]), np.array([0.4]), np.array([])],
        "input_tokens": [10, 20, 30, 40],
        "output_tokens": [5, 6, 7, 8],
        "generate_tokens_speed": [2.5, 3.0, 3.5, 4.0],
    }
    return {**columns, **changed}


def calculated(name, concurrency=2, data=None, **settings):
    from ais_bench.benchmark import calculators

    made = getattr(calculators, name)(**settings)
    made._init_datas(data or requests(), concurrency)
    made.calculate()
    return made


def test_all_requests_are_one_stage_with_statistics_and_units():
    made = calculated("DefaultPerfMetricCalculator", stats_list=["Average", "P50", "P0", "Mode"])
    assert made.stats_list == ["Average", "P50"]
    assert made.metrics["TTFT"]["total"] == {"Average": "500.0 ms", "P50": "500.0 ms", "N": 3}
    assert made.metrics["ITL"]["total"]["Average"] == "250.0 ms"
    assert made.metrics["InputTokens"]["total"]["Average"] == 25
    figures = {name: stages["total"] for name, stages in made.get_common_res().items()}
    assert figures["Failed Requests"] == 1
    assert figures["Benchmark Duration"] == "5000.0 ms"
    assert figures["Request Throughput"] == "0.6 req/s"
    assert figures["Prefill Token Throughput"] == "50.0 token/s"
    assert figures["Concurrency"] == 1.6


def test_the_stable_stage_begins_with_the_second_request_that_makes_the_number_full():
    made = calculated("StablePerfMetricCalculator")
    assert made.stage_section == [2.0, 4.0]
    assert made.stage_dict == {"stable": [2, 3]}
    assert made.common_metrics["Concurrency"]["stable"] == 2


@pytest.mark.parametrize(
    "name, concurrency, data, code",
    [
        ("DefaultPerfMetricCalculator", 2, requests(success=[False] * 4), "ALL_REQUEST_DATAS_INVALID"),
        ("StablePerfMetricCalculator", 9, None, "CAN_NOT_FIND_STABLE_STAGE"),
    ],
)
def test_requests_that_cannot_be_summed_up_are_an_error(name, concurrency, data, code):
    from ais_bench.benchmark.utils.logging.error_codes import CALC_CODES
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchDataContentError

    with pytest.raises(AISBenchDataContentError) as caught:
        calculated(name, concurrency, data)
    assert caught.value.error_code_str == getattr(CALC_CODES, code).full_code


def test_answers_that_came_whole_have_no_times_between_tokens():
    whole = {"ttft": [0.0] * 4, "tpot": [0.0] * 4, "itl": [np.array([])] * 4}
    made = calculated("DefaultPerfMetricCalculator", data=requests(**whole))
    assert not {"TTFT", "TPOT", "ITL"} & set(made.metrics)
    assert "Prefill Token Throughput" not in made.common_metrics


def test_statistics_are_written_as_csv(tmp_path):
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchMetricError

    made = calculated("DefaultPerfMetricCalculator", stats_list=["Max"])
    made.save_performance(tmp_path / "a.csv")
    rows = list(csv.reader((tmp_path / "a.csv").read_text().splitlines()))
    assert rows[:2] == [["Performance Parameters", "Stage", "Max", "N"], ["E2EL", "total", "2000.0 ms", "3"]]
    made.metrics = {}
    with pytest.raises(AISBenchMetricError):
        made.save_performance(tmp_path / "b.csv")


def test_a_replaced_logger_is_the_one_that_is_told():
    with mock.patch(f"{BASE}.AISLogger") as logger:
        from ais_bench.benchmark.calculators import DefaultPerfMetricCalculator

        made = DefaultPerfMetricCalculator([f"P{each}" for each in range(1, 11)])
        assert len(made.stats_list) == 8
        logger.return_value.warning.assert_called_once()
        assert made._process_batch_sizes([2, 2, 3, 3, 3]) == [2, 3]
        assert made._calculate_statistics([], ["Min"]) == {"Min": 0}


# -- the summarizer --------------------------------------------------------------------------------------------------


def summarizer(folder, **model):
    from ais_bench.benchmark.summarizers import DefaultPerfSummarizer

    dataset = {"type": "x.ADataset", "abbr": "d", "infer_cfg": {"inferencer": "i"}}
    config = {"models": [{"abbr": "m", "attr": "service", "batch_size": 2, **model}], "datasets": [dataset]}
    return DefaultPerfSummarizer({**config, "work_dir": str(folder)}, {"type": "DefaultPerfMetricCalculator"})


def written(folder):
    from ais_bench.benchmark.openicl.icl_inferencer.output_handler.db_utils import init_db, save_numpy_to_db

    top = folder / "performances" / "m"
    (top / "db_data").mkdir(parents=True)
    connection = init_db(top / "db_data" / "a.db")
    mark = save_numpy_to_db(connection, np.array([1.0, 1.5, 2.0, 3.0]), 1)
    connection.commit()
    connection.close()
    line = {"success": True, "id": 0, "uuid": "u", "input": "q", "prediction": "a", "db_name": "a.db"}
    line |= {"input_tokens": 4, "output_tokens": 3, "time_points": {"__db_ref__": mark}}
    failed = {"success": False, "db_name": "a.db"}
    (top / "d_details.jsonl").write_text("".join(json.dumps(each) + "\n" for each in (line, failed)))
    return top


def test_timed_requests_of_a_folder_are_summed_up_and_no_chart_is_drawn(tmp_path, capsys):
    top = written(tmp_path)
    summarizer(tmp_path).summarize()
    figures = json.loads((top / "d.json").read_text())
    assert figures["Failed Requests"] == {"total": 1}
    assert "TTFT" in (top / "d.csv").read_text()
    assert "500.0 ms" in capsys.readouterr().out
    assert not list(top.glob("*.html"))


def test_tokens_that_the_server_did_not_count_are_counted_by_the_tokenizer(tmp_path):
    with mock.patch(f"{PERF}.AISTokenizer") as tokenizer, mock.patch(f"{PERF}.init_db"):
        tokenizer.return_value.encode.side_effect = list
        found = []
        line = {"success": True, "input": "four", "prediction": "xyz", "time_points": [0, 1, 5], "db_name": "a"}
        with mock.patch(f"{PERF}.load_all_numpy_from_db", return_value={}):
            summarizer(tmp_path)._calc_perf_data(found, {"path": "p"}, "a.db", [line])
    assert (found[0]["input_tokens"], found[0]["output_tokens"], found[0]["tpot"]) == (4, 3, 2.0)


def test_a_folder_without_timed_requests_is_an_error_and_local_models_have_none(tmp_path):
    from ais_bench.benchmark.utils.logging.exceptions import FileMatchError

    with pytest.raises(FileMatchError):
        summarizer(tmp_path).summarize()
    summarizer(tmp_path, attr="local")._load_tmp_result("m", ["d"])


def test_times_of_charts_are_made_and_without_plotly_no_chart_is_drawn(monkeypatch, tmp_path):
    from ais_bench.benchmark.utils.visualization import summarize_plot

    for name in ("plotly", "plotly.graph_objects", "plotly.subplots"):
        monkeypatch.setitem(sys.modules, name, None)
    first, starts, ends, whole = summarize_plot.preprocess_data(
        np.array([3.0, 4.0]), np.array([0.5, 1.0]), np.array([3.5004, 6.0])
    )
    assert not whole
    assert np.allclose([first, starts, ends], [[0.5, 2.0], [0.0, 1.0], [0.5, 3.0]])
    with pytest.raises(MissingExtraError, match="plotly"):
        summarize_plot.generate_timeline_traces(starts, ends, first, [0, 1], "s")
    page = tmp_path / "page.html"
    assert not summarize_plot.plot_sorted_request_timelines(starts, ends, first - starts, [0, 1], str(page))
    assert not page.exists()


@pytest.fixture
def figure(monkeypatch):
    """plotly's parts as charts use them, which keep what they are given."""
    drawn = mock.Mock()
    objects = ModuleType("plotly.graph_objects")
    objects.Scattergl, objects.Figure = SimpleNamespace, mock.Mock(return_value=drawn)
    subplots = ModuleType("plotly.subplots")
    subplots.make_subplots = mock.Mock(return_value=drawn)
    for module in (ModuleType("plotly"), objects, subplots):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return drawn


def test_requests_are_lines_of_waiting_and_answering(figure):
    from ais_bench.benchmark.utils.visualization import summarize_plot

    starts, firsts, ends = np.array([1.0, 0.0]), np.array([1.5, 0.5]), np.array([2.0, 0.5])
    red, blue = summarize_plot.generate_timeline_traces(starts, ends, firsts, ["a", "b"], "s")

    np.testing.assert_array_equal(red.x, [0, 0.5, np.nan, 1, 1.5, np.nan])
    np.testing.assert_array_equal(red.y, [1, 1, np.nan, 2, 2, np.nan])
    np.testing.assert_array_equal(blue.x, [np.nan] * 3 + [1.5, 2, np.nan])
    assert "Decode(s): NaN" in red.hovertext[0]
    assert "TTFT(s): 1.00→1.50=0.50" in red.hovertext[3]
    (red, _) = summarize_plot.generate_timeline_traces(starts, ends, firsts, ["a", "a"], "s")
    assert set(red.y[~np.isnan(red.y)]) == {1.0}


def test_how_many_requests_are_under_way_is_a_line(figure):
    from ais_bench.benchmark.utils.visualization import summarize_plot

    (line,) = summarize_plot.generate_concurrency_traces(np.array([0.0, 1.0, 2.0]), np.array([2.0, 3.0, 2.0]), "s")

    assert list(zip(line.x, line.y, strict=True)) == [(0, 1), (1, 2), (2, 1), (3, 0)]
    assert line.hovertext[1] == "Time: 1.0000s<br>Concurrency: 2"
    assert summarize_plot.generate_concurrency_traces(np.array([1.0]), np.array([1.0]), "s") == []
    many = np.arange(summarize_plot.MAX_POINTS_PER_TRACE, dtype=float)
    assert len(summarize_plot.generate_concurrency_traces(many, many + 0.5, "s")) == 2


@pytest.mark.parametrize("waited, charts", [([0.5, 0.5], 2), ([0.0, 0.0], 1)])
def test_pages_have_a_chart_of_requests_where_answers_came_in_pieces(figure, waited, charts):
    from ais_bench.benchmark.utils.visualization import summarize_plot

    given = np.array([0.0, 1.0]), np.array([2.0, 3.0]), np.array(waited)
    assert summarize_plot.plot_sorted_request_timelines(*given, [0, 1], "page.html")

    rows = {call.kwargs.get("row", 1) for call in figure.add_trace.call_args_list}
    assert len(rows) == charts
    assert figure.update_layout.call_args.args[0]["height"] == 600 * charts
    assert figure.write_html.call_args.args == ("page.html",)


def test_what_a_program_puts_in_the_place_of_plotly_is_used(figure):
    from ais_bench.benchmark.utils.visualization import summarize_plot

    given = np.array([0.0]), np.array([2.0]), np.array([0.5])
    with mock.patch("ais_bench.benchmark.utils.visualization.summarize_plot.make_subplots") as made:
        assert summarize_plot.plot_sorted_request_timelines(*given, [0], "page.html")
    made.return_value.write_html.assert_called_once()
    figure.write_html.assert_not_called()
