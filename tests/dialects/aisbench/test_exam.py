"""From rows and configs to requests and scores, with answers that are scripted."""

from __future__ import annotations

import pytest

from proctor.dialects.aisbench.config import checked, dataset_config
from proctor.dialects.aisbench.datasets import DatasetRows
from proctor.dialects.aisbench.exam import dataset_exam
from proctor.dialects.aisbench.resolve import resolve_name
from proctor.dialects.aisbench.values import Reference, abbr_of
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import ProctorError, ValidationError
from proctor.ir import Converse, Generate, Likelihood, Rolling
from proctor.logs import get_logger
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams

ROWS = [{"question": f"{n}+{n}=?", "answer": str(2 * n), "A": str(2 * n), "B": "0"} for n in range(1, 7)]
DIALOGUE = {"round": [{"role": "HUMAN", "prompt": "{question}"}, {"role": "BOT", "prompt": "{answer}"}]}


def dataset(template, inferencer="GenInferencer", **more):
    values = {
        "abbr": "sums",
        "type": "JsonlDataset",
        "reader_cfg": {"input_columns": ["question"], "output_column": "answer"},
        "infer_cfg": {
            "prompt_template": {"type": "PromptTemplate", "template": template},
            "retriever": {"type": "ZeroRetriever"},
            "inferencer": {"type": inferencer, **more.pop("inferencer_arguments", {})},
        },
        "eval_cfg": {"evaluator": {"type": "AccEvaluator"}},
    }
    return {**values, **more}


def exam_of(values, rows=ROWS, index=ROWS, **options):
    return dataset_exam(dataset_config(values), ExamOptions(**options), rows=DatasetRows(rows, index))


def run(exam, engine, tmp_path):
    result = run_exams([exam], engine, log=tmp_path / "log.db")
    return result.results[exam.name], result.grades[exam.name]


class TestGeneration:
    def test_asks_with_the_answer_masked_and_scores_in_percent(self, tmp_path):
        exam = exam_of(dataset("Q: {question}\nA: {answer}", inferencer_arguments={"max_out_len": 9}))
        request = next(exam.questions()).requests[0]
        assert isinstance(request, Generate)
        assert request.prompt.payload == "Q: 1+1=?\nA: "
        assert request.decoding.max_tokens == 9
        results, grade = run(exam, ScriptedEngine(answer="4"), tmp_path)
        assert results["accuracy"] == pytest.approx(100 / 6)
        assert results["score_name"] == "accuracy"
        assert 0 < results["score_ci_low"] < results["score"] < results["score_ci_high"] < 100
        assert [bool(value) for value in grade.instance_scores["accuracy"]] == [False, True, False, False, False, False]

    def test_limits_demos_and_system_prompts_of_a_run(self):
        values = dataset(DIALOGUE)
        values["infer_cfg"]["ice_template"] = {"type": "PromptTemplate", "template": DIALOGUE}
        values["infer_cfg"]["prompt_template"] |= {"template": {"begin": ["</E>"], **DIALOGUE}, "ice_token": "</E>"}
        exam = exam_of(values, limit=0.5, num_demos=1, system_prompt="Add.", apply_chat_template=True)
        items = list(exam.questions())
        assert len(items) == 3
        assert list(items[1].requests[0].prompt.payload) == [
            {"role": "system", "content": "Add."},
            {"role": "user", "content": "1+1=?"},
            {"role": "assistant", "content": "2"},
            {"role": "user", "content": "2+2=?"},
        ]

    def test_replicas_are_asked_separately(self, tmp_path):
        rows = [{**row, "subdivision": "sums", "idx": n} for n, row in enumerate(ROWS[:2]) for _ in range(2)]
        exam = exam_of(dataset("{question}", n=2, k=2), rows)
        keys = {request.key for item in exam.questions() for request in item.requests}
        assert len(keys) == 4
        assert len(list(exam_of(dataset("{question}", n=2, k=2), rows, limit=1).questions())) == 2


class TestRuns:
    def test_several_runs_of_each_row(self, tmp_path):
        rows = [{**row, "subdivision": "sums", "idx": n} for n, row in enumerate(ROWS[:2]) for _ in range(2)]
        values = dataset("{question}", n=2, k=2)
        values["eval_cfg"] = {
            "evaluator": {"type": Reference("ais_bench.benchmark.openicl.icl_evaluator.AccwithDetailsEvaluator")}
        }
        answers = {"1+1=?": "2", "2+2=?": "5"}
        results, grade = run(exam_of(values, rows), ScriptedEngine(answers=answers), tmp_path)
        assert results["n"] == 4
        assert results["pass@2"] == 50
        assert [bool(value) for value in grade.instance_scores["accuracy"]] == [True, True, False, False]


class Counting(ScriptedEngine):
    """Counts words as tokens."""

    def count_tokens(self, prompt):
        return len(prompt.text.split())


class TestLength:
    def exam(self, longest):
        values = dataset("</E>{question} {answer}", inferencer_arguments={"max_seq_len": longest})
        values["infer_cfg"]["prompt_template"]["ice_token"] = "</E>"
        values["infer_cfg"]["ice_template"] = {"type": "PromptTemplate", "template": "{question} {answer}"}
        values["infer_cfg"]["retriever"] = {"type": "FixKRetriever", "fix_id_list": [0, 1, 2]}
        return exam_of(values)

    @pytest.mark.parametrize("longest, shown", [(7, 3), (6, 2), (3, 1), (2, 0), (1, 0)])
    def test_the_last_examples_are_dropped_until_a_prompt_fits(self, longest, shown):
        exam = self.exam(longest).suited_to(Counting(answer="x"))
        prompt = next(exam.questions()).requests[0].prompt.text
        assert prompt.count("=?") - 1 == shown
        assert prompt.startswith("1+1=? 2" if shown else "\n1+1=? "), "without examples their end remains"

    def test_an_engine_that_cannot_count_gets_all(self):
        exam = self.exam(2).suited_to(ScriptedEngine(answer="x"))
        assert next(exam.questions()).requests[0].prompt.text.count("=?") == 4


class TestPerplexity:
    TEMPLATE = {"A": "{question} {A}", "B": "{question} {B}"}

    def test_the_label_with_the_least_mean_loss_wins(self, tmp_path):
        rows = [{**row, "answer": "A"} for row in ROWS]
        exam = exam_of(dataset(self.TEMPLATE, "PPLInferencer"), rows)
        item = next(exam.questions())
        assert item.requests == (Rolling("1+1=? 2", from_start=False), Rolling("1+1=? 0", from_start=False))
        engine = ScriptedEngine(log_likelihood=lambda _context, text: -1.0 if text.endswith(" 2") else -3.0)
        results, grade = run(exam, engine, tmp_path)
        assert grade.predictions == ["A"] * 6, "of equals the first"
        assert results["accuracy"] == 100

    def test_normalised_perplexities_are_likelihoods_of_the_answer(self):
        values = dataset({"A": "{question}</S>{A}", "B": "{question}</S>{B}"}, "PPLInferencer")
        values["infer_cfg"]["prompt_template"]["sep_token"] = "</S>"
        values["infer_cfg"]["inferencer"]["normalizing_str"] = "Answer: "
        requests = next(exam_of(values).questions()).requests
        assert [type(each) for each in requests] == [Likelihood] * 4
        assert [(each.context.payload, each.continuation) for each in requests[:2]] == [
            ("1+1=?", "2"),
            ("Answer: ", "2"),
        ]


class TestConversations:
    ROW = {"question": ["1+1=?", "2+2=?", "3+3=?"], "answer": ["2", "4", "6"]}

    def exam(self, mode):
        values = dataset(DIALOGUE, "MultiTurnGenInferencer", inferencer_arguments={"infer_mode": mode})
        values["infer_cfg"]["prompt_template"]["type"] = "MultiTurnPromptTemplate"
        return exam_of(values, [self.ROW])

    def test_last_sends_the_right_answers_before_it(self, tmp_path):
        (item,) = self.exam("last").questions()
        assert [message["content"] for message in item.requests[0].prompt.payload] == [
            "1+1=?",
            "2",
            "2+2=?",
            "4",
            "3+3=?",
        ]
        results, _ = run(self.exam("last"), ScriptedEngine(answer="6"), tmp_path)
        assert results["accuracy"] == 100

    def test_every_with_right_answers_is_a_request_for_each_turn(self, tmp_path):
        (item,) = self.exam("every_with_gt").questions()
        assert [len(request.prompt.payload) for request in item.requests] == [1, 3, 5]
        results, grade = run(self.exam("every_with_gt"), ScriptedEngine(answer="6"), tmp_path)
        assert results["accuracy"] == pytest.approx(100 / 3)
        assert grade.predictions == [["6", "6", "6"]]

    def test_every_is_one_conversation(self, tmp_path):
        (item,) = self.exam("every").questions()
        (request,) = item.requests
        assert isinstance(request, Converse)
        assert [turn and turn["content"] for turn in request.turns] == ["1+1=?", None, "2+2=?", None, "3+3=?", None]
        results, _ = run(self.exam("every"), ScriptedEngine(answer="4"), tmp_path)
        assert results["accuracy"] == pytest.approx(100 / 3)


class TestBadInput:
    def test_every_problem_of_every_dataset_at_once(self):
        one = dataset("x", "GenInferencr")
        two = {**dataset("x", "AgentInferencer"), "reader_cfg": {"output_column": 3}}
        three = {"abbr": "empty", "type": "JsonlDataset"}
        with pytest.raises(ValidationError) as caught:
            checked([one, two, three, one])
        text = str(caught.value)
        assert "did you mean 'GenInferencer'" in text
        assert "AgentInferencer cannot be run here" in text
        assert "reader_cfg needs input_columns" in text
        assert "the dataset 'empty' needs infer_cfg" in text
        assert len(caught.value.diagnostics) == 6

    def test_a_failure_is_no_wrong_answer(self, tmp_path):
        exam = exam_of(dataset("{question}"))
        engine = ScriptedEngine(answers={row["question"]: row["answer"] for row in ROWS[:4]})
        results, grade = run(exam, engine, tmp_path)
        assert results["accuracy"] == 100
        assert (results["n"], results["failures"], len(grade.failures)) == (6, 2, 2)

    def test_a_column_that_is_not_there(self):
        with pytest.raises(ProctorError, match="questoin"):
            list(exam_of({**dataset("{questoin}"), "reader_cfg": {"input_columns": ["questoin"]}}).questions())


def test_names_are_made_as_upstream_makes_them():
    assert abbr_of({"path": "a/b", "name": "c"}) == "a_b_c"


class TestProblems:
    """What is wrong is said with the dataset, the row and the place in the config."""

    @pytest.mark.parametrize("part", ["retriever", "prompt_template", "ice_template"])
    def test_a_placeholder_of_a_document(self, part):
        values = dataset("{question}")
        values["infer_cfg"][part] = ...
        with pytest.raises(ValidationError, match=f"'{part}' of infer_cfg is '...'") as raised:
            dataset_config(values)
        assert "dict(type=" in raised.value.diagnostics[0].hint

    def test_a_row_that_cannot_be_asked(self):
        values = dataset(DIALOGUE, "MultiTurnGenInferencer")
        values["infer_cfg"]["prompt_template"]["type"] = "MultiTurnPromptTemplate"
        rows = [{"question": ["a?"], "answer": ["b"]}, {"question": "a?", "answer": ["b"]}]
        good, bad = exam_of(values, rows).questions()
        assert good.failure is None
        assert "'question' of a conversation has to be a list" in bad.failure.message
        assert "sums[1] $.question" in bad.failure.message

    def test_different_datasets_of_one_name(self, tmp_path, monkeypatch, caplog):
        monkeypatch.setattr(get_logger(), "propagate", True)
        config = CONFIG.replace("QUESTION", "{question}")
        (tmp_path / "same.py").write_text(config + config.replace("datasets = [", "datasets += ["))
        (tmp_path / "two.py").write_text(config + CONFIG.replace("QUESTION", "B {question}").replace("= [", "+= ["))
        resolve_name(str(tmp_path / "same.py"), ExamOptions())
        assert "one abbr" not in caplog.text
        (exam,) = resolve_name(str(tmp_path / "two.py"), ExamOptions())
        assert exam.name == "sums"
        assert "different datasets have one abbr, and only the first is asked: 'sums'" in caplog.text
        assert "two.py:4:5 and " in caplog.text


CONFIG = """
from opencompass.datasets import JsonlDataset
datasets = [
    dict(abbr="sums", type=JsonlDataset, path="sums.jsonl",
         reader_cfg=dict(input_columns=["question"], output_column="answer"),
         infer_cfg=dict(prompt_template=dict(type="PromptTemplate", template="QUESTION"),
                        retriever=dict(type="ZeroRetriever"), inferencer=dict(type="GenInferencer"))),
]
"""
