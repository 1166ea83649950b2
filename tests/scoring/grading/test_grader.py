"""The grader of every dialect, on gradings made for the test."""

from dataclasses import replace

import pytest

from proctor.errors import Diagnostic, MissingExtraError, ScoringError
from proctor.ir import Exchange, Failure, Response
from proctor.ir.question import Answered, AnsweredBlocks, Question
from proctor.scoring.grades import Measured
from proctor.scoring.grading import grader as grader_module
from proctor.scoring.grading.grader import ExamGrader
from proctor.scoring.grading.groups import GroupBy
from proctor.scoring.grading.protocols import Grading, MetricNames, Reading, ScoreNames
from proctor.scoring.pipeline import MetricScorers
from proctor.scoring.scores import Score


def answers(*texts, golds=None):
    for number, text in enumerate(texts):
        gold = golds[number] if golds else "yes"
        question = Question(number, {"gold": gold, "kind": number % 2}, Exchange((), references=(gold,)), ())
        response = Response(failure=text) if isinstance(text, Failure) else Response(texts=tuple(text.split("|")))
        yield Answered(question, (response,))


def read(answered):
    return [Reading(answered.responses[0].text, answered.question.exchange.references, answered.question.instance)]


def read_turns(answered):
    return [Reading(text, "yes", answered.question.instance) for text in answered.responses[0].texts]


class Exact:
    """A scorer that is not an artifact: right or wrong, in percent."""

    name = "exact"

    def __init__(self, needs=frozenset(), error=None):
        self.needs = needs
        self.seen = []
        self.error = error

    def check(self):
        yield Diagnostic("nothing is wrong with exact")

    def measure(self, columns, *, intervals=True, instances=True):
        self.seen.append(columns)
        if self.error is not None:
            raise self.error
        marks = [
            None if isinstance(prediction, Failure) else 100.0 * (prediction in references)
            for prediction, references in zip(columns.predictions, columns.references, strict=True)
        ]
        known = [mark for mark in marks if mark is not None]
        score = Score("exact", sum(known) / len(known), 10.0, 90.0, len(known), unit="percent")
        return Measured([score], "exact", {"exact": marks})


class Upper:
    name = "upper"
    scope = "value"

    def apply(self, values, rows):
        return [Failure("processor", "too short") if len(value) < 2 else value.upper() for value in values]


class MostFrequent:
    """Must see everything: the answer that most questions have."""

    name = "most frequent"
    scope = "column"

    def apply(self, values, rows):
        winner = max(set(values), key=list(values).count)
        return [winner] * len(values)


def test_one_grading_gives_scores_predictions_and_failures():
    late = Failure("timeout", "late")
    grade = ExamGrader([Grading("", read, scorers=[Exact()])]).grade(answers("yes", late, "no"))
    assert grade.scores == {
        "exact": 50.0,
        "exact_ci_low": 10.0,
        "exact_ci_high": 90.0,
        "score": 50.0,
        "score_name": "exact",
        "score_ci_low": 10.0,
        "score_ci_high": 90.0,
        "num_of_instances": 2,
        "num_of_failures": 1,
    }
    assert grade.main == grade.table[0]
    assert (grade.main.unit, grade.main.n) == ("percent", 2)
    assert grade.failures == {1: late}
    assert list(grade.predictions) == ["yes", late, "no"]
    assert grade.instance_scores == {"exact": [100.0, None, 0.0]}
    assert list(grade.processed_references) == [("yes",)] * 3


def test_text_functions_work_on_predictions_and_what_they_cannot_read_fails():
    grading = Grading("", read, [Upper()], [Exact()])
    grade = ExamGrader([grading]).grade(answers("yes", "n", "no", golds=["YES"] * 3))
    assert list(grade.processed_predictions)[::2] == ["YES", "NO"]
    assert list(grade.processed_references) == [("YES",)] * 3
    assert grade.failures == {1: Failure("processor", "too short")}
    assert grade.scores["exact"] == 50.0


def test_a_text_function_that_stumbles_over_one_answer_leaves_the_others_alone():
    class Number:
        name, scope = "number", "value"

        def apply(self, values, rows):
            return [int(value) for value in values]

    grade = ExamGrader([Grading("", read, [Number()], [Exact()])]).grade(answers("1", "one", "3", golds=[1, 1, 1]))
    assert grade.failures[1].kind == "processor number"
    assert "one" in grade.failures[1].message
    assert grade.instance_scores["exact"] == [100.0, None, 0.0]


@pytest.mark.parametrize("block", [1, 2, 256])
def test_functions_that_must_see_everything_do(monkeypatch, block):
    monkeypatch.setattr(grader_module, "BLOCK", block)
    grading = Grading("", read, [MostFrequent()], [Exact()])
    grade = ExamGrader([grading]).grade(answers("yes", "no", "yes", "no", "yes"))
    assert list(grade.processed_predictions) == ["yes"] * 5
    assert list(grade.predictions) == ["yes", "no", "yes", "no", "yes"]
    assert grade.scores["exact"] == 100.0


def test_several_gradings_have_scores_of_their_own_and_the_first_one_counts():
    strict, loose = Grading("strict", read, (), [Exact()]), Grading("loose", read, [MostFrequent()], [Exact()])
    grade = ExamGrader([strict, loose]).grade(answers("yes", "yes", "no"))
    assert [(score.name, score.grading) for score in grade.table] == [
        ("exact,strict", "strict"),
        ("exact,loose", "loose"),
    ]
    assert grade.main.name == grade.scores["score_name"] == "exact,strict"
    assert grade.scores["exact,loose"] == 100.0
    assert set(grade.instance_scores) == {"exact,strict", "exact,loose"}
    assert list(grade.processed_predictions) == ["yes", "yes", "no"]  # of what the main score is made of


def test_turns_of_a_conversation_are_graded_each_and_shown_together():
    late = Failure("timeout", "late")
    grade = ExamGrader([Grading("", read_turns, scorers=[Exact()])]).grade(answers("yes|no", late, "yes"))
    assert grade.instance_scores["exact"] == [50.0, None, 100.0]
    assert list(grade.predictions) == [["yes", "no"], late, "yes"]
    assert grade.failures == {1: late}
    assert grade.scores["num_of_instances"] == 2


def test_only_what_is_needed_is_kept():
    plain, curious = Exact(), Exact(frozenset({"fields", "prompts", "responses"}))
    ExamGrader([Grading("", read, scorers=[plain])]).grade(answers("yes", "no"))
    assert (plain.seen[0].task_data, plain.seen[0].prompts, plain.seen[0].responses) == ((), (), ())
    ExamGrader([Grading("", read, scorers=[curious])]).grade(answers("yes", "no"))
    assert [row["gold"] for row in curious.seen[0].task_data] == ["yes", "yes"]
    assert [each[0].text for each in curious.seen[0].responses] == ["yes", "no"]


def test_without_scorers_there_are_predictions_and_no_scores():
    grader = ExamGrader([Grading("", read, [Upper()], [Exact()])], group_by=GroupBy.of(["kind"])).without_scorers()
    grade = grader.grade(answers("yes", "no"))
    assert grade.scores == {"num_of_instances": 2}
    assert (grade.table, grade.main, grade.instance_scores) == ([], None, {})
    assert list(grade.processed_predictions) == ["YES", "NO"]


def test_groups_are_scored_like_the_exam_whoever_the_scorer_is():
    grader = ExamGrader([Grading("", read, scorers=[Exact()])], group_by=GroupBy.of(["kind"]))
    grade = grader.grade(answers("yes", "no", "yes", Failure("timeout", "late")))
    first, second = grade.scores["groups"]
    assert (first["by"], first["n"], first["exact"], first["num_of_instances"]) == ({"kind": 0}, 2, 100.0, 2)
    assert (second["n"], second["exact"], second["num_of_instances"], second["num_of_failures"]) == (2, 0.0, 1, 1)


def test_a_scorer_that_fails_leaves_the_others_alone():
    broken = Exact(error=ScoringError("the evaluator cannot be computed"))
    broken.name = "broken"
    grade = ExamGrader([Grading("", read, scorers=[broken, Exact()])]).grade(answers("yes"))
    assert grade.metric_failures["broken"].message == "the evaluator cannot be computed"
    assert grade.main.name == "exact"


def test_what_concerns_all_instances_ends_the_exam():
    missing = Exact(error=MissingExtraError("the package 'x' is needed"))
    with pytest.raises(MissingExtraError):
        ExamGrader([Grading("", read, scorers=[missing])]).grade(answers("yes"))


def test_an_answer_that_cannot_be_read_is_a_failure_of_its_question():
    def picky(answered):
        return read(answered) if answered.responses[0].text != "odd" else 1 / 0

    grade = ExamGrader([Grading("", picky, scorers=[Exact()])]).grade(answers("yes", "odd"))
    assert grade.failures[1].kind == "reading"
    assert grade.scores["exact"] == 100.0


def test_what_is_wrong_is_known_before_anybody_is_asked():
    grader = ExamGrader([Grading("", read, scorers=MetricScorers(["metrics.accurac", "metrics.accuracy"]))])
    (problem,) = grader.check()
    assert "metrics.accurac" in problem.what


def test_metrics_of_the_catalog_and_scorers_of_others_stand_side_by_side():
    scorers = [*MetricScorers(["metrics.accuracy"]), Exact()]
    grade = ExamGrader([Grading("", read, scorers=scorers)], MetricNames()).grade(answers("yes", "no"))
    assert (grade.scores["score_name"], grade.scores["accuracy"], grade.scores["exact"]) == ("accuracy", 0.5, 50.0)
    assert {score.name: score.unit for score in grade.table}["exact"] == "percent"


def test_names_are_a_view():
    class Shouting(ScoreNames):
        def key(self, name, grading):
            return name.upper()

    grade = ExamGrader([Grading("", read, scorers=[Exact()])], Shouting()).grade(answers("yes"))
    assert (grade.main.name, grade.scores["score_name"], grade.scores["EXACT"]) == ("EXACT", "EXACT", 100.0)


@pytest.mark.parametrize("block", [1, 2, 256])
def test_each_question_may_have_text_functions_of_its_own(monkeypatch, block):
    monkeypatch.setattr(grader_module, "BLOCK", block)
    upper, frequent, plain = (Upper(),), (Upper(), MostFrequent()), ()

    def extract(question):
        return (upper, frequent, plain)[question.number % 3]

    grade = ExamGrader([Grading("", read, extract, [Exact()])]).grade(
        answers("aa", "bb", "cc", "dd", "ee", "ff", "gg", "ee")
    )
    # Questions 1, 4 and 7 see one another, and nobody else.
    assert list(grade.processed_predictions) == ["AA", "EE", "cc", "DD", "EE", "ff", "GG", "EE"]
    assert list(grade.predictions) == ["aa", "bb", "cc", "dd", "ee", "ff", "gg", "ee"]


def test_functions_that_see_everything_may_leave_failures():
    class Unless:
        name, scope = "unless", "column"

        def apply(self, values, rows):
            return [Failure("processor", "alone") if values.count(value) == 1 else value for value in values]

    grade = ExamGrader([Grading("", read, [Unless()], [Exact()])]).grade(answers("yes", "no", "yes"))
    assert grade.failures == {1: Failure("processor", "alone")}
    assert grade.instance_scores["exact"] == [100.0, None, 100.0]


def test_rows_and_prompts_are_kept_where_they_are_needed():
    for needs, has in (
        ({"rows"}, (True, True, False)),
        ({"fields"}, (True, False, False)),
        ({"prompts"}, (False, False, True)),
    ):
        scorer = Exact(frozenset(needs))
        ExamGrader([Grading("", read, scorers=[scorer])]).grade(answers("yes", "no"))
        (columns,) = scorer.seen
        assert (bool(columns.task_data), bool(columns.rows), bool(columns.prompts)) == has
        assert list(columns.raw) == ["yes", "no"]


def test_what_is_shown_as_an_answer_may_be_chosen():
    grader = ExamGrader([Grading("", read_turns, scorers=[Exact()])], shown=lambda readings: f"{len(readings)} turns")
    assert list(grader.grade(answers("yes|no", "yes")).predictions) == ["2 turns", "1 turns"]


def test_turns_have_references_each_and_the_last_ones_prediction():
    late = Failure("timeout", "late")
    grade = ExamGrader([Grading("", read_turns, [Upper()], [Exact()])]).grade(answers("ab|cd|e", late, "yes"))
    assert list(grade.processed_predictions) == [Failure("processor", "too short"), late, "YES"]
    assert list(grade.processed_references) == [["yes"] * 3, ("yes",), ["yes"]]
    assert grade.failures == {0: Failure("processor", "too short"), 1: late}
    (only,) = (
        ExamGrader([Grading("", read_turns)], group_by=GroupBy.of(["kind"])).grade(answers("a|b")).scores["groups"]
    )
    assert only == {"by": {"kind": 0}, "n": 1, "num_of_instances": 1}


def test_bare_references_are_shown_as_lists():
    def bare(answered):
        return [Reading("x", answered.question.instance["gold"], {})]

    shown = ExamGrader([Grading("", bare)]).grade(answers("a", "b", "c", golds=["x", None, ["y"]])).processed_references
    assert list(shown) == shown[:] == [["x"], [], ["y"]]
    assert (shown[1], shown[0:1], len(shown)) == ([], [["x"]], 3)
    assert shown == [["x"], [], ["y"]]
    assert shown != [["x"]]
    assert shown != 3


def test_a_file_that_a_scorer_cannot_read_is_its_failure():
    broken = Exact(error=FileNotFoundError("no words.txt"))
    grade = ExamGrader([Grading("strict", read, scorers=[broken])]).grade(answers("yes"))
    assert grade.metric_failures == {
        "exact,strict": Failure("metric", "FileNotFoundError: no words.txt", retryable=False)
    }
    assert grade.main is None
    odd = Exact(error=ScoringError("odd"))
    grade = ExamGrader([Grading("", read, scorers=[odd])]).grade(answers("yes"))
    assert grade.metric_failures == {"exact": Failure("scoring", "odd", retryable=False)}


def test_instances_that_a_scorer_cannot_score_are_failures_of_their_questions():
    class Partly(Exact):
        def measure(self, columns, *, intervals=True, instances=True):
            found = super().measure(columns, intervals=intervals, instances=instances)
            found.failures = {2: Failure("metric", "third"), 1: Failure("metric", "second")}
            return found

    grade = ExamGrader([Grading("", read_turns, scorers=[Partly()])]).grade(answers("yes", "no|no", "yes"))
    assert grade.failures == {1: Failure("metric", "second")}
    grouped = ExamGrader([Grading("", read, scorers=[Partly()])], group_by=GroupBy.of(["kind"]))
    even, odd = grouped.grade(answers(*["yes"] * 6)).scores["groups"]
    assert (even["num_of_instances"], even["num_of_failures"]) == (1, 2)
    assert odd["n"] == 3


def test_text_functions_are_checked_before_anybody_is_asked():
    class Doubtful(Upper):
        def check(self):
            yield Diagnostic("it is doubtful")

    found = ExamGrader([Grading("", read, [Upper(), Doubtful()], [Exact()])]).check()
    assert [each.what for each in found] == ["it is doubtful", "nothing is wrong with exact"]

    class OfEach(Doubtful):
        def __call__(self, question):
            return ()

    assert [each.what for each in ExamGrader([Grading("", read, OfEach())]).check()] == ["it is doubtful"]


def test_the_first_of_two_equal_names_counts():
    second = Exact()
    second.measure = lambda columns, **_: Measured([Score("exact", 1.0, n=1)], "exact", {"exact": [1.0]})
    grade = ExamGrader([Grading("", read, scorers=[Exact(), second])]).grade(answers("yes"))
    assert [score.value for score in grade.table] == [100.0]
    assert grade.main.value == 100.0


def test_functions_that_see_everything_may_change_references():
    class Shared:
        name, scope = "shared", "column"

        def process(self, columns):
            return replace(columns, references=[[columns.predictions[-1]]] * len(columns))

    grade = ExamGrader([Grading("", read, [Shared()], [Exact()])]).grade(answers("no", "yes", "no"))
    assert list(grade.processed_references) == [["no"]] * 3
    assert grade.instance_scores["exact"] == [100.0, 0.0, 100.0]


def test_answers_that_come_in_blocks_are_graded_as_those_that_come_one_by_one():
    texts = ["yes", "no", Failure("timeout", "late"), "yes", "no"]
    each = list(answers(*texts))
    grader = ExamGrader([Grading("", read, scorers=[Exact()])])
    whole = grader.grade(each)
    assert list(AnsweredBlocks([each[:2], [], each[2:]])) == each
    found = grader.grade(AnsweredBlocks([each[:2], [], each[2:]]))
    assert (found.scores, found.failures, found.instance_scores) == (
        whole.scores,
        whole.failures,
        whole.instance_scores,
    )
    assert list(found.predictions) == list(whole.predictions)
