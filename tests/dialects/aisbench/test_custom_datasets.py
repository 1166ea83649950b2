from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from proctor.dialects.aisbench.datasets import dataset_splits, open_dataset
from proctor.dialects.aisbench.datasets.custom import custom_dataset
from proctor.dialects.aisbench.evaluation import evaluate
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.dialects.resolve import resolve_tasks
from proctor.engines.scripted import ScriptedEngine
from proctor.errors import DataError, DatasetNotFoundError, UsageError
from proctor.recipes.options import ExamOptions
from proctor.running.checks import check_exams

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


@pytest.mark.parametrize(
    "meta, project, named",
    [
        ({"request_cuont": 2}, "aisbench", "request_count"),
        ({"output_config": {"metod": "uniform"}}, "aisbench", "method"),
        ({"output_config": {"method": "uniform", "params": {"min_valu": 5}}}, "aisbench", "min_value"),
        ({"human_prompt": "{question}"}, "aisbench", "it has output_config, request_count, sampling_mode"),
        ({"data_tpye": "qa"}, "opencompass", "data_type"),
    ],
)
def test_what_a_file_beside_says_and_nothing_reads_is_refused(tmp_path, meta, project, named):
    (tmp_path / "choice.jsonl.meta.json").write_text(json.dumps(meta))
    with pytest.raises(DataError, match=named):
        dataset_splits(custom_dataset({"path": "choice.jsonl"}, project))[""]()


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


WRONG = [
    ("t.csv", "prompt,label\n2+2?,4\n", "no column 'question'"),
    ("t.csv", "Question,answer\n2+2?,4\n", "did you mean 'Question'"),
    ("t.csv", "question;answer\n2+2?;4\n", "this file has semicolons"),
    ("t.csv", "text,A,B,answer\nx,1,2,A\n", "its columns are 'text', 'A', 'B', 'answer'"),
    ("t.jsonl", '{"prompt": "2+2?", "answer": "4"}\n', "its columns are 'prompt', 'answer'"),
]
"""Files that their packages' own rules refuse: a name, its rows, what is said."""


@pytest.mark.parametrize("project", ["opencompass", "aisbench"])
@pytest.mark.parametrize("name, text, said", [*WRONG, ("t.csv", "question,label\n2+2?,4\n", "no column 'answer'")])
def test_a_custom_dataset_without_the_columns_that_are_asked_is_refused(
    tmp_path: Path, project: str, name: str, text: str, said: str
) -> None:
    """As ``--custom-dataset-path`` names it: no column is guessed, whatever a table by itself would be taken for."""
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError) as raised:
        resolve_tasks([f"{name}[project={project}]"])
    assert said in str(raised.value)


@pytest.mark.parametrize("name, text, said", WRONG)
def test_a_custom_dataset_of_a_config_without_its_columns_is_refused(
    tmp_path: Path, name: str, text: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    (tmp_path / "own.py").write_text(f'datasets = [dict(path="{name}", infer_method="gen")]\n')
    with pytest.raises(DataError) as raised:
        resolve_tasks(["own.py"])
    assert said in str(raised.value)


@pytest.mark.parametrize(
    "name, text, asked, said",
    [
        ("t.csv", "prompt,label\n2+2?,4\n", "2+2?", "asks 'prompt' and compares with 'label'"),
        ("t.csv", "question,label\n2+2?,4\n", "2+2?", "asks 'question' and compares with 'label'"),
        ("t.csv", "Question,answer\n2+2?,4\n", "2+2?", "asks 'Question' and compares with 'answer'"),
        ("t.csv", "question;answer\n2, 3?;4\n", "2, 3?", "asks 'question' and compares with 'answer'"),
        ("t.jsonl", '{"prompt": "2+2?", "answer": "4"}\n', "2+2?", "asks 'prompt' and compares with 'answer'"),
    ],
)
def test_a_table_by_itself_is_asked_by_the_columns_it_has_and_they_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, text: str, asked: str, said: str
) -> None:
    (tmp_path / name).write_text(text)
    with _heard(caplog):
        (exam,) = resolve_tasks([name])
    assert said in caplog.text
    (question,) = exam.questions()
    assert question.requests[0].prompt.text == asked  # type: ignore[union-attr]
    assert question.exchange.answer == "4"


@pytest.mark.parametrize("columns", ["body,A,B,answer", "frage,antwort", "question,hint"])
def test_a_table_that_does_not_say_what_is_asked_or_right_is_refused_with_what_it_has(
    tmp_path: Path, columns: str
) -> None:
    names = columns.split(",")
    (tmp_path / "t.csv").write_text(f"{columns}\n{','.join('x' for _ in names)}\n")
    with pytest.raises(UsageError, match="nothing says which column of the table is") as raised:
        resolve_tasks(["t.csv"])
    assert ", ".join(map(repr, names)) in str(raised.value)


def test_a_file_beside_a_table_is_said_to_be_unread_where_columns_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "t.csv").write_text("frage,wert\n2+2?,4\n")
    (tmp_path / "t.csv.meta.json").write_text('{"human_prompt": "Q: {frage}", "output_column": "wert"}')
    with _heard(caplog):
        (exam,) = resolve_tasks(["t.csv[input_column=frage,answer_column=wert]"])
    assert "t.csv.meta.json is not read" in caplog.text
    assert next(iter(exam.questions())).requests[0].prompt.text == "2+2?"  # type: ignore[union-attr]


@contextmanager
def _heard(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Let pytest hear what Proctor's logger says, which does not pass it on by itself."""
    logger = logging.getLogger("proctor")
    logger.addHandler(caplog.handler)
    try:
        yield
    finally:
        logger.removeHandler(caplog.handler)


def test_a_prompt_of_ones_own_asks_other_columns_and_names_those_that_are_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("frage,wert\n2+2?,4\n")
    (tmp_path / "t.csv.meta.json").write_text('{"human_prompt": "Q: {frage}", "output_column": "wert"}')
    (question,) = resolve_tasks(["t.csv"])[0].questions()
    assert question.requests[0].prompt.text == "Q: 2+2?"  # type: ignore[union-attr]
    (tmp_path / "t.csv.meta.json").write_text('{"human_prompt": "Q: {question}", "output_column": "wert"}')
    with pytest.raises(DataError, match="no column 'question'"):
        resolve_tasks(["t.csv"])


def test_answers_need_not_be_known_where_nothing_is_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("question\n2+2?\n")
    (exam,) = resolve_tasks(["t.csv"], ExamOptions(predict_only=True))
    assert [question.failure for question in exam.questions()] == [None]


def test_a_row_without_its_question_fails_and_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.jsonl").write_text('{"question": "2+2?", "answer": "4"}\n{"frage": "3+3?", "answer": "6"}\n')
    first, second = resolve_tasks(["t.jsonl[project=opencompass]"])[0].questions()
    assert first.failure is None
    assert second.failure is not None
    assert "no column 'question'" in second.failure.message
    assert not second.requests


def test_a_file_of_a_config_without_answers_is_refused_like_one_that_is_named_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        Path(f"{name}.jsonl").write_text('{"question": "2+2?", "label": "4"}\n')
    Path("c.py").write_text(
        "datasets = [dict(abbr=each, path=f'{each}.jsonl', data_type='qa', infer_method='gen') for each in ('a', 'b')]\n"
    )
    with pytest.raises(DataError, match="no column 'answer' to compare answers with") as raised:
        resolve_tasks(["c.py"])
    assert [str(each.location) for each in raised.value.diagnostics] == ["a.jsonl", "b.jsonl"]
    assert len(resolve_tasks(["c.py"], ExamOptions(predict_only=True))) == 2


def test_lines_of_a_table_with_too_few_or_too_many_cells_fail_and_are_not_scored(tmp_path):
    lines = ["question,answer", "Why?,so", "only a question", "", "a,b,c", "two,2,"]
    (tmp_path / "ragged.csv").write_text("\n".join(lines) + "\n")
    [exam] = resolve_tasks(["ragged.csv[project=opencompass]"], ExamOptions())
    questions = list(exam.questions())
    said = [None if each.failure is None else each.failure.message for each in questions]
    assert [each is None for each in said] == [True, False, False, True]
    assert "a line has 1 columns; there should be 2" in said[1]
    assert "a line has 3 columns; there should be 2" in said[2]


def test_what_upstream_makes_of_a_file_of_rows_is_not_called_useless(tmp_path):
    (tmp_path / "tr.csv").write_text("question,answer\nIs 2 even?,x\n")
    (exam,) = resolve_tasks([f"{tmp_path / 'tr.csv'}[project=opencompass]"])
    assert not exam.specification().get("without_effect")


def test_demos_of_a_table_are_refused_with_the_way_to_have_them(tmp_path):
    (tmp_path / "two.csv").write_text("question,answer\nWhy?,so\nHow?,thus\n")
    with pytest.raises(UsageError, match="--input-column and --answer-column name the columns of a table"):
        resolve_tasks(["two.csv[project=opencompass]"], ExamOptions(num_demos=1))
    (exam,) = resolve_tasks(["two.csv"], ExamOptions(num_demos=1))
    check_exams([exam], ScriptedEngine(answer="so"))
    assert next(iter(exam.questions())).requests[0].prompt.text == "How? thus\n\nWhy?"
