"""Calls of functions, read and compared; what is right was compared with ``bfcl_eval`` on 16,384 answers."""

from __future__ import annotations

import json

import pytest

from proctor.scoring.evaluators.cases import Cases
from proctor.scoring.evaluators.foreign_values import java_value, javascript_value
from proctor.scoring.evaluators.function_calls import called_at_all, right_calls, written_calls

FUNCTIONS = [
    {
        "name": "shop.buy",
        "parameters": {
            "properties": {
                "thing": {"type": "string"},
                "price": {"type": "float"},
                "sizes": {"type": "array", "items": {"type": "integer"}},
                "who": {"type": "dict"},
                "parts": {"type": "array", "items": {"type": "dict"}},
                "gift": {"type": "boolean"},
            },
            "required": ["thing"],
        },
    },
    {"name": "leave", "parameters": {"properties": {"now": {"type": "boolean"}}, "required": []}},
]
GOLD = {
    "thing": ["red hat", "hat"],
    "price": [2.0, ""],
    "sizes": [[1, 2], ""],
    "who": [{"name": ["Ann", ""], "age": [3]}, ""],
    "parts": [[{"k": [1]}, {"k": [2]}], ""],
    "gift": [True, ""],
}


def is_right(text, category="simple", golds=({"shop.buy": GOLD},)):
    cases = Cases([text], [json.dumps(golds)], [{"function": json.dumps(FUNCTIONS)}])
    return right_calls(cases, category).scores["accuracy"] == 1.0


@pytest.mark.parametrize(
    "arguments",
    [
        'thing="Red-Hat."',  # spelling does not matter
        'thing="hat", price=2',  # a whole number is a float
        'thing="hat", sizes=[1, 2]',
        'thing="hat", who={"age": 3}',
        'thing="hat", who={"name": "ann", "age": 3}',
        'thing="hat", parts=[{"k": 1}, {"k": 2}]',
        'thing="hat", gift=True',
    ],
)
def test_acceptable_arguments(arguments):
    assert is_right(f"[shop_buy({arguments})]")
    assert is_right(f"```\nshop_buy({arguments})\n```")
    assert is_right(f"shop_buy({arguments})", "multiple")


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        'thing="cat"',
        "thing=3",
        'thing="hat", price=2.5',
        'thing="hat", price="2.0"',
        'thing="hat", sizes=[2, 1]',
        'thing="hat", sizes=["1", "2"]',
        'thing="hat", who={"name": "Ann"}',
        'thing="hat", who={"age": 3, "town": "x"}',
        'thing="hat", parts=[{"k": 1}]',
        'thing="hat", parts=[{"k": 2}, {"k": 1}]',
        'thing="hat", gift=1',
        'thing="hat", colour="red"',
    ],
)
def test_other_arguments(arguments):
    assert not is_right(f"[shop_buy({arguments})]")


def test_names_with_dots_are_written_without_them():
    assert not is_right('[shop.buy(thing="hat")]')


def test_several_calls_come_in_any_order():
    golds = ({"shop.buy": {"thing": ["hat"]}}, {"leave": {"now": [True]}}, {"shop.buy": {"thing": ["cat"]}})
    calls = ['shop_buy(thing="cat")', "leave(now=True)", 'shop_buy(thing="hat")']
    assert is_right(f"[{', '.join(calls)}]", "parallel", golds)
    assert not is_right(f"[{', '.join(calls[:2])}]", "parallel", golds)
    assert not is_right(f"[{', '.join([*calls[:2], calls[0]])}]", "live_parallel_multiple", golds)


def test_calls_of_a_service():
    cases = Cases(
        [[{"shop_buy": '{"thing": "hat"}'}], ["I cannot."], [{"shop_buy": '{"thing"'}]],
        [json.dumps([{"shop.buy": {"thing": ["hat"]}}])] * 3,
        [{"function": json.dumps(FUNCTIONS)}] * 3,
    )
    verdict = right_calls(cases, "simple")
    assert verdict.instances["accuracy"] == [1.0, 0.0, 0.0]
    assert verdict.scores == {"accuracy": pytest.approx(1 / 3), "correct_count": 1, "total_count": 3}


def test_whether_a_function_is_of_use():
    rows = [{"id": "irrelevance_0"}, {"id": "irrelevance_1"}, {"id": "live_relevance_0"}, {"id": "live_relevance_1"}]
    given = [[], "[f(a=1)]", [{"f": "{}"}], "No function fits."]
    assert called_at_all(Cases(given, [""] * 4, rows), "x").instances["accuracy"] == [1.0, 0.0, 1.0, 0.0]


def test_nothing_that_is_written_is_executed():
    assert written_calls("[f(a=1+2*3, b=g(1), c=h(x=y), d=-1, e=(1, [2]), i=t[0])]") == [
        {"f": {"a": 7, "b": "g(1)", "c": {"h": {"x": "y"}}, "d": -1, "e": (1, [2]), "i": "t[0]"}}
    ]
    for text in (
        'f(a=__import__("os").system("true")+1)',
        "f(a=9**9**9**9)",
        "f(" * 300,
        "f(a=lambda: 1)",
        "x",
        "1, 2",
    ):
        assert not is_right(text)


@pytest.mark.parametrize(
    "text, kind, inner, value",
    [
        ("3", "integer", None, 3),
        ("3.5", "integer", None, "3.5"),
        ("3.5f", "float", None, 3.5),
        ("3L", "long", None, 3),
        ("true", "boolean", None, True),
        ("new int[]{1, 2}", "Array", "integer", [1, 2]),
        ('new ArrayList<>(Arrays.asList("a", "b"))', "ArrayList", "String", ["a", "b"]),
        ("new ArrayList<Integer>() {{ add(1); add(2); }}", "ArrayList", "integer", [1, 2]),
        ("new ArrayList<>()", "ArrayList", "String", []),
        ('new HashMap<String, Object>() {{ put("a", 1); put("b", true); }}', "HashMap", None, {"a": 1, "b": True}),
        ("new HashMap<>()", "HashMap", None, {}),
    ],
)
def test_values_of_java(text, kind, inner, value):
    assert java_value(text, kind, inner) == value


@pytest.mark.parametrize(
    "text, kind, inner, value",
    [
        ("'a'", "String", None, "a"),
        ("12n", "Bigint", None, 12),
        ("false", "Boolean", None, False),
        ("[1, 2]", "array", "integer", [1, 2]),
        ("new Array('a', \"b\")", "array", "String", ["a", "b"]),
        ("[[1, 2], [3]]", "array", None, [[1, 2], [3]]),
        ('{"a": 1, "b": [1, "x"]}', "dict", None, {"a": 1, "b": [1, "x"]}),
        ("{}", "dict", None, {}),
        ("f()", "array", None, "f()"),
    ],
)
def test_values_of_javascript(text, kind, inner, value):
    assert javascript_value(text, kind, inner) == value
