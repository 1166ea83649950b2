"""Configs that try to get out, to hang or to fill the machine: each is refused with one clear message, nothing runs."""

import os
import re
import tempfile
import time
from pathlib import Path

import pytest
from tests_pace import in_time

from proctor.dialects.aisbench.reader import read_config
from proctor.errors import ProctorError, TrustError
from proctor.safe_python import budget

SENTINEL = Path(tempfile.gettempdir(), f"proctor-hostile-sentinel-{os.getpid()}")

# name -> (source, part of the message)
ESCAPES = {
    "import_function": (f"__import__('os').system('touch {SENTINEL}')", "uses '__import__'"),
    "import_function_assigned": ("f = __import__\nx = f('os')", "uses '__import__'"),
    "eval": (f"x = eval(\"open('{SENTINEL}', 'w')\")", "uses 'eval'"),
    "eval_renamed": ("e = eval\nx = e('1')", "uses 'eval'"),
    "exec": (f"exec(\"open('{SENTINEL}', 'w')\")", "uses 'exec'"),
    "compile": ("c = compile('1', '', 'eval')", "uses 'compile'"),
    "getattr": ("x = getattr('', '__class__')", "uses 'getattr'"),
    "setattr": ("setattr(1, 'x', 2)", "uses 'setattr'"),
    "vars": ("x = vars()", "uses 'vars'"),
    "dir": ("x = dir()", "uses 'dir'"),
    "input": ("x = input()", "uses 'input'"),
    "breakpoint": ("breakpoint()", "uses 'breakpoint'"),
    "object": ("x = object()", "uses 'object'"),
    "super": ("x = super()", "uses 'super'"),
    "memoryview": ("x = memoryview(b'x')", "uses 'memoryview'"),
    "bytearray": ("x = bytearray(10**10)", "uses 'bytearray'"),
    "builtins_name": ("x = __builtins__", "uses '__builtins__'"),
    "builtins_in_globals": ("x = globals()['__builtins__']", "KeyError"),
    "loader_name": ("x = __loader__", "uses '__loader__'"),
    "spec_name": ("x = __spec__", "uses '__spec__'"),
    "class_attribute": ("x = ().__class__.__bases__[0].__subclasses__()", "'__class__'"),
    "class_of_dict": ("x = dict(a=1).__class__", "'__class__'"),
    "mro": ("x = ''.__class__.__mro__", "'__class__'"),
    "globals_of_function": ("def f(): pass\nx = f.__globals__", "'__globals__'"),
    "code_of_function": ("f = lambda: 1\nx = f.__code__", "'__code__'"),
    "closure_machine": ("f = lambda: 1\nx = f._run", "uses 'Closure._run'"),
    "frame_of_generator": ("g = (i for i in [1])\nx = g.gi_frame", "no attribute 'gi_frame'"),
    "code_of_generator": ("g = (i for i in [1])\nx = g.gi_code", "no attribute 'gi_code'"),
    "traceback_of_exception": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    x = e.__traceback__",
        "'__traceback__'",
    ),
    "with_traceback": ("x = ValueError('x').with_traceback(None)", "uses 'ValueError.with_traceback'"),
    "attribute_of_reference": ("from os import system\nx = system.__globals__", "'__globals__'"),
    "os_system": (f"import os\nos.system('touch {SENTINEL}')", "calls 'os.system'"),
    "os_system_from": (f"from os import system\nsystem('touch {SENTINEL}')", "calls 'os.system'"),
    "os_popen_renamed": ("import os as o\no.popen('id')", "calls 'os.popen'"),
    "os_path_os": ("import os\nos.path.os.system('id')", "calls 'os.path.os.system'"),
    "os_listdir": ("import os\nx = os.listdir('/')", "calls 'os.listdir'"),
    "os_remove": ("import os\nos.remove('x')", "calls 'os.remove'"),
    "os_environ_pop": ("import os\nos.environ.pop('PATH')", "uses 'Environment.pop'|no attribute 'pop'"),
    "os_environ_set": ("import os\nos.environ['PATH'] = ''", "does not support item assignment"),
    "os_environ_module": ("import os\nx = os.environ.module", "uses 'Environment.module'"),
    "subprocess": ("import subprocess\nsubprocess.run(['id'])", "calls 'subprocess.run'"),
    "subprocess_from": ("from subprocess import check_output as run\nx = run('id')", "calls 'subprocess.check_output'"),
    "sys_exit": ("import sys\nsys.exit(1)", "calls 'sys.exit'"),
    "sys_modules": ("import sys\nx = sys.modules['os'].system('id')", "not subscriptable"),
    "importlib": ("import importlib\nx = importlib.import_module('os')", "calls 'importlib.import_module'"),
    "pickle": ("import pickle\nx = pickle.loads(b'')", "calls 'pickle.loads'"),
    "socket": ("import socket\nx = socket.create_connection(('x', 1))", "calls 'socket.create_connection'"),
    "urllib": ("from urllib.request import urlopen\nx = urlopen('x')", "calls 'urllib.request.urlopen'"),
    "ctypes": ("import ctypes\nctypes.string_at(0)", "calls 'ctypes.string_at'"),
    "imported_function": ("from mine import get_datasets\ndatasets = get_datasets()", "calls 'mine.get_datasets'"),
    "imported_class": ("from mine import Thing\nx = Thing(1)", "calls 'mine.Thing'"),
    "imported_in_map": ("from mine import f\nx = list(map(f, [1]))", "calls 'mine.f'"),
    "imported_as_key": ("from mine import f\nx = sorted([1, 2], key=f)", "calls 'mine.f'"),
    "imported_partial": ("from functools import partial\nx = partial(print)()", "calls 'functools.partial'"),
    "star_import": ("from os import *\nx = 1", "imports everything of 'os'"),
    "attrgetter": ("from operator import attrgetter\nx = attrgetter('__class__')(1)", "calls 'operator.attrgetter'"),
    "format_attribute": ("x = '{0.__class__}'.format('')", "asks for an attribute in a format field"),
    "format_attribute_deep": ("x = '{a[0].__class__}'.format(a=[''])", "asks for an attribute in a format field"),
    "format_attribute_nested": ("x = '{:{a.__class__}}'.format(1, a=2)", "asks for an attribute in a format field"),
    "format_map_attribute": ("x = '{a.__class__}'.format_map({'a': 1})", "asks for an attribute in a format field"),
    "format_of_type": ("x = str.format('{0.__class__}', 1)", "asks for an attribute in a format field"),
    "format_of_function": ("f = lambda: 1\nx = f'{f}'", "turns a value of type Closure into text"),
    "repr_of_generator": ("x = repr(i for i in [1])", "turns a value of type Stream into text"),
    "type_with_three": ("X = type('X', (), {})", "makes a class with type()"),
    "class": ("class X:\n    a = 1", "defines a class"),
    "class_in_function": ("def f():\n    class X: pass\nf()", "defines a class"),
    "metaclass": ("class X(metaclass=type): pass", "defines a class"),
    "decorator": ("def d(f): return f\n@d\ndef g(): pass", "decorates a function"),
    "decorator_of_import": ("from mine import d\n@d\ndef g(): pass", "decorates a function"),
    "yield": ("def f():\n    yield 1\nx = list(f())", "defines a generator"),
    "yield_from": ("def f():\n    yield from [1]\nx = list(f())", "defines a generator"),
    "async_function": ("async def f(): pass", "uses 'async'"),
    "async_comprehension": ("x = [i async for i in []]", "uses 'async'|not valid Python"),
    "match": ("match 1:\n    case 1: x = 1", "uses 'match'"),
    "matrix": ("x = [1] @ [2]", "multiplies matrices"),
    "except_star": ("try:\n    x = 1\nexcept* ValueError:\n    pass", "uses 'TryStar'"),
    "with_anything": ("from mine import lock\nwith lock: x = 1", "uses 'with' on something that is not a file"),
    "attribute_assignment": ("f = lambda: 1\nf.x = 1", "sets the attribute 'x'"),
    "attribute_of_import": ("import os\nos.path = 1", "sets the attribute 'path'"),
    "attribute_deletion": ("import os\ndel os.path", "deletes an attribute"),
    "delete_builtin": ("del dict", "NameError"),
    "raise_imported": ("from mine import Error\nraise Error", "raises something that is not a plain exception"),
    "raise_exit": ("raise SystemExit", "uses 'SystemExit'"),
    "raise_interrupt": ("raise KeyboardInterrupt()", "uses 'KeyboardInterrupt'"),
    "catch_refusal": ("try:\n    eval('1')\nexcept Exception:\n    x = 1", "uses 'eval'"),
    "catch_everything": ("try:\n    eval('1')\nexcept:\n    x = 1", "uses 'eval'"),
    "finally_after_refusal": ("try:\n    eval('1')\nfinally:\n    x = open('/etc/passwd')", "uses 'eval'"),
    "mutated_namespace": ("globals()['open'] = eval", "uses 'eval'"),
    "pow_modulus": ("x = pow(2, 10, 7)", "calls pow()"),
    "open_absolute": ("x = open('/etc/passwd').read()", "outside the folder of the config"),
    "open_parent": ("x = open('../../../../../../../etc/hostname').read()", "outside the folder of the config"),
    "open_beside_file": (
        "import os\nx = open(os.path.join(os.path.dirname(__file__), '..', 'x.txt'))",
        "outside the folder of the config",
    ),
    "open_home": ("x = open('~/.ssh/id_rsa')", "FileNotFoundError"),
    "open_write": ("x = open('out.txt', 'w')", "opens a file with mode 'w'"),
    "open_append": ("x = open('out.txt', mode='a')", "opens a file with mode 'a'"),
    "open_binary": ("x = open(__file__, 'rb')", "opens a file with mode 'rb'"),
    "open_update": ("x = open(__file__, 'r+')", "opens a file with mode 'r+'"),
    "open_descriptor": ("x = open(0)", "is not a path"),
    "open_opener": ("x = open(__file__, opener=print)", "other arguments"),
    "open_null": ("x = open('a\\0b')", "is not a path"),
    "open_device": ("x = open('/dev/zero').read()", "outside the folder of the config"),
    "open_codec": ("x = open(__file__, encoding='zlib')", "encoding 'zlib'"),
    "open_buffer": ("x = open(__file__).buffer", "no attribute 'buffer'"),
    "exists_elsewhere": ("import os\nx = os.path.exists('/etc/passwd')", "outside the folder of the config"),
    "file_from_name": ("__file__ = '/etc/passwd'\nx = open(__file__).read()", "outside the folder of the config"),
}

BOMBS = {
    "endless_while": "while True: pass",
    "endless_counter": "x = 0\nwhile x >= 0:\n    x += 1",
    "endless_list": "x = [1]\nfor i in x: x.append(i)",
    "endless_function": "def f():\n    while 1: pass\nx = f()",
    "endless_lambda": "x = (lambda f: f(f))(lambda f: f(f))",
    "endless_recursion": "def f(n): return f(n + 1)\nx = f(0)",
    "mutual_recursion": "def f(): return g()\ndef g(): return f()\nx = f()",
    "exponential_recursion": "def f(n): return 0 if n == 0 else f(n - 1) + f(n - 1)\nx = f(38)",
    "endless_generator": "x = [1]\ng = (x.append(i) for i in x)\ny = list(g)",
    "endless_iterator": "x = [1]\ny = [x.append(i) for i in iter(x)]",
    "generator_recursion": "g = lambda: (y for y in g())\nx = list(g())",
    "big_list": "x = [0] * 10**9",
    "big_list_reversed": "x = 10**9 * [0]",
    "big_tuple": "x = (0,) * 10**10",
    "big_text": "x = 'a' * 10**9",
    "big_text_in_place": "x = 'a'\nx *= 10**9",
    "big_bytes": "x = b'a' * 10**9",
    "doubled_list": "x = [0]\nfor i in range(60): x += x",
    "doubled_list_extend": "x = [0]\nfor i in range(60): x.extend(x)",
    "doubled_list_slice": "x = [0]\nfor i in range(60): x[0:0] = x",
    "doubled_list_times": "x = [0]\nfor i in range(60): x *= 2",
    "doubled_text": "x = 'a'\nfor i in range(60): x += x",
    "doubled_text_format": "x = 'a'\nfor i in range(60): x = f'{x}{x}'",
    "doubled_text_percent": "x = 'a'\nfor i in range(60): x = '%s%s' % (x, x)",
    "doubled_text_str_format": "x = 'a'\nfor i in range(60): x = '{0}{0}'.format(x)",
    "doubled_text_join": "x = 'a'\nfor i in range(60): x = x.join(['a', 'b', 'c'])",
    "doubled_text_replace": "x = 'a'\nfor i in range(60): x = x.replace('a', 'aa')",
    "doubled_set": "x = {0}\nfor i in range(60): x |= {(y, i) for y in x}",
    "doubled_dict": "x = {0: 0}\nfor i in range(60): x.update({(k, i): 0 for k in x})",
    "replace_everywhere": "x = ('a' * 10**6).replace('', 'b' * 10**6)",
    "replace_long": "x = ('a' * 10**6).replace('a', 'b' * 10**6)",
    "join_long": "x = ('a' * 10**6).join('b' * 10**6)",
    "split_long": "x = [('a ' * 10**6).split() for i in range(100)]",
    "big_power": "x = 10 ** 10 ** 10",
    "power_in_place": "x = 10\nx **= 10 ** 9",
    "power_function": "x = pow(10, 10 ** 9)",
    "power_tower": "x = 2\nfor i in range(60): x = x ** x",
    "negative_power": "x = (-10) ** (10 ** 10)",
    "big_shift": "x = 1 << 10 ** 9",
    "squares": "x = 3\nfor i in range(60): x = x * x",
    "sums": "x = 1\nfor i in range(10**6): x += x",
    "big_literal": "x = 0x" + "f" * 20_000,
    "big_base": "x = int('f' * 10**6, 16)",
    "rounding": "x = round(5, -10 ** 9)",
    "wide_f_string": "x = f'{1:1000000000}'",
    "wide_computed": "w = 10 ** 9\nx = f'{1:{w}}'",
    "wide_precision": "x = f'{1.5:.1000000000f}'",
    "wide_str_format": "x = '{:1000000000}'.format(1)",
    "wide_format_argument": "x = '{:{}}'.format(1, 10 ** 9)",
    "wide_format_builtin": "x = format(1, '1000000000')",
    "wide_percent": "x = '%1000000000d' % 1",
    "wide_percent_star": "x = '%*d' % (10 ** 9, 1)",
    "wide_percent_precision": "x = '%.1000000000f' % 1",
    "wide_center": "x = 'a'.center(10 ** 9)",
    "wide_ljust": "x = 'a'.ljust(10 ** 9)",
    "wide_zfill": "x = '1'.zfill(10 ** 9)",
    "wide_tabs": "x = '\\t'.expandtabs(10 ** 9)",
    "many_tabs": "x = ('\\t' * 10**5).expandtabs(10 ** 5)",
    "long_range": "x = list(range(10 ** 12))",
    "long_range_sum": "x = sum(range(10 ** 12))",
    "long_range_max": "x = max(range(10 ** 12))",
    "long_range_sorted": "x = sorted(range(10 ** 12))",
    "long_range_set": "x = set(range(10 ** 12))",
    "long_range_dict": "x = dict.fromkeys(range(10 ** 12))",
    "long_range_starred": "x = [*range(10 ** 12)]",
    "long_range_call": "x = max(*range(10 ** 12))",
    "long_range_unpacked": "a, *b = range(10 ** 12)",
    "long_range_in": "x = 'a' in range(10 ** 12)",
    "long_range_any": "x = any(range(0, 1)) or all(range(1, 10 ** 12))",
    "long_range_zip": "x = list(zip(range(10 ** 12), range(10 ** 12)))",
    "long_range_enumerate": "x = [i for i in enumerate(range(10 ** 12))]",
    "long_range_map": "x = list(map(str, range(10 ** 12)))",
    "long_range_filter": "x = list(filter(None, (0 for i in range(10 ** 12))))",
    "long_range_filter_none": "x = next(filter(None, iter([0] * 10**7)))",
    "long_range_join": "x = ''.join(map(str, range(10 ** 12)))",
    "long_range_comprehension": "x = [i for i in range(10 ** 12)]",
    "long_range_in_iterator": "x = -1 in iter(range(10 ** 12))",
    "nested_comprehension": "r = range(10 ** 4)\nx = [0 for a in r for b in r for c in r if False]",
    "product": "from itertools import product\nx = list(product(range(1000), repeat=5))",
    "chain": "from itertools import chain\nx = list(chain(range(10 ** 12), [1]))",
    "shared_equal": "a = [0]\nb = [0]\nfor i in range(100): a, b = [a, a], [b, b]\nx = a == b",
    "shared_less": "a = [0]\nb = [0]\nfor i in range(100): a, b = [a, a], [b, b]\nx = a < b",
    "shared_in": "a = [0]\nb = [0]\nfor i in range(100): a, b = [a, a], [b, b]\nx = a in [b]",
    "shared_in_iterator": "a = [0]\nb = [0]\nfor i in range(100): a, b = [a, a], [b, b]\nx = a in iter([b])",
    "shared_index": "a = [0]\nb = [0]\nfor i in range(100): a, b = [a, a], [b, b]\nx = [b].index(a)",
    "shared_hash": "a = (0,)\nfor i in range(100): a = (a, a)\nx = {a: 1}",
    "shared_hash_set": "a = (0,)\nfor i in range(100): a = (a, a)\nx = {a}",
    "shared_hash_get": "a = (0,)\nfor i in range(100): a = (a, a)\nx = {}.get(a)",
    "shared_hash_item": "a = (0,)\nfor i in range(100): a = (a, a)\nx = {}\nx[a] = 1",
    "shared_repr": "a = [0]\nfor i in range(100): a = [a, a]\nx = repr(a)",
    "shared_str": "a = [0]\nfor i in range(100): a = [a, a]\nx = f'{a}'",
    "shared_percent": "a = [0]\nfor i in range(100): a = [a, a]\nx = '%s' % a",
    "shared_percent_tuple": "a = [0]\nfor i in range(100): a = [a, a]\nx = '%s' % (a,)",
    "shared_sort": "a = [0]\nb = [0]\nfor i in range(100): a, b = [a, a], [b, b]\nx = sorted([a, b])",
    "shared_max": "a = [0]\nb = [0]\nfor i in range(100): a, b = [a, a], [b, b]\nx = max(a, b)",
    "own_repr": "a = []\na.append(a)\nx = str(a)",
    "own_equal": "a = []\na.append(a)\nb = []\nb.append(b)\nx = a == b",
    "colliding_numbers": "p = 2**61 - 1\nx = {i * p: 0 for i in range(10**6)}",
    "colliding_set": "p = 2**61 - 1\nx = set(i * p for i in range(10**6))",
    "backwards_search": "a = 'a' * 4 * 10**6\nb = 'b' + 'a' * 2 * 10**6\nx = a.rfind(b)",
    "strip_search": "a = 'a' * 10**7\nx = a.strip(a[1:])\ny = [a.strip(a) for i in range(1000)]",
    "deep_data": "a = []\nfor i in range(10**5): a = [a]\nx = [a == a, a]\ny = str(a)",
    "deep_tuple_hash": "a = ()\nfor i in range(50000): a = (a,)\nx = {a: 1}",
    "deep_tuple_in_set": "a = ()\nfor i in range(50000): a = (a,)\nx = a in {1}",
    "deep_equal": "a = 1\nb = 1\nfor i in range(20000): a, b = [a], [b]\nx = a == b",
    "deep_dict_equal": "a = 1\nb = 1\nfor i in range(20000): a, b = {'x': a}, {'x': b}\nx = a == b",
    "deep_exception": "a = 1\nfor i in range(20000): a = ValueError(a)\nx = str(a)",
    "deep_copy": "from copy import deepcopy\na = 1\nfor i in range(20000): a = [a]\nx = deepcopy(a)",
    "chain_of_enumerate": "x = iter([1])\nfor i in range(20000): x = enumerate(x)\ny = next(x)",
    "chain_of_zip": "x = iter([1])\nfor i in range(20000): x = zip(x)\ny = next(x)",
    "chain_of_chain": "from itertools import chain\nx = iter([1])\nfor i in range(20000): x = chain(x)\ny = next(x)",
    "chain_of_map": "x = iter([1])\nfor i in range(20000): x = map(lambda y: y, x)\ny = next(x)",
    "chain_of_filter": "x = iter([1])\nfor i in range(20000): x = filter(None, x)\ny = list(x)",
    "chain_of_iter": "x = iter([1])\nfor i in range(20000): x = iter(x)\ny = list(x)",
    "chain_of_generators": "x = iter([1])\nfor i in range(20000): x = (j for j in x)\ny = list(x)",
    "chain_unseen": "x = iter([1])\nfor i in range(20000): x = (lambda s: (j for k in [0] for j in s))(x)\ny = list(x)",
    "chain_in": "x = iter([1])\nfor i in range(20000): x = (lambda s: (j for k in [0] for j in s))(x)\ny = 5 in x",
    "chain_unpacked": "x = iter([1])\nfor i in range(20000): x = (lambda s: (j for k in [0] for j in s))(x)\n[y] = x",
    "locals_in_itself": "x = locals()",
    "list_in_itself": "x = []\nx.append(x)",
    "deep_unary": "x = " + "-" * 5000 + "1",
    "deep_parentheses": "x = " + "(" * 5000 + ")" * 5000,
    "deep_lists": "x = " + "[" * 150 + "]" * 150 + "\n" + "y = " + "[" * 5000,
    "deep_sum": "x = " + " + ".join(["1"] * 5000),
    "deep_attribute": "import a\nx = a" + ".b" * 5000,
    "deep_calls": "def f(x): return x\nx = " + "f(" * 150 + "1" + ")" * 150 + "\ny = " + "f(" * 5000,
    "deep_ifs": "".join(" " * depth + "if 1:\n" for depth in range(150)) + " " * 150 + "x = 1",
    "deep_else": "x = " + "1 if 0 else " * 5000 + "2",
    "null_bytes": "x = 1\0",
}


@pytest.fixture
def sentinel():
    assert not SENTINEL.exists()
    yield SENTINEL
    made = SENTINEL.exists()
    SENTINEL.unlink(missing_ok=True)
    assert not made, "the config acted on the machine"


def _written(tmp_path, source):
    path = tmp_path / "hostile.py"
    path.write_text(source, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ESCAPES)
def test_what_reaches_out_is_refused_by_name(name, tmp_path, sentinel, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source, message = ESCAPES[name]
    with pytest.raises(ProctorError) as caught:
        read_config(_written(tmp_path, source), trust_code=False)
    first = caught.value.diagnostics[0]
    assert any(part in first.what + first.why for part in message.split("|")), str(caught.value)
    assert first.location is not None
    assert re.match(r".*hostile\.py:\d+(:\d+)?$", str(first.location)), first.location
    if isinstance(caught.value, TrustError):
        assert "--trust-code" in first.hint


@pytest.fixture
def small_budget(monkeypatch):
    """A tenth of the steps: the same refusals, sooner."""
    monkeypatch.setattr(budget, "MAX_STEPS", budget.MAX_STEPS // 10)


@pytest.mark.parametrize("name", BOMBS)
def test_what_takes_too_much_is_refused_in_time(name, tmp_path, small_budget):
    path = _written(tmp_path, BOMBS[name])
    start = time.thread_time()
    with pytest.raises(ProctorError) as caught:
        read_config(path, trust_code=False)
    assert in_time(time.thread_time() - start, 5)
    first = caught.value.diagnostics[0]
    assert first.what.startswith(("the config", "a value of the config")), first
    assert len(str(caught.value)) < 100_000


@pytest.mark.parametrize("name", ["endless_while", "shared_equal"])
def test_the_whole_budget_is_spent_in_seconds(name, tmp_path):
    start = time.thread_time()
    ended = r"more than (1,000,000 steps|0\.9 seconds of processor time)"  # which comes first depends on the machine
    with pytest.raises(TrustError, match=ended):
        read_config(_written(tmp_path, BOMBS[name]), trust_code=False)
    assert in_time(time.thread_time() - start, budget.MAX_SECONDS + 0.3)


def test_time_ends_what_steps_do_not(tmp_path, monkeypatch):
    monkeypatch.setattr(budget, "MAX_SECONDS", 0.05)
    with pytest.raises(TrustError, match="processor time"):
        read_config(_written(tmp_path, BOMBS["endless_while"]), trust_code=False)


def test_there_are_enough_hostile_configs():
    assert len(ESCAPES) + len(BOMBS) >= 200


def test_a_link_out_of_the_folder_is_refused(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("secret")
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "inside.txt").symlink_to(outside)
    (folder / "folder").symlink_to(tmp_path)
    for name in ("inside.txt", "folder/outside.txt"):
        path = folder / "config.py"
        path.write_text(f"import os\nx = open(os.path.join(os.path.dirname(__file__), '{name}')).read()")
        with pytest.raises(TrustError, match="outside the folder of the config"):
            read_config(path, trust_code=False)


def test_pipes_and_devices_are_no_configs(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    path = tmp_path / "config.py"
    path.write_text("x = open(__file__.replace('config.py', 'pipe.txt')).read()")
    with pytest.raises(ProctorError, match="it is a pipe, not a file"):
        read_config(path, trust_code=False)
    for device in ("/dev/zero", str(tmp_path), str(tmp_path / "pipe.txt")):
        with pytest.raises(ProctorError, match="cannot be read"):
            read_config(device, trust_code=False)


def test_a_file_that_is_too_large_is_refused(tmp_path):
    path = tmp_path / "config.py"
    path.write_text("x = 1\n" + "#" * (9 << 20))
    with pytest.raises(ProctorError, match="more than 8 MiB"):
        read_config(path, trust_code=False)


def test_a_secret_of_the_environment_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    path = tmp_path / "config.py"
    for source in (
        "import os\nx = os.environ['OPENAI_API_KEY']",
        "import os\nx = os.environ.get('OPENAI_API_KEY')",
        "import os\nx = os.getenv('OPENAI_API_KEY', '')",
        "from os import environ\nx = environ['OPENAI_API_KEY']",
        "from os import getenv as g\nx = g('OPENAI_API_KEY')",
        "import os\nx = 'OPENAI_API_KEY' in os.environ",
        "x = '{{$OPENAI_API_KEY:none}}'",
    ):
        path.write_text(source)
        with pytest.raises(TrustError, match="environment variable 'OPENAI_API_KEY'") as caught:
            read_config(path, trust_code=False)
        assert "sk-secret" not in str(caught.value)
    path.write_text("import os\nx = list(os.environ)")
    with pytest.raises(ProctorError):
        read_config(path, trust_code=False)


def test_bases_that_multiply_are_refused(tmp_path, small_budget):
    (tmp_path / "b0.py").write_text("def f(): return 1\na = [0]")
    for level in range(1, 40):
        base = f"b{level - 1}"
        (tmp_path / f"b{level}.py").write_text(
            f"from mmengine.config import read_base\nwith read_base():\n    from .{base} import a as x, a as y\na = [x, y]"
        )
    with pytest.raises(ProctorError, match="the config "):
        read_config(tmp_path / "b39.py", trust_code=False)


def test_bases_in_a_circle_are_named(tmp_path):
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{one}.py").write_text(
            f"from mmengine.config import read_base\nwith read_base():\n    from .{other} import x"
        )
    with pytest.raises(ProctorError, match=r"(?s)circle.*a\.py → b\.py → a\.py"):
        read_config(tmp_path / "a.py", trust_code=False)


def test_every_refusal_of_a_file_is_named_at_once(tmp_path):
    path = tmp_path / "config.py"
    path.write_text("x = 1\neval('1')\nclass X: pass\ny = ().__class__\n@d\ndef f(): yield 1\n")
    with pytest.raises(TrustError) as caught:
        read_config(path, trust_code=False)
    lines = [(each.what, each.location.line, each.location.column) for each in caught.value.diagnostics]
    assert lines == [
        ("the config uses 'eval'", 2, 1),
        ("the config defines a class", 3, 1),
        ("the config asks for the attribute '__class__'", 4, 5),
        ("the config decorates a function", 5, 2),
        ("the config defines a generator with 'yield'", 6, 10),
    ]


def test_columns_count_characters(tmp_path):
    path = tmp_path / "config.py"
    path.write_text("x = ['答案是', eval('1')]", encoding="utf-8")
    with pytest.raises(TrustError) as caught:
        read_config(path, trust_code=False)
    assert caught.value.diagnostics[0].location.column == 13
