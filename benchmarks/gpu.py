"""Whether the ``hf`` engine is right on a GPU, how fast it is there beside lm-eval's ``hf``, and what its host costs.

Run ``python benchmarks/gpu.py --out gpu.jsonl [--minutes 8] [--sizes 135m,1b]``; nobody has to watch. Each figure is a
line of the file as soon as it is known; a stage begins only while there is time for it, and a program that hangs is
ended. Weights are random (speed does not depend on them, and rounding shows in their likelihoods as well), the size
``given`` is the model of ``--model`` itself. lm-eval is measured where it is installed. Stages of each size:

* score: requests a second, peak of memory, and beside likelihoods by plain transformers, one sequence at a time, the
  largest difference and how many decisions differ;
* write: answers a second, and how many are those of a prompt alone;
* again: whether the same requests have the same likelihoods twice;
* memory: whether far too large batches are made smaller and all is answered;
* host: milliseconds of a step in which only the host works (plan, tensors, one transfer; the model is left out), those
  of reading texts as tokens, and on a GPU the share of time in which it computes.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch

from proctor.engines.hf import packed_scoring
from proctor.engines.hf.answers import GPU_LOGITS, GPU_STEP
from proctor.engines.hf.batches import free_memory
from proctor.engines.hf.hf_engine import HFEngine
from proctor.engines.hf.loading import LoadedModel
from proctor.engines.hf.prefix_plan import Limits
from proctor.ir import Choose, Decoding, Generate, Pair, Prompt

SHAPES = {
    "tiny": (64, 2, 4, 2, 176),
    "135m": (576, 30, 9, 3, 1536),
    "1b": (2048, 16, 32, 8, 8192),
    "8b": (4096, 32, 32, 8, 14336),
}
"""Hidden size, layers, heads, heads of keys, inner size: those of SmolLM2-135M, Llama-3.2-1B and Llama-3.1-8B."""
SMALL = frozenset({"tiny", "135m"})  # in float32, the others in bfloat16
SPREAD = 0.04  # of random weights: logits then lie as far apart as those of trained models
NEW_TOKENS = 32
STAGES = ("score", "host", "write", "again", "memory")
"""What a run without lm-eval and without a GPU measures."""
WORDS = (
    "river",
    "stone",
    "light",
    "paper",
    "seven",
    "garden",
    "window",
    "under",
    "every",
    "quiet",
    "machine",
    "letter",
)
Exam = list[tuple[str, list[str]]]


def sentence(seed: int, words: int) -> str:
    """Return words that look drawn, the same for the same seed."""
    return " ".join(WORDS[(seed * 7919 + place * (seed % 13 + 3)) % len(WORDS)] for place in range(words))


def exams(count: int) -> dict[str, Exam]:
    """Return four exams: demonstrations that all share, that nobody shares, none, and choices of several tokens."""

    def question(number: int) -> str:
        choices = "".join(f"\n{letter}. {sentence(number * 5 + place, 4)}" for place, letter in enumerate("ABCD"))
        return f"Question: what is {sentence(number, 12)} {number}?{choices}\nAnswer:"

    letters = [f" {letter}" for letter in "ABCD"]
    demos = [f"{question(1000 + number)} A\n\n" for number in range(5 * count)]
    texts = [[f" {sentence(number * 11 + place, 2 + place)}" for place in range(4)] for number in range(count)]
    return {
        "shared demos": [("".join(demos[:5]) + question(number), letters) for number in range(count)],
        "own demos": [("".join(demos[5 * n : 5 * n + 5]) + question(n), letters) for n in range(count)],
        "no demos": [(question(number), letters) for number in range(count)],
        "long choices": [(question(number), texts[number]) for number in range(count)],
    }


@dataclass
class Report:
    """What is known so far, in a file and on the screen."""

    path: Path
    ends: float
    lines: list[dict[str, Any]] = field(default_factory=list)

    def has(self, seconds: float) -> bool:
        """Whether there is so much time left."""
        return time.monotonic() + seconds < self.ends

    def note(self, size: str, stage: str, who: str, **values: Any) -> None:
        """Write a line down."""
        self.lines.append({"size": size, "stage": stage, "who": who, **values})
        with self.path.open("a") as file:
            file.write(json.dumps(self.lines[-1]) + "\n")
        shown = (
            f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}" for name, value in values.items()
        )
        print(f"{size:6}{stage:8}{who:32}", *shown, flush=True)


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Return what some work returns, with its seconds and its peak of GPU memory."""
    on_gpu = torch.cuda.is_available()
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
        torch.cuda.synchronize()
    started = time.perf_counter()
    found = work()
    if on_gpu:
        torch.cuda.synchronize()
    peak = torch.cuda.max_memory_allocated() / 2**30 if on_gpu else 0.0
    return found, {"seconds": time.perf_counter() - started, "peak_gib": peak}


def made(size: str, tokenizer: Any, folder: str, device: str) -> None:
    """Write a model with random weights into a folder."""
    from transformers import LlamaConfig, LlamaForCausalLM

    hidden, layers, heads, keys, inner = SHAPES[size]
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads,
        num_key_value_heads=keys, intermediate_size=inner, max_position_embeddings=4096,
        tie_word_embeddings=size != "8b", bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    torch.manual_seed(0)
    with torch.device(device), torch.no_grad():
        model = LlamaForCausalLM(config).to(torch.float32 if size in SMALL else torch.bfloat16)
        for name, weight in model.named_parameters():
            if "norm" not in name:
                weight.normal_(0, SPREAD)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def truth(engine: HFEngine, exam: Exam) -> list[list[float]]:
    """Return likelihoods by one forward pass for each choice."""
    encoder, loaded = engine.encoder(), engine.loaded
    found = []
    for context, choices in exam:
        row = []
        for before, after in encoder.encode_pairs([(context, choice) for choice in choices]):
            with torch.inference_mode():
                inputs = torch.tensor([(before + after)[:-1]], device=loaded.device)
                logits = loaded.model(inputs, use_cache=False).logits[0, -len(after) :].float().log_softmax(-1)
                row.append(float(logits.gather(1, torch.tensor(after, device=loaded.device)[:, None]).sum()))
        found.append(row)
    return found


def asked(exam: Exam) -> list[Choose]:
    """Return an exam's questions as requests."""
    return [Choose(tuple(Pair(Prompt(context), choice) for choice in choices)) for context, choices in exam]


def scores(engine: HFEngine, exam: Exam) -> list[list[float]]:
    """Return Proctor's likelihoods; fails where one is missing."""
    found = dict(engine.score(asked(exam)))
    return [[each.log_likelihood for each in found[place].scores] for place in range(len(exam))]


def difference(found: Sequence[Sequence[float]], real: Sequence[Sequence[float]]) -> dict[str, float]:
    """Return the largest difference of likelihoods, and how many decisions differ."""
    pairs = list(zip(found, real, strict=False))
    worst = max(abs(one - other) for row, wanted in pairs for one, other in zip(row, wanted, strict=True))
    other = sum(row.index(max(row)) != wanted.index(max(wanted)) for row, wanted in pairs)
    return {"difference": worst, "decisions": other, "compared": len(pairs)}


class Peer:
    """lm-eval's ``hf`` model, where it is installed."""

    def __init__(self, folder: str, device: str) -> None:
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM

        self._instance: Any = Instance
        self._model: Any = HFLM(pretrained=folder, device=device, batch_size=64, max_length=4096)

    def scores(self, exam: Exam) -> list[list[float]]:
        """Return its likelihoods."""
        flat = [(context, choice) for context, choices in exam for choice in choices]
        given = [self._instance("loglikelihood", {}, pair, place) for place, pair in enumerate(flat)]
        values = iter(self._model.loglikelihood(given, disable_tqdm=True))
        return [[next(values)[0] for _ in choices] for _, choices in exam]


class _NoModel:
    """Stands where a model does, and computes nothing."""

    dtype = torch.bfloat16

    def __init__(self) -> None:
        self.steps = self.tokens = 0
        self._head = torch.nn.Identity()

    def __call__(self, input_ids: torch.Tensor, **_: Any) -> Any:
        self.steps += 1
        self.tokens += input_ids.numel()
        return SimpleNamespace(logits=torch.zeros(1))

    def get_output_embeddings(self) -> torch.nn.Module:
        return self._head


def host(engine: HFEngine, exam: Exam, limits: Limits) -> dict[str, float]:
    """Return milliseconds of CPU for each step in which only the host works, and for reading its texts as tokens."""
    encoder, pairs = engine.encoder(), [(context, choice) for context, choices in exam for choice in choices]
    started = time.process_time()
    sequences = list(dict.fromkeys(encoder.scorable(*ids) for ids in encoder.encode_pairs(pairs)))
    encoding, stand_in = time.process_time() - started, _NoModel()
    loaded = LoadedModel(stand_in, None, "causal", torch.device("cpu"), 4096)
    with (
        mock.patch.object(packed_scoring, "_mask", return_value=None),
        mock.patch.object(packed_scoring, "looked_up", return_value=torch.zeros(2, 1)),
        mock.patch.object(packed_scoring, "_read_together", list),
        mock.patch("transformers.DynamicCache"),
    ):
        best = min(_cpu_of(lambda: list(packed_scoring.score_packed(loaded, sequences, limits))) for _ in range(5))
    steps, tokens = stand_in.steps / 5, stand_in.tokens / 5
    return {
        "ms_a_step": 1000 * best / steps,
        "ms_of_tokenizing_a_step": 1000 * encoding / steps,
        "steps": steps,
        "tokens_a_step": tokens / steps,
    }


def _cpu_of(work: Callable[[], Any]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def busy(work: Callable[[], Any]) -> float:
    """Return the share of some work's time in which the GPU computes."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as seen:
        _, cost = timed(work)
    return float(sum(each.self_device_time_total for each in seen.key_averages()) / 1e6 / cost["seconds"])


class Stages:
    """What is measured of one model."""

    def __init__(self, size: str, folder: str, given: argparse.Namespace, report: Report) -> None:
        self._size, self._folder, self._given, self._report = size, folder, given, report
        self._base = {"device": given.device, "max_length": 4096, "max_new_tokens": NEW_TOKENS}
        self._engine = HFEngine(folder, **self._base)
        self._rows = exams(given.documents)
        self._real: dict[str, list[list[float]]] = {}
        self._found: dict[str, list[list[float]]] = {}

    def all(self) -> Iterator[Callable[[], None]]:
        """Yield the stages, most important first."""
        yield from (partial(self._score, name) for name in self._rows)
        yield from (partial(self._host, name) for name in self._rows)
        if find_spec("lm_eval") is not None:
            yield self._peer
        yield from (self._write, self._again, self._memory)
        if torch.cuda.is_available():
            yield self._busy
        self._engine.close()

    def _note(self, stage: str, who: str, **values: Any) -> None:
        self._report.note(self._size, stage, who, **values)

    def _timed(self, name: str, who: str, answer: Callable[[Exam], list[list[float]]]) -> list[list[float]]:
        got, cost = timed(lambda: answer(self._rows[name]))
        rate = sum(len(choices) for _, choices in self._rows[name]) / cost["seconds"]
        self._note("score", f"{who}: {name}", requests_s=rate, **cost, **difference(got, self._real[name]))
        return got

    def _score(self, name: str) -> None:
        self._real[name] = truth(self._engine, self._rows[name][: self._given.truths])
        scores(self._engine, self._rows[name][:2])
        self._found[name] = self._timed(name, "proctor", partial(scores, self._engine))

    def _host(self, name: str) -> None:
        for kind, batch in (("steps", 0), ("rows", 4 * GPU_STEP)):
            limits = Limits(GPU_STEP, GPU_STEP, GPU_LOGITS // self._engine.loaded.vocabulary_size, batch=batch)
            self._note("host", f"{kind}: {name}", **host(self._engine, self._rows[name], limits))

    def _peer(self) -> None:
        peer = Peer(self._folder, self._given.device)
        peer.scores(self._rows["no demos"][:2])
        for name in self._found:
            self._timed(name, "lm-eval", peer.scores)

    def _write(self) -> None:
        prompts = [Generate(Prompt(context), Decoding(NEW_TOKENS)) for context, _ in self._rows["no demos"]]
        got, cost = timed(lambda: dict(self._engine.generate(prompts)))
        alone = [dict(self._engine.generate([each]))[0].texts for each in prompts[:4]]
        same = sum(got[place].texts == texts for place, texts in enumerate(alone))
        self._note("write", "proctor", answers_s=len(got) / cost["seconds"], **cost, as_alone=same, of=len(alone))

    def _again(self) -> None:
        name = next(iter(self._found))
        self._note("again", name, equal=scores(self._engine, self._rows[name]) == self._found[name])

    def _memory(self) -> None:
        name = next(reversed(self._found))
        other = HFEngine(self._folder, **self._base, batch_tokens=4_000_000)
        got, cost = timed(lambda: scores(other, self._rows[name]))
        self._note("memory", "batch_tokens=4,000,000", **cost, **difference(got, self._found[name]))

    def _busy(self) -> None:
        self._note("host", "busy", share=busy(partial(scores, self._engine, self._rows["own demos"])))


def measure_sizes(given: argparse.Namespace, report: Report) -> None:
    """Measure every size while there is time."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(given.model)
    for size in given.sizes.split(","):
        if not report.has(30):
            report.note(size, "skipped", "no time is left")
            continue
        folder = given.model if size == "given" else tempfile.mkdtemp()
        try:
            if size != "given":
                made(size, tokenizer, folder, given.device)
            for stage in Stages(size, folder, given, report).all():
                if report.has(20):
                    stage()
        except Exception as error:  # noqa: BLE001 - the figures of other sizes are wanted all the same
            report.note(size, "error", type(error).__name__, message=str(error)[:300])
        finally:
            if size != "given":
                shutil.rmtree(folder)
            free_memory()


def main() -> None:
    """Measure, and print each figure as soon as it is known."""
    from proctor.engines.hf.smollm2 import converted_folder

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="135m,1b,8b", help=f"of {', '.join(SHAPES)}, given")
    parser.add_argument("--model", help="a folder with a tokenizer, and the model 'given'; by default SmolLM2's")
    parser.add_argument("--out", type=Path, default=Path("gpu.jsonl"))
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--documents", type=int, default=256, help="of each exam")
    parser.add_argument(
        "--truths", type=int, default=16, help="documents of each exam that are compared with the truth"
    )
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    given = parser.parse_args()
    given.model = given.model or str(converted_folder())
    faulthandler.dump_traceback_later(60 * given.minutes + 30, exit=True)
    try:
        measure_sizes(given, Report(given.out, time.monotonic() + 60 * given.minutes))
    finally:
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
