import re

from tests_web_support import client_of, sample, write_run

from proctor.web.app import create_app


def test_two_runs_are_compared_in_pairs(client, ids):
    page = client.get(f"/compare?run={ids['first']}&run={ids['second']}").text
    assert "capitals" in page
    assert "(1 left out)" in page
    assert "<svg" in page
    assert "nasty" not in page.partition("<table>")[2]


def words_of(page):
    """Return a page without the marks of differing words."""
    return re.sub(r"</?(ins|del)>", "", page)


def test_flips_are_shown_side_by_side(client, ids):
    page = words_of(client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=worse").text)
    assert "worse three" in page
    assert "worse four" in page
    assert "answer 3" in page
    assert "other 7" not in page
    better = words_of(client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=better").text)
    assert "other 7" in better


def test_flips_say_which_answers_are_right(client, ids):
    page = client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=worse").text
    assert page.count("✓ right · 1.0000") == page.count("✗ wrong · 0.0000") == page.count('class="card pair"')


def test_words_that_differ_are_marked_and_the_same_prompt_stands_once(client, ids):
    page = client.get(f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals&way=better").text
    assert "<del>answer</del> 7" in page
    assert "<ins>other</ins> 7" in page
    assert page.count("Prompt, the same of all") == 1
    assert page.count("What is question 7?\nAnswer:") == 1


def test_prompts_that_differ_stand_side_by_side(tmp_path):
    write_run(tmp_path / "a", [sample(n, prompt=f"Say it: question {n}") for n in range(4)])
    write_run(tmp_path / "b", [sample(n, score=float(n > 0), prompt=f"Shout it: question {n}") for n in range(4)])
    with client_of(create_app([tmp_path])) as client:
        ids = run_ids(client)
        page = client.get(f"/compare?run={ids['a']}&run={ids['b']}&exam=capitals&way=all").text
    assert "<del>Say</del> it: question 0" in page
    assert "<ins>Shout</ins> it: question 0" in page
    assert "same of all" not in page


def test_all_instances_are_shown_those_that_flipped_first(client, ids):
    asked = f"/compare?run={ids['first']}&run={ids['second']}&exam=capitals"
    page = client.get(f"{asked}&way=all").text
    assert re.findall(r'id="item-(\d+)"', page) == ["3", "4", "7", "0", "1", "2", "5", "6", "8", "10"]
    assert "119 instances, those that flipped first" in page
    assert 'data-filter>Flips <span class="count">3</span>' in page
    assert re.findall(r'id="item-(\d+)"', client.get(f"{asked}&way=flips").text) == ["3", "4", "7"]
    assert 'href="#item' not in page
    assert re.search(r'href="/compare\?[^"]*#item-3"', page)
    assert re.search(r'href="/compare\?[^"]*way=all[^"]*" aria-label="all 119 instances of second"', page)


def test_long_answers_show_head_and_tail_and_thoughts_are_folded(tmp_path):
    long = "begin " + "x" * 50_000 + " the answer is Paris"
    write_run(tmp_path / "a", [sample(n) for n in range(3)])
    write_run(tmp_path / "b", [sample(n, score=0.0, output=long, thinking="hm <b>hm</b>") for n in range(3)])
    with client_of(create_app([tmp_path])) as client:
        ids = run_ids(client)
        page = client.get(f"/compare?run={ids['a']}&run={ids['b']}&exam=capitals&way=worse").text
    assert len(page) < 60_000
    assert "the answer is Paris" in words_of(page)
    assert "[…]" in page
    assert '<details><summary>Thoughts</summary><pre class="text" tabindex="0">hm &lt;b&gt;hm&lt;/b&gt;</pre>' in page


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
    page = words_of(client.get(f"/compare?{runs}&exam=capitals&with={ids['second']}&way=worse").text)
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
        page = re.sub("</?bdi>", "", page)
        assert "bad beside good on asserted: " in page
        assert page.index("bad beside good") < page.index("95% interval")
        assert "not contains: &lt;b&gt;" in page
        shown = client.get(f"/runs/{bad}/samples/0").text
        assert "<h2>Assertions</h2>" in shown
        assert "contains: &lt;b&gt;" in shown
        assert "[{" not in shown
