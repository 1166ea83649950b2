"""Converted configs ask what the config asks: the prompts of all rows are compared."""

from __future__ import annotations

import json

import pytest
from tests_commands import proctor

from proctor.dialects.aisbench.resolve import exams_of_config
from proctor.dialects.conversion import convert_exam
from proctor.dialects.resolve import resolve_task
from proctor.errors import UsageError
from proctor.ir import Response
from proctor.ir.question import Answered
from proctor.recipes.options import ExamOptions

CONFIG = """
from opencompass.datasets import JsonlDataset
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer, PPLInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import FixKRetriever, ZeroRetriever
from opencompass.utils.text_postprocessors import first_capital_postprocess

question = 'Use {{{{braces}}}} and {{% this %}}: {{question}}'
sums_datasets = [dict(
    abbr='Sums 1', type=JsonlDataset, path='{rows}',
    reader_cfg=dict(input_columns=['question'], output_column='answer'),
    infer_cfg=dict(
        ice_template=dict(type=PromptTemplate, template=dict(
            round=[dict(role='HUMAN', prompt=question), dict(role='BOT', prompt='{{answer}}')])),
        prompt_template=dict(type=PromptTemplate, ice_token='</E>', template=dict(
            begin=['</E>'], round=[dict(role='HUMAN', prompt=question), dict(role='BOT', prompt='{{answer}}')])),
        retriever=dict(type=FixKRetriever, fix_id_list=[0, 2]),
        inferencer=dict(type=GenInferencer, max_out_len=7, stopping_criteria=['\\n'])),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator), pred_postprocessor=dict(type=first_capital_postprocess)))]
choice_datasets = [dict(
    abbr='choice', type=JsonlDataset, path='{rows}',
    reader_cfg=dict(input_columns=['question', 'A', 'B'], output_column='label'),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template=dict(A='Q: {{question}}\\nA: {{A}}', B='Q: {{question}}\\nA: {{B}}')),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=PPLInferencer)),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator)))]
"""
ROWS = [
    {"question": f"{n}+{n} is 'what'?", "answer": str(2 * n), "A": f" {2 * n}", "B": "no", "label": "A"}
    for n in range(4)
]


@pytest.fixture
def config(tmp_path):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    path = tmp_path / "sums_gen.py"
    path.write_text(CONFIG.format(rows=rows))
    return path


def exam(config, abbr):
    (found,) = exams_of_config(config, abbr, ExamOptions())
    return found


def written(made, folder, ending):
    path = folder / f"{made.name}{ending}"
    path.write_text(made.text)
    (folder / made.rows_file).write_text(made.rows_text())
    return path


def prompts(exam):
    return [request.prompt.payload for item in exam.questions() for request in item.requests]


@pytest.mark.parametrize("to, ending", [("lm-eval", ".yaml"), ("unitxt", ".json")])
def test_the_other_form_asks_the_same(config, tmp_path, to, ending):
    before = exam(config, "Sums 1")
    made = convert_exam(before, to)
    (after,) = resolve_task(str(written(made, tmp_path, ending)), ExamOptions())
    assert prompts(after) == prompts(before)
    assert "{% this %}" in prompts(after)[0]
    assert [item.exchange.references for item in after.questions()] == [("0",), ("2",), ("4",), ("6",)]


def test_generation_arguments_stop_and_first_capitals_go_along(config):
    made = convert_exam(exam(config, "Sums 1"), "lm-eval")
    assert "max_gen_toks: 7" in made.text
    assert "([A-Z])" in made.text
    assert not made.lost


def test_labels_become_choices(config, tmp_path):
    before = exam(config, "choice")
    made = convert_exam(before, "lm-eval")
    assert [reason.part for reason in made.lost if "PPLInferencer" in reason.text] == ["requests", "scores"]
    (after,) = resolve_task(str(written(made, tmp_path, ".yaml")), ExamOptions())
    texts = [[pair.context.text + pair.continuation for pair in item.requests[0].pairs] for item in after.questions()]
    assert texts == [[request.text for request in item.requests] for item in before.questions()]
    assert [item.exchange.gold for item in after.questions()] == [0] * 4


def test_any_exam_becomes_a_config(tmp_path):
    (before,) = resolve_task("samples.science", ExamOptions())
    made = convert_exam(before, "opencompass")
    (after, *_) = resolve_task(str(written(made, tmp_path, ".py")), ExamOptions())
    asked = [[request.key for request in item.requests] for item in before.questions()]
    assert [[request.key for request in item.requests] for item in after.questions()] == asked
    assert [item.exchange.gold for item in after.questions()] == [item.exchange.gold for item in before.questions()]


def test_what_cannot_be_asked_elsewhere_is_refused(config):
    with pytest.raises(UsageError, match="did you mean 'lm-eval'"):
        convert_exam(exam(config, "choice"), "lm-evl")


def test_from_the_shell(config, tmp_path):
    def convert(*arguments):
        return proctor("convert", config, *arguments, cwd=tmp_path)

    several = convert("--to", "lm-eval")
    assert several.returncode == 2
    assert "means 2 exams" in several.stderr
    done = convert("--to", "lm-eval", "--output", "folder")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {
        "sums_1.yaml", "sums_1.lm-eval.jsonl", "choice.yaml", "choice.lm-eval.jsonl",
    }  # fmt: skip


def graded(exam, answers):
    responses = (Response(texts=(answers[place % len(answers)],)) for place in range(10_000))
    return exam.grade(Answered(item, (response,)) for item, response in zip(exam.questions(), responses, strict=False))


def test_a_recipe_keeps_its_metric_and_its_processors(tmp_path):
    recipe = "card=samples.cards.sentiment,template=samples.templates.sentiment,postprocessors=[processors.lower_case]"
    (before,) = resolve_task(recipe, ExamOptions())
    made = convert_exam(before, "opencompass")
    assert "AccEvaluator" not in made.text.partition("eval_cfg")[2]
    (after, *_) = resolve_task(str(written(made, tmp_path, ".py")), ExamOptions())
    answers = ["Positive", "negative", "positive", "NEGATIVE"]
    was, now = graded(before, answers), graded(after, answers)
    name = was.scores["score_name"]
    assert now.scores["score_name"] == name
    assert (now.scores[name], now.scores[f"{name}_ci_low"]) == (was.scores[name], was.scores[f"{name}_ci_low"])
    assert 0 < was.scores[name] < 1


def test_a_task_keeps_its_metric_and_its_filter(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"q": f"{n}?", "a": str(n)}) + "\n" for n in range(5)))
    task = {
        "task": "numbers",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(tmp_path / "rows.jsonl")}},
        "test_split": "test",
        "doc_to_text": "{{q}}",
        "doc_to_target": "{{a}}",
        "metric_list": [{"metric": "exact_match", "ignore_punctuation": True}],
        "filter_list": [
            {"name": "n", "filter": [{"function": "regex", "regex_pattern": "([0-9.]+)"}, {"function": "take_first"}]}
        ],
    }
    (tmp_path / "numbers.yaml").write_text(json.dumps(task))
    (before,) = resolve_task(str(tmp_path / "numbers.yaml"), ExamOptions())
    made = convert_exam(before, "opencompass")
    (after,) = resolve_task(str(written(made, tmp_path, ".py")), ExamOptions())
    answers = ["it is 0.", "1", "3", "none", "4"]
    was, now = graded(before, answers), graded(after, answers)
    assert now.scores["exact_match"] == was.scores["exact_match,n"] == 0.6
    assert now.scores["exact_match_ci_low"] == was.scores["exact_match,n_ci_low"]


@pytest.mark.parametrize("to, ending", [("lm-eval", ".yaml"), ("unitxt", ".json")])
def test_an_evaluator_keeps_its_name_and_gives_the_same_number(tmp_path, to, ending):
    folder = tmp_path / "of_config"
    folder.mkdir()
    (folder / "rows.jsonl").write_text("".join(json.dumps({"q": f"{n}?", "a": f"word {n}"}) + "\n" for n in range(4)))
    text = CONFIG_OF_TEXTS.replace("ROWS", str(folder / "rows.jsonl"))
    (folder / "texts.py").write_text(text)
    before = exam(folder / "texts.py", "texts")
    made = convert_exam(before, to)
    (after,) = resolve_task(str(written(made, tmp_path, ending)), ExamOptions())
    answers = ["Answer: word 0", "Answer: word 2", "no", "Answer: word 3"]
    was, now = graded(before, answers), graded(after, answers)
    assert 0 < was.scores["rouge1"] < 100
    name = "rouge1,parsed" if to == "lm-eval" else "rouge1"
    for each in (name, f"{name}_ci_low", f"{name}_ci_high"):
        assert now.scores[each] == was.scores[each.replace(",parsed", "")]


CONFIG_OF_TEXTS = """
from opencompass.datasets import CustomDataset
from opencompass.openicl.icl_evaluator import RougeEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

datasets = [dict(
    abbr='texts', type=CustomDataset, path='ROWS',
    reader_cfg=dict(input_columns=['q'], output_column='a'),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template='{q}'),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
    eval_cfg=dict(
        evaluator=dict(type=RougeEvaluator),
        pred_postprocessor=dict(type='match_answer_pattern', answer_pattern=r'Answer: (.*)')))]
"""
