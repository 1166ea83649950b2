from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.data.lazy_rows import uniform
from proctor.dialects.aisbench.datasets import dataset_splits, open_dataset
from proctor.dialects.aisbench.datasets.dataset_specs import spec_names, spec_of
from proctor.dialects.aisbench.datasets.files import hub_source, local_path
from proctor.dialects.aisbench.datasets.reader import partial
from proctor.dialects.aisbench.datasets.splits import joined
from proctor.dialects.aisbench.values import ConfigDict, Reference
from proctor.errors import DataError, DatasetNotFoundError, Location, MissingFieldError, TrustError
from proctor.ir import Failure
from proctor.settings import settings

HUB = Path(os.environ.get("PROCTOR_TEST_HUB", Path(__file__).parents[4] / "shared" / "data" / "hub"))
needs_hub = pytest.mark.skipif(not HUB.is_dir(), reason="the hub mirror is not here")
OPENCOMPASS, AISBENCH = "opencompass.datasets", "ais_bench.benchmark.datasets"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    for name in ("COMPASS_DATA_CACHE", "AIS_BENCH_DATASETS_CACHE", "PROCTOR_DATASET_MAP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def write_lines(path: Path, rows: list) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def config(kind: str, top: str = OPENCOMPASS, **values) -> ConfigDict:
    return ConfigDict(
        {"abbr": "some-set", "type": Reference(f"{top}.{kind}"), **values}, location=Location("c.py", 3, 1)
    )


NO_COLUMNS = {"input_columns": []}
READER = {"input_columns": ["question"], "output_column": "answer"}


def gsm8k(tmp_path: Path, count: int = 20) -> None:
    for split in ("train", "test"):
        write_lines(
            tmp_path / f"data/gsm8k/{split}.jsonl",
            [{"question": f"{split} {i}?", "answer": f"#### {i}"} for i in range(count)],
        )


def test_a_dataset_is_read_from_the_files_that_upstream_reads(tmp_path):
    gsm8k(tmp_path)
    found = open_dataset(config("GSM8KDataset", path="opencompass/gsm8k", reader_cfg=READER))
    assert found.test[3] == {"question": "test 3?", "answer": "#### 3", "subdivision": "some-set_test", "idx": 3}
    assert found.index[0]["question"] == "train 0?"
    assert len(found.test) == len(found.index) == 20


def test_the_data_folder_may_lie_elsewhere(tmp_path, monkeypatch):
    gsm8k(tmp_path / "elsewhere")
    monkeypatch.setenv("COMPASS_DATA_CACHE", str(tmp_path / "elsewhere"))
    assert len(open_dataset(config("GSM8KDataset", path="opencompass/gsm8k", reader_cfg=READER)).test) == 20


def test_paths_are_looked_for_beside_the_config_too(tmp_path):
    gsm8k(tmp_path / "configs")
    mine = ConfigDict(
        config("GSM8KDataset", path="data/gsm8k", reader_cfg=READER),
        location=Location(str(tmp_path / "configs/c.py"), 3),
    )
    assert len(open_dataset(mine).test) == 20
    with pytest.raises(DatasetNotFoundError, match=r"looked in data/none/test\.jsonl, .*configs/data/none"):
        open_dataset(ConfigDict({**mine, "path": "data/none"}, location=mine.location))


def test_examples_are_read_only_when_they_are_looked_at(tmp_path):
    write_lines(tmp_path / "data/gsm8k/test.jsonl", [{"question": "q", "answer": "a"}])
    found = open_dataset(config("GSM8KDataset", path="opencompass/gsm8k", reader_cfg=READER))
    assert len(found.test) == 1
    with pytest.raises(DatasetNotFoundError, match=r"data/gsm8k/train\.jsonl"):
        found.index[0]


@needs_hub
def test_the_mirror_stands_for_files_that_are_not_there():
    with settings.context(hub_dir=HUB):
        found = open_dataset(
            config(
                "MMLUDataset",
                path="opencompass/mmlu",
                name="anatomy",
                reader_cfg={"input_columns": ["input", "A"], "output_column": "target", "train_split": "dev"},
            )
        )
        assert (len(found.test), len(found.index)) == (135, 5)
    assert list(found.test[0]) == ["input", "A", "B", "C", "D", "target", "subdivision", "idx"]
    assert found.test[0]["target"] in "ABCD"


@needs_hub
@pytest.mark.parametrize(
    "kind, top, values, columns",
    [
        ("ARCDataset", OPENCOMPASS, {"path": "opencompass/ai2_arc-dev", "name": "ARC-Challenge"}, ["question", "answerKey", "textA", "textB", "textC", "textD"]),
        ("HellaswagDataset_V2", AISBENCH, {"path": "ais_bench/datasets/hellaswag/hellaswag.jsonl"}, ["ctx", "A", "B", "C", "D", "label"]),
        ("BoolQDataset", OPENCOMPASS, {"path": "json", "data_files": "opencompass/boolq", "split": "train"}, ["question", "passage", "idx", "label", "answer"]),
        ("BBHDataset", OPENCOMPASS, {"path": "opencompass/bbh", "name": "snarks"}, ["input", "target"]),
        ("OBQADatasetV2", OPENCOMPASS, {"path": "opencompass/openbookqa_test"}, ["A", "B", "C", "D", "question_stem", "answerKey"]),
        ("lambadaDataset", AISBENCH, {"path": "ais_bench/datasets/lambada"}, ["prompt", "label"]),
        ("IFEvalDataset", OPENCOMPASS, {"path": "opencompass/IFEval"}, ["prompt", "reference"]),
        ("HFDataset", OPENCOMPASS, {"path": "glue", "name": "wnli", "split": "validation"}, ["sentence1", "sentence2", "label", "idx"]),
    ],
)  # fmt: skip
def test_families_of_the_mirror_have_upstreams_columns(kind, top, values, columns):
    with settings.context(hub_dir=HUB):
        splits = dataset_splits(config(kind, top, **values))
        rows = next(iter(splits.values()))()
    assert list(rows[0]) == columns


def test_the_same_class_differs_between_the_projects(tmp_path):
    row = {
        "question": {
            "stem": "q",
            "choices": [{"text": t, "label": label} for t, label in zip("wxyz", "1234", strict=True)],
        },
        "answerKey": "3",
        "id": "i",
    }
    three = {**row, "question": {"stem": "q", "choices": row["question"]["choices"][:3]}}
    for name in ("ARC-Challenge-Dev.jsonl", "ARC-Challenge-Test.jsonl"):
        write_lines(tmp_path / "arc" / name, [row, three])
    whole = dataset_splits(config("ARCDataset", path="arc/ARC-Challenge-Dev.jsonl", name="ARC-Challenge"))
    split = dataset_splits(config("ARCDataset", AISBENCH, path="arc", name="ARC-Challenge"))
    assert list(whole) == [""]
    assert list(split) == ["Dev", "Test"]
    assert (
        list(whole[""]())
        == list(split["Test"]())
        == [{"question": "q", "answerKey": "C", "textA": "w", "textB": "x", "textC": "y", "textD": "z"}]
    )


def test_opencompass_repeats_the_whole_and_aisbench_each_row(tmp_path):
    gsm8k(tmp_path, 3)
    reader = {**READER, "test_range": "[0:4]"}
    blocks = open_dataset(config("GSM8KDataset", path="data/gsm8k", reader_cfg=reader, n=2)).test
    assert [row["idx"] for row in blocks] == [0, 1, 2, 0]
    each = open_dataset(config("GSM8KDataset", AISBENCH, path="data/gsm8k", reader_cfg=reader, n=2)).test
    assert [row["idx"] for row in each] == [0, 0, 1, 1, 2, 2]


def test_k_may_not_be_larger_than_n(tmp_path):
    gsm8k(tmp_path)
    with pytest.raises(DataError, match=r"k is \[2, 8\] and n is 4.*c\.py:3:1"):
        open_dataset(config("GSM8KDataset", path="data/gsm8k", reader_cfg=READER, n=4, k=[2, 8]))


def test_a_column_that_the_data_lacks_is_named_with_those_there_are(tmp_path):
    gsm8k(tmp_path)
    reader = {"input_columns": ["questions", "max_out_len"], "output_column": "answer"}
    with pytest.raises(
        MissingFieldError, match=r"no column 'questions'(.|\n)*'question', 'answer'(.|\n)*did you mean 'question'"
    ):
        open_dataset(config("GSM8KDataset", path="data/gsm8k", reader_cfg=reader))


def test_a_column_that_nothing_reads_is_only_warned_of(tmp_path, caplog):
    gsm8k(tmp_path)
    reader = {"input_columns": ["question", "choices"], "output_column": "answer"}
    template = {"type": "PromptTemplate", "template": "{question}"}
    unread = config(
        "GSM8KDataset",
        path="data/gsm8k",
        reader_cfg=reader,
        infer_cfg={"prompt_template": template, "retriever": {"type": "ZeroRetriever"}},
    )
    assert len(open_dataset(unread).test) == 20
    for infer in (
        {
            "prompt_template": {**template, "template": {"round": [{"role": "HUMAN", "prompt": "{choices}"}]}},
            "retriever": {"type": "ZeroRetriever"},
        },
        {
            "prompt_template": template,
            "retriever": {"type": Reference("opencompass.openicl.icl_retriever.BM25Retriever")},
        },
    ):
        with pytest.raises(MissingFieldError, match="no column 'choices'"):
            open_dataset({**unread, "infer_cfg": infer})


def test_a_split_that_the_dataset_lacks_is_named_with_those_there_are(tmp_path):
    gsm8k(tmp_path)
    with pytest.raises(DataError, match=r"no split 'validation'(.|\n)*'train', 'test'(.|\n)*set test_split"):
        open_dataset(config("GSM8KDataset", path="data/gsm8k", reader_cfg={**READER, "test_split": "validation"}))


def test_a_file_that_is_nowhere_says_where_it_was_looked_for():
    with pytest.raises(
        DatasetNotFoundError, match=r"no file 'data/none/test\.jsonl'(.|\n)*looked in(.|\n)*COMPASS_DATA_CACHE"
    ):
        open_dataset(config("GSM8KDataset", path="data/none", reader_cfg=READER))


def test_a_missing_argument_is_named():
    with pytest.raises(DataError, match="needs the argument 'name'"):
        open_dataset(config("MMLUDataset", path="data/mmlu", reader_cfg=READER))


@pytest.mark.parametrize("text", ["{", "[1]", '{"question": 1}\n3'])
def test_a_file_that_is_no_json_lines_is_located(tmp_path, text):
    path = tmp_path / "data/gsm8k/test.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    failure = open_dataset(config("GSM8KDataset", path="data/gsm8k", reader_cfg=NO_COLUMNS)).test[-1]
    assert isinstance(failure, Failure)
    assert re.search(r"test\.jsonl:\d", failure.message)


def test_a_row_of_another_form_is_a_failure(tmp_path):
    write_lines(
        tmp_path / "rows.jsonl",
        [{"query": "a: b", "choices": ["1", "2", "3", "4"], "gold": 1}, {"query": "a: b", "choices": ["1"], "gold": 1}],
    )
    good, bad = open_dataset(config("HellaswagDataset", path="rows.jsonl", reader_cfg=NO_COLUMNS)).test
    assert good["A"] == "1"
    assert isinstance(bad, Failure)
    assert re.search(r"rows\[1\] does not have the form.*IndexError", bad.message)


def test_a_table_with_a_short_line_is_located(tmp_path):
    path = tmp_path / "data/mmlu/test/law_test.csv"
    path.parent.mkdir(parents=True)
    path.write_text("q,a,b,c,d,A\nq,a,b\n")
    failure = open_dataset(config("MMLUDataset", path="data/mmlu", name="law", reader_cfg=NO_COLUMNS)).test[1]
    assert re.search(r"a line has 3 columns(.|\n)*law_test\.csv:2", failure.message)


# -- ranges -------------------------------------------------------------------------------------------------------

ROWS = [{"i": i} for i in range(50)]


@given(
    st.none() | st.integers(-60, 60), st.none() | st.integers(-60, 60), st.none() | st.sampled_from([-3, -1, 1, 2, 7])
)
def test_slices_are_pythons(start, stop, step):
    text = f"[{'' if start is None else start}:{'' if stop is None else stop}:{'' if step is None else step}]"
    assert list(partial(ROWS, text, "test_range")) == ROWS[slice(start, stop, step)]
    assert list(partial(ROWS, f"{text}[::2]", "test_range")) == ROWS[slice(start, stop, step)][::2]


def test_lists_pick_positions():
    assert partial(ROWS, "[3, 1, -1]", "test_range") == [ROWS[3], ROWS[1], ROWS[-1]]


@pytest.mark.parametrize(
    "text",
    [
        "0:3",
        "[0:3",
        "[__import__('os')]",
        "[0:10].clear()",
        "[x for x in y]",
        "[99]",
        "[1.5]",
        "]*9[",
        "[:'a']",
        "{1}",
        "(1)",
    ],
)
def test_anything_else_is_refused(text):
    with pytest.raises(DataError, match="is not a range"):
        partial(ROWS, text, "test_range")


def test_no_range_is_all_rows():
    assert partial(ROWS, "", "test_range") == partial(ROWS, None, "test_range") == ROWS


def test_a_count_draws_with_itself_as_the_seed():
    import random

    positions = list(range(50))
    random.Random(7).shuffle(positions)
    assert [row["i"] for row in partial(ROWS, 7, "test_range")] == positions[:7]
    assert partial(ROWS, 0.14, "test_range") == partial(ROWS, 7, "test_range")
    assert partial(ROWS, 50, "r") == partial(ROWS, 0, "r") == partial(ROWS, -3, "r") == ROWS


@pytest.mark.parametrize("size", [True, [1], 1.5])
def test_a_range_of_another_kind_is_refused(size):
    with pytest.raises(DataError, match="test_range is"):
        partial(ROWS, size, "test_range")


# -- types that nobody knows --------------------------------------------------------------------------------------


def test_an_unknown_type_says_how_to_map_it():
    with pytest.raises(TrustError, match=r"'MineDataset' is Python code(.|\n)*--trust-code(.|\n)*PROCTOR_DATASET_MAP"):
        open_dataset(config("MineDataset", "mine", path="x"))


@pytest.mark.parametrize("key", ["some-set", "MineDataset", "mine.MineDataset", "mine/data"])
@pytest.mark.parametrize(
    "entry",
    ["rows.jsonl", {"file": "rows.jsonl"}, {"file": {"test": "rows.jsonl"}, "columns": {"question": "question"}}],
)
def test_a_map_names_the_rows_of_a_type(tmp_path, monkeypatch, key, entry):
    write_lines(tmp_path / "maps/rows.jsonl", [{"question": "q", "answer": "a"}])
    (tmp_path / "maps/map.json").write_text(json.dumps({key: entry}))
    monkeypatch.setenv("PROCTOR_DATASET_MAP", str(tmp_path / "maps/map.json"))
    found = open_dataset(config("MineDataset", "mine", path="mine/data", reader_cfg=READER))
    assert found.test[0]["question"] == "q"


def test_a_map_makes_columns(tmp_path):
    write_lines(tmp_path / "rows.jsonl", [{"q": "what", "n": 3}])
    (tmp_path / "map.json").write_text(
        json.dumps({"MineDataset": {"file": "rows.jsonl", "columns": {"question": "q + '?'", "answer": "str(n)"}}})
    )
    found = open_dataset(config("MineDataset", "mine", reader_cfg=READER), str(tmp_path / "map.json"))
    assert (found.test[0]["question"], found.test[0]["answer"]) == ("what?", "3")


@needs_hub
def test_a_map_names_a_dataset_of_the_hub(tmp_path):
    (tmp_path / "map.json").write_text(
        json.dumps({"mine": {"hub": "openai/gsm8k", "name": "main", "splits": {"test": "test"}}})
    )
    with settings.context(hub_dir=HUB):
        found = open_dataset(config("MineDataset", "a", path="mine", reader_cfg=READER), str(tmp_path / "map.json"))
    assert len(found.test) == 1319


@pytest.mark.parametrize(
    "text, message",
    [("{", "not valid JSON"), ("[]", "not a JSON object"), ('{"mine": 3}', "no 'file' and no 'hub' for 'mine'")],
)
def test_a_map_that_cannot_be_read_says_so(tmp_path, text, message):
    (tmp_path / "map.json").write_text(text)
    with pytest.raises(DataError, match=message):
        open_dataset(config("MineDataset", "a", path="mine"), str(tmp_path / "map.json"))


MINE = """
class MineDataset:
    @staticmethod
    def load(path, count=2):
        if count < 0:
            raise ValueError("negative")
        rows = [{"question": path, "answer": i} for i in range(count)]
        return rows if count < 4 else {"test": rows}
"""


def test_a_class_of_the_configs_own_runs_where_code_is_trusted(tmp_path, monkeypatch):
    (tmp_path / "mine_module.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    mine = config("MineDataset", "mine_module", path="p", reader_cfg=READER)
    with pytest.raises(TrustError, match="is Python code: 'mine_module.MineDataset'"):
        open_dataset(mine)
    with settings.context(trust_code=True):
        assert [row["answer"] for row in open_dataset(mine).test] == [0, 1]
        assert len(open_dataset({**mine, "count": 5}).test) == 5
        with pytest.raises(DataError, match=r"load failed(.|\n)*ValueError: negative"):
            open_dataset({**mine, "count": -1})


def test_a_class_object_runs_only_where_code_is_trusted():
    class Mine:
        @staticmethod
        def load():
            return [{"question": "q", "answer": "a"}]

    with pytest.raises(TrustError, match="is code"):
        open_dataset({"type": Mine, "reader_cfg": READER})
    with settings.context(trust_code=True):
        assert len(open_dataset({"type": Mine, "reader_cfg": READER}).test) == 1


# -- shapes -------------------------------------------------------------------------------------------------------


def test_every_known_type_has_a_shape_that_compiles():
    from proctor.safe_python import compile_expression

    for name in spec_names():
        shapes = [shape for project in ("opencompass", "aisbench") if (shape := spec_of(name, project)) is not None]
        assert shapes
        for shape in shapes:
            for text in [
                *shape.columns.values(),
                *shape.update.values(),
                shape.where,
                shape.each,
                shape.also,
                shape.keep,
            ]:
                if text:
                    compile_expression(text, ("re", "json", "math"))


def test_files_that_belong_together_are_joined_line_by_line(tmp_path):
    write_lines(
        tmp_path / "piqa/dev.jsonl",
        [
            {"id": "1", "goal": "do", "sol1": "Up", "sol2": "Down"},
            {"id": "2", "goal": "do.", "sol1": "up", "sol2": "down"},
        ],
    )
    (tmp_path / "piqa/dev-labels.lst").write_text("1\n0\n")
    rows = dataset_splits(config("PIQADatasetV3", path="piqa"))["validation"]()
    assert rows == [
        {"goal": "Do", "sol1": "up", "sol2": "down", "label": 1},
        {"goal": "Do.", "sol1": "Up", "sol2": "Down", "label": 0},
    ]
    (tmp_path / "piqa/dev-labels.lst").write_text("1\n")
    with pytest.raises(DataError, match=r"differ in their number of lines(.|\n)*has 2(.|\n)*has 1"):
        dataset_splits(config("PIQADatasetV2", path="piqa"))["validation"]()


def test_circular_datasets_turn_their_options(tmp_path):
    write_lines(tmp_path / "rows.jsonl", [{"query": "a: b", "choices": ["p", "q", "r", "s"], "gold": 1}])
    rows = dataset_splits(config("CircularHSWAGDataset", path="rows.jsonl"))[""]()
    assert [row["circular_pattern"] for row in rows] == [list("ABCD"), list("BCDA"), list("CDAB"), list("DABC")]
    assert all(row[row["label"]] == "q" for row in rows)
    assert (
        len(dataset_splits(config("CircularHSWAGDataset", path="rows.jsonl", circular_patterns="all_possible"))[""]())
        == 24
    )


def test_literals_in_data_are_never_evaluated(tmp_path):
    path = tmp_path / "data/triviaqa/trivia-test.qa.csv"
    path.parent.mkdir(parents=True)
    path.write_text("q\t\"['a', 'b']\"\nq\t\"__import__('os').system('true')\"\n")
    rows = dataset_splits(config("TriviaQADataset", path="opencompass/trivia_qa"))["test"]()
    assert [row["answer"] for row in rows] == ["a", "_"]  # text that is not a literal stays text


def test_rows_are_made_uniform_as_tables_are():
    assert uniform([{"a": 1, "b": "x"}, {"b": "y", "a": 2.5, "c": 3}]) == [{"a": 1.0, "b": "x"}, {"a": 2.5, "b": "y"}]
    assert uniform([{"a": 1}, {}]) == [{"a": 1}, {"a": None}]
    assert uniform([]) == []


def test_lines_of_several_files_are_numbered():
    assert joined([[{"line": "a"}], [{"line": "b"}]], ["x", "y"]) == [{"line0": "a", "line1": "b"}]


def test_every_mapped_file_pattern_fits_a_path_of_the_data_folder():
    assert local_path("opencompass/ai2_arc-dev") == "data/ARC/ARC-c/ARC-Challenge-Dev.jsonl"
    source = hub_source("./data/ARC/ARC-e/ARC-Easy-Dev.jsonl")
    assert source is not None
    dataset, split = source.place("./data/ARC/ARC-e/ARC-Easy-Dev.jsonl")
    assert (dataset.path, dataset.name, split) == ("allenai/ai2_arc", "ARC-Easy", "validation")
    assert hub_source("data/unknown.jsonl") is None
    gpqa = hub_source("./data/gpqa//gpqa_diamond.csv")
    assert gpqa is not None
    assert gpqa.place("./data/gpqa//gpqa_diamond.csv")[0].name == "gpqa_diamond"
