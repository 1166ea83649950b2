"""The header of a dataset's card is read as the hub reads it, or refused with its place."""

import pytest

from proctor.data.dataset_card import CardConfiguration, card_configurations
from proctor.errors import DataError


def read(folder, header):
    (folder / "README.md").write_text(f"---\n{header}\n---\n# words\n", encoding="utf-8")
    return dict(card_configurations(folder))


def test_a_configuration_names_its_files_its_folder_and_how_they_are_read(tmp_path):
    header = """
dataset_info:
- config_name: en
  features: [{name: q, dtype: string}]
configs:
- config_name: en
  data_files: [a.csv, b.csv]
  data_dir: words
  description: what it is
  version: 1
  sep: ";"
- config_name: de
  default: true
  features: [{name: x, dtype: int64}]
  data_files:
  - {split: test, path: c.csv}
  - {split: train, path: [d.csv, e.csv]}
- data_files: f.csv
"""
    text, number = [{"name": "q", "dtype": "string"}], [{"name": "x", "dtype": "int64"}]
    assert read(tmp_path, header) == {
        "en": CardConfiguration("en", {"train": ("a.csv", "b.csv")}, "words", False, {"sep": ";"}, text),
        "de": CardConfiguration("de", {"test": ("c.csv",), "train": ("d.csv", "e.csv")}, "", True, {}, number),
        "default": CardConfiguration("default", {"train": ("f.csv",)}, "", True),
    }


def test_columns_without_a_configuration_are_those_of_the_only_one(tmp_path):
    one = "dataset_info:\n  features: [{name: q, dtype: string}]"
    assert read(tmp_path, one) == {
        "default": CardConfiguration("default", is_default=True, columns=[{"name": "q", "dtype": "string"}])
    }
    two = "dataset_info:\n- {config_name: a, features: [1]}\n- {config_name: b, features: [2]}\n- {config_name: c}"
    assert read(tmp_path, two) == {}


def test_a_card_without_a_header_declares_nothing(tmp_path):
    assert card_configurations(tmp_path) == {}
    for text in ("# words", "words\n---\nconfigs: 1\n---\n", "---\n"):
        (tmp_path / "README.md").write_text(text, encoding="utf-8")
        assert card_configurations(tmp_path) == {}
    assert read(tmp_path, "license: mit") == {}


@pytest.mark.parametrize(
    "header, words",
    [
        ("- a", "it is not a mapping"),
        ("configs: a", "'configs' is not a list of mappings"),
        ("configs: [a]", "'configs' is not a list of mappings"),
        ("configs: [{data_files: [{path: a}]}]", "has no 'split' and 'path'"),
        ("configs: [{data_files: [{split: a}]}]", "has no 'split' and 'path'"),
        ("configs: [{data_files: [{split: a, path: [1]}]}]", "has no 'split' and 'path'"),
        ("configs: [{data_files: [a, {split: b, path: [c, 1]}]}]", "'a' in 'data_files' has no 'split' and 'path'"),
    ],
)
def test_a_header_of_another_form_is_refused_with_its_place(tmp_path, header, words):
    with pytest.raises(DataError, match=words) as caught:
        read(tmp_path, header)
    assert "README.md:1" in str(caught.value)
