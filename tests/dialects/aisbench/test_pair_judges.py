"""``LMEvaluator``: a judge compares answers with another model's, in the order that upstream draws."""

from __future__ import annotations

import json
import random

import pytest

from proctor.dialects.aisbench.resolve import resolve_name
from proctor.dialects.aisbench.validate import validate
from proctor.engines.engine_registry import make_engine
from proctor.recipes.options import ExamOptions
from proctor.running import run_exams
from proctor.testing.answers import prompt_text
from proctor.testing.server import FaultServer

CONFIG = """
from opencompass.datasets import JsonlDataset
from opencompass.openicl.icl_evaluator import LMEvaluator
from opencompass.models import OpenAI
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.datasets import READER

judge_models = [dict(type=OpenAI, abbr="judge", path="judge", key="k", openai_api_base="URL", max_out_len=16)]
datasets = [
    dict(
        abbr="pairs",
        type=JsonlDataset,
        path="rows.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="judge"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template="{question}"),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer, max_out_len=8),
        ),
        eval_cfg=dict(
            evaluator=dict(
                type=LMEvaluator,
                prompt_template=dict(type=PromptTemplate, template="[1] {prediction} [2] {prediction2} of {question}"),
                dict_postprocessor=dict(type=READER),
            ),
        ),
        mode="m2n",
        infer_order="ORDER",
        given_pred=[dict(abbr="other", path="given")],
    )
]
"""
COUNT = 8


def says(body):
    """Answer as the candidate, or as a judge who prefers what calls itself good."""
    text = prompt_text(body)
    if "[1]" not in text:
        return "good" if int(text.split()[-1]) % 2 else "bad"
    first, second = text.split("[1] ")[1].split(" of ")[0].split(" [2] ")
    best = "good" if "good" in (first, second) else "average"
    first_wins = first == best
    return ("m" if first_wins else "M") + (" [[A>B]]" if first_wins else " [[B>>A]]")


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"number {i}", "judge": {"capability": f"c{i % 2}"}} for i in range(COUNT)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "given").mkdir()
    others = {str(i): {"prediction": "average"} for i in range(COUNT)}
    (tmp_path / "given" / "pairs.json").write_text(json.dumps(others))

    def written(reader="alpacaeval_postprocess", order="random", url="http://127.0.0.1:9/v1", **changes):
        text = CONFIG.replace("READER", reader).replace("ORDER", order).replace("URL", url)
        for old, new in changes.items():
            text = text.replace(old, new)
        path = tmp_path / "pairs.py"
        path.write_text(text)
        return path

    return written


def scores(config, **more):
    with FaultServer(answer=says) as server:
        path = config(url=server.url, **more)
        exams = resolve_name(str(path), ExamOptions())
        engine = make_engine("openai", {"model": "candidate", "base_url": server.url})
        return run_exams(exams, engine, log="answers.db").results["pairs"]


@pytest.mark.parametrize("order", ["random", "double"])
def test_the_better_answer_wins_wherever_it_stands(config, order):
    found = scores(config, order=order)
    assert found["total"] == 50.0
    assert (found["c0"], found["c1"]) == (0.0, 100.0)


def test_clear_wins_count_three_times_in_arena_hard(config):
    """The candidate wins 4 of 8; a win of the second place is clear in this judge's words."""
    found = scores(config, reader="arenahard_postprocess", order="random")
    stream, won, weights = random.Random(666), 0, 0
    for i in range(COUNT):
        pair = ["other", "candidate"]
        stream.shuffle(pair)
        winner = "candidate" if i % 2 else "other"
        weight = 1 if pair[0] == winner else 3
        weights += weight
        won += weight * (winner == "candidate")
    assert found["score"] == round(100 * won / weights, 2)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"order": "randm"}, "did you mean 'random'"),
        ({"reader": "alpacaeval_postproces"}, "did you mean 'alpacaeval_postprocess'"),
        ({'given_pred=[dict(abbr="other", path="given")],': ""}, "the dataset names none"),
    ],
)
def test_what_cannot_be_compared_is_said_before_anybody_is_asked(config, changes, words):
    path = config(**changes)
    problems = [str(each) for exam in resolve_name(str(path), ExamOptions()) for each in exam.problems()]
    assert words in "\n".join(problems)
    assert words in "\n".join(map(str, validate(path)[1]))


def test_missing_answers_of_the_other_model_are_an_error_and_not_a_score(config, tmp_path):
    (tmp_path / "given" / "pairs.json").unlink()
    found = scores(config)
    (failure,) = found["metric_failures"].values()
    assert "there is no file 'given/pairs.json'" in failure
    assert "total" not in found
