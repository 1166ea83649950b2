"""What a call, a file or a command line of lm-eval says, in this process: nobody is asked."""

import argparse
import json
import sys
from argparse import Namespace
from types import SimpleNamespace

import pytest

from proctor.compat import __main__ as program
from proctor.compat.lm_eval_names import command_line, evaluation, models, tasks
from proctor.compat.lm_eval_names.command_line import HarnessCLI, request_caching_arg_to_dict, setup_parser
from proctor.compat.lm_eval_names.evaluator_config import EvaluatorConfig, seeds_of
from proctor.compat.lm_eval_names.tracking import EvaluationTracker, teller
from proctor.errors import EngineError, OutputError, UsageError
from proctor.ir import Failure, Response, Scored
from proctor.logs import get_logger
from proctor.settings import settings


@pytest.fixture
def logged(caplog):
    """What is logged, with remarks."""
    with settings.context(default_verbosity="info"):
        get_logger().addHandler(caplog.handler)
        yield caplog
        get_logger().removeHandler(caplog.handler)


# -- evaluations ----------------------------------------------------------------------------------------------------


def configured(**given):
    return EvaluatorConfig(**{"tasks": ["t"], **given})._configure()


def test_an_evaluation_has_the_defaults_of_lm_eval():
    found = configured()
    assert (found.model, found.batch_size, found.device, found.seed) == ("hf", 1, "cuda:0", [0, 1234, 1234, 1234])
    assert (found.limit, found.log_samples, found.fewshot_as_multiturn, found.metadata) == (None, False, None, {})
    found.model_args["x"] = 1
    assert configured().model_args == {}


@pytest.mark.parametrize(
    "given, name, value",
    [
        ({"model_args": "pretrained=m,x=2"}, "model_args", {"pretrained": "m", "x": 2}),
        ({"model_args": {"pretrained": "m"}, "trust_remote_code": True}, "model_args", {"pretrained": "m", "trust_remote_code": True}),
        ({"model_args": "pretrained=m", "metadata": {"a": 1}}, "metadata", {"pretrained": "m", "a": 1}),
        ({"gen_kwargs": "temperature=0.5"}, "gen_kwargs", {"temperature": 0.5}),
        ({"apply_chat_template": True}, "fewshot_as_multiturn", True),
        ({"apply_chat_template": True, "fewshot_as_multiturn": False}, "fewshot_as_multiturn", False),
        ({"apply_chat_template": "own", "fewshot_as_multiturn": True}, "fewshot_as_multiturn", True),
        ({"samples": '{"t": [1, 2]}'}, "samples", {"t": [1, 2]}),
        ({"samples": {"t": [0]}}, "samples", {"t": [0]}),
        ({"log_samples": True, "output_path": "x"}, "log_samples", True),
        ({"limit": 0}, "limit", 0),
        ({"seed": None}, "seed", None),
        ({"seed": 7}, "seed", [7, 7, 7, 7]),
        ({"seed": (1, 2, 3)}, "seed", [1, 2, 3, 1234]),
        ({"tasks": []}, "tasks", []),
    ],
)  # fmt: skip
def test_what_an_evaluation_says(given, name, value):
    assert getattr(configured(**given), name) == value


@pytest.mark.parametrize(
    "given, told",
    [
        ({"log_samples": True}, "Specify --output_path"),
        ({"predict_only": True}, "Specify --output_path"),
        ({"fewshot_as_multiturn": True}, "needs apply_chat_template"),
        ({"tasks": None}, "Need to specify task"),
        ({"samples": {"t": [0]}, "limit": 0}, "samples excludes limit"),
        ({"seed": [1, 2]}, "seed"),
        ({"tsks": []}, "an evaluation has no 'tsks'"),
    ],
)
def test_what_an_evaluation_cannot_say(given, told):
    with pytest.raises(UsageError, match=told):
        configured(**given)


def test_files_and_arguments_of_an_evaluation(tmp_path):
    (tmp_path / "samples.json").write_text('{"t": [3]}')
    (tmp_path / "c.yaml").write_text("tasks: [t]\nmodel: dummy\nlimit: 2\nseed: 5\ngen_kwargs: top_p=0.5\n")
    found = EvaluatorConfig.from_config(tmp_path / "c.yaml")
    assert (found.tasks, found.model, found.limit, found.seed, found.gen_kwargs) == (
        ["t"],
        "dummy",
        2,
        [5] * 4,
        {"top_p": 0.5},
    )
    typed = Namespace(
        config=str(tmp_path / "c.yaml"), limit=0, model="", num_fewshot=0, tasks=None, func=print, command="run"
    )
    over = EvaluatorConfig.from_cli(typed)
    assert (over.model, over.limit, over.num_fewshot, over.tasks) == ("dummy", 0, 0, ["t"])
    assert EvaluatorConfig.from_cli(Namespace(tasks=["u"], samples=str(tmp_path / "samples.json"))).samples == {
        "t": [3]
    }
    for text, told in (("a: [", "is not YAML"), ("- a", "is not a mapping"), ("\xff", "is not")):
        (tmp_path / "bad.yaml").write_bytes(text.encode("latin-1"))
        with pytest.raises(UsageError, match=told):
            EvaluatorConfig.load_yaml_config(tmp_path / "bad.yaml")


@pytest.mark.parametrize(
    "text, seeds",
    [("3", [3] * 4), ("none", [None] * 4), ("1,None,3", [1, None, 3, 1234]), ("1,2,3,4", [1, 2, 3, 4])],
)
def test_seeds(text, seeds):
    assert seeds_of(text) == seeds


def test_tasks_are_names_patterns_files_and_folders(tmp_path):
    task = {
        "task": "mine",
        "dataset_path": "json",
        "output_type": "generate_until",
        "doc_to_text": "q",
        "test_split": "test",
    }
    for name in ("b", "a"):
        (tmp_path / "own" / f"{name}.yaml").parent.mkdir(exist_ok=True)
        (tmp_path / "own" / f"{name}.yaml").write_text(json.dumps({**task, "task": name}))
    made = EvaluatorConfig(tasks=f"a, {tmp_path}/own", include_path=str(tmp_path / "own"))
    manager = made.process_tasks({"x": 1})
    assert (made.tasks[0], [each["task"] for each in made.tasks[1:]], manager.metadata) == ("a", ["a", "b"], {"x": 1})
    single = EvaluatorConfig(tasks=[f"{tmp_path}/own/b.yaml"])
    single.process_tasks()
    assert [each["task"] for each in single.tasks] == ["b"]
    with pytest.raises(UsageError, match="Tasks not found: none-such, nor-this"):
        EvaluatorConfig(tasks="none-such,nor-this", include_path=str(tmp_path / "own")).process_tasks()


# -- command lines ---------------------------------------------------------------------------------------------------


def test_arguments_of_earlier_releases_are_texts_and_of_todays_lists_and_mappings(monkeypatch):
    old = setup_parser().parse_args(["--tasks", "a,b", "--model_args", "x=1", "--limit", "0.5", "--seed", "1,2,3"])
    assert (old.tasks, old.model_args, old.limit, old.seed, old.model) == ("a,b", "x=1", 0.5, [1, 2, 3, 1234], "hf")
    assert (setup_parser().parse_args([]).wandb_args, setup_parser().parse_args([]).batch_size) == ("", 1)
    monkeypatch.setattr(
        sys, "argv", ["x", "--tasks", "a", "b", "--model_args", "x=1", '{"y": 2}', "--gen_kwargs", "top_p=0.5,z=3"]
    )
    new = HarnessCLI().parse_args()
    assert (new.command, new.tasks, new.model_args, new.gen_kwargs) == (
        "run", ["a", "b"], {"x": 1, "y": 2}, {"top_p": 0.5, "z": 3},
    )  # fmt: skip
    monkeypatch.setattr(sys, "argv", ["x", "run", "--model_args", "x=1", "--model_args", "x=2,y=3"])
    assert HarnessCLI().parse_args().model_args == {"x": 2, "y": 3}
    monkeypatch.setattr(sys, "argv", ["x", "ls", "--nonsense"])
    assert HarnessCLI().parse_args().command == "ls"
    monkeypatch.setattr(sys, "argv", ["x", "run", "--nonsense"])
    with pytest.raises(SystemExit):
        HarnessCLI().parse_args()


@pytest.mark.parametrize("text", ["true", "refresh", "delete", None, "false"])
def test_what_becomes_of_cached_requests(text):
    if text == "false":
        with pytest.raises(argparse.ArgumentTypeError, match="choose from true, refresh, delete"):
            request_caching_arg_to_dict(text)
    else:
        found = request_caching_arg_to_dict(text)
        wanted = [text != "delete", text == "refresh", text == "delete"] if text else []
        assert list(found.values()) == wanted


@pytest.mark.parametrize("code, ends", [(0, False), (None, False), (2, True)])
def test_a_command_line_ends_as_its_command_does(monkeypatch, code, ends):
    def run(name, run_name):
        assert (name, run_name) == ("proctor", "__main__")
        raise SystemExit(code)

    monkeypatch.setattr(command_line.runpy, "run_module", run)
    monkeypatch.setattr(sys, "argv", ["x", "--output_path", "o"])
    if ends:
        with pytest.raises(SystemExit):
            command_line.cli_evaluate()
    else:
        assert command_line.cli_evaluate() == 0
    assert sys.argv == ["x", "--output_path", "o", "--output-format", "lm-eval"]


def test_parsed_arguments_are_typed_again(monkeypatch):
    monkeypatch.setattr(command_line.runpy, "run_module", lambda *_, **__: None)
    monkeypatch.setattr(sys, "argv", ["x", "old"])
    told = {"tasks": ["a", "b"], "model": "hf", "model_args": {"x": 1}, "limit": None, "log_samples": True, "write_out": False,
            "batch_size": 1, "num_fewshot": 0, "gen_kwargs": {}, "wandb_args": "", "mine": 3}  # fmt: skip
    command_line.cli_evaluate(Namespace(**told))
    words = sys.argv[1:]
    assert {word: words[place + 1] for place, word in enumerate(words[:-1]) if word in ("--tasks", "--model", "--model_args", "--num_fewshot")} == {
        "--tasks": "a,b", "--model": "hf", "--model_args": '{"x": 1}', "--num_fewshot": "0",
    }  # fmt: skip
    assert "--log_samples" in words
    assert not {
        "--write_out",
        "--limit",
        "--batch_size",
        "--gen_kwargs",
        "--wandb_args",
        "--mine",
        "old",
        "--output-format",
    } & {*words}


def test_a_program_is_a_file_that_is_there(capsys, tmp_path, monkeypatch):
    assert (program.main([]), program.main(["--help"]), program.main(["-h"])) == (2, 0, 0)
    assert capsys.readouterr().out.count("python -m proctor.compat PROGRAM.py") == 3
    assert program.main([str(tmp_path / "none.py")]) == 2
    assert "there is no program" in capsys.readouterr().err
    monkeypatch.setattr(program, "install", lambda: None)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", ["before"])
    (tmp_path / "beside_it.py").write_text("SAID = 'beside'")
    (tmp_path / "p.py").write_text("import sys\nfrom beside_it import SAID\nprint(SAID, __name__, *sys.argv[1:])")
    assert program.main([str(tmp_path / "p.py"), "one"]) == 0
    assert capsys.readouterr().out == "beside __main__ one\n"
    (tmp_path / "q.py").write_text("from proctor.errors import UsageError\nraise UsageError('no good')")
    assert program.main([str(tmp_path / "q.py")]) == 2
    assert capsys.readouterr().err == "error: no good\n"
    monkeypatch.syspath_prepend(str(tmp_path))
    assert program.main(["-m", "p", "two"]) == 0
    assert capsys.readouterr().out == "beside __main__ two\n"


# -- pieces of evaluate ------------------------------------------------------------------------------------------------


def test_arguments_that_decide_nothing_are_told_and_unknown_ones_refused(logged):
    evaluation._say_idle({"write_out": False, "cache_requests": None, "verbosity": 0})
    assert logged.records == []
    evaluation._say_idle({"write_out": True, "check_integrity": False, "verbosity": "DEBUG"})
    assert "write_out (proctor show prints requests); verbosity (PROCTOR" in logged.text
    with pytest.raises(TypeError, match="there is no argument 'wrte_out'"):
        evaluation._say_idle({"wrte_out": True})


@pytest.mark.parametrize(
    "args, template, made",
    [
        ("x=1", "own", 'x=1,chat_template="own"'),
        ("", "own", 'chat_template="own"'),
        (None, "own", 'chat_template="own"'),
        ({"x": 1}, "own", {"x": 1, "chat_template": "own"}),
        ("x=1", True, "x=1"),
        (None, False, None),
    ],
)
def test_a_named_template_is_an_argument_of_the_model(args, template, made):
    assert evaluation._with_template(args, template) == made


def test_seeds_of_code_are_said_where_they_are_not_lm_evals_own():
    assert evaluation._code_seeds(0, 1234, 1234) is None
    assert evaluation._code_seeds(None, None, None) is None
    assert evaluation._code_seeds(1, None, 1234) == (1, 1234)
    assert evaluation._code_seeds(0, 7, 1234) == (0, 7)
    assert evaluation._code_seeds(0, 1234, 5) == (0, 1234)


def test_means_of_tasks_are_weighted_or_plain():
    assert evaluation.aggregate_subtask_metrics([1.0, 0.0], [3, 1]) == 0.75
    assert evaluation.aggregate_subtask_metrics([1.0, 0.0], [3, 1], weight_by_size=False) == 0.5


def test_documents_are_chosen_in_one_way_and_tasks_are_tasks():
    evaluation._check_choice(None, {})
    evaluation._check_choice(0, None)
    with pytest.raises(UsageError, match="both choose documents"):
        evaluation._check_choice(0, {})
    with pytest.raises(UsageError, match="the task 'x' is a int"):
        list(evaluation._handles({"group": {"x": 3}}))
    with pytest.raises(UsageError, match="no task is named"):
        evaluation._exams([], None)


def test_what_results_have_no_place_for_is_logged(logged):
    rows = {"a": {"failures": 2, "failure_kinds": {"row": 2}}, "b": {"metric_failures": {"f1": "no words"}}, "c": {}}
    evaluation._say_failures(SimpleNamespace(results=rows))
    assert [each.message for each in logged.records] == [
        "a: 2 documents have no score: {'row': 2}",
        "b: f1 has no value: no words",
    ]


def test_answers_are_in_order_and_one_that_is_missing_is_an_error():
    answers = [(1, Response(scores=(Scored(-2.0, False, 1),))), (0, Response(scores=(Scored(-1.0, True, 1),)))]
    assert [each.scores[0].log_likelihood for each in models._ordered(iter(answers))] == [-1.0, -2.0]
    with pytest.raises(EngineError, match="the model did not answer: away"):
        models._ordered([(0, Response(failure=Failure("server_error", "away")))])
    with pytest.raises(UsageError, match="there is no model 'vlm'(.|\n)*did you mean 'vllm'"):
        models.get_model("vlm")
    with pytest.raises(UsageError, match="this one is made already"):
        models.engine_of(object(), "x=1", {})
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        models.Nonsense


def test_names_of_tasks():
    assert tasks.get_task_name_from_config({"task": "t", "dataset_path": "p"}) == "t"
    assert tasks.get_task_name_from_config({"dataset_path": "p", "dataset_name": "n"}) == "p_n"
    with pytest.raises(ValueError, match="has no name"):
        tasks.get_task_name_from_config({"dataset_name": "n"})
    for made, name in (
        (SimpleNamespace(config={"task": "a"}), "a"), (SimpleNamespace(config=SimpleNamespace(task="b")), "b"),
        (SimpleNamespace(config={}, EVAL_HARNESS_NAME="c"), "c"), (SimpleNamespace(name="d"), "d"), (3, "int"),
    ):  # fmt: skip
        assert tasks.get_task_name_from_object(made) == name


@pytest.mark.parametrize("limit, count", [(None, None), (1, 1), (2.7, 2), (0.5, 4), (0.01, 1), (0, 0)])
def test_how_many_documents_a_limit_leaves(limit, count):
    assert tasks.get_sample_size(SimpleNamespace(eval_docs=range(7)), limit) == count


def test_groups_and_keys_that_cannot_be_evaluated_are_named():
    manager = tasks.TaskManager(include_defaults=False)
    for spec, told in (
        ({"group": "g", "task": ["a"]}, "a group is written out: 'g'"),
        (3, "3 is not a task"),
    ):
        with pytest.raises((UsageError, TypeError), match=told):
            manager.handle(spec)
    with pytest.raises(UsageError, match="must contain 'task' or 'group' key"):
        manager.load({"x": 1})
    assert manager.handle({"task_alias": "b"}).name == "b"
    assert manager.handle({"dataset_path": "p"}).name == "task"


# -- trackers ----------------------------------------------------------------------------------------------------------


def test_a_tracker_knows_what_a_model_is_called_and_without_a_place_writes_nothing(tmp_path, logged):
    tracker = EvaluationTracker()
    teller(tracker)(
        model_source="hf",
        model_args="pretrained=a/b,peft=c",
        system_instruction="S",
        chat_template=None,
        fewshot_as_multiturn=True,
    )
    said = tracker.general_config_tracker
    assert (said.model_name, said.model_name_sanitized, said.chat_template_sha, len(said.system_instruction_sha)) == (
        "c",
        "c",
        None,
        64,
    )
    tracker.save_results_samples("t", [{"a": 1}])
    assert "no output_path is given" in logged.text
    (tmp_path / "file").touch()
    with pytest.raises(OutputError):
        EvaluationTracker(str(tmp_path / "file" / "x")).save_results_samples("t", [{"a": 1}])
    assert teller(None)(anything=1) is None
    with pytest.raises(UsageError, match="the evaluation_tracker is a int"):
        teller(3)
    with pytest.raises(TypeError, match="no argument 'nonsense'"):
        EvaluationTracker(nonsense=1)
    with pytest.raises(UsageError, match="nothing is sent to a hub"):
        EvaluationTracker(push_samples_to_hub=True)
