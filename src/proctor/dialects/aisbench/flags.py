"""The command lines of AISBench and OpenCompass in terms of ours: what each option means here, or why it means nothing.

A value that has its own meaning (``--mode perf``) is answered in :func:`mode_of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from proctor.errors import UsageError, did_you_mean

Takes = Literal["nothing", "one", "many", "perhaps"]
"""How many values follow an option: none, one, one or more, or one that may be left out."""
Does = Literal["the same", "nothing", "refused"]
"""What becomes of an option here: another name for one of ours, nothing (a sentence says so), or an error."""


@dataclass(frozen=True, slots=True)
class Flag:
    """An option of AISBench or OpenCompass.

    Attributes:
        name: As they spell it.
        takes: What follows it.
        ours: The option of ``proctor run`` that it means, or that does it here.
        does: What becomes of it.
        note: Why it has no effect here, or why it is refused.
        short: Its one-letter name there, where it is none of ours.
    """

    name: str
    takes: Takes
    ours: str = ""
    does: Does = "the same"
    note: str = ""
    short: str = ""


LOAD_GENERATORS = "vllm bench serve, guidellm, genai-perf (NVIDIA) or ais_bench itself"
"""Programs that put a server under load."""
_NO_LOAD = (
    "Proctor puts no server under load; it does measure the requests that it sends: --model-args stream=true, and the "
    "run's results, proctor report and the viewer have time to first token, between tokens and throughput"
)
_ALL_AT_ONCE = "all exams of a run are asked together, in this process"
_NO_CLUSTER = "jobs are not submitted to a cluster from here: start proctor run in the job"

FLAGS: tuple[Flag, ...] = (
    Flag("--models", "many", "--model"),
    Flag("--datasets", "many", "--tasks"),
    Flag("--work-dir", "one", "--output", short="-w"),
    Flag("--num-prompts", "one", "--limit"),
    Flag("--config-dir", "one", "--include-path"),
    Flag("--summarizer", "one", "--summarizer"),
    Flag("--mode", "one", "--mode"),
    Flag("--reuse", "perhaps", "--reuse", short="-r"),
    Flag("--search", "nothing", "--search", short="-s"),
    Flag("--dry-run", "nothing", "--dry-run"),
    Flag("--dataset-num-runs", "one", "--repeats"),
    Flag("--dump-eval-details", "perhaps", "", "nothing", "samples.jsonl has every instance with its scores"),
    Flag("--dump-extract-rate", "nothing", "", "nothing", "samples.jsonl has what was taken out of every answer"),
    Flag("--dump-res-length", "nothing", "", "nothing", "samples.jsonl has the tokens of every answer"),
    Flag("--merge-ds", "nothing", "", "nothing", _ALL_AT_ONCE),
    Flag("--debug", "nothing", "--traceback", note=f"{_ALL_AT_ONCE}, and errors are shown where they happen"),
    Flag("--max-num-workers", "one", "--max-concurrency", "nothing", _ALL_AT_ONCE),
    Flag("--max-workers-per-gpu", "one", "--batch-size", "nothing", "one process has the model"),
    Flag("--config-verbose", "nothing", "", "nothing", "run.yaml has the whole configuration"),
    Flag("--num-warmups", "one", "", "nothing", "answers are graded, so none is thrown away to warm a server up"),
    Flag("--retry", "one", "--model-args max_retries=N", "refused", "it is an argument of the engine here"),
    Flag("--accelerator", "one", "--model vllm", "refused", "the engine is chosen by --model here"),
    Flag("--pressure", "nothing", "", "refused", _NO_LOAD),
    Flag("--pressure-time", "one", "", "refused", _NO_LOAD),
    Flag("--spec-decode", "nothing", "", "refused", _NO_LOAD),
    Flag("--response-anomaly", "perhaps", "", "refused", "samples.jsonl has finish_reason and length of each answer"),
    Flag("--response-anomaly-payload-retention", "one", "", "refused", "samples.jsonl has every answer"),
    Flag("--analysis-repeat", "perhaps", "", "refused", "no answer is searched for repetitions here"),
    Flag("--dump-only-message-path", "one", "proctor show", "refused", "nothing is asked then"),
    Flag("--station-path", "one", "", "refused", "the response log keeps answers: --log FILE shares one"),
    Flag("--station-overwrite", "nothing", "", "refused", "the response log keeps answers: --log FILE shares one"),
    Flag("--read-from-station", "nothing", "", "refused", "the response log keeps answers: --log FILE shares one"),
    Flag("--lark", "nothing", "", "refused", "nothing is sent to anybody; the exit code says how a run ended"),
    *(Flag(f"--{name}", "nothing", "", "refused", _NO_CLUSTER) for name in ("slurm", "dlc")),
    *(Flag(f"--{name}", "one", "", "refused", _NO_CLUSTER) for name in ("partition", "quotatype", "qos", "aliyun-cfg")),
    *(
        Flag(f"--custom-dataset-{name}", "one", f"--custom-dataset-{name}")
        for name in ("path", "meta-path", "data-type", "infer-method")
    ),
    Flag("--hf-path", "one", "--hf-path"),
    Flag("--hf-type", "one", "--hf-type"),
    Flag("--model-kwargs", "many", "--model-kwargs"),
    Flag("--generation-kwargs", "many", "--generation-kwargs"),
    Flag("--tokenizer-kwargs", "many", "--tokenizer-kwargs"),
    Flag("--stop-words", "many", "--stop-words"),
    Flag("--tokenizer-path", "one", "--tokenizer-path"),
    Flag("--peft-path", "one", "--peft-path"),
    Flag("--max-seq-len", "one", "--max-seq-len"),
    Flag("--max-out-len", "one", "--max-out-len"),
    Flag("--min-out-len", "one", "", "nothing", "OpenCompass itself passes it to no model"),
    Flag("--hf-num-gpus", "one", "", "nothing", "--model-args device_map=auto lays the model over several GPUs"),
    Flag("--num-gpus", "one", "", "nothing", "--model-args device_map=auto lays the model over several GPUs"),
    Flag("--peft-kwargs", "many", "", "refused", "the adapter's own files say what it does"),
    Flag("--pad-token-id", "one", "", "refused", "the tokenizer's own files name it"),
)
"""Every option of ``ais_bench`` and ``opencompass`` but for those that have their name here, too."""

_BY_NAME = {each.name: each for each in FLAGS} | {each.short: each for each in FLAGS if each.short}


def flag(name: str) -> Flag | None:
    """Return the option of a name, spelled with dashes or underscores."""
    return _BY_NAME.get(name if len(name) == 2 else name.replace("_", "-"))  # noqa: PLR2004 - a dash and a letter


def refusal(found: Flag) -> UsageError:
    """Return the error that says why an option is refused, and what does it here."""
    hint = f"here it is {found.ours}" if found.ours else "leave it out"
    return UsageError(
        f"{found.name} is an option of AISBench or OpenCompass that is not here", why=found.note, hint=hint
    )


MODES = ("all", "infer", "eval", "judge", "viz")
"""Modes that are here."""


def mode_of(text: str) -> str:
    """Return a mode that is here.

    Raises:
        UsageError: It is not, and why.
    """
    if text in MODES:
        return text
    if text in ("perf", "perf_viz"):
        raise UsageError(f"--mode {text} is not here", why=_NO_LOAD, hint=f"to load a server: {LOAD_GENERATORS}")
    if text == "infer_judge":
        raise UsageError(
            "--mode infer_judge is not here",
            why="judges are asked while answers are graded, and their words are kept in the response log",
            hint="leave --mode out: a second run asks neither model nor judge again",
        )
    raise UsageError(f"there is no mode '{text}'", hint=did_you_mean(text, MODES) or f"there are {', '.join(MODES)}")
