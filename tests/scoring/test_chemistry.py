"""Molecules and materials; what is right was compared with OpenCompass (``conformance/aisbench/breadth_scoring``)."""

from __future__ import annotations

import pytest

from proctor.scoring.evaluators import chemistry
from proctor.scoring.evaluators.cases import Cases


def test_names_are_compared_as_they_are_marked():
    given = ["so <IUPAC> ethanol </IUPAC>", "ethanol", "<IUPAC>ethane</IUPAC>"]
    assert chemistry.same_name(Cases(given, ["<IUPAC>ethanol</IUPAC>"] * 3)).correct == [True, True, False]


def test_formulas_are_compared_by_their_atoms_and_charge():
    gold = "<MOLFORMULA> C2H6O </MOLFORMULA>"
    verdict = chemistry.same_elements(Cases(["C2H5OH", "OC2H6", "C2H6O+", "not one"], [gold] * 4))
    assert verdict.correct == [True, True, False, False]
    assert verdict.scores == {"score": 50.0, "valid_score": 75.0}


def test_one_of_several_formulas_has_to_be_right():
    verdict = chemistry.same_elements(Cases([["CH4", "H2O"], ["CH4", "x y"]], ["H2O", "NH3"]))
    assert verdict.scores == {"score": 50.0, "all_score": [0.0, 50.0], "valid_score": [100.0, 50.0]}


@pytest.mark.parametrize("text, value", [("Fe2O3: 1.5", 1.5), ("answer: 2e-1, not 3", 0.2), ("-4", 4.0), ("25", 0.0)])
def test_numbers_of_materials(text, value):
    assert chemistry.material_number(Cases([text], [0.0])).parsed == [value]


def test_yes_and_no_of_materials():
    verdict = chemistry.material_truth(Cases(["Answer: True", "it is not", "maybe", "no"], [True, True, False, False]))
    assert verdict.parsed == [True, False, True, False]
    assert verdict.scores == {"accuracy": 0.5, "precision": 0.5, "recall": 0.5, "f1_score": 0.5}


def test_signs_are_correlated_with_and_without_unsure_answers():
    verdict = chemistry.signs(
        Cases(["positive", "negative", "", "positive"], ["Positive", "negative", "positive", "negative"])
    )
    assert verdict.scores["matthews_correlation_all"] == pytest.approx(0.0)
    assert verdict.scores["matthews_correlation_filtered"] == pytest.approx(50.0)
    assert verdict.scores["non_pos_neg_count"] == 1


def test_values_of_materials():
    verdict = chemistry.material_values(Cases(["1", 4.0, ""], [2.0, 4.0, 1.0]))
    assert verdict.scores == {
        "total": 3, "filtered": 2, "MAE": 0.5, "RMSE": pytest.approx(0.5**0.5), "MAD": 1.0, "MAD/MAE": 2.0
    }  # fmt: skip
    sides = Cases(["Direct", "Indirect", "Direct", ""], ["Direct", "Indirect", "Indirect", "Direct"])
    assert chemistry.material_values(sides).scores == {"AUC": 0.75}
