"""What lm-eval's users type, in the words of proctor run."""

import json
import os

import pytest
import tests_commands

from proctor.cli.lm_eval_words import in_our_words
from proctor.errors import UsageError
from proctor.settings import settings


def ours(*words):
    return in_our_words(words).arguments


@pytest.mark.parametrize(
    "given, wanted",
    [
        ("--tasks a b c --limit 3", "--tasks a --tasks b --tasks c --limit 3"),
        ("--tasks a,b c", "--tasks a,b --tasks c"),
        ("-t a b -M hf -b 4 -c x.db -x", "--tasks a --tasks b --model hf --batch-size 4 --log x.db --predict-only"),
        ("--model_args a=1 b=2 --seed 3", "--model-args a=1 --model-args b=2 --seed 3"),
        ("--model-args a=1 -a b=2", "--model-args a=1 --model-args b=2"),
        ("--gen_kwargs temperature=0 top_p=1", "--gen-kwargs temperature=0,top_p=1"),
        ("--metadata a=[1,2] b=x", "--metadata a=[1,2],b=x"),
        ("--apply_chat_template", "--apply-chat-template"),
        ("--apply_chat_template --limit 1", "--apply-chat-template --limit 1"),
        ("--apply_chat_template tool_use", '--apply-chat-template --model-args chat_template="tool_use"'),
        ("--apply_chat_template true", "--apply-chat-template"),
        ("--apply_chat_template=false", "--no-apply-chat-template"),
        ("--fewshot_as_multiturn", "--demos-as-turns"),
        ("--fewshot_as_multiturn TRUE", "--demos-as-turns"),
        ("--fewshot-as-multiturn no", "--no-demos-as-turns"),
        ("--include_path a:b", "--include-path a:b"),
        ("--model_args pretrained=gpt2 --tasks a", "--model hf --model-args pretrained=gpt2 --tasks a"),
        ("--cache_requests true --check_integrity --show_config --max_batch_size 8 --tasks a", "--tasks a"),
        ("--model m -s -w", "--model m --log-samples --write-out"),
        ("-a pretrained=m -s", "--model hf --model-args pretrained=m --log-samples"),
        ("-w runs -s", "-w runs -s"),
        ("--tasks=a --limit=3", "--tasks a --limit 3"),
        ("--tasks a -- --tasks b c", "--tasks a -- --tasks b c"),
        ("--unknown x y", "--unknown x y"),
        ("--output_path out", "--output out"),
        ("-o runs/x.json", "--output runs/x"),
    ],
)
def test_words_become_ours(given, wanted):
    assert ours(*given.split()) == wanted.split()


def test_a_file_of_results_becomes_a_folder_and_says_so():
    (note,) = in_our_words(["--output_path", "runs/x.json"]).notes
    assert "runs/x for runs/x.json" in note
    assert "--output-format lm-eval" in note


@pytest.mark.parametrize(
    "given, message",
    [
        ("--wandb_args project=x", "--wandb_args is an option of lm-eval that is not here"),
        ("--hf_hub_log_args a=b", "--hf_hub_log_args"),
        ("--fewshot_as_multiturn maybe", "--fewshot_as_multiturn is 'maybe'"),
        ("--tasks", "requires an argument"),
        ("--system_instruction --limit 1", "'--system_instruction' requires an argument"),
        ("--verbosity LOUD", "--verbosity is 'LOUD'"),
        ('--metadata {"a":1} b=2', "JSON and more"),
        ("--config nowhere.yaml", "cannot be read"),
    ],
)
def test_what_cannot_be_honoured_is_refused(given, message):
    with pytest.raises(UsageError, match=message.replace("{", r"\{")):
        ours(*given.split())


def test_verbosity_is_honoured():
    before = settings.default_verbosity
    try:
        assert ours("-v", "DEBUG") == []
        assert settings.default_verbosity == "debug"
    finally:
        settings.default_verbosity = before


def test_a_run_file_after_names_is_not_a_task(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "task.yaml").write_text("task: x\n")
    (tmp_path / "run.yaml").write_text("model: dummy\n")
    (tmp_path / "saved.yaml").write_text("model: dummy\ntasks: [a]\n")
    (tmp_path / "config.py").write_text("")
    (tmp_path / "folder").mkdir()
    assert ours("--tasks", "a", "task.yaml", "folder") == ["--tasks", "a", "--tasks", "task.yaml", "--tasks", "folder"]
    for name in ("run.yaml", "saved.yaml", "config.py"):
        assert ours("--tasks", "a", name) == ["--tasks", "a", name]


CONFIG = {
    "model": "dummy", "model_args": {"answer": "3"}, "tasks": ["samples.arithmetic", "samples.science"],
    "num_fewshot": 0, "limit": 2, "batch_size": 1, "device": "cpu", "seed": [0, 1, 2, 3], "log_samples": True,
    "gen_kwargs": {"temperature": 0}, "apply_chat_template": False, "fewshot_as_multiturn": None, "wandb_args": {},
    "predict_only": False, "trust_remote_code": False, "metadata": {}, "verbosity": None,
}  # fmt: skip


def test_a_file_says_what_the_command_line_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c.yaml").write_text(json.dumps(CONFIG))
    words = ours("--config", "c.yaml", "--tasks", "samples.arithmetic", "-L", "5")
    assert words.count("--tasks") == 1
    assert words[-1] == "5"
    assert json.loads(words[words.index("--model-args") + 1]) == {"answer": "3"}
    assert words[words.index("--seed") + 1] == "0,1,2,3"
    assert "--predict-only" not in words


@pytest.mark.parametrize(
    "change, message",
    [
        ({"modle": "x"}, "did you mean 'model'"),
        ({"wandb_args": {"project": "x"}}, "--wandb_args"),
        ({"log_samples": "perhaps"}, "true or false"),
        ({"tasks": [{"task": "x"}]}, "not a list of names"),
        ({"system_instruction": ["a"]}, "system_instruction of .*c.yaml is a list"),
        ({"model": ["dummy"]}, "model of .*c.yaml is a list"),
        ({"output_path": {"a": 1}}, "output_path of .*c.yaml is a dict"),
    ],
)
def test_keys_of_a_file_are_honoured_or_refused(tmp_path, change, message):
    (tmp_path / "c.yaml").write_text(json.dumps({**CONFIG, **change}))
    with pytest.raises(UsageError, match=message):
        ours("--config", str(tmp_path / "c.yaml"))


def test_a_file_does_not_say_that_code_is_trusted(tmp_path, capsys):
    (tmp_path / "c.yaml").write_text(json.dumps({**CONFIG, "trust_remote_code": True}))
    assert "--trust-code" not in ours("--config", str(tmp_path / "c.yaml"))
    assert "--trust-code, typed" in capsys.readouterr().err


def proctor(*words, cwd):
    return tests_commands.proctor(*words, cwd=cwd, env={**os.environ, "PROCTOR_CACHE_DIR": str(cwd / "cache")})


def test_the_program_itself(tmp_path):
    (tmp_path / "c.yaml").write_text(json.dumps(CONFIG))
    done = proctor("--config", "c.yaml", "--json", "-o", "run", cwd=tmp_path)
    assert set(json.loads(done.stdout)) == {"samples.arithmetic", "samples.science"}, done.stderr
    assert "batch_size (requests are answered as they come)" in done.stderr
    listed = proctor("ls", "groups", "--json", cwd=tmp_path)
    assert {json.loads(line)["kind"] for line in listed.stdout.splitlines()} <= {"group", "benchmark", "suite"}
    good, bad = (proctor("validate", "--tasks", name, cwd=tmp_path) for name in ("samples.science", "samples.sciense"))
    assert (good.returncode, bad.returncode) == (0, 2)
    assert "1 exam, 0 problems" in good.stderr
    assert "did you mean 'samples.science'" in bad.stderr
    refused = proctor("show", "samples.science", "--batch_size", "3", cwd=tmp_path)
    assert "it is an option of proctor run" in refused.stderr
    assert "here it is --batch-size" not in refused.stderr


@pytest.mark.parametrize("key, option", [("output_path", "--output"), ("use_cache", "--log")])
@pytest.mark.parametrize("place", ["{outside}", "../elsewhere", ".git/hooks"])
def test_a_file_writes_where_it_lies_and_nowhere_else(tmp_path, key, option, place):
    here, outside = tmp_path / "here", tmp_path / "elsewhere"
    here.mkdir()
    (here / "c.yaml").write_text(json.dumps({**CONFIG, key: place.format(outside=outside)}))
    refused = proctor("--config", "c.yaml", cwd=here)
    assert refused.returncode == 2
    assert f"{option} writes " in refused.stderr
    assert "--allow write:" in refused.stderr
    assert {each.name for each in here.iterdir()} <= {"c.yaml", "cache"}
    assert not outside.exists()


def test_what_a_file_may_write_is_allowed_or_typed(tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    (here / "c.yaml").write_text(json.dumps({**CONFIG, "output_path": str(tmp_path / "out")}))
    assert proctor("--config", "c.yaml", "--allow", f"write:{tmp_path}", cwd=here).returncode == 0
    assert (tmp_path / "out" / "results.json").is_file()
    assert proctor("--config", "c.yaml", "--output", str(tmp_path / "typed"), cwd=here).returncode == 0
    assert (tmp_path / "typed" / "results.json").is_file()


def test_brackets_of_a_tasks_own_name_are_not_arguments(invoke, tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"q": "1+1"}\n')
    (tmp_path / "picks.yaml").write_text(
        'task: "picks[hard]"\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\ntest_split: test\n'
        'output_type: multiple_choice\ndoc_to_text: "{{q}}="\ndoc_to_choice: ["2", "3"]\ndoc_to_target: 0\n'
    )
    code, out, err = invoke("show", "picks[hard]", "--include-path", str(tmp_path), "--docs", "1")
    assert code == 0, err
    assert "1+1=" in out
    assert "picks[hard]" in out
