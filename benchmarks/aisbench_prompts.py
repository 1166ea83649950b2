"""Builds 100,000 dialogue prompts with five in-context examples through a meta template, and chooses examples.

Usage: ``python benchmarks/aisbench_prompts.py``. Where ``AISBENCH_PYTHON`` names an interpreter that has AISBench, its
own retriever, template and parser make 2,000 of the prompts in the same run, which have to be the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from proctor.demos import BM25Retriever, TopkRetriever
from proctor.demos.retrievers import Corpus, field_text
from proctor.dialects.aisbench.prompts import PromptBuilder
from proctor.formats import MetaTemplate

PROMPTS = 100_000
COMPARED = 2_000
INDEX, QUERIES, SHOTS = 10_000, 1_000, 5
ROUND = [
    {"role": "HUMAN", "prompt": "Question: {question}\nA. {A}\nB. {B}\nC. {C}\nD. {D}\nAnswer:"},
    {"role": "BOT", "prompt": "{answer}"},
]
SYSTEM = {"role": "SYSTEM", "fallback_role": "HUMAN", "prompt": "Answer the following questions about {subject}."}
INFER: dict[str, Any] = {
    "ice_template": {"type": "PromptTemplate", "template": {"round": ROUND}},
    "prompt_template": {
        "type": "PromptTemplate",
        "template": {"begin": [SYSTEM, "</E>"], "round": ROUND},
        "ice_token": "</E>",
    },
}
READER = {"input_columns": ["question", "A", "B", "C", "D"], "output_column": "answer"}
META: dict[str, Any] = {
    "begin": "<s>",
    "round": [
        {"role": "HUMAN", "begin": "<|im_start|>user\n", "end": "<|im_end|>\n", "api_role": "HUMAN"},
        {"role": "BOT", "begin": "<|im_start|>assistant\n", "end": "<|im_end|>\n", "generate": True, "api_role": "BOT"},
    ],
    "reserved_roles": [{"role": "SYSTEM", "begin": "<|im_start|>system\n", "end": "<|im_end|>\n"}],
}

ORACLE = """
import json, sys, time, hashlib, types, logging
logging.disable(logging.CRITICAL)
from ais_bench.benchmark.openicl.icl_retriever import FixKRetriever
from ais_bench.benchmark.models.local_models.base import LMTemplateParser
plan = json.load(open(sys.argv[1]))
reader = types.SimpleNamespace(**plan["reader"])
dataset = types.SimpleNamespace(reader=reader, train=plan["index"], test=plan["test"])
retriever = FixKRetriever(dataset, list(range(5)), **{k: plan["infer"][k] for k in ("ice_template", "prompt_template")})
parser = LMTemplateParser(plan["meta"])
parts = []
start = time.process_time()
for place, chosen in enumerate(retriever.retrieve()):
    ice = retriever.generate_ice(chosen)
    begun = time.process_time()
    prompt = retriever.generate_prompt_for_generate_task(place, ice)
    text = parser.parse_template(prompt, mode="gen")
    parts.append((time.process_time() - begun, text))
total = time.process_time() - start
digest = hashlib.sha256(json.dumps([text for _, text in parts]).encode()).hexdigest()
json.dump({"total": total, "parser": sum(each for each, _ in parts), "digest": digest}, open(sys.argv[2], "w"))
"""


def rows(count: int, seed: int) -> list[dict[str, Any]]:
    """Return questions with four choices, of some forty words."""
    rng = random.Random(seed)
    words = [f"word{number}" for number in range(3000)]

    def text(length: int) -> str:
        return " ".join(rng.choice(words) for _ in range(length))

    return [
        {
            "subject": "words",
            "question": text(24),
            "A": text(4),
            "B": text(4),
            "C": text(4),
            "D": text(4),
            "answer": "A",
        }
        for _ in range(count)
    ]


def builder(index: list[dict[str, Any]], retriever: dict[str, Any], **more: Any) -> PromptBuilder:
    """Return what makes the prompts."""
    return PromptBuilder({**INFER, "retriever": retriever}, READER, index, **more)


def made(prompts: PromptBuilder, test: list[dict[str, Any]], keep: bool = False) -> list[Any]:
    """Make all prompts; keep them only where they are looked at."""
    demos = prompts.retrieve(test)
    kept = []
    for place, row in enumerate(test):
        prompt = prompts.generate(row, demos[place])
        if keep:
            kept.append(prompt.payload)
    return kept


def seconds(work: Callable[[], Any]) -> float:
    """Return CPU seconds."""
    start = time.process_time()
    work()
    return time.process_time() - start


def theirs(python: str, index: list[dict[str, Any]], test: list[dict[str, Any]]) -> dict[str, Any]:
    """Return AISBench's CPU seconds and a digest of its prompts."""
    with tempfile.TemporaryDirectory() as folder:
        plan, out, script = (Path(folder) / name for name in ("plan.json", "out.json", "oracle.py"))
        plan.write_text(json.dumps({"infer": INFER, "reader": READER, "meta": META, "index": index, "test": test}))
        script.write_text(ORACLE)
        subprocess.run([python, str(script), str(plan), str(out)], check=True, capture_output=True)
        found: dict[str, Any] = json.loads(out.read_text())
        return found


class RandomEmbeddings(TopkRetriever):
    """Embeddings of the usual size without a model, so that choosing alone is measured."""

    def embed(self, texts: Any) -> Any:
        """Return one random row for each text."""
        import numpy as np

        return np.random.default_rng(len(texts)).standard_normal((len(texts), 768)).astype(np.float32)


def measure() -> dict[str, Any]:
    """Return CPU seconds, ratios and memory."""
    index, test = rows(INDEX, 1), rows(QUERIES, 2)
    many = [row for _ in range(PROMPTS // QUERIES) for row in test]
    meta, fixed = MetaTemplate(**META), {"type": "FixKRetriever", "fix_id_list": list(range(SHOTS))}
    texts, chats = builder(index, fixed, meta_template=meta), builder(index, fixed, as_messages=True)
    made(texts, test)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    spent = seconds(lambda: made(texts, many))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    different = builder(index, {"type": "RandomRetriever", "ice_num": SHOTS}, meta_template=meta)
    found: dict[str, Any] = {
        "100,000 prompts, five examples": {"value": spent, "unit": "CPU s", "budget": "<= 2"},
        "memory grown over them": {"value": grown, "unit": "MB", "budget": "<= 20"},
        "the same as chat messages": {"value": seconds(lambda: made(chats, many)), "unit": "CPU s", "budget": "<= 4"},
        "1,000 prompts, other examples each": {"value": seconds(lambda: made(different, test)), "unit": "CPU s"},
    }
    text = field_text(READER["input_columns"])  # type: ignore[arg-type]
    corpora = Corpus(index, text), Corpus(test, text)
    for name, retriever in (("BM25", BM25Retriever(ice_num=SHOTS)), ("TopK", RandomEmbeddings(ice_num=SHOTS))):
        spent_here = seconds(lambda retriever=retriever: retriever.retrieve(*corpora))
        found[f"{name}, 10,000 x 1,000"] = {"value": spent_here, "unit": "CPU s", "budget": "<= 30"}
    if python := os.environ.get("AISBENCH_PYTHON", ""):
        found |= side_by_side(python, index, rows(COMPARED, 3), texts)
    return found


def side_by_side(
    python: str, index: list[dict[str, Any]], test: list[dict[str, Any]], texts: PromptBuilder
) -> dict[str, Any]:
    """Return how many times longer AISBench takes."""
    other = theirs(python, index[:SHOTS], test)
    ours = min(seconds(lambda: made(texts, test)) for _ in range(3))
    digest = hashlib.sha256(json.dumps(made(texts, test, keep=True)).encode()).hexdigest()
    return {
        "AISBench's template and parser / Proctor": {
            "value": other["parser"] / ours,
            "unit": "times",
            "budget": ">= 30",
        },
        "AISBench with its examples / Proctor": {"value": other["total"] / ours, "unit": "times"},
        "same prompts": str(digest == other["digest"]),
    }


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:45} {value if isinstance(value, str) else value['value']}")
