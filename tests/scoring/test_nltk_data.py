"""What an evaluator needs and this machine lacks is said before anybody is asked: packages, and data that they read."""

import importlib.util
import json
import zipfile

import pytest

from proctor.dialects.aisbench.evaluators import grading_problems
from proctor.dialects.aisbench.values import Reference
from proctor.scoring import nltk_data, registry
from proctor.scoring.metric_table import metric_table

AIS, OC = "ais_bench.benchmark", "opencompass"


def problems(evaluator, **more):
    return [each.what for each in grading_problems({"evaluator": evaluator, **more})]


@pytest.fixture
def lacking(monkeypatch):
    """Return a function that takes packages away."""

    def take(*names):
        real = importlib.util.find_spec
        monkeypatch.setattr(registry, "find_spec", lambda name: None if name in names else real(name))

    return take


@pytest.mark.parametrize("name", ["datasets.OCRBenchV2Evaluator", "MeteorEvaluator"])
def test_wordnet_is_missed_before_anybody_is_asked(name, monkeypatch, tmp_path):
    pytest.importorskip("nltk")
    import nltk

    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    evaluator = {"type": Reference(f"{AIS if 'OCR' in name else OC}.{name}")}
    short = name.rpartition(".")[2]
    assert f"'{short}' needs NLTK's data 'wordnet', which is not on this machine" in problems(evaluator)
    (tmp_path / "corpora").mkdir()
    fetched = tmp_path / "corpora" / "wordnet.zip"
    fetched.write_bytes(b"half of it")
    assert any("wordnet" in each for each in problems(evaluator))
    with zipfile.ZipFile(fetched, "w") as archive:
        archive.writestr("wordnet/README", "")
    assert not any("wordnet" in each for each in problems(evaluator))


def test_data_of_a_missing_package_is_not_looked_for(lacking, monkeypatch):
    monkeypatch.setattr(nltk_data, "is_here", lambda place: pytest.fail(place))
    lacking("nltk")
    assert problems({"type": "MeteorEvaluator"}) == [
        "'MeteorEvaluator' needs the package 'nltk', which is not installed"
    ]


def test_a_package_of_one_projects_rules(lacking):
    lacking("math_verify")
    missing = "'MATHEvaluator' needs the package 'math_verify', which is not installed"
    assert missing in problems({"type": Reference(f"{AIS}.openicl.icl_evaluator.MATHEvaluator")})
    assert problems({"type": Reference(f"{OC}.datasets.MATHEvaluator")}) == []


@pytest.mark.parametrize("name", ["LongBenchF1Evaluator", "LongBenchRougeEvaluator", "LVEvalOPTF1Evaluator"])
def test_a_package_of_one_language(name, lacking):
    lacking("jieba")
    kind = Reference(f"{OC}.datasets.{name}")
    assert problems({"type": kind, "language": "zh"}) == [f"'{name}' needs the package 'jieba', which is not installed"]
    assert problems({"type": kind, "language": "en"}) == problems({"type": kind}) == []


@pytest.mark.parametrize(
    "kind",
    ["general_cn", "general_cn_postprocess", Reference(f"{OC}.utils.text_postprocessors.general_cn_postprocess")],
    ids=str,
)
def test_a_package_of_a_postprocessor(kind, lacking):
    lacking("jieba")
    found = problems({"type": "AccEvaluator"}, pred_postprocessor={"type": kind})
    assert len(found) == 1
    assert "needs the package 'jieba'" in found[0]


def test_conditions_name_arguments():
    for entry in metric_table().of(registry.OPENCOMPASS).values():
        for where, packages in entry.packages_where.items():
            name, sign, value = where.partition("=")
            assert name
            assert sign
            assert value
            assert all("=pip install" in each for each in packages), json.dumps(packages)
