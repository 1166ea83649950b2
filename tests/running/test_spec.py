"""``run.yaml`` comes back as it went, and errors name the line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.errors import UsageError
from proctor.running import RunSpec
from proctor.secrets import is_secret, without_secrets

names = st.text("abcdefghij_", min_size=1, max_size=8).filter(lambda name: not is_secret(name))
text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1)
scalars = st.booleans() | st.integers(-(10**9), 10**9) | st.floats(-1e9, 1e9) | text
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
specs = st.builds(
    RunSpec,
    model=text,
    tasks=st.lists(text, min_size=1, max_size=3).map(tuple),
    model_args=st.dictionaries(names, values, max_size=4),
    limit=st.none() | st.integers(1, 10**6),
    seed=st.none() | st.integers(0, 2**32),
    num_demos=st.none() | st.integers(0, 10),
    overrides=st.dictionaries(names, values, max_size=3),
    log_samples=st.booleans(),
    exams=st.dictionaries(names, values, max_size=3),
)


@given(specs)
def test_a_spec_comes_back_equal(spec):
    again = RunSpec.from_yaml(spec.to_yaml())
    assert again == spec
    assert again.to_yaml() == spec.to_yaml()


def test_secrets_are_left_out():
    spec = RunSpec("openai", ("a",), {"model": "m", "api_key": "k", "headers": {"Authorization": "x", "org": "o"}})
    assert RunSpec.from_yaml(spec.to_yaml()).model_args == {"model": "m", "headers": {"org": "o"}}


@pytest.mark.parametrize(
    "name", ["api_key", "apikey", "API_KEY", "token", "hf_token", "password", "client-secret", "Authorization"]
)
def test_what_is_secret(name):
    assert without_secrets({name: "x", "max_tokens": 1, "tokenizer": "t", "monkey": 2}) == {
        "max_tokens": 1,
        "tokenizer": "t",
        "monkey": 2,
    }


def test_differences_are_named():
    one = RunSpec("hf", ("a",), {"batch_size": 1}, limit=5, exams={"a": {"x": 1}, "b": {}})
    assert one.differences(one) == []
    other = RunSpec("hf", ("a",), {"batch_size": 2}, limit=6, exams={"a": {"x": 2}, "b": {}}, version="9")
    assert one.differences(other) == ["model_args", "limit", "exams.a.x: 2 → 1"]


def test_arguments_that_change_no_answer_make_no_other_run():
    one = RunSpec("hf", ("a",), {"batch_size": 1}, engine="abc")
    assert one.differences(RunSpec("hf", ("a",), {"batch_size": 2}, engine="abc")) == []
    assert one.differences(RunSpec("hf", ("a",), {"batch_size": 1}, engine="xyz")) == ["engine"]


BAD = [
    ("model: m\ntasks: [a\n", "this is not YAML", "run.yaml:3:1"),
    ("- a\n- b\n", "a mapping with 'model' and 'tasks'", "run.yaml:1"),
    ("", "a mapping with 'model' and 'tasks'", "run.yaml:1"),
    ("model: m\ntasks: [a]\nlimits: 3\n", "no field 'limits'", "run.yaml:3:1"),
    ("model: m\ntasks: [a]\nlimits: 3\n", "did you mean 'limit'?", "run.yaml:3:1"),
    ("model: m\ntasks: [a]\nlimit: many\n", "'limit' is 'many', expected a whole number", "run.yaml:3:8"),
    ("model: m\ntasks: [a]\nlimit: true\n", "'limit' is True, expected a whole number", "run.yaml:3:8"),
    ("model: 3\ntasks: [a]\n", "'model' is 3, expected text", "run.yaml:1:8"),
    ("model: m\ntasks: a\n", "'tasks' is 'a', expected a list of names", "run.yaml:2:8"),
    ("model: m\ntasks: []\n", "expected a list of names", "run.yaml:2:8"),
    ("model: m\ntasks: [a]\nmodel_args: [x]\n", "'model_args' is ['x'], expected a mapping", "run.yaml:3:13"),
    ("tasks: [a]\n", "needs the field 'model'", "run.yaml:1"),
    ("model: m\ntasks: [a]\nlog_samples: 1\n", "expected true or false", "run.yaml:3:14"),
    ("model: !!python/object:os.system m\ntasks: [a]\n", "this is not YAML", "run.yaml"),
    ("model: \x00\n", "this is not YAML", "run.yaml"),
]


@pytest.mark.parametrize("content, message, place", BAD)
def test_a_bad_file_is_an_error_with_its_line(content, message, place):
    with pytest.raises(UsageError) as caught:
        RunSpec.from_yaml(content)
    assert message in str(caught.value)
    assert place in str(caught.value)


def test_all_problems_are_reported_at_once():
    with pytest.raises(UsageError) as caught:
        RunSpec.from_yaml("model: 3\nlimit: x\nfoo: 1\n")
    assert len(caught.value.diagnostics) == 4


def test_a_folder_stands_for_its_file(tmp_path):
    (tmp_path / "run.yaml").write_text(RunSpec("m", ("a",)).to_yaml())
    assert RunSpec.load(tmp_path) == RunSpec.load(tmp_path / "run.yaml") == RunSpec("m", ("a",))
    with pytest.raises(UsageError, match="cannot be read"):
        RunSpec.load(tmp_path / "nothing")
