"""Metrics of translation and transcription: BLEU, SacreBLEU, word error rate."""
# ruff: noqa: ARG002 - metrics are called with all there is

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from proctor.errors import ScoringError, did_you_mean
from proctor.scoring.distances import levenshtein
from proctor.scoring.global_metric import CountedMetric, Counts, Finished, ratio
from proctor.scoring.map_reduce import MapReduceMetric
from proctor.scoring.metrics.text_packages import sacrebleu_scorer
from proctor.scoring.scores import Unit
from proctor.statistics.arrays import Floats
from proctor.statistics.resampling import Resampler, Sums

ORDER = 4  # n-grams of up to four words, as in the definition of BLEU (Papineni et al., 2002)
_MEMORY = 10_000  # texts, some tens of MB: a sentence comes again in every group and comparison that it is in


# -- BLEU -----------------------------------------------------------------------------------------------------


class Bleu(CountedMetric):
    """Corpus BLEU (Papineni et al. 2002) on mteval-13a tokens, without smoothing, from 0 to 1.

    The reference length is that of the shortest reference, as in the implementation of TensorFlow that the
    Hugging Face hub distributes.

    Attributes:
        max_order: Longest n-gram.
        smooth: Add one to matches and possible matches (Lin & Och 2004).
    """

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "share"
    raw_scores: ClassVar[frozenset[str]] = frozenset({"length_ratio", "translation_length", "reference_length"})
    main_score: str = "bleu"
    prediction_type: object = str
    max_order: int = ORDER
    smooth: bool = False

    def compute(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> dict[str, Any]:
        """Return the scores of a sample."""
        sums = self.count(references, predictions, task_data).parts.sum(axis=0)
        found = {name: float(value[0]) for name, value in self._finish(sums[np.newaxis, :]).items()}
        if math.isnan(found["bleu"]):
            raise ScoringError("BLEU is undefined", why="the predictions or the references are empty")
        return {
            "bleu": found["bleu"],
            "precisions": [float(value) for value in self._precisions(sums[np.newaxis, :])[0]],
            "brevity_penalty": found["brevity_penalty"],
            "length_ratio": found["length_ratio"],
            "translation_length": int(sums[-2]),
            "reference_length": int(sums[-1]),
        }

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return matches and lengths of each instance."""
        rows = [self._row(given, each) for given, each in zip(predictions, references, strict=True)]
        return Counts(np.array(rows, dtype=np.float64), self._finish)

    def _row(self, prediction: str, references: Sequence[str]) -> list[int]:
        given = tokenize_13a(prediction)
        wanted = [tokenize_13a(reference) for reference in references]
        merged: Counter[tuple[str, ...]] = Counter()
        for tokens in wanted:
            merged |= _ngrams(tokens, self.max_order)
        matches = [0] * self.max_order
        for ngram, times in (_ngrams(given, self.max_order) & merged).items():
            matches[len(ngram) - 1] += times
        possible = [max(len(given) - order, 0) for order in range(self.max_order)]
        return [*matches, *possible, len(given), min(map(len, wanted))]

    def _precisions(self, sums: Floats) -> Floats:
        matches, possible = sums[:, : self.max_order], sums[:, self.max_order : 2 * self.max_order]
        return (matches + 1) / (possible + 1) if self.smooth else ratio(matches, possible)

    def _finish(self, sums: Floats) -> Finished:
        precisions = self._precisions(sums)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(precisions.min(axis=1) > 0, np.exp(np.log(precisions).mean(axis=1)), 0.0)
            length = sums[:, -2] / np.where(sums[:, -1] > 0, sums[:, -1], np.nan)
            brevity = np.where(length > 1, 1.0, np.exp(1 - 1 / np.where(length > 0, length, np.nan)))
        return {"bleu": mean * brevity, "brevity_penalty": brevity, "length_ratio": length}


def _ngrams(tokens: Sequence[str], longest: int) -> Counter[tuple[str, ...]]:
    return Counter(
        tuple(tokens[start : start + order])
        for order in range(1, longest + 1)
        for start in range(len(tokens) - order + 1)
    )


@lru_cache(maxsize=_MEMORY)
def tokenize_13a(text: str) -> tuple[str, ...]:
    """Cut text as NIST's ``mteval-v13a.pl`` does."""
    line = text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    if "&" in line:
        for entity, character in (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")):
            line = line.replace(entity, character)
    line = f" {line} "
    for pattern, replacement in _RULES_13A:
        line = pattern.sub(replacement, line)
    return tuple(line.split())


_RULES_13A = (
    (re.compile(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), r" \1 "),
    (re.compile(r"([^0-9])([\.,])"), r"\1 \2 "),
    (re.compile(r"([\.,])([^0-9])"), r" \1 \2"),
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),
)


# -- SacreBLEU ------------------------------------------------------------------------------------------------


class SacreBleuStats(NamedTuple):
    """Counts of a sentence."""

    counts: list[int]
    totals: list[int]
    sys_len: int
    ref_len: int


def _grams(tokens: Sequence[str], order: int) -> Counter[Any]:
    return Counter(tokens) if order == 1 else Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def _matches(given: Counter[Any], references: Sequence[Counter[Any]]) -> int:
    """Return how many n-grams of ``given`` are in the references: each as often as the reference that has it most."""
    if len(references) == 1:
        wanted = references[0]
        return sum(min(given[gram], wanted[gram]) for gram in given.keys() & wanted.keys())
    return sum(min(times, max(wanted[gram] for wanted in references)) for gram, times in given.items())


def _closest(length: int, others: Iterable[int]) -> int:
    """Return the length that is closest; the shorter one of two that are."""
    return min(others, key=lambda other: (abs(length - other), other))


class SacrebleuMetric(MapReduceMetric[str, SacreBleuStats]):
    """Base of corpus BLEU, on the tokens that the package ``sacrebleu`` gives."""

    prediction_type: object = str
    main_score: str = "sacrebleu"
    ci_score_names: list[str] | None = ["sacrebleu"]
    tokenize: str | None = None
    lowercase: bool = False
    force: bool = False
    smooth_method: str = "exp"
    smooth_value: float | None = None
    use_effective_order: bool = True
    max_ngram_order: int = ORDER

    def tokenizer_of(self, task_data: Mapping[str, Any]) -> str | None:
        """Return the tokenizer of an instance."""
        return self.tokenize

    def map(self, prediction: str, references: list[str], task_data: dict[str, Any]) -> SacreBleuStats:
        """Return the counts of a sentence."""
        tokenize = _sacrebleu(self.tokenizer_of(task_data), self.lowercase, self.max_ngram_order).tokenizer
        texts = [prediction, *references]
        if self.lowercase:
            texts = [text.lower() for text in texts]
        given, *wanted = (tokenize(text.rstrip()).split() for text in texts)
        orders = range(1, self.max_ngram_order + 1)
        counts = [_matches(_grams(given, order), [_grams(each, order) for each in wanted]) for order in orders]
        totals = [max(len(given) - order + 1, 0) for order in orders]
        return SacreBleuStats(counts, totals, len(given), _closest(len(given), map(len, wanted)))

    def corpus_scores(self, stats: Sequence[SacreBleuStats]) -> dict[str, Any]:
        """Return SacreBLEU's own numbers, from 0 to 100."""
        return self._numbers(self._parts(stats).sum(axis=0, keepdims=True))[0]

    def _numbers(self, sums: Floats) -> list[dict[str, Any]]:
        """Return SacreBLEU's numbers of each row of sums."""
        scores, precisions, brevity = (part.tolist() for part in self._bleu(sums))
        counts, totals = (part.astype(int).tolist() for part in np.split(sums[:, :-2], 2, axis=1))
        lengths = sums[:, -2:].astype(int).tolist()
        names = ("score", "counts", "totals", "precisions", "bp", "sys_len", "ref_len")
        rows = zip(scores, counts, totals, precisions, brevity, lengths, strict=True)
        return [dict(zip(names, (*row[:-1], *row[-1]), strict=True)) for row in rows]

    def presented(self, numbers: dict[str, Any]) -> dict[str, Any]:
        """Return the scores to report."""
        score = numbers.pop("score")
        return {**numbers, "sacrebleu": score}

    def reduce(self, intermediates: list[SacreBleuStats]) -> dict[str, Any]:
        """Return the scores of a sample."""
        return self.presented(self.corpus_scores(intermediates))

    def _instance_columns(self, intermediates: list[SacreBleuStats]) -> dict[str, Sequence[Any]]:
        rows = self._numbers(self._parts(intermediates)) if intermediates else []
        return self._columns_of([self.presented(row) for row in rows])

    def resampler(self, intermediates: Sequence[SacreBleuStats], names: Sequence[str]) -> Resampler:
        """Return BLEU of resampled counts."""
        return Sums(self._parts(intermediates), lambda sums: np.array([self.scaled(self._bleu(sums)[0])] * len(names)))

    def scaled(self, score: Floats) -> Floats:
        """Return scores in the range that is reported."""
        return score

    def _parts(self, stats: Sequence[SacreBleuStats]) -> Floats:
        return np.array([[*each.counts, *each.totals, each.sys_len, each.ref_len] for each in stats], dtype=np.float64)

    def _bleu(self, sums: Floats) -> tuple[Floats, Floats, Floats]:
        """Return score, precisions and brevity penalty (Post 2018), from 0 to 100 but for the last."""
        counts, totals = (part.copy() for part in np.split(sums[:, :-2], 2, axis=1))
        brevity = np.where(sums[:, -2] < sums[:, -1], np.exp(1 - sums[:, -1] / np.maximum(sums[:, -2], 1e-300)), 1.0)
        if self.smooth_method == "add-k":
            more = 1.0 if self.smooth_value is None else self.smooth_value
            counts[:, 1:] += more
            totals[:, 1:] += more
        precisions = np.zeros(counts.shape)
        halving = np.ones(len(counts))
        alive = np.ones(len(counts), dtype=bool)
        order = np.full(len(counts), counts.shape[1] if not self.use_effective_order else 0)
        for n in range(counts.shape[1]):
            alive &= totals[:, n] > 0
            if self.use_effective_order:
                order = np.where(alive, n + 1, order)
            missing = alive & (counts[:, n] == 0)
            precisions[:, n] = np.where(alive, ratio(100.0 * counts[:, n], totals[:, n]), 0.0)
            if self.smooth_method == "exp":
                halving = np.where(missing, halving * 2, halving)
                precisions[:, n] = np.where(
                    missing, ratio(np.full(len(counts), 100.0), halving * totals[:, n]), precisions[:, n]
                )
            elif self.smooth_method == "floor":
                least = 0.1 if self.smooth_value is None else self.smooth_value
                precisions[:, n] = np.where(
                    missing, ratio(np.full(len(counts), 100.0 * least), totals[:, n]), precisions[:, n]
                )
        matched = np.asarray(counts.any(axis=1))
        logs = np.log(np.where(precisions > 0, precisions, 1.0)) + np.where(precisions > 0, 0.0, -1e10)
        within = np.arange(counts.shape[1]) < order[:, np.newaxis]
        with np.errstate(invalid="ignore", divide="ignore"):
            score = brevity * np.exp(np.where(within, logs, 0.0).sum(axis=1) / np.maximum(order, 1))
        return np.where(matched, score, 0.0), np.where(matched[:, np.newaxis], precisions, 0.0), brevity


@lru_cache(maxsize=64)
def _sacrebleu(tokenizer: str | None, lowercase: bool, order: int) -> Any:
    options = {"tokenize": tokenizer, "lowercase": lowercase, "max_ngram_order": order, "effective_order": True}
    return sacrebleu_scorer("bleu", "BLEU of SacreBLEU", **options)


class NormalizedSacrebleu(SacrebleuMetric):
    """SacreBLEU from 0 to 1, rounded to two places; the tokenizer follows ``target_language`` of the task.

    Attributes:
        language_to_tokenizer: Language → tokenizer of SacreBLEU; ``None`` for the default one.
    """

    unit: ClassVar[Unit | None] = "share"
    raw_scores: ClassVar[frozenset[str]] = frozenset({"counts", "totals", "sys_len", "ref_len"})
    language_to_tokenizer: dict[str, str | None] | None = None

    def tokenizer_of(self, task_data: Mapping[str, Any]) -> str | None:
        """Return the tokenizer of an instance."""
        if self.tokenize is not None or "target_language" not in task_data:
            return self.tokenize
        language = str(task_data["target_language"]).lower()
        table = self.language_to_tokenizer or {}
        if language not in table:
            raise ScoringError(
                f"no tokenizer is known for '{language}'",
                hint=did_you_mean(language, table) or "add it to language_to_tokenizer",
            )
        return table[language]

    def scaled(self, score: Floats) -> Floats:
        """Return scores from 0 to 1."""
        return np.round(score / 100.0, 2)

    def presented(self, numbers: dict[str, Any]) -> dict[str, Any]:
        """Return the scores to report."""
        return {
            "sacrebleu": round(numbers["score"] / 100.0, 2),
            "counts": numbers["counts"],
            "totals": numbers["totals"],
            "precisions": [round(each / 100.0, 2) for each in numbers["precisions"]],
            "bp": round(numbers["bp"], 2),
            "sys_len": numbers["sys_len"],
            "ref_len": numbers["ref_len"],
        }


class Sacrebleu(SacrebleuMetric):
    """SacreBLEU as its package reports it, from 0 to 100; Japanese is cut by MeCab."""

    unit: ClassVar[Unit | None] = "percent"
    higher_is_better: ClassVar[bool | None] = True
    raw_scores: ClassVar[frozenset[str]] = frozenset({"counts", "totals", "sys_len", "ref_len", "bp"})
    use_effective_order: bool = False
    n_resamples: int | None = 100

    def tokenizer_of(self, task_data: Mapping[str, Any]) -> str | None:
        """Return the tokenizer of an instance."""
        if self.tokenize is not None:
            return self.tokenize
        return "ja-mecab" if str(task_data.get("target_language", "")).lower() in ("ja", "japanese") else None


# -- word error rate ------------------------------------------------------------------------------------------


class Wer(CountedMetric):
    """Word error rate: edits of words by words of the references."""

    reads_task_data: ClassVar[bool] = False
    unit: ClassVar[Unit | None] = "raw"
    higher_is_better: ClassVar[bool | None] = False
    main_score: str = "wer"
    prediction_type: object = str
    single_reference_per_prediction: bool = True

    def count(self, references: list[list[Any]], predictions: list[Any], task_data: list[Any]) -> Counts:
        """Return edits and words of each instance."""
        rows = []
        for prediction, each in zip(predictions, references, strict=True):
            wanted = _words(each[0])
            if not wanted:
                raise ScoringError("a reference is empty", why="the word error rate has no words to divide by")
            rows.append([levenshtein(wanted, _words(prediction)), len(wanted)])
        return Counts(np.array(rows, dtype=np.float64), lambda sums: {self.main_score: ratio(sums[:, 0], sums[:, 1])})


def _words(text: str) -> list[str]:
    return [word for word in re.sub(r"\s\s+", " ", text).strip().split(" ") if word]
