import pytest

from proctor.data.operator import FieldOperator
from proctor.errors import UsageError
from proctor.scoring.instance_metric import InstanceMetric
from proctor.tasks.card import TaskCard
from proctor.tasks.task import Task
from proctor.templates import InputOutputTemplate
from proctor.testing.cards import temporary_catalog, test_card
from proctor.testing.operators import check_operator
from proctor.testing.unitxt_checks import test_metric


class AddNumber(FieldOperator):
    number: float

    def process(self, value):
        return value + self.number


def test_operators_are_checked_as_in_the_tutorial():
    operator = AddNumber(number=2, field="price", to_field="new_price")
    inputs = [{"price": 100}, {"price": 150}]
    targets = [{"price": 100, "new_price": 102}, {"price": 150, "new_price": 152}]
    assert check_operator(operator, inputs, targets) == targets
    with pytest.raises(AssertionError, match="row 1 differs"):
        check_operator(operator, inputs, [targets[0], {}])
    with pytest.raises(AssertionError, match="2 rows were made"):
        check_operator(operator, inputs, targets[:1])


class SumAccuracy(InstanceMetric):
    main_score = "sum_accuracy"
    reduction_map = {"mean": ["sum_accuracy"]}
    ci_scores = ["sum_accuracy"]
    prediction_type = int
    relative_tolerance: float = 0

    def compute(self, references, prediction, task_data):
        return {self.main_score: float(task_data["num1"] + task_data["num2"] == prediction)}


def test_metrics_are_checked_as_in_the_tutorial():
    arguments = {
        "metric": SumAccuracy(),
        "predictions": [3, 799, 50],
        "references": [[5], [800], [50]],
        "task_data": [{"num1": 2, "num2": 3}, {"num1": 300, "num2": 500}, {"num1": -25, "num2": 75}],
        "instance_targets": [
            {"sum_accuracy": 0.0, "score": 0.0, "score_name": "sum_accuracy"},
            {"sum_accuracy": 0.0, "score": 0.0, "score_name": "sum_accuracy"},
            {"sum_accuracy": 1.0, "score": 1.0, "score_name": "sum_accuracy"},
        ],
    }
    target = {
        "sum_accuracy": 0.33, "score": 0.33, "score_name": "sum_accuracy", "sum_accuracy_ci_low": 0.0,
        "sum_accuracy_ci_high": 1.0, "score_ci_low": 0.0, "score_ci_high": 1.0,
    }  # fmt: skip
    assert test_metric(**arguments, global_target={**target, "num_of_instances": 3})
    with pytest.raises(AssertionError, match=r"global score must be equal.*0\.33"):
        test_metric(**arguments, global_target={"score": 0.5})


def card(metric="metrics.accuracy"):
    rows = [{"a": str(number), "b": f"answer {number}"} for number in range(4)]
    return TaskCard(
        loader={"__type__": "load_from_dictionary", "data": {"test": rows, "train": rows}},
        task=Task(input_fields={"a": str}, reference_fields={"b": str}, prediction_type=str, metrics=[metric]),
        templates=[InputOutputTemplate(input_format="{a}", output_format="{b}")],
    )


def test_cards_are_tried(capsys):
    test_card(card(), debug=True)
    shown = capsys.readouterr().out
    assert "Showing up to 5 examples from stream 'test'" in shown
    assert "Step 1: loaded" in shown
    assert "Running with the gold references as predictions." in shown
    assert "Loading limited to 30 instances by setting LoadFromDictionary.loader_limit;" in shown
    assert '"global": {\n        "accuracy": 1.0,' in shown
    assert "  references (list):\n      ['answer 0']" in shown
    test_card(card(), num_demos=1, demo_pool_size=3)
    test_card(card(), False, False, loader_limit=2)
    assert capsys.readouterr().out.rpartition("Prediction")[2]


def test_lines_of_a_text_are_indented(capsys):
    rows = [{"a": "one\ntwo", "b": "x"}]
    tried = TaskCard(
        loader={"__type__": "load_from_dictionary", "data": {"test": rows}},
        task=Task(input_fields={"a": str}, reference_fields={"b": str}, prediction_type=str, metrics=["metrics.rouge"]),
        templates=[InputOutputTemplate(input_format="{a}", output_format="{b}")],
    )
    test_card(tried)
    assert "source (str):\n      one\n      two\n" in capsys.readouterr().out


def test_nonsense_may_have_no_score():
    rows = [{"a": "x", "b": float(number)} for number in range(4)]
    spearman = TaskCard(
        loader={"__type__": "load_from_dictionary", "data": {"test": rows}},
        task=Task(
            input_fields={"a": str}, reference_fields={"b": float}, prediction_type=float, metrics=["metrics.spearman"]
        ),
        templates=[
            InputOutputTemplate(
                input_format="{a}",
                output_format="[[{b}]]",
                postprocessors=["processors.extract_mt_bench_rating_judgment"],
            )
        ],
    )
    test_card(spearman)


def test_scores_that_are_not_as_expected(capsys):
    with pytest.raises(UsageError, match=r"expected 0\.5"):
        test_card(card(), exact_match_score=0.5)
    test_card(card(), exact_match_score=0.5, strict=False)
    assert "WARNING" in capsys.readouterr().out


def test_a_catalog_for_a_while():
    from proctor.artifacts import add_to_catalog, fetch_artifact
    from proctor.errors import UnknownArtifactError

    with temporary_catalog() as catalog:
        add_to_catalog(card(), "cards.tried", catalog, verbose=False)
        assert fetch_artifact("cards.tried")
    with pytest.raises(UnknownArtifactError):
        fetch_artifact("cards.tried")
