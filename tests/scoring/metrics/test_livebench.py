"""LiveBench: which of its authors' functions scores a question, with what, and what is said where they are not here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from proctor.errors import ScoringError, TrustError
from proctor.recipes.held_code import code_of
from proctor.scoring.metrics import livebench
from proctor.scoring.metrics.livebench import _MODULES, LiveBench, rule_of
from proctor.settings import settings

RULE = """
def {name}(*given, **named):
    print("said by a rule")
    {body}
"""


@pytest.fixture
def authors(tmp_path, monkeypatch):
    """Stand in for the authors' functions: a score says by its digits what a function was called with."""

    def write(module: str, **bodies: str) -> None:
        place = tmp_path.joinpath(*module.split("."))
        place.parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "livebench" / "__init__.py").touch()
        text = "\n".join(RULE.format(name=name, body=body) for name, body in bodies.items())
        place.with_suffix(".py").write_text(text)

    monkeypatch.syspath_prepend(str(tmp_path))
    _forget()
    yield write
    _forget()


def _forget() -> None:
    for name in [each for each in sys.modules if each.partition(".")[0] == "livebench"]:
        del sys.modules[name]


def question(task: str, **more: object) -> dict[str, object]:
    return {"task": task, "turns": ["asked"], "ground_truth": "right", "livebench_release_date": "2025-01-01", **more}


def scored(asked: dict[str, object], answer: str = "said") -> object:
    with settings.context(trust_code=True):
        return LiveBench().compute(["right"], answer, asked)


@pytest.mark.parametrize(
    "task, subtask, rule",
    [
        ("math_comp", "amc12a_2024", "amc12a_2024"),
        ("math_comp", "amc_12_2024", "math_competitions"),
        ("math_comp", "esp_amc_10", "math_competitions"),
        ("math_comp", "aime_i_2024", "math_competitions"),
        ("olympiad", "usamo", "olympiad"),
        ("AMPS_Hard", "amps_hard_derivatives", "amps_hard"),
        ("zebra_puzzle", "", "zebra_puzzle"),
        ("typos", None, "typos"),
        ("LCB_generation", "", "LCB_generation"),
    ],
)
def test_a_task_or_its_subtask_says_which_rule_scores(task, subtask, rule):
    asked = question(task, subtask=subtask)
    if rule in _MODULES:
        assert rule_of(asked) == rule
    else:
        with pytest.raises(ScoringError, match=f"'{rule}' has no rule here"):
            rule_of(asked)
    assert rule_of({**asked, "category": "instruction_following"}) == "instruction_following"


def test_a_rule_is_given_what_its_authors_give_it(authors, capsys):
    home = "livebench.process_results"
    authors(f"{home}.writing.typos.utils", typos_process_results="return given == ('right', 'said')")
    authors(
        f"{home}.math.math_competitions.utils",
        mathcontest_process_results="return given == ('right', 'said', 'asked')",
        aime_process_results="return 0.25 if given == ('right', 'said') else 0",
    )
    authors(
        f"{home}.math.olympiad.utils",
        proof_rearrangement_process_results="return named == {'edit_distance': True} and given == ('right', 'said')",
    )
    authors(
        f"{home}.reasoning.zebra_puzzle.utils",
        get_zebra_puzzle_evaluator="return lambda truth, answer: (given, truth, answer) == (('2025-01-01',), 'right', 'said')",
    )
    authors(
        f"{home}.data_analysis.tablereformat.utils",
        table_process_results="return {'v1': 0.5, 'v2': 1}[given[3]] if given[:3] == ('asked', 'right', 'said') else 0",
    )
    authors(
        f"{home}.instruction_following.utils",
        ifbench_process_results="return given[0]['kwargs'] == [{}] and given[1] == 'said'",
    )
    told = {
        1.0: [
            question("typos"),
            question("math_comp", subtask="smc"),
            question("olympiad", subtask="imo"),
            question("zebra_puzzle"),
            question("tablereformat", livebench_release_date="2025-04-25T00:00:00"),
            question("paraphrase", category="instruction_following", kwargs=[{}], livebench_release_date="2025-11-25"),
        ],
        0.5: [question("tablereformat")],
        0.25: [question("math_comp", subtask="aime_ii_2024")],
    }
    for score, questions in told.items():
        assert [scored(each) for each in questions] == [{"livebench": score}] * len(questions)
    assert scored(question("typos"), "<think>\nno\n</think>said") == {"livebench": 1.0}
    assert capsys.readouterr().out == ""


def test_instructions_of_the_older_form_have_no_score():
    with pytest.raises(ScoringError, match="a form of before 2025-11-25"):
        scored(question("story", category="instruction_following"))


def test_nothing_runs_that_is_not_here_or_not_trusted(authors, monkeypatch):
    with monkeypatch.context() as absent:
        absent.setattr(livebench, "package_folder", lambda _: None)
        absent.setitem(sys.modules, "livebench", None)
        _nothing_is_here()
    authors("livebench.process_results.writing.typos.utils", typos_process_results="return 1")
    assert ["--trust-code" in each.hint for each in LiveBench().check()] == [True]
    with pytest.raises(TrustError, match="authors' code"):
        LiveBench().compute(["right"], "said", question("typos"))
    assert code_of([LiveBench()]) == {}
    assert "livebench" not in sys.modules
    with settings.context(trust_code=True):
        assert list(LiveBench().check()) == []
        assert _MODULES["typos"] in code_of([LiveBench()])


def _nothing_is_here() -> None:
    assert [each.hint for each in LiveBench().check()] == [
        "git clone https://github.com/LiveBench/LiveBench, and put the folder on PYTHONPATH"
    ]
    with pytest.raises(ScoringError, match="is not here"):
        scored(question("typos"))


def test_the_real_rules_score_a_real_question():
    """With a clone of its repository on the path."""
    pytest.importorskip("livebench.process_results")
    asked = question("typos", ground_truth="This is right.")
    assert scored(asked, "<solution>This is right.</solution>") == {"livebench": 1.0}
    assert Path(sys.modules[_MODULES["typos"]].__file__ or "").is_file()
