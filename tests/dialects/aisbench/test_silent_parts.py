"""Parts of configs that looked fine and changed nothing, or gave a number of nothing: refused, or named."""

from __future__ import annotations

import json

import pytest

from proctor.cli.__main__ import main
from proctor.dialects.aisbench.run_sections import idle_sections
from proctor.dialects.aisbench.values import ConfigDict

CONFIG = """
from opencompass.datasets import JsonlDataset
from opencompass.openicl.icl_evaluator import AccEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever

datasets = [
    dict(
        abbr="sums",
        type=JsonlDataset,
        path="rows.jsonl",
        reader_cfg=dict(input_columns=["question"], output_column="answer"),
        infer_cfg=dict(
            prompt_template=dict(type=PromptTemplate, template=dict(round=[dict(role="HUMAN", prompt="{question}")])),
            retriever=dict(type=ZeroRetriever),
            inferencer=dict(type=GenInferencer),
        ),
        eval_cfg=dict(evaluator=dict(type=AccEvaluator)),
    )
]
"""
TEMPLATE = 'template=dict(round=[dict(role="HUMAN", prompt="{question}")])'
CUSTOM = 'datasets = [dict(path="rows.jsonl", data_type="qa", infer_method="gen")]'


@pytest.fixture(name="said")
def _said(tmp_path, monkeypatch, capsys):
    """Return what a command says of a config with one part changed, and its exit code."""
    monkeypatch.chdir(tmp_path)
    rows = [{"question": f"{n}+{n}=?", "answer": str(2 * n)} for n in range(1, 5)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))

    def said(command, old="", new="", text=CONFIG):
        assert old in text
        (tmp_path / "config.py").write_text(text.replace(old, new, 1))
        asked = (
            ["--model", "scripted", "--model-args", "answer=2", "-o", f"out_{len(text)}"] if command == "run" else []
        )
        with pytest.raises(SystemExit) as ended:
            raise SystemExit(main([command, "config.py", *asked]))
        told = capsys.readouterr()
        return " ".join((told.out + told.err).split()), ended.value.code or 0

    return said


def test_the_configs_are_right(said):
    for text in (CONFIG, CUSTOM):
        words, code = said("run", text=text)
        assert code == 0
        assert "25.00" in words
        assert "note" not in words


WRONG = [
    ('output_column="answer"', "output_column=None", "names no output_column"),
    ("type=GenInferencer", 'type="PPLInferencer"', "every label has the same prompt"),
    ("datasets = [", "datasets = [[dict(abbr='lost')], ", "an entry of 'datasets' is not a dictionary"),
    ("datasets = [", "sums_datasets = [[dict(abbr='lost')], ", "an entry of 'sums_datasets' is not a dictionary"),
    ("type=GenInferencer", "type=GenInferencer, generation_kwargs={}", "generation_kwargs is a key of a model"),
    ('abbr="sums"', 'abbr="sums", ice_token="</E>"', "ice_token is a key of infer_cfg.prompt_template"),
]
KEPT = [
    ("{question}", "Q\\n{colunm}: {question}", "shows '{colunm}' as it stands"),
    ("{question}", "Q\\n{colunm}", "the prompt shows no other: every row would be asked the same"),
    ("{question}", "What is it?", "it shows no column: every row would be asked the same"),
]
JUDGE = """dict(type="GenericLLMEvaluator", judge_cfg=dict(type="OpenAI", path="judge", key="k"), dict_postprocessor=dict(
    type="generic_llmjudge_postprocess"), prompt_template=dict(type=PromptTemplate, template=dict(round=[
    dict(role="HUMAN", prompt="Judge\\n{question} {prediction} {obj_gold}")])))"""
JUDGED = [
    ("{prediction}", "{answr}", "did you mean 'answer'"),
    ("{prediction}", "{said_of_it}", "the judge's prompt does not show the answer"),
    ("{obj_gold}", "{gold_of_it}", "the judge's prompt shows '{gold_of_it}' as it stands"),
    ("generic_llmjudge_postprocess", "generic_llmjudge_postproces", "generic_llmjudge_postproces"),
    ('path="judge"', 'pth="judge"', "did you mean 'path'"),
]
WRONG_FILES = [
    ("data_type", "datatype", "did you mean 'data_type'"),
    ("infer_method", "infer_methd", "did you mean 'infer_method'"),
    ('"qa"', '"q"', "there is no data_type 'q'"),
    ('"gen"', '"gne"', "did you mean 'gen'"),
    ('"gen"', '"gen", test_range="[3:1]"', "takes no row"),
    ('"gen"', '"gen", evaluator=dict(type="llm_evaluator")', "chatml_datasets"),
]


@pytest.mark.parametrize("command", ["validate", "run"])
@pytest.mark.parametrize("old, new, words", WRONG, ids=lambda value: value[:30])
def test_what_would_give_a_number_of_nothing_is_refused(command, old, new, words, said):
    told, code = said(command, old, new)
    assert words in told
    assert code == 2


@pytest.mark.parametrize("command", ["validate", "show", "run"])
@pytest.mark.parametrize("old, new, words", WRONG_FILES, ids=lambda value: value[:30])
def test_keys_of_a_users_own_file_are_read_by_every_command(command, old, new, words, said):
    told, code = said(command, old, new, CUSTOM)
    assert words in told
    assert code == 2


def test_a_prompt_in_which_nothing_is_filled_is_refused(said):
    told, code = said("run", "{question}", "{problem}")
    assert "every row would be asked the same" in told
    assert code == 2


def test_a_name_in_braces_that_stays_is_named(said, heard):
    _, code = said("run", "{question}", "Solve {task}: {question}")
    assert "the prompt shows '{task}' as it stands" in heard.text
    assert code == 0


@pytest.mark.parametrize("formula", [r"\\boxed{value}", "x_{i}", "x^{n}", r"\\frac{a}{b}", "{{a}}"])
def test_braces_of_formulas_are_none(formula, said, heard):
    assert said("show", "{question}", f"{formula} {{question}}")[1] == 0
    assert "as it stands" not in heard.text


def test_labels_that_nobody_is_asked_with_are_named(said):
    told, code = said("run", TEMPLATE, "template={'A': '{question} A', 'B': '{question} B'}")
    assert "infer_cfg.prompt_template.template.B (GenInferencer asks with the words of the first label, 'A')" in told
    assert code == 0


def test_an_eval_cfg_without_an_evaluator_is_a_problem_of_the_file(said):
    told, code = said("validate", "eval_cfg=dict(evaluator=dict(type=AccEvaluator))", "eval_cfg=dict()")
    assert "the eval_cfg names no evaluator" in told
    assert code == 2


LATER = [
    ("num_prompts = 3", "num_prompts: upstream takes it from the command line"),
    ("summarizer = dict(prompt_db=dict(), dataset_abbrs=['sums'])", "summarizer.prompt_db: it changes how"),
    ("summarizer = dict(summary_groups=[dict(name='g', subsets=['sums', 'others'])])", "no score without 'others'"),
    ("judge_models = [dict(type='OpenAI', abbr='j')]", "judge_models: no dataset has an LMEvaluator"),
    ("work_dir = 'there'", "work_dir: --output says"),
]


@pytest.mark.parametrize("command", ["validate", "run"])
@pytest.mark.parametrize("line, words", LATER)
def test_what_has_no_effect_at_the_top_of_a_file_is_named(command, line, words, said):
    told, code = said(command, "datasets = [", f"{line}\ndatasets = [")
    assert words in told
    assert code == 0


def test_what_is_read_at_the_top_of_a_file_is_not_called_useless():
    judged = {"abbr": "a", "eval_cfg": {"evaluator": {"type": "LMEvaluator"}}}
    groups = [{"name": "g", "subsets": ["a"]}, {"name": "else", "subsets": ["b", "c"]}]
    values = {
        "datasets": [ConfigDict(judged)],
        "judge_models": [{"abbr": "j"}],
        "summarizer": {"attr": "accuracy", "summary_groups": groups},
    }
    assert idle_sections(values) == {}


@pytest.mark.parametrize(
    "line, words", [("run_cfg=dict(num_gpus=8)", "run_cfg"), ("url='http://localhost:1'", "host_port")]
)
def test_what_has_no_effect_of_a_model_is_named_by_validate(line, words, said):
    model = f"models = [dict(type='VLLMCustomAPIChat', abbr='m', model='x', host_port=1, {line})]"
    told, code = said("validate", "datasets = [", f"{model}\ndatasets = [")
    assert f"'m' says what has no effect here: {words} (" in told
    assert code == 0


@pytest.mark.parametrize("old, new, words", KEPT, ids=lambda value: str(value)[:40])
def test_names_in_braces_behind_a_line_break_are_looked_at(said, caplog, old, new, words):
    told, _ = said("run", old, new)
    assert words in told + caplog.text


@pytest.mark.parametrize("old, new, words", JUDGED, ids=lambda value: str(value)[:40])
def test_what_a_judge_would_not_see_is_named_before_anybody_is_asked(said, caplog, old, new, words):
    text = CONFIG.replace("dict(type=AccEvaluator)", JUDGE)
    for command in ("show", "validate")[: 1 if "_of_it" in new else 2]:
        told, _ = said(command, old, new, text.replace(TEMPLATE, TEMPLATE.replace("{question}", "{question} ")))
        assert words in told + caplog.text


@pytest.mark.parametrize("wrong", ['evaluator=dict(type="ToxicEvaluator")', "host_prt=8"])
def test_who_looks_at_prompts_is_told_what_a_run_refuses(said, wrong):
    models = 'models = [dict(type="VLLMCustomAPIChat", abbr="m", path="", model="m", host_port=8)]\n'
    text = CONFIG + models
    old = "host_port=8" if "host" in wrong else "evaluator=dict(type=AccEvaluator)"
    told, code = said("show", old, wrong, text)
    assert "note: proctor run refuses this" in told
    assert code == 0
    assert said("show", text=text)[0].count("note") == 0
    assert said("validate", old, wrong, text)[1] == 2


def test_a_users_own_file_is_looked_at_by_validate_too(said):
    assert "has no column 'qestion'" in said("validate", "qa", 'qa", human_prompt="{qestion}', CUSTOM)[0]
    assert said("validate", text=CUSTOM)[1] == 0


ASKED = [
    (
        (
            "ice_template=dict(type='PromptTemplate', template='{questoin_} {answer}'), retriever=dict(type='FixKRetriever', "
            "fix_id_list=[0]), prompt_template=dict(type='PromptTemplate', template='</E>{question}', ice_token='</E>')"
        ),
        "shows '{questoin_}' as it stands",
    ),
    (
        (
            "inferencer=dict(type='PPLInferencer'), prompt_template=dict(type='PromptTemplate', template={'2': '{question} 2', "
            "'x': '{question} x'})"
        ),
        "sums: what is right in 3 rows is none of the labels that are compared ('4', '6', '8')",
    ),
]


@pytest.mark.parametrize("changes, words", ASKED, ids=["demos", "labels"])
def test_what_no_answer_can_equal_and_what_demos_do_not_show_is_said(said, caplog, changes, words):
    told, _ = said("show", text=f"{CONFIG}\ndatasets[0]['infer_cfg'].update({changes})\n")
    assert words in told + caplog.text


def test_a_group_without_a_score_is_said(said):
    groups = (
        'summarizer = dict(summary_groups=[dict(name="all", subsets=[["sums", "rouge1"], ["more", "accuracy"]])])\n'
    )
    told, code = said("run", text=f"{CONFIG}\ndatasets.append(dict(datasets[0], abbr='more'))\n{groups}")
    assert code == 0
    assert "note: the group 'all' has no score of 'scripted': missing metrics: [['sums', 'rouge1']]" in told


def test_rows_with_gaps_are_asked_as_upstream_asks_them_and_said(said, caplog, tmp_path):
    rows = [{"question": "1+1=?", "answer": "2"}, {"question": "2+2=?"}, {"answer": "2"}, {"answer": None}]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    told, code = said("run")
    told += caplog.text
    assert code == 0
    assert "sums: row 2 and perhaps others have no 'question', which the prompt shows" in told
    assert "2 of 4 rows have no right answer, and count as wrong" in told


@pytest.mark.parametrize(
    "evaluator, words",
    [
        (JUDGE.replace("judge_cfg=dict(", "judge_cfg=['x'], dict_prostproc=dict("), "dict_prostproc"),
        (
            'dict(type="GenericLLMEvaluator", prompt_template="{prediction}")',
            "'prompt_template' of GenericLLMEvaluator",
        ),
        ('dict(type="GenericLLMEvaluator", prompt_template={}, judge_cfg=["x"])', "'judge_cfg' of GenericLLMEvaluator"),
        ('dict(type="ATLASLLMEvaluator", prompt_template={}, judge_cfg=dict(judgers=[5]))', "a judge is a dictionary"),
        (f'dict(type="CascadeEvaluator", llm_evaluator={JUDGE})', "the evaluator has no rule"),
        ('dict(type="CascadeEvaluator", rule_evaluator=5, llm_evaluator={})', "'rule_evaluator' of CascadeEvaluator"),
    ],
    ids=range(6),
)
def test_parts_of_evaluators_by_a_judge_are_dictionaries(said, evaluator, words):
    told, code = said("validate", "dict(type=AccEvaluator)", evaluator)
    assert code == 2
    assert words in told
