"""The first page: models by exams, and the runs below; and whether answers were right, wherever instances are shown."""

import json
import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from tests_web_support import TIMEOUT, client_of, sample, write_run

from proctor.cli.__main__ import main
from proctor.runs.stored_run import load_run
from proctor.settings import settings
from proctor.web.app import create_app
from proctor.web.library import Library
from proctor.web.run_lines import RunQuery, ago, family, line_of
from proctor.web.run_matrix import MOST_COLUMNS, matrix_of
from proctor.web.run_pages import facts_of, scores_view
from proctor.web.verdicts import outcome_of


def write(root, name, model="tiny", day=1, spec=None, stopped=None, **results):
    """Write a run that has results and no instances."""
    folder = root / name
    folder.mkdir(parents=True)
    described = {"model": model, "tasks": list(results) or ["x"], "exams": {each: {} for each in results}}
    (folder / "run.yaml").write_text(json.dumps({**described, **(spec or {})}))
    run = {"started": f"2026-01-{day:02}T03:04:05+00:00", "seconds": 60.0 * day, "engine": {"label": model}, "log": "x"}
    if results:
        run |= {"stopped": stopped} if stopped else {}
        (folder / "results.json").write_text(json.dumps({"results": results, "run": run}))
    return folder


def entry(score, n=10, failed=0, name="accuracy", unit="share", **more):
    around = {} if score is None else {"score_ci_low": score - 0.1, "score_ci_high": score + 0.1}
    return {"score": score, "score_name": name, "n": n, "failures": failed, "unit": unit, **around, **more}


def lines(root):
    return [line_of(path.name, load_run(path)) for path in sorted(root.iterdir()) if path.is_dir()]


def text_of(page):
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", page)))


def part(page, css):
    return page.partition(f'class="{css}"')[2].partition("</table>")[0]


# -- the matrix -------------------------------------------------------------------------------------------------------


def test_the_newest_score_of_each_pair_with_what_changed(tmp_path):
    write(tmp_path, "a", day=1, arc=entry(0.5), wnli=entry(0.7))
    write(tmp_path, "b", day=2, arc=entry(0.75))
    write(tmp_path, "c", "other", day=3, arc=entry(0.25, failed=2))
    made = matrix_of(lines(tmp_path))
    assert [column.exam for column in made.columns] == ["arc", "wnli"]
    assert [model for model, _ in made.lines] == ["other", "tiny"]
    other, tiny = made.lines[0][1], made.lines[1][1]
    assert (other[0].row.value, other[0].row.failed, other[0].change, other[1]) == (0.25, 2, None, None)
    assert (tiny[0].row.value, tiny[0].change.difference, tiny[0].change.since) == (0.75, 0.25, "a")
    assert tiny[1].change is None


def test_only_equal_units_stand_in_one_column(tmp_path):
    write(tmp_path, "a", day=1, arc=entry(0.5))
    write(tmp_path, "b", day=2, arc=entry(50.0, unit="percent"))
    write(tmp_path, "c", day=3, arc=entry(12.0, unit="raw", name="perplexity"))
    write(tmp_path, "d", day=4, arc=entry(0.5, name="f1"))
    made = matrix_of(lines(tmp_path))
    assert {(each.metric, each.unit) for each in made.columns} == {
        ("accuracy", "share"),
        ("accuracy", "percent"),
        ("perplexity", "raw"),
        ("f1", "share"),
    }
    assert all(cell.change is None for cell in made.lines[0][1])


@pytest.mark.parametrize(
    "before, now, difference, layers",
    [
        ({"rows": "1", "metrics": "m"}, {"rows": "1", "metrics": "m"}, 0.25, ()),
        ({"rows": "1", "metrics": "m"}, {"rows": "2", "metrics": "m"}, None, ("questions",)),
        ({"rows": "1", "metrics": "m"}, {"rows": "1", "metrics": "k"}, None, ("metric",)),
        ({"rows": "1", "prompts": "p"}, {"rows": "1", "prompts": "q"}, 0.25, ("prompts",)),
        ({"rows": "1", "engine": "e"}, {"rows": "1", "engine": "f"}, 0.25, ("model settings",)),
    ],
)
def test_numbers_that_measure_different_things_have_no_difference(tmp_path, before, now, difference, layers):
    write(tmp_path, "a", day=1, arc=entry(0.5, fingerprint=before))
    write(tmp_path, "b", day=2, arc=entry(0.75, fingerprint=now))
    change = matrix_of(lines(tmp_path)).lines[0][1][0].change
    assert (change.difference, change.layers) == (difference, layers)


def test_runs_without_fingerprints_are_told_apart_by_how_many_questions_they_asked(tmp_path):
    write(tmp_path, "a", day=1, arc=entry(0.5, n=100))
    write(tmp_path, "b", day=2, arc=entry(0.75, n=10))
    write(tmp_path, "c", "other", day=3, arc=entry(0.25, n=100))
    made = matrix_of(lines(tmp_path))
    assert made.lines[1][1][0].change.difference is None
    assert [cells[0].is_unlike for _, cells in made.lines] == [False, True]
    assert made.has_unlike


def test_a_score_that_is_missing_is_shown_and_nothing_is_compared_with_it(tmp_path):
    write(tmp_path, "a", day=1, arc=entry(0.5))
    write(tmp_path, "b", day=2, arc=entry(None, failed=10))
    write(tmp_path, "c", day=3, arc=entry(0.75))
    cell = matrix_of(lines(tmp_path)).lines[0][1][0]
    assert (cell.row.value, cell.change.since, cell.change.difference) == (0.75, "a", 0.25)
    (tmp_path / "c" / "results.json").unlink()
    cell = matrix_of(lines(tmp_path)).lines[0][1][0]
    assert (cell.row.value, cell.row.failed, cell.change.difference) == (None, 10, None)


def test_models_are_sorted_by_a_column_the_best_first(tmp_path):
    for day, (model, share, loss) in enumerate((("a", 0.5, 3.0), ("b", 0.9, 1.0), ("c", 0.7, 2.0)), 1):
        less = entry(loss, unit="raw", name="perplexity", higher_is_better=False)
        write(tmp_path, model, model, day, arc=entry(share), wiki=less)
    write(tmp_path, "d", "d", 5, wiki=entry(None, unit="raw", name="perplexity"))
    ranked = {by: [model for model, _ in matrix_of(lines(tmp_path), by=by).lines] for by in (0, 1, 7)}
    names = [column.exam for column in matrix_of(lines(tmp_path)).columns]
    assert ranked[names.index("arc")] == ["b", "c", "a", "d"]
    assert ranked[names.index("wiki")] == ["b", "c", "a", "d"]
    assert ranked[7] == ["d", "c", "b", "a"]  # no such column: the newest first


def test_suites_come_first_and_their_members_last(tmp_path):
    exams = {f"part{number}": entry(0.5) for number in range(MOST_COLUMNS)}
    suite = entry(0.5, members=list(exams))
    write(tmp_path, "a", arc=entry(0.5), **exams, mmlu=suite)
    made = matrix_of(lines(tmp_path))
    assert [column.exam for column in made.columns][:2] == ["mmlu", "arc"]
    assert (len(made.columns), made.left_out) == (MOST_COLUMNS, 2)
    assert len(matrix_of(lines(tmp_path), everything=True).columns) == MOST_COLUMNS + 2


def test_runs_that_did_not_end_have_no_score_in_it(tmp_path):
    write(tmp_path, "torn")
    assert matrix_of(lines(tmp_path)).lines == []


def test_the_page_has_the_matrix_above_the_runs(client, ids, runs):
    page = client.get("/runs").text
    matrix = part(page, "matrix")
    assert page.index('class="matrix"') < page.index('class="runs"')
    assert "capitals" in matrix
    assert f'href="/runs/{ids["first"]}/samples?exam=capitals"' in matrix
    assert "1 failed" in text_of(matrix)
    assert matrix.count("<svg") == 3
    assert "<script" not in matrix


# -- the list ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "results, stopped, css",
    [
        ({"arc": entry(0.5)}, None, "good"),
        ({"arc": entry(0.5, failed=1)}, None, "warn"),
        ({"arc": entry(0.5, n=10, num_of_instances=7)}, None, "warn"),
        ({"arc": entry(0.5, failures=3)}, None, "warn"),
        ({"arc": entry(0.5, metric_failures={"bleu": "no references"})}, None, "warn"),
        ({"arc": entry(0.5), "wnli": entry(0.5, failed=1)}, None, "warn"),
        ({"arc": entry(0.5)}, "the budget of 8 tokens is used up", "warn"),
        ({"arc": entry(None, failed=10)}, None, "bad"),
        ({"arc": entry(0.5), "wnli": {"n": 3, "error": "no metric"}}, None, "bad"),
        ({}, None, "bad"),
    ],
)
def test_a_run_is_green_only_where_nothing_failed(tmp_path, results, stopped, css):
    folder = write(tmp_path, "a", stopped=stopped, **results)
    line = line_of("a", load_run(folder))
    assert line.verdict[0] == css
    assert (line.verdict[1] == "done") == (css == "good")
    assert scores_view(load_run(folder))["verdict"] == line.verdict


def listed(client, query=""):
    return re.findall(r'<a href="/runs/[0-9a-f]+">([^<]*)</a>', client.get(f"/runs{query}").text)


@pytest.fixture
def many(runs):
    spec = {"limit": 20, "num_demos": 5, "tags": ["paper", "<b>"], "overrides": {"template": "templates.short"}}
    write(runs, "nightly-2026-01-07", "best", 7, spec, arc=entry(0.9), wnli=entry(0.4))
    write(runs, "nightly-2026-01-08", "best", 8, arc=entry(0.8, failed=2))
    write(runs / "deep", "try-3", "other", 9, arc=entry(0.1))
    write(runs, "torn", "other", 3)
    return runs


@pytest.mark.parametrize(
    "query, names",
    [
        ("?q=short", ["nightly-2026-01-07"]),
        ("?q=nightly+arc", ["nightly-2026-01-08", "nightly-2026-01-07"]),
        ("?q=deep", ["try-3"]),
        ("?model=best&sort=oldest", ["nightly-2026-01-07", "nightly-2026-01-08"]),
        ("?exam=arc&sort=score", ["nightly-2026-01-07", "nightly-2026-01-08", "try-3"]),
        ("?exam=wnli", ["nightly-2026-01-07"]),
        ("?tag=paper", ["nightly-2026-01-07"]),
        ("?state=failures&sort=failed", ["nightly-2026-01-08", "first"]),
        ("?state=stopped", ["torn"]),
        ("?sort=name&q=night", ["nightly-2026-01-07", "nightly-2026-01-08"]),
        ("?sort=time&model=best", ["nightly-2026-01-08", "nightly-2026-01-07"]),
        ("?q=nothing+like+it", []),
    ],
)
def test_runs_are_found_filtered_and_sorted(client, many, query, names):
    assert listed(client, query) == names


@pytest.mark.parametrize("query", ["sort=best", "group=colour", "state=odd", "q=" + "x" * 201, "model=" + "x" * 201])
def test_what_no_filter_can_mean_is_named(client, many, query):
    assert client.get(f"/runs?{query}").status_code in {400, 404}


@pytest.mark.parametrize("query", ["by=99", "by=-1", "by=x", "page=0", "page=x", "page=999", "exams=some"])
def test_odd_numbers_change_nothing(client, many, query):
    assert client.get(f"/runs?{query}").status_code == 200


def test_only_a_score_that_stands_for_the_run_is_shown(client, runs):
    write(runs, "one", "m", 1, arc=entry(0.11))
    write(runs, "two", "m", 2, arc=entry(0.22), wnli=entry(0.33))
    write(runs, "suite", "m", 3, arc=entry(0.22), wnli=entry(0.33), both=entry(0.44, members=["arc", "wnli"]))
    nested = {"inner": entry(0.55, members=["arc"]), "outer": entry(0.66, members=["inner", "wnli"])}
    write(runs, "nested", "m", 4, arc=entry(0.22), wnli=entry(0.33), **nested)
    write(runs, "apart", "m", 5, arc=entry(0.22), **{name: entry(0.77, members=["arc"]) for name in ("s", "t")})
    page = client.get("/runs?model=m").text
    rows = {
        re.search(r'/runs/\w+">(\w+)<', row)[1]: row for row in re.findall(r"<tr data-row.*?</tr>", page, re.DOTALL)
    }
    shown = {name: re.findall(r'score"><strong>([^<]*)', row) for name, row in rows.items()}
    assert shown == {"one": ["0.1100"], "two": [], "suite": ["0.4400"], "nested": ["0.6600"], "apart": []}
    assert ">2 exams</td>" in rows["two"]
    assert "arc: accuracy 0.2200" in rows["two"]
    assert "2 exams" in rows["suite"]


def test_runs_are_sorted_by_tokens_and_by_cost(client, runs):
    for name, tokens, dollars in (("few", 10, 2.0), ("many", 30, 1.0), ("none", 0, None)):
        folder = write(runs, name, "m", arc=entry(0.5))
        data = json.loads((folder / "results.json").read_text())
        data["run"] |= {
            "usage": {"arc": {"prompt_tokens": tokens, "completion_tokens": tokens}},
            "cost": {"usd": dollars},
        }
        (folder / "results.json").write_text(json.dumps(data))
    assert listed(client, "?model=m&sort=tokens") == ["many", "few", "none"]
    assert listed(client, "?model=m&sort=cost") == ["few", "many", "none"]
    page = client.get("/runs?model=m&sort=tokens").text
    assert ">Tokens</th>" in page
    assert ">60</td>" in page
    assert ">$2.0000</td>" in client.get("/runs?model=m&sort=cost").text


def test_runs_are_grouped(client, many):
    titles = r'<tr class="group"><th[^>]*>([^<]*) <'
    page = client.get("/runs?group=name&sort=name").text
    assert set(re.findall(titles, page)) == {"first", "second", "nightly", "deep/try", "torn"}
    assert re.findall(titles, client.get("/runs?group=tag&q=nightly").text) == ["no tag", "paper"]
    assert set(re.findall(titles, client.get("/runs?group=model").text)) == {"tiny", "best", "other"}
    assert re.findall(titles, client.get("/runs").text) == []


def test_a_line_has_metric_template_tags_and_how_long_ago(client, many):
    page = client.get("/runs?q=2026-01-07&exam=arc").text
    line = re.search(r"<tr data-row.*?</tr>", page, re.DOTALL)[0]
    assert '<td class="metric" title="accuracy">accuracy</td>' in line
    assert "short · 5 demos · first 20" in line
    assert '<span class="tag">paper</span> <span class="tag">&lt;b&gt;</span>' in line
    assert "arc <span" in line
    assert "wnli: accuracy 0.4000" in unescape(line)
    assert 'title="2026-01-07 03:04:05 UTC"' in line


def test_a_run_without_results_has_the_time_of_its_folder(client, many):
    line = re.search(r"<tr data-row.*?</tr>", client.get("/runs?q=torn").text, re.DOTALL)[0]
    assert re.search(r"\d+ (s|min) ago", line)


@pytest.mark.parametrize(
    "seconds, said",
    [(0, "0 s ago"), (59, "59 s ago"), (61, "1 min ago"), (7200, "2 h ago"), (90_000, "1 d ago"), (86_400 * 13, "13 d ago"),
     (86_400 * 20, "2026-05-12"), (-60, "2026-06-01")],
)  # fmt: skip
def test_how_long_ago(seconds, said):
    now = datetime(2026, 6, 1, 12, tzinfo=UTC)
    assert ago(datetime.fromtimestamp(now.timestamp() - seconds, UTC).isoformat(), now) == said


@pytest.mark.parametrize("odd", ["", "yesterday", "9999-99-99", "\x00"])
def test_odd_times_are_shown_as_they_are(odd):
    assert ago(odd) == odd[:10]


def test_names_of_one_kind():
    assert family("a-1a2b3c4d") == family("a-99887766") == "a"
    assert family("arc-v2") == "arc"
    assert family("12") == "12"
    assert family("x" * 500 + "-1") == "x" * 500


def test_what_is_asked_for_is_asked_for_again():
    query = RunQuery.of({"q": "a b", "sort": "newest", "group": "name", "by": "1"})
    assert query.parameters() == {"q": "a b", "group": "name"}


def test_tags_are_given_on_the_command_line_and_change_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    given = ["run", "--model", "scripted", "--model-args", "answer=positive", "--tasks", "samples.sentiment", "-L", "2"]
    assert main([*given, "--tag", "paper", "--tag", "first try"]) == 0
    assert main(given) == 0
    assert main([*given, "--tag", "second"]) == 0
    (folder,) = (tmp_path / "runs").iterdir()
    assert load_run(folder).spec.tags == ("second",)
    assert main(["run", str(folder), "-q"]) == 0
    assert load_run(folder).spec.tags == ("second",)


# -- pictures ---------------------------------------------------------------------------------------------------------


def test_only_equal_units_are_drawn_in_one_column(tmp_path):
    more = {"rouge": 40.0, "num_of_words": 512.0, "accuracy_stderr": 0.01, "units": {"rouge": "raw"}}
    folder = write(tmp_path, "a", arc=entry(0.5, **more), mmlu=entry(50.0, unit="percent"), wiki=entry(9.0, unit="raw"))
    rows = {
        (each["row"].task, each["row"].metric): str(each["chart"]) for each in scores_view(load_run(folder))["rows"]
    }
    share, percent = rows["arc", "accuracy"], rows["mmlu", "accuracy"]
    width = r'class="bar" x="0.0" y="5" width="([\d.]+)"'
    assert re.search(width, share)[1] == re.search(width, percent)[1]
    assert rows["wiki", "accuracy"] == ""
    assert rows["arc", "rouge"] == ""
    assert not any("stderr" in metric or "num_of" in metric for _, metric in rows)


def test_scores_without_a_unit_are_drawn_beside_their_like(tmp_path):
    exams = {name: entry(value, unit="raw", name="perplexity") for name, value in (("a", 8.0), ("b", 4.0))}
    folder = write(tmp_path, "a", **exams, c=entry(3.0, unit="raw", name="length"))
    drawn = {each["row"].task: str(each["chart"]) for each in scores_view(load_run(folder))["rows"]}
    widths = [float(re.search(r'class="bar"[^>]*width="([\d.]+)"', drawn[name])[1]) for name in ("a", "b")]
    assert widths[0] == pytest.approx(2 * widths[1], abs=0.1)
    assert drawn["c"] == ""


# -- right and wrong --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score, results, outcome",
    [
        (1.0, {"unit": "share"}, "right"),
        (0.0, {"unit": "share"}, "wrong"),
        (0.4, {"unit": "share"}, "part"),
        (None, {"unit": "share"}, ""),
        (100.0, {"unit": "percent"}, "right"),
        (0.0, {"unit": "percent"}, "wrong"),
        (40.0, {"unit": "percent"}, "part"),
        (0.0, {"unit": "share", "higher_is_better": False}, "right"),
        (1.0, {"unit": "share", "higher_is_better": False}, "wrong"),
        (1.0, {"unit": "raw"}, ""),
        (0.0, {"unit": "raw"}, ""),
        (1.0, {}, "right"),
        (0.0, {}, "wrong"),
        (0.4, {}, ""),
        (17.0, {"unit": "share"}, ""),
    ],
)
def test_right_and_wrong(score, results, outcome):
    assert outcome_of(score, results) == outcome


def test_instances_show_whether_they_are_right(client, ids):
    page = client.get(f"/runs/{ids['first']}/samples?order=score").text
    rows = re.findall(r"<tr data-row.*?</tr>", page, re.DOTALL)
    assert 'class="failed"' in rows[0]
    assert "✓" not in rows[0]
    assert 'class="wrong"' in rows[1]
    assert "✗" in rows[1]
    assert 'class="right"' in rows[5]
    assert "✓" in rows[5]
    assert "✗ wrong · 0.0000" in text_of(client.get(f"/runs/{ids['first']}/samples/7").text)


def test_right_wrong_and_failed_instances_are_a_click_away(client, ids):
    page = client.get(f"/runs/{ids['first']}/samples?exam=capitals").text
    links = dict(
        re.findall(
            r'<a class="button[^"]*" href="([^"]*)"[^>]*>(Right|Wrong|Failed) <span class="count">\d+</span></a>', page
        )
    )
    counts = re.findall(r'>(All|Right|Wrong|Failed) <span class="count">(\d+)</span>', page)
    assert dict(counts) == {"All": "120", "Right": "118", "Wrong": "1", "Failed": "1"}
    assert "Instances of capitals" in page
    assert re.search(r"accuracy <strong>[\d.]+</strong> \(95%: [\d.]+ to [\d.]+\)", page), "a number has its interval"
    found = {}
    for link, title in links.items():
        shown = client.get(f"/runs/{ids['first']}/samples{unescape(link)}").text
        found[title] = re.search(r'role="status">(\d+) found', shown)[1]
        assert re.search(rf'aria-current="true">{title} <', shown)
        assert "exam=capitals" in shown
    assert found == {"Right": "118", "Wrong": "1", "Failed": "1"}


def test_neighbours_stay_within_right_and_wrong(client, ids):
    page = client.get(f"/runs/{ids['first']}/samples/7?exam=capitals&failed=no&lowest=1").text
    assert "samples/8?exam=capitals&amp;failed=no&amp;lowest=1" in page
    page = client.get(f"/runs/{ids['first']}/samples/8?exam=capitals&failed=no&lowest=1").text
    assert "samples/6?exam=" in page  # 7 is wrong
    assert "samples/10?exam=" in page  # 9 failed


def test_exams_in_different_units_have_no_right_and_wrong_together(client, runs):
    folder = write_run(runs / "mixed", [sample(0, "a"), sample(0, "b", 100.0)])
    written = json.loads((folder / "results.json").read_text())
    written["results"]["a"]["unit"], written["results"]["b"]["unit"] = "share", "percent"
    (folder / "results.json").write_text(json.dumps(written))
    run_id = next(run_id for run_id, run in client.app.state.library.runs() if run.path.name == "mixed")
    assert ">Right <" not in client.get(f"/runs/{run_id}/samples").text
    assert ">Right <" in client.get(f"/runs/{run_id}/samples?exam=b").text


def test_rows_of_a_report_show_the_question(tmp_path, capsys):
    failed = sample(2, failure=TIMEOUT, output=None, scores={"score": None})
    folder = write_run(tmp_path / "a", [sample(0, score=0.0), sample(1), failed])
    assert main(["report", str(folder), "-o", str(tmp_path / "report.html")]) == 0
    page = (tmp_path / "report.html").read_text()
    summaries = [text_of(each) for each in re.findall(r"<summary>(.*?)</summary>", page) if "instance" in each]
    assert [each.split("capitals")[0].split() for each in summaries] == [
        ["timeout", *"What is question 2?".split()],
        ["✗", "0.0000", *"What is question 0?".split()],
        ["✓", "1.0000", *"What is question 1?".split()],
    ]
    assert 'class="tag warn">1 failed<' in page


def test_the_columns_of_a_histogram_lead_to_what_they_count(tmp_path):
    scores = [number / 20 for number in range(20)] + [1.0]
    write_run(tmp_path / "one", [sample(number, score=score) for number, score in enumerate(scores)])
    write_run(tmp_path / "two", [sample(number, score=number % 2) for number in range(10)])
    client = client_of(create_app([tmp_path]))
    pages = {run.path.name: f"/runs/{name}/samples" for name, run in Library([tmp_path]).runs()}
    page = client.get(pages["one"]).text
    columns = re.findall(r'<a href="([^"]*)" aria-label="[^"]*: (\d+) instances">', page)
    assert sum(int(count) for _, count in columns) == 21
    for link, count in columns:
        assert f"{count} found" in client.get(pages["one"] + unescape(link)).text
    assert 'class="histogram"' not in client.get(pages["two"]).text, "right and wrong need no picture"


def test_wordings_of_a_sweep_are_counted_and_found_by_its_name(tmp_path):
    write(tmp_path, "alone", x=entry(0.5))
    for number in range(3):
        write(tmp_path / "sweeping", f"cell-{number}", model="swept", x=entry(0.1 * number))
    with client_of(create_app([tmp_path])) as client:
        assert "4 runs, newest first<" in client.get("/runs").text
        (tmp_path / "sweeping" / "sweep.json").write_text("{}")
        page = client.get("/runs").text
        assert re.search(r'1 run, newest first; and 3 wordings of <a href="\?q=sweeping">', page)
        assert 'title="swept"' not in page
        assert client.get("/runs?q=sweeping").text.count('title="swept"') >= 3
    with client_of(create_app([tmp_path / "sweeping"])) as client:
        assert "3 runs, newest first<" in client.get("/runs").text
    assert main(["view", str(tmp_path), "--export", str(tmp_path / "site")]) == 0
    assert "4 runs, newest first<" in (tmp_path / "site" / "index.html").read_text()


def test_lines_of_a_process_before_are_shown_and_those_of_changed_runs_made_anew(tmp_path, monkeypatch):
    root = tmp_path / "runs"
    for number in range(3):
        write(root, f"run-{number}", day=number + 1, x=entry(0.1 * number, score_ci_low=0.0), y=entry(None, error="no"))
    made = Library([root]).lines()
    (place,) = (Path(settings.cache_dir) / "lists").glob("*.json")
    read = []
    monkeypatch.setattr("proctor.web.library.load_run", lambda path: read.append(path.name) or load_run(path))
    again = Library([root]).lines()
    assert again == made
    assert [line.words for line in again] == [line.words for line in made]
    assert {line.name: line.verdict for line in again} == {line.name: line.verdict for line in lines(root)}
    assert read == []
    write(tmp_path, "other", model="new", x=entry(0.9))
    (tmp_path / "other" / "results.json").replace(root / "run-1" / "results.json")
    assert {line.name: line.rows[0].value for line in Library([root]).lines()}["run-1"] == 0.9
    assert read == ["run-1"]
    for damage in ("", "[]", '{"a": {"stamp": [], "line": {}}}', place.read_text().replace("run-", "../run-")):
        place.write_text(damage)
        assert sorted(line.name for line in Library([root]).lines()) == ["run-0", "run-1", "run-2"]


def test_what_a_run_was_made_of_stands_on_its_page(tmp_path):
    folder = write(tmp_path, "a", spec={"model_args": {"x": 1}}, arc=entry(0.5), wnli=entry(0.5))
    data = json.loads((folder / "results.json").read_text())
    usage = {"prompt_tokens": 10, "cached_tokens": 4, "completion_tokens": 3, "thinking_tokens": 2}
    data["run"] |= {
        "usage": {"arc": usage, "wnli": {"prompt_tokens": 5}},
        "requests": {"new": 3, "from_log": 1}, "cost": {"usd": 0.5, "eur": None}, "versions": {"proctor": "1"},
        "judges": {"j": {"new_answers": 2, "kept": 1}}, "machine": {"os": "x", "cpus": 2}, "log": "here.db",
    }  # fmt: skip
    (folder / "results.json").write_text(json.dumps(data))
    facts = dict(facts_of(load_run(folder)))
    assert facts["Tokens"] == "15 read (4 of them from a cache), 3 written (2 of them thinking)"
    assert (facts["Requests"], facts["Cost"], facts["Judges"]) == (
        "3 new, 1 from log",
        "usd 0.5",
        "j: 2 new answers, 1 kept",
    )
    assert (facts["Model arguments"], facts["Machine"], facts["Versions"]) == ("x=1", "x, 2", "proctor 1")
    assert facts["Repeat it"] == f"proctor run {folder / 'run.yaml'} --log here.db"
    assert "Fingerprints" not in facts
    data["run"]["usage"] = {"arc": {"prompt_tokens": 1, "completion_tokens": 0}}
    (folder / "results.json").write_text(json.dumps(data))
    assert dict(facts_of(load_run(folder)))["Tokens"] == "1 read, 0 written"


def test_what_was_set_for_a_run_is_said_in_short(tmp_path):
    said = {
        "num_demos": 1, "seed": 3, "tags": list("abcdefg"),
        "overrides": {"template": "templates.own.short", "limit": 0.25, "repeats": 2, "apply_chat_template": True, "system_prompt": ""},
    }  # fmt: skip
    (line,) = (write(tmp_path / "one", "a", spec=said, arc=entry(0.5)), *lines(tmp_path / "one"))[1:]
    assert line.setting == ("short", "1 demo", "first 25%", "seed 3", "2 repeats", "chat template", "system prompt")
    assert line.tags == tuple("abcde")
    recipes = {"one": {"recipe": {"template": ["t.a", "t.b"]}}, "two": {"recipe": {"template": "t.a"}}, "three": {}}
    write(tmp_path / "two", "a", spec={"exams": recipes, "limit": 7, "num_demos": 2}, arc=entry(0.5))
    (line,) = lines(tmp_path / "two")
    assert line.setting == ("2 templates", "2 demos", "first 7")
