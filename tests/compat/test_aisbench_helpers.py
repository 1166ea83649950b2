"""AISBench's helpers as its own tests call them: what datasets share, judges, inferencers, tasks, partitioners."""

import asyncio
import json
import sqlite3
from types import SimpleNamespace
from unittest import mock

import pytest

from proctor.errors import UsageError

DATASETS = "ais_bench.benchmark.datasets"
INFERENCER = "ais_bench.benchmark.openicl.icl_inferencer"

pytestmark = pytest.mark.usefixtures("installed")


# -- marks of answers (values of the real package) -------------------------------------------------------------------


@pytest.mark.parametrize(
    "module, name, arguments, wanted",
    [
        ("utils.datasets", "process_punctuation", ("a, b.",), "a b"),
        ("utils.datasets", "process_answer", ("The two\tdont!",), "2 don't"),
        ("utils.datasets", "relaxed_correctness", ("100", "104"), True),
        ("utils.datasets", "relaxed_correctness", ("5%", "0.06"), False),
        ("utils.datasets", "anls_compute", ("hello", "hallo"), 0.2),
        ("utils.datasets", "process_line", ("x", ["x", "x", "x", "y"]), [2 / 3, 2 / 3, 2 / 3, 1]),
        ("utils.datasets", "process_line", ("X ", ["x", "y"], "accuracy"), [1.0, 0.0]),
        ("utils.datasets", "toliststr", ("[1, 2]",), ["1", "2"]),
        ("math", "last_boxed_only_string", (r"\boxed{1} \boxed{\frac{1}{2}}.",), r"\boxed{\frac{1}{2}}"),
        ("math", "extract_boxed_answer", (r"\boxed{{5}}", True), "5"),
        ("math", "remove_boxed", (None,), None),
        ("dapo_math", "normalize_final_answer", ("x = 5",), "5"),
        ("math", "normalize_final_answer", ("x = 5",), "x=5"),
        ("agieval.post_process", "parse_math_answer", ("zero-shot", "It costs $5"), "5"),
        ("agieval.post_process", "parse_qa_multiple_answer", ("(A)(C)", "few-shot"), ["A", "C"]),
        ("livecodebench.extract_utils", "extract_code_generation", ("```\na\n```\n```\nb\n```",), "a"),
        ("livecodebench.extract_utils", "extract_code_generation_v2", ("```\na\n```\n```\nb\n```",), "b"),
        ("drop_simple_eval", "fuzzy_match", ("The cat", "a dog"), False),
        ("drop_simple_eval", "fuzzy_match", ("The cat", "cat!"), True),
        ("mmmu", "can_infer", ("I think (B)", {"A": "x", "B": "y"}), "B"),
        ("mmmu", "can_infer_text", ("a pear", {"A": "apple", "B": "pear"}), "B"),
        ("videomme", "extract_characters_regex", ("The best answer is C.",), "C"),
    ],
)
def test_functions_of_datasets_have_upstream_s_values(module, name, arguments, wanted):
    function = getattr(__import__(f"{DATASETS}.{module}", fromlist=[name]), name)

    found = function(*arguments)

    assert found == (pytest.approx(wanted) if isinstance(wanted, float) else wanted)


def test_pass_at_k_is_a_percentage_in_one_module_and_a_share_in_the_other():
    from ais_bench.benchmark.datasets.humanevalx.humaneval_x_utils import estimate_pass_at_k as share
    from ais_bench.benchmark.datasets.livecodebench.pass_k_utils import compute_metrics_from_results, estimate_pass_at_k

    assert share(2, [1, 2], 1).tolist() == [0.5, 1.0]
    assert estimate_pass_at_k([2, 2], [1, 0], 1).tolist() == [50.0, 0.0]
    assert compute_metrics_from_results({"a": [[1, 1], [1, -1]]}, [1])["detail"] == {"pass@1": {"a": 50.0}}


@pytest.mark.parametrize(
    "rows, mode, count, wanted",
    [([1, 2], "default", 0, [1, 2]), ([1, 2], "default", 3, [1, 2, 1]), ([1, 2], "shuffle", 1, [1])],
)
def test_samples_go_round_where_there_are_too_few_rows(rows, mode, count, wanted):
    from ais_bench.benchmark.datasets.utils.datasets import get_sample_data

    assert get_sample_data(rows, mode, count) == wanted
    with pytest.raises(ValueError, match="negative"):
        get_sample_data(rows, mode, -1)
    with pytest.raises(ValueError, match="rando"):
        get_sample_data(rows, "rando")


def test_paths_are_looked_for_where_the_variable_says(tmp_path, monkeypatch):
    from ais_bench.benchmark.datasets.utils import datasets

    (tmp_path / "here").write_text("")
    monkeypatch.setenv("AIS_BENCH_DATASETS_CACHE", str(tmp_path))
    assert datasets.get_data_path("here") == str(tmp_path / "here")
    assert datasets.get_data_path("/nowhere") == "/nowhere"
    with pytest.raises(FileExistsError, match="nowhere"):
        datasets.get_data_path("nowhere")
    with pytest.raises(TypeError):
        datasets.get_data_path("here", local_mode=False)


def test_a_meta_file_that_is_named_must_be_there(tmp_path):
    from ais_bench.benchmark.datasets.utils.datasets import get_meta_json

    (tmp_path / "a.jsonl.meta.json").write_text('{"request_count": 3}')
    assert get_meta_json(str(tmp_path / "a.jsonl"), None) == {"request_count": 3}
    assert get_meta_json(str(tmp_path / "b.jsonl"), "") == {}
    with pytest.raises(ValueError, match="nowhere"):
        get_meta_json("a", "nowhere")


# -- bases of datasets -----------------------------------------------------------------------------------------------


def rows_class(base, rows=("a", "b")):
    from datasets import Dataset

    return type("Rows", (base,), {"load": staticmethod(lambda **_: Dataset.from_list([{"text": row} for row in rows]))})


def test_rows_are_repeated_one_by_one_and_say_which_they_are():
    from ais_bench.benchmark.datasets.base import BaseDataset
    from datasets import DatasetDict

    made = rows_class(BaseDataset)(reader_cfg={"input_columns": ["text"], "output_column": None}, k=2, n=2, abbr="x")

    assert isinstance(made.dataset, DatasetDict)
    assert made.test["text"] == ["a", "a", "b", "b"]
    assert made.test["idx"] == [0, 0, 1, 1]
    assert set(made.train["subdivision"]) == {"x_train"}


@pytest.mark.parametrize("k", [3, [1, 3]])
def test_more_answers_looked_at_than_there_are_is_an_error(k):
    from ais_bench.benchmark.datasets.base import BaseDataset
    from ais_bench.benchmark.utils.logging.exceptions import ParameterValueError

    with pytest.raises(ParameterValueError, match="k is 3"):
        rows_class(BaseDataset)(reader_cfg={"input_columns": ["text"], "output_column": None}, k=k, n=2)


def test_datasets_of_exams_can_be_made_with_repeats(tmp_path):
    from ais_bench.benchmark.datasets import Aime2025Dataset

    (tmp_path / "a.jsonl").write_text('{"question": "1+1", "answer": "2"}\n')
    reader = {"input_columns": ["question", "max_out_len"], "output_column": "answer"}
    made = Aime2025Dataset(reader, path=str(tmp_path / "a.jsonl"), n=3)

    assert [row["idx"] for row in made.test] == [0, 0, 0]
    assert made.reader.get_max_out_len() is None


def test_limits_and_times_of_rows_are_read():
    from ais_bench.benchmark.openicl.icl_dataset_reader import DatasetReader
    from datasets import Dataset

    rows = Dataset.from_list([{"q": "a", "max_out_len": 5, "timestamp": 1000}])
    reader = DatasetReader(rows, ["q", "max_out_len", "timestamp"], "q")

    assert (reader.get_max_out_len(), reader.get_timestamp()) == ([5], [1000])
    assert DatasetReader(rows, ["q"], "q").get_max_out_len() is None


def test_a_judge_sees_rows_with_the_answers_of_their_ids(tmp_path):
    from ais_bench.benchmark.datasets.base import BaseDataset
    from ais_bench.benchmark.datasets.utils import llm_judge

    kind = rows_class(BaseDataset)
    judged = type("Judged", (llm_judge.LLMJudgeDataset,), {"_get_dataset_class": lambda self: kind})
    path = tmp_path / "p.jsonl"
    path.write_text("".join(json.dumps({"id": i, "uuid": f"u{9 - i}", "prediction": f"p{i}"}) + "\n" for i in (1, 0)))
    columns = {"input_columns": ["text", "model_answer"], "output_column": "model_pred_uuid"}
    with mock.patch.object(judged, "_init_org_datasets_instance") as made:
        made.return_value = kind(reader_cfg={"input_columns": ["text"], "output_column": None})
        rows = judged(reader_cfg=columns, predictions_path=str(path)).test

    assert [(row["text"], row["model_answer"], row["model_pred_uuid"]) for row in rows] == [
        ("b", "p1", "u8"),
        ("a", "p0", "u9"),
    ]
    missing = judged.__new__(judged)._load_from_predictions(str(tmp_path / "nowhere"))
    assert missing == []


# -- inferencers -----------------------------------------------------------------------------------------------------


class Model:
    max_out_len, is_api = 4, False

    def parse_template(self, prompt, mode):
        return prompt

    def generate(self, inputs, max_out_len, output=None, session=None, **more):
        if output is None:
            return [f"said {each}" for each in inputs]
        return self.answer(inputs, output)

    async def answer(self, asked, output):
        output.success, output.content = "fail" not in str(asked), f"said {len(asked)}"


def made(kind, **settings):
    module = f"{INFERENCER}.icl_base_inferencer"
    with mock.patch(f"{module}.build_model_from_cfg", return_value=Model()):
        return kind(model_cfg={"abbr": "m"}, **settings)


def a_retriever(**columns):
    reader = SimpleNamespace(get_max_out_len=lambda: columns.get("limits"), get_timestamp=lambda: columns.get("times"))
    return SimpleNamespace(
        dataset=SimpleNamespace(abbr="d", reader=reader),
        dataset_reader=reader,
        retrieve=lambda: [[0], [1]],
        generate_ice=lambda chosen: f"ice{chosen}",
        generate_prompt_for_generate_task=lambda place, ice, gen_field_replace_token: f"{place}|{ice}",
        get_gold_ans=lambda: ["g0", "g1"],
    )


def test_an_inferencer_makes_prompts_with_limits_times_and_right_answers():
    from ais_bench.benchmark.openicl.icl_inferencer.icl_gen_inferencer import GenInferencer

    inferencer = made(GenInferencer)
    plain, timed = (
        inferencer.get_data_list(a_retriever()),
        inferencer.get_data_list(a_retriever(limits=[7, 0], times=[1500, 3000])),
    )

    assert plain[1] == {"prompt": "1|ice[1]", "data_abbr": "d", "index": 1, "max_out_len": 4, "gold": "g1"}
    assert [(row["max_out_len"], row["timestamp"]) for row in timed] == [(7, 1.5), (4, 3.0)]


def test_a_retriever_s_rows_are_asked_and_written(tmp_path):
    from ais_bench.benchmark.datasets.base import BaseDataset
    from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer
    from ais_bench.benchmark.openicl.icl_retriever import ZeroRetriever

    rows = rows_class(BaseDataset)({"input_columns": ["text"], "output_column": "text"}, abbr="d")
    inferencer = made(GenInferencer, batch_size=2)
    inferencer.inference(
        ZeroRetriever(rows, prompt_template={"type": "PromptTemplate", "template": "Q {text}"}), str(tmp_path)
    )

    lines = [json.loads(line) for line in (tmp_path / "d.jsonl").read_text().splitlines()]
    assert [(line["id"], line["prediction"], line["gold"]) for line in lines] == [
        (0, "said Q ", "a"),
        (1, "said Q ", "b"),
    ]
    assert not (tmp_path / "tmp").exists()


@pytest.mark.parametrize("mode, wanted", [("every", ["HUMAN", "BOT", "HUMAN"]), ("last", ["HUMAN", "BOT", "HUMAN"])])
def test_turns_are_asked_after_what_was_said(mode, wanted):
    from ais_bench.benchmark.openicl.icl_inferencer import MultiTurnGenInferencer
    from ais_bench.benchmark.utils.prompt import PromptList

    mark = [{"section": "round", "pos": "begin"}, {"section": "round", "pos": "end"}]
    turns = [
        {"role": role, "prompt": text}
        for role, text in (("HUMAN", "q1"), ("BOT", "a1"), ("HUMAN", "q2"), ("BOT", "a2"))
    ]
    inferencer = made(MultiTurnGenInferencer, infer_mode=mode)
    row = {
        "index": 0,
        "prompt": PromptList([mark[0], *turns, mark[1]]),
        "data_abbr": "d",
        "max_out_len": 3,
        "gold": ["a1", "a2"],
    }
    asyncio.run(inferencer.do_request(row, None, None))
    asked = [inferencer.output_handler.cache_queue.sync_q.get_nowait()[2] for _ in range(1 if mode == "last" else 2)]

    dialogue = [each for each in asked[-1] if "role" in each]
    assert [each["role"] for each in dialogue] == wanted
    assert dialogue[1]["prompt"] == ("a1" if mode == "last" else "said 3")


def test_failed_answers_have_a_file_of_their_own(tmp_path):
    from ais_bench.benchmark.models.output import RequestOutput
    from ais_bench.benchmark.openicl.icl_inferencer.output_handler.gen_inferencer_output_handler import (
        GenInferencerOutputHandler,
    )

    handler, failed, good = GenInferencerOutputHandler(), RequestOutput(), RequestOutput()
    failed.error_info, good.success, good.content = "no", True, "yes"
    for number, answer in enumerate((failed, good)):
        assert handler.report_cache_info_sync(number, "asked", answer, "d", "g")
    handler.stop_cache_consumer()
    handler.run_cache_consumer(str(tmp_path / "tmp"), "tmp_d.jsonl", False)
    handler.write_to_json(str(tmp_path), False)

    (line,) = (tmp_path / "d.jsonl").read_text().splitlines()
    assert json.loads(line)["prediction"] == "yes"
    assert json.loads((tmp_path / "d_failed.jsonl").read_text())["error_info"] == "no"
    assert len((tmp_path / "tmp" / "tmp_d.jsonl").read_text().splitlines()) == 2


def test_arrays_leave_their_number(tmp_path):
    import numpy as np
    from ais_bench.benchmark.openicl.icl_inferencer.output_handler.base_handler import BaseInferencerOutputHandler
    from ais_bench.benchmark.openicl.icl_inferencer.output_handler.db_utils import init_db, load_all_numpy_from_db

    conn = init_db(str(tmp_path / "a.db"))
    found = BaseInferencerOutputHandler()._extract_and_write_arrays({"a": np.array([1, 2]), "b": {3}}, conn)

    assert found == {"a": {"__db_ref__": 1}, "b": "{3}"}
    assert load_all_numpy_from_db(conn)[1].tolist() == [1, 2]
    bare = sqlite3.connect(":memory:")
    assert BaseInferencerOutputHandler()._extract_and_write_arrays(np.array([1]), bare) is None


# -- configs, tasks, partitioners ------------------------------------------------------------------------------------


def test_a_model_s_config_is_checked_before_it_is_made():
    from ais_bench.benchmark.utils.config.build import build_model_from_cfg
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchConfigError

    wrong = {"type": "x.VLLMCustomAPI", "host_port": 70000, "retry": -1, "traffic_cfg": {"ramp_up_strategy": "log"}}
    with pytest.raises(AISBenchConfigError) as caught:
        build_model_from_cfg(wrong)
    assert all(key in str(caught.value) for key in ("host_port", "retry", "traffic_cfg.ramp_up_strategy"))
    assert build_model_from_cfg({"type": "VLLMCustomAPI", "model": "m", "host_port": 9, "abbr": "a"}).model == "m"


def test_tasks_are_one_dataset_each_and_finished_ones_are_left_out(tmp_path):
    from ais_bench.benchmark.partitioners import NaivePartitioner

    folder = tmp_path / "predictions"
    (folder / "m").mkdir(parents=True)
    (folder / "m" / "a.json").write_text("")
    cfg = {"models": [{"abbr": "m"}], "datasets": [{"abbr": each} for each in "abc"], "work_dir": "w"}
    tasks = NaivePartitioner(str(folder))(cfg)

    assert [task["datasets"] for task in tasks] == [[[{"abbr": "b"}]], [[{"abbr": "c"}]]]
    assert len(NaivePartitioner(str(tmp_path), n=3)(cfg)) == 1


def test_a_task_s_state_is_in_its_file(tmp_path):
    from ais_bench.benchmark.tasks.base import TaskStateManager, extract_role_pred

    state = TaskStateManager(str(tmp_path), "m/d", is_debug=False)
    state.update_task_state({"status": "finish"})
    state.launch()

    assert json.loads((tmp_path / "tmp_m_d.json").read_text())[0]["status"] == "finish"
    assert extract_role_pred("<a>x<b>", "<a>", "<b>") == "<a>x<b>"


def test_limits_that_are_no_limits_are_the_default():
    from ais_bench.benchmark.utils.core import valid_global_consts as limits

    with mock.patch.object(limits.global_consts, "MAX_CHUNK_SIZE", 0):
        assert limits.get_max_chunk_size() == 65536
    with mock.patch.object(limits.global_consts, "REQUEST_TIME_OUT", 5):
        assert limits.get_request_time_out() == 5


def test_registries_know_partitioners_inferencers_and_readers():
    from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer
    from ais_bench.benchmark.registry import ICL_DATASET_READERS, ICL_INFERENCERS, PARTITIONERS, build_from_cfg

    assert build_from_cfg({"type": "NaivePartitioner", "n": 2}).n == 2
    assert ICL_INFERENCERS.get("ais_bench.benchmark.openicl.icl_inferencer.GenInferencer") is GenInferencer
    assert "DatasetReader" in ICL_DATASET_READERS
    assert "Nobody" not in PARTITIONERS


def test_dapo_reads_answers_by_two_rules():
    from ais_bench.benchmark.datasets.dapo_math import extract_pred_by_minerva, extract_pred_by_strict_box

    assert extract_pred_by_minerva("Answer: 3\nAnswer: x = 4") == "4"
    assert extract_pred_by_minerva("none") == "[INVALID]"
    assert extract_pred_by_strict_box(r"so \boxed{7}") == "7"
    assert extract_pred_by_strict_box(rf"\boxed{{7}}{'.' * 200}") == ""


def test_rows_of_humanitys_last_exam_become_content_with_tags():
    from ais_bench.benchmark.datasets.hle import parse_hle_item
    from ais_bench.benchmark.datasets.utils.datasets import get_content_str

    parts = [{"type": "text", "text": "why?"}, {"type": "image_url", "image_url": "u"}]
    made = parse_hle_item({"question": "why?", "image": "u", "answer": "so"})
    assert made == {"content": get_content_str(parts), "answer": "so"}
    assert parse_hle_item({"question": "why?", "image": None})["content"] == get_content_str(parts[:1])


def test_schemas_of_agieval_become_dicts():
    from ais_bench.benchmark.datasets.agieval.constructions import AgiInstance, TaskSchema

    told = AgiInstance("d", "s", TaskSchema(question="q"), "o", "e", "x").to_dict()
    assert told["task description"] == "d"
    assert told["task schema"]["question"] == "q"


def test_bases_and_quiet_loggers_can_be_derived_from():
    from ais_bench.benchmark.datasets.mbpp import TimeOutException
    from ais_bench.benchmark.models.api_models.base_api import MockAISLogger
    from ais_bench.benchmark.models.local_models.base import BaseLMModel
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchNotImplementedError

    with pytest.raises(AISBenchNotImplementedError):
        BaseLMModel("here").generate([], [])
    assert MockAISLogger().info("nothing") is None
    assert issubclass(TimeOutException, Exception)


def test_a_module_with_a_class_that_is_not_here_can_be_imported_whole():
    from ais_bench.benchmark.datasets.livecodebench.livecodebench import LCBSelfRepairDataset, Platform

    assert Platform.LEETCODE.value == "leetcode"
    with pytest.raises(UsageError, match="LCBSelfRepairDataset"):
        LCBSelfRepairDataset()
