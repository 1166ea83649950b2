"""Exams of each dialect in the form of each other one, read back: the same requests and scores, or a named loss."""

import json
from dataclasses import replace
from datetime import date

import pytest
from conformance.conversions import FORMS, OUTCOMES, outcomes

from proctor.dialects.conversion import convert_exam
from proctor.dialects.conversion.converted import ConvertedExam
from proctor.dialects.conversion.written import _cut
from proctor.dialects.resolve import resolve_task
from proctor.errors import UsageError
from proctor.recipes.options import ExamOptions

EXAMS = 40
"""Exams of each dialect, from the whole list; ``python -m conformance.conversions`` converts all."""

LEAST = {
    ("lm_eval", "unitxt"): 0.7,
    ("lm_eval", "aisbench"): 0.5,
    ("unitxt", "lm_eval"): 0.9,
    ("unitxt", "aisbench"): 0.9,
    ("aisbench", "lm_eval"): 0.6,
    ("aisbench", "unitxt"): 0.6,
}
"""Shares of exams that are asked and scored as before, a little below what they are: they may only rise."""


@pytest.mark.parametrize("dialect", FORMS)
def test_requests_and_scores_are_equal_or_the_loss_is_named(dialect):
    found = list(outcomes(dialect, EXAMS))
    assert len({each.exam for each in found}) == EXAMS
    assert [each for each in found if each.outcome == "UNNAMED"] == []
    for to in FORMS:
        mine = [each for each in found if each.to == to]
        same = [each for each in mine if each.outcome in (OUTCOMES[0], OUTCOMES[2])]
        assert len(same) >= LEAST.get((dialect, to), 0) * len(mine)
        assert all(each.detail for each in mine if each.outcome == "refused")


def task(folder, **values):
    rows = [{"q": f"{number}?", "a": str(number), "c": ["0", "1", "2"]} for number in range(3)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    head = {
        "task": "sums",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(folder / "rows.jsonl")}},
        "test_split": "test",
        "doc_to_text": "{{q}}",
        "doc_to_target": "{{a}}",
    }
    (folder / "sums.yaml").write_text(json.dumps({**head, **values}))
    (exam,) = resolve_task(str(folder / "sums.yaml"), ExamOptions())
    return exam


def losses(made, part):
    return [each.text for each in made.lost if each.part == part]


def test_what_a_config_leaves_to_the_model_is_named(tmp_path):
    made = convert_exam(task(tmp_path, generation_kwargs={"temperature": 0.5, "min_p": 0.1}), "opencompass")
    assert [each.partition(":")[0] for each in losses(made, "requests")] == ["temperature", "min_p"]


def test_each_metric_is_a_dataset_of_a_config(tmp_path):
    made = convert_exam(task(tmp_path, metric_list=[{"metric": "exact_match"}, {"metric": "chrf"}]), "opencompass")
    assert made.text.count("abbr=") == 2
    assert losses(made, "scores") == []
    assert any(each.startswith("lm_eval:chrf: Proctor computes it") for each in losses(made, "elsewhere"))


def test_each_filter_pipeline_is_a_recipe_of_a_benchmark(tmp_path):
    pipelines = [
        {"name": name, "filter": [{"function": "regex", "regex_pattern": pattern}, {"function": "take_first"}]}
        for name, pattern in (("strict", "is ([0-9])"), ("loose", "([0-9])"))
    ]
    made = convert_exam(task(tmp_path, filter_list=pipelines), "unitxt")
    assert list(json.loads(made.text)["subsets"]) == ["strict", "loose"]


def test_code_of_a_task_and_repeats_are_named(tmp_path):
    made = convert_exam(task(tmp_path, repeats=3), "unitxt")
    assert "repeats" in losses(made, "requests")[0]
    assert "repeats" in losses(made, "scores")[0]


def test_likelihoods_of_one_text_are_refused(tmp_path):
    with pytest.raises(UsageError, match="likelihoods of one text"):
        convert_exam(task(tmp_path, output_type="loglikelihood"), "unitxt")


def test_columns_that_are_called_as_ours_keep_their_names(tmp_path):
    rows = [{"prompt": "old", "target": "gold"}]
    exam = task(tmp_path, doc_to_text="Say {{prompt}}", doc_to_target="target")
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    made = convert_exam(exam, "lm-eval")
    assert made.rows == [{"prompt": "old", "target": "gold", "prompt_": "Say old", "target_": "gold"}]


def test_no_limit_of_tokens_stays_none(tmp_path):
    recipe = "card=samples.cards.sentiment,template=samples.templates.sentiment"
    (before,) = resolve_task(recipe, ExamOptions())
    made = convert_exam(before, "lm-eval")
    (tmp_path / made.rows_file).write_text(made.rows_text())
    (tmp_path / "s.yaml").write_text(made.text)
    (after,) = resolve_task(str(tmp_path / "s.yaml"), ExamOptions())
    assert {each.requests[0].decoding.max_tokens for each in after.questions()} == {None}


def test_a_task_as_a_recipe_takes_repeats(tmp_path):
    made = convert_exam(task(tmp_path), "unitxt")
    assert "take_first" not in made.text
    (tmp_path / made.rows_file).write_text(made.rows_text())
    (tmp_path / "made.json").write_text(made.text)
    (exam,) = resolve_task(str(tmp_path / "made.json"), ExamOptions(repeats=2, reduce=("best",)))
    assert exam.name


def test_what_a_recipe_says_of_a_metric_beside_its_arguments_is_named(tmp_path):
    made = convert_exam(task(tmp_path, metric_list=[{"metric": "exact_match", "ignore_case": True}]), "unitxt")
    (tmp_path / made.rows_file).write_text(made.rows_text())
    held = '"metric": "lm_eval:exact_match",'
    assert held in made.text
    for changed, lost in ((held, []), (f'{held} "score_prefix": "mine_",', ["metric RegisteredMetric"])):
        (tmp_path / "made.json").write_text(made.text.replace(held, changed))
        (exam,) = resolve_task(str(tmp_path / "made.json"), ExamOptions())
        assert [each.partition(":")[0] for each in losses(convert_exam(exam, "lm-eval"), "scores")] == lost


def test_an_exam_with_metrics_of_the_user_is_not_written(tmp_path):
    task(tmp_path)
    (exam,) = resolve_task(str(tmp_path / "sums.yaml"), ExamOptions(metric=("contains",)))
    with pytest.raises(UsageError, match="--metric of 'sums' is not written into other forms"):
        convert_exam(exam, "unitxt")


def test_rows_that_a_config_asks_twice_are_asked_once_elsewhere(tmp_path):
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"q": f"{n}?", "a": str(n)}) + "\n" for n in range(3)))
    (tmp_path / "twice.py").write_text(
        f"datasets = [dict(abbr='twice', type='JsonlDataset', path={str(tmp_path / 'rows.jsonl')!r}, n=2, k=[1, 2],\n"
        "    reader_cfg=dict(input_columns=['q'], output_column='a'), eval_cfg=dict(evaluator=dict(type='AccEvaluator')),\n"
        "    infer_cfg=dict(prompt_template=dict(type='PromptTemplate', template='{q}'),\n"
        "        retriever=dict(type='ZeroRetriever'), inferencer=dict(type='GenInferencer')))]\n"
    )
    (exam,) = resolve_task(str(tmp_path / "twice.py"), ExamOptions())
    made = convert_exam(exam, "lm-eval")
    assert len(made.rows) == 3
    assert "each row is asked 2 times under seeds of its own" in losses(made, "requests")[0]


@pytest.mark.parametrize(
    "texts, context, endings",
    [
        (["Sky is blue", "Sky is green"], "Sky is ", ["blue", "green"]),
        (["Sky is blue", "Sky is blueish"], "Sky is blu", ["e", "eish"]),
        (["a", "b"], "", ["a", "b"]),
        (["", "b"], "", ["", "b"]),
    ],
)
def test_whole_texts_are_cut_where_they_part_and_each_keeps_an_ending(texts, context, endings):
    assert _cut(texts) == [(context, each) for each in endings]


def test_repeats_are_epochs_of_an_eval_yaml_and_what_that_loses_is_named(tmp_path):
    made = convert_exam(task(tmp_path, repeats=3), "eval.yaml")
    assert "epochs: 3" in made.text
    assert any("epochs are averaged" in each for each in losses(made, "scores"))


@pytest.mark.parametrize("name, made", [("3 sums!", "exam_3_sums"), ("Sums/of-Two", "sums_of_two"), ("?", "exam")])
def test_a_converted_exam_is_called_as_a_variable_can_be(tmp_path, name, made):
    assert convert_exam(replace(task(tmp_path), name=name), "unitxt").name == made


def test_rows_are_written_as_people_read_them_whatever_they_hold():
    rows = [{"day": date(2026, 1, 2), "city": "東京"}]
    assert ConvertedExam("a", "", rows).rows_text() == '{"day": "2026-01-02", "city": "東京"}\n'
