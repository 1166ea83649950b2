"""Evaluators of exams about molecules and materials."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from proctor.errors import ScoringError, needed
from proctor.scoring.evaluators.cases import Cases, Verdict, percent, share
from proctor.scoring.evaluators.long_texts import mean
from proctor.scoring.evaluators.texts import area_under_roc

# -- SmolInstruct -------------------------------------------------------------------------------------------------

_MARKED = re.compile(r"<(MOLFORMULA|SMILES|IUPAC)>(.*?)</\1>", re.DOTALL)
_BEFORE_MOLECULES = (
    "reactants and reagents are:\n```\n", "reactants and reagents:\n```\n", "Reactants and Reagents:**\n```\n",
    "Reactants and Reagents SMILES:**\n```\n", "Reactants and Reagents:**  \n`",
)  # fmt: skip


def _molecule(text: str) -> str:
    """Return the last molecule that a text marks; without marks the line after a usual heading, or the text."""
    if found := _MARKED.findall(text):
        return str(found[-1][1]).strip()
    heading = next((each for each in _BEFORE_MOLECULES if each in text), None)
    return text if heading is None else text.rsplit(heading, maxsplit=1)[-1].split("\n", maxsplit=1)[0]


def _answers(cases: Cases) -> list[list[str]]:
    """Return the molecules of each answer; a text has one, a list one for each of its texts."""
    return [
        [_molecule(text) for text in (given if isinstance(given, list) else [given])] for given in cases.predictions
    ]


def same_name(cases: Cases) -> Verdict:
    """Share of answers whose molecule is written as the reference, in percent (``NCExactMatchEvaluator``)."""
    parsed = [_molecule(given) for given in cases.predictions]
    golds = [_molecule(gold).strip() for gold in cases.references]
    marks = [bool(given) and given.strip() == gold for given, gold in zip(parsed, golds, strict=True)]
    verdict = share(marks, "score", parsed=parsed)
    verdict.scores["valid_score"] = 100.0  # upstream counts every answer
    return verdict


def same_elements(cases: Cases) -> Verdict:
    """Share of answers with the reference's atoms and charge, in percent (``NCElementMatchEvaluator``).

    Of several answers to a row one has to be right; ``all_score`` and ``valid_score`` then have a number for each.
    """
    answers = _answers(cases)
    golds = [_atoms(_molecule(gold)) for gold in cases.references]
    right, sound = [], []
    for given, gold in zip(answers, golds, strict=True):
        atoms = [_atoms_or_none(each) for each in given]
        right.append([each is not None and each == gold for each in atoms])
        sound.append([each is not None or not text for each, text in zip(atoms, given, strict=True)])
    shares = [percent(column) for column in zip(*right, strict=True)]
    valid = [100 - percent([not mark for mark in column]) for column in zip(*sound, strict=True)]
    verdict = share([any(each) for each in right], "score", parsed=[each[0] for each in answers])
    if isinstance(cases.predictions[0], list):
        verdict.scores |= {"all_score": shares, "valid_score": valid}
    else:
        verdict.scores["valid_score"] = valid[0]
    return verdict


_PART = re.compile(r"([A-Z][a-z]?)(\d+)?")
_LONGEST_FORMULA = 500  # characters; those of exams have fewer than a hundred


def _atoms_or_none(formula: str) -> dict[str, int] | None:
    try:
        return _atoms(formula) if formula else None
    except ValueError:
        return None


def _atoms(formula: str) -> dict[str, int]:
    """Return how many atoms of each element a formula has, and its charge.

    Raises:
        ValueError: It is not a formula.
    """
    if len(formula) > _LONGEST_FORMULA or not re.fullmatch(r"[A-Za-z][A-Za-z\d]*[+\-\d]*", formula.removesuffix("\n")):
        raise ValueError(f"'{formula[:80]}' is not a formula")
    found: dict[str, int] = defaultdict(int)
    place = 0
    while (part := _PART.match(formula, place)) is not None:
        found[part[1]] += int(part[2] or 1)
        place = part.end()
    charge = re.search(r"[+\-]\d*", formula)
    if charge is not None:
        found[charge.group()[0]] = int(charge.group()[1:] or 1)
    return dict(found)


def fingerprints(cases: Cases) -> Verdict:
    """Mean Tanimoto similarity of Morgan fingerprints, in percent; 0 where a text is not a molecule (``FTSEvaluator``).

    Raises:
        MissingExtraError: ``rdkit`` is not installed.
    """
    with needed("rdkit", "chemistry", "FTSEvaluator"):
        from rdkit import Chem, DataStructs, RDLogger
        from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    RDLogger.DisableLog("rdApp.*")  # it prints what it dislikes about each text
    generator = GetMorganGenerator(radius=2, fpSize=2048)
    parsed = [_molecule(given) for given in cases.predictions]
    points, sound = list[float](), list[bool]()
    for given, gold in zip(parsed, cases.references, strict=True):
        pair = [Chem.MolFromSmiles(text) for text in (given, _molecule(gold))]
        sound.append(all(each is not None for each in pair))
        prints = [generator.GetFingerprint(each) for each in pair] if sound[-1] else []
        points.append(DataStructs.TanimotoSimilarity(*prints) * 100 if prints else 0.0)
    verdict = mean(points)
    verdict.scores["valid_score"] = percent(sound)
    verdict.parsed = parsed
    return verdict


# -- Matbench -----------------------------------------------------------------------------------------------------

_FORMULA = re.compile(r"\b[A-Z][a-z]?\d*(?:[A-Z][a-z]?\d*)*(?:\([A-Z][a-z]?\d*(?:[A-Z][a-z]?\d*)*\)\d*)*\b")
_ELEMENT_NAMES = """
H Li Be B C N O F Na Mg Al Si P S Cl K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Rb Sr Y Zr Nb
Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os
Ir Pt Au Hg Tl Pb Bi Po At Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg
Cn Nh Fl Mc Lv Ts
"""
_ELEMENTS = tuple(_ELEMENT_NAMES.split())
_SCIENTIFIC = r"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
_MOST = 20.0  # no property of the exam is as large; upstream reads larger numbers as 0


def material_number(cases: Cases) -> Verdict:
    """Mean absolute error of the numbers in answers (``MatbenchEvaluator_regression``)."""
    parsed = [_property(given) for given in cases.predictions]
    errors = [_error(given, gold) for given, gold in zip(parsed, cases.references, strict=True)]
    known = [each for each in errors if each is not None]
    return Verdict({"mae": sum(known) / len(known) if known else 0}, {"mae": errors}, parsed=parsed, described=True)


def _error(given: float, gold: Any) -> float | None:
    try:
        return abs(given - float(gold))
    except (TypeError, ValueError):
        return None


def _property(text: str) -> float:
    text = _FORMULA.sub("", text)
    for element in [each for each in _ELEMENTS if each in text]:
        text = re.sub(rf"\b\w*{element}\w*\b", "", text)
    marked = re.findall(rf"answer:({_SCIENTIFIC})", text.lower().replace(" ", ""))
    found = marked or re.findall(_SCIENTIFIC, text)
    number = float(found[-1]) if found else 0.0
    return abs(number) if number < 0 else number if number < _MOST else 0.0


_TRUE_OR_FALSE = (
    ("answer:true", True), ("answer:false", False), ("not", False), ("no", False),
)  # fmt: skip


def material_truth(cases: Cases) -> Verdict:
    """Accuracy, precision, recall and F1 of yes and no, as fractions (``MatbenchEvaluator_classification``)."""
    parsed = [_truth(given) for given in cases.predictions]
    pairs = [(given, bool(gold)) for given, gold in zip(parsed, cases.references, strict=True)]
    right = [given is gold for given, gold in pairs]
    hits = sum(given and gold for given, gold in pairs)
    precision, recall = (hits / total if total else 0.0 for total in map(sum, zip(*pairs, strict=True)))
    scores = {"accuracy": sum(right) / len(right), "precision": precision, "recall": recall}
    scores["f1_score"] = 2 * hits / sum(map(sum, pairs)) if hits else 0.0
    return Verdict(scores, {"accuracy": [float(mark) for mark in right]}, right, parsed=parsed)


def _truth(text: str) -> bool:
    """Return whether a text says yes: it does unless it says no."""
    words = text.lower().replace(" ", "")
    return next((value for sign, value in _TRUE_OR_FALSE if sign in words), True)


# -- SciReasoner --------------------------------------------------------------------------------------------------

_SIGNS = {"positive": 1, "negative": 0}


def signs(cases: Cases) -> Verdict:
    """Matthews correlation of positive and negative answers, in percent, over all and over those that say either.

    In the first, what says neither counts as negative (``GUE_Evaluator``).
    """
    said = [str(given[0] if isinstance(given, list) else given).strip().lower() for given in cases.predictions]
    pairs = [(given, str(gold).strip().lower()) for given, gold in zip(said, cases.references, strict=True)]
    sure = [pair for pair in pairs if all(each in _SIGNS for each in pair)]
    scores = {"matthews_correlation_all": 100 * _matthews([(_SIGNS.get(a, 0), _SIGNS.get(b, 0)) for a, b in pairs])}
    scores["matthews_correlation_filtered"] = 100 * _matthews([(_SIGNS[a], _SIGNS[b]) for a, b in sure])
    scores |= {"non_pos_neg_count": len(pairs) - len(sure), "total_count": len(pairs)}
    right = [100.0 * (given == gold) for given, gold in pairs]
    return Verdict(scores, {"accuracy": right}, described=True, main="matthews_correlation_all")


def _matthews(pairs: Sequence[tuple[int, int]]) -> float:
    """Return the correlation of two columns of 0 and 1; 0 where one of them does not vary."""
    count = len(pairs)
    both, one, other = sum(a and b for a, b in pairs), sum(a for a, _ in pairs), sum(b for _, b in pairs)
    spread = float(one * (count - one) * other * (count - other)) ** 0.5
    return (count * both - one * other) / spread if spread else 0.0


def material_values(cases: Cases) -> Verdict:
    """Errors of numbers, or the area under the curve of yes and no as a fraction (``LLM4Mat_Evaluator``)."""
    first = cases.references[0] if cases.references else None
    if isinstance(first, int | float) and not isinstance(first, bool):
        return _errors_of_numbers(cases)
    pairs = [(_SIDES.get(str(given)), _SIDES.get(str(gold))) for given, gold in cases.pairs()]
    known = [(given, gold) for given, gold in pairs if given is not None and gold is not None]
    given, gold = [list(side) for side in zip(*known, strict=True)] or ([], [])
    if len(set(gold)) < len({*_SIDES.values()}):
        raise ScoringError("an area under the curve needs rows of both kinds", why="the answers are of one kind only")
    column = [None if None in pair else float(pair[0] == pair[1]) for pair in pairs]
    return Verdict({"AUC": area_under_roc(given, gold)}, {"accuracy": column}, described=True)


_SIDES = {"Direct": 1, "True": 1, "Indirect": 0, "False": 0}


def _errors_of_numbers(cases: Cases) -> Verdict:
    pairs = [(_finite(given), _finite(gold)) for given, gold in cases.pairs()]
    known = [(given, gold) for given, gold in pairs if given is not None and gold is not None]
    scores: dict[str, Any] = {"total": len(pairs), "filtered": len(known)}
    column = [None if one is None or other is None else abs(one - other) for one, other in pairs]
    if known:
        errors, golds = [abs(given - gold) for given, gold in known], [gold for _, gold in known]
        mean = sum(golds) / len(golds)
        mae, mad = sum(errors) / len(errors), sum(abs(gold - mean) for gold in golds) / len(golds)
        scores |= {"MAE": mae, "RMSE": (sum(each**2 for each in errors) / len(errors)) ** 0.5, "MAD": mad}
        scores |= {"MAD/MAE": mad / mae} if mae else {}
    return Verdict(scores, {"MAE": column}, described=True, main="MAE")


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
