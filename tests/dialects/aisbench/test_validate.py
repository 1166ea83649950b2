import pytest

from proctor.dialects.aisbench.validate import validate

CONFIG = """
from opencompass.datasets import CustomDataset
from opencompass.openicl.icl_evaluator import AccEvaluator, OptionSimAccEvaluator, AccEvaluatr
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from mine import MyEvaluator

datasets = [dict(
    abbr='texts', type=CustomDataset, path='ROWS',
    reader_cfg=dict(input_columns=['q'], output_column='a'),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template='{q}'),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
    eval_cfg=EVALUATION)]
"""


@pytest.mark.parametrize(
    "evaluation, problem",
    [
        ("dict(evaluator=dict(type=AccEvaluator))", None),
        ("dict(evaluator=dict(type='metrics.rouge'), pred_postprocessor=dict(type='processors.lower_case'))", None),
        ("dict(evaluator=dict(type=MyEvaluator))", None),
        ("dict(evaluator=dict(type='HumanEvalEvaluator'))", None),
        ("dict(evaluator=dict(type=AccEvaluatr))", "evaluator 'AccEvaluatr' cannot be computed"),
        ("dict(evaluator=dict(type='metrics.rogue'))", "evaluator 'metrics.rogue' cannot be computed"),
        ("dict(evaluator=dict(type='lm_eval:bleu', tokenize='zh'))", "takes no arguments"),
        ("dict(evaluator=dict(type=OptionSimAccEvaluator))", "needs the argument 'options'"),
        (
            "dict(evaluator=dict(type=AccEvaluator), pred_postprocessor=dict(type='first_option_postprocess'))",
            "does not take these arguments",
        ),
        (
            "dict(evaluator=dict(type=AccEvaluator), dataset_postprocessor=dict(type='gsm9k'))",
            "post-processor 'gsm9k' is not known",
        ),
    ],
)
def test_names_and_arguments_of_what_grades_are_checked(tmp_path, evaluation, problem):
    path = tmp_path / "config.py"
    path.write_text(CONFIG.replace("EVALUATION", evaluation))
    found = validate(path)[1]
    assert [problem in each.what for each in found] == ([] if problem is None else [True])
    assert all(each.location.line == 15 for each in found)
