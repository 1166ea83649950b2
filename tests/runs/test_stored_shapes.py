import pytest

from proctor.runs.stored_run import load_run
from proctor.runs.stored_shapes import checked_entry, checked_run


def test_what_is_known_is_kept():
    entry = {
        "score": 0.5,
        "score_name": "accuracy",
        "n": 3,
        "groups": [{"by": {"a": 1}, "n": 2}],
        "members": ["x"],
        "new": {"of": "a later version"},
    }
    assert checked_entry("a", entry) == (entry, [])


@pytest.mark.parametrize(
    "name, value",
    [
        ("n", [1]),
        ("n", True),
        ("n", -1),
        ("failures", "3"),
        ("score_name", 7),
        ("failure_kinds", {"timeout": "many"}),
        ("metric_failures", True),
        ("groups", {"a": 1}),
        ("groups", [{"by": {}}]),
        ("groups", [{"by": {"a": 1}, "n": "two"}]),
        ("members", [1]),
    ],
)
def test_what_has_another_form_is_left_out_and_named(name, value):
    entry, problems = checked_entry("a", {"score": 1.0, name: value})
    assert entry == {"score": 1.0}
    assert problems == [f"'{name}' of 'a' in results.json has a form that this version does not know"]


def test_circumstances():
    run, problems = checked_run({"seconds": float("inf"), "usage": {"a": {"prompt_tokens": 1}}, "engine": None})
    assert run == {"usage": {"a": {"prompt_tokens": 1}}, "engine": None}
    assert len(problems) == 1


def test_a_run_with_odd_results_is_damaged_and_shows_the_rest(tmp_path):
    (tmp_path / "run.yaml").write_text("model: tiny\ntasks: [a]\n")
    (tmp_path / "results.json").write_text('{"results": {"a": {"score": 1.0, "n": []}}, "run": {}}')
    run = load_run(tmp_path)
    assert (run.state, run.results) == ("damaged", {"a": {"score": 1.0}})
    assert "'n' of 'a'" in run.problem
