import importlib.util
import json
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from proctor.errors import ProctorError
from proctor.exchange.readers import observed


def program(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"proctor_{name}", Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


fuzz, fuzz_files = program("fuzz"), program("fuzz_files")


@pytest.mark.parametrize("target", list(fuzz.TARGETS))
def test_only_our_errors_come_back(target):
    count, wrong = fuzz.attack(target, seed=1, seconds=6, most=400)
    assert count > 20
    assert wrong == []


@pytest.mark.parametrize("kind", list(fuzz_files.KINDS))
def test_only_our_errors_come_back_from_files_of_results(kind):
    count, wrong = fuzz_files.attack(kind, seed=1, seconds=6, most=300)
    assert count > 20
    assert wrong == []


@pytest.mark.parametrize("header", [{}, [], {"eval": None}, {"eval": {"task": "t"}, "results": 5}])
@pytest.mark.parametrize("sample", [5, {"scores": [1]}, {"id": {}, "scores": {"match": {"value": "C"}}}])
def test_an_archive_of_anything_else_ends_in_words(tmp_path, header, sample):
    with zipfile.ZipFile(tmp_path / "x.eval", "w") as archive:
        archive.writestr("header.json", json.dumps(header))
        archive.writestr("samples/1.json", json.dumps(sample))
    with pytest.raises(ProctorError, match="this is not a log of inspect"):
        observed(str(tmp_path / "x.eval"))


def test_a_message_says_where_a_record_differs(tmp_path):
    record = json.loads(json.dumps(fuzz_files.EEE))
    record["evaluation_results"][0]["score_details"]["score"] = "high"
    (tmp_path / "x.json").write_text(json.dumps(record))
    with pytest.raises(ProctorError) as caught:
        observed(str(tmp_path / "x.json"))
    text = str(caught.value)
    assert "this is not a record of Every Eval Ever: $.evaluation_results[0].score_details.score" in text
    assert "why: Expected `float`, got `str`" in text
