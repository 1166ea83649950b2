"""lm-eval's command line in terms of ours: what each flag means, and how its values are read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.errors import UsageError
from proctor.foreign_text import parse_json


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of lm-eval.

    Attributes:
        name: As lm-eval spells it, with underscores; dashes mean the same.
        ours: The option of ``proctor run`` that takes its value; empty where it has none.
        option: The field of :class:`~proctor.recipes.options.ExamOptions` that takes it; empty where ``ours`` says all.
        note: What is different here.
    """

    name: str
    ours: str = ""
    option: str = ""
    note: str = ""


FLAGS: tuple[Flag, ...] = (
    Flag("--model", "--model"),
    Flag("--model_args", "--model-args"),
    Flag("--tasks", "--tasks"),
    Flag("--num_fewshot", "--num-demos"),
    Flag("--batch_size", "--batch-size"),
    Flag("--max_batch_size", note="leave it out: the engine finds the largest batch that fits"),
    Flag("--device", "--device"),
    Flag("--output_path", "--output"),
    Flag("--limit", "--limit"),
    Flag("--samples", option="samples"),
    Flag("--use_cache", "--log", note="the response log; its key includes the model"),
    Flag("--cache_requests", note="leave it out: requests are built faster than they are read back"),
    Flag("--check_integrity", note="leave it out: proctor validate reads every task"),
    Flag("--write_out", "--write-out"),
    Flag("--log_samples", "--log-samples"),
    Flag("--system_instruction", "--system-prompt"),
    Flag("--apply_chat_template", "--apply-chat-template"),
    Flag("--fewshot_as_multiturn", "--demos-as-turns"),
    Flag("--verbosity", note="leave it out: PROCTOR_DEFAULT_VERBOSITY=debug says more"),
    Flag("--wandb_args", note="leave it out: proctor report writes tables that other programs read"),
    Flag("--hf_hub_log_args", note="leave it out: results stay on this machine"),
    Flag("--show_config", note="leave it out: results.json and run.yaml hold the configuration of every task"),
    Flag("--include_path", "--include-path"),
    Flag("--gen_kwargs", option="decoding"),
    Flag("--predict_only", option="predict_only"),
    Flag("--seed", "--seed", "seed", "of the four seeds 'python,numpy,torch,fewshot' the last one draws demos"),
    Flag("--trust_remote_code", "--trust-code"),
    Flag("--confirm_run_unsafe_code", "--trust-code"),
    Flag("--metadata", option="metadata"),
    Flag("--template", "--template"),
    Flag("--chat_override", option="chat_override"),
)
"""Every flag of ``lm-eval run`` that means something here."""


def flag(name: str) -> Flag | None:
    """Return the flag of a name, spelled with dashes or underscores."""
    wanted = name.replace("-", "_").lstrip("_")
    return next((each for each in FLAGS if each.name.replace("-", "_").lstrip("_") == wanted), None)


def parse_seeds(text: str) -> int | None:
    """Return the seed that demos are drawn with, of one seed or of four separated by commas.

    Raises:
        UsageError: It is neither.
    """
    parts = [part.strip() for part in text.split(",")]
    if len(parts) not in {1, 4} or not all(part.isdigit() or part == "None" for part in parts):
        raise UsageError(f"'{text}' is not a seed", hint="one number, or four: python,numpy,torch,fewshot")
    return None if parts[-1] == "None" else int(parts[-1])


def parse_samples(text: str) -> dict[str, list[int]]:
    """Return positions of documents by task, from JSON or from a file with JSON.

    Raises:
        UsageError: It is not such JSON.
    """
    path = Path(text)
    source = path.read_text(encoding="utf-8") if not text.lstrip().startswith("{") and path.is_file() else text
    try:
        found = parse_json(source)
    except json.JSONDecodeError as error:
        raise UsageError("--samples is not JSON", why=str(error), hint='{"mmlu_anatomy": [0, 3, 6]}') from None
    if not isinstance(found, dict) or not all(isinstance(each, list) for each in found.values()):
        raise UsageError("--samples is not a mapping of tasks to positions", hint='{"mmlu_anatomy": [0, 3, 6]}')
    return found


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
