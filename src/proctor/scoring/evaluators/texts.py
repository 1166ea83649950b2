"""Evaluators of free text: ROUGE, BLEU, correlation of labels, SQuAD."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from proctor.errors import MissingExtraError, ScoringError
from proctor.scoring.confusion import matthews_of_labels
from proctor.scoring.evaluators.cases import Cases, Verdict
from proctor.scoring.metrics.question_answering import Squad
from proctor.scoring.metrics.summaries import Rouge
from proctor.scoring.postprocessors.general import chinese_words, general
from proctor.scoring.sacrebleu_scorers import sacrebleu_scorer

_RESAMPLES = 1000  # of rouge_score's BootstrapAggregator, which upstream uses by way of ``evaluate``


def _references(cases: Cases) -> list[list[Any]]:
    return [list(gold) if isinstance(gold, list | tuple) else [gold] for gold in cases.references]


def _wanted(cases: Cases) -> None:
    if not len(cases.predictions):
        raise ScoringError("there are no predictions to evaluate")


def rouge(cases: Cases) -> Verdict:
    """ROUGE-1, -2, -L and -Lsum, in percent (``RougeEvaluator``).

    The global score is the median of 1,000 bootstrapped means with numpy's seed 0, as upstream computes it.
    """
    _wanted(cases)
    metric = Rouge(sent_split_newline=False)
    rows = [metric.compute(gold, given, {}) for given, gold in zip(cases.predictions, _references(cases), strict=True)]
    columns = {name: [100.0 * row[name] for row in rows] for name in rows[0]}
    return Verdict(_bootstrapped(columns), dict(columns))


def _bootstrapped(columns: dict[str, list[float]]) -> dict[str, float]:
    random = np.random.RandomState(0)
    count = len(next(iter(columns.values())))
    medians = {}
    for name in sorted(columns):
        values = np.array(columns[name])
        means = [float(values[random.choice(np.arange(count), size=count)].mean()) for _ in range(_RESAMPLES)]
        medians[name] = float(np.percentile(means, 50))
    return {name: medians[name] for name in columns}


def jieba_rouge(cases: Cases) -> Verdict:
    """ROUGE-1, -2 and -L of Chinese texts cut into words, F-measures in percent (``JiebaRougeEvaluator``).

    Raises:
        MissingExtraError: ``jieba`` or ``rouge-chinese`` is not installed.
    """
    _wanted(cases)
    try:
        from rouge_chinese import Rouge as ChineseRouge
    except ImportError as error:
        raise MissingExtraError.of("rouge-chinese", "chinese", "JiebaRougeEvaluator") from error
    given = [_cut(text) or "__PREDPLACEHOLDER__" for text in cases.predictions]
    gold = [_cut(text) or "__REFRPLACEHOLDER__" for text in cases.references]
    rows = ChineseRouge().get_scores(given, gold)
    names = {"rouge1": "rouge-1", "rouge2": "rouge-2", "rougeL": "rouge-l"}
    columns = {name: [100 * row[key]["f"] for row in rows] for name, key in names.items()}
    return Verdict({name: sum(column) / len(column) for name, column in columns.items()}, dict(columns))


def _cut(text: str) -> str:
    return " ".join(chinese_words(general(text)))


def bleu(cases: Cases) -> Verdict:
    """Corpus BLEU by ``sacrebleu``, with its counts (``BleuEvaluator``)."""
    return _bleu(cases, None)


def bleu_flores(cases: Cases) -> Verdict:
    """Corpus BLEU on the tokens of FLORES-200 (``BleuFloresEvaluator``)."""
    return _bleu(cases, "flores200")


def _bleu(cases: Cases, tokenize: str | None) -> Verdict:
    _wanted(cases)
    references = _references(cases)
    count = len(references[0])
    if any(len(each) != count for each in references):
        raise ScoringError("BLEU needs the same number of references for each prediction")
    options = {"tokenize": tokenize} if tokenize else {}
    streams = [[each[i] for each in references] for i in range(count)]
    found = sacrebleu_scorer("bleu", "BleuEvaluator", **options).corpus_score(list(cases.predictions), streams)
    alone = sacrebleu_scorer("bleu", "BleuEvaluator", effective_order=True, **options)
    scores = {
        "score": found.score,
        "counts": list(found.counts),
        "totals": list(found.totals),
        "precisions": list(found.precisions),
        "bp": found.bp,
        "sys_len": found.sys_len,
        "ref_len": found.ref_len,
    }
    single = [
        alone.sentence_score(given, list(gold)).score for given, gold in zip(cases.predictions, references, strict=True)
    ]
    return Verdict(scores, {"sentence_bleu": single})


def matthews(cases: Cases) -> Verdict:
    """Matthews correlation of labels, times 100 (``MccEvaluator``)."""
    _wanted(cases)
    given, gold = ([str(each) for each in column] for column in (cases.predictions, cases.references))
    marks = [100.0 * (one == other) for one, other in zip(given, gold, strict=True)]
    return Verdict({"matthews_correlation": 100 * matthews_of_labels(gold, given)}, {"accuracy": marks})


def squad(cases: Cases) -> Verdict:
    """F1 of the first line of each prediction, in percent (``SquadEvaluator``).

    Upstream returns the bare number; here it is the score ``f1``.
    """
    _wanted(cases)
    metric = Squad()
    columns: list[float] = []
    for given, gold in cases.pairs():
        found = metric.compute([[gold]], [given.split("\n")[0]], [{}])
        columns.append(100.0 * float(found["f1"]))
    return Verdict({"f1": sum(columns) / len(columns)}, {"f1": columns})


def auc_roc(cases: Cases) -> Verdict:
    """Area under the ROC curve of the second choice's probability, and accuracy, in percent (``AUCROCEvaluator``)."""
    _wanted(cases)
    given = np.array(cases.predictions, dtype=float)
    gold = [int(each) for each in cases.references]
    positive = [float(value) for value, label in zip(given[:, 1], gold, strict=True) if label == 1]
    negative = [float(value) for value, label in zip(given[:, 1], gold, strict=True) if label == 0]
    if not positive or not negative:
        raise ScoringError("the area under the ROC curve needs both labels among the references")
    marks = [100.0 * (label == int(chosen)) for label, chosen in zip(gold, given.argmax(axis=1), strict=True)]
    scores = {"auc_score": 100 * _area(positive, negative), "accuracy": sum(marks) / len(marks)}
    return Verdict(scores, {"accuracy": marks})


def _area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return the chance that a positive case is ranked above a negative one, ties counting half."""
    values = np.array([*positive, *negative])
    order = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(order[2])
    ranks = (ends - (order[2] - 1) / 2)[order[1]]
    above = ranks[: len(positive)].sum() - len(positive) * (len(positive) + 1) / 2
    return float(above / (len(positive) * len(negative)))


def tydiqa(cases: Cases) -> Verdict:
    """Best exact match and F1 of words with an accepted answer, of the first line (``TydiQAEvaluator``), in percent."""
    _wanted(cases)
    exact, overlap = [], []
    for given, golds in zip(cases.predictions, _references(cases), strict=True):
        said = general(given.split("\n", 1)[0].lower())
        wanted = [general(gold) for gold in golds]
        exact.append(100.0 * (said in wanted))
        overlap.append(100.0 * max(_shared_words(said, gold) for gold in wanted))
    scores = {"exact_match": sum(exact) / len(exact), "f1": sum(overlap) / len(overlap)}
    return Verdict(scores, {"exact_match": exact, "f1": overlap})


def _shared_words(said: str, gold: str) -> float:
    words, wanted = said.split(), gold.split()
    shared = sum((Counter(words) & Counter(wanted)).values())
    return 2 * shared / (len(words) + len(wanted)) if shared else 0.0
