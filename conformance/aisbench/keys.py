"""Counts what becomes of every key of every shipped config: honoured, without effect, or refused.

Usage: ``python -m conformance.aisbench.keys [--step N]``. Needs unzipped wheels of OpenCompass (``OPENCOMPASS_WHEEL``)
and of AISBench (``AISBENCH_WHEEL``). Nothing is run: configs are read and checked. ``--step`` takes each N-th file.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from proctor.dialects.aisbench.config import dataset_config
from proctor.dialects.aisbench.models import model_config
from proctor.dialects.aisbench.reader import datasets_of, models_of, read_config
from proctor.errors import ProctorError

CONFIGS = {
    "OpenCompass": (os.environ.get("OPENCOMPASS_WHEEL", "/tmp/aisw/oc"), "opencompass/configs"),  # noqa: S108
    "AISBench": (os.environ.get("AISBENCH_WHEEL", "/tmp/aisw/ais"), "ais_bench/benchmark/configs"),  # noqa: S108
}
_SECTIONS = ("reader_cfg", "infer_cfg", "eval_cfg", "judge_infer_cfg")


def keys_of(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths of the keys of a dataset or a model: its own, and those of its sections."""
    for key, value in values.items():
        yield f"$.{key}"
        if key in _SECTIONS and isinstance(value, Mapping):
            yield from (f"$.{key}.{each}" for each in value)
            inferencer = value.get("inferencer")
            if isinstance(inferencer, Mapping):
                yield from (f"$.{key}.inferencer.{each}" for each in inferencer)


def judged(values: Mapping[str, Any], is_model: bool) -> tuple[Counter[str], list[str]]:
    """Return how many keys are honoured and without effect, and what is refused."""
    counts = Counter[str]()
    paths = list(keys_of(values))
    try:
        idle = (model_config(values) if is_model else dataset_config(values)).without_effect
    except ProctorError as error:
        counts["of configs that are refused"] += len(paths)
        return counts, [each.what for each in error.diagnostics]
    counts["without effect"] += sum(path in idle for path in paths)
    counts["honoured"] += sum(path not in idle for path in paths)
    return counts, []


def main() -> None:
    """Print the counts of both packages, and the reasons of what is refused, the most frequent first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=1)
    step = parser.parse_args().step
    for project, (wheel, folder) in CONFIGS.items():
        counts, reasons = Counter[str](), Counter[str]()
        for path in sorted((Path(wheel) / folder).rglob("*.py"))[::step]:
            try:
                values = read_config(path, trust_code=False)
            except ProctorError:
                counts["files that cannot be read"] += 1
                continue
            for is_model, listed in ((False, datasets_of(values)), (True, models_of(values))):
                for each in listed:
                    found, problems = judged(each, is_model)
                    counts += found
                    reasons.update(set(problems))
        print(f"{project}: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
        for what, count in reasons.most_common():
            print(f"{count:6} {what}")


if __name__ == "__main__":
    main()
