"""``lm_eval.config.evaluate_config``: what a call evaluates, as fields; read from a file or from parsed arguments."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import yaml

from proctor.compat.lm_eval_names.command_line import key_val_to_dict
from proctor.errors import UsageError, did_you_mean
from proctor.guests.lm_eval.utils import simple_parse_args_string
from proctor.logs import get_logger
from proctor.secrets import without_secrets

if TYPE_CHECKING:
    from proctor.compat.lm_eval_names.tasks import TaskManager

DEFAULT_SEED = [0, 1234, 1234, 1234]
"""Of Python, numpy, torch and the draws of demos."""

DICT_KEYS = [
    "wandb_args",
    "wandb_config_args",
    "hf_hub_log_args",
    "metadata",
    "model_args",
    "gen_kwargs",
    "trackio_args",
]
"""Fields that are mappings, and may be written ``key=value,key=value``."""


@dataclass(slots=True)
class EvaluatorConfig:
    """What a call of ``simple_evaluate`` evaluates; the fields are its arguments."""

    config: str | None = None
    model: str = "hf"
    model_args: Any = field(default_factory=dict)
    tasks: Any = field(default_factory=list)
    num_fewshot: int | None = None
    batch_size: Any = 1
    max_batch_size: int | None = None
    device: str | None = "cuda:0"
    limit: float | None = None
    samples: Any = None
    use_cache: str | None = None
    cache_requests: dict[str, bool] = field(default_factory=dict)
    check_integrity: bool = False
    write_out: bool = False
    log_samples: bool = False
    output_path: str | None = None
    predict_only: bool = False
    system_instruction: str | None = None
    apply_chat_template: bool | str = False
    fewshot_as_multiturn: bool | None = None
    show_config: bool = False
    include_path: Any = None
    gen_kwargs: Any = field(default_factory=dict)
    verbosity: str | None = None
    wandb_args: Any = field(default_factory=dict)
    wandb_config_args: Any = field(default_factory=dict)
    hf_hub_log_args: Any = field(default_factory=dict)
    trackio_args: Any = field(default_factory=dict)
    seed: Any = field(default_factory=DEFAULT_SEED.copy)
    trust_remote_code: bool = False
    confirm_run_unsafe_code: bool = False
    metadata: Any = field(default_factory=dict)

    @classmethod
    def from_cli(cls, namespace: Namespace) -> Self:
        """Return what parsed arguments say; what they leave out, their file says, and then the defaults.

        Raises:
            ValueError: Two of them contradict each other, or there is no such field.
        """
        said = {key: value for key, value in vars(namespace).items() if key not in ("command", "func")}
        given = {key: value for key, value in said.items() if value or value == 0}
        read = cls.load_yaml_config(namespace.config) if getattr(namespace, "config", None) else {}
        return cls._of({**read, **given})

    @classmethod
    def from_config(cls, config_path: str | Path) -> Self:
        """Return what a file says.

        Raises:
            FileNotFoundError: There is none.
            ValueError: It is not YAML, or has a key that is none of the fields.
        """
        return cls._of(cls.load_yaml_config(config_path))

    @classmethod
    def _of(cls, given: Mapping[str, Any]) -> Self:
        known = [each.name for each in fields(cls)]
        if unknown := [name for name in given if name not in known]:
            raise UsageError(f"an evaluation has no '{unknown[0]}'", hint=did_you_mean(unknown[0], known))
        made = cls(**given)
        made._configure()
        return made

    @staticmethod
    def load_yaml_config(config_path: str | Path) -> dict[str, Any]:
        """Return the mapping of a YAML file.

        Raises:
            FileNotFoundError: There is none.
            ValueError: It is not YAML.
            TypeError: It is not a mapping.
        """
        path = Path(config_path)
        if not path.is_file():
            raise FileNotFoundError(f"Config file not found: {path.resolve()}")
        try:
            found = yaml.safe_load(path.read_text(encoding="utf-8"))
        except yaml.YAMLError as error:
            raise ValueError(f"Invalid YAML in {path}: {error}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise ValueError(f"Could not read config file {path}: {error}") from None
        if not isinstance(found, dict):
            raise TypeError(f"YAML root must be a mapping in {path.resolve()}, got {type(found).__name__}")
        return found

    def _configure(self) -> Self:
        for name in DICT_KEYS:
            if isinstance(value := getattr(self, name), str):
                setattr(self, name, key_val_to_dict(value) if "[" in value else simple_parse_args_string(value))
        self._check()
        if isinstance(self.samples, str):
            is_file = not self.samples.lstrip().startswith("{") and Path(self.samples).is_file()
            self.samples = json.loads(Path(self.samples).read_text(encoding="utf-8") if is_file else self.samples)
        self.model_args, self.metadata = dict(self.model_args or {}), dict(self.metadata or {})
        self.metadata = {**without_secrets(self.model_args), **self.metadata}  # results have the metadata of tasks
        self.seed = None if self.seed is None else _four_seeds(self.seed)
        if self.trust_remote_code:
            self.model_args["trust_remote_code"] = True
        return self

    def _check(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            ValueError: Two fields do.
        """
        if self.tasks is None:
            raise ValueError("Need to specify task to evaluate.")
        if self.limit:
            get_logger().warning("--limit SHOULD ONLY BE USED FOR TESTING: scores are of a part of the documents")
        self.log_samples = self.log_samples or self.predict_only
        if self.log_samples and not self.output_path:
            raise ValueError("Specify --output_path if providing --log_samples or --predict_only")
        if self.fewshot_as_multiturn and not self.apply_chat_template:
            raise ValueError("When `fewshot_as_multiturn` is True, `apply_chat_template` must be set.")
        if self.fewshot_as_multiturn is None and self.apply_chat_template:
            self.fewshot_as_multiturn = True
        if self.samples and self.limit is not None:
            raise ValueError("If --samples is not None, then --limit must be None.")

    def process_tasks(self, metadata: Mapping[str, Any] | None = None) -> TaskManager:
        """Replace names, patterns, files and a folder in ``tasks`` by what they mean; return who knows them.

        Raises:
            ValueError: One means nothing.
        """
        from proctor.compat.lm_eval_names import tasks

        kind = getattr(sys.modules.get("lm_eval.tasks"), "TaskManager", tasks.TaskManager)  # it may be replaced
        self.metadata = dict(metadata or self.metadata)
        manager: TaskManager = kind(include_path=self.include_path, metadata=self.metadata)
        every = [self.tasks] if isinstance(self.tasks, str) else list(self.tasks)
        names = [name.strip() for each in every for name in each.split(",") if name.strip()]
        found = {name: _matches(name, manager) for name in dict.fromkeys(names)}
        if missing := [name for name, matches in found.items() if not matches]:
            raise ValueError(f"Tasks not found: {', '.join(missing)}")
        united: list[Any] = []
        for matches in found.values():
            united += [each for each in matches if each not in united]
        self.tasks = united
        return manager

    def to_dict(self) -> dict[str, Any]:
        """Return the fields."""
        return asdict(self)


def _matches(name: str, manager: TaskManager) -> list[Any]:
    """Return names of tasks, or what task files say."""
    from proctor.compat.lm_eval_names.task_index import load_yaml

    if name.endswith(".yaml"):
        place = Path(name).absolute()
        return [load_yaml(file) for file in sorted(place.parent.glob(place.name))]
    if found := manager.match_tasks([name]):
        return found
    return [load_yaml(file) for file in sorted(Path(name).glob("*.yaml"))] if Path(name).is_dir() else []


def _four_seeds(given: Any) -> list[int | None]:
    """Return a seed for each generator; one stands for all, and three leave the last one as it is.

    Raises:
        ValueError: There are two or more than four, or one is not a number.
    """
    values = list(given) if isinstance(given, list | tuple) else [given]
    if len(values) == 1:
        values *= len(DEFAULT_SEED)
    if len(values) == len(DEFAULT_SEED) - 1:
        get_logger().warning(
            "seed has %d values of %d; the last one is %d", len(values), len(DEFAULT_SEED), DEFAULT_SEED[-1]
        )
        values = [*values, DEFAULT_SEED[-1]]
    if len(values) != len(DEFAULT_SEED):
        raise ValueError(
            f"seed expects a single value or {len(DEFAULT_SEED)} values (random, numpy, torch, fewshot), "
            f"got {len(values)}: {given!r}"
        )
    try:
        return [None if value is None else int(value) for value in values]
    except (TypeError, ValueError):
        raise ValueError(f"seed values must be integers or None, got {given!r}") from None
