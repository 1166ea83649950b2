from __future__ import annotations

import json

import pytest

from proctor.dialects.aisbench.datasets import dataset_splits, open_dataset
from proctor.dialects.aisbench.datasets.custom import custom_dataset
from proctor.dialects.aisbench.evaluators import evaluate
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.errors import DataError, DatasetNotFoundError

CHOICE = {"question": "Which?", "A": "red", "B": "blue", "answer": "B"}
OPEN = {"question": "Why?", "answer": "so"}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    for name in ("COMPASS_DATA_CACHE", "AIS_BENCH_DATASETS_CACHE", "PROCTOR_DATASET_MAP"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "choice.jsonl").write_text("".join(json.dumps(CHOICE) + "\n" for _ in range(4)), encoding="utf-8-sig")
    (tmp_path / "open.csv").write_text("question,answer\nWhy?,so\n")


def prompt(config) -> str:
    rows = open_dataset(config).test
    builder = PromptBuilder(config["infer_cfg"], config["reader_cfg"])
    return builder.generate(rows[0]).text


def test_the_file_says_what_kind_it_is():
    choice, qa = custom_dataset({"path": "choice.jsonl"}), custom_dataset({"path": "open.csv"})
    assert (choice["abbr"], qa["abbr"]) == ("choice", "open")
    assert choice["reader_cfg"] == {"input_columns": ["question", "A", "B"], "output_column": "answer"}
    assert prompt(choice) == "Question: Which?\nA. red\nB. blue\nAnswer: "
    assert prompt(qa) == "Why?"
    rows = open_dataset(choice).test
    assert evaluate(choice["eval_cfg"], ["B"] * 4, ["B"] * 4, rows).scores == {"accuracy": 100.0}
    assert evaluate(qa["eval_cfg"], ["so"], ["so"], [OPEN]).scores == {"accuracy": 100.0}


def test_the_file_beside_it_and_the_config_say_more(tmp_path):
    (tmp_path / "choice.jsonl.meta.json").write_text(
        json.dumps({"abbr": "mine", "infer_method": "ppl", "test_range": "[0:2]"})
    )
    config = custom_dataset({"path": "choice.jsonl", "abbr": "yours"})
    assert config["abbr"] == "yours"
    assert config["infer_cfg"]["inferencer"]["type"].short == "PPLInferencer"
    assert len(open_dataset(config).test) == 2
    builder = PromptBuilder(config["infer_cfg"], config["reader_cfg"])
    assert builder.labels == ["A", "B"]
    assert builder.labelled(CHOICE, [], "B").text == "Question: Which?\nA. red\nB. blue\nAnswer: B"


def test_questions_may_be_asked_in_every_order():
    config = custom_dataset({"path": "choice.jsonl", "data_type": "circular-mcq"})
    rows = open_dataset(config).test
    assert [row["answer"] for row in rows] == ["B", "A"] * 4
    found = evaluate(config["eval_cfg"], [row["answer"] for row in rows], [row["answer"] for row in rows], rows)
    assert found.scores["perf_circular"] == 100.0


def test_aisbench_asks_with_one_text():
    config = custom_dataset({"path": "choice.jsonl"}, "aisbench")
    assert (
        config["infer_cfg"]["prompt_template"]["template"] == "Question: {question}\nA. {A}\nB. {B}\nAnswer: {answer}"
    )
    assert config["reader_cfg"]["input_columns"] == ["question", "max_out_len"]
    qa = custom_dataset({"path": "open.csv"}, "aisbench")
    assert qa["infer_cfg"]["prompt_template"]["template"] == "Question: {question}\nAnswer: {answer}"


def test_aisbench_draws_rows_and_lengths_as_the_file_beside_says(tmp_path):
    meta = {
        "sampling_mode": "shuffle",
        "request_count": 6,
        "output_config": {"method": "percentage", "params": {"percentage_distribute": [[16, 0.5], [32, 0.5]]}},
    }
    (tmp_path / "choice.jsonl.meta.json").write_text(json.dumps(meta))
    config = custom_dataset({"path": "choice.jsonl"}, "aisbench")
    rows = dataset_splits(config)[""]()
    assert [row["max_out_len"] for row in rows] == [16, 16, 16, 32, 32, 32]
    assert rows == dataset_splits(config)[""]()
    (tmp_path / "choice.jsonl.meta.json").write_text(json.dumps({"sampling_mode": "mine"}))
    with pytest.raises(DataError, match="sampling_mode is 'mine'"):
        dataset_splits(config)[""]()


def test_max_tokens_of_a_row_is_how_long_its_answer_may_be(tmp_path):
    (tmp_path / "choice.jsonl").write_text(json.dumps({**CHOICE, "max_tokens": 5}) + "\n")
    rows = dataset_splits(custom_dataset({"path": "choice.jsonl"}, "aisbench"))[""]()
    assert rows == [{**CHOICE, "max_out_len": 5}]


@pytest.mark.parametrize(
    "config, project, error, message",
    [
        ({"path": "rows.json"}, "opencompass", DataError, r"neither \.jsonl nor \.csv"),
        ({"path": "none.jsonl"}, "opencompass", DatasetNotFoundError, "no file 'none.jsonl'"),
        ({"path": "open.csv", "infer_method": "ppl"}, "opencompass", DataError, "type 'qa' cannot be asked as 'ppl'"),
        ({"path": "choice.jsonl", "infer_method": "ppl"}, "aisbench", DataError, "known are mcq gen, qa gen"),
        ({"path": "choice.jsonl", "meta_path": "no.json"}, "opencompass", DatasetNotFoundError, r"no file 'no\.json'"),
        ({"path": "empty.csv"}, "opencompass", DataError, "has no rows"),
    ],
)
def test_what_cannot_be_read_is_one_message(tmp_path, config, project, error, message):
    (tmp_path / "empty.csv").write_text("question,answer\n")
    with pytest.raises(error, match=message):
        custom_dataset(config, project)


def test_a_file_beside_that_is_no_object_is_located(tmp_path):
    for text, message in (("[]", "not a JSON object"), ("{", "not valid JSON")):
        (tmp_path / "choice.jsonl.meta.json").write_text(text)
        with pytest.raises(DataError, match=rf"{message}(.|\n)*meta\.json"):
            custom_dataset({"path": "choice.jsonl"})
