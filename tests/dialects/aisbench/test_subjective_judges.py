"""``LMEvaluator`` and its kin on single answers: a judge gives points, and families of exams make scores of them."""

from __future__ import annotations

import json

import pytest

from proctor.dialects.aisbench.resolve import resolve_name
from proctor.engines.engine_registry import make_engine
from proctor.recipes.options import ExamOptions
from proctor.running import run_exams
from proctor.testing.answers import prompt_text
from proctor.testing.server import FaultServer

CONFIG = """
from opencompass.datasets import JsonlDataset, READER
from opencompass.openicl.icl_evaluator import LMEvaluator, ATLASLLMEvaluator
from opencompass.models import OpenAI
from opencompass.openicl.icl_inferencer import ChatInferencer, GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

judge = dict(type=OpenAI, abbr="judge", path="judge", key="k", openai_api_base="URL", max_out_len=16)
other = dict(type=OpenAI, abbr="other", path="other", key="k", openai_api_base="URL", max_out_len=16)
judge_models = [judge]
datasets = [
    dict(
        abbr="essays", type=JsonlDataset, path="rows.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="judge"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template="{question}"),
            retriever=dict(type=ZeroRetriever), inferencer=dict(type=INFERENCER),
        ),
        eval_cfg=dict(evaluator=dict(
            type=EVALUATOR, prompt_template=dict(type=PromptTemplate, template="TEMPLATE"),
            dict_postprocessor=dict(type=READER), MORE
        )),
        mode="singlescore",
    )
]
"""
DIALOGUE = [
    {"role": "user", "content": "one"},
    {"role": "assistant", "content": ""},
    {"role": "user", "content": "two"},
    {"role": "assistant", "content": ""},
]


@pytest.fixture
def scored(tmp_path, monkeypatch):
    """Run a config whose judges answer by a function of their prompt; return the scores and what judges were asked."""
    monkeypatch.chdir(tmp_path)
    asked: list[str] = []

    def run(
        rows,
        judge,
        reader,
        *,
        template="judge {prediction}",
        evaluator="LMEvaluator",
        more="",
        inferencer="GenInferencer",
    ):
        (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))

        def says(body):
            text = prompt_text(body)
            if body["model"] == "candidate":
                return f"reply to {text.split()[-1]}"
            asked.append(text)
            return judge(text, body["model"])

        with FaultServer(answer=says) as server:
            changes = {"READER": reader, "TEMPLATE": template, "EVALUATOR": evaluator, "MORE": more, "URL": server.url}
            text = CONFIG.replace("INFERENCER", inferencer)
            text = text if evaluator == "LMEvaluator" else text.replace('mode="singlescore",', "")
            for old, new in changes.items():
                text = text.replace(old, new)
            (tmp_path / "essays.py").write_text(text)
            exams = resolve_name("essays.py", ExamOptions())
            problems = [str(each) for exam in exams for each in exam.problems()]
            if problems:
                return problems, asked
            run.judges = [each.label for exam in exams for each in exam.judges()]
            engine = make_engine("openai", {"model": "candidate", "base_url": server.url})
            return run_exams(exams, engine, log="answers.db").results["essays"], asked

    return run


def rows_with(*judged):
    return [{"question": f"number {i}", "judge": each} for i, each in enumerate(judged)]


def test_points_are_averaged_by_group_and_what_cannot_be_read_is_a_failure(scored):
    rows = rows_with(*({"domain": d, "format": "JSON", "format_type": "general"} for d in ("a", "a", "b", "b")))
    points = {"0": "1", "1": "0", "2": "1", "3": "?"}
    found, asked = scored(rows, lambda text, _: f"'format_correctness': {points[text.split()[-1]]}", "fofo_postprocess")
    assert (found["overall"], found["a"], found["b"], found["JSON"]) == (
        pytest.approx(2 / 3),
        0.5,
        1.0,
        pytest.approx(2 / 3),
    )
    assert found["failures"] == 1
    assert found["unit"] == "share"
    assert min(asked) == "judge reply to 0"


def test_each_row_may_bring_several_prompts_for_the_judge(scored):
    judged = {"domain1": "d", "judge_prompt_list": ["first {prediction}", "second {prediction}"]}
    found, asked = scored(
        rows_with(judged),
        lambda text, _: '{"score": 8}' if "first" in text else '{"score": 4}',
        "writingbench_postprocess",
        template="{prediction}",
        more="multi_eval=True",
    )
    assert sorted(asked) == ["first reply to 0", "second reply to 0"]
    assert (found["overall"], found["d"]) == (6.0, 6.0)


def test_a_judge_sees_the_rounds_of_a_conversation(scored):
    rows = [{"question": DIALOGUE, "judge": {"capability": "writing"}}]
    found, asked = scored(
        rows,
        lambda text, _: "Rating: [[7.5]]",
        "mtbench_postprocess",
        template="[{prediction_r1}] [{prediction_r2}]",
        inferencer='ChatInferencer, infer_mode="every"',
    )
    assert asked == ["[reply to one] [reply to two]"]
    assert (found["total"], found["writing"]) == (7.5, 7.5)


def test_a_conversation_may_be_one_text(scored):
    rows = [{"question": DIALOGUE, "judge": {"category": "c", "difficulty": "easy"}}]
    found, asked = scored(
        rows,
        lambda text, _: "[[4分]]",
        "compassarena_subjectiveeval_pointwise_postprocess",
        inferencer='ChatInferencer, infer_mode="every"',
        more="pack_all_predictions=True",
    )
    assert "{'round': 2, 'user': 'two', 'assistant': 'reply to two'}" in asked[0]
    assert (found["Average_score"], found["c_easy"]) == (80.0, 80.0)


def test_readers_of_right_and_wrong_work_here_too(scored):
    rows = rows_with({}, {})
    found, _ = scored(rows, lambda text, _: "A" if text.endswith("0") else "B", "generic_llmjudge_postprocess")
    assert found["accuracy"] == 50.0


def test_most_of_several_judges_decide(scored):
    more = "judge_cfg=dict(judgers=[judge, other, judge])"
    judged = {"judge": "A", "other": "B"}

    def says(text, model):
        label = judged[model] if text.endswith("0") else "B"
        return f'```json\n{{"judgements": [{{"label": "{label}"}}]}}\n```'

    found, asked = scored(rows_with({}, {}), says, "atlas_judge_postprocess", evaluator="ATLASLLMEvaluator", more=more)
    assert found["accuracy"] == 50.0  # two of three find the first right
    assert scored.judges == ["judge", "other"]
    assert len(asked) == 4  # what one judge was asked already is not asked again


def test_tables_of_several_models_are_refused_with_the_reason(scored):
    problems, asked = scored(rows_with({}), lambda text, _: "", "wildbench_bradleyterry_postprocess")
    assert "table of the strengths of several models" in problems[0]
    assert "wildbench_postprocess" in problems[0]
    assert not asked


def test_judgements_of_which_none_can_be_read_are_an_error_and_no_score(scored):
    found, _ = scored(rows_with({"task": "x", "multi_id": 1}), lambda text, _: "?", "mtbench101_postprocess")
    assert "avg" not in found
    assert "no judgement can be read" in str(found["metric_failures"])
