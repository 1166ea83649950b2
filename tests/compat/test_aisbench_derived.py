"""Evaluators of AISBench and OpenCompass that programs derive: their steps are called, or refused by name."""

import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace
from unittest import mock

import pytest

from proctor.errors import MissingExtraError, UsageError

EVALUATORS = "ais_bench.benchmark.openicl.icl_evaluator"

pytestmark = pytest.mark.usefixtures("installed")


def evaluator(name):
    return getattr(import_module(f"{EVALUATORS}.icl_hf_evaluator"), name)


def metric(module):
    return import_module(f"{EVALUATORS}.hf_metrics.{module}")


# -- derived classes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "package",
    ["ais_bench.benchmark.openicl.icl_evaluator", "opencompass.openicl.icl_evaluator"],
)
def test_what_a_program_does_around_a_metric_is_done(package):
    base = import_module(package).AccEvaluator

    class Lenient(base):
        def _preprocess(self, predictions, references):
            return super()._preprocess([each.lower() for each in predictions], references)

        def _postprocess(self, scores):
            return {"share": scores["accuracy"]}

    assert Lenient().score(["A", "b"], ["a", "c"]) == {"share": 0.5}
    assert base().score(["A", "b"], ["a", "c"])["accuracy"] == 0


def test_a_metric_by_name_draws_with_its_own_seed_and_leaves_the_program_s_draws_alone():
    import numpy as np

    np.random.seed(5)  # noqa: NPY002 - what metrics draw from
    wanted = np.random.random()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002

    found = evaluator("HuggingfaceEvaluator")("rouge").score(["the cat sat", "b"], ["the cat", "b"])

    assert found["rouge1"] == pytest.approx(0.9, abs=0.05)
    assert np.random.random() == wanted  # noqa: NPY002


@pytest.mark.parametrize(
    "name, predictions, references, wanted",
    [  # values of ais_bench 3.1 for a class derived without a change
        ("RougeEvaluator", ["the cat sat on a mat", "yes it is", "a b c d e"],
         ["the cat sat on the mat", "no it is not", "a b c d f"], {"rouge1": 73.4920634920635}),
        ("BleuEvaluator", ["the cat sat on a mat", "yes it is", "a b c d e"],
         ["the cat sat on the mat", "no it is not", "a b c d f"], {"score": 52.35750773741703, "sys_len": 14}),
        ("MccEvaluator", ["a", "b"], ["a", "b"], {"matthews_correlation": 100}),
        ("EDAccEvaluator", ["z", "a"], [{"candidates": ["x", ["y", "z"]], "label": 1},
                                        {"candidates": [["a", "b"], "c"], "label": 0}], {"accuracy": 100}),
    ],
)  # fmt: skip
def test_a_derived_class_without_a_change_has_upstream_s_scores(name, predictions, references, wanted):
    class Derived(evaluator(name)):
        def _postprocess(self, scores):
            return super()._postprocess(scores)

    found = Derived().score(predictions, references)

    assert {key: found[key] for key in wanted} == pytest.approx(wanted)


def test_squad_reads_the_first_line():
    class Derived(evaluator("SquadEvaluator")):
        def _postprocess(self, scores):
            return scores

    assert Derived().score(["Paris\nor Rome"], ["paris"]) == {"exact_match": 100.0, "f1": 100.0}


def test_rows_are_told_apart_by_contamination():
    class Derived(evaluator("AccContaminationEvaluator")):
        def _postprocess(self, scores):
            return super()._postprocess(scores)

    rows = [{"is_clean": state} for state in ("clean", "input contamination", "input-and-label contamination", "clean")]

    found = Derived().score(list("abcx"), list("abcy"), rows)

    assert found == {
        "accuracy - clean": 50,
        "accuracy - input contaminated": 100,
        "accuracy - input-and-label contaminated": 100,
    }


def test_lengths_that_differ_are_an_error_value():
    assert "2 predictions and 1" in evaluator("HuggingfaceEvaluator")(metric="accuracy").score([1, 2], [1])["error"]


def test_a_metric_of_a_package_that_is_missing_is_named():
    if "evaluate" in sys.modules and getattr(sys.modules["evaluate"], "__file__", None):
        pytest.skip("evaluate is installed")
    with pytest.raises((MissingExtraError, ImportError), match="evaluate"):
        evaluator("HuggingfaceEvaluator")("frugal").score(["a"], ["a"])


def test_a_program_s_own_loader_of_metrics_is_used():
    asked = {}

    def compute(**columns):
        asked.update(columns)
        return {"score": 1.0}

    module = ModuleType("evaluate")
    module.load = lambda name: SimpleNamespace(compute=compute)
    with mock.patch.dict(sys.modules, {"evaluate": module}):
        assert evaluator("BleuFloresEvaluator")().score(["a"], ["a"]) == {"score": 1.0}
    assert asked == {"predictions": ["a"], "references": ["a"], "tokenize": "flores200"}


@pytest.mark.parametrize(
    "module, name, step",
    [
        ("mmlu_pro", "MMLUProBaseEvaluator", "is_equal"),
        ("math", "MATHEvaluator", "_strip_string"),
        ("refcoco", "BBoxIoUEvaluator", "_scale_prediction"),
    ],
)
def test_a_step_that_is_not_called_here_is_refused(module, name, step):
    base = getattr(import_module(f"ais_bench.benchmark.datasets.{module}"), name)
    derived = type("Derived", (base,), {step: lambda self, *given: True})

    with pytest.raises(UsageError, match=f"'{step}' of Derived would have no effect"):
        derived().score(["1"], ["2"])


def test_a_program_s_own_score_is_its_own_affair():
    base = import_module("ais_bench.benchmark.datasets.mmlu_pro").MMLUProBaseEvaluator
    derived = type("Derived", (base,), {"is_equal": lambda *_: True, "score": lambda *_: {"accuracy": 3}})

    assert derived().score(["1"], ["2"]) == {"accuracy": 3}


@pytest.mark.parametrize(
    "name, step, said, read, prediction, reference",
    [
        ("VocalSoundEvaluator", "find_choice", "B", "sigh", "B.", "sigh"),
        ("VideoBenchEvaluator", "find_choice", "so C or B", "B", "(C)", {"answer": "C"}),
        ("VideoBenchEvaluatorForVita", "find_choice", "A☜ it is D", "D", "☜ E", {"answer": "E"}),
    ],
)
def test_what_one_answer_means_may_be_asked_and_overridden(name, step, said, read, prediction, reference):
    base = getattr(import_module("ais_bench.benchmark.datasets"), name)
    silent = type("Silent", (base,), {step: lambda *_: ""})

    assert getattr(base(), step)(said) == read
    assert base().score([prediction], [reference])["accuracy"] == 100
    assert silent().score([prediction], [reference])["accuracy"] == 0


def test_numbers_of_gsm8k_may_be_compared_otherwise():
    base = import_module("ais_bench.benchmark.datasets").Gsm8kEvaluator
    near = type("Near", (base,), {"is_equal": lambda self, pred, refer: abs(float(pred) - int(refer)) < 1})

    assert base().is_equal("4.0000001", "4")
    assert not base().is_equal("four", "4")
    assert (base().score(["4.5"], ["4"])["accuracy"], near().score(["4.5"], ["4"])["accuracy"]) == (0, 100)


def test_steps_that_are_called_here_may_be_overridden():
    datasets = import_module("ais_bench.benchmark.datasets")
    always = type("Always", (datasets.MATHEvaluator,), {"is_equiv": lambda *_, **__: True})
    first = type("First", (datasets.OptionSimAccEvaluator,), {"match_any_label": lambda *_: "A"})
    row = {"A": "apple", "B": "pear"}

    assert always().score(["1"], ["2"])["accuracy"] == 100
    assert first(["A", "B"]).score(["pear"], ["A"], [row])["accuracy"] == 100
    assert datasets.OptionSimAccEvaluator(["A", "B"]).match_any_label("a pear, I think", row) == "B"
    with pytest.raises(ValueError, match="single upper-case letters"):
        datasets.OptionSimAccEvaluator(["AA"])


# -- the metrics by themselves ---------------------------------------------------------------------------------------


def test_packages_behind_metrics_may_be_replaced():
    class Scorer:
        def __init__(self, rouge_types, use_stemmer, tokenizer):
            assert tokenizer.tokenize("a b") == ["a", "b"]
            assert not use_stemmer
            self.kinds = rouge_types

        def score(self, gold, given):
            return {kind: SimpleNamespace(fmeasure=float(gold == given)) for kind in self.kinds}

    with mock.patch.object(metric("accuracy"), "accuracy_score", return_value=0.75) as counted:
        assert metric("accuracy").Accuracy()._compute(predictions=[1], references=[0], normalize=False) == {
            "accuracy": 0.75
        }
    counted.assert_called_once_with([0], [1], normalize=False, sample_weight=None)
    rouge = metric("rouge")
    with mock.patch.object(rouge.rouge_scorer, "RougeScorer", Scorer):
        found = rouge.Rouge().compute(
            predictions=["a", "b"],
            references=["a", "c"],
            rouge_types=["rouge1"],
            use_aggregator=False,
            tokenizer=str.split,
        )
    assert found == {"rouge1": [1.0, 0.0]}


def test_metrics_alone_have_upstream_s_numbers():
    found = (
        metric("sacrebleu")
        .Sacrebleu()
        .compute(predictions=["hello there my friend"], references=[["hello there my friend"]], tokenize="13a")
    )
    per_text = (
        metric("rouge")
        .Rouge()
        .compute(predictions=["the cat sat", "b"], references=[["the cat", "dog"], ["b"]], use_aggregator=False)
    )

    assert (round(found["score"], 6), found["bp"]) == (100, 1.0)
    assert per_text["rouge1"] == [0.8, 1.0]
    with pytest.raises(ValueError, match="same number of references"):
        metric("sacrebleu").Sacrebleu().compute(predictions=["a", "b"], references=[["a"], ["b", "c"]])


@pytest.mark.parametrize(
    "module, name, given, gold, detail",
    [
        (
            "mathvision", "MathVisionEvaluator", "\\boxed{3}<|im_end|>", "3",
            {"pred": "\\boxed{3}", "answer": {"type": "open", "answer": "3"}, "correct": True, "parsed_pred": "3"},
        ),
        (
            "mmmu", "MMMUEvaluator", "ANSWER: Yes", "yes",
            {"pred": "ANSWER: Yes", "answer": "yes", "correct": True, "parsed_pred": "Yes"},
        ),
        (
            "realworldqa", "RealworldQAEvaluator", "ANSWER: Left ", "left",
            {"origin_prediction": "ANSWER: Left ", "pred": "Left", "answer": "left", "normalized_prediction": "left",
             "normalized_answer": "left", "correct": True},
        ),
        ("triviaqa", "TriviaQAEvaluator", "The answer is Rome.", ["Rome"],
         {"pred": "rome", "answer": ["rome"], "correct": True}),
        ("agieval.agieval", "AGIEvalEvaluator", "x = 5", "5", {"pred": "5", "answer": "5", "correct": True}),
    ],
)  # fmt: skip
def test_details_say_what_upstream_says_of_an_answer(module, name, given, gold, detail):
    kind = getattr(import_module(f"ais_bench.benchmark.datasets.{module}"), name)
    assert kind().score([given], [gold])["details"] == [detail]


def test_details_of_mgsm_go_by_position():
    from ais_bench.benchmark.datasets.mgsm import MGSM_Evaluator

    found = MGSM_Evaluator().score(["4", "5"], ["4", "6"])
    assert found["details"]["1"] == {"references": "6", "predictions": "5", "correct": False}


def test_readings_of_one_answer_can_be_called():
    from ais_bench.benchmark.datasets.mathvision import MathVisionEvaluator
    from ais_bench.benchmark.datasets.mbpp import MBPPEvaluator, MBPPPassKEvaluator
    from ais_bench.benchmark.datasets.mmlu_pro import MMLUProBaseEvaluator
    from ais_bench.benchmark.datasets.realworldqa import RealworldQAEvaluator
    from ais_bench.benchmark.datasets.textvqa import TEXTEvaluatorForVita
    from ais_bench.benchmark.openicl.icl_evaluator.icl_leval_evaluator import CodeUEvaluator, SciFiEvaluator

    assert MathVisionEvaluator._extract_mcq_prediction("ANSWER: B", {"A": "x", "B": "y"}) == "B"
    assert MathVisionEvaluator()._extract_open_prediction("ANSWER: 12") == "12"
    assert RealworldQAEvaluator()._extract_answer("so ANSWER: c") == "c"
    assert MBPPEvaluator()._process_test("assert f()", MBPPEvaluator()._process_answer("```python\nx\n```")) == (
        "x\nassert f()"
    )
    assert list(MBPPPassKEvaluator.estimate_pass_at_k(2, [1, 2], 1)) == [0.5, 1.0]
    assert MMLUProBaseEvaluator().is_equal("B", "B. a cat")
    assert not MMLUProBaseEvaluator().is_equal("C", "B. a cat")
    assert TEXTEvaluatorForVita()._extract_answer("☞ 7<|im_end|>") == "7"
    assert CodeUEvaluator()._is_correct(CodeUEvaluator()._extract_code_output("it is [1, 2]", "[1,2]"), "it [1 2]")
    assert SciFiEvaluator()._extract_loyalty_from_prediction("True [fact: false]") == "true"
    assert SciFiEvaluator()._extract_loyalty_from_reference("false [fact: True]") == "false"
