import json

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
