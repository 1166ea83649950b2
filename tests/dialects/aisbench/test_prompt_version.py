"""Versions of dataset configs: what they are made of, and what leaves them as they are."""

import hashlib
import json

import pytest

from proctor.dialects.aisbench.prompt_version import mode_of, prompt_digest, prompt_version, table_version
from proctor.dialects.aisbench.values import Reference

INFER = {"prompt_template": {"type": "PromptTemplate", "template": "{q}"}, "retriever": {"type": "ZeroRetriever"},
         "inferencer": {"type": "GenInferencer"}}  # fmt: skip


def digest(value):
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def test_a_version_is_the_beginning_of_the_digest_of_how_is_asked():
    assert prompt_digest({"infer_cfg": INFER, "abbr": "x"}) == digest(INFER)
    assert prompt_version({"infer_cfg": INFER}) == digest(INFER)[:6]
    assert (prompt_version({}), prompt_version({"infer_cfg": {}})) == ("/", "/")
    named = {**INFER, "inferencer": {"type": Reference("a.b.GenInferencer"), 1: (1, None)}}
    assert prompt_digest({"infer_cfg": named}) == digest(
        {**INFER, "inferencer": {"type": "a.b.GenInferencer", "1": [1, None]}}
    )


def test_of_several_datasets_all_count_and_one_is_itself():
    one, two = {"infer_cfg": INFER}, {"infer_cfg": {**INFER, "retriever": {}}}
    assert prompt_digest([one]) == prompt_digest(one)
    assert (
        prompt_digest([one, two]) == hashlib.sha256(f"{prompt_digest(one)},{prompt_digest(two)}".encode()).hexdigest()
    )
    assert prompt_digest([one, two]) != prompt_digest([two, one])


def test_ids_of_fixed_examples_count_as_part_of_the_inferencer():
    fixed = {**INFER, "retriever": {"type": "FixKRetriever", "fix_id_list": [0, 1]}}
    moved = {
        **INFER,
        "retriever": {"type": "FixKRetriever"},
        "inferencer": {"type": "GenInferencer", "fix_id_list": [0, 1]},
    }
    assert prompt_digest({"infer_cfg": fixed}) == digest(moved)
    assert fixed["retriever"]["fix_id_list"] == [0, 1]


def test_a_config_that_holds_its_own_reader_is_rewritten():
    old = {
        **INFER,
        "inferencer": {"type": Reference("x.GenInferencer")},
        "reader_cfg": {"train_split": "dev", "test_split": "test"},
    }
    made = {
        **INFER, "reader_cfg": old["reader_cfg"], "reader": {"type": "DatasetReader", "input_columns": ["q"], "output_column": "a"},
        "retriever": {"type": "ZeroRetriever", "index_split": "dev", "test_split": "test"},
    }  # fmt: skip
    assert prompt_digest({"infer_cfg": old, "reader_cfg": {"input_columns": ["q"], "output_column": "a"}}) == digest(
        made
    )


def test_tables_of_aisbench_show_the_version_of_the_config_that_it_writes():
    kind = Reference("ais_bench.benchmark.datasets.X")
    infer = {
        name: {**part, "type": Reference(f"ais_bench.benchmark.openicl.{part['type']}")} for name, part in INFER.items()
    }
    shown = table_version({"type": kind, "infer_cfg": infer})
    assert shown != prompt_version({"infer_cfg": infer})
    assert table_version({"type": kind, "infer_cfg": {**infer, "inferencer": {"type": "own.GenInferencer"}}}) != shown
    assert table_version({"type": Reference("opencompass.datasets.X"), "infer_cfg": infer}) == prompt_version(
        {"infer_cfg": infer}
    )
    assert table_version({"type": kind}) == "/"


@pytest.mark.parametrize(
    "name, mode",
    [
        ("GenInferencer", "gen"),
        ("a.PPLInferencer", "ppl"),
        ("PPLOnlyInferencer", "ppl"),
        ("LLInferencer", "ll"),
        ("Other", "unknown"),
        (None, "unknown"),
    ],
)
def test_how_a_dataset_is_asked(name, mode):
    assert mode_of({"infer_cfg": {"inferencer": {"type": name}}} if name else {}) == mode
