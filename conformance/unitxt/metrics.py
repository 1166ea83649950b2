"""Compare Proctor's metrics with Unitxt's, instance by instance and with intervals.

    python -m conformance.unitxt.metrics --oracle /path/to/python-with-unitxt [--cases 1000] [--only metrics.rouge]

The cases of ``metrics_cases.py`` are generated from a seed, so that both sides see the same. Each metric gets batches
of cases; each batch is evaluated once by each side. The report names every metric with the number of cases compared,
of scores that differ and of explained differences, and ends with an error where an unexplained difference is left.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from conformance.explained import EXPLANATIONS
from conformance.unitxt import metrics_cases
from conformance.unitxt.metrics_oracle import from_json

from proctor.errors import MissingExtraError
from proctor.statistics import intervals

TOLERANCE = 1e-9
TIE = 1e-9
NAN_FAILS = "unitxt/nan-fails"
ROUNDING = "unitxt/ties-rounded"
HERE = Path(__file__).resolve().parent


def proctor_scores(metric: str, batch: dict[str, Any]) -> dict[str, Any]:
    """Return global and instance scores of a batch."""
    from proctor.scoring.columns import Columns, rows_of
    from proctor.scoring.pipeline import apply_metrics

    batch = from_json(batch)
    columns = Columns(batch["predictions"], batch["references"], batch["task_data"])
    grade = apply_metrics(columns, [metric])
    return {
        "global": grade.scores,
        "instances": list(rows_of(grade.instance_scores, len(columns))),
        "failures": {position: failure.message for position, failure in grade.failures.items()},
    }


def oracle_scores(python: str, work: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the oracle's scores of all batches; those in the folder from another run are not computed again."""
    files = {}
    for name, batches in work.items():
        digest = hashlib.sha256(json.dumps(batches).encode()).hexdigest()[:12]
        files[name] = folder / f"{name}-{digest}.json"
    missing = [[name, work[name], str(file)] for name, file in files.items() if not file.exists()]
    if missing:
        request = folder / "request.json"
        request.write_text(json.dumps(missing))
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "UNITXT_USE_ONLY_LOCAL_CATALOGS": "True"}
        command = [python, str(HERE / "metrics_oracle.py"), str(request)]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return {name: json.loads(file.read_text()) for name, file in files.items()}


def differences(ours: Any, theirs: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield path and both values wherever they differ."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted({*ours, *theirs}, key=str):
            yield from differences(ours.get(key, "(absent)"), theirs.get(key, "(absent)"), f"{path}.{key}")
    elif isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        for place, pair in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(*pair, f"{path}[{place}]")
    elif not same(ours, theirs):
        yield path, ours, theirs


def same(ours: Any, theirs: Any) -> bool:
    """Whether two scores are equal; numbers to within the tolerance, NaN equals NaN."""
    numbers = (int, float)
    if isinstance(ours, numbers) and isinstance(theirs, numbers):
        if math.isnan(ours) or math.isnan(theirs):
            return math.isnan(ours) and math.isnan(theirs)
        return ours == theirs or abs(ours - theirs) <= TOLERANCE * max(1.0, abs(ours), abs(theirs))
    return bool(ours == theirs)


def compare(metric: str, batches: list[dict[str, Any]], answers: list[Any]) -> dict[str, Any]:
    """Compare all batches of a metric."""
    report: dict[str, Any] = {"metric": metric, "cases": 0, "compared": 0, "explained": {}, "unexplained": []}
    for number, (batch, theirs) in enumerate(zip(batches, answers, strict=True)):
        report["cases"] += len(batch["predictions"])
        started = time.process_time()
        try:
            ours = proctor_scores(metric, batch)
        except MissingExtraError as error:
            report["explained"][f"not compared: {error.diagnostics[0].what}"] = 1
            continue
        report["seconds"] = report.get("seconds", 0.0) + time.process_time() - started
        report["oracle_seconds"] = report.get("oracle_seconds", 0.0) + theirs.get("seconds", 0.0)
        if "error" in theirs:
            reason = f"Unitxt raises: {theirs['error'][:80]}"
            report["explained"][reason] = report["explained"].get(reason, 0) + 1
            continue
        for kind in ("global", "instances"):
            report["compared"] += count_values(theirs[kind])
            for path, own, other in differences(ours[kind], theirs[kind]):
                reason = (
                    metrics_cases.explain(metric, kind, path, own, other)
                    or without_nan(batch, path, other)
                    or decided_by_rounding(metric, batch, path, other)
                )
                if reason:
                    report["explained"][reason] = report["explained"].get(reason, 0) + 1
                else:
                    report["unexplained"].append((number, kind + path, own, other))
    return report


def without_nan(batch: dict[str, Any], path: str, theirs: Any) -> str:
    """Return a reason where a prediction is NaN, which fails here and makes Unitxt's score NaN; ``""`` elsewhere."""
    if not any(isinstance(each, float) and math.isnan(each) for each in batch["predictions"]):
        return ""
    counted = path.rpartition(".")[2] in ("num_of_failures", "num_of_instances", "score_name")
    return NAN_FAILS if counted or theirs == "(absent)" or (isinstance(theirs, float) and math.isnan(theirs)) else ""


def decided_by_rounding(metric: str, batch: dict[str, Any], path: str, theirs: Any) -> str:
    """Return a reason where a bound is decided by rounding, see :func:`is_within_ties`."""
    return ROUNDING if is_within_ties(lambda: proctor_scores(metric, batch)["global"], path, theirs) else ""


def is_within_ties(scores: Callable[[], dict[str, Any]], path: str, theirs: Any, tie: float = TIE) -> bool:
    """Whether a bound lies between those of ties counted as below and as above the observed score.

    BCa counts the resamples below the observed score. Resamples that are equal to it in exact arithmetic differ from
    it in the last digits, so in Unitxt their side is an accident of rounding.

    Args:
        scores: Computes the global scores again.
        path: Where the bound is.
        theirs: The bound that Unitxt has.
        tie: Differences up to this are ties.
    """
    name = path.rpartition(".")[2]
    if not name.endswith(("_ci_low", "_ci_high")) or not isinstance(theirs, float):
        return False
    exact = intervals._bca  # noqa: SLF001 - the comparison is about its ties
    found = []
    for offset in (-tie, 0.0, tie):
        intervals._bca = lambda values, observed, left, alpha, offset=offset: exact(  # noqa: SLF001
            values, observed + offset, left, alpha
        )
        try:
            found.append(scores().get(name, math.nan))
        finally:
            intervals._bca = exact  # noqa: SLF001
    return bool(min(found) - tie <= theirs <= max(found) + tie)


def count_values(scores: Any) -> int:
    """Return how many values a tree of scores has."""
    if isinstance(scores, dict):
        return sum(map(count_values, scores.values()))
    if isinstance(scores, list):
        return sum(map(count_values, scores))
    return 1


def show(report: dict[str, Any]) -> None:
    """Print the report of a metric."""
    state = "equal" if not report["unexplained"] else "DIFFERS"
    print(
        f"{report['metric']:44} {report['cases']:6} cases {report['compared']:8} values  {state:8}"
        f" {report.get('seconds', 0):7.2f} s (Unitxt {report.get('oracle_seconds', 0):7.2f} s)"
    )
    for reason, count in report["explained"].items():
        print(f"      explained ({count}): {EXPLANATIONS.get(reason, reason)}")
    for batch, path, ours, theirs in report["unexplained"][:6]:
        print(f"      batch {batch}: {path}: {ours!r} here, {theirs!r} there")
    if (more := len(report["unexplained"]) - 6) > 0:
        print(f"      and {more} more")


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--oracle", required=True, help="Python with unitxt 1.26.10")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--only", action="append")
    parser.add_argument("--answers", help="folder that keeps the oracle's answers for the next run")
    options = parser.parse_args()
    names = options.only or list(metrics_cases.METRICS)
    work = {name: metrics_cases.batches(name, options.cases) for name in names}
    with TemporaryDirectory() as temporary:
        folder = Path(options.answers or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        answers = oracle_scores(options.oracle, work, folder)
    reports = [compare(name, work[name], answers[name]) for name in work]
    for report in reports:
        show(report)
    failed = [report["metric"] for report in reports if report["unexplained"]]
    print(f"{len(reports) - len(failed)} of {len(reports)} metrics agree")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
