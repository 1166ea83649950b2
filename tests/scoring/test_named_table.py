import pytest

from proctor.errors import ScoringError
from proctor.scoring.columns import Columns
from proctor.scoring.metric_table import metric_of, metric_table, register_metric
from proctor.scoring.named_table import INSPECT, LM_EVAL, OPENCOMPASS, PROGRAM, UNITXT, Entry, Table, is_word, named
from proctor.scoring.text.text_functions import text_function_table
from proctor.settings import settings


@pytest.fixture(autouse=True)
def nothing_stays_registered(monkeypatch):
    """A metric called exact_match would be part of what later tests of this process measure with."""
    monkeypatch.setattr(metric_table(), "_entries", dict(metric_table()._entries))


@pytest.mark.parametrize(
    "source, name, arguments",
    [
        ("exact_match", "exact_match", {}),
        ("lm_eval:exact_match[ignore_case=True]", "lm_eval:exact_match", {"ignore_case": True}),
        ("metrics.rouge[n_resamples=3]", "metrics.rouge", {"n_resamples": 3}),
        ("first-capital", "first-capital", {}),
        ("chrf++", "chrf++", {}),
        ("specific-xml-tag[tag=a]", "specific-xml-tag", {"tag": "a"}),
        ("pass@k", "pass@k", {}),
    ],
)
def test_names_with_arguments(source, name, arguments):
    assert named(source) == (name, arguments)


def test_words_are_no_paths():
    assert is_word("AccEvaluator")
    assert is_word("lm_eval:chrf++")
    assert not is_word("metrics.rouge")
    assert not is_word('{"__type__": "rouge"}')


def test_a_later_entry_of_one_name_and_system_wins():
    first, second = (Entry(name="x", system=LM_EVAL, target=target) for target in ("a:b", "c:d"))
    table = Table("metric", [first, second])
    assert [*table] == [second]


def test_every_target_is_there():
    for entry in [*metric_table(), *text_function_table()]:
        assert callable(entry.load()), entry.key


def test_a_target_that_is_not_there():
    entry = Entry(name="x", system="plugin", target="proctor.scoring.named_table:nothing")
    with pytest.raises(ScoringError, match="'plugin:x' stands for proctor.scoring.named_table:nothing"):
        entry.load()


def test_a_missing_package_and_code_are_known_before():
    entry = Entry(name="x", system="plugin", target="a:b", packages=("no_such_package=pip install it",), runs_code=True)
    with settings.context(sandbox="none"):
        first, second = entry.check()
    assert "needs the package 'no_such_package'" in first.what
    assert first.hint == "pip install it"
    assert "--trust-code" in second.hint


def test_what_a_program_registers_is_named_like_the_others():
    def brevity(references, predictions):
        return float(len(predictions[0]) <= 3)

    register_metric("brevity", brevity, higher_is_better=True)
    columns = Columns(["yes", "not at all"], [["yes"], ["no"]])
    for own in (UNITXT, LM_EVAL, OPENCOMPASS, INSPECT):
        found = metric_of("brevity", own).measure(columns)
        assert (found.main, found.scores[0].value, found.scores[0].higher_is_better) == ("brevity", 0.5, True)
    assert metric_of("program:brevity").name == "brevity"


def test_a_name_that_a_system_has_stays_its_own():
    register_metric("exact_match", lambda references, predictions: 1.0)
    assert metric_table().find("exact_match", UNITXT).system == LM_EVAL
    assert metric_table().find("program:exact_match", UNITXT).system == PROGRAM


def test_an_aggregation_may_be_a_function():
    register_metric("longest", lambda references, predictions: float(len(predictions[0])), aggregation=max)
    (score,) = metric_of("longest").measure(Columns(["a", "abc"], [["x"], ["y"]])).scores
    assert score.value == 3.0
