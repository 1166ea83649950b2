"""What an evaluator needs and this machine lacks is said before anybody is asked: packages, and data that they read."""

import importlib.util
import json
import zipfile

import pytest

from proctor.dialects.aisbench.evaluation_checks import grading_problems, row_problems
from proctor.dialects.aisbench.values import Reference
from proctor.scoring import named_table as registry
from proctor.scoring import packages as requirements
from proctor.scoring.instructions.following import _ALL
from proctor.scoring.instructions.needs import _NEEDED
from proctor.scoring.metric_table import metric_table

AIS, OC = "ais_bench.benchmark", "opencompass"


def problems(evaluator, **more):
    return [each.what for each in grading_problems({"evaluator": evaluator, **more})]


@pytest.fixture
def lacking(monkeypatch):
    """Return a function that takes packages away."""

    def take(*names):
        real = importlib.util.find_spec
        monkeypatch.setattr(requirements, "find_spec", lambda name: None if name in names else real(name))

    return take


WORDNET = "needs NLTK's data 'wordnet', which is not on this machine"


@pytest.fixture
def nltk_folder(monkeypatch, tmp_path):
    """The only folder in which NLTK looks for data."""
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    return tmp_path


def test_wordnet_is_missed_before_anybody_is_asked(nltk_folder):
    evaluator = {"type": Reference(f"{OC}.MeteorEvaluator")}
    assert problems(evaluator) == [f"'MeteorEvaluator' {WORDNET}"]
    (nltk_folder / "corpora").mkdir()
    fetched = nltk_folder / "corpora" / "wordnet.zip"
    fetched.write_bytes(b"half of it")
    assert problems(evaluator) == [f"'MeteorEvaluator' {WORDNET}"]
    with zipfile.ZipFile(fetched, "w") as archive:
        archive.writestr("wordnet/README", "")
    assert problems(evaluator) == []


def of_rows(name, *references):
    found = row_problems({"evaluator": {"type": Reference(f"{AIS}.datasets.{name}")}}, lambda: references)
    return [each.what for each in found]


@pytest.mark.usefixtures("nltk_folder")
def test_data_of_some_rows_is_missed_where_there_are_such_rows():
    assert (
        of_rows("OCRBenchV2Evaluator", {"category": "text counting en"}, None, {"category": "document parsing en"})
        == []
    )
    for kind in ("full-page OCR cn", "text translation cn", "handwritten answer extraction cn"):
        assert of_rows("OCRBenchV2Evaluator", {"category": kind}, {"category": kind}) == [
            f"'OCRBenchV2Evaluator' {WORDNET}"
        ]


@pytest.mark.usefixtures("nltk_folder")
def test_packages_and_data_of_instructions(lacking):
    lacking("langdetect", "emoji")
    plain = {"instruction_id_list": ["punctuation:no_comma", "keywords:existence"], "kwargs": [{}, {}]}
    assert of_rows("IFEvaluator", plain, plain) == []
    assert of_rows("IFEvaluator", plain, {"instruction_id_list": ["change_case:english_capital"]}) == [
        "'IFEvaluator' needs the package 'langdetect', which is not installed"
    ]
    assert of_rows("IFEvaluator", {"instruction_id_list": ["length_constraints:number_sentences"]}) == [
        "'IFEvaluator' needs NLTK's data 'punkt_tab', which is not on this machine"
    ]
    turns = {"turn_1_instruction_id_list": ["format:emoji"], "turn_2_instruction_id_list": ["ratio:stop_words"]}
    assert [each.split("'")[-2] for each in of_rows("MultiIFEvaluator", turns)] == ["emoji", "stopwords"]


def test_needs_are_those_of_instructions_that_there_are():
    assert set(_NEEDED) <= set(_ALL)


def test_data_of_a_missing_package_is_not_looked_for(lacking, monkeypatch):
    monkeypatch.setattr(requirements, "is_here", pytest.fail)
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
