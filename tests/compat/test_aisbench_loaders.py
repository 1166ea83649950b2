"""Loaders, partitioners, instructions and the logger of AISBench as programs and tests replace parts of them."""

import json
import logging
from importlib import import_module
from unittest import mock

import pytest
from datasets import Dataset, DatasetDict

DATASETS = "ais_bench.benchmark.datasets"

pytestmark = pytest.mark.usefixtures("installed")


def class_of(module, name):
    return getattr(import_module(f"{DATASETS}.{module}"), name)


@pytest.mark.parametrize(
    "module, name, text, column, value",
    [
        ("boolq", "BoolQDatasetV2", '{"label": "false"}', "label", "B"),
        ("aime2024", "Aime2024Dataset", '{"origin_prompt": "1 + 1?", "gold_answer": "2"}', "answer", "2"),
        ("mgsm", "MGSMSDataset", "two and two\t4", "answer", "4"),
        ("mtbench", "MTBenchDataset", '{"question_id": 7, "prompt": ["a", "b"]}', "answer", ["", ""]),
    ],
)
def test_loaders_read_with_the_open_that_a_program_has_put_there(module, name, text, column, value):
    kind = class_of(module, name)
    where = f"{DATASETS}.{module}.get_data_path"
    with (
        mock.patch(where, return_value="/nowhere/rows") as found,
        mock.patch("builtins.open", mock.mock_open(read_data=text + "\n")),
    ):
        rows = kind.load("mine")
    found.assert_called_once_with("mine", local_mode=True)
    assert rows[0][column] == value


def test_an_open_that_fails_fails_as_the_program_expects():
    kind = class_of("boolq", "BoolQDatasetV2")
    with mock.patch("builtins.open", side_effect=FileNotFoundError("gone")), pytest.raises(FileNotFoundError):
        kind.load("/nowhere/rows.jsonl")


def test_without_a_replacement_loaders_read_the_disk(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"label": "true"}\n', encoding="utf-8")
    assert class_of("boolq", "BoolQDatasetV2").load(str(tmp_path / "rows.jsonl"))[0]["label"] == "A"


def test_rows_of_a_programs_load_dataset_get_the_datasets_columns():
    kind = class_of("leval.tpo", "LEvalTPODataset")
    given = DatasetDict(
        {"test": Dataset.from_list([{"instructions": ["a", "b"], "outputs": ["1", "2"], "input": "c"}])}
    )
    with (
        mock.patch(f"{DATASETS}.leval.tpo.get_data_path", return_value="/x"),
        mock.patch(f"{DATASETS}.leval.tpo.load_dataset", return_value=given) as load,
    ):
        rows = kind.load(path="p")["test"].to_list()
    load.assert_called_once_with("json", data_files={"test": "/x"})
    assert [row["answer"] for row in rows] == ["1", "2"]
    assert rows[1]["context"] == "c"


def test_a_loader_without_its_path_says_so():
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchConfigError

    with pytest.raises(AISBenchConfigError, match="path"):
        class_of("leval.tpo", "LEvalTPODataset").load()


def test_agieval_asks_as_its_authors_do(tmp_path):
    rows = [{"passage": None, "question": "Which?", "options": ["(A) x", "(B) y"], "label": "B", "answer": None}]
    (tmp_path / "sat-en.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (made,) = class_of("agieval.agieval", "AGIEvalDataset").load(str(tmp_path), "sat-en", "zero-shot")
    prompt = "Q: Which? Answer Choices: (A) x (B) y\nA: Among A through B, the answer is"
    assert made == {"id": 0, "problem_input": prompt, "label": "B"}
    loader = import_module(f"{DATASETS}.agieval.dataset_loader")
    loader.enc = mock.Mock(encode=list)
    assert loader.concat_prompt(["one", "two"], "sat-en", 60) == (
        "Here are the answers for the problems in the exam.\none\ntwo\n",
        2,
    )
    assert loader.generate_second_stage_input("math", [{"context": "c", "metadata": 3}], [None]) == [
        {"context": "c\n\nTherefore, the answer is", "metadata": 3}
    ]
    loader.enc = None


def test_two_evaluators_of_one_name_are_two():
    from ais_bench.benchmark.openicl.icl_evaluator import MATHEvaluator as Verifying

    spelling = class_of("math", "MATHEvaluator")
    assert spelling is not Verifying
    assert spelling(version="v2").score(["\\frac12", "7"], ["1/2", "8"])["accuracy"] == 50.0
    assert spelling()._fix_sqrt("\\sqrt3") == "\\sqrt{3}"
    from ais_bench.benchmark.utils.logging.exceptions import ParameterValueError

    with pytest.raises(ParameterValueError, match="v9"):
        spelling(version="v9")


def test_instructions_are_classes_that_the_core_checks():
    module, registry = f"{DATASETS}.ifeval.instructions", import_module(f"{DATASETS}.ifeval.instructions_registry")
    comma = import_module(module).CommaChecker("x")
    comma.build_description()
    assert comma.check_following("none here")
    assert not comma.check_following("one, here")
    words = registry.INSTRUCTION_DICT["length_constraints:number_words"]("x")
    assert "12" in words.build_description(num_words=12, relation="at least")
    assert words.get_instruction_args() == {"num_words": 12, "relation": "at least"}
    with pytest.raises(ValueError, match="relation"):
        words.build_description(num_words=1, relation="about")
    evaluator = class_of("ifeval.ifeval", "IFEvaluator")()
    asked = {"key": 1, "instruction_id_list": ["punctuation:no_comma"], "prompt": "p", "kwargs": [{"x": None}]}
    scores = evaluator.score(["*a, b", "plain"], [asked, asked], ["p", "p"])
    assert scores["Prompt-level-strict-accuracy"] == 50.0
    assert [each["grade"] for each in scores["details"].values()] == ["none", "strict"]


def test_tasks_cost_about_the_same(tmp_path):
    from ais_bench.benchmark.partitioners import SizePartitioner, SubjectiveNaivePartitioner
    from ais_bench.benchmark.partitioners.sub_naive import get_model_combinations, remove_duplicate_pairs

    def dataset(name):
        template = {"prompt_template": {"template": "Ask"}}
        return {"abbr": name, "reader_cfg": {"test_range": ""}, "infer_cfg": template}

    sizes = tmp_path / "sizes.json"
    sizes.write_text(json.dumps({"big": 100, "small": 20, "tiny": 10}), encoding="utf-8")
    cut = SizePartitioner(out_dir=str(tmp_path), max_task_size=1000, dataset_size_path=str(sizes))
    tasks = cut.partition(
        [{"models": [{"abbr": "m"}], "datasets": [dataset(name) for name in ("tiny", "big", "small")]}],
        work_dir="w",
        out_dir=str(tmp_path / "predictions"),
    )
    packed = [[(each["abbr"], each["reader_cfg"]["test_range"]) for each in task["datasets"][0]] for task in tasks]
    assert packed == [[("big_0", "[0:50]")], [("big_1", "[50:100]")], [("small", ""), ("tiny", "")]]
    a, b = {"abbr": "a"}, {"abbr": "b"}
    assert remove_duplicate_pairs([(a, b), (b, a), (a, a)]) == [(a, b)]
    assert list(get_model_combinations("allpair", [a, b])) == [(a, b)]
    judged = SubjectiveNaivePartitioner(out_dir=str(tmp_path), judge_models=[{"abbr": "j"}])
    (task,) = judged.partition([a], [{"abbr": "d", "mode": "singlescore"}], str(tmp_path), str(tmp_path))
    assert (task["judge_model"], task["infer_order"]) == ({"abbr": "j"}, None)


def test_loggers_have_aisbenchs_form(tmp_path):
    from ais_bench.benchmark.utils.logging.error_codes import UTILS_CODES
    from ais_bench.benchmark.utils.logging.logger import AISLogger, Colors, get_formatted_log_content

    file = tmp_path / "run.log"
    logger = AISLogger("of a test", logging.INFO, log_file=str(file))
    logger.info("%d rows", 3)
    logger.error(UTILS_CODES.UNKNOWN_ERROR, "it failed")
    text = file.read_text(encoding="utf-8")
    assert f"[{Colors.GREEN}INFO{Colors.RESET}] 3 rows" in text
    assert UTILS_CODES.UNKNOWN_ERROR.full_code in text
    with pytest.raises(ValueError, match="not instance"):
        logger.error("words", "alone")  # noqa: PLE1205 - a code comes first
    with pytest.raises(ValueError, match="no error code"):
        get_formatted_log_content("NO-SUCH-001", "x")
    for handler in logger.logger.handlers:
        handler.close()


def test_a_users_file_is_described_step_by_step(tmp_path):
    custom = import_module(f"{DATASETS}.custom")
    (tmp_path / "mine.csv").write_text("question,A,B,answer\nq,x,y,A\n", encoding="utf-8")
    meta = custom.parse_example_dataset({"path": str(tmp_path / "mine.csv")})
    assert (meta["data_type"], meta["options"], meta["abbr"]) == ("mcq", ["A", "B"], "mine")
    made = custom.make_mcq_gen_config(meta, mock.Mock())
    assert made["eval_cfg"]["evaluator"]["options"] == ["A", "B"]
    lengths = {"method": "percentage", "params": {"percentage_distribute": [(4, 0.5), (9, 0.5)]}}
    assert custom.get_max_token_list_from_meta_json_file(lengths, 4) == [4, 4, 9, 9]


# -- tables with pictures --------------------------------------------------------------------------------------------

_PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="  # 1 x 1, PNG
)


@pytest.mark.parametrize("module, name", [("mmstar", "MMStarDataset"), ("mmmu_pro", "MMMUProOptions10Dataset")])
def test_a_table_that_a_program_puts_in_the_place_of_a_file_is_read(module, name):
    import pandas as pd

    row = {"index": 0, "image": _PIXEL, "question": "Which?", "A": "one", "B": "two", "answer": "A", "category": "cat"}
    with (
        mock.patch(f"{DATASETS}.{module}.get_data_path", return_value="/nowhere/data.tsv"),
        mock.patch("pandas.read_csv", return_value=pd.DataFrame([row])),
    ):
        rows = class_of(module, name).load("/any")

    assert len(rows) == 1
    assert "Which?" in rows[0]["content"]
    assert "A. one" in rows[0]["content"]


def test_a_file_that_is_not_there_is_missed_all_the_same():
    with pytest.raises(Exception, match="nowhere"):
        class_of("mmstar", "MMStarDataset").load("/nowhere/data.tsv")


def test_pictures_of_a_row_are_written_once(tmp_path):
    from ais_bench.benchmark.datasets.mmmu import build_choices, dump_image, sort_key, split_MMMU

    folder = str(tmp_path)
    assert dump_image({"image": _PIXEL, "index": 3}, folder) == [f"{folder}/3.jpg"]
    before = (tmp_path / "3.jpg").read_bytes()
    assert dump_image({"image": "no picture", "index": 3}, folder) == [f"{folder}/3.jpg"]
    assert (tmp_path / "3.jpg").read_bytes() == before
    assert dump_image({"image": [_PIXEL] * 2, "index": 4}, folder) == [f"{folder}/4_0.png", f"{folder}/4_1.png"]
    assert dump_image({"image_path": "3.jpg"}, folder) == [f"{folder}/3.jpg"]
    assert build_choices({"A": "x", "B": float("nan"), "q": 1}) == {"A": "x"}
    picture = {"type": "image_url", "image_url": "u"}
    text = {"type": "text", "text": "See <image 1>!"}
    assert split_MMMU([text, picture]) == [{"type": "text", "text": "See "}, picture, {"type": "text", "text": "!"}]
    with pytest.raises(ValueError, match="a picture that is not there"):
        split_MMMU([text])
    keys = ["[dev]: Overall", "[validation]: Math", "[validation]: Overall"]
    assert min(((key, 1) for key in keys), key=sort_key) == ("[validation]: Overall", 1)


def test_a_file_that_is_not_there_is_a_file_not_found_error(tmp_path):
    from proctor.errors import DatasetNotFoundError

    with pytest.raises(FileNotFoundError) as error:
        class_of("boolq", "BoolQDatasetV2").load(str(tmp_path / "gone.jsonl"))
    assert isinstance(error.value, DatasetNotFoundError)


def test_parquet_is_read_with_the_pandas_that_a_program_has_put_there(tmp_path):
    import pandas as pd

    (tmp_path / "test.parquet").touch()
    table = pd.DataFrame([{"question": "q", "answer": "b", "image": {"bytes": b"x"}}])
    kind = class_of("realworldqa", "RealworldQADataset")
    with mock.patch(f"{DATASETS}.realworldqa.pd.read_parquet", return_value=table) as read:
        rows = kind.load(f"{tmp_path}/rows", image_type="image_base64")
    read.assert_called_once_with(str(tmp_path / "test.parquet"))
    assert rows[0]["answer"] == "b"


def test_pictures_are_read_with_the_open_that_a_program_has_put_there():
    annotations = mock.mock_open(read_data='{"annotations": [{"question_id": 1, "answers": [{"answer": "foo"}]}]}')
    questions = mock.mock_open(read_data='{"question_id": 1, "image": "/img.png", "question": "what?"}\n')
    picture = mock.mock_open(read_data=b"bin")
    opened = [each.return_value for each in (annotations, questions, picture)]
    with (
        mock.patch(f"{DATASETS}.textvqa.get_data_path", return_value="/nowhere/q.json"),
        mock.patch("builtins.open", side_effect=opened),
    ):
        rows = class_of("textvqa", "TEXTVQADataset").load("mine", image_type="image_base64")
    assert rows[0]["image_url"] == "Ymlu"
