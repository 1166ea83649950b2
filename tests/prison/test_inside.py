"""What the scripts of the prison say of programs, tried without a prison; and how answers are compared."""

import pytest

from proctor.prison.inside import candidate, comparing, judge, names, remote
from proctor.prison.inside.evalplus import is_plus_answer, plus_inputs

RAISES = "def f(x):\n    raise {}"


@pytest.mark.parametrize(
    "source, tests, how, why",
    [
        ("def f(): return 1", "assert f() == 2, 'two'", "wrong_answer", "AssertionError: two"),
        ("x =", "assert f() == 2", "failed", "SyntaxError: invalid syntax"),
        ("1 / 0", "pass", "failed", "ZeroDivisionError: division by zero"),
        ("def g(): return 1", "f()", "failed", "NameError: name 'f' is not defined"),
        (RAISES.format("SystemExit(3)"), "f(1)", "failed", "ProgramError: SystemExit: 3"),
        (RAISES.format("StopIteration(3)"), "for each in [1]: f(each)", "failed", "ProgramError: StopIteration: 3"),
        (RAISES.format("KeyboardInterrupt()"), "f(1)", "failed", "ProgramError: KeyboardInterrupt: "),
        (f"class Own(Exception): pass\n{RAISES.format('Own(3)')}", "f(1)", "failed", "ProgramError: Own: 3"),
        (f"class Own(ValueError): pass\n{RAISES.format('Own(3)')}", "f(1)", "failed", "ValueError: 3"),
        (RAISES.format("Exception('x')"), "f(1)", "failed", "Exception: x"),
        (RAISES.format("'x'.encode().decode(x) if x else UnicodeDecodeError('a', b'b', 0, 1, 'c')"), "f(0)",
         "failed", "ProgramError: UnicodeDecodeError: 'a' codec can't decode byte 0x62 in position 0: c"),
        ("def f(g): return g()", "def bad(): raise KeyError('k')\nf(bad)", "failed", "ProgramError: CallbackError: KeyError: 'k'"),
        ("def f(x): return x", "f(__task)\nassert __task == {'a': [1]}", "pass", ""),
        ("class C: pass\nc = C()", "assert c == c and hash(c) == hash(c) and c != C() and not hasattr(c, '__eq')", "pass", ""),
        ("class C:\n    def __len__(s): return 3\n    def __bool__(s): return False\nc = C()", "assert len(c) == 3 and not c", "pass", ""),
        ("class C:\n    def __len__(s): return -1\n    def __bool__(s): return 1\nc = C()", "len(c)", "failed",
         "ValueError: __len__() should return >= 0"),
        ("class C:\n    def __str__(s): return 's'\n    def __repr__(s): return 'r'\nc = C()", "assert f'{c} {c!r}' == 's r'", "pass", ""),
        ("class C:\n    def __getitem__(s, k): return [k]\nc = C()", "assert c[1, 'a'] == [(1, 'a')]", "pass", ""),
        ("class C:\n    def __iter__(s): return iter('ab')\nc = C()", "assert [*c] == ['a', 'b']", "pass", ""),
        ("def f(): print('x' * 9)", "f()", "pass", ""),
        ("def f(x): return x", "assert f('x' * 600), f\nassert f(''), 'y' * 600", "wrong_answer", f"AssertionError: {'y' * 484}"),
    ],
)  # fmt: skip
def test_how_tests_end(joined, source, tests, how, why):
    assert joined(source, tests, data={"a": [1]}) == (how, why, "")


@pytest.mark.parametrize(
    "change, before, after",
    [
        ("x.clear()", "[1]", "[]"),
        ("x[0].append(2)", "[[1]]", "[[1, 2]]"),
        ("x.pop(); x.insert(0, 5)", "[1, 2, 3]", "[5, 1, 2]"),
        ("x['b'] = x.pop('a')", "{'a': 1}", "{'b': 1}"),
        ("x['a'].add(2)", "{'a': {1}, 'c': 0}", "{'a': {1, 2}, 'c': 0}"),
        ("x.add(1); x.discard(2)", "{2}", "{1}"),
        ("x.extend(b'yz')", "bytearray(b'x')", "bytearray(b'xyz')"),
        ("x.appendleft(0)", "__import__('collections').deque([1])", "__import__('collections').deque([0, 1])"),
    ],
)
def test_what_a_function_changes_in_place_is_changed(joined, change, before, after):
    source, tests = f"def f(x):\n    {change}", f"a = {before}\nb = a\nf(a)\nassert a == {after} and b is a"
    assert joined(source, tests)[:2] == ("pass", "")
    assert joined("def f(x): pass", tests)[0] == "wrong_answer"


def test_what_cannot_be_handed_over_is_named_unless_all_is_well(joined):
    tests = "class Own: pass\nf(Own())"
    assert joined("def f(x): return x", tests) == (
        "failed", "CannotCrossError: a Own cannot be handed to another process", "a Own cannot be handed to another process",
    )  # fmt: skip
    caught = f"try:\n    {tests.replace(chr(10), chr(10) + '    ')}\nexcept Exception: pass"
    assert joined("def f(x): return x", caught) == ("pass", "", "")


def test_a_program_that_is_gone_fails_whatever_the_tests_catch(joined, monkeypatch):
    tests = "try:\n    f(1)\nexcept BaseException: pass"
    task = {"tests": tests, "entry": [], "given": "", "data": None, "load": False}
    for raw, why in (
        (b'{"gone":true}', "ended its process"),
        (b"[1]", "answered what is not an answer"),
        (b"x", "not an answer"),
    ):
        monkeypatch.setattr(judge.frames, "send", lambda *_: None)
        monkeypatch.setattr(judge.frames, "receive", lambda _, raw=raw: raw)
        found = judge._Judge(-1, -1, task).verdict()
        assert (found["how"], why in found["why"]) == ("failed", True)
    monkeypatch.setattr(judge.frames, "receive", lambda _: b'{"value": {"unknown": 1}}')
    assert "what is not a value" in judge._Judge(-1, -1, task).verdict()["why"]
    monkeypatch.setattr(judge.frames, "receive", lambda _: b'{"error": 3}')
    assert judge._Judge(-1, -1, task).verdict()["why"] == "the program answered what is not an answer"

    def closed(_):
        raise judge.frames.ClosedError

    monkeypatch.setattr(judge.frames, "receive", closed)
    assert judge._Judge(-1, -1, task).verdict()["why"] == "the program ended its process"


def test_scripts_are_run_with_their_input(joined):
    source = "import sys\nprint(input() + sys.stdin.read(), end='')\nif __name__ == '__main__': print('!')\nsys.exit(1)"
    assert joined(source, "assert __script('a\\nb\\n') == 'ab\\n!\\n'", load=False) == ("pass", "", "")
    assert joined("x = 2", "assert __evaluate('x + 1') == 3") == ("pass", "", "")


def test_what_the_exam_gave_is_the_exams_and_the_head_of_a_function_says_nothing(joined):
    given = "import math\ndef helper(): return 1\n"
    forged = f"{given}def f(): return 2\ndef helper(): return 7"
    assert joined(forged, "assert helper() == 1 and f() == 2", ("f",), given=f"{given}def f(): return 3\n") == (
        "pass",
        "",
        "",
    )
    assert joined(forged, "assert f() == 2", ("f",), given=f"{given}def f():\n    '''Doc'''\n")[0] == "pass"
    assert joined(forged, "assert f() == 2", ("f",), given="def f():")[0] == "pass"


@pytest.mark.parametrize(
    "source, tests, entry, how",
    [
        ("def sum(a, b): return 6", "assert sum(10, 15) == 6", (), "pass"),
        ("def sum(a, b): return 6\ndef f(): return 1", "f()\nassert sum(10, 15) == 6", (), "failed"),
        ("def sum(a, b): return 6\ndef f(): return 1", "f()\nassert sum(10, 15) == 6", ("sum",), "pass"),
        ("import numpy as np\ndef f(): return 1", "f()\nassert np.sqrt(4) == 2", (), "pass"),
        ("class math: pi = 3\ndef f(): return 1", "f()\nassert math.pi > 3.1", (), "pass"),
        ("import math as m\ndef f(): return 1", "f()\nassert m.pi > 3.1", (), "pass"),
        ("def f(): return 1", "f()\nassert math.pi", (), "failed"),
        ("def Counter(x): return 9\ndef f(): return 1", "f()\nassert Counter('a')['a'] == 1", (), "pass"),
        ("def Counter(x): return 9\ndef f(): return 1", "f()\nassert Counter('a') == 9", ("Counter",), "pass"),
        ("LIMIT = 5\ndef f(): return 1", "assert f() < LIMIT", (), "pass"),
    ],
)
def test_whose_name_it_is(joined, source, tests, entry, how):
    assert joined(source, tests, entry)[0] == how


def test_names_that_tests_call():
    assert names.called_names("a(b(1))\nc.d()\nassert e") == {"a", "b"}
    assert names.called_names("a(") == set()
    assert names._examined({"len", "f", "Counter", "__x"}) == {"f"}
    assert names._examined({"len", "Counter"}) == {"Counter"}
    assert names._examined({"len"}) == {"len"}


# -- comparing ---------------------------------------------------------------------------------------------------------

NAN = float("nan")


class Odd:
    """Something that says whatever it is asked."""

    def __init__(self, says):
        self.says = says

    def __eq__(self, other):
        if self.says is None:
            raise ValueError
        return self.says

    __hash__ = None


@pytest.mark.parametrize(
    "actual, expected, same",
    [
        (1, 1, True), (1, 1.0, False), (True, 1, False), ("a", "a", True), ([1, [2]], [1, [2]], True), ([1], [1, 2], False),
        ((1,), [1], False), ({1: [2]}, {1: [2]}, True), ({1: 2}, {1: 3}, False), ({1: 2, 3: 4}, {3: 4, 1: 2}, True),
        ({1, 2}, {2, 1}, True), ({1}, {1.0}, False), ({1}, {1, 2}, False), (frozenset({1}), {1}, False), (NAN, NAN, False),
        (Odd(True), Odd(True), True), (Odd("yes"), Odd("yes"), False), (Odd(None), Odd(None), False),
    ],
)  # fmt: skip
def test_values_are_the_same_by_type_all_the_way_down(actual, expected, same):
    assert comparing.same_value(actual, expected) is same


@pytest.mark.parametrize(
    "printed, expected, same",
    [
        (" 1 2 \n", "1 2", True), ("1 \n2\n", "1\n2", True), ("1\n\n2", "1\n2", True), ("1\n2", "2\n1", False), ("1", "2", False),
        ("0.5", "0.500001", True), ("0.5", "0.51", False), ("100000", "100001", False), ("0.5\n1", "0.5", False),
        ("0.5\n1", "0.500001\n2", False), ("nan", "nan", True), ("inf", "inf", True), ("inf", "1", False), ("inf\n1.0", "inf\n1", True), ("inf\n1.0", "-inf\n1", False), ("1e5", "100000", True),
        ("1e5", "100000.9", True), ("1e5", "100002", False), ("0.00000001", "0", True), ("0.0000001", "0", False), ("a", "1", False), ("", "", True),
        ("", "1", False), ("a\n b", "a\nb", True),
    ],
)  # fmt: skip
def test_outputs_are_the_same_as_contests_count_it(printed, expected, same):
    assert comparing.is_same_output(printed, expected) is same


@pytest.mark.parametrize(
    "value, expected, same",
    [
        ([1], [1], True), ((1,), [1], True), (1, [1], True), (1, [2], False), ([1], [[1]], True), ([(1, 2)], [[[1, 2]]], True),
        ([(1, 2)], [[1, 2]], False), ([(1, 2), 3], [[[1, 2], 3]], True), (1, [], False), ([], [], True), ("a", "a", True),
        ([[1, 2]], [[(1, 2)]], False),
    ],
)  # fmt: skip
def test_returned_values_are_the_same_as_contests_count_it(value, expected, same):
    assert comparing.is_same_answer(value, expected) is same


def test_arguments_and_answers_of_contests():
    assert comparing.contest_arguments('1\n"a"') == [1, "a"]
    assert comparing.contest_arguments('{"1": 2}') == [{1: 2}]
    assert comparing.contest_arguments('{"a": 2}\n3') == [{"a": 2}, 3]
    assert comparing.contest_answer('{"1": 2}') == [{1: 2}]
    assert comparing.contest_answer('[{"1": 2}]') == [{1: 2}]
    assert (comparing.contest_answer("[1]"), comparing.contest_answer("[]"), comparing.contest_answer("3")) == (
        [1],
        [],
        3,
    )
    assert (comparing.call_arguments([{"1": 2}]), comparing.call_arguments([]), comparing.call_arguments((1,))) == (
        [{1: 2}],
        [],
        [1],
    )
    assert (comparing.as_lines(["a", 1]), comparing.as_lines("a\nb"), comparing.as_lines(3)) == ("a\n1", "a\nb", "3")


# -- HumanEval+ and MBPP+ ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number, given, read",
    [
        (2, [[1], [2]], [(1,), (2,)]), (63, [[[1, 2]], [[3]]], [[(1, 2)], [(3,)]]), (75, [[[1, 2]], 3], [[(1, 2)], 3]),
        (106, [[1], [2]], [[1], (2,)]), (250, [[1], [2]], [(1,), [2]]), (259, [[[1]], [[2]]], [((1,),), ((2,),)]),
        (278, [[1, [2]]], [(1, (2,))]), (580, [[1, [2, [3]]]], ((1, (2, (3,))),)), (115, [[[1], [], 2]], [[{1}, {}, {}]]),
        (124, ["1.5", "2j"], (1.5, 2j)), (252, ["1+2j"], [1 + 2j]), (722, [{"a": [1, 2]}, 3], [{"a": (1, 2)}, 3]), (3, [[1]], [[1]]),
    ],
)  # fmt: skip
def test_inputs_of_mbpp_plus_are_read_as_its_functions_take_them(number, given, read):
    assert plus_inputs(f"Mbpp/{number}", [given]) == [read]
    assert plus_inputs(f"HumanEval/{number}", [given]) == [given]


@pytest.mark.parametrize(
    "problem, entry, given, found, wanted, tolerance, right",
    [
        ("HumanEval/1", "f", [], 1, 1, 0, True), ("HumanEval/1", "f", [], 1, 2, 0, False), ("HumanEval/1", "f", [], 1, 1.0, 0, True),
        ("HumanEval/1", "f", [], 1.0000001, 1.0, 0, True), ("HumanEval/1", "f", [], 1.00001, 1.0, 0, False),
        ("HumanEval/1", "f", [], [1.0000001, 2.0], [1.0, 2.0], 0, True), ("HumanEval/1", "f", [], [1.0], [1.0, 2.0], 0, False),
        ("HumanEval/1", "f", [], [], [1.0], 0, False), ("HumanEval/1", "f", [], (1.0000001,), [1.0], 0, False),
        ("HumanEval/1", "f", [], [1.0000001], [1.0, "a"], 0, False), ("HumanEval/1", "f", [], 1.05, 1.0, 0.1, True),
        ("HumanEval/1", "f", [], 1.5, 1.0, 0.1, False), ("HumanEval/1", "f", [], ["a"], ["b"], 0.1, False),
        ("HumanEval/1", "f", [], Odd("yes"), 1, 0, False),
        ("HumanEval/32", "find_zero", [[-4, 2]], 2.0, None, 0.1, True), ("HumanEval/32", "find_zero", [[1, 2, 1]], -1, None, 0, True),
        ("HumanEval/32", "find_zero", [[-4, 2]], 2.2, None, 0.1, False),
        ("Mbpp/1", "find_zero", [[-4, 2]], 2.0, 3.0, 0.1, False), ("Mbpp/1", "are_equivalent", [], 5, True, 0, True),
        ("Mbpp/1", "similar_elements", [], [2, 1, 1], (1, 2), 0, True), ("Mbpp/1", "Diff", [], [2], [1], 0, False),
        ("HumanEval/1", "Diff", [], [2, 1], [1, 2], 0, False),
        ("Mbpp/1", "check_str", [], True, False, 0, False), ("Mbpp/1", "check_str", [], None, False, 0, True),
        ("Mbpp/1", "check_str", [], "match", True, 0, True), ("Mbpp/1", "check_str", [], None, True, 0, False),
        ("Mbpp/1", "sum_div", [], 0, 5, 0, True), ("Mbpp/1", "sum_div", [], 1, 5, 0, False), ("Mbpp/1", "other", [], 0, 5, 0, False),
        ("Mbpp/1", "surface_Area", [6, 4], 96, 0, 0, True), ("Mbpp/1", "surface_Area", [6, 4], 97, 0, 0.5, False),
        ("Mbpp/1", "digit_distance_nums", [23, 156], 7, 0, 0, True), ("Mbpp/1", "digit_distance_nums", [23, 156], 6, 0, 0, False),
    ],
)  # fmt: skip
def test_answers_are_right_by_the_rules_of_evalplus(problem, entry, given, found, wanted, tolerance, right):
    assert is_plus_answer(problem, entry, given, found, wanted, tolerance) is right


def test_names_are_looked_up_once_and_a_name_that_is_missing_is_said():
    asked = []

    class Asker:
        def ask(self, **request):
            asked.append(request)
            if request["name"] == "gone":
                raise KeyError
            return {"value": request["name"] * 2}

        def read(self, form):
            return form

    task = {"entry": ["sum", "f", "gone"], "load": True, "data": 5}
    found = names.Names(Asker(), task, set())
    assert {each["name"] for each in asked} == {"sum"}  # of those that Python has, too
    assert (found["sum"], found["f"], found["f"], found["__task"]) == ("sumsum", "ff", "ff", 5)
    assert [each["name"] for each in asked] == ["sum", "f"]
    for name in ("gone", "len"):
        with pytest.raises(KeyError, match=name):
            found[name]
    asked.clear()
    assert names.Names(Asker(), {**task, "load": False}, set())["sum"] == "sumsum"
    assert len(asked) == 1


def test_what_one_call_prints_is_cut(joined, monkeypatch):
    monkeypatch.setattr(candidate, "_LONGEST_OUTPUT", 10)
    tests = "import io, contextlib\nwith contextlib.redirect_stdout(io.StringIO()) as out:\n    f()\nassert out.getvalue() == 'x' * 10"
    assert joined("def f(): print('x' * 12)", tests)[:2] == ("pass", "")
    assert joined("print('é' * 80 + 'xx')", "assert __script('') == 'é' * 80", load=False)[0] == "pass"


def test_what_a_program_says_of_its_own_object_counts_only_as_what_python_takes():
    said = {"length": "3", "truth": 1, "text": 5}

    class Asker:
        def value(self, **request):
            return said[request["do"]]

    found = remote.Remote(Asker(), 7, "own.Kind")
    for length in ("3", True, -1):
        said["length"] = length
        with pytest.raises(ValueError, match="__len__"):
            len(found)
    assert bool(found) is False
    assert (str(found), repr(found), remote.number_of(found)) == ("5", "5", 7)
    assert found != remote.Remote(Asker(), 8, "own.Kind")
    assert found == remote.Remote(Asker(), 7, "")
    assert {found: 1}[remote.Remote(Asker(), 7, "")] == 1
    assert not hasattr(found, "__array__")
