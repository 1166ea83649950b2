"""Where ids and addresses lie in the folder of mapped datasets."""

import pytest

from proctor.data.mapped_folder import configurations, local_file, local_folder, place_of
from proctor.settings import settings


@pytest.fixture
def mapped(tmp_path):
    (tmp_path / "aliases.json").write_text('{"short": "o/n", "gone": "o/gone"}')
    (tmp_path / "o" / "n").mkdir(parents=True)
    (tmp_path / "h.example" / "a").mkdir(parents=True)
    for name in ("a/x y.csv", "a/index", "top"):
        (tmp_path / "h.example" / name).write_text("x")
    with settings.context(hub_dir=str(tmp_path)):
        yield tmp_path


@pytest.mark.parametrize(
    "url, place",
    [
        ("https://h.example/a/x%20y.csv?v=1#z", "h.example/a/x y.csv"),
        ("http://h.example/a/", "h.example/a/index"),
        ("http://h.example:80/a", "h.example:80/a"),
        ("ftp://h.example/a", ""),
        ("/a", ""),
    ],
)
def test_an_address_is_its_host_and_its_path(url, place):
    assert place_of(url) == place


def test_files_of_addresses_are_found_in_the_folder_and_not_above_it(mapped):
    base = mapped / "h.example"
    assert local_file("http://h.example/a/x%20y.csv") == base / "a" / "x y.csv"
    assert local_file("http://h.example/a/") == base / "a" / "index"
    for nowhere in ("http://h.example/a", "http://h.example/none", "http://h.example/a/../top", "top"):
        assert local_file(nowhere) is None
    with settings.context(hub_dir=None):
        assert local_file("http://h.example/top") is None


def test_datasets_are_found_by_their_ids_and_their_aliases(mapped):
    assert local_folder("o/n") == local_folder("short") == mapped / "o" / "n"
    for nowhere in ("o/none", "gone", "o/../o/n", str(mapped / "o" / "n"), ""):
        assert local_folder(nowhere) is None
    with settings.context(hub_dir=None):
        assert local_folder("o/n") is None


def test_without_a_card_configurations_are_folders_and_splits_are_names_of_files(tmp_path):
    for name in (
        "en/test.parquet",
        "en/train-00000-of-00002.parquet",
        "en/train-00001-of-00002.parquet",
        "de/notes.txt",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    en = {
        "test": ("en/test.parquet",),
        "train": ("en/train-00000-of-00002.parquet", "en/train-00001-of-00002.parquet"),
    }
    assert configurations(tmp_path) == {"en": en}
    (tmp_path / "dev.parquet").write_text("")
    assert configurations(tmp_path) == {"en": en, "default": {"dev": ("dev.parquet",)}}
    (tmp_path / "README.md").write_text(
        "---\nconfigs: [{config_name: x, data_files: y.parquet}, {config_name: z}]\n---\n"
    )
    assert configurations(tmp_path) == {"x": {"train": ("y.parquet",)}}
