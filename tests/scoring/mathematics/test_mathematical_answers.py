"""Formulas that a library stumbles over are said, not taken for different in silence."""

import logging

import pytest

from proctor.scoring.mathematics import mathematical_answers as module


@pytest.fixture
def said(monkeypatch):
    lines = []
    handler = logging.Handler()
    handler.emit = lambda record: lines.append(record.getMessage())
    logger = module.get_logger()
    logger.addHandler(handler)
    monkeypatch.setattr(module, "_said", set())
    yield lines
    logger.removeHandler(handler)


def test_what_cannot_be_decided_counts_as_different_and_is_said_once(said):
    def stumbles():
        raise NotImplementedError("no rule for this")

    assert [module._decides(stumbles) for _ in range(3)] == [False] * 3
    assert said == ["two formulas could not be compared, and count as different: NotImplementedError: no rule for this"]
    assert module._decides(lambda: True)


@pytest.mark.parametrize(
    "said, gold, mark",
    [
        (r"f(x) = \text{increasing}", "increasing", "C"),
        (r"x = \text{no solution}", r"\text{no solution}", "C"),
        (r"x = \text{no solution}", "x = 0", "I"),
    ],
)
def test_what_a_name_stands_for_is_compared_where_the_equation_is_none_of_formulas(said, gold, mark):
    pytest.importorskip("latex2sympy2_extended")
    assert module.same_formula(rf"\boxed{{{said}}}", [gold]).value == mark


def test_ordinary_answers_say_nothing(said):
    pytest.importorskip("latex2sympy2_extended")
    found = [
        module.same_formula(text, ["\\frac{1}{2}"]).value for text in ("\\boxed{0.5}", "The answer is 1/2.", "two")
    ]
    assert found == ["C", "C", "I"]
    assert said == []
