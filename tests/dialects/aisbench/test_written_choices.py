"""Choices of a converted exam in a config: what stands between prompt and choice is a part of the choice."""

import pytest

from proctor.dialects.aisbench.convert import _out, _whole_choices
from proctor.dialects.conversion.gradings import Graded, Named
from proctor.dialects.conversion.written import Written
from proctor.ir import Decoding


def written(*metrics, target="b", decoding=None):
    row = {"prompt": "p", "choices": ["a", "b"], "target": target}
    graded = Graded([Named(each) for each in metrics])
    return Written("x", [row], compares=True, decoding=decoding or Decoding(), repeats=1, graded=graded, delimiter=" ")


@pytest.mark.parametrize(
    "metrics, kept, lost",
    [
        (["lm_eval:acc"], ["lm_eval:acc"], []),
        (["lm_eval:acc_norm", "lm_eval:acc"], ["lm_eval:acc"], ["lm_eval:acc_norm"]),
        (["lm_eval:acc_norm"], ["lm_eval:acc"], ["lm_eval:acc_norm"]),
        (["opencompass:AccEvaluator", "lm_eval:f1"], ["opencompass:AccEvaluator"], ["lm_eval:f1"]),
    ],
)
def test_metrics_that_see_likelihoods_have_no_place(metrics, kept, lost):
    found = written(*metrics)
    _whole_choices(found)
    assert [each.name for each in found.graded.metrics] == kept
    assert [each.text.partition(": ")[0] for each in found.losses] == lost


@pytest.mark.parametrize("target, whole", [("b", " b"), (["a", "b"], [" a", " b"])])
def test_choices_and_the_right_one_begin_with_what_stands_between(target, whole):
    found = written("lm_eval:acc", target=target)
    _whole_choices(found)
    assert found.rows == [{"prompt": "p", "choices": [" a", " b"], "target": whole}]


def test_how_the_model_writes_and_what_a_config_does_not_say():
    found = written(decoding=Decoding(7, stop=("x",)))
    assert (_out(found), list(found.losses)) == ({"max_out_len": 7, "stopping_criteria": ["x"]}, [])
    found = written(decoding=Decoding(temperature=0.5, top_k=3, count=2, extra={"min_p": 0.1}))
    assert _out(found) == {}
    assert [each.text.partition(":")[0] for each in found.losses] == [
        "max_tokens",
        "temperature",
        "top_k",
        "min_p",
        "2 answers to one request",
    ]
