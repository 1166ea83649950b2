"""Building artifacts of data that a file or a program brings."""

import time

import pytest
from tests_pace import in_time

from proctor.artifacts import fetch_artifact
from proctor.errors import ProctorError


@pytest.mark.parametrize("metric", [{}, {"main_score": "x"}, {"__type__": "metric"}])
def test_what_several_kinds_have_in_common_is_none_of_them(metric):
    with pytest.raises(ProctorError, match=r"needs a '__type__'|have in common"):
        fetch_artifact({"__type__": "metric_pipeline", "main_score": "f1", "metric": metric})


@pytest.mark.parametrize("entry", [{"__type__": "criteria_optoin"}, "templates.classification.multi_class.defalt"])
def test_thousands_of_unknown_names_are_told_quickly_and_the_first_with_a_hint(entry):
    many = {"__type__": "criteria_with_options", "name": "x", "description": "y", "options": [entry] * 1000}
    began = time.process_time()
    with pytest.raises(ProctorError) as caught:
        fetch_artifact(many)
    assert in_time(time.process_time() - began, 2)
    hints = [each.hint.startswith("did you mean") for each in caught.value.diagnostics]
    assert hints[0]
    assert len(hints) > 1
    assert not hints[-1]
