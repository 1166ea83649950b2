"""A run that stopped is gone on with in its folder, by the command that is printed."""

import json
import re
import shlex
import sys
import time
from pathlib import Path

import pytest
import yaml
from click.shell_completion import CompletionItem
from tests_commands import proctor

from proctor.cli.completion_shells import WholeWordsInBash, WholeWordsInFish, WholeWordsInZsh
from proctor.dialects.resolve import resolve_tasks
from proctor.ir import Response
from proctor.recipes.options import ExamOptions
from proctor.runs.stored_run import load_run, state_notes


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def interrupted(monkeypatch, exams):
    """The engine is stopped by Ctrl-C after two answers."""
    engine = sys.modules["cli_fakes"].SlowEngine

    def generate(self, requests):
        for position, _ in enumerate(requests):
            if position == 2:
                raise KeyboardInterrupt
            yield position, Response(texts=("yes",))

    with monkeypatch.context() as patched:
        patched.setattr(engine, "generate", generate)
        yield patched


SAME = [
    ("--model-args", "seconds=0.001"),
    ("--no-log-samples",),
    ("--limit", "2"),
    ("--model", "slow", "--model-args", "seconds=0.002"),
    ("--quiet", "--allow-failures"),
]


@pytest.mark.parametrize("more", SAME, ids=" ".join)
def test_what_changes_no_answer_goes_on_in_the_same_folder(invoke, exams, more):
    invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "-o", "here")
    code, _, err = invoke("run", "here", *more)
    assert code == 0, err
    assert not Path("runs").exists()
    counts = json.loads(Path("here/results.json").read_text())["run"]["requests"]
    assert (counts["asked"], counts["from_log"]) == (0, 2)


def test_what_changes_answers_does_not(invoke, exams):
    invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "-o", "here")
    for more in (("--limit", "1"), ("--seed", "3"), ("--model-args", "fails_from=9")):
        code, _, err = invoke("run", "here", *more)
        assert code == 0, err
        assert "run folder: runs/" in err
    assert yaml.safe_load(Path("here/run.yaml").read_text())["limit"] == 2


def test_a_copy_of_a_run_file_has_the_folder_of_its_command(invoke, exams, tmp_path):
    given = ("--model", "slow", "--tasks", "many", "--limit", "2")
    _, _, err = invoke("run", *given)
    folder = Path(re.search(r"run folder: (.*)", err)[1])
    Path("mine.yaml").write_bytes((folder / "run.yaml").read_bytes())
    _, _, err = invoke("run", "mine.yaml", "--model-args", "seconds=0.001")
    assert f"run folder: {folder}" in err


def test_the_hint_holds_every_option_that_the_folder_does_not(invoke, interrupted):
    beside = ("--log", "my log.db", "--budget-tokens", "10000", "--trust-code", "--keep-failed", "--allow-failures")
    more = ("--fail-under", "many=0", "--every-score", "--sandbox", "none", "--json")
    code, _, err = invoke("run", "--model", "slow", "--tasks", "many", "--limit", "5", "-o", "here", *beside, *more)
    assert code == 130, err
    words = shlex.split(re.search(r"to go on, run proctor (.*); only what is missing", err)[1])
    assert words[:2] == ["run", "here/run.yaml"]
    assert sorted(words[2:]) == sorted((*beside, *more))
    interrupted.undo()
    code, out, err = invoke(*words)
    assert code == 0, err
    assert json.loads(out)["many"]["n"] == 5
    counts = json.loads(Path("here/results.json").read_text())["run"]["requests"]
    assert (counts["asked"], counts["from_log"]) == (3, 2)


def test_options_in_the_words_of_others_are_in_the_hint_in_ours(invoke, interrupted):
    beside = ("--use_cache", "mine.db", "--trust_remote_code", "--include_path", ".")
    code, _, err = invoke("run", "-M", "slow", "--tasks", "many", "-L", "5", "--output_path", "here", *beside)
    assert code == 130, err
    words = shlex.split(re.search(r"to go on, run proctor (.*); only what is missing", err)[1])
    assert words[:2] == ["run", "here/run.yaml"]
    assert "--trust-code" in words
    assert "mine.db" in words
    interrupted.undo()
    assert invoke(*words)[0] == 0


def test_secrets_of_the_call_are_named_and_not_shown(invoke, interrupted, monkeypatch):
    engine = sys.modules["cli_fakes"].SlowEngine
    monkeypatch.setattr(sys.modules["cli_fakes"], "SlowEngine", lambda **_: engine())
    given = ("--model-args", "api_key=sk-1234567890abcdef,seconds=0")
    code, _, err = invoke("run", "--model", "slow", "--tasks", "many", "--limit", "5", "-o", "here", *given)
    assert code == 130, err
    assert "sk-1234567890abcdef" not in err
    assert "--model-args 'api_key=[secret]'" in err


def test_what_failed_is_asked_again_by_the_same_options(invoke, exams):
    given = ("--model-args", "fails_from=1", "--log", "mine.db")
    code, _, err = invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "-o", "here", *given)
    assert code == 1
    assert "to ask again what failed: proctor run here/run.yaml --log mine.db" in err


def test_files_that_were_named_elsewhere_are_allowed_in_the_hint(tmp_path, monkeypatch):
    table, words, here = tmp_path / "q.csv", tmp_path / "p.txt", tmp_path / "here"
    table.write_text("question,answer\nx,y\n")
    words.write_text("{question}?")
    here.mkdir()
    monkeypatch.chdir(here)
    (here / "own.csv").write_text("question,answer\nx,y\n")
    typed = ("run", "own.csv", f"{table}[name=q]", "-m", "openai", "-a", "model=m,base_url=http://127.0.0.1:9/v1")
    done = proctor(*typed, "--prompts", words, "-o", "run")
    assert done.returncode == 1
    hint = re.search(r"to ask again what failed: proctor (.*)", done.stderr)[1]
    assert hint == f"run run/run.yaml --allow read:{table} --allow read:{words}"
    again = proctor(*shlex.split(hint))
    assert again.stderr.count("--allow read:") == 2


# -- reports of runs that did not end ---------------------------------------------------------------------------------


def write_stopped(folder, **progress):
    folder.mkdir()
    (folder / "run.yaml").write_text("model: tiny\ntasks: [capitals]\n")
    if progress:
        (folder / ".progress.json").write_text(json.dumps(progress))


@pytest.mark.parametrize("name", ["report.html", "scores.md", "scores.csv", "scores.tex"])
def test_a_report_of_a_stopped_run_says_so(invoke, tmp_path, name):
    write_stopped(tmp_path / "torn")
    code, _, err = invoke("report", "torn", "-o", name)
    assert code == 0
    assert "warning: torn: the run was stopped before its end: it has no scores yet; proctor run torn goes on" in err
    if name.endswith((".html", ".md")):
        assert "the run was stopped before its end" in Path(name).read_text()


def test_a_report_of_a_run_that_goes_on_says_how_far_it_is(invoke, tmp_path):
    write_stopped(tmp_path / "live", done=10, total=40)
    _, _, err = invoke("report", "live", "-o", "scores.md")
    assert "the run goes on at the moment (10 of 40 answered): it has no scores yet" in err
    assert "10 of 40" in Path("scores.md").read_text()


def test_a_run_whose_budget_ended_says_so_in_its_results(invoke, exams):
    invoke("run", "--model", "slow", "--tasks", "many", "--limit", "9", "-o", "here", "--budget-tokens", "8")
    assert "budget" in json.loads(Path("here/results.json").read_text())["run"]["stopped"]


@pytest.mark.parametrize("name", ["report.html", "scores.md"])
def test_a_report_of_a_run_whose_budget_ended_says_so(invoke, tmp_path, name):
    write_stopped(tmp_path / "part")
    results = {"capitals": {"score": 0.5, "score_name": "accuracy", "n": 4, "failures": 2}}
    (tmp_path / "part" / "results.json").write_text(json.dumps({"results": results, "run": {"stopped": "8 tokens"}}))
    _, _, err = invoke("report", "part", "-o", name)
    said = "the run was stopped: 8 tokens; not everything was asked, and the scores are of what was"
    assert said in err
    assert said in Path(name).read_text()


# -- quiet ------------------------------------------------------------------------------------------------------------


def test_quiet_leaves_the_scores_alone(invoke, exams):
    code, out, err = invoke("run", "--model", "slow", "--tasks", "many", "--limit", "2", "-q")
    assert (code, err) == (0, "")
    assert "many" in out


def test_quiet_keeps_warnings_and_errors(invoke, exams):
    given = ("--model", "slow", "--tasks", "many", "--limit", "2")
    code, _, err = invoke("run", *given, "--quiet", "--model-args", "fails_from=1")
    assert code == 1
    assert "warning: 1 of 2 instances failed (timeout: 1)" in err
    assert "run folder" not in err
    code, _, err = invoke("run", "--model", "slow", "--tasks", "nothing", "--quiet")
    assert code == 2
    assert "there is no task 'nothing'" in err
    assert "run folder" in invoke("run", *given)[2]  # one call's wish is not the next one's


# -- completion -------------------------------------------------------------------------------------------------------


def completed(monkeypatch, capsys, *words):
    from proctor.cli.__main__ import main

    monkeypatch.setenv("_PROCTOR_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", shlex.join(["proctor", *words]))
    monkeypatch.setenv("COMP_CWORD", str(len(words)))
    with pytest.raises(SystemExit):
        main([])
    return [line.partition(",")[2] for line in capsys.readouterr().out.splitlines() if line]


@pytest.mark.parametrize(
    "words, found",
    [
        (("run", "--model", "smol"), ["smollm2"]),
        (("run", "-m", "anthro"), ["anthropic"]),
        (("gate", "--model", "scrip"), ["scripted"]),
        (("run", "--tasks", "samples.s"), ["samples.science", "samples.sentiment"]),
        (("run", "--tasks", "samples.arithmetic,samples.sc"), ["samples.arithmetic,samples.science"]),
        (("show", "samples.a"), ["samples.arithmetic"]),
        (("run", "--datasets", "x", "--tasks", "samples.a"), ["samples.arithmetic"]),
        (("run", "--tasks", "card=cards.w"), []),
        (("comple",), ["completion"]),
        (
            (
                "run",
                "--budget-t",
            ),
            ["--budget-tokens"],
        ),
    ],
    ids=" ".join,
)
def test_names_are_completed(monkeypatch, capsys, words, found):
    assert completed(monkeypatch, capsys, *words) == found


@pytest.mark.parametrize(
    "line, found",
    [
        ("proctor run --model=smol", ["smollm2"]),
        ("proctor run --tasks=samples.arithmetic,samples.sc", ["samples.arithmetic,samples.science"]),
        ("proctor run --tasks samples.s", ["samples.science", "samples.sentiment"]),
        ("proctor run --limit 3 --budget-t", ["--budget-tokens"]),
        ("proctor run --limit 3 ", None),
        ("proctor run --tasks planets::s --model=smol", ["smollm2"]),
    ],
)
def test_bash_completes_words_that_it_breaks(monkeypatch, capsys, line, found):
    monkeypatch.setenv("COMP_LINE", line)
    monkeypatch.setenv("COMP_WORDBREAKS", " =:")
    words = re.split(r"[ =:]+", line)[1:]  # as bash hands them over, which is too little
    completions = completed(monkeypatch, capsys, *words)
    assert completions == found if found is not None else len(completions) > 1


def test_bash_keeps_what_stands_before_a_colon():
    shell = WholeWordsInBash(None, {}, "proctor", "_PROCTOR_COMPLETE")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("COMP_LINE", "proctor run --tasks=a,group::mem")
        patched.setenv("COMP_WORDBREAKS", " =:")
        assert shell.get_completion_args() == (["run"], "--tasks=a,group::mem")
    assert shell.format_completion(CompletionItem("a,group::member")) == "plain,member"


@pytest.mark.parametrize("shell", [WholeWordsInFish, WholeWordsInZsh])
def test_other_shells_replace_the_option_too(monkeypatch, shell):
    made = shell(None, {}, "proctor", "_PROCTOR_COMPLETE")
    monkeypatch.setenv("COMP_WORDS", "proctor run --model=smol")
    monkeypatch.setenv("COMP_CWORD", "--model=smol" if shell is WholeWordsInFish else "2")
    assert made.get_completion_args() == (["run"], "--model=smol")
    assert "--model=smollm2" in made.format_completion(CompletionItem("smollm2"))


def test_the_task_option_takes_a_path(monkeypatch, capsys):
    assert completed(monkeypatch, capsys, "run", "--tasks", "./my") == ["./my"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_get_a_script(invoke, shell):
    code, out, _ = invoke("completion", shell)
    assert code == 0
    assert "_PROCTOR_COMPLETE" in out
    assert "proctor" in out


def test_completion_is_quick_enough_to_wait_for(monkeypatch, capsys):
    from tests_pace import in_time

    began = time.process_time()
    completed(monkeypatch, capsys, "run", "--model", "smol")
    assert in_time(time.process_time() - began, 2)


def files_of_every_dialect():
    Path("rows.csv").write_text("question,answer\n2+2,4\n")
    Path("rows.tsv").write_text("question\tanswer\n2+2\t4\n")
    Path("rows.jsonl").write_text('{"q": "2+2", "a": "4"}\n')
    Path("sums.yaml").write_text(
        "task: sums\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n"
        "output_type: generate_until\ndoc_to_text: '{{q}}'\ndoc_to_target: '{{a}}'\nmetric_list: [{metric: exact_match}]\n"
    )


@pytest.mark.parametrize(
    "task",
    ["samples.arithmetic", "card=samples.cards.arithmetic,num_demos=0", "sums.yaml", "rows.csv", "rows.tsv"],
    ids=["named recipe", "recipe", "YAML task", "config", "table"],
)
def test_how_the_engine_works_and_where_exams_are_looked_for_is_not_part_of_an_exam(task):
    files_of_every_dialect()
    specifications = [
        [exam.specification() for exam in resolve_tasks([task], ExamOptions(**given))]
        for given in (
            {},
            {"model_arguments": {"model": "m", "max_concurrency": 2}, "include_paths": (str(Path.cwd()),)},
        )
    ]
    assert specifications[0] == specifications[1]


def test_a_folder_with_a_blank_is_quoted_where_a_stopped_run_says_how_to_go_on(tmp_path):
    folder = tmp_path / "my [1] run"
    folder.mkdir()
    (folder / "run.yaml").write_text("model: dummy\ntasks: [samples.science]\n")
    (note,) = state_notes(load_run(folder))
    assert f"proctor run '{folder}' goes on with it" in note


def test_fish_takes_lists_and_sentences_with_commas_whole(invoke):
    _, out, _ = invoke("completion", "fish")
    assert 'string split --max 1 ","' in out
