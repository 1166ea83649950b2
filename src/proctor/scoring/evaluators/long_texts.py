"""Evaluators of exams with long texts: needles, RULER, LongBench, InfiniteBench."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Literal

from proctor.errors import ScoringError, needed
from proctor.foreign_text import parse_json
from proctor.scoring.distances import levenshtein, normalize_answer
from proctor.scoring.evaluators.cases import Cases, Verdict, average, percent, running_sum, share
from proctor.scoring.text.postprocessors.general import chinese_words

_WHITESPACE = re.compile(r"\s+")


def mean(marks: Sequence[float]) -> Verdict:
    """Return the verdict of an evaluator whose score is the mean of the cases' scores as they are.

    Raises:
        ScoringError: There are no cases.
    """
    return Verdict({"score": average(marks)}, {"score": marks}, described=True)


# -- needles ------------------------------------------------------------------------------------------------------


def needle(cases: Cases, use_trim: bool = False) -> Verdict:
    """100 where a prediction has the keyword, else a fifth of its likeness to the needle (``NeedleBenchOrigin…``)."""
    marks = []
    for given, gold in cases.pairs():
        text, keyword = gold.split("*")[:2]
        given_text, text = _WHITESPACE.sub("", given), _WHITESPACE.sub("", text)
        if use_trim:
            given_text = _trimmed(given_text, text)
        longest = max(len(given_text), len(text))
        likeness = 100 * (1 - levenshtein(given_text, text) / longest) if longest else 100
        marks.append(100.0 if keyword in given else 0.2 * likeness)
    return mean(marks)


def _trimmed(given: str, gold: str) -> str:
    """Return a prediction cut after the reference's last character, where that comes at about the right place."""
    early = int(0.8 * len(gold))
    given = given[: int(1.2 * len(gold))]
    end = given.find(gold[-1], early) if len(given) > early else -1
    return given[: end + 1] if end >= 0 else given


def needle_keyword(cases: Cases) -> Verdict:
    """Share of predictions that have the keyword (``NeedleBenchOriginEvaluator`` of the second version)."""
    return mean([100.0 * (gold.split("*")[1] in given) for given, gold in cases.pairs()])


def parallel_needles(cases: Cases) -> Verdict:
    """Share of keywords found, by depth and on average (``NeedleBenchParallelEvaluator``)."""
    depths = [int(depth) for depth in cases.references[0].split("#")[1].split("*")]
    found = dict.fromkeys(depths, 0.0)
    each_case = []
    for given, gold in cases.pairs():
        hits = [(depth, word in given) for word, depth in zip(gold.split("#")[0].split("*"), depths, strict=False)]
        for depth, hit in hits:
            found[depth] += 100 / len(cases.predictions) if hit else 0
        each_case.append(100 * sum(hit for _, hit in hits) / len(found))
    scores = {f"Depth{depth}": score for depth, score in found.items()}
    return Verdict({**scores, "average_score": running_sum(found.values()) / len(found)}, {"average_score": each_case})


def several_needles(cases: Cases) -> Verdict:
    """Share of the answer's words that a prediction has (``NeedleBenchMultiEvaluator``)."""
    marks = []
    for given, gold in cases.pairs():
        words = gold.split("*")[1].lower().split()
        marks.append(sum(word in given.lower() for word in words) * (100 / len(words) if words else 0.0))
    return mean(marks)


def stripped_equal(cases: Cases) -> Verdict:
    """Share of predictions that are the reference but for space around them (``NeedleBenchATCEvaluator``)."""
    return share([given.strip() == gold.strip() for given, gold in cases.pairs()], "score")


# -- RULER, BABILong, MRCR ----------------------------------------------------------------------------------------


def ruler_all(cases: Cases) -> Verdict:
    """Mean share of answers that a prediction has (``RulerNiahEvaluator`` …), to two digits."""
    marks = [sum(text.lower() in given.lower() for text in gold) / len(gold) for given, gold in cases.pairs()]
    return share(marks, "score", details=False, digits=2)


def ruler_any(cases: Cases) -> Verdict:
    """Share of predictions that have one of the answers (``RulerQaEvaluator``), to two digits."""
    marks = [max(text.lower() in given.lower() for text in gold) for given, gold in cases.pairs()]
    return share(marks, "score", details=False, digits=2)


def babilong(cases: Cases) -> Verdict:
    """Share of predictions whose first sentence has the answer (``BabiLongEvaluator``), to two digits."""
    marks = []
    for given, gold in cases.pairs():
        said = given.lower().split(".")[0].split("<context>")[0].split("<example>")[0]
        marks.append(str(gold[0]).lower() in said)
    return share(marks, "score", details=False, digits=2)


def mrcr(cases: Cases) -> Verdict:
    """Likeness of what follows the prefix; 0 without the prefix (``MRCREvaluator``)."""
    marks = []
    for given, gold in cases.pairs():
        wanted = parse_json(gold)
        answer, prefix = wanted["answer"], wanted["prefix"]
        matcher = difflib.SequenceMatcher(None, given[len(prefix) :], answer[len(prefix) :])
        marks.append(matcher.ratio() if given.startswith(prefix) else 0.0)
    return share(marks, "score", details=False, described=True)


# -- LongBench ----------------------------------------------------------------------------------------------------


def rouge_l(given: str, gold: str) -> float:
    """Return the F-measure of ROUGE-L as the package ``rouge`` computes it: over sets of words, dots between sentences.

    Upstream counts texts of more than about a thousand words as 0, because that package runs out of stack; here they
    have their score.
    """
    shown, wanted = ([" ".join(part.split()).split(" ") for part in text.split(".") if part] for text in (given, gold))
    if not shown or not wanted:
        return 0.0
    common = {word for one in wanted for other in shown for word in _common_subsequence(one, other)}
    recall = len(common) / len({word for part in wanted for word in part})
    precision = len(common) / len({word for part in shown for word in part})
    return 2.0 * ((precision * recall) / (precision + recall + 1e-8))


def _common_subsequence(first: Sequence[str], second: Sequence[str]) -> list[str]:
    table = [[0] * (len(second) + 1)]
    for word in first:
        above, line = table[-1], [0]
        for j, other in enumerate(second):
            line.append(above[j] + 1 if word == other else max(above[j + 1], line[j]))
        table.append(line)
    found, i, j = [], len(first), len(second)
    while i and j:
        if first[i - 1] == second[j - 1]:
            found.append(first[i - 1])
            i, j = i - 1, j - 1
        elif table[i - 1][j] > table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return found


def longbench_rouge(cases: Cases, language: Literal["en", "zh"] = "en") -> Verdict:
    """Best ROUGE-L of the references (``LongBenchRougeEvaluator``), in percent."""
    marks = []
    for given, gold in cases.pairs():
        said, best = given, 0.0
        for text in gold:
            wanted = text
            if language == "zh":  # upstream cuts the prediction once more for each reference
                said, wanted = " ".join(chinese_words(said)), " ".join(chinese_words(text))
            best = max(best, rouge_l(said, wanted))
        marks.append(best)
    return share(marks, "score", details=False)


def code_similarity(cases: Cases) -> Verdict:
    """Likeness of the first line of code to the reference (``LongBenchCodeSimEvaluator``), in percent.

    Raises:
        MissingExtraError: ``rapidfuzz`` is not installed.
    """
    with needed("rapidfuzz", "text", "LongBenchCodeSimEvaluator"):
        from rapidfuzz import fuzz
    marks = []
    for given, gold in cases.pairs():
        lines = given.lstrip("\n").split("\n")
        line = next((each for each in lines if not any(mark in each for mark in ("`", "#", "//"))), "")
        marks.append(max((_ratio(fuzz.ratio, line, text) for text in gold), default=0.0))
    verdict = share([mark / 100 for mark in marks], "score", details=False)
    verdict.instances = {"score": marks}
    return verdict


def _ratio(ratio: Callable[[str, str], float], line: str, gold: str) -> float:
    """Return the likeness in whole percent; an empty text is like nothing but another one."""
    return 100.0 if line == gold else float(round(ratio(line, gold))) if line and gold else 0.0


def longbench_v2(cases: Cases) -> Verdict:
    """Accuracy, also by difficulty and length (``LongBenchv2Evaluator``), in percent."""
    marks = [given == gold for given, gold in cases.pairs()]
    verdict = share(marks, details=False)
    for column, names in (("difficulty", ("easy", "hard")), ("length", ("short", "medium", "long"))):
        for name in names:
            own = [mark for mark, row in zip(marks, cases.rows, strict=True) if row.get(column) == name]
            if own:
                verdict.scores[f"accuracy_{name}"] = percent(own)
    return verdict


def quality(cases: Cases) -> Verdict:
    """Accuracy on easy, hard and all questions (``QuALITYEvaluator``); upstream divides hard ones by the easy ones."""
    marks = [given == gold for given, gold in cases.pairs()]
    easy = [mark for mark, row in zip(marks, cases.rows, strict=True) if row["difficult"] == 0]
    hard = [mark for mark, row in zip(marks, cases.rows, strict=True) if row["difficult"] != 0]
    if not easy:
        raise ScoringError("there are no easy questions, by whose number QuALITYEvaluator divides")
    scores = {"easy_acc": percent(easy), "hard_acc": sum(hard) / len(easy) * 100, "all_acc": percent(marks)}
    return Verdict(scores, {"all_acc": [100.0 * mark for mark in marks]})


# -- LV-Eval ------------------------------------------------------------------------------------------------------


# -- InfiniteBench ------------------------------------------------------------------------------------------------

_MARKS = str.maketrans(dict.fromkeys("\n:\"'.,?!{}", " "))


def infinite_name(cases: Cases) -> Verdict:
    """Share of predictions that have the name as a word (``InfiniteBenchendiaEvaluator``)."""
    marks = [gold[0] in [word.upper() for word in given.translate(_MARKS).split()] for given, gold in cases.pairs()]
    return share(marks, "score", details=False)


def infinite_value(cases: Cases) -> Verdict:
    """Share of predictions that have the value as a word (``InfiniteBenchretrievekvEvaluator``)."""
    return share([gold in given.translate(_MARKS).split() for given, gold in cases.pairs()], "score", details=False)


def infinite_numbers(cases: Cases) -> Verdict:
    """Mean number of intermediate results in a row that are right, times 100 (``InfiniteBenchmathcalcEvaluator``)."""
    marks = []
    for given, gold in cases.pairs():
        numbers = [int(part) for part in re.split("[^0-9]", given) if part]
        right = [one == other for one, other in zip(gold, numbers, strict=False)]
        marks.append(right.index(False) if False in right else len(right))
    return share(marks, "score", details=False)


# -- L-Eval ------------------------------------------------------------------------------------------------------

_TOLD = ("will be", "of the code", "is", "would be", "the value of", "the result of", "printed")
_SPELLING = ((",", ""), ("'", ""), ("\\", ""), (".0", ""), ("] [", "]["), ("[ [", "[["), ("] ]", "]]"))
_MORE_WORDS = 3  # words that an answer may have beyond those of the reference


def code_output(cases: Cases) -> Verdict:
    """Share of predictions whose last words are what the code prints (``CodeUEvaluator``)."""
    marks = [
        normalize_answer(printed_words(given, gold)) == normalize_answer(code_words(gold))
        for given, gold in cases.pairs()
    ]
    return share(marks, details=False)


def code_words(text: str) -> str:
    """Return what code printed without the marks in which spellings differ."""
    text = re.sub(r"\s+", " ", text)
    for before, after in _SPELLING:
        text = text.replace(before, after)
    return text.strip()


def printed_words(given: str, gold: str) -> str:
    """Return the words of an answer that are what the code prints: a few more than the right answer has."""
    count, said = len(gold.split()) + _MORE_WORDS, code_words(given)
    for told in _TOLD:
        said = said.replace(told, "")
    _, announced, rest = said.rpartition("the final output")
    parts = re.split(r"\s+", rest)
    return " ".join(parts[:count] if announced else parts[-count:])


def loyalty(cases: Cases) -> Verdict:
    """Share of stories that are judged rightly as true or false, whatever is a fact (``SciFiEvaluator``)."""
    marks = []
    for given, gold in cases.pairs():
        wanted = wanted_word(gold)
        marks.append(bool(wanted) and judged_word(given) == wanted)
    return share(marks, details=False)


def wanted_word(gold: str) -> str:
    """Return the judgement that a reference has; ``""`` without one."""
    return next((each for word in gold.lower().split() for each in ("true", "false") if each in word), "")


def judged_word(given: str) -> str:
    """Return the judgement of a story, ``true`` or ``false``; ``""`` without one."""
    words = (given or "").lower().split("[fact:", 1)[0].split()
    alone = (word.strip(".,;:!") for word in words)
    if found := next((word for word in alone if word in ("true", "false")), ""):
        return found
    return next((each for word in words for each in ("true", "false") if each in word), "")
