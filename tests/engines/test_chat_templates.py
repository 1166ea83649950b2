"""Whether a model has a chat template, from the files beside its weights."""

from pathlib import Path

import pytest

from proctor.engines.chat_templates import has_chat_template


@pytest.mark.parametrize(
    "file, text, has",
    [
        ("chat_template.jinja", "{{ messages }}", True),
        ("chat_template.json", "{}", True),
        ("tokenizer_config.json", '{"chat_template": "{{ messages }}"}', True),
        ("tokenizer_config.json", "{}", False),
        ("config.json", '{"chat_template": 1}', False),
    ],
)
def test_a_folder_has_a_chat_template_where_one_of_its_files_says_so(tmp_path, file, text, has):
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text("{}")
    (tmp_path / "tiny" / file).write_text(text)
    assert has_chat_template(str(tmp_path / "tiny")) is has


def test_what_is_neither_a_folder_nor_a_name_of_the_hub_has_none():
    assert has_chat_template("a/b/c") is False


def test_a_configuration_that_cannot_be_read_has_none(tmp_path, monkeypatch):
    (tmp_path / "tokenizer_config.json").write_text('{"chat_template": 1}')

    def refuse(*_, **__):
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert has_chat_template(str(tmp_path)) is False
