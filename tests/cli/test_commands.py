from importlib import import_module

import click
import pytest

from proctor.cli.__main__ import COMMANDS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_in_the_table_exists_under_its_name(name):
    command = import_module(COMMANDS[name][0]).command
    assert isinstance(command, click.Command)
    assert command.name == name
    assert command.help


def test_help_lists_every_command_with_its_line(invoke):
    code, out, _ = invoke("--help")
    assert code == 0
    for name, (_, line) in COMMANDS.items():
        assert f"{name} " in out
        assert line.split()[0] in out


def test_no_command_shows_the_help(invoke):
    code, out, err = invoke()
    assert code == 2
    assert "Commands:" in out + err


def test_a_mistyped_command_gets_the_closest_one(invoke):
    code, out, err = invoke("shwo")
    assert (code, out) == (2, "")
    assert "there is no command 'shwo'" in err
    assert "did you mean 'show'?" in err


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "log"])  # log is a group of commands
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
