"""Arguments of evaluators that are one of a few words: another one is refused before anybody is asked."""

from __future__ import annotations

import pytest

from proctor.dialects.aisbench.evaluation_checks import check_evaluator

WRONG = [
    ("MATHEvaluator", {"version": "v3"}, "v1, v2"),
    ("MATHEvaluator", {"version": 2}, "v2"),
    ("MBPPEvaluator", {"metric": "MBPPlus"}, "did you mean 'MBPPPlus'"),
    ("MBPPPassKEvaluator", {"metric": "MBPPPlus"}, "MBPP"),
    ("BigCodeBenchEvaluator", {"eval_type": "complet"}, "did you mean 'complete'"),
    ("LCBCodeGenerationEvaluator", {"extractor_version": "v9"}, "v1, v2"),
    ("GaokaoBenchEvaluator", {"question_type": "single_choise"}, "did you mean 'single_choice'"),
    ("KaoshiEvaluator", {"question_type": "subjective"}, "judgment"),
    ("LongBenchF1Evaluator", {"language": "zn"}, "zh"),
    ("LVEvalF1Evaluator", {"language": "cn"}, "en, zh"),
]


def said(name, arguments):
    return "\n".join(str(each) for each in check_evaluator({"type": name, **arguments}))


@pytest.mark.parametrize("name, arguments, words", WRONG)
def test_another_word_is_refused_with_those_that_there_are(name, arguments, words):
    told = said(name, arguments)
    key, value = next(iter(arguments.items()))
    assert f"'{name}' has no {key} {value!r}" in told
    assert words in told


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("MATHEvaluator", {"version": "v2"}),
        ("MATHEvaluator", {}),
        ("GaokaoBenchEvaluator", {"question_type": "subjective"}),
        ("LongBenchF1Evaluator", {"language": "zh"}),
    ],
)
def test_the_words_that_there_are_are_taken(name, arguments):
    assert " has no " not in said(name, arguments)
