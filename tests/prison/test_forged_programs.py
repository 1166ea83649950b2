"""Programs that would rather judge themselves: none passes, in any prison, and not without one either."""

from __future__ import annotations

import time

import pytest

from proctor.prison import Court, Limits, Trial

TESTS = """
EXPECTED = {1: 7919, 2: 104729}
def check(candidate):
    for given, wanted in EXPECTED.items():
        assert candidate(given) == wanted, (given, wanted)
    assert abs(candidate(3) - 15485863) < 1e-6
    assert sorted(candidate(4)) == [2, 3, 5]
    assert isinstance(candidate(5), list) and len(candidate(5)) == 3
check(solve)
"""
"""The answers are numbers that no program below knows."""

LIAR = """
class Liar(int):
    def __new__(cls, *a): return int.__new__(cls, 0)
    def _yes(self, *a): return True
    def _self(self, *a): return self
    __eq__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _yes
    __ne__ = lambda self, o: False
    __sub__ = __rsub__ = __abs__ = __add__ = __call__ = __getitem__ = _self
    __hash__ = lambda self: 0
    __len__ = lambda self: 3
    __iter__ = lambda self: iter([2, 3, 5])
    __bool__ = lambda self: True
    __class__ = property(lambda self: list)
"""

FORGERIES = {
    "nothing": "",
    "stub": "def solve(n): return None",
    "exit": "import sys\nsys.exit(0)",
    "exit in the call": "import sys\ndef solve(n): sys.exit(0)",
    "hard exit": "import os\nos._exit(0)",
    "hard exit in the call": "import os\ndef solve(n): os._exit(0)",
    "quit": "quit()",
    "abort": "import os\ndef solve(n): os.abort()",
    "segfault": "import ctypes\ndef solve(n): ctypes.string_at(0)",
    "equal to everything": LIAR + "\ndef solve(n): return Liar()",
    "equal to everything, no number": LIAR.replace("(int)", "").replace("int.__new__(cls, 0)", "object.__new__(cls)")
    + "\ndef solve(n): return Liar()",
    "a class instead of a value": "class M(type):\n    def __eq__(c, o): return True\n    __hash__ = None\n"
    "class solve(metaclass=M):\n    def __init__(self, n): pass",
    "a list that is equal": "class L(list):\n    def __eq__(s, o): return True\n    def __len__(s): return 3\ndef solve(n): return L()",
    "a text that is equal": "class S(str):\n    def __eq__(s, o): return True\n    __hash__ = str.__hash__\ndef solve(n): return S()",
    "a number that is near": "class F(float):\n    def __sub__(s, o): return 0.0\n    def __eq__(s, o): return True\ndef solve(n): return F()",
    "not a number": "def solve(n): return float('nan')",
    "builtins": "import builtins\nbuiltins.abs = lambda x: 0\nbuiltins.isinstance = lambda *a: True\n"
    "builtins.sorted = lambda x: [2, 3, 5]\nbuiltins.len = lambda x: 3\ndef solve(n): return 0",
    "own abs and sorted": "def abs(x): return 0\ndef sorted(x): return [2, 3, 5]\ndef isinstance(*a): return True\n"
    "def len(x): return 3\ndef solve(n): return 0",
    "no assertion error": "import builtins\nclass Quiet(Exception): pass\nbuiltins.AssertionError = Quiet\ndef solve(n): return 0",
    "own check": "def check(candidate): pass\ndef solve(n): return 0",
    "own check, everywhere": "import builtins, sys\nbuiltins.check = lambda c: None\n"
    "for m in list(sys.modules.values()):\n    try: m.check = lambda c: None\n    except Exception: pass\ndef solve(n): return 0",
    "frames": "import sys\ndef solve(n):\n    f = sys._getframe()\n    while f:\n        for d in (f.f_locals, f.f_globals):\n"
    "            if 'EXPECTED' in d: return d['EXPECTED'][n]\n        f = f.f_back",
    "frames of a traceback": "def solve(n):\n    try: 1 / 0\n    except Exception as e: f = e.__traceback__.tb_frame\n"
    "    while f:\n        if 'EXPECTED' in f.f_globals: return f.f_globals['EXPECTED'][n]\n        f = f.f_back",
    "all objects": "import gc\ndef solve(n):\n    for o in gc.get_objects():\n"
    "        if isinstance(o, dict) and o.get('EXPECTED'): return o['EXPECTED'][n]\n"
    "        if isinstance(o, dict) and n in o and isinstance(o[n], int): return o[n]",
    "own memory": "import re\ndef solve(n):\n    with open('/proc/self/mem', 'rb') as m, open('/proc/self/maps') as t:\n"
    "        for line in t:\n            a, b = (int(x, 16) for x in line.split()[0].split('-'))\n            try: m.seek(a); d = m.read(b - a)\n"
    "            except Exception: continue\n            f = re.search(rb'EXPECTED = .1: (\\d+), 2: (\\d+)', d)\n            if f: return int(f[n])",
    "memory of others": "import os, re\ndef solve(n):\n    for p in os.listdir('/proc'):\n        if not p.isdigit(): continue\n        try:\n"
    "            m = open(f'/proc/{p}/mem', 'rb'); t = open(f'/proc/{p}/maps')\n        except OSError: continue\n        for line in t:\n"
    "            a, b = (int(x, 16) for x in line.split()[0].split('-'))\n            try: m.seek(a); d = m.read(min(b - a, 1 << 24))\n"
    "            except Exception: continue\n            f = re.search(rb'EXPECTED = .1: (\\d+), 2: (\\d+)', d)\n            if f: return int(f[n])",
    "ctypes": "import ctypes\nctypes.pythonapi.PyRun_SimpleString(b'import os; os._exit(0)')\ndef solve(n): return 0",
    "every handle": 'import os\nfor fd in range(3, 64):\n    for m in (b\'V\', b\'\', b\'E\'):\n        t = m + b\'{"how":"pass","why":"","uncrossable":""}\'\n'
    "        try: os.write(fd, len(t).to_bytes(4, 'big') + t)\n        except OSError: pass\ndef solve(n): return 0",
    "every handle, then exit": 'import os\nfor fd in range(0, 64):\n    t = b\'V{"how":"pass","why":"","uncrossable":""}\'\n'
    "    try: os.write(fd, len(t).to_bytes(4, 'big') + t)\n    except OSError: pass\nos._exit(0)",
    "the next task": 'import os\nfor fd in range(3, 64):\n    t = b\'{"tests":"","entry":[],"given":"","data":null,"load":false}\'\n'
    "    for i in range(9):\n        try: os.write(fd, len(t).to_bytes(4, 'big') + t)\n        except OSError: pass\ndef solve(n): return 0",
    "a callback that is not there": "import os, json\nfor fd in range(3, 64):\n    t = json.dumps({'callback': 1, 'arguments': [], 'named': {'d': []}}).encode()\n"
    "    try: os.write(fd, len(t).to_bytes(4, 'big') + t)\n    except OSError: pass\ndef solve(n): return 0",
    "stand-in of the other side": "import inspect, sys\ndef solve(n):\n    for m in list(sys.modules.values()):\n"
    "        if hasattr(m, 'wire'):\n            m.wire._WRITERS[object] = None\n            m.wire.Writer.form = lambda s, v, d=0: {'k': 1}\n    return 0",
    "stop iteration": "def solve(n): raise StopIteration",
    "generator exit": "def solve(n): raise GeneratorExit",
    "keyboard interrupt": "def solve(n): raise KeyboardInterrupt",
    "assertion error": "def solve(n): raise AssertionError",
    "in __del__": "import os\nclass D:\n    def __del__(self): os._exit(0)\nx = D()\ndel x\ndef solve(n): return 0",
    "at exit": "import atexit, os\natexit.register(os._exit, 0)\ndef solve(n): return 0",
    "threads that write later": "import threading, time, os\ndef late():\n    while True:\n        for fd in range(3, 64):\n"
    "            t = b'{\"value\":7919}'\n            try: os.write(fd, len(t).to_bytes(4, 'big') + t)\n            except OSError: pass\n        time.sleep(0.001)\n"
    "threading.Thread(target=late, daemon=True).start()\ndef solve(n): return 0",
    "signals": "import signal, os\nfor s in range(1, 64):\n    try: signal.signal(s, lambda *a: os._exit(0))\n    except Exception: pass\n"
    "signal.setitimer(signal.ITIMER_REAL, 0.01)\ndef solve(n):\n    while True: pass",
    "customized start": "open('sitecustomize.py', 'w').write('import os; os._exit(0)')\nopen('inside.py', 'w').write('import os; os._exit(0)')\n"
    "def solve(n): return 0",
    "an endless generator": "def solve(n):\n    while True: yield 7919",
    "deep recursion": "import sys\nsys.setrecursionlimit(10**9)\ndef solve(n): return solve(n + 1)",
    "deep value": "def solve(n):\n    x = []\n    for _ in range(10**6): x = [x]\n    return x",
    "a value in itself": "def solve(n):\n    x = []\n    x.append(x)\n    return x",
    "huge output": "def solve(n):\n    print('x' * 10**8)\n    return 'x' * 10**9",
    "huge number": "def solve(n): return 10**(10**6)",
    "open string": "def solve(n): return 0\n'''",
    "early return of the module": "def solve(n): return 0\nraise SystemExit(0)",
    "unittest": "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\nunittest.case.TestCase.run = lambda *a, **k: None\ndef solve(n): return 0",
    "trace": "import sys\nsys.settrace(lambda *a: None)\nsys.setprofile(lambda *a: None)\ndef solve(n): return 0",
    "audit": "import sys\ndef hook(e, a):\n    raise SystemExit(0)\nsys.addaudithook(hook)\ndef solve(n): return 0",
    "own code": "def solve(n): return 0\nsolve.__code__ = (lambda n: 0).__code__\nsolve.__name__ = 'check'",
    "module attributes": "import sys\nsys.modules['builtins'].__dict__['abs'] = lambda x: 0\nsys.modules['tests'] = sys.modules[__name__]\ndef solve(n): return 0",
    "numpy that broadcasts": "import numpy as np\ndef solve(n): return np.array([])",
    "secret words": "import os\nassert '7919' in str(os.environ) + str(globals()) + open('/proc/self/cmdline').read()\ndef solve(n): return 7919",
    "opens the tests to edit them": "import pathlib, sys\nfor p in sys.path + ['.', '/', '/tmp', '/work']:\n    for f in pathlib.Path(p or '.').glob('*.py'):\n"
    "        try: f.open('r+').close()\n        except OSError: pass\ndef solve(n): return 0",
}
"""What a program says, or does, instead of solving the problem.

They run without a prison, too: none may do harm to the machine that tests run on. What harms is tried in prisons only
(``test_walls.py``), and there, too, only on what was planted for it.
"""


ENDLESS = {"deep recursion": 0.3, "huge output": 0.3}
"""Seconds of those that take all they are given; others get two, so that they do what they want on a busy machine, too."""


@pytest.mark.parametrize("name", FORGERIES)
def test_no_forged_program_passes(court: Court, name: str):
    start = time.monotonic()
    found = court.outcome(Trial(FORGERIES[name], TESTS, limits=Limits(seconds=ENDLESS.get(name, 2.0))))
    assert found.how != "pass"
    assert not found.together
    assert time.monotonic() - start < 40


def test_an_honest_program_still_passes_after_every_forgery(court: Court):
    honest = "def solve(n): return {1: 7919, 2: 104729, 3: 15485863}.get(n, [2, 3, 5])"
    for name in (
        "the next task",
        "every handle, then exit",
        "threads that write later",
        "a callback that is not there",
    ):
        assert court.outcome(Trial(FORGERIES[name], TESTS, limits=Limits(seconds=2.0))).how != "pass"
        assert court.outcome(Trial(honest, TESTS)).how == "pass"


def test_a_forged_program_does_not_spoil_the_next(court: Court):
    """What one program sends unasked is not the answer of another, nor a task."""
    wrong = "def solve(n): return 0"
    for name in ("the next task", "every handle", "threads that write later", "huge output"):
        court.outcome(Trial(FORGERIES[name], TESTS, limits=Limits(seconds=ENDLESS.get(name, 2.0))))
        assert court.outcome(Trial(wrong, TESTS)).how == "wrong_answer"
