"""Generated cases for the comparison of metrics, and the differences that are meant."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

SEED = 20260101
BATCH_SIZES = (1, 2, 3, 5, 9, 17, 40, 60)
WORDS = [
    *("the", "a", "an", "cat", "dog", "house", "Ünïcode", "naïve", "東京", "data", "model", "answer", "of", "in"),
    *("3.14", "1,000", "yes", "no", "red", "blue", "it's", "end.", "Paris", "London", "-5", "42%", "e.g."),
    *("Müller-Lüdenscheidt", "straße", "😀", "don't", "(maybe)", "[x]", "A.B.C.", "U.S."),
]
LABELS = ["yes", "no", "maybe", "", "Ünïcode", "not entailment", "a b"]
ENTITIES = ["PER", "LOC", "ORG"]

Batch = dict[str, Any]
Case = tuple[Any, list[Any], dict[str, Any]]


def text(rng: random.Random, longest: int = 14) -> str:
    """Return a text, at times empty or odd."""
    if rng.random() < 0.06:
        return rng.choice(["", " ", "\n", ".", "the", "😀", "a\tb", "  two  spaces  "])
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, longest))]
    return rng.choice([" ", " ", " ", "  ", "\n"]).join(words)


def changed(rng: random.Random, source: str) -> str:
    """Return a text that has some of another."""
    words = source.split()
    kept = [word if rng.random() < 0.75 else rng.choice(WORDS) for word in words if rng.random() < 0.9]
    return " ".join(kept)


def texts(rng: random.Random) -> Case:
    """Texts with one to four references."""
    references = [text(rng) for _ in range(rng.choice([1, 1, 2, 4]))]
    prediction = rng.choice(references) if rng.random() < 0.15 else changed(rng, rng.choice(references))
    return prediction, references, {}


def filled_texts(rng: random.Random) -> Case:
    """Texts whose references have words."""
    prediction, references, fields = texts(rng)
    return prediction, [reference if reference.strip() else "filled" for reference in references], fields


def single_texts(rng: random.Random) -> Case:
    """Texts with one reference that has words."""
    prediction, references, fields = filled_texts(rng)
    return prediction, references[:1], fields


def labels(rng: random.Random) -> Case:
    """A label and the right one."""
    gold = rng.choice(LABELS)
    return gold if rng.random() < 0.5 else rng.choice([*LABELS, "unheard of"]), [gold], {}


def label_lists(rng: random.Random) -> Case:
    """Lists of labels."""
    gold = rng.sample(LABELS, rng.randint(0, 3))
    given = [label for label in gold if rng.random() < 0.7] + rng.sample([*LABELS, "unheard of"], rng.randint(0, 2))
    return given, [gold], {}


def value_lists(rng: random.Random) -> Case:
    """Lists of anything, never all empty."""
    given = [rng.choice(WORDS) for _ in range(rng.randint(1, 5))]
    return (
        given,
        [[rng.choice([*given, *WORDS]) for _ in range(rng.randint(1, 5))] for _ in range(rng.randint(1, 3))],
        {},
    )


def sortable_lists(rng: random.Random) -> Case:
    """Lists, at times the same in another order."""
    gold = [rng.choice(LABELS) for _ in range(rng.randint(0, 4))]
    return rng.sample(gold, len(gold)) if rng.random() < 0.5 else [rng.choice(LABELS)], [gold], {}


def binary(rng: random.Random) -> Case:
    """A number and 0 or 1, with ties."""
    gold = int(rng.random() < 0.6)
    return rng.choice([0.0, 0.5, 0.501, 1.0, round(rng.random(), 2), rng.random()]), [gold], {}


def float_binary(rng: random.Random) -> Case:
    """A number and 0.0 or 1.0, with ties."""
    prediction, references, fields = binary(rng)
    return prediction, [float(references[0])], fields


def floats(rng: random.Random) -> Case:
    """Numbers, with ties."""
    gold = float(rng.choice([0, 1, 2, 3, rng.random() * 3]))
    return float(rng.choice([gold, rng.random() * 3, 1.0])), [gold], {}


def floats_with_nan(rng: random.Random) -> Case:
    """Numbers, some of them NaN."""
    prediction, references, fields = floats(rng)
    return float("nan") if rng.random() < 0.02 else prediction, references, fields


def entities(rng: random.Random) -> Case:
    """Pairs of text and type."""

    def some(count: int) -> list[Any]:
        return [{"__tuple__": [rng.choice(WORDS[:14]), rng.choice(ENTITIES)]} for _ in range(count)]

    gold = some(rng.randint(0, 4))
    given = [pair for pair in gold if rng.random() < 0.7] + some(rng.randint(0, 2))
    return given, [gold], {}


def key_points(rng: random.Random) -> Case:
    """Key points, or none."""
    return rng.choice(["kp", "none"]), [rng.choice(["kp", "none"])], {"keypoint": rng.choice(["a", "b", "c"])}


def rankings(rng: random.Random) -> Case:
    """Retrieved ids and right ids."""
    ids = [f"d{number}" for number in range(60)]
    return rng.sample(ids, rng.choice([0, 1, 5, 20, 50])), [[rng.choice(ids) for _ in range(rng.randint(1, 4))]], {}


def relevances(rng: random.Random) -> Case:
    """A predicted relevance, at times none, with a query."""
    given = rng.choice(["", "no number", 1, 2, 2.5, round(rng.random(), 1)])
    return str(given), [str(rng.choice([0, 1, 2, 3]))], {"query": rng.choice("abcd")}


def charts(rng: random.Random) -> Case:
    """Numbers and words, by split."""
    gold = rng.choice(["10", "5%", "0", "yes", "-3.5", "Ünï"])
    return (
        rng.choice([gold, "10.4", "10.6", "5.2%", "YES", "0.05", ""]),
        [gold],
        {"type": rng.choice(["human_test", "x"])},
    )


def pages(rng: random.Random) -> Case:
    """Texts by domain."""
    prediction, references, _ = texts(rng)
    return prediction, references[:1], {"domain": rng.choice(["auto", "book", "hotel"])}


def battles(rng: random.Random) -> Case:
    """Verdicts on pairs of models."""
    first, second = rng.sample(["m1", "m2", "m3", "m4"], 2)
    verdicts = [-3, -1, 0, 1, 3]
    return rng.choice(verdicts), [rng.choice(verdicts)], {"model_a": first, "model_b": second}


def options(rng: random.Random) -> Case:
    """Answers to visual questions."""
    gold = rng.choice("ABCD")
    wrapped = ["{}", "({})", "Option {}", "the answer is {}", "{}.", "x{}", " {} because", ""]
    return rng.choice(wrapped).format(rng.choice(["A", "B", gold, gold])), [gold], {}


def contexts(rng: random.Random) -> Case:
    """Answers with a context."""
    prediction, references, _ = texts(rng)
    return prediction, references, {"context": rng.choice(references)}


def contained(rng: random.Random) -> Case:
    """Answers with values to contain."""
    prediction, references, _ = texts(rng)
    return prediction, references, {"entities": [rng.choice(WORDS) for _ in range(rng.randint(1, 4))]}


def translations(rng: random.Random) -> Case:
    """Texts with a target language."""
    prediction, references, _ = filled_texts(rng)
    return prediction, references[:1], {"target_language": rng.choice(["en", "de", "ar"])}


def passages(rng: random.Random) -> Case:
    """Scores of passages."""
    query = rng.choice("qrs")
    return str(round(rng.random(), 6)), [int(rng.random() < 0.3)], {"query_id": query, "passage_id": str(rng.random())}


def variants(rng: random.Random) -> Case:
    """Labels in groups of variants of a question."""
    prediction, references, _ = labels(rng)
    fields = {"group_id": rng.randint(0, 5), "variant_type": rng.choice(["original", "paraphrase"])}
    return prediction, references, fields


def dialogs(rng: random.Random) -> Case:
    """Labels in turns of dialogs."""
    prediction, references, _ = labels(rng)
    turns = [{"role": "user", "content": "x"}] * (2 * rng.randint(1, 4))
    return prediction, references, {"conversation": {"id": f"c{rng.randint(0, 4)}", "dialog": turns}}


METRICS: dict[str, Callable[[random.Random], Case]] = {
    "metrics.accuracy": labels,
    "metrics.f1_micro": labels,
    "metrics.f1_macro": labels,
    "metrics.f1_weighted": labels,
    "metrics.matthews_correlation": labels,
    "metrics.f1_macro_multi_label": label_lists,
    "metrics.f1_micro_multi_label": label_lists,
    "metrics.precision_macro_multi_label": label_lists,
    "metrics.precision_micro_multi_label": label_lists,
    "metrics.recall_macro_multi_label": label_lists,
    "metrics.recall_micro_multi_label": label_lists,
    "metrics.accuracy_binary": binary,
    "metrics.max_accuracy_binary": binary,
    "metrics.f1_binary": binary,
    "metrics.precision_binary": binary,
    "metrics.recall_binary": binary,
    "metrics.max_f1_binary": binary,
    "metrics.roc_auc": float_binary,
    "metrics.exact_match_mm": options,
    "metrics.unsorted_list_exact_match": sortable_lists,
    "metrics.jaccard_index": value_lists,
    "metrics.jaccard_index_words": filled_texts,
    "metrics.string_containment": texts,
    "metrics.string_containment_ratio": contained,
    "metrics.token_overlap": texts,
    "metrics.token_overlap_with_context": contexts,
    "metrics.anls": texts,
    "metrics.char_edit_distance": single_texts,
    "metrics.char_edit_dist_accuracy": single_texts,
    "metrics.prediction_length": single_texts,
    "metrics.f1_strings": texts,
    "metrics.squad": texts,
    "metrics.websrc_squad_f1": pages,
    "metrics.relaxed_correctness": charts,
    "metrics.rouge": filled_texts,
    "metrics.bleu": filled_texts,
    "metrics.sacrebleu": single_texts,
    "metrics.normalized_sacrebleu": translations,
    "metrics.meteor": texts,
    "metrics.wer": single_texts,
    "metrics.kendalltau_b": floats,
    "metrics.spearman": floats_with_nan,
    "metrics.pearson": floats,
    "metrics.mean_squared_error": floats,
    "metrics.root_mean_squared_error": floats,
    "metrics.weighted_win_rate_correlation": battles,
    "metrics.mrr": rankings,
    "metrics.map": rankings,
    "metrics.retrieval_at_k": rankings,
    "metrics.ndcg": relevances,
    "metrics.rerank_recall": passages,
    "metrics.ner": entities,
    "metrics.fuzzyner": entities,
    "metrics.kpa": key_points,
    "metrics.robustness.group_mean_accuracy": variants,
    "metrics.robustness.fixed_group_mean_accuracy": variants,
    "metrics.robustness.fixed_group_mean_baseline_accuracy": variants,
    "metrics.robustness.fixed_group_pdr_paraphrase_accuracy": variants,
    "metrics.robustness.fixed_group_norm_cohens_h_paraphrase_accuracy": variants,
    "metrics.robustness.fixed_group_norm_hedges_g_paraphrase_accuracy": variants,
    "metrics.robustness.fixed_group_absval_norm_cohens_h_paraphrase_string_containment": variants,
    "metrics.robustness.group_mean_token_overlap": variants,
    "metrics.multi_turn.accuracy": dialogs,
    "metrics.multi_turn.sequential_success_accuracy": dialogs,
}


def batches(metric: str, cases: int) -> list[Batch]:
    """Return batches of different sizes with at least ``cases`` cases; one batch has equal cases only."""
    rng = random.Random(f"{SEED}/{metric}")
    make = METRICS[metric]
    found: list[Batch] = []
    while sum(len(batch["predictions"]) for batch in found) < cases:
        size = BATCH_SIZES[len(found) % len(BATCH_SIZES)]
        made = [make(rng) for _ in range(size)] if len(found) != 4 else [make(rng)] * size
        predictions, references, task_data = (list(column) for column in zip(*made, strict=True))
        found.append({"predictions": predictions, "references": references, "task_data": task_data})
    return found


WILSON = NormalDist().inv_cdf(0.975) ** 2
TOLERANCE = 1e-6
"""How far from a whole number a count may be that is computed from a bound."""


def is_wilsons_of_equals(ours: Any, theirs: Any, wilson: float = WILSON) -> bool:
    """Whether a bound is of Wilson's interval of some number of instances that are all wrong, or all right.

    Args:
        ours: The bound.
        theirs: Unitxt's: what all instances have, or none.
        wilson: The square of the normal quantile of the interval's level.
    """
    if not isinstance(ours, float) or theirs not in (0.0, 1.0, "(absent)"):
        return False
    if ours in (0.0, 1.0):
        return bool(theirs == "(absent)")
    wrong, right = wilson / ours - wilson, wilson * ours / (1.0 - ours)
    counts = {0.0: (wrong,), 1.0: (right,)}.get(theirs, (wrong, right))
    return any(round(count) > 0 and abs(count - round(count)) <= TOLERANCE for count in counts)


BINARY = ("metrics.f1_binary", "metrics.precision_binary", "metrics.recall_binary", "metrics.max_f1_binary")


_OF_FROM = ("sqlglot_equivalence", "sql_syntactic_equivalence", "score")
"""Scores that say more queries are equal where the tables of FROM are not looked at."""


def _is_more_alike(name: str, ours: Any, theirs: Any) -> bool:
    numbers = isinstance(ours, int | float) and isinstance(theirs, int | float)
    return name.startswith(_OF_FROM) and numbers and ours <= theirs


def _is_wider(name: str, ours: Any, theirs: Any) -> bool:
    if not isinstance(ours, float) or not isinstance(theirs, float):
        return False
    if not 0 <= theirs <= 1:  # the basic bootstrap leaves the scale
        return ours == min(max(theirs, 0.0), 1.0)
    return ours < theirs if name.endswith("_ci_low") else ours > theirs


def explain(metric: str, kind: str, path: str, ours: Any, theirs: Any) -> str:  # noqa: PLR0911, C901 - one for each
    """Return the id of why a difference is meant; ``""`` where it is not."""
    metric, _, field = metric.partition("[")
    wilson: float = NormalDist().inv_cdf(0.9) ** 2 if field == "confidence_level=0.8]" else WILSON
    if field.startswith("smooth_method=add-k"):
        return "unitxt/add-k-twice"
    name = path.rpartition(".")[2]
    interval = name.endswith(("_ci_low", "_ci_high"))
    if metric in ("metrics.f1_strings", "metrics.prediction_length") and kind == "instances" and theirs == [ours]:
        return "unitxt/score-in-a-list"
    if metric == "metrics.text2sql.non_execution_accuracy" and _is_more_alike(name, ours, theirs):
        return "unitxt/from-not-seen"
    if metric in BINARY and interval and (name.startswith("score_ci") or theirs == "(absent)"):
        return "unitxt/main-interval"
    if metric == "metrics.max_f1_binary" and ("best_thr" in name or "_at_max_" in name):
        return "unitxt/equal-thresholds"
    if interval and isinstance(theirs, float) and math.isnan(theirs) and isinstance(ours, float):
        return "unitxt/equal-resamples"
    if interval and ours == "(absent)" and isinstance(theirs, float) and math.isnan(theirs):
        return "unitxt/nan-apart"
    nothing = ours == "(absent)" and isinstance(theirs, float) and not math.isnan(theirs)
    if interval and (nothing or is_wilsons_of_equals(ours, theirs, wilson)):
        return "unitxt/no-width"
    if interval and _is_wider(name, ours, theirs):
        return "unitxt/unseen-answers"
    if field == "score_prefix=p_]" and name.startswith("score_ci") and theirs == "(absent)":
        return "unitxt/main-interval-with-prefix"
    if interval and metric == "metrics.weighted_win_rate_correlation":
        return "unitxt/win-rates-rounded"
    return ""
