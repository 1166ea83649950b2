"""Compare metrics that Unitxt takes from scripts of the hub with the libraries that define them.

    python -m conformance.unitxt.metrics_libraries [--cases 1000] [--hub FOLDER]

Unitxt downloads these scripts, so where there is no network it cannot be asked; the libraries behind the scripts can.
With ``--hub`` (a folder of datasets, as ``PROCTOR_HUB_DIR``) real translations and labels are compared, too.
"""

from __future__ import annotations

import argparse
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from conformance.unitxt import metrics_cases

from proctor.scoring.columns import Columns, rows_of
from proctor.scoring.pipeline import apply_metrics

TOLERANCE = 1e-9
Scores = dict[str, float]
Library = Callable[[list[Any], list[list[Any]]], Scores]


def sacrebleu_scores(predictions: list[str], references: list[list[str]]) -> Scores:
    """Return SacreBLEU's own corpus score."""
    import sacrebleu

    found = sacrebleu.corpus_bleu(predictions, [[each[0] for each in references]])
    return {"sacrebleu": found.score, "bp": found.bp, "sys_len": found.sys_len, "ref_len": found.ref_len}


def bleu_scores(predictions: list[str], references: list[list[str]]) -> Scores:
    """Return NLTK's corpus BLEU on SacreBLEU's tokens; the brevity penalty takes the shortest reference."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    tokenizer = Tokenizer13a()
    given = [tokenizer(text).split() for text in predictions]
    wanted = [[tokenizer(text).split() for text in each] for each in references]
    length, reference = sum(map(len, given)), sum(min(map(len, each)) for each in wanted)
    if not length:
        return {"bleu": math.nan}
    return {"bleu": unpenalised(given, wanted) * (1.0 if length > reference else math.exp(1 - reference / length))}


def unpenalised(given: list[list[str]], wanted: list[list[list[str]]]) -> float:
    """Return the geometric mean of NLTK's modified precisions."""
    from nltk.translate.bleu_score import modified_precision

    logs = 0.0
    for order in range(1, 5):
        parts = [
            modified_precision(each, text, order)
            for text, each in zip(given, wanted, strict=True)
            if len(text) >= order
        ]
        top, bottom = sum(part.numerator for part in parts), sum(part.denominator for part in parts)
        if not top:
            return 0.0
        logs += math.log(top / bottom) / 4
    return math.exp(logs)


def wer_scores(predictions: list[str], references: list[list[str]]) -> Scores:
    """Return jiwer's word error rate."""
    import jiwer

    return {"wer": jiwer.wer([each[0] for each in references], predictions)}


def matthews_scores(predictions: list[str], references: list[list[str]]) -> Scores:
    """Return scikit-learn's Matthews correlation."""
    from sklearn.metrics import matthews_corrcoef

    return {"matthews_correlation": float(matthews_corrcoef([each[0] for each in references], predictions))}


def rouge_scores(predictions: list[str], references: list[list[str]]) -> Scores:
    """Return the means of rouge-score's F-measures."""
    from rouge_score.rouge_scorer import RougeScorer

    names = ["rouge1", "rouge2", "rougeL"]
    scorer = RougeScorer(names)
    found = [scorer.score_multi(each, text) for text, each in zip(predictions, references, strict=True)]
    return {name: sum(each[name].fmeasure for each in found) / len(found) for name in names}


def squad_scores(predictions: list[str], references: list[list[str]]) -> Scores:
    """Return exact match and F1 by the rules of SQuAD's evaluation, written out once more."""
    import collections
    import re
    import string

    def normal(text: str) -> list[str]:
        kept = "".join(character for character in text.lower() if character not in set(string.punctuation))
        return re.sub(r"\b(a|an|the)\b", " ", kept).split()

    def f1(one: list[str], two: list[str]) -> float:
        same = sum((collections.Counter(one) & collections.Counter(two)).values())
        return 2 * same / (len(one) + len(two)) if same else 0.0

    rows = [
        (normal(text), [normal(each) for each in group]) for text, group in zip(predictions, references, strict=True)
    ]
    return {
        "exact_match": sum(any(text == each for each in group) for text, group in rows) / len(rows),
        "f1": sum(max(f1(text, each) for each in group) for text, group in rows) / len(rows),
    }


LIBRARIES: dict[str, Library] = {
    "metrics.sacrebleu": sacrebleu_scores,
    "metrics.bleu": bleu_scores,
    "metrics.wer": wer_scores,
    "metrics.matthews_correlation": matthews_scores,
    "metrics.rouge": rouge_scores,
    "metrics.squad": squad_scores,
}


def real_batches(metric: str, hub: Path) -> Iterator[dict[str, Any]]:
    """Yield batches of real data: translations against each other, and labels against shifted labels."""
    from datasets import load_dataset

    if metric == "metrics.matthews_correlation":
        rows = load_dataset("parquet", data_files=str(hub / "nyu-mll/glue/sst2/validation.parquet"), split="train")
        labels = [str(each) for each in rows["label"]]
        yield {"predictions": labels[1:] + labels[:1], "references": [[each] for each in labels]}
        return
    rows = load_dataset("parquet", data_files=str(hub / "wmt/wmt16/ro-en/test.parquet"), split="train[:500]")
    texts = [each["en"] for each in rows["translation"]]
    half = [" ".join(text.split()[: max(3, len(text.split()) // 2)]) for text in texts]
    yield {"predictions": half, "references": [[each] for each in texts]}


def compare(metric: str, batches: list[dict[str, Any]]) -> tuple[int, int, list[str]]:
    """Return the number of cases, of compared values, and what differs."""
    cases, values, wrong = 0, 0, []
    for number, batch in enumerate(batches):
        predictions, references = batch["predictions"], batch["references"]
        cases += len(predictions)
        grade = apply_metrics(Columns(predictions, references), [metric], intervals=False)
        alone = list(rows_of(grade.instance_scores, len(predictions)))
        expected = [(grade.scores, LIBRARIES[metric](predictions, references), "global")]
        expected += [
            (alone[i], LIBRARIES[metric](predictions[i : i + 1], references[i : i + 1]), f"instance {i}")
            for i in range(len(predictions))
        ]
        for ours, theirs, place in expected:
            for name, value in theirs.items():
                values += 1
                if not same(ours.get(name), value):
                    wrong.append(f"batch {number}, {place}, {name}: {ours.get(name)} here, {value} there")
    return cases, values, wrong


def same(ours: Any, theirs: float) -> bool:
    """Whether two scores are equal; a failed instance (``None``) equals NaN."""
    if ours is None or math.isnan(theirs):
        return (ours is None or math.isnan(ours)) and math.isnan(theirs)
    return abs(ours - theirs) <= TOLERANCE * max(1.0, abs(theirs))


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--hub", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    failed = 0
    for metric in LIBRARIES:
        batches = metrics_cases.batches(metric, options.cases)
        if options.hub:
            batches += list(real_batches(metric, options.hub))
        cases, values, wrong = compare(metric, batches)
        failed += bool(wrong)
        print(f"{metric:32} {cases:6} cases {values:7} values  {'DIFFERS' if wrong else 'equal'}")
        for line in wrong[:6]:
            print(f"      {line}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
