"""Evaluators of long texts, single exams, languages and programs; whole comparisons are in conformance/aisbench."""

from __future__ import annotations

import json

import pytest

from proctor.dialects.aisbench.evaluation import evaluate
from proctor.dialects.aisbench.values import Reference
from proctor.errors import MissingFieldError, ScoringError, TrustError
from proctor.prison.choice import BY_STRENGTH, examined
from proctor.scoring.evaluators.code import contest_programs, mbpp_program, mbpp_program_plain, strict_tests
from proctor.scoring.evaluators.long_texts import rouge_l
from proctor.scoring.text.postprocessors.mathematics import is_equivalent_plain
from proctor.scoring.text.postprocessors.texts import ancestor
from proctor.settings import settings


def scores(kind: str, given, gold, rows=None, **arguments):
    config = {"evaluator": {"type": Reference(f"opencompass.datasets.{kind}"), **arguments}}
    return evaluate(config, given, gold, rows or [{}] * len(given)).scores


ROW = {"options": ["a"] * 4, "prompt_mode": "zero-shot", "label": "A"}


@pytest.mark.parametrize(
    "kind, given, gold, wanted",
    [
        (
            "needlebench.origin.NeedleBenchOriginEvaluator",
            ["it is K", "abc"],
            ["\nabc\n*K", "\nabc\n*K"],
            {"score": 60.0},
        ),
        ("needlebench_v2.origin.NeedleBenchOriginEvaluator", ["it is K", "abc"], ["x*K", "x*K"], {"score": 50.0}),
        ("NeedleBenchMultiEvaluator", ["Ann"], ["Ann Lee*Ann Lee"], {"score": 50.0}),
        ("NeedleBenchATCEvaluator", [" Ann", "Bo"], ["Ann ", "Ann"], {"score": 50.0}),
        ("RulerNiahEvaluator", ["1 and 2", "x"], [["1", "2", "3"], ["X"]], {"score": 83.33}),
        ("RulerQaEvaluator", ["1", "x"], [["1", "2"], ["y"]], {"score": 50.0}),
        ("BabiLongEvaluator", ["In the Kitchen. Not", "no. kitchen"], [["kitchen"]] * 2, {"score": 50.0}),
        ("MRCREvaluator", ["h1abcd", "abcd"], [json.dumps({"answer": "h1abcd", "prefix": "h1"})] * 2, {"score": 50.0}),
        ("LVEvalF1Evaluator", ["the cat sat"], [["cat stood", "x"]], {"f1": 50.0}),
        ("LVEvalOPTF1Evaluator", ["a cat", "a dog"], [["cat", "cat"]] * 2, {"LVEval_f1": 50.0}),
        ("LongBenchRougeEvaluator", ["a b", "x"], [["a b"], ["y"]], {"score": pytest.approx(50.0)}),
        ("LongBenchCodeSimEvaluator", ["# no\nx = 1\ny"], [["x = 1"]], {"score": 100.0}),
        ("InfiniteBenchendiaEvaluator", ['so "ann".', "bo"], [["ANN"]] * 2, {"score": 50.0}),
        ("InfiniteBenchmathcalcEvaluator", ["1, 2, 4", "2"], [[1, 2, 3]] * 2, {"score": 100.0}),
        (
            "AccDropEvaluator",
            ["a", "x", "a", "b"],
            ["a", "b", "a", "b"],
            {"acc_drop": 0.5, "acc_after": 50.0, "acc_before": 100.0},
        ),
        ("MusrEvaluator", ["x\nANSWER: (2)", "2"], [2, 2], {"accuracy": 50.0}),
        (
            "CrowspairsEvaluator",
            ["A", "invalid"],
            ["A", "A"],
            {"accuracy": 50.0, "valid_accuracy": 100.0, "valid_frac": 50.0},
        ),
        ("Math401Evaluator", ["3.0004", "x"], ["3", "3"], {"accuracy": 50.0}),
        ("OpenFinDataKWEvaluator", ["甲 和 乙", "甲"], ["甲、乙"] * 2, {"accuracy": 50.0}),
        ("NQEvaluatorCN", ["答案是：北京\nx"], [["北京"]], {"score": 100.0}),
        (
            "AGIEvalEvaluator",
            ["so $x=5$", "\\boxed{0.5}", "?"],
            ["5", "\\frac{1}{2}", "1"],
            {"score": pytest.approx(200 / 3)},
        ),
        ("S3EvalEvaluator", ["x,y", "3.0"], ["x,z", "3"], {"score": 75.0}),
        ("ARCPrizeEvaluator", ["so [[1, 2]]", "[[1,"], [[[1, 2]], [[1]]], {"accuracy": 0.5}),
        ("RMSEEvaluator", ["<NUMBER>3</NUMBER>", "?"], ["<NUMBER>1</NUMBER>"] * 2, {"score": 1.5}),
        ("MAEEvaluator", ["\\boxed{2}", "?"], ["1", "1"], {"score": 1.0}),
        (
            "OpenSWIMSEEvaluator",
            ["[1.0, 2.0]", "x"],
            [[1.0, 2.0]] * 2,
            {"score": pytest.approx(2.5**0.5 / 2), "valid": 50.0},
        ),
        ("PMMEvalMGSMEvaluator", ["so 1,000.", "none"], ["1000", "1"], {"accuracy": 50.0}),
        (
            "PMMEvalMHellaswagEvaluator",
            [('{"answer": "B"}', "en"), ("la réponse est c", "fr")],
            [1, 2],
            {"accuracy": 100.0},
        ),
        ("PMMEvalMMMLUEvaluator", [("The answer is C", "EN-US"), ("none", "FR-FR")], ["C", "A"], {"accuracy": 50.0}),
    ],
)
def test_what_is_right(kind, given, gold, wanted):
    assert scores(kind, given, gold) == wanted


def test_keywords_by_depth():
    found = scores("NeedleBenchParallelEvaluator", ["a b", "b"], ["a*b#10*50"] * 2)
    assert found == {"Depth10": 50.0, "Depth50": 100.0, "average_score": 75.0}


def test_scores_by_difficulty_and_length():
    rows = [{"difficulty": "easy", "length": "short"}, {"difficulty": "hard", "length": "short"}]
    found = scores("LongBenchv2Evaluator", ["A", "B"], ["A", "A"], rows)
    assert found == {"accuracy": 50.0, "accuracy_easy": 100.0, "accuracy_hard": 0.0, "accuracy_short": 50.0}
    assert scores("MedmcqaEvaluator", ["A through D: (C)", "?"], ["C", "A"], [ROW, ROW]) == {"accuracy": 50.0}
    with pytest.raises(ScoringError, match="no easy questions"):
        scores("QuALITYEvaluator", ["A"], ["A"], [{"difficult": 1}])


@pytest.mark.parametrize(
    "kind, given, gold, points",
    [
        ("single_choice", "A 不对, 选 B", ["B"], 100),
        ("multi_choice", "【答案】A", ["AB"], 50),
        ("multi_choice", "【答案】AC", ["AB"], 50),
        ("multi_question_choice", "【答案】A 【答案】C", ["A", "B"], 50),
        ("five_out_of_seven", "ABCDE F", list("ABCDF"), 80),
        ("cloze", "anything", ["x"], 0),
    ],
)
def test_points_of_chinese_exams(kind, given, gold, points):
    wanted = 0 if given == "【答案】AC" else points
    assert scores(f"GaokaoBenchEvaluator_{kind}", [given], [gold])["score"] == pytest.approx(wanted)


def test_tables_of_problems():
    gold = {"answer": "$1,000", "unit": "$", "choices": None}
    chosen = {"answer": "a dog", "unit": None, "choices": ["cat", "a dog"]}
    found = scores("TabMWPEvaluator", ["The answer is 1000.", "(B) it", "so a dog"], [gold, chosen, chosen])
    assert found == {"accuracy": 100.0}


def test_rouge_and_spellings():
    assert rouge_l("a b. c", "a b c") == pytest.approx(1.0)
    assert rouge_l("", "a") == 0.0
    assert is_equivalent_plain("\\frac12", "0.5")
    assert is_equivalent_plain(None, None)
    assert not is_equivalent_plain("a/b", "b/a")
    assert ancestor("so \\boxed{\\text{Ann}~Lee}") == "Ann Lee"
    assert ancestor("nobody") == "None"


# -- programs -----------------------------------------------------------------------------------------------------

SANDBOX = "auto" if any(examined(name).works for name in BY_STRENGTH) else "none"
GOOD, BAD, TEST = "def f(x):\n    return x + 1", "def f(x):\n    return x", "assert f(1) == 2"


@pytest.mark.parametrize(
    "text", [f"[BEGIN]\n '{GOOD}' \n[DONE] x", f"```python\n{GOOD}\n```", f"BEGIN {GOOD} [DONE]", f"```\n{GOOD}\n```"]
)
def test_where_a_program_is(text):
    assert mbpp_program(text) == GOOD


def test_other_rules_for_where_a_program_is():
    assert mbpp_program_plain(f"Here it is\n{GOOD}\n# Test\nassert 1") == GOOD
    assert mbpp_program_plain(f"x\n```python\n{GOOD}\n```") == GOOD
    assert contest_programs(f"```python\n{GOOD}\n```\nor\n```python\n{BAD}\n```") == [GOOD, BAD]
    assert contest_programs("__import__('os').getcwd()") == ["__import__('os').getcwd()"]
    assert strict_tests("assert f(1) == 2, 'x'") == "assert __same_value(f(1), 2), 'x'"
    assert strict_tests("assert (") == "assert ("


def test_programs_run_in_a_prison_or_where_the_user_says_so():
    with settings.context(sandbox="none"), pytest.raises(TrustError, match="--trust-code"):
        scores("MBPPEvaluator", [GOOD], [TEST])


def test_programs_are_scored():
    with settings.context(sandbox=SANDBOX, trust_code=True):
        found = scores("MBPPEvaluator", [GOOD, BAD, "def f("], [TEST] * 3)
        assert found == {"pass": 1, "timeout": 0, "failed": 1, "wrong_answer": 1, "score": pytest.approx(100 / 3)}
        tests = {"test_list_2": [TEST], "task_id": 1}
        found = scores("MBPPPassKEvaluator", [[GOOD, BAD]], [tests], k=[1, 2, 10])
        assert (found["pass@1"], found["pass@2"]) == (50.0, 100.0)
        assert "pass@10" not in found
        solution = "class Solution:\n    def f(self, x):\n        return x + 1"
        assert scores("LCPassKEvaluator", [solution], [tests], k=1)["pass@1"] == 100.0
        with pytest.raises(MissingFieldError, match="evalplus"):
            scores("MBPPEvaluator", [GOOD], [TEST], metric="MBPPPlus")
        with pytest.raises(ScoringError, match="no metric"):
            scores("MBPPEvaluator", [GOOD], [TEST], metric="Other")


def test_humaneval_takes_the_tests_of_its_rows():
    row = {"prompt": "def f(x):\n", "test": "def check(g):\n    assert g(1) == 2", "entry_point": "f"}
    with settings.context(sandbox=SANDBOX, trust_code=True):
        found = scores("HumanEvalEvaluator", ["    return x + 1", "    return x"], ["a/0", "a/1"], [row, row])
        assert found == {"humaneval_pass@1": 50.0}
        with pytest.raises(MissingFieldError, match="'test'"):
            scores("HumanEvalEvaluator", ["x"], ["a/0"], [{"prompt": ""}])


def test_instructions_of_a_prompt():
    gold = {"instruction_id_list": ["punctuation:no_comma", "startend:quotation"], "kwargs": [{}, None]}
    unknown = {"instruction_id_list": ["x:y"], "kwargs": [{}]}
    config = {"evaluator": {"type": Reference("opencompass.datasets.IFEvaluator")}}
    found = evaluate(config, ['"a"', "a", "b"], [gold, gold, unknown], [{}] * 3)
    assert found.scores["Prompt-level-strict-accuracy"] == 50.0
    assert found.scores["Inst-level-strict-accuracy"] == 75.0
    assert "x:y" in found.failures[2].message


def test_a_number_after_one_dollar_sign_is_read_as_each_project_reads_it():
    said, gold = ["It costs $5"], ["5"]
    config = {"evaluator": {"type": Reference("ais_bench.benchmark.datasets.agieval.agieval.AGIEvalEvaluator")}}

    assert evaluate(config, said, gold, [{}]).scores == {"score": 100.0}
    assert scores("agieval.agieval.AGIEvalEvaluator", said, gold) == {"score": 0.0}
    assert scores("agieval.agieval.AGIEvalEvaluator", said, ["$5"]) == {"score": 100.0}


def test_references_of_another_kind_are_named():
    with pytest.raises(ScoringError, match=r"an answer is str 'A', and its reference str 'B'.*output_column"):
        raise_of("JudgeEvaluator", ["A"], ["B"])
    with pytest.raises(ScoringError, match="its reference int 5"):
        raise_of("DropOpenAIEvaluator", ["A"], [5])


def raise_of(kind, given, gold):
    try:
        scores(kind, given, gold)
    except ScoringError as error:
        raise ScoringError(str(error).replace("\n", " ")) from error
