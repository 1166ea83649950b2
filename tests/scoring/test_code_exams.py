"""Exams in programming: programs that solve a made-up problem pass, programs that do not, do not."""

from __future__ import annotations

import json

import pytest

from proctor.dialects.aisbench.evaluation import evaluate
from proctor.dialects.aisbench.values import Reference
from proctor.errors import MissingFieldError, ScoringError
from proctor.prison import choice
from proctor.scoring.evaluators.contests import answered_value, block_between_fences, last_assertion
from proctor.scoring.evaluators.suites import ds1000_program, longest_program, needed_program
from proctor.scoring.metrics.hugging_face import HuggingfaceMetric
from proctor.scoring.programs.code_eval import LookingAt, code_eval

pytestmark = pytest.mark.skipif(
    not any(choice.examined(name).works for name in choice.BY_STRENGTH), reason="no prison works on this machine"
)


def scores(kind: str, given, gold, rows, **arguments):
    config = {"evaluator": {"type": Reference(f"opencompass.datasets.{kind}"), **arguments}}
    return evaluate(config, given, gold, rows).scores


# -- HumanEval, MBPP and their plus ---------------------------------------------------------------------------------

PROMPT = 'import math\n\n\ndef helper(x):\n    return 10\n\n\ndef double(x):\n    """Twice x."""\n'
ROW = {
    "task_id": "HumanEval/0",
    "prompt": PROMPT,
    "entry_point": "double",
    "canonical_solution": "    return 2 * x\n",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(helper(1)) == 2 * helper(2)\n"
    "    assert math.isclose(candidate(0.5), 1)\n",
}
SOLUTIONS = [
    "    return 2 * x",
    "    return x + x",
    "    return 4",
    "    return helper(x)\ndef helper(x): return 2",
    "",
]


def test_humaneval():
    found = scores("HumanEvalEvaluator", SOLUTIONS, ["HumanEval/0"] * 5, [ROW] * 5, k=[1, 5])
    assert found == {"humaneval_pass@1": pytest.approx(40.0), "humaneval_pass@5": 100.0}


def test_humaneval_plus_of_inputs():
    row = {**ROW, "base_input": [[1], [2]], "plus_input": [[0.1], [[1]], ["a"], [10**30]], "atol": 0}
    right, near, wrong = (
        "    return 2 * x",
        "    return x + x + (1e-9 if type(x) is float else x * 0)",
        "    return 2 * x if x != 'a' else 'a'",
    )
    found = scores("HumanEvalPlusEvaluator", [right, near, wrong], ["a", "b", "c"], [row] * 3)
    assert found == {"humaneval_plus_pass@1": pytest.approx(200 / 3)}


def test_humaneval_plus_of_tests_as_the_hub_has_them():
    test = (
        "import numpy as np\n\ndef is_floats(x): return isinstance(x, float)\n\ndef assertion(out, exp, atol):\n"
        "    exact_match = out == exp\n    if atol == 0 and is_floats(exp): atol = 1e-6\n"
        "    if not exact_match and atol != 0:\n        assert np.allclose(out, exp, rtol=1e-07, atol=atol)\n"
        "    else:\n        assert exact_match\n\n"
        "def check(candidate):\n    inputs = [[1], [2.5]]\n    results = [2, 5.0]\n"
        "    for i, (inp, exp) in enumerate(zip(inputs, results)):\n        assertion(candidate(*inp), exp, 0)\n"
    )
    rows = [{**ROW, "test": test}] * 2
    assert scores("HumanEvalPlusEvaluator", ["    return 2 * x", "    return 2"], ["a", "b"], rows) == {
        "humaneval_plus_pass@1": 50.0
    }
    with pytest.raises(MissingFieldError, match=r"original tests(.|\n)*evalplus"):
        scores("HumanEvalPlusEvaluator", [""], ["a"], [ROW])


@pytest.mark.parametrize(
    "number, entry, reference, inputs, right, wrong",
    [
        (2, "similar_elements", "def similar_elements(a, b): return tuple(set(a) & set(b))", [[[1, 2, 3], [3, 2]]],
         "def similar_elements(a, b):\n    assert type(a) is tuple\n    return [x for x in reversed(a) if x in b]",
         "def similar_elements(a, b): return a"),
        (124, "angle", "import cmath\ndef angle(a, b): return cmath.phase(a + b)", [["1.0", "0+1j"]],
         "import cmath\ndef angle(a, b): return cmath.phase(complex(a) + b) + 1e-9", "def angle(a, b): return 0.0"),
        (115, "empty", "def empty(x): return all(not d for d in x)", [[[[1], []]], [[[], []]]],
         "def empty(x):\n    assert all(isinstance(d, (set, dict)) for d in x)\n    return not any(x)", "def empty(x): return True"),
        (581, "surface_Area", "def surface_Area(b, s): return 2 * b * s + b**2", [[3, 4]],
         "def surface_Area(b, s): return 35", "def surface_Area(b, s): return 34"),
        (124, "angle", "def angle(a, b): return 1", [["1", "2j"]], "def angle(a, b): return True", "def angle(a, b): return None"),
    ],
)  # fmt: skip
def test_mbpp_plus(number, entry, reference, inputs, right, wrong):
    row = {"task_id": f"Mbpp/{number}", "prompt": "", "entry_point": entry, "canonical_solution": reference}
    row |= {"base_input": inputs, "plus_input": [], "atol": 0}
    answers = [f"```python\n{right}\n```", f"```python\n{wrong}\n```"]
    assert scores("MBPPEvaluator", answers, ["a", "b"], [row] * 2, metric="MBPPPlus") == {"mbpp_plus_pass@1": 50.0}


def test_mbpp_with_what_its_tests_call():
    problems = {
        "assert sum(10,15) == 6\nassert sum(100,150) == 93": "def sum(a, b):\n    return {10: 6, 100: 93}[a]",
        "assert max_len([Pair(5, 24), Pair(39, 60)], 2) == 2": "class Pair:\n    def __init__(s, a, b): s.a = a\ndef max_len(p, n): return sum(x.a > 0 for x in p)",
        "assert set(f((1, 2))) == set((2, 1))": "def f(x): return x",
        "assert (f([3,1]) == [1,3]) == True": "def f(x):\n    x.sort()\n    return x",
        "import math\nassert math.isclose(f(2), 1.41421, rel_tol=1e-4)": "def f(x): return x ** 0.5",
        "assert f('a') == None": "import re\ndef f(x): return re.match('b', x)",
        "assert gcd(12, 18) == 6": "def gcd(a, b):\n    while b: a, b = b, a % b\n    return a",
    }
    for project in ("opencompass", "ais_bench"):
        config = {"evaluator": {"type": Reference(f"{project}.datasets.MBPPEvaluator")}}
        right = evaluate(config, list(problems.values()), list(problems), [{}] * len(problems))
        assert right.scores["score"] == 100.0, right.instance_scores
        empty = evaluate(config, [""] * len(problems), list(problems), [{}] * len(problems))
        assert (empty.scores["score"], empty.scores["pass"]) == (0.0, 0)


# -- contests -------------------------------------------------------------------------------------------------------


def _fenced(program: str) -> str:
    return f"Here:\n```python\n{program}\n```\nDone."


def test_livecodebench_of_inputs():
    sample = {"inputs": ["2\n1 2\n", "1\n5\n"], "outputs": ["3", "5\n"], "fn_name": None}
    answers = [
        _fenced("n = int(input())\nprint(sum(map(int, input().split())))"),
        _fenced(
            "if __name__ == '__main__':\n    import sys\n    d = sys.stdin.read().split()\n    print(sum(map(int, d[1:])), end='')\n    sys.exit(0)"
        ),
        _fenced(
            "import sys\nd = sys.stdin.buffer.readline\nd()\nsys.stdout.write(f'{sum(map(int, d().split()))}  \\n\\n')"
        ),
        _fenced("n = input()\nprint(3)"),
        _fenced("import os\nprint(3)\nos._exit(0)"),
        "no program",
    ]
    row = {"evaluation_sample": json.dumps(sample)}
    found = scores("LCBCodeGenerationEvaluator", answers, ["q"] * 6, [row] * 6, num_process_evaluate=4, timeout=6)
    assert found == {"pass@1": 50.0}


def test_livecodebench_of_functions():
    sample = {"inputs": ["[1, 2]\n3", '["a"]\n1'], "outputs": ["[3, 6]", '["a"]'], "fn_name": "times"}
    answers = [
        _fenced(
            "class Solution:\n    def times(self, x: List[int], n: int) -> List[int]:\n        return [y * n for y in x]"
        ),
        _fenced("def times(x, n): return tuple(y * n for y in x)"),
        _fenced("class Solution:\n    def times(self, x, n): return x"),
        _fenced("class Solution:\n    def times(self, x, n):\n        while True: pass"),
        _fenced(
            "class L(list):\n    def __eq__(s, o): return True\nclass Solution:\n    def times(self, x, n): return L()"
        ),
    ]
    row = {"evaluation_sample": json.dumps(sample)}
    found = scores("LCBCodeGenerationEvaluator", answers, ["q"] * 5, [row] * 5, num_process_evaluate=4, timeout=1)
    assert found == {"pass@1": 40.0}


def test_livecodebench_of_results_and_tests():
    sample = json.dumps({"code": "def f(x):\n    return Counter(x)['a']", "input": "f('banana')", "output": "3"})
    answers = [
        "assert f('banana') == 3 [/ANSWER]",
        "3",
        "len([1, 2, 3])",
        "3.0",
        "f('banana')",
        "(",
        "__import__('os')._exit(0)",
    ]
    found = scores("LCBCodeExecutionEvaluator", answers, [sample] * 7, [{}] * 7)
    assert found == {"pass@1": pytest.approx(300 / 7)}
    test = json.dumps({"input": "x", "output": "[1, 2]"})
    answers = ["assert f(1) == [1, 2]", "```python\nassert f(1) == [2]\n```", "assert f(1) == g()", "assert f(1)"]
    assert scores("LCBTestOutputEvaluator", answers, [test] * 4, [{}] * 4) == {"pass@1": 25.0}
    unread = json.dumps({"input": "x", "output": "[1, 2"})
    assert scores("LCBTestOutputEvaluator", answers, [unread] * 4, [{}] * 4) == {"pass@1": 0.0}


def test_apps_and_taco():
    standard = {"input_output": json.dumps({"inputs": [["1", "2"], "3\n4"], "outputs": [["3"], "7\n"]})}
    calls = {
        "input_output": json.dumps({"inputs": [[1, [2]], [3, [4]]], "outputs": [[[1, 2]], [[3, 4]]], "fn_name": "f"})
    }
    given = [
        "```python\nprint(int(input()) + int(input()))\n```",
        "print(3)",
        "def f(a, b): return [a, *b]",
        "def f(a, b): return b",
    ]
    rows = [standard, standard, calls, calls]
    for kind in ("APPSEvaluator", "TACOEvaluator"):
        assert scores(kind, given, ["a", "a", "b", "b"], rows) == {"pass@1": 50.0}


def test_numbers_of_contests_may_be_near():
    sample = {"inputs": ["x", "y"], "outputs": ["0.333333", "1\n2"], "fn_name": None}
    row = {"evaluation_sample": json.dumps(sample)}
    near = _fenced("s = input()\nprint(1 / 3 if s == 'x' else '1\\n\\n2')")
    far = _fenced("s = input()\nprint(0.34 if s == 'x' else '1\\n2')")
    assert scores("LCBCodeGenerationEvaluator", [near, far], ["q"] * 2, [row] * 2) == {"pass@1": 50.0}


def test_programs_are_found_in_answers():
    assert block_between_fences("a\n```\nb\n```\n```\nc\n```") == "b"
    assert block_between_fences("a\n```\nb\n```\n```\nc\n```", "v2") == "c"
    assert block_between_fences("```\nb") == ""
    assert answered_value("[PYTHON]x[/PYTHON] [PYTHON]assert f() == 'a'[/PYTHON]") == "'a'"
    assert last_assertion("assert 1\nassert 2\nx") == "assert 2"
    assert ds1000_program("```python\nx = 1\n```\nIt works.") == "x = 1"
    assert ds1000_program("<code>\nx = 1\n</code>\nEND") == "x = 1"


def test_only_what_a_function_needs_is_kept():
    text = "Sure:\nimport os\nA = 1\nB = 2\ndef used():\n    return A\ndef other():\n    return B\ndef task():\n    return used()\nprint(task())\nbye bye"
    assert needed_program(text, "task") == "import os\nA = 1\ndef used():\n    return A\ndef task():\n    return used()"
    assert longest_program("no no\nx = 1\ny = 2\n(\nz = 3") == "x = 1\ny = 2"
    assert needed_program("no program at all !", "task") == ""


# -- test cases and tests around a program -------------------------------------------------------------------------


BIG = {
    "task_id": "BigCodeBench/0",
    "entry_point": "task_func",
    "code_prompt": "import random\ndef task_func(n):",
    "complete_prompt": 'import random\ndef task_func(n):\n    """Draws."""\n',
    "test": "import unittest\nfrom unittest.mock import patch\nclass TestCases(unittest.TestCase):\n"
    "    @patch('random.randint', return_value=3)\n    def test_drawn(self, drawn):\n        self.assertEqual(task_func(2), [3, 3])\n"
    "    def test_none(self):\n        self.assertEqual(task_func(0), [])\n",
}


def test_bigcodebench():
    right = _fenced("import random\ndef task_func(n):\n    return [random.randint(1, 6) for _ in range(n)]")
    answers = [
        right,
        _fenced("def task_func(n):\n    return []"),
        "nothing",
        _fenced("import os\ndef task_func(n): os._exit(0)"),
    ]
    found = scores(
        "BigCodeBenchEvaluator", answers, [f"{n}" for n in range(4)], [{**BIG, "task_id": n} for n in range(4)]
    )
    assert found == {"pass@1": 25.0, "one_process_count": 4}
    completed = ["    return [random.randint(1, 6) for _ in range(n)]\n", "    return 1\n"]
    found = scores(
        "BigCodeBenchEvaluator", completed, ["a", "b"], [{**BIG, "task_id": n} for n in range(2)], eval_type="complete"
    )
    assert found == {"pass@1": 50.0, "one_process_count": 2}


DS1000 = {
    "code_context": "import numpy as np\nimport copy\n\ndef generate_test_case(i):\n    a = np.arange(4 * i)\n    return a, a[::-1]\n\n"
    "def exec_test(result, ans):\n    np.testing.assert_array_equal(result, ans)\n    return 1\n\n"
    'exec_context = r"""\nimport numpy as np\na = test_input\n[insert]\n"""\n\n'
    "def test_execution(solution: str):\n    code = exec_context.replace('[insert]', solution)\n    for i in range(1, 3):\n"
    "        test_input, expected = generate_test_case(i)\n        test_env = {'test_input': test_input}\n        exec(code, test_env)\n"
    "        assert exec_test(test_env['result'], expected)\n\n"
    "def test_string(solution: str):\n    assert 'for' not in solution.split()\n"
}


def test_ds1000():
    answers = [
        "```python\nresult = a[::-1]\n```", "<code>\nresult = np.flip(a)\n</code>", "result = a",
        "result = np.array([x for x in a[::-1]])", "import os\nos._exit(0)", "result = (",
    ]  # fmt: skip
    found = scores("ds1000", answers, [""] * 6, [DS1000] * 6)
    assert found == {"accuracy": pytest.approx(100 / 3), "one_process_count": 6}


def test_humaneval_pro():
    row = {"id": 0, "test_code": "assert twice(2) == 4\nassert four_times(2) == 8"}
    answers = [
        _fenced("def twice(x): return 2 * x\ndef four_times(x): return twice(twice(x))"),
        _fenced("def twice(x): return 4"),
    ]
    for kind in ("HumanevalProEvaluator", "MBPPProEvaluator"):
        assert scores(kind, answers, ["", ""], [row] * 2) == {"pass@1": 50.0}
    with pytest.raises(ScoringError, match="not run here"):
        scores("HumanevalProEvaluator", [""], [""], [row], language="java")


# -- code_eval ------------------------------------------------------------------------------------------------------


def test_code_eval_of_the_hub():
    found, details = code_eval(
        [["def add(a, b): return a + b", "def add(a, b): return a * b"]], ["assert add(2, 3) == 5"], k=[1, 2, 3]
    )
    assert found == {"pass@1": 0.5, "pass@2": 1.0}
    assert [entry["result"] for _, entry in details[0]] == ["passed", "failed: AssertionError: "]
    metric = HuggingfaceMetric(hf_metric_name="code_eval", main_score="pass@1", hf_compute_args={"k": [1]})
    assert (
        metric.compute([["assert f() == 1"], ["assert f() == 2"]], ["def f(): return 1"] * 2, [{}] * 2)["pass@1"] == 0.5
    )
    with pytest.raises(ScoringError, match="2 problems"):
        code_eval([[], []], ["x"])


def test_what_the_row_of_a_program_defines_is_the_exams():
    program = f"{PROMPT}    return 7\ndef helper(x): return 3.5\nmath = None\n"
    tests = "def check(candidate):\n    assert candidate(1) == 2 * helper(1)\ncheck(double)"
    assert code_eval([[program]], [tests], k=[1])[0] == {"pass@1": 1.0}
    with LookingAt(ROW):
        assert code_eval([[program]], [tests], k=[1])[0] == {"pass@1": 0.0}
