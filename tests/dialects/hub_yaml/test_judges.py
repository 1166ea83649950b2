"""Grades in the answers of judges, and what several judges say together."""

import pytest

from proctor.dialects.hub_yaml.config import Step
from proctor.dialects.hub_yaml.judges import _counted, _question, grader, instructions_of
from proctor.dialects.hub_yaml.scorers import Answered, HubScorer
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.ir import Failure
from proctor.scoring.answer_checks import Verdict
from proctor.scoring.judges.judged import judges_of
from proctor.settings import settings


def made(**args):
    return grader(Step("model_graded_qa", args, None))


@pytest.mark.parametrize(
    "args, said, grade",
    [
        ({}, "Because.\nGRADE: C", "C"),
        ({}, "GRADE: I\nno:\nGRADE: correct", "C"),
        ({}, "grade: incorrect", "I"),
        ({}, "GRADE: P", None),
        ({"partial_credit": True}, "GRADE: P", "P"),
        ({"partial_credit": True}, "GRADE: partial", "P"),
        ({}, "GRADE: X", None),
        ({}, "GRADE:", None),
        ({}, "it is fine", None),
        ({"instructions": "Say GRADE: and a letter."}, "GRADE: P", "P"),
        ({"instructions": "Say GRADE: and a letter."}, "GRADE: Z", None),
        ({"grade_pattern": r"score (\d)"}, "score 4", "4"),
        ({"grade_pattern": r"verdict: (\w+)"}, "verdict: yes", "yes"),
        ({"grade_pattern": "no groups"}, "no groups", None),
    ],
)
def test_a_grade_is_one_that_was_offered(args, said, grade):
    found = made(**args).grade(said)
    if grade is None:
        assert found.message == f"no grade in the judge's answer: {said!r}"
        assert found.retryable
    else:
        assert found == grade


LOST = Failure("judge", "away", retryable=True)


def mean(values, reducer):
    known = [float(each) if isinstance(each, float) else {"C": 1.0, "I": 0.0, "P": 0.5}[each] for each in values]
    return None if len(known) < 2 else sum(known) / len(known)


@pytest.mark.parametrize(
    "reducer, grades, value, told",
    [
        ("majority", ["C"], "C", None),
        ("majority", ["4.5"], 4.5, None),
        ("majority", ["yes"], 1.0, None),
        ("majority", ["False"], 0.0, None),
        ("majority", ["fine"], None, "the grade 'fine' counts nothing"),
        ("majority", ["C", "C", "I"], "C", None),
        ("majority", ["C", "C", LOST], "C", None),
        ("majority", ["C", "I"], None, "the judges do not agree: C, I"),
        ("majority", ["C", LOST], None, "the judges do not agree: C"),
        ("majority", [LOST], None, "away"),
        ("majority", [LOST, LOST], None, "away"),
        ("mean", ["C", "I"], 0.5, None),
        ("mean", ["C", "fine"], None, "the grade 'fine' counts nothing"),
        ("mean", ["C", LOST], None, "too few judges gave a grade"),
    ],
)
def test_several_judges_agree_or_are_put_together(reducer, grades, value, told):
    found = made(reducer=reducer)._verdict(grades, "an answer", mean)
    if told is None:
        assert found == Verdict(value, "an answer")
    else:
        assert found.message == told


@pytest.mark.parametrize(
    "args, told",
    [
        ({"reducer": "best"}, "judges have no reducer 'best'"),
        ({"model_role": "boss"}, "there is no role 'boss'"),
        ({"template": "{question"}, "cannot be read"),
        ({"grade_pattern": "("}, "does not compile"),
        ({"colour": 1}, "colour"),
    ],
)
def test_what_a_scorer_cannot_be_told_is_refused(args, told):
    with pytest.raises(ProctorError, match=told):
        made(**args)


@pytest.mark.parametrize(
    "grade, value",
    [("C", "C"), ("P", "P"), ("yes", 1.0), ("TRUE", 1.0), ("No", 0.0), ("false", 0.0), ("2.5", 2.5), ("-1", -1.0)],
)
def test_a_grade_is_a_letter_a_word_or_a_number(grade, value):
    assert _counted(grade, "said") == Verdict(value, "said")


def test_what_a_judge_is_asked():
    sample = {"input": "Why?", "target": ["a", "b"], "metadata": {"topic": ["[begin data]", {"k": "[END DATA]"}, 3]}}
    own = made(template="{question}|{answer}|{criterion}|{topic}|{instructions}", instructions="Do.")
    asked = own._prompt(Answered(["first", "x [End Data]"], sample, "history"))
    assert asked.source == [
        {"role": "user", "content": "Why?|x [End-Data]|ab|['[begin-data]', {'k': '[END-DATA]'}, 3]|Do."}
    ]
    said = made(template="{question}", include_history=True)._prompt(Answered([], sample, "history"))
    assert said.source[0]["content"] == "history"
    assert made(template="{nobody}")._prompt(Answered([], sample)).retryable is False


@pytest.mark.parametrize(
    "value, words",
    [
        ([{"role": "user", "content": "one"}, {"role": "user", "content": "two"}, {"role": "system", "content": "S"}], "two"),
        ([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]}], "a\nb"),
        ([{"role": "system", "content": "S"}], ""),
    ],
)  # fmt: skip
def test_the_question_that_a_judge_is_shown(value, words):
    assert _question({"input": value}) == words


@pytest.mark.parametrize("partial", [True, False])
def test_partial_credit_is_offered_where_it_counts(partial):
    words = instructions_of(partial_credit=partial)
    assert ('"P" for partially' in words, words.count("one of CPI."), words.count("one of CI.")) == (
        partial, 2 * partial, 2 * (not partial)
    )  # fmt: skip
    assert "{" not in words


def test_what_judges_are_asked_with_tells_scorers_apart():
    varied = [{}, {"partial_credit": True}, {"include_history": True}, {"grade_pattern": "(.)"}, {"reducer": "mean"},
              {"instructions": "Do."}, {"template": "{answer}"}]  # fmt: skip
    with settings.context(judge="scripted"):
        told = [made(**each).asked_with("mine") for each in varied]
        assert [made().asked_with("mine")] == told[:1]
    assert len({each["prompt"] for each in told}) == len(varied)
    assert (told[0]["judge"], len(told[0]["models"])) == ("mine", 1)
    assert made().asked_with("mine")["models"] == []


def test_who_judges():
    with settings.context(judge="scripted"):
        assert len(made().engines()) == 1
        assert len(made(model=["scripted", "dummy"]).engines()) == 2
    (problem,) = made().check()
    assert "nobody says which model" in problem.what
    assert made().judge([], mean) == []
    scorer = HubScorer(Step("model_graded_qa", {}, None), None, "mean", made(model=["scripted", "dummy"]))
    assert [each.label for each in judges_of([scorer])] == ["scripted", "dummy"]


def test_a_prompt_that_cannot_be_made_is_a_failure_of_its_answer_alone():
    samples = [{"input": "Q", "target": "a", "metadata": each} for each in ({"topic": "t"}, {}, {"topic": "u"})]
    judging = made(template="{topic} {answer}")
    with settings.context(judge=ScriptedEngine(rules=[("t first", "GRADE: C"), ("u", "no grade")])):
        found = judging.judge(
            [Answered([each], sample) for each, sample in zip(("first", "second", "third"), samples, strict=True)], mean
        )
    assert found[0] == Verdict("C", "first")
    assert [each.kind for each in found[1:]] == ["scoring", "judge"]
    assert judging.grade(LOST) is LOST
