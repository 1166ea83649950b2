from __future__ import annotations

import json
import math
from importlib.resources import files
from types import SimpleNamespace

import pytest

from proctor.artifacts import fetch_artifact
from proctor.errors import ScoringError, ValidationError
from proctor.ir import Failure
from proctor.scoring.columns import Columns
from proctor.scoring.text import label_processors, number_processors, processors, text_processors
from proctor.scoring.text import label_processors as structure_processors
from proctor.scoring.text.processor_steps import process, process_each

MODULES = (processors, text_processors, label_processors, number_processors, structure_processors)
p = SimpleNamespace(**{name: value for module in MODULES for name, value in vars(module).items()})
CASES = [
    (p.ToString(), 5, "5"),
    (p.ToStringStripped(), " a \n", "a"),
    (p.Lower(), "ÄB", "äb"),
    (p.Upper(), "äb", "ÄB"),
    (p.Capitalize(), "aBC", "Abc"),
    (p.LowerCaseTillPunc(), "Yes, it is", "yes"),
    (p.LowerCaseTillPunc(), "YES", "yes"),
    (p.GetStringAfter(substring=":"), "a: b: c", "b: c"),
    (p.GetStringAfter(substring=":"), " a ", "a"),
    (p.Substring(begin=1, end=3), "abcd", "bc"),
    (p.AddPrefix(prefix="x"), " y", "xy"),
    (p.AddPrefix(prefix="x"), " xy", "xy"),
    (p.RemoveArticles(), "a cat, the hat", "  cat,   hat"),
    (p.RemovePunctuations(), "a,b!", "ab"),
    (p.FixWhiteSpace(), " a \n b ", "a b"),
    (p.TakeFirstNonEmptyLine(), "\n\n a \nb", "a"),
    (p.TakeLastNonEmptyLine(), "a\n b \n\n", "b"),
    (p.TakeFirstWord(), " -- 3.5 yes", "3.5"),
    (p.TakeFirstWord(), "(Yes) no", "Yes"),
    (p.TakeFirstWord(), "?!", ""),
    (p.FirstCharacter(), " (B) ", "B"),
    (p.FirstCharacter(), "?", ""),
    (p.ExtractNumber(), "1,234 and -5.5.", "-5.5"),
    (p.ExtractNumber(which="first"), "1,234 and -5.5.", "1234"),
    (p.ExtractNumber(failure_default="none"), "no", "none"),
    (p.ToListByComma(), "a, b ,c", ["a", "b", "c"]),
    (p.ToListByCommaSpace(), "a, b,c", ["a", "b,c"]),
    (p.SplitStrip(), "a b", ["a", "b"]),
    (p.RegexParser(regex=r"(\w)=(\w)"), "a=b c=d", [("a", "b"), ("c", "d")]),
    (p.RegexParser(regex=r".", termination_regex="None"), "None", []),
    (p.ExtractWithRegex(regex=r"\d+"), "a 12 3", "12"),
    (p.ExtractWithRegex(regex=r"\d+"), "a", ""),
    (p.GroupDictWithRegex(pattern=r"(?P<name>\w+):(?P<age>\d+)"), "alice:23", {"name": "alice", "age": "23"}),
    (p.GroupDictWithRegex(pattern=r"(?P<name>\w+):"), "-", {}),
    (p.GetSQL(), "Sure:\n```sql\nSELECT 1; DROP\n```", "SELECT 1"),
    (p.GetSQL(), "```\nselect 2\n```", "select 2"),
    (p.GetSQL(), "Try SELECT a FROM b; ok", "SELECT a FROM b"),
    (p.GetSQL(), "nothing", "No query found in generation"),
    (p.GetSQL(), None, "Input must be a string"),
    (p.ConvertToBoolean(), "It is not right", "FALSE"),
    (p.ConvertToBoolean(), "Yes", "TRUE"),
    (p.ConvertToBoolean(), "maybe", "OTHER"),
    (p.YesNoToInt(), "yes", "1"),
    (p.YesNoToInt(), "x", "x"),
    (p.YesToOneElseZero(), "no", "0"),
    (p.ToYesOrNone(), "no", "none"),
    (p.StanceToProCon(), "suggestion", "CON"),
    (p.StanceToProCon(), "x", "none"),
    (p.StringEquals(string="Toxic"), "This is NOT toxic", "not toxic"),
    (p.StringEquals(string="toxic"), "Toxic.", "toxic"),
    (p.StringEquals(string="toxic"), "Nice", "Nice"),
    (p.StrToFloatFormat(), "5", "5.0"),
    (p.StrToFloatFormat(), "five", "five"),
    (p.ScaleNumberToZeroOneReturnZeroIfFails(), "7", 0.7),
    (p.ScaleNumberToZeroOneReturnZeroIfFails(), "x", 0),
    (p.ExtractVerbalJudgment(), "Mostly fine", 2 / 3),
    (p.ExtractVerbalJudgment(), "?", 0),
    (p.ExtractVerbalJudgementBadGood(), "very good", 1.0),
    (p.ExtractMtBenchRatingJudgment(), "Rating: [[7]]", 0.7),
    (p.ExtractMtBenchRatingJudgment(), "Rating: [[ 7.5 / 10 ]]", 0.75),
    (p.ExtractMtBenchRatingJudgment(), "Rating: 7", 0.0),
    (p.ExtractHarmRatingJudgement(), "[[3]]", 0.5),
    (p.ExtractMtBenchLabelJudgment(), "winner [[A]]", "A"),
    (p.ExtractMtBenchLabelJudgment(), "winner A", "None"),
    (p.ExtractArenaHardNumericalJudgment(), "[[B>>A]]", -3),
    (p.ExtractArenaHardNumericalJudgment(), "tie", 0),
    (p.ExtractSafeUnsafeJudgment(), "safe\nS1", 1.0),
    (p.ExtractSafeUnsafeJudgment(), "unsafe", 0.0),
    (p.LiteralEval(), " {'a': [1, 2]} ", {"a": [1, 2]}),
    (p.LiteralEval(), "", ""),
    (p.ListToEmptyEntitiesTuples(), ["a", 1], [("a", ""), ("1", "")]),
    (p.DictOfListsToPairs(), {"PER": ["Ann"]}, [("PER", "Ann")]),
    (p.DictOfListsToPairs(position_key_before_value=False), {"PER": ["Ann"]}, [("Ann", "PER")]),
    (p.DictOfListsToPairs(), {"PER": [1]}, []),
    (p.DictOfListsToPairs(), ["x"], []),
]


@pytest.mark.parametrize("operator, value, expected", CASES, ids=lambda each: repr(each)[:40])
def test_values_are_processed(operator, value, expected):
    assert operator.process_one(value) == expected


@pytest.mark.parametrize(
    "operator, value",
    [
        (p.ExtractMtBenchRatingJudgment(), "[[90]]"),
        (p.ExtractMtBenchRatingJudgment(), "[[11/10]]"),
        (p.ExtractHarmRatingJudgement(), "[[0]]"),
        (p.ExtractHarmRatingJudgement(), "[[6]]"),
    ],
)
def test_a_rating_beyond_the_scale_is_no_number(operator, value):
    with pytest.raises(ScoringError, match="beyond the scale"):
        operator.process_one(value)


def test_a_missing_rating_may_be_nan():
    assert math.isnan(p.ExtractHarmRatingJudgement().process_one("none"))


@pytest.mark.parametrize("text", ["__import__('os')", "[1", "f(1)", "(" * 5000])
def test_literals_are_never_executed(text):
    with pytest.raises(ScoringError):
        p.LiteralEval().process_one(text)


def test_the_share_of_yes_is_read_from_probabilities():
    tokens = [
        {"top_tokens": [{"text": "Well", "logprob": -0.1}]},
        {"top_tokens": [{"text": " yes", "logprob": math.log(0.6)}, {"text": "NO", "logprob": math.log(0.2)}]},
    ]
    operator = p.InferDictsToBinaryLogprobs(neg_class_name="no", pos_class_name="yes")
    assert operator.process_one(tokens) == pytest.approx(0.75)
    assert operator.process_one([]) == 0
    with pytest.raises(ValidationError, match="overlap"):
        p.InferDictsToBinaryLogprobs(neg_class_name="safe", pos_class_name="unsafe")


def test_the_closest_option_is_found_in_the_task_data():
    columns = Columns(["lon", "x"], [["London"], ["y"]], [{"options": ["Paris", "London"]}, {}])
    done = process(columns, ["processors.match_closest_option"])
    assert done.predictions[0] == "London"
    assert isinstance(done.predictions[1], Failure)
    assert "options" in done.predictions[1].message


def test_predictions_and_references_are_processed_as_the_processor_says():
    columns = Columns([" A "], [[" B ", "C "]])
    assert process(columns, ["processors.to_string_stripped"]).references == [["B", "C"]]
    only_prediction = p.PostProcess(operator=p.Lower(), process_references=False)
    done = process(columns, ["processors.to_string_stripped", only_prediction])
    assert (done.predictions, done.references) == (["a"], [["B", "C"]])


def test_operators_on_rows_process_too():
    done = process(Columns(["A", Failure("x", "y")], [["B"], ["C"]]), [p.Lower(field="prediction")])
    assert done.predictions == ["a", Failure("x", "y")]
    assert done.references == [["B"], ["C"]]


def test_each_instance_has_its_own_processors():
    columns = Columns(["a", "b", "c"], [["a"]] * 3)
    upper = ["processors.upper_case"]
    assert process_each(columns, [upper, [], list(upper)]).predictions == ["A", "b", "C"]
    with pytest.raises(ScoringError):
        process_each(columns, [[]])


def test_a_value_that_cannot_be_processed_is_a_failure():
    done = process(Columns(["a", 5], [["a"], [None]]), ["processors.lower_case"])
    assert done.predictions[0] == "a"
    assert done.predictions[1].kind == "wrong_type"
    assert "processors.lower_case" in done.predictions[1].message
    assert "AttributeError" in done.predictions[1].message
    assert isinstance(done.references[1], Failure)


def catalog_ids(folder):
    root = files("proctor.catalog") / folder
    return sorted(
        f"{folder}.{entry.name.removesuffix('.json')}" for entry in root.iterdir() if entry.name.endswith(".json")
    )


@pytest.mark.parametrize("name", catalog_ids("processors"))
def test_every_processor_of_the_catalog_can_be_fetched(name):
    artifact = fetch_artifact(name)
    assert artifact.description
    assert type(artifact).from_dict(json.loads(artifact.to_json())).to_dict() == artifact.to_dict()
