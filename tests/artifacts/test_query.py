import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.artifacts.query import MOST_NESTED, convert, is_assignments, parse_assignments, parse_query
from proctor.errors import QueryError

NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,6}(\.[a-z0-9_]{1,6}){0,2}", fullmatch=True)
PLAIN = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-(10**6), 10**6),
    st.decimals(-999, 999, places=2).map(float),
    st.text("abcdefghij-_:/ .", min_size=1).map(str.strip).filter(lambda text: text and convert(text) == text),
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)),
    max_leaves=8,
)


def spell(value):
    if isinstance(value, dict):
        return "{" + ",".join(f"{key}={spell(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(spell, value)) + "]"
    return str(value)


@given(NAMES, st.dictionaries(NAMES, VALUES, max_size=4))
def test_what_is_spelled_is_parsed(name, overwrites):
    text = f"{name}[{','.join(f'{key}={spell(value)}' for key, value in overwrites.items())}]"
    assert parse_query(text).overwrites == overwrites


@given(st.text("ab[]{}=,. 1-"))
def test_any_text_parses_or_is_refused_with_its_place(text):
    try:
        parse_query(text)
    except QueryError as error:
        assert "at character" in str(error)


@pytest.mark.parametrize(
    "text, overwrites",
    [
        ("a", {}),
        ("a[]", {}),
        ("a[x=[]]", {"x": []}),
        ("a[x={}]", {"x": {}}),
        ("a[x=1e3]", {"x": "1e3"}),
        ("a[x=+5]", {"x": "+5"}),
        ("a[x=a:b]", {"x": "a:b"}),
        ("a[x=none,y=None,z=TRUE,f=.5,n=-2]", {"x": "none", "y": None, "z": True, "f": 0.5, "n": -2}),
        ("a [x = 1 , y = b c ]", {"x": 1, "y": "b c"}),
        ("a[x=[m[y=1],n]]", {"x": ["m[y=1]", "n"]}),
        ("a[x=m[y=[1,2],z={k=v}]]", {"x": "m[y=[1,2],z={k=v}]"}),
    ],
)
def test_edge_cases(text, overwrites):
    assert parse_query(text).overwrites == overwrites


@pytest.mark.parametrize(
    "text, what",
    [
        ("a[x=]", "a value is expected"),
        ("a[x=1]b", "'b' is unexpected"),
        ("a[x=1", "']' is missing"),
        ("a[x={y=1]", "',' or '}' is expected"),
        ("a[=1]", "a key is expected"),
        ("a[x]", "'=' is expected after 'x'"),
        ("a[x=1,x=2]", "'x' is given twice"),
        ("a b", "name is expected"),
        ("", "name is expected"),
    ],
)
def test_mistakes_are_named(text, what):
    with pytest.raises(QueryError, match=what.replace("[", r"\[").replace("]", r"\]").replace("}", r"\}")):
        parse_query(text)


def test_recipes_on_one_line():
    text = "card=cards.wnli,template=templates.x[a=[b,c]],num_demos=2,num_list=[0,1]"
    assert is_assignments(text)
    assert not is_assignments("cards.wnli[a=1,b=2]")
    assert is_assignments("a=1")
    assert is_assignments("a,b")
    assert parse_assignments(text) == {
        "card": "cards.wnli",
        "template": "templates.x[a=[b,c]]",
        "num_demos": 2,
        "num_list": [0, 1],
    }


def nested(depth, opening, closing):
    return f"a[x={opening * depth}1{closing * depth}]"


def test_brackets_are_nested_so_deep_and_no_deeper():
    for opening, closing in (("[", "]"), ("{y=", "}")):
        inner = MOST_NESTED - 1  # the artifact's own brackets are the first
        parse_query(nested(inner, opening, closing))
        with pytest.raises(QueryError, match=f"nested more than {MOST_NESTED} deep"):
            parse_query(nested(inner + 1, opening, closing))


def test_brackets_side_by_side_are_not_deep():
    lists = ",".join(["[1]"] * (MOST_NESTED + 1))
    assert parse_query(f"a[x=[{lists}]]").overwrites == {"x": [[1]] * (MOST_NESTED + 1)}
    mappings = ",".join(["{y=1}"] * (MOST_NESTED + 1))
    assert parse_query(f"a[x=[{mappings}]]").overwrites == {"x": [{"y": 1}] * (MOST_NESTED + 1)}
