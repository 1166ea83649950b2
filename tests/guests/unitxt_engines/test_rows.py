"""Engines of users' own that predict for rows."""

import pytest

from proctor.dialects.unitxt.resolve import exams_of
from proctor.engines.inference import TextGenerationInferenceOutput
from proctor.errors import EngineError, PolicyError, UsageError
from proctor.guests.unitxt.engines.rows import InferenceEngine, LogProbInferenceEngine
from proctor.recipes import load_recipe
from proctor.running.judging import judges_through
from proctor.running.log import ResponseLog
from proctor.running.maintenance import engines
from proctor.running.run import run_exams
from proctor.scoring.judges.judge_client import Answer, JudgePrompt, ask

ROWS = [{"source": "a", "task_data": {"x": 1}}, {"source": [{"role": "user", "content": "b"}]}]


class Echo(InferenceEngine, LogProbInferenceEngine):
    word: str = ""
    label: str = "echo"

    def prepare_engine(self):
        self.seen = []

    def get_engine_id(self):
        return "m_echo"

    def _infer(self, dataset, return_meta_data=False):
        self.seen.append(list(dataset))
        return [self.word or str(row["source"]) for row in dataset]

    def _infer_log_probs(self, dataset, return_meta_data=False):
        return [[{"text": "t", "logprob": -1.0, "top_tokens": []}] for _ in dataset]


class Detailed(Echo):
    def get_return_object(self, text):
        return TextGenerationInferenceOutput(text, text, stop_reason="done")

    def _infer(self, dataset, return_meta_data=False):
        texts = super()._infer(dataset)
        return [self.get_return_object(text) for text in texts] if return_meta_data else texts


def test_rows_arrive_as_they_are():
    engine = Echo()
    found = engine(ROWS)
    assert list(found) == ["a", "[{'role': 'user', 'content': 'b'}]"]
    assert engine.seen == [ROWS]
    assert found.metadata["inference_engine_type"] == "Echo"
    [first, _] = engine.infer(ROWS, return_meta_data=True)
    assert (first.prediction, first.model_name, first.input_text) == ("a", "m_echo", "a")
    assert engine.infer_log_probs(ROWS)[0][0]["text"] == "t"
    assert engine.infer_log_probs(ROWS, return_meta_data=True)[0].prediction[0]["logprob"] == -1.0


def test_engines_may_give_their_own_details():
    assert Detailed().infer(ROWS, return_meta_data=True)[0].stop_reason == "done"
    assert Detailed().infer(ROWS)[0] == "a"


def test_a_run_asks_in_batches_and_files_the_answers(tmp_path):
    engine = Echo(word="positive", cache_batch_size=4)
    exams = exams_of("s", load_recipe("samples.sentiment"))
    for _ in range(2):
        result = run_exams(exams, engine, limit=10, log=tmp_path / "log.db")
    assert [len(rows) for rows in engine.seen] == [4, 4, 2]
    assert result.results["s"]["num_of_instances"] == 10
    with ResponseLog(tmp_path / "log.db", read_only=True) as log:
        assert [(each.label, each.responses) for each in engines(log)] == [("echo", 10)]


class Odd(InferenceEngine):
    found: list[object] | None = None

    def _infer(self, dataset, return_meta_data=False):
        if self.found is None:
            raise RuntimeError("no memory")
        return self.found


def test_what_goes_wrong_is_said():
    with pytest.raises(EngineError, match=r"engine Odd failed(.|\n)*RuntimeError: no memory"):
        Odd()(ROWS)
    with pytest.raises(EngineError, match="returned 1 predictions for 2 rows"):
        Odd(found=["a"])(ROWS)
    with pytest.raises(UsageError, match="implement _infer"):
        InferenceEngine()(ROWS)
    with pytest.raises(UsageError, match="implement _infer_log_probs"):
        LogProbInferenceEngine().infer_log_probs(ROWS)
    with pytest.raises(PolicyError):
        Echo(data_classification_policy=["public"])([{"source": "a", "data_classification_policy": ["secret"]}])


class OddTokens(LogProbInferenceEngine):
    found: list[object] | None = None

    def _infer_log_probs(self, dataset, return_meta_data=False):
        if self.found is None:
            raise RuntimeError("no memory")
        return self.found


@pytest.mark.parametrize("details", [False, True])
def test_the_same_is_said_of_log_probabilities(details):
    with pytest.raises(EngineError, match=r"engine OddTokens failed(.|\n)*RuntimeError: no memory"):
        OddTokens().infer_log_probs(ROWS, details)
    with pytest.raises(EngineError, match="returned 1 predictions for 2 rows"):
        OddTokens(found=[[]]).infer_log_probs(ROWS, details)


def test_no_text_is_a_failure_of_one_request(tmp_path):
    exams = exams_of("s", load_recipe("samples.sentiment"))
    result = run_exams(exams, Odd(found=["positive", None]), limit=2, log=tmp_path / "log.db")
    assert result.results["s"]["num_of_failures"] == 1


class TestAsJudges:
    """What a judge asks an engine of a user's own, and what it hears of the answer."""

    def test_texts(self):
        engine = Echo(word="yes", cache_batch_size=2)
        answers = ask(engine, [JudgePrompt(source) for source in "abc"])
        assert [[row["source"] for row in rows] for rows in engine.seen] == [["a", "b"], ["c"]]
        assert answers == [Answer("yes", {"model_name": "m_echo", "inference_type": engine.type_name()})] * 3

    def test_details_of_its_own(self):
        [answer] = ask(Detailed(), [JudgePrompt("a")])
        assert (answer.prediction, answer.metadata["stop_reason"]) == ("a", "done")

    def test_tokens(self):
        [answer] = ask(Echo(), [JudgePrompt("a")], log_probabilities=True)
        assert answer.prediction == [{"text": "t", "logprob": -1.0, "top_tokens": []}]
        tokens = [{"text": "x", "logprob": -2.0, "top_tokens": [{"text": "y", "logprob": -0.5}]}]
        [answer] = ask(OddTokens(found=[tokens]), [JudgePrompt("a")], log_probabilities=True)
        assert answer.prediction == tokens

    def test_none_where_it_gives_none(self):
        with pytest.raises(EngineError, match="no log-probabilities"):
            ask(Odd(found=["a"]), [JudgePrompt("a")], log_probabilities=True)

    def test_the_log_is_left_out(self, tmp_path):
        engine = Echo(word="yes")
        for _ in range(2):
            with judges_through(tmp_path / "log.db"):
                ask(engine, [JudgePrompt("a")])
        assert len(engine.seen) == 2
