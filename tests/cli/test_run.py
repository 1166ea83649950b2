import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from proctor.cli.error_reporting import FAILURES
from proctor.settings import settings


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def table_rows(out):
    return [re.split(r"\s{2,}", line.strip()) for line in out.splitlines() if re.search(r"\d\s*$", line)]


def test_a_run_prints_scores_with_intervals_and_writes_its_folder(invoke, exams):
    code, out, err = invoke("run", "--model", "slow", "--tasks", "capitals,chat")
    assert code == 0, err
    assert table_rows(out) == [
        ["capitals", "accuracy", "0.0000", "0.2500 to 1.0000", "4", "4", "0"],
        ["chat", "accuracy", "0.0000", "0.2500 to 1.0000", "4", "4", "0"],
    ]
    folder = Path(re.search(r"run folder: (.*)", err)[1])
    assert {path.name for path in folder.iterdir()} == {"run.yaml", "results.json", "samples.jsonl"}
    assert len((folder / "samples.jsonl").read_text().splitlines()) == 8


def test_the_same_command_has_the_same_folder_and_another_one_another(invoke, exams):
    for limit in ("2", "2", "3"):
        assert invoke("run", "--model", "slow", "--tasks", "many", "--limit", limit)[0] == 0
    assert len(list(Path("runs").iterdir())) == 2


def test_run_yaml_repeats_the_run(invoke, exams):
    given = ("--limit", "3", "--seed", "7", "--num-demos", "2", "--decoding", 'stop=["a,b"],max_tokens=5')
    invoke("run", "--model", "slow", "--model-args", "seconds=0.0", "--tasks", "many", *given, "--output", "first")
    before = Path("first/results.json").read_bytes()
    asked = exams[-1]
    code, _, _ = invoke("run", "first/run.yaml", "--output", "second")
    assert code == 0
    assert exams[-1] == asked
    assert json.loads(before)["results"] == json.loads(Path("second/results.json").read_bytes())["results"]
    assert Path("first/samples.jsonl").read_bytes() == Path("second/samples.jsonl").read_bytes()
    assert Path("first/run.yaml").read_bytes() == Path("second/run.yaml").read_bytes()
    assert asked[1] == {"limit": 3, "seed": 7, "num_demos": 2, "decoding": {"stop": ["a,b"], "max_tokens": 5}}


def test_a_run_folder_goes_on_in_itself_and_a_changed_one_does_not(invoke, exams):
    invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "-o", "here")
    Path("here/results.json").unlink()
    assert invoke("run", "here")[0] == 0
    assert Path("here/results.json").exists()
    code, _, err = invoke("run", "here/run.yaml", "--limit", "1")
    assert code == 0, err
    assert "run folder: runs/" in err
    assert yaml.safe_load(Path("here/run.yaml").read_text())["limit"] == 2


def test_a_share_of_the_documents(invoke, exams):
    invoke("run", "--model", "slow", "--tasks", "capitals", "--limit", "50%", "-o", "here")
    assert exams[-1][1]["limit"] == 0.5
    invoke("run", "here/run.yaml", "-o", "there")
    assert exams[-1][1]["limit"] == 0.5


def test_another_run_in_the_same_folder_is_refused(invoke, exams):
    invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "-o", "here")
    code, out, err = invoke("run", "--model", "slow", "--tasks", "many", "--limit", "1", "-o", "here")
    assert (code, out) == (2, "")
    assert "holds another run" in err


def test_failures_are_counted_and_change_the_exit_code(invoke, exams):
    given = ("run", "--model", "slow", "--model-args", "fails_from=1", "--tasks", "many", "--limit", "3", "-o", "here")
    code, out, err = invoke(*given)
    assert code == FAILURES
    assert table_rows(out)[0][-3:] == ["3", "1", "2"]
    assert "2 of 3 instances failed (timeout: 2)\n  timeout: " in err
    assert "proctor run here" in err
    assert invoke(*given, "--allow-failures")[0] == 0


def test_no_samples(invoke, exams):
    invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "-o", "here", "--no-log-samples")
    assert not Path("here/samples.jsonl").exists()


def test_results_as_json(invoke, exams):
    _, out, _ = invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "--json")
    assert json.loads(out)["many"]["n"] == 2


def test_the_log_is_where_the_user_wants_it(invoke, exams):
    invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "--log", "my.db", "-o", "here")
    assert Path("my.db").exists()
    assert json.loads(Path("here/results.json").read_text())["run"]["log"] == "my.db"


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "no model is named"),
        (["--model", "slow"], "no task is named"),
        (["--model", "slow", "--tasks", ","], "no task is named"),
        (["--model", "solw", "--tasks", "many"], "did you mean 'slow'?"),
        (["--model", "slow", "--tasks", "may"], "did you mean 'many'"),
        (["--model", "slow", "--tasks", "many", "--model-args", "secnods=1"], "secnods"),
        (["--model", "slow", "--tasks", "many", "--model-args", "seconds"], "key=value"),
        (["--model", "slow", "--tasks", "many", "--decoding", "max_tokens"], "--decoding"),
        (["--modle", "slow"], "did you mean '--model'"),
        (["nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_mistakes_get_one_message_and_no_traceback(invoke, exams, arguments, words):
    code, out, err = invoke("run", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert "Traceback" not in err
    assert not Path("runs").exists()


def test_a_broken_run_file_says_where(invoke, exams):
    Path("run.yaml").write_text("model: slow\ntasks: [many]\nlimt: 3\n")
    code, _, err = invoke("run", "run.yaml")
    assert code == 2
    assert "run.yaml:3:1" in err
    assert "did you mean 'limit'" in err


def test_a_folder_that_cannot_be_written(invoke, exams):
    Path("taken").write_text("a file")
    code, _, err = invoke("run", "--model", "slow", "--tasks", "many", "--limit", "1", "-o", "taken/run")
    assert code == 3
    assert "taken" in err
    assert "Traceback" not in err


# -- as a process ---------------------------------------------------------------------------------------------------


def started(program, *arguments, **more):
    return subprocess.Popen([*program, *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_cleanly_says_how_to_go_on_and_nothing_is_asked_twice(program, tmp_path, number):
    given = (
        "run",
        "--model",
        "slow",
        "--model-args",
        "seconds=0.02",
        "--tasks",
        "many",
        "--limit",
        "100",
        "-o",
        "here",
    )
    process = started(program, *given)
    deadline = time.monotonic() + 30
    while not (tmp_path / "here" / "run.yaml").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(number)
    out, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    command = re.search(r"proctor (run here/run\.yaml)", err)[1]
    again = finished([*program, *command.split()])
    assert again.returncode == 0, again.stderr
    counts = json.loads((tmp_path / "here" / "results.json").read_text())["run"]["requests"]
    assert counts["asked"] + counts["from_log"] == 100
    assert 0 < counts["from_log"] < 100


def finished(command, **more):
    return subprocess.run(command, text=True, capture_output=True, timeout=60, check=False, **more)


def read_all(descriptor, process, seconds=30):
    found, deadline = b"", time.monotonic() + seconds
    while time.monotonic() < deadline:
        ready, _, _ = select.select([descriptor], [], [], 0.2)
        if ready:
            try:
                part = os.read(descriptor, 65536)
            except OSError:
                break
            if not part:
                break
            found += part
        elif process.poll() is not None:
            break
    return found.decode()


def test_a_terminal_sees_progress_and_then_the_table(program, tmp_path):
    primary, secondary = pty.openpty()
    given = ("run", "--model", "slow", "--model-args", "seconds=0.02", "--tasks", "many", "--limit", "60")
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "120"}
    process = subprocess.Popen([*program, *given], stdin=secondary, stdout=secondary, stderr=secondary, env=environment)
    os.close(secondary)
    seen = read_all(primary, process)
    os.close(primary)
    assert process.wait(timeout=10) == 0
    assert re.search(r"\d+/60|\d+ · \d", seen)
    assert "/s" in seen
    assert "tokens" in seen
    plain = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", seen)
    assert "0.2500 to 1.0000" in plain


def test_a_pipe_sees_plain_lines(program):
    environment = {**os.environ, "LANG": "C", "LC_ALL": "C"}
    done = finished(
        [*program, "run", "--model", "slow", "--tasks", "many", "--limit", "3"],
        env=environment,
    )
    assert done.returncode == 0
    assert "\x1b" not in done.stdout + done.stderr
    assert "accuracy" in done.stdout


def test_an_output_that_knows_no_unicode_gets_escapes(program):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for arguments in (["show", "capitals"], ["run", "--model", "slow", "--tasks", "capitals"], ["ls", "nothing·here"]):
        done = finished([*program, *arguments], env=environment)
        assert "Traceback" not in done.stderr
        assert "UnicodeEncodeError" not in done.stderr
    shown = finished([*program, "show", "chat", "--json"], env=environment)
    assert json.loads(shown.stdout)


def test_a_reader_that_goes_away_is_no_error(program):
    command = " ".join([*program, "show", "many", "--docs", "5000", "--json"])
    done = finished(["bash", "-c", f"{command} | head -1; echo ${{PIPESTATUS[0]}}"])
    assert done.stdout.splitlines()[-1] == "141"
    assert done.stderr == ""


def test_the_program_runs_as_a_module():
    done = finished([sys.executable, "-m", "proctor", "--help"])
    assert done.returncode == 0
    assert "Give exams:" in done.stdout


def test_help_imports_nothing_heavy():
    code = "import sys; from proctor.cli.__main__ import main; main(['--help']); print(sorted(sys.modules))"
    done = finished([sys.executable, "-c", code])
    modules = set(eval(done.stdout.splitlines()[-1]))
    assert not modules & {"pydantic", "datasets", "torch", "rich", "transformers", "numpy", "yaml", "sqlite3"}


def test_write_out_shows_the_first_requests_before_anybody_is_asked(invoke):
    code, out, err = invoke("run", "--model", "dummy", "--tasks", "samples.science", "--limit", "2", "--write_out")
    assert code == 0, err
    assert err.index("samples.science · instance 0 · choose") < err.index("dummy: samples.science")
    assert "instance 1" not in err
    assert "gold" not in out


@pytest.mark.parametrize("option", ["--cache_requests", "--check-integrity", "--show_config", "--max_batch_size=8"])
def test_flags_of_lm_eval_that_are_not_needed_say_so(invoke, option):
    code, _, err = invoke("run", "--model", "dummy", "--tasks", "samples.science", "--limit", "1", option)
    assert code == 0
    name = option.partition("=")[0]
    assert f"note: {name.replace('check-', 'check_')} has no effect here: " in err


@pytest.mark.parametrize(
    "option, ours", [("--trust_remote_code", "--trust-code"), ("--confirm-run-unsafe-code", "--trust-code")]
)
def test_flags_of_lm_eval_that_have_another_name_mean_the_same(invoke, monkeypatch, option, ours):
    seen = []
    monkeypatch.setattr("proctor.running.run.run_exams", lambda *_, **__: seen.append(settings.trust_code) or 1 / 0)
    for given in (option, ours, "--write-out"):
        invoke("run", "--model", "dummy", "--tasks", "samples.science", "--limit", "1", given)
        settings._assigned.clear()
    assert seen == [True, True, False]


def test_samples_that_nothing_would_come_of_are_refused(invoke):
    given = ("run", "--model", "dummy", "--tasks", "samples.science", "--samples")
    code, _, err = invoke(*given, '{"samples.scince": [0], "x": [1]}')
    assert code == 2
    assert "--samples names 'samples.scince', which is not one of the exams" in err
    assert "did you mean 'samples.science'?" in err
    assert "--samples names 'x'" in err
    assert "has no instance 9999" in invoke(*given, '{"samples.science": [9999]}')[2]


def test_scores_of_groups_stand_below_their_exam(invoke, tmp_path):
    rows = [{"q": str(n), "a": "yes", "topic": f"topic {n % 2 if n < 4 else n}"} for n in range(40)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "t.yaml").write_text(
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\nmetric_list: [{metric: exact_match}]\n"
    )
    asked = ("run", "--model", "scripted", "--model-args", "answer=yes", "--tasks", "t.yaml")
    _, out, _ = invoke(*asked, "--limit", "5", "--group-by", "topic")
    assert [line.split()[:4] for line in out.splitlines() if "topic=" in line] == [
        ["topic=topic", "0", "exact_match", "1.0000"],
        ["topic=topic", "1", "exact_match", "1.0000"],
        ["topic=topic", "4", "exact_match", "1.0000"],
    ]
    assert [row[-3:] for row in table_rows(out)] == [["5", "5", "0"], *[["2", "2", "0"]] * 2, ["1", "1", "0"]]
    _, out, _ = invoke(*asked, "--group-by", "topic")
    assert sum("topic=" in line for line in out.splitlines()) == 30
    assert "and 8 more groups" in out


@pytest.mark.parametrize("given", [("--workers", "2"), ("--ray-address", "auto")], ids=" ".join)
def test_workers_of_ray_are_refused_where_the_model_runs_in_this_process(invoke, exams, given):
    code, _, err = invoke("run", "--model", "slow", "--tasks", "many", *given)
    assert code == 2
    assert f"{given[0]} is for Ray" in err


def test_a_threshold_of_answers_that_are_only_recorded_is_refused_before_anybody_is_asked(invoke):
    given = ("--predict-only", "--fail-under", "samples.science=0.5")
    code, _, err = invoke("run", "--model", "dummy", "--tasks", "samples.science", *given)
    assert code == 2
    assert "--predict-only makes none" in err


def test_an_exam_whose_metric_cannot_run_is_not_said_to_have_none(capsys):
    from proctor.cli.conclusion import conclude
    from proctor.running.run import RunResult

    broken = {"metric_failures": {"own": "no number"}}
    result = RunResult({"quiz": {"error": "it needs the package 'x'"}, "bare": {}, "broken": broken}, {}, {})
    assert conclude(result, allow_failures=False, every_score=False, as_json=False) == 1
    said = capsys.readouterr().err
    assert "nothing scores the answers to bare" in said
    assert said.count("nothing scores the answers") == 1
    assert "quiz could not be graded: it needs the package 'x'" in said
