"""Compares the choices of retrievers with OpenCompass's code, on generated texts and embeddings.

Usage: ``python -m conformance.aisbench.retrievers``. Needs what ``prompts.py`` needs. BM25 scores have to be equal to
the last bit; vote-k and the greedy search of DPP have to choose the same rows. What OpenCompass draws without a seed is
left out; its own last step of DPP fails, so the comparison ends before it.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from proctor.demos.retrievers_bm25 import Okapi
from proctor.demos.retrievers_dense import elected, most_diverse

PYTHON = os.environ.get("AISBENCH_PYTHON", "/tmp/aisenv/bin/python")  # noqa: S108 - a throwaway environment
OPENCOMPASS = os.environ.get("OPENCOMPASS_DIR", "/tmp/aisw/oc")  # noqa: S108 - an unpacked wheel


def corpus(rng: random.Random, count: int) -> list[str]:
    """Return texts in which some words are frequent and some rare."""
    return [" ".join(f"w{int(rng.paretovariate(0.6)) % 500}" for _ in range(rng.randint(1, 40))) for _ in range(count)]


_DIGITS = 6  # products and exponentials end in other bits on other processors, and the cases must not


def cases(seed: int) -> dict[str, Any]:
    """Return what both sides work on."""
    rng, numbers = random.Random(seed), np.random.default_rng(seed)
    embeddings = [numbers.standard_normal((count, 8)).astype(np.float32).tolist() for count in (5, 20, 60, 200)]
    kernels = []
    for count in (2, 5, 10, 40):
        vectors = numbers.standard_normal((count, 6))
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        weights = np.exp(numbers.standard_normal(count) / 2)
        kernel = weights[None] * ((vectors @ vectors.T + 1) / 2) * weights[:, None]
        kernels.append(kernel.round(_DIGITS).tolist())
    texts = [{"index": corpus(rng, count), "queries": corpus(rng, 50)} for count in (1, 3, 20, 400)]
    return {"bm25": texts, "votek": embeddings, "dpp": kernels}


def theirs(given: dict[str, Any]) -> dict[str, Any]:
    """Return the choices of OpenCompass."""
    with tempfile.TemporaryDirectory() as folder:
        asked, found = Path(folder) / "cases.json", Path(folder) / "answers.json"
        asked.write_text(json.dumps(given))
        script = Path(__file__).with_name("prompts_oracle.py")
        environment = {**os.environ, "OPENCOMPASS_DIR": OPENCOMPASS}
        command = [PYTHON, str(script), "retrievers", str(asked), str(found)]
        subprocess.run(command, check=True, env=environment, capture_output=True)
        answers: dict[str, Any] = json.loads(found.read_text())
        return answers


def ours(given: dict[str, Any]) -> dict[str, Any]:
    """Return Proctor's choices."""
    bm25 = []
    for each in given["bm25"]:
        index = Okapi([text.split() for text in each["index"]], str.split)
        bm25.append([index.scores(query).tolist() for query in each["queries"]])
    votek = [elected(np.array(each, dtype=np.float32), 4, 3) for each in given["votek"]]
    dpp = [most_diverse(np.array(each), min(len(each), 5)) for each in given["dpp"]]
    return {"bm25": bm25, "votek": votek, "dpp": dpp}


def main() -> int:
    """Compare; return 1 where something differs."""
    wrong = 0
    for seed in range(5):
        given = cases(seed)
        other, own = theirs(given), json.loads(json.dumps(ours(given)))
        for name in other:
            pairs = list(zip(other[name], own[name], strict=True))
            if name == "votek":  # theirs ends where the rest would be drawn
                pairs = [(left, right[: len(left)]) for left, right in pairs]
            differing = sum(left != right for left, right in pairs)
            wrong += differing
            print(f"seed {seed} {name}: {len(pairs)} cases, {differing} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
