from __future__ import annotations

import json
import warnings
from importlib.resources import files

import pytest

from proctor.artifacts import fetch_artifact
from proctor.errors import MissingExtraError
from proctor.scoring.judges.criteria import Criteria
from proctor.scoring.metric import Metric
from proctor.scoring.pipeline import MetricsList

SEED_IDS = """
roc_auc squad f1_weighted matthews_correlation recall_binary normalized_sacrebleu jaccard_index recall_macro_multi_label wer
sacrebleu accuracy_binary meteor_hf f1_strings precision_binary exact_match_mm max_f1_binary kendalltau_b bleu f1_micro
token_overlap rouge string_containment_ratio retrieval_at_k websrc_squad_f1 fuzzyner f1_macro recall_micro_multi_label
relaxed_correctness char_edit_dist_accuracy unsorted_list_exact_match ndcg string_containment safety_metric fin_qa_metric
char_edit_distance f1_macro_multi_label weighted_win_rate_correlation token_overlap_with_context regard_metric ner rerank_recall
meteor precision_macro_multi_label accuracy is_code_mixed rouge_with_confidence_intervals precision_micro_multi_label mrr map
spearman max_accuracy_binary f1_micro_multi_label kpa anls prediction_length f1_binary
""".split()


def catalog_files():
    root = files("proctor.catalog") / "metrics"
    pending, found = [(root, "metrics")], []
    while pending:
        folder, name = pending.pop()
        for entry in folder.iterdir():
            if entry.is_dir():
                pending.append((entry, f"{name}.{entry.name}"))
            elif entry.name.endswith(".json"):
                found.append((f"{name}.{entry.name.removesuffix('.json')}", entry))
    return sorted(found, key=lambda pair: pair[0])


ENTRIES = catalog_files()


def fetch(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return fetch_artifact(name)
        except MissingExtraError as error:
            pytest.skip(str(error))


def test_all_ids_of_the_seed_are_there():
    assert len(SEED_IDS) == 56
    assert {f"metrics.{name}" for name in SEED_IDS} <= {name for name, _ in ENTRIES}


@pytest.mark.parametrize("name, entry", ENTRIES, ids=lambda each: each if isinstance(each, str) else "")
def test_every_metric_of_the_catalog_is_described_and_can_be_built(name, entry):
    data = json.loads(entry.read_text(encoding="utf-8"))
    assert data["__description__"].endswith(".")
    artifact = fetch(name)
    assert isinstance(artifact, (Metric, MetricsList, Criteria))


@pytest.mark.parametrize("name", [f"metrics.{name}" for name in SEED_IDS])
def test_a_metric_can_be_saved_and_read_back(name):
    artifact = fetch(name)
    assert type(artifact).from_dict(json.loads(artifact.to_json())).to_dict() == artifact.to_dict()


def test_parameters_are_overwritten_in_the_name():
    metric = fetch("metrics.string_containment_ratio[field=parts,score_prefix=my_]")
    assert (metric.field, metric.score_prefix) == ("parts", "my_")
