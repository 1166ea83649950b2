"""Questions written out as rows: what every row holds, what is named as lost, what is refused."""

from types import SimpleNamespace

import pytest

from proctor.dialects.conversion.gradings import Named
from proctor.dialects.conversion.sharing import name_strange, own_metric, plain, put_positions
from proctor.dialects.conversion.written import written_out
from proctor.errors import UsageError
from proctor.ir import Choose, Decoding, Exchange, Failure, Generate, Likelihood, Pair, Prompt, Rolling
from proctor.ir.question import Question

ALONE = ("scores", "metrics: the exam scores itself")
"""Of exams that no dialect here made."""


def question(*requests, choices=(), gold=None, references=("r",), labels=(), failure=None, **instance):
    exchange = Exchange((), references=references, choices=choices, gold=gold)
    return Question(0, instance, exchange, requests, labels=labels, failure=failure)


def choose(*endings, context="q", **more):
    given = {"choices": endings, "gold": 0, **more}
    return question(Choose(tuple(Pair(Prompt(context), each) for each in endings)), **given)


def generate(prompt="q", **decoding):
    return Generate(Prompt(prompt), Decoding(**decoding))


def written(*questions, groups=(), form="lm-eval"):
    groups = [SimpleNamespace(name=each) for each in groups]
    exam = SimpleNamespace(name="e", dialect="nobody", groups=groups, questions=lambda: iter(questions))
    return written_out(exam, "x", form)


def lost(found):
    """The losses beside that of the metrics: what each changes, and what it is about."""
    return [(each.part, each.text.partition(":")[0]) for each in found.losses if each != ALONE]


BROKEN = question(failure=Failure("row", "no"))
PIECES = Choose((Pair(Prompt("a"), "x"), Pair(Prompt("a"), "y"), Pair(Prompt(""), "x"), Pair(Prompt(""), "y")))


@pytest.mark.parametrize(
    "questions, named",
    [
        ([question(generate(), a=1), question(generate("p"), a=2)], []),
        ([BROKEN, question(generate())], [("requests", "1 rows cannot be used, and are left out")]),
        ([question(generate()), question()], [("requests", "1 rows cannot be used, and are left out")]),
        ([question(generate(seed=1)), question(generate(seed=1))], []),
        ([question(generate(seed=n)) for n in (1, 2)], [("requests", "n"), ("scores", "n, k")]),
        ([question(generate(max_tokens=n)) for n in (1, 2)], [("requests", "max_tokens")]),
        ([question(generate([{"role": "user", "content": "q"}]))], [("requests", "chat")]),
        ([choose(" a", " b")], []),
        ([choose(" a", " a")], [("scores", "choices")]),
        ([question(PIECES, choices=("x", "y"), gold=0)], [("requests", "acc_mutual_info")]),
        ([question(PIECES, gold=0)], "follows words of its own"),
        ([question(Rolling("is a"), Rolling("is b"), labels=("A", "B"), gold=0)],
         [("requests", "PPLInferencer"), ("scores", "PPLInferencer")]),
        ([question(Rolling("a"))], "measures the likelihood of whole texts"),
        ([question(Likelihood(Prompt("a"), "b"))], "likelihoods of one text"),
        ([BROKEN], "asks nothing"),
        ([], "asks nothing"),
        ([question(generate()), choose(" a")], "asks different things about one row"),
        ([question(generate("a"), generate("b"))], "asks different things about one row"),
        ([question(generate([{"role": role, "content": "q"} for role in ("system", "user")]))], "asks by chat messages"),
        ([question(generate([{"role": "system", "content": "q"}]))], "asks by chat messages"),
        ([question(generate([{"role": "user", "content": [{"type": "text", "text": "q"}]}]))], "asks by chat messages"),
        ([question(generate(extra={"tools": [tool]})) for tool in ("a", "b")], "rows offer functions of their own"),
    ],
)  # fmt: skip
def test_what_is_lost_is_named_and_nothing_else(questions, named):
    if isinstance(named, str):
        with pytest.raises(UsageError, match=named):
            written(*questions)
    else:
        found = written(*questions)
        assert lost(found) == named
        assert ALONE in found.losses
        kept = [each for each in questions if each.requests]
        assert len(found.rows) == len(kept) - any(part == "n" for _, part in named)


def test_groups_are_named_as_lost():
    assert lost(written(question(generate()), groups=["one", "two"])) == [("scores", "groups")]


def test_a_row_has_its_columns_the_whole_prompt_and_the_right_answer():
    several = question(generate("p"), references=("r", "s"), a=2, b=3)
    found = written(question(generate("o"), a=1), several)
    assert found.rows == [{"a": 1, "prompt": "o", "target": "r"}, {"a": 2, "b": 3, "prompt": "p", "target": ["r", "s"]}]
    assert (found.columns, found.compares, found.repeats, found.file) == (["a"], False, 1, "x.lm-eval.jsonl")
    again = written(question(generate("o", temperature=0.5), generate("o", temperature=0.5)), form="eval.yaml")
    assert (again.repeats, again.decoding.temperature, again.file) == (2, 0.5, "x-test.jsonl")


@pytest.mark.parametrize(
    "endings, delimiter, choices",
    [
        (((" a", " b"), (" c", " d")), " ", [["a", "b"], ["c", "d"]]),
        (((" a", " b"), ("c", "d")), "", [[" a", " b"], ["c", "d"]]),
        ((("\na", "\nb"),), "", [["\na", "\nb"]]),
    ],
)
def test_a_space_before_every_choice_stands_between_prompt_and_choice(endings, delimiter, choices):
    found = written(*(choose(*each, gold=1) for each in endings))
    assert (found.delimiter, [row["choices"] for row in found.rows]) == (delimiter, choices)
    assert [row["target"] for row in found.rows] == [each[1] for each in choices]
    assert (found.compares, found.repeats, found.rows[0]["prompt"]) == (True, 1, "q")


def test_without_a_known_right_choice_the_reference_is_the_target():
    found = written(choose(" a", " b", gold=None), choose(" a", " b", gold=2), choose(" a", " b", gold=0))
    assert [row["target"] for row in found.rows] == ["r", "r", "a"]


@pytest.mark.parametrize(
    "right, position, named",
    [
        ("b", 1, 0),
        ("c", 2, 1),
        (["b", "a"], [1, 0], 0),
        (["b", "c"], [1], 0),
        (["c"], [], 1),
    ],
)
def test_right_choices_become_positions(right, position, named):
    found = written(choose("a", "b", gold=0))
    found.rows[0]["target"] = right
    put_positions(found)
    assert found.rows[0]["target"] == position
    assert lost(found) == [("scores", "references")] * named


@pytest.mark.parametrize(
    "system, name, references, arguments, choosing, own",
    [
        ("lm_eval", "opencompass:AccEvaluator", ("r",), {}, False, "lm_eval:exact_match"),
        ("unitxt", "opencompass:AccEvaluator", ("r",), {}, False, "metrics.accuracy"),
        ("opencompass", "opencompass:AccEvaluator", ("r",), {}, False, None),
        ("lm_eval", "opencompass:AccEvaluator", ("r", "s"), {}, False, None),
        ("lm_eval", "opencompass:AccEvaluator", ("r",), {"x": 1}, False, None),
        ("lm_eval", "opencompass:AccEvaluator", ("r",), {}, True, None),
        ("lm_eval", "opencompass:EMEvaluator", ("r",), {}, False, None),
    ],
)
def test_a_metric_that_says_the_same_has_the_other_systems_name(system, name, references, arguments, choosing, own):
    row = choose(" a", " b") if choosing else question(generate(), references=references)
    asked = Named(name, arguments)
    assert own_metric(written(row), system, asked) == (asked if own is None else Named(own))


@pytest.mark.parametrize(
    "system, name, is_strange",
    [("lm_eval", "lm_eval:acc", False), ("lm_eval", "opencompass:x", True), ("unitxt", "metrics.f1", False),
     ("unitxt", "metrics.f1[a=b:c]", False), ("unitxt", "lm_eval:acc", True), ("opencompass", "metrics.f1", True)],
)  # fmt: skip
def test_names_that_only_proctor_knows_are_named(system, name, is_strange):
    found = written(question(generate()))
    name_strange(found, system, Named(name))
    assert lost(found) == [("elsewhere", name.partition(":")[0])] * is_strange


def test_values_become_what_files_have():
    class Text(str):
        __slots__ = ()

    made = plain({1: (Text("a"), [b"b", None, 2.0])})
    assert made == {"1": ["a", [b"b", None, 2.0]]}
    assert type(made["1"][0]) is str
