from __future__ import annotations

import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.errors import ScoringError, ValidationError
from proctor.scoring.columns import Columns
from proctor.scoring.distances import levenshtein, normalize_answer
from proctor.scoring.metrics.hugging_face import HuggingfaceBulkMetric, HuggingfaceMetric, register_hub_metric
from proctor.scoring.metrics.summaries import sentences
from proctor.scoring.metrics.translation import tokenize_13a
from proctor.scoring.pipeline import apply_metrics

words = st.text("abc ", max_size=14)
texts = st.lists(
    st.sampled_from("the cat sat on a mat , and it's 3.5 in Paris . U.S. - well-known 東京".split()),
    min_size=1,
    max_size=9,
).map(" ".join)


def score(metric, predictions, references, task_data=()):
    return apply_metrics(Columns(predictions, references, task_data), [metric])


def slow_levenshtein(first, second):
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, start=1):
        previous, row[0] = row[0], i
        for j, b in enumerate(second, start=1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (a != b))
    return row[-1]


@given(words, words)
def test_edits_are_counted(first, second):
    assert levenshtein(first, second) == slow_levenshtein(first, second)


@settings(max_examples=20, deadline=None)
@given(st.text(min_size=60, max_size=150), st.text(max_size=150))
def test_edits_of_long_texts_equal_rapidfuzz(first, second):
    rapidfuzz = pytest.importorskip("rapidfuzz.distance")
    assert levenshtein(first, second) == rapidfuzz.Levenshtein.distance(first, second)


def test_edits_of_words():
    assert levenshtein("a b c".split(), "a x c d".split()) == 2
    assert levenshtein([], ["a"]) == 1


def test_answers_are_normalised():
    assert normalize_answer("The  Cat's, a HAT!") == "cats hat"


@pytest.mark.parametrize(
    "name, prediction, references, expected",
    [
        ("anls", "Paris", ["parix", "x"], 0.8),
        ("anls", "abcdef", ["xyz"], 0.0),
        ("anls", "", [""], 1.0),
        ("char_edit_distance", "a b", ["abc"], 1),
        ("char_edit_dist_accuracy", "abcd", ["abxd"], 0.75),
        ("char_edit_distance", " ", [""], 0.0),
        ("string_containment", "it is Paris", ["Rome", "Paris"], 1.0),
        ("token_overlap", "the red cat", ["a red dog", "cats"], 0.5),
        ("token_overlap", "", ["x"], 0.0),
        ("prediction_length", "abc", ["x"], 3),
        ("jaccard_index", ["a", "b"], [["b", "c"], ["x"]], 1 / 3),
        ("unsorted_list_exact_match", ["b", "a"], [["a", "b"]], 1.0),
        ("exact_match_mm", "(B) because", ["b"], 1.0),
        ("exact_match_mm", "The answer is C", ["C"], 1.0),
        ("exact_match_mm", "option d", ["D"], 1.0),
        ("exact_match_mm", "", ["A"], 0.0),
        ("wer", "the cat sat", ["the cat sat down"], 0.25),
    ],
)
def test_texts_are_scored(name, prediction, references, expected):
    result = score(f"metrics.{name}", [prediction], [references])
    assert result.instance_scores["score"][0] == pytest.approx(expected)


def test_a_share_of_values_is_contained():
    result = score("metrics.string_containment_ratio", ["Ann met Bob"], [["x"]], [{"entities": ["Ann", "Eve"]}])
    assert result.scores["string_containment"] == 0.5
    assert "entities" in score("metrics.string_containment_ratio", ["Ann"], [["x"]], [{}]).failures[0].message
    with pytest.raises(ValidationError):
        score({"__type__": "string_containment_ratio"}, ["Ann"], [["x"]])


def test_overlap_with_the_context_is_reported_under_its_own_names():
    result = score("metrics.token_overlap_with_context", ["red cat"], [["x"]], [{"context": "a red dog"}])
    assert result.scores["f1_overlap_with_context"] == result.scores["f1"] == 0.5
    assert result.scores["score_name"] == "f1"


def test_squads_metric_takes_texts_and_its_own_dicts():
    result = score("metrics.squad", ["the cat", "dog"], [["cat"], ["a dog", "cat"]])
    assert (result.scores["exact_match"], result.scores["f1"]) == (1.0, 1.0)
    prediction = {"prediction_text": "red cat", "id": "1"}
    reference = {"answers": {"text": ["cat"], "answer_start": [0]}, "id": "1"}
    assert score("metrics.squad", [prediction], [reference]).scores["f1"] == pytest.approx(2 / 3)


def test_charts_are_answered_within_five_percent():
    task_data = [{"type": "human_test"}, {"type": "augmented_test"}, {"type": "human_test"}]
    result = score("metrics.relaxed_correctness", ["10.4", "6%", "yes"], [["10"], ["5%"], ["Yes"]], task_data)
    assert result.scores["relaxed_overall"] == pytest.approx(2 / 3)
    assert result.scores["relaxed_human_split"] == 1.0
    assert result.scores["relaxed_augmented_split"] == 0.0


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_sacrebleu_equals_the_package(pairs):
    sacrebleu = pytest.importorskip("sacrebleu")
    predictions, references = map(list, zip(*pairs, strict=True))
    result = score("metrics.sacrebleu", predictions, [[each] for each in references])
    expected = sacrebleu.corpus_bleu(predictions, [references])
    assert result.scores["sacrebleu"] == pytest.approx(expected.score, abs=1e-9)
    assert result.scores["precisions"] == pytest.approx(expected.precisions)
    assert result.scores["bp"] == pytest.approx(expected.bp)
    assert (result.scores["sys_len"], result.scores["ref_len"]) == (expected.sys_len, expected.ref_len)
    normalized = score("metrics.normalized_sacrebleu", predictions, [[each] for each in references])
    effective = sacrebleu.BLEU(effective_order=True).corpus_score(predictions, [references])
    assert normalized.scores["sacrebleu"] == round(effective.score / 100, 2)


@settings(deadline=None, max_examples=30)
@given(texts, st.lists(texts, min_size=1, max_size=4), st.booleans())
def test_sacrebleu_counts_against_several_references_as_the_package_does(prediction, references, lowercase):
    sacrebleu = pytest.importorskip("sacrebleu")
    from proctor.scoring.metrics.translation import Sacrebleu

    found = Sacrebleu(lowercase=lowercase).map(prediction, references, {})
    expected = sacrebleu.BLEU(lowercase=lowercase, effective_order=True).sentence_score(prediction, references)
    assert found == (expected.counts, expected.totals, expected.sys_len, expected.ref_len)


@pytest.mark.parametrize("method, value", [("floor", 0.1), ("add-k", 1.0), ("none", None)])
def test_sacrebleu_smooths_as_the_package_does(method, value):
    sacrebleu = pytest.importorskip("sacrebleu")
    from proctor.scoring.metrics.translation import Sacrebleu

    predictions, references = ["the cat sat on", "a dog"], ["the cat is on", "my dog ran"]
    metric = Sacrebleu(smooth_method=method, smooth_value=value)
    result = score(metric, predictions, [[each] for each in references])
    expected = sacrebleu.BLEU(smooth_method=method, smooth_value=value).corpus_score(predictions, [references])
    assert result.scores["sacrebleu"] == pytest.approx(expected.score, abs=1e-9)


def test_languages_choose_tokenizers():
    pytest.importorskip("sacrebleu")
    data = [{"target_language": "ar"}, {"target_language": "klingon"}]
    result = score("metrics.normalized_sacrebleu", ["a b", "a"], [["a b"], ["a"]], data)
    assert "klingon" in result.failures[1].message


@given(texts)
def test_tokens_equal_sacrebleus_13a(text):
    tokenizer = pytest.importorskip("sacrebleu.tokenizers.tokenizer_13a").Tokenizer13a()
    assert " ".join(tokenize_13a(text)) == tokenizer(text)


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_bleu_equals_sacrebleus_without_smoothing(pairs):
    sacrebleu = pytest.importorskip("sacrebleu")
    predictions, references = map(list, zip(*pairs, strict=True))
    result = score("metrics.bleu", predictions, [[each] for each in references])
    expected = sacrebleu.BLEU(smooth_method="none").corpus_score(predictions, [references])
    assert result.scores["bleu"] == pytest.approx(expected.score / 100, abs=1e-9)
    assert result.scores["precisions"] == pytest.approx([each / 100 for each in expected.precisions])


def test_bleu_takes_the_shortest_reference_and_refuses_empty_text():
    result = score("metrics.bleu", ["a b c d e"], [["a b c d e f g", "a b c d"]])
    assert result.scores["reference_length"] == 4
    assert result.scores["brevity_penalty"] == 1.0
    empty = score("metrics.bleu", ["", "a b c d"], [["a"], ["a b c d"]])
    assert empty.scores["bleu"] < 1
    assert empty.instance_scores["bleu"][0] is None


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
def test_word_errors_equal_jiwers(pairs):
    jiwer = pytest.importorskip("jiwer")
    predictions, references = map(list, zip(*pairs, strict=True))
    result = score("metrics.wer", predictions, [[each] for each in references])
    assert result.scores["wer"] == pytest.approx(jiwer.wer(references, predictions))


def test_an_empty_reference_has_no_word_errors():
    result = score("metrics.wer", ["a", "b c"], [[""], ["b d"]])
    assert result.scores["wer"] == 0.5
    assert list(result.failures) == [0]


def test_rouge_equals_its_package():
    scorer = pytest.importorskip("rouge_score.rouge_scorer")
    prediction, references = "The cat sat. It was red.", ["A cat sat. It was blue.", "The dog ran."]
    result = score("metrics.rouge", [prediction, "x"], [references, ["x"]])
    expected = scorer.RougeScorer(["rouge1", "rouge2", "rougeL"]).score_multi(references, prediction)
    for name, value in expected.items():
        assert result.instance_scores[name][0] == pytest.approx(value.fmeasure)
    assert result.scores["score_name"] == "rougeL"
    assert "rougeLsum_ci_low" in result.scores
    assert score("metrics.rouge", ["a"], [[]]).failures[0].message.startswith("ROUGE needs")


def test_sentences_are_cut():
    assert sentences("One. Two! And three?") == ["One.", "Two!", "And three?"]


def test_a_metric_of_the_hub_is_taken_by_name():
    pytest.importorskip("sklearn")
    metric = HuggingfaceMetric(hf_metric_name="bleu", main_score="bleu", prediction_type=str)
    assert score(metric, ["a b c d"], [["a b c d"]]).scores["bleu"] == pytest.approx(1.0)
    f1 = HuggingfaceMetric(hf_metric_name="f1", hf_compute_args={"average": "macro"}, n_resamples=0)
    assert score(f1, [1, 0, 1], [[1], [0], [0]]).scores["f1"] == pytest.approx(2 / 3)
    squad = HuggingfaceMetric(hf_metric_name="squad", main_score="f1", scale=100.0, scaled_fields=["f1", "exact_match"])
    assert score(squad, ["cat"], [["the cat"]]).scores["f1"] == 1.0
    with pytest.raises(ScoringError, match="did you mean 'bleu'"):
        HuggingfaceMetric(hf_metric_name="blue", main_score="x")


def test_metrics_of_the_hub_get_fields_of_the_task():
    def add(predictions, references, num1, offset):
        return {"sum": float(sum(predictions) + sum(num1) + offset)}

    register_hub_metric("my_sum", add)
    metric = HuggingfaceMetric(
        hf_metric_name="my_sum",
        main_score="total",
        hf_main_score="sum",
        hf_additional_input_fields=["num1"],
        hf_additional_input_fields_pass_one_value=["offset"],
        n_resamples=None,
    )
    task_data = [{"num1": 1, "offset": 5}, {"num1": 2, "offset": 5}]
    assert score(metric, [10, 20], [[0], [0]], task_data).scores["total"] == 38.0
    task_data[1]["offset"] = 6
    assert (
        "several values" in score(metric, [10, 20], [[0], [0]], task_data).metric_failures["HuggingfaceMetric"].message
    )


def test_metrics_of_the_hub_may_score_instances_in_bulk():
    pytest.importorskip("rouge_score")
    metric = HuggingfaceBulkMetric(
        hf_metric_name="rouge",
        hf_metric_fields=["rouge1", "rougeL"],
        hf_compute_args={"use_aggregator": False},
        main_score="rougeL",
        reduction_map={"mean": ["rouge1", "rougeL"]},
    )
    result = score(metric, ["a b", "c"], [["a b"], ["d"]])
    assert list(result.instance_scores["rouge1"]) == [1.0, 0.0]
    assert result.scores["rougeL"] == 0.5


def test_an_old_name_is_a_link():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        pytest.importorskip("rouge_score")
        assert score("metrics.rouge_with_confidence_intervals", ["a"], [["a"]]).scores["rougeL"] == 1.0


def test_metrics_that_run_code_say_that_they_are_none_of_ours():
    metric = {"__type__": "huggingface_metric", "hf_metric_name": "xcode_eval", "main_score": "pass@1"}
    with pytest.raises((ScoringError, ValidationError), match="runs code that a model wrote"):
        score(metric, ["x"], [["y"]])
