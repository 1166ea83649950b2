from importlib import import_module

import click
import pytest

from proctor.cli.__main__ import COMMANDS
from proctor.cli.commands import ProctorCommand
from proctor.cli.help_sections import SECTIONS, grouped

LINES = {name: entry for entries in COMMANDS.values() for name, entry in entries.items()}


def commands():
    """Return every command, those below ``proctor log`` and ``proctor judge`` too, by the words that call it."""
    found = {name: import_module(module).command for name, (module, _) in LINES.items()}
    below = [(group, found[group].commands) for group in ("judge", "log")]
    return {**found, **{f"{group} {name}": command for group, commands in below for name, command in commands.items()}}


@pytest.mark.parametrize("name", LINES)
def test_every_command_in_the_table_exists_under_its_name(name):
    command = import_module(LINES[name][0]).command
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help


def test_help_lists_every_command_with_its_line(invoke):
    code, out, _ = invoke("--help")
    assert code == 0
    for name, (_, line) in LINES.items():
        assert f"{name} " in out
        assert line.split()[0] in out


def test_no_command_shows_the_help(invoke):
    code, out, err = invoke()
    assert code == 2
    assert "Give exams:" in out + err


def test_a_mistyped_command_gets_the_closest_one(invoke):
    code, out, err = invoke("shwo")
    assert (code, out) == (2, "")
    assert "there is no command 'shwo'" in err
    assert "did you mean 'show'?" in err


@pytest.mark.parametrize("command", [name for name in LINES if name not in ("judge", "log")])  # groups
def test_a_mistyped_option_gets_the_closest_one(invoke, command):
    code, _, err = invoke(command, "--traceback-")
    assert code == 2
    assert "did you mean '--traceback'?" in err


@pytest.mark.parametrize("option", ["--num-demos", "--num_demos", "--num_fewshot", "-f"])
def test_options_may_have_dashes_or_underscores(invoke, exams, option):
    code, _, err = invoke("show", "capitals", option, "2")
    assert (code, err) == (0, "")
    assert exams[0][1]["num_demos"] == 2


def test_an_option_without_its_value_says_so(invoke):
    code, _, err = invoke("show", "capitals", "--docs")
    assert code == 2
    assert "--docs" in err
    assert "proctor show --help" in err


@pytest.mark.parametrize("value", ["zero", "0", "-1"])
def test_an_impossible_value_says_what_is_possible(invoke, value):
    code, _, err = invoke("show", "capitals", "--docs", value)
    assert code == 2
    assert f"{value}" in err
    assert "Traceback" not in err


def test_version(invoke):
    code, out, _ = invoke("--version")
    assert code == 0
    assert out.startswith("proctor")


def test_an_option_alone_is_one_of_run(invoke):
    code, _, err = invoke("--tasks")
    assert code == 2
    assert "'--tasks' requires an argument" in err


@pytest.mark.parametrize(
    "options, noted",
    [
        (("--docs", "1", "--docs", "2"), ["--docs"]),
        (("-n", "1", "--docs", "2", "--skip", "0", "--skip", "0"), ["--docs", "--skip"]),
        (("--json", "--json"), []),
        (("--include-path", ".", "--include-path", ".."), []),
        (("--demos-as-turns", "--apply-chat-template", "--no-demos-as-turns"), ["--demos-as-turns"]),
    ],
    ids=str,
)
def test_an_option_that_replaces_an_earlier_one_is_said(invoke, options, noted):
    _, _, err = invoke("show", "samples.sentiment", *options)
    said = [line.split()[1] for line in err.splitlines() if "more than once; the last one counts" in line]
    assert sorted(said) == noted


def test_help_has_each_option_once_and_the_many_under_headings():
    for command in commands().values():
        if not isinstance(command, ProctorCommand):
            continue
        options = [each for each in command.get_params(click.Context(command)) if isinstance(each, click.Option)]
        listed = [option for _, group in grouped(options) for option in group]
        assert sorted(map(id, listed)) == sorted(map(id, options)), command.name


def test_headings_name_options_that_there_are():
    known = {name for command in commands().values() for each in command.params for name in each.opts} | {"--help"}
    assert [name for names in SECTIONS.values() for name in names if name not in known] == []


def test_no_option_of_run_stands_outside_the_headings(invoke):
    _, out, _ = invoke("run", "--help")
    assert "Options:" not in out
    assert (
        out.index("Who is asked:")
        < out.index("  -m, --model ")
        < out.index("Which questions:")
        < out.index("  -L, --limit ")
    )


@pytest.mark.parametrize(
    "words, hint",
    [
        (("help",), "proctor --help"),
        (("help", "run"), "proctor run --help"),
        (("version",), "proctor --version"),
        (("run", "--hlep"), "did you mean '--help'?"),
    ],
    ids=" ".join,
)
def test_commands_of_other_programs_name_the_option(invoke, words, hint):
    code, _, err = invoke(*words)
    assert code == 2
    assert hint in err


@pytest.mark.parametrize(
    "words, said",
    [
        (("run", "samples", "--repeats", "0"), "0 is not 1 or more"),
        (("run", "samples", "--budget-usd", "0"), "0.0 is not more than 0"),
        (("view", "--port", "99999"), "99999 is not between 0 and 65535"),
    ],
    ids=lambda each: each[0],
)
def test_a_number_outside_of_its_range_is_told_in_words(invoke, words, said):
    code, _, err = invoke(*words)
    assert code == 2
    assert said in err


@pytest.mark.parametrize("command", ["report", "export --to eee", "same x", "compare x", "view"])
def test_a_run_that_is_not_there_is_answered_with_where_runs_are(invoke, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    code, _, err = invoke(*command.split(), "nowhere")
    assert code == 2
    assert "there is no folder" in err
    assert "proctor run " in err


@pytest.mark.parametrize(
    "command", ["report", "export --to eee", "same runs/first", "compare", "view", "gate --at-least 1"]
)
def test_a_mistyped_run_is_answered_with_those_that_are_called_so(invoke, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "first").mkdir(parents=True)
    for mistyped in ("runs/frist", *(["first"] if command[:4] != "gate" else [])):
        code, _, err = invoke(*command.split(), mistyped, *(["x"] if command == "compare" else []))
        assert code == 2
        assert "did you mean 'runs/first'?" in err
    assert not (tmp_path / "runs" / "frist").exists()


def test_a_shell_completes_folders_of_runs_and_names_that_are_few():
    def completed(name, option, beginning=""):
        param = next(each for each in commands()[name].params if option in (each.name, *each.opts))
        return [(each.value, each.type) for each in param.shell_complete(click.Context(commands()[name]), beginning)]

    assert completed("compare", "baseline", "ru") == [("ru", "dir")]
    assert completed("why", "first") == [("", "file")]
    assert ("lm-eval", "plain") in completed("get", "name")
    assert completed("run", "--sandbox", "land") == [("landlock", "plain")]
    assert completed("run", "--executor") == [("local", "plain"), ("ray", "plain"), ("batch", "plain")]
