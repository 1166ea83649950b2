"""AISBench's own names: models, outputs, checks, files, command line, dataset classes and summarizer as programs call them."""

import asyncio
import json
import sys
from importlib import import_module
from pathlib import Path
from unittest import mock

import pytest
from conformance.aisbench.recording_server import RecordingServer

from proctor import compat
from proctor.errors import DataError

pytestmark = pytest.mark.usefixtures("installed")


def code_of(action):
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchBaseException

    with pytest.raises(AISBenchBaseException) as caught:
        action()
    return caught.value.error_code_str


def chat(**settings):
    from ais_bench.benchmark.models import VLLMCustomAPIChat

    return VLLMCustomAPIChat(**{"path": "p", "model": "m", "host_port": 9, **settings})


# -- checks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check, arguments, code",
    [
        ("check_type_list", (1, [str, None]), "INVALID_TYPE"),
        ("check_list", ((1,),), "INVALID_LIST_TYPE"),
        ("check_str", (1,), "INVALID_STRING_TYPE"),
        ("check_dict", ([],), "INVALID_DICT_TYPE"),
        ("check_dataset", ({},), "INVALID_DATASET_TYPE"),
        ("check_type", ("x", 3), "INVALID_TYPE_SPECIFIER"),
        ("check_type", (None, str), "INVALID_TYPE"),
        ("check_type", ("x", int), "TYPE_MISMATCH"),
        ("check_meta_json_dict", ({"sampling_mode": 1},), "TYPE_MISMATCH"),
        ("check_meta_json_dict", ({"sampling_mod": "random"},), "ILLEGAL_KEYS_IN_CONFIG"),
        ("check_meta_json_dict", ({"request_count": "-1"},), "INVALID_REQUEST_COUNT"),
    ],
)
def test_checks_fail_with_aisbenchs_codes(check, arguments, code):
    from ais_bench.benchmark.utils.core import types
    from ais_bench.benchmark.utils.logging.error_codes import UTILS_CODES

    assert code_of(lambda: getattr(types, check)(*arguments)) == getattr(UTILS_CODES, code).full_code


@pytest.mark.parametrize(
    "method, params, code",
    [
        ("uniform", {"min_value": 3, "max_value": "9"}, None),
        ("uniform", {"min_value": 9, "max_value": 3}, "MIN_GREATER_THAN_MAX"),
        ("uniform", {"min_value": 0, "max_value": 3}, "INVALID_MIN_MAX_VALUE"),
        ("uniform", {"min_value": 3}, "MISSING_PARAMS"),
        ("uniform", {}, "MISSING_PARAMS"),
        ("percentage", {"percentage_distribute": [[10, 0.3], [20, 0.7]]}, None),
        ("percentage", {"percentage_distribute": [[10, 0.3]]}, "INVALID_PERCENTAGE_DISTRIBUTE"),
        ("percentage", {"percentage_distribute": [[0, 1.0]]}, "INVALID_PERCENTAGE_DISTRIBUTE"),
        ("normal", {"mean": 3}, "UNSUPPORTED_DISTRIBUTION_METHOD"),
    ],
)
def test_what_a_meta_file_says_of_tokens_is_checked(method, params, code):
    from ais_bench.benchmark.utils.core.types import check_output_config_from_meta_json
    from ais_bench.benchmark.utils.logging.error_codes import UTILS_CODES

    given = {"output_config": {"method": method, "params": params}}
    if code is None:
        assert check_output_config_from_meta_json(given)
    else:
        found = code_of(lambda: check_output_config_from_meta_json(given))
        assert found == getattr(UTILS_CODES, code).full_code


def test_what_a_test_replaces_in_a_module_is_replaced_for_its_functions():
    with mock.patch("ais_bench.benchmark.utils.core.types.logger") as logger:
        from ais_bench.benchmark.utils.core.types import check_meta_json_dict

        code_of(lambda: check_meta_json_dict({"request_count": "many"}))
    logger.warning.assert_called_once()
    import proctor.compat.aisbench_names.type_checks as home

    assert home.__spec__.name == "proctor.compat.aisbench_names.type_checks"


# -- names and files -------------------------------------------------------------------------------------------------


def test_models_datasets_and_tasks_have_aisbenchs_names(tmp_path):
    from ais_bench.benchmark.utils.core import abbr

    assert abbr.model_abbr_from_cfg([{"abbr": "a"}, {"type": "B", "path": "/x/y/z"}]) == "a_B_y_z"
    assert abbr.dataset_abbr_from_cfg({"path": "a/b", "name": "c"}) == "a_b_c"
    first, second = {"abbr": "a", "type": "x.ADataset"}, {"abbr": "b"}
    assert abbr.task_abbr_from_cfg({"models": [{"abbr": "m"}], "datasets": [[first]]}) == "m/a"
    assert abbr.task_abbr_from_cfg({"models": [{"abbr": "m"}], "datasets": [[first, second]]}) == "m/adataset"
    assert abbr.get_infer_output_path({"abbr": "m"}, [first, second], "/o", "jsonl") == "/o/m/adataset.jsonl"
    judged = abbr.deal_with_judge_model_abbr({"abbr": "m"}, {"abbr": "j"})
    assert [each["abbr"] for each in judged] == ["m", "judged-by--j"]
    assert abbr.deal_with_judge_model_abbr(judged, {"abbr": "k"}) is judged
    assert code_of(lambda: abbr.get_infer_output_path({"abbr": "m"}, first))


def test_configs_are_found_by_name_and_lines_are_read_and_written(tmp_path):
    from ais_bench.benchmark.utils.file import file as files

    (tmp_path / "deep").mkdir()
    for name in ("one_gen.py", "deep/two_gen.py", "deep/one_gen.py"):
        (tmp_path / name).write_text("")
    assert [name for name, _ in files.match_files(str(tmp_path), "gen", fuzzy=True)] == [
        "one_gen",
        "one_gen",
        "two_gen",
    ]
    assert files.match_cfg_file(str(tmp_path), "two_gen") == [("two_gen", str(tmp_path / "deep/two_gen.py"))]
    assert len(files.match_cfg_file([str(tmp_path)], ["one_gen"])) == 1
    assert code_of(lambda: files.match_cfg_file(str(tmp_path), "three_gen"))
    files.dump_jsonl([{"a": "é"}, {"a": 2}], tmp_path / "x.jsonl")
    assert files.load_jsonl(tmp_path / "x.jsonl") == [{"a": "é"}, {"a": 2}]
    assert not files.check_mm_custom(tmp_path / "x.jsonl")
    status = tmp_path / "status.json"
    assert files.write_status(status, {"n": 1})
    assert files.write_status(status, {"n": 2})
    assert files.read_and_clear_statuses(tmp_path, ["status.json"]) == [{"n": 1}, {"n": 2}]
    assert files.read_and_clear_statuses(tmp_path, ["status.json"]) == []


# -- the command line ------------------------------------------------------------------------------------------------


def test_the_parser_has_aisbenchs_options():
    from ais_bench.benchmark.cli.argument_parser import ArgumentParser

    line = ["x", "c.py", "--models", "a", "b", "-m", "eval", "-r", "--num-prompts", "3", "--dry-run"]
    with mock.patch("sys.argv", line):
        found = ArgumentParser().parse_args()
    assert (found.config, found.models, found.mode, found.reuse) == ("c.py", ["a", "b"], "eval", "latest")
    assert (found.num_prompts, found.debug, found.pressure_time, found.num_warmups) == (3, True, 15, 1)
    assert found.cfg_time_str == found.dir_time_str


@pytest.mark.parametrize(
    "name, value, code",
    [
        ("validate_num_prompts", "0", "ARGUMENT_TOO_SMALL"),
        ("validate_pressure_time", "999999", "ARGUMENT_TOO_LARGE"),
        ("validate_num_warmups", "two", "INVALID_INTEGER_TYPE"),
    ],
)
def test_numbers_are_checked(name, value, code):
    from ais_bench.benchmark.cli import utils
    from ais_bench.benchmark.utils.logging.error_codes import UTILS_CODES

    assert code_of(lambda: getattr(utils, name)(value)) == getattr(UTILS_CODES, code).full_code
    assert utils.validate_num_prompts("none") is None
    assert utils.validate_num_warmups("0") == 0


def test_configs_are_filled_and_checked():
    from ais_bench.benchmark.cli import utils
    from ais_bench.benchmark.cli.config_manager import CustomConfigChecker
    from ais_bench.benchmark.utils.config.run import get_models_attr
    from ais_bench.benchmark.utils.logging.error_codes import TMAN_CODES

    dataset = {"reader_cfg": {}}
    utils.fill_test_range_use_num_prompts(3, dataset)
    utils.fill_test_range_use_num_prompts(5, dataset)
    assert dataset["reader_cfg"] == {"test_range": "[:3]"}
    assert utils.recur_convert_config_type({"type": dict, "a": [{"type": int}]})["a"] == [{"type": "builtins.int"}]
    task = {"models": [{"abbr": "m"}], "datasets": [[{"abbr": "d"}]]}
    assert utils.clear_repeat_tasks([task, dict(task)]) == [task]
    made = {"type": "ais_bench.benchmark.datasets.synthetic.SyntheticDataset"}
    assert code_of(lambda: utils.fill_model_path_if_datasets_need({}, made))
    utils.fill_model_path_if_datasets_need({"path": "/t"}, made)
    assert made["model_path"] == "/t"
    right = {"models": [{"abbr": "m"}], "datasets": [{"abbr": "d"}], "summarizer": {"attr": "accuracy"}}
    CustomConfigChecker(right, "c.py").check()
    for wrong, code in (
        ({**right, "models": {}}, "CFG_CONTENT_MISS_REQUIRED_PARAM"),
        ({**right, "models": {"abbr": "m"}}, "TYPE_ERROR_IN_CFG_PARAM"),
        ({**right, "datasets": ["d"]}, "TYPE_ERROR_IN_CFG_PARAM"),
        ({**right, "summarizer": {"type": "x"}}, "CFG_CONTENT_MISS_REQUIRED_PARAM"),
    ):
        found = code_of(CustomConfigChecker(wrong, "c.py").check)
        assert found == getattr(TMAN_CODES, code).full_code
    assert get_models_attr({"models": [{"attr": "local"}]}) == "local"
    assert code_of(lambda: get_models_attr({"models": [{"attr": "local"}, {}]}))


# -- models ----------------------------------------------------------------------------------------------------------


def test_a_chat_model_makes_bodies_and_reads_replies():
    from ais_bench.benchmark.models.output import RequestOutput

    model, output = chat(generation_kwargs={"top_p": 0.5}, stream=True), RequestOutput()
    turns = [{"role": "SYSTEM", "prompt": "s"}, {"role": "HUMAN", "prompt": "q", "more": 1}]
    body = asyncio.run(model.get_request_body(turns, 7, output, tools=[{}]))
    assert body == {
        "stream": True, "stream_options": {"include_usage": True}, "top_p": 0.5, "max_tokens": 7, "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "q", "more": 1}], "tools": [{}],
    }  # fmt: skip
    assert output.input == body["messages"]
    assert asyncio.run(model.get_request_body("q", 0, output)) == ""
    asyncio.run(model.parse_stream_response({"choices": [{"delta": {"content": "a", "reasoning": "r"}}]}, output))
    whole = {"choices": [{"message": {"content": "b"}}, {"message": {"content": None}}], "usage": {"prompt_tokens": 3}}
    asyncio.run(model.parse_text_response(whole, output))
    assert (output.content, output.reasoning_content, output.input_tokens, output.output_tokens) == ("ab", "r", 3, 0)
    assert output.get_prediction() == "r</think>ab"
    assert model._calc_ppl([{"1": {"logprob": -0.5}}, None, {"2": {"logprob": -0.7}}]) == pytest.approx(0.6)
    assert code_of(lambda: model._calc_ppl([None])).startswith("ICLI-")


@pytest.mark.parametrize(
    "settings, url",
    [
        ({"host_ip": "10.0.0.1", "host_port": 9000}, "http://10.0.0.1:9000/"),
        ({"host_ip": "::1", "enable_ssl": True}, "https://[::1]:9/"),
        ({"url": " host:1/below ", "enable_ssl": True}, "https://host:1/below/"),
        ({"url": "http://host/below/?k=v"}, "http://host/below/"),
    ],
)
def test_addresses_lose_nothing(settings, url):
    assert chat(**settings).url == f"{url}v1/chat/completions"


def test_other_servers_have_their_own_bodies():
    from ais_bench.benchmark import models
    from ais_bench.benchmark.models.output import RequestOutput

    output = RequestOutput()
    text = models.VLLMCustomAPI(path="p", model="m", generation_kwargs={"seed": 1})
    body = asyncio.run(text.get_request_body("q", 3, output))
    assert body == {"prompt": "q", "stream": False, "seed": 1, "max_tokens": 3, "model": "m"}
    assert asyncio.run(text.get_ppl_request_body("q", 3, output))["prompt_logprobs"] == 0
    tgi = models.TGICustomAPIStream(path="p", generation_kwargs={"a": 1})
    assert tgi.url.endswith("/generate_stream")
    assert asyncio.run(tgi.get_request_body("q", 3, output)) == {
        "inputs": "q",
        "parameters": {"a": 1, "max_new_tokens": 3},
    }
    triton = models.TritonCustomAPI(path="p", model_name="net", stream=True)
    assert triton.url.endswith("/v2/models/net/generate_stream")
    for piece in "ab":
        asyncio.run(triton.parse_stream_response({"text_output": piece}, output))
    assert output.content == "ab"
    mindie = models.MindieStreamApi(path="p")
    assert asyncio.run(mindie.get_request_body("q", 3, output))["stream"] is True
    assert code_of(lambda: asyncio.run(mindie.parse_text_response({}, output)))


def test_models_ask_servers(tmp_path):
    from ais_bench.benchmark.models.output import RequestOutput

    with RecordingServer() as server:
        for stream in (False, True):
            output = RequestOutput(perf_mode=True)
            model = chat(host_port=server.port, model="", stream=stream)
            asyncio.run(model.generate("1+1", 5, output))
            assert output.success, output.error_info
            assert "boxed" in output.content
            assert output.get_metrics()["prediction"] == "The answer is \\boxed{2}. I choose A"
    gone = RequestOutput()
    asyncio.run(chat(host_port=server.port, retry=2).generate("1+1", 5, gone))
    assert not gone.success
    assert gone.error_info.startswith("after 2 attempts")


def test_a_stream_is_cut_at_empty_lines_however_it_comes():
    async def pieces():
        for each in (b"data: a\n", b"\ndata: b\r\n\r\nda", b"ta: c"):
            yield each

    async def lines():
        return [each async for each in chat().iter_lines(pieces())]

    assert asyncio.run(lines()) == [b"data: a", b"data: b", b"data: c"]


def test_too_few_points_in_time_make_a_failure():
    from ais_bench.benchmark.models.output import FunctionCallOutput, LMMOutput, RequestOutput

    output = RequestOutput(perf_mode=True)
    output.success = True
    asyncio.run(output.record_time_point())
    found = output.get_metrics()
    assert (found["success"], found["error_info"]) == (False, "chunk size is less than 2")
    assert "content" not in found
    calls = FunctionCallOutput()
    calls.update_extra_details_data_from_text_response({"choices": [{"message": {"a": 1}}, {"message": {}}]})
    assert calls.extra_details_data == {"message": {"a": 1}}
    assert LMMOutput().get_prediction(".") == ""


# -- rows, scores, tables --------------------------------------------------------------------------------------------


def test_dataset_classes_load_rows(tmp_path):
    from ais_bench.benchmark.datasets import ARCDataset
    from ais_bench.benchmark.datasets.gsm8k import GSM8KDataset
    from ais_bench.benchmark.registry import LOAD_DATASET

    for split in ("train", "test"):
        (tmp_path / f"{split}.jsonl").write_text(json.dumps({"question": "q", "answer": "a #### 3"}) + "\n")
    found = GSM8KDataset.load(str(tmp_path))
    assert found["test"][0]["question"] == "q"
    assert len(found["train"]) == 1
    assert LOAD_DATASET.get("GSM8KDataset") is GSM8KDataset
    assert callable(ARCDataset.load)
    reader = {"input_columns": ["question"], "output_column": "answer"}
    assert len(GSM8KDataset(reader_cfg=reader, path=str(tmp_path)).test) == 1
    with pytest.raises(TypeError):
        GSM8KDataset.load(1, 2, 3, 4, 5, 6, 7, 8)
    with pytest.raises(DataError):
        GSM8KDataset.load(str(tmp_path / "nothing"))


def test_post_processors_take_arguments_by_place():
    from ais_bench.benchmark.utils.postprocess.model_postprocessors import extract_non_reasoning_content
    from ais_bench.benchmark.utils.postprocess.text_postprocessors import first_option_postprocess

    assert first_option_postprocess("The answer is B", "ABCD") == "B"
    assert extract_non_reasoning_content("a<t>x</t> b", "<t>", "</t>") == "a b"
    with pytest.raises(TypeError):
        first_option_postprocess("x", "ABCD", True, 5)


def test_runs_are_counted():
    from ais_bench.benchmark.openicl.icl_evaluator.icl_base_evaluator import compute_g_pass_at_k, compute_pass_at_k

    assert compute_pass_at_k(5, 2, 2) == pytest.approx(0.7)
    assert compute_pass_at_k(3, 3, 2) == 1.0
    assert compute_g_pass_at_k(4, 2, 2, 1.0) == pytest.approx(1 / 6)


def test_the_summarizer_writes_the_tables_of_a_folder_of_work(tmp_path, capsys):
    from ais_bench.benchmark.summarizers import DefaultSummarizer

    place = tmp_path / "results" / "m"
    place.mkdir(parents=True)
    for name, score in (("a", 10.0), ("b", 30.0)):
        (place / f"{name}.json").write_text(json.dumps({"accuracy": score, "details": []}))
    infer = {"inferencer": {"type": "GenInferencer"}, "retriever": {"type": "ZeroRetriever"}}
    config = {
        "work_dir": str(tmp_path),
        "models": [{"abbr": "m", "summarizer_abbr": "M"}],
        "datasets": [{"abbr": name, "infer_cfg": infer} for name in "ab"],
    }
    DefaultSummarizer(config, summary_groups=[{"name": "all", "subsets": ["a", "b"]}]).summarize(time_str="now")
    lines = (tmp_path / "summary" / "summary_now.csv").read_text().splitlines()
    assert lines[0] == "dataset,version,metric,mode,M"
    assert lines[-1] == "all,-,naive_average,gen,20.00"
    assert Path(tmp_path / "summary" / "summary_now.txt").read_text().startswith("now\n")
    assert "naive_average" in capsys.readouterr().out


# -- names that modules import from others ---------------------------------------------------------------------------


def test_what_a_module_imports_can_be_replaced_there():
    import shutil

    from ais_bench.benchmark.runners.local import LocalRunner, get_command_template
    from ais_bench.benchmark.utils.core import abbr

    with mock.patch("ais_bench.benchmark.runners.local.shutil.rmtree") as replaced:
        assert shutil.rmtree is replaced
    assert shutil.rmtree is not replaced
    with mock.patch("ais_bench.benchmark.utils.core.abbr.osp.join", return_value="there"):
        assert abbr.osp.join("a", "b") == "there"
    with mock.patch("ais_bench.benchmark.runners.local.is_npu_available", return_value=True):
        assert get_command_template([0, 1]) == "ASCEND_RT_VISIBLE_DEVICES=0,1 {task_cmd}"
    with mock.patch("ais_bench.benchmark.runners.local.LocalRunner._run_normal", return_value=[("t", 0)]) as done:
        assert LocalRunner({"type": "OpenICLInferTask"}).launch([{}]) == [("t", 0)]
    done.assert_called_once_with([{}])


@pytest.mark.parametrize(
    "place",
    [
        "cli.workers.TMAN_CODES",
        "tasks.openicl_eval.signature",
        "tasks.openicl_infer.TaskStateManager",
        "openicl.icl_inferencer.icl_gen_inferencer.RequestOutput",
        "datasets.gsm8k.AISBenchDataContentError",
        "models.api_models.vllm_custom_api.BaseAPIModel",
    ],
)
def test_names_of_other_modules_are_found_where_upstream_imports_them(place):
    before = mock.patch(f"ais_bench.benchmark.{place}").get_original()[0]
    assert before is not mock.DEFAULT
    with mock.patch(f"ais_bench.benchmark.{place}") as replaced:
        assert mock.patch(f"ais_bench.benchmark.{place}").get_original()[0] is replaced
    assert mock.patch(f"ais_bench.benchmark.{place}").get_original()[0] is before


def test_a_module_of_datasets_comes_before_one_of_python_with_its_name():
    from ais_bench.benchmark.datasets import math

    assert math.MATHDataset
    with pytest.raises(AttributeError):
        mock.patch("ais_bench.benchmark.runners.local.nothing_of_this_name").start()


def test_modules_lend_no_names_once_compat_is_taken_back():
    from ais_bench.benchmark.runners import local

    assert local.subprocess
    compat.uninstall()
    assert not hasattr(local, "subprocess")
    compat.install()


def test_a_programs_requests_answers_which_model_a_server_has():
    import requests
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchRuntimeError

    model = chat()
    reply = mock.Mock(**{"json.return_value": {"data": [{"id": "theirs"}]}})
    with mock.patch("requests.get", return_value=reply) as asked:
        assert model._get_service_model_path() == "theirs"
    asked.assert_called_once_with(
        "http://localhost:9/v1/models", headers={"Content-Type": "application/json"}, timeout=5
    )
    with (
        mock.patch("requests.get", side_effect=requests.exceptions.ConnectionError),
        pytest.raises(AISBenchRuntimeError),
    ):
        model._get_service_model_path()


def test_names_that_nobody_registered_are_key_errors():
    from ais_bench.benchmark.registry import MODELS

    with pytest.raises(KeyError, match="Nope"):
        MODELS.build({"type": "Nope"})


# -- options of models -----------------------------------------------------------------------------------------------


def told(*arguments):
    from ais_bench.benchmark.cli.argument_parser import ArgumentParser

    with mock.patch("sys.argv", ["ais_bench", *arguments]):
        return ArgumentParser().parse_args()


def test_options_of_models_stand_in_the_place_of_what_configs_say():
    from ais_bench.benchmark.cli.config_manager import ConfigManager
    from ais_bench.benchmark.models import MindieStreamApi, TritonCustomAPI, VLLMCustomAPIChat

    options = (
        "--host-port",
        "8000",
        "--no-trust-remote-code",
        "--generation-kwargs",
        '{"seed": 1}',
        "--model-name",
        "Q",
    )
    manager = ConfigManager(told(*options))
    chats = {"type": VLLMCustomAPIChat, "model": "", "host_port": 1, "trust_remote_code": True, "generation_kwargs": {}}
    triton, mindie = {"type": TritonCustomAPI}, {"type": "MindieStreamApi", "abbr": "m", "host_port": 1}
    manager.logger = mock.Mock()
    manager._apply_cli_api_model_overrides([chats, triton, mindie])
    assert chats == {
        "type": VLLMCustomAPIChat, "model": "Q", "host_port": 8000, "trust_remote_code": False,
        "generation_kwargs": {"seed": 1},
    }  # fmt: skip
    assert triton == {"type": TritonCustomAPI, "model_name": "Q"}
    assert mindie["host_port"] == 8000
    assert "--model-name" in str(manager.logger.warning.call_args_list[-1])
    assert manager._resolve_model_field_name({"type": MindieStreamApi}) is None
    assert manager._resolve_model_field_name({"type": "nothing"}) is None


def test_without_such_options_configs_stay():
    from ais_bench.benchmark.cli.config_manager import ConfigManager

    model = {"type": "VLLMCustomAPIChat", "model": "own", "url": "u"}
    ConfigManager(told())._apply_cli_api_model_overrides([model])
    assert model == {"type": "VLLMCustomAPIChat", "model": "own", "url": "u"}


@pytest.mark.parametrize("option", ["--response-anomaly", "--spec-decode"])
def test_options_for_what_is_not_here_end_in_an_error(option):
    from ais_bench.benchmark.cli.task_manager import TaskManager
    from ais_bench.benchmark.utils.logging.exceptions import CommandError

    with mock.patch("sys.argv", ["ais_bench", "config.py", option]), pytest.raises(CommandError, match=option):
        TaskManager().run()


def test_files_of_tasks_that_are_to_stay_stay(tmp_path):
    from ais_bench.benchmark.runners.base import TasksMonitor
    from ais_bench.benchmark.utils.response_anomaly import ResponseAnomalyCoordinator

    folder = tmp_path / "status_tmp"
    folder.mkdir()
    kept = ResponseAnomalyCoordinator.STATUS_FILE_NAME
    for name in ("tmp_a.json", kept):
        (folder / name).touch()
    TasksMonitor.rm_tmp_files(str(tmp_path), preserve=(kept,))
    assert [each.name for each in folder.iterdir()] == [kept]
    TasksMonitor.rm_tmp_files(str(tmp_path))
    assert not folder.exists()


@pytest.mark.parametrize(
    "package, names",
    [
        ("summarizers", {"DefaultSummarizer", "DefaultPerfSummarizer", "default"}),
        ("partitioners", {"NaivePartitioner", "SizePartitioner", "base"}),
        ("models", {"VLLMCustomAPIChat", "BaseAPIModel", "api_models"}),
        ("datasets", {"GSM8KDataset", "DropOpenAIDataset", "BFCLEvaluator", "BaseDataset"}),
        ("utils.logging", {"AISLogger", "AISBenchConfigError", "DSET_CODES"}),
    ],
)
def test_a_package_imported_whole_has_the_classes_of_its_modules(package, names):
    found = {}

    exec(f"from ais_bench.benchmark.{package} import *", found)

    assert names <= set(found)
    assert not any(name.startswith("_") for name in found if name != "__builtins__")


def test_what_needs_a_package_that_is_missing_does_not_stop_importing_whole(monkeypatch):
    monkeypatch.setitem(sys.modules, "langdetect", None)
    for name in [each for each in sys.modules if "ifeval" in each]:
        monkeypatch.delitem(sys.modules, name)
    found = {}

    exec("from ais_bench.benchmark.datasets import *", found)

    assert "GSM8KDataset" in found


@pytest.mark.parametrize(
    "arguments, settings",
    [((3,), {"module": dict}), (([1],), {"module": dict}), ((), {"module": 5}), ((), {"module": dict, "force": "x"})],
)
def test_registries_check_what_they_are_given(arguments, settings):
    registry = import_module("ais_bench.benchmark.registry").Registry("mine")

    with pytest.raises(TypeError):
        registry.register_module(*arguments, **settings)
    assert len(registry) == 0


@pytest.mark.parametrize(
    "config, error", [({"x": 1}, KeyError), ({"type": "nobody"}, KeyError), ({"type": 4}, TypeError), (5, TypeError)]
)
def test_registries_build_of_configs_only(config, error):
    registry = import_module("ais_bench.benchmark.registry").Registry("mine")
    registry.register_module(module=dict)

    assert registry.build({"type": "dict", "b": 2}, default_args={"a": 1}) == {"a": 1, "b": 2}
    with pytest.raises(error):
        registry.build(config)


def test_post_processors_without_what_they_need_are_type_errors():
    registry = import_module("ais_bench.benchmark.registry").TEXT_POSTPROCESSORS

    with pytest.raises(TypeError, match="re_pattern"):
        registry.get("think_pred")("text")
    with pytest.raises(TypeError, match="answer_pattern"):
        registry.get("match_answer_pattern")("text")


def test_a_base_model_counts_the_tokens_of_templates():
    base = import_module("ais_bench.benchmark.models.local_models.base").BaseModel

    class Letters(base):
        def get_token_len(self, prompt):
            return len(prompt)

    model = Letters("here", meta_template={"round": [{"role": "HUMAN", "begin": "<"}], "eos_token_id": 3})
    model.set_synthetic()
    model.model = mock.Mock()
    model.to("cpu")

    assert (model.path, model.eos_token_id, model.is_synthetic, model.max_seq_len) == ("here", 3, True, 2048)
    assert Letters("p").get_token_len_from_template(["a", "bcd"]) == [1, 3]
    assert Letters("p").get_token_len_from_template("ab", mode="gen") == 2
    model.model.to.assert_called_once_with("cpu")
    for step in ("encode", "decode", "generate"):
        assert code_of(lambda step=step: getattr(base("p"), step)("x")).startswith("MODEL-")


def test_configs_are_checked_part_by_part():
    checker = import_module("ais_bench.benchmark.cli.config_manager").CustomConfigChecker
    config = {"models": [{"abbr": "m"}], "datasets": [{}], "summarizer": {"attr": "accuracy"}}

    checker(config, "f.py")._check_models_config()
    checker(config, "f.py")._check_summarizer_config()
    assert code_of(checker(config, "f.py")._check_datasets_config).startswith("TMAN-")
