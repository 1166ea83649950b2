from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.dialects.aisbench.evaluation import evaluate
from proctor.dialects.aisbench.evaluators import evaluator_names
from proctor.dialects.aisbench.values import ConfigDict, Reference
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import Location, MissingFieldError, ScoringError
from proctor.ir import Failure
from proctor.scoring.evaluators.evaluation import main_score
from proctor.scoring.evaluators.runs import g_pass_at_k, mg_pass_at_k, over_runs
from proctor.scoring.repeats import at_least_one_as_product
from proctor.scoring.text.postprocessors.mathematics import is_equivalent
from proctor.settings import settings

OPENCOMPASS = "opencompass.openicl.icl_evaluator"
AISBENCH = "ais_bench.benchmark.openicl.icl_evaluator"


def config(kind: str, top: str = OPENCOMPASS, **values):
    return {"evaluator": {"type": Reference(f"{top}.{kind}"), **values}}


def scores(kind: str, predictions, references, rows=None, top: str = OPENCOMPASS, **values):
    return evaluate(config(kind, top, **values), predictions, references, rows or [{}] * len(predictions)).scores


def test_predictions_go_through_the_chain_in_upstreams_order():
    eval_cfg = {
        "evaluator": {"type": "AccEvaluator", "pred_postprocessor": {"type": "first-capital"}},
        "pred_postprocessor": {"type": "first_option_postprocess", "options": "AB"},
        "dataset_postprocessor": {"type": "first-capital"},
        "pred_role": "BOT",
    }
    model = {"type": "extract-non-reasoning-content"}
    found = evaluate(
        eval_cfg,
        ["<think>The answer is A</think> The answer is B, I think"],
        ["the B"],
        [{}],
        model_postprocessor=model,
    )
    assert (found.scores, found.predictions) == ({"accuracy": 100.0}, ["B"])
    assert evaluate(
        eval_cfg, ["<think>The answer is A</think> The answer is B, I think"], ["the B"], [{}]
    ).predictions == ["A"]


def test_unreadable_predictions_are_wrong_and_counted():
    eval_cfg = {"evaluator": {"type": "AccEvaluator"}, "pred_postprocessor": {"type": "first-capital"}}
    found = evaluate(eval_cfg, ["B", "none", "", "A"], ["B", "A", "A", "A"], [{}] * 4)
    assert found.scores == {"accuracy": 50.0}
    assert found.instance_scores == {"accuracy": [100.0, 0.0, 0.0, 100.0]}


def test_failures_are_values_and_not_scored():
    eval_cfg = {"evaluator": {"type": "Gsm8kEvaluator"}, "dataset_postprocessor": {"type": "gsm8k_dataset"}}
    gone = Failure("timeout", "too slow")
    found = evaluate(eval_cfg, ["3", gone, "4"], ["#### 3", "#### 3", "no number"], [{}] * 3)
    assert found.scores == {"accuracy": 100.0}
    assert found.instance_scores["accuracy"] == [100.0, None, None]
    assert found.failures[1] is gone
    assert "ValueError" in found.failures[2].message


def test_nothing_to_score_is_an_error():
    with pytest.raises(ScoringError, match=r"no predictions(.|\n)*too slow"):
        evaluate({"evaluator": {"type": "AccEvaluator"}}, [Failure("timeout", "too slow")], ["a"], [{}])


@pytest.mark.parametrize(
    "kind, predictions, references, wanted",
    [
        ("AccEvaluator", [1, "B"], ["1", "A"], {"accuracy": 50.0}),
        ("AccwithDetailsEvaluator", [1, "B"], ["1", "B"], {"accuracy": 50.0}),
        ("EMEvaluator", ["The cat.", "dog"], [["cat"], ["bird"]], {"score": 50.0}),
        ("Gsm8kEvaluator", ["3.0", "x", "5"], ["3", "4", "5"], {"accuracy": 200 / 3}),
        ("BBHEvaluator_mcq", ["A", "B"], ["A", "A"], {"score": 50.0}),
        ("TriviaQAEvaluator", ["It is Paris", "answer is Rome"], [["paris"], ["Oslo", "rome"]], {"score": 100.0}),
        ("NQEvaluator", ["Paris", "x"], [["paris"], ["Oslo"]], {"score": 50.0}),
        ("LambadaEvaluator", ["hat, yes", "cap"], ["hat", "coat"], {"accuracy": 50.0}),
        ("DropOpenAIEvaluator", ["Answer: 12 yards", "no"], ["12|twelve", "3"], {"accuracy": 50.0}),
        ("MMLUProBaseEvaluator", ["B\nmore", "four", "C"], ["B. two\n", "D. four\n", "A. x\n"], {"accuracy": 200 / 3}),
        (
            "EDAccEvaluator",
            ["apple", "pear!"],
            [{"candidates": ["apples", ["pear"]], "label": 0}] * 2,
            {"accuracy": 50.0},
        ),
        ("MccEvaluator", [1, 0, 1, 0], [1, 0, 1, 0], {"matthews_correlation": 100.0}),
        ("MccEvaluator", [1, 1], [1, 0], {"matthews_correlation": 0.0}),
        ("SquadEvaluator", ["the cat\nmore"], ["a cat"], {"f1": 100.0}),
        ("AUCROCEvaluator", [[0.9, 0.1], [0.2, 0.8]], [0, 1], {"auc_score": 100.0, "accuracy": 100.0}),
        ("AUCROCEvaluator", [[0.5, 0.5], [0.5, 0.5]], [0, 1], {"auc_score": 50.0, "accuracy": 50.0}),
        ("LongBenchF1Evaluator", ["the red cat"], [["red dog", "x"]], {"score": 50.0}),
        ("LongBenchCountEvaluator", ["3 or 4"], [["3"]], {"score": 50.0}),
    ],
)
def test_scores_are_upstreams(kind, predictions, references, wanted):
    assert scores(kind, predictions, references) == pytest.approx(wanted)


def test_rouge_and_bleu_are_percentages():
    pytest.importorskip("rouge_score")
    pytest.importorskip("sacrebleu")
    assert scores("RougeEvaluator", ["a b c", "x"], ["a b c", "y"])["rouge1"] == pytest.approx(50.0, abs=5)
    assert scores("BleuEvaluator", ["the cat sat on the mat"], ["the cat sat on the mat"])["score"] == pytest.approx(
        100.0
    )


def test_contamination_splits_the_accuracy():
    rows = [{"is_clean": kind} for kind in ("clean", "clean", "input contamination", "not labeled")]
    found = scores("AccContaminationEvaluator", ["A", "B", "A", "A"], ["A"] * 4, rows)
    assert found["accuracy - clean"] == 50.0
    assert found["accuracy - input contaminated"] == 100.0
    assert math.isnan(found["accuracy - input-and-label contaminated"])
    with pytest.raises(MissingFieldError, match="is_clean"):
        scores("AccContaminationEvaluator", ["A"], ["A"])


def test_the_projects_evaluators_differ_where_upstreams_do():
    assert scores("BBHEvaluator", ["answer is: Yes."], ["yes"])["score"] == 100.0
    assert scores("BBHEvaluator", ["answer is: Yes."], ["yes"], top=AISBENCH)["score"] == 0.0


def test_options_are_found_by_likeness():
    rows = [{"A": "a red cat", "B": "a blue dog"}] * 4
    found = evaluate(
        config("OptionSimAccEvaluator", options=["A", "B"]),
        ["B", "答案是A", "I mean a blue dog!", "a rde cat"],
        ["B", "A", "B", "A"],
        rows,
    )
    assert found.scores == {"accuracy": 100.0}
    assert found.predictions == ["B", "A", "B", "A"]
    with pytest.raises(ScoringError, match="not single upper-case letters"):
        scores("OptionSimAccEvaluator", ["B"], ["B"], rows[:1], options=["AB"])


def test_four_shifts_of_four_options():
    references = [
        f"{number}--{answer}--{order}"
        for number in range(2)
        for answer, order in zip("ADCB", ("ABCD", "BCDA", "CDAB", "DABC"), strict=True)
    ]
    right = [reference.split("--")[1] for reference in references]
    found = scores("CircularEvaluator", [*right[:5], "X", "X", "X"], references)
    assert (found["acc_4"], found["acc_1"], found["perf_4"], found["perf_1"]) == (62.5, 100.0, 50.0, 100.0)
    assert (found["more_4_1"], found["vote_1"], found["prior_-"]) == (100.0, 100.0, 37.5)
    with pytest.raises(ScoringError, match="question--answer--order"):
        scores("CircularEvaluator", ["A"], ["A"])


def test_questions_in_several_orders():
    rows = [{"qid": q, "circular_pattern": list(order)} for q in range(2) for order in ("AB", "BA")]
    found = scores(
        "CircularEvaluator", ["A", "B", "A", "A"], ["A", "B", "A", "B"], rows, top="opencompass.datasets.circular"
    )
    assert found == {
        "acc_origin": 100.0,
        "acc_circular": 75.0,
        "perf_origin": 100.0,
        "more_1_circular": 100.0,
        "perf_circular": 50.0,
    }


@pytest.mark.parametrize(
    "first, second, same",
    [
        ("\\frac12", "\\frac{1}{2}", True),
        ("0.5", "1/2", True),
        ("\\sqrt2", "\\sqrt{2}", True),
        ("x=5", "5", True),
        ("10\\%", "10", True),
        ("\\text{ a}\\text{ b}", "\\text{ a}\\text{ b}", True),
        ("5", "6", False),
        ("\\sqrt", "2", False),
        (None, None, True),
        (None, "1", False),
    ],
)
def test_answers_in_another_spelling_are_the_same(first, second, same):
    assert is_equivalent(first, second) is same


@given(st.text(st.sampled_from(list("\\frac{}sqrt1234/.=$ text%^")), max_size=30), st.sampled_from(["v1", "v2"]))
def test_an_answer_equals_itself(text, version):
    assert is_equivalent(text, text, version)


def test_symbols_are_verified():
    pytest.importorskip("math_verify")
    assert scores("MATHVerifyEvaluator", ["so \\boxed{0.5}", "so \\boxed{2}"], ["\\frac{1}{2}", "3"]) == {
        "accuracy": 50.0
    }
    assert scores("MATHEvaluator", ["so \\boxed{0.5}"], ["\\frac{1}{2}"], top=AISBENCH) == {"accuracy": 100.0}


# -- several runs -------------------------------------------------------------------------------------------------


@given(st.integers(1, 12), st.data())
def test_chances_of_right_runs(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    assert at_least_one_as_product(n, c, k) == pytest.approx(g_pass_at_k(n, c, k, 0.0))
    assert (
        0 <= mg_pass_at_k(n, c, k) <= g_pass_at_k(n, c, k, 0.5) <= at_least_one_as_product(n, c, k) + 1e-9 <= 1 + 1e-8
    )
    assert g_pass_at_k(n, c, k, 1.0) == pytest.approx(math.comb(c, k) / math.comb(n, k))


def test_runs_are_blocks_in_opencompass_and_neighbours_in_aisbench():
    blocks = [{"subdivision": "s_test", "idx": i} for _ in range(2) for i in range(2)]
    found = evaluate(
        config("AccwithDetailsEvaluator"), ["a", "x", "a", "b"], ["a", "b", "a", "b"], blocks, runs=(2, 2)
    ).scores
    assert found["accuracy (2 runs average)"] == 75.0
    assert (found["G-Pass@2_0.0"], found["G-Pass@2_1.0"], found["s/mG-Pass@2"]) == (100.0, 50.0, 50.0)
    pairs = [{"subdivision": "s_test", "idx": i} for i in range(2) for _ in range(2)]
    found = evaluate(
        config("AccwithDetailsEvaluator", AISBENCH), ["a", "a", "x", "b"], ["a", "a", "b", "b"], pairs, runs=(2, 2)
    ).scores
    assert (found["avg@2"], found["pass@2"], found["cons@2"]) == (75.0, 100.0, 50.0)


def test_a_row_with_a_failed_run_takes_no_part_in_scores_over_runs():
    rows = [{"subdivision": "s", "idx": i} for _ in range(2) for i in range(2)]
    found = evaluate(
        config("AccwithDetailsEvaluator"),
        ["a", "x", Failure("timeout", "slow"), "b"],
        ["a", "b", "a", "b"],
        rows,
        runs=(2, 2),
    )
    assert found.scores["G-Pass@2_0.0"] == 100.0
    assert found.scores["G-Pass@2_1.0"] == 0.0  # of the one row with two answers
    assert found.instance_scores["accuracy"] == [100.0, 0.0, None, 100.0]


def test_evaluators_without_details_give_the_last_run_and_the_mean():
    found = evaluate(config("AccEvaluator"), ["a", "x"], ["a", "a"], [{}, {}], runs=(1, 2)).scores
    assert found == {"accuracy": 0.0, "accuracy (2 runs average)": 50.0}


def test_predictions_that_do_not_fit_the_runs_are_an_error():
    with pytest.raises(ScoringError, match="3 predictions do not make 2 runs"):
        evaluate(config("AccEvaluator"), ["a"] * 3, ["a"] * 3, [{}] * 3, runs=(1, 2))


def test_one_run_has_no_scores_over_runs():
    assert over_runs("opencompass", {"s_0": [True]}, 1, 1) == {}


# -- judges -------------------------------------------------------------------------------------------------------

JUDGE = {
    "prompt_template": {
        "type": "PromptTemplate",
        "template": {"round": [{"role": "HUMAN", "prompt": "{question} {obj_gold}? {prediction}"}]},
    },
    "dict_postprocessor": {"type": Reference("opencompass.datasets.generic_llmjudge_postprocess")},
}


def test_a_judge_reads_the_question_the_gold_answer_and_the_prediction(monkeypatch):
    seen = []

    def answer(prompt):
        text = prompt.text
        seen.append(text)
        return {"q1": "A", "q2": "B: INCORRECT", "q3": "cannot say"}[text[:2]]

    monkeypatch.setattr("proctor.dialects.aisbench.judges.make_engine", lambda *_: ScriptedEngine(function=answer))
    monkeypatch.setenv("OC_JUDGE_MODEL", "some-judge")
    rows = [{"question": f"q{i}", "reference": "old"} for i in (1, 2, 3)]
    found = evaluate(config("GenericLLMEvaluator", **JUDGE), ["x", "y", "z"], ["gx", "gy", "gz"], rows)
    assert sorted(seen) == ["q1 gx? x", "q2 gy? y", "q3 gz? z"]
    assert found.scores["accuracy"] == pytest.approx(100 / 3)
    assert (found.scores["correct_count"], found.scores["incorrect_count"], found.scores["not_attempted_count"]) == (
        1,
        1,
        1,
    )
    assert found.main == "accuracy"
    assert found.instance_scores["accuracy"] == [100.0, 0.0, 0.0]


@pytest.mark.parametrize("parallel, asked", [(True, 3), (False, 2)])
def test_a_cascade_asks_a_judge_about_what_a_rule_finds_wrong(monkeypatch, parallel, asked):
    seen = []

    def answer(prompt):
        seen.append(prompt.text)
        return "A" if "gy" in prompt.text else "B"

    monkeypatch.setattr("proctor.dialects.aisbench.judges.make_engine", lambda *_: ScriptedEngine(function=answer))
    monkeypatch.setenv("OC_JUDGE_MODEL", "some-judge")
    rows = [{"question": f"q{i}"} for i in (1, 2, 3)]
    rule = {"type": Reference("opencompass.openicl.icl_evaluator.AccwithDetailsEvaluator")}
    mine = config(
        "CascadeEvaluator",
        rule_evaluator=rule,
        llm_evaluator={"type": "GenericLLMEvaluator", **JUDGE},
        parallel=parallel,
    )
    found = evaluate(mine, ["gx", "y", "z"], ["gx", "gy", "gz"], rows)
    assert len(seen) == asked
    assert found.scores["accuracy"] == pytest.approx(200 / 3)
    assert found.scores["cascade_stats"]["rule_correct"] == 1
    assert found.instance_scores["accuracy"] == [100.0, 100.0, 0.0]


def test_a_missing_judge_says_how_to_name_one(monkeypatch):
    monkeypatch.delenv("OC_JUDGE_MODEL", raising=False)
    with pytest.raises(ScoringError, match=r"needs a judge(.|\n)*judge_cfg(.|\n)*OC_JUDGE_MODEL"):
        scores("GenericLLMEvaluator", ["x"], ["y"], **JUDGE)


def test_judgements_that_nobody_can_read_are_an_error():
    mine = {**JUDGE, "dict_postprocessor": {"type": Reference("mine.postprocess")}}
    with pytest.raises(ScoringError, match="cannot be read by 'postprocess'"):
        scores("GenericLLMEvaluator", ["x"], ["y"], **mine)


# -- names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind, why",
    [
        ("DS1000Evaluator", "pickled"),
        ("ToxicEvaluator", "Perspective"),
        ("MineEvaluator", "would have to run"),
    ],
)
def test_an_evaluator_that_there_is_not_says_why(kind, why):
    place = Location("c.py", 7, 3)
    with pytest.raises(ScoringError, match=rf"'{kind}' cannot be computed here \(c\.py:7:3\)(.|\n)*{why}"):
        evaluate({"evaluator": ConfigDict({"type": Reference(f"x.{kind}")}, location=place)}, ["a"], ["a"], [{}])


def test_an_argument_that_an_evaluator_does_not_take_is_an_error():
    with pytest.raises(ScoringError, match=r"AccEvaluator cannot be computed(.|\n)*unexpected keyword"):
        scores("AccEvaluator", ["a"], ["a"], wrong=3)
    with pytest.raises(ScoringError, match="names no evaluator"):
        evaluate({}, ["a"], ["a"], [{}])


def test_every_name_leads_to_a_function():
    from proctor.dialects.aisbench.evaluators import evaluator

    for name in evaluator_names():
        assert callable(evaluator({"type": name}))


def test_the_main_score_is_upstreams_choice():
    assert main_score({"f1": 1.0, "accuracy": 2.0}) == "accuracy"
    assert main_score({"x": "text", "mine": 2.0}) == "mine"
    assert main_score({}) == ""


MINE = """
class AccEvaluator:
    def __init__(self, bonus=0):
        self.bonus = bonus

    def score(self, predictions, references, test_set):
        if not references:
            return {"error": "nothing"}
        marks = [p == r + row["end"] for p, r, row in zip(predictions, references, test_set)]
        return {"mine": sum(marks) + self.bonus, "details": [{"correct": mark} for mark in marks]}
"""


def test_a_class_of_the_configs_own_runs_where_code_is_trusted(tmp_path, monkeypatch):
    (tmp_path / "mine_evaluators.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    mine = config("AccEvaluator", "mine_evaluators", bonus=10)
    rows = [{"end": "!", "subdivision": "s", "idx": i % 2} for i in range(4)]
    with pytest.raises(ScoringError, match=r"cannot be computed here(.|\n)*--trust-code"):
        evaluate(mine, ["a!", "b"], ["a", "b"], rows[:2])
    with settings.context(trust_code=True):
        found = evaluate(mine, ["a!", "b"], ["a", "b"], rows[:2])
        assert (found.scores, found.main, found.instance_scores) == ({"mine": 11}, "mine", {"correct": [100.0, 0.0]})
        assert evaluate(mine, ["a!", "b", "a!", "b!"], ["a", "b"] * 2, rows, runs=(2, 2)).scores["G-Pass@2_1.0"] == 50.0
        with pytest.raises(ScoringError, match=r"score failed(.|\n)*KeyError"):
            evaluate(mine, ["a"], ["a"], [{}])
        with pytest.raises(ScoringError, match=r"score failed(.|\n)*unexpected keyword"):
            evaluate(config("AccEvaluator", "mine_evaluators", wrong=1), ["a"], ["a"], rows[:1])


def test_predictions_that_an_evaluator_cannot_read_are_one_message():
    with pytest.raises(ScoringError, match=r"TriviaQAEvaluator cannot be computed(.|\n)*AttributeError"):
        scores("TriviaQAEvaluator", [None], [["a"]])


def test_trust_does_not_change_what_is_known():
    with settings.context(trust_code=True):
        assert scores("AccEvaluator", ["a"], ["a"]) == {"accuracy": 100.0}
