"""What expressions and configs may call is one table; expressions get the part that reads."""

import pytest

from proctor.data import Apply, FormatText, RegexReplace, RegexSplit
from proctor.errors import DataError, ProctorError, ScoringError, TemplateError, TrustError
from proctor.safe_python import compile_expression, safe_function
from proctor.safe_python.functions import BUILTINS, READING, Builtin
from proctor.safe_python.methods import CHANGING, METHODS, methods_of
from proctor.safe_python.modules import MODULES


def test_what_expressions_may_call_is_part_of_the_table():
    assert set(BUILTINS) >= READING
    assert all(isinstance(BUILTINS[name], Builtin) for name in READING)
    assert not READING & {"open", "print", "locals", "globals", "type", "next", "iter", "callable"}


def test_no_table_leads_to_pythons_inside():
    every = [name for table in METHODS.values() for name in table]
    every += [name for module in MODULES.values() for name in module.members]
    assert not [name for name in (*every, *BUILTINS) if name.startswith("_") and name != "__name__"]
    dangerous = {
        "eval",
        "exec",
        "compile",
        "getattr",
        "setattr",
        "vars",
        "dir",
        "object",
        "super",
        "__import__",
        "input",
    }
    assert not dangerous & {*every, *BUILTINS}


def test_methods_that_change_are_known():
    for kind, example in ((list, [1]), (dict, {1: 1}), (set, {1})):
        for name in methods_of(kind):
            if name in CHANGING or name == "copy":
                continue
            before = repr(example)
            try:
                compile_expression(f"v.{name}(v)")({"v": example})
                compile_expression(f"v.{name}()")({"v": example})
            except (ProctorError, TypeError, ValueError, KeyError):
                pass
            assert repr(example) == before, name


def test_a_subclass_has_the_methods_of_its_base():
    class Text(str):
        __slots__ = ()

        def upper(self):
            raise AssertionError("a row's own code was called")

    assert compile_expression("t.upper()")({"t": Text("a")}) == "A"


@pytest.mark.parametrize("name", ["sorted", "str.lower", "json.loads", "round", "sum"])
def test_functions_by_name(name):
    assert callable(safe_function(name))
    assert safe_function("str.lower")("AB") == "ab"
    assert safe_function("json.loads")("[1]") == [1]
    assert safe_function("sorted")([2, 1], reverse=True) == [2, 1]


@pytest.mark.parametrize("name", ["open", "eval", "str.append", "list.append.x", "os.system", "print"])
def test_others_have_no_name(name):
    with pytest.raises((KeyError, AttributeError)):
        safe_function(name)


def test_operators_of_recipes_are_bounded():
    row = {"a": 5, "b": -(10**9), "t": "a" * 40 + "!", "w": 10**9}
    with pytest.raises(DataError, match="rounds to thousands of digits"):
        Apply("a", "b", function="round", to_field="c").process_instance(dict(row))
    with pytest.raises(TemplateError, match="width of more than 10,000"):
        FormatText(to_field="c", text="{a:99999999999}").process_instance(dict(row))
    with pytest.raises(TemplateError, match="width of more than 10,000"):
        FormatText(to_field="c", text="{a:{w}}").process_instance(dict(row))
    with pytest.raises((ScoringError, ProctorError), match="does not end"):
        RegexReplace(field="t", pattern="(a|a)*b", replacement="").process_instance(dict(row))
    with pytest.raises((ScoringError, ProctorError), match="does not end"):
        RegexSplit(field="t", by="(a+)+$").process_instance(dict(row))


def test_a_width_from_a_field_that_a_reader_can_see_is_filled():
    assert FormatText(to_field="c", text="{a:>{w}}|").process_instance({"a": 5, "w": 3})["c"] == "  5|"


@pytest.mark.parametrize("expression", ["l.append(1)", "d.pop('k')", "'{}'.format(1)", "l.sort()", "d.update(a=1)"])
def test_what_changes_a_row_is_refused_before_any_row(expression):
    with pytest.raises(TrustError):
        compile_expression(expression)


def test_dates_of_rows_have_a_text():
    from datetime import date

    assert compile_expression("str(d) + d.strftime('%Y') + f'{d:%m}'")({"d": date(2026, 1, 2)}) == "2026-01-02202601"
    with pytest.raises(DataError, match="width"):
        compile_expression("d.strftime('%999999999Y')")({"d": date(2026, 1, 2)})


def test_any_and_all_count_every_item_and_stop_at_the_first_that_decides():
    row = {"l": [0] * 900_000, "one": [1, *[0] * 900_000]}
    assert [compile_expression(each)(row) for each in ("any(l)", "all(one[:1])", "any(one[:2])", "all([])", "any([])")] == [
        False, True, True, True, False
    ]  # fmt: skip
    with pytest.raises(DataError, match="steps"):
        compile_expression("[any(l), any(l)]")(row)


@pytest.mark.parametrize(
    "call", ["expandtabs()", "expandtabs(3)", "expandtabs(tabsize=2)", "expandtabs(0)", "expandtabs(-1)"]
)
def test_tabs_become_as_many_spaces_as_in_python(call):
    text = "a\tbc\t\td"
    assert compile_expression(f"t.{call}")({"t": text}) == eval(f"text.{call}")
    with pytest.raises(DataError, match="text of more than"):
        compile_expression("t.expandtabs(10 ** 9)")({"t": text})
