"""Tasks whose answers are programs: with lm-eval's own helpers, without the package ``evaluate``, in a prison."""

from __future__ import annotations

import json
import sys

import pytest

from proctor.dialects.lm_eval.resolve import resolve
from proctor.errors import ScoringError
from proctor.guests import evaluate
from proctor.ir import Response
from proctor.ir.question import Answered
from proctor.prison import Finding, choice
from proctor.recipes.options import ExamOptions
from proctor.settings import settings

pytestmark = pytest.mark.skipif(
    not any(choice.examined(name).works for name in choice.BY_STRENGTH), reason="no prison works on this machine"
)

ROWS = [
    {
        "prompt": f"def helper(x):\n    return x\n\n\ndef add_{n}(a):\n    '''Add {n}.'''\n",
        "solution": f"    return a + {n}\n",
        "test": f"def check(candidate):\n    assert candidate(helper(1)) == {n} + 1\n",
        "entry_point": f"add_{n}",
    }
    for n in range(3)
]
HEAD = """
task: t
dataset_path: json
dataset_kwargs: {data_files: {test: test.jsonl}}
test_split: test
unsafe_code: true
output_type: generate_until
doc_to_text: "{{prompt}}"
doc_to_target: "{{test}}\\ncheck({{entry_point}})"
generation_kwargs: {until: ["\\nclass"]}
"""
OWN = """
metric_list:
  - {metric: !function utils.pass_at_k, aggregation: mean, higher_is_better: true, k: [1, 2]}
repeats: 2
filter_list:
  - name: create_test
    filter: [{function: custom, filter_fn: !function utils.build_predictions}]
"""
UTILS = """
import evaluate as hf_evaluate

compute_ = hf_evaluate.load("code_eval")
results = compute_.compute(references=["assert add(2, 3)==5"], predictions=[["def add(a,b): return a*b"]], k=[1])
assert results[0] == {"pass@1": 0.0}

def pass_at_k(references, predictions, k=None):
    return compute_.compute(references=references, predictions=predictions, k=k)[0]

def build_predictions(resps, docs):
    return [[doc["prompt"] + r for r in resp] for resp, doc in zip(resps, docs)]
"""


@pytest.fixture
def exam(tmp_path):
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, ROWS)))
    (tmp_path / "utils.py").write_text(UTILS)

    def make(text):
        (tmp_path / "t.yaml").write_text(f"{HEAD}{text}")
        (found,) = resolve(["t"], [str(tmp_path)], ExamOptions())
        return found

    return make


def graded(exam, write):
    return exam.grade(Answered(each, (Response(texts=write(each.instance)),)) for each in exam.questions())


def test_lm_evals_own_helpers_run_without_the_package(exam):
    with settings.context(trust_code=True):
        made = exam(OWN)
        assert not list(made.problems())
        right = graded(made, lambda row: (row["solution"], "    return None\n"))
        forged = "    return 0\ndef helper(x): return -x\ndef check(c): pass\n"
        wrong = graded(exam(OWN), lambda row: (forged, "import os\nos._exit(0)"))
    assert (right.scores["pass@1,create_test"], right.scores["pass@2,create_test"]) == (0.5, 1.0)
    assert (wrong.scores["pass@1,create_test"], wrong.scores["pass@2,create_test"]) == (0.0, 0.0)
    assert "evaluate" not in sys.modules or not hasattr(sys.modules["evaluate"], "HubMetric")


def test_a_task_names_code_eval(exam):
    text = "metric_list: [{metric: code_eval, k: [1]}]\ndoc_to_target: 'assert add(1) == 2'"
    made = exam(text)
    assert not list(made.problems())
    found = graded(made, lambda row: ("def add(a): return a + 1",) if row["entry_point"] == "add_0" else ("x",))
    assert found.scores["pass@1"] == pytest.approx(1 / 3)


def test_without_a_prison_it_is_said_before_anybody_is_asked(exam, monkeypatch):
    monkeypatch.setattr(choice, "examined", lambda name: Finding(name, False, "", "not here"))
    for text in (OWN, "metric_list: [{metric: code_eval}]"):
        with settings.context(trust_code=True):
            found = list(exam(text).problems())
        assert any("no prison" in each.what and "--sandbox none" in each.hint for each in found)
    with settings.context(trust_code=True, sandbox="none"):
        assert not list(exam(OWN).problems())


def test_other_metrics_of_the_hub_and_other_names():
    found = evaluate.load("exact_match").compute(predictions=["a", "b"], references=["a", "c"])
    assert found == {"exact_match": 0.5}
    with pytest.raises(ScoringError, match="not built in"):
        evaluate.load("no_such_metric")
