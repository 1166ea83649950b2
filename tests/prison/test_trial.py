"""Tests of an exam and a program in two processes: what a test says means what it means in one."""

from __future__ import annotations

import pytest

from proctor.prison import Court, Limits, Trial
from proctor.prison.choice import BY_STRENGTH, examined
from proctor.prison.prisons import KINDS

NAME = next((name for name in BY_STRENGTH if examined(name).works), "")
pytestmark = pytest.mark.skipif(not NAME, reason="no prison works on this machine")


@pytest.fixture(scope="module")
def court():
    court = Court(KINDS[NAME](), Limits())
    yield court
    court.close()


HONEST = [
        ("def f(x): return x", "v = [1, 2.5, 'a', None, True, b'x', 2j, (1,), {1}, frozenset({2}), {1: [2]}, range(3)]\nassert f(v) == v"),
        ("def f(x): return x", "import math\nassert math.isnan(f(float('nan'))) and f(-float('inf')) == -math.inf\nassert f(10**500) == 10**500"),
        ("def f(x): return x", "for v in ('\\ud800', '\\0', 'é', ''):\n    assert f(v) == v"),
        ("from collections import *\ndef f(x): return Counter(x), deque(x, 2), OrderedDict({1: 2}), defaultdict(int, {3: 4})",
         "from collections import *\nassert f('aab') == (Counter('aab'), deque('ab', 2), OrderedDict({1: 2}), defaultdict(int, {3: 4}))"),
        ("import datetime, decimal, fractions\ndef f(): return datetime.date(2020, 1, 2), decimal.Decimal('1.5'), fractions.Fraction(1, 3)",
         "import datetime, decimal, fractions\nassert f() == (datetime.date(2020, 1, 2), decimal.Decimal('1.5'), fractions.Fraction(1, 3))"),
        ("def f(x): x.append(3); x[0][1] = 5", "a = [{}, 2]\nb = a[0]\nf(a)\nassert a == [{1: 5}, 2, 3] and b == {1: 5}"),
        ("def f(x): x.appendleft(0)", "from collections import deque\na = deque([1])\nf(a)\nassert a == deque([0, 1])"),
    ("def f(x): x.sort()", "a = [3, 1, 2]\nassert f(a) is None\nassert a == [1, 2, 3]"),
        ("def f(g, x): return [g(y) for y in x]", "assert f(lambda y: y * 2, [1, 2]) == [2, 4]"),
        ("def f(g): return g(lambda: 7)", "assert f(lambda h: h() + 1) == 8"),
        ("def f(n):\n    for i in range(n): yield i", "assert list(f(3)) == [0, 1, 2]\nassert next(f(1)) == 0\nassert sum(f(4)) == 6"),
        ("def f(a, *b, c=1, **d): return a, b, c, d", "assert f(1, 2, c=3, e=4) == (1, (2,), 3, {'e': 4})"),
        ("class Pair:\n    def __init__(s, a, b): s.a, s.b = a, b\n    def add(s): return s.a + s.b\ndef longest(pairs): return max(p.b for p in pairs)",
         "p = Pair(1, 2)\nassert p.add() == 3 and p.a == 1\np.a = 5\nassert p.add() == 7\nassert longest([p, Pair(3, 4)]) == 4"),
        ("from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(): return P(1, 2)", "assert f() == (1, 2)\nassert isinstance(f(), tuple)"),
        ("import enum\nclass C(enum.IntEnum):\n    A = 1\ndef f(): return C.A", "assert f() == 1"),
        ("def f(x):\n    if x < 0: raise ValueError('negative', x)\n    return x",
         "try:\n    f(-1)\nexcept ValueError as e:\n    assert e.args == ('negative', -1)\nelse:\n    assert False"),
        ("class Own(KeyError): pass\ndef f(): raise Own('k')", "try:\n    f()\nexcept KeyError:\n    pass\nelse:\n    assert False"),
        ("def f(): print('hello')", "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    f()\nassert out.getvalue() == 'hello\\n'"),
        ("import math\ndef f(x): return math.sqrt(x)", "assert math.isclose(f(2) ** 2, 2)"),
        ("from collections import Counter\ndef f(x): return x[::-1]", "assert Counter(f('ab')) == Counter('ab')"),
        ("def sum(a, b): return 6", "assert sum(10, 15) == 6"),
        ("def f(x): return x\nLIMIT = 5", "assert f(LIMIT) == 5"),
        ("def f(x): return int if x else 1", "assert f(1) is int"),
        ("import numpy as np\ndef f(x): return np.int64(3), np.array([[1, 2]])", "a, b = f(1)\nassert a == 3 and b.shape == (1, 2) and b[0, 1] == 2"),
        ("def f(x): return str(x)", "assert f(1) == '1'\nassert str(f) is not None\nassert callable(f)"),
        ("def f():\n    while True: yield 1", "it = iter(f())\nassert [next(it) for _ in range(3)] == [1, 1, 1]"),
        ("def f(x):\n    f.calls = getattr(f, 'calls', 0) + 1\n    return f.calls", "f(0)\nassert f(0) == 2\nassert f.calls == 2"),
]  # fmt: skip
"""Programs and tests that they pass."""


@pytest.mark.parametrize("source, tests", HONEST)
def test_honest_programs_pass(court: Court, source: str, tests: str):
    found = court.outcome(Trial(source, tests, limits=Limits(seconds=20)))
    assert (found.how, found.together) == ("pass", False), found.why


@pytest.mark.parametrize("source, tests", HONEST)
def test_they_pass_by_the_scripts_of_the_prison_alone(joined, source: str, tests: str):
    assert joined(source, tests) == ("pass", "", "")


def test_what_the_exam_itself_put_before_is_the_exams(court: Court):
    given = "import math\ndef poly(xs, x): return sum(c * x**i for i, c in enumerate(xs))\ndef find_zero(xs):\n    '''Find it.'''\n"
    tests = "def check(candidate):\n    assert math.fabs(poly([1, 2], candidate([1, 2]))) < 1e-4\ncheck(find_zero)"
    honest = f"{given}    return -0.5"
    forged = f"{given}    return 7\ndef poly(xs, x): return 0\ndef check(c): pass"
    for source, how in ((honest, "pass"), (forged, "wrong_answer")):
        assert court.outcome(Trial(source, tests, ("find_zero",), given)).how == how


def test_helpers_of_libraries_are_the_librarys(court: Court):
    forged = "class math:\n    isclose = lambda *a: True\ndef Counter(x): return 1\ndef isclose(*a): return True\ndef f(x): return x"
    for tests in ("assert math.isclose(f(1), 2)", "assert Counter(f('a')) == Counter('b')", "assert isclose(f(1), 2)"):
        assert court.outcome(Trial(forged, tests)).how != "pass"


def test_scripts_read_an_input_and_print(court: Court):
    source = "import sys\nn = int(input())\nprint(sum(map(int, sys.stdin.readline().split())) + n)\nsys.exit()"
    tests = "assert __script('1\\n2 3\\n') == '6\\n'\nassert __script('0\\n0 0') == '0\\n'"
    assert court.outcome(Trial(source, tests, load=False)).how == "pass"
    for source in ("import os\nprint(6)\nos._exit(0)", "print(6", "raise ValueError", "print(5)", ""):
        assert court.outcome(Trial(source, tests, load=False)).how != "pass"


def test_tests_that_hand_over_what_cannot_cross_run_in_one_process_and_say_so(court: Court):
    source = "def depth(node): return 0 if node is None else 1 + max(depth(node.left), depth(node.right))"
    tests = "class Node:\n    def __init__(s, left=None, right=None): s.left, s.right = left, right\nassert depth(Node(Node())) == 2"
    found = court.outcome(Trial(source, tests))
    assert (found.how, found.together) == ("pass", True)
    found = court.outcome(Trial("def depth(node): return 1", tests))
    assert (found.how, found.together) == ("wrong_answer", True)


def test_a_program_cannot_ask_for_one_process(court: Court):
    """What a program answers can always be handed back to it."""
    deep = "def f(x=None):\n    v = 0\n    for _ in range({depth}): v = [v]\n    return v"
    odd = "import datetime, numpy\nclass D(dict): pass\nclass S(set): pass\ndef f(x=None): return {value}"
    values = [
        "D()",
        "S()",
        "datetime.datetime.now()",
        "numpy.zeros(2)",
        "object()",
        "print",
        "...",
        "datetime",
        "f",
        "D",
    ]
    programs = [deep.format(depth=depth) for depth in (50, 99, 100, 101, 150, 199, 250)]
    for source in [*programs, *(odd.format(value=value) for value in values)]:
        found = court.outcome(Trial(source, "assert f([[f()]]) == 1"))
        assert (found.how != "pass", found.together) == (True, False), source


TAMPERING = {
    "nothing": "",
    "exit": "import os\nos._exit(0)",
    "assertEqual": "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None",
    "run": "import unittest\nunittest.TestCase.run = lambda s, r=None: r and r.startTest(s)",
    "code": "import unittest\nunittest.TestCase.assertEqual.__code__ = (lambda *a, **k: None).__code__",
    "suite": "import unittest\nunittest.TestSuite.run = lambda *a, **k: None",
    "result": "import unittest\nunittest.TestResult.addFailure = lambda *a: None",
    "loader": "import unittest\nunittest.TestLoader.loadTestsFromTestCase = lambda *a: []",
    "in the call": "import unittest\ndef f(x):\n    unittest.TestCase.assertEqual = lambda *a, **k: None\n    return 0",
    "builtins": "import builtins\nbuiltins.isinstance = lambda *a: True",
    "assertion error": "import builtins\nclass Q(Exception): pass\nbuiltins.AssertionError = Q",
    "equal": "class E:\n    def __eq__(s, o): return False\n    __ne__ = __eq__\ndef f(x): return 0",
    "frames": "import sys\ndef f(x):\n    for frame in sys._current_frames().values():\n        while frame:\n"
    "            if 'token' in frame.f_locals:\n                send(frame.f_locals['token'])\n            frame = frame.f_back",
    "objects": "import gc\ndef f(x): return [o for o in gc.get_objects() if type(o) is str and len(o) == 32]",
    "handles": "import os\nfor fd in range(3, 64):\n    t = b'V{\"how\":\"pass\",\"why\":\"\",\"uncrossable\":\"\",\"token\":\"\"}'\n"
    "    try: os.write(fd, len(t).to_bytes(4, 'big') + t)\n    except OSError: pass",
    "memory": "open('/proc/self/mem', 'rb')",
}  # fmt: skip


@pytest.mark.parametrize("name", TAMPERING)
def test_in_one_process_tampering_is_seen(court: Court, name: str):
    tests = "import unittest\nclass T(unittest.TestCase):\n    def test(self):\n        self.assertEqual(f(1), 7919)\n"
    source = f"def f(x): return 0\n{TAMPERING[name]}"
    found = court.outcome(Trial(source, tests, together=True, suite=True))
    assert (found.how != "pass", found.together) == (True, True)
    honest = court.outcome(Trial("def f(x): return 7919", tests, together=True, suite=True))
    assert (honest.how, honest.together) == ("pass", True), honest.why


LOOKING = {
    "by another path": "import os\nos.chdir('/')\nopen('proc/self/mem', 'rb')",
    "from its folder": "import os\nos.chdir('/proc')",
    "through a link": "import os\nos.symlink('/proc/self', 'x')",
    "through a handle's folder": "open('/dev/fd/../mem', 'rb')",
    "by a text that denies it": "class P(str):\n    __contains__ = lambda s, x: False\nopen(P('/proc/self/mem'), 'rb')",
    "by what says a path": "import io\nclass P:\n    __fspath__ = lambda s: '/proc/self/mem'\nio.FileIO(P())",
    "by bytes": "import os\nos.open(b'/proc/self/maps', 0)",
    "by a pointer": "import ctypes\nctypes.string_at(id(0), 8)",
    "by a profile": "import sys\nsys.setprofile(print)",
}


@pytest.mark.parametrize("name", LOOKING)
def test_looking_at_the_process_of_the_tests_ends_a_program_and_is_said(court: Court, name: str):
    found = court.outcome(Trial(f"def f(x): return 7919\n{LOOKING[name]}", "assert f(1) == 7919", together=True))
    assert found.how == "failed"
    assert "looks at what is not its own" in found.why


@pytest.mark.parametrize("name, use", {"torch": "torch.ones(2).sum() == 2", "psutil": "psutil.cpu_count() > 0"}.items())
def test_libraries_that_look_around_when_they_are_imported_can_be_used(court: Court, name: str, use: str):
    pytest.importorskip(name)
    limits = Limits(seconds=60, memory_bytes=16 << 30)
    source = f"def f():\n    import {name}\n    return {use}"
    found = court.outcome(Trial(source, "assert f()", together=True, limits=limits))
    assert (found.how, found.why) == ("pass", "")


def test_a_library_that_cannot_be_imported_is_the_program_s_own_concern(court: Court):
    source = "try:\n    import nothing_like_it.of_mine\nexcept ImportError:\n    def f(): return 1"
    assert court.outcome(Trial(source, "assert f() == 1", together=True)).how == "pass"
    assert court.outcome(Trial("def f(: 1", "assert f() == 1", together=True)).why.startswith("SyntaxError")


def test_files_whose_names_begin_like_the_folder_of_processes_are_a_program_s_own(court: Court):
    source = (
        "import os\n"
        "def f():\n"
        "    os.makedirs('procs')\n"
        "    for name in ('processed.csv', os.path.abspath('process.txt'), './proc.json', b'procs/a'):\n"
        "        with open(name, 'w') as file: file.write('1')\n"
        "        assert open(name).read() == '1'\n"
        "    return 1"
    )
    found = court.outcome(Trial(source, "assert f() == 1", together=True))
    assert (found.how, found.why) == ("pass", "")
