"""Every exam asks, reads and scores as it did when it was recorded (``python -m conformance.own.record``)."""

import re
import warnings

import pytest
from conformance.own import goldens
from conformance.own.adapter import observe
from conformance.own.record import DIALECTS

CASES = {name: list(dialect.cases()) for name, dialect in DIALECTS.items()}
SHARDS = {name: 2 if name in ("lm_eval", "unitxt", "aisbench") else 1 for name in DIALECTS}
"""Parts of each dialect: two workers share the cases of the large ones evenly."""


@pytest.mark.slow
@pytest.mark.parametrize("name, shard", [(name, shard) for name, count in SHARDS.items() for shard in range(count)])
def test_nothing_is_different(name, shard, tmp_path):
    DIALECTS[name].write(tmp_path)
    chosen = CASES[name][shard :: SHARDS[name]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of SciPy, on samples that are small on purpose
        found = {case.name: observe(case, tmp_path) for case in chosen}
    known = goldens.read(name)
    changes = list(goldens.differences({case: known.get(case) for case in found}, found, exact=False))
    assert not changes, "\n".join(["python -m conformance.own.record shows all, and records what is meant", *changes])


@pytest.mark.parametrize("name", DIALECTS)
def test_every_case_is_recorded(name):
    assert sorted(goldens.read(name)) == sorted(case.name for case in CASES[name])


def changed(text, old, new):
    assert old in text
    return text.replace(old, new, 1)


def test_a_difference_is_found():
    known = goldens.read("unitxt")
    found = dict(known)
    score = re.search(r"f1_macro +(0\.\d+)", known["plain"])[1]
    found["plain"] = changed(known["plain"], score, repr(float(score) + 1e-12))
    del found["lost"]
    assert len(list(goldens.differences(known, found))) == 2
    assert list(goldens.differences(known, found, exact=False)) == ["lost: gone"]


def test_a_difference_names_the_exam_and_both_lines():
    known = {"one": "== a\nscores\n  acc 0.5\n== b\nscores\n  acc 0.25\n"}
    found = {"one": "== a\nscores\n  acc 0.5\n== b\nscores\n  acc 0.75\n"}
    assert list(goldens.differences(known, found)) == ["one:\n== b\n-  acc 0.25\n+  acc 0.75"]


@pytest.mark.parametrize(
    "before, after, exact, far",
    [
        ("acc 0.5", "acc 0.5000000000001", True, True),
        ("acc 0.5", "acc 0.5000000000001", False, False),
        ("acc 0.5", "acc 0.501", False, True),
        ("acc 1", "acc 1.0", False, True),
        ('said "0.5"', 'said "0.5000000000001"', False, True),
        ("x 0.0 x3", "x 0.0 x4", False, True),
    ],
)
def test_only_the_last_digits_of_floats_may_differ_on_another_machine(before, after, exact, far):
    assert bool(list(goldens.differences({"a": before}, {"a": after}, exact=exact))) is far


def test_the_order_of_scores_counts():
    known = {"a": "acc 1.0\nf1 0.5\n"}
    assert list(goldens.differences(known, {"a": "f1 0.5\nacc 1.0\n"}))
