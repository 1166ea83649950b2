"""What computes scores stands in fingerprints: two runs whose metric was another function are not compared as one."""

import json
import textwrap
from functools import partial

import pytest

from proctor.dialects.resolve import resolve_tasks
from proctor.recipes.metric_code import with_code
from proctor.scoring.metric_table import metric_table, register_metric

RECIPE = {
    "__type__": "dataset_recipe",
    "card": {
        "__type__": "task_card",
        "loader": {"__type__": "load_from_dictionary", "data": {"test": [{"q": "a", "a": "yes"}]}},
        "task": {
            "__type__": "task",
            "input_fields": {"q": "str"},
            "reference_fields": {"a": "str"},
            "prediction_type": "str",
            "metrics": ["brevity"],
        },
    },
    "template": {"__type__": "input_output_template", "input_format": "{q}", "output_format": "{a}"},
}
YAML = """
    task: brief
    dataset_path: json
    dataset_kwargs: {data_files: {test: test.jsonl}}
    test_split: test
    output_type: generate_until
    doc_to_text: "{{q}}"
    doc_to_target: "{{a}}"
    metric_list: [{metric: brevity}]
"""
CONFIG = """
    from opencompass.datasets import JsonlDataset
    from opencompass.openicl.icl_inferencer import GenInferencer
    from opencompass.openicl.icl_prompt_template import PromptTemplate
    from opencompass.openicl.icl_retriever import ZeroRetriever

    infer_cfg = dict(
        prompt_template=dict(type=PromptTemplate, template="{q}"),
        retriever=dict(type=ZeroRetriever),
        inferencer=dict(type=GenInferencer, max_out_len=8),
    )
    brief_datasets = [
        dict(
            abbr="brief",
            type=JsonlDataset,
            path="test.jsonl",
            reader_cfg=dict(input_columns=["q"], output_column="a"),
            infer_cfg=infer_cfg,
            eval_cfg=dict(evaluator=dict(type="brevity")),
        )
    ]
"""
EVAL_YAML = """
    name: brief
    evaluation_framework: inspect-ai
    tasks:
      - id: brief
        config: default
        split: test
        field_spec: {input: q, target: a}
        solvers: [{name: generate}]
        scorers: [{name: brevity}]
"""


def short(references, predictions):
    return float(len(predictions[0]) <= 3)


def shorter(references, predictions):
    return float(len(predictions[0]) <= 2)


@pytest.fixture(autouse=True)
def _forgotten():
    yield
    metric_table.cache_clear()


@pytest.mark.parametrize(
    "name, text",
    [
        ("recipe.json", json.dumps(RECIPE)),
        ("task.yaml", textwrap.dedent(YAML)),
        ("config.py", textwrap.dedent(CONFIG)),
        ("eval.yaml", textwrap.dedent(EVAL_YAML)),
    ],
)
def test_another_function_under_the_same_name_is_another_metric(name, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.jsonl").write_text('{"q": "a", "a": "yes"}\n', encoding="utf-8")
    (tmp_path / name).write_text(text, encoding="utf-8")
    found = []
    for function in (short, shorter, short):
        register_metric("brevity", function)
        monkeypatch.setattr(function, "__module__", "__main__")
        (exam,) = resolve_tasks([str(tmp_path / name)])
        found.append(exam.definition.metrics)
    assert found[0] == found[2] != found[1]


def test_the_code_is_that_of_the_file_that_has_the_function():
    register_metric("brevity", short)
    ((function, given, digests), aggregation) = with_code([{"metric": "program:brevity", "weight": 1}])["code"][
        "brevity"
    ]
    assert (function, given, aggregation) == ("short", [], "mean")
    assert any("test_metric_code" in name for name in digests)


def test_metrics_that_no_program_registered_have_no_code():
    assert "code" not in with_code(["exact_match", "metrics.accuracy"])
    assert with_code(["metrics.bleu"])["versions"].keys() <= {"sacrebleu", "nltk"}


def test_functions_of_the_program_itself_count_by_what_they_do(monkeypatch):
    monkeypatch.setattr(short, "__module__", "__main__")
    monkeypatch.setattr(shorter, "__module__", "__main__")
    register_metric("brevity", short)
    one = with_code(["brevity"])["code"]
    register_metric("brevity", shorter)
    assert with_code(["brevity"])["code"] != one


def test_arguments_that_a_function_is_given_and_its_aggregation_count_too():
    found = []
    for function, aggregation in (
        (partial(short, most=1), "mean"),
        (partial(short, most=2), "mean"),
        (short, "mean"),
        (shorter, "mean"),  # of the same file
        (short, max),
    ):
        register_metric("brevity", function, aggregation=aggregation)
        found.append(with_code(["brevity"])["code"])
    assert all(one != other for place, one in enumerate(found) for other in found[:place])
