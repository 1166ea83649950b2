"""What messages tell people to type: every command and option in them exists, and where a state prints one, it helps.

The list of commands is made of the source: all texts with ``proctor COMMAND`` in them.
"""

import ast
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests_commands import proctor as typed

import proctor.cli.__main__ as program

SOURCE = Path(program.__file__).parents[1]
_COMMAND = re.compile(r"\bproctor ([a-z]+)((?: [^;.(\n]*)?)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_PROSE = frozenset({"is", "keeps"})
"""What follows the program's name in sentences about it."""


def _texts() -> Iterator[tuple[str, str]]:
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.JoinedStr):
                yield file.name, "".join(str(getattr(each, "value", "X")) for each in node.values)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield file.name, node.value


def _options(command: click.Command, rest: str) -> set[str]:
    found = {option for each in command.params for option in (*each.opts, *each.secondary_opts)} | {"--help"}
    if isinstance(command, click.Group) and (first := rest.split()[:1]):
        inner = command.get_command(click.Context(command), first[0])
        found |= _options(inner, "") if inner else set()
    return found


def test_every_command_in_a_message_exists_and_takes_what_stands_behind_it():
    group = next(each for each in vars(program).values() if isinstance(each, click.Group))
    commands = {
        name: group.get_command(click.Context(group), name) for name in group.list_commands(click.Context(group))
    }
    wrong, seen = [], 0
    for file, text in _texts():
        for name, rest in _COMMAND.findall(text):
            if name not in commands:
                wrong += [f"{file}: proctor {name}"] if name not in _PROSE else []
                continue
            seen += 1
            known = _options(commands[name], rest)
            said = _OPTION.findall(rest.partition(", and")[0].partition(": ")[0])
            wrong += [f"{file}: proctor {name} {each}" for each in said if each not in known]
    assert not wrong
    assert seen > 100


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.csv").write_text("question,answer\nCapital of France?,Paris\nCapital of Japan?,Tokyo\n")
    (tmp_path / "odd.csv").write_text("ask,right\nCapital of France?,Paris\n")
    return tmp_path


def _told(done, start: str) -> list[str]:
    """Return the command that a message prints, as words."""
    text = done.stdout + done.stderr
    found = re.search(rf"({re.escape(start)}[^\n]*)", text)
    assert found, text
    return shlex.split(found[1])[1:]


def _score(folder: Path) -> float:
    (entry,) = json.loads((folder / "results.json").read_text())["results"].values()
    return float(entry["score"])


def test_a_metric_that_a_warning_names_counts_what_it_says(folder):
    asked = ["run", "q.csv", "-m", "scripted", "-a", "answer=It is Paris or Tokyo"]
    done = typed(*asked, "-o", "plain")
    assert _score(folder / "plain") == 0.0
    named = re.search(r"--metric \w+", done.stderr)
    assert named
    assert typed(*asked, *named[0].split(), "-o", "named").returncode == 0
    assert _score(folder / "named") == 1.0


def test_commands_behind_several_models_show_more(folder):
    (folder / "m.yaml").write_text("one: {engine: dummy}\ntwo: {engine: scripted, answer: Paris}\n")
    done = typed("run", "q.csv", "--models", "m.yaml", "-o", "both")
    more = typed(*_told(done, "proctor compare"))
    assert "two" in more.stdout
    shown = typed(*_told(done, "proctor report --answers"))
    assert "Capital of France?" in shown.stdout


def test_a_stopped_run_goes_on_as_it_says(folder):
    rows = "".join(f"Question {number}?,yes\n" for number in range(20))
    (folder / "long.csv").write_text(f"question,answer\n{rows}")
    asked = ["run", "long.csv", "-m", "dummy", "-o", "r", "--allow-failures", "--budget-tokens"]
    done = typed(*asked, 200)
    assert "to ask again what failed" not in done.stderr
    assert "the same command with a larger budget asks what is left" in done.stderr
    again = typed(*asked, 20_000)
    assert (again.returncode, "failed" in again.stderr) == (0, False)


def test_what_a_model_did_not_answer_is_asked_again_by_the_command_that_is_printed(folder):
    (folder / "said.jsonl").write_text('"Paris"\n')
    done = typed("run", "q.csv", "-m", "replay", "-a", "path=said.jsonl", "-o", "r")
    assert done.returncode
    (folder / "said.jsonl").write_text('"Paris"\n"Tokyo"\n')
    again = typed(*_told(done, "proctor run"))
    assert again.returncode == 0, again.stderr
    assert _score(folder / "r") == 1.0


def test_what_failed_and_was_kept_is_asked_again_by_the_command_that_is_printed(folder):
    (folder / "said.jsonl").write_text('"Paris"\n')
    asked = ["run", "q.csv", "-m", "replay", "-a", "path=said.jsonl", "-o", "r", "--log", "log.db"]
    typed(*asked)
    done = typed(*asked, "--keep-failed")
    (folder / "said.jsonl").write_text('"Paris"\n"Tokyo"\n')
    assert typed(*_told(done, "proctor run")).returncode == 0
    assert _score(folder / "r") == 1.0


def test_a_run_goes_on_in_its_own_log_as_the_message_says(folder):
    assert typed("run", "q.csv", "-m", "dummy", "-o", "r", "--log", "own log.db").returncode == 0
    done = typed("run", "r")
    assert done.returncode == 2
    assert "everything would be asked again" in done.stderr
    named = shlex.split(re.search(r"(--log .*?) goes on there", done.stderr)[1])
    again = typed("run", "r", *named)
    assert again.returncode == 0
    assert "2 from the log" in again.stderr
    assert typed("run", "r", "--log", "other.db").returncode == 0, "who names a log means it"


def test_judges_that_gave_no_verdict_are_asked_again_by_the_command_that_is_printed(folder):
    done = typed("run", "q.csv", "-m", "dummy", "--metric", "judge", "--judge", "dummy", "-o", "r")
    assert done.returncode
    typed(*_told(done, "proctor run"))
    run = json.loads((folder / "r" / "results.json").read_text())["run"]
    assert run["judges"]["dummy"]["asked"] == 2
    assert typed("run", "r").returncode
    run = json.loads((folder / "r" / "results.json").read_text())["run"]
    assert run["judges"]["dummy"]["asked"] == 0, "nobody is asked by a command that does not say so"


def test_rows_that_cannot_be_asked_are_not_said_to_be_asked_again(folder):
    (folder / "gap.csv").write_text("question,answer\nCapital of France?,Paris\n,Tokyo\n")
    done = typed("run", "gap.csv", "-m", "dummy", "-o", "r")
    assert done.returncode
    assert "to ask again what failed" not in done.stderr
    assert "before they, or the exam, are mended" in done.stderr


@pytest.mark.parametrize(
    "arguments, told, then",
    [
        (["run", "-m", "dummy", "--limit", "1"], "--tasks samples", ["run", "-m", "dummy", "--limit", "1", "--tasks", "samples"]),
        (["run", "nosuch", "-m", "dummy"], "proctor ls", ["ls"]),
        (["run", "q.csv"], "proctor doctor", ["doctor"]),
        (["convert", "odd.csv", "--to", "lm-eval"], "--input-column NAME", ["convert", "odd.csv", "--input-column", "ask", "--answer-column", "right", "--to", "lm-eval"]),
        (["show", "odd.csv"], "--input-column NAME", ["show", "odd.csv", "--input-column", "ask", "--answer-column", "right"]),
        (["run", "odd.csv", "-m", "dummy", "--input-column", "ask"], "--predict-only", ["run", "odd.csv", "-m", "dummy", "--input-column", "ask", "--predict-only"]),
        (["run", "q.csv", "-m", "dummy", "--reduce", "best"], "--repeats N", ["run", "q.csv", "-m", "dummy", "--reduce", "best", "--repeats", "2"]),
        (["run", "q.csv", "-m", "dummy", "--demos-as-turns", "--num-demos", "1"], "--apply-chat-template", ["run", "q.csv", "-m", "dummy", "--demos-as-turns", "--num-demos", "1", "--apply-chat-template"]),
        (["run", "q.csv", "-m", "dummy", "--metric", "judge"], "--judge openai", ["run", "q.csv", "-m", "dummy", "--metric", "judge:x", "--judge", "dummy", "--allow-failures"]),
    ],
)  # fmt: skip
def test_a_hint_is_obeyed_and_helps(folder, arguments, told, then):
    done = typed(*arguments)
    assert done.returncode
    assert told in done.stderr, done.stderr
    after = typed(*then)
    assert after.returncode == 0, after.stderr


def test_a_table_is_not_laid_out_as_a_chat_where_somebody_says_so(folder):
    plain = typed("run", "q.csv", "-m", "dummy", "-o", "p", "--no-apply-chat-template")
    assert plain.returncode == 0, plain.stderr
    line = json.loads((folder / "p" / "samples.jsonl").read_text().splitlines()[0])
    assert line["prompt"] == "Capital of France?"
