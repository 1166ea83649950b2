"""Plug-ins of AISBench: packages that are installed beside Proctor and register classes of their own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from proctor.compat.aisbench_names import registries
from proctor.compat.aisbench_names.registries import Registry, get_locations, get_plugin_locations


class Entry:
    """An entry point that gives a package, or fails."""

    def __init__(self, package):
        self._package = package

    def load(self):
        if isinstance(self._package, Exception):
            raise self._package
        return self._package


def package(folder, name, *modules):
    for module in modules:
        (folder / name).joinpath(*module.split(".")).mkdir(parents=True, exist_ok=True)
    return SimpleNamespace(__name__=name, __path__=[str(folder / name)])


@pytest.fixture(name="installed")
def _installed(monkeypatch):
    """Return what says which plug-ins there are."""

    def installed(*packages):
        listed = [Entry(each) for each in packages]
        groups = {"ais_bench.benchmark_plugins": listed}
        found = SimpleNamespace(select=lambda group: groups[group])
        monkeypatch.setattr(registries, "entry_points", lambda: found)

    return installed


def test_plugins_are_found_by_their_files_and_a_broken_one_is_named(installed, tmp_path, heard):
    one, two = package(tmp_path, "one", "models", "openicl.icl_inferencer"), package(tmp_path, "two", "datasets")
    (tmp_path / "two" / "metrics.py").touch()
    installed(one, RuntimeError("its wheel is broken"), two, SimpleNamespace(__name__="three"))
    assert get_plugin_locations("models") == ["one.models"]
    assert get_plugin_locations("openicl.icl_inferencer") == ["one.openicl.icl_inferencer"]
    assert get_plugin_locations("metrics") == ["two.metrics"]
    assert get_locations("datasets") == ["ais_bench.benchmark.datasets", "two.datasets"]
    assert "its wheel is broken" in heard.text


def test_what_is_installed_cannot_be_listed(monkeypatch, heard):
    def broken():
        raise RuntimeError("no metadata")

    monkeypatch.setattr(registries, "entry_points", broken)
    assert get_plugin_locations("models") == []
    assert "no metadata" in heard.text


def test_a_registry_imports_plugins_when_a_name_is_not_found_without_them(installed, tmp_path, monkeypatch):
    folder = tmp_path / "plug_of_tests"
    (folder / "models").mkdir(parents=True)
    (folder / "__init__.py").touch()
    text = "import proctor.compat.aisbench_names.registries as r\nr.TESTED.register_module('Own', module=dict)\n"
    (folder / "models" / "__init__.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    installed(SimpleNamespace(__name__="plug_of_tests", __path__=[str(folder)]))
    tested = Registry("tested", look={"Known": int}.get, kind="models")
    monkeypatch.setattr(registries, "TESTED", tested, raising=False)
    assert tested.get("Known") is int
    assert "Own" not in tested.module_dict
    assert tested.get("Own") is dict
    assert tested.get("Other") is None


def test_a_post_processor_is_one_function_under_all_its_names():
    found = registries.TEXT_POSTPROCESSORS
    for name, function in (
        ("refcoco_bbox_1000", "refcoco_bbox_postprocess"),
        ("first-capital", "first_capital_postprocess"),
        ("drcd", "drcd_postprocess"),
    ):
        assert found.get(name) is found.get(function)
        assert found.get(name).__name__ == function


def test_a_program_that_says_how_to_build_is_heard():
    def build(config, registry, **defaults):
        return registry.name, config["type"], defaults

    assert Registry("mine", build, scope="s").build({"type": "X"}, a=1) == ("mine", "X", {"a": 1})
    with pytest.raises(TypeError, match="unexpected keyword argument 'locatoins'"):
        Registry("mine", locatoins=[])
