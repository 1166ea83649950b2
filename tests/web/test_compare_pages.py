import re

from tests_web_support import client_of, sample, write_run

from proctor.web.app import create_app


def test_two_runs_are_compared_in_pairs(client, ids):
    page = client.get(f"/compare?run={ids['first']}&run={ids['second']}").text
    assert "capitals" in page
    assert "(1 left out)" in page
    assert "<svg" in page
    assert "nasty" not in page.partition("<table>")[2]


def test_flips_are_shown_side_by_side(client, ids):
    page = client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=worse").text
    assert "worse three" in page
    assert "worse four" in page
    assert "answer 3" in page
    assert "other 7" not in page
    better = client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=better").text
    assert "other 7" in better


def test_flips_say_which_answers_are_right(client, ids):
    page = client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=worse").text
    assert page.count("✓ right · 1.0000") == page.count("✗ wrong · 0.0000") == page.count('class="card pair"')


def test_without_runs_there_is_a_form(client):
    page = client.get("/compare").text
    assert page.count("<select") == 1
    assert page.count('type="checkbox"') == 2


def run_ids(client):
    return {run.path.name: run_id for run_id, run in client.app.state.library.runs()}


def test_several_runs_are_compared_with_a_baseline_and_p_is_corrected_for_all(client, third):
    ids = run_ids(client)
    page = client.get(f"/compare?baseline={ids['first']}&run={ids['second']}&run={ids['third']}").text
    assert "Run minus baseline (first)" in page
    assert re.findall(r'data-label="Run">(\w+)<', page) == ["second", "third"]
    assert "hold for the 2 comparisons here together" in page
    twice = client.get(f"/compare?baseline={ids['first']}&run={ids['first']}&run={ids['third']}").text
    assert "hold for the 1 comparison here together" in twice


def test_outputs_of_all_runs_stand_side_by_side(client, third):
    ids = run_ids(client)
    runs = f"run={ids['first']}&run={ids['second']}&run={ids['third']}"
    page = client.get(f"/compare?{runs}&exam=capitals&with={ids['second']}&way=worse").text
    for words in ("answer 3", "worse three", "third 3", "2 worse in second than in first", "Reference"):
        assert words in page
    assert client.get(f"/compare?{runs}&exam=capitals&with=nobody").status_code == 400


def test_too_many_runs_are_refused(client):
    page = client.get("/compare?" + "&".join(f"run={number}" for number in range(13)))
    assert page.status_code == 400
    assert "13 runs are too many" in page.text


def test_a_sentence_stands_before_the_numbers_and_answers_say_why_they_failed(runs):
    told = [{"assertion": "contains: <b>", "passed": False, "score": 0.0}, {"assertion": "regex: x", "passed": True}]
    wrong = {"score": 0.0, "assertions": told}
    for name, scores in (("good", {"score": 1.0}), ("bad", wrong)):
        write_run(runs / name, [sample(number, exam="asserted", scores=scores) for number in range(8)])
    with client_of(create_app([runs])) as client:
        ids = {run.path.name: run_id for run_id, run in client.app.state.library.runs()}
        good, bad = ids["good"], ids["bad"]
        page = client.get(f"/compare?run={good}&run={bad}&exam=asserted&with={bad}&way=worse").text
        assert "bad beside good on asserted: " in page
        assert page.index("bad beside good") < page.index("95% interval")
        assert "not contains: &lt;b&gt;" in page
        shown = client.get(f"/runs/{bad}/samples/0").text
        assert "<h2>Assertions</h2>" in shown
        assert "contains: &lt;b&gt;" in shown
        assert "[{" not in shown
