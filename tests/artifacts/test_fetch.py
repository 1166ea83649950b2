"""Building artifacts of data that a file or a program brings."""

import pytest

from proctor.artifacts import fetch_artifact
from proctor.errors import ProctorError


@pytest.mark.parametrize("metric", [{}, {"main_score": "x"}, {"__type__": "metric"}])
def test_what_several_kinds_have_in_common_is_none_of_them(metric):
    with pytest.raises(ProctorError, match=r"needs a '__type__'|have in common"):
        fetch_artifact({"__type__": "metric_pipeline", "main_score": "f1", "metric": metric})
