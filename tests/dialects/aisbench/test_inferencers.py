"""Inferencers that ask several times: votes among answers, and turns that a prompt leaves open."""

from __future__ import annotations

import pytest

from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.datasets import DatasetRows
from proctor.dialects.aisbench.exam import dataset_exam
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError
from proctor.ir import Converse, Response
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams


def exam_of(inferencer, rows, evaluation, options=None, template=None, columns=("question",)):
    values = {
        "abbr": "set",
        "type": "JsonlDataset",
        "path": "x",
        "reader_cfg": {"input_columns": list(columns), "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": template or {"type": "PromptTemplate", "template": "{question}"},
            "retriever": {"type": "ZeroRetriever"},
            "inferencer": inferencer,
        },
        "eval_cfg": evaluation,
    }
    return dataset_exam(dataset_config(values), options or ExamOptions(), None, DatasetRows(rows, rows))


def decoding(exam):
    (question,) = exam.questions()
    return question.requests[0].decoding


ROW = [{"question": "q", "answer": "B"}]
ACC = {"evaluator": {"type": "AccEvaluator"}}
VOTE = {"type": "SCInferencer", "sc_size": 3, "generation_kwargs": {"do_sample": True, "temperature": 0.7, "top_k": 40}}


def test_answers_of_self_consistency_are_drawn_as_the_inferencer_says():
    found = decoding(exam_of(VOTE, ROW, ACC))
    assert (found.count, found.temperature, found.top_k, dict(found.extra)) == (3, 0.7, 40, {})
    greedy = {**VOTE, "generation_kwargs": {"do_sample": False, "temperature": 0.7}}
    assert decoding(exam_of(greedy, ROW, ACC)).temperature == 0
    said = ExamOptions(decoding={"temperature": 0.2})
    assert decoding(exam_of(VOTE, ROW, ACC, said)).temperature == 0.2


class Several(ScriptedEngine):
    def generate(self, requests):
        return ((place, Response(texts=("A", "B", "B"))) for place, _ in enumerate(requests))


@pytest.mark.parametrize("evaluation", [ACC, {**ACC, "sc_size": 3}])
def test_the_most_frequent_answer_counts(evaluation, tmp_path):
    exam = exam_of(VOTE, ROW, evaluation)
    result = run_exams([exam], Several(answer="A"), log=tmp_path / "log.db")
    assert result.results["set"]["accuracy"] == 100


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"sc_size": 0}, "sc_size is a number of answers"),
        ({"sc_size": "3"}, "sc_size is a number of answers"),
        ({"sc_sise": 3}, "sc_size"),
        ({"generation_kwargs": []}, "generation_kwargs is a dictionary"),
        ({"generation_kwargs": {"temprature": 1}}, "temperature"),
        ({"generation_kwargs": {"temperature": -1}}, "temperature"),
        ({"stopping_criteria": ["x"]}, "stopping_criteria"),
    ],
)
def test_what_is_wrong_with_self_consistency(changed, message):
    with pytest.raises(ProctorError, match=message):
        exam_of({**VOTE, **changed}, ROW, ACC)


def said(role, content=""):
    return {"role": role, "content": content}


TALK = {"type": "RawPromptTemplate", "messages": [{"expand_column": "talk"}], "format_variables": False}
ROUNDS = {"type": "GenInferencer", "multiround": True}
NO_COMMA = {"id": "punctuation:no_comma", "given": {}}


def talked(talk, answer="x", evaluation=ACC, template=TALK):
    return exam_of(ROUNDS, [{"talk": talk, "answer": answer}], evaluation, template=template, columns=["talk"])


def test_open_turns_of_a_prompt_are_asked_for_and_given_ones_are_kept():
    talk = [said("user", "1?"), said("assistant", "one"), said("user", "2?"), said("assistant"), said("user", "3?")]
    (question,) = talked(talk).questions()
    (request,) = question.requests
    assert isinstance(request, Converse)
    assert [turn and turn["content"] for turn in request.turns] == ["1?", "one", "2?", None]


def test_a_prediction_has_all_turns_of_the_model(tmp_path):
    wanted = {f"turn_{i}_{key}": value for i in (1, 2, 3) for key, value in _turn(i).items()}
    talk = [part for i in (1, 2, 3) for part in (said("user", f"{i}?"), said("assistant"))]
    exam = talked(talk, {"language": "English", **wanted}, {"evaluator": {"type": "MultiIFEvaluator"}})
    answers = {"1?": "no comma", "2?": "a, b", "3?": "none"}
    engine = ScriptedEngine(function=lambda prompt: answers[prompt.messages[-1]["content"]])
    result = run_exams([exam], engine, log=tmp_path / "log.db").results["set"]
    assert [result[f"turn_{i}_prompt_strict"] for i in (1, 2, 3)] == [100, 0, 100]
    assert result["overall"] == result["score"] == pytest.approx(200 / 3)


def _turn(number):
    del number
    return {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}], "prompt": "p"}


@pytest.mark.parametrize(
    "talk, template, message",
    [
        ([said("user", "1?"), said("assistant", "one")], TALK, "leaves no turn open"),
        ([said("user", "1?")], {"type": "PromptTemplate", "template": "{talk}"}, "the prompt is a text"),
    ],
)
def test_a_prompt_without_open_turns_is_refused(talk, template, message):
    with pytest.raises(ProctorError, match=message):
        list(talked(talk, template=template).questions())


def test_multiround_is_true_or_false():
    with pytest.raises(ProctorError, match="multiround is True or False"):
        exam_of({**ROUNDS, "multiround": "yes"}, ROW, ACC)
