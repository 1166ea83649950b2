import re


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
