import json
import re
from html import unescape

import pytest


def rows(page):
    return re.findall(r"<tr data-row.*?</tr>", page, re.DOTALL)


def test_the_first_page_is_the_list_of_runs(client, ids):
    page = client.get("/")
    assert page.status_code == 200
    assert len(rows(page.text)) == 2
    for name, run_id in ids.items():
        assert f'<a href="/runs/{run_id}">{name}</a>' in page.text
    assert "0.2500 to 0.7500" in page.text


def test_a_run_shows_scores_with_pictures_failures_and_how_to_repeat_it(client, ids):
    page = client.get(f"/runs/{ids['first']}").text
    assert "<svg" in page
    assert "accuracy 0.9916, 95% interval 0.2500 to 0.7500" in page
    assert "1 of 122 instances failed (timeout: 1)" in page
    assert "proctor run " in page
    assert f"/runs/{ids['first']}/samples?exam=capitals&amp;failed=yes" in page


def test_a_run_shows_its_worst_instances_and_how_many_are_wrong(client, ids):
    page = client.get(f"/runs/{ids['first']}").text
    assert [int(each) for each in re.findall(r'samples/(\d+)\?order=score"', page)][:3] == [9, 7, 121]
    wrong = re.search(rf'href="/runs/{ids["first"]}/samples\?([^"]*)">Wrong <span class="count">2<', page)
    listed = client.get(f"/runs/{ids['first']}/samples?{wrong[1].replace('&amp;', '&')}").text
    assert '<p role="status">2 found' in listed


def test_a_run_without_samples_has_no_list_of_them(client, runs, ids):
    (runs / "first" / "samples.jsonl").unlink()
    page = client.get(f"/runs/{ids['first']}")
    assert page.status_code == 200
    assert "/samples" not in page.text


def test_long_facts_are_folded(client, runs, ids):
    file = runs / "first" / "run.yaml"
    told = json.loads(file.read_text())
    file.write_text(json.dumps({**told, "model_args": {"system": "word " * 200}}))
    page = client.get(f"/runs/{ids['first']}").text
    assert re.search(
        r"<dt>Model arguments</dt><dd><details><summary>system=word .{80,110}…</summary>system=word ", page
    )


@pytest.mark.parametrize(
    "query, total, numbers",
    [
        ("", 122, [0, 1, 2]),
        ("?page=3", 122, [100, 101]),
        ("?order=score", 122, [9, 7, 121]),
        ("?failed=yes", 1, [9]),
        ("?failed=no&highest=0.5", 2, [7, 121]),
        ("?q=question+17", 1, [17]),
        ("?q=17%3F%22%20OR%20NOT", 0, []),
        ("?exam=nasty", 2, [120, 121]),
        ("?lowest=0.5&exam=nasty", 1, [120]),
    ],
)
def test_instances_are_filtered_sorted_searched_and_paged(client, ids, query, total, numbers):
    page = client.get(f"/runs/{ids['first']}/samples{query}").text
    assert f'<p role="status">{total} found' in page
    found = [int(each) for each in re.findall(r'samples/(\d+)[?"]', page)]
    assert found[: len(numbers)] == numbers


def test_filters_survive_paging_and_opening(client, ids):
    page = client.get(f"/runs/{ids['first']}/samples?exam=capitals&order=-score").text
    assert "exam=capitals&amp;order=-score&amp;page=2" in page
    assert "samples/0?exam=capitals&amp;order=-score" in page


def test_an_instance_shows_everything_about_it(client, ids):
    page = client.get(f"/runs/{ids['first']}/samples/5").text
    for words in ("Question: What is question 5?", "answer 5", "reference 5", "instance 5"):
        assert words in page
    assert f'rel="prev" href="/runs/{ids["first"]}/samples/4"' in page
    assert f'rel="next" href="/runs/{ids["first"]}/samples/6"' in page


def test_neighbours_follow_the_filter(client, ids):
    page = client.get(f"/runs/{ids['first']}/samples/7?order=score").text
    assert 'samples/9?order=score">← previous' in page
    assert 'samples/121?order=score">next' in page


def test_choices_are_shown_with_their_share(client, ids):
    page = client.get(f"/runs/{ids['first']}/samples/121").text
    assert "73.1% of the likelihood of all choices" in page
    assert page.index("most likely") < page.index("gold")


def test_output_of_a_model_is_never_markup(client, ids):
    for path in ("samples/120", "samples?exam=nasty"):
        page = client.get(f"/runs/{ids['first']}/{path}").text
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(1)" in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert "[U+202E]" in page


def test_a_run_that_is_going_on(client, runs):
    folder = runs / "live"
    folder.mkdir()
    (folder / "run.yaml").write_text("model: tiny\ntasks: [capitals]\n")
    (folder / ".progress.json").write_text(
        json.dumps({"total": 40, "done": 10, "failed": 1, "rate": 2.5, "eta_seconds": 12.4})
    )
    page = client.get("/runs").text
    assert 'data-live="3"' in page
    assert "10 of 40" in page
    run_id = next(run_id for run_id, run in client.app.state.library.runs() if run.path.name == "live")
    page = client.get(f"/runs/{run_id}").text
    assert "10 of 40 answered, 1 failed, 2.5 per second, 12.4 s left" in page
    assert client.get(f"/runs/{run_id}/samples").status_code == 404


@pytest.mark.parametrize(
    "file, text, words",
    [
        ("results.json", "{", "results.json cannot be read"),
        ("results.json", "[1]", "does not hold a JSON object"),
        ("run.yaml", "model: x\ntasks: [a]\nfuture_field: 1\n", "future_field"),
        ("run.yaml", "\x00", "damaged"),
    ],
)
def test_damaged_runs_are_listed_with_their_problem(client, runs, file, text, words):
    (runs / "first" / file).write_text(text)
    assert client.get("/runs").status_code == 200
    run_id = next(run_id for run_id, run in client.app.state.library.runs() if run.path.name == "first")
    page = client.get(f"/runs/{run_id}")
    assert page.status_code == 200
    assert words in page.text


def test_broken_lines_are_instances_that_failed(client, runs):
    from tests_web_support import sample, write_run

    folder = write_run(runs / "broken", [sample(0), sample(1)])
    with (folder / "samples.jsonl").open("ab") as file:
        file.write(b'{"exam": "capitals", "output": "\xff\xfe"}\n{"cut\n' + b'"text"\n')
    run_id = next(run_id for run_id, run in client.app.state.library.runs() if run.path.name == "broken")
    page = client.get(f"/runs/{run_id}/samples").text
    assert "5 found" in page
    assert page.count("broken line") == 2


def test_a_megabyte_on_one_line_is_cut(client, runs):
    from tests_web_support import sample, write_run

    write_run(runs / "long", [sample(0, output="x" * 1_000_000, prediction="y" * 1_000_000)])
    run_id = next(run_id for run_id, run in client.app.state.library.runs() if run.path.name == "long")
    page = client.get(f"/runs/{run_id}/samples/0").text
    assert len(page) < 100_000
    assert "980000 more characters are in samples.jsonl" in page


@pytest.mark.parametrize(
    "path", ["/runs/0123456789", "/runs/..%2f..%2fetc", "/nothing", "/static/../app.py", "/runs/x/samples/0"]
)
def test_what_is_not_there_is_an_error_page(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("query", ["page=0", "page=x", "order=up", "lowest=abc"])
def test_impossible_parameters_are_named(client, ids, query):
    answer = client.get(f"/runs/{ids['first']}/samples?{query}")
    assert answer.status_code == 404 or answer.status_code == 400
    assert query.partition("=")[2] in answer.text


def test_an_instance_beyond_the_end(client, ids):
    answer = client.get(f"/runs/{ids['first']}/samples/99999")
    assert answer.status_code == 404
    assert "the run has no instance 99999" in answer.text


def test_a_run_written_anew_is_read_anew(client, runs, ids):
    from tests_web_support import sample

    assert "122 found" in client.get(f"/runs/{ids['first']}/samples").text
    (runs / "first" / "samples.jsonl").write_text(json.dumps(sample(0)) + "\n")
    assert "1 found" in client.get(f"/runs/{ids['first']}/samples").text


def id_of(client, name):
    return next(run_id for run_id, run in client.app.state.library.runs() if run.path.name == name)


def test_scores_by_template_and_demos_are_a_heat_map(client, grid):
    page = client.get(f"/runs/{id_of(client, 'grid')}").text
    table = page.partition('<table class="heat">')[2].partition("</table>")[0]
    assert "cards.maps: accuracy by template and number of demos" in table
    assert re.findall(r"<th scope=\"row\">([^<]*)", table) == ["templates.long", "templates.short"]
    assert re.findall(r"shade-(\d)", table) == ["0", "9", "0", "0"]
    link = unescape(re.findall(r'href="([^"]*)"', table)[1])
    shown = client.get(link).text
    assert "10 found" in shown
    assert rows(shown)[0].count("1.0000") == 1


def test_scores_by_group_lead_to_the_instances_of_the_group(client, grid):
    page = client.get(f"/runs/{id_of(client, 'grid')}").text
    assert "maps by topic" in page
    link = unescape(re.search(r'href="([^"]*topic%3Drivers[^"]*)"', page).group(1))
    shown = client.get(link).text
    assert "10 found" in shown
    assert "<option selected>topic=rivers</option>" in shown
    sample_page = client.get(unescape(re.search(r'href="([^"]*samples/3[^"]*)"', shown).group(1))).text
    assert "topic=rivers" in sample_page
    assert "num_demos=2, template=templates.long" in sample_page
    assert "group=topic%3Drivers" in sample_page


def test_a_subset_is_all_instances_of_its_exams(client, grid):
    run_id = id_of(client, "grid")
    page = client.get(f"/runs/{run_id}").text
    assert f"/runs/{run_id}/samples?subset=atlas" in page
    assert "40 found" in client.get(f"/runs/{run_id}/samples?subset=atlas").text
    assert "5 found" in client.get(f"/runs/{run_id}/samples?exam=names").text
    answer = client.get(f"/runs/{run_id}/samples?subset=names")
    assert answer.status_code == 404
    assert "no subset" in answer.text


def test_failures_of_a_suite_are_counted_once(client, runs):
    from tests_web_support import TIMEOUT, sample, write_run

    suite = {"score": 1.0, "score_name": "subsets_mean", "n": 2, "failures": 1, "members": ["capitals"]}
    write_run(runs / "suite", [sample(0), sample(1, failure=TIMEOUT, scores={"score": None})], atlas=suite)
    page = client.get(f"/runs/{id_of(client, 'suite')}").text
    assert "1 of 2 instances failed" in page


def test_a_judge_is_heard(client, runs):
    from tests_web_support import judged, write_run

    write_run(runs / "judged", [judged(0)])
    page = client.get(f"/runs/{id_of(client, 'judged')}/samples/0").text
    for words in (
        "Judges",
        "politeness: Is it friendly?",
        "It says please",
        "Good",
        "option selection",
        "decided otherwise",
    ):
        assert words in page
    assert "Is &lt;b&gt;this&lt;/b&gt; polite?" in page
    assert "<script>alert(2)" not in page
    scores = page.partition("<h2>Scores</h2>")[2].partition("</section>")[0]
    assert "politeness_assessment" not in scores
    assert "<dt>politeness</dt>" in scores


def test_long_values_within_lists_are_cut_too(client, runs):
    from tests_web_support import sample, write_run

    write_run(
        runs / "long", [sample(0, references=["r" * 300_000], prompt=[{"role": "user", "content": "p" * 900_000}])]
    )
    page = client.get(f"/runs/{id_of(client, 'long')}/samples/0").text
    assert len(page) < 260_000
    assert "700000 more characters" in page
    assert "280000 more characters" in page


@pytest.mark.parametrize("progress", [{}, {"done": "many"}, {"total": None, "done": 3}, [1]])
def test_progress_of_another_shape_breaks_no_page(client, runs, progress):
    folder = runs / "odd"
    folder.mkdir()
    (folder / "run.yaml").write_text("model: tiny\ntasks: [capitals]\n")
    (folder / ".progress.json").write_text(json.dumps(progress))
    assert client.get("/runs").status_code == 200
    assert client.get(f"/runs/{id_of(client, 'odd')}").status_code == 200
