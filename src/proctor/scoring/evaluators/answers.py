"""Evaluators that compare an answer with its reference, instance by instance."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from proctor.errors import MissingFieldError, ScoringError
from proctor.scoring.distances import levenshtein, normalize_answer
from proctor.scoring.evaluators.cases import Cases, Verdict, average, percent, percent_of_sum, running_sum, share
from proctor.scoring.text.postprocessors import families
from proctor.scoring.text.postprocessors.general import chinese_words, general


def accuracy(cases: Cases) -> Verdict:
    """Share of predictions that equal their reference as text (``AccEvaluator``)."""
    return share([str(given) == str(gold) for given, gold in cases.pairs()], details=False)


def accuracy_with_details(cases: Cases) -> Verdict:
    """Share of predictions that equal their reference as values (``AccwithDetailsEvaluator``)."""
    return share([given == gold for given, gold in cases.pairs()])


_CONTAMINATION = ("clean", "input contamination", "input-and-label contamination")


def accuracy_by_contamination(cases: Cases) -> Verdict:
    """Accuracy of clean and of contaminated rows (``AccContaminationEvaluator``)."""
    if any("is_clean" not in row for row in cases.rows):
        raise MissingFieldError("the data has no column 'is_clean', which AccContaminationEvaluator reads")
    marks = [str(given) == str(gold) for given, gold in cases.pairs()]
    kinds = [row["is_clean"] for row in cases.rows]
    scores: dict[str, Any] = {}
    for kind in _CONTAMINATION:
        of_kind = [mark for mark, each in zip(marks, kinds, strict=True) if each == kind]
        name = kind.replace("contamination", "contaminated")
        scores[f"accuracy - {name}"] = percent(of_kind) if of_kind else float("nan")
    return Verdict(scores, {"accuracy": [100.0 * mark for mark in marks]})


def exact_match(cases: Cases) -> Verdict:
    """Share of predictions that are one of their references, raw or after ``general`` (``EMEvaluator``)."""
    marks = [general(given) in {*map(general, gold), *gold} for given, gold in cases.pairs()]
    return share(marks, "score", parsed=[general(given) for given in cases.predictions])


def exact_match_inside(cases: Cases) -> Verdict:
    """Share of predictions that contain their reference after ``general`` (``LEvalEMEvaluator``)."""
    marks = [general(gold) in general(given) or gold in general(given) for given, gold in cases.pairs()]
    return share(marks, details=False)


def nearest_candidate(cases: Cases) -> Verdict:
    """Share of predictions whose nearest candidate by edit distance is the gold one (``EDAccEvaluator``)."""
    chosen = [_nearest(given, gold["candidates"]) for given, gold in cases.pairs()]
    marks = [choice == gold["label"] for choice, gold in zip(chosen, cases.references, strict=True)]
    return share(marks, details=False, parsed=chosen)


def _nearest(prediction: str, candidates: Sequence[str | Sequence[str]]) -> int:
    distances = [
        min(levenshtein(prediction, text) for text in ([each] if isinstance(each, str) else each))
        for each in candidates
    ]
    return distances.index(min(distances))


def equal(cases: Cases) -> Verdict:
    """Share of predictions that equal their reference as values (``GPQAEvaluator`` …)."""
    return share([given == gold for given, gold in cases.pairs()], rule=percent_of_sum)


def same_text(cases: Cases) -> Verdict:
    """As :func:`equal`, divided before it is multiplied (``MGSM_Evaluator``)."""
    return share([given == gold for given, gold in cases.pairs()])


def gsm8k(cases: Cases) -> Verdict:
    """Share of predictions that are the reference's number (``Gsm8kEvaluator``)."""
    return share([same_number(given, gold) for given, gold in cases.pairs()], rule=percent_of_sum)


_EQUAL = 1e-6  # numbers nearer than this are one


def same_number(given: Any, gold: Any) -> bool:
    """Whether two answers are equal, or the same number, of which the right one is whole."""
    if given == gold:
        return True
    try:
        return abs(float(given) - int(gold)) < _EQUAL
    except (ValueError, TypeError, OverflowError):
        return False


def bbh(cases: Cases) -> Verdict:
    """Share of predictions whose free answer is the reference's (``BBHEvaluator``)."""
    if cases.project == "aisbench":
        parsed = [families.bbh_freeform_plain(given) for given in cases.predictions]
        return share(
            [given == gold for given, gold in zip(parsed, cases.references, strict=True)], "score", parsed=parsed
        )
    parsed = [families.bbh_freeform(given) for given in cases.predictions]
    wanted = [families.bbh_freeform(gold) for gold in cases.references]
    marks = [given.casefold() == gold.casefold() for given, gold in zip(parsed, wanted, strict=True)]
    return share(marks, "score", parsed=parsed)


def bbh_choice(cases: Cases) -> Verdict:
    """Share of predictions that are the reference (``BBHEvaluator_mcq``)."""
    return share([given == gold for given, gold in cases.pairs()], "score")


def _contains_an_answer(cases: Cases, read: Callable[[str], str]) -> Verdict:
    parsed = [general(read(given.strip().split("\n")[0].lower())) for given in cases.predictions]
    marks = [
        any(general(answer).lower() in given for answer in gold)
        for given, gold in zip(parsed, cases.references, strict=True)
    ]
    return share(marks, "score", parsed=parsed)


def triviaqa(cases: Cases) -> Verdict:
    """Share of predictions that contain an answer (``TriviaQAEvaluator``)."""
    return _contains_an_answer(
        cases, lambda line: line.split("answer is")[-1].split("a:")[-1].split("answer:")[-1].strip()
    )


def natural_questions(cases: Cases) -> Verdict:
    """Share of predictions that contain an answer (``NQEvaluator``)."""
    return _contains_an_answer(cases, lambda line: line.split("answer is")[-1])


_MARK = re.compile(f"[{re.escape(string.punctuation.replace(chr(92), ''))}]")
"""Any ASCII punctuation but the backslash, which upstream's pattern happens to leave out."""


def lambada(cases: Cases) -> Verdict:
    """Share of predictions whose first word is the reference (``LambadaEvaluator``)."""
    words = [general(_MARK.split(given.strip().split(" ")[0])[0]) for given in cases.predictions]
    marks = [given == general(gold) for given, gold in zip(words, cases.references, strict=True)]
    return share(marks, details=False, rule=percent_of_sum, parsed=words)


def judged(cases: Cases) -> Verdict:
    """Share of judgements that are ``A`` (``LLMJudgeCorrectEvaluator``)."""
    return share([given == "A" for given in cases.predictions], rule=percent_of_sum)


def mean_of(column: str, name: str) -> Callable[[Cases], Verdict]:
    """Return an evaluator whose score is the mean of a column of the answers."""

    def evaluator(cases: Cases) -> Verdict:
        values = cases.columns.get(column)
        if not values:
            raise ScoringError(f"the answers have no '{column}'")
        return Verdict({name: average(values)}, {name: list(values)})

    return evaluator


average_ppl = mean_of("ppl", "average_ppl")
average_mink = mean_of("mink", "average_mink")


# -- evaluators of single datasets --------------------------------------------------------------------------------

_DROP_ANSWER = re.compile(r"(?i)Answer\s*:\s*([^\n]+)")


def drop(cases: Cases) -> Verdict:
    """Share of predictions whose answer contains, or is contained in, an accepted one (``DropOpenAIEvaluator``)."""

    def fits(given: str, gold: str) -> bool:
        match = _DROP_ANSWER.search(given)
        answer = normalize_answer(match.group(1) if match else given)
        return any(_overlaps(answer, normalize_answer(each)) for each in gold.split("|"))

    return share([fits(given, gold) for given, gold in cases.pairs()], rule=percent_of_sum)


def _overlaps(one: str, other: str) -> bool:
    return one == other if not one or not other else one in other or other in one


_PRO_OPTIONS = tuple("ABCDEFGHIJKLMNOP")


def mmlu_pro(cases: Cases) -> Verdict:
    """Share of predictions whose first line is the reference's letter or text (``MMLUProBaseEvaluator``)."""
    lines = [given.split("\n")[0].strip() for given in cases.predictions]
    marks = [is_pro_option(given, gold) for given, gold in zip(lines, cases.references, strict=True)]
    return share(marks, rule=percent_of_sum, parsed=lines)


def is_pro_option(given: str, gold: str) -> bool:
    """Whether an answer is the letter or the text of an option such as ``B. a cat``."""
    letter, dot, text = gold.partition(". ")
    whole = bool(dot) and ". " not in text
    return whole and ((given in _PRO_OPTIONS and letter == given) or text.strip() == given)


def longbench_f1(cases: Cases, language: Literal["en", "zh"] = "en") -> Verdict:
    """Best F1 of the words that prediction and references share, in percent (``LongBenchF1Evaluator``)."""
    words = chinese_tokens if language == "zh" else english_tokens
    marks = [max(0.0, *(f1(words(given), words(each)) for each in gold)) for given, gold in cases.pairs()]
    return share(marks, "score", details=False)


def english_tokens(text: str) -> list[str]:
    """Return the words of an English text without articles and punctuation, in lower case."""
    return normalize_answer(text).split()


def chinese_tokens(text: str) -> list[str]:
    """Return the words of a Chinese text without punctuation, in lower case."""
    return [plain for word in chinese_words(text) if (plain := plain_chinese_word(word))]


def plain_chinese_word(word: str) -> str:
    """Return a word without punctuation and space, in lower case."""
    return "".join(_CHINESE_MARK.sub("", word.lower()).split())


_CHINESE_MARK = re.compile(
    "["
    + re.escape(string.punctuation)
    + "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】〔〕〖〗〘〙〚〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏]"  # noqa: E501, RUF001
)


def f1(given: Sequence[str], gold: Sequence[str]) -> float:
    """Return the F1 of the words that two texts share, as often as they do."""
    return f1_of_counts(sum((Counter(given) & Counter(gold)).values()), len(given), len(gold))


def f1_of_counts(same: int, given: int, gold: int) -> float:
    """Return the F1 of how many of two texts' words are the same, by way of precision and recall as upstream."""
    if not same:
        return 0.0
    precision, recall = same / given, same / gold
    return 2 * precision * recall / (precision + recall)


def _points(points: Sequence[Sequence[float]]) -> Verdict:
    """Return the sum of all points of all cases by the number of cases, in percent."""
    whole = running_sum(each for own in points for each in own)
    marks = [running_sum(own) for own in points]
    return share(marks, "score", details=False, rule=lambda _: whole / len(points) * 100)


def longbench_count(cases: Cases) -> Verdict:
    """Share of a prediction's numbers that are the reference, in percent (``LongBenchCountEvaluator``)."""

    def right(given: str, gold: Sequence[Any]) -> list[float]:
        numbers = re.findall(r"\d+", given)
        return [numbers.count(str(each)) / len(numbers) for each in gold] if numbers else []

    return _points([right(given, gold) for given, gold in cases.pairs()])


def longbench_retrieval(cases: Cases, language: Literal["en", "zh"] = "en") -> Verdict:
    """Share of a prediction's numbers that name the reference's paragraph (``LongBenchRetrievalEvaluator``)."""
    pattern = re.compile(r"段落(\d+)" if language == "zh" else r"Paragraph (\d+)")

    def right(given: str, gold: Sequence[str]) -> list[float]:
        numbers = re.findall(r"\d+", given)
        wanted = [match.group(1) for match in map(pattern.search, gold) if match]
        return [numbers.count(each) / len(numbers) for each in wanted] if numbers else []

    return _points([right(given, gold) for given, gold in cases.pairs()])


def longbench_classification(cases: Cases) -> Verdict:
    """Share of the classes that a prediction names that is the reference (``LongBenchClassificationEvaluator``)."""

    def right(given: str, gold: Mapping[str, Any]) -> list[float]:
        return [_class_share(given, answer, gold["all_classes"]) for answer in gold["answers"]]

    return _points([right(given, gold) for given, gold in cases.pairs()])


def _class_share(given: str, answer: str, classes: Sequence[str]) -> float:
    named = [each for each in classes if each in given]
    for each in named:  # upstream removes from the list that it walks through, and so skips some
        if each in answer and each != answer:
            named.remove(each)
    return 1 / len(named) if answer in named else 0.0
