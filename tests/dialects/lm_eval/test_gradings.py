from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.lm_eval.config import TaskConfig
from proctor.dialects.lm_eval.documents import TaskDocuments
from proctor.dialects.lm_eval.exam import task_exam
from proctor.dialects.lm_eval.gradings import TaskGrader
from proctor.dialects.lm_eval.task_pipelines import compact, expanded
from proctor.errors import Diagnostic
from proctor.ir import Failure, Response
from proctor.recipes.exam import Answered
from proctor.recipes.options import ExamOptions

texts = st.lists(st.text(), min_size=1, max_size=4)
pairs = st.lists(st.tuples(st.floats(allow_nan=False), st.booleans()), min_size=1, max_size=4)


@given(texts)
def test_texts_are_kept_compactly_and_come_back(answers):
    assert expanded(compact([answers])) == [answers]


@given(pairs)
def test_likelihoods_are_kept_compactly_and_come_back(answers):
    assert expanded(compact([[each] for each in answers])) == [[each] for each in answers]


class _Given(TaskDocuments):
    """Documents that are at hand; counts how often a column is looked at."""

    def split(self, name, process):
        return [{"q": f"Q{n}", "a": "AB"[n % 2]} for n in range(600)]


def exam(**values):
    config = TaskConfig(task="t", test_split="test", doc_to_text="{{q}}", doc_to_target="{{a}}", **values)
    return task_exam("t", config, ExamOptions(resamples=10), _Given(config))


def graded(made, reply):
    return made.grade(Answered(item, tuple(reply(item) for _ in item.requests)) for item in made.questions())


def test_answers_are_scored_as_they_pass(monkeypatch):
    made = exam()
    seen = []
    pipeline = made.grader.pipelines[0]
    process = pipeline.process

    def watched(columns):
        seen.append(len(columns))
        return process(columns)

    monkeypatch.setattr(pipeline, "process", watched)
    grade = graded(made, lambda item: Response(texts=("A",)))
    assert seen == [256, 256, 88]
    assert grade.scores["exact_match"] == 0.5


def test_failed_answers_count_nowhere_and_keep_their_places():
    lost = Response(failure=Failure("timeout", "slow"))
    grade = graded(exam(), lambda item: lost if item.number % 2 else Response(texts=("A",)))
    assert grade.scores["exact_match"] == 1.0
    assert (grade.scores["num_of_instances"], grade.scores["num_of_failures"]) == (300, 300)
    assert grade.instance_scores["exact_match"][:4] == [1.0, None, 1.0, None]
    assert [type(each) for each in list(grade.processed_predictions)[:2]] == [str, Failure]
    assert list(grade.processed_references)[:2] == [["A"], ["B"]]


def test_every_filter_pipeline_is_a_grading_of_its_own():
    pipelines = [
        {"name": name, "filter": [{"function": "regex", "regex_pattern": pattern}, {"function": "take_first"}]}
        for name, pattern in (("strict", "^([AB])$"), ("loose", "([AB])"))
    ]
    grade = graded(exam(filter_list=pipelines), lambda item: Response(texts=(f" {item.instance['a']}",)))
    assert {score.name: (score.value, score.grading) for score in grade.table} == {
        "exact_match,strict": (0.0, "strict"),
        "exact_match,loose": (1.0, "loose"),
    }
    assert grade.main.name == "exact_match,strict"
    assert list(grade.processed_predictions)[:2] == ["[invalid]", "[invalid]"]  # of the main score


def test_checks_are_made_without_looking_at_answers():
    made = exam(metric_list=[{"metric": "exact_mach"}, {"metric": "acc", "aggregation": "meen"}])
    assert isinstance(made.grader, TaskGrader)
    found = list(made.grader.check())
    assert all(isinstance(each, Diagnostic) for each in found)
    assert [each.path for each in found] == ["$.metric_list[0]", "$.metric_list[1]"]


class _Rows(TaskDocuments):
    """Documents whose golds are given."""

    def __init__(self, config, golds):
        super().__init__(config)
        self._golds = golds

    def split(self, name, process):
        return [{"q": f"Q{n}", "a": gold} for n, gold in enumerate(self._golds)]


def graded_golds(golds, answers, **values):
    config = TaskConfig(task="t", test_split="test", doc_to_text="{{q}}", doc_to_target="{{a}}", **values)
    made = task_exam("t", config, ExamOptions(resamples=10), _Rows(config, golds))
    return graded(made, lambda item: Response(texts=(answers[item.number],)))


def test_the_first_document_decides_whether_a_gold_that_looks_like_a_list_is_several():
    golds = ["w0", "[1]", "[]", "[1, 2]", "7"]
    texts = graded_golds(golds, golds)
    assert texts.scores["score"] == 1.0
    assert [list(each) for each in texts.processed_references] == [[gold] for gold in golds]
    several = graded_golds(["['a', 'b']", "['c']", "[]", "d"], ["b", "x", "y", "d"])
    assert several.scores["score"] == 0.5
    assert not several.metric_failures


def test_a_row_whose_value_is_no_number_is_one_failure_and_the_rest_count():
    grade = graded_golds(
        ["a", "b", "c"], ["a", "x", "c"],
        process_results=lambda doc, results: {"acc": None if doc["a"] == "c" else float(results[0] == doc["a"])},
    )  # fmt: skip
    assert grade.scores["acc"] == 0.5
    assert grade.instance_scores["acc"] == [1.0, 0.0, None]
    assert grade.failures[2].message == "'acc' is None, not a number"
