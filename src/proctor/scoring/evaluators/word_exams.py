"""Evaluators of exams whose answers are words, numbers or tables: SeedBench, ProcessBench, PI-LLM, ZebraLogic."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.errors import ScoringError, needed
from proctor.scoring.evaluators.answers import f1_of_counts
from proctor.scoring.evaluators.cases import Cases, Verdict, average, percent, percent_of_sum, share
from proctor.scoring.text.postprocessors.general import chinese_words, read_literal
from proctor.scoring.text.postprocessors.mathematics import boxed, normalized

# -- SeedBench ----------------------------------------------------------------------------------------------------


def selected_f1(cases: Cases) -> Verdict:
    """F1 of the options that are named, over all questions together, in percent (``F1ScoreEvaluator``)."""
    sets = [tuple({part.strip() for part in re.sub("[^A-Da-d,]+", "", text.lower()).split(",")} for text in pair)
            for pair in cases.pairs()]  # fmt: skip
    counts = [(len(given & gold), len(given), len(gold)) for given, gold in sets]
    same, given, gold = map(sum, zip(*counts, strict=True))
    of_each = [100 * f1_of_counts(*each) for each in counts]
    return Verdict({"F1Score": 100 * f1_of_counts(same, given, gold)}, {"f1": of_each})


_NOTHING = "无内容"


def blanks_rouge(cases: Cases) -> Verdict:
    """Mean ROUGE-L of what is written into each blank, in percent (``AverageRougeScoreEvaluator``).

    Raises:
        MissingExtraError: ``jieba`` or ``rouge-chinese`` is not installed.
    """
    with needed("rouge-chinese", "chinese", "AverageRougeScoreEvaluator"):
        from rouge_chinese import Rouge as ChineseRouge
    scorer = ChineseRouge()

    def points(given: str, gold: str) -> float:
        given = re.sub("(正确答案[:：]|correct answer[:：])", "", given, flags=re.IGNORECASE).strip()  # noqa: RUF001
        wanted = [part.strip() for part in gold.replace("，", ",").split(",")]  # noqa: RUF001 - Chinese
        written = [part.strip() for part in given.split(",")] if len(wanted) > 1 else [given]
        written = [*written, *[_NOTHING] * len(wanted)][: len(wanted)]
        texts = [" ".join(chinese_words(part)) for part in written]
        texts = [text if text.strip() else _NOTHING for text in texts]
        found = scorer.get_scores(texts, [" ".join(chinese_words(part)) for part in wanted])
        return average([each["rouge-l"]["f"] for each in found]) * 100

    marks = [points(*pair) for pair in cases.pairs()]
    return Verdict({"AvgRougeScore": average(marks)}, {"AvgRougeScore": marks}, described=True)


def holds_reference(cases: Cases) -> Verdict:
    """Share of answers that hold the reference, in percent (``AccScoreStr_Evaluator``)."""
    return share([gold.strip().lower() in given.strip().lower() for given, gold in cases.pairs()], "ACCStrScore")


# -- ProcessBench -------------------------------------------------------------------------------------------------


def first_wrong_step(cases: Cases) -> Verdict:
    """Accuracy on wrong and on sound solutions, and their harmonic mean, in percent (``ProcessBenchEvaluator``)."""
    parsed = [_boxed_number(given) for given in cases.predictions]
    golds = [_number(gold) for gold in cases.references]
    marks = [given == gold for given, gold in zip(parsed, golds, strict=True)]
    wrong = [mark for mark, gold in zip(marks, golds, strict=True) if gold != -1]
    sound = [mark for mark, gold in zip(marks, golds, strict=True) if gold == -1]
    one, other = (percent(own) if own else 0.0 for own in (wrong, sound))
    scores = {"error_acc": one, "correct_acc": other, "f1": 2 * one * other / (one + other) if one + other else 0.0}
    return Verdict(scores, {"accuracy": [100.0 * mark for mark in marks]}, parsed=parsed, main="f1")


def _boxed_number(text: str) -> Any:
    found = re.findall(r"boxed\{([^}]*)\}", text)
    return _number(found[-1].replace("{", "").strip()) if found else None


def _number(value: Any) -> Any:
    try:
        return int(value)
    except (TypeError, ValueError):
        return value


# -- PI-LLM -------------------------------------------------------------------------------------------------------

_LIMITS = (("exp_keys", 125, 350), ("exp_valuelength", 4, 20))
"""Up to how many updates a question of an experiment is easy, and from how many it is hard."""
_SHORT_ANSWER = 680  # characters: longer ones that speak of an error are answers (grade_pi_response)
_MARKS = r"[\*'\"\[\]\{\}\(\)\<\>]"
_VERBAL = re.compile(
    r"(?:most recent|final|last|latest|current|up-to-date|asked|queried|specified)\s+(?:value|word|term)?"
    r"(?:s)?(?:\s+\w+){0,1}\s+(?:with|for|of|to)?\s+(?:the )?(?:category|key)?\s*"
    r"([\"'\[\<]?\w+(?:\s+\w+)?[\"'\]\>]?)\s+(?:is|was)(?:\s*:\s*)?\s+([\"'\[\<]?\w+(?:\s+\w+)?[\"'\]\>]?)(?=\n|[,.;:]|$)",
    re.IGNORECASE | re.DOTALL,
)


def last_values(cases: Cases, log_base: float = 1.5) -> Verdict:
    """Share of keys whose last value is named, weighted by the logarithm of the updates (``PILLMEvaluator``).

    Scores are fractions; where the experiment has them, those of easy and of hard questions stand beside.
    """
    points = [_named_values(given, gold) for given, gold in cases.pairs()]
    updates = [row.get("n_updates", 2) for row in cases.rows]
    pairs = list(zip(points, updates, strict=True))
    scores = {"avg_accuracy": average(points), "auc_log1.5": _weighted(pairs, log_base)}
    experiment = str(cases.rows[0].get("experiment", ""))
    limits = next(((easy, hard) for name, easy, hard in _LIMITS if name in experiment), None)
    if limits is not None:
        easy, hard = limits
        scores["auc_log1.5_easy"] = _weighted([each for each in pairs if each[1] <= easy], log_base)
        scores["auc_log1.5_hard"] = _weighted([each for each in pairs if each[1] >= hard], log_base)
    scores["total_samples"] = len(points)
    return Verdict(scores, {"avg_accuracy": points}, described=True, main="auc_log1.5")


def _weighted(pairs: Sequence[tuple[float, int]], base: float) -> float:
    weights = [math.log(max(updates, 2), base) for _, updates in pairs]
    total = sum(weights)
    return sum(value * weight for (value, _), weight in zip(pairs, weights, strict=True)) / total if total else 0.0


def _named_values(given: str, gold: str) -> float:
    try:
        wanted = json.loads(gold)
    except (ValueError, TypeError, RecursionError):
        return 0.0
    named = _values_in(given) if isinstance(given, str) else None
    if not isinstance(wanted, Mapping) or not wanted or named is None:
        return 0.0
    return float(sum(named.get(key) == value for key, value in wanted.items()) / len(wanted))


def _values_in(text: str) -> dict[str, str] | None:
    """Return the values that a text names, in sentences or after colons; ``None`` where it reports an error."""
    is_error = re.search(r"\berror\b", text, re.IGNORECASE) and len(text) < _SHORT_ANSWER
    if not text or "error code" in text.lower() or text.startswith(("error", "Error")) or is_error:
        return None
    text = re.sub(r"\\(?!n)", "", text).replace("*", "")
    after_colons = [line.split(":", 1) for line in text.split("\n") if ":" in line]
    found: dict[str, str] = {}
    for pair in [*after_colons, *_VERBAL.findall(text)]:
        key, value = (re.sub(_MARKS, "", part).strip() for part in pair)
        if key and value:
            found[key] = value
    found.pop("key", None)
    return found


# -- ZebraLogic ---------------------------------------------------------------------------------------------------

_FIRST_CELLS = ("house", "houses", "home", "position")


def zebra_grid(cases: Cases) -> Verdict:
    """Share of cells that are right, and of whole tables, in percent (``ZebraLogicGridEvaluator``)."""
    counts = [_cells_right(str(given), _rows_of(gold)) for given, gold in cases.pairs()]
    right, total = map(sum, zip(*counts, strict=True))
    cells = right / total * 100 if total else 0
    whole = [one == other and other is not None for one, other in counts]
    scores = {"score": cells, "cell_accuracy": cells, "perfect_accuracy": percent(whole)}
    return Verdict(scores, {"perfect_accuracy": [100.0 * mark for mark in whole]}, whole)


def _rows_of(gold: Any) -> list[list[Any]]:
    found = read_literal(gold) if isinstance(gold, str) else gold
    if isinstance(found, str):
        try:
            found = json.loads(found)
        except (ValueError, RecursionError):
            found = None
    rows = found.get("rows") if isinstance(found, Mapping) else None
    if rows is None:
        raise ScoringError("the reference has no rows of a table")
    return list(rows)


def _cells_right(text: str, gold: Sequence[Sequence[Any]]) -> tuple[int, int]:
    total, rows = sum(map(len, gold)), _table(text)
    is_table = len(rows) > 1
    if len(rows) == len(gold) + 1 and rows[0] and rows[0][0].strip().lower() in _FIRST_CELLS:
        rows = rows[1:]
    if is_table and len(rows) == len(gold):
        pairs = [pair for one, other in zip(gold, rows, strict=True) for pair in zip(one, other, strict=False)]
        return sum(str(one).strip().lower() == other.strip().lower() for one, other in pairs), total
    return sum(str(cell).lower() in text.lower() for row in gold for cell in row), total


def _table(text: str) -> list[list[str]]:
    lines = [line.strip() for line in text.split("\n") if line.strip().startswith("|")]
    kept = [line for line in lines if not re.match(r"^\|[-| :]+\|$", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in kept]


# -- ELBench ------------------------------------------------------------------------------------------------------


def boxed_answer(cases: Cases) -> Verdict:
    """Share of answers whose box, in one spelling, is the reference, in percent (``ELBenchMathEvaluator``)."""
    parsed = [_spelled(given) for given in cases.predictions]
    golds = [_spelled(gold) for gold in cases.references]
    marks = [given == gold != "" for given, gold in zip(parsed, golds, strict=True)]
    return share(marks, rule=percent_of_sum, parsed=parsed)


def _spelled(text: Any) -> str:
    inside = boxed(str(text))
    return normalized(str(text) if inside is None else inside)
