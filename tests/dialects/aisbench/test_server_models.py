"""Models of AISBench, asked as AISBench asks them; judges and losses by its rules."""

from __future__ import annotations

import json

import pytest
from conformance.aisbench.recording_server import MODEL, RecordingServer

from proctor.cli.__main__ import main
from proctor.dialects.aisbench.models import model_config
from proctor.dialects.aisbench.values import Reference
from proctor.engines.engine_registry import make_engine
from proctor.errors import EngineError, UsageError

CONFIG = """
from ais_bench.benchmark.datasets import Aime2025Dataset, Aime2025JDGDataset
from ais_bench.benchmark.datasets.utils.llm_judge import LLMJudgeCorrectEvaluator, get_a_or_b
from ais_bench.benchmark.models import CLASS, VLLMCustomAPIChat
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator, MATHEvaluator
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer, PPLInferencer
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import ZeroRetriever

judge = dict(
    judge_reader_cfg=dict(input_columns=["question", "answer", "model_answer"], output_column="model_pred_uuid"),
    judge_model=dict(
        attr="service", type=VLLMCustomAPIChat, abbr="judge", path="", model="", stream=False, host_ip="localhost",
        host_port=PORT, url="", max_out_len=33, batch_size=2,
        generation_kwargs=dict(temperature=0.01, response_format=dict(type="text")),
    ),
    judge_dataset_type=Aime2025JDGDataset,
    prompt_template=dict(
        type=PromptTemplate,
        template=dict(
            begin=[dict(role="SYSTEM", fallback_role="HUMAN", prompt="You judge.")],
            round=[dict(role="HUMAN", prompt="<Gold Target Begin>: {answer} <Predicted Answer Begin>: {model_answer} <Predicted End>")],
        ),
    ),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(type=GenInferencer),
)
datasets = [
    dict(
        abbr="sums", type=Aime2025Dataset, path="sums.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="answer"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template=TEMPLATE),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=INFERENCER),
        ),
        EVALUATION
    )
]
models = [
    dict(attr="service", type=CLASS, abbr="m", path="/tokenizer", host_ip="localhost", host_port=PORT, batch_size=2, MORE)
]
"""
ACCURACY = "eval_cfg=dict(evaluator=dict(type=AccEvaluator)),"
JUDGED = (
    "judge_infer_cfg=judge, eval_cfg=dict(evaluator=dict(type=LLMJudgeCorrectEvaluator), "
    "pred_postprocessor=dict(type=get_a_or_b)),"
)
ROUND = 'dict(round=[dict(role="HUMAN", prompt="{question}")])'


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Run a config against a server; return what was asked, and the results."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROCTOR_CACHE_DIR", str(tmp_path / "cache"))
    rows = [{"question": f"{i}+{i + 2}", "answer": str(2 * i + 2)} for i in range(4)]
    (tmp_path / "sums.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def run(kind="VLLMCustomAPIChat", more="", evaluation=ACCURACY, template=ROUND, inferencer="GenInferencer"):
        text = CONFIG.replace("CLASS", kind).replace("MORE", more).replace("EVALUATION", evaluation)
        text = text.replace("TEMPLATE", template).replace("INFERENCER", inferencer)
        with RecordingServer() as server:
            (tmp_path / "config.py").write_text(text.replace("PORT", str(server.port)))
            code = main(["run", "config.py", "--output", "out"])
        assert code == 0
        return server.requests, json.loads((tmp_path / "out" / "results.json").read_text())["results"]["sums"]

    return run


def test_the_servers_own_model_is_asked_and_not_the_tokenizers_folder(asked):
    requests, _ = asked()
    assert {body["model"] for _, body in requests} == {MODEL}
    assert requests[0][1].keys() == {"model", "messages", "max_tokens"}  # no temperature: the server's own


def test_what_the_config_says_of_writing_is_sent_as_it_says(asked):
    requests, _ = asked(more='model="named", generation_kwargs=dict(temperature=0.5, ignore_eos=True, top_k=3)')
    body = requests[0][1]
    assert (body["model"], body["temperature"], body["ignore_eos"], body["top_k"]) == ("named", 0.5, True, 3)
    assert body["max_tokens"] == 4096  # what the class has without max_out_len


def test_the_datasets_stopping_criteria_and_limit_are_not_sent(asked):
    own = 'GenInferencer, stopping_criteria=["Question:"], max_out_len=7'
    requests, _ = asked(more="max_out_len=20", inferencer=own)
    assert "stop" not in requests[0][1]
    assert requests[0][1]["max_tokens"] == 20


def test_several_sequences_are_several_runs(asked):
    requests, scores = asked(
        more="generation_kwargs=dict(temperature=0.7, num_return_sequences=3)",
        evaluation="eval_cfg=dict(evaluator=dict(type=MATHEvaluator)),",
    )
    assert len(requests) == 12
    assert scores["avg@3"] == scores["pass@3"] == scores["cons@3"] == 50.0


@pytest.mark.parametrize(
    "kind, more, route, field",
    [
        ("VLLMCustomAPI", "", "/v1/completions", "prompt"),
        ("VLLMCustomAPI", "stream=True", "/v1/completions", "prompt"),
        ("VLLMCustomAPIChat", "stream=True", "/v1/chat/completions", "messages"),
        ("TGICustomAPI", "", "/generate", "inputs"),
        ("TGICustomAPI", "stream=True", "/generate_stream", "inputs"),
        ("TritonCustomAPI", "model_name='net'", "/v2/models/net/generate", "text_input"),
        ("TritonCustomAPI", "stream=True", f"/v2/models/{MODEL}/generate_stream", "text_input"),
        ("MindieStreamApi", "stream=True", "/infer", "inputs"),
        ("VITAGenerateAPI", "model='vita'", "/generate", "prompt"),
    ],
)
def test_every_server_is_asked_by_its_own_route(asked, kind, more, route, field):
    requests, scores = asked(kind, more, evaluation="eval_cfg=dict(evaluator=dict(type=MATHEvaluator)),")
    assert {path for path, _ in requests} == {route}
    assert field in requests[0][1]
    assert scores["accuracy"] == 50.0


def test_a_judge_reads_the_answers_and_nobody_else(asked):
    """Every candidate says "I choose A"; the judge finds half of them right."""
    requests, scores = asked(evaluation=JUDGED)
    judged = [body for _, body in requests if body["max_tokens"] == 33]
    assert len(judged) == 4
    assert judged[0]["response_format"] == {"type": "text"}
    assert judged[0]["messages"][0] == {"role": "system", "content": "You judge."}
    assert scores["accuracy"] == 50.0


LABELS = '{each: dict(round=[dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt=each)]) for each in ("2", "4")}'


@pytest.mark.parametrize("kind, route", [("VLLMCustomAPI", "completions"), ("VLLMCustomAPIChat", "chat/completions")])
def test_losses_are_asked_of_prompts(asked, kind, route):
    requests, scores = asked(kind, "", template=LABELS, inferencer="PPLInferencer")
    assert {path for path, _ in requests} == {f"/v1/{route}"}
    assert all(body["prompt_logprobs"] == 0 for _, body in requests)
    assert scores["n"] == 4


def test_a_server_that_cannot_be_asked_for_its_model_is_an_error():
    engine = make_engine("openai", {"model": "", "base_url": "http://127.0.0.1:9"})
    with pytest.raises(EngineError, match="no model is named, and the server cannot be asked"):
        _ = engine.identity


def test_models_that_make_pictures_are_refused_by_name():
    model = {"type": Reference("ais_bench.benchmark.models.QwenImageEditModel"), "abbr": "q", "path": "x"}
    with pytest.raises(UsageError, match="it makes pictures"):
        model_config(model)
