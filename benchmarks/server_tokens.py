"""What a server computes for multiple choice: tokens that its cache did not have, beside all that echo computes.

Budgets (issue 34): at most 5% of echo's tokens for MMLU, and a quarter of its requests and 20 more. ``--hub FOLDER``
asks MMLU itself (as ``huggingface.co`` has it, with the tokens of SmolLM2); questions that are made up have less in
common: at most 6%.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from model_server import HashedModel, ModelServer  # beside this file

from proctor.engines.http.openai_engine import OpenAIEngine
from proctor.ir import Choose, Pair, Prompt

SUBJECTS, EACH = 57, 30
LABELS = "ABCD"
_WORDS = "what is number one two three four which of these words them none at all the some"


class TokenizedModel:
    """The tokens of a real model, and likelihoods from a checksum."""

    def __init__(self, file: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        self._rows = np.random.default_rng(1).normal(0, 2, (16, self._tokenizer.get_vocab_size()))

    def encode(self, text: str, *, special: bool = True) -> list[int]:
        """Return the tokens of a text."""
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=special).ids
        return ids

    def decode(self, token: int) -> str:
        """Return the text of a token."""
        text: str = self._tokenizer.decode([token], skip_special_tokens=False)
        return text

    def log_probabilities(self, ids: list[int], places: Any) -> list[np.ndarray[Any, Any]]:
        """Return the logarithms of the probabilities of what comes behind each of the places."""
        logits = [self._rows[ids[place] % 16] + self._rows[ids[max(0, place - 1)] % 16] for place in places]
        return [each - np.log(np.exp(each).sum()) for each in logits]


def made_up(subjects: int, each: int) -> Iterator[str]:
    """Yield prompts with five demos of their subject."""
    draw = random.Random(0)
    words = _WORDS.split()

    def asked() -> str:
        options = "".join(f"\n{label}. {' '.join(draw.choices(words, k=6))}" for label in LABELS)
        return f"{' '.join(draw.choices(words, k=20))}{options}\nAnswer:"

    for subject in range(subjects):
        demos = f"Question {subject}\n\n" + "".join(f"{asked()} {draw.choice(LABELS)}\n\n" for _ in range(5))
        yield from (demos + asked() for _ in range(each))


def of_mmlu(hub: Path, each: int) -> Iterator[str]:
    """Yield the prompts of MMLU with five demos, as lm-evaluation-harness lays them out."""
    import pyarrow.parquet as pq

    for folder in sorted(hub.glob("cais/mmlu/*/")):
        parts = {name: sorted(folder.glob(f"{name}*.parquet")) for name in ("dev", "test")}
        if folder.name in ("all", "auxiliary_train") or not all(parts.values()):
            continue
        dev, test = (pq.read_table(parts[name][0]).to_pylist() for name in ("dev", "test"))
        subject = folder.name.replace("_", " ")
        head = f"The following are multiple choice questions (with answers) about {subject}.\n\n"
        demos = "".join(f"{_laid_out(row)} {LABELS[row['answer']]}\n\n" for row in dev[:5])
        yield from (head + demos + _laid_out(row) for row in test[:each])


def _laid_out(row: dict[str, Any]) -> str:
    options = "".join(f"\n{label}. {text}" for label, text in zip(LABELS, row["choices"], strict=True))
    return f"{row['question'].strip()}{options}\nAnswer:"


def shares(prompts: list[str], model: Any, kind: str) -> tuple[float, int, int, int]:
    """Ask every prompt for its four labels.

    Returns:
        The share of echo's tokens that the server computed, these tokens, the requests, and those of tokenizing.
    """
    echo = sum(len(model.encode(f"{prompt} {label}")) for prompt in prompts for label in LABELS)
    requests = (Choose(tuple(Pair(Prompt(prompt), f" {label}") for label in LABELS)) for prompt in prompts)
    with ModelServer(kind, model=model) as server:
        engine = OpenAIEngine(model="m", base_url=server.url, endpoint="completions", max_concurrency=8)
        failed = sum(response.failure is not None for _, response in engine.score(requests))
        if failed:
            raise RuntimeError(f"{failed} questions failed")
        return server.cache.computed / echo, echo, server.requests, server.asked["/tokenize"]


def measure(
    subjects: int = SUBJECTS,
    each: int = EACH,
    prompts: list[str] | None = None,
    model: Any = None,
    is_real: bool = False,
) -> dict[str, Any]:
    """Return what ``make bench`` writes down."""
    asked = prompts or list(made_up(subjects, each))
    found: dict[str, Any] = {}
    for kind in ("vllm", "sglang"):
        share, echo, requests, tokenized = shares(asked, model or HashedModel(), kind)
        note = f"of {echo:,} tokens that echo computes; {tokenized:,} texts were tokenized beside it"
        found[f"{kind}: tokens computed"] = {
            "value": round(100 * share, 2),
            "unit": "%",
            "budget": "<= 5" if is_real else "<= 6",
            "note": note,
        }
        budget = f"<= {len(asked) + 20}"
        note = f"echo needs {4 * len(asked):,}"
        found[f"{kind}: requests"] = {"value": requests, "budget": budget, "note": note}
    return found


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hub", type=Path, help="a folder with cais/mmlu in it")
    parser.add_argument("--tokenizer", type=Path, help="tokenizer.json of the model")
    parser.add_argument("--each", type=int, default=EACH, help="questions of each subject")
    given = parser.parse_args()
    prompts = list(of_mmlu(given.hub, given.each)) if given.hub else list(made_up(SUBJECTS, given.each))
    model = TokenizedModel(given.tokenizer) if given.tokenizer else HashedModel()
    for name, each in measure(prompts=prompts, model=model, is_real=bool(given.hub)).items():
        print(f"{name}: {each['value']:,} {each.get('unit', '')} ({each['budget']}; {each['note']})")


if __name__ == "__main__":
    sys.exit(main())
