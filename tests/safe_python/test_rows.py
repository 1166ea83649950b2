from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_pace import in_time

from proctor.errors import DataError, MissingFieldError, ProctorError, TrustError
from proctor.safe_python import compile_expression, compile_predicate
from proctor.safe_python.patterns import safe_pattern

ROW = {"a": 2, "b": "x [SEP] y", "l": [3, 1, 2], "d": {"k": [1, {"z": "q"}]}}


@pytest.mark.parametrize(
    "expression",
    [
        "a + 1",
        "b.split('[SEP]')[0].strip()",
        "[x * 2 for x in l if x > 1]",
        "{k: len(v) for k, v in d.items()}",
        "{x for x in l}",
        "sorted(l, key=lambda x: -x)[:2]",
        "sum(x for x in l)",
        "d['k'][1]['z'] + f'{a:03d}|{b!r:>12}|{l}'",
        "'yes' if a and not l[5:] else 'no'",
        "1 < a <= 2 != 3",
        "[*l, *d.keys()]",
        "{**d, 'n': a}",
        "(a, -a, +a, ~a, a ** 2, a << 3, a >> 1, a % 2, a // 2, a / 2, a & 1, a | 1, a ^ 1)",
        "max(map(lambda x: x + a, l), default=0)",
        "[(x, y) for x in l for y in range(x) if y]",
        "dict(zip(['u', 'v'], l))",
        "all(isinstance(x, int) for x in l) or any(l)",
        "'%s-%03d' % (b, a)",
        "b.replace('x', 'yy').upper().count('Y')",
        "len(b) in (9, 10)",
        "None is None",
        "[[y for y in range(x)] for x in l]",
        "list(filter(lambda q: q > 1, l))",
    ],
)
def test_expressions_mean_what_they_mean_in_python(expression):
    assert compile_expression(expression)(ROW) == eval(expression, dict(ROW))


numbers = st.integers(-20, 20).map(str) | st.sampled_from(["a", "c"])
arithmetic = st.recursive(
    numbers,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "<", "and", "or", "==", "if a else"]), inner).map(
        lambda parts: f"({' '.join(parts)})"
    ),
    max_leaves=12,
)


@given(arithmetic)
def test_any_arithmetic_equals_pythons(expression):
    row = {"a": 3, "c": -2}
    assert compile_expression(expression)(row) == eval(expression, dict(row))


def test_modules_have_to_be_imported():
    row = {"t": "x1y22"}
    assert compile_expression(r"re.findall('\\d+', t)", ["re"])(row) == ["1", "22"]
    assert compile_expression("re.search('Y', t, re.IGNORECASE).group(0)", ["re"])(row) == "y"
    assert compile_expression("list(itertools.product([1, 2], [3]))", ["itertools"])({}) == [(1, 3), (2, 3)]
    assert compile_expression("json.loads('[1]') + [math.floor(2.5)]", ["json", "math"])({}) == [1, 2]
    with pytest.raises(MissingFieldError, match="imports_list"):
        compile_expression("[re for x in [1]]")(row)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os')",
        "a.__class__",
        "().__class__.__bases__[0].__subclasses__()",
        "b.format(a)",
        "'{0.__class__}'.format(a)",
        "b.format_map(d)",
        "open('/etc/passwd')",
        "eval('1')",
        "exec('1')",
        "getattr(a, 'x')",
        "globals()",
        "vars(a)",
        "type(a)",
        "l.append(1)",
        "d.pop('k')",
        "d.update(a=1)",
        "l.sort()",
        "b.join.__self__",
        "(x := 1)",
        "await_me.foo",
        "lambda *q: 1",
        "print(1)",
        "str.format('{}', 1)",
        "f'{a.__class__}'",
        "[x.__dict__ for x in l]",
        "__builtins__",
        "super()",
        "input()",
        "b.encode().hex()",
    ],
)
def test_what_reaches_outside_is_refused(expression):
    with pytest.raises((TrustError, MissingFieldError)):
        compile_expression(expression)(ROW)


def test_callables_in_rows_are_not_called():
    called = []
    with pytest.raises(TrustError):
        compile_expression("f(1)")({"f": called.append})
    assert not called


@pytest.mark.parametrize("module", ["os", "sys", "subprocess", "pickle", "re.sub"])
def test_other_modules_are_refused(module):
    with pytest.raises(TrustError, match="may not import"):
        compile_expression("1", [module])


@pytest.mark.parametrize(
    "expression",
    [
        "'a' * 10**9",
        "[0] * 10**9",
        "10**9 * 'a'",
        "9**9**9",
        "1 << 10**9",
        "2**100000 * 2**100000",
        "[1 for x in range(10000) for y in range(10000)]",
        "range(10**10)",
        "f'{a:9999999999}'",
        "'%9999999999d' % a",
        "'%*d' % (999999999, a)",
        "b.ljust(10**9)",
        "b.zfill(10**9)",
        "('a' * 3000000).replace('a', 'bb' * 100000)",
        "[x for x in ['a' * 4000000 for y in range(1000000)]]",
        "list(itertools.product(range(10000), repeat=4))",
        "list(itertools.permutations(range(30), 20))",
        "sorted(l, key=lambda x: [1 for y in range(4000000)])",
        "re.match('(a+)+$', 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!')",
        "re.match('(a|aa)*(b*)*$', b)",
        "re.sub('x', lambda m: 'y', b)",
    ],
)
def test_work_is_bounded(expression):
    started = time.process_time()
    with pytest.raises(DataError):
        compile_expression(expression, ["re", "itertools"])(ROW)
    assert in_time(time.process_time() - started, 10)


@pytest.mark.parametrize("expression", ["a +", "", "a b", "x = 1", "import os", "a\n+1\n+", "(" * 500])
def test_what_does_not_parse_is_shown(expression):
    with pytest.raises(DataError, match="does not parse"):
        compile_expression(expression)


def test_an_expression_has_a_largest_size():
    with pytest.raises(TrustError, match="too long"):
        compile_expression("1+" * 10_000 + "1")
    with pytest.raises(ProctorError):
        compile_expression("-" * 9_000 + "1")


def test_an_unknown_name_is_answered_with_the_nearest_field():
    with pytest.raises(MissingFieldError, match="did you mean 'question'"):
        compile_expression("qestion + 'x'")({"question": "q"})


def test_variables_of_comprehensions_end_with_them():
    assert compile_expression("[x for x in l] + [x]")({"l": [1], "x": 9}) == [1, 9]
    with pytest.raises(MissingFieldError):
        compile_expression("[[x for x in l], x]")({"l": [1]})


def test_fields_hide_functions_but_are_not_called():
    assert compile_expression("len")({"len": 5}) == 5


@pytest.mark.parametrize(
    "text, row, expected",
    [
        ("lambda x: x['lang'] == 'en'", {"lang": "en"}, True),
        ("lambda x: x['lang'] in ['de']", {"lang": "en"}, False),
        ("lambda instance: instance['n'] > 1 and instance['n'] < 3", {"n": 2}, True),
    ],
)
def test_predicates_of_rows(text, row, expected):
    assert compile_predicate(text)(row) is expected


@pytest.mark.parametrize("text", ["x['lang']", "lambda: 1", "lambda x, y: 1"])
def test_a_predicate_is_a_function_of_a_row(text):
    with pytest.raises(DataError, match="not a function of a row"):
        compile_predicate(text)


@pytest.mark.parametrize("pattern", ["(", "*a", "[z-a]"])
def test_invalid_patterns_are_refused(pattern):
    with pytest.raises(DataError, match="not a regular expression"):
        safe_pattern(pattern)


@pytest.mark.parametrize(
    "pattern", [r"Question:\s(.*)(\n\n|$)", r"assert.*?(?=\n\s*assert|$)", r"\d+(?:\.\d+)?", "(ab){3}"]
)
def test_ordinary_patterns_are_allowed(pattern):
    assert safe_pattern(pattern).pattern == pattern
