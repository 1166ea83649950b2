"""``lm_eval.config.evaluate_config``: what a call of ``simple_evaluate`` evaluates, as a file says it."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, Self

import yaml

from proctor.compat.lm_eval_names.tasks import TaskManager, load_yaml
from proctor.errors import UsageError, did_you_mean
from proctor.guests.lm_eval.utils import simple_parse_args_string
from proctor.recipes.option_values import parse_seeds
from proctor.secrets import without_secrets

_MAPPINGS: Final = (
    *("model_args", "gen_kwargs", "metadata", "cache_requests"),
    *("wandb_args", "wandb_config_args", "hf_hub_log_args", "trackio_args"),
)
_FIELDS: Final[Mapping[str, Any]] = {
    "model": "hf",
    "tasks": [],
    "batch_size": 1,
    "device": "cuda:0",
    "seed": [0, 1234, 1234, 1234],
    **{name: {} for name in _MAPPINGS},
    **dict.fromkeys(("check_integrity", "write_out", "log_samples", "predict_only", "apply_chat_template"), False),
    **dict.fromkeys(("show_config", "trust_remote_code", "confirm_run_unsafe_code"), False),
    **dict.fromkeys(("config", "num_fewshot", "max_batch_size", "limit", "samples", "use_cache", "output_path")),
    **dict.fromkeys(("system_instruction", "fewshot_as_multiturn", "include_path", "verbosity")),
}
"""What an evaluation says, with lm-eval's defaults."""


class EvaluatorConfig(SimpleNamespace):
    """What a call of ``simple_evaluate`` evaluates, under the names of its arguments.

    Raises:
        UsageError: There is no such argument.
    """

    def __init__(self, **given: Any) -> None:
        if unknown := [name for name in given if name not in _FIELDS]:
            raise UsageError(f"an evaluation has no '{unknown[0]}'", hint=did_you_mean(unknown[0], _FIELDS))
        super().__init__(**{**deepcopy(dict(_FIELDS)), **given})

    @classmethod
    def from_config(cls, config_path: str | Path) -> Self:
        """Return what a file says."""
        made = cls(**cls.load_yaml_config(config_path))
        return made._configure()

    @classmethod
    def from_cli(cls, namespace: Namespace) -> Self:
        """Return what parsed arguments say, over what the file of their ``config`` does."""
        given = {name: value for name, value in vars(namespace).items() if value or value == 0}
        typed = {name: value for name, value in given.items() if name not in ("command", "func")}
        made = cls(**{**(cls.load_yaml_config(typed["config"]) if "config" in typed else {}), **typed})
        return made._configure()

    @staticmethod
    def load_yaml_config(config_path: str | Path) -> dict[str, Any]:
        """Return the mapping of a YAML file.

        Raises:
            UsageError: It is not one.
        """
        try:
            found = yaml.safe_load(Path(config_path).read_text(encoding="utf-8"))
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UsageError(f"{config_path} is not YAML", why=str(error)) from None
        if not isinstance(found, dict):
            raise UsageError(f"{config_path} is not a mapping")
        return found

    fewshot_as_multiturn: Any
    metadata: Any
    samples: Any
    seed: Any
    tasks: Any

    def _configure(self) -> Self:
        for name in _MAPPINGS:
            if isinstance(value := getattr(self, name), str):
                setattr(self, name, simple_parse_args_string(value))
        if (self.log_samples or self.predict_only) and not self.output_path:
            raise UsageError("Specify --output_path if providing --log_samples or --predict_only")
        if self.fewshot_as_multiturn is None and self.apply_chat_template:
            self.fewshot_as_multiturn = True
        if self.fewshot_as_multiturn and not self.apply_chat_template:
            raise UsageError("fewshot_as_multiturn needs apply_chat_template")
        if self.tasks is None or (self.samples and self.limit is not None):
            raise UsageError("Need to specify task to evaluate." if self.tasks is None else "samples excludes limit")
        if isinstance(self.samples, str):
            named = not self.samples.lstrip().startswith("{")
            self.samples = json.loads(Path(self.samples).read_text(encoding="utf-8") if named else self.samples)
        self.metadata = {**without_secrets(self.model_args), **self.metadata}  # results have the metadata of tasks
        if self.seed is not None:
            self.seed = seeds_of(
                ",".join(map(str, self.seed)) if isinstance(self.seed, list | tuple) else str(self.seed)
            )
        if self.trust_remote_code:
            self.model_args["trust_remote_code"] = True
        return self

    def process_tasks(self, metadata: Mapping[str, Any] | None = None) -> TaskManager:
        """Replace names, patterns, files and folders in ``tasks`` by what they mean; return who knows them.

        Raises:
            UsageError: One means nothing.
        """
        self.metadata = dict(metadata or self.metadata)
        manager = TaskManager(include_path=self.include_path, metadata=self.metadata)
        every = [self.tasks] if isinstance(self.tasks, str) else self.tasks
        found = {name.strip(): _meant(name.strip(), manager) for each in every for name in each.split(",")}
        if missing := [name for name, meant in found.items() if not meant]:
            raise UsageError(f"Tasks not found: {', '.join(missing)}")
        self.tasks = [each for meant in found.values() for each in meant]
        return manager


def seeds_of(text: str) -> list[int | None]:
    """Return the four seeds that one, three or four say.

    Raises:
        UsageError: They are not seeds.
    """
    parse_seeds(text)
    said = [None if each.strip().lower() == "none" else int(each) for each in text.split(",")]
    return said * len(_FIELDS["seed"]) if len(said) == 1 else [*said, *_FIELDS["seed"][len(said) :]]


def _meant(name: str, manager: TaskManager) -> list[Any]:
    """Return names of tasks, or what task files say."""
    place = Path(name).absolute()
    files = place.glob("*.yaml") if place.is_dir() else place.parent.glob(place.name) if place.suffix == ".yaml" else ()
    return manager.match_tasks([name]) or [load_yaml(file) for file in sorted(files)]
