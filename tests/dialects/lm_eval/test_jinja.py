"""Templates: equal to Jinja where they may compute, refused where they may not."""

import copy
import time
from pathlib import Path

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests_pace import in_time

from proctor import regexes
from proctor.dialects.lm_eval.jinja import compile_expression, compile_text, field_names, is_template
from proctor.errors import TemplateError
from proctor.safe_python import budget
from proctor.safe_python.budget import MAX_STEPS, MAX_TEXT

ROW = {
    "question": " Why? ",
    "choices": {"text": ["a", "b"], "label": ["A", "B"]},
    "answerKey": "B",
    "n": 3,
    "nothing": None,
    "ratio": 0.5,
    "rows": [{"text": "x"}, {"text": "y"}],
    "items": ["shadow"],
}
ESCAPES = (Path(__file__).parent / "template_escapes.txt").read_text(encoding="utf-8").splitlines()


def upstream():
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    import re

    environment.filters["regex_replace"] = lambda string, pattern, repl, count=0: re.sub(
        pattern, repl, string, count=count
    )
    return environment


@pytest.mark.parametrize(
    "template",
    [
        "plain\n",
        "Question: {{question}}\nAnswer:",
        "{{question.strip()}}\nA. {{choices.text[0]}}\nB. {{choices['text'][1]}}\n",
        "{{choices.label.index(answerKey)}}",
        "{{choices.text}}",
        "{{rows[1].text}} {{rows[-1]['text']}}",
        "{{nothing}} {{n}} {{ratio}}",
        "{{items}}",
        "{{choices.items()|list}}",
        "{% for text in choices.text %}{{loop.index}}. {{text}}{% if not loop.last %}, {% endif %}{% endfor %}\n",
        "{{question ~ n ~ choices.text}}",
        "{{question|regex_replace('W(.)', '\\\\1')}}",
        "{{choices.text|join(', ')|upper}}",
        "{% macro mark(x) %}[{{x}}]{% endmacro %}{{mark(n)}}{{mark('y')}}",
        "{% set names = ['x', 'y'] %}{{names[n - 2]}}",
        "{{ {'B': 'right'}[answerKey] }}",
        "{{ ['no', 'yes'][1] if n > 2 else 'none' }}",
        "{{ '%s-%d'|format(answerKey, n) }} {{ '{} {}'.format(n, answerKey) }}",
        "{{ n * 3 + 1 - 2 ** 2 }} {{ 'ab' * 2 }} {{ n % 2 }}",
        "{{ question.split()[0].rstrip('?')|length }}",
        "{%- if n -%} yes {%- endif -%}  ",
        "{# nothing #}{{ 'x'|center(5) }}|{{ 'abc'|replace('b', 'x') }}",
        "{% for row in rows recursive %}{{ row.text }}{% endfor %}",
        "{{ choices.text.index('b') }}{{ question.lower() }}{{ question.strip('? ') }}",
    ],
)
def test_renders_as_jinja_does(template):
    assert compile_text(template)(ROW) == upstream().from_string(template).render(**ROW)


VALUES = st.recursive(
    st.text() | st.integers() | st.none() | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=3),
)
PATHS = st.sampled_from(
    [
        "a",
        "a.b",
        "a[0]",
        "a['b']",
        "a.strip()",
        "a.b.c",
        "a[1].b",
        "a.index(b)",
        "a.items",
        "a[-1]",
        "a.upper()",
        "a.b[0]",
    ]
)


@given(row=st.dictionaries(st.sampled_from("abc"), VALUES), paths=st.lists(PATHS, min_size=1, max_size=3))
def test_the_fast_path_is_jinja(row, paths):
    template = " ".join(f"<{{{{ {path} }}}}>" for path in paths)
    try:
        expected = upstream().from_string(template).render(**row)
    except Exception:
        with pytest.raises(TemplateError):
            compile_text(template)(row)
        return
    assert compile_text(template)(row) == expected


def test_expressions_keep_their_type():
    assert compile_expression("{{choices.text}}")(ROW) == ["a", "b"]
    assert compile_expression("{{ n + 1 }}")(ROW) == 4
    assert compile_expression("x{{n}}") is None
    assert compile_expression("{{n}}{{n}}") is None


def test_names_and_braces():
    assert field_names("{{a.b}} {% for x in c %}{{x}}{% endfor %}") == {"a", "c"}
    assert is_template("{{a}}")
    assert not is_template("{a}")


@pytest.mark.parametrize("payload", ESCAPES)
def test_escape_attempts_are_refused(payload):
    row = copy.deepcopy(ROW)
    with pytest.raises(TemplateError):
        compile_text(payload)(row)
    assert row == ROW


def test_there_are_many_of_them():
    assert len(set(ESCAPES)) >= 150


@pytest.mark.parametrize(
    "payload",
    [
        "{{ [1]|map(attribute='__class__')|list }}",
        "{{ [1]|map('attr','__class__')|map('attr','__mro__')|list }}",
        "{{ [1]|groupby('__class__') }}",
        "{{ [[1]]|map(attribute='0.__class__')|list }}",
    ],
)
def test_filters_that_look_for_attributes_find_nothing(payload):
    assert "class" not in compile_text(payload)(ROW)


@pytest.mark.parametrize("payload", ESCAPES)
def test_nor_do_expressions_escape(payload):
    if (evaluate := compile_expression_or_none(payload)) is not None:
        with pytest.raises(TemplateError):
            str(evaluate(copy.deepcopy(ROW)))


def compile_expression_or_none(payload):
    try:
        return compile_expression(payload)
    except TemplateError:
        return None


@pytest.mark.parametrize(
    "payload",
    [
        "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
        "{% for i in range(99999) %}{% for j in range(99999) %}x{% endfor %}{% endfor %}",
        "{{ 'a' * 10**9 }}",
        "{{ 10**9 * 'a' }}",
        "{{ [1] * 10**9 }}",
        "{{ 9**(9**9) }}",
        "{{ 2**99999999 * 2**99999999 }}",
        "{% set ns = namespace(x='aaaa') %}{% for i in range(99) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
        "{% set ns = namespace(x='aaaa') %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for i in range(99) %}{% set ns.x = ns.x + ns.x %}{% endfor %}",
        "{% macro f(x) %}{{f(x)}}{{f(x)}}{% endmacro %}{{f(1)}}",
        "{% macro f(n) %}{% if n %}{{f(n - 1)}}{{f(n - 1)}}{% endif %}{% endmacro %}{{f(60)}}",
        "{{ 'a'.ljust(10**9) }}",
        "{{ 'a'.rjust(10**9) }}",
        "{{ 'a'.center(10**9) }}",
        "{{ '1'.zfill(10**9) }}",
        "{{ '\\t'.expandtabs(10**9) }}",
        "{{ 'a'|center(10**9) }}",
        "{{ 'a'|indent(10**9, true) }}",
        "{{ []|slice(10**9)|list }}",
        "{{ [1]|batch(10**9, 0)|list }}",
        "{{ '%1000000000d'|format(1) }}",
        "{{ '%*d'|format(1000000000, 1) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '{:1000000000}'.format(1) }}",
        "{{ ('a' * 99999)|replace('a', 'b' * 99999) }}",
        "{{ ('a' * 99999).replace('a', 'b' * 99999) }}",
        "{{ ('a' * 99999).join(['b'] * 99999) }}",
        "{{ (['b'] * 99999)|join('a' * 99999) }}",
    ],
)
def test_templates_that_run_away_are_stopped(payload):
    start = time.process_time()
    with pytest.raises(TemplateError):
        compile_text(payload)(ROW)
    assert in_time(time.process_time() - start, 3)


def test_a_loop_over_slow_operations_is_stopped_by_the_clock(monkeypatch):
    monkeypatch.setattr(budget, "MAX_SECONDS", 0.1)
    with pytest.raises(TemplateError, match="more than 0.1 seconds"):
        compile_text("{% for i in range(100000) %}{{ big|sort|length }}{% endfor %}")({"big": "www.a.b " * 2000})


def test_a_loop_that_makes_large_texts_takes_memory():
    start = time.process_time()
    with pytest.raises(TemplateError, match="more than 128 MiB"):
        compile_text("{% for i in range(99999) %}{% set x = 'a'*9000000 %}{% endfor %}")({})
    assert in_time(time.process_time() - start, 3)


def test_a_regular_expression_that_does_not_end_is_stopped(monkeypatch):
    monkeypatch.setattr(regexes, "LIMIT_SECONDS", 0.1)
    with pytest.raises(TemplateError, match="does not end on a text of 41 characters") as caught:
        compile_text("{{ q|regex_replace('(a+)+$', '') }}")({"q": "a" * 40 + "b"})
    assert "write one repeat" in str(caught.value)
    with pytest.raises(TemplateError, match="does not compile"):
        compile_text("{{ q|regex_replace('(', '') }}")({"q": "a"})


def test_what_is_allowed_is_enough_for_any_prompt():
    assert MAX_STEPS >= 100_000
    assert MAX_TEXT >= 1_000_000
    assert len(compile_text("{% for i in range(90000) %}x{% endfor %}")(ROW)) == 90_000


def test_an_undefined_name_says_what_there_is():
    with pytest.raises(TemplateError) as caught:
        compile_text("{{questoin}}")({"question": "Q", "id": 7})
    text = str(caught.value)
    assert "'questoin' is undefined" in text
    assert "{{questoin}}" in text
    assert "the columns are question, id" in text
    assert "'id': 7" in text


def test_a_template_that_does_not_parse():
    with pytest.raises(TemplateError, match="does not parse"):
        compile_text("{{question")


def test_a_failing_filter_says_why():
    with pytest.raises(TemplateError, match="not in list"):
        compile_text("{{choices.label.index('Z')}}")(ROW)
    with pytest.raises(TemplateError, match="fails"):
        compile_text("{{question|regex_replace('(', '')}}")(ROW)
