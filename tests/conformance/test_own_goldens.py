"""Every exam asks, reads and scores as it did when it was recorded (``python -m conformance.own.record``)."""

import copy
import warnings

import pytest
from conformance.own import goldens
from conformance.own.adapter import observe
from conformance.own.record import DIALECTS

SHARDS = 2
"""Parts of each dialect: two workers share the cases evenly."""
CASES = {name: list(dialect.cases()) for name, dialect in DIALECTS.items()}


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
@pytest.mark.parametrize("name", DIALECTS)
def test_nothing_is_different(name, shard, tmp_path):
    DIALECTS[name].write(tmp_path)
    chosen = CASES[name][shard::SHARDS]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SciPy, on samples that are small on purpose
        found = {case.name: observe(case, tmp_path) for case in chosen}
    known = goldens.read(name)
    exact = goldens.is_of_this_machine(name)
    changes = list(goldens.differences({case: known.get(case) for case in found}, found, exact=exact))
    assert not changes, "\n".join(["python -m conformance.own.record shows all, and records what is meant", *changes])


@pytest.mark.parametrize("name", DIALECTS)
def test_every_case_is_recorded(name):
    assert list(goldens.read(name)) == [case.name for case in CASES[name]]


def test_a_difference_is_found():
    known = goldens.read("unitxt")
    found = copy.deepcopy(known)
    exam = next(iter(found["plain"]))
    found["plain"][exam]["asks"][0][2] = "0" * 12
    score = next(entry for entry in found["plain"][exam]["scores"] if entry[0] == "score")
    score[1]["float"] = (float.fromhex(score[1]["float"]) + 1e-12).hex()
    del found["lost"]
    assert len(list(goldens.differences(known, found))) == 3
    assert len(list(goldens.differences(known, found, exact=False))) == 2


def test_the_order_of_scores_counts():
    known = goldens.read("lm_eval")
    found = copy.deepcopy(known)
    found["plain"]["choice"]["scores"].reverse()
    assert list(goldens.differences(known, found))
