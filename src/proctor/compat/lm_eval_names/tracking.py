"""``lm_eval.loggers``: results and samples in the files that lm-eval writes; its helpers."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proctor.dialects.lm_eval.writer import filed
from proctor.errors import OutputError, UsageError
from proctor.guests.lm_eval.utils import (
    handle_non_serializable,
    hash_string,
    sanitize_model_name,
    sanitize_task_name,
)
from proctor.logs import get_logger
from proctor.safe_files import write_text, written
from proctor.secrets import cleaned, keep_named

_NAMED_BY = ("peft", "delta", "pretrained", "model", "path", "engine")
"""Arguments of a model that say what it is called, the most telling first."""


@dataclass
class GeneralConfigTracker:
    """What is known of a model and how it was asked.

    Attributes:
        model_source: What kind of model.
        model_name: What it is called.
        model_name_sanitized: That as part of a path.
        system_instruction, system_instruction_sha: What opens prompts, and its digest.
        fewshot_as_multiturn: Whether demos are turns of their own.
        chat_template, chat_template_sha: How messages become text, and its digest.
        total_evaluation_time_seconds: From when this was made to the end.
    """

    model_source: str | None = None
    model_name: str | None = None
    model_name_sanitized: str | None = None
    system_instruction: str | None = None
    system_instruction_sha: str | None = None
    fewshot_as_multiturn: bool | None = None
    chat_template: str | None = None
    chat_template_sha: str | None = None
    total_evaluation_time_seconds: str | None = None
    start_time: float = field(default_factory=time.perf_counter)
    end_time: float = 0.0

    def log_experiment_args(
        self,
        model_source: str,
        model_args: str | Mapping[str, Any] | None,
        system_instruction: str | None,
        chat_template: str | None,
        fewshot_as_multiturn: bool | None,
    ) -> None:
        """Keep who is asked, and how."""
        self.model_source = model_source
        self.model_name = _name_of(model_args) or model_source
        self.model_name_sanitized = sanitize_model_name(self.model_name)
        self.system_instruction, self.chat_template = system_instruction, chat_template
        self.system_instruction_sha = hash_string(system_instruction) if system_instruction else None
        self.chat_template_sha = hash_string(chat_template) if chat_template else None
        self.fewshot_as_multiturn = fewshot_as_multiturn

    def log_end_time(self) -> None:
        """Keep how long it took."""
        self.end_time = time.perf_counter()
        self.total_evaluation_time_seconds = str(self.end_time - self.start_time)


def _name_of(model_args: str | Mapping[str, Any] | None) -> str | None:
    from proctor.engines.model_args import parse_model_args

    given = parse_model_args(model_args) if isinstance(model_args, str) else model_args or {}
    keep_named(given)  # results have the arguments as they were given, and are passed on
    return next((str(given[key]) for key in _NAMED_BY if key in given), None)


class EvaluationTracker:
    """Writes results and samples where lm-eval does, in its form.

    Args:
        output_path: A folder, in which one with the model's name appears, or a file that ends in ``.json``; without it
            nothing is written.
        push_results_to_hub, push_samples_to_hub: Refused: what is written is uploaded by ``hf upload``.
        hub: The other arguments of lm-eval's, which say where on a hub.

    Raises:
        UsageError: Something is to be sent to a hub.
    """

    def __init__(
        self,
        output_path: str | None = None,
        *,
        push_results_to_hub: bool = False,
        push_samples_to_hub: bool = False,
        **hub: Any,
    ) -> None:
        if unknown := [name for name in hub if name not in _OF_HUB]:
            raise TypeError(f"EvaluationTracker has no argument '{unknown[0]}'")
        if push_results_to_hub or push_samples_to_hub or any(hub.values()):
            named = next((name for name, value in hub.items() if value), "push_results_to_hub")
            raise UsageError(
                f"nothing is sent to a hub here, and {named} asks for it",
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
        if not self.output_path:
            get_logger().info("no output_path is given: results are not written")
            return
        self.date_id = _now()
        results["task_hashes"] = {name: _digest(each) for name, each in (samples or {}).items()}
        known = asdict(self.general_config_tracker)
        results.update({key: value for key, value in known.items() if key not in ("start_time", "end_time")})
        place = Path(self.output_path)
        name = f"{place.stem}_{self.date_id}.json" if place.suffix == ".json" else f"results_{self.date_id}.json"
        text = json.dumps(results, indent=2, default=handle_non_serializable, ensure_ascii=False)
        try:
            write_text(self._folder() / name, cleaned(text))
        except OSError as error:
            raise OutputError.unwritable(f"the results in {place}", error) from None

    def save_results_samples(self, task_name: str, samples: Iterable[Mapping[str, Any]]) -> None:
        """Write ``samples_TASK_*.jsonl``.

        Raises:
            OutputError: The file cannot be written.
        """
        if not self.output_path:
            get_logger().info("no output_path is given: samples are not written")
            return
        path = self._folder() / f"samples_{sanitize_task_name(task_name)}_{self.date_id}.jsonl"
        try:
            with written(path) as file:
                for each in samples:
                    line = json.dumps(filed(each), default=handle_non_serializable, ensure_ascii=False)
                    file.write(cleaned(line).encode() + b"\n")
        except OSError as error:
            raise OutputError.unwritable(f"the samples in {path}", error) from None

    def recreate_metadata_card(self) -> None:
        """Refuse: it describes a repository on a hub.

        Raises:
            UsageError: Always.
        """
        raise UsageError("a metadata card describes a repository on a hub, and nothing is sent to one here")

    def _folder(self) -> Path:
        place = Path(self.output_path or "")
        named = place.suffix == ".json"
        folder = place.parent if named else place / str(self.general_config_tracker.model_name_sanitized or "model")
        folder.mkdir(parents=True, exist_ok=True)
        return folder


_OF_HUB = frozenset(
    (
        *("hub_results_org", "hub_repo_name", "details_repo_name", "results_repo_name", "public_repo", "token"),
        *("leaderboard_url", "point_of_contact", "gated"),
    )
)


def _now() -> str:
    return datetime.now(UTC).replace(tzinfo=None).isoformat().replace(":", "-")


def _digest(samples: Iterable[Mapping[str, Any]]) -> str:
    return hash_string("".join(each["doc_hash"] + each["prompt_hash"] + each["target_hash"] for each in samples))


_handle_non_serializable = handle_non_serializable
