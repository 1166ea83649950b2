"""``--output-format aisbench``: lines of predictions are those that ``ais_bench`` writes, and so are tables' versions."""

import json

import pytest
from conformance.aisbench.recording_server import RecordingServer

from proctor.cli.__main__ import main

CONFIG = """
from ais_bench.benchmark.datasets import Aime2025Dataset, Aime2025JDGDataset
from ais_bench.benchmark.datasets.utils.llm_judge import LLMJudgeCorrectEvaluator, get_a_or_b
from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer, MultiTurnGenInferencer, PPLInferencer
from ais_bench.benchmark.openicl.icl_prompt_template import MultiTurnPromptTemplate, PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import FixKRetriever, ZeroRetriever

model = dict(attr="service", type=VLLMCustomAPIChat, abbr="m", path="", model="served", host_ip="localhost",
             host_port=PORT, max_out_len=9, batch_size=1, generation_kwargs=dict(temperature=0.0))
judge = dict(
    judge_reader_cfg=dict(input_columns=["question", "answer", "model_answer"], output_column="model_pred_uuid"),
    judge_model=dict(model, abbr="judge"),
    judge_dataset_type=Aime2025JDGDataset,
    prompt_template=dict(type=PromptTemplate, template=dict(round=[dict(role="HUMAN", prompt="<Gold Target Begin>: {answer} <Predicted Answer Begin>: {model_answer} <Predicted End>")])),
    retriever=dict(type=ZeroRetriever),
    inferencer=dict(type=GenInferencer),
)
turns = [dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt="{answer}")]
solve = dict(round=[dict(role="HUMAN", prompt="Solve: {question}")])


def made(abbr, template, inferencer=GenInferencer, path="sums.jsonl", kind=PromptTemplate, **more):
    return dict(
        abbr=abbr, type=Aime2025Dataset, path=path,
        reader_cfg=dict(input_columns=["question"], output_column="answer"),
        infer_cfg=dict(prompt_template=dict(type=kind, template=template), retriever=dict(type=ZeroRetriever),
                       inferencer=dict(type=inferencer)),
        eval_cfg=dict(evaluator=dict(type=AccEvaluator)), **more)


datasets = [DATASETS]
models = [model]
summarizer = dict(attr="accuracy", SUMMARIZER)
"""
ASKED = [{"role": "HUMAN", "prompt": "Solve: 1+1"}]
ROLES = [{"role": "HUMAN", "prompt": "0+1"}, {"role": "BOT", "prompt": "The answer is \\boxed{1}. I choose A"}]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.jsonl").write_text('{"question": "1+1", "answer": "2"}\n{"question": "1+3", "answer": "4"}\n')
    (tmp_path / "talks.jsonl").write_text('{"question": ["0+1", "0+2"], "answer": ["1", "2"]}\n')

    def ask(datasets, summarizer=""):
        with RecordingServer() as server:
            text = CONFIG.replace("DATASETS", datasets).replace("PORT", str(server.port))
            (tmp_path / "config.py").write_text(text.replace("SUMMARIZER", summarizer))
            assert main(["run", "config.py", "--output", "out", "--output-format", "aisbench"]) == 0
        return tmp_path / "out"

    return ask


def lines(folder, name):
    found = map(json.loads, (folder / "predictions" / "m" / f"{name}.jsonl").read_text().splitlines())
    return [
        {key: value for key, value in line.items() if key not in ("uuid", "success", "data_abbr")} for line in found
    ]


def test_texts_are_filed_as_texts_and_dialogues_as_turns(run):
    out = run('made("round", solve), made("text", "Solve: {question}")')
    said = "The answer is \\boxed{2}. I choose A"
    assert lines(out, "round")[0] == {"id": 0, "origin_prompt": ASKED, "prediction": said, "gold": "2"}
    assert lines(out, "text")[0] == {"id": 0, "origin_prompt": "Solve: 1+1", "prediction": said, "gold": "2"}


def test_every_turn_of_a_conversation_has_what_was_said_before_it(run):
    out = run('made("talk", dict(round=turns), MultiTurnGenInferencer, "talks.jsonl", MultiTurnPromptTemplate)')
    first, second = lines(out, "talk")
    assert first == {"id": 0, "origin_prompt": ROLES[:1], "prediction": ROLES[1]["prompt"], "gold": ["1", "2"]}
    assert second["origin_prompt"] == [*ROLES, {"role": "HUMAN", "prompt": "0+2"}]


def test_losses_stand_beside_the_label_that_won(run):
    labels = (
        '{each: dict(round=[dict(role="HUMAN", prompt="{question}"), dict(role="BOT", prompt=each)]) for each in "24"}'
    )
    found = lines(run(f'made("ppl", {labels}, PPLInferencer)'), "ppl")[0]
    assert found["origin_prompt"][0] == [{"role": "user", "content": "1+1"}, {"role": "assistant", "content": "2"}]
    losses = {each["label"]: each["ppl"] for each in found["ppl_list"]}
    assert losses.keys() == {"2", "4"}
    assert found["prediction"] == min(losses, key=losses.get)


def test_thoughts_stay_in_what_was_predicted(run):
    found = lines(run('made("think", "Think first: {question}")'), "think")[0]
    assert found["prediction"] == "<think>2+2 is no help.</think>The answer is \\boxed{2}. I choose A"


def test_tables_have_the_versions_and_names_of_aisbenchs_tables(run):
    judged = 'made("judged", solve, judge_infer_cfg=judge), made("plain", "Question: {question}\\\\nAnswer:")'
    judged = judged.replace("judge_infer_cfg=judge", "judge_infer_cfg=judge, n=1")
    more = 'dataset_abbrs=["judged-judge", "all", "plain"], summary_groups=[dict(name="all", subsets=["judged-judge", "plain"])]'
    out = run(judged, more)
    rows = [row.split(",") for row in (out / "summary.csv").read_text().splitlines()[1:]]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("judged-judge", SOLVE_VERSION, "gen"),
        ("all", "-", "gen"),
        ("plain", rows[2][1], "gen"),
    ]
    assert rows[2][1] != SOLVE_VERSION


SOLVE_VERSION = "e7ffca"
"""What ``ais_bench`` 3.1 shows of this prompt (``conformance/aisbench/processes.py``)."""
