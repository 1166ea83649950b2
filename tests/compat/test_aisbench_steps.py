"""AISBench's command line, workers, tasks and runners, as programs put them together."""

import json
import sys
from types import SimpleNamespace
from unittest import mock

import pytest
from conformance.aisbench.recording_server import RecordingServer, answer_to

MANAGER = "ais_bench.benchmark.cli.config_manager"
EVAL = "ais_bench.benchmark.tasks.openicl_eval"

pytestmark = pytest.mark.usefixtures("installed")


def code_of(action):
    from ais_bench.benchmark.utils.logging.exceptions import AISBenchBaseException

    with pytest.raises(AISBenchBaseException) as caught:
        action()
    return caught.value.error_code_str


CONFIG = """
from ais_bench.benchmark.models import VLLMCustomAPIChat
from ais_bench.benchmark.openicl.icl_prompt_template import PromptTemplate
from ais_bench.benchmark.openicl.icl_retriever import ZeroRetriever
from ais_bench.benchmark.openicl.icl_inferencer import GenInferencer
from ais_bench.benchmark.openicl.icl_evaluator import AccEvaluator
from ais_bench.benchmark.datasets.custom import CustomDataset

models = [dict(attr="service", type=VLLMCustomAPIChat, abbr="m", path="", model="m", host_ip="127.0.0.1",
               host_port=PORT, api_key="sk-0123456789abcdef", max_out_len=5, batch_size=2, retry=1, generation_kwargs=dict(temperature=0))]
datasets = [dict(abbr="sums", type=CustomDataset, path="PATH",
                 reader_cfg=dict(input_columns=["question"], output_column="answer"),
                 infer_cfg=dict(prompt_template=dict(type=PromptTemplate, template="{question}"),
                                retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer)),
                 eval_cfg=dict(evaluator=dict(type=AccEvaluator)))]
summarizer = dict(attr="accuracy")
"""


def config_at(folder, port=9):
    rows = [{"question": "Who?", "answer": answer_to("Who?")}, {"question": "Why?", "answer": "no idea"}]
    (folder / "sums.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "config.py"
    path.write_text(CONFIG.replace("PORT", str(port)).replace("PATH", str(folder / "sums.jsonl")))
    return path


def test_the_whole_command_line_asks_scores_and_sums_up(tmp_path, monkeypatch, capsys):
    from ais_bench.benchmark.cli.main import main

    with RecordingServer() as server:
        path = config_at(tmp_path, server.port)
        monkeypatch.setattr(sys, "argv", ["ais_bench", str(path), "--work-dir", str(tmp_path / "out"), "--debug"])
        main()
    (results,) = tmp_path.glob("out/*/results/m/sums.json")
    assert json.loads(results.read_text()) == {"accuracy": 50.0}
    (answers,) = tmp_path.glob("out/*/predictions/m/sums.jsonl")
    lines = map(
        json.loads, answers.read_text().splitlines()
    )  # in the order in which they came, as AISBench writes them
    assert {line["id"]: line["prediction"] for line in lines} == {0: answer_to("Who?"), 1: answer_to("Why?")}
    assert "50.00" in capsys.readouterr().out
    written = [path.read_text() for path in tmp_path.glob("out/**/*") if path.is_file()]
    assert any("host_port" in text for text in written)  # the config is kept beside its results, and without the key
    assert not any("sk-0123456789abcdef" in text for text in written)
    assert server.keys == {"Bearer sk-0123456789abcdef"}


def arguments(folder, **said):
    unsaid = dict.fromkeys(
        ("config", "models", "datasets", "summarizer", "reuse", "num_prompts", "custom_dataset_path",
         "custom_dataset_infer_method", "custom_dataset_data_type", "custom_dataset_meta_path")
    )  # fmt: skip
    named = {**unsaid, "config_dir": str(folder), "work_dir": str(folder / "out"), "dir_time_str": "t1", **said}
    return SimpleNamespace(**named, debug=False, max_num_workers=1, max_workers_per_gpu=1)


def manager(folder, **said):
    from ais_bench.benchmark.cli.config_manager import ConfigManager

    return ConfigManager(arguments(folder, **said))


def test_configs_of_a_folder_are_put_together_by_name(tmp_path, capsys):
    for kind, text in (("models", "models = [1]"), ("datasets", "a_datasets = [2]\nmine = [3]"),
                       ("summarizers", "summarizer = dict(attr='x')\nother = dict(attr='y')")):  # fmt: skip
        (tmp_path / kind).mkdir()
        (tmp_path / kind / "one.py").write_text(text)
    made = manager(tmp_path, models=["one"], datasets=["one"], summarizer="one/other")._get_config_from_arg()
    assert (made["models"], made["datasets"], made.summarizer.attr) == ([1], [2], "y")
    assert manager(tmp_path, datasets=["one/mine"])._load_datasets_config() == [3]
    manager(tmp_path, models=["one"]).search_configs_location()
    assert "one.py" in capsys.readouterr().out


@pytest.mark.parametrize(
    "method, said, code",
    [
        ("_load_models_config", {}, "CMD_MISS_REQUIRED_ARG"),
        ("_load_datasets_config", {}, "CMD_MISS_REQUIRED_ARG"),
        ("_load_datasets_config", {"datasets": ["bad"]}, "INVAILD_SYNTAX_IN_CFG_CONTENT"),
        ("_load_datasets_config", {"datasets": ["empty"]}, "CFG_CONTENT_MISS_REQUIRED_PARAM"),
        ("_load_models_config", {"models": ["none"]}, "CFG_CONTENT_MISS_REQUIRED_PARAM"),
    ],
)
def test_what_the_manager_refuses_has_aisbenchs_codes(tmp_path, method, said, code):
    from ais_bench.benchmark.utils.logging.error_codes import TMAN_CODES

    for place, text in (("datasets/bad", "x ="), ("datasets/empty", "x = 1"), ("models/none", "x = 1")):
        path = tmp_path / f"{place}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert code_of(getattr(manager(tmp_path, **said), method)) == getattr(TMAN_CODES, code).full_code


def test_the_folder_of_work_has_the_time_or_that_of_an_earlier_run(tmp_path):
    from proctor.compat.aisbench_names.config_objects import Config

    for said, name in (({}, "t1"), ({"reuse": "latest"}, "t9"), ({"reuse": "t3"}, "t3")):
        (tmp_path / "out" / "t9").mkdir(parents=True, exist_ok=True)
        made = manager(tmp_path, **said)
        made.cfg = Config({})
        made._update_and_init_work_dir()
        assert made.cfg.work_dir == str(tmp_path / "out" / name)


def test_what_a_program_replaces_in_the_manager_is_replaced(tmp_path):
    found = mock.patch(f"{MANAGER}.match_cfg_file", return_value=[("a", "/a.py")])
    with mock.patch(f"{MANAGER}.Config.fromfile", return_value={"models": [7]}) as read, found:
        assert manager(tmp_path, models=["a"])._load_models_config() == [7]
    read.assert_called_once_with("/a.py")


# -- configs as objects ----------------------------------------------------------------------------------------------


def test_configs_are_merged_dumped_and_read_again(tmp_path):
    from mmengine.config import Config

    made = Config({"a": {"b": 1, "c": [{"d": 2}]}})
    assert made.a.c[0].d == 2
    made.merge_from_dict({"a.b": 5, "e": {"f": 6}, "a.c.0": {"d": 3}})
    assert made.to_dict() == {"a": {"b": 5, "c": [{"d": 3}]}, "e": {"f": 6}}
    made.merge_from_dict({"a": {"_delete_": True, "g": 1}})
    made.dump(tmp_path / "c.py")
    assert Config.fromfile(tmp_path / "c.py").to_dict() == {"a": {"g": 1}, "e": {"f": 6}}
    with pytest.raises(AttributeError):
        made.missing


# -- workers and runners ---------------------------------------------------------------------------------------------


def worker(name, folder, **said):
    from ais_bench.benchmark.cli import workers

    return getattr(workers, name)(arguments(folder, cfg_time_str="now", **said))


def test_judges_are_asked_about_the_answers_of_their_models(tmp_path):
    from mmengine import ConfigDict

    judge = {"judge_model": {"abbr": "j", "attr": "service"}, "judge_dataset_type": "JD", "judge_reader_cfg": {"r": 1}}
    said = SimpleNamespace(debug=True)
    config = ConfigDict(datasets=[{"abbr": "d", "judge_infer_cfg": judge}], work_dir=str(tmp_path), cli_args=said)
    step = worker("JudgeInfer", tmp_path)
    step.update_cfg(config)
    assert config.judge_infer.runner.debug
    step._cfg_pre_process(config)
    assert config.datasets[0].abbr == "d-j"
    task = {"models": [{"abbr": "m"}], "datasets": [[config.datasets[0]]]}
    from ais_bench.benchmark.utils.logging.error_codes import TMAN_CODES

    missing = code_of(lambda: step._update_tasks_cfg([task], config))
    assert missing == TMAN_CODES.UNKNOWN_ERROR.full_code
    answers = tmp_path / "predictions" / "m" / "d.jsonl"
    answers.parent.mkdir(parents=True)
    answers.write_text('{"uuid": "u", "id": 7}\n')
    step._update_tasks_cfg([task], config)
    assert task["models"][0] == {"abbr": "m", "attr": "service"}
    assert task["datasets"][0][0]["reader_cfg"] == {"r": 1}
    (answers.parent / "d-j.jsonl").write_text('{"gold": "u", "id": 0}\n')
    step._result_post_process([task], config)
    assert json.loads((answers.parent / "d-j.jsonl").read_text())["id"] == 7
    assert json.loads((answers.parent / "d-j-cached.jsonl").read_text())["id"] == 0


def test_an_empty_task_asks_and_scores_nothing(tmp_path):
    from ais_bench.benchmark.tasks.base import EmptyTask
    from mmengine import ConfigDict

    for name, section in (("Infer", "infer"), ("Eval", "eval")):
        step = worker(name, tmp_path)
        step.update_cfg(ConfigDict({section: {"runner": {"task": {"type": EmptyTask}}}}))
        assert step.skip
        step.do_work({})


def test_a_runner_goes_on_after_a_task_that_fails(tmp_path):
    from ais_bench.benchmark.registry import TASKS
    from ais_bench.benchmark.runners import LocalRunner

    @TASKS.register_module()
    class OddTask:
        def __init__(self, cfg):
            self.name = cfg["name"]

        def run(self, manager):
            manager.update_task_state({"status": "start"})
            if self.name == "b":
                raise RuntimeError("no")

    tasks = [{"name": name} for name in "abc"]
    assert LocalRunner({"type": "OddTask"}).launch(tasks) == [("a", 0), ("b", 1), ("c", 0)]
    with pytest.raises(RuntimeError):
        LocalRunner({"type": "OddTask"}, debug=True).launch(tasks)


def test_tasks_are_watched_by_their_files(tmp_path):
    from ais_bench.benchmark.runners.base import TasksMonitor, create_progress_bar, format_time
    from ais_bench.benchmark.utils.file import write_status

    monitor = TasksMonitor(["m/a", "m/b"], str(tmp_path), is_debug=True)
    write_status(tmp_path / "status_tmp" / "tmp_m_a.json", {"task_name": "m/a", "finish_count": 1, "total_count": 2})
    monitor._refresh_task_state()
    assert monitor._get_task_states()[0][2].endswith("1/2 ")
    assert not monitor._is_all_task_done()
    TasksMonitor.rm_tmp_files(str(tmp_path))
    assert not (tmp_path / "status_tmp").exists()
    assert create_progress_bar(3, 6, "x", 4) == "[##  ] 3/6 x"
    assert (create_progress_bar(None, 6), format_time(3661)) == ("NA", "1:01:01")


# -- scoring ---------------------------------------------------------------------------------------------------------


def eval_task(folder, lines, **changed):
    from ais_bench.benchmark.tasks import OpenICLEvalTask

    dataset = {
        "abbr": "d",
        "type": "D",
        "reader_cfg": {"output_column": "answer"},
        "infer_cfg": {"inferencer": {"type": "G"}},
    }
    dataset["eval_cfg"] = {"evaluator": {"type": "AccEvaluator"}, **changed.pop("eval_cfg", {})}
    config = {
        "models": [{"abbr": "m", **changed.pop("model", {})}],
        "datasets": [[{**dataset, **changed.pop("dataset", {})}]],
    }
    path = folder / "predictions" / "m" / "d.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return OpenICLEvalTask({**config, "work_dir": str(folder), "cli_args": {}, "eval": {"runner": {"task": changed}}})


def scored(folder, lines, answers=("A", "B"), **changed):
    from datasets import Dataset

    rows = [{"answer": each, "subdivision": "d", "idx": place} for place, each in enumerate(answers)]
    built = SimpleNamespace(test=Dataset.from_list(rows))
    with mock.patch(f"{EVAL}.build_dataset_from_cfg", return_value=built):
        eval_task(folder, lines, **changed).run(None)
    path = folder / "results" / "m" / "d.json"
    return json.loads(path.read_text()) if path.exists() else None


@pytest.mark.parametrize(
    "lines, changed, accuracy",
    [
        ([{"id": 1, "prediction": "B"}, {"id": 0, "prediction": "A"}], {}, 100.0),
        ([{"id": 1, "prediction": "B"}], {}, 50.0),
        ([{"id": place, "prediction": "A"} for place in (0, 1, 5)], {}, 50.0),
        ([{"id": 0, "prediction": "is A"}, {"id": 1, "prediction": "B."}],
         {"eval_cfg": {"pred_postprocessor": {"type": "first_option_postprocess", "options": "AB"}}}, 100.0),
        ([{"id": 0, "prediction": ["A", "B", "A"]}, {"id": 1, "prediction": ["A"]}], {"eval_cfg": {"sc_size": 3}}, 50.0),
        ([], {}, None),
    ],
)  # fmt: skip
def test_answers_are_scored_row_by_row(tmp_path, lines, changed, accuracy):
    found = scored(tmp_path, lines, **changed)
    assert (found and found["accuracy"]) == accuracy


def test_details_say_what_became_of_each_answer(tmp_path):
    lines = [{"id": 0, "prediction": "A", "origin_prompt": "q"}, {"id": 1, "prediction": "", "origin_prompt": "r"}]
    found = scored(tmp_path, lines, dump_details=True, cal_extract_rate=True)
    assert found["type"] == "GEN"
    assert found["details"]["0"]["prompt"] == "q"
    assert found["extract_rate"] == 50.0


def test_k_and_n_are_checked_and_bits_per_byte_are_counted(tmp_path):
    from ais_bench.benchmark.utils.logging.error_codes import TEVAL_CODES

    wrong = eval_task(tmp_path, [{}], dataset={"k": 3, "n": 2})
    assert code_of(lambda: wrong.run(None)) == TEVAL_CODES.N_K_ILLEGAL.full_code
    bits = [{"label: A": {"BPB": 1.0}, "label: B": {"BPB": 4.0}, "id": 0}]
    assert wrong.calculate_bpb(bits) == (100.0, 400.0)
    ppl = wrong.format_details(["A"], [], ["B"], None, None, bits)
    assert ppl["type"] == "PPL"
    assert not ppl["0"]["correct"]


def test_repeats_of_a_row_are_counted_as_its_own():
    from ais_bench.benchmark.openicl.icl_evaluator import BaseEvaluator
    from datasets import Dataset

    class Right(BaseEvaluator):
        def score(self, predictions, references):
            details = [{"correct": said == gold} for said, gold in zip(predictions, references, strict=True)]
            return {"accuracy": 100.0 * sum(each["correct"] for each in details) / len(details), "details": details}

    rows = Dataset.from_list([{"subdivision": part, "idx": 0} for part in "xy" for _ in range(2)])
    found = Right().evaluate([1, 2], 2, rows, predictions=["1", "1", "1", "0"], references=["1"] * 4)
    assert found["accuracy (2 runs average)"] == 75
    assert (found["avg@2"], found["x/pass@1"], found["y/pass@1"]) == (75, 100, 50)
    assert [each["correct"] for each in found["details"]] == [[True, True], [True, False]]


def test_names_that_are_not_here_say_why():
    from ais_bench.benchmark.datasets.livecodebench.evaluator import codegen_metrics
    from ais_bench.benchmark.models.local_models.huggingface import HuggingFaceCausalLM
    from ais_bench.benchmark.tasks.swebench.swebench_eval import SWEBenchEvalTask
    from ais_bench.benchmark.tasks.utils import TokenProducer

    for name, why in ((codegen_metrics, "sandbox"), (TokenProducer, "under load"), (HuggingFaceCausalLM, "engines"),
                      (SWEBenchEvalTask, "containers")):  # fmt: skip
        with pytest.raises(ValueError, match=why):
            name()
