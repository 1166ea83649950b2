"""``lm_eval.loggers``: results and samples in lm-eval's files, for programs that write them themselves."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from proctor.dialects.lm_eval.writer import filed
from proctor.engines.model_args import parse_model_args
from proctor.errors import OutputError, UsageError
from proctor.guests.lm_eval.utils import (
    handle_non_serializable,
    hash_string,
    sanitize_model_name,
    sanitize_task_name,
)
from proctor.logs import get_logger
from proctor.safe_files import written
from proctor.secrets import cleaned, keep_named

_NAMED_BY: Final = ("peft", "delta", "pretrained", "model", "path", "engine")
"""Arguments of a model that say what it is called, the most telling first."""
_OF_HUB: Final = frozenset(
    (
        *("hub_results_org", "hub_repo_name", "details_repo_name", "results_repo_name", "public_repo", "token"),
        *("leaderboard_url", "point_of_contact", "gated", "push_results_to_hub", "push_samples_to_hub"),
    )
)


@dataclass
class GeneralConfigTracker:
    """Who was asked and how, as files of results say it."""

    model_source: str | None = None
    model_name: str | None = None
    model_name_sanitized: str | None = None
    system_instruction: str | None = None
    system_instruction_sha: str | None = None
    fewshot_as_multiturn: bool | None = None
    chat_template: str | None = None
    chat_template_sha: str | None = None
    total_evaluation_time_seconds: str | None = None

    def __post_init__(self) -> None:
        """Begin to count the time."""
        self.start_time = time.perf_counter()

    def log_experiment_args(
        self,
        model_source: str,
        model_args: str | Mapping[str, Any] | None,
        system_instruction: str | None,
        chat_template: str | None,
        fewshot_as_multiturn: bool | None,
    ) -> None:
        """Keep who is asked, and how."""
        given = parse_model_args(model_args) if isinstance(model_args, str) else model_args or {}
        keep_named(given)  # no file has a key
        self.model_source, self.fewshot_as_multiturn = model_source, fewshot_as_multiturn
        self.model_name = next((str(given[key]) for key in _NAMED_BY if key in given), model_source)
        self.model_name_sanitized = sanitize_model_name(self.model_name)
        self.system_instruction, self.chat_template = system_instruction, chat_template
        self.system_instruction_sha = hash_string(system_instruction) if system_instruction else None
        self.chat_template_sha = hash_string(chat_template) if chat_template else None

    def log_end_time(self) -> None:
        """Keep how long it took."""
        self.end_time = time.perf_counter()
        self.total_evaluation_time_seconds = str(self.end_time - self.start_time)


class EvaluationTracker:
    """Writes results and samples where lm-eval does, in its form.

    Args:
        output_path: A folder, in which one with the model's name appears, or a file that ends in ``.json``; without it
            nothing is written.
        hub: lm-eval's other arguments, which say what is sent to a hub.

    Raises:
        UsageError: Something is to be sent to a hub.
        TypeError: There is no such argument.
    """

    push_results_to_hub = push_samples_to_hub = False

    def __init__(self, output_path: str | None = None, **hub: Any) -> None:
        if unknown := hub.keys() - _OF_HUB:
            raise TypeError(f"EvaluationTracker has no argument '{min(unknown)}'")
        if hub.get("push_results_to_hub") or hub.get("push_samples_to_hub"):
            raise UsageError(
                "nothing is sent to a hub here",
                hint="write to output_path, and upload the folder: hf upload NAME FOLDER --repo-type dataset",
            )
        self.output_path = output_path
        self.general_config_tracker = GeneralConfigTracker()
        self.date_id = _now()

    def save_results_aggregated(self, results: dict[str, Any], samples: Mapping[str, Any] | None = None) -> None:
        """Write ``results_*.json``; the results get what the tracker knows, and a digest of each task's samples.

        Raises:
            OutputError: The file cannot be written.
        """
        self.general_config_tracker.log_end_time()
        self.date_id = _now()
        results["task_hashes"] = {name: _digest(each) for name, each in (samples or {}).items()}
        results.update(asdict(self.general_config_tracker))
        named = Path(self.output_path or "")
        self._write(f"{named.stem if named.suffix == '.json' else 'results'}_{self.date_id}.json", [results], indent=2)

    def save_results_samples(self, task_name: str, samples: Iterable[Mapping[str, Any]]) -> None:
        """Write ``samples_TASK_*.jsonl``.

        Raises:
            OutputError: The file cannot be written.
        """
        self._write(f"samples_{sanitize_task_name(task_name)}_{self.date_id}.jsonl", map(filed, samples))

    def _write(self, name: str, values: Iterable[Mapping[str, Any]], indent: int | None = None) -> None:
        if not self.output_path:
            get_logger().info("no output_path is given: %s is not written", name)
            return
        place = Path(self.output_path)
        of_model = place / (self.general_config_tracker.model_name_sanitized or "model")
        folder = place.parent if place.suffix == ".json" else of_model
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with written(folder / name) as file:
                for each in values:
                    text = json.dumps(each, indent=indent, default=handle_non_serializable, ensure_ascii=False)
                    file.write(cleaned(text).encode() + b"\n")
        except OSError as error:
            raise OutputError.unwritable(f"{name} in {folder}", error) from None


def teller(tracker: Any) -> Callable[..., None]:
    """Return what a tracker is told who is asked with; where there is none, what does nothing.

    Raises:
        UsageError: It is not a tracker.
    """
    told = getattr(getattr(tracker, "general_config_tracker", None), "log_experiment_args", None)
    if tracker is not None and not callable(told):
        raise UsageError(
            f"the evaluation_tracker is a {type(tracker).__name__}",
            hint="lm_eval.loggers.EvaluationTracker(output_path=…)",
        )
    return told or (lambda **_: None)


def _now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat().replace(":", "-")


def _digest(samples: Iterable[Mapping[str, Any]]) -> str:
    return hash_string("".join(each["doc_hash"] + each["prompt_hash"] + each["target_hash"] for each in samples))
