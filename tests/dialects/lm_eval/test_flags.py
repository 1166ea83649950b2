import json

import pytest

from proctor.dialects.lm_eval.flags import FLAGS, flag, parse_pairs
from proctor.errors import UsageError
from proctor.recipes.option_values import GivenSeeds, parse_samples, parse_seeds
from proctor.recipes.options import OPTIONS

LM_EVAL = [
    "--model",
    "--model_args",
    "--tasks",
    "--num_fewshot",
    "--batch_size",
    "--max_batch_size",
    "--device",
    "--output_path",
    "--limit",
    "--samples",
    "--use_cache",
    "--cache_requests",
    "--check_integrity",
    "--write_out",
    "--log_samples",
    "--system_instruction",
    "--apply_chat_template",
    "--fewshot_as_multiturn",
    "--show_config",
    "--include_path",
    "--gen_kwargs",
    "--predict_only",
    "--seed",
    "--trust_remote_code",
    "--confirm_run_unsafe_code",
    "--metadata",
]


@pytest.mark.parametrize("name", LM_EVAL)
def test_every_flag_means_something_or_says_why_not(name):
    found = flag(name)
    assert found is not None
    assert found.ours or found.option or found.note
    assert flag(name.replace("_", "-").replace("--", "--")) is found


def test_options_are_known_to_the_dialect():
    assert {each.option for each in FLAGS if each.option} <= set(OPTIONS)


def test_seeds():
    assert parse_seeds("7") == GivenSeeds(7), "one seed is for everything"
    assert parse_seeds("3,4,5,99") == GivenSeeds(99, (3, 4), 5)
    assert parse_seeds("0,1,2,None") == GivenSeeds(None, (0, 1), 2)
    assert parse_seeds("0,none,1,None") == GivenSeeds(None, (0, 1234), 1), "without a seed no two runs are alike"
    assert parse_seeds("1,2,3") == GivenSeeds(None, (1, 2), 3), "the last one is the exam's own"
    for text in ("a", "1,2", "1,2,3,4,5"):
        with pytest.raises(UsageError):
            parse_seeds(text)


def test_samples(tmp_path):
    assert parse_samples('{"t": [1, 2]}') == {"t": [1, 2]}
    (tmp_path / "s.json").write_text(json.dumps({"t": [3]}))
    assert parse_samples(str(tmp_path / "s.json")) == {"t": [3]}
    for text in ("{", "[1]", '{"t": 1}'):
        with pytest.raises(UsageError):
            parse_samples(text)


def test_pairs():
    assert parse_pairs("a=1, b=0.5,c=true,d=None,e=x") == {"a": 1, "b": 0.5, "c": True, "d": None, "e": "x"}
    assert parse_pairs('{"until": ["a"]}') == {"until": ["a"]}
    with pytest.raises(UsageError, match="not a key=value"):
        parse_pairs("x")
    with pytest.raises(UsageError, match="not JSON"):
        parse_pairs("{x")
