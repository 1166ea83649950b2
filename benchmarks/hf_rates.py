"""What the ``hf`` engine costs beside plain transformers and lm-eval's ``hf`` model, on SmolLM2 in float32.

Run ``python benchmarks/hf_rates.py [--lm-python ENV/bin/python] [--documents 16]``. Everything is measured in CPU
seconds on one thread, so that other work on the machine matters little:

* scoring beside one forward pass for each continuation (budget: at least 2 times the rate);
* generation beside ``model.generate`` with ideal batches, made by hand (budget: at least 0.95 of its rate);
* scoring beside lm-eval at batch size 8, on its own 5-shot requests of arc_easy (demonstrations differ from document to
  document) and mmlu_anatomy (they are the same). ``bound`` is the most that sharing can give there: what lm-eval
  multiplies, over what is left when every distinct token is read once and only asked-for positions meet the vocabulary.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from proctor.engines.encoder import Scorable
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.prefix_plan import Limits, plan
from proctor.engines.hf.smollm2 import converted_folder
from proctor.ir import Choose, Decoding, Generate, Pair, Prompt, Rolling

ROOT = Path(__file__).resolve().parent.parent
TASKS = ("arc_easy", "mmlu_anatomy")
NEW_TOKENS = 24


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds that some work takes."""
    started = time.process_time()
    work()
    return time.process_time() - started


def documents(count: int) -> list[Choose]:
    """Return four-choice questions of different lengths that share their demonstrations."""
    demos = "".join(f"Question: What is {n} plus {n}?\nAnswer: {n + n}\n\n" for n in range(8))
    contexts = [Prompt(f"{demos}Question: What is {'one and ' * (n % 7)}{n} minus 1?\nAnswer:") for n in range(count)]
    return [Choose(tuple(Pair(context, f" {guess} exactly") for guess in range(4))) for context in contexts]


def one_at_a_time(engine: HFEngine, requests: Sequence[Choose]) -> None:
    """Score with one forward pass for each continuation."""
    encoder, model = engine.encoder(), engine.loaded.model
    for request in requests:
        for context, continuation in encoder.encode_pairs([(p.context.text, p.continuation) for p in request.pairs]):
            with torch.inference_mode():
                rows = model(torch.tensor([(context + continuation)[:-1]])).logits[0].log_softmax(-1)
            rows[-len(continuation) :].gather(1, torch.tensor(continuation)[:, None]).sum()


def scoring(engine: HFEngine, count: int) -> float:
    """Return the rate over that of one at a time."""
    requests = documents(count)
    alone = cpu_seconds(lambda: one_at_a_time(engine, requests))
    return alone / cpu_seconds(lambda: list(engine.score(requests)))


def lm_eval_records(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Return lm-eval's answers and times for the tasks; its threads are limited to one, too."""
    sys.path.insert(0, str(ROOT / "conformance" / "lm_eval"))
    import hf_loglikelihoods as conformance

    arguments.answers = arguments.answers or str(Path(tempfile.mkdtemp()) / "answers.jsonl")
    arguments.tasks, arguments.limit = list(TASKS), arguments.documents
    return list(conformance.ask_lm_eval(arguments, str(converted_folder())))


def beside_lm_eval(engine: HFEngine, record: dict[str, Any]) -> tuple[float, float]:
    """Return the rate over lm-eval's, and how much sharing can give at most."""
    import hf_loglikelihoods as conformance

    requests = [conformance.request_of(rows) for rows in conformance.documents_of(record)]
    seconds = cpu_seconds(lambda: list(engine.score(requests)))
    return record["cpu"] / seconds, bound(engine, requests)


def bound(engine: HFEngine, requests: Sequence[Choose]) -> float:
    """Return lm-eval's multiplications over the engine's, attention left out."""
    encoder, model = engine.encoder(), engine.loaded.model
    head = model.get_output_embeddings().weight.numel()
    weights = {id(found): found for module in model.modules() if (found := getattr(module, "weight", None)) is not None}
    body = sum(weight.numel() for weight in weights.values()) - head
    pairs = [(pair.context.text, pair.continuation) for request in requests for pair in request.pairs]
    found = [encoder.scorable(*ids) for ids in encoder.encode_pairs(pairs)]
    theirs = sum(len(inputs) for inputs in {each.inputs: None for each in found}) * (body + head)
    everything = Limits(10**9, 10**9, 10**9)
    steps = plan([Scorable(each.inputs, each.targets) for each in dict.fromkeys(found)], everything)
    read = sum(len(step.tokens) for step in steps)
    asked = sum(len({node for node, _, _ in step.lookups}) for step in steps)
    return theirs / (read * body + asked * head)


def generation(engine: HFEngine, count: int) -> float:
    """Return the rate over that of ideal batches: prompts of one length, no padding, no stop strings; best of four."""
    prompts = [f"Question {n:03}: why is the sky blue on a sunny day in spring?\nAnswer:" for n in range(count)]
    ids = torch.tensor(engine.encoder().encode_prompts(prompts))
    decoding = Decoding(NEW_TOKENS, extra={"min_new_tokens": NEW_TOKENS})
    requests = [Generate(Prompt(prompt), decoding) for prompt in prompts]

    plain_model = HFEngine(engine.model, dtype="float32", device="cpu", reorder_weights=False).loaded.model

    def by_hand() -> None:
        with torch.inference_mode():
            plain_model.generate(
                ids, max_new_tokens=NEW_TOKENS, min_new_tokens=NEW_TOKENS, do_sample=False, pad_token_id=0
            )

    turns = [(cpu_seconds(by_hand), cpu_seconds(lambda: list(engine.generate(requests)))) for _ in range(4)]
    return min(plain for plain, _ in turns) / min(ours for _, ours in turns)


def restart_on_one_thread() -> None:
    """Run this program again with one thread for everything, lm-eval included."""
    if os.environ.get("OMP_NUM_THREADS") != "1":
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode)


def measure(arguments: argparse.Namespace | None = None) -> dict[str, Any]:
    """Return what ``benchmarks/run.py`` writes down."""
    arguments = arguments or parser().parse_args([])
    torch.set_num_threads(1)
    engine = HFEngine(str(converted_folder()), dtype="float32", device="cpu", max_length=arguments.max_length)
    next(engine.score([Rolling("Load the model before the clock starts.")]))
    found: dict[str, Any] = {
        "scoring beside one at a time": {
            "value": round(scoring(engine, arguments.documents), 1),
            "unit": "x",
            "budget": ">= 2",
        },
        "generation beside model.generate": {
            "value": round(generation(engine, arguments.documents), 2),
            "unit": "x",
            "budget": ">= 0.95",
        },
    }
    for record in lm_eval_records(arguments) if arguments.lm_python or arguments.answers else ():
        rate, most = beside_lm_eval(engine, record)
        found[f"scoring beside lm-eval, {record['name']}"] = {
            "value": round(rate, 1),
            "unit": "x",
            "note": f"arithmetic bound {most:.1f}x",
        }
    return found


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--documents", type=int, default=16)
    made.add_argument(
        "--lm-python",
        default=os.environ.get("PROCTOR_LM_PYTHON"),
        help="a Python with lm_eval 0.4.13; without it, lm-eval is left out",
    )
    made.add_argument("--hub", default=str(ROOT.parent / "shared" / "data" / "hub"))
    made.add_argument("--answers", help="keep lm-eval's answers and times in this file, or take them from it")
    made.add_argument("--batch-size", type=int, default=8)
    made.add_argument("--max-length", type=int, default=2048)
    return made


def main() -> None:
    """Measure and print."""
    arguments = parser().parse_args()
    restart_on_one_thread()
    for name, line in measure(arguments).items():
        print(f"{name:40} {line['value']:6}{line['unit']}  {line.get('budget', '')}{line.get('note', '')}")


if __name__ == "__main__":
    main()
