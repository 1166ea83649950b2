"""SciCode's steps, tested against values of an HDF5 file as SciCode's own harness tests them."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
import tests_warm

from proctor.errors import ScoringError
from proctor.prison import choice
from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.scicode import missing_data, scicode

h5py = pytest.importorskip("h5py")
pytest.importorskip("scipy")
pytest.importorskip("sympy")
pytestmark = pytest.mark.skipif(
    not any(choice.examined(name).works for name in choice.BY_STRENGTH), reason="no prison works on this machine"
)
IMPORTS = "import numpy as np\nimport scipy.sparse as sp\nimport sympy\n"


def _put(group, name, value):
    """Write a value in the layout of SciCode's file."""
    if isinstance(value, dict) and "sparse" in value:
        sparse = group.create_group(f"{name}/sparse_matrix")
        for part, array in value["sparse"].items():
            sparse[part] = array
    elif isinstance(value, dict):
        inner = group.create_group(name)
        for key, each in value.items():
            _put(inner, key, each)
    else:
        group[name] = value


@pytest.fixture
def made(tmp_path):
    """Make ``test_data.h5`` of targets by step, each one's tests a list of variables."""

    def make(**steps):
        with h5py.File(tmp_path / "test_data.h5", "w") as file:
            for step, tests in steps.items():
                for number, variables in enumerate(tests, 1):
                    group = file.create_group(f"{step[1:].replace('_', '.')}/test{number}")
                    for place, value in enumerate(variables, 1):
                        _put(group, f"var{place}", value)
        return str(tmp_path)

    return make


COO = {"sparse": {"data": [1.0, 2.0], "row": [0, 1], "col": [1, 2], "shape": [3, 3]}}
CSR = {"sparse": {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2], "shape": [2, 2]}}
BSR = {"sparse": {**CSR["sparse"], "data": np.ones((2, 1, 1)), "blocksize": [1, 1]}}
FROM = "from scicode.compare.cmp import are_dicts_close, cmp_tuple_or_list, are_csc_matrix_close\nassert "
CLOSE, DICTS, EACH = (
    "assert np.allclose(f(), target)",
    f"{FROM}are_dicts_close(f(), target)",
    f"{FROM}cmp_tuple_or_list(f(), target)",
)
VALUES = [
    ([2.5], CLOSE, "2.5 + 1e-9", "2.6"),
    ([np.arange(6.0).reshape(2, 3)], f"{CLOSE} and target.shape == (2, 3)", "np.arange(6.).reshape(2, 3)", "np.zeros(3)"),
    ([np.array([1j, 2])], CLOSE, "[1j, 2]", "[1, 2]"),
    (["word"], "assert f() == target", "'word'", "b'word'"),
    ([True], "assert f() == target and type(target) is np.bool_", "True", "False"),
    ([1.0, np.array([1, 2]), 3j], EACH, "(1, [1, 2], 3j)", "(1, [1, 2])"),
    ([{"a": 1.0, "s": "x", "2": [1, 2]}], DICTS, "{'a': 1, 's': 'x', 2.0: [1, 2]}", "{'a': 1, 's': 'y', 2.0: [1, 2]}"),
    ([{"k": 1.0}], DICTS, "{sympy.Symbol('k'): 1.0}", "{'k': 1.0, 'l': 2}"),
    ([{"list": {"var1": np.array([1.0]), "var2": np.array([1.0, 2.0])}}], EACH, "([1], [1, 2])", "([1], [2, 2])"),
    ([{"m": COO}], DICTS, "{'m': sp.coo_matrix(([1., 2.], ([0, 1], [1, 2])), shape=(3, 3))}", "{'m': sp.coo_matrix((3, 3))}"),
    ([COO], f"{FROM}are_csc_matrix_close(f(), target) and target.format == 'coo'", "sp.csr_matrix([[0, 1, 0], [0, 0, 2], [0, 0, 0]])", "sp.eye(3)"),
    ([CSR], f"{FROM}are_csc_matrix_close(f(), target) and target.format == 'csr'", "sp.csc_matrix([[1, 0], [0, 2]])", "sp.eye(2)"),
    ([BSR], f"{FROM}are_csc_matrix_close(f(), target) and target.format == 'bsr'", "sp.eye(2)", "2 * sp.eye(2)"),
    ([CSR, 1.0], EACH, "(sp.csr_matrix([[1., 0], [0, 2]]), 1)", "(sp.csr_matrix([[1., 0], [0, 3]]), 1)"),
]  # fmt: skip


def test_targets_of_every_kind_are_what_scicodes_tests_expect(made):
    folder = made(**{f"s{number}_1": [variables] for number, (variables, *_) in enumerate(VALUES, 100)})
    rows, answers, wanted = [], [], []
    for number, (_, test, right, wrong) in enumerate(VALUES, 100):
        for value, passes in ((right, 100.0), (wrong, 0.0)):
            step = {"step_number": f"{number}.1", "test_cases": [test]}
            needed = [line for line in IMPORTS.splitlines() if re.search(rf"\b{line.split()[-1]}\b", value + test)]
            rows.append({**step, "required_dependencies": "\n".join(needed)})
            answers.append(f"So:\n```python\nimport os\ndef f(): return {value}\n```")
            wanted.append(passes)
    found = scicode(Cases(answers, [""] * len(rows), rows), test_data=folder, seconds=60)
    assert found.instances["accuracy"] == wanted
    assert not found.failures


A, B = "```python\ndef a(x): return x + 1\n```", "```python\ndef b(x): return a(x) * np.ones(2)\n```"


def _hub_row(problem, *tests):
    steps = [{"step_number": f"{problem}.{number}", "test_cases": each} for number, each in enumerate(tests, 1)]
    return {"problem_id": problem, "required_dependencies": IMPORTS, "sub_steps": steps}


def test_a_step_runs_with_the_steps_before_it_and_a_problem_needs_all(made):
    folder = made(s7_1=[[2], [3]], s7_2=[[np.array([2.0, 2.0])]])
    tests = ["assert a(1) == target", "assert a(2) == target"], ["assert np.allclose(b(1), target)"]
    row = _hub_row("7", *tests)
    both = "```python\ndef a(x): return x + 1\ndef b(x): return a(x) * np.ones(2)\n```"
    quits = "```python\ndef a(x): return x + 1\nraise SystemExit(0)\n```"
    answers = [[A, B], [A, "no code at all"], ["```python\ndef a(x): return 0\n```", B], both, [quits, B], [A]]
    found = scicode(Cases(answers, [""] * 6, [row] * 6), test_data=folder)
    assert found.instances["sub_accuracy"] == [100.0, 50.0, 0.0, 100.0, 0.0, None]
    assert found.instances["accuracy"] == [100.0, 0.0, 0.0, 100.0, 0.0, None]
    assert "1 answers to 2 steps" in found.failures[5].message
    assert (found.scores["accuracy"], found.scores["sub_accuracy"]) == (40.0, 50.0)


def test_the_step_that_scicode_answers_is_not_asked_and_is_there(made, tmp_path):
    folder = made(s62_2=[[5]])
    row = _hub_row("62", ["assert False"], ["assert Block(1).size + c() == target"])
    cases = Cases([["```python\ndef c(): return 4\n```"]], [""], [row])
    with pytest.raises(ScoringError, match=r"62\.1\.txt"):
        scicode(cases, test_data=folder)
    (tmp_path / "62.1.txt").write_text("class Block:\n    def __init__(self, size): self.size = size\n")
    assert scicode(cases, test_data=folder).correct == [True]


def test_what_is_missing_is_a_failure_and_not_a_zero(made, tmp_path):
    folder = made(s1_1=[[1]])
    with h5py.File(tmp_path / "test_data.h5", "a") as file:
        file["3.1/test1/var1"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "/x")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1.0
    needs = {**_hub_row("1", ["assert True"]), "required_dependencies": "import no_such_package"}
    rows = [_hub_row("2", ["assert True"]), _hub_row("3", ["assert True"]), needs, _hub_row("1", ["assert True"] * 2)]
    rows.append(_hub_row("1", ["assert a(0) == target"]))
    found = scicode(Cases([[A]] * 5, [""] * 5, rows), test_data=folder)
    assert [*found.failures] == [0, 1, 2, 3]
    assert "is a link" in found.failures[1].message
    assert "no_such_package" in found.failures[2].message
    assert (found.scores["accuracy"], found.instances["accuracy"]) == (100.0, [None] * 4 + [100.0])


CONFIG = """
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.openicl.icl_inferencer import ChatInferencer
from opencompass.datasets import SciCodeDataset, SciCodeEvaluator

datasets = [dict(
    abbr='SciCode', type=SciCodeDataset, path='./data/scicode', with_bg=False,
    reader_cfg=dict(input_columns=['prompt'], output_column=None),
    infer_cfg=dict(
        ice_template=dict(type=PromptTemplate, template=''), retriever=dict(type=ZeroRetriever),
        inferencer=dict(type=ChatInferencer, infer_mode='every', max_out_len=4096)),
    eval_cfg=dict(evaluator=dict(type=SciCodeEvaluator, dataset_path='./data/scicode', with_bg=False)))]
"""


def test_opencompass_config_of_scicode_is_scored(tmp_path):
    (tmp_path / "eval_scicode.py").write_text(CONFIG)
    (tmp_path / "mine.py").write_text(f"def answer(messages):\n    return {A!r} if len(messages) == 1 else {B!r}\n")
    data = tmp_path / "data" / "scicode"
    data.mkdir(parents=True)
    talk = [{"role": role, "content": text} for text in "xy" for role, text in (("user", text), ("assistant", ""))]
    tests = [
        ["assert a(1) == target"],
        ["from opencompass.datasets.scicode import cmp_tuple_or_list as c\nassert c(b(1), target)"],
    ]
    row = {"id": "5", "import": "import numpy as np\n", "prompt": talk, "test": tests}
    (data / "SciCode_datasets.json").write_text(json.dumps([row]))
    run = ("-m", "proctor", "run", "eval_scicode.py", "--model", "mine.py:answer", "--trust-code")
    without = tests_warm.python(*run, cwd=tmp_path)
    assert without.returncode
    assert f"no .h5 file in {data}" in without.stderr
    (data / "test_data").mkdir()
    for step, value in (("5.1", 2), ("5.2", np.array([2.0, 2.0]))):
        with h5py.File(data / "test_data" / f"{step}.h5", "w") as file:
            file[f"{step}/test1/var1"] = value
    assert tests_warm.python(*run, cwd=tmp_path).returncode == 0
    (found,) = tmp_path.glob("runs/*/results.json")
    scores = json.loads(found.read_text())["results"]["SciCode"]
    assert (scores["accuracy"], scores["sub_accuracy"]) == (100.0, 100.0)


def test_missing_targets_are_said_before_anybody_is_asked(made, tmp_path):
    (problem,) = missing_data({"test_data": str(tmp_path / "nowhere")})
    assert str(tmp_path / "nowhere") in problem.what
    assert "test_data.h5" in problem.hint
    assert not [*missing_data({"test_data": made(s1_1=[[1]])})]
