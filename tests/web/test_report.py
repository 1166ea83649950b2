import csv
import json
import re
from io import StringIO

import pytest
from tests_web_support import NASTY, sample, write_run

from proctor.cli.__main__ import main
from proctor.runs.stored_run import load_run
from proctor.web.report import LARGEST_BYTES, report_of


def test_a_report_needs_nothing_else(runs):
    page = report_of([load_run(runs / "first"), load_run(runs / "second")])
    assert "<svg" in page
    assert "Compared with first" in page
    assert not re.search(r"(href|src)=\"(?!data:)", page.replace('href="#main"', ""))
    assert "<script" not in page.replace("&lt;script", "")
    assert NASTY not in page


def test_a_large_run_makes_a_small_file(tmp_path):
    folder = write_run(tmp_path / "large", [sample(number, output="word " * 2000) for number in range(1000)])
    page = report_of([load_run(folder)], samples_per_exam=1000)
    assert len(page.encode()) <= LARGEST_BYTES
    assert "were left out" in page


def test_a_run_without_samples(tmp_path):
    folder = write_run(tmp_path / "short", [sample(0)])
    (folder / "samples.jsonl").unlink()
    assert "accuracy" in report_of([load_run(folder)])


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_formats(runs, here, capsys):
    given = [str(runs / "first"), str(runs / "second")]
    for name in ("a.html", "a.md", "a.csv", "a.parquet"):
        assert main(["report", *given, "-o", name]) == 0
    assert (here / "a.md").read_text().count("\n") == 5
    rows = list(csv.DictReader(StringIO((here / "a.csv").read_text())))
    assert [(row["run"], row["task"], row["asked"], row["failed"]) for row in rows] == [
        ("first", "capitals", "120", "1"),
        ("first", "nasty", "2", "0"),
        ("second", "capitals", "120", "0"),
    ]
    from pyarrow import parquet

    assert parquet.read_table(here / "a.parquet").num_rows == 3


def test_spreadsheets_get_no_formulas(tmp_path, here):
    folder = write_run(tmp_path / "formula", [sample(0, exam="=1+1")])
    assert main(["report", str(folder), "-o", "a.csv"]) == 0
    assert "'=1+1" in (here / "a.csv").read_text()


@pytest.mark.parametrize(
    "arguments, code, words",
    [
        (["-o", "a.txt"], 2, "tells no format"),
        (["-o", "nowhere/a.html"], 2, "there is no folder nowhere"),
        (["--format", "pdf"], 2, "pdf"),
    ],
)
def test_mistakes(runs, here, capsys, arguments, code, words):
    assert main(["report", str(runs / "first"), *arguments]) == code
    assert words in capsys.readouterr().err


def test_a_folder_without_a_run(here, capsys):
    (here / "empty").mkdir()
    assert main(["report", "empty"]) == 2
    assert "not a run folder" in capsys.readouterr().err


def test_compare_on_the_command_line(runs, capsys):
    assert main(["compare", str(runs / "first"), str(runs / "second"), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["task"], row["n"], row["better"], row["worse"], row["left_out"]) == ("capitals", 119, 1, 2, 1)
    assert main(["compare", str(runs / "first"), str(runs / "second")]) == 0
    assert "capitals" in capsys.readouterr().out


def test_a_damaged_run_is_reported_and_not_a_success(runs, here, capsys):
    (runs / "first" / "results.json").write_text('{"results": ')
    assert main(["report", str(runs / "first"), "-o", "a.html"]) == 1
    assert "results.json cannot be read" in capsys.readouterr().err
    assert (here / "a.html").is_file()
