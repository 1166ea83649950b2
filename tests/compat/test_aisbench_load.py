"""Rows that AISBench puts to a server under load: programs make and check them, and nothing is sent."""

import copy
import json
import random
from importlib import import_module
from unittest import mock

import numpy as np
import pytest

UNIFORM = {"Method": "uniform", "Params": {"MinValue": 2, "MaxValue": 9}}
GAUSSIAN = {"Method": "gaussian", "Params": {"Mean": 5, "Var": 4, "MinValue": 1, "MaxValue": 9}}
ZIPF = {"Method": "zipf", "Params": {"Alpha": 1.5, "MinValue": 1, "MaxValue": 9}}

pytestmark = pytest.mark.usefixtures("installed")


def module(name):
    return import_module(f"ais_bench.benchmark.datasets.{name}")


def loaded(kind, **settings):
    made = object.__new__(kind)
    made.logger = mock.MagicMock()
    return made.load(**settings).to_list()


def of_words(questions, answers, **more):
    return {"Type": "string", "RequestCount": 3, "StringConfig": {"Input": questions, "Output": answers}, **more}


def of_tokens(**wanted):
    return {"Type": "tokenid", "RequestCount": 2, "TokenIdConfig": wanted}


def refused(action, said="."):
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchBaseException

    with pytest.raises(AISBenchBaseException, match=said) as caught:
        action()
    return caught.value.error_code_str


# -- made-up questions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drawn", [UNIFORM, GAUSSIAN, ZIPF])
def test_questions_have_the_lengths_that_a_seed_gives(drawn):
    kind = module("synthetic").SyntheticDataset
    np.random.seed(5)  # noqa: NPY002 - what programs seed
    lengths = [
        (kind.sample_one_value(drawn["Method"], drawn["Params"]), kind.sample_one_value("uniform", UNIFORM["Params"]))
        for _ in range(3)
    ]

    np.random.seed(5)  # noqa: NPY002
    rows = loaded(kind, config=of_words(drawn, UNIFORM))

    assert [(len(row["question"].split()), row["max_out_len"]) for row in rows] == lengths
    assert all(1 <= words <= 9 for words, _ in lengths)


def test_a_made_up_dataset_is_read_like_others():
    made = module("synthetic").SyntheticDataset(
        config=of_words(UNIFORM, UNIFORM), reader_cfg={"input_columns": ["question"], "output_column": "answer"}
    )

    assert [row["answer"] for row in made.test] == ["aaa"] * 3


@pytest.mark.parametrize(
    "config",
    [
        {"Type": "string"},
        {"Type": 3, "RequestCount": 1},
        {"Type": "other", "RequestCount": 1},
        {"Type": "string", "RequestCount": 0, "StringConfig": {}},
        {"Type": "string", "RequestCount": 1},
        of_tokens(),
        of_tokens(RequestSize=0),
        of_words(UNIFORM, {"Method": "other", "Params": {}}),
        of_words(UNIFORM, {"Method": "uniform"}),
        of_words(UNIFORM, {"Method": "uniform", "Params": {"MinValue": 9, "MaxValue": 2}}),
        of_words(UNIFORM, {"Method": "zipf", "Params": {"Alpha": 1.0, "MinValue": 1, "MaxValue": 2}}),
        of_words(UNIFORM, {"Method": "uniform", "Params": {"MinValue": 1, "MaxValue": 2, "Mean": 3}}),
    ],
)
def test_configs_of_questions_are_checked(config):
    with pytest.raises(ValueError, match=r"."):
        module("synthetic").SyntheticDataset._check_synthetic_config(copy.deepcopy(config))


def test_numbers_lie_where_they_may():
    synthetic = module("synthetic")
    half_open = synthetic.NumberRange(1, 3, lower_inclusive=False)

    synthetic.check_range("x", 3, half_open)
    synthetic.check_range("x", 99, synthetic.NumberRange())
    for value in (1, 4):
        with pytest.raises(ValueError, match=r"x is ., not within the required range \(1, 3\]"):
            synthetic.check_range("x", value, half_open)


def test_random_tokens_leave_out_special_ones_and_share_their_start(tmp_path):
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "tokenizer_config.json").write_text("{}")
    tokenizer = mock.Mock(vocab_size=6, all_special_ids=[0, 1, 9], decode=lambda ids: "".join(map(str, ids)))
    synthetic = module("synthetic")

    with mock.patch("proctor.compat.aisbench_names.small_names.load_tokenizer", return_value=tokenizer) as asked:
        rows = loaded(
            synthetic.SyntheticDataset, config=of_tokens(RequestSize=8, PrefixLen=3), model_path=str(tmp_path)
        )

    asked.assert_called_once_with(str(tmp_path / "below"), trust_remote_code=False)
    assert [len(row["question"]) for row in rows] == [8, 8]
    assert rows[0]["question"][:3] == rows[1]["question"][:3]
    assert set("".join(row["question"] for row in rows)) <= set("2345")
    with pytest.raises(ValueError, match="does not exist"):
        loaded(synthetic.SyntheticDataset, config=of_tokens(RequestSize=8), model_path="/nowhere")
    with pytest.raises(FileNotFoundError):
        synthetic.SyntheticDataset.find_first_file_path(str(tmp_path), "nothing")


# -- dialogues -------------------------------------------------------------------------------------------------------


def test_dialogues_that_a_human_begins_are_rows(tmp_path):
    def turns(*values, first="human"):
        return [{"from": first if number % 2 == 0 else "gpt", "value": value} for number, value in enumerate(values)]

    file = tmp_path / "dialogues.json"
    file.write_text(
        json.dumps(
            [
                {"id": "1", "conversations": turns("q1", "a b", "q2", "c")},
                {"id": "2", "conversations": turns("alone")},
                {"id": "3", "conversations": turns("x", "y", first="system")},
                {"id": "4", "conversations": turns("q", "x y z")},
            ]
        )
    )
    kind = module("sharegpt").ShareGPTDataset

    with mock.patch("ais_bench.benchmark.datasets.sharegpt.load_tokenizer") as load:
        load.return_value.encode = str.split
        rows = kind.load(str(file), disable_shuffle=True).to_list()
        random.seed(0)
        shuffled = kind.load(str(file), disable_shuffle=False).to_list()

    assert rows == [
        {"question": ["q1", "q2"], "answer": ["a b", "c"], "max_out_len": 1, "id": "1"},
        {"question": ["q"], "answer": ["x y z"], "max_out_len": 3, "id": "4"},
    ]
    assert sorted(row["id"] for row in shuffled) == ["1", "4"]


def test_sounds_are_scored_by_letter_or_name():
    found = module("sharegpt").ShareGPTEvaluator().score(["Ax", "B", "sigh"], ["laughter", "B", "x"])

    assert [each["correct"] for each in found["details"]] == [True, True, False]
    assert "error" in module("sharegpt").ShareGPTEvaluator().score(["a"], [])


# -- traces ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def traces():
    found = module("mooncake_trace")
    found.init_rng(42)
    yield found
    found._rng_manager = None


def generator(traces, border=None, **settings):
    tokenizer = mock.Mock(block_separation_token_id=border, decode=lambda tokens, **_: list(tokens))
    return traces.PromptGenerator(tokenizer, list(range(100)), **settings)


def test_generators_of_one_seed_are_alike(traces):
    assert traces.derive_rng("t").random() == traces.RNGManager(42).derive("t").random()
    assert traces.derive_rng("t").random() != traces.derive_rng("u").random()
    assert traces.RNGManager(None).derive("t").random() != traces.RNGManager(None).derive("t").random()
    traces._rng_manager = None
    refused(lambda: traces.derive_rng("t"), "not initialized")


def test_texts_are_cut_from_a_corpus_that_goes_round(traces):
    made = generator(traces)

    lengths = [len(made.generate_prompt(60)) for _ in range(5)]
    assert lengths == [60] * 5
    assert made.generate(mean=120) == list(range(100))
    assert made.generate(mean=7) != made.generate(mean=7)
    assert made.generate(mean=50, stddev=10)
    assert refused(made.generate, "mean must be provided").startswith("DSET-PARAM")


def test_parts_are_the_same_in_every_text(traces):
    made = generator(traces, border=999, block_size=10)

    first, second = made.generate(mean=20, hash_ids=[1, 2]), made.generate(mean=25, hash_ids=[1, 2, 3])
    assert (len(first), len(second)) == (20, 25)
    assert first == second[:20]
    assert first[0] == first[10] == 999
    for length in (20, 31):
        refused(lambda length=length: made.generate(mean=length, hash_ids=[1, 2, 3]), "Final block size")


@pytest.mark.parametrize(
    "data", [{}, {"input_length": None}, {"input_length": 1, "timestamp": "a"}, {"input_length": 1, "timestamp": -1}]
)
def test_requests_that_are_none_are_refused(traces, data):
    assert refused(lambda: traces.MooncakeTrace(data)).startswith("DSET-PARAM")


@pytest.mark.parametrize(
    "settings, times",
    [
        ({}, [1000, None, 3000]),
        ({"auto_offset": True}, [0, None, 2000]),
        ({"start_offset": 1500}, [None, 3000]),
        ({"end_offset": 1500}, [1000, None]),
        ({"auto_offset": True, "end_offset": 0}, [0, None]),
    ],
)
def test_requests_of_a_span_of_time_are_kept(traces, settings, times):
    every = [traces.MooncakeTrace({"input_length": 1, "timestamp": time}) for time in (1000, None, 3000)]

    assert [each.timestamp for each in traces._process_timestamps(every, **settings)] == times


def test_a_trace_is_rows_that_are_kept_beside_it(traces, tmp_path):
    file, corpus = tmp_path / "trace.jsonl", tmp_path / "corpus.txt"
    corpus.write_text("\n".join(f"w{number}" for number in range(4_000)))
    file.write_text(
        '{"input_length": 30, "output_length": 5, "timestamp": 3000, "hash_ids": [1]}\n\n'
        '{"input_text": "Direct", "timestamp": 1000}\n{"input_length": 4}\n'
    )
    tokenizer = mock.Mock(block_separation_token_id=None, decode=lambda tokens, **_: " ".join(map(str, tokens)))
    tokenizer.encode = lambda text, **_: [int(word[1:]) for word in text.split()]
    home = "ais_bench.benchmark.datasets.mooncake_trace"
    kind = traces.MooncakeTraceDataset
    given = {"path": str(file), "model_path": "m", "random_seed": 7, "fixed_schedule_auto_offset": True}

    with mock.patch(f"{home}.load_tokenizer", return_value=tokenizer), mock.patch(f"{home}.Path") as place:
        place.return_value.parent.__truediv__ = lambda *_: corpus
        rows = loaded(kind, **given)
        other = loaded(kind, **{**given, "fixed_schedule_end_offset": 1000})
    again = loaded(kind, **given)

    assert [row["prompt"] for row in rows][0] == "Direct"
    assert [row["timestamp"] for row in rows] == [0, 2000, None]
    assert [len(row["prompt"].split()) for row in rows] == [1, 30, 4]
    assert [row["max_out_len"] for row in rows] == [1, 5, 1]
    assert rows == again
    assert len(other) == 2
    assert [name for name in sorted(each.name for each in tmp_path.iterdir()) if name.endswith("_auto_end1000.jsonl")]


def test_a_trace_without_a_corpus_or_with_no_span_is_refused(traces, tmp_path):
    file = tmp_path / "trace.jsonl"
    file.write_text('{"input_length": 3}\n')
    kind, given = traces.MooncakeTraceDataset, {"path": str(file), "model_path": "m"}

    with mock.patch("ais_bench.benchmark.datasets.mooncake_trace.load_tokenizer"):
        assert refused(lambda: loaded(kind, **given), "Corpus file not found").startswith("DSET-FILE")
    span = {"fixed_schedule_start_offset": 5, "fixed_schedule_end_offset": 2}
    assert refused(lambda: loaded(kind, **given, **span), "fixed_schedule_start_offset").startswith("DSET-PARAM")


def test_the_registry_has_these_datasets():
    registry = import_module("ais_bench.benchmark.registry").LOAD_DATASET

    for home, name in (
        ("synthetic", "SyntheticDataset"),
        ("sharegpt", "ShareGPTDataset"),
        ("mooncake_trace", "MooncakeTraceDataset"),
    ):
        assert registry.get(name) is getattr(module(home), name)
