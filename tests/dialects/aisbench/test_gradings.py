"""How answers of datasets become scores: typed, in percent, with what cannot be scored said beforehand."""

from __future__ import annotations

import pytest

from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.datasets import DatasetRows
from proctor.dialects.aisbench.exam import dataset_exam
from proctor.dialects.aisbench.options import DatasetOptions
from proctor.dialects.aisbench.values import ConfigDict
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import Location, ProctorError
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.settings import settings

ROWS = [{"question": f"q{n}", "answer": "AB"[n % 2], "kind": "xy"[n // 3]} for n in range(6)]


def exam_of(evaluation, options=None, changed=None, rows=ROWS, **more):
    values = {
        "abbr": "set",
        "type": "JsonlDataset",
        "path": "x",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": "{question}"},
            "retriever": {"type": "ZeroRetriever"},
            "inferencer": {"type": "GenInferencer"},
        },
        "eval_cfg": evaluation,
        **more,
    }
    return dataset_exam(dataset_config(values), options, changed, DatasetRows(rows, rows))


def run(exam, tmp_path, answer="A"):
    engine = ScriptedEngine(answers=answer) if isinstance(answer, dict) else ScriptedEngine(answer=answer)
    result = run_exams([exam], engine, log=tmp_path / "log.db")
    return result.results["set"], result.grades["set"]


ACC = {"evaluator": {"type": "AccEvaluator"}}


def test_scores_are_typed_and_in_percent(tmp_path):
    results, grade = run(exam_of(ACC), tmp_path)
    (score,) = grade.table
    assert grade.main is score
    assert (score.name, score.value, score.unit, score.higher_is_better) == ("accuracy", 50.0, "percent", True)
    assert (score.low, score.high) == (results["accuracy_ci_low"], results["accuracy_ci_high"])
    assert (results["score"], results["score_name"], results["num_of_instances"]) == (50.0, "accuracy", 6)


def test_a_metric_of_a_catalog_keeps_its_own_unit(tmp_path):
    _, grade = run(exam_of({"evaluator": {"type": "metrics.accuracy"}}), tmp_path)
    assert (grade.main.value, grade.main.unit) == (0.5, "share")


def test_postprocessors_of_the_model_may_go_by_the_datasets_name(tmp_path):
    capital = {"type": "first_capital_postprocess"}
    evaluation = {**ACC, "pred_postprocessor": {"type": "last_capital_postprocess"}}
    changed = DatasetOptions(model_postprocessor={"s*": capital, "set": {"type": "nonsense"}})
    results, grade = run(exam_of(evaluation, changed=changed), tmp_path, "xA then B")
    assert grade.processed_predictions == ["A"] * 6, "the first that fits, then the dataset's"
    assert grade.predictions == ["xA then B"] * 6
    assert results["accuracy"] == 50


def test_what_a_postprocessor_cannot_read_is_a_failure(tmp_path):
    evaluation = {**ACC, "pred_postprocessor": {"type": "gsm8k_dataset_postprocess"}}
    results, grade = run(exam_of(evaluation), tmp_path)
    assert results["num_of_instances"] == 0
    assert results["num_of_failures"] == 6
    assert {failure.kind for failure in grade.failures.values()} == {"processor"}
    assert "no predictions" in grade.metric_failures["AccEvaluator"].message


def test_rows_in_groups(tmp_path):
    answers = {row["question"]: "A" if row["kind"] == "x" else row["answer"] for row in ROWS}
    results, _ = run(exam_of(ACC, ExamOptions(group_by=("kind",))), tmp_path, answers)
    by = {each["by"]["kind"]: each["score"] for each in results["groups"]}
    assert by == {"x": pytest.approx(200 / 3), "y": 100}


def test_recording_needs_no_evaluator(tmp_path):
    results, grade = run(exam_of({}, ExamOptions(predict_only=True)), tmp_path)
    assert "score" not in results
    assert grade.predictions == ["A"] * 6


def test_intervals_of_conversations_are_of_rows(tmp_path):
    rows = [{"question": ["a", "b"], "answer": ["A", "B"]}, {"question": ["c"], "answer": ["A"]}]
    template = {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]}
    inference = {
        "prompt_template": {"type": "MultiTurnPromptTemplate", "template": template},
        "retriever": {"type": "ZeroRetriever"},
        "inferencer": {"type": "MultiTurnGenInferencer", "infer_mode": "every"},
    }
    results, grade = run(exam_of(ACC, rows=rows, infer_cfg=inference), tmp_path)
    assert results["accuracy"] == pytest.approx(200 / 3)
    assert list(grade.instance_scores["accuracy"]) == [50.0, 100.0]
    assert grade.predictions == [["A", "A"], "A"]
    assert "accuracy_ci_low" not in results, "the mean of turns is not the mean of rows"


class Silent(ScriptedEngine):
    """Must not be asked."""

    def generate(self, requests):
        pytest.fail("somebody was asked")


class TestBeforeAsking:
    def refused(self, evaluation, tmp_path, **more):
        engine = Silent(answer="A")
        with pytest.raises(ProctorError) as caught:
            run_exams([exam_of(evaluation, **more)], engine, log=tmp_path / "log.db")
        return str(caught.value)

    @pytest.mark.parametrize(
        "evaluation, words",
        [
            ({"evaluator": {"type": "AccEvalutor"}}, "did you mean 'AccEvaluator'"),
            ({**ACC, "pred_postprocessor": {"type": "first_captal_postprocess"}}, "first_capital_postprocess"),
            ({"evaluator": {"type": "LMEvaluator"}}, "LMEvaluator"),
            ({**ACC, "pred_postprocessor": {"type": "match_answer_pattern", "answer_pattern": 5}}, "reads no answer"),
            ({**ACC, "pred_postprocessor": {"type": "mgsm_postprocess", "lang": "xx"}}, "reads no answer"),
            ({"evaluator": {"type": "AccEvaluator", "argument": 1}}, "no argument 'argument'"),
            ({}, "the eval_cfg names no evaluator"),
            ({"evaluator": "AccEvaluator"}, "the evaluator is not a dictionary"),
        ],
    )
    def test_what_cannot_be_scored(self, evaluation, words, tmp_path):
        assert words in self.refused(evaluation, tmp_path)

    def test_a_judge_that_there_is_not_and_judgements_that_nobody_can_read(self, tmp_path, monkeypatch):
        monkeypatch.delenv("OC_JUDGE_MODEL", raising=False)
        template = {"type": "PromptTemplate", "template": "{prediction}"}
        judge = {"type": "GenericLLMEvaluator", "prompt_template": template, "dict_postprocessor": {"type": "mine"}}
        text = self.refused({"evaluator": judge}, tmp_path)
        assert "judgements cannot be read by 'mine'" in text
        assert "the evaluator needs a judge" in text

    def test_places_are_those_of_the_config(self, tmp_path):
        evaluator = ConfigDict({"type": "AccEvalutor"}, location=Location("c.py", 9, 2))
        assert "c.py:9:2" in self.refused({"evaluator": evaluator}, tmp_path)


def test_a_post_processor_of_the_config_fails_one_answer_whatever_it_raises(tmp_path):
    def divided(text):
        return "A" if 1 / (len(text) - 1) else ""

    answers = {"q0": "AA", "q1": "A", "q2": "AAA", "q3": "AA", "q4": "AA", "q5": "AA"}
    with settings.context(trust_code=True):
        evaluation = {"evaluator": {"type": "AccEvaluator"}, "pred_postprocessor": {"type": divided}}
        results, grade = run(exam_of(evaluation), tmp_path, answers)
    assert list(grade.failures) == [1]
    assert grade.failures[1].message.startswith("ZeroDivisionError: ")
    assert (results["failures"], results["score"]) == (1, pytest.approx(60.0))
