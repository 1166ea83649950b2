"""What would make an error smaller."""

from __future__ import annotations

import math

import numpy as np
import pytest

from proctor.statistics.decision_study import ANSWERS, QUESTIONS, decisions_of
from proctor.statistics.variance_components import QUESTION, REST, components_of


def variance_of(found, name):
    return next(each.variance for each in found.parts if each.name == name)


@pytest.fixture
def found():
    stream = np.random.default_rng(2)
    y = 0.5 + stream.normal(0, 0.1, (5, 1)) + stream.normal(0, 0.3, 400) + stream.normal(0, 0.2, (5, 400))
    return components_of(y, {"template": range(5)})


def test_errors_are_those_of_the_components(found):
    def error(templates, questions, answers=1.0):
        t, q, rest = (variance_of(found, name) for name in ("template", QUESTION, REST))
        rest += 0.02 * (1 / answers - 1)
        return math.sqrt(t / templates + q / questions + rest / (templates * questions))

    said = {each.what: each for each in decisions_of(found, noise=0.02)}
    assert list(said) == ["template", QUESTIONS, ANSWERS]
    assert said["template"].error == pytest.approx(error(7, 400))
    assert said[QUESTIONS].error == pytest.approx(error(5, 700))
    assert said[ANSWERS].error == pytest.approx(error(5, 400, 2))
    assert found.error == pytest.approx(error(5, 400))


def test_what_halves_it_is_told_and_what_never_would(found):
    said = {each.what: each for each in decisions_of(found)}
    needed = said["template"].halved_by
    assert needed is not None
    t, q, rest = (variance_of(found, name) for name in ("template", QUESTION, REST))
    for count, is_enough in ((needed, True), (needed - 1, False)):
        assert (math.sqrt(t / count + q / 400 + rest / (count * 400)) <= found.error / 2) is is_enough
    assert said[QUESTIONS].halved_by is None  # the template's part stays
    assert ANSWERS not in said
