"""``proctor report --answers``: what models and prompts said to the same questions, and why it failed."""

import pytest
from tests_commands import proctor

PROMPTS = "Capital of {country}?\n---\nOne word: capital of {country}.\n"
MODELS = """\
first: {engine: scripted, answer: "Paris <b>|</b>"}
second: {engine: scripted, answers: {"Capital of France?": "It is Paris"}, answer: Tokyo}
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("answers")
    (folder / "q.csv").write_text("country,city\nFrance,Paris\nJapan,Tokyo\n")
    (folder / "p.txt").write_text(PROMPTS)
    (folder / "models.yaml").write_text(MODELS)
    asked = ["q.csv", "--prompts", "p.txt", "--answer-column", "city", "--metric", "includes"]
    done = proctor("run", *asked, "--models", "models.yaml", "-o", "both", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "proctor report --answers flips both/first both/second" in done.stdout
    return folder


def test_answers_stand_beside_each_other_with_what_is_decided(runs):
    done = proctor("report", "--answers", "all", "both/first", "both/second", cwd=runs)
    assert done.returncode == 0, done.stderr
    assert "second · q-p-1 beside first · q-p-1" in done.stdout
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "1. France right: Paris" in lines
    assert "✓ second · q-p-1 It is Paris" in lines
    assert "✗ second · q-p-2 Tokyo" in lines
    assert "2 of 2 questions shown; 2 were asked" in lines


def test_flips_of_one_run_are_those_between_its_prompts(runs):
    done = proctor("report", "--answers", "flips", "both/second", cwd=runs)
    assert "France" in done.stdout
    assert "Japan" not in done.stdout
    assert "second ·" not in done.stdout


@pytest.mark.parametrize("name, held", [("a.html", "Paris &lt;b&gt;|&lt;/b&gt;"), ("a.md", "✓ Paris &lt;b>\\|&lt;/b>")])
def test_files_hold_what_strangers_wrote_as_text(runs, name, held):
    done = proctor("report", "--answers", "failed", "both/first", "both/second", "-o", name, cwd=runs)
    assert done.returncode == 0, done.stderr
    text = (runs / name).read_text()
    assert held in text
    assert "not decided" in text


@pytest.mark.parametrize(
    "options, told",
    [
        (["--format", "csv"], "--answers is not for csv"),
        (["--pivot"], "--answers stands alone"),
        (["--items"], "--items stands alone"),
        (["-o", "gone/a.html"], "gone/a.html cannot be written"),
    ],
)
def test_what_does_not_go_together_is_refused(runs, options, told):
    done = proctor("report", "--answers", "all", "both/first", *options, cwd=runs)
    assert done.returncode
    assert told in done.stderr
