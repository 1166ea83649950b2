"""Does ``proctor same`` tell a model from its quantizations, and not from itself? On real weights: SmolLM2-135M.

    python benchmarks/same_models.py --hub HUB --work FOLDER [--prompts 200] [--texts 40]

ARC-Easy is asked without demos, as choices and as text (HUB holds ``allenai/ai2_arc``). The model in float32 answers at
several batch sizes and numbers of threads; then its weights rounded to bfloat16, to 8 and to 4 bits and back, the model
in bfloat16 arithmetic, and the model with one damaged layer. Every run has a response log of its own, so everybody
answers. Printed are

- how many of all pairs of the same model, whole, in quarters and in eighths, are called "same";
- for everybody else the mean divergence with its interval, and after how many prompts he is called "different";
- how far the divergence lies from one computed with nothing but torch and transformers, one text at a time.

Runs that are in FOLDER already are not asked again. Ends with 1 where less than 99% of the pairs are "same", somebody
is not detected, divergences are not ordered, or the direct computation is further away than 1e-5 (of more than a
nat: than its hundred-thousandth part).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
import yaml
from transformers import AutoModelForCausalLM, AutoTokenizer

from proctor.dialects.resolve import resolve_tasks
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.smollm2 import converted_folder
from proctor.exchange.sameness import Sameness, divergence, same_runs
from proctor.recipes.options import ExamOptions
from proctor.running.run import run_exams
from proctor.running.spec import RunSpec
from proctor.settings import settings

SAME_SHARE: Final = 0.99
CLOSE: Final = 1e-5
"""Nats, and of divergences above 1 their share: both computations sum numbers of 32 bits, each in its own order."""
DIRECT_PROMPTS: Final = 8
"""Prompts of the direct computation, which shares no prefix and no batch: four passes of both models each."""
GROUP: Final = 64
"""Weights that share a scale in 4 bits, as is usual."""

Change = Callable[[Any], None]
Samples = list[dict[str, Any]]


class Endpoint(NamedTuple):
    """Somebody who answers: a folder of weights, and how it is run."""

    name: str
    change: Change | None = None
    dtype: str = "float32"
    batch: int | str = "auto"
    threads: int = 2


# -- weights --------------------------------------------------------------------------------------------------------


def linear_weights(model: Any) -> Iterator[torch.Tensor]:
    """Yield what quantizations change: matrices of all layers, not embeddings, norms and the head."""
    for module in model.model.modules():
        if isinstance(module, torch.nn.Linear):
            yield module.weight.data


def to_bfloat16(model: Any) -> None:
    """Round weights to bfloat16."""
    for weight in linear_weights(model):
        weight.copy_(weight.to(torch.bfloat16).float())


def rounded(bits: int, group: int | None) -> Change:
    """Return what rounds weights to so many bits, symmetric, to the nearest, a scale for each row or group."""
    most = 2 ** (bits - 1) - 1

    def change(model: Any) -> None:
        for weight in linear_weights(model):
            parts = weight.reshape(-1, group or weight.shape[1])
            scale = parts.abs().amax(dim=1, keepdim=True) / most
            parts.copy_((parts / scale).round().clamp(-most, most) * scale)

    return change


def damage(model: Any) -> None:
    """Replace one layer of the middle by numbers of the same spread."""
    torch.manual_seed(0)
    for name, weight in model.model.layers[len(model.model.layers) // 2].named_parameters():
        if name.endswith("proj.weight"):
            weight.data.copy_(torch.randn_like(weight) * weight.std())


ITSELF: Final = tuple(
    Endpoint(f"float32, batch {batch}, {threads} thread{'s' * (threads > 1)}", None, "float32", batch, threads)
    for batch, threads in (("auto", 1), (1, 1), (3, 2), (16, 1))
)
OTHERS: Final = (
    Endpoint("bfloat16 weights", to_bfloat16),
    Endpoint("int8 weights", rounded(8, None)),
    Endpoint("int4 weights", rounded(4, GROUP)),
    Endpoint("one damaged layer", damage),
)
ARITHMETIC: Final = Endpoint("bfloat16 arithmetic", None, "bfloat16")
"""Not ordered among the others: what it changes are activations."""


def folder_of(endpoint: Endpoint, work: Path) -> Path:
    """Return the folder with an endpoint's weights; made where it is not there."""
    if endpoint.change is None:
        return converted_folder()
    folder = work / "models" / endpoint.name.replace(" ", "_")
    if not (folder / "config.json").exists():
        model = AutoModelForCausalLM.from_pretrained(converted_folder(), dtype=torch.float32)
        endpoint.change(model)
        AutoTokenizer.from_pretrained(converted_folder()).save_pretrained(folder)
        model.save_pretrained(folder)
    return folder


# -- runs -----------------------------------------------------------------------------------------------------------


def tasks(hub: Path, work: Path) -> list[str]:
    """Write the two exams and return their files."""
    question = "Question: {{question}}\nAnswer:"
    common = {"dataset_path": str(hub / "allenai/ai2_arc"), "dataset_name": "ARC-Easy", "test_split": "test"}
    choice = {
        "task": "arc_choices",
        "output_type": "multiple_choice",
        "doc_to_text": question,
        "doc_to_target": "{{choices.label.index(answerKey)}}",
        "doc_to_choice": "{{choices.text}}",
        "metric_list": [{"metric": "acc"}],
    }
    text = {
        "task": "arc_texts",
        "output_type": "generate_until",
        "doc_to_text": question,
        "doc_to_target": "{{choices.text[choices.label.index(answerKey)]}}",
        "generation_kwargs": {"until": ["\n"], "max_gen_toks": 8, "do_sample": False},
        "metric_list": [{"metric": "exact_match"}],
    }
    files = []
    for task in (choice, text):
        files.append(str(work / f"{task['task']}.yaml"))
        Path(files[-1]).write_text(yaml.safe_dump({**common, **task}))
    return files


def asked(endpoint: Endpoint, options: argparse.Namespace) -> Path:
    """Let an endpoint answer, and return its run folder."""
    output: Path = options.work / "runs" / endpoint.name.replace(", ", "-").replace(" ", "_")
    if (output / "results.json").exists():
        return output
    torch.set_num_threads(endpoint.threads)
    model = str(folder_of(endpoint, options.work))
    engine = HFEngine(model=model, dtype=endpoint.dtype, batch_size=endpoint.batch, device="cpu")
    began = time.perf_counter()
    files = tasks(options.hub, options.work)
    exams = [
        exam
        for file, count in zip(files, (options.prompts, options.texts), strict=True)
        for exam in resolve_tasks([file], ExamOptions(limit=count))
    ]
    log = options.work / f"{output.name}.db"
    log.unlink(missing_ok=True)
    run_exams(exams, engine, log=log, output=output, spec=RunSpec(model=model, tasks=tuple(files)))
    print(f"  asked {endpoint.name}: {time.perf_counter() - began:.0f} s", flush=True)
    return output


def only(run: Path, places: range, target: Path) -> Path:
    """Write a run folder that holds some of a run's instances."""
    target.mkdir(parents=True, exist_ok=True)
    for name in ("results.json", "run.yaml"):
        (target / name).write_bytes((run / name).read_bytes())
    kept = [json.dumps(line) for line in samples(run) if line["doc_id"] in places]
    (target / "samples.jsonl").write_text("\n".join(kept) + "\n")
    return target


def samples(run: Path) -> Samples:
    """Return a run's samples."""
    return [json.loads(line) for line in (run / "samples.jsonl").read_text().splitlines()]


# -- what is measured -----------------------------------------------------------------------------------------------


def itself(runs: Mapping[str, Path], options: argparse.Namespace) -> tuple[int, int, float]:
    """Return how many pairs of the same model are "same", how many there are, and the largest divergence."""
    most = options.prompts
    pieces = [range(n, n + size) for size in (most, most // 4 or 1, most // 8 or 1) for n in range(0, most, size)]
    verdicts: list[Sameness] = []
    for number, piece in enumerate(pieces):
        parts = [only(run, piece, options.work / "parts" / str(number) / run.name) for run in runs.values()]
        verdicts += [each for one, two in combinations(parts, 2) for each in same_runs(one, two) if each.requests]
    largest = max(each.divergence.value for each in verdicts if each.divergence)
    return sum(each.verdict == "same" for each in verdicts), len(verdicts), largest


def needed(base: Path, other: Path, options: argparse.Namespace) -> int | None:
    """Return after how many prompts another model is called different."""
    for count in sorted({5, 10, 25, 50, 100, int(options.prompts)}):
        one, two = (only(run, range(count), options.work / "first" / str(count) / run.name) for run in (base, other))
        if any(each.verdict == "different" for each in same_runs(one, two)):
            return count
    return None


def direct(run: Path, models: tuple[Path, Path]) -> list[float]:
    """Return the divergence of the first choice exams' instances, computed without Proctor's engine."""
    lines = [line for line in samples(run) if line["exam"] == "arc_choices"][:DIRECT_PROMPTS]
    logs = [_likelihoods(model, lines) for model in models]
    return [divergence(one, two) for one, two in zip(*logs, strict=True)]


def _likelihoods(folder: Path, lines: Samples) -> list[np.ndarray]:
    torch.set_num_threads(2)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return [
        np.array([_likelihood(model, tokenizer, line["prompt"], each) for each in line["continuations"]])
        for line in lines
    ]


def _likelihood(model: Any, tokenizer: Any, prompt: str, continuation: str) -> float:
    context = tokenizer(prompt)["input_ids"]
    whole = tokenizer(prompt + continuation)["input_ids"]
    with torch.inference_mode():
        logs = model(torch.tensor([whole])).logits[0].double().log_softmax(dim=-1)
    return float(sum(logs[place - 1, whole[place]] for place in range(len(context), len(whole))))


def of_proctor(one: Path, two: Path) -> list[float]:
    """Return the divergence of each instance as Proctor computes it, in order."""
    pairs = []
    for run in (one, two):
        lines = [line for line in samples(run) if line["exam"] == "arc_choices"][:DIRECT_PROMPTS]
        pairs.append([np.array([part["log_likelihood"] for part in line["output"]]) for line in lines])
    return [divergence(a, b) for a, b in zip(*pairs, strict=True)]


# -- report ---------------------------------------------------------------------------------------------------------


def main() -> int:
    """Measure and print; 1 where something is not as the docs say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hub", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--prompts", type=int, default=200)
    parser.add_argument("--texts", type=int, default=40)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    with settings.context(allow=f"read:{options.hub}"):
        return measured(options)


def measured(options: argparse.Namespace) -> int:
    """Ask everybody and print what is found."""
    runs = {each.name: asked(each, options) for each in ITSELF}
    base = next(iter(runs.values()))
    wrong: list[str] = []
    same, pairs, largest = itself(runs, options)
    print(f"itself: {same} of {pairs} pairs are 'same'; largest mean divergence {largest:.2g} nats")
    if same < SAME_SHARE * pairs:
        wrong.append("the model differs from itself")
    wrong += _others(base, options)
    for each in wrong:
        print(f"WRONG: {each}")
    return int(bool(wrong))


def _others(base: Path, options: argparse.Namespace) -> list[str]:
    wrong: list[str] = []
    values: list[float] = []
    for endpoint in (*OTHERS, ARITHMETIC):
        run = asked(endpoint, options)
        found = {each.exam: each for each in same_runs(base, run)}
        choices, texts = found["arc_choices"], found["arc_texts"]
        count = needed(base, run, options)
        span = choices.divergence
        if span is None or texts.same_texts is None:
            raise SystemExit("the runs hold no choices, or no texts")
        print(
            f"{endpoint.name}: {choices.verdict}, KL {span.value:.3g} ({span.low:.2g} to {span.high:.2g}), flips "
            f"{choices.flips} p {choices.flip_p:.2g}, other choice {choices.changed_choices}, equal texts "
            f"{texts.same_texts.value:.2f}, first difference {texts.first_difference}, different after {count} prompts"
        )
        if count is None:
            wrong.append(f"{endpoint.name} is not detected")
        if endpoint is not ARITHMETIC:
            values.append(span.value)
            theirs = direct(base, (folder_of(ITSELF[0], options.work), folder_of(endpoint, options.work)))
            ours = of_proctor(base, run)
            apart = abs(float(np.mean(ours) - np.mean(theirs)))
            most = float(np.max(np.abs(np.array(ours) - np.array(theirs))))
            print(
                f"  computed directly on {len(theirs)} prompts: {np.mean(theirs):.6g}, {apart:.1g} apart "
                f"(single prompts at most {most:.1g})",
                flush=True,
            )
            if apart > CLOSE * max(1.0, span.value):
                wrong.append(f"{endpoint.name}: the direct computation is {apart:.2g} away")
    if values != sorted(values):  # bfloat16, int8, int4, damaged
        wrong.append(f"divergences are not ordered: {values}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
