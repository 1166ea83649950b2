"""lm-eval's command line in terms of ours: what each flag means, and how its values are read."""

from __future__ import annotations

import json
from typing import Any

from proctor.dialects.foreign_flags import Flag
from proctor.errors import UsageError
from proctor.foreign_text import parse_json

_NOT_SENT = "a run sends nothing by itself: proctor export RUN --to mlflow, wandb or trackio does"

FLAGS: tuple[Flag, ...] = (
    Flag("--model", "--model", short="-M"),
    Flag("--model_args", "--model-args", takes="pairs", short="-a"),
    Flag("--tasks", "--tasks", takes="many", short="-t"),
    Flag("--num_fewshot", "--num-demos", short="-f"),
    Flag("--batch_size", "--batch-size", short="-b"),
    Flag("--max_batch_size", note="the engine finds the largest batch that fits", does="nothing"),
    Flag("--device", "--device"),
    Flag("--output_path", "--output", short="-o"),
    Flag("--limit", "--limit", short="-L"),
    Flag("--samples", "--samples", option="samples", short="-E"),
    Flag("--use_cache", "--log", note="the response log; its key includes the model", short="-c"),
    Flag("--cache_requests", note="requests are built faster than they are read back", takes="perhaps", does="nothing"),
    Flag("--check_integrity", note="proctor validate reads every task", takes="nothing", does="nothing"),
    Flag("--write_out", "--write-out", takes="nothing"),
    Flag("--log_samples", "--log-samples", takes="nothing"),
    Flag("--system_instruction", "--system-prompt"),
    Flag("--apply_chat_template", "--apply-chat-template", takes="perhaps"),
    Flag("--fewshot_as_multiturn", "--demos-as-turns", takes="perhaps"),
    Flag("--verbosity", note="PROCTOR_DEFAULT_VERBOSITY=debug in the environment says more", short="-v"),
    Flag("--wandb_args", note=_NOT_SENT, takes="pairs", does="refused"),
    Flag("--wandb_config_args", note=_NOT_SENT, takes="pairs", does="refused"),
    Flag("--trackio_args", note=_NOT_SENT, takes="pairs", does="refused"),
    Flag("--hf_hub_log_args", note=_NOT_SENT, takes="pairs", does="refused"),
    Flag(
        "--show_config",
        note="results.json and run.yaml hold the configuration of every task",
        takes="nothing",
        does="nothing",
    ),
    Flag("--include_path", "--include-path"),
    Flag("--gen_kwargs", "--gen-kwargs", option="decoding", takes="pairs"),
    Flag("--predict_only", "--predict-only", option="predict_only", takes="nothing", short="-x"),
    Flag(
        "--seed",
        "--seed",
        "seed",
        "of 'python,numpy,torch,fewshot' the first two are for code of tasks, the last draws demos, and torch's "
        "decides nothing: sampled answers derive from their requests",
    ),
    Flag("--trust_remote_code", "--trust-code", takes="nothing"),
    Flag("--confirm_run_unsafe_code", "--trust-code", takes="nothing"),
    Flag("--metadata", "--metadata", option="metadata", takes="pairs"),
    Flag("--config", "--config", short="-C"),
    Flag("--template", "--template"),
    Flag("--chat_override", "--chat-override", option="chat_override", takes="nothing"),
)
"""Every flag of ``lm-eval run``."""

_BY_NAME = {each.name.replace("_", "-"): each for each in FLAGS}
_BY_LETTER = {each.short: each for each in FLAGS if each.short}


def flag(name: str) -> Flag | None:
    """Return the flag of a name, spelled with dashes or underscores, or as one letter."""
    return _BY_LETTER.get(name) or _BY_NAME.get(f"--{name.replace('_', '-').lstrip('-')}")


def parse_pairs(text: str) -> dict[str, Any]:
    """Return ``key=value,key=value`` or a JSON object.

    Raises:
        UsageError: It is neither.
    """
    if text.lstrip().startswith("{"):
        try:
            found = parse_json(text)
        except json.JSONDecodeError as error:
            raise UsageError("this is not JSON", why=str(error)) from None
        return dict(found)
    pairs = {}
    for part in filter(None, (each.strip() for each in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"'{part}' is not a key=value", hint="temperature=0.7,top_p=0.9")
        pairs[key.strip()] = _value(value.strip())
    return pairs


def _value(text: str) -> Any:
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    if text.lower() in {"none", "null"}:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
