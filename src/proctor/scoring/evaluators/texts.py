"""Evaluators of free text: ROUGE, BLEU, correlation of labels, SQuAD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from proctor.errors import ScoringError, needed
from proctor.scoring.evaluators.answers import f1
from proctor.scoring.evaluators.cases import Cases, Verdict, percent, percent_of_sum, share
from proctor.scoring.metrics.question_answering import Squad
from proctor.scoring.metrics.summaries import Rouge
from proctor.scoring.metrics.text_packages import sacrebleu_scorer
from proctor.scoring.text.postprocessors.general import chinese_words, general
from proctor.statistics.confusion import matthews_of_labels

_RESAMPLES = 1000  # of rouge_score's BootstrapAggregator, which upstream uses by way of ``evaluate``


def _references(cases: Cases) -> list[list[Any]]:
    return [list(gold) if isinstance(gold, list | tuple) else [gold] for gold in cases.references]


def rouge(cases: Cases) -> Verdict:
    """ROUGE-1, -2, -L and -Lsum, in percent (``RougeEvaluator``).

    The global score is the median of 1,000 bootstrapped means with numpy's seed 0, as upstream computes it.
    """
    metric = Rouge(sent_split_newline=False)
    rows = [metric.compute(gold, given, {}) for given, gold in zip(cases.predictions, _references(cases), strict=True)]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    return Verdict(_bootstrapped(columns), {name: [100.0 * value for value in each] for name, each in columns.items()})


def _bootstrapped(columns: dict[str, list[float]]) -> dict[str, float]:
    """Return the medians in percent; upstream's means are of matrices' rows, which are added one after another."""
    random = np.random.RandomState(0)
    count = len(next(iter(columns.values())))
    medians = {}
    for name in sorted(columns):
        values = np.array(columns[name])
        drawn = (values[random.choice(np.arange(count), size=count)] for _ in range(_RESAMPLES))
        medians[name] = float(np.percentile([np.cumsum(each)[-1] / count for each in drawn], 50)) * 100
    return {name: medians[name] for name in columns}


def jieba_rouge(cases: Cases) -> Verdict:
    """ROUGE-1, -2 and -L of Chinese texts cut into words, F-measures in percent (``JiebaRougeEvaluator``).

    Raises:
        MissingExtraError: ``jieba`` or ``rouge-chinese`` is not installed.
    """
    with needed("rouge-chinese", "chinese", "JiebaRougeEvaluator"):
        from rouge_chinese import Rouge as ChineseRouge
    given = [_cut(text) or "__PREDPLACEHOLDER__" for text in cases.predictions]
    gold = [_cut(text) or "__REFRPLACEHOLDER__" for text in cases.references]
    rows = ChineseRouge().get_scores(given, gold)
    names = {"rouge1": "rouge-1", "rouge2": "rouge-2", "rougeL": "rouge-l"}
    columns = {name: [row[key]["f"] for row in rows] for name, key in names.items()}
    scores = {name: percent(column) for name, column in columns.items()}
    return Verdict(scores, {name: [100 * value for value in column] for name, column in columns.items()})


def _cut(text: str) -> str:
    return " ".join(chinese_words(general(text)))


def bleu(cases: Cases) -> Verdict:
    """Corpus BLEU by ``sacrebleu``, with its counts (``BleuEvaluator``)."""
    return _bleu(cases, None)


def bleu_flores(cases: Cases) -> Verdict:
    """Corpus BLEU on the tokens of FLORES-200 (``BleuFloresEvaluator``)."""
    return _bleu(cases, "flores200")


def _bleu(cases: Cases, tokenize: str | None) -> Verdict:
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
    given, gold = ([str(each) for each in column] for column in (cases.predictions, cases.references))
    marks = [100.0 * (one == other) for one, other in zip(given, gold, strict=True)]
    return Verdict({"matthews_correlation": 100 * matthews_of_labels(gold, given)}, {"accuracy": marks})


def squad(cases: Cases) -> Verdict:
    """F1 of the first line of each prediction, in percent (``SquadEvaluator``).

    Upstream returns the bare number; here it is the score ``f1``.
    """
    metric = Squad()
    columns: list[float] = []
    for given, gold in cases.pairs():
        found = metric.compute([[gold]], [given.split("\n")[0]], [{}])
        columns.append(float(found["f1"]))
    return share(columns, "f1", details=False, rule=percent_of_sum)


def auc_roc(cases: Cases) -> Verdict:
    """Area under the ROC curve of the second choice's probability, and accuracy, in percent (``AUCROCEvaluator``)."""
    given = np.array(cases.predictions, dtype=float)
    gold = [int(each) for each in cases.references]
    if not {0, 1} <= {*gold}:
        raise ScoringError("the area under the ROC curve needs both labels among the references")
    verdict = share([label == int(chosen) for label, chosen in zip(gold, given.argmax(axis=1), strict=True)])
    area = area_under_roc(given[:, 1].tolist(), gold)
    return Verdict({"auc_score": 100 * area, **verdict.scores}, verdict.instances)


def area_under_roc(values: Sequence[float], labels: Sequence[int]) -> float:
    """Return the chance that a case labelled 1 has a higher value than one labelled 0, ties counting half.

    It is summed over the corners of the curve, as ``sklearn.metrics.roc_auc_score`` does.
    """
    order = np.argsort(-np.asarray(values, dtype=float), kind="stable")
    value, label = np.asarray(values, dtype=float)[order], np.asarray(labels)[order] == 1
    ends = np.flatnonzero(np.append(np.diff(value) != 0, True))
    right = np.cumsum(label)[ends]
    wrong = 1 + ends - right
    corner = np.ones(len(ends), dtype=bool)
    corner[1:-1] = (np.diff(right, 2) != 0) | (np.diff(wrong, 2) != 0)
    x, y = (np.append(0, each[corner]) / each[-1] for each in (wrong, right))
    return float((np.diff(x) * (y[1:] + y[:-1]) / 2.0).sum())


def tydiqa(cases: Cases) -> Verdict:
    """Best exact match and F1 of words with an accepted answer, of the first line (``TydiQAEvaluator``), in percent."""
    exact, overlap = list[float](), list[float]()
    for given, golds in zip(cases.predictions, _references(cases), strict=True):
        said = general(given.split("\n", 1)[0].lower())
        wanted = [general(gold) for gold in golds]
        exact.append(said in wanted)
        overlap.append(max(f1(said.split(), gold.split()) for gold in wanted))
    columns = {"exact_match": exact, "f1": overlap}
    scores = {name: percent_of_sum(marks) for name, marks in columns.items()}
    return Verdict(scores, {name: [100.0 * mark for mark in marks] for name, marks in columns.items()})
