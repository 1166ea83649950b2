"""Other weights under the same name are another model."""

from __future__ import annotations

import shutil

from proctor.effects import Author
from proctor.engines.engine_registry import make_engine
from proctor.engines.model_args import Origin
from proctor.engines.model_content import content_of
from proctor.settings import settings

MEGABYTE = 1 << 20


def model(folder, weights: bytes):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    return folder


def test_weights_that_a_training_wrote_count_and_where_they_lie_does_not(tmp_path):
    first = content_of([str(model(tmp_path / "a", b"x" * 9 * MEGABYTE))])
    assert content_of([str(shutil.copytree(tmp_path / "a", tmp_path / "b"))]) == first
    (tmp_path / "a" / "optimizer.pt").write_bytes(b"state")
    assert content_of([str(tmp_path / "a"), "org/of-the-hub", None]) == first
    assert content_of([str(model(tmp_path / "a", b"x" * 4 * MEGABYTE + b"y" * 5 * MEGABYTE))]) != first
    assert content_of([str(tmp_path / "b" / "config.json")]) != first


def test_an_adapter_counts_and_a_stranger_s_config_reads_no_folder(tmp_path):
    base, adapter = str(model(tmp_path / "base", b"base")), model(tmp_path / "adapter", b"one")
    given = {"model": base, "peft": str(adapter)}
    before = make_engine("hf", given).identity
    assert make_engine("hf", given).identity == before
    model(adapter, b"two")
    assert make_engine("hf", given).identity != before
    of_a_stranger = make_engine("hf", given, Origin(Author("task.yaml")))
    assert "content" not in of_a_stranger.identity_values()


def test_a_name_of_the_hub_is_the_folder_that_it_is_mapped_to(tmp_path):
    (tmp_path / "org").mkdir()
    model(tmp_path / "org" / "name", b"one")
    with settings.context(models_dir=tmp_path):
        before = make_engine("hf", {"model": "org/name"}).identity
        assert content_of(["org/name"]) == content_of([str(tmp_path / "org" / "name")])
        model(tmp_path / "org" / "name", b"two")
        assert make_engine("hf", {"model": "org/name"}).identity != before
    assert content_of(["org/name"]) == []
