import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor import regexes
from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.filters import FilterPipeline, filter_list_problems, make_filter, make_pipelines
from proctor.dialects.lm_eval.reader import FunctionReference
from proctor.errors import Location, ScoringError, TrustError


def run(function, answers, docs=None, **arguments):
    made = make_filter({"function": function, **arguments})
    found = made.filtered([answers], docs or [{}])
    return list(found[0]) if not isinstance(found[0], str) else found[0]


def test_regex():
    assert run("regex", ["so #### 1,000. yes", "none"]) == ["1,000.", "[invalid]"]
    assert run("regex", ["1 2 3"], regex_pattern=r"(\d)", group_select=-1) == ["3"]
    assert run("regex", ["$5 or 7"], regex_pattern=r"(-?[$0-9.,]{2,})|(-?[0-9]+)", group_select=-1) == ["7"]
    assert run("regex", ["xx"], regex_pattern=r"(a)?|(b)?", fallback="F") == ["F"]
    assert run("regex", [None], fallback="F") == ["F"]


@pytest.mark.parametrize("wanted, repeats, lacks", [(2, 1, True), (2, 2, False), (8, 3, True)])
def test_more_answers_than_are_asked_for_are_known_before_anybody_is_asked(wanted, repeats, lacks):
    filters = [{"name": "k", "filter": [{"function": "take_first_k", "k": wanted}, {"function": "take_first"}]}]
    problems = list(filter_list_problems(TaskConfig(task="t", repeats=repeats, filter_list=filters)))
    said = f"take_first_k takes {wanted} answers to each request, and repeats asks for {repeats}"
    assert [each.what for each in problems] == [said] * lacks


def test_a_pattern_that_does_not_compile():
    with pytest.raises(ScoringError, match="does not compile"):
        run("regex", ["x"], regex_pattern="(")


@pytest.mark.parametrize("function", ["regex", "multi_choice_regex"])
def test_a_pattern_that_does_not_end(function, monkeypatch):
    monkeypatch.setattr(regexes, "LIMIT_SECONDS", 0.1)
    with pytest.raises(ScoringError, match="does not end on a text of 41 characters"):
        run(function, ["a" * 40 + "b"], docs=[{"choices": ["x"]}], regex_pattern="(a+)+$")


def test_regex_pos():
    assert run("regex_pos", ["[('a', 'NOUN'), ('b', 'VERB')]", "?"]) == [["NOUN", "VERB"], ["invalid"]]


DOC = {"choices": ["Guilty", "Guilty of Romance", "Other!"]}


@pytest.mark.parametrize(
    "answer, expected",
    [
        ("the answer is (B)", "(B)"),
        ("I pick Guilty of Romance", "(B)"),
        ("I pick Guilty", "(A)"),
        ("The letter: C", "(C)"),
        ("no idea", "[invalid]"),
        ("", "[invalid]"),
    ],
)
def test_multi_choice_regex(answer, expected):
    assert run("multi_choice_regex", [answer], [DOC], regex_pattern=r"(\([A-Z]\))") == [expected]


def test_multi_choice_regex_ignores():
    options = {"regex_pattern": r"(\([A-Z]\))", "ignore_case": True, "ignore_punctuation": True}
    assert run("multi_choice_regex", ["other"], [DOC], **options) == ["(C)"]
    assert run("multi_choice_regex", ["gu-ilty"], [DOC], regexes_to_ignore=["-"], **options) == ["(A)"]


def test_texts_and_maps():
    assert run("remove_whitespace", [" a ", "b\n"]) == ["a", "b"]
    assert run("lowercase", ["A"]) == ["a"]
    assert run("uppercase", ["a"]) == ["A"]
    assert run("map", ["a", "x"], mapping_dict={"a": 1}, default_value=0) == [1, 0]


def test_format_span():
    assert run("format_span", ["PERSON: Ann, Bob $$ location: Kenya"]) == ["per: ann $ per: bob $ loc: kenya"]
    assert run("format_span", ["PER: none"]) == [""]


def test_choosing_answers():
    assert run("take_first", ["a", "b"]) == "a"
    assert run("take_first_k", ["a", "b", "c"], k=2) == ["a", "b"]
    assert run("majority_vote", ["a", "b", "b"]) == ["b"]
    with pytest.raises(ScoringError, match="needs 4 answers"):
        run("take_first_k", ["a"], k=4)


def test_a_function_of_the_task():
    made = make_filter(
        {
            "function": "custom",
            "filter_fn": lambda answers, docs: [
                [a + d["x"] for a in some] for some, d in zip(answers, docs, strict=False)
            ],
        }
    )
    assert made.filtered([["a"]], [{"x": "!"}]) == [["a!"]]


def test_a_function_needs_trust(tmp_path):
    reference = FunctionReference("utils.f", Location(str(tmp_path / "t.yaml"), 3, 4))
    with pytest.raises(TrustError, match=r"filter_fn is Python code: 'utils.f'"):
        make_filter({"function": "custom", "filter_fn": reference})


def test_a_class_of_the_task():
    class Reverse:
        def __init__(self, times=1):
            self.times = times

        def apply(self, answers, docs):
            return [[each[::-1] * self.times for each in some] for some in answers]

    made = make_filter({"function": Reverse, "times": 2})
    assert made.filtered([["ab"]], [{}]) == [["baba"]]


class Cleaned:
    def apply(self, answers, docs):
        return [each.replace(",", "") for each in answers]


@pytest.mark.parametrize(
    "step",
    [{"function": Cleaned}, {"function": "custom", "filter_fn": lambda answers, docs: Cleaned().apply(answers, docs)}],
    ids=["class", "function"],
)
def test_code_of_others_behind_take_first_gets_the_answer_that_was_taken(step):
    pipeline = FilterPipeline("p", [{"function": "take_first"}, step])
    assert pipeline.apply([["1,200", "3"], [""]], [{}, {}]) == ["1200", ""]


def test_unknown_filters_and_arguments():
    with pytest.raises(ScoringError, match="no filter 'regx'") as caught:
        make_filter({"function": "regx"})
    assert "did you mean 'regex'" in str(caught.value)
    with pytest.raises(ScoringError, match="does not take these arguments"):
        make_filter({"function": "lowercase", "x": 1})


def test_pipelines():
    pipeline = FilterPipeline("p", [{"function": "regex", "regex_pattern": "(\\d)"}, {"function": "take_first"}])
    assert pipeline.apply([["a1"], ["b2"]], [{}, {}]) == ["1", "2"]
    (default,) = make_pipelines(None)
    assert default.name == "none"
    assert default.only_takes_first


@given(
    answers=st.lists(st.lists(st.text(), min_size=1), min_size=1, max_size=4),
    name=st.sampled_from(["remove_whitespace", "lowercase", "regex", "format_span", "regex_pos", "map"]),
)
def test_as_many_come_out_as_go_in(answers, name):
    found = make_filter({"function": name}).filtered(answers, [{}] * len(answers))
    assert [len(each) for each in found] == [len(each) for each in answers]
